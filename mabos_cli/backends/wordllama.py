"""The default model: WordLlama's weights, mapped, and its tokenizer in plain Python, so that a query loads no library.

The library takes 0.7 s of CPU to import, load and answer; this takes milliseconds and gives the same token ids and vectors.
"""

import json
import mmap
import re
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from heapq import heappop, heappush
from importlib.util import find_spec
from itertools import chain
from operator import add
from pathlib import Path
from typing import Any
from zlib import crc32

from mabos_cli.backends.embeddings import Weights, open_weights, pack_rows, pack_unit
from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import Unavailable

WIDTH = 256
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_HINT = "pip install 'wordllama>=0.4,<0.5', or set embeddings.provider to none"
_ROW = struct.Struct(f"<{WIDTH}e")

# Fewer than this are done in plain Python before numpy would have been imported (some 130 ms of CPU).
_FEW_TEXTS, _FEW_CHARACTERS = 32, 50_000
_BATCH = 256
# A question longer than this is somebody's file; its beginning says what it is about.
_QUESTION_CHARACTERS = 16_384
PIECES = 32_000
_SPACE = "\u2581"
_TWO_SPACES = (_SPACE * 2).encode()
_SPECIAL = {"<unk>": 0, "<s>": 1, "</s>": 2}
_SPECIALS = "(" + "|".join(_SPECIAL) + ")"
# Ids of the 256 byte tokens; text that happens to read <0x0A> is not one of them.
_FIRST_BYTE, _FIRST_PIECE = 3, 259
# A word is a run of spaces with what follows it. No piece has a space after another character, or a line end at
# all, so no merge crosses these borders and words may be done one by one.
_WORD = compiled(f"{_SPACE}*[^{_SPACE}\n]+|{_SPACE}+|\n+")
# Pieces are compared as the file has them, so these characters are written as JSON writes them.
_ESCAPED = {'"': b'\\"', "\\": b"\\\\", "\r": b"\\r"}
_INDENT = b"\n      "
_CACHED_WORDS, _CACHED_LENGTH = 100_000, 64
_MARK = b"pieces1\n"
_SLOTS = 1 << 16  # twice as many as there are pieces
_SLOT, _ID = struct.Struct("<I"), struct.Struct("<H")


def open_wordllama(path: str = "") -> "WordLlama":
    """Opens the model of the installed wordllama package, or of such a folder; Unavailable when it is missing."""
    folder = Path(path) if path else _find_package()
    weights = open_weights(folder / _WEIGHTS, _HINT)
    found = [(name, tensor.dtype, tensor.shape) for name, tensor in weights.tensors.items()]
    if found != [("embedding.weight", "F16", (PIECES, WIDTH))]:
        raise Unavailable(f"{folder / _WEIGHTS} holds other weights than expected", _HINT)
    return WordLlama(weights, open_bpe(path))


def open_bpe(path: str = "", hint: str = _HINT) -> "Tokenizer":
    """Opens the tokenizer of the installed package, or of a folder laid out like it; Unavailable when it is missing."""
    tokenizer = (Path(path) if path else _find_package(hint)) / _TOKENIZER
    try:
        return Tokenizer(open_vocabulary(tokenizer))
    except OSError as error:
        raise Unavailable(f"cannot read the tokenizer {tokenizer}: {error.strerror}", hint) from None
    except ValueError as error:
        raise Unavailable(f"{tokenizer} is not the expected tokenizer: {error}", hint) from None


def _find_package(hint: str = _HINT) -> Path:
    """Returns the folder of the package; looking for it does not import it."""
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise Unavailable("the package wordllama is not installed", hint)
    return Path(spec.submodule_search_locations[0])


