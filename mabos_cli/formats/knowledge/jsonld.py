"""JSON-LD documents as far as ontologies need them: contexts, nodes, and ids that mean the same in every file."""

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from mabos_cli.core.knowledge.ontology import Concept, Property, local_name
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import dump_line, parse_json, render_array, render_document, render_list, render_value

MABOS = "http://mabos.ai/ontology/"
# What these prefixes mean where a document does not say it.
WELL_KNOWN = MappingProxyType(
    {
        "owl": "http://www.w3.org/2002/07/owl#",
        "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
        "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
        "skos": "http://www.w3.org/2004/02/skos/core#",
        "mabos": MABOS,
    }
)
# What an object may hold and yet describe nothing: a reference, a value, a list, a graph.
_NO_NODE = frozenset(("@context", "@graph", "@id", "@value", "@language", "@type", "@list", "@set"))
_MEND = "repair the file or restore it from git"


class Document:
    """A file with nodes. `context` holds all that its contexts define; `prefixes` those that hold where a node is added."""

    def __init__(self, name: str, path: str, data: bytes, value: dict[str, Any] | list[Any]) -> None:
        self.name = name
        self.path = path
        self.data = data
        self.value = value
        self.context: dict[str, Any] = {}
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, dict):
                self.context |= _definitions(each.get("@context"))
        self.prefixes = _prefixes(self.context) if isinstance(value, dict) else {}
        self._fields: dict[str, str] = {}

    def nodes(self) -> Iterator[dict[str, Any]]:
        """Yields the nodes of the document, in its order, those inside others too."""
        yield from _walk(self.value)

    def top_nodes(self) -> list[Any]:
        """Returns the nodes of the document with all that is inside them."""
        found: list[Any] = []
        for each in self.value if isinstance(self.value, list) else [self.value]:
            if isinstance(each, dict):
                plain = {key: part for key, part in each.items() if key != "@context"}
                graph = each.get("@graph", plain)
                found += graph if isinstance(graph, list) else [graph]
        return found

    def field(self, key: str) -> str:
        """Returns the local name of what a key of a node means."""
        if key not in self._fields:
            self._fields[key] = local_name(self.expand_term(key))
        return self._fields[key]

    def expand(self, name: str) -> str:
        """Returns the IRI that an id stands for; the id itself where nothing says more."""
        prefix, colon, rest = name.partition(":")
        if colon and not rest.startswith("//") and prefix != "_":
            space = _target(self.context.get(prefix)) or WELL_KNOWN.get(prefix, "")
            return space + rest if space else name
        base = self.context.get("@base")
        return base + name if isinstance(base, str) and base and not colon else name

    def expand_term(self, name: str) -> str:
        """Returns the IRI that a key or a type stands for."""
        target = _target(self.context.get(name))
        if target and target != name:
            return self.expand(target)
        vocabulary = self.context.get("@vocab")
        if ":" not in name and not name.startswith("@") and isinstance(vocabulary, str):
            return vocabulary + name
        return self.expand(name) if ":" in name else name

    def shorten(self, iri: str) -> str:
        """Returns an IRI as a node that is added here may write it: whole where the document has no prefix for it."""
        spaces = (pair for pair in self.prefixes.items() if iri.startswith(pair[1]) and iri != pair[1])
        found = ((len(space), f"{prefix}:{iri[len(space) :]}") for prefix, space in spaces)
        return max(found, default=(0, iri))[1]


class Prefixes:
    """The short ids of all documents together: one thing has one id, however each of them writes it. The names of documents,
    and of domains that have none yet, are prefixes too, where no context says otherwise."""

    def __init__(self, documents: Sequence[Document] = (), domains: Iterable[str] = ()) -> None:
        self.spaces = dict(WELL_KNOWN)
        declared = [pair for document in documents for pair in _prefixes(document.context).items()]
        names = (*(document.name for document in documents), *domains)
        for prefix, space in (*declared, *((name, f"{MABOS}{name}/") for name in names)):
            if prefix not in self.spaces and space not in self.spaces.values():
                self.spaces[prefix] = space
        self._short = {space: prefix for prefix, space in self.spaces.items()}

    def shorten(self, iri: str) -> str:
        """Returns the id of an IRI.

        >>> Prefixes().shorten("http://mabos.ai/ontology/Customer")
        'mabos:Customer'
        """
        cut = 1 + max(iri.rfind("#"), iri.rfind("/"), iri.rfind(":"))
        prefix = self._short.get(iri[:cut])
        return f"{prefix}:{iri[cut:]}" if prefix and iri[cut:] else iri

    def expand(self, node_id: str) -> str:
        """Returns the IRI of an id."""
        prefix, colon, rest = node_id.partition(":")
        return self.spaces[prefix] + rest if colon and prefix in self.spaces else node_id


def parse_jsonld(data: bytes, path: str, name: str) -> Document:
    """Returns the document in a file; InvalidFile cites path:line."""
    value = parse_json(data.removeprefix(BOM_UTF8), path)  # which some editors put there
    if not isinstance(value, dict | list):
        raise InvalidFile(f"{path}:1: an ontology must be an object or a list of nodes", _MEND)
    return Document(name, path, data, value)


def _definitions(context: Any) -> dict[str, Any]:
    """Returns what a context defines; contexts elsewhere are not fetched."""
    if isinstance(context, list):
        return {key: value for each in context for key, value in _definitions(each).items()}
    return context if isinstance(context, dict) else {}


def _target(definition: Any) -> str:
    """Returns what a term of a context stands for."""
    found = definition.get("@id") if isinstance(definition, dict) else definition
    return found if isinstance(found, str) else ""


