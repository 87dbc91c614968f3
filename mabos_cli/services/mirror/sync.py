"""Writes what files hold into TypeDB: in batches, resumable at any point, and with a line in the ledger for each record."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from mabos_cli.backends import typedb
from mabos_cli.backends.typedb import Refused
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.mirror.records import (
    FAILED,
    GONE,
    OK,
    QUEUED,
    Entry,
    Key,
    Ledger,
    Record,
    Todo,
    compare_found,
    plan_sync,
    record_hash,
    uid_of,
)
from mabos_cli.core.mirror.schema import whole_schema
from mabos_cli.errors import MabosError, Unavailable
from mabos_cli.formats.mirror.questions import ask_uids
from mabos_cli.formats.mirror.typeql import (
    missing_types,
    render_delete,
    render_links,
    render_new,
    render_upsert,
)
from mabos_cli.services.inputs import Session
from mabos_cli.services.mirror.follow import connect, place_of, rest_after
from mabos_cli.services.mirror.source import PARTS, load_part, with_made_of_private
from mabos_cli.workspace import mirror_ledger
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import remove_file
from mabos_cli.workspace.knowledge.ontologies import load_ontology
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.locate import find_agent, is_agent

_BATCH = 100
_MOST = 500  # records that follow one command at most; the rest is queued
_ALONG = 50  # of those that were queued before, at most so many come along
_WAIT = 0.25  # seconds that a command waits for another process that mirrors the agent
Show = Callable[[int, int], None]
Records = Mapping[Key, Record]
Touched = Mapping[str, Collection[str] | None]


class Writing:
    """The outcome for the records to write; filled as they are written, because that may end early."""

    def __init__(self) -> None:
        self.written = 0
        self.deleted = 0
        self.failed: list[Entry] = []
        self.left = 0
        self.warnings: list[str] = []


class _Job(NamedTuple):
    """A record on its way: what to run, or what is new; what links it with others, once they are there; and what the ledger
    says when that is done."""

    queries: tuple[str, ...]
    done: Entry
    new: Record | None = None
    links: tuple[str, ...] = ()


Step = Callable[[Iterable[_Job]], list[str]]  # what a pass over records runs


class Writer:
    """Writes records of an agent and keeps its ledger. Under the lock of its mirror."""

    def __init__(
        self,
        agent: Agent,
        session: typedb.Session,
        known: Ledger,
        since: int,
        writing: Writing,
        show: Show | None = None,
    ) -> None:
        self._paths, self._session, self._known, self._show = agent.paths, session, known, show
        self._since = since  # the size that the ledger had when it was read
        self._at = format_time(agent.now())
        self._settled: set[Key] = set()
        self._queued = {key for key, entry in known.items() if entry.state == QUEUED}
        self._is_ready = False
        self.writing = writing

    def run(
        self, todo: Todo, records: Records, there: Collection[Key] | None = None, bare: Collection[Key] = ()
    ) -> None:
        """Writes and deletes. Where it is known what is there, all else is new, and has its owner unless it is bare. When the
        server is gone, or not ready, the rest is queued, and the error goes on."""
        jobs: list[_Job] = []
        try:
            jobs += (_Job(render_delete(*key), self._entry(key, GONE)) for key in todo.drop)
            jobs += self._upserts(todo, records, there, bare)
            # Few at once; of many, what they are before how they are linked, so that both ends are there.
            passes: list[list[Step]] = [[_things, _links]] if len(jobs) <= _BATCH else [[_things], [_links]]
            for number, steps in enumerate(passes):
                for at in range(0, len(jobs), _BATCH):
                    self._write_batch(
                        [job for job in jobs[at : at + _BATCH] if job.done.key not in self._settled], steps
                    )
                    if self._show:
                        done = min(number * len(jobs) + at + _BATCH, (number + 1) * len(jobs))
                        self._show(done // len(passes), len(jobs))
        except Unavailable:
            self.queue(job.done.key for job in jobs)
            raise
        finally:
            # What others queued meanwhile may have changed behind our reading it: it is queued once more.
            again = mirror_ledger.queued_since(self._paths, self._since)
            mirror_ledger.note_entries(self._paths, [entry for entry in again if entry.key in self._settled])
            mirror_ledger.compact(self._paths, sum(entry.state != GONE for entry in self._known.values()))

    def _write_batch(self, batch: list[_Job], steps: list[Step]) -> None:
        """Names what is about to be written, and writes it. Who is killed while a server takes its time leaves it queued; and behind
        the commit nothing is in the mirror that no ledger knows, and nobody deletes. The hash tells this from what others queue."""
        new = [job.done for job in batch if job.done.key not in self._queued]
        entries = [each._replace(state=QUEUED, hash=each.hash or GONE) for each in new]
        mirror_ledger.note_entries(self._paths, entries)
        self._queued.update(each.key for each in new)
        self._write(batch, steps)

    def queue(self, keys: Iterable[Key]) -> None:
        """Leaves what is not settled to whoever comes next."""
        left = [key for key in keys if key not in self._settled]
        new = [key for key in left if key not in self._queued]
        mirror_ledger.note_entries(self._paths, [self._entry(key, QUEUED) for key in new])
        self._queued.update(new)
        self.writing.left += len(left)

    def _entry(self, key: Key, state: str, mark: str = "", error: str = "") -> Entry:
        return Entry(*key, state, mark, error, self._at)

    def _upserts(
        self, todo: Todo, records: Records, there: Collection[Key] | None, bare: Collection[Key]
    ) -> Iterator[_Job]:
        for key in todo.put:
            record = records[key]
            mark = record_hash(record)
            # The agent itself is there as soon as something is its own.
            is_new = there is not None and key not in there and key[0] != "agent"
            # What becomes something else is taken out, and with it who owns it.
            is_owned = is_new or (there is not None and key not in bare and not record.label)
            try:
                queries = (render_new([record]),) if is_new else render_upsert(record)
                links = render_links(record, is_owned=is_owned)
            except BadValue as error:
                self._fail(self._entry(key, FAILED, mark, error.message))
                continue
            yield _Job(queries, self._entry(key, OK, mark), record if is_new else None, links)

    def _write(self, batch: list[_Job], steps: list[Step]) -> None:
        """One transaction; where the server refuses it, halves, down to the record that is to blame. What has no links is done
        with the first step."""
        queries = [query for step in steps for query in step(batch)]
        try:
            if queries:
                self._session.write(queries)
        except Refused as error:
            if not self._is_ready:  # is it the record, or is the whole database not as it should be?
                check_ready(self._session, self._paths.workspace)
                self._is_ready = True
            if len(batch) == 1:
                self._fail(batch[0].done._replace(state=FAILED, error=error.message))
                return
            middle = len(batch) // 2
            self._write(batch[:middle], steps)
            self._write(batch[middle:], steps)
            return
        done = [job.done for job in batch if _links in steps or not job.links]
        mirror_ledger.note_entries(self._paths, done)
        self._settled.update(each.key for each in done)
        gone = sum(each.state == GONE for each in done)
        self.writing.deleted += gone
        self.writing.written += len(done) - gone

    def _fail(self, entry: Entry) -> None:
        mirror_ledger.note_entries(self._paths, [entry])
        self._settled.add(entry.key)
        self.writing.failed.append(entry)


def _things(batch: Iterable[_Job]) -> list[str]:
    """Returns queries for what records are, without what links them: all that is new in one."""
    queries = [query for job in batch if job.new is None for query in job.queries]
    new = [job.new for job in batch if job.new is not None]
    return [*queries, render_new(new)] if new else queries


def _links(batch: Iterable[_Job]) -> list[str]:
    return [query for job in batch for query in job.links]


def check_ready(session: typedb.Session, workspace: WorkspacePaths) -> None:
    """Comes back when the database is there and has the types that records need; Unavailable otherwise."""
    present, database = session.schema(), session.place.database
    if present is None:
        raise Unavailable(f"TypeDB has no database {database}", "make it: mabos typedb sync-schema")
    if missing_types(whole_schema(load_ontology(workspace)[0]), present).names():
        raise Unavailable(f"the schema of {database} lacks types", "add them: mabos typedb sync-schema")


def sync_agent(agent: Agent, session: typedb.Session, writing: Writing, show: Show | None = None) -> None:
    """Brings the mirror of an agent up to date with its files, by what is really there, whatever the ledger says. A file that
    cannot be read is warned about; what the mirror has of it stays."""
    with mirror_ledger.mirroring(agent.paths, agent.settings["lock.timeout"]):
        check_ready(session, agent.paths.workspace)
        since, known = mirror_ledger.ledger_size(agent.paths), mirror_ledger.load_ledger(agent.paths)
        records, kinds, warnings = load_records(agent)
        there = find_uids(session, agent.id, kinds)
        bare = find_uids(session, agent.id, kinds & {"desire", "goal", "plan"}, bare=True)
        ours = {key: entry for key, entry in known.items() if key[0] in kinds}
        wanted = {key: record_hash(record) for key, record in records.items()}
        todo = plan_sync(wanted, compare_found(ours, there, bare))
        writing.warnings += warnings
        Writer(agent, session, known, since, writing, show).run(todo, records, there, bare)
        if not is_agent(agent.paths) and not writing.failed:
            remove_file(agent.paths.mirror_ledger, root=agent.paths.workspace.root)


def load_records(agent: Agent) -> tuple[dict[Key, Record], set[str], list[str]]:
    """Returns all records of an agent, the types that could be read, and warnings about files that could not. One that is gone
    has none."""
    records: dict[Key, Record] = {}
    kinds: set[str] = set()
    warnings: list[str] = []
    if not is_agent(agent.paths):
        return records, {kind for types in PARTS.values() for kind in types}, warnings
    for part, types in PARTS.items():
        try:
            records |= _by_key(load_part(agent, part).records)
            kinds.update(types)
        except MabosError as error:
            warnings.append(f"not mirrored: {error.message}")
    return records, kinds, warnings


def _by_key(records: Iterable[Record]) -> dict[Key, Record]:
    """Returns records by type and uid. Of several with one id the first counts, as for whoever looks for an id."""
    found: dict[Key, Record] = {}
    for record in records:
        found.setdefault((record.type, record.uid), record)
    return found


def find_uids(session: typedb.Session, agent: str, kinds: Iterable[str], *, bare: bool = False) -> set[Key]:
    """Returns what the mirror holds of an agent, or only what others put there to be linked with it."""
    found: set[Key] = set()
    for kind in sorted(kinds):
        rows, _ = session.read(ask_uids(kind, agent, bare=bare))
        found.update((kind, row["uid"]["value"]) for row in rows)
    return found


def sync_touched(agent: Agent, session: typedb.Session, touched: Touched, writing: Writing) -> None:
    """Mirrors what a command changed, and some of what was queued before."""
    with mirror_ledger.mirroring(agent.paths, _WAIT):
        since, known = mirror_ledger.ledger_size(agent.paths), mirror_ledger.load_ledger(agent.paths)
        todo, records, warnings = plan_touched(agent, with_queued(agent.id, touched, known), known)
        writing.warnings += warnings
        writer = Writer(agent, session, known, since, writing)
        put = todo.put[: max(0, _MOST - len(todo.drop))]
        writer.queue(todo.put[len(put) :])
        writer.run(Todo(put, todo.drop), records)


def plan_touched(agent: Agent, touched: Touched, known: Ledger) -> tuple[Todo, dict[Key, Record], list[str]]:
    """Returns what to do about some parts, by the ledger: with ids only about those, and about what is no longer there."""
    records: dict[Key, Record] = {}
    put: list[Key] = []
    drop: list[Key] = []
    warnings = []
    prefix = uid_of(agent.id, "")
    touched = with_made_of_private(agent, touched)
    for part in (part for part in PARTS if part in touched):
        ours = {key: entry for key, entry in known.items() if key[0] in PARTS[part]}
        try:
            held = load_part(agent, part, touched[part], {uid.removeprefix(prefix) for _, uid in ours})
        except MabosError as error:
            warnings.append(f"not mirrored: {error.message}")
            continue
        found = _by_key(held.records)
        about = {key: entry for key, entry in ours.items() if key in found or key not in held.alive}
        wanted = {key: record_hash(record) for key, record in found.items()}
        todo = plan_sync(wanted, about, again=False)
        records |= found
        put += todo.put
        drop += todo.drop
    return Todo(tuple(put), tuple(drop)), records, warnings


def with_queued(agent: str, touched: Touched, known: Ledger) -> Touched:
    """Returns what was touched, the first of what was queued before, and the agent itself: whether it shares may have
    changed."""
    found = {part: None if ids is None else {*ids} for part, ids in touched.items()}
    found["agent"] = None
    part_of = {kind: part for part, kinds in PARTS.items() for kind in kinds}
    queued = (entry.key for entry in known.values() if entry.state == QUEUED)
    for kind, uid in islice(queued, _ALONG):
        ids = found.setdefault(part_of[kind], set()) if kind in part_of else None
        if ids is not None:
            ids.add(uid.removeprefix(uid_of(agent, "")))
    return found


def mirror_agent(agent: Agent, show: Show | None = None) -> Writing:
    """Connects and brings the mirror of an agent up to date: what became of its records. When the server goes away on the
    way, Unavailable says how far it came."""
    workspace, writing = agent.paths.workspace, Writing()
    place = place_of(workspace, agent.settings)
    try:
        with connect(workspace, place) as session:
            sync_agent(agent, session, writing, show)
    except Unavailable as error:
        rest_after(workspace, place, error)
        if not writing.left:
            raise
        done = writing.written + writing.deleted
        reached = f"{error.message}; {agent.id}: {done} done, {writing.left} queued"
        raise Unavailable(reached, "run it again to go on") from None
    return writing


def mirror_agents(call: Session, agent: str | None, *, every: bool) -> Iterator[tuple[str, Writing]]:
    """Brings the mirror of an agent, or of all, up to date: yields the name of each and what became of its records."""
    workspace = call.open_workspace()
    for name in mirror_ledger.list_mirrored(workspace) if every else [find_agent(workspace, agent).id]:
        show = call.progress(f"mirroring {name}") if call.progress else None
        yield name, mirror_agent(call.agent_of(workspace.agent(name)), show)
