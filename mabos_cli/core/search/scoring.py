"""Signals of a candidate, one score: how well it answers, how recent, important and used it is. Presets are weights.

The default is a sum of signals whose weights benchmarks/fusion.py found on conversations, facts, long chats and encyclopedic
texts: words and meaning, each scaled over the candidates; what stands around it in a conversation; whose words they are; when
they were said; then .7 relevance and .3 importance.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from heapq import nlargest
from math import log1p
from typing import TypeVar

from mabos_cli.core.language.clock import DAY, find_time
from mabos_cli.core.language.similar import likeness
from mabos_cli.core.records import NamedTuple

# From benchmarks/fusion.py: words; meaning; the better neighbour, and the better one behind it; the best three others of the
# session; being by the one whom the question names; being of the time that it names; being a question; a rule that was set by whoever
# asks, as near as its meaning is. Many things are spread over sessions, and any turn may tell one: neither its session nor that it is a
# question counts then.
WORDS, MEANING, NEAR, FAR, SESSION, NAMED, DATED, ASKING, RULE = 0.6, 0.4, 0.2, 0.3, 0.1, 0.25, 0.15, -0.1, 0.2
# What a short question gives besides to the turns beside it, one of which may answer it (set by hand: .2 to .6 differ little).
ANSWER, SHORT = 0.4, 240
# What is left of the score of something that is no longer loaded, and of turns of a conversation that became no memory.
AWAY, EVIDENCE = 0.95, 0.7
_LONG = 800  # longer texts speak for themselves: they give less to their neighbours, and take less
_BALANCED = (0.30, 0.20, 0.20, 0.15, 0.15)
_WEEK = 7.0 * DAY
_RRF = 60
_SCALED = 250  # nearest candidates by which meaning is scaled

Key = TypeVar("Key")
Parts = tuple[tuple[str, float], ...]


class Signals(NamedTuple):
    """Holds what is known about a candidate. lexical and semantic are shares of the best, see share_lanes; without vectors
    semantic is None."""

    ref: str
    lexical: float = 0.0
    semantic: float | None = None
    importance: float = 0.5
    at: str = ""
    access: int = 0
    named: bool = False
    exact: bool = False
    size: int = 0
    away: bool = False
    evidence: bool = False
    session: str = ""
    dated: bool = False
    asking: float = 0.0
    rules: bool = False


class Ring(NamedTuple):
    """The candidates beside one in its conversation, and those one further on."""

    near: tuple[str, ...] = ()
    far: tuple[str, ...] = ()


class Scored(NamedTuple):
    """A score in 0..1 (one more for an exact match), the relevance in it, and the parts that it is made of."""

    ref: str
    score: float
    relevance: float
    parts: Parts


class Weighing(NamedTuple):
    """How signals are weighed: preset, weight of importance, the moment that age is counted from, half-life, for which question."""

    preset: str = "default"
    importance: float = 0.3
    now: datetime | None = None
    half_life: float = 0.0
    is_many: bool = False  # the question is about many things


class _Weighed(NamedTuple):
    """Scores and relevances of all candidates, and what those of one are made of."""

    scores: list[float]
    relevances: list[float]
    parts: Callable[[int], Parts]


def score(
    candidates: Sequence[Signals], how: Weighing, count: int, rings: Mapping[str, Ring] | None = None
) -> list[Scored]:
    """Returns the best candidates with their scores, best first."""
    if how.preset == "default":
        weighed = _weigh_default(candidates, how, rings or {})
    else:
        weighed = {"seed": _weigh_seed, "balanced": _weigh_balanced, "rrf": _weigh_rrf}[how.preset](candidates, how)
    scores = weighed.scores
    left = [fade(c.at, how.now, how.half_life) for c in candidates] if how.half_life and how.now else []
    if left:
        scores = [value * fading for value, fading in zip(scores, left, strict=True)]
    # What matches exactly comes before all that does not.
    scores = [
        value * (AWAY if c.away else 1.0) * (EVIDENCE if c.evidence else 1.0) + c.exact
        for c, value in zip(candidates, scores, strict=True)
    ]

    def scored(n: int) -> Scored:
        parts = weighed.parts(n) + ((("decay", left[n]),) if left else ())
        parts += (("archived", AWAY),) if candidates[n].away else ()
        parts += (("evidence", EVIDENCE),) if candidates[n].evidence else ()
        parts += (("exact", 1.0),) if candidates[n].exact else ()
        rounded = tuple((name, round(value, 4)) for name, value in parts)
        return Scored(candidates[n].ref, round(scores[n], 4), round(weighed.relevances[n], 4), rounded)

    return [scored(n) for n in _best(candidates, scores, count)]


def _best(candidates: Sequence[Signals], scores: list[float], count: int) -> list[int]:
    """Returns the places of the best candidates; ties go to the newer, then to the reference."""
    if not scores or count <= 0:
        return []
    least = sorted(scores, reverse=True)[min(count, len(scores)) - 1] - 1e-9
    top = [n for n, value in enumerate(scores) if value >= least]
    top.sort(key=lambda n: candidates[n].ref)
    top.sort(key=lambda n: candidates[n].at, reverse=True)
    top.sort(key=lambda n: (not candidates[n].exact, -round(scores[n], 9)))
    return top[:count]


def shares(values: Sequence[float], floor: float = 0.0) -> list[float]:
    """Returns each value as a share of the way from the floor to the best one.

    >>> shares([2, 3, 4], 2)
    [0.0, 0.5, 1.0]
    """
    span = max(values, default=0.0) - floor
    return [(value - floor) / span for value in values] if span > 0 else [1.0] * len(values)


def share_lanes(lexical: Mapping[Key, float], cosine: Mapping[Key, float]) -> dict[Key, tuple[float, float | None]]:
    """Returns both lanes on one scale: no shared word is 0 in the one, the farthest of the nearest 250 is 0 in the other, however many
    results are wanted.

    >>> share_lanes({"a": 3.0, "b": 1.5}, {"b": 0.4, "c": 0.2})
    {'a': (1.0, 0.0), 'b': (0.5, 1.0), 'c': (0.0, 0.0)}
    """
    words = dict(zip(lexical, shares(list(lexical.values())), strict=True))
    if not cosine:
        return {key: (share, None) for key, share in words.items()}
    floor = nlargest(_SCALED, cosine.values())[-1]
    meaning = dict(zip(cosine, shares([max(value, floor) for value in cosine.values()], floor), strict=True))
    return {key: (words.get(key, 0.0), meaning.get(key, 0.0)) for key in {**words, **meaning}}


def blend(lexical: float, semantic: float | None) -> float:
    """Returns how well a candidate answers by itself: by its words and its meaning, or by the words alone."""
    return lexical if semantic is None else WORDS * lexical + MEANING * semantic


def _weigh_default(candidates: Sequence[Signals], how: Weighing, rings: Mapping[str, Ring]) -> _Weighed:
    by_itself = [blend(c.lexical, c.semantic) for c in candidates]
    beside = _from_neighbours(candidates, by_itself, rings) if rings else [0.0] * len(candidates)
    around = [0.0] * len(candidates) if how.is_many else _from_sessions(candidates, by_itself)
    asking = 0.0 if how.is_many else ASKING
    added = [
        (("neighbour", near), ("session", far), ("author", NAMED * c.named), ("date", DATED * c.dated), ("question", asking * c.asking),
         ("rule", RULE * c.rules * (c.semantic or 0.0)))
        for c, near, far in zip(candidates, beside, around, strict=True)
    ]  # fmt: skip
    totals = [max(0.0, value + sum(v for _, v in more)) for value, more in zip(by_itself, added, strict=True)]
    relevances = shares(totals)
    weight = how.importance
    scores = [(1 - weight) * r + weight * c.importance for c, r in zip(candidates, relevances, strict=True)]

    def parts(n: int) -> Parts:
        seen = (("relevance", relevances[n]), ("importance", candidates[n].importance))
        return (*_lanes(candidates[n]), *(part for part in added[n] if part[1]), *seen)

    return _Weighed(scores, relevances, parts)


def _from_sessions(candidates: Sequence[Signals], by_itself: list[float]) -> list[float]:
    """Returns what each candidate gets from its session: a share of the mean of the best three others in it."""
    best: dict[str, list[float]] = {}
    for c, value in zip(candidates, by_itself, strict=True):
        if c.session:
            best.setdefault(c.session, []).append(value)
    best = {session: nlargest(4, values) for session, values in best.items()}
    found = []
    for c, value in zip(candidates, by_itself, strict=True):
        top = best.get(c.session, [])
        others = sum(top) - value if value in top else sum(top[:3])
        found.append(SESSION * others / 3)
    return found


def _lanes(candidate: Signals) -> Parts:
    meaning = candidate.semantic
    return (("lexical", candidate.lexical), *((("semantic", meaning),) if meaning is not None else ()))


def _from_neighbours(candidates: Sequence[Signals], scores: list[float], rings: Mapping[str, Ring]) -> list[float]:
    """Returns what each candidate gets from the best of those beside it, a question more, and from the best of those one
    further on."""
    place = {c.ref: n for n, c in enumerate(candidates)}
    near, far = [0.0] * len(candidates), [0.0] * len(candidates)
    for ref, ring in rings.items():
        giver = place[ref]
        beside = NEAR + ANSWER * candidates[giver].asking * (candidates[giver].size < SHORT)
        for weight, best, refs in ((beside, near, ring.near), (FAR, far, ring.far)):
            for taker in (place[other] for other in refs if other in place):
                kinship = min(1.0, _LONG / max(candidates[giver].size, candidates[taker].size, 1))
                best[taker] = max(best[taker], weight * scores[giver] * kinship)
    return [one + other for one, other in zip(near, far, strict=True)]


def _weigh_seed(candidates: Sequence[Signals], how: Weighing) -> _Weighed:
    scores = [c.lexical if c.semantic is None else 0.7 * c.semantic + 0.3 * c.lexical for c in candidates]
    return _Weighed(scores, scores, lambda n: _lanes(candidates[n]))


def _weigh_balanced(candidates: Sequence[Signals], how: Weighing) -> _Weighed:
    has_vectors = any(c.semantic is not None for c in candidates)
    used = shares([log1p(c.access) for c in candidates]) if any(c.access for c in candidates) else []
    weights = _BALANCED if has_vectors else (0.0, _BALANCED[0] + _BALANCED[1], *_BALANCED[2:])
    names = ("semantic", "lexical", "recency", "importance", "access")

    def signals(n: int) -> tuple[float, ...]:
        recency = fade(candidates[n].at, how.now, _WEEK) if how.now else 0.0
        c = candidates[n]
        return (c.semantic or 0.0, c.lexical, recency, c.importance, used[n] if used else 0.0)

    scores = [sum(w * v for w, v in zip(weights, signals(n), strict=True)) for n in range(len(candidates))]
    return _Weighed(scores, scores, lambda n: tuple(zip(names, signals(n), strict=True)))


def _weigh_rrf(candidates: Sequence[Signals], how: Weighing) -> _Weighed:
    """Weighs by reciprocal rank fusion: only the ranks in the two lanes count."""
    lanes: list[dict[str, float]] = []
    for values in ([(-c.lexical, c.ref) for c in candidates], [(-(c.semantic or 0.0), c.ref) for c in candidates]):
        ordered = sorted(value for value in values if value[0] < 0)
        lanes.append({ref: (_RRF + 1) / (_RRF + n) for n, (_, ref) in enumerate(ordered, 1)})
    full = sum(bool(lane) for lane in lanes) or 1
    shown = [[lane.get(c.ref, 0.0) / full for lane in lanes] for c in candidates]
    scores = [sum(values) for values in shown]
    return _Weighed(scores, scores, lambda n: (("lexical", shown[n][0]), ("semantic", shown[n][1])))


def fade(at: str, now: datetime | None, half_life: float) -> float:
    """Returns what age leaves of 1: half after each half-life; half for what has no date.

    >>> from datetime import UTC
    >>> round(fade("2026-02-17T00:00:00Z", datetime(2026, 2, 24, tzinfo=UTC), 7 * 86400), 2)
    0.5
    """
    moment = find_time(at) if at else None
    age = (now - moment).total_seconds() if moment and now else half_life
    return float(0.5 ** (max(0.0, age) / half_life))


def diversify(scored: Sequence[Scored], words: Mapping[str, frozenset[str]], weight: float, count: int) -> list[Scored]:
    """Orders by maximal marginal relevance: each next result is good and unlike those before. `words`: words of each."""
    left = list(scored)
    chosen: list[Scored] = []
    closest = {s.ref: 0.0 for s in left}
    while left and len(chosen) < count:
        best = max(left, key=lambda s: weight * s.score - (1 - weight) * closest[s.ref])
        left.remove(best)
        chosen.append(best)
        mine = words[best.ref]
        for other in left:
            closest[other.ref] = max(closest[other.ref], likeness(mine, words[other.ref]))
    return chosen
