"""Fuses several methods on one problem: where their conclusions agree, where they do not, and what they say together.

Conclusions are compared as values of their kind. Those that answer one question form a group; the heaviest group gives the
conclusion, the others stand apart. Inside it, every method gives each possible conclusion a share: a stated probability where the
method computes one, else its whole vote. The shares are pooled by weight."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, combinations
from typing import Any, NamedTuple
from unicodedata import normalize

from mabos_cli.reasoning.answer import Answer, Conclusion

Stances = dict[str, tuple[bool, float] | None]
OPTIONS = ("choice", "ranking", "distribution")
# Options that are no options but a verdict.
TRUTH_WORDS = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}
_SAME = 1e-9  # shares that differ by less are the same
_NEAR = 0.1  # numbers without intervals agree when they differ by no more than this share


class Part(NamedTuple):
    """One method's part in the whole. `support` is the share that it gives to the common conclusion."""

    method: str
    weight: float  # its share of the weight of all methods that computed something
    stance: str  # for, against, open, apart
    support: float | None
    answer: Answer


class Fused(NamedTuple):
    """The common answer of several methods. `agreement` is the share of weight that stands behind the conclusion; `confidence` is a
    probability, and there is none unless some method computes one."""

    conclusion: Conclusion
    confidence: float | None
    agreement: float
    basis: str
    agreements: tuple[tuple[str, str], ...]
    disagreements: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]


class _Vote(NamedTuple):
    """The answer of one method, in the terms of its group."""

    method: str
    weight: float
    answer: Answer
    shares: Mapping[str, float]  # empty: it leaves the question open, or answers with a number or a set


def fuse(answers: Mapping[str, Answer], weights: Mapping[str, float]) -> Fused:
    """Returns the common conclusion of methods that each have computed one; at least one is needed."""
    total = sum(weights[name] for name in answers)
    shares = {name: weights[name] / total for name in answers}
    group = heaviest_group(answers, shares)
    spelled = _spell([option_names(answers[name].conclusion) for name in group])
    votes = [_Vote(name, shares[name], answers[name], _shares(answers[name], spelled)) for name in group]
    conclusion, supports = _combine(votes)
    parts = tuple(
        Part(name, shares[name], *(_stance_in_group(supports[name]) if name in group else ("apart", None)), answer)
        for name, answer in answers.items()
    )
    inside = [part for part in parts if part.stance in ("for", "against")]
    weight = sum(part.weight for part in inside)
    agreement = sum(p.weight for p in inside if p.stance == "for") / weight if weight else 0.0
    stated = [part for part in inside if part.answer.confidence is not None]
    pooled = sum(p.weight * (p.support or 0.0) for p in inside) / weight if stated else None
    if conclusion.value is None:  # nothing is concluded that could be right
        pooled = None
    pairs = [*combinations([vote for vote in votes if _top(vote) is not None], 2)]
    together = tuple((a.method, b.method) for a, b in pairs if _is_same(a, b))
    apart = tuple((a.method, b.method) for a, b in pairs if not _is_same(a, b))
    return Fused(conclusion, pooled, agreement, _basis(inside, stated, conclusion), together, apart, parts)


def _basis(inside: Sequence[Part], stated: Sequence[Part], conclusion: Conclusion) -> str:
    if not inside:
        return "no method decides"
    if conclusion.value is None:
        return "yes and no weigh the same"
    best = max((share for _, share in conclusion.scores), default=0.0) if conclusion.kind == "choice" else math.inf
    tied = [name for name, share in conclusion.scores if best - share < _SAME]
    tie = f"; {' and '.join(tied)} weigh the same, the first is taken" if len(tied) > 1 else ""
    if not stated:
        return f"no method states a probability, so there is no confidence; agreement is the share of weight{tie}"
    if len(inside) == 1:
        return f"the probability that {inside[0].method} states{tie}"
    if len(stated) == len(inside):
        return f"pooled from the probabilities that all methods state{tie}"
    return f"{len(stated)} of {len(inside)} methods state a probability; the others count as votes{tie}"


def _spell(lists: Sequence[Sequence[str]]) -> dict[str, str]:
    """Returns for each name the first spelling of it; names that one method tells apart are not one name."""
    apart: set[str] = set()
    for names in lists:
        apart |= {key for key, count in Counter(map(folded, names)).items() if count > 1}
    first: dict[str, str] = {}
    return {name: first.setdefault(name if folded(name) in apart else folded(name), name) for name in chain(*lists)}


