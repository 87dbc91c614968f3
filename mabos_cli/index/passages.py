"""Passages on their way into the index and out of it: their rows, their words and their vectors go together."""

from collections.abc import Sequence
from typing import Any

from mabos_cli.core.language.text import spaced
from mabos_cli.core.memory.trust import lowest_trust, trust_of_file, trust_rank
from mabos_cli.core.search.documents import Piece
from mabos_cli.index.schema import ARCHIVED, END, PARTS
from mabos_cli.index.vectors import Vectors

_RANGES = ((True, PARTS, ARCHIVED), (False, ARCHIVED, END))


class Passages:
    """The table of passages and what belongs to it; counts how many were written."""

    def __init__(self, db: Any, vectors: Vectors | None) -> None:
        self._db = db
        self._vectors = vectors
        self._next = {live: _first_free(db, low, high) for live, low, high in _RANGES}
        self.written = 0

    def insert(
        self, path: str, piece: Piece, *, shown: bool, live: bool = True, of: tuple[str, int, int, int] = ("", 0, 0, 0)
    ) -> int:
        """A new row; `of` is the item it is a part of: its id, row, body, and which part."""
        item, item_row, body, part = of
        if part == 0:
            self._next[live] += PARTS
        row = self._next[live] - PARTS + part
        if row >= (ARCHIVED if live else END):
            raise ValueError("the numbers are used up: a new index begins from the first")
        self.written += 1
        vector = "" if part == 0 else "-"  # an item has one vector, with its first part
        self._db.execute(
            "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(row, path, item, item_row, part, piece.first, piece.last, piece.heading),
                *(
                    "" if item else piece.text,
                    piece.at,
                    piece.author,
                    piece.copy_of,
                    int(shown),
                    body,
                    vector,
                    rank_piece(path, piece),
                ),
            ),
        )
        return row

    def make_findable(self, row: int, about: str, text: str) -> None:
        """Puts the words of a passage, and what it is about, into the lane of words."""
        self._db.execute(
            "INSERT INTO passages_fts (rowid, about, body) VALUES (?, ?, ?)", (row, spaced(about), spaced(text))
        )

    def hide(self, rows: Sequence[int]) -> None:
        """Takes passages out of both lanes."""
        self._db.executemany("DELETE FROM passages_fts WHERE rowid = ?", ((row,) for row in rows))
        if self._vectors:
            self._vectors.delete(rows)

    def remove(self, rows: Sequence[int]) -> None:
        """Takes passages out of the index."""
        self.hide(rows)
        self._db.executemany("DELETE FROM passages WHERE row = ?", ((row,) for row in rows))

    def unembed(self, rows: Sequence[tuple[int]]) -> None:
        """Takes vectors away from passages, so that they are embedded again."""
        if rows and self._vectors:
            self._vectors.delete([row for (row,) in rows])
            self._db.executemany("UPDATE passages SET vector = '' WHERE row = ?", rows)


def _first_free(db: Any, low: int, high: int) -> int:
    """The first number behind the passages in a range."""
    last = db.execute("SELECT max(row) FROM passages WHERE row >= ? AND row < ?", (low, high)).fetchone()[0]
    return low if last is None else (last // PARTS + 1) * PARTS


def rank_piece(path: str, piece: Piece) -> int:
    """How far a passage is trusted by its file and by what it says of itself; that of an item, as the item is, is looked up there."""
    return trust_rank(lowest_trust((trust_of_file(path), piece.trust or "trusted")))
