"""JSON-LD as people and tools write it: read into the same ontology, and added to without touching what is there."""

import json

import pyoxigraph as rdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.knowledge.ontology import BusinessRule, Concept, Ontology, Property
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.knowledge.jsonld import (
    Document,
    Prefixes,
    add_nodes,
    parse_jsonld,
    render_new,
    render_node,
    render_together,
    translate_node,
)
from mabos_cli.formats.knowledge.jsonld_nodes import read_ontology
from mabos_cli.workspace.knowledge.ontologies import load_shipped, shipped_names

CONTEXT = {
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "mabos": "http://mabos.ai/ontology/",
    "shop": "http://mabos.ai/ontology/shop/",
}
NODES = [
    {"@id": "http://mabos.ai/ontology/shop", "@type": "owl:Ontology", "rdfs:label": "Shop"},
    {"@id": "mabos:Party", "@type": "owl:Class", "rdfs:label": "Party"},
    {
        "@id": "shop:Guest",
        "@type": "owl:Class",
        "rdfs:label": "Guest",
        "rdfs:subClassOf": {"@id": "mabos:Party"},
        "mabos:sbvr_definition": "party that buys without signing in",
        "mabos:sbvr_synonyms": ["visitor", "walk-in"],
    },
    {
        "@id": "shop:hasMail",
        "@type": ["owl:DatatypeProperty", "owl:FunctionalProperty"],
        "rdfs:label": "has mail",
        "rdfs:domain": {"@id": "shop:Guest"},
        "rdfs:range": {"@id": "xsd:string"},
        "mabos:reading": "guest has mail",
        "mabos:inverse_reading": "mail is of guest",
    },
    {
        "@id": "shop:rule-1",
        "@type": "mabos:BusinessRule",
        "rdfs:label": "One",
        "mabos:modality": "definitional",
        "mabos:enforcement_level": "strict",
        "mabos:sbvr_statement": "It is necessary.",
        "mabos:severity": "error",
        "mabos:violated_when": "if ?x hasMail none",
        "mabos:violation_message": "?x has none",
    },
]
WANTED = Ontology(
    [
        Concept("mabos:Party", "Party", source="shop"),
        Concept("shop:Guest", "Guest", ("mabos:Party",), "party that buys without signing in", ("visitor", "walk-in"), "shop"),
    ],
    [
        Property(
            "shop:hasMail", "has mail", "datatype", ("shop:Guest",), ("xsd:string",), True,
            reading="guest has mail", inverse_reading="mail is of guest", source="shop",
        )
    ],
    [BusinessRule("shop:rule-1", "One", "definitional", "strict", "It is necessary.", "error", "if ?x hasMail none", "?x has none", "shop")],
)  # fmt: skip
COMPACT = json.dumps({"@context": CONTEXT, "@graph": NODES}).encode()


def parsed(value: object) -> Document:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return parse_jsonld(data, "ontologies/shop.jsonld", "shop")


def triples(data: bytes) -> set[str]:
    """What an RDF library makes of a document without blank nodes."""
    text = data.removeprefix(b"\xef\xbb\xbf")
    return {str(quad.triple) for quad in rdf.parse(text, format=rdf.RdfFormat.JSON_LD)}


def same(found: Ontology, wanted: Ontology = WANTED) -> None:
    for name in ("concepts", "properties", "rules"):
        mine = {own: _in_order(node) for own, node in getattr(found, name).items()}
        assert mine == {own: _in_order(node) for own, node in getattr(wanted, name).items()}


def _in_order(node):
    return node._replace(synonyms=tuple(sorted(node.synonyms)))


def test_one_node_per_line():
    same(read_ontology([parsed(COMPACT)]))


def test_what_an_rdf_library_writes_is_the_same_ontology():
    quads = list(rdf.parse(COMPACT, format=rdf.RdfFormat.JSON_LD))
    expanded = rdf.serialize(quads, format=rdf.RdfFormat.JSON_LD)
    assert b"http://www.w3.org/2000/01/rdf-schema#subClassOf" in expanded
    same(read_ontology([parsed(expanded)]))


def test_strings_instead_of_references_and_other_names_for_keys():
    loose = [
        {"id": "Party", "type": "Class"},
        {"@id": "Guest", "@type": "owl:Class", "label": {"en": "Guest", "de": "Gast"}, "subClassOf": "Party",
         "comment": "party that buys without signing in", "altLabel": ["visitor", {"@value": "walk-in"}]},
        {"@id": "hasMail", "functional": True, "prefLabel": "has mail", "domain": "guest", "range": "string",
         "reading": "guest has mail", "inverse_reading": "mail is of guest"},
        {**NODES[4], "@id": "rule-1"},
    ]  # fmt: skip
    bare = Ontology(
        [c._replace(id=c.id.split(":")[1], parents=tuple(p.split(":")[1] for p in c.parents)) for c in WANTED.concepts.values()],
        [p._replace(id="hasMail", domains=("Guest",)) for p in WANTED.properties.values()],
        [r._replace(id="rule-1") for r in WANTED.rules.values()],
    )  # fmt: skip
    same(read_ontology([parsed(loose)]), bare)


