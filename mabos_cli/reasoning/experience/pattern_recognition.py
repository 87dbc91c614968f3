"""Finds which known pattern a situation shows by its nearest examples, and how well that works on the examples."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, cut, distribution, figure, listed, notes
from mabos_cli.reasoning.inputs import AgentData, Feature, known_name, parse_features
from mabos_cli.reasoning.shape import check_size

Neighbours = list[tuple[float, int]]  # distances with the number of the example, the nearest first
Features = Mapping[str, Feature]
Scale = Mapping[str, tuple[float, float] | None]  # the least and the most of each feature that is a number
_MOST_VALUES = 500_000
_MOST_TESTS, _MOST_WORK = 400, 600_000  # of the trial on the examples themselves
_USUAL = 0.95


class _Example(NamedTuple):
    name: str
    label: str
    features: Features


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the shares of the labels among the nearest examples."""
    examples = [
        _Example(row["name"] or f"example {n}", row["label"], parse_features(row["features"], f"examples[{n}].features"))
        for n, row in enumerate(fields["examples"], 1)
    ]  # fmt: skip
    situation = parse_features(fields["situation"], "situation")
    scale: dict[str, tuple[float, float] | None] = {}  # a feature is a number if it is one wherever known
    for name in dict.fromkeys(name for one in examples for name in one.features):
        known = [one.features[name] for one in examples if name in one.features]
        numbers = [value for value in known if not isinstance(value, str)]
        scale[name] = (min(numbers), max(numbers)) if len(numbers) == len(known) else None
    check_size("examples", len(examples) * max(1, len(scale)), _MOST_VALUES, "values")
    for name, value in situation.items():
        known_name("situation", name, scale, "feature")
        if scale[name] and isinstance(value, str):
            hint = "give a number"
            raise BadValue(f"situation.{name}: must be a number, as in the examples, not {value[:40]!r}", hint)
    near = _neighbours(situation, examples, scale)
    if not near:
        raise BadValue("situation: shares no feature with any example", "use the names of the examples' features")
    k = fields["k"] or min(3, len(near))
    if k > len(near):
        raise BadValue(f"k: {k} neighbours of {len(near)} examples", "give more examples or a smaller k")
    return _answer(situation, examples, scale, near, k)


def _distance(one: Features, two: Features, scale: Scale) -> float | None:
    """Returns the mean difference over the features that both have; None if they have none in common. A number beyond
    the range is as far away as can be."""
    found: list[float] = []
    for name, ends in scale.items():
        a, b = one.get(name), two.get(name)
        if a is None or b is None:
            continue
        if ends and not isinstance(a, str) and not isinstance(b, str) and ends[1] > ends[0]:
            found.append(min(1.0, abs(a - b) / (ends[1] - ends[0])))
        else:
            found.append(float(a != b))
    return sum(found) / len(found) if found else None


def _neighbours(features: Features, examples: Sequence[_Example], scale: Scale, without: int = -1) -> Neighbours:
    """Returns the examples by distance; of equal ones the first given is nearer."""
    far = ((_distance(features, example.features, scale), n) for n, example in enumerate(examples) if n != without)
    return sorted((away, n) for away, n in far if away is not None)


def _try_out(examples: Sequence[_Example], scale: Scale, k: int) -> tuple[int, int, float]:
    """Recognizes examples by all others: all of them, or as many as there is time for, spread evenly. Returns the hits of how many, and
    how far the nearest usually is."""
    count = max(1, min(len(examples), _MOST_TESTS, _MOST_WORK // (len(examples) * (2 + len(scale)))))
    hits, nearest = 0, []
    for n in (n * len(examples) // count for n in range(count)):
        near = _neighbours(examples[n].features, examples, scale, n)
        nearest += [away for away, _ in near[:1]]
        hits += next(iter(_vote(near[:k], examples)), None) == examples[n].label
    nearest.sort()
    usual = nearest[min(len(nearest) - 1, int(_USUAL * len(nearest)))] if nearest else 0.0
    return hits, count, usual


def _vote(near: Neighbours, examples: Sequence[_Example]) -> dict[str, float]:
    """Returns the shares of labels among neighbours, the largest first; of equal ones that of the nearest neighbour."""
    counts = Counter(examples[n].label for _, n in near)
    return {label: count / len(near) for label, count in counts.most_common()}


def _answer(situation: Features, examples: Sequence[_Example], scale: Scale, near: Neighbours, k: int) -> Answer:
    hits, tried, usual = _try_out(examples, scale, k)
    shares, nearest = _vote(near[:k], examples), near[0][0]
    outside = [
        name
        for name, value in situation.items()
        if (ends := scale[name]) and not isinstance(value, str) and not ends[0] <= value <= ends[1]
    ]
    is_novel = nearest > usual or bool(outside)
    everything = shares | {one.label: 0.0 for one in examples if one.label not in shares}
    label = next(iter(shares))
    lines = cut([f"{far:.3f} {examples[n].name}: {examples[n].label}" for far, n in near[:k]], 7)
    detail = {
        "k": k,
        "neighbours": [{"name": examples[n].name, "label": examples[n].label, "distance": far} for far, n in near[:k]],
        "shares": everything,
        "left_one_out": {"hits": hits, "of": tried},
        "nearest_distance": nearest,
        "usual_distance": usual,
        "is_novel": is_novel,
        "outside_range": outside,
    }
    is_cut = (
        len(near) > k and near[k][0] == near[k - 1][0] and len({examples[n].label for _, n in near[k - 1 : k + 1]}) > 1
    )
    equals = f"others are as near as the last of the {k} and have another label; the order given decided"
    caveats = notes(
        (nearest > usual, f"new: the nearest example is {nearest:.2f} away, farther than examples usually are"),
        (outside, f"new: outside of the range of all examples in {listed(outside)}"),
        ([*shares.values()].count(shares[label]) > 1, "the vote is tied; the label of the nearest example is taken"),
        (is_cut, equals),
        (len(everything) == 1, "all examples have one label, so nothing else can be recognized"),
        (tried < len(examples), f"tried on {tried} of {len(examples)} examples, spread evenly"),
    )
    summary = f"{label}, with {figure(shares[label])} of the votes of the {k} nearest"
    summary += "; but this is unlike all examples" if is_novel else ""
    steps = (
        *lines,
        f"leaving one out, {hits} of {tried} are recognized",
        f"the nearest is {nearest:.3f} away; among examples {usual:.3f} is usual at most",
    )
    # Few examples may all be hit by chance, so the share of hits is taken by the rule of succession.
    sure = None if is_novel else (hits + 1) / (tried + 2)
    return Answer(distribution(everything), sure, summary, steps, detail, caveats)
