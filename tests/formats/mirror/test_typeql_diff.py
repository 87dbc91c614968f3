"""Schemas against what a server has: nothing new on the second run, changes with their queries, and strange text read or refused."""

import pytest

from mabos_cli.core import BadValue
from mabos_cli.core.mirror.schema import (
    Attribute,
    Entity,
    Owns,
    Plays,
    Relation,
    Schema,
    mirror_schema,
    whole_schema,
)
from mabos_cli.formats.knowledge.jsonld_nodes import read_ontology
from mabos_cli.formats.mirror.typeql import render_define
from mabos_cli.formats.mirror.typeql_diff import Change, SchemaDiff, diff_schema, parse_define
from mabos_cli.workspace.knowledge.ontologies import load_shipped, shipped_names

NOTHING = SchemaDiff("", (), ())
SMALL = Schema(
    (Attribute("uid", "string"), Attribute("age", "integer")),
    (
        Entity("person", (Owns("uid", ("@key",)), Owns("age")), (Plays("knows", "who"),)),
        Entity("worker", (), (Plays("knows", "whom"),), "person"),
    ),
    (Relation("knows", ("who", "whom")),),
)
# As a server prints it: blanks, its own order, cardinalities that hold anyway, functions, notes.
THERE = """
define

  attribute age, value integer;   # years
  attribute uid,
    value string;
  relation knows,
    relates who @card(0..1),
    relates whom;
  entity person,
    owns age @card( 0 .. 1 ),
    owns uid @key,
    plays knows:who @card(0..);
  entity worker sub person;
  worker plays knows:whom;

fun ages($p: person) -> { integer }:
  match $p has age $a; let $n = $a;
  return { $n };
struct place: lat value double, name value string?;
"""


def test_what_is_there_is_not_new():
    assert diff_schema(SMALL, render_define(SMALL)) == NOTHING
    assert diff_schema(SMALL, THERE) == SchemaDiff("", (), ("fun ages", "struct place"))


def test_the_whole_schema_is_defined_once():
    ontology = read_ontology([load_shipped(name) for name in shipped_names()])
    base = mirror_schema()
    whole = whole_schema(ontology)
    first = diff_schema(whole, "")
    assert first.changes == first.only_there == ()
    assert parse_define(first.define) == parse_define(render_define(whole))
    assert diff_schema(whole, first.define) == NOTHING
    added = diff_schema(whole, render_define(base))
    assert diff_schema(whole, render_define(base) + added.define) == NOTHING
    only = diff_schema(base, render_define(whole)).only_there
    assert len(only) == sum(map(len, whole)) - sum(map(len, base)) and "entity customer" in only


def test_what_is_new_is_defined():
    less = "define attribute uid, value string; entity person, owns uid @key;"
    assert diff_schema(SMALL, less) == SchemaDiff(
        "define\n"
        "attribute age, value integer;\n"
        "relation knows, relates who, relates whom;\n"
        "entity person, owns age, plays knows:who;\n"
        "entity worker, sub person, plays knows:whom;\n",
        (),
        (),
    )


@pytest.mark.parametrize(
    ("old", "new", "queries"),
    [
        ("age, value integer", "age, value string", ("redefine age value integer;",)),
        ("worker, sub person", "worker, sub knows", ("redefine worker sub person;",)),
        ("owns uid @key", "owns uid", ("define person owns uid @key;",)),
        ("owns age", "owns age @card(1..5)", ("undefine @card from person owns age;",)),
        ("owns age", 'owns age @regex("a;,@b")', ("undefine @regex from person owns age;",)),
        (
            "owns uid @key",
            "owns uid @unique @card(0..3)",
            (
                "undefine @card from person owns uid;",
                "undefine @unique from person owns uid;",
                "define person owns uid @key;",
            ),
        ),
    ],
)
def test_what_differs_comes_with_its_queries(old, new, queries):
    text = render_define(SMALL)
    assert old in text
    found = diff_schema(SMALL, text.replace(old, new))
    assert (found.define, found.only_there) == ("", ())
    assert [change.queries for change in found.changes] == [queries]


def test_an_annotation_with_another_argument_is_redefined():
    many = Schema((Attribute("tag", "string"),), (Entity("item", (Owns("tag", ("@card(0..)",)),)),))
    found = diff_schema(many, render_define(many).replace("@card(0..)", "@card(0..5)"))
    assert found.changes == (
        Change(
            "item owns tag: @card(0..5) there, should be @card(0..)",
            ("redefine item owns tag @card(0..);",),
        ),
    )


def test_another_kind_cannot_be_changed():
    found = diff_schema(SMALL, "define relation person, relates part; attribute uid, value string;")
    assert found.changes == (Change("person is a relation there, and should be an entity", ()),)
    assert "person" not in found.define.replace("sub person", "") and found.only_there == ()


def test_what_is_only_there_is_told_and_left():
    more = render_define(SMALL).replace("entity person,", "entity person @abstract,\n  owns size,")
    more += "attribute size, value double @range(0.0..9.9); entity shoe, owns size; relation knows, relates why as who;"
    assert diff_schema(SMALL, more) == SchemaDiff(
        "",
        (),
        (
            "attribute size",
            "entity shoe",
            "knows relates why",
            "knows relates why as who",
            "person @abstract",
            "person owns size",
        ),
    )


def test_an_empty_schema():
    assert parse_define("") == parse_define("define\n") == ({}, {}, ())


@pytest.mark.parametrize(
    "text", ["define entity", "define entity x", "define entity x, owns;", 'define entity "x";', "{}"]
)
def test_what_cannot_be_read_is_said(text):
    with pytest.raises(BadValue, match="cannot read the schema of the server"):
        parse_define(text)
