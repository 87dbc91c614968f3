"""A tiny random BERT in the file formats of the real one: two layers, width 16, 30 pieces, 24 positions."""

import json
import struct
from pathlib import Path
from typing import Any

WIDTH, HEADS, LAYERS, WIDE, POSITIONS = 16, 4, 2, 32, 24
PIECES = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] the budget was approved cat likes milk finance said yes to ##s ##ed ##ing a . ,"
)


def write_tokenizer(folder: Path) -> None:
    names = PIECES.split()
    special = [
        {"id": n, "content": names[n], "special": True, "normalized": False}
        | dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
        for n in range(5)
    ]
    around = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    around.append({"SpecialToken": {"id": "[SEP]", "type_id": 0}})
    content = {
        "version": "1.0",
        # As in the real file: a cut and a padding that the model was not trained with, and must not be used.
        "truncation": {"max_length": 5, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": {"strategy": {"Fixed": 5}, "direction": "Right", "pad_to_multiple_of": None}
        | {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": special,
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}
        | {"strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": around,
            "pair": around,
            "special_tokens": {
                name: {"id": name, "ids": [names.index(name)], "tokens": [name]} for name in ("[CLS]", "[SEP]")
            },
        },
        "decoder": None,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##"}
        | {"max_input_chars_per_word": 100, "vocab": {name: n for n, name in enumerate(names)}},
    }
    (folder / "tokenizer.json").write_text(json.dumps(content))


def make_arrays(seed: int = 1) -> dict[str, Any]:
    import numpy as np

    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(PIECES.split()), WIDTH),
        "embeddings.position_embeddings.weight": (POSITIONS, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
        "embeddings.LayerNorm.weight": (WIDTH,),
        "embeddings.LayerNorm.bias": (WIDTH,),
    }
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        sizes = {f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
        sizes |= {"attention.output.dense": (WIDTH, WIDTH), "intermediate.dense": (WIDE, WIDTH)}
        sizes |= {"output.dense": (WIDTH, WIDE)}
        for name, shape in sizes.items():
            shapes |= {f"{at}.{name}.weight": shape, f"{at}.{name}.bias": shape[:1]}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{at}.{name}.weight": (WIDTH,), f"{at}.{name}.bias": (WIDTH,)}
    chance = np.random.default_rng(seed)
    return {name: chance.normal(0, 0.7, shape).astype("<f4") for name, shape in shapes.items()}


def write_weights(path: Path, arrays: dict[str, Any]) -> None:
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": [*array.shape], "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    raw = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(raw)) + raw + b"".join(array.tobytes() for array in arrays.values()))


def write_config(folder: Path, **more: Any) -> None:
    config = {
        "hidden_act": "gelu",
        "hidden_size": WIDTH,
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
    }
    config |= {"max_position_embeddings": POSITIONS, "layer_norm_eps": 1e-12, "intermediate_size": WIDE}
    (folder / "config.json").write_text(json.dumps(config | more))


def write_model(folder: Path) -> dict[str, Any]:
    """All files of the model; its arrays for comparing."""
    arrays = make_arrays()
    write_tokenizer(folder)
    write_weights(folder / "model.safetensors", arrays)
    write_config(folder)
    return arrays


def write_pack(folder: Path, *, first: int = 2, **meta: Any) -> dict[str, Any]:
    """The same model as one file with weights of int8, as a wheel has it; its arrays for comparing, which are what the int8 say."""
    import numpy as np

    write_tokenizer(folder)
    tokenizer = (folder / "tokenizer.json").read_bytes()
    (folder / "tokenizer.json").unlink()
    arrays = make_arrays()
    names = {f"embeddings.{long}_embeddings.weight": f"{short}_emb" for long, short in PARTS}
    parts, tensors = [], []
    for name, array in _joined(arrays).items():
        short = names.get(name) or _short(name)
        whole = np.concatenate([np.ones((first, WIDTH), "<f4"), array]) if short == "pos_emb" else array
        group = 8 if whole.ndim == 2 and not short.startswith(("pos", "type")) else 0
        raw = whole.tobytes()
        if group:
            scales = np.abs(whole.reshape(-1, group)).max(axis=1).astype("<f4") / 127
            codes = np.rint(whole.reshape(-1, group) / scales[:, None]).astype(np.int8)
            array[:] = (codes.astype("<f4") * scales[:, None]).reshape(whole.shape)
            raw = codes.tobytes() + scales.tobytes()
        parts.append(raw)
        tensors.append({"name": short, "shape": [*whole.shape], "len": len(raw), "group": group})
    arch = {"hidden": WIDTH, "layers": LAYERS, "heads": HEADS, "max_positions": POSITIONS + first}
    head = {
        "meta": {
            "model": "tiny/pack",
            "pooling": "cls",
            "query_prefix": "",
            "passage_prefix": "",
            "max_length": POSITIONS,
        }
        | meta,
        "arch": arch | {"position_offset": first, "layer_norm_eps": 1e-12},
        "tokenizer_len": len(tokenizer),
        "tensors": tensors,
    }
    raw = json.dumps(head).encode()
    (folder / "tiny.hmsemb").write_bytes(b"HMSEMB01" + struct.pack("<Q", len(raw)) + raw + tokenizer + b"".join(parts))
    return arrays


