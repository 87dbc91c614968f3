"""Defines what a method of reasoning returns: a typed conclusion, its confidence, and how it came about."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

MOST_STEPS = 12
_SHORT = 5  # digits of a number that is shown as it is
# truth: yes, no or open; choice: one option; ranking: options in order; distribution: shares of options that sum to 1;
# number: a quantity; names: a set of names; text: words that nothing can be compared with.
KINDS = ("truth", "choice", "ranking", "distribution", "number", "names", "text")


class Conclusion(NamedTuple):
    """A conclusion as a value of its kind, so that two methods can be compared. `about` names the statement, question or quantity
    if the method answers a narrower one than the problem."""

    kind: str
    value: Any  # truth: True, False, None; choice: name; ranking, names: tuple of names; distribution: most likely name; number; text
    scores: tuple[tuple[str, float], ...] = ()  # per option, for choice, ranking, distribution: higher is better
    interval: tuple[float, float] | None = None  # of a number
    unit: str = ""  # of a number
    about: str = ""


class Answer(NamedTuple):
    """The result of a solver."""

    conclusion: Conclusion
    # A probability that the conclusion is right, only where the method computes one; never invented.
    confidence: float | None
    summary: str  # one line for people
    steps: tuple[str, ...] = ()  # how it came about, a line each
    detail: Mapping[str, Any] = {}  # every computed figure: JSON values, in a stable order
    caveats: tuple[str, ...] = ()  # what the reader should know before relying on it


def yes_no(value: bool | None, about: str = "") -> Conclusion:
    """Returns a conclusion that a statement holds, does not hold, or stays open."""
    return Conclusion("truth", value, about=about)


def choice(name: str, scores: Mapping[str, float] | None = None, about: str = "") -> Conclusion:
    """Returns a conclusion that one option is to be taken."""
    return Conclusion("choice", name, tuple((scores or {}).items()), about=about)


def ranking(names: tuple[str, ...], scores: Mapping[str, float] | None = None, about: str = "") -> Conclusion:
    """Returns a conclusion that puts options in order, the best first."""
    return Conclusion("ranking", names, tuple((scores or {}).items()), about=about)


def distribution(shares: Mapping[str, float], about: str = "") -> Conclusion:
    """Returns a conclusion that gives each option its probability; the value is the first of the most likely ones."""
    return Conclusion("distribution", best_names(shares)[0], tuple(shares.items()), about=about)


def quantity(value: float, interval: tuple[float, float] | None = None, unit: str = "", about: str = "") -> Conclusion:
    """Returns a conclusion that is a number, with the interval that it lies in if the method gives one."""
    return Conclusion("number", value, interval=interval, unit=unit, about=about)


def names(found: tuple[str, ...], about: str = "") -> Conclusion:
    """Returns a conclusion that is a set of names, in a stable order."""
    return Conclusion("names", found, about=about)


def words(text: str, about: str = "") -> Conclusion:
    """Returns a conclusion in words."""
    return Conclusion("text", text, about=about)


def best_names(scores: Mapping[str, float], largest: bool = True, scale: float = 0.0) -> tuple[str, ...]:
    """Returns the names with the best score; scores that differ by rounding only count as equal. `scale` is the size of
    the figures that the scores are differences of.

    >>> best_names({"a": 0.1 + 0.2, "b": 0.3, "c": 0.1}), best_names({"a": 1e-12, "b": 3e-12})
    (('a', 'b'), ('b',))
    """
    best = max(scores.values()) if largest else min(scores.values())
    slack = max(1e-9 * max(abs(score) for score in scores.values()), 1e-12 * scale)
    return tuple(name for name, score in scores.items() if abs(score - best) <= slack)


def cut(lines: Sequence[str], most: int = MOST_STEPS) -> tuple[str, ...]:
    """Returns the first lines, and how many more there are."""
    return tuple(lines) if len(lines) <= most else (*lines[: most - 1], f"... and {len(lines) - most + 1} more")


def notes(*cases: tuple[object, str]) -> tuple[str, ...]:
    """Returns the texts whose condition holds.

    >>> notes((True, "few cases"), ([], "ties"))
    ('few cases',)
    """
    return tuple(text for condition, text in cases if condition)


def figure(value: float, sign: str = "") -> str:
    """Returns a number in a text: as it is if it is short, else cut, but never to a whole number that it is not.

    >>> figure(142.5), figure(0.9995), figure(1 / 3), figure(0.99996123), figure(1234567.85), figure(12.0), figure(3e14)
    ('142.5', '0.9995', '0.333', '0.99996', '1,234,567.85', '12', '3e+14')
    """
    if not value or not 1e-4 <= abs(value) < 1e12:
        return f"{value:{sign}.3g}" if value else "0"
    size = math.floor(math.log10(abs(value)))
    whole, _, part = f"{value:{sign},.{max(1, 8 - size)}f}".rstrip("0").partition(".")
    if len(part) <= 2 or len((whole + part).lstrip("+-0").replace(",", "")) <= _SHORT:
        return f"{whole}.{part}" if part else whole
    for places in range(max(1, 2 - size), 12):
        shown = f"{value:{sign},.{places}f}".rstrip("0")
        if not shown.endswith("."):
            return shown
    return whole


def listed(names: Sequence[str], most: int = 6) -> str:
    """Returns the names in a text, cut when there are many."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def suggest_name(name: str, known: Collection[str], otherwise: str) -> str:
    """Returns a hint with the known name nearest to a misspelled one; `otherwise` when none is near."""
    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]}?" if close else otherwise


Point = TypeVar("Point", bound=tuple[Any, ...])


def find_front(points: Iterable[Point]) -> set[Point]:
    """Returns the points that no other one exceeds on some count without falling short on another.

    >>> sorted(find_front([(1, 3), (2, 2), (1, 2)]))
    [(1, 3), (2, 2)]
    """
    front: list[Point] = []
    # Whatever beats a point sorts before it. With two counts, the last of the front has the most of the second.
    for point in sorted({*points}, reverse=True):
        rivals = front[-1:] if len(point) == 2 else front
        if not any(is_better(rival, point) for rival in rivals):
            front.append(point)
    return {*front}


def is_better(one: Sequence[float | Fraction], other: Sequence[float | Fraction]) -> bool:
    """Returns whether it is less on no count, and more on some.

    >>> is_better((2, 1), (1, 1)), is_better((2, 0), (1, 1)), is_better((1, 1), (1, 1))
    (True, False, False)
    """
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))


def wilson(hits: int, count: int, level: float) -> tuple[float, float]:
    """Returns the interval of Wilson's score for a share; it stays within 0 and 1 and is good for few cases too."""
    from statistics import NormalDist  # it is not light, and few methods need it

    z = NormalDist().inv_cdf(0.5 + level / 2)
    share, spread = hits / count, z * z / count
    middle = (share + spread / 2) / (1 + spread)
    reach = z / (1 + spread) * math.sqrt(share * (1 - share) / count + spread / (4 * count))
    return (0.0 if hits == 0 else max(0.0, middle - reach)), (1.0 if hits == count else min(1.0, middle + reach))
