import pytest

from mabos_cli.core.knowledge.constraints import find_classes, ground_facts, ground_pattern, is_literal, lint_types
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.ontology import Concept, Ontology, Property
from mabos_cli.core.knowledge.rule import Pattern

ONTOLOGY = Ontology(
    [
        Concept("mabos:Party", "Party"),
        Concept("mabos:Customer", "Customer", ("mabos:Party",), synonyms=("buyer",)),
        Concept("mabos:KeyAccount", "Key Account", ("mabos:Customer",)),
        Concept("mabos:Order", "Order"),
        Concept("mabos:Bill", "Bill"),
    ],
    [
        Property("mabos:places", "places", "object", ("mabos:Customer",), ("mabos:Order",)),
        Property("mabos:hasAmount", "has amount", "datatype", ("mabos:Order",), ("xsd:decimal",)),
        Property("mabos:knows", "knows"),
        Property("a:rates", "rates", "object", ("mabos:Order",)),
        Property("b:rates", "rates", "object", ("mabos:Customer",)),
    ],
)


def facts(*told: str) -> list[Fact]:
    return [Fact(f"F-{n}", *triple.split(" ", 2)) for n, triple in enumerate(told, 1)]


@pytest.mark.parametrize(
    ("told", "findings"),
    [
        (("acme type Customer", "o1 isA order", "acme places o1"), []),
        (("acme a mabos:KeyAccount", "o1 is_a Order", "acme mabos:places o1"), []),  # below the domain
        (("acme places o1",), []),  # nothing is known about either
        (("acme instanceOf Unicorn", "acme places o1"), []),
        (("o1 type Order", "o1 places o2"), [("domain", "F-2", "o1 places o2: the subject is Order, not Customer")]),
        (("acme type Party", "acme places o2"), []),  # known only by a class above the domain: it may well be of it
        (("x type buyer", "acme places x"), [("range", "F-2", "acme places x: the object is Customer, not Order")]),
        (("x type buyer", "x rdf:type order", "x places x"), []),  # it is both
        (("o1 hasAmount $5k", "o1 hasAmount 12 %"), []),
        (("o1 has_amount plenty",), [("range", "F-1", "o1 has_amount plenty: the object is no xsd:decimal")]),
        (("o1 http://mabos.ai/ontology/hasAmount plenty",),
         [("range", "F-1", "o1 http://mabos.ai/ontology/hasAmount plenty: the object is no xsd:decimal")]),
        (("acme type Customer", "acme knows o1", "acme rates o1"), []),  # no ends; one of two of that name fits
        (("b type Bill", "b rates o1"),
         [("domain", "F-2", "b rates o1: the subject is Bill, not Order or Customer")]),
    ],
)  # fmt: skip
def test_domains_and_ranges(told: tuple[str, ...], findings: list):
    found = lint_types(facts(*told), ONTOLOGY)
    assert [(f.kind, *f.facts, f.message) for f in found] == findings


def test_without_properties_nothing_is_judged():
    assert lint_types(facts("a b c"), Ontology()) == []


@pytest.mark.parametrize(
    ("datatype", "good", "bad"),
    [
        ("decimal", "5 -3.5 $50,000 12% 2.4M", "five 007 2026-01-01"),
        ("integer", "5 -3 1,000", "2.5 $5 5% x"),
        ("nonNegativeInteger", "0 7", "-1 1.5"),
        ("positiveInteger", "1", "0 -1"),
        ("date", "2026-02-24", "2026-02-30 2026-02-24T10:00 tomorrow"),
        ("dateTime", "2026-02-24T10:00:00Z 2026-02-24", "10:00 x"),
        ("time", "10:00 10:00:30", "2026-02-24 25:00"),
        ("boolean", "true False 1 0", "yes 2"),
        ("string", "x 5 true", ""),
        ("anyURI", "http://x.org x", ""),
    ],
)
def test_literals(datatype: str, good: str, bad: str):
    assert [text for text in good.split() if not is_literal(text, f"xsd:{datatype}")] == []
    assert [text for text in bad.split() if is_literal(text, f"xsd:{datatype}")] == []


def test_classes_of_things():
    found = find_classes(facts("a type buyer", "a isA Order", "b type http://x.org/Order", "c type Nothing"), ONTOLOGY)
    assert found == {"a": ("mabos:Customer", "mabos:Order"), "b": ("mabos:Order",)}


def test_rules_see_local_names_and_the_classes_above():
    given = facts(
        "acme isA 'key account'".replace("'", ""),
        "acme mabos:places o1",
        "o1 has-amount 5",
        "x y z",
        "x type Odd",
    )
    assert [fact.triple for fact in ground_facts(given, ONTOLOGY)] == [
        ("acme", "type", "KeyAccount"),
        ("acme", "type", "Customer"),
        ("acme", "type", "Party"),
        ("acme", "places", "o1"),
        ("o1", "hasAmount", "5"),
        ("x", "y", "z"),
        ("x", "type", "Odd"),
    ]
    for told, seen in (
        (Pattern("?x", "isA", "buyer"), Pattern("?x", "type", "Customer")),
        (Pattern("?x", "isA", "?c"), Pattern("?x", "type", "?c")),
        (Pattern("?x", "mabos:hasAmount", "5", "gt"), Pattern("?x", "hasAmount", "5", "gt")),
        (Pattern("?x", "", "5", "gt"), Pattern("?x", "", "5", "gt")),
    ):
        assert ground_pattern(told, ONTOLOGY) == seen
