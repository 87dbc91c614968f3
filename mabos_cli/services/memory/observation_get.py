"""get for observations: what was captured, where it stands, and the items that came of it."""

from mabos_cli.errors import NotFound
from mabos_cli.formats.memory.observations import observation_to_dict
from mabos_cli.services.session import Session
from mabos_cli.terminal.emit import columns
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.memory.observations import find_observation, items_of, load_ledger


def get_observation(call: Session, agent: Agent, observation_id: str) -> None:
    """Shows the observation with an id, and what became of it."""
    found = find_observation(agent.paths, observation_id)
    if found is None:
        raise NotFound(f"no observation {observation_id!r} for agent {agent.id}", "mabos recall finds ids")
    items = items_of(agent, observation_id)
    taken = bool(items) or observation_id in load_ledger(agent.paths, found.name).ids
    place = f"{agent.paths.relative(agent.paths.observations / found.name)}:{found.line}"
    record = observation_to_dict(found.observation)
    state = "harvested" if taken else "waiting"
    data = {"state": state, "place": place, "observation": record, "items": items}
    about = {**record, "place": place, **({"items": items} if items else {})}
    rows = [
        (name, ", ".join(value) if isinstance(value, list) else str(value))
        for name, value in about.items()
        if name not in ("id", "kind", "text")
    ]
    kind = found.observation.kind or "observation"
    call.emit("get", data, [f"{observation_id} [{state}] {kind}", found.observation.text, *columns(rows)])
