"""ONNX: absent in most places, so absence is what is tested everywhere; the real thing where it is installed."""

import sys
from pathlib import Path
from typing import Any

import pytest

from mabos_cli.backends.embeddings import open_embedder
from mabos_cli.errors import Unavailable

from . import tiny
from .test_minilm import floats, ids_of

TEXTS = ["The budget was approved.", "", "cat", "Finance said yes, to the budgets"]


def refused(path: object) -> Unavailable:
    with pytest.raises(Unavailable) as caught:
        open_embedder("onnx", path=str(path), environ={})
    assert caught.value.hint and "\n" not in caught.value.message
    return caught.value


def test_no_folder() -> None:
    assert "needs a model folder" in refused("").message


def test_no_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert "mabos-cli[onnx]" in refused(tmp_path).hint


def write_onnx(folder: Path, output: str, inputs: tuple[str, ...], pooled: bool) -> Any:
    pytest.importorskip("onnxruntime")
    return tiny.write_onnx(folder, output, inputs, pooled)


ALL = tiny.ONNX_INPUTS


@pytest.mark.parametrize("inputs", [ALL, ALL[:2], ALL[:1]])
@pytest.mark.parametrize("output", ["last_hidden_state", "something_else"])
def test_mean_over_the_tokens(tmp_path: Path, output: str, inputs: tuple[str, ...]) -> None:
    import numpy as np

    table = write_onnx(tmp_path, output, inputs, pooled=False)
    model = open_embedder("onnx", path=str(tmp_path), environ={})
    assert model.width == 8 and model.costly and model.model.startswith("onnx-")
    for text, blob in zip(TEXTS, model.embed(TEXTS), strict=True):
        if not text:
            assert not any(blob) and len(blob) == 32
            continue
        mean = table[ids_of(text)].mean(axis=0)
        assert floats(blob) == pytest.approx((mean / np.linalg.norm(mean)).tolist(), abs=1e-6)
        assert floats(model.embed_query(text)) == pytest.approx(floats(blob), abs=1e-6)


def test_sentence_embedding_is_taken_as_it_is(tmp_path: Path) -> None:
    import numpy as np

    table = write_onnx(tmp_path, "sentence_embedding", ALL, pooled=True)
    mean = table[ids_of("cat")].mean(axis=0)
    blob = open_embedder("onnx", path=str(tmp_path), environ={}).embed_query("cat")
    assert floats(blob) == pytest.approx((mean / np.linalg.norm(mean)).tolist(), abs=1e-6)


def test_pooling_and_prefixes_are_those_of_the_files_or_the_settings(tmp_path: Path) -> None:
    import numpy as np

    table = write_onnx(tmp_path, "last_hidden_state", ALL, pooled=False)
    first = table[ids_of("cat")[0]]
    unit = (first / np.linalg.norm(first)).tolist()
    mean = open_embedder("onnx", path=str(tmp_path), environ={})
    given = open_embedder("onnx", path=str(tmp_path), pooling="cls", environ={})
    assert floats(given.embed_query("cat")) == pytest.approx(unit, abs=1e-6) and given.model != mean.model
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling/config.json").write_text('{"pooling_mode_cls_token": true}')
    found = open_embedder("onnx", path=str(tmp_path), environ={})
    assert found.model == given.model and found.embed_query("cat") == given.embed_query("cat")
    assert open_embedder("onnx", path=str(tmp_path), pooling="mean", environ={}).model == mean.model
    (tmp_path / "config_sentence_transformers.json").write_text(
        '{"prompts": {"query": "the ", "document": "finance "}}'
    )
    prompted = open_embedder("onnx", path=str(tmp_path), pooling="mean", environ={})
    assert prompted.embed_query("cat") == mean.embed_query("the cat")
    assert prompted.embed(["cat"]) == mean.embed(["finance cat"])


def test_another_model_has_another_name(tmp_path: Path) -> None:
    write_onnx(tmp_path, "last_hidden_state", ALL, pooled=False)
    first = open_embedder("onnx", path=str(tmp_path), environ={}).model
    write_onnx(tmp_path, "sentence_embedding", ALL, pooled=True)
    assert open_embedder("onnx", path=str(tmp_path), environ={}).model != first


def test_files_that_are_no_model(tmp_path: Path) -> None:
    write_onnx(tmp_path, "last_hidden_state", ALL, pooled=False)
    whole = (tmp_path / "model.onnx").read_bytes()
    for content in (b"", b"hello", whole[: len(whole) // 2]):
        (tmp_path / "model.onnx").write_bytes(content)
        assert "model.onnx" in refused(tmp_path).message
    (tmp_path / "model.onnx").write_bytes(whole)
    (tmp_path / "tokenizer.json").write_text("{}")
    assert "tokenizer.json" in refused(tmp_path).message
    (tmp_path / "tokenizer.json").unlink()
    assert "No such file" in refused(tmp_path).message


def test_unknown_inputs(tmp_path: Path) -> None:
    write_onnx(tmp_path, "last_hidden_state", ("input_ids", "pixel_values"), pooled=False)
    assert "pixel_values" in refused(tmp_path).message
