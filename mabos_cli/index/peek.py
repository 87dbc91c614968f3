"""Reads the index as it is: without following the files, without a lock, without numpy. It costs a few milliseconds, and a hit may be
outdated: callers check the files first."""

import json
import os
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from heapq import nlargest
from math import cos, log, pi
from struct import error as StructError
from typing import Any

from mabos_cli.core.language.ids import stamp_of
from mabos_cli.core.memory.item import TRUSTS
from mabos_cli.core.memory.stores import FINDABLE
from mabos_cli.core.records import NamedTuple
from mabos_cli.core.search.documents import Embedder, cosine
from mabos_cli.core.search.prompt import (
    Prompt,
    choose_relevant,
    least_relevance,
    other_names,
    relevance,
    share_words,
    telling_words,
    words_needed,
)
from mabos_cli.core.search.scoring import Signals, Weighing, score, shares
from mabos_cli.index.candidates import ARCHIVED, END_OF_TIME, GONE, Row, first_parts
from mabos_cli.index.packing import near_by_signs, pack_vector, signs_of
from mabos_cli.index.restriction import Restriction
from mabos_cli.index.tables import SCHEMA, SqliteLanes, address_of, give_memo, match_any, read_meta, read_signs

_ROWS = 2000  # passages with a word that are looked at
_KEPT = 40  # candidates that are looked at closely
# Of those that point the same way as a prompt, or share a word with it: how many are looked at by the signs of their vectors, are
# read, most of which may be untrusted, and are compared in full by their first characters: fewer in a large memory, where what is
# relevant stands out.
_LOOKED_AT, _LOADED, _COMPARED, _READ = 160, 60, (24, 3), 160
_LARGE = 1000


