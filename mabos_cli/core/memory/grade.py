"""heuristic-v1: how important a memory is when nobody said."""

from collections.abc import Mapping

# One place for the weights; the settings grade.* override them.
WEIGHTS = {
    "base": 0.5,
    "decision": 0.3,
    "important": 0.2,
    "remember": 0.25,
    "recurring": 0.15,
    "floor": 0.1,
    "horizon_days": 365.0,
}

BANDS = ("must_remember", "nice_to_have", "ignore")


def grade(
    content: str, kind: str, *, recurring: bool = False, days: float = 0, weights: Mapping[str, float] = WEIGHTS
) -> float:
    """Importance in 0..1 by the words and the kind of a memory, fading over a year.

    >>> grade("We ship on Friday", "decision")
    0.8
    >>> grade("Important: remember the vault key", "fact")
    0.95
    """
    *added, (_, age) = grade_parts(content, kind, recurring=recurring, days=days, weights=weights)
    return round(min(1.0, sum(value for _, value in added) * age), 4)


def grade_parts(
    content: str, kind: str, *, recurring: bool = False, days: float = 0, weights: Mapping[str, float] = WEIGHTS
) -> tuple[tuple[str, float], ...]:
    """How a grade comes about: what is added for what, and last the share that age leaves of the sum.

    >>> grade_parts("Remember the vault key", "decision")
    (('base', 0.5), ('decision', 0.3), ('important', 0.0), ('remember', 0.25), ('recurring', 0.0), ('age', 1.0))
    """
    text, horizon = content.casefold(), weights["horizon_days"]
    holds = {
        "base": True,
        "decision": kind == "decision",
        "important": "important" in text,
        "remember": "remember" in text,
        "recurring": recurring,
    }
    age = max(weights["floor"], 1 - max(0.0, days) / horizon if horizon else 0.0)
    return (*((name, weights[name] if there else 0.0) for name, there in holds.items()), ("age", age))


def band(importance: float, must: float = 0.8, nice: float = 0.5) -> str:
    """The name of a grade: one of BANDS."""
    return BANDS[0] if importance >= must else BANDS[1] if importance >= nice else BANDS[2]