def test_terms_vocabularies_and_keywords_of_a_context():
    told = {
        "@context": [
            "http://elsewhere.org/context",
            {"o": CONTEXT["owl"], "below": {"@id": "http://www.w3.org/2000/01/rdf-schema#subClassOf", "@type": "@id"},
             "s": CONTEXT["shop"], "@vocab": CONTEXT["mabos"], "kind": "@type"},
        ],
        "@id": "s:Guest", "@type": "o:Class", "below": "http://mabos.ai/ontology/Party", "sbvr_definition": "x",
    }  # fmt: skip
    found = read_ontology([parsed(told), parsed(COMPACT)]).concepts
    assert found["s:Guest"].parents == ("mabos:Party",) and found["s:Guest"].definition == "x"
    assert set(found) == {"s:Guest", "mabos:Party"}  # one thing, though the two files give it two prefixes


def test_a_union_names_its_members_and_a_nameless_class_nothing():
    node = {
        "@id": "shop:x", "@type": "owl:ObjectProperty",
        "rdfs:domain": {"@type": "owl:Class", "owl:unionOf": {"@list": [{"@id": "mabos:Party"}, {"@id": "shop:Guest"}]}},
        "rdfs:range": {"@id": "_:b1"},
    }  # fmt: skip
    restricted = {
        "@id": "shop:Y",
        "@type": "owl:Class",
        "rdfs:subClassOf": [
            {"@type": "owl:Restriction", "owl:onProperty": {"@id": "shop:x"}},
            {"@id": "mabos:Party"},
        ],
    }
    found = read_ontology([parsed({"@context": CONTEXT, "@graph": [node, restricted, *NODES]})])
    assert found.properties["shop:x"].domains == ("mabos:Party", "shop:Guest") and not found.properties["shop:x"].ranges
    assert found.concepts["shop:Y"].parents == ("mabos:Party",) and len(found.concepts) == 3


@pytest.mark.parametrize(
    "junk",
    [
        [],
        {},
        [1, "x", None],
        {"@graph": 5},
        {"@graph": [{"@id": 7, "@type": 8, "rdfs:label": []}]},
        {"@context": 3},
    ],
)
def test_what_makes_no_sense_is_no_node(junk: object):
    assert read_ontology([parsed(junk)]).nodes() == []


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'"x"', ":1: an ontology must be"),
        (b'{\n"a": 1,,\n}', ":2: not valid JSON"),
        (b"", ":1: the file is empty"),
    ],
)
def test_broken_files_are_cited(data: bytes, told: str):
    with pytest.raises(InvalidFile, match=f"ontologies/shop.jsonld{told}"):
        parsed(data)


NEW = Concept("shop:Member", "Member", ("shop:Guest",), "guest who signed in", ("insider",))
LINK = Property("shop:invites", "invites", "object", ("shop:Member",), ("shop:Guest", "mabos:Party"), True, "asks in")
LAYOUTS = {
    "lines": b'{\n  "@context": ' + json.dumps(CONTEXT).encode() + b',\n  "@graph": [\n    '
    + b",\n    ".join(json.dumps(n).encode() for n in NODES) + b'\n  ],\n  "note": "ours: ] }"\n}\n',
    "tall": json.dumps({"@context": CONTEXT, "@graph": NODES, "x": [1]}, indent=4).encode(),
    "windows": json.dumps({"@graph": NODES, "@context": CONTEXT}, indent=2).replace("\n", "\r\n").encode(),
    "one line": COMPACT,
    "no context": json.dumps({"@graph": [{"@id": "http://x.org/A", "http://x.org/p": "q"}]}).encode(),
    "a list": b'[\n{"@id": "http://x.org/A", "http://x.org/p": "q"}\n]\n',
    "marked": b"\xef\xbb\xbf" + COMPACT,
    "empty": json.dumps({"@context": CONTEXT, "@graph": []}).encode(),
    "empty list": b"[ ]",
    "one node": json.dumps({"@context": CONTEXT, **NODES[2]}).encode(),
    "one in a graph": json.dumps({"@context": CONTEXT, "@graph": NODES[2]}).encode(),
}  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nodes_are_added_and_nothing_else_changes(layout: str):
    data = LAYOUTS[layout]
    document = parsed(data)
    expand = Prefixes([parsed(COMPACT)]).expand
    done = add_nodes(document, [render_node(node, document, expand) for node in (NEW, LINK)])
    alone = parsed({"@context": CONTEXT, "@graph": []})
    added = add_nodes(alone, [render_node(node, alone, expand) for node in (NEW, LINK)])
    assert triples(done) == triples(data) | triples(added) and len(triples(added)) == 5 + 7
    found = read_ontology([parsed(done), parsed(COMPACT)])
    assert found.concepts["shop:Member"] == NEW._replace(source="shop")
    assert found.properties["shop:invites"] == LINK._replace(source="shop")
    old, new = json.loads(data.decode("utf-8-sig")), json.loads(done)
    if isinstance(old, dict) and isinstance(old.get("@graph"), list):
        assert list(new) == list(old) and new["@graph"][: len(old["@graph"])] == old["@graph"]
    assert add_nodes(document, []) == data


