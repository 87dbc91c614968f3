"""JSON-LD documents as Turtle or N-Triples, through pyoxigraph, which may be absent."""

from codecs import BOM_UTF8
from collections.abc import Mapping

from mabos_cli.errors import InvalidFile, Unavailable


def convert_jsonld(documents: Mapping[str, bytes], form: str, prefixes: Mapping[str, str]) -> str:
    """The triples of documents, by the paths that messages cite: sorted and each once. Two runs give the
    same text, but for the names of nameless nodes."""
    try:
        import pyoxigraph as rdf
    except ImportError:
        hint = "pip install 'mabos-cli[rdf]'; or --format jsonld"
        raise Unavailable(f"{form} needs pyoxigraph", hint) from None
    found = set()
    for path, data in documents.items():
        try:
            text = data.removeprefix(BOM_UTF8)
            found |= {quad.triple for quad in rdf.parse(text, format=rdf.RdfFormat.JSON_LD)}
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 1
            is_remote = "LoadDocumentCallback" in str(error)
            told = "its @context is elsewhere, and is not fetched" if is_remote else error
            raise InvalidFile(
                f"{path}:{line}: not readable as RDF: {told}", "--format jsonld prints it as it is"
            ) from None
    triples = sorted(found, key=str)
    if form == "ntriples":
        return rdf.serialize(triples, format=rdf.RdfFormat.N_TRIPLES).decode("utf-8")
    whole = " ".join(map(str, triples))
    used = {name: space for name, space in prefixes.items() if f"<{space}" in whole}
    return rdf.serialize(triples, format=rdf.RdfFormat.TURTLE, prefixes=used).decode("utf-8")
