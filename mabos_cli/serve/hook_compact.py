"""Before a context is compacted: the transcript goes to the spool with its end, and where the session stood into a checkpoint.

Nothing is told to the host: no host takes anything into the context here. The checkpoint comes back when the session starts again.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from mabos_cli.core.language.secrets import redact
from mabos_cli.core.memory.checkpoint import Checkpoint, Standing, sum_up
from mabos_cli.core.memory.observation import bound_text
from mabos_cli.core.operations.hook_hosts import session_of, text_of, word_of
from mabos_cli.formats.memory.agent_hosts import HOSTS, Spoken, find_host, parse_host_line
from mabos_cli.formats.memory.agent_transcripts import load_record
from mabos_cli.serve.hook import HostCall, read_tail, spool
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.memory.checkpoints import write_checkpoint
from mabos_cli.workspace.runtime import now
from mabos_cli.workspace.settings import load_settings

_READ, _KEPT = 1 << 19, 1 << 16  # bytes of a transcript that are looked at, and that are kept
_TURNS = 30
_TEXT = 1500  # bytes of a request or an answer that a checkpoint quotes
_LEAST = 0.03  # seconds for taking secrets out of the end, also when a busy machine was slow to get here
_WRITING = 0.04  # seconds that the checkpoint takes
_LOCK = 2.0  # seconds that a checkpoint waits for another command; a compaction takes longer than that


def note_session(call: HostCall) -> None:
    """Spools the transcript, and writes a checkpoint when the transcript says where the session stood."""
    lines, size = read_tail(call.transcript, _READ)
    standing = sum_up(_turns(lines, call.host))
    trigger = word_of(call.payload, "trigger")
    spool(call, trigger=trigger, offset=size, tail=_kept(lines, call.deadline))
    wanted = text_of(call.payload, "custom_instructions").strip()
    if not (standing.request or standing.answer or wanted):
        return
    paths = WorkspacePaths(Path(call.root)).agent(call.agent)
    agent = Agent(paths, load_settings(paths.workspace, paths, {"lock.timeout": _LOCK}), now())
    write_checkpoint(agent, _checkpoint(agent, call, standing, wanted))


def _turns(lines: tuple[bytes, ...], host: str) -> Iterator[tuple[str, str]]:
    """What was said at the end of a transcript, the latest first."""
    found = 0
    for line in reversed(lines):
        record = load_record(line)
        name = find_host(record) or host
        if record is None or name not in HOSTS:
            continue
        for event in reversed(parse_host_line(record, name).events):
            if isinstance(event, Spoken):
                yield event.author, event.text
                found += 1
                if found == _TURNS:
                    return


def _kept(lines: tuple[bytes, ...], deadline: float) -> str:
    """The last lines without secrets, as many as there are room and time for."""
    kept: list[str] = []
    room, deadline = _KEPT, max(deadline - _WRITING, time.monotonic() + _LEAST)
    for line in reversed(lines):
        room -= len(line) + 1
        if room < 0 or time.monotonic() > deadline:
            break
        kept.append(_hidden(line.decode("utf-8", "replace")))
    return "\n".join(reversed(kept))


def _hidden(text: str) -> str:
    return redact(text.encode("utf-8", "replace").decode("utf-8"))[0]


def _checkpoint(agent: Agent, call: HostCall, standing: Standing, wanted: str) -> Checkpoint:
    """The checkpoint of a session, in the words of its transcript; secrets go before anything is cut."""
    trigger, session = word_of(call.payload, "trigger"), session_of(call.payload)
    said = {"Last request": standing.request, "Last answer": standing.answer, "To be kept": wanted}
    parts = [f"Session {_hidden(session) or 'without id'}, before its context was compacted ({trigger or 'auto'})."]
    parts += [f"{name}: {bound_text(text, _TEXT, _hidden)[0].strip()}" for name, text in said.items() if text]
    return Checkpoint(agent.now(), "\n\n".join(parts), tuple(map(_hidden, standing.decisions)))
