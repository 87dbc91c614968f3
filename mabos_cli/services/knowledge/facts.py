"""Facts of an agent, and of others that share theirs: asserted, retracted, found, imported and exported."""

import re
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.asserting import plan_assert
from mabos_cli.core.knowledge.fact import (
    Fact,
    FactChanges,
    FactDeparture,
    Query,
    check_fact,
    current_facts,
    derived_id,
    known_since,
    plan_retract,
    select_facts,
)
from mabos_cli.core.knowledge.fact_lint import LintFinding, Origin, explain_fact, lint_facts, lint_names
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.item import STORES
from mabos_cli.core.memory.trust import Claim, needs_voucher, trust_by_source, trust_rank, vouch_for
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import InvalidFile, MabosError, NotFound, UsageFault
from mabos_cli.formats.json.text import dump_line
from mabos_cli.formats.knowledge.facts import STOPPED
from mabos_cli.services.inputs import Session, without_gc
from mabos_cli.services.search.shared_agents import NOBODY, TYPEDB, ask_graph, local_id, sharing_homes
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.facts import Facts, change_facts, find_fact_departures, load_facts
from mabos_cli.workspace.knowledge.rules import functional_predicates, inference_rules, load_rules
from mabos_cli.workspace.memory.trust_log import Judge, voucher_lines
from mabos_cli.workspace.transaction import Fresh

if TYPE_CHECKING:
    from mabos_cli.formats.knowledge.exchange import Silent

_MOST_GONE = 10  # of the facts that one rested on, those that are looked for in the archive
_MOST = 10_000  # facts that the graph is asked for


class Asserted(NamedTuple):
    """Holds the outcome for each fact (added, updated, extended, split or unchanged), warnings, and notes about facts that rules had derived."""

    states: list[tuple[Fact, str]]
    warnings: list[str]
    notes: list[str]


def assert_facts(agent: Agent, command: str, given: list[Fact], by: str = "", keep: Collection[str] = ()) -> Asserted:
    """Adds facts, or updates those whose triple is known, which keep the fields in `keep`. `by` names the person who vouches
    for what comes from outside."""
    asserted = [vouch_for(fact, by) for fact in given]

    def plan(facts: Facts, fresh: Fresh) -> tuple[FactChanges, tuple[list[tuple[Fact, str]], list[str]]]:
        find = facts.asserted.look_up if len(asserted) >= 20 else facts.asserted.with_triple
        changes, states = plan_assert(asserted, find, fresh.new_id, format_time(agent.now()), keep)
        new = [fact for fact, state in states[:20] if state == "added" and facts.derived.with_triple(fact.triple)]
        return changes, (states, [f"{one_line(' '.join(f.triple), 80)} was derived before" for f in new])

    ledger = (lambda result: _vouchers(agent, result[0], by)) if by else None
    (states, notes), warnings = change_facts(agent, command, plan, ledger)
    return Asserted(states, warnings, notes)


def _vouchers(agent: Agent, states: list[tuple[Fact, str]], by: str) -> list[tuple[Path, bytes]]:
    """Returns the lines of the trust log about facts from outside that a person vouches for."""
    changed = [f for f, state in states if state != "unchanged" and needs_voucher(f.trust, f.source)]
    claims = [(Claim(fact.id, fact.trust, fact.source), " ".join(fact.triple)) for fact in changed]
    return voucher_lines(agent, by, claims)


