"""ontology export: ontologies for other programs."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core.knowledge.ontology import select_domain
from mabos_cli.core.memory.item import check_choice
from mabos_cli.errors import NotFound
from mabos_cli.formats.knowledge.jsonld import Document, Prefixes
from mabos_cli.formats.knowledge.jsonld_nodes import read_ontology
from mabos_cli.workspace.knowledge.ontologies import load_documents

FORMATS = ("jsonld", "turtle", "ntriples", "typeql", "dot")


def export_command(
    ctx: typer.Context,
    domain: Annotated[str, typer.Argument(metavar="[DOMAIN]", help="One ontology; else all together.")] = "",
    form: Annotated[str, typer.Option("--format", help="jsonld, turtle, ntriples, typeql or dot.")] = "jsonld",
) -> None:
    """Print ontologies as JSON-LD, Turtle, N-Triples, a TypeQL schema or a DOT graph.

    Example: mabos ontology export business --format typeql
    """
    call: Call = ctx.obj
    check_choice(form, FORMATS, "format")
    documents, faults = load_documents(call.open_workspace())
    if domain and domain in faults:
        raise faults[domain]
    if domain and domain not in documents:
        raise NotFound(f"no ontology {domain!r}", f"there are: {', '.join(documents) or 'none'}")
    text = _render(documents, domain, form)
    lines = text.rstrip("\n").split("\n") if text else []
    data = {"format": form, "domain": domain or None, "text": text}
    call.emit("ontology.export", data, lines, [fault.message for fault in faults.values()])


def _render(documents: dict[str, Document], domain: str, form: str) -> str:
    """The text of one document or of all, in a format."""
    chosen = [documents[domain]] if domain else list(documents.values())
    if form in ("turtle", "ntriples"):
        from mabos_cli.backends.rdf import convert_jsonld

        return convert_jsonld({each.path: each.data for each in chosen}, form, Prefixes(chosen).spaces)
    if form == "jsonld":
        from mabos_cli.formats.knowledge.jsonld import render_together

        return chosen[0].data.decode("utf-8-sig") if len(chosen) == 1 else render_together(chosen)
    ontology = read_ontology(list(documents.values()))
    ontology = select_domain(ontology, domain) if domain else ontology
    if form == "dot":
        from mabos_cli.formats.knowledge.exchange import render_dot

        return render_dot(ontology)
    from mabos_cli.core.mirror.schema import mirror_schema
    from mabos_cli.formats.mirror.typeql import render_typeql

    return render_typeql(ontology, mirror_schema().names())
