from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.formats.memory.items import render_item
from mabos_cli.formats.memory.notes import named_keys, parse_migrated, render_migrated


def test_ledger_gives_back_what_was_noted_and_passes_torn_lines_over() -> None:
    data = render_migrated("MEMORY.md", {"a" * 16: "M-1-aaaa"}, "2026-02-24T14:30:00.000Z")
    assert parse_migrated(data + b'{"taken": {"b": 3}}\n[1]\n' + data[:30]) == {"a" * 16: "M-1-aaaa"}


def test_items_name_the_keys_of_their_notes_in_any_layout() -> None:
    key = "0123456789abcdef"
    line = render_item(MemoryItem("M-1-aaaa", "x", extra=(("migrated", key),)))
    assert named_keys(line + b"\n") == {key: "M-1-aaaa"}
    assert named_keys(b'{\n "id": "M-1-aaaa",\n "migrated" : "%s"\n}' % key.encode()) == {key: ""}
    assert named_keys(b'{"id": "M-2-aaaa", "content": "migrated"}') == {}