class FactCandidate(NamedTuple):
    """A fact that a text or a memory says: with what cites it, its statement, and known facts that say otherwise."""

    fact: Fact
    citation: str
    statement: str
    contradicts: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Returns an id that depends on the triple alone."""
        return derived_id(*self.fact.triple).replace("F-inf-", "X-")[:12]


def extract_facts(
    agent: Agent, text: str, given: Fact, *, name: str = "text", speaker: str = ""
) -> tuple[list[FactCandidate], int]:
    """Extracts the facts that a text states, or without one the live memories: those that are not known yet, and how many are.
    Nothing is written. `given` holds the source and trust of a text; a memory has its own."""
    from mabos_cli.core.knowledge.extraction import extract_triples

    facts, functional = load_facts(agent), functional_predicates(agent)[0]
    held = list(facts.all())
    spelling = {fact.subject.casefold(): fact.subject for fact in held}
    known, found = {tuple(map(str.casefold, fact.triple)) for fact in held}, dict[tuple[str, ...], FactCandidate]()
    # Of the names of a property, the one that is no label and no address.
    names = {name for name in functional if re.fullmatch(r"\w+", name)}
    predicates, repeated = {fact.predicate for fact in held} | names, set[tuple[str, ...]]()
    for citation, part, source in _passages(agent, text, given, name):
        for extracted in extract_triples(part, speaker=speaker, predicates=predicates):
            who, relation, value = extracted.triple
            fact = source._replace(
                subject=spelling.get(who.casefold(), who), predicate=relation, object=value,
                confidence=extracted.confidence, valid_from=extracted.valid_from, valid_until=extracted.valid_until,
            )  # fmt: skip
            key = tuple(map(str.casefold, fact.triple))
            repeated |= {key} & known
            best = found.get(key)
            if key not in known and (best is None or trust_rank(fact.trust) > trust_rank(best.fact.trust)):
                others = current_facts(facts.where("subject", fact.subject), functional, agent.now())
                against = [f.id for f in others if f.predicate == relation and relation in functional]
                found[key] = FactCandidate(fact, citation, extracted.statement, tuple(against))
    return list(found.values()), len(repeated)


def _passages(agent: Agent, text: str, given: Fact, name: str) -> Iterator[tuple[str, str, Fact]]:
    """Yields what is to be read, with its citation, and a fact with its source and trust: lines of a text, or memories."""
    if text:
        yield from (
            (f"{name}:{number}", line, given) for number, line in enumerate(text.split("\n"), 1) if line.strip()
        )
        return
    memory = agent.memory()
    judge = Judge(agent.paths, memory)
    for store in STORES:
        for item in getattr(memory, store):
            yield item.id, item.content, given._replace(source=f"memory:{item.id}", trust=judge(item))


class Retracted(NamedTuple):
    """The facts that were taken out, the derived facts that no longer follow, and warnings."""

    gone: list[Fact]
    lost: list[Fact]
    warnings: list[str]


def retract_facts(agent: Agent, wanted: dict[str, str], reason: str, *, cascade: bool, dry_run: bool) -> Retracted:
    """Takes out the asserted facts with all of some values; with `cascade` derived facts are derived again without them."""
    now = format_time(agent.now())

    def plan(facts: Facts, _: Fresh) -> tuple[FactChanges | None, Retracted]:
        gone = _find_asserted(agent, facts, wanted)
        lost, changes, cut = _derive_again(agent, facts, gone, plan_retract(gone, reason, now), cascade)
        return (None if dry_run else changes), Retracted(gone, lost, cut)

    done, warnings = change_facts(agent, "fact retract", plan)
    return done._replace(warnings=[*warnings, *done.warnings])


def _find_asserted(agent: Agent, facts: Facts, wanted: dict[str, str]) -> list[Fact]:
    """Returns the facts in facts.json with all of some values; NotFound when there are none."""
    name, value = next(iter(wanted.items()))
    found = facts.asserted.where(name, value)
    asserted = [fact for fact in found if all(getattr(fact, n) == v for n, v in wanted.items())]
    if asserted:
        return asserted
    derived = facts.find(value) if name == "id" else None
    if derived:
        raise UsageFault(f"{value} is derived by {derived.rule_id}", "retract what it rests on, or turn the rule off")
    if name == "id":
        find_fact(agent, facts, value)
    described = " and ".join(f"{n} {v!r}" for n, v in wanted.items())
    raise NotFound(f"no asserted fact with {described} for agent {agent.id}", "mabos fact query lists them")


def _derive_again(
    agent: Agent, facts: Facts, gone: list[Fact], changes: FactChanges, cascade: bool
) -> tuple[list[Fact], FactChanges, list[str]]:
    """Returns the derived facts that no longer follow, the changes with all that do if they are to be written, and warnings."""
    from mabos_cli.core.knowledge.fact_lint import supports_lost
    from mabos_cli.core.knowledge.forward import forward_chain

    ids = {fact.id for fact in gone}
    derived = list(facts.derived.facts())
    touched = {fact.id for fact in supports_lost(ids, derived)}
    if not derived or not (touched or cascade):
        return [], changes, []
    rules = load_rules(agent)
    with without_gc():
        left = [fact for fact in facts.asserted.facts() if fact.id not in ids]
        again = forward_chain(left, inference_rules(agent, left))
    if not again.is_complete:  # who stops early does not know what no longer follows
        return [], changes, [f"derived facts are left as they are: inference {again.fixpoint}"]
    follow = {fact.id for fact in again.derived}
    lost = [fact for fact in derived if fact.id not in follow and (cascade or fact.id in touched)]
    new = changes._replace(derived=again.derived if cascade else None, rules_version=rules.version)
    return lost, new, []


def find_fact(agent: Agent, facts: Facts, fact_id: str) -> Fact:
    """Returns the fact with an id; NotFound says whether it was retracted."""
    if found := facts.find(fact_id):
        return found
    if left := _find_departures(agent, fact_id):
        raise NotFound(f"{fact_id} was {left[-1].reason} on {left[-1].at[:10]}", f"mabos get {fact_id} shows it")
    raise NotFound(f"no fact {fact_id!r} for agent {agent.id}", "mabos fact query lists them")


def stale_warning(agent: Agent, facts: Facts) -> list[str]:
    """Returns a warning when facts or rules changed since the derived facts were made."""
    if not len(facts.derived):
        return []
    made = {name: facts.derived.head.extra.get(name) for name in ("facts_version", "rules_version")}
    now = {"facts_version": facts.asserted.version, "rules_version": load_rules(agent).version}
    if made != now:
        return ["derived facts are older than facts or rules: mabos infer forward --persist"]
    stopped = facts.derived.head.extra.get(STOPPED)
    return [f"derived facts are not complete: {one_line(str(stopped), 160)}"] if stopped else []


def import_facts(agent: Agent, text: str, path: str, form: str, silent: "Silent", by: str = "") -> tuple[Asserted, int]:
    """Asserts the facts in a text, all or none: the outcome for each, and how many derived ones were left out. `silent` holds
    for facts that do not say; those that do are trusted no more than that, and those from outside not at all unless somebody
    vouches for them."""
    from mabos_cli.formats.knowledge.exchange import parse_csv, parse_ndjson

    if form == "turtle":
        from mabos_cli.backends.rdf import parse_turtle

        blank = Fact("new", "", "", "", source=silent.source, trust=silent.trust or "agent")
        triples = parse_turtle(text, path)
        found = iter([(path, blank._replace(subject=s, predicate=p, object=o)) for s, p, o in triples])
    else:
        found = (parse_ndjson if form == "ndjson" else parse_csv)(text, path, silent)
    kept, derived = [], 0
    for where, fact in found:
        try:
            kept += [] if fact.is_derived else [check_fact(vouch_for(fact, by)._replace(id=""))]
        except BadValue as error:
            raise InvalidFile(f"{where}: {error.message}", f"nothing was imported; {error.hint}".rstrip("; ")) from None
        derived += fact.is_derived
    return assert_facts(agent, "fact import", kept, by), derived


def export_facts(agent: Agent, form: str, *, with_derived: bool) -> tuple[str, int]:
    """Returns the facts of an agent as NDJSON, CSV or Turtle, and how many there are."""
    facts = load_facts(agent)
    found = sorted(facts.all() if with_derived else facts.asserted.facts(), key=lambda fact: (fact.triple, fact.id))
    if form == "turtle":
        from mabos_cli.backends.rdf import render_turtle

        return render_turtle([fact.triple for fact in found]), len(found)
    from mabos_cli.formats.knowledge.exchange import render_csv, render_ndjson

    return (render_ndjson if form == "ndjson" else render_csv)(found), len(found)


class SharedFact(NamedTuple):
    """A fact, whose it is when it is another agent's, and whether the graph told so."""

    fact: Fact
    agent: str = ""
    via: str = ""

    @property
    def ref(self) -> str:
        return f"{self.agent}/{self.fact.id}" if self.agent else self.fact.id


