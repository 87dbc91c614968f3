"""Merges Markdown: cognitive files and MEMORY.md by entries, with their ids or titles, and by lines; logs and checkpoints by entries.

An id that both sides gave to different things stays with the older one; the other one gets letters, and references that its side
wrote are changed. If both sides changed the words of an entry, both are kept: the newer in place, the older as an entry after it.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from mabos_cli.core.language.ids import distinct_id, parse_id
from mabos_cli.core.language.text import one_line
from mabos_cli.core.operations.three_way import follow_renames, merge_lines, merge_runs, merge_sets
from mabos_cli.formats.markdown.escape import is_untouched
from mabos_cli.formats.mind.attitudes import KINDS, entries_of, split_id
from mabos_cli.formats.mind.cognitive import CognitiveFile, parse_cognitive
from mabos_cli.formats.mind.cognitive_edit import set_field
from mabos_cli.formats.mind.cognitive_fields import NAMES, fields_of, is_only_fields
from mabos_cli.formats.mind.entries import Entry
from mabos_cli.formats.mind.mind_edit import add_note
from mabos_cli.formats.operations.markdown_units import (
    ANY_PREFIX,
    Unit,
    fit_row,
    join_units,
    merge_units,
    raw_cells,
    render_row,
    split_units,
)
from mabos_cli.formats.operations.merge_records import Merged, Renames, Sides

_BY_FILE = {kind.file: name for name, kind in KINDS.items()}
# Columns with the words of an entry; the others describe it.
_WORDS = ("title", "text")
_LINES = r"(?<=\n)"
_ENTRY_ID = re.compile(r"\^(M-\d{1,16}-[0-9a-f]{4})\s*\Z")
ENTRIES = r"(?m)^(?=## )"  # where the entries of a log begin
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
NO_RENAMES: Renames = ({}, {}, {})


def kind_of_entries(path: str) -> str:
    """Returns the kind of the entries in a cognitive file, by its path; empty if they have none."""
    return _BY_FILE.get(path.rpartition("/")[2], "")


def find_renames(kind: str, texts: Sequence[str]) -> Renames:
    """Returns the ids that entries of a kind get in each of three versions of their file, by those that they have.

    Of two entries that were given one id the older keeps it, whichever side it is on.
    """
    base, ours, theirs = (_titles(text, kind) for text in texts)
    found: Renames = ({}, {}, {})
    followed = follow_renames((base, ours, theirs), attrgetter("title"), _new_id)
    for old, new, renames in zip((base, ours, theirs), followed, found, strict=True):
        renames.update({entry_id: _new_id(entry_id, title) for entry_id, title in old.items() if entry_id not in new})
    base, ours, theirs = followed
    for entry_id in [each for each in ours if each in theirs and each not in base]:
        a, b = ours[entry_id], theirs[entry_id]
        if a.title != b.title:
            younger = found[1] if max(a, b) is a else found[2]
            younger[entry_id] = _new_id(entry_id, max(a, b))
    return found


class _Title(NamedTuple):
    """The title of an entry, and when it was last changed; the earlier one is the older."""

    updated: str
    title: str


def _new_id(entry_id: str, entry: _Title) -> str:
    return distinct_id(entry_id, entry.title)


def _titles(text: str, kind: str) -> dict[str, _Title]:
    """Returns the titles of the entries of a file, by id."""
    file = parse_cognitive(text)
    found: dict[str, _Title] = {}
    for entry in entries_of(file, kind):
        entry_id, title = split_id(entry, KINDS[kind].prefix)
        if entry_id:
            found.setdefault(entry_id, _Title(entry.get("updated")[:10], (title or entry.text).casefold()))
    return found


def rename_ids(text: str, base: str, renames: Mapping[str, str], parts: str = _LINES) -> str:
    """Replaces ids by new ones on the lines, or in other parts, that a side wrote itself.

    >>> rename_ids("Goal: G-1\\nNote: G-1\\n", "Note: G-1\\n", {"G-1": "G-1-bcd"})
    'Goal: G-1-bcd\\nNote: G-1\\n'
    """
    if not renames:
        return text
    known = {part.rstrip("\n") for part in re.split(parts, base)} - {""}
    ids = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, renames))})(?![\w-])")
    written = re.split(parts, text)
    return "".join(
        part if part.rstrip("\n") in known else ids.sub(lambda found: renames[found[0]], part) for part in written
    )


def rename_sides(sides: Sides, renames: Renames, parts: str = _LINES) -> Sides:
    """Replaces ids of entries in other files by their new ones, in the parts of a file that a side wrote."""
    base, ours, theirs = (data.decode("utf-8", "surrogateescape") for data in sides)
    ours, theirs = rename_ids(ours, base, renames[1], parts), rename_ids(theirs, base, renames[2], parts)
    return sides[0], ours.encode("utf-8", "surrogateescape"), theirs.encode("utf-8", "surrogateescape")


def merge_minds(path: str, sides: Sides, elsewhere: Renames = NO_RENAMES) -> Merged:
    """Merges a Markdown file of an agent; `elsewhere` has new ids of entries in its other files."""
    kind = kind_of_entries(path)
    base, ours, theirs = (data.decode("utf-8", "surrogateescape") for data in sides)
    here = find_renames(kind, (base, ours, theirs)) if kind else NO_RENAMES
    renamed = sorted({**here[1], **here[2]}.items())
    notes = [f"{old} was given to two {kind}s: the younger one is {new}" for old, new in renamed]
    texts = [rename_ids(base, "", here[0])]
    for text, mine, others in zip((ours, theirs), here[1:], elsewhere[1:], strict=True):
        # An id of the base is replaced everywhere, a new one only where its side wrote it.
        older = {old: new for old, new in mine.items() if here[0].get(old) == new}
        younger = {old: new for old, new in {**others, **mine}.items() if old not in older}
        texts.append(rename_ids(rename_ids(text, base, younger), "", older))
    prefix = KINDS[kind].prefix if kind else ANY_PREFIX
    units = [split_units(text, prefix) for text in texts]
    settling = _Settling(kind, prefix, notes)
    merged = merge_units(units[0], units[1], units[2], settling.settle)
    text = join_units(merged, [units[0], *sorted(units[1:], key=repr)])
    return Merged(text.encode("utf-8", "surrogateescape"), tuple(notes))


class _Settling:
    """Merges units that both sides changed or added, and collects notes for a person."""

    def __init__(self, kind: str, prefix: str, notes: list[str]) -> None:
        self._kind, self._prefix, self._notes = kind, prefix, notes

    def settle(self, base: Unit | None, a: Unit, b: Unit) -> list[Unit]:
        older, newer = sorted((a, b), key=lambda unit: (_updated(unit), unit.lines))
        if newer.kind == older.kind == "row":
            merged, lost, words = _merge_cells(base, older, newer)
        else:
            merged, lost, words = _merge_section(base, older, newer, not self._kind)
        if words:
            return [merged, *self._keep_older(older, newer)]
        if lost:
            self._notes.append(f"{_name(newer)} was changed on both sides: kept the newer; not {', '.join(lost)}")
            merged = self._note_lost(merged, lost)
        return [merged]

    def _keep_older(self, older: Unit, newer: Unit) -> list[Unit]:
        """Returns the older version as an entry of its own, marked as superseded if the dates say so."""
        entry_id = _entry_id(older)
        if not entry_id:
            self._notes.append(f"{_name(newer)} was changed on both sides: both versions are kept")
            return [older._replace(key=(older.key, "older"))]
        new_id = distinct_id(entry_id, "\n".join(older.lines))
        text = rename_ids("\n".join(older.lines), "", {entry_id: new_id})
        if self._kind and _updated(older) < _updated(newer):
            status = f"superseded by {entry_id}"
            text = self._edit(older, text, lambda file, entry: set_field(file, entry, "status", status))
        self._notes.append(f"{entry_id} was changed on both sides: the older version is {new_id}")
        return [older._replace(key=("id", new_id), lines=tuple(text.split("\n")))]

    def _note_lost(self, unit: Unit, lost: Sequence[str]) -> Unit:
        """Adds a note with the values of the other side."""
        note = f"the other side had {', '.join(lost)}"
        day = _updated(unit) or "merge"
        text = self._edit(unit, "\n".join(unit.lines), lambda file, entry: add_note(file.render(), entry, day, note))
        return unit._replace(lines=tuple(text.split("\n")))

    def _edit(self, unit: Unit, text: str, change: Callable[[CognitiveFile, Entry], str]) -> str:
        """Edits the entry of a unit and returns the text; a row is put into its table for that."""
        head = f"| {' | '.join(unit.columns)} |\n|{'---|' * len(unit.columns)}\n" if unit.kind == "row" else ""
        file = parse_cognitive(head + text)
        entry = next((each for each in file.entries if each.first == head.count("\n")), None)
        return change(file, entry).removeprefix(head) if entry else text


def _merge_cells(base: Unit | None, older: Unit, newer: Unit) -> tuple[Unit, list[str], bool]:
    """Merges a row cell by cell; returns it, the values of the older version that are lost, and whether its words are."""
    columns = newer.columns
    rows = [raw_cells(fit_row(unit, columns).lines[0]) if unit else [] for unit in (base, older, newer)]
    found, lost, is_split = [], [], False
    for n, name in enumerate(columns):
        was, old, new = (row[n] if n < len(row) else "" for row in rows)
        found.append(old if base and new == was else new)
        if old == new or (base and was in (old, new)):
            continue
        meaning = NAMES.get(name, name)
        is_split = is_split or meaning in _WORDS
        lost += [f"{name} {old}"] if meaning not in (*_WORDS, "updated") and old else []
    return newer._replace(lines=(render_row(found, newer.lines[0]),)), lost, is_split


def _merge_section(base: Unit | None, older: Unit, newer: Unit, is_prose: bool) -> tuple[Unit, list[str], bool]:
    """Merges a section or an item, and returns the same. Prose in files without entries keeps the lines of both sides."""
    parts = [_inner(unit) if unit else [] for unit in (base, older, newer)]
    words = [[unit.lines[0] for unit in part if unit.kind == "word"] for part in parts]
    lost: list[str] = []

    def settle(was: Unit | None, a: Unit, b: Unit) -> list[Unit]:
        old, new = (a, b) if a in parts[1] else (b, a)
        lost.extend(f"{name} {field.value}" for name, field in fields_of(old.lines[0], 0).items() if name != "updated")
        return [new]

    if is_prose or merge_lines(*words) is not None:
        merged = merge_units(parts[0], parts[1], parts[2], settle)
        return newer._replace(lines=tuple(join_units(merged, parts).split("\n"))), lost, False
    changed = {unit.key: unit for unit in parts[1] if unit.kind == "field" and unit not in parts[0]}
    untouched = {unit.key for unit in parts[2] if unit in parts[0]}
    merged = [changed[unit.key] if unit.key in changed and unit.key in untouched else unit for unit in parts[2]]
    return newer._replace(lines=tuple(join_units(merged, parts[2:]).split("\n"))), [], True


def _inner(unit: Unit) -> list[Unit]:
    """Returns the lines of a section or an item as units: fields by name, other lines by their text."""
    found: list[Unit] = []
    seen: Counter[Hashable] = Counter()
    for n, line in enumerate(unit.lines):
        if not line.strip() and found:
            found[-1] = found[-1]._replace(blanks=(*found[-1].blanks, line))
            continue
        is_field = n > 0 and is_only_fields(line)
        key: Hashable = ("field", *sorted(fields_of(line, 0))) if is_field else ("word", line)
        seen[key] += 1
        found.append(Unit((key, seen[key]), "field" if is_field else "word", (line,)))
    return found


def _updated(unit: Unit) -> str:
    """Returns the day on which an entry was last changed, by its own account; empty if it has none."""
    values = [fields_of(line, 0)["updated"].value for line in unit.lines if "updated" in fields_of(line, 0)]
    if unit.kind == "row":
        cells = zip(unit.columns, raw_cells(unit.lines[0]), strict=False)
        values += [text for name, text in cells if NAMES.get(name) == "updated"]
    days = (_DAY.search(value) for value in values)
    return max((day[0] for day in days if day), default="")


def _entry_id(unit: Unit) -> str:
    return str(unit.key[1]) if isinstance(unit.key, tuple) and unit.key[0] == "id" else ""


def _name(unit: Unit) -> str:
    return _entry_id(unit) or one_line(unit.lines[0].strip("#|-* \r"), 60)


def merge_checkpoints(path: str, sides: Sides) -> Merged:
    """Merges checkpoints that have one name because they were written in the same minute: one after the other."""
    base, ours, theirs = (_split_parts(data.decode("utf-8", "surrogateescape"), r"(?m)^(?=# )") for data in sides)
    merged = sorted(merge_sets(base, ours, theirs))
    notes = (f"{len(merged)} checkpoints of the same minute are in this file now",) if len(merged) > 1 else ()
    return Merged(("\n\n".join(merged) + "\n").encode("utf-8", "surrogateescape"), notes)


def merge_logs(path: str, sides: Sides) -> Merged:
    """Merges daily logs: whole entries of both sides in the order of their ids; other text stays behind its entry."""
    base, ours, theirs = (_split_parts(data.decode("utf-8", "surrogateescape"), ENTRIES) for data in sides)
    merged = merge_runs(base, ours, theirs, _entry_time)
    return Merged(("\n\n".join(merged) + "\n" if merged else "").encode("utf-8", "surrogateescape"))


def _split_parts(text: str, start: str) -> list[str]:
    """Splits a text before each place where a part starts; parts without blank lines around them."""
    return [part for each in re.split(start, text) if (part := each.strip("\n"))]


def _entry_time(block: str) -> tuple[int, int] | None:
    named = _ENTRY_ID.search(block)
    return parse_id(named[1]) if named else None


def merge_derived(path: str, sides: Sides) -> Merged | None:
    """Returns the derived file that a person edited, which the next run sets aside, else ours; None for two.

    Its sources are merged separately, and it is rebuilt from them.
    """
    edited = [data for data in sides[1:] if not is_untouched(data)]
    return None if len(edited) == 2 else Merged(edited[0] if edited else sides[1])
