"""What ontologies entail: the rules in the words of facts, and the same entailments as an OWL RL reasoner."""

import json
import random

import pytest

from mabos_cli.core.knowledge.backward import backward_chain
from mabos_cli.core.knowledge.entailment import disjoint_constraints, ontology_rules
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.forward import forward_chain
from mabos_cli.core.knowledge.ontology import Concept, Ontology, Property
from mabos_cli.core.knowledge.rule import Pattern, Rule
from mabos_cli.formats.knowledge.jsonld import parse_jsonld
from mabos_cli.formats.knowledge.jsonld_nodes import read_ontology
from mabos_cli.workspace.knowledge.ontologies import load_shipped, shipped_names

SMALL = Ontology(
    [Concept("x:Party"), Concept("x:Customer", "Customer", ("x:Party",), synonyms=("buyer",), source="shop")],
    [
        Property("x:partOf", traits=("transitive",)),
        Property("x:hasPart", inverses=("x:partOf",)),
        Property("x:marriedTo", traits=("symmetric",), parents=("x:knows",)),
        Property("x:knows"),
        Property("x:places", domains=("x:Customer",), ranges=("x:Order",)),
        Property("x:either", domains=("x:Customer", "x:Party")),
        Property("x:name", kind="datatype", ranges=("xsd:string",)),
    ],
)


def entailed(*said, rules=(), ontology=SMALL):
    facts = [Fact(f"F-{n}", *triple.split()) for n, triple in enumerate(said)]
    found = forward_chain(facts, [*rules, *ontology_rules(ontology, facts, rules)])
    assert found.problems == ()
    return {" ".join(fact.triple): fact.rule_id for fact in found.derived}


def test_each_conclusion_cites_the_axiom():
    assert entailed("zed isA Customer") == {"zed isA Party": "OWL-subClassOf-Customer-Party"}
    assert entailed("a partOf b", "b partOf c") == {
        "a partOf c": "OWL-transitive-partOf",
        **{f"{x} hasPart {y}": "OWL-inverseOf-partOf-hasPart" for x, y in ("ba", "cb", "ca")},
    }
    assert entailed("ann marriedTo bob") == {
        "bob marriedTo ann": "OWL-symmetric-marriedTo",
        "ann knows bob": "OWL-subPropertyOf-marriedTo-knows",
        "bob knows ann": "OWL-subPropertyOf-marriedTo-knows",
    }
    assert entailed("ann places o1") == {
        "ann isA Customer": "OWL-domain-places-Customer",
        "ann isA Party": "OWL-subClassOf-Customer-Party",
        "o1 isA Order": "OWL-range-places-Order",
    }


def test_classes_are_called_as_facts_call_them():
    assert entailed("zed type buyer", "acme type Party") == {"zed type Party": "OWL-subClassOf-buyer-Party"}
    assert entailed("zed isA x:Customer") == {"zed isA x:Party": "OWL-subClassOf-x:Customer-x:Party"}
    both = entailed("zed isA Customer", "acme type Party")
    assert both.keys() == {"zed isA Party", "zed type Party", "zed type Customer", "acme isA Party"}


def test_what_is_not_clear_entails_nothing():
    assert entailed("ann either x", "ann name Ann", "server type dedicated", "a partOf b").keys() == {"b hasPart a"}


def test_what_is_the_same_has_the_same_facts():
    found = entailed("zed sameAs zeta", "zed owes 5", "ann knows zed")
    assert {"zeta owes 5", "ann knows zeta", "zeta sameAs zed"} <= found.keys()
    assert found["zeta owes 5"] == "OWL-sameAs-subject-owes"


def test_equivalent_classes_inverse_functional_properties_and_chains():
    nodes = [
        {"@id": "x:Client", "@type": "owl:Class", "owl:equivalentClass": {"@id": "x:Customer"}},
        {"@id": "x:Customer", "@type": "owl:Class", "rdfs:subClassOf": {"@id": "x:Party"}},
        {"@id": "x:email", "@type": ["owl:DatatypeProperty", "owl:InverseFunctionalProperty"]},
        {"@id": "x:hasParent", "@type": "owl:ObjectProperty"},
        {"@id": "x:hasBrother", "@type": "owl:ObjectProperty"},
        {
            "@id": "x:hasUncle",
            "@type": "owl:ObjectProperty",
            "owl:propertyChainAxiom": {"@list": [{"@id": "x:hasParent"}, {"@id": "x:hasBrother"}]},
        },
    ]
    data = json.dumps({"@context": {"x": "http://x.org/"}, "@graph": nodes}).encode()
    read = read_ontology([parse_jsonld(data, "x.jsonld", "x")])
    assert entailed("zed isA Client", ontology=read) == {
        "zed isA Customer": "OWL-subClassOf-Client-Customer",
        "zed isA Party": "OWL-subClassOf-Client-Party",
    }
    assert entailed("zed isA Customer", ontology=read)["zed isA Client"] == "OWL-subClassOf-Customer-Client"
    found = entailed("bob email b@x", "rob email b@x", "rob likes tea", ontology=read)
    assert found["bob sameAs rob"] == "OWL-inverseFunctional-email"
    assert found["bob likes tea"] == "OWL-sameAs-subject-likes"
    assert entailed("ann hasParent bo", "bo hasBrother cy", ontology=read) == {
        "ann hasUncle cy": "OWL-chain-hasParent-hasBrother-hasUncle"
    }


