"""The nearest vectors: the same ones with sqlite-vec and without it."""

from random import Random
from struct import pack

import pytest

from mabos_cli.index.candidates import ARCHIVED, PARTS
from mabos_cli.index.packing import pack_vector
from mabos_cli.index.restriction import Restriction
from mabos_cli.index.tables import create_tables
from mabos_cli.index.vectors import BlobTable, VecTable, open_engine

WIDTH = 64


def made(rnd: Random, like: int) -> bytes:
    """A vector that is much like the others of its group, and of no other."""
    centre = Random(like)
    return pack(f"<{WIDTH}f", *(centre.gauss(0, 1) + rnd.gauss(0, 0.3) for _ in range(WIDTH)))


@pytest.mark.skipif(not open_engine().vec0, reason="sqlite-vec cannot be loaded here")
def test_the_nearest_are_the_same_in_every_way() -> None:
    rnd = Random(5)
    rows = [(PARTS * (n + 1), pack_vector(made(rnd, n % 100))) for n in range(4200)]
    rows += [(ARCHIVED + PARTS * n, pack_vector(made(rnd, n))) for n in range(10)]
    db = open_engine().connect(":memory:")
    create_tables(db, "any")
    tables = [VecTable(db), BlobTable(db)]
    for table in tables:
        table.create(WIDTH)
        table.put(rows)
        table.delete([row for row, _ in rows[100:140]])
    gone = {row for row, _ in rows[100:140]}
    third = [row for row, _ in rows if row % (3 * PARTS) == 0]
    some = Restriction("SELECT p.row FROM (SELECT value AS row FROM json_each(?)) p WHERE 1", (str(third),))
    for group in range(5):
        query = made(rnd, group)
        for only in (Restriction(), some):
            found, others = (table.nearest(query, 10, only, 0) for table in tables)
            assert [row for row, _ in found] == [row for row, _ in others]
            assert [value for _, value in found] == pytest.approx([value for _, value in others], abs=1e-5)
            assert len(found) == 10 and not gone & {row for row, _ in found}
            assert only == Restriction() or all(row % (3 * PARTS) == 0 for row, _ in found)
