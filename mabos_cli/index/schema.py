"""The tables of the index. Everything in them comes from the files and can be made again.

files      one row for each source, with the stamp and hash that tell whether it changed, and what is wrong with it
items      one row for each record of a memory item, wherever it stands; `shown` marks the one that recall may return
passages   what can be found: parts of items (item is set), and parts of files; a hidden one is a copy of an item
passages_fts, passages_vec (or passages_blob)    the words and the vectors of the passages that are shown
embedding_cache   vectors of models that are slow or cost money, by model and hash of the text
model_memo what a model wants to be given back so that its first question is cheap
meta       the shape of the index: schema and settings, the model, the width of its vectors, how they are kept

The number of a passage tells what it is without a look at the table: the parts of one item follow one another from a
multiple of PARTS on, and those of archived items are numbered from ARCHIVED on, so that one condition leaves them out.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SCHEMA = 3
PARTS = 256
# sqlite-vec compares only the lower half of a number in `rowid IN`: all numbers must fit into it.
ARCHIVED, END = PARTS << 22, PARTS << 24

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
    store TEXT NOT NULL, archived TEXT NOT NULL, away_at TEXT NOT NULL, type TEXT NOT NULL, importance REAL NOT NULL,
    at TEXT NOT NULL, expires_at TEXT NOT NULL, author TEXT NOT NULL, session TEXT NOT NULL, tags TEXT NOT NULL,
    access_count INTEGER NOT NULL, size INTEGER NOT NULL, body INTEGER NOT NULL, trust INTEGER NOT NULL, line TEXT NOT NULL
);
CREATE INDEX items_source ON items (source);
CREATE INDEX items_id ON items (id);
CREATE INDEX items_rank ON items (archived != '', importance DESC, at DESC) WHERE shown;
CREATE INDEX items_store ON items (store);
CREATE INDEX items_time ON items (at, id) WHERE shown;
CREATE INDEX items_session ON items (session, at, id) WHERE shown AND session != '';
CREATE INDEX items_author ON items (author) WHERE author > '';
CREATE INDEX items_expiry ON items (expires_at) WHERE shown AND expires_at != '';
CREATE TABLE passages (
    row INTEGER PRIMARY KEY, source TEXT NOT NULL, item TEXT NOT NULL, item_row INTEGER NOT NULL, part INTEGER NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL, at TEXT NOT NULL,
    author TEXT NOT NULL, copy_of TEXT NOT NULL, shown INTEGER NOT NULL, body INTEGER NOT NULL, vector TEXT NOT NULL,
    trust INTEGER NOT NULL
);
CREATE INDEX passages_source ON passages (source) WHERE item = '';
CREATE INDEX passages_item ON passages (item) WHERE item != '';
CREATE INDEX passages_copy ON passages (copy_of) WHERE copy_of != '';
CREATE INDEX passages_pending ON passages (row) WHERE vector = '' AND shown;
CREATE VIRTUAL TABLE passages_fts USING fts5 (about, body, tokenize = "{TOKENIZER}");
CREATE VIRTUAL TABLE passages_terms USING fts5vocab (passages_fts, 'row');
CREATE TABLE model_memo (model TEXT PRIMARY KEY, memo BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE embedding_cache (
    model TEXT NOT NULL, hash TEXT NOT NULL, vector BLOB NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (model, hash)
) WITHOUT ROWID;
"""


def read_only(path: str) -> str:
    """The address of an index for who only reads it."""
    place = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{place}?mode=ro"


def create_tables(db: Any, shape: str) -> None:
    """Makes the tables of an empty index."""
    db.executescript(_TABLES)
    db.execute("INSERT INTO meta VALUES ('shape', ?)", (shape,))


def read_meta(db: Any) -> dict[str, str]:
    """What the index says about itself."""
    return dict(db.execute("SELECT key, value FROM meta"))


def write_meta(db: Any, **values: str) -> None:
    """Notes something about the index."""
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())


@contextmanager
def transaction(db: Any) -> Iterator[None]:
    """One change of the index: whole, or not at all."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
