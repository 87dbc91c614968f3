"""Lets PostgreSQL answer instead of the local index, for an agent and for what agents of other workspaces share. When it cannot, the
local index answers, and one warning says why."""

import os
import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from zlib import crc32

from mabos_cli.core.memory.trust import parse_sharing
from mabos_cli.errors import Conflict, MabosError
from mabos_cli.index.candidates import RemoteIndex
from mabos_cli.index.search_index import SearchIndex
from mabos_cli.services.search.judges import SharedHome
from mabos_cli.services.search.later import sync_later
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.mirror_ledger import end_rest, is_resting, let_rest

if TYPE_CHECKING:
    from mabos_cli.index.postgres import Address

_MOST_HOMES = 16  # agents elsewhere that a question is put to: those whose words tell most of it


def use_postgres(agent: Agent, index: SearchIndex, *, whole: bool = False) -> list[str]:
    """Sends what changed and lets PostgreSQL answer; returns warnings. `whole` sends everything, however long that takes."""
    from mabos_cli.index.postgres import PostgresLanes
    from mabos_cli.index.replica import Rules, push

    if index.trouble or index.stale or index.path is None:
        return []  # the local index does not know it all by now
    warnings: list[str] = []

    def follow(db: Any, address: "Address") -> None:
        sharing = parse_sharing(agent.settings["memory.shared"], agent.settings["memory.shared_tags"])
        private = [index.decode(line).content for line in index.lanes.list_private()]
        number = crc32("\0".join(sorted(private)).encode("utf-8", "replace"))
        home = push(index, db, address, Rules(sharing, private, number), whole=whole)
        if home:
            index.remote = PostgresLanes(db, home, address.timeout)
        else:
            warnings.append("PostgreSQL is being filled: the local index answers")
            sync_later(agent)

    _attempt(agent, follow, warnings)
    return warnings


def _attempt(agent: Agent, work: Callable[[Any, "Address"], None], warnings: list[str]) -> None:
    """Does something with the database; what goes wrong is a warning. A server that did not answer is not asked again for a while."""
    from mabos_cli.index.postgres import address_in, connect, database_errors

    place = agent.paths.workspace, _mark(agent), agent.paths.workspace.postgres_rest
    if is_resting(*place):
        warnings.append("PostgreSQL did not answer a moment ago: the local index answers")
        return
    faults: tuple[type[Exception], ...] = (MabosError, *database_errors())
    try:
        address = address_in(agent.settings, workspace_name(agent), agent.id, host_name(agent))
        work(connect(address), address)
        end_rest(place[0], place[2])
    except Conflict as error:
        warnings.append(f"{error.message}: the local index answers")
    except faults as error:
        warnings.append(rest_after(agent, error))


def _mark(agent: Agent) -> str:
    return f"{crc32(agent.settings['index.postgres'].encode('utf-8', 'replace')):08x}"


def rest_after(agent: Agent, error: Exception) -> str:
    """Stops asking a failed server for a while; returns the warning."""
    let_rest(agent.paths.workspace, _mark(agent), agent.paths.workspace.postgres_rest)
    reason = error.message if isinstance(error, MabosError) else f"PostgreSQL: {first_line(error)}"
    return f"{reason}: the local index answers"


def first_line(error: Exception) -> str:
    """Returns the first line of an error."""
    return next(iter(str(error).strip().split("\n")), "") or type(error).__name__


def workspace_name(agent: Agent) -> str:
    """Returns how a workspace is called in the database: as its settings say, or by its folder and place."""
    name: str = agent.settings["index.workspace"]
    return name or f"{agent.paths.workspace.root.name}-{crc32(host_name(agent).encode('utf-8', 'replace')):08x}"


def host_name(agent: Agent) -> str:
    """Returns which copy of the workspace this is: the host and the folder."""
    return f"{socket.gethostname()}:{os.path.realpath(agent.paths.workspace.root)}"


def open_shared(agent: Agent, index: SearchIndex, words: Sequence[str]) -> tuple[list[SharedHome], list[str]]:
    """Returns the agents of other workspaces that share something, as far as they are likely to know about a question, and warnings."""
    from mabos_cli.index.postgres import PostgresLanes, find_sharing

    opened: list[SharedHome] = []
    warnings: list[str] = []

    def find(db: Any, address: "Address") -> None:
        for home in find_sharing(db, address.workspace, words, _MOST_HOMES):
            lanes = PostgresLanes(db, home, address.timeout, whole=False)
            embedder = index.embedder if index.embedder and index.embedder.model == home.model else None
            label = f"{home.workspace}/{home.agent}/"
            opened.append(SharedHome(agent, RemoteIndex(label, lanes, index.decode, embedder, home.width)))

    _attempt(agent, find, warnings)
    return opened, warnings
