"""get for facts: any fact ever asserted, live or archived."""

from mabos_cli.errors import NotFound
from mabos_cli.formats.json.text import dump_line
from mabos_cli.formats.knowledge.facts import fact_to_dict
from mabos_cli.services.knowledge.fact_common import fact_line
from mabos_cli.services.session import Session
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.facts import find_fact_departures, load_facts


def get_fact(call: Session, agent: Agent, fact_id: str) -> None:
    """Shows the fact with an id, and what became of it."""
    live = load_facts(agent).find(fact_id)
    left = find_fact_departures(agent.paths, b'{"id": %s, "kind": "fact"' % dump_line(fact_id).encode())
    if not live and not left:
        raise NotFound(f"{fact_id} was never issued for agent {agent.id}", "mabos fact query lists facts")
    fact = live or left[-1].fact
    history = [{"reason": d.reason, "at": d.at} for d in left]
    lines = [fact_line(fact)]
    lines += [] if live else [f"archived {left[-1].at}: {left[-1].reason}"]
    lines += [f"derived from {', '.join(fact.derived_from)}"] if fact.derived_from else []
    lines += [f"before: {fact_line(d.fact)} [{d.reason} {d.at[:10]}]" for d in left if d.reason == "updated"]
    data = {"state": "live" if live else "archived", "fact": fact_to_dict(fact), "history": history}
    call.emit("get", data, lines)
