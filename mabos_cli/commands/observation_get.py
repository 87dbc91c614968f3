"""get for observations: what was captured, where it stands, and the items that came of it."""

from mabos_cli.commands.call import Call
from mabos_cli.errors import NotFound
from mabos_cli.formats.observations import observation_to_dict
from mabos_cli.output import columns
from mabos_cli.workspace.harvesting import load_ledger
from mabos_cli.workspace.home import AgentHome
from mabos_cli.workspace.observations import find_observation, items_of


def get_observation(call: Call, home: AgentHome, observation_id: str) -> None:
    """Shows the observation with an id, and what became of it."""
    found = find_observation(home.paths, observation_id)
    if found is None:
        raise NotFound(f"no observation {observation_id!r} for agent {home.id}", "mabos recall finds ids")
    items = items_of(home, observation_id)
    taken = bool(items) or observation_id in load_ledger(home.paths, found.name).ids
    place = f"{home.paths.relative(home.paths.observations / found.name)}:{found.line}"
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
