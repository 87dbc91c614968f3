"""Figures, names and lines as the texts of answers and refusals show them."""

from collections.abc import Collection, Sequence
from difflib import get_close_matches

MOST_STEPS = 12


def cut(lines: Sequence[str], most: int = MOST_STEPS) -> tuple[str, ...]:
    """The first lines, and how many more there are."""
    return tuple(lines) if len(lines) <= most else (*lines[: most - 1], f"... and {len(lines) - most + 1} more")


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


def meant(said: str, known: Collection[str], otherwise: str) -> str:
    """A hint which of the known names somebody probably meant; something else to say when none is near."""
    close = get_close_matches(said, known, n=1)
    return f"did you mean {close[0]}?" if close else otherwise
