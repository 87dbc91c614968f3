"""TypeQL text: literals that come back, labels that are safe, queries by example, and none that writes where only reading is meant."""

import math
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from typeql.engine import lex, unescape
from typeql.samples import NASTY, fuzzed

from mabos_cli.core import BadValue
from mabos_cli.core.mirror.records import Links, Record, Statement
from mabos_cli.core.mirror.schema import Attribute, Entity, Owns, Plays, Relation, Schema
from mabos_cli.formats.mirror.typeql import (
    check_read_only,
    label,
    literal,
    render_define,
    render_delete,
    render_links,
    render_new,
    render_upsert,
    tokens,
)


def test_2000_odd_texts_come_back():
    texts = [*NASTY, *fuzzed(2000)]
    assert len({*texts}) > 1900
    assert [unescape(literal(text)) for text in texts] == [text.replace("\0", "\ufffd") for text in texts]
    assert all(tokens(literal(text)) == [literal(text)] for text in texts)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-5, "-5"),
        (2**63 - 1, "9223372036854775807"),
        (True, "true"),
        (False, "false"),
        (1.0, "1.0"),
        (-0.5, "-0.5"),
        (1e16, "1.0e+16"),
        (1.5e300, "1.5e+300"),
        (1e-7, "1.0e-07"),
        (date(2026, 2, 24), "2026-02-24"),
        (datetime(2026, 2, 24, 14, 30, tzinfo=UTC), "2026-02-24T14:30:00.000000Z"),
        (
            datetime(2026, 2, 24, 1, 2, 3, 4, timezone(timedelta(hours=2))),
            "2026-02-23T23:02:03.000004Z",
        ),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00.000000Z"),
    ],
)
def test_literals(value, text):
    assert literal(value) == text
    if not isinstance(value, date) or isinstance(value, datetime):
        assert lex(text) == [("value", value)]


@pytest.mark.parametrize(
    "value",
    [
        2**63,
        math.nan,
        math.inf,
        datetime(2026, 2, 24),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2))),
        "half \ud83d",
        None,
        ("a",),
        b"x",
    ],
)
def test_what_has_no_literal(value):
    with pytest.raises(BadValue):
        literal(value)


@pytest.mark.parametrize("name", ["role", "insert", "A", "a b", "a;", "", "1a", "é", "a-b", "a" * 101, "a\n"])
def test_bad_labels(name):
    with pytest.raises(BadValue, match="cannot be a label"):
        label(name)


def test_a_schema():
    schema = Schema(
        (Attribute("uid", "string"), Attribute("born", "date")),
        (
            Entity("person", (Owns("uid", ("@key",)), Owns("born")), (Plays("knows", "whom"),)),
            Entity("worker", (), (Plays("knows", "who", ("@card(0..1)",)),), "person"),
        ),
        (Relation("knows", ("who", "whom")),),
    )
    assert render_define(schema) == (
        "define\n"
        "attribute born, value date;\n"
        "attribute uid, value string;\n"
        "relation knows, relates who, relates whom;\n"
        "entity person,\n  owns born,\n  owns uid @key,\n  plays knows:whom;\n"
        "entity worker, sub person,\n  plays knows:who @card(0..1);\n"
    )
    assert render_define(Schema()) == ""


@pytest.mark.parametrize(
    "schema",
    [
        Schema((Attribute("a", "string; x"),)),
        Schema((Attribute("a b", "string"),)),
        Schema((), (Entity("a", (Owns("b", ("@key; x",)),)),)),
        Schema((), (Entity("a", (), (Plays("r", "x y"),)),)),
        Schema((), (), (Relation("r", ("role",)),)),
    ],
)
def test_a_schema_smuggles_nothing(schema):
    with pytest.raises(BadValue):
        render_define(schema)


RECORD = Record(
    'cfo/"G-1',
    "goal",
    (("name", "Grow"), ("progress", 5.0), ("tag", ("a", "b"))),
    (
        Links("agent_owns", "owned", "owner", "agent", ("cfo",)),
        Links("goal_requires_plan", "requirer", "required", "plan", ("cfo/P-1",)),
        Links("goal_part_of_goal", "part", "whole", "goal", ()),
    ),
)


KEYED = 'isa goal, has uid "cfo/\\"G-1"'
TOLD = 'has name "Grow", has progress 5.0, has tag "a", has tag "b"'


def test_an_upsert():
    assert render_upsert(RECORD) == (
        f"match\n$e {KEYED}, has $a;\nnot {{ $a isa uid; }};\ndelete has $a of $e;",
        f"match\n$e {KEYED};\n{{ $r isa goal_part_of_goal, links (part: $e); }} or "
        "{ $r isa goal_requires_plan, links (requirer: $e); };\ndelete $r;",
        f"put $e {KEYED};\ninsert $e {TOLD};",
    )
    assert render_upsert(Record("cfo", "agent", ()))[-1] == 'put $e isa agent, has uid "cfo";'


