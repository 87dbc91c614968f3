"""Starts what a search leaves to be done behind it."""

import os
import sys

from mabos_cli.errors import MabosError
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.lock import locked


def sync_later(agent: Agent) -> None:
    """Starts a process that does what a search left to be done, unless one is at it. A reproducible run, whose clock stands
    still, starts nothing that it does not wait for."""
    if "MABOS_NOW" in os.environ or not hasattr(os, "posix_spawn"):
        return
    try:
        with locked(agent.paths.embedding_lock, agent.paths.workspace.root, 0):
            pass
    except MabosError:
        return
    words = [sys.executable, "-m", "mabos_cli", "-w", os.fspath(agent.paths.workspace.root), "-a", agent.id]
    nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    os.posix_spawn(sys.executable, [*words, "index", "sync", "--wait"], os.environ, file_actions=nowhere, setpgroup=0)
