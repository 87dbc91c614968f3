"""Cases of an agent: read as they are, changed under the agent's lock; and as Markdown for people and for search."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar
from zlib import crc32

from mabos_cli.core.knowledge.case import Case, CaseChanges, CaseDeparture
from mabos_cli.formats.knowledge import case_text
from mabos_cli.formats.knowledge.cases import CaseFile, parse_case_departures, parse_cases, render_case_departure
from mabos_cli.formats.markdown.escape import inline
from mabos_cli.formats.memory.items import lines_naming
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.archive import archive_files
from mabos_cli.workspace.derived import DerivedPages, is_made_from
from mabos_cli.workspace.files import FileWrite, read_bytes
from mabos_cli.workspace.transaction import Fresh, Write, transact

Result = TypeVar("Result")
CasePlan = Callable[[CaseFile], tuple[CaseChanges, Result]]
Lines = Sequence[tuple[Path, bytes]]
_WHOLE = 200  # cases that still are one file


def load_cases(agent: Agent) -> CaseFile:
    """Returns the cases as they are on disk."""
    return _read(agent)[0]


def _read(agent: Agent) -> tuple[CaseFile, bytes | None]:
    data, path = read_bytes(agent.paths.cases), agent.paths.cited(agent.paths.cases)
    return (parse_cases(data, path) if data is not None else CaseFile(path=path)), data


def change_cases(
    agent: Agent, command: str, plan: CasePlan[Result], ledger: Callable[[Result], Lines] | None = None
) -> tuple[Result, list[str]]:
    """Runs a plan on fresh cases in one transaction and writes its changes: its result, and warnings. `ledger` gives the lines
    that the result adds to ledgers.

    The archive is written first: a crash before cases.json is replaced leaves a record too many, never a case too few.
    """

    def planned(fresh: Fresh) -> tuple[Write | None, Result]:
        file, data = _read(agent)
        changes, result = plan(file)
        if not (changes.put or changes.drop):
            return None, result
        new, ids = file.changed(changes.put, changes.drop), [case.id for case in changes.put]
        write = Write(
            [FileWrite(agent.paths.cases, new.data, data)],
            archive=[
                (each.at, render_case_departure(each, each.case or file.case(file.places[each.id])))
                for each in changes.archive
            ],
            lines=ledger(result) if ledger else (),
            follow=lambda: materialize_cases(agent, new, {*ids, *changes.drop}, _state_of(file))[1],
            part="cases",
            ids=ids,
            counts={"cases": len(ids), "left": len(changes.drop)},
        )
        return write, result

    return transact(agent, command, planned)


def find_case_departures(agent: Agent, case_id: str) -> list[CaseDeparture]:
    """Returns the archive's records about a case, oldest first; c-001 is C-001 too."""
    found: list[CaseDeparture] = []
    for name in archive_files(agent.paths):
        data = read_bytes(agent.paths.archive / name) or b""
        for spelling in dict.fromkeys((case_id, case_id.upper())):
            found += parse_case_departures(lines_naming(data, spelling), f"archive/{name}")
    return found


def find_case(file: CaseFile, case_id: str) -> Case | None:
    """Returns the case with an id, in upper or lower case."""
    wanted = case_id.strip()
    place = file.places.get(wanted)
    if place is None:
        place = next((n for other, n in file.places.items() if other.casefold() == wanted.casefold()), None)
    return None if place is None else file.case(place)


def materialize_cases(
    agent: Agent, file: CaseFile, changed: set[str] | None = None, before: str = ""
) -> tuple[list[str], list[str]]:
    """Writes mabos-cases.md where it differs: few cases are one file, many are pages. Returns the files that changed, and
    warnings about those that somebody had edited. `changed` says which cases may have changed since the state `before`, so that
    only their pages are rendered; None renders everything. Under the agent's lock."""
    if not len(file) and not agent.paths.cases_md.exists():
        return [], []
    files = DerivedPages(agent, agent.paths.cases_md, agent.paths.cases_pages, r"C-\d{4,}|x-[0-9a-f]")
    pages: dict[str, list[int]] = {}
    for case_id, n in file.places.items() if len(file) > _WHOLE else ():
        pages.setdefault(case_text.page_of(case_id), []).append(n)
    fresh = {*pages}
    if changed is not None and is_made_from(agent.paths.cases_md, before):
        fresh &= {case_text.page_of(case_id) for case_id in changed} | (pages.keys() - files.there)
    texts = ((name, case_text.render_cases_page(agent.id, name, map(file.case, pages[name]))) for name in sorted(fresh))
    if pages:
        index = case_text.render_cases_index(agent.id, len(file), pages.keys(), _state_of(file))
    else:
        index = case_text.render_cases_page(agent.id, "", file.cases(), _state_of(file))
    return files.replace(index, texts, pages.keys())


def _state_of(file: CaseFile) -> str:
    """Returns the words by which Markdown names what cases.json holds."""
    return f"(state {crc32(file.data):08x})"


def are_materialized(agent: Agent, file: CaseFile) -> bool:
    """Returns whether mabos-cases.md is up to date, so that a search finds all cases."""
    return not len(file) or is_made_from(agent.paths.cases_md, _state_of(file))


def find_cases_at(agent: Agent, file: CaseFile, places: Iterable[tuple[str, int]]) -> list[str]:
    """Returns the ids of the cases at some lines of files; empty where there is none, or none any more."""
    texts: dict[str, list[str]] = {}
    spelled: dict[str, str] = {}
    found = []
    for path, line in places:
        if path not in texts:
            data = read_bytes(agent.paths.root / path) or b""
            texts[path] = data.decode("utf-8", "replace").split("\n")
        case_id = case_text.find_case_id(texts[path], line)
        if case_id and case_id not in file.places:  # gone since, or an id that Markdown cannot hold as it is
            spelled = spelled or {inline(each): each for each in file.places}
            case_id = spelled.get(case_id, "")
        found.append(case_id)
    return found
