"""The index of similar items follows the pages of long-term memory: what changed, what moved, what is gone."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from zlib import crc32

from mabos_cli.core.language.similar import word_set
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.index.similar import SimilarIndex, Source

LIKE = word_set("the key to the vault is with Ada in Brno")


def page(name: str, *texts: tuple[str, str]) -> Source:
    """A part of memory with items by id and text; its stamp is its content."""

    def lines() -> Iterator[tuple[str, int, Callable[[], MemoryItem]]]:
        for item_id, text in texts:
            yield item_id, crc32(text.encode()), partial(MemoryItem, item_id, text)

    return name, repr(texts), lines


def found(path: Path, *pages: Source) -> list[str]:
    """The ids of what is like a text, with an index in a file that has followed other pages before."""
    return [item_id for _, item_id in SimilarIndex(path, 0.5, pages).find(LIKE, 0.5)]


def test_what_changed_moved_or_went_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "similar.sqlite"
    vault, lunch = "the key to the vault is with Ada in Brno", "lunch is at noon in the canteen"
    assert found(path, page("a", ("M-1", vault), ("M-2", lunch))) == ["M-1"]
    assert found(path, page("a", ("M-1", lunch), ("M-2", vault))) == ["M-2"]
    assert found(path, page("a", ("M-1", lunch)), page("b", ("M-2", vault))) == ["M-2"]
    assert found(path, page("a", ("M-1", vault))) == ["M-1"]
    assert found(path) == []


def test_an_id_that_a_page_names_twice_has_the_later_text(tmp_path: Path) -> None:
    twice = page("a", ("M-1", "lunch is at noon in the canteen"), ("M-1", "the key to the vault is with Ada in Brno"))
    assert found(tmp_path / "similar.sqlite", twice) == ["M-1"]
