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
    conclusion: Conclusion
    sure: float | None
    shares: Mapping[
        str, float
    ]  # of possible conclusions; empty: it leaves the question open, or answers with a number or a set

    @property
    def top(self) -> Any:
        """Returns what it concludes."""
        return max(self.shares, key=self.shares.__getitem__) if self.shares else self.conclusion.value

    @property
    def support(self) -> float:
        """Returns how sure it is of what it concludes; a vote counts whole."""
        return 1.0 if self.sure is None else self.sure

    def agrees(self, other: "_Vote") -> bool:
        """Returns whether two methods conclude the same: of numbers, that their intervals meet, or they are near."""
        a, b = self.conclusion, other.conclusion
        if a.kind == "names":
            return {*a.value} == {*b.value}
        if a.kind != "number":
            return bool(self.top == other.top)
        (low_a, high_a), (low_b, high_b) = (one.interval or (one.value, one.value) for one in (a, b))
        is_near = abs(a.value - b.value) <= _NEAR * max(abs(a.value), abs(b.value))
        return bool(is_near or (low_a <= high_b and low_b <= high_a))


Stances = dict[
    str, tuple[bool, float]
]  # by method: whether it is for the conclusion, and the share that it gives to it


def fuse(answers: Mapping[str, Answer], weights: Mapping[str, float]) -> Fused:
    """Returns the common conclusion of methods that each have computed one; at least one is needed."""
    total = sum(weights[name] for name in answers)
    shares = {name: weights[name] / total for name in answers}
    group = heaviest_group({name: answer.conclusion for name, answer in answers.items()}, shares)
    lists = [option_names(answers[name].conclusion) for name in group]
    # The first spelling of each name; names that one method tells apart are not one name.
    twice = {key for names in lists for key, count in Counter(map(folded, names)).items() if count > 1}
    first: dict[str, str] = {}
    spelled = {n: first.setdefault(n if folded(n) in twice else folded(n), n) for n in chain(*lists)}
    votes = [
        _Vote(name, shares[name], answers[name].conclusion, answers[name].confidence, _shares(answers[name], spelled))
        for name in group
    ]
    conclusion, stances = _combine(votes)
    parts = []
    for name, answer in answers.items():
        is_for, support = stances.get(name, (False, None))
        stance = "for" if is_for else "against" if name in stances else "open" if name in group else "apart"
        parts.append(Part(name, shares[name], stance, support, answer))
    inside = [part for part in parts if part.method in stances]
    weight = sum(part.weight for part in inside)
    agreement = sum(p.weight for p in inside if p.stance == "for") / weight if weight else 0.0
    stated = [part for part in inside if part.answer.confidence is not None]
    pooled = sum(p.weight * (p.support or 0.0) for p in inside) / weight if stated else None
    if conclusion.value is None:  # nothing is concluded that could be right
        pooled = None
    pairs = [*combinations([vote for vote in votes if vote.top is not None], 2)]
    together = tuple((a.method, b.method) for a, b in pairs if a.agrees(b))
    apart = tuple((a.method, b.method) for a, b in pairs if not a.agrees(b))
    return Fused(conclusion, pooled, agreement, _basis(inside, stated, conclusion), together, apart, tuple(parts))


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


def _shares(answer: Answer, spelled: Mapping[str, str]) -> dict[str, float]:
    """Returns the share that an answer gives to each possible conclusion."""
    conclusion, sure = answer.conclusion, 1.0 if answer.confidence is None else answer.confidence
    if is_truth(conclusion) and conclusion.kind == "distribution":
        yes = sum(share for name, share in conclusion.scores if TRUTH_WORDS[folded(name)] == "yes")
        return {"yes": yes, "no": 1 - yes}
    if is_truth(conclusion):
        value = conclusion.value[0] if conclusion.kind == "ranking" else conclusion.value
        holds = value is True or (isinstance(value, str) and TRUTH_WORDS[folded(value)] == "yes")
        # A weak proof is no proof of the opposite, so that gets no more than what was concluded.
        verdict, opposite = ("yes", "no") if holds else ("no", "yes")
        return {} if value is None else {verdict: sure, opposite: min(sure, 1 - sure)}
    if conclusion.kind == "text":
        return {conclusion.value: sure}
    if conclusion.kind == "distribution":
        return {spelled[name]: share for name, share in conclusion.scores}
    listed = conclusion.value if conclusion.kind == "ranking" else (conclusion.value,)
    if conclusion.kind not in OPTIONS or not listed:
        return {}
    if len(listed) > 1 and answer.confidence is None:
        points = len(listed) * (len(listed) - 1) / 2
        return {spelled[name]: (len(listed) - 1 - place) / points for place, name in enumerate(listed)}
    # What is left is for the others, whichever they are; none of them gets more than what was chosen over it.
    chosen = spelled[listed[0]]
    others = dict.fromkeys(name for name in spelled.values() if name != chosen)
    return {chosen: sure} | dict.fromkeys(others, min(sure, (1 - sure) / max(1, len(others))))