def test_a_goal_is_proven_in_the_words_of_the_goal():
    facts = [Fact("F-1", "zed", "isA", "Customer"), Fact("F-2", "a", "partOf", "b")]
    for goal in (("zed", "isA", "Party"), ("zed", "type", "Party"), ("b", "hasPart", "a")):
        assert backward_chain(goal, facts, ontology_rules(SMALL, facts, (), goal)).status == "PROVEN"


def test_a_rule_of_the_agent_is_never_refused_because_of_an_ontology():
    given = [Pattern("?x", "owes", "?y"), Pattern("?x", "isA", "Customer", negated=True)]
    rule = Rule("R-1", "", "inference", tuple(given), Pattern("?x", "places", "?y"))
    found = entailed("ann owes o1", "bob owes o2", "bob isA Customer", rules=[rule])
    assert found == {"ann places o1": "R-1", "bob isA Party": "OWL-subClassOf-Customer-Party"}


def test_disjoint_classes_are_constraints():
    ontology = Ontology([Concept("x:A", disjoint=("x:B",)), Concept("x:B", disjoint=("x:A",))])
    assert [rule.id for rule in disjoint_constraints(ontology)] == ["OWL-disjoint-A-B"]


def instances(ontology, count=200):
    """Things of classes, with properties between them of which the ontology says something, that contradict nothing."""
    chance = random.Random(24)
    things = [f"i:t{n}" for n in range(count)]
    telling = [p.id for p in ontology.properties.values() if p.kind == "object" and not p.is_functional]
    special = [p.id for p in ontology.properties.values() if p.traits or p.inverses or p.parents]
    for n, thing in enumerate(things):
        yield thing, "rdf:type", chance.choice(list(ontology.concepts))
        for own in (chance.choice(telling), chance.choice(special)):
            # Functional ones lead to the next thing only: two values would be one thing to OWL, and a contradiction here.
            functional = ontology.properties[own].is_functional
            yield thing, own, things[(n + 1) % count] if functional else chance.choice(things)
    yield "i:t1", "owl:sameAs", "i:t2"


def test_the_same_entailments_as_owlrl():
    reason = "owlrl and rdflib are needed to compare with: pip install 'mabos[dev]'"
    owlrl, rdflib = pytest.importorskip("owlrl", reason=reason), pytest.importorskip("rdflib", reason=reason)
    documents = [load_shipped(name) for name in shipped_names()]
    ontology = read_ontology(documents)
    graph = rdflib.Graph()
    for document in documents:
        graph.parse(data=json.dumps(document.value), format="json-ld")
    names = graph.namespace_manager
    names.bind("i", "http://example.org/")
    said = set(instances(ontology))
    for triple in said:
        graph.add(tuple(map(names.expand_curie, triple)))
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    ours = {*ontology.concepts, *ontology.properties, "rdf:type", "owl:sameAs"}
    things = {term for subject, predicate, obj in said for term in (subject, obj) if term.startswith("i:")}
    wanted = set()
    for triple in graph:
        if all(isinstance(term, rdflib.URIRef) for term in triple):
            subject, predicate, obj = (names.curie(term) for term in triple)
            is_ours = predicate in ours and (obj in ontology.concepts if predicate == "rdf:type" else obj in things)
            wanted |= {(subject, predicate, obj)} if subject in things and is_ours else set()
    facts = [Fact(f"F-{n}", *triple) for n, triple in enumerate(sorted(said))]
    found = {fact.triple for fact in forward_chain(facts, ontology_rules(ontology, facts)).derived}
    # To OWL everything is the same as itself, which no fact needs to say.
    found, wanted = (
        {t for t in some if t[0] != t[2] or t[1] != "owl:sameAs"} for some in (found | said, wanted | said)
    )
    assert found == wanted and len(found) > 3 * len(said)
    kinds = {rule.id.split("-")[1] for rule in ontology_rules(ontology, facts)}
    assert kinds == {*"subClassOf subPropertyOf domain range inverseOf symmetric transitive sameAs".split()}
