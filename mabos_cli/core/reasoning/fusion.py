"""Several methods on one problem: where their conclusions agree, where they do not, and what they say together.

Conclusions are compared as values of their kind. Those that answer one question form a group; the heaviest group gives the
conclusion, the others stand apart. Inside it, every method gives each possible conclusion a share: a stated probability where the
method computes one, else its whole vote. The shares are pooled by weight."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mabos_cli.core.reasoning.answer import Answer, Conclusion

_OPTIONS = ("choice", "ranking", "distribution")
_WORDS = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}
_NEAR = 0.1  # numbers without intervals agree when they differ by no more than this share


class Part(NamedTuple):
    """One method's part in the whole. `support` is the share that it gives to the common conclusion."""

    method: str
    weight: float  # its share of the weight of all methods that computed something
    stance: str  # for, against, open, apart
    support: float | None
    answer: Answer


class Fused(NamedTuple):
    """What several methods say together. `agreement` is the share of weight that stands behind the conclusion; `confidence` is a
    probability, and there is none unless some method computes one."""

    conclusion: Conclusion
    confidence: float | None
    agreement: float
    parts: tuple[Part, ...]
    agreements: tuple[tuple[str, str], ...]
    disagreements: tuple[tuple[str, str], ...]
    basis: str


Stances = dict[str, tuple[bool, float] | None]


class _Vote(NamedTuple):
    """What one method says, in the terms of its group."""

    method: str
    weight: float
    answer: Answer
    shares: Mapping[str, float]  # empty: it leaves the question open, or answers with a number or a set


def fuse(answers: Mapping[str, Answer], weights: Mapping[str, float]) -> Fused:
    """The common conclusion of methods that each have computed one; at least one is needed."""
    total = sum(weights[name] for name in answers)
    shares = {name: weights[name] / total for name in answers}
    group = _heaviest_group(answers, shares)
    votes = _votes({name: answers[name] for name in group}, shares)
    conclusion, supports = _combine(votes)
    parts = tuple(_part(name, answers[name], shares[name], group, supports) for name in answers)
    inside = [part for part in parts if part.stance in ("for", "against")]
    weight = sum(part.weight for part in inside)
    agreement = sum(p.weight for p in inside if p.stance == "for") / weight if weight else 0.0
    stated = [part for part in inside if part.answer.confidence is not None or _is_distribution(part)]
    pooled = sum(p.weight * (p.support or 0.0) for p in inside) / weight if stated and weight else None
    together, apart = _pairs(votes)
    return Fused(conclusion, pooled, agreement, parts, together, apart, _basis(inside, stated))


def _is_distribution(part: Part) -> bool:
    return part.answer.conclusion.kind == "distribution"


def _basis(inside: Sequence[Part], stated: Sequence[Part]) -> str:
    if not inside:
        return "no method decides"
    if not stated:
        return "no method states a probability, so there is no confidence; agreement is the share of weight"
    if len(stated) == len(inside):
        return "pooled from the probabilities that all methods state"
    return f"{len(stated)} of {len(inside)} methods state a probability; the others count as votes"


def _question(conclusion: Conclusion) -> tuple[str, str]:
    """What a conclusion answers: its family, and what it is about."""
    about = conclusion.about.strip().casefold()
    if conclusion.kind == "truth" or _is_yes_no(conclusion):
        return "truth", about
    if conclusion.kind in _OPTIONS:
        return "options", about
    return conclusion.kind, f"{about} {conclusion.unit}".strip() if conclusion.kind == "number" else about


def _is_yes_no(conclusion: Conclusion) -> bool:
    options = _option_names(conclusion)
    return (
        conclusion.kind in _OPTIONS and bool(options) and all(name.casefold() in _WORDS for name in options)
    )


def _option_names(conclusion: Conclusion) -> list[str]:
    if conclusion.kind not in _OPTIONS:
        return []
    listed = conclusion.value if conclusion.kind == "ranking" else (conclusion.value,)
    return list(dict.fromkeys((*listed, *(name for name, _ in conclusion.scores))))


