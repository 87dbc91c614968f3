"""Finds faults in facts: contradictions, support that is gone or expired, unknown sources."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import zip_longest

from mabos_cli.core.knowledge.fact import Fact, find_contradictions, holds_at
from mabos_cli.core.knowledge.graph import name_words
from mabos_cli.core.knowledge.rule import Rule
from mabos_cli.core.language.similar import edit_distance, tolerance
from mabos_cli.core.language.text import plural
from mabos_cli.core.language.values import find_value
from mabos_cli.core.records import NamedTuple

_RARE, _MOST_RARE = 2, 500  # a name that so few facts use may be a slip; so many of them are looked at


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
    found = []
    for a, b in find_contradictions(facts, functional):
        values = " and ".join(f"{one.object} ({one.confidence:.2f})" for one in (a, b))
        found.append(LintFinding("contradiction", (a.id, b.id), f"{a.subject} {a.predicate}: {values} at one time"))
    for fact in facts:
        if fact.is_derived or fact.derived_from:
            kind, why, others = _find_lack(fact, known, unfounded, rule_ids, now)
            found += [LintFinding(kind, (fact.id, *others), f"{' '.join(fact.triple)} {why}")] if kind else []
    order = ("contradiction", "cycle", "orphan", "expired-support")
    return sorted(found, key=lambda finding: (order.index(finding.kind), finding.facts))


def lint_names(facts: Sequence[Fact], known: Collection[str] = ()) -> list[LintFinding]:
    """Returns predicates that look like a slip for another one that is used more or is `known` by an ontology, and likewise
    values among those of one predicate."""
    predicates: dict[str, list[str]] = {name: [] for name in sorted(known)}
    values: dict[str, dict[str, list[str]]] = {}
    for fact in facts:
        predicates.setdefault(fact.predicate, []).append(fact.id)
        values.setdefault(fact.predicate, {}).setdefault(fact.object, []).append(fact.id)
    named = {fact.subject for fact in facts}
    found = _find_slips("predicate", predicates, known)
    for predicate, objects in values.items():
        words = {value: ids for value, ids in objects.items() if value not in named and not find_value(value)}
        found += _find_slips(f"value of {predicate}", words, ())
    return found


def _find_slips(what: str, uses: Mapping[str, list[str]], known: Collection[str]) -> list[LintFinding]:
    found = []
    rare = [name for name, ids in uses.items() if 0 < len(ids) <= _RARE and name not in known]
    common = [name for name, ids in uses.items() if len(ids) > _RARE or name in known]
    for name in rare[:_MOST_RARE]:
        near = next((one for one in common if _is_slip(name, one)), None)
        if near:
            message = f"{what} {name} looks like {near}, which {plural(len(uses[near]), 'fact')} use{'s' * (len(uses[near]) == 1)}"
            found.append(LintFinding("misspelled", tuple(uses[name]), message))
    return found


def _is_slip(one: str, other: str) -> bool:
    """Returns whether two names differ only in how words are joined, or in a slip in one word.

    >>> [_is_slip("hasRevnue", other) for other in ("hasRevenue", "has_revnue", "hasRefund")]
    [True, True, False]
    >>> _is_slip("locatedIn", "locatedAt"), _is_slip("hasPart", "hasPort"), _is_slip("phone1", "phone2")
    (False, False, False)
    """
    if abs(len(one) - len(other)) > 3:
        return False
    apart = [(a, b) for a, b in zip_longest(name_words(one), name_words(other), fillvalue="") if a != b]
    if len(apart) != 1:
        return not apart
    a, b = apart[0]
    if min(len(a), len(b)) < 4 or any(char.isdigit() for char in a + b):
        return False
    at = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), 0)
    is_swapped = a[at : at + 2] == b[at : at + 2][::-1] and a[at + 2 :] == b[at + 2 :]
    return is_swapped or edit_distance(a, b, 2) <= max(tolerance(min(len(a), len(b))), int(len(a) != len(b)))


def _find_lack(
    fact: Fact, known: Mapping[str, Fact], unfounded: set[str], rule_ids: frozenset[str], now: datetime
) -> tuple[str, str, list[str]]:
    """Returns the kind of what is wrong with the support of a fact, that in words, and the supports concerned."""
    missing = [source for source in fact.derived_from if source not in known]
    if missing:
        return "orphan", f"rests on {', '.join(missing)}, which is gone", missing
    if fact.rule_id and fact.rule_id not in rule_ids:
        return "orphan", f"rests on rule {fact.rule_id}, which is gone or off", []
    if fact.id in unfounded:
        return "cycle", "goes back to no asserted fact", []
    expired = [s for s in fact.derived_from if not holds_at(known[s], now) and holds_at(fact, now)]
    return ("expired-support" if expired else ""), f"rests on {', '.join(expired)}, which no longer holds", expired


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
    there; a derivation that occurs twice is shown once, so that a tree stays as small as its facts."""
    by_id = {fact.id: fact for fact in facts}
    by_rule = {rule.id: rule for rule in rules}
    shown: set[str] = set()

    def explain(at: str, left: int, above: tuple[str, ...]) -> Origin:
        fact = by_id.get(at)
        if fact is None:
            return Origin(at, None, note="no such fact")
        if not fact.is_derived:
            return Origin(at, fact)
        rule = by_rule.get(fact.rule_id)
        if at in above or left <= 0 or at in shown:
            note = "cycle" if at in above else "deeper" if left <= 0 else "shown above"
            return Origin(at, fact, rule, note=note)
        shown.add(at)
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
