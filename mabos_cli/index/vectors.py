"""Vectors in the index: kept by sqlite-vec, or as blobs that are compared in Python. Both answer the same questions."""

import struct
from collections.abc import Iterable, Sequence
from heapq import nsmallest
from math import sqrt
from operator import mul
from typing import Any

from mabos_cli.index.schema import ARCHIVED

Rows = list[tuple[int, float]]
_MOST = 4096  # sqlite-vec refuses a larger k


class VecTable:
    """passages_vec, a table of sqlite-vec. Live and archived passages are kept in two partitions."""

    kind = "vec0"

    def __init__(self, db: Any) -> None:
        self._db = db

    def create(self, width: int) -> None:
        self.drop()
        self._db.execute(
            "CREATE VIRTUAL TABLE passages_vec USING vec0 "
            f"(live INTEGER PARTITION KEY, embedding FLOAT[{width}] distance_metric=cosine)"
        )

    def drop(self) -> None:
        self._db.execute("DROP TABLE IF EXISTS passages_vec")

    def put(self, rows: Iterable[tuple[int, bytes]]) -> None:
        """Adds vectors of passages that have none."""
        self._db.executemany(
            "INSERT INTO passages_vec (rowid, live, embedding) VALUES (?, ?, ?)",
            ((row, int(row < ARCHIVED), vector) for row, vector in rows),
        )

    def delete(self, rows: Sequence[int]) -> None:
        self._db.executemany("DELETE FROM passages_vec WHERE rowid = ?", ((row,) for row in rows))

    def nearest(self, query: bytes, count: int, allowed: str, values: Sequence[Any], archived: bool) -> Rows:
        """The passages most like the query, with their cosine; allowed is SQL for the numbers that may be returned."""
        found: Rows = []
        for live in (1, 0) if archived else (1,):
            sql = "SELECT rowid, distance FROM passages_vec WHERE embedding MATCH ? AND k = ? AND live = ?"
            sql += f" AND rowid IN ({allowed})" if allowed else ""
            found += self._db.execute(sql, (query, min(count, _MOST), live, *values))
        return [(row, 1 - distance) for row, distance in sorted(found, key=lambda hit: hit[1])[:count]]


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
            ((row, _signs(vector).to_bytes(len(vector) // 32 + 1), vector) for row, vector in rows),
        )

    def delete(self, rows: Sequence[int]) -> None:
        self._db.executemany("DELETE FROM passages_blob WHERE row = ?", ((row,) for row in rows))

    def nearest(self, query: bytes, count: int, allowed: str, values: Sequence[Any], archived: bool) -> Rows:
        """The passages most like the query, with their cosine; allowed is SQL for the numbers that may be returned."""
        sql = "SELECT row, signs FROM passages_blob WHERE 1"
        sql += "" if archived else f" AND row < {ARCHIVED}"
        sql += f" AND row IN ({allowed})" if allowed else ""
        wanted, number = _signs(query), int.from_bytes
        apart = (((wanted ^ number(signs)).bit_count(), row) for row, signs in self._db.execute(sql, values))
        rough = [row for _, row in nsmallest(max(512, self._ROUGH * count), apart)]
        found = sorted(self._cosines(query, rough).items(), key=lambda hit: (-hit[1], hit[0]))
        return found[:count]

    def _cosines(self, query: bytes, rows: Sequence[int]) -> dict[int, float]:
        """How much certain passages are like the query."""
        width = len(query) // 4
        unpack = struct.Struct(f"<{width}f").unpack
        wanted = unpack(query)
        size = sqrt(sum(map(mul, wanted, wanted))) or 1.0
        sql = "SELECT row, embedding FROM passages_blob WHERE row IN (SELECT value FROM json_each(?))"
        found = self._db.execute(sql, (f"[{','.join(map(str, rows))}]",))
        return {row: sum(map(mul, wanted, unpack(vector))) / size for row, vector in found}


def _signs(vector: bytes) -> int:
    """The signs of a vector's numbers as bits of one number: the top bit of every fourth byte."""
    return int("".join("1" if byte & 128 else "0" for byte in vector[3::4]) or "0", 2)


Vectors = VecTable | BlobTable
