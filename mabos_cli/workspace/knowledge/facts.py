"""Facts of an agent: read as they are, changed under its lock."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from mabos_cli.core.knowledge.fact import Fact, FactChanges, FactDeparture, Triple, derived_id
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.ids import parse_id
from mabos_cli.formats.knowledge.facts import (
    Derived,
    FactFile,
    Renewed,
    parse_fact_departures,
    parse_facts,
    render_fact,
    render_fact_departure,
    render_facts,
    renew_derived,
)
from mabos_cli.formats.memory.items import line_id
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.archive import archive_files
from mabos_cli.workspace.files import FileWrite, read_bytes
from mabos_cli.workspace.knowledge.facts_md import Stand, is_made_from, materialize_facts
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.runtime import IdSource
from mabos_cli.workspace.transaction import Fresh, Write, transact

Result = TypeVar("Result")
_MANY = 50  # subjects above which all facts are decoded instead of looking for each


class Facts(NamedTuple):
    """The facts of an agent as they are on disk: asserted ones, and those that rules made of them."""

    asserted: FactFile
    derived: FactFile

    def all(self) -> Iterator[Fact]:
        """Every fact, asserted ones first."""
        yield from self.asserted.facts()
        yield from self.derived.facts()

    def of(self, subjects: Iterable[str] | None) -> Iterator[Fact]:
        """The facts about some subjects, or all of them; only the lines of those are decoded."""
        if subjects is None:
            yield from self.all()
        elif len(known := frozenset(subjects)) > _MANY:
            yield from (fact for fact in self.all() if fact.subject in known)
        else:
            for subject in known:
                yield from self.where("subject", subject)

    def where(self, name: str, value: str) -> Iterator[Fact]:
        """The facts whose field is exactly this."""
        for file in self:
            yield from file.where(name, value)

    def find(self, fact_id: str) -> Fact | None:
        """The fact with an id, be it one that a merge of branches took over."""
        return next(self.where("id", fact_id), None) or self.asserted.find_united(fact_id)

    def by_triple(self) -> dict[Triple, Fact]:
        """The asserted facts by what they say, for many questions at once."""
        return {fact.triple: fact for fact in self.asserted.facts()}

    @property
    def versions(self) -> tuple[int, int]:
        return self.asserted.version, self.derived.version


def load_facts(agent: Agent) -> Facts:
    """The facts as they are on disk."""
    return Facts(_read(agent, agent.paths.facts)[0], _read(agent, agent.paths.derived_facts)[0])


def _read(agent: Agent, path: Path) -> tuple[FactFile, bytes | None]:
    data = read_bytes(path)
    return (parse_facts(data, agent.paths.cited(path)) if data is not None else FactFile()), data


# No changes at all mean that nothing is to be written; empty ones, that nothing was left to change.
FactPlan = Callable[[Facts, Fresh], tuple[FactChanges | None, Result]]


def change_facts(agent: Agent, command: str, plan: FactPlan[Result]) -> tuple[Result, list[str]]:
    """Runs a plan on fresh facts in one transaction and writes its changes: its result, and warnings.

    The archive is written first: a crash before facts.json is replaced leaves a record too many, never a fact too few.
    """

    def planned(fresh: Fresh) -> tuple[Write | None, Result]:
        facts, data = _read_both(agent)
        before = facts.versions
        fresh.new_id = _FactIds(agent, facts.asserted)
        changes, result = plan(facts, fresh)
        if changes is None:
            return None, result
        if not (changes.put or changes.drop):
            # Of who was killed behind facts.json, the same words once more: the Markdown is still to be written.
            behind = None if is_made_from(agent, before) else Write(follow=lambda: _materialize(agent, facts, None)[1])
            return behind, result
        return _plan_write(agent, facts, data, changes), result

    return transact(agent, command, planned)


def _plan_write(agent: Agent, facts: Facts, data: tuple[bytes | None, bytes | None], changes: FactChanges) -> Write:
    """What is to be written so that the facts are changed."""
    before = facts.versions
    _apply(facts.asserted, changes)
    files = [FileWrite(agent.paths.facts, render_facts(facts.asserted), data[0])]
    subjects = {fact.subject for fact in changes.put} | {d.fact.subject for d in changes.archive}
    if changes.derived is not None:
        mark = {"facts_version": facts.asserted.version, "rules_version": changes.rules_version}
        renewed = renew_derived(facts.derived, changes.derived, mark, format_time(agent.now()))
        files += _derived_file(agent, renewed, data[1])
        facts, subjects = Facts(facts.asserted, renewed.file), subjects | renewed.subjects
    return Write(
        files,
        archive=_departed(changes.archive),
        follow=lambda: _materialize(agent, facts, subjects, before)[1],
        part="facts",
        ids=[fact.id for fact in changes.put] or changes.drop,
        counts={"facts": len(changes.put), "retracted": len(changes.drop)},
    )


def _departed(departures: Sequence[FactDeparture]) -> list[tuple[str, bytes]]:
    return [(departure.at, render_fact_departure(departure)) for departure in departures]


def _derived_file(agent: Agent, renewed: Renewed, old: bytes | None) -> list[FileWrite]:
    return [FileWrite(agent.paths.derived_facts, render_facts(renewed.file), old)] if renewed.is_new else []


def _read_both(agent: Agent) -> tuple[Facts, tuple[bytes | None, bytes | None]]:
    asserted, derived = _read(agent, agent.paths.facts), _read(agent, agent.paths.derived_facts)
    return Facts(asserted[0], derived[0]), (asserted[1], derived[1])


class _FactIds(IdSource):
    """Gives ids behind the last one issued, and none that somebody put into the file by hand."""

    def __init__(self, agent: Agent, file: FactFile) -> None:
        super().__init__(agent.moment, _last_id(file), letter="F")
        self._file = file

    def __call__(self) -> str:
        while self._file.has_id(fact_id := super().__call__()):
            pass
        return fact_id


def _last_id(file: FactFile, *more: str) -> str:
    """The last id issued. A file that does not say, as other tools write it, is searched."""
    ids = [file.last_id] if file.last_id else [line_id(line) for line in file.lines]
    return max((i for i in (*ids, *more) if parse_id(i)), key=lambda i: parse_id(i) or (0, 0), default="")


def _apply(file: FactFile, changes: FactChanges) -> None:
    """The file with facts added, replaced and dropped, as lines."""
    file.last_id = _last_id(file, *(fact.id for fact in changes.put))
    new = {fact.id: render_fact(fact) for fact in changes.put}
    gone = set(changes.drop)
    if gone or any(map(file.has_id, new)):
        file.lines = [new.pop(own, line) for line in file.lines if (own := line_id(line)) not in gone]
    file.add(list(new.values()))
    file.version += 1


def _materialize(
    agent: Agent, facts: Facts, subjects: set[str] | None, before: tuple[int, int] = (0, 0)
) -> tuple[list[str], list[str]]:
    stand = Stand((len(facts.asserted), len(facts.derived)), facts.versions, facts.of)
    return materialize_facts(agent, stand, subjects, before)


def rebuild_facts_md(agent: Agent) -> tuple[list[str], list[str]]:
    """Writes mabos-facts.md anew where it is not as it should be. Under the agent's lock."""
    return _materialize(agent, load_facts(agent), None)


