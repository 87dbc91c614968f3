"""The shipped ontologies: as many concepts as promised, each defined and in its place, valid RDF, and rules that bite."""

import json
import re
from collections import Counter
from datetime import UTC, datetime
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest
from commands.desk import Desk

from mabos_cli.core.knowledge.constraints import Firing, check_constraints
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.rule import Rule, check_rule, is_variable
from mabos_cli.formats.knowledge.exchange import parse_ndjson
from mabos_cli.formats.knowledge.rules import parse_rule_text

ROOT = Path(__file__).parent.parent
SHIPPED = ROOT / "mabos_cli" / "ontologies"
FIXTURES = ROOT / "fixtures" / "ontology"
BASE = "http://mabos.ai/ontology/"
OWL, RDFS, XSD = (f"http://www.w3.org/{name}#" for name in ("2002/07/owl", "2000/01/rdf-schema", "2001/XMLSchema"))
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
TEMPLATES = {
    "saas": "Subscription Plan Tier MRR ARR Churn Trial",
    "ecommerce": "Product Cart Order Fulfillment Return Inventory",
    "consulting": "Engagement Deliverable Milestone SOW Retainer",
    "agency": "Campaign Creative Client Brief Approval",
}
NAMES = ("business", *TEMPLATES)
DATATYPES = {"xsd:string", "xsd:date", "xsd:decimal", "xsd:integer"}
LEVELS = {"strict", "deferred", "pre-authorized override", "post-justified override"}
LEVELS |= {"override with explanation", "guideline"}

Node = dict[str, Any]
TEXTS = {name: (SHIPPED / f"{name}.jsonld").read_text("utf-8") for name in NAMES}
GRAPHS: dict[str, list[Node]] = {name: json.loads(text)["@graph"] for name, text in TEXTS.items()}


def types(node: Node) -> list[str]:
    said = node["@type"]
    return said if isinstance(said, list) else [said]


def classes(*names: str) -> list[Node]:
    return [node for name in names for node in GRAPHS[name] if "owl:Class" in types(node)]


def properties(*names: str) -> list[Node]:
    kinds = {"owl:ObjectProperty", "owl:DatatypeProperty"}
    return [node for name in names for node in GRAPHS[name] if kinds & set(types(node))]


def rules() -> list[Node]:
    return [node for node in GRAPHS["business"] if types(node) == ["mabos:BusinessRule"]]


def local(node: Node) -> str:
    return node["@id"].partition(":")[2]


def parents(node: Node) -> list[str]:
    """The ids of the classes right above one; the first is its genus."""
    said = node.get("rdfs:subClassOf", [])
    return [each["@id"] for each in (said if isinstance(said, list) else [said])]


LABELS = {node["@id"]: node["rdfs:label"] for node in classes(*NAMES)}


def repeated(terms: list[str]) -> list[str]:
    return [term for term, times in Counter(map(str.casefold, terms)).items() if times > 1]


# What is there


def test_business_has_170_concepts_139_fact_types_and_8_rules():
    assert [len(classes("business")), len(properties("business")), len(rules())] == [170, 139, 8]
    assert len(GRAPHS["business"]) == 1 + 170 + 139 + 8
    assert {"mabos:BusinessEntity", "mabos:Customer"} <= LABELS.keys()


@pytest.mark.parametrize("name", TEMPLATES)
def test_template_has_the_concepts_of_its_business(name: str):
    assert {f"{name}:{concept}" for concept in TEMPLATES[name].split()} <= {node["@id"] for node in classes(name)}
    assert len(classes(name)) >= 20 and len(properties(name)) >= 12
    assert len(GRAPHS[name]) == 1 + len(classes(name)) + len(properties(name))


@pytest.mark.parametrize("name", NAMES)
def test_document_says_what_it_is(name: str):
    head = GRAPHS[name][0]
    assert (head["@id"], head["@type"], head["mabos:domain"]) == (BASE + name, "owl:Ontology", name)
    assert head["rdfs:label"] and head["owl:versionInfo"]
    assert head.get("owl:imports") == (None if name == "business" else {"@id": BASE + "business"})


@pytest.mark.parametrize("name", NAMES)
def test_document_has_a_node_per_line(name: str):
    document = json.loads(TEXTS[name])
    lines = ",\n".join(f"    {json.dumps(node, ensure_ascii=False)}" for node in document["@graph"])
    context = json.dumps(document["@context"])
    assert TEXTS[name] == f'{{\n  "@context": {context},\n  "@graph": [\n{lines}\n  ]\n}}\n'


