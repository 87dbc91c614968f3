"""Thousands of composed files: each comes back as it was, and an edit changes its own entry and nothing else."""

import os
import re
from collections.abc import Callable
from functools import lru_cache
from random import Random

import pytest

from mabos_cli.core.language.text import one_line
from mabos_cli.formats.mind.attitudes import find_entry, parse_attitudes, parse_beliefs, priority_of
from mabos_cli.formats.mind.cells import unescape_cell
from mabos_cli.formats.mind.cognitive import CognitiveFile
from mabos_cli.formats.mind.cognitive import parse_cognitive as parse
from mabos_cli.formats.mind.cognitive_edit import Change, log_change, reorder, set_field
from mabos_cli.formats.mind.entries import Entry
from mabos_cli.formats.mind.mind_edit import Draft, add_entry, add_note, change_entry
from mabos_cli.formats.mind.plans import add_step, find_plans, finish_step
from tests.formats.cognitive_files import compose_file

SHARDS, SHARD = 10 if os.environ.get("FULL") else 4, 500  # FULL=1: 5,000 files
parse_cognitive = lru_cache(maxsize=16)(parse)  # one check after the other asks about the same few texts
DAY = "2026-02-24"
VALUES = (
    *("0.4", "active", "2026-03-01", "in progress", "done (2026-02-24: signed (twice))", "G-CEO-S1, G-2", "東京"),
    *("a | b", "a \\| b", "ends with \\", "x [status: hijacked] y", "[updated: 2020-01-01]", "one\ntwo", "a --> b", "<!-- open"),
    *("its priority: low, status: gone", "Status: gone", "## x", "```", "| ID | Goal |", "-", "] [", "\x00\x1b"),
)  # fmt: skip
TEXTS = (
    *VALUES,
    "Two lines.\n\nStatus: gone\n- item status: gone\n## Heading\n| a | b |\n|---|---|\n```\n-->\n    code",
)
NAMES = (
    *("status", "priority", "certainty", "progress", "deadline", "updated", "source", "owner", "note", "reason", "outcome"),
    *("goal", "plan", "parent", "desire", "type", "supports", "requires", "motivates", "serves", "id"),
)  # fmt: skip
DRAFTS = {
    "belief": ("certainty", "source", "supports", "updated"),
    "desire": ("priority", "status", "serves", "motivates"),
    "goal": ("type", "priority", "status", "deadline", "parent", "desire", "requires"),
    "intention": ("status", "goal", "plan", "deadline", "updated"),
    "plan": ("goal",),
    "commitment": ("owner", "deadline", "status"),
    "learning": ("source", "updated"),
}
LINKS = ("supports", "serves", "motivates", "parent", "desire", "requires", "goal", "plan")


def same(text: str) -> str:
    """A text without what writing it may change: escapes, brackets, emphasis around it, and spacing."""
    return " ".join(re.sub(r"[\\\[\]()*_,;—–-]", "", one_line(text)).split()).casefold()


def value_of(rnd: Random, name: str) -> str:
    """Any value; but one that begins with the name of its field is that without the name."""
    return rnd.choice([value for value in VALUES if not value.casefold().startswith(name)])


def told(entry: Entry) -> tuple[object, ...]:
    values = tuple(sorted((name, field.value) for name, field in entry.fields.items()))
    return entry.shape, entry.title, entry.text, values


def lines_of(text: str) -> list[str]:
    return [line.rstrip("\r") for line in text.split("\n")]


def assert_only_added(old: str, new: str) -> None:
    rest = iter(lines_of(new))
    assert all(line in rest for line in lines_of(old) if line or old), "a line is gone or moved"
    if old.count("\r\n") == old.count("\n") > 0 and "\r" not in old.replace("\r\n", ""):
        assert new.count("\n") == new.count("\r\n") and "\r" not in new.replace("\r\n", ""), "mixed line ends"


def assert_others_stay(old: str, new: str, touched: Callable[[Entry], bool], more: int = 0) -> list[Entry]:
    """The entries of the new text that the old one did not have; those that were not touched are all there, in order."""
    before = [told(entry) for entry in parse_cognitive(old).entries if not touched(entry)]
    added = []
    for entry in parse_cognitive(new).entries:
        if before and told(entry) == before[0]:
            before.pop(0)
        else:
            added.append(entry)
    assert not before, "an entry is gone or changed"
    assert len(added) <= more, "an entry came from nowhere"
    return added


def entry_at(text: str, entry: Entry) -> Entry:
    return next(e for e in parse_cognitive(text).entries if (e.first, e.shape) == (entry.first, entry.shape))


