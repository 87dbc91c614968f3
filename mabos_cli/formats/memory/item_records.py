"""Archive records: one JSON line for each item that left its store, with why, when and what it became."""

from typing import Any

from mabos_cli.core.memory.item import TRUSTS, MemoryItem
from mabos_cli.core.memory.stores import Departure
from mabos_cli.core.memory.trust import Decision
from mabos_cli.formats.json.text import dump_record, parse_ledger
from mabos_cli.formats.memory.items import item_from_dict, item_to_dict, opening


def render_departure(departure: Departure) -> bytes:
    """The archive line of a departure, with its newline."""
    record: dict[str, Any] = {"id": departure.item.id, "kind": "item", "reason": departure.reason, "at": departure.at}
    if departure.into:
        record["into"] = departure.into
    record |= {"store": departure.store, "item": item_to_dict(departure.item)}
    return dump_record(record)


def departure_from_dict(record: Any, where: str) -> Departure | None:
    """The departure in an archive record, or None when it is of another kind."""
    if not isinstance(record, dict) or record.get("kind") != "item":
        return None
    item: MemoryItem = item_from_dict(record.get("item"), where)
    return Departure(
        item,
        str(record.get("store", "")),
        str(record.get("reason", "")),
        str(record.get("at", "")),
        str(record.get("into", "")),
    )


def parse_archive(data: bytes, where: str) -> tuple[list[Departure], int]:
    """The departures in an archive file, oldest first, and the number of unreadable lines."""
    ledger = parse_ledger(data)
    return [found for record in ledger.records if (found := departure_from_dict(record, where))], ledger.torn


def lines_naming(data: bytes, item_id: str) -> bytes:
    """Only the archive lines that are about an id: found by text, without decoding the others."""
    prefix = opening(item_id)
    found, start = [], data.find(prefix)
    while start >= 0:
        end = data.find(b"\n", start)
        if start == 0 or data[start - 1 : start] == b"\n":
            found.append(data[start : end if end >= 0 else len(data)])
        start = data.find(prefix, start + 1)
    return b"\n".join(found)


def decision_to_dict(decision: Decision) -> dict[str, str]:
    """A decision as JSON values; who said it always stands there, why only if it was said."""
    at, item_id, before, to, by, reason, text = decision
    record = {"at": at, "id": item_id, "from": before, "to": to, "by": by, "reason": reason, "text": text}
    return {name: value for name, value in record.items() if value or name != "reason"}


def render_decision(decision: Decision) -> bytes:
    """The line of a decision, with its newline."""
    return dump_record(decision_to_dict(decision))


def parse_decisions(data: bytes) -> tuple[list[Decision], int]:
    """The decisions in a log, oldest first, and how many lines are none: those decide nothing."""
    ledger = parse_ledger(data)
    found = [decision for record in ledger.records if (decision := _decision(record))]
    return found, ledger.skipped + len(ledger.records) - len(found)


def _decision(record: dict[str, Any]) -> Decision | None:
    if record.get("from") not in TRUSTS or record.get("to") not in TRUSTS:
        return None
    names = ("at", "id", "from", "to", "by", "reason", "text")
    values = [record.get(name, "") for name in names]
    return Decision(*values) if all(isinstance(value, str) for value in values) else None