# Names


def test_ids_and_labels_are_unique_across_all_documents():
    # A workspace may scaffold several domains, and TypeQL has one name space for types.
    nodes = [node for name in NAMES for node in GRAPHS[name]]
    assert repeated([node["@id"] for node in nodes]) == []
    assert repeated([local(node) for node in classes(*NAMES) + properties(*NAMES)]) == []
    terms = [term for node in classes(*NAMES) for term in (node["rdfs:label"], *node.get("mabos:sbvr_synonyms", ()))]
    assert repeated(terms) == []
    assert repeated([node["rdfs:label"] for node in properties(*NAMES)]) == []
    assert repeated([node["rdfs:label"] for node in rules()]) == []


def test_names_follow_the_conventions():
    for name in NAMES:
        prefix = "mabos" if name == "business" else name
        for node in classes(name):
            words = re.split("[ -]", node["rdfs:label"])
            assert node["@id"] == f"{prefix}:{''.join(word[0].upper() + word[1:] for word in words)}"
        for node in properties(name):
            assert re.fullmatch(rf"{prefix}:[a-z]+(?:[A-Z][a-z]+)*", node["@id"])
            assert re.fullmatch("[a-z]+(?: [a-z]+)*", node["rdfs:label"])
    assert all(re.fullmatch("mabos:rule(?:-[a-z]+)+", node["@id"]) for node in rules())


def test_fact_types_are_not_named_by_words_that_people_use_for_other_things():
    # `fact lint` holds whoever writes such a word against domain and range.
    common = "belongs to, is made by, asks for, meets, comes from, knows, likes, is in, contains".split(", ")
    names = {name.casefold() for node in properties(*NAMES) for name in (local(node), node["rdfs:label"])}
    assert names.isdisjoint(common)


# Hierarchy


def test_concepts_form_one_hierarchy_below_one_root():
    above = {node["@id"]: parents(node) for node in classes(*NAMES)}
    assert [own for own, named in above.items() if not named] == ["mabos:Thing"]
    order = list(TopologicalSorter(above).static_order())  # CycleError names a circle
    assert set(order) == above.keys(), "a parent is nowhere"
    depths: dict[str, int] = {}
    for own in order:
        depths[own] = 1 + max((depths[each] for each in above[own]), default=-1)
    assert max(depths[node["@id"]] for node in classes("business")) == 6
    for name in TEMPLATES:
        near = {node["@id"] for node in classes("business", name)}
        assert all(near.issuperset(parents(node)) for node in classes(name))


def test_domains_and_ranges_are_known():
    for name in NAMES:
        near = {node["@id"] for node in classes("business", name)}
        for node in properties(name):
            is_value = "owl:DatatypeProperty" in types(node)
            assert node["rdfs:domain"]["@id"] in near
            assert node["rdfs:range"]["@id"] in (DATATYPES if is_value else near)


def test_fact_types_with_one_value_at_a_time_are_functional():
    functional = {local(node) for node in properties("business") if "owl:FunctionalProperty" in types(node)}
    assert 25 <= len(functional) <= 40
    assert {"reportsTo", "hasDueDate", "hasTotalAmount", "hasStatus"} <= functional
    assert functional.isdisjoint({"partOf", "uses", "worksFor", "approvedBy", "hasRevenue", "buys"})
    assert "locatedIn" not in functional  # what is in Berlin is in Germany too
    values = [node for node in properties("business") if "owl:DatatypeProperty" in types(node)]
    assert 20 <= len(values) <= 35


# Definitions and readings


def test_concepts_are_defined_by_genus_and_difference():
    for node in classes(*NAMES):
        said = node["mabos:sbvr_definition"]
        genus = LABELS[parents(node)[0]].lower() if parents(node) else "anything"
        assert said.lower().startswith(f"{genus} "), node["@id"]
        known = set(re.findall(r"\w+", f"{genus} {node['rdfs:label']}".lower()))
        assert len(set(re.findall(r"\w+", said.lower())) - known) >= 5, f"{node['@id']} rewords its label"
        assert not said.endswith(".")


def test_fact_types_are_defined():
    for node in properties(*NAMES):
        said = node["mabos:sbvr_definition"]
        assert len(set(said.split()) - set(node["rdfs:label"].split())) >= 5 and not said.endswith(".")


