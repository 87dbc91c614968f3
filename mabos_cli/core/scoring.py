"""Five signals, one score: how well a candidate answers, how recent, important and used it is. Presets are weights."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from math import log1p
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.clock import parse_time

_BALANCED = (0.30, 0.20, 0.20, 0.15, 0.15)
_WEEK = 7 * 86400.0


class Signals(NamedTuple):
    """What is known about a candidate. lexical is larger for better; semantic is a cosine, or None when there is no vector."""

    ref: str
    lexical: float = 0.0
    semantic: float | None = None
    importance: float = 0.5
    at: str = ""
    access: int = 0
    named: bool = False
    exact: bool = False
    beside: tuple[str, ...] = ()


class Scored(NamedTuple):
    """A score in 0..1 (one more for an exact match), the relevance in it, and the parts that it is made of."""

    ref: str
    score: float
    relevance: float
    parts: tuple[tuple[str, float], ...]


class Weighing(NamedTuple):
    """How signals are weighed: a preset, the weight of importance, the moment that age is counted from, and the half-life."""

    preset: str = "default"
    importance: float = 0.3
    now: datetime | None = None
    half_life: float = 0.0


def score(candidates: Sequence[Signals], how: Weighing) -> list[Scored]:
    """The candidates with their scores, best first; ties are left in the order given."""
    weigh = {"default": _default, "seed": _seed, "balanced": _balanced, "rrf": _rrf}[how.preset]
    scored = [_final(c, s, how) for c, s in zip(candidates, weigh(candidates, how), strict=True)]
    return sorted(scored, key=lambda s: -s.score)


def _final(candidate: Signals, scored: Scored, how: Weighing) -> Scored:
    """Decay by age if asked for; what matches exactly comes before all that does not."""
    value, parts = scored.score, scored.parts
    if how.half_life and how.now:
        left = fade(candidate.at, how.now, how.half_life)
        value, parts = value * left, (*parts, ("decay", left))
    if candidate.exact:
        value, parts = value + 1.0, (*parts, ("exact", 1.0))
    return Scored(
        scored.ref, round(value, 4), round(scored.relevance, 4), tuple((n, round(v, 4)) for n, v in parts)
    )


def scale(values: Iterable[float]) -> list[float]:
    """The values spread over 0..1; all 1 when they are alike.

    >>> scale([2, 3, 4])
    [0.0, 0.5, 1.0]
    """
    found = list(values)
    low, high = min(found, default=0.0), max(found, default=0.0)
    return [(value - low) / (high - low) if high > low else 1.0 for value in found]


def _lanes(candidates: Sequence[Signals]) -> tuple[list[float], list[float], bool]:
    """Both lanes scaled over the candidates, and whether there are vectors at all."""
    lexical = scale([0.0, *(c.lexical for c in candidates)])[1:]
    known = [c.semantic for c in candidates if c.semantic is not None]
    if not known:
        return lexical, [0.0] * len(candidates), False
    low = min(known)
    return lexical, scale(low if c.semantic is None else c.semantic for c in candidates), True


def _default(candidates: Sequence[Signals], how: Weighing) -> Iterable[Scored]:
    lexical, semantic, both = _lanes(candidates)
    own = {
        c.ref: (lex + sem) / 2 if both else lex
        for c, lex, sem in zip(candidates, lexical, semantic, strict=True)
    }
    beside = [0.4 * max((own.get(ref, 0.0) for ref in c.beside), default=0.0) for c in candidates]
    named = [0.2 * c.named for c in candidates]
    sums = [own[c.ref] + near + name for c, near, name in zip(candidates, beside, named, strict=True)]
    top = max(sums, default=1.0) or 1.0
    for n, c in enumerate(candidates):
        relevance = sums[n] / top
        parts = (("lexical", lexical[n]), *((("semantic", semantic[n]),) if both else ()))
        parts += tuple((k, v) for k, v in (("neighbour", beside[n]), ("author", named[n])) if v)
        value = (1 - how.importance) * relevance + how.importance * c.importance
        yield Scored(
            c.ref, value, relevance, (*parts, ("relevance", relevance), ("importance", c.importance))
        )


def _seed(candidates: Sequence[Signals], how: Weighing) -> Iterable[Scored]:
    lexical, semantic, both = _lanes(candidates)
    for c, lex, sem in zip(candidates, lexical, semantic, strict=True):
        value = 0.7 * sem + 0.3 * lex if both else lex
        yield Scored(c.ref, value, value, (("semantic", sem), ("lexical", lex)))


def _balanced(candidates: Sequence[Signals], how: Weighing) -> Iterable[Scored]:
    lexical, semantic, both = _lanes(candidates)
    used = (
        scale([0.0, *(log1p(c.access) for c in candidates)])[1:] if any(c.access for c in candidates) else []
    )
    for n, c in enumerate(candidates):
        recency = fade(c.at, how.now, _WEEK) if how.now else 0.0
        values = (semantic[n], lexical[n], recency, c.importance, used[n] if used else 0.0)
        weights = _BALANCED if both else (0.0, 0.5, *_BALANCED[2:])
        value = sum(w * v for w, v in zip(weights, values, strict=True))
        names = ("semantic", "lexical", "recency", "importance", "access")
        yield Scored(c.ref, value, value, tuple(zip(names, values, strict=True)))


def _rrf(candidates: Sequence[Signals], how: Weighing, k: int = 60) -> Iterable[Scored]:
    """Reciprocal rank fusion: only the ranks in the two lanes count."""
    ranks: list[dict[str, int]] = []
    for values in (
        [(c.lexical, c.ref) for c in candidates if c.lexical > 0],
        [(c.semantic, c.ref) for c in candidates if c.semantic is not None],
    ):
        ordered = sorted(values, key=lambda v: (-v[0], v[1]))
        ranks.append({ref: n for n, (_, ref) in enumerate(ordered, 1)})
    best = len([r for r in ranks if r]) / (k + 1) or 1.0
    for c in candidates:
        parts = [1 / (k + lane[c.ref]) if c.ref in lane else 0.0 for lane in ranks]
        value = sum(parts) / best
        yield Scored(c.ref, value, value, (("lexical", parts[0]), ("semantic", parts[1])))


def fade(at: str, now: datetime, half_life: float) -> float:
    """What age leaves of 1: half after each half-life; half for what has no date.

    >>> from datetime import UTC
    >>> round(fade("2026-02-17T00:00:00Z", datetime(2026, 2, 24, tzinfo=UTC), 7 * 86400), 2)
    0.5
    """
    try:
        age = (now - parse_time(at)).total_seconds() if at else half_life
    except BadValue:
        age = half_life
    return 0.5 ** (max(0.0, age) / half_life)


def diversify(
    scored: Sequence[Scored], likeness: dict[str, frozenset[str]], weight: float, count: int
) -> list[Scored]:
    """Maximal marginal relevance: the next result is good and unlike those before it. likeness gives the words of each."""
    left, chosen = list(scored), []
    closest = {s.ref: 0.0 for s in left}
    while left and len(chosen) < count:
        best = max(left, key=lambda s: weight * s.score - (1 - weight) * closest[s.ref])
        left.remove(best)
        chosen.append(best)
        mine = likeness.get(best.ref, frozenset())
        for other in left:
            theirs = likeness.get(other.ref, frozenset())
            shared = len(mine & theirs) / (len(mine | theirs) or 1)
            closest[other.ref] = max(closest[other.ref], shared)
    return chosen
