"""Following the files: what changed is read again, and only that. Each batch is one short transaction; the rows, words and
vectors of a passage go together."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any
from zlib import crc32

from mabos_cli.core.language.clock import as_stamp
from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.periods import MONTHS
from mabos_cli.core.language.text import cut_text, spaced, words
from mabos_cli.core.memory.item import MemoryItem, types_of
from mabos_cli.core.memory.stores import reach_of
from mabos_cli.core.memory.trust import lowest_trust, trust_of_file, trust_rank
from mabos_cli.core.records import NamedTuple
from mabos_cli.core.search.documents import Content, Held, Piece, Source
from mabos_cli.errors import MabosError
from mabos_cli.index.candidates import BOUNDS, NONE, PARTS, WAITING
from mabos_cli.index.embedding import Decode
from mabos_cli.index.packing import pack_text, unpack_text
from mabos_cli.index.plan import Enough, never
from mabos_cli.index.tables import transaction
from mabos_cli.index.vectors import Vectors

_BATCH = 1000  # rows; a transaction of this size keeps readers waiting for a moment at most
# What a copy says besides the item: the headings above it, the importance that it was written with (the item's own may
# have changed since), the place in a log that it was taken from.
_BESIDES = compiled(
    r"(?m)^#{1,6} .*$|(?<=\) )[01]\.\d\d(?: untrusted)?(?= \^)|\([01]\.\d\d(?:, untrusted)?\):|\(\[\d{4}-\d\d-\d\d:\d+\]\([^()]*\)\)"
)
_COPIES = "SELECT row, shown, source, text, first, last, heading, copy_of, at, author FROM passages WHERE copy_of = ? AND copy_of != ''"


class Stats(NamedTuple):
    """Holds what a sync did, and how many sources or vectors it left to the next one."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    passages: int = 0
    embedded: int = 0
    errors: int = 0
    left: int = 0


class Known(NamedTuple):
    """Holds what the index knows about a source since it last read it."""

    stamp: str = ""
    hash: str = ""
    error: str = ""
    size: int = 0
    passages: int = 0
    items: int = 0


class Place(NamedTuple):
    """Where an item stands in its session; what comes behind it was embedded with it."""

    session: str
    at: str
    id: str


