"""Opens SQLite for the index, compares vectors, and embeds passages. Each step down is slower or knows less; none is an error.

1. extension: Python's own sqlite3 loads sqlite-vec.
2. wheel: a SQLite that comes as a wheel (sqlean.py, pysqlite3) loads it, where Python's own was built without extensions.
3. scan: no sqlite-vec; vectors are blobs, narrowed down by their signs and compared in Python.
4. lexical: no vectors at all.
"""

import importlib
import os
import struct
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from heapq import nsmallest
from importlib.util import find_spec
from math import sqrt
from operator import mul
from types import ModuleType
from typing import Any, NamedTuple
from zlib import crc32

from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.search.documents import Embedder
from mabos_cli.index.tables import BOUNDS, Restriction, address_of, packed_signs, read_meta, transaction, write_meta

STEPS = ("extension", "wheel", "scan", "lexical")
_WHEELS = ("sqlean", "pysqlite3")
Rows = list[tuple[int, float]]
_MOST = 4096  # sqlite-vec refuses a larger k
Decode = Callable[[str], MemoryItem]
Show = Callable[[int, int], None]
_BATCH = 512
_PART = 50  # texts of one request
_SHORT = 300  # a turn before this long is context; a longer one would drown what it is context for


class Engine(NamedTuple):
    """A way to open the index: the step, the SQLite module behind it, and the file of sqlite-vec if it is used."""

    step: str
    sqlite: ModuleType
    vec0: str = ""

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """Errors of a damaged file: SQLite's own, and what values of the wrong kind lead to."""
        return (self.sqlite.Error, ValueError, TypeError, LookupError, struct.error)

    @property
    def about(self) -> str:
        """The step in words, for doctor and index status."""
        said = {
            "extension": "sqlite-vec in Python's own SQLite",
            "wheel": f"sqlite-vec in the SQLite of {self.sqlite.__name__.partition('.')[0]}",
            "scan": "blobs, scanned in Python without sqlite-vec",
            "lexical": "none, words only",
        }
        return said[self.step]

    def connect(self, path: str, *, read_only: bool = False) -> Any:
        """Returns a connection that commits when told to, with sqlite-vec loaded where this step has it."""
        place = address_of(path) if read_only else path
        db = self.sqlite.connect(place, uri=read_only, timeout=10, isolation_level=None)
        if self.vec0:
            load_vec0(db, self.vec0)
        db.execute("PRAGMA mmap_size = 1073741824")
        return db


def load_vec0(db: Any, vec0: str) -> None:
    """Loads sqlite-vec into a connection."""
    db.enable_load_extension(True)
    db.load_extension(vec0)
    db.enable_load_extension(False)


def open_engine(wanted: str = "auto") -> Engine:
    """Returns the best step that works here, or the one that is wanted if it does."""
    vec0 = _find_vec0()
    for step in STEPS[:2] if vec0 and wanted in ("auto", *STEPS[:2]) else ():
        if wanted in ("auto", step):
            for name in _own() if step == "extension" else _WHEELS:
                engine = _try(step, name, vec0)
                if engine:
                    return engine
    return Engine("lexical" if wanted == "lexical" else "scan", importlib.import_module("sqlite3"))


def _own() -> tuple[str, ...]:
    """Returns Python's own SQLite if it can load extensions; asking its C part is cheaper than importing the whole."""
    with suppress(ImportError):
        if hasattr(importlib.import_module("_sqlite3").Connection, "enable_load_extension"):
            return ("sqlite3",)
    return ()


def _try(step: str, name: str, vec0: str) -> Engine | None:
    """Returns the engine if its module is there and really loads sqlite-vec."""
    try:
        sqlite = importlib.import_module(name if name == "sqlite3" else f"{name}.dbapi2")
    except ImportError:
        return None
    db = sqlite.connect(":memory:")
    try:
        load_vec0(db, vec0)
    except (sqlite.Error, AttributeError):
        return None
    finally:
        db.close()
    return Engine(step, sqlite, vec0)


def _find_vec0() -> str:
    """Returns sqlite-vec's library without its suffix; importing the package would import numpy."""
    spec = find_spec("sqlite_vec")
    if spec is None or not spec.origin:
        return ""
    folder = os.path.dirname(spec.origin)
    found = [name for name in os.listdir(folder) if name.partition(".")[0] == "vec0"]
    return os.path.join(folder, "vec0") if found else ""


