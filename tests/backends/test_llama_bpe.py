"""Our tokenizer gives the library's token ids, and the facts about the vocabulary that it builds on hold."""

import json
import time
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from mabos_cli.backends.wordllama import PackedPieces, Tokenizer, open_vocabulary

from .texts import make_texts

FOLDER = Path(find_spec("wordllama").submodule_search_locations[0])
FILE = FOLDER / "tokenizers" / "l2_supercat_tokenizer_config.json"


def ours() -> Tokenizer:
    return Tokenizer(open_vocabulary(FILE))


@cache
def theirs():
    from tokenizers import Tokenizer as Library

    return Library.from_file(str(FILE))


def ids_of(text: str) -> list[int]:
    return theirs().encode(text, add_special_tokens=False).ids


def test_merges_follow_from_the_vocabulary() -> None:
    """The list of merges holds every cut of every piece, in the order of ids, runs of spaces last."""
    model = json.loads(FILE.read_bytes())["model"]
    ids = model["vocab"]
    merges = [tuple(merge.split(" ")) for merge in model["merges"]]
    cuts = {(p[:i], p[i:]) for p in ids for i in range(1, len(p)) if p[:i] in ids and p[i:] in ids}
    assert cuts == {*merges}

    def rank(merge: tuple[str, str]) -> tuple[bool, int, int]:
        both = "".join(merge)
        assert both.startswith("▁▁") == (both.strip("▁") == "" and len(both) > 1)
        return both.startswith("▁▁"), ids[both], ids[merge[0]]

    assert merges == sorted(merges, key=rank)
    assert [*ids.values()] == [*range(32_000)]


def test_words_are_independent() -> None:
    """No piece has a space after another character, or a line end: no merge crosses the borders of words."""
    ids = json.loads(FILE.read_bytes())["model"]["vocab"]
    assert not [piece for piece in ids if "▁" in piece.lstrip("▁") or "\n" in piece or " " in piece]


def test_every_piece_is_one_token() -> None:
    """A piece that stands alone is not cut: the short way of _encode_word is right."""
    ids = json.loads(FILE.read_bytes())["model"]["vocab"]
    tokenizer = ours()
    tokenizer.load_all()
    for piece, number in ids.items():
        if number >= 259:
            symbols = [*map(_escape, piece)]
            tokenizer._merge(symbols)
            assert [symbol for symbol in symbols if symbol] == [b"".join(map(_escape, piece))], piece


def _escape(letter: str) -> bytes:
    return json.dumps(letter, ensure_ascii=False)[1:-1].encode()


def test_vocabulary_is_read_as_json_would() -> None:
    ids = json.loads(FILE.read_bytes())["model"]["vocab"]
    found = open_vocabulary(FILE).find_pieces()
    assert {json.loads(b'"' + piece + b'"'): number for piece, number in found.items()} == ids


def test_equal_to_the_library_on_5000_texts() -> None:
    tokenizer = ours()
    texts = [*make_texts(5_000)]
    assert len({*texts}) > 4_000
    for text, encoded in zip(texts, theirs().encode_batch(texts, add_special_tokens=False), strict=True):
        assert tokenizer.encode(text) == encoded.ids, text


@pytest.mark.parametrize("text", ["a" * 65_536, "xyzzy" * 13_000, "漢字" * 30_000, " " * 5_000, "q" * 999 + "\n" * 99])
def test_long_words_stay_equal_and_quick(text: str) -> None:
    tokenizer = ours()
    start = time.process_time()
    found = tokenizer.encode(text)
    assert time.process_time() - start < 5
    assert found == ids_of(text)


def test_time_grows_with_the_length_of_a_word() -> None:
    def seconds(length: int) -> float:
        word = "".join(chr(97 + (i * i * 7919 >> 3) % 26) for i in range(length))
        tokenizer = ours()
        tokenizer.load_all()
        start = time.process_time()
        tokenizer.encode(word)
        return time.process_time() - start

    short = min(seconds(8_192) for _ in range(3))
    assert seconds(65_536) < 8 * 3 * short


def test_lone_surrogates_are_bytes() -> None:
    assert ours().encode("a\ud800") == ours().encode("a") + [3 + byte for byte in b"\xed\xa0\x80"]


def test_cache_of_words_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mabos_cli.backends.wordllama._CACHED_WORDS", 10)
    tokenizer = ours()
    for number in range(40):
        tokenizer.encode(f"w{number} {'x' * 100}")
        assert len(tokenizer._words) <= 10
    assert not any(len(word) > 64 for word in tokenizer._words)


RAW = FILE.read_bytes()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"prepend": "\xe2\x96\x81"', b'"prepend": "_"'),
        (b'"pre_tokenizer": null', b'"pre_tokenizer": {}'),
        (b'"byte_fallback": true', b'"byte_fallback": false'),
        (b'"type": "BPE"', b'"type": "WordPiece"'),
        (b'"added_tokens"', b'"other_tokens"'),
        (b'"vocab": {', b'"words": {'),
        (b'"merges"', b'"pairs"'),
        (b'      "<unk>": 0,', b'  "<unk>": 0,'),
        (b": 31999\n", b": 31998\n"),
    ],
)
def test_another_tokenizer_is_refused(tmp_path: Path, old: bytes, new: bytes) -> None:
    assert old in RAW
    other = tmp_path / "tokenizer.json"
    other.write_bytes(RAW.replace(old, new))
    with pytest.raises(ValueError):
        open_vocabulary(other)


@pytest.mark.parametrize("size", [0, 10, 2_400, 500_000])
def test_a_cut_tokenizer_is_refused(tmp_path: Path, size: int) -> None:
    cut = tmp_path / "tokenizer.json"
    cut.write_bytes(RAW[:size])
    with pytest.raises(ValueError):
        open_vocabulary(cut)


def test_a_packed_table_gives_the_same_tokens():
    plain, packed = (Tokenizer(open_vocabulary(FILE)) for _ in range(2))
    plain.load_all()
    table = plain.pack()
    packed.use(table)
    pieces = plain._vocabulary.find_pieces()
    asked = PackedPieces(table)
    assert all(asked.get(piece) == number for piece, number in pieces.items())
    assert asked.get(b"no such piece at all") is None
    for text in (
        "how do we bill?",
        "Ärger mit 東京 🚀",
        "  two  spaces\n\nand lines",
        "<s> <0x0A>",
        "zzqxj" * 40,
    ):
        assert packed.encode(text) == plain.encode(text)


def test_what_is_no_table_is_left_alone():
    tokenizer = Tokenizer(open_vocabulary(FILE))
    before = tokenizer.encode("how do we bill?")
    for table in (b"", b"garbage", b"pieces1\n"):
        tokenizer.use(table)
        assert tokenizer.encode("how do we bill?") == before
