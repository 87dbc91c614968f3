"""Decides whether an effect follows from what is measured, with hidden common causes, and by which formula.

The algorithm is complete (Tian and Pearl 2002; Huang and Valtorta 2006): the graph falls into groups of variables that
hidden causes link, the effect is a product over such groups, and each factor either follows from the observed
distribution or two models exist that agree on all that is measured and differ in the effect.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from itertools import product
from math import prod
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import listed
from mabos_cli.reasoning.causal.causal_graph import Graph
from mabos_cli.reasoning.network import Row, causal_order, reach
from mabos_cli.reasoning.shape import check_size

_MOST_CELLS = 500_000  # combinations of values that a formula is summed over
Names = frozenset[str]


class Chance(NamedTuple):
    """P(of | given) in the observed distribution."""

    of: tuple[str, ...]
    given: tuple[str, ...]


class Times(NamedTuple):
    """The product of some terms."""

    terms: "tuple[Term, ...]"


class Sum(NamedTuple):
    """A term summed over all values of some variables."""

    over: tuple[str, ...]
    term: "Term"


class Ratio(NamedTuple):
    """One term divided by another."""

    upper: "Term"
    lower: "Term"


Term = Chance | Times | Sum | Ratio


class Hedge(NamedTuple):
    """Why an effect does not follow: within `outer`, hidden causes link everything, and all of it acts on `inner`."""

    outer: tuple[str, ...]
    inner: tuple[str, ...]


class _Model(NamedTuple):
    """The measured variables, parents first, with their measured causes, and whom they share a hidden cause with."""

    order: tuple[str, ...]
    parents: dict[str, Names]
    linked: dict[str, Names]

    def above(self, names: Iterable[str], within: Names) -> Names:
        return frozenset(reach({name: self.parents[name] & within for name in within}, names))

    def groups(self, within: Names) -> list[Names]:
        """Returns the groups that hidden causes link, in the order of the variables."""
        links = {name: self.linked[name] & within for name in within}
        return [*dict.fromkeys(frozenset(reach(links, [name])) for name in self.order if name in within)]

    def sort(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(names, key=self.order.index))


def _project(graph: Graph) -> _Model:
    """Returns the graph without its hidden variables: what acts through one acts directly, and what one acts on is
    linked."""
    measured = [name for name in graph.parents if name not in graph.hidden]
    parents: dict[str, set[str]] = {name: set() for name in measured}
    linked: dict[str, set[str]] = {name: set() for name in measured}
    for name in graph.parents:
        on = {name: graph.children[name]} | {one: graph.children[one] for one in graph.hidden}
        reached = reach(on | {one: () for one in measured if one != name}, graph.children[name])
        direct = {one for one in reached if one not in graph.hidden}
        for one in direct:
            (linked if name in graph.hidden else parents)[one] |= (direct - {one}) if name in graph.hidden else {name}
    order = causal_order({name: sorted(above) for name, above in parents.items()}, "graph")
    frozen = ({name: frozenset(found) for name, found in sets.items()} for sets in (parents, linked))
    return _Model(order, *frozen)


def identify(graph: Graph, cause: str, effect: str) -> Term | Hedge:
    """Returns the formula for P(effect | do cause) in what is measured, or why there is none.

    >>> from mabos_cli.reasoning.causal.causal_graph import parse_graph
    >>> render(identify(parse_graph(["x -> m -> y", "x <-> y"], []), "x", "y"), "x", "y")
    "Σ_m P(m | x) Σ_x' P(x') P(y | x', m)"
    """
    model = _project(graph)
    # What is not above the effect, and acts on it once the cause is set, plays no part.
    world = model.above([effect], frozenset(model.order))
    needed = model.above([effect], world - {cause})
    whole = [(group, _joint(model, group, world)) for group in model.groups(world)]
    factors: list[Term] = []
    for part in model.groups(needed):
        group, term = next((group, term) for group, term in whole if part <= group)
        found = _factor(model, part, group, term)
        if isinstance(found, Hedge):
            return found
        factors.append(found)
    return _sum(model.sort(needed - {effect}), _times(factors))


def _joint(model: _Model, group: Names, world: Names) -> Term:
    """Returns what the variables of a group do when all others are set: each given those before it that matter."""
    terms = []
    before: set[str] = set()
    for name in (one for one in model.order if one in world):
        before.add(name)
        if name in group:
            near = next(one for one in model.groups(frozenset(before)) if name in one)
            given = near.union(*(model.parents[one] for one in near)) & before - {name}
            terms.append(Chance((name,), model.sort(given)))
    return _times(terms)


def _factor(model: _Model, part: Names, group: Names, term: Term) -> Term | Hedge:
    """Returns what a part of a group does when the rest is set, from what the whole group does (`term`)."""
    while True:
        above = model.above(part, group)
        if above == part:
            return _sum(model.sort(group - part), term)
        if above == group:
            return Hedge(model.sort(group), model.sort(part))
        term = _sum(model.sort(group - above), term)
        group = next(one for one in model.groups(above) if part <= one)
        if group != above:
            ordered = model.sort(above)
            parts: list[Term] = []
            for at in (at for at, name in enumerate(ordered) if name in group):
                upper, lower = _sum(ordered[at + 1 :], term), _sum(ordered[at:], term)
                if isinstance(upper, Chance) and isinstance(lower, Chance) and upper.given == lower.given:
                    rest = tuple(one for one in upper.of if one not in lower.of)
                    parts.append(Chance(rest, (*upper.given, *lower.of)))
                else:
                    parts.append(upper if lower == Times(()) else Ratio(upper, lower))
            term = _times(parts)


def _times(terms: Iterable[Term]) -> Term:
    """Returns the product; P(a | b) P(c | a, b) becomes P(a, c | b)."""
    flat = [one for term in terms for one in (term.terms if isinstance(term, Times) else (term,))]
    kept: list[Term] = []
    for one in flat:
        for at, other in enumerate(kept if isinstance(one, Chance) else ()):
            if isinstance(other, Chance) and isinstance(one, Chance) and {*other.of, *other.given} == {*one.given}:
                kept[at] = Chance((*other.of, *one.of), other.given)
                break
        else:
            kept.append(one)
    return kept[0] if len(kept) == 1 else Times(tuple(kept))


def _sum(over: Sequence[str], term: Term) -> Term:
    """Returns the term summed over some variables. What only one factor predicts and no other uses sums to 1."""
    if isinstance(term, Sum) and not {*over} & {*term.over}:
        return _sum((*term.over, *over), term.term)
    left = [*over]
    for name in reversed(over):
        terms = term.terms if isinstance(term, Times) else (term,)
        using = [one for one in terms if name in free(one)]
        if len(using) == 1 and isinstance(using[0], Chance) and name in using[0].of:
            rest = tuple(one for one in using[0].of if one != name)
            slimmer: list[Term] = [one for one in terms if one is not using[0]]
            if rest:
                slimmer.insert(terms.index(using[0]), using[0]._replace(of=rest))
            left.remove(name)
            term = _times(slimmer)
    if not left:
        return term
    # What does not depend on the variables stands before the sum.
    terms = term.terms if isinstance(term, Times) else (term,)
    outside = [one for one in terms if not free(one) & {*left}]
    inside = _times(one for one in terms if free(one) & {*left})
    return _times([*outside, Sum(tuple(left), inside)])


def free(term: Term) -> Names:
    """Returns the variables whose values the term depends on."""
    if isinstance(term, Chance):
        return frozenset((*term.of, *term.given))
    if isinstance(term, Sum):
        return free(term.term) - {*term.over}
    parts = term.terms if isinstance(term, Times) else (term.upper, term.lower)
    return frozenset().union(*map(free, parts))


def render(term: Term, cause: str, effect: str) -> str:
    """Returns the formula as text; a variable that is summed over while its value is in use elsewhere has a prime."""
    return _render(term, {name: name for name in {*free(term), cause, effect}})


def _render(term: Term, names: Mapping[str, str]) -> str:
    if isinstance(term, Chance):
        of, given = (", ".join(names[one] for one in part) for part in term)
        return f"P({of} | {given})" if given else f"P({of})"
    if isinstance(term, Sum):
        bound = {name: f"{names[name]}'" if name in names else name for name in term.over}
        return f"Σ_{','.join(bound.values())} {_render(term.term, {**names, **bound})}"
    if isinstance(term, Ratio):
        return f"[{_render(term.upper, names)}] / [{_render(term.lower, names)}]"
    # A sum reaches to the end of what it stands before, so it comes last, or in brackets.
    plain = [one for one in term.terms if not isinstance(one, Sum | Ratio)]
    sums = [one for one in term.terms if isinstance(one, Sum | Ratio)]
    shown = [_render(one, names) for one in (*plain, *sums)]
    return " ".join(f"({one})" if len(plain) <= at < len(shown) - 1 else one for at, one in enumerate(shown)) or "1"


class Observed:
    """The observed distribution, which formulas are computed from."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = [(cells, count) for cells, count in rows if count]
        self._states = {name: tuple(dict.fromkeys(row[0][name] for row in self._rows)) for name in rows[0][0]}
        self._counts: dict[tuple[str, ...], dict[tuple[str, ...], float]] = {}

    def value(self, term: Term, at: Mapping[str, str]) -> float:
        """Returns the formula at some values. One that depends on others too gives the same at any of them, so it is the
        mean over those that the data cover; BadValue if they cover none."""
        lacking = sorted(self._needed(term) - self._states.keys())
        if lacking:
            raise BadValue(f"data: lack {listed(lacking)}", "the formula needs them")
        others = tuple(sorted(free(term) - at.keys()))
        found, weight = 0.0, 0.0
        for key, count in self._table(others).items():
            one = self._value(term, {**at, **dict(zip(others, key, strict=True))}, {})
            if one is not None:
                found, weight = found + count * one, weight + count
        if not weight:
            raise BadValue("data: lack a combination of values that the formula needs", "every one must be seen")
        return found / weight

    def _needed(self, term: Term) -> set[str]:
        if isinstance(term, Chance):
            return {*term.of, *term.given}
        parts = term.terms if isinstance(term, Times) else (term.term,) if isinstance(term, Sum) else term
        return reduce(set.union, map(self._needed, parts), set())

    def _value(self, term: Term, at: Mapping[str, str], memo: dict[Any, float | None]) -> float | None:
        """Returns the value, or None where nothing was observed. What has no weight need not be observed."""
        key = (term, *(at[name] for name in sorted(free(term))))
        if key not in memo:
            check_size("data", len(memo), _MOST_CELLS, "combinations of values")
            memo[key] = self._compute(term, at, memo)
        return memo[key]

    def _compute(self, term: Term, at: Mapping[str, str], memo: dict[Any, float | None]) -> float | None:
        if isinstance(term, Chance):
            base = self._table(term.given).get(tuple(at[name] for name in term.given), 0.0)
            names = (*term.given, *term.of)
            return self._table(names).get(tuple(at[name] for name in names), 0.0) / base if base else None
        if isinstance(term, Ratio):
            upper, lower = self._value(term.upper, at, memo), self._value(term.lower, at, memo)
            return None if upper is None or not lower else upper / lower
        if isinstance(term, Sum):
            values = [
                self._value(term.term, {**at, **dict(zip(term.over, states, strict=True))}, memo)
                for states in product(*(self._states[name] for name in term.over))
            ]
            return None if None in values else sum(one for one in values if one is not None)
        values = [self._value(one, at, memo) for one in term.terms]
        if 0 in values:
            return 0.0
        return None if None in values else prod(one for one in values if one is not None)

    def _table(self, names: tuple[str, ...]) -> dict[tuple[str, ...], float]:
        if names not in self._counts:
            table: dict[tuple[str, ...], float] = {}
            for cells, count in self._rows:
                key = tuple(cells[name] for name in names)
                table[key] = table.get(key, 0.0) + count
            self._counts[names] = table
        return self._counts[names]
