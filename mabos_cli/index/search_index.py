"""The index of one agent: a disposable SQLite file that follows the agent's files and can be rebuilt.

A note beside the file says which state of the file and of the sources it stands for. A file that somebody else changed no
longer fits its note and is rebuilt; a note that fits means that nothing changed and nothing needs to be read.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from mabos_cli.core.language.ids import stamp_of
from mabos_cli.core.search.documents import WRITING, Embedder, Source, digest_of
from mabos_cli.errors import Conflict, MabosError
from mabos_cli.index.follow import Follower, Stats
from mabos_cli.index.tables import SCHEMA, create_tables, give_memo, read_meta, write_meta
from mabos_cli.index.vectors import (
    BlobTable,
    Decode,
    Engine,
    VecTable,
    Vectors,
    embed_pending,
    is_kept,
    is_of,
    keep_memo,
)


class Place(Protocol):
    """Where an index lies. Keeps writers apart and remembers a note between them; the workspace provides it."""

    path: Path

    def read(self) -> str: ...

    def hold(self, timeout: float) -> AbstractContextManager[Callable[[str], None]]: ...


class Plan(NamedTuple):
    """How an index is built: the engine, how lines become items, what its shape depends on, and the model if any."""

    engine: Engine
    decode: Decode
    shape: str
    item_size: int
    embedder: Embedder | None = None
    progress: Callable[[int, int], None] | None = None


class SearchIndex:
    """An opened index, in memory when it has no place.

    `stale` and `trouble` say what may not be expected of it, and why; `news` what else happened.
    """

    def __init__(self, place: Place | None, plan: Plan) -> None:
        self.place = place
        self.engine = plan.engine
        self.embedder = plan.embedder
        self.decode = plan.decode
        self.label = ""  # set for another agent's index, so that its results can be told apart
        self.stale = ""
        self.trouble = ""
        self.news = ""
        self._plan = plan
        kind = "none" if plan.engine.step == "lexical" else VecTable.kind if plan.engine.vec0 else BlobTable.kind
        self._shape = f"{SCHEMA} {kind} {plan.shape}"
        self._db: Any = None

    @property
    def path(self) -> Path | None:
        """The file; None for an index in memory."""
        return self.place.path if self.place else None

    @property
    def db(self) -> Any:
        assert self._db is not None, "refresh opens the index"
        return self._db

    @property
    def vectors(self) -> Vectors | None:
        """The table of vectors, if there is one that the model at hand can be compared with."""
        table = self._table()
        return table if table and read_meta(self.db).get("kind") == table.kind else None

    @property
    def width(self) -> int:
        """How many numbers a vector has here."""
        return int(read_meta(self.db).get("width", "0"))

    def refresh(self, sources: Sequence[Source], wait: float) -> Stats:
        """Follows what changed; when another process writes for longer than `wait`, the index stays as it is: stale."""
        place = self.place
        if place is None:
            return self._build(":memory:", sources)
        if self._is_current(place, sources):
            return Stats(unchanged=len(sources))
        try:
            with place.hold(wait) as note:
                if self._is_current(place, sources):  # whoever held it before did our work
                    return Stats(unchanged=len(sources))
                stats = None
                if self._is_whole(place.path, place.read()) and self._open(place.path):
                    note(WRITING)
                    with suppress(*self.engine.errors):
                        stats = self._follow(sources)
                if stats is None:
                    temp, stats = self._build_beside(place.path, sources)
                    self._swap(temp, place.path)
                note(self._note(place, digest_of(sources)))
                return stats
        except Conflict as error:
            written = place.read()  # while somebody writes, SQLite shows what was there before
            if (written == WRITING or self._is_whole(place.path, written)) and self._open(place.path):
                self.stale = error.message
                return Stats()
            raise

    def rebuild(self, sources: Sequence[Source], wait: float) -> Stats:
        """Builds a new file beside the old one and swaps them; readers of the old one go on undisturbed."""
        place = self.place
        if place is None:
            return self._build(":memory:", sources)
        temp, stats = self._build_beside(place.path, sources)
        try:
            with place.hold(wait) as note:
                note(WRITING)
                self._swap(temp, place.path)
                note(self._note(place, digest_of(sources)))
        finally:
            temp.unlink(missing_ok=True)
        return stats

    def _is_current(self, place: Place, sources: Sequence[Source]) -> bool:
        """Returns whether the note fits both the file and the sources, and every passage has its vector."""
        digest = digest_of(sources)
        if not digest or place.read() != self._note(place, digest) or not self._open(place.path):
            return False
        try:
            table = self._table()
            if self.embedder is None or table is None:
                return True
            rows = "shown AND vector = ''" if is_of(self.db, self.embedder, table) else "shown AND part = 0"
            return self.db.execute(f"SELECT 1 FROM passages WHERE {rows} LIMIT 1").fetchone() is None
        except self.engine.errors:
            self.close()
            return False

    def errors(self) -> list[tuple[str, str]]:
        """Returns the files that could not be read, and why."""
        found: list[tuple[str, str]] = self.db.execute("SELECT path, error FROM files WHERE error != ''").fetchall()
        return found

    def inspect(self, sources: Sequence[Source]) -> dict[str, Any]:
        """Describes the state and contents of the file as it is, empty when there is none. Changes nothing."""
        place = self.place
        if place is None or not place.path.exists():
            return {}
        try:
            if self._is_whole(place.path, place.read()) and self._open(place.path):
                return self._contents(sources) | {"bytes": place.path.stat().st_size}
        except self.engine.errors:
            self.close()
        return {"state": "damaged, half written or of another shape: made anew at the next recall"}

    def _contents(self, sources: Sequence[Source]) -> dict[str, Any]:
        known = dict(self.db.execute("SELECT path, stamp FROM files"))
        behind = sum(known.pop(s.path, "") != s.stamp for s in sources) + len(known)
        meta = read_meta(self.db)
        counts = {
            "files": "files",
            "items": "items WHERE shown AND archived = ''",
            "archived_items": "items WHERE shown AND archived != ''",
            "passages": "passages WHERE shown",
            "file_passages": "passages WHERE shown AND item = ''",
            "waiting_for_vectors": "passages WHERE shown AND vector = ''",
            "cached_vectors": "embedding_cache",
        }
        return {
            "state": f"stale: {behind} of {len(sources)} files changed" if behind else "fresh",
            "indexed_model": meta.get("model"),
            "width": int(meta.get("width", 0)) or None,
            **{name: self.db.execute(f"SELECT count(*) FROM {rows}").fetchone()[0] for name, rows in counts.items()},
            "unreadable": [path for path, _ in self.errors()],
        }

    def doubt_model(self, width: int) -> None:
        """Notes that the model answers with vectors of another width: the next refresh embeds everything again."""
        self.trouble = f"the model's vectors have {width} numbers now; the next recall embeds everything again"
        if self.place is not None:
            # The file no longer fits its note then, and is rebuilt without vectors of the old width.
            # Who cannot write now answers by words only: nobody can do more until that is done.
            with suppress(MabosError, *self.engine.errors), self.place.hold(0):
                self.db.execute("DELETE FROM embedding_cache WHERE model = ?", (read_meta(self.db).get("model"),))
                write_meta(self.db, width="0")

    def close(self) -> None:
        if self._db is not None:
            with suppress(*self.engine.errors):
                self._db.close()
        self._db = None

    def _note(self, place: Place, digest: str) -> str:
        return f"{_stamp(place.path)} {digest} {self._shape}"

    def _is_whole(self, path: Path, note: str) -> bool:
        """Returns whether the file is as its last writer left it; one that was killed left it half written."""
        stamp, _, rest = note.partition(" ")
        return bool(stamp) and stamp == _stamp(path) and rest.partition(" ")[2] == self._shape

    def _open(self, path: Path) -> bool:
        """Opens the file if it is an index of this shape."""
        if self._db is not None:
            return True
        if not path.is_file():
            return False
        try:
            writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
            self._db = self.engine.connect(os.fspath(path), read_only=not writable)
            # No journal on disk: a process that still reads a file that was swapped would take it for its own.
            self._db.execute("PRAGMA journal_mode = MEMORY")
            if read_meta(self._db).get("shape") == self._shape:
                if self.embedder:
                    give_memo(self._db, self.embedder)
                return True
        except self.engine.errors:
            pass
        self.close()
        return False

    def _table(self) -> Vectors | None:
        if self.engine.step == "lexical":
            return None
        return VecTable(self.db) if self.engine.vec0 else BlobTable(self.db)

    def _follow(self, sources: Sequence[Source]) -> Stats:
        """Reads what changed and embeds what has no vector; a model that cannot be reached is trouble, not an error."""
        stats = Follower(self.db, self.vectors, self.decode, self._plan.item_size).follow(sources)
        table = self._table()
        if self.embedder is None or table is None:
            return stats
        before = read_meta(self.db).get("model")
        try:
            done = embed_pending(self.db, table, self.embedder, self.decode, self._plan.progress)
            keep_memo(self.db, self.embedder)
        except MabosError as error:
            self.trouble, self.embedder = error.message, None
            return stats
        if done and before not in (None, self.embedder.model):
            self.news = f"embedded {done} passages again: the model was {before} and is now {self.embedder.model}"
        return stats._replace(embedded=done)

    def _build(self, address: str, sources: Sequence[Source], old: Path | None = None) -> Stats:
        """Builds a new index at an address, with the cached vectors of an old one."""
        self._db = self.engine.connect(address)
        self._db.execute("PRAGMA journal_mode = MEMORY")
        self._db.execute("PRAGMA synchronous = OFF")
        create_tables(self._db, self._shape)
        if old:
            self._keep_cache(old)
        return self._follow(sources)

    def _build_beside(self, path: Path, sources: Sequence[Source]) -> tuple[Path, Stats]:
        self.close()
        path.parent.mkdir(parents=True, exist_ok=True)
        temp = path.with_name(f".mabos-tmp-{os.getpid()}-{path.name}")
        temp.unlink(missing_ok=True)
        try:
            stats = self._build(os.fspath(temp), sources, path)
        except BaseException:
            temp.unlink(missing_ok=True)
            raise
        finally:
            self.close()
        return temp, stats

    def _keep_cache(self, path: Path) -> None:
        """Carries over vectors that cost something to compute, as far as the old file can still be read."""
        if not path.is_file():
            return
        with suppress(*self.engine.errors):
            old = self.engine.connect(os.fspath(path), read_only=True)
            try:
                for row in old.execute("SELECT model, hash, vector, checksum FROM embedding_cache"):
                    if is_kept(row[2], row[3]):
                        self.db.execute("INSERT OR IGNORE INTO embedding_cache VALUES (?, ?, ?, ?)", row)
            finally:
                old.close()

    def _swap(self, temp: Path, path: Path) -> None:
        """Puts a new file in the place of the old one, whatever is there."""
        with temp.open("rb") as file:
            os.fsync(file.fileno())
        if path.is_dir() and not path.is_symlink():  # a folder there is somebody's: it is renamed, not removed
            number = 1
            while (aside := path.with_name(f"{path.name}.aside-{number}")).exists():
                number += 1
            path.rename(aside)
        for tail in ("-journal", "-wal", "-shm"):  # of the old file; SQLite would apply them to the new one
            Path(f"{path}{tail}").unlink(missing_ok=True)
        os.replace(temp, path)
        self._open(path)


def _stamp(path: Path) -> str:
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return ""
