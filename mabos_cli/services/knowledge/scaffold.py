"""Ontologies that come with the program, copied into a workspace; what is there stays."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from mabos_cli.formats.knowledge.jsonld import Document, add_nodes, translate_node
from mabos_cli.formats.knowledge.jsonld_nodes import read_ontology
from mabos_cli.services.knowledge.ontology_changes import Editor, change_ontologies, check_domain
from mabos_cli.workspace.files import replace_file
from mabos_cli.workspace.knowledge.ontologies import Library, load_shipped

_GROUND = "business"  # what the other ontologies build on


class Scaffolded(NamedTuple):
    """What became of one file: how many nodes were added, and whether it is new."""

    file: str
    added: int
    is_new: bool


def scaffold(editor: Editor, template: str, name: str = "") -> tuple[list[Scaffolded], list[str]]:
    """Copies an ontology that comes with the program into the workspace, and the one that it builds on; to files that are there
    only what they lack is added."""
    shipped = load_shipped(template)
    domain = check_domain(name or template)

    def plan(library: Library) -> list[Scaffolded]:
        done = []
        if template != _GROUND and _GROUND not in library.documents and _lacks_ground(library, shipped):
            done.append(_scaffold_one(library, load_shipped(_GROUND), _GROUND))
        return [*done, _scaffold_one(library, shipped, domain)]

    return change_ontologies(editor, "scaffold", plan)


def _lacks_ground(library: Library, shipped: Document) -> bool:
    """Whether a document names classes of the one that others build on, and the workspace does not define them."""
    own = read_ontology([shipped])
    named = {parent for concept in own.concepts.values() for parent in concept.parents}
    named |= {end for each in own.properties.values() for end in (*each.domains, *each.ranges)}
    missing = named - {*own.concepts} - {*library.ontology.concepts}
    return bool(missing & {*read_ontology([load_shipped(_GROUND)]).concepts})


def _scaffold_one(library: Library, shipped: Document, domain: str) -> Scaffolded:
    library.check_readable(domain)
    path, held = library.workspace.ontology(domain), library.documents.get(domain)
    shown = f"ontologies/{path.name}"
    nodes = list(_named_nodes(shipped))
    if held is None:
        replace_file(path, shipped.data, root=library.workspace.root, expect=None)
        return Scaffolded(shown, len(nodes), True)
    known = {iri for iri, _ in _named_nodes(held)}
    missing = [translate_node(node, shipped, held) for iri, node in nodes if iri not in known]
    if missing:
        data = add_nodes(held, missing)
        replace_file(path, data, root=library.workspace.root, expect=held.data, shared=True)
    return Scaffolded(shown, len(missing), False)


def _named_nodes(document: Document) -> Iterator[tuple[str, dict[str, Any]]]:
    """The nodes of a document by IRI, without the one that stands for the document."""
    for node in document.nodes():
        own, types = node.get("@id"), node.get("@type")
        if isinstance(own, str) and "owl:Ontology" not in (types if isinstance(types, list) else [types]):
            yield document.expand(own), node
