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
from mabos_cli.core.memory.storing import Stored
from mabos_cli.core.memory.upkeep import Tally
from mabos_cli.errors import Conflict, InvalidFile, MabosError, NotFound
from mabos_cli.formats.memory.agent_transcripts import NAMED, Mark, Scope, TranscriptReader, safe_name
from mabos_cli.services.memory.capture import (
    ALL,
    Candidate,
    Gathered,
    Rules,
    gather,
    harvest_observations,
    prepare,
    review_candidates,
)
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


class TranscriptFile(NamedTuple):
    """A transcript to take; open already where it cannot be opened twice."""

    path: str
    opened: Transcript | None = None


class Taken(NamedTuple):
    """Holds what was taken of one transcript."""

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
        """Returns the row as JSON values."""
        row = self._asdict() | {"skipped": dict(sorted(self.skipped.items()))}
        del row["name"]
        return row


def find_transcripts(
    words: Sequence[str], host: str, stdin: Callable[[], BinaryIO] | None
) -> tuple[list[TranscriptFile], list[str]]:
    """Returns the transcripts that the words of a call name, and the files in folders that are none. NotFound, or InvalidFile for a file
    that was named and is none, before anything is taken."""
    found: dict[str, TranscriptFile] = {}
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


def _checked(path: str, host: str, stdin: BinaryIO | None = None) -> TranscriptFile:
    transcript = open_transcript(path, stdin)
    if host == "auto":
        transcript.find_host()
    if not transcript.is_file:
        return TranscriptFile(path, transcript)
    transcript.close()
    return TranscriptFile(path)


def ingest_transcripts(
    agent: Agent,
    given: Sequence[TranscriptFile],
    host: str,
    scope: Scope,
    *,
    harvest: bool,
    dry_run: bool,
    progress: OpenProgress | None,
) -> tuple[list[Taken], Tally | None, list[str]]:
    """Takes what is new in transcripts as observations, one call at a time, and harvests what waits if asked to: what was taken of each,
    what the harvest did, and warnings."""
    root, timeout = agent.paths.workspace.root, agent.settings["lock.timeout"]
    with nullcontext() if dry_run else locked(agent.paths.ingest_lock, root, timeout, "mabos ingest"):
        rows = take_transcripts(agent, given, host, scope, dry_run=dry_run, progress=progress)
    if not harvest or dry_run:
        return rows, None, []
    rules = Rules("", agent.settings["harvest.min_importance"])
    gathered, done = harvest_observations(agent, rules, show=progress("harvesting") if progress else None)
    faults = (
        [f"{plural(len(gathered.faults), 'malformed observation')} left; see mabos harvest"] if gathered.faults else []
    )
    return rows, done, [*done.warnings, *faults]


def take_transcripts(
    agent: Agent,
    given: Sequence[TranscriptFile],
    host: str,
    scope: Scope,
    *,
    dry_run: bool,
    progress: OpenProgress | None = None,
    pending: list[Observation] | None = None,
) -> list[Taken]:
    """Takes what is new in transcripts: a row for each. What a dry run would have taken is added to `pending`."""
    started, taking, rows = time.monotonic(), _Taking(agent, host, scope, dry_run, progress), []
    for one in given:
        transcript = one.opened or open_transcript(one.path)
        try:
            rows.append(taking.take(transcript))
        finally:
            transcript.close()
    taking.flush()
    if pending is not None:
        pending += taking.pending
    if taking.ids:
        write_receipt(agent, "ingest", {"taken": len(taking.ids), "files": len(rows)}, taking.ids, started)
    return rows


class _Taking:
    """The transcripts of one call on their way to disk: observations, and the marks that are true once those are there."""

    def __init__(self, agent: Agent, host: str, scope: Scope, dry_run: bool, progress: OpenProgress | None) -> None:
        self._agent, self._host, self._scope, self._dry_run, self._progress = agent, host, scope, dry_run, progress
        self._ledger = read_bytes(agent.paths.transcript_ledger) or b""
        self._known = KnownKeys(agent.paths)
        self._waiting: list[Observation] = []
        self._marks: list[Mark] = []
        self.pending: list[Observation] = []  # of a dry run
        self.ids: list[str] = []

    def take(self, transcript: Transcript) -> Taken:
        """Takes what one transcript holds behind its last mark."""
        mark, local = (
            transcript.find_mark(self._ledger, self._scope),
            self._agent.settings["harvest.local_tools"].split(),
        )
        if mark and self._host in ("auto", mark.host):
            host, seen = mark.host, mark.seen
            reader = TranscriptReader(
                transcript.name, host, self._scope, mark.session, dict(mark.calls), mark.heard_outside, local
            )
            transcript.begin_behind(mark)
        else:
            host, seen = transcript.find_host() if self._host == "auto" else self._host, None
            reader = TranscriptReader(transcript.name, host, self._scope, local_tools=local)
        counts = (0, 0, 0)
        if host and (transcript.end > transcript.start or not transcript.is_file):
            self._known.reach_behind(seen)
            counts = self._take_lines(transcript, reader)
        if transcript.too_long:
            reader.skipped["too_long"] = transcript.too_long
        if host and transcript.is_file and transcript.size > transcript.start:
            state = (transcript.line, reader.session, self._scope, tuple(reader.calls.items()))
            mark = Mark(transcript.name, host, transcript.place(), *state, heard_outside=reader.heard_outside)
            self._marks.append(mark)
        return Taken(
            transcript.shown,
            transcript.name,
            host,
            reader.session,
            *counts,
            reader.malformed,
            tuple(reader.malformed_lines),
            dict(reader.skipped),
            transcript.size - transcript.start,
            transcript.torn,
        )

    def _take_lines(self, transcript: Transcript, reader: TranscriptReader) -> tuple[int, int, int]:
        """Returns how many observations were taken, how many of them of tools, and how many entries were known."""
        taken = tools = known = 0
        show = self._progress(f"reading {transcript.name}") if self._progress else None
        for number, line in transcript:
            if show and number % 500 == 0:
                show(transcript.size, transcript.end + 1)
            for found in reader.read(line, number):
                if self._known.has(found.key):
                    known += 1
                    continue
                try:
                    ready = prepare(self._agent, found, found.trust or "untrusted")
                except BadValue:  # nothing of it may touch the disk
                    reader.skip("unfit")
                    continue
                self._known.add(found.key)
                self._waiting.append(ready)
                taken, tools = taken + 1, tools + (found.kind == "tool")
                if len(self._waiting) >= _CHUNK:
                    self.flush()
        if show:
            show(transcript.end, transcript.end)
        return taken, tools, known

    def flush(self) -> None:
        """Writes what waits, durably: observations first, for what is marked must be there."""
        if self._dry_run:
            self.pending += self._waiting
        else:
            agent = self._agent
            self.ids += [one.id for one in append_observations(agent, self._waiting)]
            seen, at = observed_so_far(agent.paths), format_time(agent.now())
            note_marks(agent.paths, [mark._replace(seen=seen, at=at) for mark in self._marks])
        self._waiting, self._marks = [], []


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