def _combine(votes: list[_Vote]) -> tuple[Conclusion, Stances]:
    """Returns the common conclusion, and how each method stands to it that does not leave the question open."""
    first = votes[0].conclusion
    if first.kind in ("number", "names"):
        return _combine_numbers(votes) if first.kind == "number" else _combine_names(votes)
    about = next((v.conclusion.about for v in votes if v.conclusion.about), "")
    voting = [vote for vote in votes if vote.shares]
    if not voting:
        return Conclusion("truth", None, about=about), {}
    pool: dict[str, float] = {}
    weight = sum(vote.weight for vote in voting)
    for vote in voting:
        for name, share in vote.shares.items():
            pool[name] = pool.get(name, 0.0) + vote.weight * share / weight
    best = max(pool.values())
    top, *ties = [name for name, share in pool.items() if best - share < _SAME]
    stances: Stances = {}
    for vote in voting:
        is_stated = vote.top == top and vote.conclusion.kind == "distribution" and vote.sure is not None
        stances[vote.method] = vote.top == top, vote.support if is_stated else vote.shares.get(top, 0.0)
    if is_truth(first):
        if ties and len({vote.top for vote in voting}) > 1:  # who decides either way is not for leaving it open
            return Conclusion("truth", None, tuple(pool.items()), about=about), dict.fromkeys(stances, (False, 0.0))
        return Conclusion("truth", top == "yes", tuple(pool.items()), about=about), stances
    if first.kind == "text":
        return Conclusion("text", top, about=about), stances
    return Conclusion("choice", top, tuple(pool.items()), about=about), stances


def _combine_numbers(votes: list[_Vote]) -> tuple[Conclusion, Stances]:
    """Returns the weighted mean of the numbers that agree with the heaviest one; the others are against it."""
    groups = [[other for other in votes if vote.agrees(other)] for vote in votes]
    group = max(groups, key=lambda found: sum(one.weight for one in found))
    weight, first = sum(vote.weight for vote in group), group[0].conclusion
    value = sum(vote.weight * vote.conclusion.value for vote in group) / weight
    spans = [vote.conclusion.interval or (vote.conclusion.value,) * 2 for vote in group]
    has_span = any(vote.conclusion.interval for vote in group)
    interval = (min(low for low, _ in spans), max(high for _, high in spans)) if has_span else None
    stances: Stances = {v.method: (True, v.support) if v in group else (False, 0.0) for v in votes}
    return Conclusion("number", value, interval=interval, unit=first.unit, about=first.about), stances


def _combine_names(votes: list[_Vote]) -> tuple[Conclusion, Stances]:
    """Returns the names with more than half of the weight behind them; a method supports them as far as its set is
    alike, one that says how sure it is only if its set is the same."""
    weights: dict[str, float] = {}
    for vote in votes:
        for name in vote.conclusion.value:
            weights[name] = weights.get(name, 0.0) + vote.weight
    half = sum(vote.weight for vote in votes) / 2
    kept = tuple(name for name, weight in weights.items() if weight > half + _SAME)
    stances: Stances = {}
    for vote in votes:
        both, either = {*kept} & {*vote.conclusion.value}, {*kept} | {*vote.conclusion.value}
        like = len(both) / len(either) if either else 1.0
        stances[vote.method] = (like >= 0.5, like if vote.sure is None else vote.sure * (like == 1))
    return Conclusion("names", kept, tuple(weights.items()), about=votes[0].conclusion.about), stances


def heaviest_group(conclusions: Mapping[str, Conclusion], shares: Mapping[str, float]) -> list[str]:
    """Returns the methods whose conclusions answer one question, with the most weight: of one family, and about the same. What names no
    subject is about the problem, and joins any group of its family; options and sets without anything in common answer different
    questions."""
    questions: dict[str, tuple[str, str]] = {}
    for name, each in conclusions.items():
        family = "truth" if is_truth(each) else "options" if each.kind in OPTIONS else each.kind
        unit = f" {each.unit}" if family == "number" else ""
        questions[name] = family, f"{folded(each.about)}{unit}".strip()
    named = {family for family, about in questions.values() if about}
    groups: list[list[str]] = []
    for family, about in dict.fromkeys(questions.values()):
        if not about and family in named:
            continue
        joined = [name for name, (its, of) in questions.items() if its == family and of in (about, "")]
        if family not in ("options", "names"):
            groups.append(joined)
            continue
        parts: list[tuple[set[str], list[str]]] = []  # options or names, and the methods that speak of them
        for name in joined:
            stated = conclusions[name].value if family == "names" else option_names(conclusions[name])
            options = {folded(one) for one in stated}
            met = [part for part in parts if part[0] & options]
            parts = [part for part in parts if part not in met]
            parts.append((options.union(*(known for known, _ in met)), [*chain(*(who for _, who in met)), name]))
        groups += [[name for name in joined if name in who] for _, who in parts]
    return max(groups, key=lambda group: sum(shares[name] for name in group))


def is_truth(conclusion: Conclusion) -> bool:
    """Returns whether it is a verdict, or chooses between yes and no."""
    options = option_names(conclusion)
    return conclusion.kind == "truth" or (bool(options) and all(folded(name) in TRUTH_WORDS for name in options))


def option_names(conclusion: Conclusion) -> list[str]:
    """Returns the options that a conclusion speaks of, each once; none of one that chooses nothing."""
    if conclusion.kind not in OPTIONS:
        return []
    listed = conclusion.value if conclusion.kind == "ranking" else (conclusion.value,)
    return list(dict.fromkeys((*listed, *(name for name, _ in conclusion.scores))))


def folded(name: str) -> str:
    """Returns a name as it is compared: without regard to case, and to how its accents are encoded."""
    return normalize("NFC", normalize("NFC", name.strip()).casefold())
