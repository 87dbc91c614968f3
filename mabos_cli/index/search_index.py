"""The index of one agent: a disposable SQLite file that is followed, healed, rebuilt and asked.

A note beside the file says which state of the file and of the sources it stands for. A file that somebody else changed no
longer fits its note and is made anew; a note that fits means that nothing changed and nothing needs to be read.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from mabos_cli.core.search.documents import WRITING, Embedder, Source, digest_of, stamp_of
from mabos_cli.errors import Conflict, MabosError
from mabos_cli.index.follow import Follower, Stats
from mabos_cli.index.tables import SCHEMA, create_tables, read_meta, write_meta
from mabos_cli.index.vectors import (
    BlobTable,
    Decode,
    Engine,
    VecTable,
    Vectors,
    embed_pending,
    give_memo,
    is_kept,
    is_of,
    keep_memo,
)


class Guard(Protocol):
    """Keeps writers apart and remembers a note between them. The workspace provides it."""

    def read(self) -> str: ...

    def hold(self, timeout: float) -> AbstractContextManager[Callable[[str], None]]: ...


class Plan(NamedTuple):
    """What an index is made with: the engine, how lines become items, what its shape depends on, and the model if any."""

    engine: Engine
    decode: Decode
    shape: str
    item_size: int
    embedder: Embedder | None = None
    progress: Callable[[int, int], None] | None = None


class SearchIndex:
    """An opened index. `stale` and `trouble` say what may not be expected of it, and why; `news` what else happened."""

    def __init__(self, path: Path | None, guard: Guard | None, plan: Plan) -> None:
        self.path = path
        self.engine = plan.engine
        self.embedder = plan.embedder
        self.decode = plan.decode
        self.label = ""  # set for another agent's index, so that its results can be told apart
        self.stale = ""
        self.trouble = ""
        self.news = ""
        self._guard = guard
        self._plan = plan
        kept = "none" if plan.engine.step == "lexical" else VecTable.kind if plan.engine.vec0 else BlobTable.kind
        self._shape = f"{SCHEMA} {kept} {plan.shape}"
        self._db: Any = None

    @property
    def db(self) -> Any:
        assert self._db is not None, "refresh opens the index"
        return self._db

    @property
    def vectors(self) -> Vectors | None:
        """The table of vectors, if there is one that the model at hand can be compared with."""
        meta = read_meta(self.db)
        table = self._table()
        return table if table and meta.get("kind") == table.kind else None

    @property
    def width(self) -> int:
        """How many numbers a vector has here."""
        return int(read_meta(self.db).get("width", "0"))

    def refresh(self, sources: Sequence[Source], wait: float) -> Stats:
        """Follows what changed; when another process writes for longer than `wait`, the index stays as it is: stale."""
        sources = list(sources)
        if self._guard is None or self.path is None:
            return self._build_in_memory(sources)
        if self._is_current(sources):
            return Stats(unchanged=len(sources))
        try:
            with self._guard.hold(wait) as note:
                return self._refresh_held(sources, note)
        except Conflict as error:
            written = self._guard.read()  # while somebody writes, SQLite shows what was there before
            if (written == WRITING or self._is_whole(written)) and self._open():
                self.stale = error.message
                return Stats()
            raise

    def _is_current(self, sources: list[Source]) -> bool:
        """Whether the note fits both the file and the sources, and every passage has its vector."""
        assert self._guard is not None
        digest = digest_of(sources)
        if not digest or self._guard.read() != self._note(digest) or not self._open():
            return False
        try:
            return not self._is_pending()
        except self.engine.errors:
            self.close()
            return False

    def _refresh_held(self, sources: list[Source], note: Callable[[str], None]) -> Stats:
        assert self._guard is not None
        if self._is_current(sources):  # the one who held it did our work
            return Stats(unchanged=len(sources))
        stats = None
        if self._is_whole(self._guard.read()) and self._open():
            note(WRITING)
            with suppress(*self.engine.errors):
                stats = self._follow(sources)
        if stats is None:
            temp, stats = self._build_beside(sources)
            self._swap(temp)
        note(self._note(digest_of(sources)))
        return stats

    def rebuild(self, sources: Sequence[Source], wait: float) -> Stats:
        """Builds a new file beside the old one and swaps them; readers of the old one go on undisturbed."""
        sources = list(sources)
        if self._guard is None or self.path is None:
            return self._build_in_memory(sources)
        temp, stats = self._build_beside(sources)
        try:
            with self._guard.hold(wait) as note:
                note(WRITING)
                self._swap(temp)
                note(self._note(digest_of(sources)))
        finally:
            temp.unlink(missing_ok=True)
        return stats

    def _is_pending(self) -> bool:
        """Whether passages wait for a vector of the model at hand."""
        table = self._table()
        if self.embedder is None or table is None:
            return False
        rows = "shown AND vector = ''" if is_of(self.db, self.embedder, table) else "shown AND part = 0"
        return self.db.execute(f"SELECT 1 FROM passages WHERE {rows} LIMIT 1").fetchone() is not None

    def errors(self) -> list[tuple[str, str]]:
        """The files that could not be read, and why."""
        found: list[tuple[str, str]] = self.db.execute("SELECT path, error FROM files WHERE error != ''").fetchall()
        return found

    def inspect(self, sources: Sequence[Source]) -> dict[str, Any]:
        """State and contents of the file as it is, nothing when there is none. Changes nothing."""
        assert self._guard is not None and self.path is not None
        if not self.path.exists():
            return {}
        try:
            if self._is_whole(self._guard.read()) and self._open():
                return self._contents(sources)
        except self.engine.errors:
            self.close()
        return {"state": "damaged, half written or of another shape: made anew at the next recall"}

    def _contents(self, sources: Sequence[Source]) -> dict[str, Any]:
        assert self.path is not None
        known = dict(self.db.execute("SELECT path, stamp FROM files"))
        behind = sum(known.pop(s.path, "") != s.stamp for s in sources) + len(known)

        def count(table: str) -> int:
            number: int = self.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            return number

        meta = read_meta(self.db)
        return {
            "state": f"stale: {behind} of {len(sources)} files changed" if behind else "fresh",
            "indexed_model": meta.get("model"),
            "width": int(meta.get("width", 0)) or None,
            "files": count("files"),
            "items": count("items WHERE shown AND archived = ''"),
            "archived_items": count("items WHERE shown AND archived != ''"),
            "passages": count("passages WHERE shown"),
            "file_passages": count("passages WHERE shown AND item = ''"),
            "waiting_for_vectors": count("passages WHERE shown AND vector = ''"),
            "cached_vectors": count("embedding_cache"),
            "unreadable": [path for path, _ in self.errors()],
            "bytes": self.path.stat().st_size,
        }

    def doubt_model(self, width: int) -> None:
        """The model answers with vectors of another width: all are to be made again, at the next refresh."""
        self.trouble = f"the model's vectors have {width} numbers now; the next recall embeds everything again"
        if self._guard is not None:
            # The file no longer fits its note then, and is made anew, without vectors of the old width.
            # Who cannot write now, or is not let, answers by words only: nobody can until that is done.
            with suppress(MabosError, *self.engine.errors), self._guard.hold(0):
                self.db.execute("DELETE FROM embedding_cache WHERE model = ?", (read_meta(self.db).get("model"),))
                write_meta(self.db, width="0")

    def close(self) -> None:
        if self._db is not None:
            with suppress(*self.engine.errors):
                self._db.close()
        self._db = None

    def _note(self, digest: str) -> str:
        return f"{_stamp(self.path)} {digest} {self._shape}"

    def _is_whole(self, note: str) -> bool:
        """Whether the file is as its last writer left it. One that was killed left no journal: its file is half written."""
        stamp, _, rest = note.partition(" ")
        return bool(stamp) and stamp == _stamp(self.path) and rest.partition(" ")[2] == self._shape

    def _open(self) -> bool:
        """Opens the file if it is an index of this shape."""
        assert self.path is not None
        if self._db is not None:
            return True
        if not self.path.is_file():
            return False
        try:
            writable = os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
            self._db = self.engine.connect(os.fspath(self.path), read_only=not writable)
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

    def _follow(self, sources: list[Source]) -> Stats:
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

    def _build_in_memory(self, sources: list[Source]) -> Stats:
        self._db = self.engine.connect(":memory:")
        create_tables(self._db, self._shape)
        return self._follow(sources)

    def _build_beside(self, sources: list[Source]) -> tuple[Path, Stats]:
        assert self.path is not None
        self.close()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temp = self.path.with_name(f".mabos-tmp-{os.getpid()}-{self.path.name}")
        temp.unlink(missing_ok=True)
        self._db = self.engine.connect(os.fspath(temp))
        try:
            self._db.execute("PRAGMA journal_mode = MEMORY")
            self._db.execute("PRAGMA synchronous = OFF")
            create_tables(self._db, self._shape)
            self._keep_cache()
            stats = self._follow(sources)
        except BaseException:
            self.close()
            temp.unlink(missing_ok=True)
            raise
        self.close()
        return temp, stats

    def _keep_cache(self) -> None:
        """Carries over vectors that cost something to make, as far as the old file can still be read."""
        assert self.path is not None
        if not self.path.is_file():
            return
        with suppress(*self.engine.errors):
            old = self.engine.connect(os.fspath(self.path), read_only=True)
            try:
                for row in old.execute("SELECT model, hash, vector, checksum FROM embedding_cache"):
                    if is_kept(row[2], row[3]):
                        self.db.execute("INSERT OR IGNORE INTO embedding_cache VALUES (?, ?, ?, ?)", row)
            finally:
                old.close()

    def _swap(self, temp: Path) -> None:
        """Puts a new file in the place of the old one, whatever stands there."""
        assert self.path is not None
        with temp.open("rb") as file:
            os.fsync(file.fileno())
        if self.path.is_dir() and not self.path.is_symlink():
            _move_aside(self.path)
        for tail in ("-journal", "-wal", "-shm"):  # of the old file; SQLite would apply them to the new one
            Path(f"{self.path}{tail}").unlink(missing_ok=True)
        os.replace(temp, self.path)
        self._open()


def _move_aside(folder: Path) -> None:
    """A folder in the place of the index is somebody's: it is renamed, not removed."""
    number = 1
    while (aside := folder.with_name(f"{folder.name}.aside-{number}")).exists():
        number += 1
    folder.rename(aside)


def _stamp(path: Path | None) -> str:
    try:
        return stamp_of(os.stat(path)) if path else ""
    except OSError:
        return ""
