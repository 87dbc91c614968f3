"""Finds which known pattern a situation shows by its nearest examples, and how well that works on the examples."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, cut, distribution, figure, listed, notes
from mabos_cli.reasoning.inputs import AgentData, Feature, known_name, parse_features
from mabos_cli.reasoning.shape import check_size

Neighbours = list[tuple[float, int]]  # distances with the number of the example, the nearest first
_MOST_VALUES = 500_000
_MOST_TESTS, _MOST_WORK = 400, 600_000  # of the trial on the examples themselves
_KS = (1, 3, 5, 7, 9, 11, 13, 15)
_USUAL = 0.95
Features = Mapping[str, Feature]


class _Example(NamedTuple):
    name: str
    label: str
    features: Features


class _Trial(NamedTuple):
    """The trial of the examples, in which each is recognized by the others: hits by k, of how many, and how far the nearest one is."""

    hits: dict[int, int]
    tried: int
    nearest: tuple[float, ...]


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the shares of the labels among the nearest examples."""
    examples = [
        _Example(row["name"] or f"example {n}", row["label"], parse_features(row["features"], f"examples[{n}].features"))
        for n, row in enumerate(fields["examples"], 1)
    ]  # fmt: skip
    situation = parse_features(fields["situation"], "situation")
    scale = _scale(fields, examples, situation)
    near = _neighbours(situation, examples, scale, None)
    if not near:
        raise BadValue("situation: shares no feature with any example", "use the names of the examples' features")
    if fields["k"] and fields["k"] > len(near):
        raise BadValue(f"k: {fields['k']} neighbours of {len(near)} examples", "give more examples or a smaller k")
    trial = _try_out(examples, scale, fields)
    usable = [k for k in trial.hits if k <= len(near)]
    k = fields["k"] or max(usable, key=lambda k: (trial.hits[k], -k), default=1)
    shares = _vote(near[:k], examples)
    return _answer(fields, situation, examples, scale, near, k, shares, trial)


class Scale(NamedTuple):
    """The weight of each feature, and the least and the most of those that are numbers."""

    weights: dict[str, float]
    ranges: dict[str, tuple[float, float]]


def _scale(fields: dict[str, Any], examples: Sequence[_Example], situation: Features) -> Scale:
    scale = find_scale([one.features for one in examples], fields["weights"])
    check_size("examples", len(examples) * max(1, len(scale.weights)), _MOST_VALUES, "values")
    for name in fields["weights"]:
        known_name("weights", name, scale.weights, "feature")
    for name, value in situation.items():
        known_name("situation", name, scale.weights, "feature")
        if name in scale.ranges and isinstance(value, str):
            hint = "give a number"
            raise BadValue(f"situation.{name}: must be a number, as in the examples, not {value[:40]!r}", hint)
    if not any(scale.weights.values()):
        raise BadValue("weights: all are 0", "let some feature count")
    return scale


def _neighbours(features: Features, examples: Sequence[_Example], scale: Scale, without: int | None) -> Neighbours:
    """Returns the examples by distance; of equal ones the first given is nearer."""
    found = []
    for n, example in enumerate(examples):
        if n != without:
            far = distance(features, example.features, scale)
            if far is not None:
                found.append((far, n))
    return sorted(found)


