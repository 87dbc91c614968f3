from mabos_cli.core.knowledge.constraints import check_constraints, ground_facts
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.ontology import BusinessRule, Concept, Ontology, Property
from mabos_cli.formats.knowledge.jsonld_nodes import read_constraints

RULES = [
    BusinessRule("m:rule-1", "Limit", "behavioral", severity="error", violated_when="if ?o isA order and ?o m:hasTotal > 100", message="?o is large"),
    BusinessRule("m:rule-2", "For people", statement="It is obligatory that people are kind."),
    BusinessRule("m:rule-3", "Broken", violated_when="if ?x"),
    BusinessRule("m:rule-4", "Concludes", violated_when="if ?x p ?y then ?y q ?x"),
]  # fmt: skip
ONTOLOGY = Ontology(
    [Concept("m:Order", "Order"), Concept("m:WebOrder", "Web Order", ("m:Order",))],
    [Property("m:hasTotal", "has total", "datatype")],
    RULES,
)


def test_rules_run_as_constraints_over_classes_below_and_other_spellings():
    rules, problems = read_constraints(ONTOLOGY)
    assert [rule.id for rule in rules] == ["m:rule-1"] and [p.rule_id for p in problems] == [
        "m:rule-3",
        "m:rule-4",
    ]
    told = (
        "a type WebOrder",
        "a hasTotal 500",
        "b type m:Order",
        "b m:hasTotal 150",
        "c type Order",
        "c hasTotal 99",
        "d hasTotal 900",
    )
    facts = [Fact(f"F-{n}", *triple.split()) for n, triple in enumerate(told)]
    found, unrun = check_constraints(ground_facts(facts, ONTOLOGY), rules)
    assert [(v.message, v.supports, v.rule.severity) for v in found] == [
        ("a is large", ("F-0", "F-1"), "error"),
        ("b is large", ("F-2", "F-3"), "error"),
    ]
    assert unrun == ()
