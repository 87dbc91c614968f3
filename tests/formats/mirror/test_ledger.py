"""The ledger of a mirror as text."""

from mabos_cli.core.mirror.records import Entry
from mabos_cli.formats.mirror.ledger import compact_ledger, parse_entries, render_entries
from mabos_cli.formats.mirror.typeql import ask_uids

OK = Entry("goal", "main/G-1", "ok", "abc", at="2026-02-24T14:30:00.000Z")
BAD = Entry("goal", "main/G-2", "failed", "def", "[QEX7] no “quote”\u202e", "2026-02-24T14:30:01.000Z")


def test_entries_come_back_as_they_were() -> None:
    assert parse_entries(render_entries([OK, BAD])) == {OK.key: OK, BAD.key: BAD}


def test_a_line_says_only_what_is_to_be_said() -> None:
    line = b'{"type": "plan", "uid": "main/1", "state": "queued"}\n'
    assert render_entries([Entry("plan", "main/1", "queued")]) == line


def test_the_last_line_holds() -> None:
    gone = OK._replace(state="gone", hash="")
    assert parse_entries(render_entries([OK, gone, BAD, BAD._replace(state="ok", error="")])) == {
        OK.key: gone,
        BAD.key: BAD._replace(state="ok", error=""),
    }


def test_lines_that_are_no_entries_are_passed_over() -> None:
    torn = render_entries([BAD])[:-20]
    odd = b'[]\n{"uid": "main/1", "state": "ok"}\n{"type": "goal", "uid": "main/1", "state": "well"}\n\0\0\n'
    assert parse_entries(odd + render_entries([OK]) + b'{"type": 3, "uid": "x", "state": "ok"}\n' + torn) == {
        OK.key: OK
    }


def test_compacting_forgets_what_is_gone_and_nothing_else() -> None:
    gone = Entry("plan", "main/1", "gone")
    entries = parse_entries(render_entries([BAD, OK, gone, OK]))
    assert parse_entries(compact_ledger(entries.values())) == {BAD.key: BAD, OK.key: OK}


def test_agents_are_asked_for_by_name_and_all_else_by_prefix() -> None:
    assert ask_uids("agent", "a.b") == 'match $e isa agent, has uid $uid;\n$uid == "a.b";\nselect $uid;'
    assert '$uid like "^a[.]b/.*";' in ask_uids("memory_item", "a.b")
