"""TypeQL schemas: by example, and by a check that everything a schema names is declared in it, once."""

import re

from mabos_cli.core.knowledge.ontology import Concept, Ontology, Property
from mabos_cli.core.mirror.schema import RESERVED, label_types
from mabos_cli.formats.knowledge.jsonld_nodes import read_ontology
from mabos_cli.formats.mirror.typeql import render_typeql
from mabos_cli.workspace.knowledge.ontologies import load_shipped, shipped_names

SMALL = Ontology(
    [
        Concept("m:Customer", "Customer", ("m:Party", "m:Role")),
        Concept("m:Party", "Party"),
        Concept("m:Role", "Role"),
        Concept("m:Order", "Order", ("x:Unknown",)),
    ],
    [
        Property("m:places", "places", "object", ("m:Customer",), ("m:Order",), True),
        Property("m:order", "order", "object", ("m:Party", "m:Customer"), ()),
        Property("m:orderDate", "order date", "datatype", ("m:Order",), ("xsd:date",), True),
        Property("m:value", "value", "datatype", (), ("xsd:nonNegativeInteger",)),
    ],
)


def test_a_small_schema():
    assert render_typeql(SMALL, taken={"party"}) == (
        "define\n"
        "attribute m_value, value integer;\n"
        "attribute order_date, value date;\n"
        "relation m_order, relates subject, relates object;\n"
        "relation places, relates subject, relates object;\n"
        "entity m_party,\n"
        "  owns m_value @card(0..),\n"
        "  plays m_order:object,\n"
        "  plays m_order:subject;\n"
        "entity customer, sub m_party,\n"
        "  plays places:subject;\n"
        "entity m_role,\n"
        "  owns m_value @card(0..),\n"
        "  plays m_order:object;\n"
        "entity order,\n"
        "  owns m_value @card(0..),\n"
        "  owns order_date @card(0..),\n"
        "  plays m_order:object,\n"
        "  plays places:object;\n"
    )


def test_labels_are_safe_and_unique():
    odd = [
        "x:9Lives",
        "x:Straße",
        "y:Straße",
        "x:SQLServer",
        "x:End",
        "x:保証",
        "x:--",
        "x:Order",
        "x:order",
        "y:order",
    ]
    labels = label_types(Ontology([Concept(own) for own in odd]))
    assert set(labels) == set(odd) and len(set(labels.values())) == len(odd)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", label) and label not in RESERVED for label in labels.values())
    assert labels["x:SQLServer"] == "sql_server" and labels["x:9Lives"] == "t_9_lives" and labels["x:End"] == "x_end"


def test_a_circle_is_cut_at_one_place():
    ring = Ontology([Concept(f"x:{a}", a, (f"x:{b}",)) for a, b in ("AB", "BC", "CA", "DA")])
    text = render_typeql(ring)
    assert text.split("\n") == [
        "define",
        "entity a;",
        "entity c, sub a;",
        "entity b, sub c;",
        "entity d, sub a;",
        "",
    ]


def test_the_shipped_folder_declare_all_that_they_name():
    ontology = read_ontology([load_shipped(name) for name in shipped_names()])
    text = render_typeql(ontology, taken={"agent", "goal", "plan", "task", "decision"})
    statements = text.removeprefix("define\n").rstrip(";\n").split(";\n")
    kinds: dict[str, str] = {}
    for statement in statements:
        kind, label = re.match(r"(entity|relation|attribute) ([a-z][a-z0-9_]*)", statement).groups()
        assert label not in kinds and label not in RESERVED | {"agent", "goal", "plan"}
        above = re.search(r", sub (\w+)", statement)
        assert not above or kinds[above[1]] == "entity"  # declared before
        kinds[label] = kind
    assert len(kinds) == len(ontology.concepts) + len(ontology.properties)
    assert {kinds[label] for label in re.findall(r"owns (\w+)", text)} == {"attribute"}
    assert {kinds[label] for label, _ in re.findall(r"plays (\w+):(\w+)", text)} == {"relation"}
    roles = set(re.findall(r"plays (\w+:\w+)", text))
    wanted = {label for label, kind in kinds.items() if kind == "relation"}
    assert roles == {f"{label}:{role}" for label in wanted for role in ("subject", "object")}
    values = set(re.findall(r", value ([a-z-]+)", text))
    assert values <= {"string", "decimal", "date", "integer", "boolean", "datetime", "double"}
