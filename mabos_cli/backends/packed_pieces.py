"""The pieces of a tokenizer as a table of bytes that can be asked at once: nothing is parsed, nothing is loaded."""

import struct
from collections.abc import Mapping
from zlib import crc32

_MARK = b"pieces1\n"
_SLOTS = 1 << 16  # twice as many as there are pieces
_SLOT, _ID = struct.Struct("<I"), struct.Struct("<H")


def pack_pieces(pieces: Mapping[bytes, int]) -> bytes:
    """The table: a mark, where each slot's entry lies, then entries of length, piece and id."""
    slots, entries = [0] * _SLOTS, bytearray()
    base = len(_MARK) + _SLOTS * _SLOT.size
    for piece, number in pieces.items():
        slot = crc32(piece) % _SLOTS
        while slots[slot]:
            slot = (slot + 1) % _SLOTS
        slots[slot] = base + len(entries)
        entries += bytes((len(piece),)) + piece + _ID.pack(number)
    return _MARK + struct.pack(f"<{_SLOTS}I", *slots) + entries


class PackedPieces:
    """Token ids by piece, straight out of the table. ValueError when it is none."""

    def __init__(self, data: bytes) -> None:
        if not data.startswith(_MARK) or len(data) < _SLOTS * _SLOT.size:
            raise ValueError("not a table of pieces")
        self.data = data

    def get(self, piece: bytes) -> int | None:
        """The id of a piece, None when there is no such piece."""
        data, slot, size = self.data, crc32(piece) % _SLOTS, len(piece)
        while True:
            (place,) = _SLOT.unpack_from(data, len(_MARK) + slot * _SLOT.size)
            if not place:
                return None
            if data[place] == size and data[place + 1 : place + 1 + size] == piece:
                return _ID.unpack_from(data, place + 1 + size)[0]
            slot = (slot + 1) % _SLOTS

    def __getitem__(self, piece: bytes) -> int:
        found = self.get(piece)
        if found is None:
            raise KeyError(piece)
        return found
