"""Facts and rules of an agent: read as they are, changed under its lock; and facts as Markdown for people and for search."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from mabos_cli.core.knowledge.fact import Fact, FactChanges, FactDeparture, derived_id, holds_at
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.ids import parse_id
from mabos_cli.core.memory.trust import Claim
from mabos_cli.core.records import NamedTuple
from mabos_cli.formats.knowledge import fact_text
from mabos_cli.formats.knowledge.facts import (
    STOPPED,
    Derived,
    Renewed,
    parse_fact_departures,
    render_fact_departure,
)
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.archive import archive_files
from mabos_cli.workspace.derived import DerivedPages, is_made_from
from mabos_cli.workspace.files import FileWrite, read_bytes
from mabos_cli.workspace.knowledge.fact_store import FactStore
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.runtime import IdSource
from mabos_cli.workspace.transaction import Fresh, Write, transact, write_files

Result = TypeVar("Result")
Lines = Sequence[tuple[Path, bytes]]
_MOST_WALKED = 20_000
_MANY = 50  # subjects above which all facts are decoded instead of looking for each


class Facts(NamedTuple):
    """The facts of an agent as they are on disk: asserted ones, and those that rules made of them."""

    asserted: FactStore
    derived: FactStore

    def all(self) -> Iterator[Fact]:
        """Yields every fact, asserted ones first."""
        yield from self.asserted.facts()
        yield from self.derived.facts()

    def of(self, subjects: Collection[str]) -> Iterator[Fact]:
        """Yields the facts about some subjects; of few, only the lines of those are decoded."""
        for store in self:
            for file in store.files(subjects):
                if len(subjects) > _MANY:
                    yield from (fact for fact in file.facts() if fact.subject in subjects)
                else:
                    yield from (fact for subject in subjects for fact in file.where("subject", subject))

    def where(self, name: str, value: str) -> Iterator[Fact]:
        """Yields the facts whose field is exactly this."""
        for store in self:
            yield from store.where(name, value)

    def around(self, names: Iterable[str], moment: datetime) -> list[Fact]:
        """Returns the facts that hold at a moment and lie within two steps of some things, of many facts within one: each thing
        takes two passes over the text, so few are looked at; where there are pages, only those of the subjects."""
        found: dict[str, Fact] = {}
        layer = [*names]
        parts = ("subject",) if any(store.is_paged for store in self) else ("subject", "object")
        for most in (3, 10)[: 2 if sum(map(len, self)) <= _MOST_WALKED else 1]:
            near = [fact for name in layer[:most] for part in parts for fact in self.where(part, name)]
            new = [fact for fact in near if fact.id not in found and holds_at(fact, moment)]
            found |= {fact.id: fact for fact in new}
            layer = [*dict.fromkeys(end for fact in new for end in (fact.subject, fact.object) if end not in layer)]
        return [*found.values()]

    def find(self, fact_id: str) -> Fact | None:
        """Returns the fact with an id, be it one that a merge of branches took over."""
        return next(self.where("id", fact_id), None) or self.asserted.find_united(fact_id)

    @property
    def versions(self) -> tuple[int, int]:
        return self.asserted.version, self.derived.version


def load_facts(agent: Agent) -> Facts:
    """Returns the facts as they are on disk."""
    paths = agent.paths
    asserted = FactStore(paths, paths.facts, paths.fact_pages)
    return Facts(asserted, FactStore(paths, paths.derived_facts, paths.derived_pages))


# No changes at all mean that nothing is to be written; empty ones, that nothing was left to change.
FactPlan = Callable[[Facts, Fresh], tuple[FactChanges | None, Result]]


def change_facts(
    agent: Agent, command: str, plan: FactPlan[Result], ledger: Callable[[Result], Lines] | None = None
) -> tuple[Result, list[str]]:
    """Runs a plan on fresh facts in one transaction and writes its changes: its result, and warnings. `ledger` gives the lines
    that the result adds to ledgers.

    The archive is written first: a crash before facts.json is replaced leaves a record too many, never a fact too few.
    """

    def planned(fresh: Fresh) -> tuple[Write | None, Result]:
        facts = load_facts(agent)
        before = facts.versions
        fresh.new_id = _FactIds(agent, facts.asserted)
        changes, result = plan(facts, fresh)
        if changes is None:
            return None, result
        if not (changes.put or changes.drop):
            # Of who was killed behind facts.json, the same words once more: the Markdown is still to be written.
            behind = (
                None if is_materialized(agent, before) else Write(follow=lambda: materialize_facts(agent, facts)[1])
            )
            return behind, result
        return _plan_write(agent, facts, changes)._replace(lines=ledger(result) if ledger else ()), result

    return transact(agent, command, planned)


def _plan_write(agent: Agent, facts: Facts, changes: FactChanges) -> Write:
    """Returns what is to be written so that the facts are changed."""
    before = facts.versions
    _apply(agent, facts.asserted, changes)
    subjects = {fact.subject for fact in changes.put} | {d.fact.subject for d in changes.archive}
    files, archive = facts.asserted.writes(), changes.archive
    if changes.derived is not None:
        mark = {"facts_version": facts.asserted.version, "rules_version": changes.rules_version}
        renewed, is_new = _renew(agent, facts.derived, changes.derived, mark)
        files += facts.derived.writes() if is_new else []
        subjects |= renewed.subjects
        archive = (*archive, *renewed.gone)
    return _derived_write(agent, facts, before, files, archive, subjects, None)._replace(
        ids=[fact.id for fact in changes.put] or changes.drop,
        counts={"facts": len(changes.put), "retracted": len(changes.drop)},
        texts=[" ".join((*fact.triple, fact.source)) for fact in changes.put],
        claims=[Claim(fact.id, fact.trust, fact.source) for fact in changes.put],
    )


def _renew(agent: Agent, store: FactStore, facts: Sequence[Fact], mark: dict[str, Any]) -> tuple[Renewed, bool]:
    """Puts what follows into the place of what followed, with the versions that it was made of; a run that was stopped says so. Also
    returns whether anything is to be written."""
    most, now = agent.settings["facts.split_above"], format_time(agent.now())
    renewed = store.renew(facts, now, most, drops=STOPPED not in mark)
    extra = {name: value for name, value in store.head.extra.items() if name != STOPPED} | mark
    is_new = store.is_changed or extra != store.head.extra
    store.head.extra = extra
    store.head.version += is_new
    return renewed, is_new


def _derived_write(
    agent: Agent,
    held: Facts,
    before: tuple[int, int],
    files: list[FileWrite],
    departures: Iterable[FactDeparture],
    subjects: Collection[str],
    done: Derived | None,
) -> Write:
    """Returns what is to be written so that derived facts are renewed: files, archive, and pages about some subjects."""
    return Write(
        files,
        archive=[(each.at, render_fact_departure(each)) for each in departures],
        follow=lambda: materialize_facts(agent, held, subjects, before)[1],
        part="facts",
        counts=done._asdict() if done else None,
        texts=(),
        claims=(),
    )


class _FactIds(IdSource):
    """Gives ids behind the last one issued, and none that somebody put into the file by hand."""

    def __init__(self, agent: Agent, store: FactStore) -> None:
        super().__init__(agent.moment, _last_id(store), letter="F")
        self._store = store

    def __call__(self) -> str:
        while self._store.has_id(fact_id := super().__call__()):
            pass
        return fact_id


def _last_id(store: FactStore, *more: str) -> str:
    """Returns the last id issued."""
    return max((i for i in store.last_ids(more) if parse_id(i)), key=lambda i: parse_id(i) or (0, 0), default="")


def _apply(agent: Agent, store: FactStore, changes: FactChanges) -> None:
    """Adds, replaces and drops facts."""
    store.head.last_id = _last_id(store, *(fact.id for fact in changes.put))
    subjects = {departure.fact.id: departure.fact.subject for departure in changes.archive}
    store.change(changes.put, {gone: subjects[gone] for gone in changes.drop}, agent.settings["facts.split_above"])
    store.head.version += 1


def materialize_facts(
    agent: Agent, facts: Facts, changed: Collection[str] | None = None, before: tuple[int, int] = (0, 0)
) -> tuple[list[str], list[str]]:
    """Writes mabos-facts.md where it differs: few facts are one file, many are pages by subject. Returns the files that changed,
    and warnings about those that somebody had edited. `changed` says which subjects may have changed since the versions
    `before`, so that only their pages are rendered; None renders everything. Under the agent's lock."""
    counts = len(facts.asserted), len(facts.derived)
    if not any(counts) and not agent.paths.facts_md.exists():
        return [], []
    files = DerivedPages(agent, agent.paths.facts_md, agent.paths.facts_pages, "[0-9a-f]{2}")
    state = fact_text.render_versions(facts.versions)
    if sum(counts) <= agent.settings["facts.materialize_split_above"]:
        return files.replace(fact_text.render_facts_page(agent.id, "", fact_text.render_sections(facts.all()), state))
    is_known = changed is not None and files.there and is_materialized(agent, before)
    fresh = _changed_pages(files, facts, changed or ()) if is_known else None
    names = set(files.there) if fresh is not None else set()
    for name, sections in _all_pages(facts) if fresh is None else sorted(fresh.items()):
        if sections:
            files.write(agent.paths.facts_pages / f"{name}.md", fact_text.render_facts_page(agent.id, name, sections))
        (names.add if sections else names.discard)(name)
    return files.replace(fact_text.render_facts_index(agent.id, *counts, names, state), (), names)