def test_links():
    linked = (
        f'match $e {KEYED};\nput $o isa plan, has uid "cfo/P-1";\n'
        "insert $r isa goal_requires_plan, links (requirer: $e, required: $o);"
    )
    owned = f'match $e {KEYED};\nput $o isa agent, has uid "cfo";\nput $r isa agent_owns, links (owned: $e, owner: $o);'
    assert render_links(RECORD) == (owned, linked)
    assert render_links(RECORD, is_owned=True) == (linked,)


def test_what_is_new():
    assert render_new([RECORD, Record("cfo/x", "individual", (), RECORD.links[:1], "customer")]) == (
        'put $a0 isa agent, has uid "cfo";\ninsert\n'
        f"$e0 {KEYED}, {TOLD};\n$o0 isa agent_owns, links (owner: $a0, owned: $e0);\n"
        '$e1 isa customer, has uid "cfo/x";\n$o1 isa agent_owns, links (owner: $a0, owned: $e1);'
    )


def test_what_a_fact_says_and_what_it_said():
    said = Statement("buys", ("customer", "cfo/acme"), ("offering", "cfo/lamp"))
    fact = Record("cfo/F-1", "spo_fact", (), (), "", said)
    key = '$e isa spo_fact, has uid "cfo/F-1";'
    assert render_links(fact) == (
        f'match {key}\nput $s isa customer, has uid "cfo/acme";\nput $o isa offering, has uid "cfo/lamp";\n'
        "insert $r isa buys, links (evidence: $e, subject: $s, object: $o);",
    )
    assert f"match\n{key}\n$r isa statement, links (evidence: $e);\ndelete $r;" in render_upsert(fact)


def test_what_becomes_something_else_is_made_anew():
    away = 'match\n$e isa individual, has uid "cfo/acme";\nnot { $e isa! customer; };'
    queries = render_upsert(Record("cfo/acme", "individual", (), (), "customer"))
    assert queries[:2] == (f"{away}\n$r links ($e);\ndelete $r;", f"{away}\ndelete $e;")
    assert queries[-1] == 'put $e isa customer, has uid "cfo/acme";'


def test_a_record_smuggles_nothing():
    for wrong in (
        RECORD._replace(type="goal; x"),
        RECORD._replace(attributes=(("name; x", 1),)),
        RECORD._replace(links=(Links("r x", "a", "b", "goal", ("x",)),)),
        RECORD._replace(links=(Links("r", "a", "b", "goal)", ("x",)),)),
    ):
        with pytest.raises(BadValue):
            render_upsert(wrong), render_links(wrong)
        with pytest.raises(BadValue):
            render_new([wrong]), render_links(wrong)


def test_a_deletion():
    assert render_delete("goal", "cfo/G-1") == (
        'match\n$e isa goal, has uid "cfo/G-1";\n$r links ($e);\ndelete $r;',
        'match $e isa goal, has uid "cfo/G-1";\ndelete $e;',
    )
    with pytest.raises(BadValue):
        render_delete("goal, has x", "a")


@pytest.mark.parametrize(
    "query",
    [
        "match $x isa goal;",
        'match $x isa goal; fetch { "insert": $x.name };',
        "match $insert isa goal; # delete $insert;\nfetch { 'delete $x': $insert.name };",
        "match $x isa insert_log, has put-time $put;",
        'match $x has name "a\\"; insert $y isa goal; #";',
        "with fun f() -> integer: match $x isa a; return count; match let $y = f();",
    ],
)
def test_reading(query):
    assert check_read_only(query) == query


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("insert $x isa goal;", "insert"),
        ("match $x isa goal; delete $x;", "delete"),
        ("match $x isa goal;delete$x;", "delete"),
        ("define entity x;", "define"),
        ("  # note\n undefine x;", "undefine"),
        ("redefine x value string;", "redefine"),
        ('match $x has name "a"; put $y isa goal;', "put"),
        ("match $x isa goal; # note\rdelete $x;", "delete"),
        ('match $x has name "a\\\\"; insert $y isa goal; #";', "insert"),
        ("match $x has name '\"'; update $x has name '\"';", "update"),
        (
            'match $x isa a; fetch { "k": [ match $y isa b; insert $z isa c; fetch { "z": $z.uid }; ] };',
            "insert",
        ),
    ],
)
def test_writing_is_refused(query, word):
    with pytest.raises(BadValue, match=f"would write: {word}"):
        check_read_only(query)


@pytest.mark.parametrize("query", ["", "  # only a note", 'match $x has name "open;', "match $x has name 'open;"])
def test_no_query_at_all(query):
    with pytest.raises(BadValue):
        check_read_only(query)
