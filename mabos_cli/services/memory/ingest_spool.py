"""Transcripts that hooks named, taken as observations before a harvest: a hook has no time for them."""

import os
from collections.abc import Iterator
from io import BytesIO
from typing import NamedTuple

from mabos_cli.core.language.text import one_line, plural
from mabos_cli.errors import Conflict, InvalidFile, MabosError
from mabos_cli.formats.memory.agent_transcripts import Scope, safe_name
from mabos_cli.services.memory.ingest_take import Given, find_given, take_transcripts
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.lock import locked
from mabos_cli.workspace.memory.transcripts import Noted, Transcript, cut_spool, read_spool


class Spoils(NamedTuple):
    """How many transcripts hooks had named, how many observations were new in them, and what was wrong with some."""

    transcripts: int = 0
    taken: int = 0
    notes: tuple[str, ...] = ()

    def lines(self, dry_run: bool) -> Iterator[str]:
        """What there is to tell, if anything."""
        if self.transcripts:
            of, did = plural(self.transcripts, "transcript"), "would take" if dry_run else "took"
            yield f"{did} {plural(self.taken, 'observation')} of {of} that hooks named"


def take_spooled(agent: Agent, *, dry_run: bool = False) -> Spoils:
    """Takes what is new in the transcripts that hooks named, and empties the spool. What cannot be read is told once, and dropped."""
    spool = read_spool(agent.paths)
    if not spool.data:
        return Spoils()
    if dry_run:
        return _take(agent, spool.waiting, dry_run=True)
    timeout = agent.settings["lock.timeout"]
    try:
        with locked(agent.paths.ingest_lock, agent.paths.workspace.root, timeout, "mabos harvest"):
            spoils = _take(agent, spool.waiting)
    except Conflict as error:
        return Spoils(notes=(f"transcripts that hooks named wait: {error.message}",))
    cut_spool(agent.paths, spool, timeout)
    return spoils


def _take(agent: Agent, waiting: tuple[Noted, ...], *, dry_run: bool = False) -> Spoils:
    taken, notes = 0, []
    for noted in waiting:
        shown = one_line(noted.path, 200)
        try:
            given, note = _given(noted, shown)
            rows = take_transcripts(agent, given, "auto", Scope(), dry_run=dry_run) if given else []
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
