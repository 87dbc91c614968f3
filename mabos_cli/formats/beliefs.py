"""Beliefs.md as beliefs, and what is wrong with it; new and revised beliefs in the shape that the file has."""

import re
from typing import NamedTuple

from mabos_cli.core.mind import Belief
from mabos_cli.core.periods import find_day
from mabos_cli.formats.cognitive import CognitiveFile, Entry, Table, parse_cognitive
from mabos_cli.formats.cognitive_edit import add_row, add_section, set_field

_NUMBER = re.compile(r"(\d*\.?\d+)\s*(%?)")
_WORDS = {
    "certain": 1.0,
    "very high": 0.95,
    "high": 0.85,
    "medium": 0.6,
    "moderate": 0.6,
    "low": 0.3,
    "very low": 0.1,
}
_UNSAID = 0.5


class Problem(NamedTuple):
    """Something in a file that could not be understood, with its place."""

    path: str
    line: int
    message: str


def read_beliefs(text: str, path: str) -> tuple[list[Belief], list[Problem]]:
    """The beliefs of a file in order, and what in it makes no sense; one bad value does not hide the others."""
    beliefs: list[Belief] = []
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    for entry in parse_cognitive(text).entries:
        line = entry.first + 1
        certainty, trouble = parse_certainty(entry.get("certainty"))
        problems += [Problem(path, line, trouble)] if trouble else []
        updated = entry.get("updated")
        if updated and not find_day(updated[:10]):
            problems.append(Problem(path, line, f"{updated[:40]!r} is no date"))
        own = entry.get("id")
        if own and own in seen:
            problems.append(Problem(path, line, f"{own} is also the id of line {seen[own]}"))
        seen.setdefault(own, line)
        supports = tuple(part for part in re.split(r"[,;\s]+", entry.get("supports")) if part)
        told = (certainty, updated, own, entry.get("source"), supports)
        beliefs.append(Belief(entry.title, entry.text, *told, path, line))
    return beliefs, problems


def parse_certainty(text: str) -> tuple[float, str]:
    """A certainty in 0..1, and what is wrong with it.

    >>> parse_certainty("0.9"), parse_certainty("85 %"), parse_certainty("High"), parse_certainty("1.7")[1]
    ((0.9, ''), (0.85, ''), (0.85, ''), "certainty '1.7' is outside 0..1")
    """
    word = text.strip().strip("*_`").casefold()
    if not word:
        return _UNSAID, ""
    if word in _WORDS:
        return _WORDS[word], ""
    match = _NUMBER.fullmatch(word)
    if not match:
        return _UNSAID, f"certainty {text[:20]!r} is no number"
    value = float(match[1]) / (100 if match[2] else 1)
    return (value, "") if value <= 1 else (_UNSAID, f"certainty {text[:20]!r} is outside 0..1")


def find_belief(file: CognitiveFile, name: str) -> Entry | None:
    """The entry with an id, or else with a subject, in whatever case."""
    by_id = [entry for entry in file.entries if entry.get("id").casefold() == name.casefold()]
    by_title = [entry for entry in file.entries if entry.title.casefold() == name.casefold()]
    return (by_id or by_title or [None])[0]


def add_belief(text: str, belief: Belief, group: str = "") -> str:
    """The file with a new belief: a row where beliefs stand in tables, a section where they stand in sections."""
    file = parse_cognitive(text)
    table = _table_for(file, group)
    fields = {
        "certainty": f"{belief.certainty:g}",
        "source": belief.source,
        "supports": ", ".join(belief.supports),
    }
    if table:
        values = fields | {
            "id": belief.id,
            "title": belief.subject,
            "text": belief.text,
            "updated": belief.updated,
        }
        return _logged(add_row(file, table, values), belief, "added")
    fields = {"id": belief.id} | fields | {"updated": belief.updated}
    return _logged(add_section(file, belief.subject, belief.text, fields, group=group), belief, "added")


def _table_for(file: CognitiveFile, group: str) -> Table | None:
    """The table that a new belief goes into: that of the group, or else the first; none where there are none."""
    tables = [table for table in file.tables if not table.is_log and "title" in table.columns]
    own = [table for table in tables if group and table.group.casefold() == group.casefold()]
    return (own or ([] if group else tables) or [None])[0]


def revise_belief(text: str, entry: Entry, changes: dict[str, str], reason: str, day: str) -> str:
    """The file with fields of a belief changed, each in its place, and a line in the revision log if there is one."""
    for name, value in changes.items():
        file = parse_cognitive(text)
        here = next(e for e in file.entries if e.first == entry.first)
        text = set_field(file, here, name, value) or text
    belief = Belief(entry.title, entry.text, id=entry.get("id"), updated=day)
    return _logged(text, belief, reason or f"revised: {', '.join(changes)}")


def _logged(text: str, belief: Belief, change: str) -> str:
    """The file with a row about a change in its revision log, where it keeps one."""
    file = parse_cognitive(text)
    log = next((table for table in file.tables if table.is_log), None)
    if log is None:
        return text
    values = dict.fromkeys(log.columns, "")
    for column in log.columns:
        if column in ("updated", "title", "id"):
            values[column] = {
                "updated": belief.updated,
                "title": belief.id or belief.subject,
                "id": belief.id,
            }[column]
        elif re.search(r"(?i)change|reason|note|what|revision|new", column):
            values[column] = change
            change = ""
    return add_row(file, log, values)