PARTS = (("word", "word"), ("position", "pos"), ("token_type", "type"))
SHORT = {"attention.output.dense": "ao", "attention.output.LayerNorm": "aln", "attention.self.qkv": "qkv"}
SHORT |= {"intermediate.dense": "f1", "output.dense": "f2", "output.LayerNorm": "fln", "embeddings.LayerNorm": "emb_ln"}


def _short(name: str) -> str:
    """The name that a pack has for a tensor: l0.aln.w for encoder.layer.0.attention.output.LayerNorm.weight."""
    name, _, kind = name.rpartition(".")
    *layer, rest = name.removeprefix("encoder.layer.").split(".", 1) if name.startswith("encoder.") else [name]
    return ".".join([*(f"l{number}" for number in layer), SHORT[rest], kind[0]])


def _joined(arrays: dict[str, Any]) -> dict[str, Any]:
    """Query, key and value of a layer as one matrix; what is written into it is written into all three."""
    import numpy as np

    found: dict[str, Any] = {}
    for name in [*arrays]:
        if ".query." not in name:
            found |= {} if ".key." in name or ".value." in name else {name: arrays[name]}
            continue
        three = [name.replace("query", part) for part in ("query", "key", "value")]
        both = found[name.replace("query", "qkv")] = np.concatenate([arrays[part] for part in three])
        arrays |= dict(zip(three, np.split(both, 3), strict=True))
    return found


ONNX_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def write_onnx(
    folder: Path,
    output: str = "last_hidden_state",
    inputs: tuple[str, ...] = ONNX_INPUTS,
    pooled: bool = False,
) -> Any:
    """A model that looks its tokens up in a table, and gives their mean when pooled; the table.

    The numbers of the fields are those of onnx.proto, so that nobody needs the package to make a file.
    """
    import numpy as np

    table = np.random.default_rng(3).normal(size=(30, 8)).astype(np.float32)
    nodes = [_node("Gather", ("table", "input_ids"), "hidden" if pooled else output)]
    tensors = [_tensor("table", table, 1)]
    if pooled:
        nodes.append(_node("ReduceMean", ("hidden", "axes"), output, _part(5, b"keepdims", (3, 0), (20, 2))))
        tensors.append(_tensor("axes", np.array([1], np.int64), 7))
    shape = ("batch", 8) if pooled else ("batch", "tokens", 8)
    graph = b"".join([*(_field(1, node) for node in nodes), _field(2, b"tiny"), *(_field(5, each) for each in tensors)])
    graph += b"".join(_field(11, _value(name, 7, ("batch", "tokens"))) for name in inputs)
    graph += _field(12, _value(output, 1, shape))
    (folder / "model.onnx").write_bytes(_field(1, 9) + _field(7, graph) + _field(8, _field(1, b"") + _field(2, 18)))
    write_tokenizer(folder)
    return table


def _varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + _varint(number >> 7)


def _field(number: int, value: int | bytes) -> bytes:
    """A field as Protocol Buffers write it: a number, or bytes with their length."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _part(number: int, name: bytes, *fields: tuple[int, int | bytes]) -> bytes:
    return _field(number, _field(1, name) + b"".join(_field(*field) for field in fields))


def _node(kind: str, inputs: tuple[str, ...], output: str, more: bytes = b"") -> bytes:
    return (
        b"".join(_field(1, name.encode()) for name in inputs)
        + _field(2, output.encode())
        + _field(4, kind.encode())
        + more
    )


def _tensor(name: str, array: Any, kind: int) -> bytes:
    dims = b"".join(_field(1, size) for size in array.shape)
    return dims + _field(2, kind) + _field(8, name.encode()) + _field(9, array.tobytes())


def _value(name: str, kind: int, shape: tuple[str | int, ...]) -> bytes:
    dims = [_field(1, size) if isinstance(size, int) else _field(2, size.encode()) for size in shape]
    tensor = _field(1, kind) + _field(2, b"".join(_field(1, dim) for dim in dims))
    return _field(1, name.encode()) + _field(2, _field(1, tensor))
