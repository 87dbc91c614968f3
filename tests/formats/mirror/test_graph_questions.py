"""Ready questions: they only read, quote what they are given, and rows of a server become plain. Answers: tests/typeql."""

from typeql.engine import lex
from typeql.samples import NASTY

from mabos_cli.formats.mirror.questions import ask_facts_elsewhere, ask_memories_elsewhere, ask_uids, plain_rows
from mabos_cli.formats.mirror.typeql import check_read_only


def test_what_is_given_stays_one_value():
    for text in NASTY:
        for query, times in (
            (ask_facts_elsewhere(text, text, text, text), 4),
            (ask_memories_elsewhere(text, (text, text)), 3),
        ):
            assert check_read_only(query) == query
            assert lex(query).count(("value", text.replace("\0", "\ufffd"))) == times


def test_rows_become_plain():
    rows = [{"tags": ["b", "a"], "created_at": "2026-02-24T10:00:00.123000000 UTC", "x": None}]
    assert plain_rows("", rows) == [{"tags": ["a", "b"], "created_at": "2026-02-24T10:00:00.123Z", "x": None}]
    assert plain_rows("", [{"created_at": None}, {"created_at": "soon"}]) == [
        {"created_at": None},
        {"created_at": "soon"},
    ]


def test_rows_have_their_names_in_the_order_of_the_query():
    query = 'match $x isa a; fetch { "b": $x.b, "of": [ match $y isa c; fetch { "k": $t, "a": $y.a }; ], "a": $x.a };'
    rows = [{"a": 1, "of": [{"a": 2, "k": {"kind": "entity", "label": "c"}}], "b": 3}]
    [row] = plain_rows(query, rows)
    assert row == {"b": 3, "of": [{"k": "c", "a": 2}], "a": 1}
    assert [*row] == ["b", "of", "a"] and [*row["of"][0]] == ["k", "a"]


def test_agents_are_asked_for_by_name_and_all_else_by_prefix() -> None:
    assert ask_uids("agent", "a.b") == 'match $e isa agent, has uid $uid;\n$uid == "a.b";\nselect $uid;'
    assert '$uid like "^a[.]b/.*";' in ask_uids("memory_item", "a.b")
