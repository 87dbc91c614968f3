"""When one outcome is better than another whatever one cares about most."""

from collections.abc import Sequence


def is_better(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether it is less on no count, and more on some.

    >>> is_better((2, 1), (1, 1)), is_better((2, 0), (1, 1)), is_better((1, 1), (1, 1))
    (True, False, False)
    """
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))