def query_facts(
    call: Session, agent: Agent, asked: Query, *, shared: bool = False
) -> tuple[list[SharedFact], int, list[str]]:
    """Returns the facts that a query asks for by triple, also those that other agents share if wanted; how many facts the agent
    has; and warnings."""
    facts = load_facts(agent)
    found = [SharedFact(fact) for fact in _find_facts(facts, asked)]
    others, warnings = _find_shared(call, agent, asked) if shared else ([], [])
    found = sorted([*found, *others], key=lambda each: (each.fact.triple, each.agent, each.fact.id))
    warnings += stale_warning(agent, facts) if asked.with_derived else []
    return found, len(facts.asserted) + len(facts.derived), warnings


def explain_origin(agent: Agent, fact_id: str, depth: int) -> Origin:
    """Returns the tree from a fact back to asserted facts and rules: also of one that only follows, or that has left."""
    from mabos_cli.core.knowledge.forward import forward_chain

    facts, note = load_facts(agent), ""
    held = list(facts.all())
    rules = inference_rules(agent, held)
    if not facts.find(fact_id):
        if left := _find_departures(agent, fact_id):
            gone, note = [left[-1].fact], f"{left[-1].reason} {left[-1].at[:10]}"
            for each in gone:  # grows by those of its supports that left too
                lost = [key for key in each.derived_from if not facts.find(key) and key not in {one.id for one in gone}]
                gone += [one.fact for key in lost[:_MOST_GONE] for one in _find_departures(agent, key)[-1:]]
            held += gone
        else:
            asserted = list(facts.asserted.facts())
            held, note = [*asserted, *forward_chain(asserted, rules).derived], "follows, and is not written"
            if all(fact.id != fact_id for fact in held):
                find_fact(agent, facts, fact_id)
    return explain_fact(fact_id, held, rules, max(0, depth))._replace(note=note)