def test_no_two_definitions_or_readings_are_alike():
    facts = properties(*NAMES)
    assert repeated([node["mabos:sbvr_definition"] for node in classes(*NAMES) + facts]) == []
    keys = ("mabos:reading", "mabos:inverse_reading")
    assert repeated([node[key] for node in facts if "owl:inverseOf" not in node for key in keys]) == []
    by_id = {node["@id"]: node for node in facts}
    inverses = [(node, by_id[node["owl:inverseOf"]["@id"]]) for node in facts if "owl:inverseOf" in node]
    assert len(inverses) == 7
    for one, other in inverses:
        assert [one[key] for key in keys] == [other[key] for key in reversed(keys)]
        assert (one["rdfs:domain"], one["rdfs:range"]) == (other["rdfs:range"], other["rdfs:domain"])


def test_readings_in_both_directions_name_domain_and_range():
    for node in properties(*NAMES):
        subject, verb = LABELS[node["rdfs:domain"]["@id"]].lower(), node["rdfs:label"]
        ahead, back = node["mabos:reading"].lower(), node["mabos:inverse_reading"].lower()
        if "owl:DatatypeProperty" in types(node):
            # The name of a value is in the verb (has due date), or it is a date (starts on).
            noun = verb.removeprefix("has ") if verb.startswith("has ") else "date"
            assert (node["rdfs:range"]["@id"] == "xsd:date") == noun.endswith("date"), node["@id"]
        else:
            noun = LABELS[node["rdfs:range"]["@id"]].lower()
        told = verb if verb.endswith(f" {noun}") else f"{verb} {noun}"
        assert ahead == f"{subject} {told}"
        assert re.fullmatch(rf"{re.escape(noun)} [a-z][a-z ]+ {re.escape(subject)}", back), node["@id"]


# RDF


def triples(name: str) -> list[pyoxigraph.Quad]:
    return list(pyoxigraph.parse(TEXTS[name].encode(), format=pyoxigraph.RdfFormat.JSON_LD))


@pytest.mark.parametrize("name", NAMES)
def test_rdf_has_a_triple_per_value_and_iris_where_they_belong(name: str):
    quads = triples(name)
    values = [value for node in GRAPHS[name] for key, value in node.items() if key != "@id"]
    assert len(set(quads)) == sum(len(value) if isinstance(value, list) else 1 for value in values)
    assert {type(quad.graph_name) for quad in quads} == {pyoxigraph.DefaultGraph}
    known = (BASE, OWL, RDFS, XSD)
    links = {RDF_TYPE, *(f"{OWL}{key}" for key in ("imports", "inverseOf", "disjointWith"))}
    links |= {f"{RDFS}{key}" for key in ("subClassOf", "subPropertyOf", "domain", "range")}
    for quad in quads:
        assert isinstance(quad.subject, pyoxigraph.NamedNode) and quad.subject.value.startswith(BASE)
        assert quad.predicate.value == RDF_TYPE or quad.predicate.value.startswith(known)
        if quad.predicate.value in links:
            assert isinstance(quad.object, pyoxigraph.NamedNode) and quad.object.value.startswith(known)
        else:
            assert isinstance(quad.object, pyoxigraph.Literal), quad


def test_rdf_answers_a_question_over_the_hierarchy():
    store = pyoxigraph.Store()
    store.extend(quad for name in NAMES for quad in triples(name))
    found = store.query(
        f"PREFIX rdfs: <{RDFS}> PREFIX mabos: <{BASE}> SELECT ?label WHERE "
        "{ ?c rdfs:subClassOf+ mabos:Customer ; rdfs:label ?label } ORDER BY ?label"
    )
    assert [row["label"].value for row in found] == ["Client", "Subscriber"]


# Rules


def constraint(node: Node, way: str) -> Rule:
    message = node["mabos:violation_message"]
    conditions, conclusion = parse_rule_text(way, message)
    assert conclusion is None
    return Rule(
        local(node),
        node["rdfs:label"],
        "constraint",
        conditions,
        violation_message=message,
        severity=node["mabos:severity"],
    )


CONSTRAINTS = [constraint(node, way) for node in rules() for way in node["mabos:violated_when"].split(" or if ")]


def facts_of(name: str) -> list[Fact]:
    path = FIXTURES / f"{name}.ndjson"
    found = parse_ndjson(path.read_text("utf-8"), path.name)
    return [fact._replace(id=f"F-{number}") for number, (_, fact) in enumerate(found, 1)]


def violations(facts: list[Fact]) -> tuple[Firing, ...]:
    done = check_constraints(facts, CONSTRAINTS)
    assert done.problems == ()
    return done.found


