"""Finds ids, tags, agents and paths of a workspace for completion.

Writes nothing. Files are searched as text, in any layout; only what is shown is decoded.
"""

import re
from collections.abc import Iterable
from heapq import nlargest
from json import JSONDecoder
from pathlib import Path

from mabos_cli.core import BadValue
from mabos_cli.errors import MabosError
from mabos_cli.workspace.files import list_names, read_bytes
from mabos_cli.workspace.ids import NAMED, RECORDS, archive_files, store_files
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.locate import find_agent, find_workspace, list_agents

MOST = 100
_WIDTH = 60
_ID = re.compile(r'"(?:id|case_id)":\s*"([^"\\]+)"')
_TAGS = re.compile(r'"tags":\s*+(\[(?:\s*+"[^"\\]*+(?:\\.[^"\\]*+)*+"\s*+,?)*+\s*+\])')
Pair = tuple[str, str]
KINDS = (
    frozenset("agents items ids archived tags paths beliefs desires goals intentions plans".split()) | RECORDS.keys()
)


def find_values(kind: str, workspace: str, agent: str, start: str) -> list[Pair]:
    """Returns the values of a kind that begin with `start`, each with a description; none if anything goes wrong."""
    try:
        root = find_workspace(workspace)
        if kind == "agents":
            return [(name, "") for name in list_agents(root) if name.startswith(start)][:MOST]
        return [pair for pair in _find(kind, find_agent(root, agent), start) if pair[0].isprintable()]
    except (MabosError, BadValue, OSError, ValueError):
        return []


def _find(kind: str, agent: AgentPaths, start: str) -> list[Pair]:
    if kind == "items":
        return _ids("M-", start, store_files(agent))
    if kind == "ids":  # memories and facts, at most half of each if there are many of both
        items, facts, half = _find("items", agent, start), _find("facts", agent, start), MOST // 2
        return [*items[: max(half, MOST - len(facts))], *facts[: max(half, MOST - len(items))]]
    if kind == "archived":  # archived, and not revived
        live = frozenset(m[1] for path in store_files(agent) for m in _ID.finditer(_text(path)))
        return _ids("M-", start, archive_files(agent), live)
    if kind in RECORDS:
        letter, files = RECORDS[kind]
        return _ids(letter, start, files(agent))
    if kind in ("tags", "paths"):
        return (_tags if kind == "tags" else _paths)(agent, start)
    return _minded(agent.root / f"{kind.capitalize()}.md", start) if kind in KINDS else []


def _text(path: Path) -> str:
    return (read_bytes(path) or b"").decode("utf-8", "replace")


def _ids(letters: str, start: str, paths: Iterable[Path], but: frozenset[str] = frozenset()) -> list[Pair]:
    """Returns ids that begin with `start`, latest first, each with its text; files are read until there are enough."""
    found: list[Pair] = []
    known = set(but)
    for path in paths:
        text = _text(path)
        places = {
            m[1]: m.start() - 1
            for m in _ID.finditer(text)
            if m[1].startswith(start) and m[1].startswith(letters) and m[1] not in known
        }
        latest = nlargest(MOST - len(found), places, key=lambda record_id: (len(record_id), record_id))
        found += [(record_id, _about(text, places[record_id])) for record_id in latest]
        known |= places.keys()
        if len(found) >= MOST:
            break
    return found


def _about(text: str, place: int) -> str:
    """Returns the text of a record on one line; empty if no record begins at this place."""
    try:
        record = JSONDecoder().raw_decode(text, place)[0]
    except (ValueError, RecursionError):
        return ""
    inner = record.get("item", record) if isinstance(record, dict) else None
    if not isinstance(inner, dict):
        return ""
    parts = [inner.get(n) for n in ("content", "label", "subject", "predicate", "object", "problem", "name")]
    text = " ".join(" ".join(str(part).split()) for part in parts if isinstance(part, str | int | float))
    if isinstance(case := inner.get("situation"), dict):
        listed = [case.get(name) for name in ("beliefs", "desires")]
        text = ", ".join(str(word) for each in listed if isinstance(each, list) for word in each)
    return _short(text)


def _short(text: str) -> str:
    text = "".join(c if c.isprintable() else " " for c in text[: 2 * _WIDTH])
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _minded(path: Path, start: str) -> list[Pair]:
    """Finds the entries of a cognitive file, in order, each with the text after its id or its heading."""
    found: dict[str, str] = {}
    heading = ""
    for line in _text(path).splitlines():
        if (match := NAMED.match(line)) and match[1].startswith(start):
            found.setdefault(match[1], _short(match[2].rstrip(" |") or heading))
        heading = line.lstrip("# ") if line.startswith("#") else heading
    return list(found.items())[:MOST]


def _tags(agent: AgentPaths, start: str) -> list[Pair]:
    """Returns the tags of memory, the most used first."""
    counts: dict[str, int] = {}
    for path in store_files(agent):
        for match in _TAGS.finditer(_text(path)):
            counts[match[1]] = counts.get(match[1], 0) + 1
    uses: dict[str, int] = {}
    for listed, count in counts.items():
        for tag in _decoded(listed):
            uses[tag] = uses.get(tag, 0) + count
    chosen = sorted((-count, tag) for tag, count in uses.items() if tag.startswith(start))
    return [(tag, str(-count)) for count, tag in chosen[:MOST]]


def _decoded(listed: str) -> list[str]:
    try:
        found: list[str] = JSONDecoder(strict=False).decode(listed)
        return found
    except ValueError:  # a stray comma, or an invalid escape
        return []


def _paths(agent: AgentPaths, start: str) -> list[Pair]:
    """Returns files of the agent as read takes them, a folder at a time; dated ones the latest first."""
    root, (folder, _, start) = agent.root, start.rpartition("/")
    if folder.startswith("/") or ".." in folder.split("/"):
        return []
    lead = f"{folder}/" if folder else ""
    names = [name for name in list_names(root / folder) if name.startswith(start) and name[0] != "."]
    names = [n for n in reversed(names) if n[0].isdigit()] + [n for n in names if not n[0].isdigit()]
    shown = [f"{lead}{name}/" if (root / folder / name).is_dir() else lead + name for name in names[:MOST]]
    return [(name, "") for name in shown]
