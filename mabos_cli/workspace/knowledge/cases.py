"""Cases of an agent: read as they are, changed under the agent's lock."""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TypeVar

from mabos_cli.core.knowledge.case import Case, CaseChanges, CaseDeparture, Held, Key, Worth
from mabos_cli.errors import Conflict
from mabos_cli.formats.knowledge.cases import CaseFile, parse_case_departures, parse_cases, render_case_departure
from mabos_cli.formats.memory.item_records import lines_naming
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.archive import append_records, archive_files
from mabos_cli.workspace.files import Moved, read_bytes, replace_file
from mabos_cli.workspace.knowledge.cases_md import mark_of, refresh_cases
from mabos_cli.workspace.receipts import write_receipt
from mabos_cli.workspace.recovery import holding_lock

Result = TypeVar("Result")
CasePlan = Callable[[CaseFile, Held], tuple[CaseChanges, Result]]
_ATTEMPTS = 20
_ID = re.compile(r"C-(\d{1,17})")


def load_cases(agent: Agent) -> CaseFile:
    """The cases as they are on disk."""
    return _read(agent)[0]


def _read(agent: Agent) -> tuple[CaseFile, bytes | None]:
    data, path = read_bytes(agent.paths.cases), agent.paths.cited(agent.paths.cases)
    return (parse_cases(data, path) if data is not None else CaseFile(path=path)), data


def change_cases(agent: Agent, command: str, plan: CasePlan[Result]) -> tuple[Result, list[str]]:
    """Runs a plan on fresh cases under the agent's lock and writes its changes: its result, and warnings.

    The archive is written first: a crash before cases.json is replaced leaves a record too many, never a case too few.
    """
    started = time.monotonic()
    with holding_lock(agent, command) as holding:
        for _ in range(_ATTEMPTS):
            file, data = _read(agent)
            changes, result = plan(file, _held(file))
            if not (changes.put or changes.drop):
                return result, holding.warnings
            new = file.changed(changes.put, changes.drop)
            _archive(agent, file, changes.archive)
            try:
                replace_file(agent.paths.cases, new.data, root=agent.paths.workspace.root, expect=data)
            except Moved:
                continue
            ids = [case.id for case in changes.put]
            notes = refresh_cases(agent, new, {*ids, *changes.drop}, mark_of(file))
            write_receipt(agent, command, {"cases": len(ids), "left": len(changes.drop)}, ids, started)
            return result, [*holding.warnings, *notes]
    raise Conflict("cases.json keeps changing", "something writes it without locking; try again")


def _held(file: CaseFile) -> Held:
    """The cases of a file as a plan needs them."""
    numbers = {own: int(match[1]) for own in file.places if (match := _ID.fullmatch(own))}
    mint = _CaseIds(file.places, numbers.values())

    @cache
    def groups() -> dict[Key, list[int]]:
        found: dict[Key, list[int]] = {}
        for n, (beliefs, desires, _) in enumerate(file.sides):
            found.setdefault((frozenset(beliefs), frozenset(desires)), []).append(n)
        return found

    def worths() -> Iterator[Worth]:
        # The highest number stays, whatever it is worth: the next id goes by it, and none is given twice.
        return (file.worth(n) for own, n in file.places.items() if numbers.get(own) != mint.last)

    return Held(lambda key: map(file.case, groups().get(key, ())), worths, len(file), mint)


class _CaseIds:
    """Gives the id that is wished for if nobody has or had it, else the next number."""

    def __init__(self, ids: Iterable[str], numbers: Iterable[int]) -> None:
        self._taken: set[str | int] = {*ids}
        self._had = self.last = max(numbers, default=0)  # numbers up to this one may have been given and forgotten

    def __call__(self, wished: str) -> str:
        match = _ID.fullmatch(wished)
        number = int(match[1]) if match else 0
        if not wished or {wished, number} & self._taken or (match and number <= self._had):
            number = self.last + 1
            wished = f"C-{number:03d}"
        self._taken |= {wished, *([number] if number else [])}
        self.last = max(self.last, number)
        return wished


def _archive(agent: Agent, file: CaseFile, departures: tuple[CaseDeparture, ...]) -> None:
    def records() -> Iterator[tuple[str, bytes]]:
        for each in departures:
            case = each.case or file.case(file.places[each.id])
            yield each.at, render_case_departure(each, case)

    append_records(agent.paths, records())


def find_case_departures(agent: Agent, case_id: str) -> list[CaseDeparture]:
    """The archive's records about a case, oldest first; c-001 is C-001 too."""
    found: list[CaseDeparture] = []
    for name in archive_files(agent.paths):
        data = read_bytes(agent.paths.archive / name) or b""
        for own in dict.fromkeys((case_id, case_id.upper())):
            found += parse_case_departures(lines_naming(data, own), f"archive/{name}")
    return found


def find_case(file: CaseFile, case_id: str) -> Case | None:
    """The case with an id, whether written large or small."""
    wanted = case_id.strip()
    place = file.places.get(wanted)
    if place is None:
        place = next((n for own, n in file.places.items() if own.casefold() == wanted.casefold()), None)
    return None if place is None else file.case(place)
