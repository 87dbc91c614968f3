"""The cognitive files of an agent: read as they are, edited under its lock and never over what a person saved meanwhile."""

import time
from collections.abc import Callable

from mabos_cli.core.mind import Belief
from mabos_cli.formats.beliefs import Problem, read_beliefs
from mabos_cli.workspace.files import read_bytes
from mabos_cli.workspace.home import AgentHome
from mabos_cli.workspace.logs import edit_text
from mabos_cli.workspace.receipts import write_receipt
from mabos_cli.workspace.recovery import holding_lock


def read_mind(home: AgentHome, name: str) -> str:
    """The text of a cognitive file; empty when there is none. Bytes that are not UTF-8 pass through."""
    return (read_bytes(home.paths.root / name) or b"").decode("utf-8", "surrogateescape")


def load_beliefs(home: AgentHome) -> tuple[list[Belief], list[Problem]]:
    """What an agent holds true, and what in its file makes no sense."""
    return read_beliefs(read_mind(home, home.paths.beliefs.name), home.paths.beliefs.name)


def edit_mind(home: AgentHome, command: str, name: str, edit: Callable[[str], str]) -> bool:
    """Rewrites a cognitive file by a function of its text, under the agent's lock; whether it changed."""
    started = time.monotonic()
    with holding_lock(home, command):
        changed = edit_text(home.paths, home.paths.root / name, edit)
        if changed:
            write_receipt(home, command, {name: 1}, [], started)
    return changed
