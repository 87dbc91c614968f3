"""Protocol buffers by hand: as much of the encoding as a small server needs, with nothing generated.

A message is bytes. It is written as its fields one after another, and read as a map from field number to the values
that came under that number, in order.
"""

import struct
from collections.abc import Iterable, Iterator

Fields = dict[int, list[int | bytes]]

_VARINT, _FIXED_64, _SIZED, _FIXED_32 = 0, 1, 2, 5
_WIDTH = {_FIXED_64: 8, _FIXED_32: 4}


def field(number: int, value: int | float | str | bytes) -> bytes:
    """One field: an int as varint, a float as eight bytes, text and messages with their length before them.

    >>> field(2, "mabos").hex(" ")
    '12 05 6d 61 62 6f 73'
    """
    if isinstance(value, float):
        return _varint(number << 3 | _FIXED_64) + struct.pack("<d", value)
    if isinstance(value, int):
        return _varint(number << 3 | _VARINT) + _varint(value)
    data = value.encode("utf-8") if isinstance(value, str) else value
    return _varint(number << 3 | _SIZED) + _varint(len(data)) + data


def repeated(number: int, values: Iterable[str | bytes]) -> bytes:
    """One field for every value."""
    return b"".join(field(number, value) for value in values)


def zigzag(number: int) -> int:
    """A signed number as the varint of an sint field: 0, -1, 1, -2 become 0, 1, 2, 3."""
    return number << 1 ^ number >> 63


def unzigzag(number: int) -> int:
    """The signed number of an sint field."""
    return number >> 1 ^ -(number & 1)


def read(message: bytes) -> Fields:
    """The fields of a message. What has a fixed width stays bytes; ValueError where the message is cut off.

    >>> read(bytes.fromhex("0896 01 1a03 616263"))
    {1: [150], 3: [b'abc']}
    """
    found: Fields = {}
    for number, value in _split(message):
        found.setdefault(number, []).append(value)
    return found


def number_in(message: Fields, number: int, default: int = 0) -> int:
    """The last varint under a number."""
    value = message.get(number, [default])[-1]
    if not isinstance(value, int):
        raise ValueError(f"field {number} is not a number")
    return value


def bytes_in(message: Fields, number: int) -> bytes:
    """The last text or message under a number, empty where there is none."""
    value = message.get(number, [b""])[-1]
    if not isinstance(value, bytes):
        raise ValueError(f"field {number} has no length")
    return value


def text_in(message: Fields, number: int) -> str:
    """The same as text."""
    return bytes_in(message, number).decode("utf-8")


def all_in(message: Fields, number: int) -> list[bytes]:
    """Every text or message under a number."""
    return [value for value in message.get(number, []) if isinstance(value, bytes)]


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1  # a negative number is ten bytes of two's complement
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while at < len(message) and shift < 70:
        byte = message[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at
    raise ValueError("a varint without an end")


def _split(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(message):
        tag, at = _read_varint(message, at)
        if tag & 7 == _VARINT:
            value, at = _read_varint(message, at)
            yield tag >> 3, value
            continue
        if tag & 7 == _SIZED:
            width, at = _read_varint(message, at)
        elif tag & 7 in _WIDTH:
            width = _WIDTH[tag & 7]
        else:
            raise ValueError(f"wire type {tag & 7}")
        if at + width > len(message):
            raise ValueError("a message that is cut off")
        yield tag >> 3, message[at : at + width]
        at += width
