from mabos_cli.core.knowledge.ontology import (
    BusinessRule,
    Concept,
    Ontology,
    Property,
    close_names,
    draw_tree,
    inherited_properties,
    properties_of,
    select_domain,
)

ONTOLOGY = Ontology(
    [
        Concept("m:Thing", "Thing", source="business"),
        Concept("m:Party", "Party", ("m:Thing",), source="business"),
        Concept("m:Order", "Order", ("m:Thing",), source="business"),
        Concept("s:Guest", "Guest", ("m:Party", "m:Order"), source="shop"),
        Concept("s:Cart", "Cart", ("m:Gone",), source="shop"),
    ],
    [
        Property("s:fills", "fills", "object", ("s:Guest",), ("s:Cart",), source="shop"),
        Property("m:buys", "buys", "object", ("m:Party",), ("m:Thing",), source="business"),
    ],
    [BusinessRule("m:rule", "Rule", source="business")],
)


def drawn(ontology: Ontology, **how: str) -> list[str]:
    return [" " * branch.depth + branch.concept.label for branch in draw_tree(ontology, **how)]


def test_the_tree_hangs_each_concept_below_its_first_parent():
    assert drawn(ONTOLOGY) == ["Cart", "Thing", " Order", " Party", "  Guest"]
    assert drawn(ONTOLOGY, source="shop") == ["Cart", "Thing", " Party", "  Guest"]
    assert drawn(ONTOLOGY, below="m:Party") == ["Party", " Guest"]


def test_a_circle_is_drawn_once():
    ring = Ontology([Concept("x:A", "A", ("x:B",)), Concept("x:B", "B", ("x:A",))])
    assert drawn(ring) == ["A", " B"]


def test_a_domain_comes_with_what_it_builds_on():
    shop = select_domain(ONTOLOGY, "shop")
    assert set(shop.concepts) == {"s:Guest", "s:Cart", "m:Party", "m:Order", "m:Thing"}
    assert set(shop.properties) == {"s:fills"} and not shop.rules
    assert set(select_domain(ONTOLOGY, "business").rules) == {"m:rule"}


def test_properties_at_both_ends():
    assert [p.id for p in properties_of(ONTOLOGY, "s:Cart")] == ["s:fills"]
    assert [p.id for p in properties_of(ONTOLOGY, "m:Thing")] == ["m:buys"]


def test_properties_of_the_classes_above():
    found = inherited_properties(ONTOLOGY, "s:Guest")
    assert {own: [p.id for p in given] for own, given in found.items()} == {"m:Party": ["m:buys"]}


def test_names_that_are_close():
    assert close_names(ONTOLOGY, "gest")[0] == "Guest" and close_names(ONTOLOGY, "zzz") == []
