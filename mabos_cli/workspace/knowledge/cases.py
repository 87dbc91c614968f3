"""Cases of an agent: read as they are, changed under the agent's lock."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TypeVar

from mabos_cli.core.knowledge.case import Case, CaseChanges, CaseDeparture, Held, Key, Worth
from mabos_cli.formats.knowledge.cases import CaseFile, parse_case_departures, parse_cases, render_case_departure
from mabos_cli.formats.memory.items import lines_naming
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.archive import archive_files
from mabos_cli.workspace.files import FileWrite, read_bytes
from mabos_cli.workspace.knowledge.cases_md import mark_of, refresh_cases
from mabos_cli.workspace.transaction import Fresh, Write, transact

Result = TypeVar("Result")
CasePlan = Callable[[CaseFile, Held], tuple[CaseChanges, Result]]
_ID = re.compile(r"C-(\d{1,17})")


def load_cases(agent: Agent) -> CaseFile:
    """The cases as they are on disk."""
    return _read(agent)[0]


def _read(agent: Agent) -> tuple[CaseFile, bytes | None]:
    data, path = read_bytes(agent.paths.cases), agent.paths.cited(agent.paths.cases)
    return (parse_cases(data, path) if data is not None else CaseFile(path=path)), data


def change_cases(agent: Agent, command: str, plan: CasePlan[Result]) -> tuple[Result, list[str]]:
    """Runs a plan on fresh cases in one transaction and writes its changes: its result, and warnings.

    The archive is written first: a crash before cases.json is replaced leaves a record too many, never a case too few.
    """

    def planned(fresh: Fresh) -> tuple[Write | None, Result]:
        file, data = _read(agent)
        changes, result = plan(file, _held(file))
        if not (changes.put or changes.drop):
            return None, result
        new, ids = file.changed(changes.put, changes.drop), [case.id for case in changes.put]
        write = Write(
            [FileWrite(agent.paths.cases, new.data, data)],
            archive=_departed(file, changes.archive),
            follow=lambda: refresh_cases(agent, new, {*ids, *changes.drop}, mark_of(file)),
            part="cases",
            ids=ids,
            counts={"cases": len(ids), "left": len(changes.drop)},
        )
        return write, result

    return transact(agent, command, planned)


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


def _departed(file: CaseFile, departures: Iterable[CaseDeparture]) -> list[tuple[str, bytes]]:
    """The archive's records of cases that leave."""
    cases = ((each, each.case or file.case(file.places[each.id])) for each in departures)
    return [(each.at, render_case_departure(each, case)) for each, case in cases]


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
