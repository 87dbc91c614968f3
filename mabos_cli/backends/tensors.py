"""Weights in a safetensors file: 8 bytes of length, a JSON header, then the numbers, mapped and not read."""

import json
import math
import mmap
from pathlib import Path
from typing import NamedTuple

from mabos_cli.errors import Unavailable

_SIZES = {"F16": 2, "F32": 4, "I64": 8}
_HEADER_LIMIT = 1 << 20
_SAMPLES, _SAMPLE = 64, 4096


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
    """The mapped weights, or Unavailable with the hint when the file is missing, cut short or another format."""
    try:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        # An empty file cannot be mapped: that is the ValueError.
        reason = getattr(error, "strerror", None) or "it is empty"
        raise Unavailable(f"cannot read the weights {path}: {reason}", hint) from None
    try:
        return Weights(data, _read_header(data))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unavailable(f"{path} is not a whole safetensors file: {error}", hint) from None


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
    """Eight hex digits that change when a model's files do; large files are sampled, so that naming one stays cheap."""
    from zlib import crc32

    found = 0
    for path in paths:
        size = path.stat().st_size
        with path.open("rb") as file:
            for step in range(_SAMPLES):
                file.seek(max(0, (size - _SAMPLE) * step // (_SAMPLES - 1)))
                found = crc32(file.read(_SAMPLE), found)
        found = crc32(str(size).encode(), found)
    return f"{found:08x}"
