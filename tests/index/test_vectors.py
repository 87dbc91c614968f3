"""The nearest vectors: the same ones by sqlite-vec alone, with numpy, and without either."""

from random import Random
from struct import pack

import pytest

from mabos_cli.index import vectors
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
def test_the_nearest_are_the_same_in_every_way(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpy")
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
    for group in range(5):
        query = made(rnd, group)
        found = []
        for worth in (False, True):
            monkeypatch.setattr(VecTable, "_is_worth_numpy", lambda self, away, worth=worth: worth)
            found.append(tables[0].nearest(query, 20, Restriction(), 0))
        found.append(tables[1].nearest(query, 20, Restriction(), 0))
        assert [row for row, _ in found[0]] == [row for row, _ in found[1]] == [row for row, _ in found[2]]
        assert [value for _, value in found[0]] == pytest.approx([value for _, value in found[2]], abs=1e-5)
        assert len(found[0]) == 20 and not gone & {row for row, _ in found[0]}


def test_numpy_is_imported_only_by_who_asks_often_and_has_many(monkeypatch: pytest.MonkeyPatch) -> None:
    if not open_engine().vec0:
        pytest.skip("sqlite-vec cannot be loaded here")
    db = open_engine().connect(":memory:")
    create_tables(db, "any")
    table = VecTable(db)
    monkeypatch.setattr(vectors, "_asked", [])
    monkeypatch.setattr(vectors.sys, "modules", {})
    table.create(8)
    assert not any(table._is_worth_numpy(0) for _ in range(vectors._OFTEN))
    table.put((PARTS * (n + 1), bytes(range(8))) for n in range(vectors._CHUNK * vectors._MANY_CHUNKS))
    assert table._is_worth_numpy(0) and not table._is_worth_numpy(1)
