"""trust.jsonl: what persons decided about the trust of items, a JSON line each. It holds marks of texts, no text."""

from typing import Any

from mabos_cli.core.memory.item import TRUSTS
from mabos_cli.core.memory.lineage import Decision
from mabos_cli.formats.json.text import dump_record, parse_lines


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
    records, skipped = parse_lines(data)
    found = [decision for record in records if (decision := _decision(record))]
    return found, skipped + len(records) - len(found)


def _decision(record: Any) -> Decision | None:
    if not isinstance(record, dict) or record.get("from") not in TRUSTS or record.get("to") not in TRUSTS:
        return None
    names = ("at", "id", "from", "to", "by", "reason", "text")
    values = [record.get(name, "") for name in names]
    return Decision(*values) if all(isinstance(value, str) for value in values) else None
