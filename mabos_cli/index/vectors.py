"""Opens SQLite for the index, and compares vectors. Each step down is slower or knows less; none is an error.

1. extension: Python's own sqlite3 loads sqlite-vec.
2. wheel: a SQLite that comes as a wheel (sqlean.py, pysqlite3) loads it, where Python's own was built without extensions.
3. scan: no sqlite-vec; vectors are blobs, narrowed down by their signs and compared in Python.
4. lexical: no vectors at all.
"""

import importlib
import os
import struct
from abc import ABC, abstractmethod
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from math import sqrt
from operator import add, mul, sub
from types import ModuleType
from typing import Any

from mabos_cli.core.records import NamedTuple
from mabos_cli.index.candidates import BOUNDS, listed
from mabos_cli.index.packing import near_by_signs, pack_vector, signs_of
from mabos_cli.index.restriction import Restriction
from mabos_cli.index.tables import address_of, read_meta, read_signs, write_meta

STEPS = ("extension", "wheel", "scan", "lexical")
_WHEELS = ("sqlean", "pysqlite3")
Rows = list[tuple[int, float]]
_MOST = 4096  # sqlite-vec refuses a larger k
_FEWEST = 100  # vectors from which on they have something in common that tells nothing of any one
_CHUNK = 256  # vectors that sqlite-vec makes room for at a time
_ROUGH = 8  # how many times more are compared by all their numbers than are asked for


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
        """Returns the step in words, for doctor and index status."""
        names = {
            "extension": "sqlite-vec in Python's own SQLite",
            "wheel": f"sqlite-vec in the SQLite of {self.sqlite.__name__.partition('.')[0]}",
            "scan": "blobs, scanned in Python without sqlite-vec",
            "lexical": "none, words only",
        }
        return names[self.step]

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
            for name in _python_sqlite() if step == "extension" else _WHEELS:
                engine = _try(step, name, vec0)
                if engine:
                    return engine
    return Engine("lexical" if wanted == "lexical" else "scan", importlib.import_module("sqlite3"))


def _python_sqlite() -> tuple[str, ...]:
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


