"""Sets of numbered things as the bits of a whole number."""

from collections.abc import Iterator


def bits(members: int) -> Iterator[int]:
    """The numbers in a set, in order.

    >>> [*bits(0b1101)]
    [0, 2, 3]
    """
    while members:
        low = members & -members
        yield low.bit_length() - 1
        members ^= low
