"""The ledger of a mirror: a JSON line for each step of a record, of which the last one holds. It names records, and never says
what is in them."""

import json
from collections.abc import Iterable
from typing import Any

from mabos_cli.core.mirror.records import GONE, STATES, Entry, Key
from mabos_cli.formats.json.text import dump_record, parse_ledger


def parse_entries(data: bytes) -> dict[Key, Entry]:
    """The entries. Lines that are torn or no entry of ours are passed over: what they said is found out again."""
    entries = filter(None, map(_entry, _records(data)))
    return {entry.key: entry for entry in entries}


def _records(data: bytes) -> list[dict[str, Any]]:
    """The records. Whole lines are read at once: a command that changes one record reads the ledger of all."""
    try:
        values = json.loads(b"[%s]" % b",".join(filter(None, data.split(b"\n"))))
    except (ValueError, RecursionError):
        return parse_ledger(data).records
    return [value for value in values if isinstance(value, dict)]


def _entry(record: dict[str, Any]) -> Entry | None:
    if record.get("state") not in STATES:
        return None
    texts = [value if isinstance(value := record.get(name), str) else "" for name in Entry._fields]
    return Entry(*texts) if texts[0] and texts[1] else None


def render_entries(entries: Iterable[Entry]) -> bytes:
    """Lines of the ledger; what an entry does not say is left out."""
    lines = ({name: value for name, value in entry._asdict().items() if value} for entry in entries)
    return b"".join(map(dump_record, lines))


def compact_ledger(entries: Iterable[Entry]) -> bytes:
    """The ledger with one line for each record that is, or is to be, in the mirror."""
    return render_entries(entry for entry in entries if entry.state != GONE)
