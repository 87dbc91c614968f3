"""Which long-term items share most of their words with a text, from a small index in SQLite; what is found is compared word by word.

Of each item the bands of its signature are indexed (core.language.similar), and of a short one the words of all that it may be
about. The file is disposable: a damaged or older one is rebuilt, and one that cannot be written lives in memory.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote
from zlib import crc32

from mabos_cli.core.language.similar import (
    CANDIDATES,
    IN_BAND,
    WORDS_ASKED,
    WordIndex,
    likeness,
    marks_of,
    subjects,
    word_set,
    words_needed,
)
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.stores import Relatives

_SCHEMA = 6
_TABLES = """
CREATE TABLE IF NOT EXISTS similar_page (name TEXT PRIMARY KEY, stamp TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS similar_item (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, page TEXT NOT NULL, checksum INTEGER NOT NULL, words TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS similar_item_page ON similar_item (page);
CREATE TABLE IF NOT EXISTS similar_mark (mark INTEGER NOT NULL, item INTEGER NOT NULL, PRIMARY KEY (mark, item)) WITHOUT ROWID;
"""
_FIND = "SELECT number, words, checksum FROM similar_item WHERE"
_BAND = 1 << 32  # marks from here on are of likeness, those below are words that a statement is about
_MOST_MARKS = 400  # in one question: SQLite joins no more than 500
Line = tuple[str, int, Callable[[], MemoryItem]]
Source = tuple[str, str, Callable[[], Iterator[Line]]]


class SimilarIndex(Relatives):
    """Finds relatives of a text among long-term items and among those added in this run."""

    def __init__(self, path: Path | None, floor: float, sources: Iterable[Source], *, writes: bool = True) -> None:
        """Opens the index and brings it up to date with the pages whose stamp changed; a damaged one is rebuilt."""
        self._path = path if writes else None
        self._floor = floor
        self._sources = list(sources)
        self._db = _open(self._path, self._floor)
        if path and not writes:
            _copy(path, self._db)
        self._added = WordIndex(floor)
        try:
            self._follow()
        except sqlite3.Error:
            self._rebuild()

    def _rebuild(self) -> None:
        with suppress(sqlite3.Error):
            self._db.close()
        if self._path:
            with suppress(OSError):
                self._path.unlink()
        self._db = _open(self._path, self._floor)
        try:
            self._follow()
        except sqlite3.Error:  # a full disk, perhaps: memory will do
            self._db = _open(None, self._floor)
            self._follow()

    def _follow(self) -> None:
        known = dict(self._db.execute("SELECT name, stamp FROM similar_page"))
        names = set()
        with self._db:
            for name, stamp, load in self._sources:
                names.add(name)
                if known.get(name) != stamp:
                    self._follow_page(name, load())
                    self._db.execute("INSERT OR REPLACE INTO similar_page VALUES (?, ?)", (name, stamp))
            for name in known.keys() - names:
                self._follow_page(name, iter(()))
                self._db.execute("DELETE FROM similar_page WHERE name = ?", (name,))

    def _follow_page(self, page: str, lines: Iterator[Line]) -> None:
        """Takes up what changed on a page; what moved to it, or was only used, keeps its marks."""
        old = dict(self._db.execute("SELECT id, checksum FROM similar_item WHERE page = ?", (page,)))
        for item_id, checksum, decode in [line for line in lines if old.pop(line[0], None) != line[1]]:
            known = self._db.execute(f"{_FIND} id = ?", (item_id,)).fetchone()
            if known and known[2] == checksum:
                self._db.execute("UPDATE similar_item SET page = ? WHERE number = ?", (page, known[0]))
                continue
            text = word_set(decode().content)
            row = (item_id, page, checksum, " ".join(sorted(text)))
            if known and known[1] == row[-1]:
                self._db.execute("REPLACE INTO similar_item VALUES (?, ?, ?, ?, ?)", (known[0], *row))
                continue
            self._remove([known] if known else [])
            number = self._db.execute("INSERT INTO similar_item VALUES (NULL, ?, ?, ?, ?)", row).lastrowid
            rows = ((mark, number) for mark in _marks(text, self._floor))
            self._db.executemany("INSERT OR IGNORE INTO similar_mark VALUES (?, ?)", rows)
        for item_id in old:
            self._remove(self._db.execute(f"{_FIND} id = ?", (item_id,)).fetchall())

    def _remove(self, found: Iterable[tuple[int, str, int]]) -> None:
        """Takes rows out, with the marks of their words."""
        for number, words, _ in found:
            rows = ((mark, number) for mark in _marks(frozenset(words.split()), self._floor))
            self._db.executemany("DELETE FROM similar_mark WHERE mark = ? AND item = ?", rows)
            self._db.execute("DELETE FROM similar_item WHERE number = ?", (number,))

    def add(self, item_id: str, text: frozenset[str]) -> None:
        """Makes an item that is about to be stored findable; the pages will bring it for good."""
        self._added.add(item_id, text)

    def find(self, text: frozenset[str], threshold: float) -> list[tuple[float, str]]:
        """Returns items with at least this likeness (not below the floor), most alike first."""
        threshold = max(threshold, self._floor)
        found = self._added.find(text, threshold)
        marks = [_BAND + mark for mark in marks_of(text, self._floor)]
        for item_id, row in self._ask(marks[:_MOST_MARKS], IN_BAND, "SELECT DISTINCT item FROM"):
            score = likeness(text, frozenset(row.split()))
            if score >= threshold:
                found.append((score, item_id))
        return sorted(dict.fromkeys(found), key=lambda hit: (-hit[0], hit[1]))

    def about(self, text: frozenset[str], least: float) -> list[tuple[float, str]]:
        """Returns short items that are about the same as a text, each with the likeness of that, which is at least so much, most
        alike first. Those that share most words are looked at, and of a common word the newest."""
        asked = subjects(text)
        marks = sorted({_mark_of(word) for word in asked})
        most = f"HAVING count(*) >= {words_needed(asked, least)} ORDER BY count(*) DESC, item DESC LIMIT {CANDIDATES}"
        hits = self._ask(marks, WORDS_ASKED // max(1, len(marks)), "SELECT item FROM", f"GROUP BY item {most}")
        found = [(likeness(asked, _subjects_of(row)), item_id) for item_id, row in hits]
        return sorted((hit for hit in found if hit[0]), key=lambda hit: (-hit[0], hit[1]))

    def _ask(self, marks: Sequence[int], newest: int, select: str, order: str = "") -> list[tuple[str, str]]:
        """Returns ids and words of items that have some of these marks, of each the newest; a damaged index is rebuilt first."""
        if not marks:
            return []
        each = f"SELECT * FROM (SELECT item FROM similar_mark WHERE mark = ? ORDER BY item DESC LIMIT {newest})"
        held = " UNION ALL ".join([each] * len(marks))
        query = f"SELECT id, words FROM similar_item WHERE number IN ({select} ({held}) {order})"
        try:
            return self._db.execute(query, marks).fetchall()
        except sqlite3.DatabaseError:
            self._rebuild()
            return self._db.execute(query, marks).fetchall()


@lru_cache(1 << 13)  # in a batch the same statements are looked at for many others
def _subjects_of(row: str) -> frozenset[str]:
    return subjects(frozenset(row.split()))


@lru_cache(1 << 15)
def _mark_of(word: str) -> int:
    """Returns a small number for a word. Two words may share one: that only adds a candidate to compare."""
    return crc32(word.encode("utf-8", "surrogatepass"))


def _marks(text: frozenset[str], floor: float) -> set[int]:
    """Returns by what an item is found: what its likeness goes by, and the words that it may be about."""
    return {*map(_BAND.__add__, marks_of(text, floor)), *map(_mark_of, subjects(text))}


def _open(path: Path | None, floor: float) -> sqlite3.Connection:
    """Opens the index file, rebuilt when it is damaged or of another schema, or an index in memory."""
    for attempt in (path, path, None) if path else (None,):
        try:
            if attempt:
                attempt.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(attempt or ":memory:", timeout=10)
            db.execute("PRAGMA synchronous = OFF")  # what a power cut leaves behind is rebuilt
            # The floor decides what is indexed, and this Python how numbers are mixed.
            schema = crc32(repr((_SCHEMA, floor, hash((1, 2)))).encode()) & 0x7FFFFFFF
            if db.execute("PRAGMA user_version").fetchone()[0] not in (0, schema):
                raise sqlite3.DatabaseError("another schema")
            db.executescript(_TABLES)
            db.execute(f"PRAGMA user_version = {schema}")
            db.execute("SELECT count(*) FROM similar_page").fetchone()
            return db
        except (sqlite3.Error, OSError):
            if attempt:
                with suppress(OSError):
                    attempt.unlink()
    raise RuntimeError("SQLite cannot even open a database in memory")


def _copy(path: Path, db: sqlite3.Connection) -> None:
    """Copies an index file of the same schema into an index in memory, and leaves the file as it is."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as stored:
        version = "PRAGMA user_version"
        if stored.execute(version).fetchone() == db.execute(version).fetchone():
            stored.backup(db)
