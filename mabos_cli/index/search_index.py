"""The index of one agent: a disposable SQLite file that follows the agent's files and can be rebuilt.

A note beside the file says which state of the file and of the sources it stands for. A file that somebody else changed no
longer fits its note and is rebuilt; a note that fits means that nothing changed and nothing needs to be read.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from mabos_cli.core.memory.trust import Sharing
from mabos_cli.core.search.documents import BUILDING, UNFINISHED, WRITING, Source, digest_of
from mabos_cli.errors import Conflict, MabosError
from mabos_cli.index.candidates import Candidates
from mabos_cli.index.embedding import (
    Slot,
    carry_cache,
    embed_waiting,
    find_cached,
    keep_cached,
    keep_memo,
    list_waiting,
    open_slot,
)
from mabos_cli.index.follow import Follower, Stats
from mabos_cli.index.packing import pack_vector
from mabos_cli.index.plan import Enough, Place, Plan, never, stamp_at
from mabos_cli.index.tables import (
    SCHEMA,
    SqliteLanes,
    create_tables,
    describe_tables,
    give_memo,
    has_log,
    keep_log,
    make_room,
    read_meta,
    swap_files,
    transaction,
    write_meta,
)
from mabos_cli.index.vectors import BlobTable, VecTable, Vectors

_LOOKED_AT = 64  # passages that wait, to see whether they are many


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
        self.sharing: Sharing | None = None  # what of another agent's may be found
        self.stale = ""
        self.trouble = ""
        self.news = ""
        self.remote: Candidates | None = None  # the same rows elsewhere, which answer instead
        self._plan = plan
        kind = "none" if plan.engine.step == "lexical" else VecTable.kind if plan.engine.vec0 else BlobTable.kind
        self._shape = f"{SCHEMA} {kind} {plan.shape}"
        self._db: Any = None

    @property
    def path(self) -> Path | None:
        """Returns the file; None for an index in memory."""
        return self.place.path if self.place else None

    @property
    def db(self) -> Any:
        assert self._db is not None, "refresh opens the index"
        return self._db

    @property
    def lanes(self) -> Candidates:
        """Returns the candidates that a search asks for."""
        return self.remote or SqliteLanes(self.db, lambda: self.vectors)

    @property
    def vectors(self) -> Vectors | None:
        """Returns the table of vectors in SQLite, if it is one that the model which answers can be compared with."""
        slot = self._slot(strong=self.is_strong)
        return slot.table if slot.has_vectors else None

    @property
    def has_vectors(self) -> bool:
        """Returns whether a question may be asked by its meaning."""
        return self.remote is not None or self.vectors is not None

    @property
    def width(self) -> int:
        """Returns how many numbers a vector has here."""
        return int(self.about["width"] or 0)

    @property
    def centre(self) -> list[float]:
        """Returns the direction that the vectors have in common, empty when there is none."""
        return self.vectors.centre() if self.vectors else []

    @property
    def about(self) -> dict[str, str]:
        """Returns model, width and kind of the vectors of the model that answers, as far as there are some."""
        return self._slot(strong=self.is_strong).about()

    @property
    def item_size(self) -> int:
        """Returns how many characters of an item are one passage, at most."""
        return self._plan.item_size

    @property
    def is_strong(self) -> bool:
        """Returns whether the model that takes long answers."""
        return self.embedder is not None and self.embedder is self._plan.strong

    def use_weak(self) -> None:
        """Lets the model answer that embeds at once."""
        self.remote, self.embedder = None, self._plan.embedder

    def refresh(self, sources: Sequence[Source], wait: float, enough: Enough = never) -> Stats:
        """Follows what changed, until that is enough for somebody who waits: the rest is left to the next time. When another process
        writes for longer than `wait`, the index stays as it is: stale."""
        place = self.place
        if place is None:
            return self._build(":memory:", sources)
        if self._is_current(place, sources):
            return Stats(unchanged=len(sources))
        try:
            with place.hold(wait) as note:
                if self._is_current(place, sources):  # whoever held it before did our work
                    return Stats(unchanged=len(sources))
                stats = self._follow_in(place, note, sources, enough)
                note(self._note(place, UNFINISHED if stats.left else digest_of(sources)))
                return stats
        except Conflict as error:
            written = place.read()  # while somebody writes, SQLite shows what was there before
            if (written == WRITING or self._is_whole(place.path, written)) and self._open(place.path):
                self.stale = error.message
                self._choose()
                return Stats()
            raise

    def _follow_in(self, place: Place, note: Callable[[str], None], sources: Sequence[Source], enough: Enough) -> Stats:
        """Follows in the file, or in a new one when it cannot be used. A new one is committed batch by batch: who is killed loses the
        last one, and the next command goes on from there."""
        if self._is_whole(place.path, place.read()) and self._open(place.path):
            with suppress(*self.engine.errors):
                return self._follow_on(note, sources, enough)
        self.close()
        place.path.parent.mkdir(parents=True, exist_ok=True)
        old = place.path.with_name(f".mabos-tmp-{os.getpid()}-{place.path.name}")
        try:
            make_room(place.path, old)
            note(BUILDING)
            self._db = self.engine.connect(os.fspath(place.path))
            create_tables(self.db, self._shape)
            write_meta(self.db, building="yes")
            carry_cache(self.engine, old, self.db)
        finally:
            old.unlink(missing_ok=True)
        return self._follow_on(note, sources, enough)

    def _follow_on(self, note: Callable[[str], None], sources: Sequence[Source], enough: Enough) -> Stats:
        building = "building" in read_meta(self.db)
        note(BUILDING if building else WRITING)
        if building:  # nobody swaps this file: a journal beside it is its own
            self.db.execute("PRAGMA journal_mode = DELETE")
            self.db.execute("PRAGMA synchronous = NORMAL")
        stats = self._follow(sources, enough)
        if not stats.left:
            if building:
                self.db.execute("DELETE FROM meta WHERE key = 'building'")
                if not self.trouble:
                    self._choose()
            self._log()
        return stats

    def rebuild(self, sources: Sequence[Source], wait: float) -> Stats:
        """Builds a new file beside the old one and swaps them; readers of the old one go on undisturbed."""
        place = self.place
        if place is None:
            return self._build(":memory:", sources)
        self.close()
        place.path.parent.mkdir(parents=True, exist_ok=True)
        temp = place.path.with_name(f".mabos-tmp-{os.getpid()}-{place.path.name}")
        temp.unlink(missing_ok=True)
        try:
            stats = self._build(os.fspath(temp), sources, place.path)
            self.close()
            with place.hold(wait) as note:
                note(WRITING)
                swap_files(temp, place.path)
                self._open(place.path)
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
            if self._plan.logged and not has_log(self.db):
                return False
            if self._plan.embedder is None or self._slot().is_done(self._plan.embedder):
                self._choose()
                return self.is_strong or self._plan.strong is None or self._is_long()
            return False
        except self.engine.errors:
            self.close()
            return False

    def errors(self) -> list[tuple[str, str]]:
        """Returns the files that could not be read, and why."""
        return [*self.db.execute("SELECT path, error FROM files WHERE error != ''")]

    def inspect(self, sources: Sequence[Source]) -> dict[str, Any]:
        """Describes the state and contents of the file as it is, empty when there is none. Changes nothing."""
        place = self.place
        if place is None or not place.path.exists():
            return {}
        try:
            if self._is_whole(place.path, place.read()) and self._open(place.path):
                self._choose()
                waiting = {"waiting_for_the_better_model": self.count_waiting()} if self._plan.strong else {}
                unreadable = {"unreadable": [path for path, _ in self.errors()]}
                counts = describe_tables(self.db, sources) | waiting | unreadable
                about = {"indexed_model": self.about["model"] or None, "width": self.width or None}
                return {"state": counts.pop("state"), **about, **counts, "bytes": place.path.stat().st_size}
        except self.engine.errors:
            self.close()
        return {"state": "damaged, half written or of another shape: rebuilt at the next recall"}

    def doubt_model(self, width: int) -> None:
        """Notes that the model answers with vectors of another width: the next refresh embeds everything again."""
        self.trouble = f"the model's vectors have {width} numbers now; the next recall embeds everything again"
        if self.place is not None:
            # The file no longer fits its note then, and is rebuilt without vectors of the old width.
            # Who cannot write now answers by words only: nobody can do more until that is done.
            with suppress(MabosError, *self.engine.errors), self.place.hold(0):
                name = self.embedder.model if self.embedder else ""
                self.db.execute("DELETE FROM embedding_cache WHERE model = ?", (name,))
                write_meta(self.db, **{"strong_width" if self.is_strong else "width": "0"})

    def close(self) -> None:
        if self._db is not None:
            with suppress(*self.engine.errors):
                self._db.close()
        self._db = None

    def _note(self, place: Place, digest: str) -> str:
        return f"{stamp_at(place.path)} {digest} {self._shape}"

    def _is_whole(self, path: Path, note: str) -> bool:
        """Returns whether the file is as its last writer left it; one that was killed left it half written."""
        if note == BUILDING:  # batch by batch, whatever became of who did it
            return True
        stamp, _, rest = note.partition(" ")
        return bool(stamp) and stamp == stamp_at(path) and rest.partition(" ")[2] == self._shape

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
                if self._plan.embedder:
                    give_memo(self._db, self._plan.embedder)
                return True
        except self.engine.errors:
            pass
        self.close()
        return False

    def _slot(self, *, strong: bool = False) -> Slot:
        return open_slot(self.db, self.engine, strong=strong)

    def _is_long(self) -> bool:
        """Returns whether what waits for the model that takes long is more than somebody should wait for."""
        strong = self._plan.strong
        if strong is None:
            return False
        some = list_waiting(self._slot(strong=True), strong, self.decode, 0, _LOOKED_AT)
        known = find_cached(self.db, strong, some)
        return sum(len(text.text) for text in some if text.hash not in known) > self._plan.patience

    def _choose(self) -> None:
        """Decides which model answers: never two in one ranking."""
        slot, strong = self._slot(strong=True), self._plan.strong
        is_ready = strong is not None and slot.is_of(strong) and slot.is_done(strong)
        self.embedder = strong if is_ready else self._plan.embedder
        if "building" in read_meta(self.db):  # few have vectors by now: words are the same for all
            self.embedder = None

    def _follow(self, sources: Sequence[Source], enough: Enough = never) -> Stats:
        """Reads what changed and embeds what has no vector; a model that cannot be reached is trouble, not an error."""
        slot, embedder = self._slot(), self._plan.embedder
        tables = [one.table for one in (slot, self._slot(strong=True)) if one.has_vectors]
        stats = Follower(self.db, tables, self.decode, self._plan.item_size).follow(sources, enough)
        if embedder is None or stats.left:
            self._choose()
            return stats
        before = slot.about()["model"]
        try:
            done, left = embed_waiting(slot, embedder, self.decode, self._plan.progress, enough=enough)
            keep_memo(self.db, embedder)
        except MabosError as error:
            self.trouble, self.embedder = error.message, None
            return stats
        if done and before not in ("", embedder.model):
            self.news = f"embedded {done} passages again: the model was {before} and is now {embedder.model}"
        if not left:
            self._follow_strong()
        return stats._replace(embedded=done, left=left)

    def _follow_strong(self) -> None:
        """Embeds for the model that takes long, as far as somebody may wait for that; what is left waits for `embed_some`."""
        strong = self._plan.strong
        if strong:
            try:
                embed_waiting(self._slot(strong=True), strong, self.decode, self._plan.progress, self._plan.patience)
            except MabosError as error:
                self.news = f"{strong.model} cannot answer: {error.message}"
                self._plan = self._plan._replace(strong=None)
        self._choose()

    def count_waiting(self) -> int:
        """Returns how many passages wait for the model that takes long."""
        strong = self._plan.strong
        return self._slot(strong=True).count_waiting(strong) if strong and not self.is_strong else 0

    def embed_some(self, most: int, wait: float) -> int:
        """Embeds some of the passages that wait for the model that takes long, and returns how many. The right to write is held while
        vectors are written, and not while the model is at work."""
        place, strong = self.place, self._plan.strong
        texts = list_waiting(self._slot(strong=True), strong, self.decode, 0, most) if strong else []
        if place is None or strong is None or not texts:
            return 0
        made = find_cached(self.db, strong, texts)
        missing = [text for text in texts if text.hash not in made]
        made |= {t.hash: pack_vector(v) for t, v in zip(missing, strong.embed([t.text for t in missing]), strict=True)}
        with place.hold(wait) as note:
            self.close()  # it may have been rebuilt meanwhile
            before = place.read()
            if not self._is_whole(place.path, before) or not self._open(place.path):
                return 0
            note(WRITING)
            slot = self._slot(strong=True)
            with transaction(self.db):
                keep_cached(self.db, strong.model, made)
                if not slot.is_of(strong):
                    slot.begin(strong, strong.width)
                # What was changed meanwhile waits with another text.
                now = list_waiting(slot, strong, self.decode, 0, most)
                slot.put([(text.row, made[text.hash]) for text in now if text.hash in made])
            note(self._note(place, before.split(" ")[1]))
        return len(texts)

    def _build(self, address: str, sources: Sequence[Source], old: Path | None = None) -> Stats:
        """Builds a new index at an address, with the cached vectors of an old one."""
        self._db = self.engine.connect(address)
        self._db.execute("PRAGMA journal_mode = MEMORY")
        self._db.execute("PRAGMA synchronous = OFF")
        create_tables(self._db, self._shape)
        if old:
            carry_cache(self.engine, old, self.db)
        stats = self._follow(sources)
        self._log()
        return stats

    def _log(self) -> None:
        if self._plan.logged:
            keep_log(self.db)