def _shares(answer: Answer, spelled: Mapping[str, str]) -> dict[str, float]:
    """Returns the share that an answer gives to each possible conclusion."""
    conclusion, sure = answer.conclusion, answer.confidence
    if conclusion.kind == "truth" or is_yes_no(conclusion):
        return _truth_shares(conclusion, sure)
    if conclusion.kind not in OPTIONS:
        return {}
    if conclusion.kind == "distribution":
        return {spelled[name]: share for name, share in conclusion.scores}
    listed = conclusion.value if conclusion.kind == "ranking" else (conclusion.value,)
    if len(listed) > 1 and sure is None:
        points = len(listed) * (len(listed) - 1) / 2
        return {spelled[name]: (len(listed) - 1 - place) / points for place, name in enumerate(listed)}
    # What is left is for the others, whichever they are; none of them gets more than what was chosen over it.
    chosen, mine = [spelled[name] for name in listed[:1]], 1.0 if sure is None else sure
    others = dict.fromkeys(name for name in spelled.values() if name not in chosen)
    left = min(mine, (1 - mine) / len(others)) if others else 0.0
    return dict.fromkeys(chosen, mine) | dict.fromkeys(others, left) if chosen else {}


def _truth_shares(conclusion: Conclusion, sure: float | None) -> dict[str, float]:
    if conclusion.kind == "distribution":
        yes = sum(share for name, share in conclusion.scores if TRUTH_WORDS[folded(name)] == "yes")
    else:
        value = conclusion.value[0] if conclusion.kind == "ranking" else conclusion.value
        if value is None:
            return {}
        holds = value is True or (isinstance(value, str) and TRUTH_WORDS[folded(value)] == "yes")
        # A weak proof is no proof of the opposite, so that gets no more than what was concluded.
        verdict, opposite = ("yes", "no") if holds else ("no", "yes")
        share = 1.0 if sure is None else sure
        return {verdict: share, opposite: min(share, 1 - share)}
    return {"yes": yes, "no": 1 - yes}


def _combine(votes: list[_Vote]) -> tuple[Conclusion, Stances]:
    """Returns the common conclusion, and for each method whether it is for it and the share that it gives to it; None
    where it leaves the question open."""
    first = votes[0].answer.conclusion
    if first.kind == "number":
        return _combine_numbers(votes)
    if first.kind == "names":
        return _combine_names(votes)
    if first.kind == "text":
        return _combine_words(votes)
    pool: dict[str, float] = {}
    weight = sum(vote.weight for vote in votes if vote.shares)
    for vote in votes:
        for name, share in vote.shares.items():
            pool[name] = pool.get(name, 0.0) + vote.weight * share / weight
    about = next((v.answer.conclusion.about for v in votes if v.answer.conclusion.about), "")
    if not pool:
        return Conclusion("truth", None, about=about), {vote.method: None for vote in votes}
    best = max(pool.values())
    tops = [name for name, share in pool.items() if best - share < _SAME]
    supports = {v.method: _stance(v, tops[0]) if v.shares else None for v in votes}
    if first.kind == "truth" or is_yes_no(first):
        is_draw = len(tops) > 1 and len({_top(vote) for vote in votes if vote.shares}) > 1
        value = None if is_draw else tops[0] == "yes"
        if value is None:  # who decides either way is not for leaving it open
            supports = {v.method: (False, 0.0) if v.shares else None for v in votes}
        return Conclusion("truth", value, tuple(pool.items()), about=about), supports
    return Conclusion("choice", tops[0], tuple(pool.items()), about=about), supports


def _stance(vote: _Vote, top: str) -> tuple[bool, float]:
    """Returns whether a method is for a conclusion, and with how much confidence."""
    is_for, kind = _top(vote) == top, vote.answer.conclusion.kind
    sure = vote.answer.confidence if is_for and kind == "distribution" else None
    return is_for, vote.shares.get(top, 0.0) if sure is None else sure


def _combine_words(votes: list[_Vote]) -> tuple[Conclusion, Stances]:
    """Returns what most of the weight says word for word."""
    said = {vote.method: vote.answer.conclusion.value for vote in votes}
    best = max(said.values(), key=lambda value: sum(vote.weight for vote in votes if said[vote.method] == value))
    supports: Stances = {v.method: (True, _sure(v)) if said[v.method] == best else (False, 0.0) for v in votes}
    return next(v.answer.conclusion for v in votes if said[v.method] == best), supports


def _sure(vote: _Vote) -> float:
    return 1.0 if vote.answer.confidence is None else vote.answer.confidence


def _combine_numbers(votes: list[_Vote]) -> tuple[Conclusion, Stances]:
    """Returns the weighted mean of the numbers that agree with the heaviest one; the others are against it."""
    near = {v.method: [o for o in votes if _agree(v.answer.conclusion, o.answer.conclusion)] for v in votes}
    group = max(near.values(), key=lambda found: sum(one.weight for one in found))
    weight = sum(vote.weight for vote in group)
    value = sum(vote.weight * vote.answer.conclusion.value for vote in group) / weight
    conclusions = [vote.answer.conclusion for vote in group]
    spans = [one.interval or (one.value, one.value) for one in conclusions]
    has_span = any(one.interval for one in conclusions)
    interval = (min(low for low, _ in spans), max(high for _, high in spans)) if has_span else None
    first = conclusions[0]
    inside = {vote.method for vote in group}
    supports: Stances = {v.method: (True, _sure(v)) if v.method in inside else (False, 0.0) for v in votes}
    return Conclusion("number", value, interval=interval, unit=first.unit, about=first.about), supports


