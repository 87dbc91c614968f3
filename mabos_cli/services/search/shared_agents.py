"""Finds what other agents share: those of the workspace, and those whose mirror is in the same graph."""

from collections.abc import Iterable
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.memory.trust import Sharing, parse_sharing
from mabos_cli.errors import MabosError, NotFound, Unavailable
from mabos_cli.services.inputs import Session
from mabos_cli.services.memory.items import find_item
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.locate import find_agent, list_agents

NOBODY = "no other agent shares its memory: set memory.shared or memory.shared_tags in its agent.json"
TYPEDB = "typedb"
Row = dict[str, Any]


def sharing_of(agent: Agent) -> Sharing:
    """Returns what an agent shares with others."""
    return parse_sharing(agent.settings["memory.shared"], agent.settings["memory.shared_tags"])


def sharing_homes(call: Session, agent: Agent, *, whole: bool = False) -> tuple[list[Agent], list[str]]:
    """Returns the other agents of the workspace that share memory, or all of it, and warnings about unreadable ones."""
    allowed, refused = [], []
    workspace = agent.paths.workspace
    for name in list_agents(workspace):
        if name == agent.id:
            continue
        try:  # an agent that cannot be opened is no reason not to ask the others
            other = call.agent_of(find_agent(workspace, name))
        except MabosError as error:
            refused.append(f"{name}: {error.message}")
            continue
        sharing = sharing_of(other)
        if sharing.is_open or (sharing.is_any and not whole):
            allowed.append(other)
    return allowed, refused


def find_sharing(call: Session, agent: Agent, ref: str) -> tuple[Agent, str]:
    """Returns the agent and the id that a reference of a shared recall names: cfo/M-1. NotFound unless that agent shares it."""
    name, _, item_id = ref.partition("/")
    if name == agent.id:
        return agent, item_id
    is_item = item_id.startswith("M-")
    for other in sharing_homes(call, agent, whole=not is_item)[0]:
        if other.id == name:
            found = find_item(other, other.memory(), item_id) if is_item else None
            if found is None or sharing_of(other).admits(found.item.tags):
                return other, item_id
    raise NotFound(
        f"no {item_id} that agent {name} shares with {agent.id}", "mabos recall --shared finds what is shared"
    )


def ask_graph(agent: Agent, queries: Iterable[str]) -> tuple[list[Row], list[str]]:
    """Returns the rows that the mirror has of agents who are not in this workspace. For those who are, the files speak. A mirror that does
    not answer is a warning."""
    from mabos_cli.formats.mirror.questions import plain_rows
    from mabos_cli.services.mirror.follow import connect, place_of, rest_after
    from mabos_cli.workspace.mirror_ledger import is_resting

    workspace, address = agent.paths.workspace, agent.settings["typedb.address"]
    if is_resting(workspace, address):
        return [], [f"only agents of this workspace: TypeDB at {address} did not answer a moment ago"]
    place = None
    try:
        place = place_of(workspace, agent.settings)
        with connect(workspace, place) as session:
            session.end_in_time()
            rows = [row for query in queries for row in plain_rows(query, session.read(query)[0])]
    except (Unavailable, BadValue) as error:
        if place:
            rest_after(workspace, place, error)
        return [], [f"only agents of this workspace: {error.message}"]
    here = {*list_agents(workspace)}
    return [row for row in rows if row["agent"] not in here], []


def local_id(row: Row, name: str) -> str:
    """Returns the id within the agent, from a key in the graph."""
    key: str = row[name]
    return key.removeprefix(f"{row['agent']}/")
