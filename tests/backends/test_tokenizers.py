"""Who counts tokens: an estimate by default, tiktoken only when it need not fetch anything, Llama's pieces when asked for."""

import sys
from hashlib import sha256
from pathlib import Path

import pytest

from mabos_cli.backends import tokenizers
from mabos_cli.backends.tokenizers import open_tokenizer_counter
from mabos_cli.errors import Unavailable

from .test_llama_bpe import FOLDER

# A library that counts words, and fails as soon as it would have to fetch its file.
LIBRARY = """
import os

class Words:
    def encode_ordinary(self, text):
        return text.split()

def get_encoding(name):
    files = {"o200k_base": "first", "cl100k_base": "second"}
    open(os.path.join(os.environ["TIKTOKEN_CACHE_DIR"], files[name])).close()
    return Words()
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a tiktoken that knows two encodings and has the file of neither."""
    package = tmp_path / "site" / "tiktoken"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(LIBRARY)
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.delitem(sys.modules, "tiktoken", raising=False)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
    digests = [sha256(data).hexdigest() for data in (b"one", b"two")]
    known = (("o200k_base", "first", digests[0]), ("cl100k_base", "second", digests[1]))
    monkeypatch.setattr(tokenizers, "_ENCODINGS", known)
    yield folder
    sys.modules.pop("tiktoken", None)


def open_by(choice: str, folder: Path | str = "/nowhere", **names: str):
    return open_tokenizer_counter(choice, 4, {"TIKTOKEN_CACHE_DIR": str(folder), **names})


def test_the_estimate_says_how_it_counts_and_nothing_costs_nothing() -> None:
    counter = open_tokenizer_counter("estimate", 3, {})
    assert counter.name == "estimate: 3 characters a token"
    assert [counter.count(text) for text in ("", "a", "abc", "abcd")] == [0, 1, 1, 2]


def test_auto_takes_tiktoken_when_its_file_is_there(cache: Path) -> None:
    assert open_by("auto", cache).name == "estimate: 4 characters a token"
    (cache / "second").write_bytes(b"two")
    assert open_by("auto", cache).name == "tiktoken cl100k_base"
    (cache / "first").write_bytes(b"one")
    counter = open_by("auto", cache)
    assert (counter.name, counter.count("we bill per seat"), counter.count("")) == (
        "tiktoken o200k_base",
        4,
        0,
    )


def test_a_long_text_is_fed_in_portions(cache: Path) -> None:
    (cache / "first").write_bytes(b"one")
    assert open_by("tiktoken", cache).count("word " * 50_000) == 50_000


@pytest.mark.parametrize("data", [None, b"another"])
def test_a_file_that_would_be_fetched_is_never_asked_for(cache: Path, data: bytes | None) -> None:
    """A file with another content would be deleted and fetched by the library: it is as good as none."""
    if data:
        (cache / "first").write_bytes(data)
    with pytest.raises(Unavailable, match="nothing is fetched unasked"):
        open_by("tiktoken", cache)
    assert "tiktoken" not in sys.modules
    assert data is None or (cache / "first").read_bytes() == data


def test_an_empty_cache_folder_means_always_fetch(cache: Path) -> None:
    (cache / "first").write_bytes(b"one")
    with pytest.raises(Unavailable):
        open_by("tiktoken", "")
    older = open_tokenizer_counter("tiktoken", 4, {"DATA_GYM_CACHE_DIR": str(cache)})
    assert older.name == "tiktoken o200k_base"


def test_a_library_that_cannot_be_loaded_is_not_there(cache: Path) -> None:
    (cache / "first").write_bytes(b"one")
    (cache.parent / "site" / "tiktoken" / "__init__.py").write_text("import a_package_that_is_missing")
    with pytest.raises(Unavailable, match="a_package_that_is_missing"):
        open_by("tiktoken", cache)
    assert open_by("auto", cache).name.startswith("estimate")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizers, "find_spec", lambda name: None)
    assert open_by("auto").name.startswith("estimate")
    with pytest.raises(Unavailable, match="not installed") as caught:
        open_by("tiktoken")
    assert "mabos-cli[tokens]" in caught.value.hint


def test_llama_counts_its_pieces() -> None:
    from tokenizers import Tokenizer

    counter = open_by("llama")
    library = Tokenizer.from_file(str(FOLDER / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    text = "We bill per seat: 12.50 € from 2026-03-01 on.\n\n- Ann\n"
    assert counter.name == "llama bpe"
    assert counter.count(text) == len(library.encode(text, add_special_tokens=False).ids)
    assert counter.count("") == 0
