"""Where derived facts come from, and which of them a retraction leaves without support."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.rule import Rule


class Origin(NamedTuple):
    """A fact with what it was derived from. `note` says why the tree ends at a derived fact, or that something is missing:
    `cycle`, `deeper`, `no such fact`, `no such rule`, `shown above`, or nothing."""

    fact_id: str
    fact: Fact | None
    rule: Rule | None = None
    parts: tuple["Origin", ...] = ()
    note: str = ""


def explain_fact(fact_id: str, facts: Iterable[Fact], rules: Iterable[Rule], depth: int = 10) -> Origin:
    """The tree from a fact back to asserted facts, as deep as asked for. What a hand-edited file says of itself ends there;
    a derivation that occurs twice is told once, so that a tree stays as small as its facts."""
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
    """The derived facts whose derivation needs one of the retracted, at any distance, sorted by triple. Some may follow in
    another way: forward chaining tells."""
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
    """The derived facts that do not go back to asserted ones: a support is missing, or they rest on themselves."""
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