def harvest(
    agent: Agent, rules: Rules, *, dry_run: bool, progress: OpenProgress
) -> tuple["SpoolResult", Gathered, Tally]:
    """Takes what is new in transcripts that hooks named, and makes memories of all observations that wait."""
    spooled = take_spooled(agent, dry_run=dry_run, progress=progress)
    show = progress("harvesting")
    found = harvest_observations(agent, rules, dry_run=dry_run, show=show, pending=spooled.pending)
    return spooled, *found


def review_harvest(
    agent: Agent, rules: Rules, *, progress: OpenProgress
) -> tuple["SpoolResult", Gathered, list[tuple[Candidate, Stored]]]:
    """Returns what a harvest would keep, transcripts that hooks named included, with what would become of each; nothing is written."""
    spooled = take_spooled(agent, dry_run=True, progress=progress)
    gathered = gather(agent, rules._replace(only=frozenset({ALL})), spooled.pending)
    return spooled, gathered, review_candidates(agent, gathered)


class SpoolResult(NamedTuple):
    """How many transcripts hooks had named, how many observations were new in them, what was wrong with some, and the
    observations where they were not written."""

    transcripts: int = 0
    taken: int = 0
    notes: tuple[str, ...] = ()
    pending: tuple[Observation, ...] = ()


def take_spooled(agent: Agent, *, dry_run: bool = False, progress: OpenProgress | None = None) -> SpoolResult:
    """Takes what is new in the transcripts that hooks named, and empties the spool. What cannot be read is reported once and dropped."""
    spool = read_spool(agent.paths)
    if not spool.data:
        return SpoolResult()
    if dry_run:
        return _take(agent, spool.waiting, dry_run=True, progress=progress)
    timeout = agent.settings["lock.timeout"]
    try:
        with locked(agent.paths.ingest_lock, agent.paths.workspace.root, timeout, "mabos harvest"):
            spooled = _take(agent, spool.waiting, progress=progress)
    except Conflict as error:
        return SpoolResult(notes=(f"transcripts named by hooks wait: {error.message}",))
    cut_spool(agent.paths, spool, timeout)
    if spool.foreign:
        ignored = (
            f"{plural(spool.foreign, 'session')} noted elsewhere: ignored; take one with mabos ingest transcript FILE"
        )
        spooled = spooled._replace(notes=(*spooled.notes, ignored))
    return spooled


def _take(
    agent: Agent, waiting: tuple[Noted, ...], *, dry_run: bool = False, progress: OpenProgress | None
) -> SpoolResult:
    taken, notes, pending = 0, [], list[Observation]()
    for noted in waiting:
        shown = one_line(noted.path, 200)
        try:
            given, note = _given(noted, shown)
            scope = Scope()
            rows = take_transcripts(agent, given, "auto", scope, dry_run=dry_run, progress=progress, pending=pending)
            taken += sum(row.taken for row in rows)
            notes += [note] if note else []
        except Conflict:
            raise
        except (MabosError, ValueError) as error:
            notes.append(error.message if isinstance(error, MabosError) else f"{shown}: {error}")
    return SpoolResult(len(waiting), taken, tuple(notes), tuple(pending))


def _given(noted: Noted, shown: str) -> tuple[list[TranscriptFile], str]:
    """Returns the transcript; where it is gone, the end of it that a hook kept."""
    if os.path.isfile(noted.path):
        return find_transcripts([noted.path], "auto", None)[0], ""
    if not noted.tail:
        return [], f"the transcript {shown} is gone"
    rest = Transcript("-", BytesIO(noted.tail.encode("utf-8", "replace") + b"\n"))
    rest.name = safe_name(os.path.basename(noted.path))
    try:
        rest.find_host()
    except InvalidFile:
        return [], f"the transcript {shown} is gone"
    return [TranscriptFile("-", rest)], f"the transcript {shown} is gone: only its end was taken"