class _Table(ABC):
    """A table of packed vectors, and in `meta` how many it has and the sum of them: what they all have in common."""

    kind: str
    row: str  # what its key is called
    least: int  # how many are compared by all their numbers

    def __init__(self, db: Any, slot: str = "passages") -> None:
        self._db = db
        self._name, self._sum = f"{slot}_{self.kind.removesuffix('0')}", f"{slot}_sum"

    def create(self, width: int) -> None:
        """Makes an empty table."""
        self.drop()
        self._db.execute(self._sql(width))
        write_meta(self._db, **{self._sum: ""})

    def drop(self) -> None:
        self._db.execute(f"DROP TABLE IF EXISTS {self._name}")

    def put(self, rows: Iterable[tuple[int, bytes]]) -> None:
        """Adds packed vectors of passages that have none."""
        pairs = [*rows]
        self._insert(pairs)
        self._add_up([vector for _, vector in pairs], add)

    def delete(self, rows: Sequence[int]) -> None:
        """Takes away the vectors of passages."""
        gone = [vector for _, vector in self.fetch(rows)]
        self._db.executemany(f"DELETE FROM {self._name} WHERE {self.row} = ?", ((row,) for row in rows))
        self._add_up(gone, sub)

    def fetch(self, rows: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        """Yields the packed vectors of passages that have one."""
        for row in rows:
            yield from self._db.execute(f"SELECT {self.row}, embedding FROM {self._name} WHERE {self.row} = ?", (row,))

    def centre(self) -> list[float]:
        """Returns the mean of the vectors, each of length one: what they all have in common. None while they are few."""
        count, length, *sums = self._read_sum(0)
        return [number / length for number in sums] if count >= _FEWEST and length else []

    def _read_sum(self, width: int) -> list[int]:
        """Returns how many vectors there are, the sum of their lengths, and the sums of their numbers."""
        written = read_meta(self._db).get(self._sum, "")
        return [int(number) for number in written.split()] or [0] * (width + 2)

    def _add_up(self, vectors: Sequence[bytes], change: Callable[[int, int], int]) -> None:
        if not vectors:
            return
        unpack = struct.Struct(f"{len(vectors[0])}b").unpack
        total = self._read_sum(len(vectors[0]))
        for numbers in map(unpack, vectors):
            total = [*map(change, total, (1, round(sqrt(sum(map(mul, numbers, numbers)))), *numbers))]
        write_meta(self._db, **{self._sum: " ".join(map(str, total))})

    @abstractmethod
    def _sql(self, width: int) -> str:
        """Returns the statement that makes the table."""

    @abstractmethod
    def _insert(self, rows: Sequence[tuple[int, bytes]]) -> None: ...

    def nearest(self, query: bytes, count: int, only: Restriction, away: int) -> Rows:
        """Returns the passages of a partition that are most like the query, with their cosine: of all that pass the filters, those whose
        numbers have most signs in common with it are compared by all their numbers."""
        first, end = BOUNDS[away : away + 2]
        allowed = {row for (row,) in self._db.execute(only.within(first, end), only.values)} if only.sql else None
        packed, most = pack_vector(query), max(self.least, _ROUGH * count)
        rows, signs = read_signs(self._db, self._name, self.kind, away)
        rows = rows if allowed is None else array("q", (row if row in allowed else 0 for row in rows))
        return self._compare(packed, [*near_by_signs(rows, signs, signs_of(packed), most)], count, away)

    @abstractmethod
    def _compare(self, packed: bytes, rows: Sequence[int], count: int, away: int) -> Rows:
        """Returns those of some passages that are most like a packed query, with their cosine."""


class VecTable(_Table):
    """A table of sqlite-vec: bytes for each number and their signs. Live passages, archived ones, and those out of sight are kept in
    partitions. The signs narrow a partition down; only the nearest are compared by all their numbers."""

    kind, row = "vec0", "rowid"
    least = 3200  # of 90,000 the ten nearest are among so many for .955 of ten

    def _sql(self, width: int) -> str:
        return (
            f"CREATE VIRTUAL TABLE {self._name} USING vec0 (away INTEGER PARTITION KEY, "
            f"embedding INT8[{width}] distance_metric=cosine, signs BIT[{-(-width // 8) * 8}], chunk_size={_CHUNK})"
        )

    def _insert(self, rows: Sequence[tuple[int, bytes]]) -> None:
        self._db.executemany(
            f"INSERT INTO {self._name} (rowid, away, embedding, signs) VALUES (?, ?, vec_int8(?), vec_bit(?))",
            ((row, bisect_right(BOUNDS, row) - 1, vector, signs_of(vector)) for row, vector in rows),
        )

    def _compare(self, packed: bytes, rows: Sequence[int], count: int, away: int) -> Rows:
        sql = f"SELECT rowid, 1 - distance FROM {self._name} WHERE embedding MATCH vec_int8(?) AND k = ? AND away = ?"
        values = packed, min(count, _MOST), away, listed(rows)
        near: Rows = self._db.execute(f"{sql} AND rowid IN (SELECT value FROM json_each(?))", values).fetchall()
        return near


class BlobTable(_Table):
    """A table of plain blobs. The signs of a vector's numbers say roughly where it points, in one comparison of whole numbers; only the
    vectors that point roughly the same way are compared by all their numbers."""

    kind, row, least = "blob", "row", 512

    def _sql(self, width: int) -> str:
        return f"CREATE TABLE {self._name} (row INTEGER PRIMARY KEY, signs BLOB NOT NULL, embedding BLOB NOT NULL)"

    def _insert(self, rows: Sequence[tuple[int, bytes]]) -> None:
        signed = ((row, signs_of(vector), vector) for row, vector in rows)
        self._db.executemany(f"INSERT INTO {self._name} VALUES (?, ?, ?)", signed)

    def _compare(self, packed: bytes, rows: Sequence[int], count: int, away: int) -> Rows:
        unpack = struct.Struct(f"{len(packed)}b").unpack
        wanted = unpack(packed)
        size = sqrt(sum(map(mul, wanted, wanted))) or 1.0
        sql = f"SELECT row, embedding FROM {self._name} WHERE row IN (SELECT value FROM json_each(?))"
        found = ((row, unpack(v)) for row, v in self._db.execute(sql, (listed(rows),)))
        near = [(row, sum(map(mul, wanted, v)) / size / (sqrt(sum(map(mul, v, v))) or 1.0)) for row, v in found]
        return sorted(near, key=lambda hit: (-hit[1], hit[0]))[:count]


Vectors = VecTable | BlobTable
