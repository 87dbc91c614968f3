"""The ledger of migrations: for each entry of notes, by the key of its text, the item that it became. It holds no text."""

import re
from collections.abc import Mapping

from mabos_cli.formats.json.text import dump_record, parse_lines

# An item that a note became names the key of it, in whatever layout somebody saved it.
_NAMED = re.compile(rb'"migrated"\s*:\s*"([0-9a-f]{16})"')
_ID = re.compile(rb'"id"\s*:\s*"([^"\\]+)"')


def parse_migrated(data: bytes) -> dict[str, str]:
    """The ids of items by the keys of entries. Torn lines are passed over: what is missing is looked up in the items."""
    found: dict[str, str] = {}
    for record in parse_lines(data)[0]:
        taken = record.get("taken") if isinstance(record, dict) else None
        if isinstance(taken, dict):
            found |= {key: item_id for key, item_id in taken.items() if isinstance(item_id, str)}
    return found


def render_migrated(path: str, taken: Mapping[str, str], at: str) -> bytes:
    """A line that says what the entries of a file became."""
    return dump_record({"at": at, "path": path, "taken": dict(taken)})


def named_keys(data: bytes) -> dict[str, str]:
    """The keys that items in a file of the store or the archive name, each with the id on its line."""
    found: dict[str, str] = {}
    for line in data.split(b"\n") if b'"migrated"' in data else ():
        if named := _NAMED.search(line):
            own = _ID.search(line)
            found[named[1].decode()] = own[1].decode("utf-8", "replace") if own else ""
    return found
