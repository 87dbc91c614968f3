"""What an agent learned since a commit: its files then and now through the same codecs, compared by what they hold."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from mabos_cli.core.knowledge.case import Case
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.rule import Rule
from mabos_cli.core.language.text import one_line
from mabos_cli.core.operations.review import (
    CHANGED,
    NEW,
    Row,
    Section,
    attitude_row,
    belief_row,
    case_row,
    compare,
    fact_row,
    fold_parts,
    item_row,
    make_section,
    state_of,
)
from mabos_cli.formats.knowledge.cases import case_from_dict, parse_cases
from mabos_cli.formats.knowledge.facts import parse_fact, parse_facts
from mabos_cli.formats.knowledge.reason_record import parse_past
from mabos_cli.formats.knowledge.rules import parse_rules, render_rule_text
from mabos_cli.formats.memory.checkpoint_md import checkpoint_context, checkpoint_title
from mabos_cli.formats.memory.item_records import parse_archive, parse_decisions
from mabos_cli.formats.memory.items import line_id, parse_item, parse_store, render_item
from mabos_cli.formats.memory.observations import parse_harvests
from mabos_cli.formats.mind.attitudes import KINDS, parse_attitudes, parse_beliefs, parse_plans
from mabos_cli.formats.mind.mind_md import parse_report_keys, parse_resolutions
from mabos_cli.formats.operations.git_merge import kind_of
from mabos_cli.workspace.git import Revision
from mabos_cli.workspace.layout import STORE, AgentPaths

_STORES = re.compile(STORE)
_REPORTS = re.compile(r"memory/bdi-conflicts/[^/]+\.md")
_CHECKPOINTS = re.compile(r"memory/checkpoints/[^/]+\.md")
_CAPTURED = re.compile(r"observations/[^/]+\.jsonl")
_HARVESTED = re.compile(r"observations/harvested/.+")
_ARCHIVE = re.compile(r"archive/[^/]+\.jsonl")
_CONFLICT = re.compile(r"(?m)^## Conflict \d+: (.*)$")
_MINDS = {kind.file: name for name, kind in KINDS.items()}
_RESULTS = {None: "open", True: "came true", False: "did not come true"}


class Review(NamedTuple):
    """What is new: sections that have rows, how many observations were captured and harvested, and the other files that
    changed."""

    sections: tuple[Section, ...]
    captured: int
    harvested: int
    files: tuple[str, ...]


def review_agent(paths: AgentPaths, revision: Revision) -> Review:
    """What changed in an agent's folder."""
    told = _Files(paths, revision)
    sections = [make_section(name, rows) for name, rows in _sections(told)]
    captured = sum(told.added(name).count(b"\n{") for name in told.matching(_CAPTURED))
    harvested = set().union(*(parse_harvests(told.added(name)).ids for name in told.matching(_HARVESTED)))
    others = tuple(
        name for name in revision.changed if name not in told.seen and not kind_of(paths.cited(paths.root / name))
    )
    return Review(tuple(section for section in sections if section.rows), captured, len(harvested), others)


class _Files:
    """The files that changed, and which of them somebody looked at."""

    def __init__(self, paths: AgentPaths, revision: Revision) -> None:
        self.paths = paths
        self.revision = revision
        self.seen: set[str] = set()
        wanted = [name for name in revision.changed if _REPORTS.fullmatch(name) or not self._is_copy(name)]
        revision.load(wanted)

    def _is_copy(self, name: str) -> bool:
        """Whether a file only repeats what others hold."""
        return kind_of(self.cited(name)) in ("log", "derived")

    def matching(self, pattern: re.Pattern[str]) -> list[str]:
        found = [name for name in self.revision.changed if pattern.fullmatch(name)]
        self.seen.update(found)
        return found

    def cited(self, name: str) -> str:
        return self.paths.cited(self.paths.root / name)

    def added(self, name: str) -> bytes:
        """The new lines of a file that only grows, each behind a line break."""
        self.seen.add(name)
        return b"\n" + self.revision.added_lines(name) if name in self.revision.changed else b""

    def texts(self, name: str) -> tuple[str, str]:
        return tuple(data.decode("utf-8", "replace") for data in self.both(name))  # type: ignore[return-value]

    def both(self, name: str) -> tuple[bytes, bytes]:
        """A file then and now; nothing twice when it did not change."""
        self.seen.add(name)
        return (self.revision.old(name), self.revision.new(name)) if name in self.revision.changed else (b"", b"")