class Seen(NamedTuple):
    """Holds what the index holds about a candidate: an item by its record, or a passage of a file by its lines; the file that it comes
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

    def __init__(self, db: sqlite3.Connection, meta: Mapping[str, str]) -> None:
        self._db, self._meta, self._lanes = db, meta, SqliteLanes(db)
        self._stamps: dict[str, str] = {}

    def __enter__(self) -> "Peek":
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def find(self, prompt: Prompt, least: int, importance: float, embedder: Embedder | None = None) -> list[Seen]:
        """Returns what is relevant to a prompt, by its words and by its meaning, and trusted at least so far, best first."""
        asked, total = prompt.asked, self._lanes.count_findable(GONE)
        worth = telling_words(asked, self._lanes.holders(asked), total)
        places = {word: self._places(word) for word in worth}
        found = share_words(places, worth, asked, total) if len(worth) >= words_needed(len(asked)) else {}
        if embedder and self._meta.get("model") == embedder.model:
            give_memo(self._db, embedder)
            whole = sum(worth.get(word) or log(1 + total) for word in asked)
            shared: dict[int, float] = {}
            for word, value in worth.items():
                shared |= {row: shared.get(row, 0.0) + value / whole for row in places[word]}
            found, names = self._weigh(prompt, least, embedder, found, shared)
            if names:
                prompt = prompt._replace(asked=[*asked, *names], other=" ".join(names))
                return self.find(prompt, least, importance, embedder)
        best = sorted(found, key=lambda row: (-found[row], row))[:_KEPT]
        rows = [row for row in self._lanes.load_rows(best) if row.trust >= least]
        lexical = shares([found[row.row] for row in rows])
        signals = [
            Signals(str(row.row), value, importance=row.importance, at=row.at, away=row.row >= ARCHIVED)
            for row, value in zip(rows, lexical, strict=True)
        ]
        scored = score(signals, Weighing(importance=importance), _KEPT)
        by_row = {row.row: row for row in rows}
        return [*self._seen([(by_row[int(one.ref)], one.score) for one in scored])]

    def latest(self, count: int, least: int) -> list[Seen]:
        """Returns the items that are trusted at least so far and happened last, the newest first."""
        newest = self._lanes.list_around(END_OF_TIME, count, 0, FINDABLE)[0]
        ids = [json.loads(line)["id"] for line, *_ in reversed(newest)]
        rows = {row.item: row for row in self._lanes.load_items(ids, Restriction(), GONE) if row.trust >= least}
        return [*self._seen([(rows[item_id], 1 - n / len(ids)) for n, item_id in enumerate(ids) if item_id in rows])]

    def _weigh(
        self, prompt: Prompt, least: int, embedder: Embedder, sure: dict[int, float], shared: dict[int, float]
    ) -> tuple[dict[int, float], list[str]]:
        """Returns how relevant passages are that share enough words, or whose meaning is near; and other names, if they tell some."""
        query, total = embedder.embed_query(prompt.text), self.count()
        near = self._near(query)
        points = {row: near.get(row, 0.0) + shared.get(row, 0.0) for row in (*near, *shared)}
        best = nlargest(_LOADED, points, key=lambda row: (points[row], row))
        best += nlargest(_KEPT, sure, key=lambda row: (sure[row], -row))
        texts = {row: (kind, text) for row, kind, text in self._texts(best, least)}
        names = other_names(prompt, [text for _, text in texts.values()]) if not prompt.other else []
        roughly = {
            row: relevance(prompt, text, shared.get(row, 0.0), near.get(row, 0.0)) for row, (_, text) in texts.items()
        }
        values = {row: roughly.pop(row) for row in sure if row in roughly}
        for row in nlargest(_COMPARED[total > _LARGE], roughly, key=lambda row: (roughly[row], row)):
            text = texts[row][1]
            value = cosine(query, embedder.embed_query(text[:_READ]))
            values[row] = relevance(prompt, text, shared.get(row, 0.0), value)
        floors = {row: least_relevance(prompt, texts[row][0], total) for row in values}
        return choose_relevant(values, floors, sure), names

    def _near(self, query: bytes) -> dict[int, float]:
        """Returns the live passages whose vectors point most nearly the same way, and roughly how much so, by the signs of their
        numbers."""
        kind = self._meta.get("kind", "")
        try:
            rows, signs = read_signs(self._db, f"passages_{kind.removesuffix('0')}", kind, 0)
            near = near_by_signs(rows, signs, signs_of(pack_vector(query)), _LOOKED_AT)
        except (sqlite3.Error, StructError, ValueError):  # another layout, or another width
            return {}
        return {row: cos(pi * apart / (len(query) // 4)) for row, apart in near.items()}

    def count(self) -> int:
        """Returns how many items there are; what was merely said in a session does not count."""
        count: int = self._db.execute("SELECT count(*) FROM items WHERE shown").fetchone()[0]
        return count

    def _texts(self, numbers: Collection[int], least: int) -> Iterator[tuple[int, str, str]]:
        """Yields type and text of those passages, by their numbers, that are trusted at least so far."""
        rows = [row for row in self._lanes.load_rows(numbers) if row.trust >= least]
        lines = self._lanes.load_lines([row.item_row for row in rows if row.item])
        texts = self._lanes.load_texts([row.row for row in rows if not row.item])
        for row in rows:
            item = json.loads(lines[row.item_row][0]) if row.item else None
            yield row.row, *((item["type"], item["content"]) if item else ("file", texts[row.row]))

    def knows(self, item: Mapping[str, Any]) -> bool:
        """Returns whether the index holds an item, by its text."""
        line = self.line(item["id"])
        return line is not None and json.loads(line)["content"] == item["content"]

    def stamps(self) -> dict[str, str]:
        """Returns the stamp that each file had when it was read."""
        self._stamps = self._stamps or dict(self._db.execute("SELECT path, stamp FROM files"))
        return self._stamps

    def line(self, item_id: str) -> str | None:
        """Returns the record of an item, live or archived."""
        return self._lanes.find_line(item_id)

    def _places(self, word: str) -> set[int]:
        match = match_any([word])
        sql = "SELECT rowid, 0 FROM passages_fts WHERE passages_fts MATCH ? AND rowid < ? LIMIT ?"
        return {*first_parts(self._db.execute(sql, (match, GONE, _ROWS)))}

    def _seen(self, rows: list[tuple[Row, float]]) -> Iterator[Seen]:
        lines = self._lanes.load_lines([row.item_row for row, _ in rows if row.item])
        texts = self._lanes.load_texts([row.row for row, _ in rows if not row.item])
        stamps = self.stamps()
        sources = self._lanes.load_sources(lines)
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
    meta = read_meta(db)
    if meta.get("shape", "").startswith(f"{SCHEMA} "):
        return Peek(db, meta)
    db.close()
    return None
