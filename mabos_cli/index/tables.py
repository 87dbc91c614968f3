"""The tables of the index and every query on them. Everything in them comes from the files and can be rebuilt.

files      one row for each source, with the stamp and hash that tell whether it changed, and what is wrong with it
items      one row for each record of a memory item, wherever it stands; `shown` marks the one that recall may return
passages   what can be found: parts of items (item is set) and of files; a hidden one is a copy of an item. `vector` and `strong` say
           of each of two models whether its vector waits, is there, or is not needed
passages_fts, passages_vec (or passages_blob), strong_vec    the words and the vectors of the passages that are shown; the words
           without the text, which is in passages, or in the line of an item: who takes it out must give it again
embedding_cache   vectors of models that are slow or cost money, by model and hash of the text
model_memo what a model wants to be given back so that its first question is cheap
meta       the shape of the index: schema and settings, the model, the width of its vectors, how they are kept

The number of a passage tells what it is without a look at the table: the parts of one item follow one another from a
multiple of PARTS on; those of archived items that are still found are numbered from ARCHIVED on, those of what was merged
or superseded from GONE on, and those of what was forgotten behind them, so that one condition leaves them out.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from heapq import nlargest
from itertools import accumulate
from math import log
from typing import TYPE_CHECKING, Any, NamedTuple

from mabos_cli.core.language.text import spaced, split_uncut
from mabos_cli.core.memory.stores import EVERYTHING
from mabos_cli.core.memory.trust import PRIVATE
from mabos_cli.index.packing import unpack_text
from mabos_cli.index.restriction import TRUST, Restriction

if TYPE_CHECKING:
    from mabos_cli.core.search.documents import Embedder

_FEW = 300  # passages that are scored one by one without being felt
_MOST_TERMS = 64  # of a question; a pasted document asks with its first words
_ROW = (
    "SELECT p.row, p.item, p.item_row, p.source, p.first, p.last, p.at, p.author, ifnull(i.session, ''),"
    f" ifnull(i.importance, 0.5), ifnull(i.access_count, 0), ifnull(i.size, p.size), {TRUST}, ifnull(i.expires_at, '')"
    " FROM passages p LEFT JOIN items i ON i.row = p.item_row WHERE "
)
_BEFORE = " AND (at, id) < (?, ?) ORDER BY at DESC, id DESC LIMIT ?"
_AFTER = " AND (at, id) > (?, ?) ORDER BY at, id LIMIT ?"
# Numbers as one value: the statement stays the same, and SQLite prepares it once.
_LISTED = "(SELECT value FROM json_each(?))"
# Another number for whatever changes what a file of the index holds, or how; since 10, texts are kept once and packed, vectors as bytes.
SCHEMA = 10
PARTS = 256
WAITING, EMBEDDED, NONE = range(3)
# sqlite-vec compares only the lower half of a number in `rowid IN`: all numbers must fit into it.
ARCHIVED, GONE, FORGOTTEN, END = (PARTS * n << 22 for n in range(1, 5))
BOUNDS = (PARTS, ARCHIVED, GONE, FORGOTTEN, END)  # of live passages, and of those that each reach adds
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


class Row(NamedTuple):
    """A passage that was found, with what scoring needs to know about it."""

    row: int
    item: str
    item_row: int
    source: str
    first: int
    last: int
    at: str
    author: str
    session: str
    importance: float
    access: int
    size: int
    trust: int
    expires_at: str


def _listed(numbers: Iterable[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"


def match_any(terms: Iterable[str]) -> str:
    """Returns an FTS5 query that any of the terms answers. Terms are quoted: nothing in them is an operator.

    >>> match_any(["seat", "東京都"])
    '"seat" OR "東 京" OR "京 都"'
    """
    parts = [piece for term in terms for piece in split_uncut(term)]
    return " OR ".join(dict.fromkeys(map(_quoted, parts[: 2 * _MOST_TERMS])))


def match_phrase(phrase: str) -> str:
    """Returns an FTS5 query for what stands as it is written."""
    return _quoted(spaced(phrase))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""').replace("\0", " ") + '"'


def find_words(db: Any, match: str, count: int, only: Restriction, first: int, end: int) -> dict[int, float]:
    """Returns how well items and passages of a range share words with the question, by the number of their first part.

    A long item is many passages: while those of a few items fill the places, more are asked for.
    """
    if not match:
        return {}
    sql = "SELECT rowid, -bm25(passages_fts) FROM passages_fts WHERE passages_fts MATCH ? AND rowid >= ? AND rowid < ?"
    sql += f" AND +rowid IN ({only.within(first, end)})" if only.sql else ""
    wanted = count
    while True:
        rows = db.execute(f"{sql} ORDER BY rank LIMIT ?", (match, first, end, *only.values, wanted)).fetchall()
        found = first_parts(rows)
        if len(rows) < wanted or 2 * len(found) >= count or wanted > 64 * count:
            return dict(list(found.items())[:count])
        wanted *= 4


def load_rows(db: Any, numbers: Iterable[int]) -> Iterator[Row]:
    """Returns what is known about passages."""
    return map(Row._make, db.execute(f"{_ROW} p.row IN {_LISTED}", (_listed(numbers),)))


def first_parts(found: Iterable[tuple[int, float]]) -> dict[int, float]:
    """Returns the best value of each item or passage, by the number of its first part. Best ones come first."""
    best: dict[int, float] = {}
    for row, value in found:
        best.setdefault(row - row % PARTS, value)
    return best


def load_items(db: Any, ids: Sequence[str], only: Restriction, end: int) -> Iterator[Row]:
    """Returns what is known about items, by their first part, as far as they pass the filters."""
    where = f"p.item IN ({','.join('?' * len(ids))}) AND p.item != '' AND p.part = 0"
    where += f" AND p.row IN ({only.sql})" if only.sql else ""
    return map(Row._make, db.execute(f"{_ROW}{where} AND p.row < ?", (*ids, *only.values, end)))


def find_heirs(db: Any, ids: Iterable[str], reach: int) -> list[str]:
    """Returns the items within reach that others went into, through any number of steps."""
    found, left, seen = list[str](), [*ids], set[str]()
    for item_id in left:  # which grows as heirs went into others
        seen.add(item_id)
        for away, heir in db.execute("SELECT away, heir FROM items WHERE id = ? AND shown", (item_id,)):
            if away <= reach:
                found.append(item_id)
            elif heir not in seen:
                left.append(heir)
    return found


def load_lines(db: Any, rows: Iterable[int]) -> dict[int, tuple[str, str, str]]:
    """Returns line, store and reason of archiving of items, by their row."""
    sql = f"SELECT row, line, store, archived FROM items WHERE row IN {_LISTED}"
    return {row: (unpack_text(line), *rest) for row, line, *rest in db.execute(sql, (_listed(rows),))}


def load_sources(db: Any, rows: Iterable[int]) -> dict[int, str]:
    """Returns the files that items stand in, by their row."""
    return dict(db.execute(f"SELECT row, source FROM items WHERE row IN {_LISTED}", (_listed(rows),)))


def find_line(db: Any, item_id: str, reach: int = EVERYTHING) -> str | None:
    """Returns the line of an item within reach, live or as it was when it left; None when there is none."""
    found = db.execute("SELECT line FROM items WHERE id = ? AND shown AND away <= ?", (item_id, reach)).fetchone()
    return unpack_text(found[0]) if found else None


def list_private(db: Any) -> list[str]:
    """Returns the lines of items that are private, live or archived."""
    sql = "SELECT line FROM items WHERE instr(lower(tags), ?)"
    return [unpack_text(line) for (line,) in db.execute(sql, (f"\n{PRIVATE}\n",))]


def load_texts(db: Any, rows: Iterable[int]) -> dict[int, str]:
    """Returns the text of passages of files."""
    sql = f"SELECT row, text FROM passages WHERE row IN {_LISTED}"
    return {row: unpack_text(text) for row, text in db.execute(sql, (_listed(rows),))}


def count_findable(db: Any, end: int) -> int:
    """Returns how many items and passages of files can be found; the lane of words has a short row for each part."""
    sql = f"SELECT count(*) FROM passages_fts_docsize WHERE id < ? AND id % {PARTS} = 0"
    return int(db.execute(sql, (end,)).fetchone()[0])


def list_best(db: Any, count: int, only: Restriction, away: int) -> list[Row]:
    """Returns the most important and recent items among those that a reach adds."""
    where = f"p.row IN ({only.within(*BOUNDS[away : away + 2])})" if only.sql else "1"
    # Written as items_rank has it the best are read off its top; those of a few are rather looked up one by one.
    column = "+i.away" if only.sql else "i.away"
    numbers = db.execute(
        f"SELECT p.row FROM items i JOIN passages p ON p.item = i.id AND p.item != '' AND p.part = 0 WHERE i.shown AND {where} "
        f"AND {column} = ? ORDER BY i.importance DESC, i.at DESC, i.id LIMIT ?",
        (*only.values, away, count),
    ).fetchall()
    found = {row.row: row for row in load_rows(db, [row for (row,) in numbers])}
    return [found[row] for (row,) in numbers]


def list_around(
    db: Any, place: tuple[str, str], before: int, after: int, reach: int
) -> list[list[tuple[str, str, str]]]:
    """Returns line, store and reason of archiving of the items before a place in time, and from there on."""
    select = f"SELECT line, store, archived FROM items WHERE shown AND away <= {int(reach)}"
    earlier = db.execute(select + _BEFORE, (*place, before)).fetchall()[::-1]
    later = db.execute(select + _AFTER.replace(">", ">="), (*place, after)).fetchall()
    return [[(unpack_text(line), *rest) for line, *rest in side] for side in (earlier, later)]


def list_authors(db: Any, most: int = 200) -> list[str]:
    """Returns the authors of items, each found by a jump over all that the one before wrote."""
    found: list[str] = []
    last = ""
    while len(found) < most:
        row = db.execute(
            "SELECT author FROM items WHERE author > ? AND author > '' ORDER BY author LIMIT 1", (last,)
        ).fetchone()
        if row is None:
            break
        last = row[0]
        found.append(last)
    return found


def neighbours(db: Any, row: Row, reach: int) -> tuple[list[str], list[str]]:
    """Returns the ids of the two items before one in its session, and of the two after it, nearest first."""
    select = f"SELECT id FROM items WHERE shown AND away <= {int(reach)} AND session = ? AND session != ''"
    before, after = (db.execute(select + side, (row.session, row.at, row.item, 2)) for side in (_BEFORE, _AFTER))
    return [item_id for (item_id,) in before], [item_id for (item_id,) in after]


def find_rare(db: Any, words: Sequence[str], count: int, most: int, only: Restriction, end: int) -> dict[int, float]:
    """Returns what find_words does, among archived items and by the rarest words alone: as many as so many passages together hold.
    Where those are many, words count by how rare they are, whatever the length of a text: that is much faster."""
    held, first = holders(db, words), ARCHIVED
    ordered = sorted(held, key=lambda word: (held[word], word))
    sums = [*accumulate(map(held.__getitem__, ordered))]
    chosen = [word for word, passages in zip(ordered, sums, strict=True) if passages <= most] or ordered[:1]
    if not chosen or sums[len(chosen) - 1] <= _FEW:
        return find_words(db, match_any(chosen), count, only, first, end)
    total = db.execute("SELECT sum(passages) + sum(items) FROM files").fetchone()[0]
    sql = "SELECT rowid FROM passages_fts WHERE passages_fts MATCH ? AND rowid >= ? AND rowid < ?"
    sql += f" AND +rowid IN ({only.within(first, end)})" if only.sql else ""
    found: dict[int, float] = {}
    for word in chosen:
        worth = log(max(1.01, (total - held[word] + 0.5) / (held[word] + 0.5)))  # as bm25 has it
        rows = [row for (row,) in db.execute(sql, (match_any([word]), first, end, *only.values))]
        more = {row: found[row] + worth for row in rows if row in found} if found else {}
        found |= dict.fromkeys(rows, worth) | more
    best = first_parts((row, value) for value, row in nlargest(4 * count, zip(found.values(), found, strict=True)))
    return dict(list(best.items())[:count])


def holders(db: Any, words: Sequence[str]) -> dict[str, int]:
    """Returns in how many passages each word occurs, in whatever form. The index holds stems; a table of words that is made for the
    moment, with the same tokenizer, tells them."""
    db.execute(f'CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked USING fts5 (word, tokenize = "{TOKENIZER}")')
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked_terms USING fts5vocab (temp, asked, 'instance')")
    db.execute("DELETE FROM temp.asked")
    db.executemany("INSERT INTO temp.asked (rowid, word) VALUES (?, ?)", enumerate(words))
    found = db.execute(
        "SELECT a.doc, min(t.doc) FROM temp.asked_terms a JOIN passages_terms t ON t.term = a.term GROUP BY a.doc"
    )
    return {words[number]: held for number, held in found}


def address_of(path: str) -> str:
    """Returns the address of an index for who only reads it."""
    place = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{place}?mode=ro"


def create_tables(db: Any, shape: str) -> None:
    """Makes the tables of an empty index."""
    db.executescript(_TABLES)
    db.execute("INSERT INTO meta VALUES ('shape', ?)", (shape,))


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
