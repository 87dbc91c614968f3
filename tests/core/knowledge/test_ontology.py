from mabos_cli.core.knowledge.ontology import BusinessRule, Concept, Ontology, Property

ORDER = Concept("mabos:SalesOrder", "Sales Order", ("mabos:Document",), "a document", ("purchase",), "business")
WEB = Concept("shop:Order", "Order", ("mabos:SalesOrder",), "", ("sales order online",), "shop")
PLACES = Property("mabos:places", "places", "object", ("mabos:Customer",), ("mabos:SalesOrder",), source="business")
CEO = Property("mabos:hasCeo", "has CEO", is_functional=True)
RULE = BusinessRule("mabos:rule-four-eyes", "Four eyes")
ONTOLOGY = Ontology([ORDER, WEB], [PLACES, CEO], [RULE])


def test_names_are_found_by_id_local_name_label_and_synonym():
    for name in ("mabos:SalesOrder", "SalesOrder", "sales order", "Sales-Order", "sales_order", "Purchase"):
        assert ONTOLOGY.concepts_named(name) == (ORDER,), name
    assert ONTOLOGY.properties_named("Has ceo") == ONTOLOGY.properties_named("mabos:hasCeo") == (CEO,)
    assert ONTOLOGY.nodes_named("four eyes") == (RULE,)
    assert ONTOLOGY.find_concept("sales") is None and ONTOLOGY.concepts_named("") == ()


def test_a_local_name_goes_before_a_label_and_that_before_a_synonym():
    third = Concept("x:C", "C", synonyms=("plan",))
    second = Concept("x:B", "plan")
    first = Concept("x:Plan", "P")
    assert Ontology([third, second, first]).concepts_named("PLAN") == (first, second, third)


def test_an_id_means_one_thing_and_a_word_perhaps_several():
    both = Ontology([Concept("x:Order", "Order")], [Property("x:order", "order")])
    assert [node.id for node in both.nodes_named("order")] == ["x:Order", "x:order"]
    assert [node.id for node in both.nodes_named("x:order")] == ["x:order"]


def test_what_several_files_say_about_one_id_is_put_together():
    more = Concept("mabos:SalesOrder", "Bestellung", ("mabos:Contract",), "other words", ("deal", "purchase"), "shop")
    found = Ontology([ORDER, more]).concepts["mabos:SalesOrder"]
    assert found == ORDER._replace(parents=("mabos:Document", "mabos:Contract"), synonyms=("purchase", "deal"))
    again = Property("mabos:places", "", "object", ("shop:Guest",), is_functional=True)
    assert Ontology(properties=[PLACES, again]).properties["mabos:places"].domains == (
        "mabos:Customer",
        "shop:Guest",
    )
    assert Ontology(properties=[PLACES, again]).properties["mabos:places"].is_functional


def test_children_and_functional_names():
    assert ONTOLOGY.children("mabos:SalesOrder") == ("shop:Order",)
    assert ONTOLOGY.children("shop:Order") == ()
    assert ONTOLOGY.functional_names() == {"mabos:hasCeo", "hasCeo", "has CEO"}
