"""Embeds passages: which of them wait for a vector of a model, and what the model is given. Two models have a slot each: one that embeds
at once, and one that takes long and answers when none waits for it."""

import os
from _blake2 import blake2b
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from math import inf
from pathlib import Path
from typing import Any
from zlib import crc32

from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.records import NamedTuple
from mabos_cli.core.search.documents import Embedder
from mabos_cli.index.candidates import EMBEDDED, NONE
from mabos_cli.index.packing import pack_vector, unpack_text
from mabos_cli.index.tables import read_meta, transaction, write_meta
from mabos_cli.index.vectors import BlobTable, Engine, VecTable, Vectors

Decode = Callable[[str], MemoryItem]
Show = Callable[[int, int], None]
_BATCH = 512
_PART = 50  # texts of one request
_SHORT = 300  # a turn before this long is context; a longer one would drown what it is context for


class Slot(NamedTuple):
    """The vectors of one model: their table, the column of `passages` that says which wait, and what `meta` calls them."""

    db: Any
    table: Vectors
    column: str
    prefix: str = ""

    def about(self) -> dict[str, str]:
        """Returns model, width and kind of the vectors that are there."""
        meta = read_meta(self.db)
        return {name: meta.get(self.prefix + name, "") for name in ("model", "width", "kind")}

    @property
    def has_vectors(self) -> bool:
        """Returns whether the table is there, and of this kind."""
        return self.about()["kind"] == self.table.kind

    def is_of(self, embedder: Embedder) -> bool:
        """Returns whether the vectors are of this model and width, and in this kind of table."""
        about = self.about()
        fits = about["width"] == str(embedder.width) if embedder.width else about["width"] not in ("", "0")
        return fits and about["model"] == embedder.model and self.has_vectors

    def waiting(self, embedder: Embedder) -> str:
        """Returns the condition on passages that have no vector of this model: all, if those that are there are of another."""
        return f"shown AND {self.column} = 0" if self.is_of(embedder) else "shown AND part = 0"

    def is_done(self, embedder: Embedder) -> bool:
        """Returns whether every passage has its vector of this model."""
        sql = f"SELECT 1 FROM passages WHERE {self.waiting(embedder)} LIMIT 1"
        return self.db.execute(sql).fetchone() is None

    def count_waiting(self, embedder: Embedder) -> int:
        """Returns how many passages have no vector of this model."""
        sql = f"SELECT count(*) FROM passages WHERE {self.waiting(embedder)}"
        return int(self.db.execute(sql).fetchone()[0])

    def begin(self, embedder: Embedder, width: int) -> None:
        """Drops the vectors that are there, and begins with those of a model."""
        self.table.create(width or 1)
        self.db.execute(f"UPDATE passages SET {self.column} = 0 WHERE part = 0")
        about = {"model": embedder.model, "width": str(width), "kind": self.table.kind}
        write_meta(self.db, **{self.prefix + name: value for name, value in about.items()})

    def put(self, pairs: Sequence[tuple[int, bytes]]) -> None:
        """Keeps the vectors of passages. One without a direction (of an empty text) is none."""
        self.table.put((row, vector) for row, vector in pairs if any(vector))
        states = ((EMBEDDED if any(vector) else NONE, row) for row, vector in pairs)
        self.db.executemany(f"UPDATE passages SET {self.column} = ? WHERE row = ?", states)


def open_slot(db: Any, engine: Engine, *, strong: bool = False) -> Slot:
    """Returns the slot of the model that embeds at once, or of the one that takes long."""
    table = VecTable if engine.vec0 else BlobTable
    return Slot(db, table(db, "strong"), "strong", "strong_") if strong else Slot(db, table(db), "vector")


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


class Text(NamedTuple):
    """A passage as the model is given it."""

    row: int
    hash: str
    text: str


def list_waiting(slot: Slot, embedder: Embedder, decode: Decode, after: int, most: int) -> list[Text]:
    """Returns the first passages behind a row that have no vector of this model."""
    sql = f"SELECT row, item_row, heading, text FROM passages WHERE {slot.waiting(embedder)} AND row > ? ORDER BY row LIMIT ?"
    found = []
    for row, item_row, heading, packed in slot.db.execute(sql, (after, most)).fetchall():
        text = _item_text(slot.db, decode, item_row) if item_row else unpack_text(packed)
        text = f"{heading}\n{text}" if heading else text
        found.append(Text(row, blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest(), text))
    return found


