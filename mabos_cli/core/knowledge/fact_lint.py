"""What is wrong with a body of facts: contradictions, support that is gone or expired, sources that nobody knows."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.fact_time import find_contradictions, holds_at
from mabos_cli.core.knowledge.provenance import find_unfounded


class LintFinding(NamedTuple):
    """Something that somebody should look at: its kind, the facts it is about, and what it says."""

    kind: str
    facts: tuple[str, ...]
    message: str


def lint_facts(
    facts: Sequence[Fact], functional: frozenset[str], rule_ids: frozenset[str], now: datetime
) -> list[LintFinding]:
    """The findings, contradictions first, in a stable order."""
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
