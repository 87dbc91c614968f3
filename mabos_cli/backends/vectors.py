"""Vectors as they are stored: little-endian float32, of length one, or all zero when there was nothing to embed."""

import math
import struct
from collections.abc import Sequence
from typing import Any

from mabos_cli.errors import Unavailable

# A vector shorter than this says nothing, and dividing by its length would lose all precision.
NOTHING = 1e-30


def pack_unit(values: Sequence[float]) -> bytes:
    """The vector scaled to length one, packed; all zero stays all zero. ValueError for what is no finite number.

    >>> any(pack_unit([0.0, 0.0])), pack_unit([0.0, 3.0]) == pack_unit([0.0, 1.0])
    (False, True)
    """
    try:
        length = math.hypot(*values)
    except (TypeError, OverflowError) as error:
        raise ValueError(f"values that are no numbers: {error}") from None
    if not math.isfinite(length):
        raise ValueError("values that are not finite")
    if length < NOTHING:
        return bytes(4 * len(values))
    return struct.pack(f"<{len(values)}f", *[value / length for value in values])


def pack_rows(rows: Any, source: str) -> list[bytes]:
    """Each row of a numpy matrix scaled to length one, packed; Unavailable, naming the source, for NaN and infinity."""
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise Unavailable(f"{source} gave vectors that are no numbers", "its files may be damaged; install it again")
    unit = (rows / np.where(lengths < NOTHING, np.inf, lengths)).astype("<f4")
    return [row.tobytes() for row in unit]