def write_derived_facts(
    agent: Agent, facts: Sequence[Fact], mark: dict[str, int], rule_ids: Collection[str]
) -> tuple[Derived, list[str]]:
    """Replaces facts-derived.json by the facts that follow from facts.json and rules.json in the versions of the mark: what
    changed, and warnings. Derived facts that another tool keeps in facts.json go to the archive, if their rule is known: they
    follow anew, or no longer."""
    now = format_time(agent.now())

    def planned(fresh: Fresh) -> tuple[Write | None, tuple[Derived, list[str]]]:
        held, data = _read_both(agent)
        before = held.versions
        if mark["facts_version"] != before[0] == held.derived.extra.get("facts_version"):
            return None, (Derived(0, 0, 0), ["not written: facts changed, and a later run was quicker"])
        moved = [fact for fact in _derived_among(held.asserted) if fact.rule_id in rule_ids]
        files, departures = [], [FactDeparture(fact, "derived anew", now, derived_id(*fact.triple)) for fact in moved]
        if moved:  # rules make them anew, in facts-derived.json
            _apply(held.asserted, FactChanges(drop=tuple(fact.id for fact in moved)))
            files = [FileWrite(agent.paths.facts, render_facts(held.asserted), data[0])]
        renewed = renew_derived(held.derived, facts, mark | {"facts_version": mark["facts_version"] + bool(moved)}, now)
        files += _derived_file(agent, renewed, data[1])
        subjects = renewed.subjects | {fact.subject for fact in moved}
        new = Facts(held.asserted, renewed.file)
        if not files and is_made_from(agent, before):
            return None, (renewed.done, [])
        write = Write(
            files,
            archive=_departed(departures),
            follow=lambda: _materialize(agent, new, subjects, before)[1],
            part="facts",
            counts=renewed.done._asdict() if files else None,
        )
        return write, (renewed.done, [])

    (done, notes), warnings = transact(agent, "infer forward", planned)
    return done, [*warnings, *notes]


def _derived_among(asserted: FactFile) -> list[Fact]:
    """The derived facts that another tool keeps among the asserted ones."""
    return [fact for fact in asserted.facts() if fact.is_derived] if b'"rule_id": "' in asserted.text() else []


def find_fact_departures(paths: AgentPaths, wanted: bytes) -> list[FactDeparture]:
    """The facts that left and whose lines hold a text, oldest first: only those lines are decoded."""
    found: list[FactDeparture] = []
    for name in archive_files(paths):
        data = read_bytes(paths.archive / name) or b""
        if wanted in data:
            lines = b"\n".join(line for line in data.split(b"\n") if wanted in line)
            found += parse_fact_departures(lines, f"archive/{name}")
    return found