def assert_own_lines(old: str, new: str, entry: Entry) -> None:
    """Nothing before and behind the lines of an entry changed."""
    before, after = lines_of(old), lines_of(new)
    assert before[: entry.first] == after[: entry.first]
    behind = len(before) - 1 - entry.last
    assert not behind or before[-behind:] == after[-behind:]


# Each edit gets the chance, the text, and what was read of it.


def edit_field(rnd: Random, text: str, file: CognitiveFile) -> None:
    entry = rnd.choice(file.entries)
    if not entry.fields:
        return
    # What a block is called tells that it is one, and whether an id is a link.
    name = rnd.choice([n for n in entry.fields if not (entry.is_block and n in ("id", "title"))] or [""])
    if not name:
        return
    value = DAY if name == "created" else value_of(rnd, name)  # else it is none
    new = set_field(file, entry, name, value)
    assert sum(a != b for a, b in zip(text.split("\n"), new.split("\n"), strict=True)) <= 1
    assert_own_lines(text, new, entry)
    assert same(entry_at(new, entry).get(name)) == same(value)
    kept = [(n, f.value) for n, f in entry.fields.items() if n != name and f[1:] != entry.fields[name][1:]]
    assert all(entry_at(new, entry).get(n) == v for n, v in kept)
    assert_others_stay(text, new, lambda e: e.first == entry.first, 1)


def edit_missing_field(rnd: Random, text: str, file: CognitiveFile) -> None:
    entry, name = rnd.choice(file.entries), rnd.choice(NAMES)
    value = value_of(rnd, name)
    if name in entry.fields:
        return
    new = set_field(file, entry, name, value)
    assert_own_lines(text, new, entry)
    assert same(entry_at(new, entry).get(name)) == same(value)
    assert all(same(entry_at(new, entry).get(n)).startswith(same(f.value)) for n, f in entry.fields.items())
    assert_others_stay(text, new, lambda e: e.first == entry.first, 1)


def edit_entry(rnd: Random, text: str, file: CognitiveFile) -> None:
    entry = rnd.choice(file.entries)
    changes = {"status": value_of(rnd, "status"), "text": rnd.choice(TEXTS), "updated": DAY}
    new = change_entry(text, entry, changes)
    if new is None:
        return
    assert_own_lines(text, new, entry)
    here = entry_at(new, entry)
    assert same(here.text) == same(changes["text"])
    assert (same(here.get("status")), here.get("updated")) == (same(changes["status"]), DAY)
    assert_others_stay(text, new, lambda e: e.first == entry.first, 1)


def edit_by_adding(rnd: Random, text: str, file: CognitiveFile, kind: str) -> None:
    title = rnd.choice(("New one", *VALUES))
    fields = {n: "G-77, PL-8" if n in LINKS else value_of(rnd, n) for n in DRAFTS[kind] if rnd.random() < 0.8}
    fields |= {"updated": DAY} if kind == "learning" else {"status": "active"} if kind != "plan" else {}
    # Below what is an entry no other one goes, unless somebody wants it to be a group.
    lines = {entry.first for entry in file.entries}
    taken = {heading.title for heading in file.headings if heading.line in lines or heading.level == 1}
    headings = [heading.title for heading in file.headings if heading.title not in taken]
    group = rnd.choice(("", "", "New group", "New [status: x] ##", *headings))
    steps = ("1. [ ] first", "2. [ ] [status: gone]") if kind == "plan" else ()
    draft = Draft(kind, "", title, rnd.choice(("", *TEXTS)), fields, steps)
    new, own = add_entry(text, draft, DAY, group)
    assert_only_added(text, new)
    assert not own or not re.search(rf"(?<![\w-]){re.escape(own)}(?!\w)", text)
    if kind == "plan":
        heading = find_entry(parse_cognitive(new), "plan", own)
        assert heading and same(title) in same(heading.title)
        found = next(plan for plan in parse_attitudes(new, "plan", "Plans.md")[0] if plan.id == own)
        assert len(found.steps) == 2 and found.linked("goal") == (("G-77", "PL-8") if "goal" in fields else ())
        assert_others_stay(text, new, lambda e: False, 1)
        return
    added = assert_others_stay(text, new, lambda e: False, 1)
    assert len(added) == 1
    is_about = kind == "belief" and bool(draft.text) and "about" in added[0].fields
    assert same(title) in same(added[0].get("about") if is_about else added[0].title)
    assert own == "" or find_entry(parse_cognitive(new), kind, own) == added[0] or "id" not in added[0].fields
    left = {n: v for n, v in fields.items() if n != "type"}
    # Where others say when they were created, so does it.
    got = {n: added[0].get(n) or (added[0].get("created") if n == "updated" else "") for n in left}
    assert {n: same(v) for n, v in got.items()} == {n: same(v) for n, v in left.items()}
    assert same(added[0].title if is_about else added[0].text) == same(draft.text)


