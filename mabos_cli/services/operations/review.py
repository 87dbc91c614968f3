"""Finds what agents learned since a commit: compares the contents of files then and now."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from mabos_cli.core.knowledge.case import Case
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.language.clock import parse_when
from mabos_cli.core.language.text import one_line
from mabos_cli.core.operations import review
from mabos_cli.errors import NotFound, UsageFault
from mabos_cli.formats.knowledge.cases import case_from_dict, parse_cases
from mabos_cli.formats.knowledge.facts import parse_fact, parse_facts
from mabos_cli.formats.knowledge.reason_record import parse_past
from mabos_cli.formats.knowledge.rules import parse_rules, render_rule_text
from mabos_cli.formats.memory.checkpoint_md import checkpoint_context, checkpoint_title
from mabos_cli.formats.memory.items import line_id, parse_archive, parse_decisions, parse_item, parse_store, render_item
from mabos_cli.formats.memory.observations import parse_harvests
from mabos_cli.formats.mind.attitudes import KINDS, parse_attitudes, parse_beliefs
from mabos_cli.formats.mind.mind_md import parse_report_keys, parse_resolutions
from mabos_cli.formats.operations.git_merge import kind_of
from mabos_cli.services.inputs import Session
from mabos_cli.workspace.git import Repository, Revision, commit_before, find_commit, head_commit, open_repository
from mabos_cli.workspace.layout import LEGACY, STORE, AgentPaths
from mabos_cli.workspace.locate import find_agent, list_agents
from mabos_cli.workspace.runtime import now

T = TypeVar("T")

_STORES = re.compile(STORE)
_REPORTS = re.compile(r"memory/bdi-conflicts/[^/]+\.md")
_CHECKPOINTS = re.compile(r"memory/checkpoints/[^/]+\.md")
_CAPTURED = re.compile(r"observations/[^/]+\.jsonl")
_HARVESTED = re.compile(r"observations/harvested/.+")
_ARCHIVE = re.compile(r"archive/[^/]+\.jsonl")
_CONFLICT = re.compile(r"(?m)^## Conflict \d+: (.*)$")
_MINDS = {kind.file: name for name, kind in KINDS.items()}
_RESULTS = {None: "open", True: "came true", False: "did not come true"}

# Kinds of files that are only listed by name; others have rows, or repeat what has rows.
_OTHERS = ("", "mind")


class Review(NamedTuple):
    """The changes of an agent: sections with rows, numbers of observations captured and harvested, other changed files."""

    agent: str
    sections: tuple[review.Section, ...]
    captured: int
    harvested: int
    files: tuple[str, ...]

    def as_dict(self, limit: int) -> dict[str, Any]:
        """Returns the data of a review, with at most `limit` rows per section; 0 for all."""
        return {
            "agent": self.agent,
            "counts": {section.name: review.count_states(section) for section in self.sections},
            "sections": {s.name: [_row_data(row) for row in s.rows[: limit or None]] for s in self.sections},
            "observations": {"captured": self.captured, "harvested": self.harvested},
            "files": list(self.files),
        }


def _row_data(row: review.Row) -> dict[str, Any]:
    return {name: value for name, value in row._asdict().items() if value not in ("", 0.0) and name != "weight"}


def review_agents(session: Session, rev: str, since: str, *, every: bool) -> tuple[str, list[Review]]:
    """Compares an agent, or all, with a commit or the last one before a date; returns it and the reviews."""
    if rev and since:
        raise UsageFault("both a commit and --since given", "each sets the start: use one of them")
    workspace = session.open_workspace()
    names = list_agents(workspace) if every else [find_agent(workspace, session.agent).id]
    if not names:
        raise NotFound("this workspace has no agent", "create one: mabos agent create ID")
    repository = open_repository(workspace.root)
    commit = _find_start(repository, rev, since)
    agents = [workspace.agent(name) for name in names]
    return commit, [review_agent(agent, Revision(repository, commit, agent.root)) for agent in agents]


def _find_start(repository: Repository, rev: str, since: str) -> str:
    """Returns the commit to compare with; empty if there is none and everything is new."""
    if since:
        return commit_before(repository, parse_when(since, now()))
    return find_commit(repository, rev) if rev else head_commit(repository)


def review_agent(paths: AgentPaths, revision: Revision) -> Review:
    """Returns what changed in an agent's folder."""
    files = _Files(paths, revision)
    sections = [review.make_section(name, rows) for name, rows in _sections(files)]
    captured = sum(files.added(name).count(b"\n{") for name in files.matching(_CAPTURED))
    harvested = set().union(*(parse_harvests(files.added(name)).ids for name in files.matching(_HARVESTED)))
    others = tuple(
        name
        for name in revision.changed
        if name not in (*files.seen, LEGACY) and kind_of(paths.cited(paths.root / name)) in _OTHERS
    )
    return Review(paths.id, tuple(s for s in sections if s.rows), captured, len(harvested), others)


