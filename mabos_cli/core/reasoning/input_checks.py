"""Checks that several methods make of their input, and figures as their texts show them."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches

from mabos_cli.core import BadValue

MOST_STEPS = 12
# Larger figures would overflow in sums and products; no price, load or count comes near.
LARGEST = 1e15
_TOLERANCE = 1e-6


def known_name(path: str, said: str, known: Collection[str], noun: str = "name") -> str:
    """The name, if it is a known one; BadValue says what was probably meant."""
    if said in known:
        return said
    close = get_close_matches(said, known, n=1)
    listed = ", ".join(list(known)[:12]) + (", ..." if len(known) > 12 else "")
    hint = f"did you mean {close[0]}?" if close else f"known: {listed or 'none'}"
    raise BadValue(f"{path}: unknown {noun} {said[:60]!r}", hint)


def check_known(path: str, said: Iterable[str], known: Collection[str], noun: str = "name") -> None:
    """Nothing, if all names are known and none is there twice."""
    seen: set[str] = set()
    for name in said:
        known_name(path, name, known, noun)
        if name in seen:
            raise BadValue(f"{path}: {name!r} is there twice", "keep one of them")
        seen.add(name)


def check_same(path: str, said: Collection[str], known: Collection[str], noun: str = "name") -> None:
    """Nothing, if the names are exactly the known ones."""
    check_known(path, said, known, noun)
    missing = [name for name in known if name not in said]
    if missing:
        raise BadValue(f"{path}: {', '.join(missing[:6])} is missing", f"give a value for each {noun}")


def sum_to_one(path: str, shares: Mapping[str, float]) -> dict[str, float]:
    """The shares, which must sum to 1; what rounding left over is spread."""
    total = math.fsum(shares.values())
    if abs(total - 1) > _TOLERANCE:
        raise BadValue(f"{path}: probabilities must sum to 1, not {total:.6g}", "change them so that they do")
    if abs(total - 1) < 1e-12:
        return dict(shares)
    return {name: share / total for name, share in shares.items()}


def check_size(path: str, found: float, most: int, noun: str, hint: str = "") -> None:
    """Nothing, if an exact method can do with so much."""
    if found > most:
        raise BadValue(
            f"{path}: {found:,.0f} {noun} are too many; the limit is {most:,}", hint or "make it smaller"
        )


def best_names(scores: Mapping[str, float], largest: bool = True, scale: float = 0.0) -> tuple[str, ...]:
    """The names with the best score; scores that differ by rounding only count as equal. `scale` is the size of the figures that
    the scores are differences of.

    >>> best_names({"a": 0.1 + 0.2, "b": 0.3, "c": 0.1}), best_names({"a": 1e-12, "b": 3e-12})
    (('a', 'b'), ('b',))
    """
    best = max(scores.values()) if largest else min(scores.values())
    slack = max(1e-9 * max(abs(score) for score in scores.values()), 1e-12 * scale)
    return tuple(name for name, score in scores.items() if abs(score - best) <= slack)


def cut(lines: Sequence[str], most: int = MOST_STEPS) -> tuple[str, ...]:
    """The first lines, and how many more there are."""
    return (
        tuple(lines) if len(lines) <= most else (*lines[: most - 1], f"... and {len(lines) - most + 1} more")
    )


def figure(value: float) -> str:
    """A number in a text.

    >>> figure(0.28417), figure(1234567.8), figure(12.0), figure(3e14)
    ('0.284', '1,234,568', '12', '3e+14')
    """
    if value == 0:
        return "0"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e12 else f"{value:.3g}"


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names in a text, cut when there are many."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