def _prefixes(context: Mapping[str, Any]) -> dict[str, str]:
    """Returns the terms of a context that can begin an id: those that stand for a namespace."""
    found = {key: _target(value) for key, value in context.items() if not key.startswith("@")}
    return {key: space for key, space in found.items() if space.endswith(("/", "#", ":"))}


def _walk(value: Any) -> Iterator[dict[str, Any]]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting += reversed(each)
        elif isinstance(each, dict):
            if each.keys() - _NO_NODE or {"@id", "@type"} <= each.keys():
                yield each
            if len(each) > 1 or "@id" not in each:
                inner = (part for key, part in each.items() if key != "@context")
                waiting += reversed([part for part in inner if isinstance(part, dict | list)])


_KEPT = ("owl", "rdfs", "xsd", "mabos")
# What a node may say several times; whatever else it says stays as somebody wrote it.
_REPEATED = frozenset("@type subClassOf subPropertyOf disjointWith equivalentClass inverseOf sbvr_synonyms".split())


def add_nodes(
    document: Document, nodes: Sequence[dict[str, Any]], more: Mapping[str, dict[str, Any]] = MappingProxyType({})
) -> bytes:
    """Returns the document's bytes with nodes behind its last one, and with statements added to nodes that it has, by IRI; one node
    per line."""
    if not nodes and not more:
        return document.data
    value = document.value
    held = value if isinstance(value, list) else value.get("@graph")
    if held is None:
        held = {key: part for key, part in value.items() if key != "@context"} if isinstance(value, dict) else None
    lines = []
    for node in (*(held if isinstance(held, list) else [held] if held else []), *nodes):
        iri = document.expand(node["@id"]) if isinstance(node, dict) and isinstance(node.get("@id"), str) else ""
        lines.append(dump_line(node | more[iri] if iri in more else node).encode("utf-8"))
    if isinstance(value, list):
        return render_list(lines)
    is_graph = "@graph" in value
    keys = [key for key in value if key == "@context" or is_graph] + ([] if is_graph else ["@graph"])
    parts = [render_array(key, lines) if key == "@graph" else render_value(key, value[key]) for key in keys]
    return render_document(parts)


def render_new(domain: str, label: str) -> bytes:
    """Returns a new document of a domain."""
    context = {name: WELL_KNOWN[name] for name in _KEPT} | {domain: f"{MABOS}{domain}/"}
    head = {"@id": f"{MABOS}{domain}", "@type": "owl:Ontology", "rdfs:label": label}
    return render_document([render_value("@context", context), render_array("@graph", [dump_line(head).encode()])])


def find_missing(node: Mapping[str, Any], known: Sequence[Mapping[str, Any]], document: Document) -> dict[str, Any]:
    """Returns the statements of a node that the known nodes lack, under the keys that these use: missing keys as a whole, and the
    missing values of keys that may be repeated."""
    stated: dict[str, list[Any]] = {}
    for each in known:
        for key, value in each.items():
            stated.setdefault(document.field(key), []).extend(value if isinstance(value, list) else [value])
    found: dict[str, Any] = {}
    for key, value in node.items():
        name = document.field(key)
        if key == "@id" or (name in stated and name not in _REPEATED):
            continue
        mine = next((k for k in known[0] if document.field(k) == name), key)
        held = known[0].get(mine, [])
        held = held if isinstance(held, list) else [held]
        there = {_meaning(each, document) for each in stated.get(name, ())}
        new = [
            each for each in (value if isinstance(value, list) else [value]) if _meaning(each, document) not in there
        ]
        if new:
            found[mine] = [*held, *new] if held or len(new) > 1 else new[0]
    return found


def _meaning(value: Any, document: Document) -> str:
    """Returns a value in comparable form: the IRI of a reference or a name, else its JSON."""
    ref = value.get("@id") if isinstance(value, dict) else value
    return document.expand_term(ref) if isinstance(ref, str) else dump_line(value)


def render_node(node: Concept | Property, document: Document, expand: Callable[[str], str]) -> dict[str, Any]:
    """Returns a concept or a property as a node of a document, by the prefixes that hold there."""

    def key(name: str) -> str:
        return document.shorten(expand(name))

    def refs(ids: Sequence[str]) -> Any:
        found = [{"@id": key(node_id)} for node_id in ids]
        return found[0] if len(found) == 1 else found

    if isinstance(node, Concept):
        types = [key("owl:Class")]
        links = {"rdfs:subClassOf": refs(node.parents)}
    else:
        types = [key(f"owl:{node.kind.capitalize()}Property")]
        types += [key("owl:FunctionalProperty")] if node.is_functional else []
        links = {"rdfs:domain": refs(node.domains), "rdfs:range": refs(node.ranges)}
    values = {
        "rdfs:label": node.label,
        **links,
        "mabos:sbvr_definition": node.definition,
        "mabos:sbvr_synonyms": list(node.synonyms),
    }
    identity = {"@id": key(node.id), "@type": types[0] if len(types) == 1 else types}
    return identity | {key(name): value for name, value in values.items() if value}


def render_together(documents: Sequence[Document]) -> str:
    """Returns several documents as one, one node per line, with the prefixes of all."""
    spaces = Prefixes(documents).spaces
    whole = Document("", "", b"", {"@context": spaces})
    nodes = [translate_node(node, each, whole) for each in documents for node in each.top_nodes()]
    lines = ",\n    ".join(map(dump_line, nodes))
    graph = f"[\n    {lines}\n  ]" if nodes else "[]"
    return f'{{\n  "@context": {dump_line(spaces)},\n  "@graph": {graph}\n}}\n'


def translate_node(raw: Any, source: Document, target: Document) -> Any:
    """Returns a node of one document as a node of another that may have other prefixes."""
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
