"""Checkpoint files and their way back into Beliefs.md."""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.checkpoint import Checkpoint, checkpoint_name, drop_future
from mabos_cli.core.memory.item import check_content
from mabos_cli.errors import MabosError, NotFound
from mabos_cli.formats.json.text import dump_record, parse_json
from mabos_cli.formats.memory.checkpoint_md import (
    checkpoint_context,
    checkpoint_title,
    checkpoint_trust,
    render_checkpoint,
    restore_into_beliefs,
)
from mabos_cli.workspace import files
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.layout import DAY
from mabos_cli.workspace.transaction import Fresh, Write, transact


def write_checkpoint(agent: Agent, checkpoint: Checkpoint, source: str = "") -> str:
    """Writes a checkpoint under a name of its own and gives its path. `source` names where its words come from, if that is not
    the agent itself."""
    data = render_checkpoint(checkpoint, source).encode("utf-8")

    def planned(fresh: Fresh) -> tuple[Write, str]:
        name = checkpoint_name(checkpoint.at, set(files.list_names(agent.paths.checkpoints)))
        path = agent.paths.checkpoints / name
        return Write([files.FileWrite(path, data, None)], counts={"checkpoints": 1}), agent.paths.relative(path)

    return transact(agent, "checkpoint", planned)[0]


def save_checkpoint(agent: Agent, context: str, lists: Iterable[Iterable[str]]) -> tuple[str, list[str]]:
    """Writes a checkpoint of a session, with its decisions, findings, questions and next steps, all without secrets.

    Returns its path and the kinds of secrets that were replaced: a session that ends cannot say it again, so that a secret is no
    reason to refuse the rest.
    """
    from mabos_cli.core.language.secrets import redact

    kinds: set[str] = set()

    def without_secrets(text: str) -> str:
        hidden, found = redact(text) if agent.settings["secrets.refuse"] else (text, ())
        kinds.update(found)
        return check_content(hidden, agent.settings["memory.max_content_bytes"])

    entries = [tuple(map(without_secrets, texts)) for texts in lists]
    return write_checkpoint(agent, Checkpoint(agent.now(), without_secrets(context), *entries)), sorted(kinds)


def checkpoint_names(agent: Agent) -> list[str]:
    """Returns the names of the checkpoint files, oldest first. What is not dated, as a README.md, is none."""
    return [name for name in files.list_names(agent.paths.checkpoints) if re.match(rf"{DAY}.*\.md$", name)]


def current_checkpoints(agent: Agent) -> list[str]:
    """Returns the names of those among which the latest is looked for: not the ones that a wrong clock dated ahead."""
    return drop_future(checkpoint_names(agent), agent.now())


def list_checkpoints(agent: Agent) -> list[dict[str, str]]:
    """Returns path, title, context and trust of the checkpoints, oldest first: their names sort in time order."""
    found = (read_checkpoint(agent, name) for name in checkpoint_names(agent))
    about = {"title": checkpoint_title, "context": checkpoint_context, "trust": checkpoint_trust}
    return [{"path": path, **{name: read(text) for name, read in about.items()}} for path, text in found]


def latest_checkpoint(agent: Agent) -> tuple[str, str]:
    """Returns path and text of the latest checkpoint; NotFound when there is none."""
    names = current_checkpoints(agent)
    if not names:
        raise NotFound("no checkpoint yet", 'write one: mabos checkpoint -c "what you are doing"')
    return read_checkpoint(agent, names[-1])


def read_checkpoint(agent: Agent, name: str) -> tuple[str, str]:
    """Returns path and text of a checkpoint, without the secrets that somebody wrote into it."""
    from mabos_cli.core.language.secrets import hide_secrets

    path = agent.paths.checkpoints / name
    shown = agent.paths.relative(path)
    return shown, hide_secrets(files.read_text(path, shown))


def restore_checkpoint(agent: Agent) -> tuple[str, bool]:
    """Adds the latest checkpoint to Beliefs.md as a belief; returns its path, and whether it was not there yet."""
    source, text = latest_checkpoint(agent)

    def planned(fresh: Fresh) -> tuple[Write | None, bool]:
        stamp = format_time(fresh.now)
        file = files.plan_edit(agent.paths.beliefs, lambda old: restore_into_beliefs(old, text, source, stamp))
        return (Write([file], part="mind", counts={"beliefs": 1}, is_moved=True), True) if file else (None, False)

    return source, transact(agent, "checkpoint restore", planned)[0]


_SESSIONS_KEPT = 100
# Names that no session can have: when the last flush was asked for, and that of the flush whose checkpoint came back.
_AT, _RESTORED = "\n at", "\n restored"


def read_flushes(agent: Agent) -> dict[str, int]:
    """Returns the compaction count that was flushed last, by session; a damaged file counts as empty."""
    return {name: value for name, value in _read(agent).items() if isinstance(value, int)}


def _read(agent: Agent) -> dict[str, int | str]:
    data = files.read_bytes(agent.paths.flush_state)
    with suppress(MabosError):
        found = parse_json(data, "flush state") if data else {}
        known = found.items() if isinstance(found, dict) else ()
        return {str(name): value for name, value in known if isinstance(value, int | str)}
    return {}


def awaited_checkpoint(agent: Agent, names: list[str]) -> str:
    """Returns the latest checkpoint, if it was written for a flush whose checkpoint did not come back yet: the context was
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
    try:
        for _ in files.attempts("it keeps changing"):
            old = files.read_bytes(agent.paths.flush_state)
            data = dump_record(change(_read(agent)))
            with suppress(files.Moved):
                files.replace_file(agent.paths.flush_state, data, root=agent.paths.workspace.root, expect=old)
                break
    except MabosError as error:
        return f": {error.message}"
    return None
