"""How transcripts become observations: what each holds behind its mark, cleaned, appended in chunks, then noted; also of
those that hooks named."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from io import BytesIO
from typing import Any, BinaryIO, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.observation import Observation
from mabos_cli.errors import Conflict, InvalidFile, MabosError, NotFound
from mabos_cli.formats.memory.agent_transcripts import NAMED, Mark, Scope, TranscriptReader, safe_name
from mabos_cli.services.memory.capture import Crop, Rules, Yield, harvest_observations, prepare
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import read_bytes
from mabos_cli.workspace.lock import locked
from mabos_cli.workspace.memory.observations import append_observations
from mabos_cli.workspace.memory.transcripts import (
    KnownKeys,
    Noted,
    Transcript,
    cut_spool,
    find_below,
    note_marks,
    observed_so_far,
    open_transcript,
    read_spool,
)
from mabos_cli.workspace.transaction import write_receipt

OpenProgress = Callable[[str], Callable[[int, int], None] | None]  # by what it is about
_CHUNK = 500  # observations that are appended, and synced, at a time


class Given(NamedTuple):
    """A transcript to take; open already where it cannot be opened twice."""

    path: str
    opened: Transcript | None = None


class Taken(NamedTuple):
    """What was taken of one transcript."""

    file: str
    name: str
    host: str
    session: str
    taken: int
    tools: int
    known: int
    malformed: int
    malformed_lines: tuple[int, ...]
    skipped: dict[str, int]
    bytes: int
    torn: bool

    def summary(self) -> dict[str, Any]:
        """The row as JSON values."""
        row = self._asdict() | {"skipped": dict(sorted(self.skipped.items()))}
        del row["name"]
        return row


def find_given(words: Sequence[str], host: str, stdin: Callable[[], BinaryIO] | None) -> tuple[list[Given], list[str]]:
    """The transcripts that the words of a call name, and the files in folders that are none. NotFound, or InvalidFile for a file
    that was named and is none, before anything is taken."""
    found: dict[str, Given] = {}
    others = []
    for word in words:
        if not os.path.isdir(word):
            found[word] = _checked(word, host, stdin() if stdin and word == "-" else None)
            continue
        for path in find_below(word):
            try:
                found[path] = _checked(path, host)
            except (InvalidFile, NotFound):
                others.append(path)
    return list(found.values()), others


def _checked(path: str, host: str, stdin: BinaryIO | None = None) -> Given:
    transcript = open_transcript(path, stdin)
    if host == "auto":
        transcript.find_host()
    if not transcript.is_file:
        return Given(path, transcript)
    transcript.close()
    return Given(path)


class Batch:
    """Observations on their way to disk, and the marks that are true once they are there."""

    def __init__(self, agent: Agent, dry_run: bool) -> None:
        self._agent, self._dry_run = agent, dry_run
        self._waiting: list[Observation] = []
        self._marks: list[Mark] = []
        self.ids: list[str] = []

    def add(self, observation: Observation) -> None:
        """Takes an observation; full chunks are written."""
        self._waiting.append(observation)
        if len(self._waiting) >= _CHUNK:
            self.flush()

    def finish(self, mark: Mark) -> None:
        """Notes that all of a transcript up to a place is in the batch, or was before."""
        self._marks.append(mark)

    def flush(self) -> None:
        """Writes what waits, durably: observations first, for what is marked must be there."""
        if not self._dry_run:
            agent = self._agent
            self.ids += [one.id for one in append_observations(agent, self._waiting)]
            seen, at = observed_so_far(agent.paths), format_time(agent.now())
            note_marks(agent.paths, [mark._replace(seen=seen, at=at) for mark in self._marks])
        self._waiting, self._marks = [], []


class Run(NamedTuple):
    """What the transcripts of one call have in common."""

    agent: Agent
    host: str
    scope: Scope
    ledger: bytes
    known: KnownKeys
    batch: Batch
    progress: OpenProgress | None


class Ingested(NamedTuple):
    """What was taken of each transcript, what a harvest behind it did (if one was asked for), and warnings."""

    rows: list[Taken]
    harvested: Yield | None
    warnings: list[str]


def ingest_transcripts(
    agent: Agent,
    given: Sequence[Given],
    host: str,
    scope: Scope,
    *,
    harvest: bool,
    dry_run: bool,
    progress: OpenProgress | None,
) -> Ingested:
    """Takes what is new in transcripts as observations, one call at a time, and harvests what waits if asked to."""
    root, timeout = agent.paths.workspace.root, agent.settings["lock.timeout"]
    with nullcontext() if dry_run else locked(agent.paths.ingest_lock, root, timeout, "mabos ingest"):
        rows = take_transcripts(agent, given, host, scope, dry_run=dry_run, progress=progress)
    if not harvest or dry_run:
        return Ingested(rows, None, [])
    rules = Rules(agent.settings["harvest.store"], agent.settings["harvest.min_importance"])
    crop, done = harvest_observations(agent, rules, show=progress("harvesting") if progress else None)
    faults = [f"{plural(len(crop.faults), 'malformed observation')} left; see mabos harvest"] if crop.faults else []
    return Ingested(rows, done, [*done.warnings, *faults])


def take_transcripts(
    agent: Agent,
    given: Sequence[Given],
    host: str,
    scope: Scope,
    *,
    dry_run: bool,
    progress: OpenProgress | None = None,
) -> list[Taken]:
    """Takes what is new in transcripts: a row for each."""
    started, batch = time.monotonic(), Batch(agent, dry_run)
    ledger = read_bytes(agent.paths.transcript_ledger) or b""
    run = Run(agent, host, scope, ledger, KnownKeys(agent.paths), batch, progress)
    rows = []
    for one in given:
        transcript = one.opened or open_transcript(one.path)
        try:
            rows.append(_take_one(run, transcript))
        finally:
            transcript.close()
    batch.flush()
    if batch.ids:
        write_receipt(agent, "ingest", {"taken": len(batch.ids), "files": len(rows)}, batch.ids, started)
    return rows


def _take_one(run: Run, transcript: Transcript) -> Taken:
    """Takes what one transcript holds behind its last mark."""
    mark = transcript.find_mark(run.ledger, run.scope)
    if mark and run.host in ("auto", mark.host):
        host, seen = mark.host, mark.seen
        reader = TranscriptReader(transcript.name, host, run.scope, mark.session, dict(mark.calls))
        transcript.begin_behind(mark)
    else:
        host, seen = transcript.find_host() if run.host == "auto" else run.host, None
        reader = TranscriptReader(transcript.name, host, run.scope)
    taken = tools = known = 0
    if host and (transcript.end > transcript.start or not transcript.is_file):
        run.known.reach_behind(seen)
        taken, tools, known = _take_lines(run, transcript, reader)
    if transcript.too_long:
        reader.skipped["too_long"] = transcript.too_long
    if host and transcript.is_file and transcript.size > transcript.start:
        state = (transcript.line, reader.session, run.scope, tuple(reader.calls.items()))
        run.batch.finish(Mark(transcript.name, host, transcript.place(), *state))
    return Taken(
        transcript.shown,
        transcript.name,
        host,
        reader.session,
        taken,
        tools,
        known,
        reader.malformed,
        tuple(reader.malformed_lines),
        dict(reader.skipped),
        transcript.size - transcript.start,
        transcript.torn,
    )


def _take_lines(run: Run, transcript: Transcript, reader: TranscriptReader) -> tuple[int, int, int]:
    """How many observations were taken, how many of them of tools, and how many entries were known."""
    taken = tools = known = 0
    show = run.progress(f"reading {transcript.name}") if run.progress else None
    for number, line in transcript:
        if show and number % 500 == 0:
            show(transcript.size, transcript.end + 1)
        for found in reader.read(line, number):
            if run.known.has(found.key):
                known += 1
            elif ready := _prepared(run.agent, found, reader):
                run.known.add(found.key)
                run.batch.add(ready)
                taken, tools = taken + 1, tools + (found.kind == "tool")
    if show:
        show(transcript.end, transcript.end)
    return taken, tools, known


def _prepared(agent: Agent, found: Observation, reader: TranscriptReader) -> Observation | None:
    """The observation as it may touch the disk; None, and a count, where nothing of it may."""
    try:
        return prepare(agent, found, "untrusted")
    except BadValue:
        reader.skip("unfit")
        return None


def warnings_of(rows: Sequence[Taken], others: Sequence[str]) -> list[str]:
    """Warnings about lines that are no records, and about files that are no transcripts."""
    warnings = [
        f"{row.file}: {plural(row.malformed, 'malformed line')} left out: "
        + _some(list(map(str, row.malformed_lines)), row.malformed)
        for row in rows
        if row.malformed
    ]
    if others:
        count = plural(len(others), "file")
        warnings.append(f"{count} left out, not readable as transcripts: {_some(others[:NAMED], len(others))}")
    return warnings


def _some(named: Sequence[str], total: int) -> str:
    return ", ".join(named) + (", ..." if total > len(named) else "")


class Harvested(NamedTuple):
    """What was taken of transcripts that hooks named, which observations were found, and what became of them."""

    spoils: "Spoils"
    crop: Crop
    done: Yield


def harvest(agent: Agent, rules: Rules, *, dry_run: bool, progress: OpenProgress) -> Harvested:
    """Takes what is new in transcripts that hooks named, and makes memories of all observations that wait."""
    spoils = take_spooled(agent, dry_run=dry_run, progress=progress)
    return Harvested(spoils, *harvest_observations(agent, rules, dry_run=dry_run, show=progress("harvesting")))


class Spoils(NamedTuple):
    """How many transcripts hooks had named, how many observations were new in them, and what was wrong with some."""

    transcripts: int = 0
    taken: int = 0
    notes: tuple[str, ...] = ()


def take_spooled(agent: Agent, *, dry_run: bool = False, progress: OpenProgress | None = None) -> Spoils:
    """Takes what is new in the transcripts that hooks named, and empties the spool. What cannot be read is told once, and dropped."""
    spool = read_spool(agent.paths)
    if not spool.data:
        return Spoils()
    if dry_run:
        return _take(agent, spool.waiting, dry_run=True, progress=progress)
    timeout = agent.settings["lock.timeout"]
    try:
        with locked(agent.paths.ingest_lock, agent.paths.workspace.root, timeout, "mabos harvest"):
            spoils = _take(agent, spool.waiting, progress=progress)
    except Conflict as error:
        return Spoils(notes=(f"transcripts that hooks named wait: {error.message}",))
    cut_spool(agent.paths, spool, timeout)
    return spoils


def _take(agent: Agent, waiting: tuple[Noted, ...], *, dry_run: bool = False, progress: OpenProgress | None) -> Spoils:
    taken, notes = 0, []
    for noted in waiting:
        shown = one_line(noted.path, 200)
        try:
            given, note = _given(noted, shown)
            rows = take_transcripts(agent, given, "auto", Scope(), dry_run=dry_run, progress=progress) if given else []
            taken += sum(row.taken for row in rows)
            notes += [note] if note else []
        except Conflict:
            raise
        except (MabosError, ValueError) as error:
            notes.append(error.message if isinstance(error, MabosError) else f"{shown}: {error}")
    return Spoils(len(waiting), taken, tuple(notes))


def _given(noted: Noted, shown: str) -> tuple[list[Given], str]:
    """The transcript; where it is gone, the end of it that a hook kept."""
    if os.path.isfile(noted.path):
        return find_given([noted.path], "auto", None)[0], ""
    if not noted.tail:
        return [], f"the transcript {shown} is gone"
    rest = Transcript("-", BytesIO(noted.tail.encode("utf-8", "replace") + b"\n"))
    rest.name = safe_name(os.path.basename(noted.path))
    try:
        rest.find_host()
    except InvalidFile:
        return [], f"the transcript {shown} is gone"
    return [Given("-", rest)], f"the transcript {shown} is gone: only its end was taken"