class _Files:
    """The changed files, and which of them were read."""

    def __init__(self, paths: AgentPaths, revision: Revision) -> None:
        self.paths = paths
        self.revision = revision
        self.seen: set[str] = set()
        wanted = [name for name in revision.changed if _REPORTS.fullmatch(name) or not self._is_copy(name)]
        revision.load(wanted)

    def _is_copy(self, name: str) -> bool:
        """Returns whether a file only repeats the contents of others."""
        return kind_of(self.cited(name)) in ("log", "derived")

    def matching(self, pattern: re.Pattern[str]) -> list[str]:
        found = [name for name in self.revision.changed if pattern.fullmatch(name)]
        self.seen.update(found)
        return found

    def cited(self, name: str) -> str:
        return self.paths.cited(self.paths.root / name)

    def added(self, name: str) -> bytes:
        """Returns the new lines of an append-only file, each after a line break."""
        self.seen.add(name)
        return b"\n" + self.revision.added_lines(name) if name in self.revision.changed else b""

    def texts(self, name: str) -> tuple[str, str]:
        return tuple(data.decode("utf-8", "replace") for data in self.both(name))  # type: ignore[return-value]

    def both(self, name: str) -> tuple[bytes, bytes]:
        """Returns a file before and now; empty if it did not change."""
        self.seen.add(name)
        return (self.revision.old(name), self.revision.new(name)) if name in self.revision.changed else (b"", b"")


def _sections(files: _Files) -> Iterator[tuple[str, list[review.Row]]]:
    memories = _memories(files)
    yield "beliefs", _mind(files, "Beliefs.md")
    yield "decisions", [row for row in memories if row.group == "decision"]
    yield "memories", [row for row in memories if row.group != "decision"]
    yield "facts", _facts(files, files.paths.facts.name)
    yield "conflicts", list(_conflicts(files))
    for name in [file for file in _MINDS if file != "Beliefs.md"]:
        yield name.removesuffix(".md").lower(), _mind(files, name)
    yield "rules", _rules(files)
    yield "derived facts", _facts(files, files.paths.derived_facts.name)
    yield "cases", _cases(files)
    yield "trust", _trust(files)
    yield "reasoning", list(_reasoning(files))
    yield "checkpoints", _checkpoints(files)


def _rows(
    old: dict[str, T], new: dict[str, T], describe: Callable[[T | None, T | None], review.Row | None]
) -> list[review.Row]:
    """Describes what differs; differences that do not matter have no row."""
    return [row for was, now in review.differing(old, new) if (row := describe(was, now))]


def _memories(files: _Files) -> list[review.Row]:
    """Describes memories that differ. Lines that both versions have are not decoded, on whatever page they are."""
    sides: list[dict[tuple[str, bytes], str]] = [{}, {}]
    for name in files.matching(_STORES):
        for side, data in zip(sides, files.both(name), strict=True):
            side.update(_store_lines(data, files.cited(name)))
    old, new = (
        {item_id: (at[0], parse_item(at[1], "memory-store.json")) for at, item_id in side.items() if at not in other}
        for side, other in (sides, sides[::-1])
    )
    reasons, parts = {}, {}
    for name in files.matching(_ARCHIVE):
        for departure in parse_archive(files.added(name), files.cited(name))[0]:
            into = f" into {departure.into}" if departure.into else ""
            reasons[departure.item.id] = one_line(departure.reason, 60) + into
            parts[departure.item.id] = departure.into
    return list(review.fold_parts(_rows(old, new, lambda was, now: review.item_row(was, now, reasons)), parts))


def _store_lines(data: bytes, cited: str) -> Iterator[tuple[tuple[str, bytes], str]]:
    """Yields store, line and id of each item in a file."""
    store = parse_store(data, cited) if data else None
    for name in ("working", "short_term") if store else ():
        yield from (((name, render_item(item)), item.id) for item in getattr(store, name))
    yield from ((("long_term", line), line_id(line)) for line in (store.long_term if store else ()))