class VecTable:
    """passages_vec, a table of sqlite-vec. Live passages, archived ones, and those out of sight are kept in partitions.

    Archived ones, which may be many, are narrowed down by the signs of their numbers; only the nearest are compared in full.
    """

    kind = "vec0"

    def __init__(self, db: Any) -> None:
        self._db = db

    def create(self, width: int) -> None:
        self.drop()
        self._db.execute(
            "CREATE VIRTUAL TABLE passages_vec USING vec0 "
            f"(away INTEGER PARTITION KEY, embedding FLOAT[{width}] distance_metric=cosine, signs BIT[{-(-width // 8) * 8}])"
        )

    def drop(self) -> None:
        self._db.execute("DROP TABLE IF EXISTS passages_vec")

    def put(self, rows: Iterable[tuple[int, bytes]]) -> None:
        """Adds vectors of passages that have none."""
        self._db.executemany(
            "INSERT INTO passages_vec (rowid, away, embedding, signs) VALUES (?, ?, ?, vec_bit(?))",
            ((row, bisect_right(BOUNDS, row) - 1, vector, packed_signs(vector)) for row, vector in rows),
        )

    def delete(self, rows: Sequence[int]) -> None:
        self._db.executemany("DELETE FROM passages_vec WHERE rowid = ?", ((row,) for row in rows))

    def nearest(self, query: bytes, count: int, only: Restriction, away: int) -> Rows:
        """Returns the passages of a partition that are most like the query, with their cosine."""
        column, wanted = ("signs", "vec_bit(?)") if away else ("embedding", "?")
        sql = f"SELECT rowid, distance FROM passages_vec WHERE {column} MATCH {wanted} AND k = ? AND away = ?"
        sql += f" AND rowid IN ({only.within(*BOUNDS[away : away + 2])})" if only.sql else ""
        near = packed_signs(query) if away else query
        found: Rows = self._db.execute(sql, (near, min(count, _MOST), away, *only.values)).fetchall()
        if away:
            exact = "SELECT vec_distance_cosine(embedding, ?) FROM passages_vec WHERE rowid = ?"
            found = [(row, self._db.execute(exact, (query, row)).fetchone()[0]) for row, _ in found]
        return [(row, 1 - distance) for row, distance in sorted(found, key=lambda hit: hit[1])]


class BlobTable:
    """passages_blob: plain blobs. The signs of a vector's numbers say roughly where it points, in one comparison of
    whole numbers; only the vectors that point roughly the same way are compared in full."""

    kind = "blob"
    _ROUGH = 8  # how many times more are compared in full than are asked for

    def __init__(self, db: Any) -> None:
        self._db = db

    def create(self, width: int) -> None:
        self.drop()
        self._db.execute(
            "CREATE TABLE passages_blob (row INTEGER PRIMARY KEY, signs BLOB NOT NULL, embedding BLOB NOT NULL)"
        )

    def drop(self) -> None:
        self._db.execute("DROP TABLE IF EXISTS passages_blob")

    def put(self, rows: Iterable[tuple[int, bytes]]) -> None:
        """Adds vectors of passages that have none."""
        self._db.executemany(
            "INSERT INTO passages_blob VALUES (?, ?, ?)",
            ((row, packed_signs(vector), vector) for row, vector in rows),
        )

    def delete(self, rows: Sequence[int]) -> None:
        self._db.executemany("DELETE FROM passages_blob WHERE row = ?", ((row,) for row in rows))

    def nearest(self, query: bytes, count: int, only: Restriction, away: int) -> Rows:
        """Returns the passages of a range that are most like the query, with their cosine."""
        sql = "SELECT row, signs FROM passages_blob WHERE row >= ? AND row < ?"
        sql += f" AND row IN ({only.within(*BOUNDS[away : away + 2])})" if only.sql else ""
        wanted, number = int.from_bytes(packed_signs(query)), int.from_bytes
        rows = self._db.execute(sql, (*BOUNDS[away : away + 2], *only.values))
        apart = (((wanted ^ number(signs)).bit_count(), row) for row, signs in rows)
        rough = [row for _, row in nsmallest(max(512, self._ROUGH * count), apart)]
        found = sorted(self._cosines(query, rough).items(), key=lambda hit: (-hit[1], hit[0]))
        return found[:count]

    def _cosines(self, query: bytes, rows: Sequence[int]) -> dict[int, float]:
        """Returns how much certain passages are like the query."""
        width = len(query) // 4
        unpack = struct.Struct(f"<{width}f").unpack
        wanted = unpack(query)
        size = sqrt(sum(map(mul, wanted, wanted))) or 1.0
        sql = "SELECT row, embedding FROM passages_blob WHERE row IN (SELECT value FROM json_each(?))"
        found = self._db.execute(sql, (f"[{','.join(map(str, rows))}]",))
        return {row: sum(map(mul, wanted, unpack(vector))) / size for row, vector in found}


Vectors = VecTable | BlobTable


def is_of(db: Any, embedder: Embedder, vectors: Vectors) -> bool:
    """Returns whether the vectors in the index are of this model and width, and in this kind of table."""
    meta = read_meta(db)
    fits = meta.get("width") == str(embedder.width) if embedder.width else meta.get("width") != "0"
    return fits and meta.get("model") == embedder.model and meta.get("kind") == vectors.kind


def is_kept(vector: Any, checksum: Any) -> bool:
    """Returns whether a cached vector is what was put there."""
    return isinstance(vector, bytes) and crc32(vector) == checksum