def edit_by_note(rnd: Random, text: str, file: CognitiveFile) -> None:
    entry, note = rnd.choice(file.entries), rnd.choice(VALUES)
    new = add_note(text, entry, DAY, note)
    assert_own_lines(text, new, entry)
    here = entry_at(new, entry)
    assert DAY in new and same(f"{DAY}: {note}") in same("\n".join(new.split("\n")[here.first : here.last + 1]))
    assert_others_stay(text, new, lambda e: e.first == entry.first, 1)


def edit_by_log(rnd: Random, text: str, file: CognitiveFile) -> None:
    said = Change(*(rnd.choice(("", *VALUES)) for _ in range(4)))
    new = log_change(text, rnd.choice(("", "B-001")), rnd.choice(VALUES), DAY, said)
    assert_only_added(text, new)
    assert len(lines_of(new)) <= len(lines_of(text)) + 4
    assert_others_stay(text, new, lambda e: False)


def edit_by_step(rnd: Random, text: str, file: CognitiveFile) -> None:
    plans = [plan for plan in find_plans(file) if plan.shape != "row"]
    if not plans:
        return
    plan, step = rnd.choice(plans), rnd.choice(("Send the offer", *VALUES))
    before = next((p.steps for p in parse_attitudes(text, "plan", "")[0] if p.line == plan.first + 1), ())
    new = add_step(text, plan, step)
    assert_only_added(text, new)
    after = next(p.steps for p in parse_attitudes(new, "plan", "")[0] if p.line == plan.first + 1)
    assert [s[:4] for s in after[:-1]] == [s[:4] for s in before]
    assert same(step) in (same(after[-1].text), "") and not after[-1].done
    others = [
        [
            (p.id, p.title, p.status, [s[:4] for s in p.steps])
            for p in parse_attitudes(each, "plan", "")[0]
            if p.line != plan.first + 1
        ]
        for each in (text, new)
    ]
    assert others[0] == others[1]


def edit_finished_step(rnd: Random, text: str, file: CognitiveFile) -> None:
    steps = [step for plan in parse_attitudes(text, "plan", "")[0] for step in plan.steps]
    if not steps:
        return
    step = rnd.choice(steps)
    new = finish_step(text, step, DAY)
    assert sum(a != b for a, b in zip(text.split("\n"), new.split("\n"), strict=True)) <= 1
    again = [each for plan in parse_attitudes(new, "plan", "")[0] for each in plan.steps]
    assert [s[:4] for s in again if s.line != step.line] == [s[:4] for s in steps if s.line != step.line]
    assert next(each for each in again if each.line == step.line).done
    assert finish_step(new, next(each for each in again if each.line == step.line), DAY) == new
    assert_others_stay(text, new, lambda e: e.first <= step.line - 1 <= e.last, 2)


def edit_by_sorting(rnd: Random, text: str, file: CognitiveFile) -> None:
    salt = rnd.randrange(7)
    for key in (priority_of, lambda e: len(e.title) * 7919 % (salt + 3) if e.title else None):
        new = reorder(file, key)
        assert sorted(lines_of(new)) == sorted(lines_of(text))
        assert sorted(map(told, parse_cognitive(new).entries)) == sorted(map(told, file.entries))
        assert reorder(parse_cognitive(new), key) == new


EDITS = (edit_field, edit_missing_field, edit_entry, edit_by_note)
OTHERS = (edit_by_log, edit_by_step, edit_finished_step, edit_by_sorting)


def check_file(text: str, rnd: Random) -> None:
    file = parse_cognitive(text)
    assert file.render() == text
    lines = text.split("\n")
    for entry in file.entries:
        for field in entry.fields.values():
            assert entry.first <= field.line <= entry.last
            said = lines[field.line][field.start : field.end]
            assert field.value == (unescape_cell(said) if entry.shape == "row" else said)
    if rnd.random() < 0.5:
        edit_by_adding(rnd, text, file, rnd.choice(list(DRAFTS)))
    elif file.entries:
        rnd.choice(EDITS)(rnd, text, file)
    rnd.choice(OTHERS)(rnd, text, file)
    if rnd.random() < 0.1:
        parse_beliefs(text, "Beliefs.md")
        parse_attitudes(text, rnd.choice(("desire", "goal", "intention", "commitment", "learning")), "Some.md")


@pytest.mark.parametrize("shard", range(SHARDS))
def test_files_stay_what_they_are_but_for_the_edit(shard: int):
    for seed in range(shard * SHARD, (shard + 1) * SHARD):
        text = compose_file(Random(seed))
        try:
            check_file(text, Random(seed))
        except Exception as error:
            raise AssertionError(f"seed {seed}: {text!r}") from error
