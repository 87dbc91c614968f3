"""Desires.md, Goals.md, Intentions.md, Commitments.md and Learnings.md as values, and what is wrong in them."""

import re
from typing import NamedTuple

from mabos_cli.core.language.clock import find_time
from mabos_cli.core.memory.item import PRIORITIES
from mabos_cli.core.mind.mind import ACTIVE, DONE, GONE, LEVELS, Attitude, Problem, parse_level
from mabos_cli.formats.markdown.escape import unescape_block
from mabos_cli.formats.mind.cognitive import CognitiveFile, Entry, parse_cognitive
from mabos_cli.formats.mind.cognitive_fields import ID


class Kind(NamedTuple):
    """How a kind of attitude is written: its file, its ids, and the names of its links with what they lead to."""

    file: str
    prefix: str
    links: tuple[str, ...] = ()


KINDS = {
    "belief": Kind("Beliefs.md", "B", ("supports",)),
    "desire": Kind("Desires.md", "D", ("motivates", "serves")),
    "goal": Kind("Goals.md", "G", ("requires", "parent", "desire")),
    "intention": Kind("Intentions.md", "I", ("goal", "plan")),
    "plan": Kind("Plans.md", "PL", ("goal",)),
    "commitment": Kind("Commitments.md", "C"),
    "learning": Kind("Learnings.md", "L"),
}
# Dates that are none, but say so: people write them where a date is asked for.
_OPEN_END = re.compile(r"(?i)ongoing|always|never|none|open|continuous|at once|asap|each .*|every .*|n/?a|tbd|[-—–]+")
_VIA = re.compile(rf"({ID.pattern})(?:\s+via\s+({ID.pattern}))?")
_WORDS = PRIORITIES | {"very high": 0.9, "very low": 0.1, "urgent": 0.95, "normal": 0.5}


def parse_attitudes(text: str, kind: str, path: str) -> tuple[list[Attitude], list[Problem]]:
    """The attitudes of a file in order, and what in it makes no sense; one bad value does not hide the others."""
    found: list[Attitude] = []
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    file = parse_cognitive(text)
    for entry in file.entries:
        if kind in ("goal", "intention") and _is_prose(entry, kind):
            continue
        each, troubles = read_attitude(file, entry, kind)
        each = each._replace(path=path, line=entry.first + 1)
        troubles += note_id(seen, each.id, each.line)
        problems += [Problem(path, each.line, trouble) for trouble in troubles]
        found.append(each)
    return found, problems


def note_id(seen: dict[str, int], own: str, line: int) -> list[str]:
    """Notes where an id stands, and tells if it stood before."""
    known = seen.setdefault(own, line) if own else line
    return [f"{own} is also the id of line {known}"] if known != line else []


def _is_prose(entry: Entry, kind: str) -> bool:
    """Whether a section is only what somebody wrote below the heading of a group."""
    return entry.shape == "section" and not entry.fields and not split_id(entry, KINDS[kind].prefix)[0]


def read_attitude(file: CognitiveFile, entry: Entry, kind: str) -> tuple[Attitude, list[str]]:
    """An entry as an attitude, without its place, and what is wrong with it."""
    own, title = split_id(entry, KINDS[kind].prefix)
    priority, trouble = parse_level(entry.get("priority"), _WORDS, "priority")
    troubles = [trouble] if trouble else []
    for name in ("deadline", "updated"):
        said = entry.get(name)
        vague = _OPEN_END.fullmatch(said) or (kind == "commitment" and not re.search(r"\d", said))
        if said and not find_time(said) and not vague:
            troubles.append(f"{name} {said[:40]!r} is no date")
    links = {name: _linked(entry, name) for name in KINDS[kind].links}
    via = _VIA.fullmatch(title) if kind == "intention" else None
    if via:
        links = {"goal": links["goal"] or (via[1],), "plan": links["plan"] or tuple(filter(None, via.groups()[1:]))}
    elif kind in ("intention", "plan") and not links["goal"]:
        aside = re.search(rf"\((?:goal:?\s*)?({ID.pattern})\)", title)
        links["goal"] = (aside[1],) if aside else ()
    told = Attitude(
        kind,
        own,
        title,
        entry.text,
        _status(file, entry),
        priority,
        _progress(entry.get("progress")),
        entry.get("deadline"),
        entry.get("updated"),
        _level(file, entry) if kind == "goal" else "",
        entry.get("owner"),
        {name: ids for name, ids in links.items() if ids},
        group=entry.group,
    )
    return told, troubles


def split_id(entry: Entry, prefix: str) -> tuple[str, str]:
    """The id of an entry and its title: the id may be a field of its own, or the first word of the title."""
    if entry.get("id"):
        return entry.get("id").strip("*_` "), entry.title
    # TypeScript MABOS has BE-001 and DI-001 besides B-001 and D-001.
    match = re.match(rf"[*_`\s]*({prefix}[A-Z]?-[A-Za-z0-9-]*\d[A-Za-z0-9-]*)\b[*_`:]*", entry.title)
    if not match:
        return "", entry.title
    title = entry.title[match.end() :].strip(" :—–*_")
    # Behind an id, the title of an item is written as if it began a line.
    return match[1], (unescape_block(title) if entry.shape == "item" else title) or match[1]


def goal_group(file: str, level: str) -> str:
    """The heading for goals of a level, or for those that are pursued, if the text of a file has one."""
    titles = [heading.title for heading in parse_cognitive(file).headings if heading.level > 1]
    named = [t for t in titles if level in t.casefold()] or [t for t in titles if "active" in t.casefold()]
    return named[0] if named else ""


def priority_of(entry: Entry) -> float | None:
    """The priority that an entry names, as a number, or None when it names none."""
    return parse_level(entry.get("priority"), _WORDS, "priority")[0]


def _linked(entry: Entry, name: str) -> tuple[str, ...]:
    """The ids in a field of links; what is said behind a full stop is prose."""
    return tuple(dict.fromkeys(ID.findall(re.split(r"\.\s", entry.get(name))[0])))


def _progress(text: str) -> float | None:
    """Progress in percent, if that is what a field says."""
    match = re.match(r"(\d+(?:\.\d+)?)\s*(?:%|$|[,;(])", text)
    return float(match[1]) if match else None


def _status(file: CognitiveFile, entry: Entry) -> str:
    """How things stand: as the entry says, as its box says, or as the heading above it says."""
    said = entry.get("status")
    if said:
        return said
    if entry.shape == "item" and re.match(r"\S+\s+\[[xX]\]", file.lines[entry.first]):
        return "completed"
    heading = entry.group.casefold()
    words = [*heading.split(), heading.strip()]
    return next((word for word in words if word in ACTIVE | DONE | GONE | {"expired", "stalled"}), "")


def _level(file: CognitiveFile, entry: Entry) -> str:
    """Whether a goal is strategic, tactical or operational: by its own field, its first line, or the heading above."""
    said = [entry.get("type"), entry.group]
    said += [file.lines[entry.first]] if entry.shape == "item" else []
    return next((level for text in said for level in LEVELS if level in text.casefold()), "")
