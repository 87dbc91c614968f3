"""Giving passages their vectors: one model at a time, never two in one index."""

from collections.abc import Callable
from typing import Any
from zlib import crc32

from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.search.embedding import Embedder
from mabos_cli.index.follow import Decode
from mabos_cli.index.schema import read_meta, transaction, write_meta
from mabos_cli.index.vectors import Vectors

Show = Callable[[int, int], None]
_BATCH = 512
_PART = 50  # texts of one request
_SHORT = 300  # a turn before this long is context; a longer one would drown what it is context for


def is_of(db: Any, embedder: Embedder, vectors: Vectors) -> bool:
    """Whether the vectors in the index are of this model, of its width as far as that is known, and kept in this way."""
    meta = read_meta(db)
    fits = meta.get("width") == str(embedder.width) if embedder.width else meta.get("width") != "0"
    return fits and meta.get("model") == embedder.model and meta.get("kind") == vectors.kind


def is_kept(vector: Any, checksum: Any) -> bool:
    """Whether a cached vector is what was put there."""
    return isinstance(vector, bytes) and crc32(vector) == checksum


def keep_memo(db: Any, embedder: Embedder) -> None:
    """Keeps what the model wants to be given back, once."""
    make = getattr(embedder, "memo", None)
    known = db.execute("SELECT 1 FROM model_memo WHERE model = ?", (embedder.model,)).fetchone()
    if make and not known:
        with transaction(db):
            db.execute("INSERT OR REPLACE INTO model_memo VALUES (?, ?)", (embedder.model, make()))


def give_memo(db: Any, embedder: Embedder) -> None:
    """Gives the model back what was kept for it."""
    if hasattr(embedder, "use"):
        found = db.execute("SELECT memo FROM model_memo WHERE model = ?", (embedder.model,)).fetchone()
        if found:
            embedder.use(found[0])


def embed_pending(db: Any, vectors: Vectors, embedder: Embedder, decode: Decode, show: Show | None = None) -> int:
    """Embeds every passage that has no vector yet; those of another model or width are dropped first. Gives how many."""
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
        texts = [_item_text(db, decode, row[1]) if row[1] else _file_text(row[2], row[3]) for row in rows]
        made = _embed(db, embedder, texts)
        width = max(len(vector) for _, vector in made) // 4
        if width and not fresh and str(width) != read_meta(db)["width"]:
            fresh = True
            continue
        with transaction(db):
            if fresh:
                _start_over(db, vectors, embedder.model, width)
            _write(db, vectors, [row[0] for row in rows], made)
        fresh = False
        done += len(rows)
        if show:
            show(done, max(done, total))


def _write(db: Any, vectors: Vectors, rows: list[int], made: list[tuple[str, bytes]]) -> None:
    """Notes the vectors of passages; one without a direction (an empty text) is none."""
    pairs = [(row, hash, vector) for row, (hash, vector) in zip(rows, made, strict=True)]
    vectors.put((row, vector) for row, _, vector in pairs if any(vector))
    marks = ((hash if any(vector) else "-", row) for row, hash, vector in pairs)
    db.executemany("UPDATE passages SET vector = ? WHERE row = ?", marks)


def _start_over(db: Any, vectors: Vectors, model: str, width: int) -> None:
    """Drops all vectors and notes whose come next."""
    vectors.create(width or 1)
    db.execute("UPDATE passages SET vector = '' WHERE part = 0")
    write_meta(db, model=model, width=str(width), kind=vectors.kind)


def _embed(db: Any, embedder: Embedder, texts: list[str]) -> list[tuple[str, bytes]]:
    """Hash and vector of each text, out of the cache where a model is worth it."""
    from hashlib import blake2b

    hashes = [blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest() for text in texts]
    if not embedder.costly:
        return list(zip(hashes, embedder.embed(texts), strict=True))
    wanted = dict(zip(hashes, texts, strict=True))
    known = {hash: vector for hash in wanted if (vector := _cached(db, embedder, hash)) is not None}
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
        known = {hash: vector for hash, vector in known.items() if hash not in {*stale}}
    return [(hash, known[hash]) for hash in hashes]


def _cached(db: Any, embedder: Embedder, hash: str) -> bytes | None:
    """The vector of a text that was made before, if it is whole and of the width that is known by now."""
    sql = "SELECT vector, checksum FROM embedding_cache WHERE model = ? AND hash = ?"
    found = db.execute(sql, (embedder.model, hash)).fetchone()
    fits = found and is_kept(*found) and (not embedder.width or len(found[0]) in (0, 4 * embedder.width))
    return found[0] if fits else None


def _file_text(heading: str, text: str) -> str:
    return f"{heading}\n{text}" if heading else text


def _item_text(db: Any, decode: Decode, row: int) -> str:
    """An item with its author, behind the short turn before it in the same session: an answer needs its question."""
    line, session, at, item_id = db.execute("SELECT line, session, at, id FROM items WHERE row = ?", (row,)).fetchone()
    item = decode(line)
    if not session:
        return embedded_text(item, None)
    before = db.execute(
        "SELECT line FROM items WHERE shown AND session = ? AND session != '' AND (at, id) < (?, ?) "
        "ORDER BY at DESC, id DESC LIMIT 1",
        (session, at, item_id),
    ).fetchone()
    return embedded_text(item, decode(before[0]) if before else None)


def embedded_text(item: MemoryItem, before: MemoryItem | None) -> str:
    """What is embedded for an item."""
    said = f"{item.author}: {item.content}" if item.author else item.content
    return f"{before.content}\n{said}" if before and len(before.content) <= _SHORT else said
