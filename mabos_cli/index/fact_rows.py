"""Facts as the last run of inference left them, in SQLite, found by their terms, so that a change is followed without reading all.

given     the lines of facts.json and its pages, by hash, with what each says
rows      what holds for which time, given and derived, with the depth of its derivation
tally     how many rows have a predicate, hold for a time, or name a class
pages     the stamp of each file of facts that was read
meta      the versions, rules and limits that this is the outcome of

The file is disposable: without it, or with one that is damaged or behind, all is derived again.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from mabos_cli.core.knowledge.fact import Fact, Triple
from mabos_cli.core.knowledge.relations import Row

_SCHEMA = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pages (name TEXT PRIMARY KEY, stamp TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS given (page TEXT, hash INTEGER, s TEXT, p TEXT, o TEXT, PRIMARY KEY (page, hash)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rows (
    s TEXT, p TEXT, o TEXT, derived INTEGER, n INTEGER, sure REAL, depth INTEGER, low INTEGER, high INTEGER, id TEXT, trust TEXT,
    sign INTEGER, PRIMARY KEY (s, p, o, derived, n)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tally (kind TEXT, key TEXT, number INTEGER NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;
"""
_BY_OBJECT = "CREATE INDEX IF NOT EXISTS rows_by_object ON rows (o, p)"
_FOUND = "SELECT s, o, sure, depth, low, high, id, trust, derived, p FROM rows"
_NUMBER = "INSERT INTO tally VALUES (?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET number = number + excluded.number"


# What tells that the file cannot be used.
BROKEN = (sqlite3.Error, OSError)


class Kept(NamedTuple):
    """A row with what is kept of it: whether it is derived, the id and the trust of its fact, and what says whether that changed."""

    row: Row
    is_derived: bool
    id: str
    trust: str
    sign: int = 0


class FactRows:
    """The rows of an agent; what was asked once in a run is not asked again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = _open(path)
        self._known: dict[tuple[str | None, str | None, str | None], list[Row]] = {}

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Makes changes, all or none."""
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            self._known.clear()
            yield

    # What is there

    def state(self) -> dict[str, str]:
        """Returns what this is the outcome of."""
        return dict(self._db.execute("SELECT key, value FROM meta"))

    def stamps(self) -> dict[str, str]:
        """Returns the stamps of the files that were read."""
        return dict(self._db.execute("SELECT name, stamp FROM pages"))

    def lines(self, page: str) -> dict[int, Triple]:
        """Returns the lines of a page by their hashes, with what each says."""
        rows = self._db.execute("SELECT hash, s, p, o FROM given WHERE page = ?", (page,))
        return {number: (s, p, o) for number, s, p, o in rows}

    def tally(self, kind: str) -> dict[str, int]:
        """Returns how many there are of a kind."""
        rows = self._db.execute("SELECT key, number FROM tally WHERE kind = ? AND number > 0", (kind,))
        return dict(rows)

    def predicates(self) -> Mapping[str, bool]:
        """Returns the predicates, each with whether facts with it hold for a time only."""
        timed = self.tally("timed")
        return {name: name in timed for name in self.tally("predicate")}

    def find(self, predicate: str | None, subject: str | None, obj: str | None) -> list[Row]:
        """Returns the rows with these terms; None for any."""
        key = (predicate, subject, obj)
        if key not in self._known:
            terms = {name: value for name, value in zip("pso", key, strict=True) if value is not None}
            where = " AND ".join(f"{name} = ?" for name in terms)
            asked = f"{_FOUND} WHERE {where}" if where else _FOUND
            self._known[key] = [*map(_row, self._db.execute(asked, tuple(terms.values())))]
        return self._known[key]

    def signs(self, triple: Triple) -> dict[str, int]:
        """Returns the derived facts that say something, by id, with what says whether one changed."""
        asked = "SELECT id, sign FROM rows WHERE s = ? AND p = ? AND o = ? AND derived = 1"
        return dict(self._db.execute(asked, triple))

    # Changes

    def clear(self) -> None:
        """Takes everything out."""
        for table in ("meta", "pages", "given", "rows", "tally"):
            self._db.execute(f"DELETE FROM {table}")
        self._db.execute("DROP INDEX IF EXISTS rows_by_object")

    def finish(self, state: Mapping[str, str], stamps: Mapping[str, str]) -> None:
        """Notes what this is the outcome of now."""
        self._db.execute(_BY_OBJECT)
        self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", state.items())
        self._db.executemany("INSERT OR REPLACE INTO pages VALUES (?, ?)", stamps.items())

    def put_lines(self, page: str, lines: Iterable[tuple[int, Triple]]) -> None:
        self._db.executemany("INSERT OR REPLACE INTO given VALUES (?, ?, ?, ?, ?)", ((page, n, *t) for n, t in lines))

    def drop_lines(self, page: str, hashes: Iterable[int]) -> None:
        self._db.executemany("DELETE FROM given WHERE page = ? AND hash = ?", ((page, number) for number in hashes))

    def put_rows(self, kept: Iterable[Kept]) -> None:
        """Adds rows; those of one triple at once."""
        numbers, counts = Counter[tuple[str, ...]](), Counter[tuple[str, str]]()

        def values() -> Iterator[tuple[object, ...]]:
            for (s, o, sure, depth, span, _, _, p), derived, fact_id, trust, sign in kept:
                place = (s, p, o, str(derived))
                low, high = span if span else (None, None)
                counts["predicate", p] += 1
                counts["timed", p] += span is not None
                numbers[place] += 1
                yield s, p, o, int(derived), numbers[place] - 1, sure, depth, low, high, fact_id, trust, sign

        self._db.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * 12)})", values())
        self.count(counts)

    def drop_rows(self, triple: Triple, *, derived: bool) -> None:
        """Takes out what is given, or what is derived, of a triple."""
        where = "FROM rows WHERE s = ? AND p = ? AND o = ? AND derived = ?"
        number, timed = self._db.execute(f"SELECT count(*), count(low) {where}", (*triple, int(derived))).fetchone()
        if number:
            self._db.execute(f"DELETE {where}", (*triple, int(derived)))
            self.count({("predicate", triple[1]): -number, ("timed", triple[1]): -timed})

    def count(self, numbers: Mapping[tuple[str, str], int]) -> None:
        """Adds to how many there are."""
        self._db.executemany(_NUMBER, ((*key, number) for key, number in numbers.items() if number))


def _row(found: tuple[Any, ...]) -> Row:
    s, o, sure, depth, low, high, fact_id, trust, derived, p = found
    fact = Fact(fact_id, s, p, o, sure, trust=trust, rule_id="derived" if derived else "")
    return (s, o, sure, depth, None if low is None else (low, high), -1, fact, p)


def _open(path: Path) -> sqlite3.Connection:
    """Opens the file, made again when it is damaged or of another schema."""
    for attempt in (1, 2):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(path, timeout=10, isolation_level=None)
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, _SCHEMA):
                raise sqlite3.DatabaseError("another schema")
            tables = "" if version else _TABLES
            db.executescript(f"PRAGMA synchronous = NORMAL; {tables} PRAGMA user_version = {_SCHEMA};")
            for table in ("meta", "pages", "given", "rows", "tally"):
                db.execute(f"SELECT * FROM {table} LIMIT 1").fetchone()
            return db
        except sqlite3.Error:
            with suppress(OSError):
                path.unlink()
            if attempt == 2:
                raise
    raise AssertionError("unreachable")