def test_one_line_per_node_stays_so():
    document = parsed(LAYOUTS["lines"])
    old, new = (
        LAYOUTS["lines"].split(b"\n"),
        add_nodes(document, [{"@id": "shop:X"}, {"@id": "shop:Y"}]).split(b"\n"),
    )
    assert new[:7] == old[:7] and new[7] == old[7] + b","
    assert new[8:10] == [b'    {"@id": "shop:X"},', b'    {"@id": "shop:Y"}'] and new[10:] == old[8:]


def test_a_new_document_says_what_its_prefix_means():
    document = parsed(render_new("shop", "Shop"))
    done = add_nodes(document, [render_node(NEW, document, Prefixes([document]).expand)])
    assert b'\n    {"@id": "shop:Member", "@type": "owl:Class"' in done
    assert any("<http://mabos.ai/ontology/shop/Member>" in each for each in triples(done))


def test_a_node_moves_to_a_document_with_other_prefixes():
    source = parsed(COMPACT)
    target = parsed({"@context": {"s": CONTEXT["shop"]}, "@graph": []})
    moved = add_nodes(target, [translate_node(node, source, target) for node in NODES])
    assert triples(moved) == triples(COMPACT) and b'"s:Guest"' in moved


def test_documents_together_say_what_each_says():
    both = [load_shipped(name) for name in shipped_names()]
    assert triples(render_together(both).encode()) == set().union(*(triples(each.data) for each in both))


def test_hierarchy_as_an_rdf_library_sees_it():
    """Parents, domains and ranges of the shipped documents, against the triples."""
    for name in shipped_names():
        document = load_shipped(name)
        prefixes = Prefixes([document])
        found = read_ontology([document])
        links = {("subClassOf", own, to) for own, c in found.concepts.items() for to in c.parents}
        links |= {("domain", own, to) for own, p in found.properties.items() for to in p.domains}
        links |= {("subPropertyOf", own, to) for own, p in found.properties.items() for to in p.parents}
        links |= {("range", own, to) for own, p in found.properties.items() for to in p.ranges}
        wanted = {
            (
                quad.predicate.value.split("#")[1],
                prefixes.shorten(quad.subject.value),
                prefixes.shorten(quad.object.value),
            )
            for quad in rdf.parse(document.data, format=rdf.RdfFormat.JSON_LD)
            if quad.predicate.value.startswith(CONTEXT["rdfs"]) and not isinstance(quad.object, rdf.Literal)
        }
        assert links == wanted and len(links) > 50


KEYS = "@id @type @graph @context @value @list id type rdfs:label label rdfs:subClassOf rdfs:domain owl:unionOf functional x".split()
WORDS = "shop:A A _:b owl:Class Class owl:ObjectProperty http://x.org/B mabos: : x/ @id".split()
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(ANY.filter(lambda value: isinstance(value, dict | list)), st.sampled_from([None, 1, 2]))
def test_any_json_is_read_and_added_to(value: dict | list, indent: int | None):
    document = parsed(json.dumps(value, indent=indent).encode())
    read_ontology([document])
    render_together([document])
    done = json.loads(add_nodes(document, [{"@id": "shop:New"}]))
    nodes = done if isinstance(done, list) else done["@graph"]
    assert nodes[-1] == {"@id": "shop:New"}
    if isinstance(value, list) or isinstance(value.get("@graph"), list):
        assert nodes[:-1] == (value if isinstance(value, list) else value["@graph"])
        assert isinstance(done, list) or done | {"@graph": []} == value | {"@graph": []}