def _find_departures(agent: Agent, fact_id: str) -> list[FactDeparture]:
    return find_fact_departures(agent.paths, b'{"id": %s, "kind": "fact"' % dump_line(fact_id).encode())


def find_current(agent: Agent, subject: str, moment: datetime) -> tuple[list[Fact], list[str]]:
    """Returns what holds of a subject at a moment, and warnings."""
    functional, warnings = functional_predicates(agent)
    facts = load_facts(agent)
    found = current_facts(facts.where("subject", subject), functional, moment)
    return found, warnings + stale_warning(agent, facts)


def find_history(agent: Agent, subject: str) -> list[tuple[Fact, str, str]]:
    """Returns the facts about a subject in the order of their time, each with why and when it left; empty for those that stay."""
    rows = [(fact, "", "") for fact in load_facts(agent).where("subject", subject)]
    left = find_fact_departures(agent.paths, f'"subject": {dump_line(subject)}, "'.encode())
    rows += [(each.fact, each.reason, each.at) for each in left if each.fact.subject == subject]
    return sorted(rows, key=lambda row: (known_since(row[0]), row[0].created_at, row[2] or "9", row[0].id))


def check_facts(agent: Agent) -> tuple[list[LintFinding], list[str], list[str]]:
    """Lints the facts of an agent: returns findings, the functional predicates in use, and warnings."""
    from mabos_cli.core.knowledge.constraints import lint_types  # only this needs whole ontologies
    from mabos_cli.core.knowledge.ontology import local_name
    from mabos_cli.workspace.knowledge.ontologies import load_ontology

    ontology, warnings = load_ontology(agent.paths.workspace)
    functional, facts = ontology.functional_names(), load_facts(agent)
    held = list(facts.all())
    rules = frozenset(rule.id for rule in inference_rules(agent, held) if rule.enabled)
    found = [*lint_facts(held, functional, rules, agent.now()), *lint_types(held, ontology)]
    found += lint_names(held, {local_name(property_id) for property_id in ontology.properties})
    used = sorted(functional & {fact.predicate for fact in held})
    return found, used, warnings + stale_warning(agent, facts)


def _find_facts(facts: Facts, asked: Query) -> Iterator[Fact]:
    """Yields the facts of an agent that a query asks for."""
    literal = next(iter(asked.literals().items()), None)
    return select_facts(facts.where(*literal) if literal else facts.all(), asked)


def _find_shared(call: Session, agent: Agent, asked: Query) -> tuple[list[SharedFact], list[str]]:
    """Returns the facts of other agents that a query asks for, and warnings."""
    allowed, warnings = sharing_homes(call, agent, whole=True)
    found: list[SharedFact] = []
    for other in allowed:
        try:
            found += [SharedFact(fact, other.id) for fact in _find_facts(load_facts(other), asked)]
        except MabosError as error:
            warnings.append(f"{other.id}: {error.message}")
    if not agent.settings["typedb.address"]:
        return found, warnings + ([] if allowed else [NOBODY])
    more, notes = _find_in_graph(agent, asked)
    return [*found, *more], warnings + notes


def _find_in_graph(agent: Agent, asked: Query) -> tuple[list[SharedFact], list[str]]:
    from mabos_cli.formats.mirror.questions import ask_facts_elsewhere

    rows, notes = ask_graph(agent, [ask_facts_elsewhere(agent.id, **asked.literals(), limit=_MOST)])
    if len(rows) >= _MOST:
        notes = [*notes, f"of the facts in the graph only {_MOST:,} were looked at: name a subject or predicate"]
    found: dict[str, SharedFact] = {}
    for row in rows:
        parts, source = (row["subject"], row["predicate"], row["object"]), row["source"] or ""
        confidence = 1.0 if row["confidence"] is None else row["confidence"]
        trust, times = (
            trust_by_source(row["trust"] or "agent", source),
            (row["valid_from"] or "", row["valid_until"] or ""),
        )
        fact = Fact(local_id(row, "fact"), *parts, confidence, source, trust, *times, rule_id=row.get("rule") or "")
        found[row["fact"]] = SharedFact(fact, row["agent"], TYPEDB)
    return [each for each in found.values() if any(select_facts([each.fact], asked))], notes
