"""The tables of the index in SQLite, and its lane of words. Everything in them comes from the files and can be rebuilt.

files      one row for each source, with the stamp and hash that tell whether it changed, and what is wrong with it
items      one row for each record of a memory item, wherever it stands; `shown` marks the one that recall may return
passages   what can be found: parts of items (item is set) and of files; a hidden one is a copy of an item. `vector` and `strong` say
           of each of two models whether its vector waits, is there, or is not needed
passages_fts, passages_vec (or passages_blob), strong_vec    the words and the vectors of the passages that are shown; the words
           without the text, which is in passages, or in the line of an item: who takes it out must give it again
embedding_cache   vectors of models that are slow or cost money, by model and hash of the text
model_memo what a model wants to be given back so that its first question is cheap
meta       the shape of the index: schema and settings, the model, the width of its vectors, how they are kept, and their sum
"""

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mabos_cli.core.language.text import spaced
from mabos_cli.index.candidates import ARCHIVED, BOUNDS, PARTS, Candidates, best_parts, pieces_of
from mabos_cli.index.restriction import Restriction

if TYPE_CHECKING:
    from mabos_cli.core.search.documents import Embedder, Source
    from mabos_cli.index.vectors import Vectors

# Another number for whatever changes what a file of the index holds, or how; since 10, texts are kept once and packed, vectors as bytes;
# since 11, passages carry the title of their page; since 12, it has the sum of the vectors.
SCHEMA = 12
# Marks belong to the words they stand on: Indic vowel signs are marks.
TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
_TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (
    path TEXT PRIMARY KEY, stamp TEXT NOT NULL, size INTEGER NOT NULL, mtime INTEGER NOT NULL, hash TEXT NOT NULL,
    passages INTEGER NOT NULL, items INTEGER NOT NULL, error TEXT NOT NULL
);
CREATE INDEX files_error ON files (path) WHERE error != '';
CREATE TABLE items (
    row INTEGER PRIMARY KEY, source TEXT NOT NULL, id TEXT NOT NULL, checksum INTEGER NOT NULL, shown INTEGER NOT NULL,
    store TEXT NOT NULL, archived TEXT NOT NULL, away INTEGER NOT NULL, away_at TEXT NOT NULL, heir TEXT NOT NULL, type TEXT NOT NULL, importance REAL NOT NULL,
    at TEXT NOT NULL, expires_at TEXT NOT NULL, author TEXT NOT NULL, session TEXT NOT NULL, tags TEXT NOT NULL,
    access_count INTEGER NOT NULL, size INTEGER NOT NULL, body INTEGER NOT NULL, trust INTEGER NOT NULL, line BLOB NOT NULL
);
CREATE INDEX items_source ON items (source);
CREATE INDEX items_id ON items (id);
CREATE INDEX items_rank ON items (away, importance DESC, at DESC) WHERE shown;
CREATE INDEX items_store ON items (store);
CREATE INDEX items_time ON items (at, id) WHERE shown;
CREATE INDEX items_session ON items (session, at, id) WHERE shown AND session != '';
CREATE INDEX items_author ON items (author) WHERE author > '';
CREATE INDEX items_expiry ON items (expires_at) WHERE shown AND expires_at != '';
CREATE TABLE passages (
    row INTEGER PRIMARY KEY, source TEXT NOT NULL, item TEXT NOT NULL, item_row INTEGER NOT NULL, part INTEGER NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL, heading TEXT NOT NULL, text BLOB NOT NULL, at TEXT NOT NULL,
    author TEXT NOT NULL, copy_of TEXT NOT NULL, shown INTEGER NOT NULL, body INTEGER NOT NULL, vector INTEGER NOT NULL,
    strong INTEGER NOT NULL, trust INTEGER NOT NULL, size INTEGER NOT NULL
);
CREATE INDEX passages_source ON passages (source) WHERE item = '';
CREATE INDEX passages_item ON passages (item) WHERE item != '';
CREATE INDEX passages_copy ON passages (copy_of) WHERE copy_of != '';
CREATE INDEX passages_pending ON passages (row) WHERE vector = 0 AND shown;
CREATE INDEX passages_weak ON passages (row) WHERE strong = 0 AND shown;
CREATE VIRTUAL TABLE passages_fts USING fts5 (about, body, content = '', tokenize = "{TOKENIZER}");
CREATE VIRTUAL TABLE passages_terms USING fts5vocab (passages_fts, 'row');
CREATE TABLE model_memo (model TEXT PRIMARY KEY, memo BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE embedding_cache (
    model TEXT NOT NULL, hash TEXT NOT NULL, vector BLOB NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (model, hash)
) WITHOUT ROWID;
"""


def match_any(terms: Iterable[str]) -> str:
    """Returns an FTS5 query that any of the terms answers. Terms are quoted: nothing in them is an operator.

    >>> match_any(["seat", "東京都"])
    '"seat" OR "東 京" OR "京 都"'
    """
    return " OR ".join(dict.fromkeys(map(_quoted, pieces_of(terms))))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""').replace("\0", " ") + '"'


class SqliteLanes(Candidates):
    """The candidates of one agent in its SQLite file, with the table of vectors that a question may be compared with."""

    def __init__(self, db: Any, vectors: "Callable[[], Vectors | None]" = lambda: None) -> None:
        super().__init__(db)
        self._vectors = vectors

    def nearest(self, query: bytes, count: int, only: Restriction, away: int) -> list[tuple[int, float]]:
        vectors = self._vectors()
        return vectors.nearest(query, count, only, away) if vectors else []

    def find_words(self, asked: Sequence[str], count: int, only: Restriction, first: int, end: int) -> dict[int, float]:
        return self._match(match_any(asked), count, only, first, end)

    def find_phrase(self, phrase: str, count: int, only: Restriction, first: int, end: int) -> dict[int, float]:
        return self._match(_quoted(spaced(phrase)), count, only, first, end)

    def _match(self, match: str, count: int, only: Restriction, first: int, end: int) -> dict[int, float]:
        if not match:
            return {}
        sql = "SELECT rowid, -bm25(passages_fts) FROM passages_fts WHERE passages_fts MATCH ? AND rowid >= ? AND rowid < ?"
        sql += f" AND +rowid IN ({only.within(first, end)})" if only.sql else ""
        values = (match, first, end, *only.values)
        ranked = f"{sql} ORDER BY rank LIMIT ?"
        return best_parts(lambda wanted: self._db.execute(ranked, (*values, wanted)).fetchall(), count)

    def count_findable(self, end: int) -> int:
        """Returns how many items and passages of files can be found; the lane of words has a short row for each part."""
        sql = f"SELECT count(*) FROM passages_fts_docsize WHERE id < ? AND id % {PARTS} = 0"
        return int(self._db.execute(sql, (end,)).fetchone()[0])

    def _add_up(self, worths: Mapping[str, float], count: int, only: Restriction, end: int) -> list[tuple[int, float]]:
        sql = "SELECT rowid FROM passages_fts WHERE passages_fts MATCH ? AND rowid >= ? AND rowid < ?"
        sql += f" AND +rowid IN ({only.within(ARCHIVED, end)})" if only.sql else ""
        found: dict[int, float] = {}
        for word, worth in worths.items():
            rows = [row for (row,) in self._db.execute(sql, (match_any([word]), ARCHIVED, end, *only.values))]
            more = {row: found[row] + worth for row in rows if row in found} if found else {}
            found |= dict.fromkeys(rows, worth) | more
        return [(row, value) for value, row in nlargest(count, zip(found.values(), found, strict=True))]

    def _total(self) -> int:
        return int(self._db.execute("SELECT sum(passages) + sum(items) FROM files").fetchone()[0] or 0)

    def holders(self, words: Sequence[str]) -> dict[str, int]:
        """Returns in how many passages each word occurs, in whatever form. The index holds stems; a table of words that is made for the
        moment, with the same tokenizer, tells them."""
        self._db.execute(f'CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked USING fts5 (word, tokenize = "{TOKENIZER}")')
        terms = "temp.asked_terms USING fts5vocab (temp, asked, 'instance')"
        self._db.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS {terms}")
        self._db.execute("DELETE FROM temp.asked")
        self._db.executemany("INSERT INTO temp.asked (rowid, word) VALUES (?, ?)", enumerate(words))
        sql = "SELECT a.doc, min(t.doc) FROM temp.asked_terms a JOIN passages_terms t ON t.term = a.term GROUP BY a.doc"
        return {words[number]: held for number, held in self._db.execute(sql)}


def read_signs(db: Any, table: str, kind: str, away: int) -> "tuple[array[int], bytes]":
    """Returns the numbers of the passages of a partition, and the signs of their vectors one behind the other. What sqlite-vec keeps in
    tables of its own, a chunk in a row with places that are empty (0), is read without loading it."""
    rows = array("q")
    if kind == "vec0":
        sql = f"SELECT c.rowids, v.vectors FROM {table}_chunks c JOIN {table}_vector_chunks01 v ON v.rowid = c.chunk_id"
        chunks = db.execute(f"{sql} WHERE c.partition00 = ?", (away,)).fetchall()
        rows.frombytes(b"".join(numbers for numbers, _ in chunks))
        return rows, b"".join(signs for _, signs in chunks)
    bounds = BOUNDS[away : away + 2]
    found = db.execute(f"SELECT row, signs FROM {table} WHERE row >= ? AND row < ?", bounds).fetchall()
    rows.extend(row for row, _ in found)
    return rows, b"".join(signs for _, signs in found)


def address_of(path: str) -> str:
    """Returns the address of an index for who only reads it."""
    place = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{place}?mode=ro"


def swap_files(temp: Path, path: Path) -> None:
    """Puts a new file in the place of the old one, whatever is there."""
    with temp.open("rb") as file:
        os.fsync(file.fileno())
    make_room(path, None)
    os.replace(temp, path)


def make_room(path: Path, old: Path | None) -> None:
    """Takes away whatever lies where an index is to be, a file to where it can still be read."""
    if path.is_dir() and not path.is_symlink():  # a folder there is somebody's: it is renamed, not removed
        number = 1
        while (aside := path.with_name(f"{path.name}.aside-{number}")).exists():
            number += 1
        path.rename(aside)
    elif old and os.path.lexists(path):
        os.replace(path, old)
    for tail in ("-journal", "-wal", "-shm"):  # of the old file; SQLite would apply them to the new one
        Path(f"{path}{tail}").unlink(missing_ok=True)


def create_tables(db: Any, shape: str) -> None:
    """Makes the tables of an empty index."""
    db.executescript(_TABLES)
    db.execute("INSERT INTO meta VALUES ('shape', ?)", (shape,))


def keep_log(db: Any) -> None:
    """Notes from now on which rows change, for who keeps them elsewhere too. The log has a name: that of another index is another's."""
    if has_log(db):
        return
    with transaction(db):
        db.execute(
            "CREATE TABLE changed (seq INTEGER PRIMARY KEY AUTOINCREMENT, row INTEGER NOT NULL, is_item INTEGER NOT NULL)"
        )
        for number, table in enumerate(("passages", "items")):
            for event, row in (("INSERT", "new"), ("UPDATE", "new"), ("DELETE", "old")):
                note = f"INSERT INTO changed (row, is_item) VALUES ({row}.row, {number})"
                db.execute(f"CREATE TRIGGER {table}_{event} AFTER {event} ON {table} BEGIN {note}; END")
        write_meta(db, log=os.urandom(8).hex())


def has_log(db: Any) -> bool:
    """Returns whether changes are noted."""
    return db.execute("SELECT 1 FROM meta WHERE key = 'log'").fetchone() is not None


def describe_tables(db: Any, sources: "Sequence[Source]") -> dict[str, Any]:
    """Returns whether the tables follow the sources, and how much they hold."""
    known = dict(db.execute("SELECT path, stamp FROM files"))
    behind = sum(known.pop(source.path, "") != source.stamp for source in sources) + len(known)
    counts = {
        "files": "files",
        "items": "items WHERE shown AND archived = ''",
        "archived_items": "items WHERE shown AND archived != ''",
        "passages": "passages WHERE shown",
        "file_passages": "passages WHERE shown AND item = ''",
        "waiting_for_vectors": "passages WHERE shown AND vector = 0",
        "cached_vectors": "embedding_cache",
    }
    found = {name: db.execute(f"SELECT count(*) FROM {rows}").fetchone()[0] for name, rows in counts.items()}
    return {"state": f"stale: {behind} of {len(sources)} files changed" if behind else "fresh", **found}


def read_meta(db: Any) -> dict[str, str]:
    """Returns what the index says about itself."""
    return dict(db.execute("SELECT key, value FROM meta"))


def write_meta(db: Any, **values: str) -> None:
    """Notes something about the index."""
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())


@contextmanager
def transaction(db: Any) -> Iterator[None]:
    """Yields one change of the index: whole, or not at all."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def give_memo(db: Any, embedder: "Embedder") -> None:
    """Gives the model back what was kept for it."""
    if hasattr(embedder, "use"):
        found = db.execute("SELECT memo FROM model_memo WHERE model = ?", (embedder.model,)).fetchone()
        if found:
            embedder.use(found[0])
