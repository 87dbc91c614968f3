"""A tiny random BERT in the file formats of the real one: two layers, width 16, 30 pieces, 24 positions."""

import json
import struct
from pathlib import Path
from typing import Any

WIDTH, HEADS, LAYERS, WIDE, POSITIONS = 16, 4, 2, 32, 24
PIECES = "[PAD] [UNK] [CLS] [SEP] [MASK] the budget was approved cat likes milk finance said yes to ##s ##ed ##ing a . ,"


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
                name: {"id": name, "ids": [names.index(name)], "tokens": [name]}
                for name in ("[CLS]", "[SEP]")
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
    path.write_bytes(
        struct.pack("<Q", len(raw)) + raw + b"".join(array.tobytes() for array in arrays.values())
    )


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
