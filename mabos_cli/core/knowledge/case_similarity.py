"""How near cases are to a situation: .6 of their beliefs and .4 of their desires that hold now, and why.

All three measures are Tversky's, m / (m + alpha * missing + beta * extra), where m is what a case and the situation share,
`missing` what only the case has and `extra` what only the situation has: containment is (1, 0), Jaccard (1, 1).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nlargest
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.case import Case
from mabos_cli.core.language.text import terms

MEASURES = {"containment": (1.0, 0.0), "jaccard": (1.0, 1.0), "tversky": (0.7, 0.3)}
NEAR = 0.8  # the least likeness of two concepts for which one counts in part for the other

Alike = Callable[[str, str], float]
# A feature of a case, the feature of the situation that stands for it, and how near the two are.
Kin = tuple[str, str, float]
# The beliefs and the desires of a case, and whether it has a context.
Features = tuple[Sequence[str], Sequence[str], bool]
_NONE: frozenset[str] = frozenset()


class Weights(NamedTuple):
    """What each side of a situation counts."""

    beliefs: float = 0.6
    desires: float = 0.4
    context: float = 0.3


class Measure(NamedTuple):
    """What features that only the case has, and those that only the situation has, take away."""

    alpha: float = 1.0
    beta: float = 0.0


class Score(NamedTuple):
    """How near a case is, and each part of that; None for a side that the case does not have."""

    total: float
    beliefs: float | None = None
    desires: float | None = None
    context: float | None = None


class Side(NamedTuple):
    """What became of the features of one side: matched exactly, by likeness, missing now, and new now."""

    matched: tuple[str, ...]
    alike: tuple[Kin, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]


class FoundCase(NamedTuple):
    """A case with its score and what became of its features."""

    case: Case
    score: Score
    beliefs: Side
    desires: Side


def make_measure(name: str, alpha: float | None = None, beta: float | None = None) -> Measure:
    """Returns the measure with a name; alpha and beta are for Tversky's own."""
    if name not in MEASURES:
        raise BadValue(f"unknown similarity {name[:40]!r}", f"one of: {', '.join(MEASURES)}")
    if (alpha is not None or beta is not None) and name != "tversky":
        raise BadValue(f"{name} has no alpha and beta", "use them with --similarity tversky")
    own = MEASURES[name]
    found = Measure(own[0] if alpha is None else alpha, own[1] if beta is None else beta)
    if not all(0 <= value < float("inf") for value in found):
        raise BadValue("alpha and beta must be numbers that are not negative", "as in --alpha 0.7 --beta 0.3")
    return found


class Comparison:
    """A situation to which cases are compared, one after the other: beliefs, desires, and how near texts are by id."""

    def __init__(
        self,
        beliefs: Iterable[str],
        desires: Iterable[str],
        texts: Mapping[str, float] | None = None,
        *,
        measure: Measure = Measure(),
        weights: Weights = Weights(),
        alike: Alike | None = None,
    ) -> None:
        self.beliefs, self.desires, self.texts = frozenset(beliefs), frozenset(desires), texts
        self.measure, self.weights = measure, weights
        self._near: dict[str, _Neighbours] = {}
        for side, now in (("beliefs", self.beliefs), ("desires", self.desires)):
            concepts = sorted(each for each in now if alike(each, each) > 0) if alike else []
            if alike and concepts:  # few features name a concept: for the rest nothing is computed
                self._near[side] = _Neighbours(concepts, alike)
        self._only_text = texts is not None and not self.beliefs and not self.desires

    def score(self, own: str, beliefs: Sequence[str], desires: Sequence[str], has_text: bool = True) -> Score:
        """Returns how near the case with an id and these features is. Sides that it lacks do not count, nor does anything but
        the text when nothing else is known of the situation."""
        parts = self._parts(own, beliefs, desires, has_text)
        return Score(self._total(*parts), *parts)

    def totals(self, ids: Iterable[str], sides: Iterable[Features]) -> list[float]:
        """Returns how near each of many cases is."""
        pairs = zip(ids, sides, strict=True)
        return [self._total(*self._parts(own, *side)) for own, side in pairs]

    def _parts(
        self, own: str, beliefs: Sequence[str], desires: Sequence[str], has_text: bool
    ) -> tuple[float | None, float | None, float | None]:
        on_beliefs = self._side("beliefs", beliefs, self.beliefs) if beliefs else None
        on_desires = self._side("desires", desires, self.desires) if desires else None
        text = None if self.texts is None else self.texts.get(own, 0.0 if has_text else None)
        return on_beliefs, on_desires, text

    def _total(self, beliefs: float | None, desires: float | None, text: float | None) -> float:
        if self._only_text:
            return text or 0.0
        total = weight = 0.0
        if beliefs is not None:
            total, weight = self.weights.beliefs * beliefs, self.weights.beliefs
        if desires is not None:
            total, weight = total + self.weights.desires * desires, weight + self.weights.desires
        if text is not None:
            total, weight = total + self.weights.context * text, weight + self.weights.context
        return round(total / weight, 9) if total else 0.0

    def _side(self, name: str, features: Sequence[str], now: frozenset[str]) -> float:
        shared: float = len(now.intersection(features))
        near = self._near.get(name)
        own = frozenset(features) if shared or near else _NONE
        if near and shared < len(own):
            shared += sum(kin[2] for kin in near.pair(own, now))
        if not shared:
            return 0.0
        alpha, beta = self.measure
        return shared / (shared + alpha * (len(own) - shared) + beta * (len(now) - shared))

    def explain(self, name: str, features: Sequence[str]) -> Side:
        """Returns which features of one side of a case, `beliefs` or `desires`, are there, and which are not."""
        own, now = frozenset(features), self.beliefs if name == "beliefs" else self.desires
        near = self._near.get(name)
        kin = tuple(near.pair(own, now)) if near else ()
        paired, taken = {k[0] for k in kin}, {k[1] for k in kin}
        ordered = tuple(dict.fromkeys(features))
        return Side(
            tuple(f for f in ordered if f in now),
            kin,
            tuple(f for f in ordered if f not in now and f not in paired),
            tuple(sorted(now - own - taken)),
        )


