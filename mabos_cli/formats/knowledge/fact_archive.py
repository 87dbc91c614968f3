"""Archive records of facts: one JSON line for each that left, with why, when and what it became."""

from mabos_cli.core.knowledge.asserting import FactDeparture
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import dump_record, parse_lines
from mabos_cli.formats.knowledge.fact_line import fact_from_dict, fact_to_dict


def render_fact_departure(departure: FactDeparture) -> bytes:
    """The archive line of a fact that left, with its newline."""
    record = {"id": departure.fact.id, "kind": "fact", "reason": departure.reason, "at": departure.at}
    record |= {"into": departure.into} if departure.into else {}
    return dump_record(record | {"fact": fact_to_dict(departure.fact)})


def parse_fact_departures(data: bytes, where: str) -> list[FactDeparture]:
    """The facts that left, oldest first; records of other kinds and unreadable ones are passed over."""
    found = []
    for record in parse_lines(data)[0]:
        if isinstance(record, dict) and record.get("kind") == "fact":
            try:
                fact = fact_from_dict(record.get("fact"), where)
            except InvalidFile:
                continue
            told = (str(record.get(name) or "") for name in ("reason", "at", "into"))
            found.append(FactDeparture(fact, *told))
    return found
