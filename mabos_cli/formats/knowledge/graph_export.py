"""A graph of facts for other programs: Mermaid, DOT, GraphML, JSON-LD."""

import re
from collections.abc import Sequence
from urllib.parse import quote
from xml.sax.saxutils import escape

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.graph import is_plain
from mabos_cli.core.language.text import one_line
from mabos_cli.formats.json.text import dump_document

FORMATS = ("mermaid", "dot", "graphml", "jsonld")


def render_graph(facts: Sequence[Fact], form: str) -> str:
    """The facts in one of the formats, nodes and edges in a stable order."""
    nodes = sorted({name for fact in facts for name in (fact.subject, fact.object)})
    names = {node: f"n{number}" for number, node in enumerate(nodes, 1)}
    if form == "mermaid":
        return _mermaid(facts, names)
    if form == "dot":
        return _dot(facts, names)
    return _graphml(facts, names) if form == "graphml" else _jsonld(facts)


def _mermaid(facts: Sequence[Fact], names: dict[str, str]) -> str:
    lines = ["graph LR"]
    lines += [f"  {name}[{_mermaid_text(node)}]" for node, name in names.items()]
    lines += [f"  {names[f.subject]} -->|{_mermaid_text(f.predicate)}| {names[f.object]}" for f in facts]
    return "\n".join(lines) + "\n"


def _mermaid_text(text: str) -> str:
    """A label in quotes; what would end it, or be taken for markup, as Mermaid's own entities."""
    codes = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "`": "#96;", "|": "#124;"}
    return '"' + "".join(codes.get(letter, letter) for letter in one_line(text)) + '"'


def dot_text(text: str) -> str:
    """A label of a DOT graph, in quotes.

    >>> print(dot_text('say "hi"'))
    "say \\"hi\\""
    """
    return '"' + one_line(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _dot(facts: Sequence[Fact], names: dict[str, str]) -> str:
    lines = ["digraph facts {", "  rankdir=LR;"]
    lines += [
        f"  {name} [label={dot_text(node)}{', shape=plain' if is_plain(node) else ''}];" for node, name in names.items()
    ]
    lines += [f"  {names[f.subject]} -> {names[f.object]} [label={dot_text(f.predicate)}];" for f in facts]
    return "\n".join([*lines, "}"]) + "\n"


def _graphml(facts: Sequence[Fact], names: dict[str, str]) -> str:
    keys = (("label", "node", "string"), ("predicate", "edge", "string"), ("confidence", "edge", "double"))
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    lines += [f'  <key id="{n}" for="{where}" attr.name="{n}" attr.type="{kind}"/>' for n, where, kind in keys]
    lines.append('  <graph edgedefault="directed">')
    lines += [f'    <node id="{name}"><data key="label">{_xml(node)}</data></node>' for node, name in names.items()]
    for fact in facts:
        ends = f'source="{names[fact.subject]}" target="{names[fact.object]}"'
        data = f'<data key="predicate">{_xml(fact.predicate)}</data><data key="confidence">{fact.confidence!r}</data>'
        lines.append(f'    <edge id="{_xml(fact.id)}" {ends}>{data}</edge>')
    return "\n".join([*lines, "  </graph>", "</graphml>"]) + "\n"


def _xml(text: str) -> str:
    """Text for XML, which has no place for some characters, not even as entities."""
    return escape(re.sub(r"[\x00-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", one_line(text)), {'"': "&quot;"})


def _jsonld(facts: Sequence[Fact]) -> str:
    """JSON-LD with names as IRIs below urn:mabos:, plain values as literals."""
    nodes: dict[str, dict[str, object]] = {}
    for fact in facts:
        node = nodes.setdefault(fact.subject, {"@id": _iri(fact.subject)})
        value = {"@value": fact.object} if is_plain(fact.object) else {"@id": _iri(fact.object)}
        held = node.setdefault(_iri(fact.predicate), [])
        assert isinstance(held, list)
        held.append(value)
    return dump_document({"@graph": list(nodes.values())})


def _iri(name: str) -> str:
    return f"urn:mabos:{quote(name, safe='', errors='replace')}"