def _try_out(examples: Sequence[_Example], scale: Scale, fields: dict[str, Any]) -> _Trial:
    """Recognizes examples by all others: all of them, or as many as there is time for, spread evenly."""
    ks = [fields["k"]] if fields["k"] else [k for k in _KS if k < len(examples)] or [1]
    work = len(examples) * (2 + len(scale.weights))
    count = max(1, min(len(examples), _MOST_TESTS, _MOST_WORK // work))
    tested = [n * len(examples) // count for n in range(count)]
    hits = dict.fromkeys(ks, 0)
    nearest = []
    for n in tested:
        near = _neighbours(examples[n].features, examples, scale, n)
        if near:
            nearest.append(near[0][0])
        for k in ks:
            shares = _vote(near[:k], examples)
            hits[k] += next(iter(shares), None) == examples[n].label
    return _Trial(hits, count, tuple(sorted(nearest)))


def _vote(near: Neighbours, examples: Sequence[_Example]) -> dict[str, float]:
    """Returns the shares of labels among neighbours, the largest first; of equal ones that of the nearest neighbour."""
    counts = Counter(examples[n].label for _, n in near)
    return {label: count / len(near) for label, count in counts.most_common()}


def _answer(
    fields: dict[str, Any], situation: Features, examples: Sequence[_Example], scale: Scale, near: Neighbours, k: int,
    shares: dict[str, float], trial: _Trial,
) -> Answer:  # fmt: skip
    usual = trial.nearest[min(len(trial.nearest) - 1, int(_USUAL * len(trial.nearest)))] if trial.nearest else 0.0
    outside = _outside(situation, scale)
    is_novel = near[0][0] > usual or bool(outside)
    everything = shares | {one.label: 0.0 for one in examples if one.label not in shares}
    # Few examples may all be hit by chance, so the share of hits is taken by the rule of succession.
    sure = (trial.hits[k] + 1) / (trial.tried + 2)
    label = next(iter(shares))
    lines = [f"{far:.3f} {examples[n].name}: {examples[n].label}" for far, n in near[:k]]
    chosen_by = "as given" if fields["k"] else "best on the examples"
    lines = [*cut(lines, 7), f"k = {k}, {chosen_by}; leaving one out, {trial.hits[k]} of {trial.tried} are recognized"]
    lines.append(f"the nearest is {near[0][0]:.3f} away; among examples {usual:.3f} is usual at most")
    detail = {
        "k": k,
        "neighbours": [{"name": examples[n].name, "label": examples[n].label, "distance": far} for far, n in near[:k]],
        "shares": everything,
        "left_one_out": {"hits": {str(one): hits for one, hits in trial.hits.items()}, "of": trial.tried},
        "nearest_distance": near[0][0],
        "usual_distance": usual,
        "is_novel": is_novel,
        "outside_range": outside,
    }
    caveats = _caveats(fields, examples, near, k, shares, trial, usual, outside)
    summary = f"{label}, with {figure(shares[label])} of the votes of the {k} nearest" + (
        "; but this is unlike all examples" if is_novel else ""
    )
    return Answer(distribution(everything), None if is_novel else sure, summary, tuple(lines), detail, caveats)


def _outside(situation: Features, scale: Scale) -> list[str]:
    """Returns the numbers of the situation that lie beyond those of all examples."""
    found = []
    for name, value in situation.items():
        if name in scale.ranges and not isinstance(value, str) and scale.weights[name] > 0:
            low, high = scale.ranges[name]
            found += [] if low <= value <= high else [name]
    return found


def _caveats(
    fields: dict[str, Any], examples: Sequence[_Example], near: Neighbours, k: int, shares: dict[str, float],
    trial: _Trial, usual: float, outside: list[str],
) -> tuple[str, ...]:  # fmt: skip
    is_tied = [*shares.values()].count(max(shares.values())) > 1
    far, labels = [distance for distance, _ in near], [examples[n].label for _, n in near]
    is_cut_among_equals = len(near) > k and far[k] == far[k - 1] and labels[k] != labels[k - 1]
    has_one_label = len({one.label for one in examples}) == 1
    is_chosen = not fields["k"] and len(trial.hits) > 1
    equals = f"others are as near as the last of the {k} and have another label; the order given decided"
    return notes(
        (far[0] > usual, f"new: the nearest example is {far[0]:.2f} away, farther than examples usually are"),
        (outside, f"new: outside of the range of all examples in {listed(outside)}"),
        (is_tied, "the vote is tied; the label of the nearest example is taken"),
        (is_cut_among_equals, equals),
        (has_one_label, "all examples have one label, so nothing else can be recognized"),
        (is_chosen, "k was chosen on the same examples, so their share of hits flatters a little"),
        (trial.tried < len(examples), f"tried on {trial.tried} of {len(examples)} examples, spread evenly"),
    )


def find_scale(things: Sequence[Features], weights: Mapping[str, float]) -> Scale:
    """Returns the scale by which things are compared. A feature is a number if it is one wherever known."""
    names = dict.fromkeys(name for thing in things for name in thing)
    ranges = {}
    for name in names:
        known = [thing[name] for thing in things if name in thing]
        values = [value for value in known if not isinstance(value, str)]
        if len(values) == len(known):
            ranges[name] = (min(values), max(values))
    return Scale({name: weights.get(name, 1.0) for name in names}, ranges)


def distance(one: Features, two: Features, scale: Scale) -> float | None:
    """Returns the mean difference over the features that both have; None if they have none in common. A number beyond
    the range is as far away as can be."""
    total = weighed = 0.0
    for name, weight in scale.weights.items():
        a, b = one.get(name), two.get(name)
        if a is None or b is None:
            continue
        weighed += weight
        if name in scale.ranges and not isinstance(a, str) and not isinstance(b, str):
            low, high = scale.ranges[name]
            total += weight * min(1.0, abs(a - b) / (high - low)) if high > low else weight * (a != b)
        else:
            total += weight * (a != b)
    return total / weighed if weighed else None
