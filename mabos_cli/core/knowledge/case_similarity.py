"""How near cases are to a situation: .6 of their beliefs and .4 of their desires that hold now, and why."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nlargest

from mabos_cli.core.knowledge.case import Case
from mabos_cli.core.language.text import terms
from mabos_cli.core.records import NamedTuple

# The beliefs and the desires of a case, and whether it has a context.
Features = tuple[Sequence[str], Sequence[str], bool]


class Weights(NamedTuple):
    """Holds what each side of a situation counts."""

    beliefs: float = 0.6
    desires: float = 0.4
    context: float = 0.3


class Score(NamedTuple):
    """How near a case is, and each part of that; None for a side that the case does not have."""

    total: float
    beliefs: float | None = None
    desires: float | None = None
    context: float | None = None


class Side(NamedTuple):
    """Holds how the features of one side compare: matched, missing now, and new now."""

    matched: tuple[str, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]


class FoundCase(NamedTuple):
    """A case with its score and how its features compare."""

    case: Case
    score: Score
    beliefs: Side
    desires: Side


class Comparison:
    """A situation to which cases are compared, one after the other: beliefs, desires, and how near texts are by id."""

    def __init__(
        self,
        beliefs: Iterable[str],
        desires: Iterable[str],
        texts: Mapping[str, float] | None = None,
        weights: Weights = Weights(),
    ) -> None:
        self.beliefs, self.desires, self.texts, self.weights = frozenset(beliefs), frozenset(desires), texts, weights
        self._only_text = texts is not None and not self.beliefs and not self.desires

    def score(self, case_id: str, beliefs: Sequence[str], desires: Sequence[str], has_text: bool = True) -> Score:
        """Returns how near the case with an id and these features is. Sides that it lacks do not count, nor does anything but
        the text when nothing else is known of the situation."""
        parts = self._parts(case_id, beliefs, desires, has_text)
        return Score(self._total(*parts), *parts)

    def totals(self, ids: Iterable[str], sides: Iterable[Features]) -> list[float]:
        """Returns how near each of many cases is."""
        pairs = zip(ids, sides, strict=True)
        return [self._total(*self._parts(case_id, *side)) for case_id, side in pairs]

    def _parts(
        self, case_id: str, beliefs: Sequence[str], desires: Sequence[str], has_text: bool
    ) -> tuple[float | None, float | None, float | None]:
        on_beliefs = _share(beliefs, self.beliefs) if beliefs else None
        on_desires = _share(desires, self.desires) if desires else None
        text = None if self.texts is None else self.texts.get(case_id, 0.0 if has_text else None)
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

    def explain(self, name: str, features: Sequence[str]) -> Side:
        """Returns which features of one side of a case, `beliefs` or `desires`, are there, and which are not."""
        stored, now = frozenset(features), self.beliefs if name == "beliefs" else self.desires
        ordered = tuple(dict.fromkeys(features))
        matched, missing = (tuple(f for f in ordered if (f in now) is there) for there in (True, False))
        return Side(matched, missing, tuple(sorted(now - stored)))


def _share(features: Sequence[str], now: frozenset[str]) -> float:
    """Returns the share of the features of a case that hold now."""
    shared = now.intersection(features)
    return len(shared) / len({*features}) if shared else 0.0


class Standing(NamedTuple):
    """Holds what decides between cases that are equally near."""

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


def text_likeness(asked: str, text: str, relevance: float) -> float:
    """Returns how near a text that a search found is to what was asked for. A search says how near as a share of the nearest,
    which is 1 even where nothing is near: half of that counts as it is, half as far as the text holds the words asked for.

    >>> text_likeness("churn rose", "Churn rises", 1.0), text_likeness("churn rose", "Churn rose twice", 1.0)
    (0.75, 1.0)
    """
    wanted = set(terms(asked))
    share = len(wanted & {*terms(text)}) / len(wanted) if wanted else 0.0
    return round(relevance * (1 + share) / 2, 4)
