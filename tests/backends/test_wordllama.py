"""The default model: the library's vectors without the library, and one clear line when its files are not right."""

import os
import struct
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from mabos_cli.backends import wordllama
from mabos_cli.backends.embeddings import open_embedder
from mabos_cli.errors import Unavailable

from .test_llama_bpe import FOLDER
from .texts import make_texts

PLAIN = ["The budget was approved.", "Finance said yes to the spending plan.", "My cat likes warm milk."]


@cache
def model():
    return open_embedder("wordllama", environ={})


def floats(blob: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(blob) // 4}f", blob)


def cosine(a: bytes, b: bytes) -> float:
    return sum(x * y for x, y in zip(floats(a), floats(b), strict=True))


def test_says_what_it_is() -> None:
    assert (model().model, model().width, model().costly) == ("wordllama-l2_supercat-256", 256, False)


def test_vectors_are_the_library_s() -> None:
    import numpy as np
    import wordllama as library

    texts = [text for text in make_texts(400, seed=3) if text]
    loaded = library.WordLlama.load(cache_dir=Path(library.__file__).parent, disable_download=True)
    expected = loaded.embed(texts, norm=True)
    found = np.array([floats(model().embed_query(text)) for text in texts])
    assert ((found * expected).sum(axis=1) > 0.9999).all()


def test_few_and_many_give_the_same() -> None:
    texts = [*make_texts(300, seed=5), "", "x"]
    for one, many in zip((model().embed_query(text) for text in texts), model().embed(texts), strict=True):
        assert max(abs(a - b) for a, b in zip(floats(one), floats(many), strict=True)) < 1e-5


def test_vectors_have_length_one() -> None:
    for blob in (*model().embed(PLAIN), *model().embed(PLAIN * 20)):
        assert len(blob) == 1024
        assert cosine(blob, blob) == pytest.approx(1, abs=1e-5)


def test_meaning_counts() -> None:
    budget, spending, cat = model().embed(PLAIN)
    assert cosine(budget, spending) > cosine(budget, cat) + 0.1


def test_nothing_to_embed_is_zero() -> None:
    assert not any(model().embed_query(""))
    assert [any(blob) for blob in model().embed(["", "a"] * 40)] == [False, True] * 40
    assert model().embed([]) == []


def test_a_very_long_question_is_cut_and_a_document_is_not() -> None:
    start, rest = "finance " * 4_096, "kitten " * 4_096
    assert model().embed_query(start + rest) == model().embed_query(start[:16_384])
    assert cosine(model().embed([start + rest])[0], model().embed(["kitten"])[0]) > 0.5


def test_a_query_loads_no_library() -> None:
    """Nor does embedding a few texts: a recall that takes in one new memory must not pay for numpy."""
    script = (
        "import sys\nfrom mabos_cli.backends.embeddings import open_embedder\n"
        "model = open_embedder('wordllama', environ={})\nmodel.embed_query('Who approved it?')\n"
        "model.embed(['one new memory'] * 32)\n"
        "print([n for n in ('numpy', 'tokenizers', 'wordllama', 'safetensors', 'urllib.request') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"


def copy_of(folder: Path) -> Path:
    """The package's two files below a folder, as links."""
    for name in (wordllama._WEIGHTS, wordllama._TOKENIZER):
        (folder / name).parent.mkdir(parents=True)
        os.symlink(FOLDER / name, folder / name)
    return folder


def test_a_folder_laid_out_like_the_package(tmp_path: Path) -> None:
    other = open_embedder("wordllama", path=str(copy_of(tmp_path)), environ={})
    assert other.embed(PLAIN) == model().embed(PLAIN)


def refused(folder: Path) -> str:
    with pytest.raises(Unavailable) as caught:
        open_embedder("wordllama", path=str(folder), environ={})
    assert "wordllama" in caught.value.hint
    assert "\n" not in caught.value.message
    return caught.value.message


@pytest.mark.parametrize("name", [wordllama._WEIGHTS, wordllama._TOKENIZER])
def test_a_missing_file(tmp_path: Path, name: str) -> None:
    (copy_of(tmp_path) / name).unlink()
    assert "No such file" in refused(tmp_path)


@pytest.mark.parametrize("name", [wordllama._WEIGHTS, wordllama._TOKENIZER])
@pytest.mark.parametrize("size", [0, 5, 60, 4_000, 500_000])
def test_a_file_cut_short(tmp_path: Path, name: str, size: int) -> None:
    file = copy_of(tmp_path) / name
    file.unlink()
    file.write_bytes((FOLDER / name).read_bytes()[:size])
    refused(tmp_path)


def header(text: str, body: bytes = b"") -> bytes:
    return struct.pack("<Q", len(text)) + text.encode() + body


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (header("[]"), "not a whole"),
        (header("{}"), "other weights"),
        (header("not json"), "not a whole"),
        (header('{"embedding.weight": 7}'), "not a whole"),
        (header('{"a": {"dtype": "F16", "shape": [2], "data_offsets": [0, 4]}}', bytes(4)), "other weights"),
        (header('{"a": {"dtype": "F16", "shape": [2], "data_offsets": [0, 5]}}', bytes(5)), "a is F16"),
        (header('{"a": {"dtype": "Q4", "shape": [2], "data_offsets": [0, 4]}}', bytes(4)), "a is Q4"),
        (header('{"a": {"dtype": "F16", "shape": [2], "data_offsets": [0, 4]}}', bytes(3)), "ends at byte"),
        (header('{"a": {"dtype": "F16", "shape": [2], "data_offsets": [-9, -5]}}', bytes(4)), "ends at byte"),
    ],
)
def test_another_header(tmp_path: Path, content: bytes, said: str) -> None:
    file = copy_of(tmp_path) / wordllama._WEIGHTS
    file.unlink()
    file.write_bytes(content)
    assert said in refused(tmp_path)


def test_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordllama, "find_spec", lambda name: None)
    with pytest.raises(Unavailable, match="not installed"):
        open_embedder("wordllama", environ={})


def test_damaged_numbers_are_refused(tmp_path: Path) -> None:
    """Weights that are no numbers never become a vector."""
    file = copy_of(tmp_path) / wordllama._WEIGHTS
    raw = bytearray((FOLDER / wordllama._WEIGHTS).read_bytes())
    raw[96:] = b"\xff" * (len(raw) - 96)
    file.unlink()
    file.write_bytes(raw)
    damaged = open_embedder("wordllama", path=str(tmp_path), environ={})
    for texts in (PLAIN, PLAIN * 20):
        with pytest.raises(Unavailable):
            damaged.embed(texts)
