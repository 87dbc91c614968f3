"""Nodes put into JSON-LD documents: what is there stays to the byte, in whichever layout."""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from mabos_cli.core.knowledge.ontology import Concept, Property
from mabos_cli.formats.json.text import dump_document, dump_line
from mabos_cli.formats.knowledge.jsonld import MABOS, WELL_KNOWN, Document, Prefixes

_BLANK = re.compile("[ \t\r\n\ufeff]*")  # the last stands at the start of some files
_KEPT = ("owl", "rdfs", "xsd", "mabos")


def add_nodes(document: Document, nodes: Sequence[dict[str, Any]]) -> bytes:
    """The document's bytes with nodes behind its last one, laid out as that is."""
    if not nodes:
        return document.data
    text = document.data.decode("utf-8")
    place = _find_place(text, document.value)
    if place is None:
        return _as_graph(document, nodes)
    lines = [dump_line(node) if not place.is_tall else _tall(node, place.gap) for node in nodes]
    if place.is_empty:
        body = "\n    " + ",\n    ".join(lines) + "\n  "
    else:
        body = "".join(f",{place.gap}{line}" for line in lines)
    return (text[: place.at] + body + text[place.end :]).encode("utf-8")


def render_new(domain: str, label: str, nodes: Sequence[dict[str, Any]]) -> bytes:
    """A new document of a domain, one node per line."""
    spaces = {name: WELL_KNOWN[name] for name in _KEPT} | {domain: f"{MABOS}{domain}/"}
    context = ",\n    ".join(f"{dump_line(key)}: {dump_line(value)}" for key, value in spaces.items())
    head = {"@id": f"{MABOS}{domain}", "@type": "owl:Ontology", "rdfs:label": label}
    lines = ",\n    ".join(dump_line(node) for node in (head, *nodes))
    return f'{{\n  "@context": {{\n    {context}\n  }},\n  "@graph": [\n    {lines}\n  ]\n}}\n'.encode()


def render_node(node: Concept | Property, document: Document, expand: Callable[[str], str]) -> dict[str, Any]:
    """A concept or a property as a node of a document, by the prefixes that hold there."""

    def key(name: str) -> str:
        return document.shorten(expand(name))

    def refs(ids: Sequence[str]) -> Any:
        found = [{"@id": key(own)} for own in ids]
        return found[0] if len(found) == 1 else found

    if isinstance(node, Concept):
        types = [key("owl:Class")]
        links = {"rdfs:subClassOf": refs(node.parents)}
    else:
        types = [key(f"owl:{node.kind.capitalize()}Property")]
        types += [key("owl:FunctionalProperty")] if node.is_functional else []
        links = {"rdfs:domain": refs(node.domains), "rdfs:range": refs(node.ranges)}
    told = {
        "rdfs:label": node.label,
        **links,
        "mabos:sbvr_definition": node.definition,
        "mabos:sbvr_synonyms": list(node.synonyms),
    }
    own = {"@id": key(node.id), "@type": types[0] if len(types) == 1 else types}
    return own | {key(name): value for name, value in told.items() if value}


def render_together(documents: Sequence[Document]) -> str:
    """Several documents as one, one node per line, with the prefixes of all."""
    spaces = Prefixes(documents).spaces
    whole = Document("", "", b"", {"@context": spaces})
    nodes = [translate_node(node, each, whole) for each in documents for node in each.top_nodes()]
    lines = ",\n    ".join(map(dump_line, nodes))
    graph = f"[\n    {lines}\n  ]" if nodes else "[]"
    return f'{{\n  "@context": {dump_line(spaces)},\n  "@graph": {graph}\n}}\n'


def translate_node(raw: Any, source: Document, target: Document) -> Any:
    """A node of one document as a node of another that may have other prefixes."""
    if isinstance(raw, list):
        return [translate_node(each, source, target) for each in raw]
    if not isinstance(raw, dict):
        return raw
    found: dict[str, Any] = {}
    for key, value in raw.items():
        if key == "@id" and isinstance(value, str):
            found[key] = target.shorten(source.expand(value))
        elif key == "@type":
            types = value if isinstance(value, list) else [value]
            short = [target.shorten(source.expand_term(each)) for each in types if isinstance(each, str)]
            found[key] = short if isinstance(value, list) else short[0] if short else value
        else:
            name = key if key.startswith("@") else target.shorten(source.expand_term(key))
            found[name] = translate_node(value, source, target)
    return found


class _Place(NamedTuple):
    """Where nodes go: behind the last one, with the blanks that stand before it, or between two brackets."""

    at: int
    end: int
    gap: str
    is_tall: bool  # whether the last node has a line for each key
    is_empty: bool = False


def _find_place(text: str, value: Any) -> _Place | None:
    """The end of the list of nodes; None when there is no such list."""
    decoder = json.JSONDecoder()

    def skip(at: int) -> int:
        return _BLANK.match(text, at).end()  # type: ignore[union-attr]

    at = skip(0)
    if isinstance(value, dict):
        if not isinstance(value.get("@graph"), list):
            return None
        key = ""
        while key != "@graph":
            at = skip(at + 1)  # behind { or ,
            key, at = decoder.raw_decode(text, at)
            at = skip(skip(at) + 1)  # behind :
            if key != "@graph":
                at = skip(decoder.raw_decode(text, at)[1])
    opening, start, end = at, at, at
    while text[at] != "]":
        before = at + 1  # behind [ or ,
        start = skip(before)
        if text[start] == "]":
            return _Place(before, start, "", False, is_empty=True)
        end = decoder.raw_decode(text, start)[1]
        gap, at = text[before:start], skip(end)
    assert end > opening
    return _Place(end, end, gap, "\n" in text[start:end])


def _tall(node: dict[str, Any], gap: str) -> str:
    """A node with a line for each key, at the depth of the one before it."""
    return dump_document(node).rstrip("\n").replace("\n", gap if "\n" in gap else "\n")


def _as_graph(document: Document, nodes: Sequence[dict[str, Any]]) -> bytes:
    """A document that is one node, or holds one, as a list of nodes with everything kept."""
    value = document.value
    assert isinstance(value, dict)
    if "@graph" in value:
        held = value["@graph"]
        return dump_document(value | {"@graph": [*([held] if held else []), *nodes]}).encode("utf-8")
    context = {"@context": value["@context"]} if "@context" in value else {}
    own = {key: each for key, each in value.items() if key != "@context"}
    return dump_document({**context, "@graph": [*([own] if own else []), *nodes]}).encode("utf-8")
