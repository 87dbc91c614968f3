"""Checkpoint files and their way back into Beliefs.md."""

import re
from collections.abc import Callable
from contextlib import suppress

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.checkpoint import Checkpoint, checkpoint_name
from mabos_cli.errors import MabosError
from mabos_cli.formats.json.text import dump_record, parse_json
from mabos_cli.formats.memory.checkpoint_md import render_checkpoint, restore_into_beliefs
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import FileWrite, list_names, read_bytes, read_text, redo_when_moved, replace_file
from mabos_cli.workspace.layout import DAY
from mabos_cli.workspace.memory.logs import plan_edit
from mabos_cli.workspace.transaction import Fresh, Write, transact


def write_checkpoint(agent: Agent, checkpoint: Checkpoint) -> str:
    """Writes a checkpoint under a name of its own and gives its path."""
    data = render_checkpoint(checkpoint).encode("utf-8")

    def planned(fresh: Fresh) -> tuple[Write, str]:
        name = checkpoint_name(checkpoint.at, set(list_names(agent.paths.checkpoints)))
        path = agent.paths.checkpoints / name
        return Write([FileWrite(path, data, None)], counts={"checkpoints": 1}), agent.paths.relative(path)

    return transact(agent, "checkpoint", planned)[0]


def checkpoint_names(agent: Agent) -> list[str]:
    """The names of the checkpoint files, oldest first. What is not dated, as a README.md, is none."""
    return [name for name in list_names(agent.paths.checkpoints) if re.match(rf"{DAY}.*\.md$", name)]


def list_checkpoints(agent: Agent) -> list[tuple[str, str]]:
    """Paths and texts of the checkpoints, oldest first: their names sort in time order."""
    names = checkpoint_names(agent)
    return [
        (agent.paths.relative(agent.paths.checkpoints / n), read_text(agent.paths.checkpoints / n, n)) for n in names
    ]


def latest_checkpoint(agent: Agent) -> tuple[str, str] | None:
    """Path and text of the latest checkpoint."""
    names = checkpoint_names(agent)
    if not names:
        return None
    path = agent.paths.checkpoints / names[-1]
    return agent.paths.relative(path), read_text(path, names[-1])


def restore_checkpoint(agent: Agent, source: str, text: str) -> bool:
    """Adds a checkpoint to Beliefs.md as a belief; whether it was not there yet."""

    def planned(fresh: Fresh) -> tuple[Write | None, bool]:
        stamp = format_time(fresh.now)
        file = plan_edit(agent.paths.beliefs, lambda old: restore_into_beliefs(old, text, source, stamp))
        return (Write([file], part="mind", counts={"beliefs": 1}), True) if file else (None, False)

    return transact(agent, "checkpoint restore", planned)[0]


_SESSIONS_KEPT = 100
# Names that no session can have: when the last flush was asked for, and that of the flush whose checkpoint came back.
_AT, _RESTORED = "\n at", "\n restored"


def read_flushes(agent: Agent) -> dict[str, int]:
    """The compaction count that was flushed last, by session; a damaged file counts as empty."""
    return {name: value for name, value in _read(agent).items() if isinstance(value, int)}


def _read(agent: Agent) -> dict[str, int | str]:
    data = read_bytes(agent.paths.flush_state)
    with suppress(MabosError):
        found = parse_json(data, "flush state") if data else {}
        known = found.items() if isinstance(found, dict) else ()
        return {str(name): value for name, value in known if isinstance(value, int | str)}
    return {}


def awaited_checkpoint(agent: Agent, names: list[str]) -> str:
    """The latest checkpoint, if it was written for a flush whose checkpoint did not come back yet: the context was
    compacted since, or is just about to be."""
    known = _read(agent)
    asked = str(known.get(_AT, ""))
    if not names or asked <= str(known.get(_RESTORED, "")):
        return ""
    # Names of checkpoints count minutes.
    return names[-1] if names[-1][:15] >= f"{asked[:10]}-{asked[11:13]}{asked[14:16]}" else ""


def note_restored(agent: Agent) -> None:
    """Remembers that the checkpoint of the last flush came back. Best effort: Beliefs.md itself says so too."""
    if _AT in _read(agent):
        _change(agent, lambda known: known | {_RESTORED: known.get(_AT, "")})


def note_flush(agent: Agent, session: str, count: int) -> list[str]:
    """Remembers that a compaction is being flushed; a warning when that cannot be written down."""

    def note(known: dict[str, int | str]) -> dict[str, int | str]:
        counts = [(name, value) for name, value in known.items() if isinstance(value, int) and name != session]
        others = {name: value for name, value in known.items() if isinstance(value, str)}
        kept = [*counts, (session, count)][-_SESSIONS_KEPT:]
        return {**dict(kept), **others, _AT: format_time(agent.now())}

    trouble = _change(agent, note)
    return [f"the flush was not noted and may be asked for again{trouble}"] if trouble is not None else []


def _change(agent: Agent, change: Callable[[dict[str, int | str]], dict[str, int | str]]) -> str | None:
    """Rewrites the state; what went wrong, or None."""

    def attempt() -> None:
        old = read_bytes(agent.paths.flush_state)
        data = dump_record(change(_read(agent)))
        replace_file(agent.paths.flush_state, data, root=agent.paths.workspace.root, expect=old)

    try:
        redo_when_moved(attempt, "it keeps changing")
    except MabosError as error:
        return f": {error.message}"
    return None
