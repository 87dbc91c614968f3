"""Runs inference and writes the result: from scratch, or after a change only for what it affects, by the state of the last run in SQLite."""

from _blake2 import blake2b
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from mabos_cli.core.knowledge.fact import Fact, Triple
from mabos_cli.core.knowledge.forward import Limits, Outcome, conclude, run_chain
from mabos_cli.core.knowledge.ontology import TYPE_PREDICATES
from mabos_cli.core.knowledge.relations import FactIndex, Row
from mabos_cli.core.knowledge.renewal import Changed, renew_inference
from mabos_cli.core.knowledge.rule import Rule
from mabos_cli.errors import MabosError
from mabos_cli.formats.knowledge.facts import STOPPED, parse_fact
from mabos_cli.index.fact_rows import BROKEN, FactRows, Kept
from mabos_cli.services.inputs import without_gc
from mabos_cli.services.knowledge.inference import Inferred
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.facts import Facts, change_derived_facts, load_facts, write_derived_facts
from mabos_cli.workspace.knowledge.rules import inference_rules, load_rules

_WORTH = 2_000  # facts above which a run is kept to go on from
_MOST_LINES = 5_000  # that changed, beyond which all is derived again


def infer_and_write(agent: Agent, limits: Limits) -> Inferred:
    """Derives what follows and writes it."""
    facts, rows = load_facts(agent), None
    if len(facts.asserted) > _WORTH:
        with suppress(*BROKEN):  # without this file, all is derived from scratch
            rows = FactRows(agent.paths.fact_rows)
    try:
        with without_gc():
            if rows:
                with suppress(*BROKEN):
                    if found := _renew(agent, facts, rows, limits):
                        return found
            return _infer_all(agent, facts, rows, limits)
    finally:
        if rows:
            rows.close()


def _infer_all(agent: Agent, facts: Facts, rows: FactRows | None, limits: Limits) -> Inferred:
    """Derives everything from scratch, and keeps it for the next run."""
    stamps, rule_file = facts.asserted.stamps(), load_rules(agent)
    asserted = list(facts.asserted.facts())
    every = inference_rules(agent, asserted)
    outcome = conclude(run_chain(asserted, every, limits))
    found = outcome.inference
    mark: dict[str, Any] = {"facts_version": facts.asserted.version, "rules_version": rule_file.version}
    mark |= {} if found.is_complete else {STOPPED: found.fixpoint}
    done, notes = write_derived_facts(agent, found.derived, mark, [rule.id for rule in every])
    if rows and found.is_complete:
        now = load_facts(agent)
        with suppress(*BROKEN):
            if now.asserted.version == facts.asserted.version:
                _fill(rows, facts, outcome, _state(now.versions, every, limits), stamps)
            else:
                with rows.writing():
                    rows.clear()
    return Inferred(found, len(found.derived), done, notes)


