"""Finds the ids that an agent has given out, and the one that is meant by its end.

Files are searched as text, in whatever layout they are: an id is looked up even where a record around it is damaged.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from mabos_cli.errors import UsageFault
from mabos_cli.workspace.files import list_names, read_bytes
from mabos_cli.workspace.layout import AgentPaths

# Ids of memories, facts, observations and results of reasoning are long; a person gives the end of one.
_WHOLE = re.compile(r"[MFOT]-\d+-[0-9a-f]{4}|F-inf-[0-9a-f]{6,}|[A-EG-LNP-SU-Z]{1,3}-\d{3,}(-[a-z]{3})?")
_RANDOM, _FEWEST = ("M-", "F-", "O-", "T-"), 3  # a single digit must not hit a memory by chance
_END = re.compile(r"([A-Z]{1,3}-)?([0-9a-z-]{1,20})")
_ID = re.compile(rb'"(?:case_)?id":\s*"([^"\\]+)"')
# Where something gets its id: at the start of a heading, a row or a list item, or on a line of its own.
NAMED = re.compile(r"(?:#+|\||[-*]|(?i:id):)[\s*]*([A-Z]{1,3}-[\w.]*\w(?:-[a-z]{3})?)[\s*:|]*(.*)")
_LISTED = 8


def files_in(folder: Path, ending: str) -> Iterator[Path]:
    """Yields the files of a folder whose names end so, last name first."""
    yield from (folder / name for name in reversed(list_names(folder)) if name.endswith(ending))


def store_files(agent: AgentPaths) -> Iterator[Path]:
    """Yields the files of memory, latest first."""
    return chain([agent.store], files_in(agent.store_pages, ".json"))


def archive_files(agent: AgentPaths) -> Iterator[Path]:
    """Yields the files of the archive, latest first."""
    return files_in(agent.archive, ".jsonl")


def _fact_files(agent: AgentPaths) -> Iterator[Path]:
    pages = (files_in(folder, ".json") for folder in (agent.fact_pages, agent.derived_pages))
    return chain([agent.facts, agent.derived_facts], *pages)


# The kinds of ids that are records of JSON: the letter that begins them, and the files that hold them, the latest first.
RECORDS: dict[str, tuple[str, Callable[[AgentPaths], Iterable[Path]]]] = {
    "items": ("M-", lambda agent: chain(store_files(agent), archive_files(agent))),
    "facts": ("F-", lambda agent: chain(_fact_files(agent), archive_files(agent))),
    "observations": ("O-", lambda agent: files_in(agent.observations, ".jsonl")),
    "cases": ("C-", lambda agent: chain((agent.cases,), archive_files(agent))),
    "results": ("T-", lambda agent: (agent.reasoning,)),
    "rules": ("", lambda agent: (agent.rules,)),
    "proposals": ("", lambda agent: files_in(agent.workspace.proposals_folder, ".json")),
}
LONG = ("items", "facts", "observations", "results")


def find_ids(agent: AgentPaths, kinds: Sequence[str]) -> set[str]:
    """Returns the ids of some kinds, of what is there and of what left; other kinds are those of a cognitive file."""
    found: set[str] = set()
    read: dict[Path, list[bytes]] = {}
    for kind in kinds:
        if kind not in RECORDS:
            text = (read_bytes(agent.root / f"{kind.capitalize()}.md") or b"").decode("utf-8", "replace")
            found |= {match[1] for line in text.splitlines() if (match := NAMED.match(line))}
            continue
        letter, files = RECORDS[kind]
        for path in files(agent):
            if path not in read:
                read[path] = _ID.findall(read_bytes(path) or b"")
            names = (name.decode("utf-8", "replace") for name in read[path])
            found |= {name for name in names if name.startswith(letter)}
    return found


def complete_id(agent: Callable[[], AgentPaths], given: str, kinds: Sequence[str]) -> str:
    """Returns the id with an end, which may have the letter of the id before it; UsageFault if several ids have it.

    Of an id with random digits, at least three characters are needed. A whole id, and the end of none, is returned as it is.
    """
    match = None if _WHOLE.fullmatch(given) else _END.fullmatch(given)
    if match is None:
        return given
    known = find_ids(agent(), kinds)
    ends = {name for name in known if name.endswith(match[2]) and name.startswith(match[1] or "")}
    ends = {name for name in ends if len(match[2]) >= _FEWEST or name[:2] not in _RANDOM}
    if given in known or not ends:
        return given
    if len(ends) > 1:
        listed = sorted(ends)[:_LISTED]
        more = f" and {len(ends) - _LISTED} more" if len(ends) > _LISTED else ""
        raise UsageFault(f"{len(ends)} ids end with {given}", f"one of: {', '.join(listed)}{more}")
    return ends.pop()


def shorten(known: Collection[str]) -> Callable[[str], str]:
    """Returns a function that gives the letter of an id and its last four characters, or the shortest end that no other one with
    this letter has where these are not enough.

    >>> shorten(["M-1771945200000-0002", "M-1771945200001-0002", "F-1771945200000-00fe"])("M-1771945200001-0002")
    '1-0002'
    """
    by_end: dict[str, list[str]] = {}
    for name in known:
        by_end.setdefault(name[:2] + name[-4:], []).append(name)

    def short(name: str) -> str:
        others = [other for other in by_end.get(name[:2] + name[-4:], ()) if other != name]
        size = 4
        while size < len(name) - 2 and (name[-size] == "-" or any(other.endswith(name[-size:]) for other in others)):
            size += 1
        return name[:2] + name[-size:] if size == 4 else name[-size:]

    return short