def _sections(files: _Files) -> Iterator[tuple[str, Iterable[Row]]]:
    memories = list(_memories(files))
    yield "beliefs", _mind(files, "Beliefs.md")
    yield "decisions", [row for row in memories if row.group == "decision"]
    yield "memories", [row for row in memories if row.group != "decision"]
    yield "facts", _facts(files, files.paths.facts.name)
    yield "conflicts", _conflicts(files)
    for name in [file for file in _MINDS if file != "Beliefs.md"]:
        yield name.removesuffix(".md").lower(), _mind(files, name)
    yield "rules", _rules(files)
    yield "derived facts", _facts(files, files.paths.derived_facts.name)
    yield "cases", _cases(files)
    yield "trust", _trust(files)
    yield "reasoning", _reasoning(files)
    yield "checkpoints", _checkpoints(files)


def _memories(files: _Files) -> Iterator[Row]:
    """Memories that differ. Lines that stand in both are never decoded, on whatever page they are."""
    sides: list[dict[tuple[str, bytes], str]] = [{}, {}]
    for name in files.matching(_STORES):
        for side, data in zip(sides, files.both(name), strict=True):
            side.update(_held(data, files.cited(name)))
    old, new = (
        {own: (held[0], parse_item(held[1], "memory-store.json")) for held, own in side.items() if held not in other}
        for side, other in (sides, sides[::-1])
    )
    why, parts = {}, {}
    for name in files.matching(_ARCHIVE):
        for departure in parse_archive(files.added(name), files.cited(name))[0]:
            into = f" into {departure.into}" if departure.into else ""
            why[departure.item.id] = one_line(departure.reason, 60) + into
            parts[departure.item.id] = departure.into
    tell: Callable[..., Row | None] = partial(item_row, why=why)
    return fold_parts(compare(old, new, tell), parts)


def _held(data: bytes, cited: str) -> Iterator[tuple[tuple[str, bytes], str]]:
    """Store, line and id of the items in a file."""
    store = parse_store(data, cited) if data else None
    for name in ("working", "short_term") if store else ():
        yield from (((name, render_item(item)), item.id) for item in getattr(store, name))
    yield from ((("long_term", line), line_id(line)) for line in (store.long_term if store else ()))


def _facts(files: _Files, name: str) -> Iterator[Row]:
    old, new = (set(parse_facts(data, files.cited(name)).lines) if data else set() for data in files.both(name))
    sides: list[dict[str, Fact]] = [
        {fact.id: fact for line in lines if (fact := parse_fact(line, files.cited(name)))}
        for lines in (sorted(old - new), sorted(new - old))
    ]
    return compare(sides[0], sides[1], fact_row)


def _mind(files: _Files, name: str) -> Iterator[Row]:
    """What an agent holds true, wants or does, by id, else by what it is about."""
    kind = _MINDS[name]
    if kind == "belief":
        sides = [{b.id or b.subject: b for b in parse_beliefs(text, name)[0]} for text in files.texts(name)]
        return compare(sides[0], sides[1], belief_row)
    read = parse_plans if kind == "plan" else lambda text, path: parse_attitudes(text, kind, path)
    told = [{a.id or a.title: a for a in read(text, name)[0]} for text in files.texts(name)]
    return compare(told[0], told[1], attitude_row)