def keep_memo(db: Any, embedder: Embedder) -> None:
    """Keeps what the model wants to be given back, once."""
    make = getattr(embedder, "memo", None)
    known = db.execute("SELECT 1 FROM model_memo WHERE model = ?", (embedder.model,)).fetchone()
    if make and not known:
        with transaction(db):
            db.execute("INSERT OR REPLACE INTO model_memo VALUES (?, ?)", (embedder.model, make()))


def embed_pending(db: Any, vectors: Vectors, embedder: Embedder, decode: Decode, show: Show | None = None) -> int:
    """Embeds every passage without a vector, and returns how many; vectors of another model are dropped first."""
    from hashlib import blake2b

    done, total = 0, 0
    fresh = not is_of(db, embedder, vectors)
    while True:
        # Of another model, all are to be done, from the first on.
        wanted = "shown AND part = 0" if fresh else "shown AND vector = ''"
        if show and not total:
            total = db.execute(f"SELECT count(*) FROM passages WHERE {wanted}").fetchone()[0]
        rows = db.execute(
            f"SELECT row, item_row, heading, text FROM passages WHERE {wanted} ORDER BY row LIMIT ?", (_BATCH,)
        ).fetchall()
        if not rows:
            return done
        texts = [
            _item_text(db, decode, item_row) if item_row else f"{heading}\n{text}" if heading else text
            for _, item_row, heading, text in rows
        ]
        hashes = [blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest() for text in texts]
        found = _embed_cached(db, embedder, hashes, texts) if embedder.costly else embedder.embed(texts)
        width = max(map(len, found)) // 4
        if width and not fresh and str(width) != read_meta(db)["width"]:
            fresh = True
            continue
        with transaction(db):
            if fresh:
                vectors.create(width or 1)
                db.execute("UPDATE passages SET vector = '' WHERE part = 0")
                write_meta(db, model=embedder.model, width=str(width), kind=vectors.kind)
            # A vector without a direction (of an empty text) is none.
            pairs = [(row[0], hash, vector) for row, hash, vector in zip(rows, hashes, found, strict=True)]
            vectors.put((row, vector) for row, _, vector in pairs if any(vector))
            db.executemany(
                "UPDATE passages SET vector = ? WHERE row = ?",
                ((hash if any(vector) else "-", row) for row, hash, vector in pairs),
            )
        fresh = False
        done += len(rows)
        if show:
            show(done, max(done, total))


def _embed_cached(db: Any, embedder: Embedder, hashes: list[str], texts: list[str]) -> list[bytes]:
    """Returns the vector of each text, out of the cache as far as it is there."""
    wanted = dict(zip(hashes, texts, strict=True))
    known = {hash: vector for hash in wanted if (vector := _find_cached(db, embedder, hash)) is not None}
    missing = [hash for hash in wanted if hash not in known]
    while missing:
        # Each part is kept as soon as it is there: an answer that was paid for is not asked for again.
        part, missing = missing[:_PART], missing[_PART:]
        made = dict(zip(part, embedder.embed([wanted[hash] for hash in part]), strict=True))
        rows = [(embedder.model, hash, vector, crc32(vector)) for hash, vector in made.items()]
        with transaction(db):
            db.executemany("INSERT OR REPLACE INTO embedding_cache VALUES (?, ?, ?, ?)", rows)
        known |= made
        width = max(map(len, made.values()))
        stale = [hash for hash, vector in known.items() if any(vector) and len(vector) != width]
        missing += stale  # of a model that changed its width under the same name
        for hash in stale:
            del known[hash]
    return [known[hash] for hash in hashes]


def _find_cached(db: Any, embedder: Embedder, hash: str) -> bytes | None:
    """Returns the vector that a text got before, if it is whole and of the width that is known by now."""
    sql = "SELECT vector, checksum FROM embedding_cache WHERE model = ? AND hash = ?"
    found = db.execute(sql, (embedder.model, hash)).fetchone()
    fits = found and is_kept(*found) and (not embedder.width or len(found[0]) in (0, 4 * embedder.width))
    return found[0] if fits else None


def _item_text(db: Any, decode: Decode, row: int) -> str:
    """Returns an item with its author, behind a short turn before it in its session: an answer needs its question."""
    line, session, at, item_id = db.execute("SELECT line, session, at, id FROM items WHERE row = ?", (row,)).fetchone()
    item = decode(line)
    text = f"{item.author}: {item.content}" if item.author else item.content
    if not session:
        return text
    found = db.execute(
        "SELECT line FROM items WHERE shown AND session = ? AND session != '' AND (at, id) < (?, ?) "
        "ORDER BY at DESC, id DESC LIMIT 1",
        (session, at, item_id),
    ).fetchone()
    before = decode(found[0]).content if found else ""
    return f"{before}\n{text}" if found and len(before) <= _SHORT else text
