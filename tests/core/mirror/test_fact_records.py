"""Facts in the graph: individuals with classes and values, statements between them, and what facts were made of."""

from datetime import date
from decimal import Decimal

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.ontology import Concept, Ontology, Property
from mabos_cli.core.mirror.fact_records import fact_records
from mabos_cli.core.mirror.records import Record, Statement

ONTOLOGY = Ontology(
    [
        Concept("m:Party", "Party"),
        Concept("m:Customer", "Customer", ("m:Party",), synonyms=("buyer",)),
        Concept("m:Product", "Product"),
        Concept("m:Post", "Post"),
    ],
    [
        Property("m:buys", "buys", "object", ("m:Party",), ("m:Product",)),
        Property("m:knows", "knows", "object", ("m:Party",), ("m:Party",)),
        Property("m:has", "has", "object", ("m:Party",), ("m:Post",)),
        Property("n:has", "has", "object", ("m:Product",), ("m:Post",)),
        Property("m:revenue", "revenue", "datatype", ("m:Party",), ("xsd:decimal",)),
        Property("m:since", "since", "datatype", ("m:Party",), ("xsd:date",)),
    ],
)


def make(*triples: tuple[str, ...], **more: object) -> list[Record]:
    facts = [Fact(f"F-{number}", *triple) for number, triple in enumerate(triples)]
    return [*fact_records("cfo", facts, ONTOLOGY, **more)]


def classes(records: list[Record]) -> dict[str, str]:
    return {record.get("name"): record.label for record in records if record.type == "individual"}


def statements(records: list[Record]) -> list[Statement | None]:
    return [record.statement for record in records if record.type == "spo_fact"]


def test_a_customer_buys_a_product():
    records = make(("acme", "isA", "buyer"), ("acme", "buys", "lamp"), ("acme", "likes", "rain"))
    assert classes(records) == {"acme": "customer", "lamp": "product"}
    assert statements(records) == [None, Statement("buys", ("customer", "cfo/acme"), ("product", "cfo/lamp")), None]
    assert [record.uid for record in records] == ["cfo/acme", "cfo/lamp", "cfo/F-0", "cfo/F-1", "cfo/F-2"]


def test_what_the_classes_do_not_allow_stays_a_plain_fact():
    assert statements(make(("lamp", "type", "Product"), ("lamp", "knows", "acme")))[1] is None


def test_the_narrowest_class_counts_and_a_named_one_before_an_implied_one():
    said = make(("a", "type", "Party"), ("a", "type", "Customer"), ("b", "buys", "x"), ("b", "type", "Post"))
    assert classes(said) == {"a": "customer", "b": "post", "x": "product"}


def test_a_predicate_of_two_meanings_implies_no_class_and_follows_the_classes_that_are_there():
    assert classes(make(("acme", "has", "chair"))) == {}
    named = make(("lamp", "type", "Product"), ("chair", "type", "Post"), ("lamp", "has", "chair"))
    assert statements(named)[2] == Statement("n_has", ("product", "cfo/lamp"), ("post", "cfo/chair"))


def test_values_become_attributes_unless_they_end_or_make_no_sense():
    records = make(
        ("acme", "revenue", "$1,200.50"),
        ("acme", "revenue", "2M"),
        ("acme", "revenue", "much"),
        ("acme", "since", "2024-03-01"),
    )
    acme = records[0]
    assert dict(acme.attributes) == {
        "name": "acme",
        "revenue": (Decimal("1200.5"), Decimal(2_000_000)),
        "since": (date(2024, 3, 1),),
    }
    ended = Fact("F-1", "acme", "revenue", "5", valid_until="2025-01-01")
    assert dict(next(fact_records("cfo", [ended], ONTOLOGY)).attributes) == {"name": "acme"}


def test_what_a_fact_was_made_of_is_linked_as_far_as_it_is_there():
    facts = [
        Fact("F-1", "a", "b", "c", source="memory:M-1"),
        Fact("F-2", "a", "b", "d", rule_id="R-1", derived_from=("F-1", "F-gone")),
        Fact("F-3", "a", "b", "e", rule_id="R-2", source="memory:M-2"),
    ]
    records = [*fact_records("cfo", facts, Ontology(), {"R-1"}, {"M-1"})]
    assert [record.linked("derivation") for record in records] == [("cfo/M-1",), ("cfo/F-1", "cfo/R-1"), ()]


def test_wanted_facts_bring_those_about_the_same_individuals():
    triples = (("acme", "isA", "Customer"), ("acme", "buys", "lamp"), ("x", "buys", "y"), ("rain", "is", "wet"))
    ids = [record.uid for record in make(*triples, wanted={"F-1"}) if record.type == "spo_fact"]
    assert ids == ["cfo/F-0", "cfo/F-1"]
    assert [record.uid for record in make(*triples, wanted={"F-3"})][-1:] == ["cfo/F-3"]


def test_without_an_ontology_nothing_is_typed():
    facts = [Fact("F-1", "acme", "isA", "Customer")]
    assert [record.type for record in fact_records("cfo", facts, Ontology())] == ["spo_fact"]
