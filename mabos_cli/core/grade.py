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


def grade(
    content: str,
    kind: str,
    *,
    recurring: bool = False,
    days: float = 0,
    weights: Mapping[str, float] = WEIGHTS,
) -> float:
    """Importance in 0..1 by the words and the kind of a memory, fading over a year.

    >>> grade("We ship on Friday", "decision")
    0.8
    >>> grade("Important: remember the vault key", "fact")
    0.95
    """
    text = content.casefold()
    score = weights["base"]
    score += weights["decision"] * (kind == "decision")
    score += weights["important"] * ("important" in text)
    score += weights["remember"] * ("remember" in text)
    score += weights["recurring"] * recurring
    horizon = weights["horizon_days"]
    score *= max(weights["floor"], 1 - max(0.0, days) / horizon if horizon else 0.0)
    return round(min(1.0, score), 4)


def band(importance: float, must: float = 0.8, nice: float = 0.5) -> str:
    """The name of a grade: must_remember, nice_to_have or ignore."""
    return "must_remember" if importance >= must else "nice_to_have" if importance >= nice else "ignore"
