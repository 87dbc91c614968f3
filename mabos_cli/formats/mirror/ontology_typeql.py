"""An ontology as a TypeQL 3 schema: classes are entities, relations between them relations, plain values attributes."""

from collections.abc import Collection

from mabos_cli.core.knowledge.ontology import Ontology
from mabos_cli.core.mirror.ontology_schema import ontology_schema
from mabos_cli.formats.mirror.typeql import render_define


def render_typeql(ontology: Ontology, taken: Collection[str] = ()) -> str:
    """The define query of an ontology. `taken` are labels that the schema has already."""
    return render_define(ontology_schema(ontology, taken)) or "define\n"
