"""Which long-term items share most of their words with a text: an exact answer from a small inverted index in SQLite.

Only the leading words of each item (see core.similar.probe) are indexed: any two texts that are alike enough share one of
them. The file is disposable: a damaged or older one is made anew, and one that cannot be written lives in memory.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from zlib import crc32

from mabos_cli.core.similar import likeness, probe, word_set
from mabos_cli.core.stores import Relatives

_SCHEMA = 1
# The lowest likeness that anybody may ask for; lower thresholds need longer leading parts.
FLOOR = 0.5
_TABLES = """
CREATE TABLE IF NOT EXISTS similar_page (name TEXT PRIMARY KEY, stamp TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS similar_item (id TEXT PRIMARY KEY, page TEXT NOT NULL, checksum INTEGER NOT NULL, words TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS similar_item_page ON similar_item (page);
CREATE TABLE IF NOT EXISTS similar_probe (word INTEGER NOT NULL, id TEXT NOT NULL, PRIMARY KEY (word, id)) WITHOUT ROWID;
"""
Source = tuple[str, str, Callable[[], Iterator[tuple[str, int, Callable[[], str]]]]]


def fingerprint(word: str) -> int:
    """A small number for a word. Two words may share one: that only adds a candidate, which is then compared."""
    return crc32(word.encode("utf-8", "surrogatepass"))


class SimilarIndex(Relatives):
    """Finds relatives of a text among long-term items and among those added in this run."""

    def __init__(self, path: Path) -> None:
        self._db = _open(path)
        self._added: dict[str, frozenset[str]] = {}
        self._added_by: dict[int, list[str]] = {}

    def follow(self, sources: Iterable[Source]) -> None:
        """Brings the index up to date with the pages whose stamp changed."""
        known = dict(self._db.execute("SELECT name, stamp FROM similar_page"))
        names = set()
        with self._db:
            for name, stamp, load in sources:
                names.add(name)
                if known.get(name) != stamp:
                    self._follow_page(name, load())
                    self._db.execute("INSERT OR REPLACE INTO similar_page VALUES (?, ?)", (name, stamp))
            for name in known.keys() - names:
                self._follow_page(name, iter(()))
                self._db.execute("DELETE FROM similar_page WHERE name = ?", (name,))

    def _follow_page(self, page: str, lines: Iterator[tuple[str, int, Callable[[], str]]]) -> None:
        old = dict(self._db.execute("SELECT id, checksum FROM similar_item WHERE page = ?", (page,)))
        for item_id, checksum, content in lines:
            if old.pop(item_id, None) != checksum:
                self._forget(item_id)
                text = word_set(content())
                row = (item_id, page, checksum, " ".join(sorted(text)))
                self._db.execute("INSERT INTO similar_item VALUES (?, ?, ?, ?)", row)
                rows = [(fingerprint(word), item_id) for word in probe(text, FLOOR)]
                self._db.executemany("INSERT OR IGNORE INTO similar_probe VALUES (?, ?)", rows)
        for item_id in old:
            self._forget(item_id)

    def _forget(self, item_id: str) -> None:
        row = self._db.execute("SELECT words FROM similar_item WHERE id = ?", (item_id,)).fetchone()
        if row:
            rows = [(fingerprint(word), item_id) for word in probe(frozenset(row[0].split()), FLOOR)]
            self._db.executemany("DELETE FROM similar_probe WHERE word = ? AND id = ?", rows)
            self._db.execute("DELETE FROM similar_item WHERE id = ?", (item_id,))

    def add(self, item_id: str, text: frozenset[str]) -> None:
        """Makes an item that is about to be stored findable; the pages will bring it for good."""
        self._added[item_id] = text
        for word in probe(text, FLOOR):
            self._added_by.setdefault(fingerprint(word), []).append(item_id)

    def find(self, text: frozenset[str], threshold: float) -> list[tuple[float, str]]:
        """Items with at least this likeness, most alike first."""
        threshold = max(threshold, FLOOR)
        marks = [fingerprint(word) for word in probe(text, threshold)]
        fresh = {i for mark in marks for i in self._added_by.get(mark, ())}
        texts = {i: self._added[i] for i in fresh}
        for start in range(0, len(marks), 500):
            part = marks[start : start + 500]
            query = (
                "SELECT DISTINCT i.id, i.words FROM similar_probe p JOIN similar_item i ON i.id = p.id WHERE p.word IN "
                f"({','.join('?' * len(part))})"
            )
            texts |= {i: frozenset(row.split()) for i, row in self._db.execute(query, part) if i not in texts}
        scored = [(likeness(text, other), i) for i, other in texts.items()]
        return sorted((hit for hit in scored if hit[0] >= threshold), key=lambda hit: (-hit[0], hit[1]))


def _open(path: Path) -> sqlite3.Connection:
    """The index file, made anew when it is damaged or of another schema, or an index in memory when it cannot be written."""
    for attempt in (path, path, None):
        try:
            if attempt:
                attempt.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(attempt or ":memory:", timeout=10)
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, _SCHEMA):
                raise sqlite3.DatabaseError("another schema")
            db.executescript(_TABLES)
            db.execute(f"PRAGMA user_version = {_SCHEMA}")
            db.execute("SELECT count(*) FROM similar_page").fetchone()
            return db
        except (sqlite3.Error, OSError):
            if attempt:
                with suppress(OSError):
                    attempt.unlink()
    raise RuntimeError("SQLite cannot even open a database in memory")
