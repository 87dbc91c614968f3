"""Finds the best mapping from one description to another (Gentner's structure mapping): things go one to one, relations
keep their names, and what is joined by relations between relations counts more than what stands alone.

A match counts 1, that of an attribute of a thing 0.1; what is part of a matched expression gets the score of that one on top. Of
mappings with one score, that one is better whose matches are parts of more in the source, for more may carry over."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import permutations
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.inputs import check_size

MOST_FACTS, _MOST_PARTS = 80, 1000
_LONGEST, _DEEPEST = 500, 12
_NAME = re.compile(r"\s*([^\s(),][^(),]*?)\s*(?=[(),]|$)")
_HINT = "write attracts(sun, planet), sun attracts planet, hot(sun), or causes(hot(sun), melts(ice))"
MOST_NODES = 20_000
_MOST_WAYS, _MOST_UNORDERED = 500, 5
ATTRIBUTE = 0.1
Pair = tuple[str, str]
Pairs = Mapping[str, str]


class Expression(NamedTuple):
    """A thing, which has no parts, or a relation, attribute or measure of things and other expressions."""

    name: str
    parts: tuple["Expression", ...] = ()

    @property
    def is_thing(self) -> bool:
        return not self.parts

    @property
    def order(self) -> int:
        """Returns 0 for a thing, 1 for what is said of things, and so on."""
        return 1 + max(part.order for part in self.parts) if self.parts else 0


class Vocabulary(NamedTuple):
    """What may differ between the two sides."""

    measures: frozenset[str] = frozenset()  # such as pressure and temperature, which may stand for each other
    same: Mapping[str, str] = {}  # relations that go by another name
    unordered: frozenset[str] = frozenset(("and", "or"))

    def is_measure(self, one: Expression) -> bool:
        return len(one.parts) == 1 and one.name in self.measures

    def name(self, one: Expression) -> str:
        return self.same.get(one.name, one.name)


class Analogy(NamedTuple):
    """Which thing or measure goes to which, the facts that match, and the score."""

    pairs: Pairs
    matches: tuple[tuple[Expression, Expression, float], ...]
    score: float
    promise: float  # what the score would be if all that holds the matches in the source matched too

    @property
    def rank(self) -> tuple[float, float]:
        """Returns what makes one mapping better than another, without the noise of floating point."""
        return round(self.score, 9), round(self.promise, 9)


def expressions(facts: Iterable[Expression]) -> tuple[Expression, ...]:
    """Returns all expressions of a description, each once, without the things."""
    return tuple(dict.fromkeys(one for fact in facts for one in inner(fact) if not one.is_thing))


def _check_ways(found: int, most: int, one: Expression) -> None:
    if found > most:
        hint = "split it, or leave it out of `unordered`"
        raise BadValue(f"unordered: {one.name} with {len(one.parts)} parts can match in too many ways", hint)


_Option = tuple[Expression, tuple[Pair, ...]]


class Matcher:
    """Two descriptions, and every way in which an expression of one can match one of the other."""

    def __init__(self, source: Iterable[Expression], target: Iterable[Expression], words: Vocabulary) -> None:
        self.words = words
        self.source, self.target = expressions(source), expressions(target)
        # For each two expressions the sets of pairs of things and measures of which one must hold for them to match.
        self.ways: dict[tuple[Expression, Expression], tuple[frozenset[Pair], ...]] = {}
        match = cache(self._match)
        for one in self.source:
            for other in self.target:
                ways = () if words.is_measure(one) else match(one, other)
                if ways:
                    self.ways[one, other] = ways
        self.holders = {one: tuple(up for up in self.source if one in up.parts) for one in self.source}
        self._worth: dict[Expression, float] = {}
        self.nodes = 0

    def _match(self, one: Expression, other: Expression) -> tuple[frozenset[Pair], ...]:
        if one.is_thing or other.is_thing:
            both = one.is_thing and other.is_thing
            return (frozenset((("thing " + one.name, "thing " + other.name),)),) if both else ()
        if len(one.parts) != len(other.parts):
            return ()
        start: frozenset[Pair] = frozenset()
        if self.words.is_measure(one) and self.words.is_measure(other):
            start = frozenset((("measure " + one.name, "measure " + other.name),))
        elif self.words.name(one) != self.words.name(other):
            return ()
        orders: Iterable[tuple[Expression, ...]] = (other.parts,)
        if one.name in self.words.unordered:
            _check_ways(len(one.parts), _MOST_UNORDERED, one)
            orders = permutations(other.parts)
        found: dict[frozenset[Pair], None] = {}
        for parts in orders:
            ways = [start]
            for a, b in zip(one.parts, parts, strict=True):
                ways = [way | more for way in ways for more in self._match(a, b) if is_one_to_one(way | more)]
                _check_ways(len(ways), _MOST_WAYS, one)
            found |= dict.fromkeys(ways)
        return tuple(found)

    def worth(self, one: Expression) -> float:
        """Returns the most that a match of an expression can count."""
        if one not in self._worth:
            self._worth[one] = self.own(one) + sum(self.worth(up) for up in self.holders[one])
        return self._worth[one]

    def own(self, one: Expression) -> float:
        """Returns what a match counts by itself."""
        if self.words.is_measure(one):
            return 0.0
        return ATTRIBUTE if len(one.parts) == 1 and one.parts[0].is_thing else 1.0

    def apply(self, pairs: Pairs) -> Analogy:
        """Returns all that matches under some pairs."""
        fields = frozenset(pairs.items())
        found = [(one, other) for (one, other), ways in self.ways.items() if any(way <= fields for way in ways)]
        scores: dict[tuple[Expression, Expression], float] = {}
        for one, other in sorted(found, key=lambda pair: -pair[0].order):
            above = sum(
                score for (up, up_other), score in scores.items() if one in up.parts and other in up_other.parts
            )
            scores[one, other] = self.own(one) + above
        used = {pair for one, other in found for way in self.ways[one, other] if way <= fields for pair in way}
        kept = {a: b for a, b in pairs.items() if (a, b) in used}
        matches = tuple((one, other, scores[one, other]) for one, other in found)
        return Analogy(kept, matches, sum(scores.values()), sum(self.worth(one) for one, _ in found))

    def limit(self, able: set[Expression]) -> tuple[float, float]:
        """Returns the best rank of mappings in which no more than some source expressions match."""
        scores: dict[Expression, float] = {}
        for one in sorted(able, key=lambda one: -one.order):
            scores[one] = self.own(one) + sum(scores.get(up, 0.0) for up in self.holders[one])
        return round(sum(scores.values()), 9), round(sum(map(self.worth, able)), 9)

    def best(self, fixed: Pairs) -> tuple[Analogy, bool]:
        """Returns the mapping with the highest score, and whether another one is as good: branch and bound over the pairs, where
        the bound counts every source expression that can still match something."""
        best, has_tie = self.apply(fixed), False
        # Sorted, for the order of a set of texts differs from run to run.
        options = [(one, tuple(sorted(way))) for (one, _), ways in self.ways.items() for way in ways]
        start = [option for option in options if _agrees(option[1], fixed, ())]
        stack: list[tuple[dict[str, str], tuple[str, ...], list[_Option]]] = [({**fixed}, (), start)]
        while stack:
            pairs, closed, left = stack.pop()
            self.nodes += 1
            if self.nodes > MOST_NODES:
                hint = "leave out facts that do not matter, or say in `map` what goes to what"
                raise BadValue(f"source: no best mapping after {MOST_NODES:,} trials", hint)
            limit = self.limit({one for one, _ in left})
            if limit < best.rank or (has_tie and limit == best.rank):
                continue
            name, targets = self._next(left, pairs, closed)
            if name is None:
                found = self.apply(pairs)
                if found.rank > best.rank:
                    best, has_tie = found, False
                elif found.rank == best.rank and found.pairs != best.pairs:
                    has_tie = True
                continue
            gone = (*closed, name)
            stack.append((pairs, gone, [one for one in left if _agrees(one[1], pairs, gone)]))
            for target in targets:
                child = pairs | {name: target}
                stack.append((child, closed, [one for one in left if _agrees(one[1], child, closed)]))
        return best, has_tie

    def _next(self, left: list[_Option], pairs: Pairs, closed: tuple[str, ...]) -> tuple[str | None, list[str]]:
        """Returns the thing that is in most of what can still match, and where it can go, the most promising last: that is
        where the search goes first."""
        weights: dict[str, dict[str, float]] = {}
        for one, way in left:
            for name, target in way:
                if name not in pairs and name not in closed:
                    targets = weights.setdefault(name, {})
                    targets[target] = targets.get(target, 0.0) + self.worth(one)
        if not weights:
            return None, []
        name = max(weights, key=lambda name: sum(weights[name].values()))
        return name, sorted(weights[name], key=weights[name].__getitem__)


def is_one_to_one(pairs: Iterable[Pair]) -> bool:
    """Returns whether no name is in two pairs, on either side."""
    found = [*pairs]
    return len({a for a, _ in found}) == len({b for _, b in found}) == len(found)


def _agrees(way: Iterable[Pair], pairs: Pairs, closed: tuple[str, ...]) -> bool:
    """Returns whether a way can still be taken: nothing goes elsewhere, is closed, or goes to a taken place."""
    taken = {target: name for name, target in pairs.items()}
    return all(pairs.get(a, b) == b and taken.get(b, a) == a and a not in closed for a, b in way)


def render_expression(one: Expression) -> str:
    """Returns the expression as text."""
    return f"{one.name}({', '.join(map(render_expression, one.parts))})" if one.parts else one.name


def inner(one: Expression) -> Iterator[Expression]:
    """Yields every expression within an expression, and itself, the outer ones first."""
    yield one
    for part in one.parts:
        yield from inner(part)


def read_facts(raw: Any, place: str) -> dict[Expression, None]:
    """Returns the facts of a description, a list or labels with facts; a label may stand in other facts."""
    rows: dict[str, str] = {}
    entries = raw.items() if isinstance(raw, dict) else enumerate(raw if isinstance(raw, list) else (), 1)
    for key, value in entries:
        label, text = (str(key), value) if isinstance(raw, dict) else (f"[{key}]", value)
        if isinstance(text, dict) and len(text) == 1:
            label, text = next(iter(text.items()))
        if not isinstance(text, str) or not text.strip():
            raise BadValue(f"{place}: {label} is no fact", _HINT)
        if label in rows:
            raise BadValue(f"{place}: the label {label} is there twice", "give each fact a label of its own")
        rows[label] = text.strip()
    if not rows:
        raise BadValue(f"{place}: there are no facts", _HINT)
    check_size(place, len(rows), MOST_FACTS, "facts")
    parsed = {
        label: parse_expression(text, f"{place}{label if label[0] == '[' else '.' + label}")
        for label, text in rows.items()
    }
    resolver = _Labels(parsed, place)
    return dict.fromkeys(resolver.resolve(one, (label,)) for label, one in parsed.items())


def parse_expression(text: str, place: str) -> Expression:
    """Returns a fact from `relation(a, b)` or from three words, `a relation b`.

    >>> render_expression(parse_expression("sun attracts planet", ""))
    'attracts(sun, planet)'
    """
    if len(text) > _LONGEST:
        raise BadValue(f"{place}: longer than {_LONGEST} characters", "use labels for its parts")
    if "(" not in text:
        words = text.split()
        if len(words) != 3 or "," in text or ")" in text:
            raise BadValue(f"{place}: cannot read {text[:60]!r}", _HINT)
        return Expression(words[1], (Expression(words[0]), Expression(words[2])))
    found, at = _read(text, 0, place, 0)
    if text[at:].strip():
        raise BadValue(f"{place}: cannot read {text[at : at + 30]!r}", _HINT)
    return found


def _read(text: str, at: int, place: str, depth: int) -> tuple[Expression, int]:
    match = _NAME.match(text, at)
    if not match or depth > _DEEPEST:
        raise BadValue(f"{place}: cannot read {text[at : at + 30]!r}", _HINT if not match else "too deep; use labels")
    name, at = " ".join(match[1].split()), match.end()
    if at >= len(text) or text[at] != "(":
        return Expression(name), at
    parts: list[Expression] = []
    while at < len(text) and text[at] in "(,":
        part, at = _read(text, at + 1, place, depth + 1)
        parts.append(part)
    if at >= len(text) or text[at] != ")":
        raise BadValue(f"{place}: a ) is missing in {text[:60]!r}", f"{_HINT}; within [ ] put each into quotes")
    at += 1
    return Expression(name, tuple(parts)), at + len(text[at:]) - len(text[at:].lstrip())


class _Labels:
    """Puts facts in place of their labels. Few labels can stand for very much: what all facts come to is bounded."""

    def __init__(self, labels: Mapping[str, Expression], place: str) -> None:
        self.labels, self.place = labels, place
        self.size = 0

    def resolve(self, one: Expression, within: tuple[str, ...]) -> Expression:
        self.size += 1
        if self.size > _MOST_PARTS or len(within) > _DEEPEST:
            raise BadValue(f"{self.place}: more than {_MOST_PARTS} parts, or labels {_DEEPEST} deep", "use fewer facts")
        if one.is_thing and one.name in self.labels:
            if one.name in within:
                circle = " -> ".join((*within, one.name))
                raise BadValue(f"{self.place}: {circle} runs in a circle", "a fact cannot contain itself")
            return self.resolve(self.labels[one.name], (*within, one.name))
        return one._replace(parts=tuple(self.resolve(part, within) for part in one.parts))