def embed_waiting(
    slot: Slot,
    embedder: Embedder,
    decode: Decode,
    show: Show | None = None,
    budget: float = inf,
    enough: Callable[[], bool] = lambda: False,
) -> tuple[int, int]:
    """Embeds the passages that wait, and returns how many, and how many still wait: those that are not in the cache and have more
    characters together than the budget. Vectors of another model are dropped first."""
    done = left = last = 0
    total = 0
    while texts := list_waiting(slot, embedder, decode, last, _BATCH):
        if show and not total:
            total = slot.count_waiting(embedder)
        fresh = not slot.is_of(embedder)
        known = find_cached(slot.db, embedder, texts) if embedder.costly else {}
        cost = sum(len(text.text) for text in texts if text.hash not in known)
        if cost <= budget:
            budget -= cost
            known |= _embed_missing(slot.db, embedder, texts, known)
        found = [(text.row, known[text.hash]) for text in texts if text.hash in known]
        width = max((len(vector) for _, vector in found), default=embedder.width)
        if width and not fresh and str(width) != slot.about()["width"]:
            write_meta(slot.db, **{f"{slot.prefix}width": "0"})  # all are to be done again, from the first on
            last = 0
            continue
        with transaction(slot.db):
            if fresh:
                slot.begin(embedder, width)
            slot.put(found)
        done, left, last = done + len(found), left + len(texts) - len(found), texts[-1].row
        if enough():
            return done, slot.count_waiting(embedder)
        if show:
            show(done, max(done, total))
    return done, left


def find_cached(db: Any, embedder: Embedder, texts: Iterable[Text]) -> dict[str, bytes]:
    """Returns the vectors that texts got before, as far as they are whole and of the width that is known by now, by hash."""
    sql = "SELECT vector, checksum FROM embedding_cache WHERE model = ? AND hash = ?"
    known = {}
    for hash in {text.hash for text in texts}:
        found = db.execute(sql, (embedder.model, hash)).fetchone()
        if found and is_kept(*found) and (not embedder.width or len(found[0]) in (0, embedder.width)):
            known[hash] = found[0]
    return known


def keep_cached(db: Any, model: str, made: dict[str, bytes]) -> None:
    """Keeps vectors that took long or cost something, by the hash of their text."""
    rows = [(model, hash, vector, crc32(vector)) for hash, vector in made.items()]
    db.executemany("INSERT OR REPLACE INTO embedding_cache VALUES (?, ?, ?, ?)", rows)


def carry_cache(engine: Engine, path: Path, db: Any) -> None:
    """Carries over vectors that cost something to compute, as far as an old file can still be read."""
    if not path.is_file():
        return
    with suppress(*engine.errors), closing(engine.connect(os.fspath(path), read_only=True)) as old:
        is_float = int(read_meta(old)["shape"].split(" ")[0]) < 10  # what was paid for is packed as it is now
        for model, hash, vector, checksum in old.execute("SELECT * FROM embedding_cache"):
            if is_kept(vector, checksum):
                keep_cached(db, model, {hash: pack_vector(vector) if is_float else vector})


def _embed_missing(db: Any, embedder: Embedder, texts: list[Text], known: dict[str, bytes]) -> dict[str, bytes]:
    """Returns the vectors of the texts that are not known, by hash."""
    wanted = {text.hash: text.text for text in texts}
    missing = [hash for hash in wanted if hash not in known]
    found: dict[str, bytes] = {}
    while missing:
        # Each part is kept as soon as it is there: an answer that was paid for is not asked for again.
        part, missing = (missing[:_PART], missing[_PART:]) if embedder.costly else (missing, [])
        made = dict(zip(part, map(pack_vector, embedder.embed([wanted[hash] for hash in part])), strict=True))
        if embedder.costly:
            with transaction(db):
                keep_cached(db, embedder.model, made)
        found |= made
        width = max(map(len, made.values()))
        stale = [hash for hash, vector in (known | found).items() if any(vector) and len(vector) != width]
        missing += stale  # of a model that changed its width under the same name
        for hash in stale:
            known.pop(hash, None), found.pop(hash, None)
    return found


def _item_text(db: Any, decode: Decode, row: int) -> str:
    """Returns an item with its author, behind a short turn before it in its session: an answer needs its question."""
    line, session, at, item_id = db.execute("SELECT line, session, at, id FROM items WHERE row = ?", (row,)).fetchone()
    item = decode(unpack_text(line))
    text = f"{item.author}: {item.content}" if item.author else item.content
    if not session:
        return text
    turns = "SELECT line FROM items WHERE shown AND session = ? AND session != ''"
    found = db.execute(
        f"{turns} AND (at, id) < (?, ?) ORDER BY at DESC, id DESC LIMIT 1", (session, at, item_id)
    ).fetchone()
    before = decode(unpack_text(found[0])).content if found else ""
    return f"{before}\n{text}" if found and len(before) <= _SHORT else text