def _rules(files: _Files) -> Iterator[Row]:
    name = files.paths.rules.name
    sides = [
        {rule.id: rule for rule in parse_rules(data, files.cited(name)).rules} if data else {}
        for data in files.both(name)
    ]
    return compare(sides[0], sides[1], _rule_row)


def _rule_row(was: Rule | None, now: Rule | None) -> Row:
    rule = now or was
    assert rule is not None
    said = [render_rule_text(each.conditions, each.conclusion) for each in (was, now) if each]
    changes = [f"was: {one_line(said[0], 100)}"] if len(said) == 2 and said[0] != said[1] else []
    if was and now and was.enabled != now.enabled:
        changes.append("enabled" if now.enabled else "disabled")
    name = f"{one_line(rule.name, 40)}: " if rule.name != rule.id else ""
    text = f"{rule.type} {name}{one_line(said[-1], 100)}"
    return Row(state_of(was, now), rule.id, text, "; ".join(changes))


def _cases(files: _Files) -> Iterator[Row]:
    name = files.paths.cases.name
    sides: list[dict[str, Case]] = []
    raw = [
        {entry["case_id"]: entry for entry in parse_cases(data, files.cited(name)).entries} if data else {}
        for data in files.both(name)
    ]
    for mine, other in (raw, raw[::-1]):
        differ = {own: entry for own, entry in mine.items() if entry != other.get(own)}
        sides.append({own: case_from_dict(entry, files.cited(name)) for own, entry in differ.items()})
    return compare(sides[0], sides[1], case_row)


def _conflicts(files: _Files) -> Iterator[Row]:
    """Conflicts that reports list and did not before, and how conflicts were resolved."""
    known: set[str] = set()
    found: dict[str, Row] = {}
    for name in files.matching(_REPORTS):
        old, new = files.texts(name)
        known.update(parse_report_keys(old))
        starts = [*_CONFLICT.finditer(new)]
        ends = [*(each.start() for each in starts[1:]), len(new)]
        for start, end in zip(starts, ends, strict=False):  # a report may list none
            line = new.count("\n", 0, start.start()) + 1
            for key in parse_report_keys(new[start.start() : end]):
                found[key] = Row(NEW, key[:8], one_line(start[1], 100), place=f"{name}:{line}")
    yield from (row for key, row in found.items() if key not in known)
    ledger = files.paths.relative(files.paths.conflict_ledger)
    for key, said in parse_resolutions(files.added(ledger)).items():
        text = f"resolved: kept {said.keep} of {said.a} and {said.b}"
        yield Row(CHANGED, key[:8], one_line(text, 120), one_line(said.reason, 100), ledger)


def _trust(files: _Files) -> Iterator[Row]:
    name = files.paths.trust_log.name
    for said in parse_decisions(files.added(name))[0]:
        yield Row(
            CHANGED, said.id, f"{said.before} -> {said.to} by {one_line(said.by, 40)}", one_line(said.reason, 100)
        )


def _reasoning(files: _Files) -> Iterator[Row]:
    """Results that were kept, and what became of earlier ones."""
    name = files.paths.reasoning.name
    old, new = ({past.id: (past, said) for past, said in parse_past(data)[0]} for data in files.both(name))
    for own, (past, said) in new.items():
        if own not in old:
            yield Row(NEW, own, f"{past.method}: {one_line(said or past.problem, 100)}")
        elif past.happened != old[own][0].happened:
            yield Row(CHANGED, own, f"{past.method}: {_RESULTS[past.happened]}", one_line(past.lesson, 100))


def _checkpoints(files: _Files) -> Iterator[Row]:
    for name in files.matching(_CHECKPOINTS):
        old, new = files.texts(name)
        own = name.rpartition("/")[2].removesuffix(".md")
        about = checkpoint_context(new or old) or checkpoint_title(new or old)
        yield Row(state_of(old or None, new or None), own, one_line(about, 100), place=name)