def _facts(files: _Files, name: str) -> list[review.Row]:
    """Describes facts that differ, in a file or on whatever page of it."""
    old, new = set[bytes](), set[bytes]()
    for each in (name, *files.matching(re.compile(rf"{name.removesuffix('.json')}/[0-9a-f]{{2}}\.json"))):
        for lines, data in zip((old, new), files.both(each), strict=True):
            lines.update(parse_facts(data, files.cited(each)).lines if data else ())
    sides: list[dict[str, Fact]] = [
        {fact.id: fact for line in lines if (fact := parse_fact(line, files.cited(name)))}
        for lines in (sorted(old - new), sorted(new - old))
    ]
    return _rows(sides[0], sides[1], review.fact_row)


def _mind(files: _Files, name: str) -> list[review.Row]:
    """Describes what changed in a cognitive file, entries by id, else by subject or title."""
    kind = _MINDS[name]
    if kind == "belief":
        was, now = ({b.id or b.subject: b for b in parse_beliefs(text, name)[0]} for text in files.texts(name))
        return _rows(was, now, review.belief_row)
    old, new = ({a.id or a.title: a for a in parse_attitudes(text, kind, name)[0]} for text in files.texts(name))
    return _rows(old, new, review.attitude_row)


def _rules(files: _Files) -> list[review.Row]:
    name = files.paths.rules.name
    old, new = (
        {r.id: (r, render_rule_text(r.conditions, r.conclusion)) for r in parse_rules(data, files.cited(name)).rules}
        if data
        else {}
        for data in files.both(name)
    )
    return _rows(old, new, review.rule_row)


def _cases(files: _Files) -> list[review.Row]:
    name = files.paths.cases.name
    raw = [
        {entry["case_id"]: entry for entry in parse_cases(data, files.cited(name)).entries} if data else {}
        for data in files.both(name)
    ]
    sides: list[dict[str, Case]] = [
        {key: case_from_dict(entry, files.cited(name)) for key, entry in one.items() if entry != other.get(key)}
        for one, other in (raw, raw[::-1])
    ]
    return _rows(sides[0], sides[1], review.case_row)


def _conflicts(files: _Files) -> Iterator[review.Row]:
    """Yields newly reported conflicts, and resolutions."""
    known: set[str] = set()
    found: dict[str, review.Row] = {}
    for name in files.matching(_REPORTS):
        old, new = files.texts(name)
        known.update(parse_report_keys(old))
        starts = [*_CONFLICT.finditer(new)]
        ends = [*(each.start() for each in starts[1:]), len(new)]
        for start, end in zip(starts, ends, strict=False):  # a report may list none
            line = new.count("\n", 0, start.start()) + 1
            for key in parse_report_keys(new[start.start() : end]):
                found[key] = review.Row(review.NEW, key[:8], one_line(start[1], 100), place=f"{name}:{line}")
    yield from (row for key, row in found.items() if key not in known)
    ledger = files.paths.relative(files.paths.conflict_ledger)
    for key, resolution in parse_resolutions(files.added(ledger)).items():
        text = f"resolved: kept {resolution.keep} of {resolution.a} and {resolution.b}"
        yield review.Row(review.CHANGED, key[:8], one_line(text, 120), one_line(resolution.reason, 100), ledger)


def _trust(files: _Files) -> list[review.Row]:
    decisions = parse_decisions(files.added(files.paths.trust_log.name))[0]
    return [
        review.Row(
            review.CHANGED,
            each.id,
            f"{each.before} -> {each.to} by {one_line(each.by, 40)}",
            one_line(each.reason, 100),
        )
        for each in decisions
    ]


def _reasoning(files: _Files) -> Iterator[review.Row]:
    """Yields new saved results, and outcomes of earlier ones."""
    name = files.paths.reasoning.name
    old, new = ({past.id: (past, text) for past, text in parse_past(data)[0]} for data in files.both(name))
    for key, (past, text) in new.items():
        if key not in old:
            yield review.Row(review.NEW, key, f"{past.method}: {one_line(text or past.problem, 100)}")
        elif past.happened != old[key][0].happened:
            yield review.Row(
                review.CHANGED, key, f"{past.method}: {_RESULTS[past.happened]}", one_line(past.lesson, 100)
            )


def _checkpoints(files: _Files) -> list[review.Row]:
    rows = []
    for name in files.matching(_CHECKPOINTS):
        old, new = files.texts(name)
        about = checkpoint_context(new or old) or checkpoint_title(new or old)
        stem = name.rpartition("/")[2].removesuffix(".md")
        rows.append(review.Row(review.state_of(old or None, new or None), stem, one_line(about, 100), place=name))
    return rows
