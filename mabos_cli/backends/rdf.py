"""Turtle through pyoxigraph, which may be absent. Names become IRIs below urn:mabos:, plain values literals."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any
from urllib.parse import quote, unquote

from mabos_cli.core.knowledge.fact import Triple
from mabos_cli.core.knowledge.graph import is_plain
from mabos_cli.errors import InvalidFile, Unavailable

_BASE = "urn:mabos:"


def _library() -> Any:
    try:
        import pyoxigraph
    except ImportError:
        raise Unavailable("Turtle needs pyoxigraph", "pip install 'mabos-cli[rdf]'; or --format ndjson") from None
    return pyoxigraph


def render_turtle(triples: Iterable[Triple]) -> str:
    """Triples as Turtle. Confidence, source and time have no place in it."""
    rdf = _library()
    quads = [
        rdf.Triple(_iri(rdf, s), _iri(rdf, p), rdf.Literal(o) if is_plain(o) else _iri(rdf, o)) for s, p, o in triples
    ]
    data = rdf.serialize(quads, format=rdf.RdfFormat.TURTLE)
    return data.decode("utf-8")


def _iri(rdf: Any, name: str) -> Any:
    if name.startswith(("http://", "https://", "urn:")) and not name.startswith(_BASE):
        with suppress(ValueError):
            return rdf.NamedNode(name)  # an IRI; if it is a bad one, a name like others
    return rdf.NamedNode(_BASE + quote(name, safe="", errors="replace"))


def parse_turtle(text: str, path: str) -> list[Triple]:
    """The triples of a Turtle file; other IRIs than ours stay as they are, blank nodes are named by their label."""
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
