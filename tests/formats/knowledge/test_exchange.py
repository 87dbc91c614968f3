"""A graph for other programs: whatever stands in it, it stays one statement a line, and parsers can read it."""

import json
import re
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.samples import any_text
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.formats.knowledge.exchange import render_graph

quick = settings(deadline=None, derandomize=True)
HOSTILE = ['"]; a --> b', "x\ny", "|x|", "<b>&amp;</b>", "\\", '\\"', "]]>", "\x00\x1b", "\ud800", "\ufffe", "`", "#quot;", "end", "%%", "\u202e"]  # fmt: skip
names = st.one_of(any_text.filter(bool), st.sampled_from(HOSTILE))
shares = st.floats(0, 1)
graphs = st.lists(st.tuples(names, names, names, names, shares).map(lambda values: Fact(*values)), max_size=4)


def nodes_of(facts):
    return {name for fact in facts for name in (fact.subject, fact.object)}


@quick
@given(graphs)
def test_mermaid_is_one_statement_a_line(facts):
    first, *lines = render_graph(facts, "mermaid").rstrip("\n").split("\n")
    assert first == "graph LR" and len(lines) == len(nodes_of(facts)) + len(facts)
    for line in lines:
        assert re.fullmatch(r'  n\d+\["[^"<>|`]*"\]|  n\d+ -->\|"[^"<>|`]*"\| n\d+', line), line
        assert line.isprintable() or not any(c in line for c in "\r\x0b\x0c\x1b\x00")


@quick
@given(graphs)
def test_dot_is_one_statement_a_line(facts):
    lines = render_graph(facts, "dot").rstrip("\n").split("\n")
    assert lines[:2] == ["digraph facts {", "  rankdir=LR;"] and lines[-1] == "}"
    text = r'"(?:[^"\\]|\\["\\])*"'
    for line in lines[2:-1]:
        assert re.fullmatch(rf"  n\d+ (?:-> n\d+ )?\[label={text}(?:, shape=plain)?\];", line), line
    assert len(lines) == 3 + len(nodes_of(facts)) + len(facts)


@quick
@given(graphs)
def test_graphml_has_every_node_and_fact(facts):
    space = "{http://graphml.graphdrawing.org/xmlns}"
    graph = ElementTree.fromstring(render_graph(facts, "graphml")).find(f"{space}graph")
    labels = {node.get("id"): node.findtext(f"{space}data") for node in graph.iter(f"{space}node")}
    edges = [
        (labels[edge.get("source")], edge[0].text, labels[edge.get("target")]) for edge in graph.iter(f"{space}edge")
    ]
    assert len(labels) == len(nodes_of(facts)) and len(edges) == len(facts)
    plain = [fact.triple for fact in facts if all(re.fullmatch(r"[\w-]+", part, re.ASCII) for part in fact.triple)]
    assert not {*plain} - {*edges}


@quick
@given(graphs)
def test_jsonld_says_every_fact(facts):
    graph = json.loads(render_graph(facts, "jsonld"))["@graph"]
    count = sum(len(values) for node in graph for key, values in node.items() if key != "@id")
    assert count == len(facts)
    for node in graph:
        assert re.fullmatch(r"urn:mabos:[A-Za-z0-9_.~%-]+", node["@id"])
    said = {unquote(node["@id"].removeprefix("urn:mabos:")) for node in graph}
    assert said >= {fact.subject for fact in facts if fact.subject.isprintable()}


def test_jsonld_reads_as_the_triples_that_it_is():
    oxigraph = pytest.importorskip("pyoxigraph", reason="no pyoxigraph here: JSON-LD is not read by another program")
    facts = [Fact("F-1", "a b", "@type", "Käse"), Fact("F-2", "a b", "price", "$9,000")]
    found = oxigraph.parse(render_graph(facts, "jsonld").encode(), format=oxigraph.RdfFormat.JSON_LD)
    assert sorted((q.subject.value, unquote(q.predicate.value), unquote(q.object.value)) for q in found) == [
        ("urn:mabos:a%20b", "urn:mabos:@type", "urn:mabos:Käse"),
        ("urn:mabos:a%20b", "urn:mabos:price", "$9,000"),
    ]