class Follower:
    """Brings the tables up to date with the sources."""

    def __init__(self, db: Any, vectors: Sequence[Vectors], decode: Decode, item_size: int) -> None:
        self._db = db
        self._passages = Passages(db, vectors, self.words_of)
        self._gone: dict[tuple[int, str], bytes] = {}  # lines that a transaction took away, by row and id
        self._decode = decode
        self._item_size = item_size

    def follow(self, sources: Sequence[Source], enough: Enough = never) -> Stats:
        """Reads what changed since the last time, until that is enough."""
        known = {
            row[0]: Known(*row[1:])
            for row in self._db.execute("SELECT path, stamp, hash, error, size, passages, items FROM files")
        }
        names = {source.path for source in sources}
        gone = [path for path in known if path not in names]
        stale = [s for s in sources if s.path not in known or known[s.path].stamp != s.stamp]
        # New ones first, and those that are gone last: what moved from one to another keeps its words and vector.
        stale.sort(key=lambda source: source.path in known)
        added = changed = errors = rows = left = 0
        batch: list[tuple[Source, Content]] = []
        for number, source in enumerate(stale, 1):
            before = known.get(source.path)
            grown = source.grow(before.size, before.hash) if source.grow and before and not before.error else None
            content = grown or source.load()
            if not (before and before.hash) and not self._apply_parts(source, content, known, enough):
                left = len(stale) - number + 1
                break
            batch.append((source, content))
            errors += bool(content.error)
            added += before is None
            changed += bool(before and (before.hash, before.error) != (content.hash, content.error))
            rows += len(content.pieces) + len(content.records)
            if rows > _BATCH:
                self._apply(batch, known)
                batch, rows = [], 0
                if number < len(stale) and enough():
                    left = len(stale) - number
                    break
        batch += [(Source(path, "", True, Content), Content()) for path in gone if not left]
        if batch:
            self._apply(batch, known)
        unchanged = len(sources) - added - changed - left
        return Stats(added, changed, len(gone), unchanged, self._passages.written, 0, errors, left)

    def _apply_parts(self, source: Source, content: Content, known: dict[str, Known], enough: Enough) -> bool:
        """Reads a source with many items in parts, of which each is a transaction and leaves the source to be read again: what was done
        is found there then. Returns False when that was enough before its end."""
        for first in range(0, len(content.records) - _BATCH, _BATCH) if not content.error else ():
            part = content._replace(hash="", pieces=(), records=content.records[first : first + _BATCH], is_more=True)
            written = self._passages.written
            self._apply([(source._replace(settled=False), part)], known)
            if self._passages.written > written and enough():
                return False
        return True

    def _apply(self, batch: list[tuple[Source, Content]], known: dict[str, Known]) -> None:
        """Brings the rows of some sources up to date, in one transaction."""
        touched: set[str] = set()
        moved: list[Place] = []
        self._gone.clear()
        with transaction(self._db):
            for source, content in batch:
                stamp = source.stamp if source.settled else ""
                if not source.stamp:
                    self._db.execute("DELETE FROM files WHERE path = ?", (source.path,))
                elif content.hash and (known.get(source.path) or Known())[1:3] == (content.hash, content.error):
                    self._db.execute("UPDATE files SET stamp = ? WHERE path = ?", (stamp, source.path))
                    continue
                content = self._write_records(source.path, content, touched, moved)
                self._write_pieces(source.path, content, touched)
                if source.stamp:
                    size, changed = (int(number) for number in source.stamp.split(":")[:2])
                    held = known[source.path][-2:] if content.is_more and source.path in known else (0, 0)
                    counts = held[0] + len(content.pieces), held[1] + len(content.records)
                    row = (source.path, stamp, content.size or size, changed, content.hash, *counts, content.error)
                    self._db.execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            for item_id in sorted(touched):
                self._settle(item_id)
            self._unsettle_followers(moved)

    def _write_records(self, path: str, content: Content, touched: set[str], moved: list[Place]) -> Content:
        """Brings the items of one source up to date; what cannot be decoded becomes the source's error."""
        old = {
            (item_id, checksum): (row, body, Place(session, at, item_id))
            for row, item_id, checksum, body, session, at in self._records(path, content)
        }
        if content.error:  # what it held is unknown now; better nothing than a ghost
            content = content._replace(records=(), pieces=())
        kept, before, after = set(), {}, {}
        for record in content.records:
            key = (record.id, record.checksum)
            if key not in kept and key not in old:
                try:
                    held = record.decode()
                except MabosError as error:
                    content = content._replace(error=error.message)
                    continue
                if held is None:
                    continue
                body = self._insert_item(path, record.checksum, held)
                after[record.id] = (body, Place(held.item.session, held.item.happened_at, held.item.id))
            kept.add(key)
        for key in () if content.is_more else old.keys() - kept:
            row, body, place = old[key]
            self._gone[row, place.id] = self._line_of(row, place.id)
            self._db.execute("DELETE FROM items WHERE row = ?", (row,))
            before[place.id] = (body, place)
        touched |= before.keys() | after.keys()
        # A record that changed only in how often it was used moved nothing.
        for one, other in ((before, after), (after, before)):
            moved += [place for item_id, (body, place) in one.items() if other.get(item_id) != (body, place)]
        return content

    def _records(self, path: str, content: Content) -> Iterator[tuple[Any, ...]]:
        """Returns the rows that a source has: all, or of one that only grew those that its new lines may repeat."""
        sql = "SELECT row, id, checksum, body, session, at FROM items WHERE"
        if not content.is_more:
            return iter(self._db.execute(f"{sql} source = ?", (path,)))
        ids = {record.id for record in content.records}
        return (row for item_id in ids for row in self._db.execute(f"{sql} id = ? AND +source = ?", (item_id, path)))

    def _insert_item(self, path: str, checksum: int, held: Held) -> int:
        """Inserts a record; returns the number that changes when what can be found of it does."""
        item, away = held.item, reach_of(held.archived)
        text = "\0".join((item.content, item.author, item.session, item.happened_at, *item.tags, "away" * away))
        body = crc32(text.encode("utf-8", "replace"))
        self._db.execute(
            f"INSERT INTO items VALUES (NULL, ?, ?, ?, 0{', ?' * 17})",
            (
                *(path, item.id, checksum, held.store, held.archived, away, held.away_at, held.into),
                "".join(f"\n{name}\n" for name in types_of(item)),
                item.importance,
                *(item.happened_at, as_stamp(item.expires_at), item.author, item.session),
                "".join(f"\n{tag}\n" for tag in item.tags),
                *(item.access_count, len(item.content), body, trust_rank(item.trust), pack_text(held.line)),
            ),
        )
        return body

    def _write_pieces(self, path: str, content: Content, touched: set[str]) -> None:
        """Brings the passages of one file up to date; one that only moved to other lines keeps its words and vector."""
        left: dict[tuple[Any, ...], list[tuple[int, int, int]]] = {}
        sql = "SELECT row, first, last, heading, text, at, author, copy_of, trust FROM passages WHERE source = ? AND item = ''"
        for row, first, last, *key in () if content.is_more else self._db.execute(sql, (path,)).fetchall():
            left.setdefault(tuple(key), []).append((row, first, last))
        for piece in content.pieces:
            trust = rank_piece(path, piece)
            same = left.get((piece.heading, pack_text(piece.text), piece.at, piece.author, piece.copy_of, trust))
            if same:
                row, *lines = same.pop(0)
                if lines != [piece.first, piece.last]:
                    moved = (piece.first, piece.last, row)
                    self._db.execute("UPDATE passages SET first = ?, last = ? WHERE row = ?", moved)
                continue
            row = self._passages.insert(path, piece, shown=not piece.copy_of)
            if piece.copy_of:  # whether it is a copy is decided when all items are known
                touched.add(piece.copy_of)
            else:
                self._passages.make_findable(row, _about(piece, path), piece.text)
        self._passages.remove([row for rows in left.values() for row, _, _ in rows])

    def _settle(self, item_id: str) -> None:
        """Decides which record of an item is shown, makes that one findable, and hides the copies of it in files."""
        records = self._db.execute(
            "SELECT row, away, body, shown, line FROM items WHERE id = ? ORDER BY away > 0, away_at DESC, away < 3, away, source, checksum",
            (item_id,),
        ).fetchall()
        found = self._db.execute(
            "SELECT row, body, item_row FROM passages WHERE item = ? AND item != '' ORDER BY part", (item_id,)
        ).fetchall()
        row, away, body, shown, line = records[0] if records else (0, 0, -1, True, b"")
        if not shown:
            self._db.execute("UPDATE items SET shown = (row = ?) WHERE id = ?", (row, item_id))
        if not found or found[0][1] != body:
            self._passages.remove([hit[0] for hit in found])
            if records:
                self._add_item(row, self._decode(unpack_text(line)), away, body)
        elif found[0][2] != row:
            self._db.execute("UPDATE passages SET item_row = ? WHERE item = ? AND item != ''", (row, item_id))
        copies = self._db.execute(_COPIES, (item_id,)).fetchall()
        if copies:
            self._settle_copies(copies, [self._decode(unpack_text(record[4])) for record in records])

    def _add_item(self, item_row: int, item: MemoryItem, away: int, body: int) -> None:
        for part, text in enumerate(cut_text(item.content, self._item_size, PARTS)):
            piece = Piece(text, 0, 0, at=item.happened_at, author=item.author)
            row = self._passages.insert("", piece, shown=True, away=away, of=(item.id, item_row, body, part))
            self._passages.make_findable(row, _about_item(item), text)

    def _line_of(self, row: int, item_id: str) -> bytes:
        line: bytes = self._db.execute("SELECT line FROM items WHERE row = ? AND id = ?", (row, item_id)).fetchone()[0]
        return line

    def words_of(self, row: int) -> tuple[str, str] | None:
        """Returns what a passage put into the lane of words; None for one that is hidden. An item is what it was when that was done."""
        item_id, item_row, part, source, text, *rest, shown = self._db.execute(
            "SELECT item, item_row, part, source, text, first, last, heading, copy_of, at, author, shown FROM passages WHERE row = ?",
            (row,),
        ).fetchone()
        if not shown:
            return None
        if not item_id:
            return _about(Piece("", *rest), source), unpack_text(text)
        item = self._decode(unpack_text(self._gone.get((item_row, item_id)) or self._line_of(item_row, item_id)))
        return _about_item(item), cut_text(item.content, self._item_size, PARTS)[part]

    def _settle_copies(self, copies: list[tuple[Any, ...]], versions: list[MemoryItem]) -> None:
        """Hides passages of files that only repeat an item, and shows those that say something else, or outlived it."""
        known = {word for item in versions for word in words(_repeated(item))}
        for row, shown, source, packed, *rest in copies:
            text = unpack_text(packed)
            is_copy = bool(versions) and known.issuperset(words(_BESIDES.sub("", text)))
            if is_copy and shown:
                self._passages.hide([row])
                self._db.execute("UPDATE passages SET shown = 0, vector = 0, strong = 0 WHERE row = ?", (row,))
            elif not is_copy and not shown:
                self._db.execute("UPDATE passages SET shown = 1 WHERE row = ?", (row,))
                self._passages.make_findable(row, _about(Piece(text, *rest), source), text)

    def _unsettle_followers(self, moved: Iterable[Place]) -> None:
        """Takes away the vectors of what follows a change in its session: it was embedded with what stood before it."""
        for place in moved:
            if place.session:
                rows = self._db.execute(
                    "SELECT row FROM passages WHERE item != '' AND part = 0 AND item = (SELECT id FROM items"
                    " WHERE shown AND session = ? AND session != '' AND (at, id) > (?, ?) ORDER BY at, id LIMIT 1)",
                    place,
                )
                self._passages.unembed(rows.fetchall())


