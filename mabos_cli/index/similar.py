"""Which long-term items share most of their words with a text: an exact answer from a small inverted index in SQLite.

Of each item the leading words (see core.similar.probe) are indexed: any two texts that are alike enough share one of them; of
a short one all that it may be about. The file is disposable: a damaged or older one is rebuilt, and one that cannot be written lives in memory.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote
from zlib import crc32

from mabos_cli.core.language.similar import CANDIDATES, HOLDERS, WordIndex, likeness, probe, shared, subjects, word_set
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.stores import Relatives

_SCHEMA = 3
_TABLES = """
CREATE TABLE IF NOT EXISTS similar_page (name TEXT PRIMARY KEY, stamp TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS similar_item (id TEXT PRIMARY KEY, page TEXT NOT NULL, checksum INTEGER NOT NULL, words TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS similar_item_page ON similar_item (page);
CREATE TABLE IF NOT EXISTS similar_probe (word INTEGER NOT NULL, id TEXT NOT NULL, PRIMARY KEY (word, id)) WITHOUT ROWID;
"""
Line = tuple[str, int, Callable[[], MemoryItem]]
Source = tuple[str, str, Callable[[], Iterator[Line]]]


def fingerprint(word: str) -> int:
    """Returns a small number for a word. Two words may share one: that only adds a candidate to compare."""
    return crc32(word.encode("utf-8", "surrogatepass"))


class SimilarIndex(Relatives):
    """Finds relatives of a text among long-term items and among those added in this run."""

    def __init__(self, path: Path | None, floor: float, sources: Iterable[Source], *, writes: bool = True) -> None:
        """Opens the index and brings it up to date with the pages whose stamp changed; a damaged one is rebuilt."""
        self._path = path if writes else None
        self._floor = floor
        self._sources = list(sources)
        self._db = _open(self._path, floor)
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
        old = dict(self._db.execute("SELECT id, checksum FROM similar_item WHERE page = ?", (page,)))
        new = {line[0]: line for line in lines if old.pop(line[0], None) != line[1]}
        for item_id in (*old, *new):
            for row in self._db.execute("SELECT words FROM similar_item WHERE id = ?", (item_id,)).fetchall():
                rows = [(mark, item_id) for mark in self._marks(frozenset(row[0].split()))]
                self._db.executemany("DELETE FROM similar_probe WHERE word = ? AND id = ?", rows)
                self._db.execute("DELETE FROM similar_item WHERE id = ?", (item_id,))
        for item_id, checksum, decode in new.values():
            text = word_set(decode().content)
            row = (item_id, page, checksum, " ".join(sorted(text)))
            self._db.execute("INSERT INTO similar_item VALUES (?, ?, ?, ?)", row)
            rows = [(mark, item_id) for mark in self._marks(text)]
            self._db.executemany("INSERT OR IGNORE INTO similar_probe VALUES (?, ?)", rows)

    def _marks(self, text: frozenset[str]) -> set[int]:
        return {fingerprint(word) for word in (*probe(text, self._floor), *subjects(text))}

    def add(self, item_id: str, text: frozenset[str]) -> None:
        """Makes an item that is about to be stored findable; the pages will bring it for good."""
        self._added.add(item_id, text)

    def find(self, text: frozenset[str], threshold: float) -> list[tuple[float, str]]:
        """Returns items with at least this likeness (not below the floor), most alike first."""
        threshold = max(threshold, self._floor)
        found = self._added.find(text, threshold)
        marks = [fingerprint(word) for word in probe(text, threshold)]
        query = (
            "SELECT i.id, i.words FROM (SELECT id FROM similar_probe WHERE word IN "
            f"({','.join('?' * len(marks))}) GROUP BY id HAVING count(*) >= ?) p JOIN similar_item i ON i.id = p.id"
        )
        # SQLite takes 32,766 variables; a text of more than 64 KiB of distinct words is not stored.
        for item_id, row in self._ask(query, (*marks, shared(text, threshold))):
            score = likeness(text, frozenset(row.split()))
            if score >= threshold:
                found.append((score, item_id))
        return sorted(dict.fromkeys(found), key=lambda hit: (-hit[0], hit[1]))

    def about(self, text: frozenset[str]) -> list[tuple[float, str]]:
        """Returns short items that share a word with a text, each with the likeness of what they are about, most alike
        first. Those that share most are looked at, and of a common word the newest."""
        marks = sorted({fingerprint(word) for word in subjects(text)})
        if not marks:
            return []
        newest = " UNION ALL ".join(
            [f"SELECT * FROM (SELECT id FROM similar_probe WHERE word = ? ORDER BY id DESC LIMIT {HOLDERS})"]
            * len(marks)
        )
        query = (
            f"SELECT i.id, i.words FROM (SELECT id, count(*) AS n FROM ({newest}) GROUP BY id) p "
            f"JOIN similar_item i ON i.id = p.id ORDER BY p.n DESC, length(i.words), i.id DESC LIMIT {CANDIDATES}"
        )
        asked = subjects(text)
        found = [
            (likeness(asked, subjects(frozenset(row.split()))), item_id) for item_id, row in self._ask(query, marks)
        ]
        return sorted((hit for hit in found if hit[0]), key=lambda hit: (-hit[0], hit[1]))

    def _ask(self, query: str, values: Sequence[int]) -> list[tuple[str, str]]:
        """Returns the rows of a query; a damaged index is rebuilt first."""
        try:
            return self._db.execute(query, values).fetchall()
        except sqlite3.DatabaseError:
            self._rebuild()
            return self._db.execute(query, values).fetchall()


def _open(path: Path | None, floor: float) -> sqlite3.Connection:
    """Opens the index file, rebuilt when it is damaged or of another schema, or an index in memory."""
    for attempt in (path, path, None) if path else (None,):
        try:
            if attempt:
                attempt.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(attempt or ":memory:", timeout=10)
            # The floor decides which words are indexed: another floor is another schema.
            schema = _SCHEMA * 1000 + round(floor * 100)
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
