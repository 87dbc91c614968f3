"""A look at the index as it is: by words alone, without following the files, without a lock, without a model. It costs a few
milliseconds, and what it finds may be gone by now: whoever tells it looks at the files first."""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from mabos_cli.core.context.texts import asked_about, share_words, telling_words, words_needed
from mabos_cli.core.memory.item import TRUSTS
from mabos_cli.core.search.documents import stamp_of
from mabos_cli.core.search.scoring import Signals, Weighing, score, shares
from mabos_cli.index import tables as lanes
from mabos_cli.index.tables import ARCHIVED, GONE, SCHEMA, address_of, read_meta

_ROWS = 2000  # passages with a word that are looked at
_KEPT = 40  # candidates that are looked at closely


class Seen(NamedTuple):
    """What the index holds about a candidate: an item by its record, or a passage of a file by its lines; the file that it comes
    from, and what that was like."""

    ref: str
    text: str
    source: str
    stamp: str
    score: float
    importance: float
    at: str
    trust: str
    lines: tuple[int, int]
    item: Mapping[str, Any] | None = None
    archived: str = ""


class Peek:
    """An index that was opened for reading. Used in a `with`."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> "Peek":
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def find(self, prompt: str, least: int, importance: float) -> list[Seen]:
        """Returns what shares enough telling words with a prompt and is trusted at least so far, best first."""
        asked = asked_about(prompt)
        held = lanes.holders(self._db, asked) if asked else {}
        total = lanes.count_findable(self._db, GONE) if held else 0
        worth = telling_words(asked, held, total)
        if len(worth) < words_needed(len(asked)):
            return []
        found = share_words({word: self._places(word) for word in worth}, worth, asked, total)
        best = sorted(found, key=lambda row: (-found[row], row))[:_KEPT]
        rows = [row for row in lanes.load_rows(self._db, best) if row.trust >= least]
        lexical = shares([found[row.row] for row in rows])
        signals = [
            Signals(str(row.row), value, importance=row.importance, at=row.at, away=row.row >= ARCHIVED)
            for row, value in zip(rows, lexical, strict=True)
        ]
        scored = score(signals, Weighing(importance=importance), _KEPT)
        by_row = {row.row: row for row in rows}
        return [*self._seen([(by_row[int(one.ref)], one.score) for one in scored])]

    def knows(self, item: Mapping[str, Any]) -> bool:
        """Returns whether the index holds an item, by its text."""
        line = self.line(item["id"])
        return line is not None and json.loads(line)["content"] == item["content"]

    def stamps(self) -> dict[str, str]:
        """Returns the stamp that each file had when it was read."""
        return dict(self._db.execute("SELECT path, stamp FROM files"))

    def line(self, item_id: str) -> str | None:
        """Returns the record of an item, live or archived."""
        return lanes.find_line(self._db, item_id)

    def _places(self, word: str) -> set[int]:
        match = lanes.match_any([word])
        sql = "SELECT rowid, 0 FROM passages_fts WHERE passages_fts MATCH ? AND rowid < ? LIMIT ?"
        return {*lanes.first_parts(self._db.execute(sql, (match, GONE, _ROWS)))}

    def _seen(self, rows: list[tuple[lanes.Row, float]]) -> Iterator[Seen]:
        lines = lanes.load_lines(self._db, [row.item_row for row, _ in rows if row.item])
        texts = lanes.load_texts(self._db, [row.row for row, _ in rows if not row.item])
        stamps = self.stamps()
        sources = lanes.load_sources(self._db, lines)
        for row, worth in rows:
            line, _, archived = lines[row.item_row] if row.item else ("", "", "")
            item = json.loads(line) if row.item else None
            source = sources[row.item_row] if item else row.source
            ref = row.item if item else f"{row.source}:{row.first}-{row.last}"
            text = item["content"] if item else texts[row.row]
            about = (worth, row.importance, row.at, TRUSTS[row.trust], (row.first, row.last))
            yield Seen(ref, text, source, stamps.get(source, ""), *about, item, archived)


def open_peek(path: str, note: str) -> Peek | None:
    """Returns the index at a path, if its last writer left it whole, as its note says, and it is of this version."""
    try:
        if note.partition(" ")[0] != stamp_of(os.stat(path)):
            return None
    except OSError:
        return None
    db = sqlite3.connect(address_of(path), uri=True, timeout=0.05, isolation_level=None)
    if read_meta(db).get("shape", "").startswith(f"{SCHEMA} "):
        return Peek(db)
    db.close()
    return None
