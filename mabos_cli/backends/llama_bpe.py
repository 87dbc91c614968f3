"""The Llama tokenizer in plain Python: the same token ids as the `tokenizers` library, without loading it."""

import json
import mmap
import re
import struct
from collections.abc import Iterable, Mapping
from contextlib import suppress
from heapq import heappop, heappush
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

PIECES = 32_000
_SPACE = "\u2581"
_TWO_SPACES = (_SPACE * 2).encode()
_SPECIAL = {"<unk>": 0, "<s>": 1, "</s>": 2}
# Ids of the 256 byte tokens; text that happens to read <0x0A> is not one of them.
_FIRST_BYTE, _FIRST_PIECE = 3, 259
# A word is a run of spaces with what follows it. No piece has a space after another character, or a line end at
# all, so no merge crosses these borders and words may be done one by one.
_WORD = re.compile(f"{_SPACE}*[^{_SPACE}\n]+|{_SPACE}+|\n+")
# Pieces are compared as the file has them, so these characters are written as JSON writes them.
_ESCAPED = {'"': b'\\"', "\\": b"\\\\", "\r": b"\\r"}
_INDENT = b"\n      "
# A third look into the file takes all pieces: by then there are many texts, or odd ones.
_PARTIAL_LOOKS, _FEW_LETTERS = 2, 64
_CACHED_WORDS, _CACHED_LENGTH = 100_000, 64
_MARK = b"pieces1\n"
_SLOTS = 1 << 16  # twice as many as there are pieces
_SLOT, _ID = struct.Struct("<I"), struct.Struct("<H")


class Vocabulary(NamedTuple):
    """A mapped tokenizer file and where its pieces lie in it, one in a line."""

    data: mmap.mmap
    start: int
    end: int

    def find_pieces(self, letters: str = "") -> dict[bytes, int]:
        """Token ids by piece, for the pieces made of these letters alone, or for all.

        A query can be made of a quarter of the 32,000 pieces at most. Taking only those straight out of the mapped
        file costs a third of a dictionary of all, and a quarter of parsing the JSON.
        """
        shape = b"[" + re.escape(b"".join(map(_escape, letters))) + b"]+" if letters else b".+"
        lines = re.compile(_INDENT + b'"(' + shape + rb')": (\d+)')
        return {piece: int(number) for piece, number in lines.findall(self.data, self.start, self.end)}


def open_vocabulary(path: Path) -> Vocabulary:
    """The mapped vocabulary; OSError when it cannot be read, ValueError when the tokenizer works another way."""
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    begin = b'"vocab": {'
    start = data.find(begin)
    # The merges are three fifths of the file and are not needed, see Tokenizer.
    end = data.find(b'"merges"', max(start, 0))
    if start < 0 or end < 0:
        raise ValueError("it has no vocabulary")
    _check_rules(json.loads(data[:start] + b'"vocab": {}}}'))
    first, last = begin + _INDENT + b'"<unk>": 0,', b": %d\n" % (PIECES - 1)
    if data[start : start + len(first)] != first or last not in data[end - 40 : end]:
        raise ValueError(f"its vocabulary does not run from 0 to {PIECES - 1}")
    return Vocabulary(data, start, end)


def _check_rules(head: Any) -> None:
    """ValueError unless the rules around the vocabulary are the ones that Tokenizer follows."""
    steps = [{"type": "Prepend", "prepend": _SPACE}, {"type": "Replace", "pattern": {"String": " "}, "content": _SPACE}]
    rules = {"type": "BPE", "byte_fallback": True, "ignore_merges": False, "dropout": None}
    rules |= {"continuing_subword_prefix": None, "end_of_word_suffix": None}
    try:
        added = {token["content"]: token["id"] for token in head["added_tokens"]}
        same = head["normalizer"]["normalizers"] == steps and head["pre_tokenizer"] is None and added == _SPECIAL
        same = same and all(head["model"][name] == value for name, value in rules.items())
    except (KeyError, TypeError) as error:
        raise ValueError(f"it lacks {error}") from None
    if not same:
        raise ValueError("it follows other rules")


def _escape(letter: str) -> bytes:
    return _ESCAPED.get(letter) or letter.encode("utf-8", "surrogatepass")


