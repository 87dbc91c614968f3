"""Checks that several methods make of their input."""

import math
from collections.abc import Collection, Iterable, Mapping

from mabos_cli.core import BadValue
from mabos_cli.reasoning.wording import meant

# Larger figures would overflow in sums and products; no price, load or count comes near.
LARGEST = 1e15
_TOLERANCE = 1e-6


def known_name(path: str, said: str, known: Collection[str], noun: str = "name") -> str:
    """The name, if it is a known one; BadValue says what was probably meant."""
    if said in known:
        return said
    raise unknown_name(path, said, known, noun)


def unknown_name(path: str, said: str, known: Collection[str], noun: str = "name") -> BadValue:
    """The refusal of a name that nobody declared."""
    shown = ", ".join(list(known)[:12]) + (", ..." if len(known) > 12 else "")
    return BadValue(f"{path}: unknown {noun} {said[:60]!r}", meant(said, known, f"known: {shown or 'none'}"))


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
        raise BadValue(f"{path}: {found:,.0f} {noun} are too many; the limit is {most:,}", hint or "make it smaller")