def test_rules_say_how_they_bind():
    openings = {"definitional": ("It is necessary that ",)}
    openings["behavioral"] = ("It is obligatory that ", "It is prohibited that ")
    for node in rules():
        assert node["mabos:sbvr_statement"].startswith(openings[node["mabos:modality"]])
        assert node["mabos:sbvr_statement"].endswith(".")
        assert node["mabos:enforcement_level"] in LEVELS
        assert node["mabos:modality"] == "behavioral" or node["mabos:enforcement_level"] == "strict"
    assert Counter(node["mabos:modality"] for node in rules()) == {"definitional": 4, "behavioral": 4}


@pytest.mark.parametrize("rule", CONSTRAINTS, ids=lambda rule: rule.id)
def test_rule_can_be_run_over_fact_types(rule: Rule):
    assert check_rule(rule) == []
    known = {local(node) for node in properties("business")}
    assert {condition.predicate for condition in rule.conditions} - {"", "type"} <= known
    bound = {term for condition in rule.conditions for term in condition[:3:2] if is_variable(term)}
    assert set(re.findall(r"\?\w+", rule.violation_message)) <= bound


def test_each_rule_fires_where_it_is_broken():
    assert [(one.rule.severity, one.rule.id, one.message) for one in violations(facts_of("violations"))] == [
        ("critical", "rule-four-eyes", "po-208 was approved by carla, who requested it"),
        (
            "error",
            "rule-approval-within-limit",
            "po-210 over $12,500 was approved by dmitri, whose limit is $10k",
        ),
        (
            "error",
            "rule-discount-within-price",
            "quote-31 has a discount rate of 120%, more than the whole price",
        ),
        (
            "error",
            "rule-no-suspended-supplier",
            "po-209 was ordered from nordic-steel, who is suspended",
        ),
        ("error", "rule-one-way-reporting", "ana reports to ben, who reports to ana directly or through others"),
        ("error", "rule-one-way-reporting", "ben reports to ana, who reports to ben directly or through others"),
        (
            "error",
            "rule-ordered-dates",
            "lease-14 ends on 2026-03-31, before it starts on 2026-04-01",
        ),
        (
            "error",
            "rule-refund-within-payment",
            "refund-5 gives back €480, but payment-77 was only €400.00",
        ),
        (
            "warning",
            "rule-pay-by-due-date",
            "invoice-881 was due on 2026-02-15, and was not paid by then",
        ),
    ]


def test_an_overdue_invoice_that_is_not_paid_breaks_the_rule():
    facts = [Fact("F-1", "inv-7", "type", "Invoice"), Fact("F-2", "inv-7", "hasDueDate", "2026-01-31")]
    late, early = datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 1, 31, tzinfo=UTC)
    (found,) = check_constraints(facts, CONSTRAINTS, late).found
    assert (found.message, found.supports) == ("inv-7 was due on 2026-01-31, and was not paid by then", ("F-1", "F-2"))
    assert not check_constraints(facts, CONSTRAINTS, early).found
    paid = [*facts, Fact("F-3", "inv-7", "paidOn", "2026-01-30")]
    assert not check_constraints(paid, CONSTRAINTS, late).found


def test_each_rule_needs_every_fact_that_breaks_it():
    facts = facts_of("violations")
    found = violations(facts)
    assert {id for one in found for id in one.supports} == {fact.id for fact in facts}
    for gone in facts:
        left = violations([fact for fact in facts if fact != gone])
        assert left == tuple(one for one in found if gone.id not in one.supports)


def test_no_rule_fires_where_all_are_kept():
    clean, broken = facts_of("clean"), facts_of("violations")
    assert violations(clean) == ()
    assert {fact.predicate for fact in clean} == {fact.predicate for fact in broken}


def test_fixture_readme_names_each_rule():
    told = re.findall(r"^\| (rule-\S+) \|", (FIXTURES / "README.md").read_text("utf-8"), re.MULTILINE)
    assert told == [local(node) for node in rules()]


@pytest.mark.usefixtures("still_world")
@pytest.mark.parametrize("name", ["violations", "clean"])
def test_fixture_can_be_imported(quick: Path, name: str):
    desk = Desk(quick / "ws")
    assert desk.run("fact", "import", str(FIXTURES / f"{name}.ndjson")).code == 0
    listed = desk.run("fact", "query", "*", "*", "*", "--json", "--limit", "100").data
    said = {(row["subject"], row["predicate"], row["object"]) for row in listed["facts"]}
    assert said == {fact.triple for fact in facts_of(name)}