def _heaviest_group(answers: Mapping[str, Answer], shares: Mapping[str, float]) -> list[str]:
    """The methods whose conclusions answer one question, with the most weight. What is about nothing in particular is about the
    problem, and joins any group of its family; sets and texts stand for themselves."""
    questions = {name: _question(answer.conclusion) for name, answer in answers.items()}
    named = {family for family, about in questions.values() if about}
    groups = []
    for family, about in dict.fromkeys(questions.values()):
        if not about and family in named:
            continue
        joined = [name for name, (its, of) in questions.items() if its == family and of in (about, "")]
        if family == "options":
            joined = _overlapping(joined, answers)
        groups.append(joined)
    return max(groups, key=lambda group: sum(shares[name] for name in group))


def _overlapping(joined: list[str], answers: Mapping[str, Answer]) -> list[str]:
    """The methods that choose among options of which at least one is known to another."""
    options = {name: {o.casefold() for o in _option_names(answers[name].conclusion)} for name in joined}
    shared = [n for n in joined if any(options[n] & options[m] for m in joined if m != n)]
    return shared or joined[:1]


def _votes(answers: Mapping[str, Answer], shares: Mapping[str, float]) -> list[_Vote]:
    spelled: dict[str, str] = {}
    for answer in answers.values():
        for name in _option_names(answer.conclusion):
            spelled.setdefault(name.casefold(), name)
    return [_Vote(n, shares[n], answer, _shares(answer, spelled)) for n, answer in answers.items()]


def _shares(answer: Answer, spelled: Mapping[str, str]) -> dict[str, float]:
    """The share that an answer gives to each possible conclusion."""
    conclusion, sure = answer.conclusion, answer.confidence
    if conclusion.kind == "truth" or _is_yes_no(conclusion):
        return _truth_shares(conclusion, sure)
    if conclusion.kind not in _OPTIONS:
        return {}
    if conclusion.kind == "distribution":
        return {spelled[name.casefold()]: share for name, share in conclusion.scores}
    if conclusion.kind == "ranking":
        count = len(conclusion.value)
        points = {name: count - 1 - place for place, name in enumerate(conclusion.value)}
        total = sum(points.values()) or 1
        return {spelled[n.casefold()]: (p / total if count > 1 else 1.0) for n, p in points.items()}
    others = [name for key, name in spelled.items() if key != conclusion.value.casefold()]
    own = 1.0 if sure is None or not others else sure
    return {spelled[conclusion.value.casefold()]: own} | {name: (1 - own) / len(others) for name in others}


def _truth_shares(conclusion: Conclusion, sure: float | None) -> dict[str, float]:
    if conclusion.kind == "distribution":
        yes = sum(share for name, share in conclusion.scores if _WORDS[name.casefold()] == "yes")
    else:
        said = conclusion.value[0] if conclusion.kind == "ranking" else conclusion.value
        if said is None:
            return {}
        holds = said is True or (isinstance(said, str) and _WORDS[said.casefold()] == "yes")
        yes = (1.0 if sure is None else sure) if holds else (0.0 if sure is None else 1 - sure)
    return {"yes": yes, "no": 1 - yes}


def _combine(votes: list[_Vote]) -> tuple[Conclusion, Stances]:
    """The common conclusion, and for each method whether it is for it and the share that it gives to it; None where it leaves
    the question open."""
    first = votes[0].answer.conclusion
    if first.kind == "number":
        return _combine_numbers(votes)
    if first.kind == "names":
        return _combine_names(votes)
    if first.kind == "text":
        same = {vote.method: vote.answer.conclusion.value == first.value for vote in votes}
        return first, {name: (is_same, float(is_same)) for name, is_same in same.items()}
    pool: dict[str, float] = {}
    weight = sum(vote.weight for vote in votes if vote.shares)
    for vote in votes:
        for name, share in vote.shares.items():
            pool[name] = pool.get(name, 0.0) + vote.weight * share / weight
    about = next((v.answer.conclusion.about for v in votes if v.answer.conclusion.about), "")
    if not pool:
        return Conclusion("truth", None, about=about), {vote.method: None for vote in votes}
    best = max(pool.values())
    tops = [name for name, share in pool.items() if best - share < 1e-9]
    supports = {
        v.method: (_top(v) == tops[0], v.shares.get(tops[0], 0.0)) if v.shares else None for v in votes
    }
    if first.kind == "truth" or _is_yes_no(first):
        value = None if len(tops) > 1 else tops[0] == "yes"
        return Conclusion("truth", value, tuple(pool.items()), about=about), supports
    return Conclusion("choice", tops[0], tuple(pool.items()), about=about), supports


