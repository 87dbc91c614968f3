"""How transcripts become observations: what each holds behind its mark, cleaned, appended in chunks, then noted."""

import os
import time
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, NamedTuple

from mabos_cli.commands.memory.capture import prepare
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.observation import Observation
from mabos_cli.errors import InvalidFile, NotFound
from mabos_cli.formats.memory.agent_transcripts import NAMED, Mark, Scope, TranscriptReader
from mabos_cli.terminal.emit import progress, shows_progress
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import read_bytes
from mabos_cli.workspace.memory.observations import append_observations
from mabos_cli.workspace.memory.transcripts import (
    KnownKeys,
    Transcript,
    find_below,
    note_marks,
    observed_so_far,
    open_transcript,
)
from mabos_cli.workspace.receipts import write_receipt

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
        self._home, self._dry_run = agent, dry_run
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
            agent = self._home
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


def take_transcripts(agent: Agent, given: Sequence[Given], host: str, scope: Scope, *, dry_run: bool) -> list[Taken]:
    """Takes what is new in transcripts: a row for each."""
    started, batch = time.monotonic(), Batch(agent, dry_run)
    ledger = read_bytes(agent.paths.transcript_ledger) or b""
    run = Run(agent, host, scope, ledger, KnownKeys(agent.paths), batch)
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
    show = progress(f"reading {transcript.name}") if shows_progress() else None
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
    told = [
        f"{row.file}: {plural(row.malformed, 'malformed line')} left out: "
        + _some(list(map(str, row.malformed_lines)), row.malformed)
        for row in rows
        if row.malformed
    ]
    if others:
        count = plural(len(others), "file")
        told.append(f"{count} left out, not readable as transcripts: {_some(others[:NAMED], len(others))}")
    return told


def _some(named: Sequence[str], total: int) -> str:
    return ", ".join(named) + (", ..." if total > len(named) else "")
