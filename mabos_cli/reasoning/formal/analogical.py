"""Finds what carries over from a known situation to one with the same structure (Gentner's structure mapping): things go one to
one, relations keep their names, and what is joined by relations between relations counts more than what stands alone.

A match counts 1, that of an attribute of a thing 0.1; what is part of a matched expression gets the score of that one on top."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, cut, figure, listed, names, notes
from mabos_cli.reasoning.inputs import AgentData

MOST_NODES = 20_000
_LONGEST, _DEEPEST = 500, 12
_NAME = re.compile(r"\s*([^\s(),][^(),]*?)\s*(?=[(),]|$)")
_HINT = "write attracts(sun, planet), sun attracts planet, hot(sun), or causes(hot(sun), melts(ice))"
ATTRIBUTE = 0.1


class Expression(NamedTuple):
    """A thing, which has no parts, or a relation or attribute of things and other expressions."""

    name: str
    parts: tuple["Expression", ...] = ()

    @property
    def order(self) -> int:
        """Returns 0 for a thing, 1 for what is stated of things, and so on."""
        return 1 + max(part.order for part in self.parts) if self.parts else 0

    @property
    def is_attribute(self) -> bool:
        return len(self.parts) == 1 and not self.parts[0].parts


Facts = dict[Expression, None]
Pairs = Mapping[str, str]  # things of the source with those of the target


class Analogy(NamedTuple):
    """Which thing goes to which, the expressions that match with their scores, and the score in all."""

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
    """Two descriptions, and the pairs of things that make an expression of one match one of the other."""

    def __init__(self, source: Iterable[Expression], target: Iterable[Expression], same: Mapping[str, str]) -> None:
        self.same = same  # relations of the source that go by another name
        self.source, self.target = expressions(source), expressions(target)
        self.pairs: dict[tuple[Expression, Expression], frozenset[tuple[str, str]]] = {}
        for one in self.source:
            for other in self.target:
                pairs = self._match(one, other)
                if pairs is not None and is_one_to_one(pairs):
                    self.pairs[one, other] = pairs
        self.holders = {one: tuple(up for up in self.source if one in up.parts) for one in self.source}

    def _match(self, one: Expression, other: Expression) -> frozenset[tuple[str, str]] | None:
        if not one.parts and not other.parts:
            return frozenset(((one.name, other.name),))
        if len(one.parts) != len(other.parts) or self.same.get(one.name, one.name) != other.name:
            return None
        found: frozenset[tuple[str, str]] = frozenset()
        for a, b in zip(one.parts, other.parts, strict=True):
            more = self._match(a, b)
            if more is None:
                return None
            found |= more
        return found

    def scores(self, able: Iterable[Expression]) -> dict[Expression, float]:
        """Returns what each of some source expressions counts if just these match."""
        found: dict[Expression, float] = {}
        for one in sorted(able, key=lambda one: -one.order):
            found[one] = (ATTRIBUTE if one.is_attribute else 1.0) + sum(found.get(up, 0.0) for up in self.holders[one])
        return found

    def apply(self, pairs: Pairs) -> Analogy:
        """Returns all that matches under some pairs."""
        taken = frozenset(pairs.items())
        found = {one: other for (one, other), needed in self.pairs.items() if needed <= taken}
        scores = self.scores(found)
        used = {pair for one, other in found.items() for pair in self.pairs[one, other]}
        kept = {a: b for a, b in pairs.items() if (a, b) in used}
        return Analogy(kept, {one: (found[one], scores[one]) for one in found}, round(sum(scores.values()), 9))

    def best(self) -> tuple[Analogy, bool]:
        """Returns the mapping with the highest score, and whether another one is as good: branch and bound over the
        pairs, where the bound counts every source expression that can still match something."""
        best, has_tie, nodes = self.apply({}), False, 0
        # Sorted, for the order of a set of texts differs from run to run.
        options = [(one, tuple(sorted(needed))) for (one, _), needed in self.pairs.items()]
        worth = self.scores(self.source)
        stack: list[tuple[dict[str, str], tuple[str, ...]]] = [({}, ())]
        while stack:
            pairs, closed = stack.pop()
            nodes += 1
            if nodes > MOST_NODES:
                hint = "leave out facts that do not matter"
                raise BadValue(f"source: no best mapping after {MOST_NODES:,} trials", hint)
            # Nothing may go elsewhere, be closed, or go to a taken place.
            taken = {target: name for name, target in pairs.items()}
            left = [
                (one, needed)
                for one, needed in options
                if all(pairs.get(a, b) == b and taken.get(b, a) == a and a not in closed for a, b in needed)
            ]
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


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the facts that carry over to the target under the best mapping."""
    source = read_facts(fields["source"]["facts"], "source.facts")
    target = read_facts(fields["target"]["facts"], "target.facts")
    matcher = Matcher(source, target, fields["same"])
    mapping, has_tie = matcher.best()
    if mapping.matches:
        most = Matcher(source, source, {}).apply({name: name for name in things_of(source)}).score
        return _answer(fields, mapping, has_tie, _inferences(matcher, mapping), most)
    names_of = f"{fields['source']['name']} and {fields['target']['name']}"
    return Answer(
        names((), "what carries over"),
        None,
        f"{names_of} have no relation in common: nothing carries over",
        (),
        {"pairs": {}, "score": 0.0, "inferences": []},
        ("relations match only by name: give `same` for those that are called differently",),
    )


