"""Facts and rules of an agent: read as they are, changed under its lock; and facts as Markdown for people and for search."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from mabos_cli.core.knowledge.fact import Fact, FactChanges, FactDeparture, Triple, derived_id, holds_at
from mabos_cli.core.knowledge.rule import Rule
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.ids import parse_id
from mabos_cli.formats.json.text import dump_record
from mabos_cli.formats.knowledge import fact_text
from mabos_cli.formats.knowledge.facts import (
    Derived,
    FactFile,
    parse_fact_departures,
    parse_facts,
    render_fact,
    render_fact_departure,
    render_facts,
    renew_derived,
)
from mabos_cli.formats.knowledge.rules import RuleFile, parse_rules, render_rules, rule_to_dict
from mabos_cli.formats.memory.items import line_id
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.archive import archive_files
from mabos_cli.workspace.derived import DerivedPages, is_made_from
from mabos_cli.workspace.files import FileWrite, read_bytes
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.runtime import IdSource
from mabos_cli.workspace.transaction import Fresh, Write, transact

Result = TypeVar("Result")
Lines = Sequence[tuple[Path, bytes]]
_MOST_WALKED = 20_000
_MANY = 50  # subjects above which all facts are decoded instead of looking for each


class Facts(NamedTuple):
    """The facts of an agent as they are on disk: asserted ones, and those that rules made of them."""

    asserted: FactFile
    derived: FactFile

    def all(self) -> Iterator[Fact]:
        """Yields every fact, asserted ones first."""
        yield from self.asserted.facts()
        yield from self.derived.facts()

    def of(self, subjects: Collection[str]) -> Iterator[Fact]:
        """Yields the facts about some subjects; of few, only the lines of those are decoded."""
        if len(subjects) > _MANY:
            yield from (fact for fact in self.all() if fact.subject in subjects)
        else:
            for subject in subjects:
                yield from self.where("subject", subject)

    def where(self, name: str, value: str) -> Iterator[Fact]:
        """Yields the facts whose field is exactly this."""
        for file in self:
            yield from file.where(name, value)

    def around(self, names: Iterable[str], moment: datetime) -> list[Fact]:
        """Returns the facts that hold at a moment and lie within two steps of some things, of many facts within one: each thing
        takes two passes over the text, so few are looked at."""
        found: dict[str, Fact] = {}
        layer = [*names]
        for most in (3, 10)[: 2 if sum(map(len, self)) <= _MOST_WALKED else 1]:
            near = [fact for name in layer[:most] for part in ("subject", "object") for fact in self.where(part, name)]
            new = [fact for fact in near if fact.id not in found and holds_at(fact, moment)]
            found |= {fact.id: fact for fact in new}
            layer = [*dict.fromkeys(end for fact in new for end in (fact.subject, fact.object) if end not in layer)]
        return [*found.values()]

    def find(self, fact_id: str) -> Fact | None:
        """Returns the fact with an id, be it one that a merge of branches took over."""
        return next(self.where("id", fact_id), None) or self.asserted.find_united(fact_id)

    def by_triple(self) -> dict[Triple, list[Fact]]:
        """Returns the asserted facts by what they say, for many questions at once."""
        found: dict[Triple, list[Fact]] = {}
        for fact in self.asserted.facts():
            found.setdefault(fact.triple, []).append(fact)
        return found

    @property
    def versions(self) -> tuple[int, int]:
        return self.asserted.version, self.derived.version


def load_facts(agent: Agent) -> Facts:
    """Returns the facts as they are on disk."""
    return Facts(_read(agent, agent.paths.facts)[0], _read(agent, agent.paths.derived_facts)[0])


def _read(agent: Agent, path: Path) -> tuple[FactFile, bytes | None]:
    data = read_bytes(path)
    return (parse_facts(data, agent.paths.cited(path)) if data is not None else FactFile()), data


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
        facts, data = _read_both(agent)
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
        return _plan_write(agent, facts, data, changes)._replace(lines=ledger(result) if ledger else ()), result

    return transact(agent, command, planned)


def _plan_write(agent: Agent, facts: Facts, data: tuple[bytes | None, bytes | None], changes: FactChanges) -> Write:
    """Returns what is to be written so that the facts are changed."""
    before = facts.versions
    _apply(facts.asserted, changes)
    files = [FileWrite(agent.paths.facts, render_facts(facts.asserted), data[0])]
    subjects = {fact.subject for fact in changes.put} | {d.fact.subject for d in changes.archive}
    if changes.derived is not None:
        mark = {"facts_version": facts.asserted.version, "rules_version": changes.rules_version}
        renewed = renew_derived(facts.derived, changes.derived, mark, format_time(agent.now()))
        files += [FileWrite(agent.paths.derived_facts, render_facts(renewed.file), data[1])] if renewed.is_new else []
        facts, subjects = Facts(facts.asserted, renewed.file), subjects | renewed.subjects
        changes = changes._replace(archive=(*changes.archive, *renewed.gone))
    return Write(
        files,
        archive=_departed(changes.archive),
        follow=lambda: materialize_facts(agent, facts, subjects, before)[1],
        part="facts",
        ids=[fact.id for fact in changes.put] or changes.drop,
        counts={"facts": len(changes.put), "retracted": len(changes.drop)},
    )


def _departed(departures: Sequence[FactDeparture]) -> list[tuple[str, bytes]]:
    return [(departure.at, render_fact_departure(departure)) for departure in departures]


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
    """Returns the last id issued. A file that does not say, as other tools write it, is searched."""
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


def materialize_facts(
    agent: Agent, facts: Facts, changed: set[str] | None = None, before: tuple[int, int] = (0, 0)
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
    fresh = _changed_pages(files, facts, changed or set()) if is_known else None
    kept = files.there if fresh is not None else set()
    fresh = _all_pages(facts) if fresh is None else fresh
    names = {name for name in kept | fresh.keys() if fresh.get(name, True)}
    pages = (
        (name, fact_text.render_facts_page(agent.id, name, sections))
        for name, sections in sorted(fresh.items())
        if sections
    )
    return files.replace(fact_text.render_facts_index(agent.id, *counts, names, state), pages, names)


def is_materialized(agent: Agent, versions: tuple[int, int]) -> bool:
    """Returns whether mabos-facts.md was made from facts in these versions."""
    return is_made_from(agent.paths.facts_md, fact_text.render_versions(versions))


def _all_pages(facts: Facts) -> dict[str, dict[str, str]]:
    pages: dict[str, list[Fact]] = {}
    for fact in facts.all():
        pages.setdefault(fact_text.page_of(fact.subject), []).append(fact)
    return {name: fact_text.render_sections(found) for name, found in pages.items()}


def _changed_pages(files: DerivedPages, facts: Facts, changed: set[str]) -> dict[str, dict[str, str]] | None:
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
        files += [FileWrite(agent.paths.derived_facts, render_facts(renewed.file), data[1])] if renewed.is_new else []
        subjects = renewed.subjects | {fact.subject for fact in moved}
        new = Facts(held.asserted, renewed.file)
        if not files and is_materialized(agent, before):
            return None, (renewed.done, [])
        write = Write(
            files,
            archive=_departed([*departures, *renewed.gone]),
            follow=lambda: materialize_facts(agent, new, subjects, before)[1],
            part="facts",
            counts=renewed.done._asdict() if files else None,
        )
        return write, (renewed.done, [])

    (done, notes), warnings = transact(agent, "infer forward", planned)
    return done, [*warnings, *notes]


def _derived_among(asserted: FactFile) -> list[Fact]:
    """Returns the derived facts that another tool keeps among the asserted ones."""
    return [fact for fact in asserted.facts() if fact.is_derived] if b'"rule_id": "' in asserted.text() else []


def find_fact_departures(paths: AgentPaths, wanted: bytes) -> list[FactDeparture]:
    """Returns the facts that left and whose lines hold a text, oldest first: only those lines are decoded."""
    found: list[FactDeparture] = []
    for name in archive_files(paths):
        data = read_bytes(paths.archive / name) or b""
        if wanted in data:
            lines = b"\n".join(line for line in data.split(b"\n") if wanted in line)
            found += parse_fact_departures(lines, f"archive/{name}")
    return found


RulePlan = Callable[[tuple[Rule, ...], str], tuple[Sequence[Rule], Result]]


def load_rules(agent: Agent) -> RuleFile:
    """Returns the rules as they are on disk."""
    data = read_bytes(agent.paths.rules)
    return parse_rules(data, agent.paths.cited(agent.paths.rules)) if data is not None else RuleFile()


def inference_rules(agent: Agent, facts: Iterable[Fact], goal: Triple | None = None) -> list[Rule]:
    """Returns the rules of an agent and what ontologies entail, in the words that facts, rules and the goal use."""
    rules = load_rules(agent).rules
    if not agent.settings["knowledge.ontology_rules"]:
        return [*rules]
    from mabos_cli.core.knowledge.entailment import ontology_rules
    from mabos_cli.workspace.knowledge.ontologies import load_ontology

    ontology = load_ontology(agent.paths.workspace)[0]
    return [*rules, *(ontology_rules(ontology, facts, rules, goal))]


def change_rules(agent: Agent, command: str, plan: RulePlan[Result]) -> tuple[Result, list[str]]:
    """Runs a plan on the rules and the next free id in one transaction and writes what it makes of them: its result, and
    warnings."""

    def planned(fresh: Fresh) -> tuple[Write | None, Result]:
        data = read_bytes(agent.paths.rules)
        file = parse_rules(data, agent.paths.cited(agent.paths.rules)) if data is not None else RuleFile()
        last = _last_number(file)
        rules, result = plan(file.rules, f"R-{last + 1:03d}")
        if tuple(rules) == file.rules:
            return None, result
        kept = {rule.id for rule in rules}
        gone = [_departed_rule(rule, format_time(fresh.now)) for rule in file.rules if rule.id not in kept]
        file.rules, file.version = tuple(rules), file.version + 1
        # The id of a rule that is gone is not given to another one: the archive and old facts name it.
        file.last_id = f"R-{last:03d}" if _last_number(file) < last else ""
        files = [FileWrite(agent.paths.rules, render_rules(file), data)]
        return Write(files, archive=gone, part="rules", counts={"rules": len(rules)}), result

    return transact(agent, command, planned)


def _departed_rule(rule: Rule, at: str) -> tuple[str, bytes]:
    """Returns the archive's record of a rule that is taken out."""
    return at, dump_record({"id": rule.id, "kind": "rule", "reason": "deleted", "at": at, "rule": rule_to_dict(rule)})


def _last_number(file: RuleFile) -> int:
    """Returns the highest number of a rule that is or was there."""
    ids = (file.last_id, *(rule.id for rule in file.rules))
    return max((int(match[1]) for own in ids if (match := re.fullmatch(r"R-(\d{1,18})", own))), default=0)


def functional_predicates(agent: Agent) -> tuple[frozenset[str], list[str]]:
    """Returns the predicates that ontologies declare to have one value at a time, and warnings about files that cannot be
    read."""
    from mabos_cli.workspace.knowledge.ontologies import load_ontology

    ontology, warnings = load_ontology(agent.paths.workspace)
    return ontology.functional_names(), warnings