def _combine_names(votes: list[_Vote]) -> tuple[Conclusion, Stances]:
    """Returns the names with more than half of the weight behind them; a method supports them as far as its set is
    alike, one that says how sure it is only if its set is the same."""
    weights: dict[str, float] = {}
    for vote in votes:
        for name in vote.answer.conclusion.value:
            weights[name] = weights.get(name, 0.0) + vote.weight
    half = sum(vote.weight for vote in votes) / 2
    kept = tuple(name for name, weight in weights.items() if weight > half + _SAME)
    supports: Stances = {}
    for vote in votes:
        both, either = {*kept} & {*vote.answer.conclusion.value}, {*kept} | {*vote.answer.conclusion.value}
        like = len(both) / len(either) if either else 1.0
        share = like if vote.answer.confidence is None else _sure(vote) * (like == 1)
        supports[vote.method] = (like >= 0.5, share)
    return Conclusion("names", kept, tuple(weights.items()), about=votes[0].answer.conclusion.about), supports


def _stance_in_group(stance: tuple[bool, float] | None) -> tuple[str, float | None]:
    """Returns how a method that answers the common question stands to the conclusion, and its share of it."""
    return ("open", None) if stance is None else ("for" if stance[0] else "against", stance[1])


def _agree(a: Conclusion, b: Conclusion) -> bool:
    """Returns whether two numbers agree: their intervals meet, or they are near."""
    (low_a, high_a), (low_b, high_b) = (one.interval or (one.value, one.value) for one in (a, b))
    is_near = abs(a.value - b.value) <= _NEAR * max(abs(a.value), abs(b.value))
    return bool(is_near or (low_a <= high_b and low_b <= high_a))


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


def heaviest_group(answers: Mapping[str, Answer], shares: Mapping[str, float]) -> list[str]:
    """Returns the methods whose conclusions answer one question, with the most weight. What names no subject is about
    the problem, and joins any group of its family; options and sets without anything in common answer different
    questions."""
    questions = {name: _question(answer.conclusion) for name, answer in answers.items()}
    named = {family for family, about in questions.values() if about}
    groups = []
    for family, about in dict.fromkeys(questions.values()):
        if not about and family in named:
            continue
        joined = [name for name, (its, of) in questions.items() if its == family and of in (about, "")]
        groups += _overlapping(joined, answers) if family in ("options", "names") else [joined]
    return max(groups, key=lambda group: sum(shares[name] for name in group))


def _question(conclusion: Conclusion) -> tuple[str, str]:
    """Returns what a conclusion answers: its family, and what it is about."""
    about = folded(conclusion.about)
    if conclusion.kind == "truth" or is_yes_no(conclusion):
        return "truth", about
    if conclusion.kind in OPTIONS:
        return "options", about
    return conclusion.kind, f"{about} {conclusion.unit}".strip() if conclusion.kind == "number" else about


def is_yes_no(conclusion: Conclusion) -> bool:
    """Returns whether a choice is between yes and no."""
    options = option_names(conclusion)
    return conclusion.kind in OPTIONS and bool(options) and all(folded(name) in TRUTH_WORDS for name in options)


def option_names(conclusion: Conclusion) -> list[str]:
    """Returns the options that a conclusion speaks of, each once; none of one that chooses nothing."""
    if conclusion.kind not in OPTIONS:
        return []
    listed = conclusion.value if conclusion.kind == "ranking" else (conclusion.value,)
    return list(dict.fromkeys((*listed, *(name for name, _ in conclusion.scores))))


def folded(name: str) -> str:
    """Returns a name as it is compared: without regard to case, and to how its accents are encoded."""
    return normalize("NFC", normalize("NFC", name.strip()).casefold())


def _overlapping(joined: list[str], answers: Mapping[str, Answer]) -> list[list[str]]:
    """Returns the methods in groups that speak of the same options or names: each shares one with another."""
    groups: list[tuple[set[str], list[str]]] = []
    for name in joined:
        conclusion = answers[name].conclusion
        stated = conclusion.value if conclusion.kind == "names" else option_names(conclusion)
        options = {folded(one) for one in stated}
        met = [group for group in groups if group[0] & options]
        groups = [group for group in groups if group not in met]
        groups.append((options.union(*(known for known, _ in met)), [*chain(*(who for _, who in met)), name]))
    return [[name for name in joined if name in who] for _, who in groups]