def _inferences(matcher: Matcher, mapping: Analogy) -> list[dict[str, Any]]:
    """Returns the facts of the source that say something new of the target, the best supported first: restated for the target, with the
    score of what matches among the facts that each is joined with, and the things that have no counterpart. An attribute carries over
    only as part of a greater fact: that the sun is hot says nothing of a nucleus."""
    scores = {one: score for one, (_, score) in mapping.matches.items()}
    known = {*matcher.target}
    found: dict[Expression, dict[str, Any]] = {}
    for one in matcher.source:
        if one in scores or one.name in ("and", "or"):
            continue
        fact, unknown = _carry(one, mapping.pairs, matcher)
        joined = _joined(one, matcher)
        is_new = fact not in known and fact not in found
        if is_new and things_of((one,)).keys() - {*unknown} and (joined or not one.is_attribute):
            row = {"fact": render_expression(fact), "from": render_expression(one)}
            support = sum(scores.get(other, 0.0) for other in joined)
            found[fact] = row | {"support": support, "without_counterpart": [*unknown]}
    ranks = {
        fact: (bool(row["without_counterpart"]), not row["support"], fact.order, -row["support"])
        for fact, row in found.items()
    }
    return [found[fact] for fact in sorted(found, key=ranks.__getitem__)]


def _joined(one: Expression, matcher: Matcher) -> dict[Expression, None]:
    """Returns the expressions that relations between facts join with one, over any number of steps."""
    reached = {one: None}
    waiting = [one]
    while waiting:
        at = waiting.pop()
        for near in (*matcher.holders[at], *at.parts):
            if near not in reached and near.parts:
                reached[near] = None
                waiting.append(near)
    del reached[one]
    return reached


def _carry(one: Expression, pairs: Pairs, matcher: Matcher) -> tuple[Expression, tuple[str, ...]]:
    """Returns a source expression restated for the target, and the things that have no counterpart there."""
    if not one.parts:
        is_known = one.name in pairs
        return Expression(pairs[one.name] if is_known else f"?{one.name}"), () if is_known else (one.name,)
    done = [_carry(part, pairs, matcher) for part in one.parts]
    unknown = tuple(dict.fromkeys(thing for _, things in done for thing in things))
    return Expression(matcher.same.get(one.name, one.name), tuple(part for part, _ in done)), unknown


def _answer(
    fields: dict[str, Any], mapping: Analogy, has_tie: bool, found: list[dict[str, Any]], most: float
) -> Answer:
    share = mapping.score / most if most else 0.0
    carried = tuple(row["fact"] for row in found if row["support"] and not row["without_counterpart"])
    ordered = sorted(mapping.matches.items(), key=lambda match: -match[1][1])
    detail = {
        "pairs": dict(mapping.pairs),
        "score": mapping.score,
        "share_of_source": share,
        "matches": [
            {"source": render_expression(one), "target": render_expression(other), "score": score}
            for one, (other, score) in ordered
        ],
        "inferences": found,
    }
    steps = [f"{a} is like {b}" for a, b in mapping.pairs.items()]
    for row in found[:8]:
        verdict = "carries over" if row["fact"] in carried else "open" if row["without_counterpart"] else "weak"
        steps.append(f"{verdict}, support {figure(row['support'])}: {row['fact']}")
    matched = f"{plural(len(mapping.matches), 'matching fact')}, {share:.0%} of the structure"
    summary = f"carries over to {fields['target']['name']}: {listed(carried, 3) or 'nothing new'} ({matched})"
    is_flat = not any(one.order > 1 for one in mapping.matches) and not any(row["support"] for row in found)
    lacking = dict.fromkeys(thing for row in found for thing in row["without_counterpart"])
    caveats = notes(
        (True, "an analogy suggests and does not prove: check what carries over"),
        (has_tie, "another mapping is as good; the first that was found is given"),
        (is_flat, "no relation between relations is involved: the likeness may be on the surface only"),
        (lacking, f"no counterpart for {listed([*lacking])}: what involves it is shown with a ?"),
    )
    return Answer(names(carried, "what carries over"), None, summary, cut(steps), detail, caveats)


def render_expression(one: Expression) -> str:
    """Returns the expression as text."""
    return f"{one.name}({', '.join(map(render_expression, one.parts))})" if one.parts else one.name


def inner(one: Expression) -> Iterator[Expression]:
    """Yields every expression within an expression, and itself, the outer ones first."""
    yield one
    for part in one.parts:
        yield from inner(part)


def read_facts(raw: Sequence[str], place: str) -> Facts:
    """Returns the facts of a description."""
    return dict.fromkeys(parse_expression(fact, f"{place}[{n}]") for n, fact in enumerate(raw, 1))


def parse_expression(text: str, place: str) -> Expression:
    """Returns a fact from `relation(a, b)` or from three words, `a relation b`."""
    if len(text) > _LONGEST:
        raise BadValue(f"{place}: longer than {_LONGEST} characters", "leave out what does not matter")
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
        raise BadValue(f"{place}: cannot read {text[at : at + 30]!r}", _HINT if not match else "it is too deep")
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