class WordLlama:
    """A text's vector is the mean of its tokens' rows. Nothing is cut off: all tokens of a long text count."""

    model = "wordllama-l2_supercat-256"
    width = WIDTH
    costly = is_slow = False
    floor = 0.2

    def __init__(self, weights: Weights, tokenizer: "Tokenizer") -> None:
        self._weights = weights
        self._start = weights.tensors["embedding.weight"].start
        self._tokenizer = tokenizer
        self._matrix: Any = None

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Returns one vector for each text, in order; many are done with numpy."""
        if len(texts) <= _FEW_TEXTS and sum(map(len, texts)) <= _FEW_CHARACTERS:
            return [*map(self._embed_one, texts)]
        self._tokenizer.load_all()
        packed: list[bytes] = []
        for first in range(0, len(texts), _BATCH):
            packed += self._embed_batch(texts[first : first + _BATCH])
        return packed

    def embed_query(self, text: str) -> bytes:
        """Returns the vector of a question, in plain Python; of its beginning when it is very long."""
        return self._embed_one(text[:_QUESTION_CHARACTERS])

    def memo(self) -> bytes:
        """Returns what makes the first question cheap when it is kept and given back: the pieces in a table."""
        return self._tokenizer.pack()

    def use(self, memo: bytes) -> None:
        """Takes a memo that was kept."""
        self._tokenizer.use(memo)

    def _embed_one(self, text: str) -> bytes:
        data, start, size = self._weights.data, self._start, _ROW.size
        total = [0.0] * WIDTH
        for token, count in Counter(self._tokenizer.encode(text)).items():
            row = _ROW.unpack_from(data, start + token * size)
            total = [*map(add, total, row)] if count == 1 else [a + count * b for a, b in zip(total, row, strict=True)]
        try:
            return pack_unit(total)
        except ValueError:
            raise Unavailable("the wordllama weights are damaged", _HINT) from None

    def _embed_batch(self, texts: Sequence[str]) -> list[bytes]:
        import numpy as np

        if self._matrix is None:
            flat = np.frombuffer(self._weights.data, "<f2", PIECES * WIDTH, self._start)
            self._matrix = flat.reshape(PIECES, WIDTH).astype(np.float32)
        tokens = [self._tokenizer.encode(text) for text in texts]
        sums = np.zeros((len(texts), WIDTH), np.float32)
        for row, ids in enumerate(tokens):
            if ids:
                self._matrix.take(ids, axis=0).sum(axis=0, out=sums[row])
        return pack_rows(sums, "wordllama")


class Vocabulary(NamedTuple):
    """A mapped tokenizer file and where its pieces lie in it, one in a line."""

    data: mmap.mmap
    start: int
    end: int

    def find_pieces(self) -> dict[bytes, int]:
        """Returns token ids by piece, straight out of the mapped file: parsing its JSON would take longer."""
        lines = re.compile(_INDENT + rb'"(.+)": (\d+)')
        return {piece: int(number) for piece, number in lines.findall(self.data, self.start, self.end)}


def open_vocabulary(path: Path) -> Vocabulary:
    """Maps the vocabulary of a file; OSError when it cannot be read, ValueError for another kind of tokenizer."""
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
    """Raises ValueError unless the rules around the vocabulary are the ones that Tokenizer follows."""
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
    right one, with runs of spaces after all the others; tests/backends/test_llama_bpe.py proves it for the whole list.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._pieces: dict[bytes, int] | PackedPieces = {}
        self._words: dict[str, list[int]] = {}

    def load_all(self) -> None:
        """Loads all pieces into memory: worth it before many texts."""
        if not isinstance(self._pieces, dict) or not self._pieces:
            self._pieces = self._vocabulary.find_pieces()

    def pack(self) -> bytes:
        """Returns all pieces as a table that `use` takes."""
        return pack_pieces(self._vocabulary.find_pieces())

    def use(self, table: bytes) -> None:
        """Takes the pieces from a table that `pack` made; anything else is ignored."""
        with suppress(ValueError):
            self._pieces = PackedPieces(table)

    def encode(self, text: str) -> list[int]:
        """Returns the token ids of a text, without any token for its start or end."""
        if not self._pieces:
            self.load_all()
        known: dict[str, list[int]] = self._words
        ids: list[int] = []
        for part in re.split(_SPECIALS, text) if "<" in text else (text,):
            if part in _SPECIAL:
                ids.append(_SPECIAL[part])
                continue
            for word in _WORD.findall(_SPACE + part.replace(" ", _SPACE)) if part else ():
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
        """Merges in place, lowest rank first, leftmost first among equals; what was merged away becomes empty.

        A heap of possible merges and a linked list of symbols: n log n for a word of any length.
        """
        pieces = self._pieces
        heap: list[tuple[int, int, int, int]] = []
        after = [*range(1, len(symbols)), -1]
        before = [*range(-1, len(symbols) - 1)]
        fresh = [*range(len(symbols) - 1)]  # symbols whose merge with the one behind them is to be looked up
        while fresh or heap:
            for left in fresh:
                both = symbols[left] + symbols[after[left]]
                merged = pieces.get(both)
                if merged is not None:
                    rank = merged + PIECES if both.startswith(_TWO_SPACES) else merged
                    heappush(heap, (rank, pieces.get(symbols[left]) or 0, left, merged))
            fresh = []
            if not heap:
                break
            _, _, left, number = heappop(heap)
            right = after[left]
            if not symbols[left] or right < 0 or pieces.get(symbols[left] + symbols[right]) != number:
                continue  # one of the two was merged with another since this was looked up
            symbols[left] += symbols[right]
            symbols[right] = b""
            after[left] = after[right]
            if after[left] >= 0:
                before[after[left]] = left
                fresh.append(left)
            if before[left] >= 0:
                fresh.append(before[left])


def pack_pieces(pieces: Mapping[bytes, int]) -> bytes:
    """Returns the table: a mark, where each slot's entry lies, then entries of length, piece and id."""
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
    """Token ids by piece, straight out of the table; ValueError for anything but such a table."""

    def __init__(self, data: bytes) -> None:
        if not data.startswith(_MARK) or len(data) < _SLOTS * _SLOT.size:
            raise ValueError("not a table of pieces")
        self.data = data

    def get(self, piece: bytes) -> int | None:
        """Returns the id of a piece, None when there is no such piece."""
        data, slot, size = self.data, crc32(piece) % _SLOTS, len(piece)
        while True:
            (place,) = _SLOT.unpack_from(data, len(_MARK) + slot * _SLOT.size)
            if not place:
                return None
            if data[place] == size and data[place + 1 : place + 1 + size] == piece:
                number: int = _ID.unpack_from(data, place + 1 + size)[0]
                return number
            slot = (slot + 1) % _SLOTS
