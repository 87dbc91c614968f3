"""Finds the best mapping from one description to another (Gentner's structure mapping): things go one to one, relations keep their
names, and what is joined by relations between relations counts more than what stands alone.

A match counts 1, that of an attribute of a thing 0.1; what is part of a matched expression gets the score of that one on top."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.inputs import check_size

MOST_NODES, MOST_FACTS, _MOST_PARTS = 20_000, 80, 1000
_LONGEST, _DEEPEST = 500, 12
_NAME = re.compile(r"\s*([^\s(),][^(),]*?)\s*(?=[(),]|$)")
_HINT = "write attracts(sun, planet), sun attracts planet, hot(sun), or causes(hot(sun), melts(ice))"
ATTRIBUTE = 0.1


class Expression(NamedTuple):
    """A thing, which has no parts, or a relation, attribute or measure of things and other expressions."""

    name: str
    parts: tuple["Expression", ...] = ()

    @property
    def order(self) -> int:
        """Returns 0 for a thing, 1 for what is stated of things, and so on."""
        return 1 + max(part.order for part in self.parts) if self.parts else 0


Facts = dict[Expression, None]
# Things and measures of the source with those of the target, each marked as `thing` or `measure`.
Pairs = Mapping[str, str]


class Analogy(NamedTuple):
    """Which thing or measure goes to which, the expressions that match with their scores, and the score in all."""

    pairs: Pairs
    matches: dict[Expression, tuple[Expression, float]]
    score: float


def things_of(facts: Iterable[Expression]) -> dict[str, None]:
    """Returns the things of a description, each once."""
    return dict.fromkeys(one.name for fact in facts for one in inner(fact) if not one.parts)


def expressions(facts: Iterable[Expression]) -> tuple[Expression, ...]:
    """Returns all expressions of a description, each once, without the things."""
    return tuple(dict.fromkeys(one for fact in facts for one in inner(fact) if one.parts))


class Matcher:
    """Two descriptions, and the pairs of things and measures that make an expression of one match one of the other."""

    def __init__(
        self, source: Iterable[Expression], target: Iterable[Expression], measures: frozenset[str], same: Pairs
    ) -> None:
        self.measures, self.same = measures, same
        self.source, self.target = expressions(source), expressions(target)
        self.pairs: dict[tuple[Expression, Expression], frozenset[tuple[str, str]]] = {}
        for one in self.source:
            for other in self.target:
                pairs = None if self.is_measure(one) else self._match(one, other)
                if pairs is not None and is_one_to_one(pairs):
                    self.pairs[one, other] = pairs
        self.holders = {one: tuple(up for up in self.source if one in up.parts) for one in self.source}

    def is_measure(self, one: Expression) -> bool:
        return len(one.parts) == 1 and one.name in self.measures

    def _match(self, one: Expression, other: Expression) -> frozenset[tuple[str, str]] | None:
        if not one.parts and not other.parts:
            return frozenset((("thing " + one.name, "thing " + other.name),))
        if len(one.parts) != len(other.parts):
            return None
        found: frozenset[tuple[str, str]] = frozenset()
        if self.is_measure(one) and self.is_measure(other):
            found = frozenset((("measure " + one.name, "measure " + other.name),))
        elif self.same.get(one.name, one.name) != other.name:
            return None
        for a, b in zip(one.parts, other.parts, strict=True):
            more = self._match(a, b)
            if more is None:
                return None
            found |= more
        return found

    def weight(self, one: Expression) -> float:
        """Returns what a match counts by itself."""
        if self.is_measure(one):
            return 0.0
        return ATTRIBUTE if len(one.parts) == 1 and not one.parts[0].parts else 1.0

    def scores(self, able: Iterable[Expression]) -> dict[Expression, float]:
        """Returns what each of some source expressions counts if just these match."""
        found: dict[Expression, float] = {}
        for one in sorted(able, key=lambda one: -one.order):
            found[one] = self.weight(one) + sum(found.get(up, 0.0) for up in self.holders[one])
        return found

    def apply(self, pairs: Pairs) -> Analogy:
        """Returns all that matches under some pairs."""
        taken = frozenset(pairs.items())
        found = {one: other for (one, other), needed in self.pairs.items() if needed <= taken}
        scores = self.scores(found)
        used = {pair for one, other in found.items() for pair in self.pairs[one, other]}
        kept = {a: b for a, b in pairs.items() if (a, b) in used}
        return Analogy(kept, {one: (found[one], scores[one]) for one in found}, round(sum(scores.values()), 9))

    def best(self, fixed: Pairs) -> tuple[Analogy, bool]:
        """Returns the mapping with the highest score, and whether another one is as good: branch and bound over the
        pairs, where the bound counts every source expression that can still match something."""
        best, has_tie, nodes = self.apply(fixed), False, 0
        # Sorted, for the order of a set of texts differs from run to run.
        options = [(one, tuple(sorted(needed))) for (one, _), needed in self.pairs.items()]
        worth = self.scores(self.source)
        stack: list[tuple[dict[str, str], tuple[str, ...]]] = [({**fixed}, ())]
        while stack:
            pairs, closed = stack.pop()
            nodes += 1
            if nodes > MOST_NODES:
                hint = "leave out facts that do not matter, or say in `map` what goes to what"
                raise BadValue(f"source: no best mapping after {MOST_NODES:,} trials", hint)
            left = [option for option in options if _agrees(option[1], pairs, closed)]
            limit = round(sum(self.scores({one for one, _ in left}).values()), 9)
            if limit < best.score or (has_tie and limit == best.score):
                continue
            name, targets = _next(left, pairs, worth)
            if name is None:
                found = self.apply(pairs)
                if found.score > best.score:
                    best, has_tie = found, False
                elif found.score == best.score and found.pairs != best.pairs:
                    has_tie = True
                continue
            stack.append((pairs, (*closed, name)))
            stack += [(pairs | {name: target}, closed) for target in targets]
        return best, has_tie


def _next(
    left: list[tuple[Expression, tuple[tuple[str, str], ...]]], pairs: Pairs, worth: Mapping[Expression, float]
) -> tuple[str | None, list[str]]:
    """Returns the thing that is in most of what can still match, and where it can go, the most promising last: that is
    where the search goes first."""
    weights: dict[str, dict[str, float]] = {}
    for one, needed in left:
        for name, target in needed:
            if name not in pairs:
                targets = weights.setdefault(name, {})
                targets[target] = targets.get(target, 0.0) + worth[one]
    if not weights:
        return None, []
    name = max(weights, key=lambda name: sum(weights[name].values()))
    return name, sorted(weights[name], key=weights[name].__getitem__)


def is_one_to_one(pairs: Iterable[tuple[str, str]]) -> bool:
    """Returns whether no name is in two pairs, on either side."""
    found = [*pairs]
    return len({a for a, _ in found}) == len({b for _, b in found}) == len(found)


def _agrees(needed: Iterable[tuple[str, str]], pairs: Pairs, closed: tuple[str, ...]) -> bool:
    """Returns whether pairs can still be taken: nothing goes elsewhere, is closed, or goes to a taken place."""
    taken = {target: name for name, target in pairs.items()}
    return all(pairs.get(a, b) == b and taken.get(b, a) == a and a not in closed for a, b in needed)


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
        if not one.parts and one.name in self.labels:
            if one.name in within:
                circle = " -> ".join((*within, one.name))
                raise BadValue(f"{self.place}: {circle} runs in a circle", "a fact cannot contain itself")
            return self.resolve(self.labels[one.name], (*within, one.name))
        return one._replace(parts=tuple(self.resolve(part, within) for part in one.parts))
