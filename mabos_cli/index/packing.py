"""How the index keeps texts and vectors on disk: texts compressed, vectors as one byte for each number, and as their signs."""

import zlib
from collections.abc import Sequence
from struct import iter_unpack, unpack

# What lines of items and passages have in common; a text shares more with this than with itself. Changing it means another SCHEMA.
_COMMON = (
    b"about after again also always before being between could every first from have into just know like more most need never new one only"
    b" other over people project should some something still than that the their them then there these they thing think this time use used"
    b" using very want was way well were what when where which while who will with work would year you your. The It is not and for are can be"
    b" of to in on as at by or an if it we I'm don't it's https://www. --- ```python\n\n- **\n## # | "
    b'"derived_from": ["M-17"], "related_to": ["M-17"], "supersedes": ["M-17"], "expires_at": "2026-", "observed_at": "2025-", '
    b'"type": "fact", "type": "decision", "type": "preference", "type": "procedure", "trust": "trusted", "trust": "untrusted", '
    b'"source": "session", "source": "user", "written_by": "", "context": "", {"id": "M-1795000000000-0000", "content": "", '
    b'"type": "observation", "importance": 0.5, "source": "", "trust": "agent", "author": "user", "session": "", "tags": [""], '
    b'"created_at": "2026-01-01T12:00:00.000Z", "observed_at": "2026-01-01T12:00:00.000Z", '
    b'"accessed_at": "2026-01-01T12:00:00.000Z", "access_count": 0}'
)
_SIGNS = b"0" * 128 + b"1" * 128
_RAW, _MEMORY = -15, 8  # without a header and a checksum; a damaged page is seen by SQLite, or by what is decoded


def pack_text(text: str) -> bytes:
    """Returns a text as the index keeps it: a third to a half of its bytes.

    >>> unpack_text(pack_text("Zahlung in € \\ud800")) == "Zahlung in € \\ud800", pack_text("")
    (True, b'')
    """
    if not text:
        return b""
    packer = zlib.compressobj(6, zlib.DEFLATED, _RAW, _MEMORY, zlib.Z_DEFAULT_STRATEGY, _COMMON)
    return packer.compress(text.encode("utf-8", "surrogatepass")) + packer.flush()


def unpack_text(packed: bytes) -> str:
    """Returns the text that was packed; ValueError for anything else."""
    try:
        return zlib.decompressobj(_RAW, _COMMON).decompress(packed).decode("utf-8", "surrogatepass") if packed else ""
    except (zlib.error, TypeError) as error:
        raise ValueError(f"a text that cannot be read: {error}") from None


def pack_vector(vector: bytes) -> bytes:
    """Returns a vector of float32 as one signed byte for each number, the largest of them 127: its length does not matter to a cosine.

    >>> from struct import pack
    >>> list(pack_vector(pack("<3f", 0.1, -0.2, 0.0)))
    [64, 129, 0]
    """
    numbers = unpack(f"<{len(vector) // 4}f", vector)
    scale = 127 / (max(max(numbers), -min(numbers)) or 1.0)
    return bytes([round(number * scale) & 255 for number in numbers])


def signs_of(packed: bytes) -> bytes:
    """Returns the signs of a packed vector's numbers, eight in a byte.

    >>> signs_of(bytes([64, 129, 0, 0, 200, 1, 1, 1])) == bytes([0b01001000])
    True
    """
    bits = int(packed.translate(_SIGNS) or b"0", 2)
    return bits.to_bytes(-(-len(packed) // 8))


def near_by_signs(rows: Sequence[int], signs: bytes, wanted: bytes, most: int) -> dict[int, int]:
    """Returns the rows whose signs differ least from those that are wanted, and in how many: so many, and those that differ as little. A
    row 0 has no vector.

    >>> near_by_signs([7, 8, 0, 9], bytes([0b11, 0b10, 0b11, 0b00]), bytes([0b11]), 2)
    {7: 0, 8: 1}
    """
    target, number, none = int.from_bytes(wanted), int.from_bytes, 8 * len(wanted) + 1
    parts = iter_unpack(f"{len(wanted)}s", signs)
    apart = [(target ^ number(one)).bit_count() if row else none for row, (one,) in zip(rows, parts, strict=True)]
    least = sorted(apart)[:most]
    return {row: count for row, count in zip(rows, apart, strict=True) if count <= least[-1] and row}