class _Neighbours:
    """The concepts of a situation that are near to others; what was asked once is remembered."""

    def __init__(self, now: Sequence[str], alike: Alike) -> None:
        self._now, self._alike = now, alike
        self._of: dict[str, list[tuple[float, str]]] = {}

    def pair(self, own: frozenset[str], now: frozenset[str]) -> list[Kin]:
        """Returns the features of a case that others stand for: the nearest first, then as many as there are; each stands for
        one only."""
        found = [(like, f, other) for f in own - now for like, other in self._near(f) if other not in own]
        found.sort(key=lambda each: (-each[0], each[1:]))
        paired: dict[str, Kin] = {}
        holders: dict[str, str] = {}
        for like, feature, other in found:
            if feature not in paired and other not in holders:
                paired[feature] = (feature, other, like)
                holders[other] = feature

        def find_room(wanting: str, asked: set[str]) -> bool:
            """Returns whether a feature got one to stand for it because those before it moved on to their next."""
            for like, feature, other in found:
                if feature == wanting and other not in asked:
                    asked.add(other)
                    if other not in holders or find_room(holders[other], asked):
                        paired[feature] = (feature, other, like)
                        holders[other] = feature
                        return True
            return False

        for feature in dict.fromkeys(f for _, f, _ in found if f not in paired):
            find_room(feature, set())
        return list(paired.values())

    def _near(self, feature: str) -> list[tuple[float, str]]:
        if feature not in self._of:
            scored = ((self._alike(feature, other), other) for other in self._now)
            self._of[feature] = [each for each in scored if each[0] >= NEAR]
        return self._of[feature]


class Standing(NamedTuple):
    """What decides between cases that are equally near."""

    id: str
    success: bool | None
    at: str


def best_cases(
    totals: Sequence[float], limit: int, least: float, standing: Callable[[int], Standing]
) -> tuple[list[int], int]:
    """Returns the places of the nearest cases, best first, and how many there are that are near at all. Equally near ones go by
    success, then the latest, then by id."""
    near = [n for n, total in enumerate(totals) if total > 0 and total >= least]
    cut = nlargest(limit, map(totals.__getitem__, near))[-1:] if limit else []
    kept = [(n, standing(n)) for n in near if not cut or totals[n] >= cut[0]]
    kept.sort(key=lambda each: (len(each[1].id), each[1].id))
    kept.sort(key=lambda each: each[1].at, reverse=True)
    kept.sort(key=lambda each: (-totals[each[0]], {True: 0, None: 1, False: 2}[each[1].success]))
    return [n for n, _ in kept[: limit or None]], len(near)


def text_likeness(asked: str, told: str, relevance: float) -> float:
    """Returns how near a text that a search found is to what was asked for. A search says how near as a share of the nearest,
    which is 1 even where nothing is near: half of that counts as it is, half as far as the text holds the words asked for.

    >>> text_likeness("churn rose", "Churn rises", 1.0), text_likeness("churn rose", "Churn rose twice", 1.0)
    (0.75, 1.0)
    """
    wanted = set(terms(asked))
    share = len(wanted & {*terms(told)}) / len(wanted) if wanted else 0.0
    return round(relevance * (1 + share) / 2, 4)
