"""What is wrong with a body of facts: contradictions, support that is gone or expired, sources that nobody knows."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from mabos_cli.core.knowledge.fact import Fact, find_contradictions, holds_at
from mabos_cli.core.knowledge.rule import Rule


class LintFinding(NamedTuple):
    """Something that somebody should look at: its kind, the facts it is about, and what it says."""

    kind: str
    facts: tuple[str, ...]
    message: str


def lint_facts(
    facts: Sequence[Fact], functional: frozenset[str], rule_ids: frozenset[str], now: datetime
) -> list[LintFinding]:
    """Returns the findings, contradictions first, in a stable order."""
    known = {fact.id: fact for fact in facts}
    unfounded = {fact.id for fact in find_unfounded(facts)}
    found = [
        LintFinding("contradiction", (a.id, b.id), f"{a.subject} {a.predicate}: {a.object} and {b.object} at one time")
        for a, b in find_contradictions(facts, functional)
    ]
    for fact in facts:
        if fact.is_derived or fact.derived_from:
            found += _support(fact, known, unfounded, rule_ids, now)
    order = ("contradiction", "cycle", "orphan", "expired-support")
    return sorted(found, key=lambda finding: (order.index(finding.kind), finding.facts))


def _support(
    fact: Fact, known: Mapping[str, Fact], unfounded: set[str], rule_ids: frozenset[str], now: datetime
) -> list[LintFinding]:
    told = f"{fact.subject} {fact.predicate} {fact.object}"
    missing = [source for source in fact.derived_from if source not in known]
    if missing:
        return [LintFinding("orphan", (fact.id, *missing), f"{told} rests on {', '.join(missing)}, which is gone")]
    if fact.rule_id and fact.rule_id not in rule_ids:
        return [LintFinding("orphan", (fact.id,), f"{told} rests on rule {fact.rule_id}, which is gone or off")]
    if fact.id in unfounded:
        return [LintFinding("cycle", (fact.id,), f"{told} goes back to no asserted fact")]
    expired = [s for s in fact.derived_from if not holds_at(known[s], now) and holds_at(fact, now)]
    if expired:
        return [
            LintFinding(
                "expired-support", (fact.id, *expired), f"{told} rests on {', '.join(expired)}, which holds no more"
            )
        ]
    return []


class Origin(NamedTuple):
    """A fact with what it was derived from. `note` says why the tree ends at a derived fact, or that something is missing:
    `cycle`, `deeper`, `no such fact`, `no such rule`, `shown above`, or nothing."""

    fact_id: str
    fact: Fact | None
    rule: Rule | None = None
    parts: tuple["Origin", ...] = ()
    note: str = ""


def explain_fact(fact_id: str, facts: Iterable[Fact], rules: Iterable[Rule], depth: int = 10) -> Origin:
    """Returns the tree from a fact back to asserted facts, as deep as asked for. What a hand-edited file says of itself ends
    there; a derivation that occurs twice is told once, so that a tree stays as small as its facts."""
    by_id = {fact.id: fact for fact in facts}
    by_rule = {rule.id: rule for rule in rules}
    told: set[str] = set()

    def explain(at: str, left: int, above: tuple[str, ...]) -> Origin:
        fact = by_id.get(at)
        if fact is None:
            return Origin(at, None, note="no such fact")
        if not fact.is_derived:
            return Origin(at, fact)
        rule = by_rule.get(fact.rule_id)
        if at in above or left <= 0 or at in told:
            note = "cycle" if at in above else "deeper" if left <= 0 else "shown above"
            return Origin(at, fact, rule, note=note)
        told.add(at)
        parts = tuple(explain(below, left - 1, (*above, at)) for below in fact.derived_from)
        return Origin(at, fact, rule, parts, "" if rule else "no such rule")

    return explain(fact_id, min(depth, 200), ())


def supports_lost(retracted: Iterable[str], facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Returns the derived facts whose derivation needs one of the retracted, at any distance, sorted by triple. Some may follow
    in another way: forward chaining tells."""
    gone = set(retracted)
    derived = [fact for fact in facts if fact.is_derived]
    leads = _supported_by(derived)
    lost: dict[str, Fact] = {}
    waiting = list(gone)
    while waiting:
        for fact in leads.get(waiting.pop(), ()):
            if fact.id not in lost and fact.id not in gone:
                lost[fact.id] = fact
                waiting.append(fact.id)
    return tuple(sorted(lost.values(), key=lambda fact: (fact.triple, fact.id)))


def find_unfounded(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Returns the derived facts that do not go back to asserted ones: a support is missing, or they rest on themselves."""
    facts = list(facts)
    derived = {fact.id: fact for fact in facts if fact.is_derived}
    leads = _supported_by(derived.values())
    needs = {fact.id: len(set(fact.derived_from)) for fact in derived.values()}
    founded = list({fact.id for fact in facts if not fact.is_derived})
    while founded:
        for fact in leads.get(founded.pop(), ()):
            needs[fact.id] -= 1
            if not needs[fact.id]:
                founded.append(fact.id)
    left = (fact for fact in derived.values() if needs[fact.id] or not fact.derived_from)
    return tuple(sorted(left, key=lambda fact: (fact.triple, fact.id)))


def _supported_by(derived: Iterable[Fact]) -> Mapping[str, list[Fact]]:
    """Derived facts by the id of each of their supports."""
    found: dict[str, list[Fact]] = {}
    for fact in derived:
        for support in dict.fromkeys(fact.derived_from):
            found.setdefault(support, []).append(fact)
    return found
