"""The ledger of a mirror: a JSON line for each step of a record, of which the last one holds. It names records, and never says
what is in them."""

from collections.abc import Iterable
from typing import Any

from mabos_cli.core.mirror_plan import GONE, STATES, Entry, Key
from mabos_cli.formats.json_text import dump_line, parse_lines


def parse_ledger(data: bytes) -> dict[Key, Entry]:
    """The entries. Lines that are torn or no entry of ours are passed over: what they said is found out again."""
    entries = filter(None, map(_entry, parse_lines(data)[0]))
    return {entry.key: entry for entry in entries}


def _entry(record: Any) -> Entry | None:
    if not isinstance(record, dict) or record.get("state") not in STATES:
        return None
    texts = {
        name: value for name, value in record.items() if name in Entry._fields and isinstance(value, str)
    }
    return Entry(**texts) if texts.get("uid") and texts.get("type") else None


def render_entries(entries: Iterable[Entry]) -> bytes:
    """Lines of the ledger; what an entry does not say is left out."""
    lines = ({name: value for name, value in entry._asdict().items() if value} for entry in entries)
    return "".join(dump_line(line) + "\n" for line in lines).encode("utf-8")


def compact_ledger(entries: Iterable[Entry]) -> bytes:
    """The ledger with one line for each record that is, or is to be, in the mirror."""
    return render_entries(entry for entry in entries if entry.state != GONE)