class Tokenizer:
    """Byte-pair encoding with byte fallback.

    Two neighbours merge when the two together are a piece: the vocabulary alone tells, as the file's list of merges
    holds every way to cut every piece in two. The list is ordered by the ids of the merged piece, the left and the
    right one, with runs of spaces after all the others; tests/backends/test_llama_bpe.py proves it for all of it.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._pieces: dict[bytes, int] | PackedPieces = {}
        self._letters: set[str] | None = {_SPACE}  # the pieces at hand are made of these; None when all are at hand
        self._looks = 0
        self._words: dict[str, list[int]] = {}

    def load_all(self) -> None:
        """Have all pieces at hand: worth it before many texts."""
        if self._letters is not None or isinstance(self._pieces, PackedPieces):
            self._letters, self._pieces = None, self._vocabulary.find_pieces()

    def pack(self) -> bytes:
        """All pieces as a table that `use` takes."""
        return pack_pieces(self._vocabulary.find_pieces())

    def use(self, table: bytes) -> None:
        """Take the pieces from a table that `pack` made; one that is none is left alone."""
        with suppress(ValueError):
            self._letters, self._pieces = None, PackedPieces(table)

    def encode(self, text: str) -> list[int]:
        """The token ids of a text, without any token for its start or end."""
        if self._letters is not None and text:
            self._load_for(text)
        if "<" not in text or not any(special in text for special in _SPECIAL):
            return self._encode_plain(text)
        parts = re.split("(" + "|".join(_SPECIAL) + ")", text)
        return [*chain(*([_SPECIAL[part]] if part in _SPECIAL else self._encode_plain(part) for part in parts))]

    def _load_for(self, text: str) -> None:
        # Spaces become the space piece, and no piece has a line end in it: a class with one would run past its line.
        assert self._letters is not None, "encode asks for pieces only then"
        letters = self._letters.union(text) - {" ", "\n"}
        if self._pieces and letters == self._letters:
            return
        self._looks += 1
        if self._looks > _PARTIAL_LOOKS or len(letters) > _FEW_LETTERS:
            self.load_all()
        else:
            self._letters, self._pieces = letters, self._vocabulary.find_pieces("".join(sorted(letters)))

    def _encode_plain(self, text: str) -> list[int]:
        if not text:
            return []
        known, ids = self._words, []
        for word in _WORD.findall(_SPACE + text.replace(" ", _SPACE)):
            found = known.get(word)
            if found is None:
                found = self._encode_word(word)
                if len(word) <= _CACHED_LENGTH:
                    if len(known) >= _CACHED_WORDS:
                        known.clear()
                    known[word] = found
            ids += found
        return ids

    def _encode_word(self, word: str) -> list[int]:
        symbols = [*map(_escape, word)]
        # A piece that stands alone is one token (the tests try all of them), and so are most words.
        whole = self._pieces.get(b"".join(symbols))
        if whole is not None and whole >= _FIRST_PIECE:
            return [whole]
        self._merge(symbols)
        return [*chain(*(self._ids_of(symbol) for symbol in symbols if symbol))]

    def _ids_of(self, symbol: bytes) -> Iterable[int]:
        found = self._pieces.get(symbol)
        return (found,) if found is not None else (byte + _FIRST_BYTE for byte in symbol)

    def _merge(self, symbols: list[bytes]) -> None:
        """Merge in place, lowest rank first, leftmost first among equals; what was merged away becomes empty.

        A heap of possible merges and a linked list of symbols: n log n for a word of any length.
        """
        pieces = self._pieces
        heap: list[tuple[int, int, int, int]] = []
        after = [*range(1, len(symbols)), -1]
        before = [*range(-1, len(symbols) - 1)]

        def note(left: int, right: int) -> None:
            both = symbols[left] + symbols[right]
            merged = pieces.get(both)
            if merged is not None:
                rank = merged + PIECES if both.startswith(_TWO_SPACES) else merged
                heappush(heap, (rank, pieces[symbols[left]], left, merged))

        for left in range(len(symbols) - 1):
            note(left, left + 1)
        while heap:
            _, _, left, merged = heappop(heap)
            right = after[left]
            if not symbols[left] or right < 0 or pieces.get(symbols[left] + symbols[right]) != merged:
                continue  # one of the two was merged with another since this was noted
            symbols[left] += symbols[right]
            symbols[right] = b""
            after[left] = after[right]
            if after[left] >= 0:
                before[after[left]] = left
                note(left, after[left])
            if before[left] >= 0:
                note(before[left], left)


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
                number: int = _ID.unpack_from(data, place + 1 + size)[0]
                return number
            slot = (slot + 1) % _SLOTS

    def __getitem__(self, piece: bytes) -> int:
        found = self.get(piece)
        if found is None:
            raise KeyError(piece)
        return found
