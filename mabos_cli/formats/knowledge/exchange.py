"""A graph of facts for other programs: Mermaid, DOT, GraphML, JSON-LD."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.graph import is_plain
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.trust import lowest_trust
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import dump_document, dump_line, parse_json
from mabos_cli.formats.knowledge.facts import fact_from_dict, fact_to_dict

GRAPH_FORMATS = ("mermaid", "dot", "graphml", "jsonld")
FACT_FORMATS = ("ndjson", "csv", "turtle")
ONTOLOGY_FORMATS = ("jsonld", "turtle", "ntriples", "typeql", "shacl")
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def render_graph(facts: Sequence[Fact], form: str) -> str:
    """Returns the facts in one of the formats, nodes and edges in a stable order. JSON-LD has names as IRIs below urn:mabos:, and plain
    values as literals."""
    if form == "jsonld":
        found: dict[str, dict[str, Any]] = {}
        for fact in facts:
            value = {"@value": fact.object} if is_plain(fact.object) else {"@id": _iri(fact.object)}
            node = found.setdefault(fact.subject, {"@id": _iri(fact.subject)})
            node.setdefault(_iri(fact.predicate), []).append(value)
        return dump_document({"@graph": list(found.values())})
    nodes = sorted({name for fact in facts for name in (fact.subject, fact.object)})
    names = {node: f"n{number}" for number, node in enumerate(nodes, 1)}
    if form != "mermaid":
        return (_dot if form == "dot" else _graphml)(facts, names)
    lines = ["graph LR", *(f"  {name}[{_mermaid_text(node)}]" for node, name in names.items())]
    lines += [f"  {names[f.subject]} -->|{_mermaid_text(f.predicate)}| {names[f.object]}" for f in facts]
    return "\n".join(lines) + "\n"


def _mermaid_text(text: str) -> str:
    """Returns a label in quotes; what would end it, or be taken for markup, as Mermaid's own entities."""
    codes = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "`": "#96;", "|": "#124;"}
    return '"' + "".join(codes.get(letter, letter) for letter in one_line(text)) + '"'


def _dot_text(text: str) -> str:
    """Returns a label of a DOT graph, in quotes.

    >>> print(_dot_text('say "hi"'))
    "say \\"hi\\""
    """
    return '"' + one_line(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _dot(facts: Sequence[Fact], names: dict[str, str]) -> str:
    lines = ["digraph facts {", "  rankdir=LR;"]
    lines += [
        f"  {name} [label={_dot_text(node)}{', shape=plain' if is_plain(node) else ''}];"
        for node, name in names.items()
    ]
    lines += [f"  {names[f.subject]} -> {names[f.object]} [label={_dot_text(f.predicate)}];" for f in facts]
    return "\n".join([*lines, "}"]) + "\n"


def _graphml(facts: Sequence[Fact], names: dict[str, str]) -> str:
    """Returns GraphML; characters that XML cannot hold are replaced."""
    from xml.etree.ElementTree import Element, SubElement, tostring

    root = Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for name, end, kind in (
        ("label", "node", "string"),
        ("predicate", "edge", "string"),
        ("confidence", "edge", "double"),
    ):
        SubElement(root, "key", {"id": name, "for": end, "attr.name": name, "attr.type": kind})
    graph = SubElement(root, "graph", edgedefault="directed")
    for node, name in names.items():
        SubElement(SubElement(graph, "node", id=name), "data", key="label").text = _NO_XML.sub("\ufffd", one_line(node))
    for fact in facts:
        edge = SubElement(graph, "edge", source=names[fact.subject], target=names[fact.object])
        SubElement(edge, "data", key="predicate").text = _NO_XML.sub("\ufffd", one_line(fact.predicate))
        SubElement(edge, "data", key="confidence").text = repr(fact.confidence)
    return tostring(root, "unicode", xml_declaration=False) + "\n"


def _iri(name: str) -> str:
    return f"urn:mabos:{quote(name, safe='', errors='replace')}"


COLUMNS = ("subject", "predicate", "object", "confidence", "source", "trust", "valid_from", "valid_until")
_NOTHING = "nothing was imported"


class Silent(NamedTuple):
    """Holds what holds of facts that do not say it themselves; and the trust that the others get at most, if any is given."""

    source: str = "manual"
    trust: str = ""


def parse_ndjson(text: str, path: str, silent: Silent = Silent()) -> Iterator[tuple[str, Fact]]:
    """Yields the facts of JSON lines, each with its place; InvalidFile cites the first line that is off."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where = f"{path}:{number}"
            raw = parse_json(line, path, line=number, hint=f"{_NOTHING}; each line must be one JSON object")
            yield where, _fact(raw, where, silent)


def parse_csv(text: str, path: str, silent: Silent = Silent()) -> Iterator[tuple[str, Fact]]:
    """Yields the facts of a table with a header; columns that are not there have their defaults, others are left alone."""
    reader = csv.DictReader(io.StringIO(text, newline=""))
    names = [str(name).strip().lower() for name in reader.fieldnames or ()]
    missing = [name for name in COLUMNS[:3] if name not in names]
    if missing:
        raise InvalidFile(f"{path}:1: no column {missing[0]}", f"{_NOTHING}; the header names {', '.join(COLUMNS[:3])}")
    reader.fieldnames = names
    try:
        for row in reader:
            where = f"{path}:{reader.line_num}"
            raw: dict[str, Any] = {n: row[n].strip() for n in COLUMNS if isinstance(row.get(n), str) and row[n].strip()}
            try:
                raw |= {"confidence": float(raw["confidence"])} if "confidence" in raw else {}
            except ValueError:
                raise InvalidFile(f"{where}: confidence {raw['confidence'][:20]!r} is no number", _NOTHING) from None
            if raw:
                yield where, _fact(raw, where, silent)
    except csv.Error as error:
        raise InvalidFile(f"{path}:{reader.line_num + 1}: not valid CSV: {error}", _NOTHING) from None


def _fact(raw: Any, where: str, silent: Silent) -> Fact:
    is_limited = silent.trust and isinstance(raw, dict) and raw.get("trust") not in (None, "")
    if isinstance(raw, dict):
        kept = {name: value for name, value in raw.items() if value not in (None, "")}
        raw = {"id": "new", "source": silent.source, "trust": silent.trust or "agent"} | kept
    try:
        fact = fact_from_dict(raw, where)
    except InvalidFile as error:
        raise InvalidFile(error.message.replace(": fact new", ""), _NOTHING) from None
    return fact._replace(trust=lowest_trust((fact.trust, silent.trust))) if is_limited else fact


def render_ndjson(facts: Iterable[Fact]) -> str:
    """Returns a fact per line."""
    return "".join(f"{dump_line(fact_to_dict(fact))}\n" for fact in facts)


def render_csv(facts: Iterable[Fact]) -> str:
    """Returns a table with a header; the confidence with every digit of it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for fact in facts:
        row = fact._asdict() | {"confidence": repr(fact.confidence).removesuffix(".0")}
        writer.writerow([row[name] for name in COLUMNS])
    return out.getvalue()
