"""mabos-cases.md: cases as Markdown, derived. Few cases are one file; many are pages, of which only the changed are written."""

from collections.abc import Iterable
from zlib import crc32

from mabos_cli.errors import MabosError
from mabos_cli.formats.knowledge.case_text import (
    find_case_id,
    page_of,
    render_cases_index,
    render_cases_page,
    render_mark,
)
from mabos_cli.formats.knowledge.cases import CaseFile
from mabos_cli.formats.markdown.escape import inline
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.derived import DerivedFiles, list_pages
from mabos_cli.workspace.files import read_bytes

_WHOLE = 200  # cases that still are one file


def mark_of(file: CaseFile) -> str:
    """A word for what cases.json holds."""
    return f"{crc32(file.data):08x}"


def refresh_cases(agent: Agent, file: CaseFile, changed: set[str], before: str) -> list[str]:
    """Warnings, after the Markdown of some cases was made anew; trouble with it is no more than that, for the cases are written."""
    try:
        return materialize_cases(agent, file, changed, before)[1]
    except MabosError as error:
        return [f"derived files are behind: {error.message}"]


def materialize_cases(
    agent: Agent, file: CaseFile, changed: set[str] | None = None, before: str = ""
) -> tuple[list[str], list[str]]:
    """Writes what differs and names it; also warnings about files that somebody had edited. changed says which cases may have
    changed since the state `before`, so that only their pages are rendered; None renders everything. Under the agent's lock."""
    if not len(file) and not agent.paths.cases_md.exists():
        return [], []
    files = DerivedFiles(agent)

    def write(name: str, text: str) -> None:
        files.write(agent.paths.cases_page(name) if name else agent.paths.cases_md, text)

    there, pages = list_pages(agent.paths.cases_pages, r"C-\d{4,}|x-[0-9a-f]"), _pages(file)
    if changed is not None and _is_made_from(agent, before):
        fresh: Iterable[str] = ({page_of(own) for own in changed} | (pages.keys() - there)) & pages.keys()
    else:
        fresh = pages.keys()
    for name in sorted(fresh):
        write(name, render_cases_page(agent.id, name, map(file.case, pages[name])))
    if pages:
        write("", render_cases_index(agent.id, len(file), pages.keys(), mark_of(file)))
    else:
        write("", render_cases_page(agent.id, "", file.cases(), mark_of(file)))
    for name in sorted(there - pages.keys()):
        files.remove(agent.paths.cases_page(name))
    return files.changed, files.warnings


def _pages(file: CaseFile) -> dict[str, list[int]]:
    """The places of the cases on each page; no pages while there are few."""
    pages: dict[str, list[int]] = {}
    for own, n in file.places.items() if len(file) > _WHOLE else ():
        pages.setdefault(page_of(own), []).append(n)
    return pages


def _is_made_from(agent: Agent, mark: str) -> bool:
    """Whether mabos-cases.md was made from this state: a writer that was killed leaves it behind."""
    return render_mark(mark).encode() in (read_bytes(agent.paths.cases_md) or b"")[:1000]


def is_told(agent: Agent, file: CaseFile) -> bool:
    """Whether mabos-cases.md tells of the cases as they are now, so that a search can find them."""
    return not len(file) or _is_made_from(agent, mark_of(file))


def find_told_cases(agent: Agent, file: CaseFile, places: Iterable[tuple[str, int]]) -> list[str]:
    """The ids of the cases that stand at lines of these files; empty where none does, or none any more."""
    texts: dict[str, list[str]] = {}
    spelled: dict[str, str] = {}
    found = []
    for path, line in places:
        if path not in texts:
            data = read_bytes(agent.paths.root / path) or b""
            texts[path] = data.decode("utf-8", "replace").split("\n")
        own = find_case_id(texts[path], line)
        if own and own not in file.places:  # gone since, or an id that Markdown cannot hold as it is
            spelled = spelled or {inline(each): each for each in file.places}
            own = spelled.get(own, "")
        found.append(own)
    return found
