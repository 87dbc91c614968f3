"""An ontology as a DOT graph: classes below their parents, relations between them."""

from mabos_cli.core.knowledge.ontology import Ontology
from mabos_cli.formats.knowledge.graph_export import dot_text


def render_dot(ontology: Ontology) -> str:
    """A digraph; an arrow with an empty head leads from a class to the one above it."""
    names = {own: f"n{number}" for number, own in enumerate(ontology.concepts, 1)}
    lines = ["digraph ontology {", "  rankdir=BT;", "  node [shape=box];"]
    lines += [f"  {names[own]} [label={dot_text(concept.label)}];" for own, concept in ontology.concepts.items()]
    for own, concept in ontology.concepts.items():
        lines += [f"  {names[own]} -> {names[p]} [arrowhead=empty];" for p in concept.parents if p in names]
    for each in ontology.properties.values():
        ends = [(a, b) for a in each.domains for b in each.ranges if a in names and b in names]
        lines += [
            f"  {names[a]} -> {names[b]} [style=dashed, constraint=false, label={dot_text(each.label)}];"
            for a, b in ends
        ]
    return "\n".join([*lines, "}"]) + "\n"
