"""Turtle through pyoxigraph, which may be absent. Names become IRIs below urn:mabos:, plain values literals."""

from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote, unquote

from mabos_cli.core.knowledge.fact import Triple
from mabos_cli.core.knowledge.graph import is_plain
from mabos_cli.errors import InvalidFile, Unavailable

_BASE = "urn:mabos:"


def _library(form: str = "Turtle", instead: str = "ndjson") -> Any:
    try:
        import pyoxigraph
    except ImportError:
        hint = "pip install 'mabos-cli[rdf]'" + (f"; or --format {instead}" if instead else "")
        raise Unavailable(f"{form} needs pyoxigraph", hint) from None
    return pyoxigraph


def render_turtle(triples: Iterable[Triple]) -> str:
    """Returns triples as Turtle. Confidence, source and time have no place in it."""
    rdf = _library()
    quads = [
        rdf.Triple(_iri(rdf, s), _iri(rdf, p), rdf.Literal(o) if is_plain(o) else _iri(rdf, o)) for s, p, o in triples
    ]
    return str(rdf.serialize(quads, format=rdf.RdfFormat.TURTLE), "utf-8")


def _iri(rdf: Any, name: str) -> Any:
    if name.startswith(("http://", "https://", "urn:")) and not name.startswith(_BASE):
        with suppress(ValueError):
            return rdf.NamedNode(name)  # an IRI; if it is a bad one, a name like others
    return rdf.NamedNode(_BASE + quote(name, safe="", errors="replace"))


def parse_turtle(text: str, path: str) -> list[Triple]:
    """Returns the triples of a Turtle file; other IRIs than ours stay as they are, blank nodes are named by their label."""
    rdf = _library()
    try:
        found = [quad.triple for quad in rdf.parse(text.encode("utf-8"), format=rdf.RdfFormat.TURTLE)]
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise InvalidFile(f"{path}:{line}: not valid Turtle: {error}", "nothing was imported") from None
    return [(_name(t.subject), _name(t.predicate), _name(t.object)) for t in found]


def _name(term: Any) -> str:
    value = str(term.value)
    return unquote(value.removeprefix(_BASE)) if value.startswith(_BASE) else value


def parse_shapes(text: str, path: str, form: str) -> list[tuple[tuple[str, str], str, tuple[str, str]]]:
    """Returns the triples of a file of shapes, with the kind of each term."""
    rdf = _library("SHACL", "")
    kinds = {rdf.NamedNode: "iri", rdf.BlankNode: "blank", rdf.Literal: "literal"}
    try:
        format_ = rdf.RdfFormat.TURTLE if form == "turtle" else rdf.RdfFormat.JSON_LD
        found = [quad.triple for quad in rdf.parse(text.encode("utf-8"), format=format_)]
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise InvalidFile(f"{path}:{line}: not valid {form}: {error}", "nothing was imported") from None
    ends = [((kinds[type(t.subject)], t.subject.value), (kinds[type(t.object)], t.object.value)) for t in found]
    return [(start, str(t.predicate.value), end) for t, (start, end) in zip(found, ends, strict=True)]


def convert_jsonld(documents: Mapping[str, bytes], form: str, prefixes: Mapping[str, str]) -> str:
    """Returns the triples of documents, by the paths that messages cite: sorted and each once. Two runs give the
    same text, but for the names of nameless nodes."""
    rdf = _library(form, "jsonld")
    found: set[Any] = set()
    for path, data in documents.items():
        try:
            text = data.removeprefix(BOM_UTF8)
            found |= {quad.triple for quad in rdf.parse(text, format=rdf.RdfFormat.JSON_LD)}
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 1
            is_remote = "LoadDocumentCallback" in str(error)
            reason = "its @context is elsewhere, and is not fetched" if is_remote else error
            raise InvalidFile(
                f"{path}:{line}: not readable as RDF: {reason}", "--format jsonld prints it as it is"
            ) from None
    triples = sorted(found, key=str)
    if form == "ntriples":
        return str(rdf.serialize(triples, format=rdf.RdfFormat.N_TRIPLES), "utf-8")
    whole = " ".join(map(str, triples))
    used = {name: space for name, space in prefixes.items() if f"<{space}" in whole}
    return str(rdf.serialize(triples, format=rdf.RdfFormat.TURTLE, prefixes=used), "utf-8")
