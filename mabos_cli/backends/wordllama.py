"""The default model: WordLlama's weights, mapped, and its tokenizer in plain Python, so that a query loads no library.

The library takes 0.7 s of CPU to import, load and answer; this takes milliseconds and gives the same vectors.
"""

import struct
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from operator import add
from pathlib import Path
from typing import Any

from mabos_cli.backends.llama_bpe import PIECES, Tokenizer, open_vocabulary
from mabos_cli.backends.vectors import Weights, open_weights, pack_rows, pack_unit
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


def open_wordllama(path: str = "") -> "WordLlama":
    """The model of the installed wordllama package, or of a folder laid out like it; Unavailable when it is missing."""
    folder = Path(path) if path else _find_package()
    weights = open_weights(folder / _WEIGHTS, _HINT)
    found = [(name, tensor.dtype, tensor.shape) for name, tensor in weights.tensors.items()]
    if found != [("embedding.weight", "F16", (PIECES, WIDTH))]:
        raise Unavailable(f"{folder / _WEIGHTS} holds other weights than expected", _HINT)
    return WordLlama(weights, open_bpe(path))


def open_bpe(path: str = "", hint: str = _HINT) -> Tokenizer:
    """The tokenizer of the installed package, or of a folder laid out like it; Unavailable when it is missing."""
    tokenizer = (Path(path) if path else _find_package(hint)) / _TOKENIZER
    try:
        return Tokenizer(open_vocabulary(tokenizer))
    except OSError as error:
        raise Unavailable(f"cannot read the tokenizer {tokenizer}: {error.strerror}", hint) from None
    except ValueError as error:
        raise Unavailable(f"{tokenizer} is not the expected tokenizer: {error}", hint) from None


def _find_package(hint: str = _HINT) -> Path:
    """The folder of the package; looking for it does not import it."""
    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise Unavailable("the package wordllama is not installed", hint)
    return Path(spec.submodule_search_locations[0])


class WordLlama:
    """A text's vector is the mean of its tokens' rows. Nothing is cut off: all tokens of a long text count."""

    model = "wordllama-l2_supercat-256"
    width = WIDTH
    costly = False
    floor = 0.2

    def __init__(self, weights: Weights, tokenizer: Tokenizer) -> None:
        self._weights = weights
        self._start = weights.tensors["embedding.weight"].start
        self._tokenizer = tokenizer
        self._matrix: Any = None

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector for each text, in order; many are done with numpy."""
        if len(texts) <= _FEW_TEXTS and sum(map(len, texts)) <= _FEW_CHARACTERS:
            return [self._embed_one(text) for text in texts]
        self._tokenizer.load_all()
        packed: list[bytes] = []
        for first in range(0, len(texts), _BATCH):
            packed += self._embed_batch(texts[first : first + _BATCH])
        return packed

    def embed_query(self, text: str) -> bytes:
        """The vector of one question, in plain Python; of its beginning when it is very long."""
        return self._embed_one(text[:_QUESTION_CHARACTERS])

    def memo(self) -> bytes:
        """What makes the first question cheap when it is kept and given back: the pieces, ready to be asked."""
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