def _combine_numbers(votes: list[_Vote]) -> tuple[Conclusion, Stances]:
    """The weighted mean of the numbers that agree with the heaviest one; the others are against it."""
    near = {v.method: [o for o in votes if _agree(v.answer.conclusion, o.answer.conclusion)] for v in votes}
    group = max(near.values(), key=lambda found: sum(one.weight for one in found))
    weight = sum(vote.weight for vote in group)
    value = sum(vote.weight * vote.answer.conclusion.value for vote in group) / weight
    spans = [vote.answer.conclusion.interval for vote in group if vote.answer.conclusion.interval]
    interval = (min(low for low, _ in spans), max(high for _, high in spans)) if spans else None
    first = group[0].answer.conclusion
    inside = {vote.method for vote in group}
    supports: Stances = {
        v.method: (True, 1.0 if v.answer.confidence is None else v.answer.confidence)
        if v.method in inside
        else (False, 0.0)
        for v in votes
    }
    return Conclusion("number", value, interval=interval, unit=first.unit, about=first.about), supports


def _combine_names(votes: list[_Vote]) -> tuple[Conclusion, Stances]:
    """The names with more than half of the weight behind them; a method supports them as far as its set is alike."""
    weights: dict[str, float] = {}
    for vote in votes:
        for name in vote.answer.conclusion.value:
            weights[name] = weights.get(name, 0.0) + vote.weight
    half = sum(vote.weight for vote in votes) / 2
    kept = tuple(name for name, weight in weights.items() if weight > half)
    alike = {v.method: _likeness(set(kept), set(v.answer.conclusion.value)) for v in votes}
    supports: Stances = {name: (share >= 0.5, share) for name, share in alike.items()}
    return Conclusion("names", kept, tuple(weights.items()), about=votes[0].answer.conclusion.about), supports


def _likeness(a: set[str], b: set[str]) -> float:
    return len(a & b) / len(a | b) if a | b else 1.0


def _part(name: str, answer: Answer, weight: float, group: Sequence[str], supports: Stances) -> Part:
    if name not in group:
        return Part(name, weight, "apart", None, answer)
    stance = supports[name]
    if stance is None:
        return Part(name, weight, "open", None, answer)
    return Part(name, weight, "for" if stance[0] else "against", stance[1], answer)


def _agree(a: Conclusion, b: Conclusion) -> bool:
    """Whether two numbers agree: their intervals meet, the one lies in the interval of the other, or they are near."""
    low_a, high_a = a.interval or (a.value, a.value)
    low_b, high_b = b.interval or (b.value, b.value)
    if low_a <= high_b and low_b <= high_a:
        return True
    return abs(a.value - b.value) <= _NEAR * max(abs(a.value), abs(b.value))


def _pairs(votes: list[_Vote]) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """The pairs of methods that come to the same conclusion, and those that do not."""
    decided = [vote for vote in votes if _top(vote) is not None]
    pairs = [(a, b) for n, a in enumerate(decided) for b in decided[n + 1 :]]
    same = [(a.method, b.method) for a, b in pairs if _is_same(a, b)]
    other = [(a.method, b.method) for a, b in pairs if not _is_same(a, b)]
    return tuple(same), tuple(other)


def _top(vote: _Vote) -> Any:
    if vote.shares:
        return max(vote.shares, key=lambda name: vote.shares[name])
    return vote.answer.conclusion.value


def _is_same(a: _Vote, b: _Vote) -> bool:
    if a.answer.conclusion.kind == "number":
        return _agree(a.answer.conclusion, b.answer.conclusion)
    if a.answer.conclusion.kind == "names":
        return set(a.answer.conclusion.value) == set(b.answer.conclusion.value)
    return bool(_top(a) == _top(b))