def is_materialized(agent: Agent, versions: tuple[int, int]) -> bool:
    """Returns whether mabos-facts.md was made from facts in these versions."""
    return is_made_from(agent.paths.facts_md, fact_text.render_versions(versions))


def _all_pages(facts: Facts) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields the sections of all pages; where facts are on pages, one of these after the other is read."""
    if facts.asserted.is_paged:
        for name in sorted(facts.asserted.head.pages):
            yield name, fact_text.render_sections(chain.from_iterable(store.facts_on(name) for store in facts))
        return
    pages: dict[str, list[Fact]] = {}
    for fact in facts.all():
        pages.setdefault(fact_text.page_of(fact.subject), []).append(fact)
    yield from ((name, fact_text.render_sections(found)) for name, found in sorted(pages.items()))


def _changed_pages(files: DerivedPages, facts: Facts, changed: Collection[str]) -> dict[str, dict[str, str]] | None:
    """Returns the pages of some subjects with their sections as they are now; None when a page is not as we wrote it."""
    pages: dict[str, dict[str, str]] = {}
    for subject in changed:
        name = fact_text.page_of(subject)
        if name not in pages:
            text = files.read(name)
            sections = fact_text.split_sections(text) if text else {}
            if sections is None:
                return None
            pages[name] = sections
        pages[name].pop(fact_text.heading_of(subject), None)
    places = {fact_text.heading_of(subject): fact_text.page_of(subject) for subject in changed}
    for head, body in fact_text.render_sections(facts.of(changed)).items():
        pages[places[head]][head] = body
    return pages


def write_derived_facts(
    agent: Agent, facts: Sequence[Fact], mark: dict[str, Any], rule_ids: Collection[str]
) -> tuple[Derived, list[str]]:
    """Replaces facts-derived.json by the facts that follow from facts.json and rules.json in the versions of the mark: what
    changed, and warnings. Derived facts that another tool keeps in facts.json go to the archive, if their rule is known: they
    follow anew, or no longer."""
    now = format_time(agent.now())

    def planned(fresh: Fresh) -> tuple[Write | None, tuple[Derived, list[str]]]:
        held = load_facts(agent)
        before = held.versions
        if mark["facts_version"] != before[0] == held.derived.head.extra.get("facts_version"):
            return None, (Derived(0, 0, 0), ["not written: facts changed, and a later run was quicker"])
        has_derived = held.asserted.has_text(b'"rule_id": "')
        moved = [fact for fact in held.asserted.facts() if fact.rule_id in rule_ids] if has_derived else []
        departures = [FactDeparture(fact, "derived anew", now, derived_id(*fact.triple)) for fact in moved]
        files: list[FileWrite] = []
        if moved:  # rules derive them again, in facts-derived.json
            _apply(agent, held.asserted, FactChanges(drop=tuple(f.id for f in moved), archive=tuple(departures)))
            files = held.asserted.writes()
        renewed, is_new = _renew(
            agent, held.derived, facts, mark | {"facts_version": mark["facts_version"] + bool(moved)}
        )
        files += held.derived.writes() if is_new else []
        subjects = renewed.subjects | {fact.subject for fact in moved}
        if not files and is_materialized(agent, before):
            return None, (renewed.done, [])
        gone = (*departures, *renewed.gone)
        write = _derived_write(agent, held, before, files, gone, subjects, renewed.done if files else None)
        return write, (renewed.done, [])

    (done, notes), warnings = transact(agent, "infer forward", planned)
    return done, [*warnings, *notes]


def change_derived_facts(
    agent: Agent, made_from: tuple[int, int], put: Sequence[Fact], gone: Mapping[str, Fact], mark: dict[str, Any]
) -> tuple[Derived, list[str]]:
    """Replaces or drops derived facts if the files still have the versions that these were derived from: returns what changed, and warnings."""
    now = format_time(agent.now())

    def planned(fresh: Fresh) -> tuple[Write | None, tuple[Derived, list[str]]]:
        held = load_facts(agent)
        if held.versions != made_from:
            return None, (Derived(0, 0, 0), ["not written: facts changed, and a later run was quicker"])
        known = {fact.id: fact for each in put for fact in held.derived.with_triple(each.triple)}
        new = [f._replace(created_at=known[f.id].created_at if f.id in known else now, updated_at=now) for f in put]
        held.derived.change(
            new, {fact_id: fact.subject for fact_id, fact in gone.items()}, agent.settings["facts.split_above"]
        )
        held.derived.sort()
        if not new and not gone and held.derived.head.extra == {**held.derived.head.extra, **mark}:
            return None, (Derived(0, 0, 0), [])
        held.derived.head.extra = held.derived.head.extra | mark
        held.derived.head.version += 1
        changed = sum(fact.id in known for fact in put)
        done = Derived(len(put) - changed, changed, len(gone))
        subjects = {fact.subject for fact in (*put, *gone.values())}
        left = (FactDeparture(fact, "no longer derived", now) for fact in gone.values())
        return _derived_write(agent, held, made_from, held.derived.writes(), left, subjects, done), (done, [])

    (done, notes), warnings = transact(agent, "infer forward", planned)
    return done, [*warnings, *notes]


def refile_facts(agent: Agent) -> list[str]:
    """Puts facts onto the pages of their subjects, and counts these: what was done. Under the agent's lock."""
    found = [store for store in load_facts(agent) if any(store.misfiled())]
    for store in found:
        store.refile()
        write_files(store.writes(), agent.paths.workspace.root)
    return [f"filed the facts of {store.head.path} by subject" for store in found]


def find_fact_departures(paths: AgentPaths, wanted: bytes) -> list[FactDeparture]:
    """Returns the facts that left and whose lines hold a text, oldest first: only those lines are decoded."""
    found: list[FactDeparture] = []
    for name in archive_files(paths):
        data = read_bytes(paths.archive / name) or b""
        if wanted in data:
            lines = b"\n".join(line for line in data.split(b"\n") if wanted in line)
            found += parse_fact_departures(lines, f"archive/{name}")
    return found