def _state(versions: tuple[int, int], rules: Sequence[Rule], limits: Limits) -> dict[str, str]:
    """Returns the state that a result depends on besides the facts themselves."""
    content = repr(sorted(repr((rule[:5], rule.confidence_factor, rule.enabled)) for rule in rules))
    digest = blake2b(content.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    return {"derived": str(versions[1]), "rules": digest, "limits": repr(tuple(limits))}


def _fill(rows: FactRows, facts: Facts, outcome: Outcome, state: dict[str, str], stamps: dict[str, str]) -> None:
    """Keeps all that a run was given and derived."""
    signs = {fact.id: _hash(repr(fact[:11]).encode("utf-8", "surrogatepass")) for fact in outcome.inference.derived}
    found = (row for relation in outcome.facts.relations.values() for row in relation.rows)
    with rows.writing():
        rows.clear()
        for name in stamps:
            rows.put_lines(name, ((_hash(line), fact.triple) for line, fact in _lines(facts, name)))
        rows.put_rows(_kept(row, outcome, signs) for row in found)
        rows.count(
            _words(row[6].triple for each in outcome.facts.relations.values() for row in each.rows if row[5] < 0)
        )
        rows.finish(state, stamps)


def _kept(row: Row, outcome: Outcome, signs: dict[str, int]) -> Kept:
    if row[5] < 0:
        return Kept(row, False, row[6].id, row[6].trust)
    fact_id, trust = outcome.named[id(row)]
    return Kept(row, True, fact_id, trust, signs[fact_id])


def _lines(facts: Facts, name: str) -> Iterator[tuple[bytes, Fact]]:
    file = facts.asserted.page(name, keep=False) if name else facts.asserted.head
    return zip(file.lines, file.facts(), strict=True)


def _hash(line: bytes) -> int:
    return int.from_bytes(blake2b(line, digest_size=8).digest(), "big", signed=True)


def _words(triples: Iterable[Triple]) -> Counter[tuple[str, str]]:
    """Returns how often predicates are used, and classes: what the rules of ontologies are written in."""
    return Counter(("word", f"{p}\0{obj}" if p in TYPE_PREDICATES else p) for _, p, obj in triples)


class _Change(NamedTuple):
    """The lines of facts that are new or gone, by file, and what was given before and is given now of all that they say."""

    new: dict[str, dict[int, Triple]]
    gone: dict[str, dict[int, Triple]]
    rows: Changed


def _renew(agent: Agent, facts: Facts, rows: FactRows, limits: Limits) -> Inferred | None:
    """Derives again what a change affects, and writes it; None where the state of the last run does not fit the files, or everything
    must be derived again."""
    state, stamps = rows.state(), facts.asserted.stamps()
    if state.get("derived") != str(facts.derived.version) or STOPPED in facts.derived.head.extra:
        return None
    before = rows.stamps()
    change = _find_change(facts, rows, [name for name in stamps if stamps[name] != before.get(name)])
    if change is None or before.keys() - stamps.keys():
        return None
    words = rows.tally("word")
    for key, number in _tally_change(change).items():
        words[key[1]] = words.get(key[1], 0) + number
    used = (name.partition("\0") for name, number in words.items() if number > 0)
    every = inference_rules(agent, [Fact("", "", predicate, obj) for predicate, _, obj in used])
    if _state(facts.versions, every, limits) != state:
        return None
    derived = len(facts.derived)
    renewal = renew_inference(rows, change.rows, every, limits, derived)
    if renewal is None:
        return None
    outcome = renewal.outcome
    old = {fact_id: (sign, triple) for triple in renewal.affected for fact_id, sign in rows.signs(triple).items()}
    signs = {fact.id: _hash(repr(fact[:11]).encode("utf-8", "surrogatepass")) for fact in outcome.inference.derived}
    put = [fact for fact in outcome.inference.derived if old.get(fact.id, (None,))[0] != signs[fact.id]]
    gone: dict[str, Fact] = {}
    for fact_id in old.keys() - signs.keys():
        gone |= {fact.id: fact for fact in facts.derived.with_triple(old[fact_id][1]) if fact.id == fact_id}
    mark = {"facts_version": facts.asserted.version, "rules_version": load_rules(agent).version}
    done, notes = change_derived_facts(agent, facts.versions, put, gone, mark)
    if len(put) + len(gone) == sum(done):
        with suppress(*BROKEN, MabosError), rows.writing():
            _follow(rows, change, renewal.affected, outcome, signs)
            rows.finish({"derived": str(load_facts(agent).derived.version)}, stamps)
    found = outcome.inference._replace(derived=tuple(put))
    return Inferred(found, derived + done.added - done.removed, done, notes, is_renewed=True)


def _find_change(facts: Facts, rows: FactRows, names: Sequence[str]) -> _Change | None:
    """Returns what changed in some files; None when it is too much, or when other tools keep derived facts there."""
    new: dict[str, dict[int, Triple]] = {}
    gone: dict[str, dict[int, Triple]] = {}
    for name in names:
        file, known = facts.asserted.file(name), rows.lines(name)
        lines = {_hash(line): line for line in file.lines}
        added = [(number, parse_fact(lines[number], file.path)) for number in lines.keys() - known.keys()]
        if any(fact.rule_id for _, fact in added):
            return None
        new[name] = {number: fact.triple for number, fact in added}
        gone[name] = {number: known[number] for number in known.keys() - lines.keys()}
    triples = sorted({triple for each in (*new.values(), *gone.values()) for triple in each.values()})
    if len(triples) > _MOST_LINES:
        return None
    was = [row for s, p, o in triples for row in rows.find(p, s, o) if not row[6].rule_id]
    now = FactIndex([fact for triple in triples for fact in facts.asserted.look_up(triple)])
    rows_now = [row for relation in now.relations.values() for row in relation.rows]
    return _Change(new, gone, Changed(was, rows_now))


def _tally_change(change: _Change) -> Counter[tuple[str, str]]:
    after, before = (
        _words((row[0], row[7], row[1]) for row in rows) for rows in (change.rows.after, change.rows.before)
    )
    after.subtract(before)
    return after


def _follow(rows: FactRows, change: _Change, affected: set[Triple], outcome: Outcome, signs: dict[str, int]) -> None:
    """Keeps what a renewal was given and derived, in place of what was there."""
    for name, lines in change.gone.items():
        rows.drop_lines(name, lines)
    for name, added in change.new.items():
        rows.put_lines(name, added.items())
    for triple in sorted(change.rows.triples):
        rows.drop_rows(triple, derived=False)
    for triple in sorted(affected):
        rows.drop_rows(triple, derived=True)
    rows.put_rows(Kept(row, False, row[6].id, row[6].trust) for row in change.rows.after)
    rows.put_rows(_kept(row, outcome, signs) for _, found in outcome.settled for row in found)
    rows.count(_tally_change(change))
