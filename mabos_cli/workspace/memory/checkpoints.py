"""Checkpoint files and their way back into Beliefs.md."""

import re
import time
from contextlib import suppress

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.checkpoint import Checkpoint, checkpoint_name
from mabos_cli.errors import Conflict
from mabos_cli.formats.memory.checkpoint_md import render_checkpoint, restore_into_beliefs
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import Moved, list_names, read_text, replace_file
from mabos_cli.workspace.layout import DAY
from mabos_cli.workspace.memory.logs import edit_text
from mabos_cli.workspace.receipts import write_receipt
from mabos_cli.workspace.recovery import holding_lock


def write_checkpoint(agent: Agent, checkpoint: Checkpoint) -> str:
    """Writes a checkpoint under a name of its own and gives its path."""
    started, text = time.monotonic(), render_checkpoint(checkpoint)
    with holding_lock(agent, "checkpoint"):
        for _ in range(20):
            name = checkpoint_name(checkpoint.at, set(list_names(agent.paths.checkpoints)))
            path = agent.paths.checkpoints / name
            with suppress(Moved):
                replace_file(path, text.encode("utf-8"), root=agent.paths.workspace.root, expect=None)
                write_receipt(agent, "checkpoint", {"checkpoints": 1}, [], started)
                return agent.paths.relative(path)
    raise Conflict("the checkpoints folder keeps changing", "try again")


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
    started = time.monotonic()
    with holding_lock(agent, "checkpoint restore"):
        stamp = format_time(agent.now())
        changed = edit_text(
            agent.paths, agent.paths.beliefs, lambda old: restore_into_beliefs(old, text, source, stamp)
        )
        if changed:
            write_receipt(agent, "checkpoint restore", {"beliefs": 1}, [], started)
    return changed