def _about(piece: Piece, path: str) -> str:
    return f"{piece.author} {spoken_date(piece.at)} {piece.heading} {path}".strip()


def _about_item(item: MemoryItem) -> str:
    return f"{item.author} {spoken_date(item.happened_at)} {' '.join(item.tags)}".strip() + f" {item.id}"


def _repeated(item: MemoryItem) -> str:
    """Returns all that a copy of an item in a log or a list says."""
    created = f"{item.created_at[:10]} {item.created_at[11:16]}"
    return " ".join((item.content, *item.tags, item.type, item.source, item.id, created, "utc"))


def spoken_date(at: str) -> str:
    """Returns a date in the words that people use in questions: 8 May 2023.

    >>> spoken_date("2023-05-08T13:56:00.000Z")
    '8 May 2023'
    """
    try:
        return f"{int(at[8:10])} {MONTHS[int(at[5:7]) - 1]} {at[:4]}"
    except (ValueError, IndexError):
        return ""


class Passages:
    """The table of passages and what belongs to it; counts how many were written."""

    def __init__(self, db: Any, vectors: Sequence[Vectors], words_of: Callable[[int], tuple[str, str] | None]) -> None:
        self._db = db
        self._vectors = vectors
        self._words_of = words_of
        self._next = [_first_free(db, low, high) for low, high in pairwise(BOUNDS)]
        self.written = 0

    def insert(
        self, path: str, piece: Piece, *, shown: bool, away: int = 0, of: tuple[str, int, int, int] = ("", 0, 0, 0)
    ) -> int:
        """Inserts a row and returns its number; `of` is the item it is a part of: its id, row, body, and which part."""
        item, item_row, body, part = of
        if part == 0:
            self._next[away] += PARTS
        row = self._next[away] - PARTS + part
        if row >= BOUNDS[away + 1]:
            raise ValueError("the numbers are used up: a new index begins from the first")
        self.written += 1
        vector = WAITING if part == 0 else NONE  # an item has one vector, with its first part
        text = b"" if item else pack_text(piece.text)
        where = (row, path, item, item_row, part, piece.first, piece.last, piece.heading)
        about = (text, piece.at, piece.author, piece.copy_of, int(shown), body, vector, vector, rank_piece(path, piece))
        self._db.execute(f"INSERT INTO passages VALUES (?{', ?' * 17})", (*where, *about, len(piece.text)))
        return row

    def make_findable(self, row: int, about: str, text: str) -> None:
        """Puts the words of a passage, and what it is about, into the lane of words."""
        words_of = (row, spaced(about), spaced(text))
        self._db.execute("INSERT INTO passages_fts (rowid, about, body) VALUES (?, ?, ?)", words_of)

    def hide(self, rows: Sequence[int]) -> None:
        """Takes passages out of both lanes."""
        for row in rows:
            if words_of := self._words_of(row):
                gone = ("delete", row, *map(spaced, words_of))
                self._db.execute(
                    "INSERT INTO passages_fts (passages_fts, rowid, about, body) VALUES (?, ?, ?, ?)", gone
                )
        for table in self._vectors:
            table.delete(rows)

    def remove(self, rows: Sequence[int]) -> None:
        """Takes passages out of the index."""
        self.hide(rows)
        self._db.executemany("DELETE FROM passages WHERE row = ?", ((row,) for row in rows))

    def unembed(self, rows: Sequence[tuple[int]]) -> None:
        """Takes vectors away from passages, so that they are embedded again."""
        for table in self._vectors if rows else ():
            table.delete([row for (row,) in rows])
        self._db.executemany("UPDATE passages SET vector = 0, strong = 0 WHERE row = ?", rows)


def _first_free(db: Any, low: int, high: int) -> int:
    """Returns the first number behind the passages in a range."""
    last = db.execute("SELECT max(row) FROM passages WHERE row >= ? AND row < ?", (low, high)).fetchone()[0]
    return low if last is None else (last // PARTS + 1) * PARTS


def rank_piece(path: str, piece: Piece) -> int:
    """Returns how far a passage is trusted, by its file and its own words."""
    return trust_rank(lowest_trust((trust_of_file(path), piece.trust or "trusted")))
