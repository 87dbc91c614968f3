"""Parts of an ontology to look at: its class tree, what belongs to one domain, what a wrong name may have meant."""

from difflib import get_close_matches
from typing import NamedTuple

from mabos_cli.core.knowledge.ontology import Concept, Ontology, Property, name_key, names_of
from mabos_cli.core.knowledge.taxonomy import Taxonomy


class Branch(NamedTuple):
    """A concept in the tree, and how far below the top of it."""

    concept: Concept
    depth: int


def draw_tree(ontology: Ontology, source: str = "", below: str = "") -> list[Branch]:
    """The concepts from the top down, each below its first parent: all, those of one domain with what is above them, or those
    below one."""
    taxonomy = Taxonomy(ontology)
    shown = {own for own, concept in ontology.concepts.items() if source in ("", concept.source)}
    if source:
        for own in [*shown]:
            above = taxonomy.first_parent(own)
            while above in ontology.concepts and above not in shown:
                shown.add(above)
                above = taxonomy.first_parent(above)
    children: dict[str, list[str]] = {}
    for own in sorted(shown, key=lambda each: (ontology.concepts[each].label.casefold(), each)):
        above = taxonomy.first_parent(own)
        children.setdefault(above if above in shown else "", []).append(own)
    found: list[Branch] = []
    tops = [below] if below else [*children.get("", ()), *sorted(shown)]
    seen: set[str] = set()
    for top in tops:  # behind the tops, whatever goes in circles and hangs from none
        waiting = [(top, 0)]
        while waiting:
            own, depth = waiting.pop()
            if own not in seen:
                seen.add(own)
                found.append(Branch(ontology.concepts[own], depth))
                waiting += [(child, depth + 1) for child in reversed(children.get(own, ()))]
    return found


def select_domain(ontology: Ontology, source: str) -> Ontology:
    """What one domain defines, with the concepts that it builds on."""
    taxonomy = Taxonomy(ontology)
    properties = [each for each in ontology.properties.values() if each.source == source]
    kept = {own for own, concept in ontology.concepts.items() if concept.source == source}
    kept |= {end for each in properties for end in (*each.domains, *each.ranges)}
    kept = {above for own in kept for above in taxonomy.ancestors(own)}
    concepts = [concept for own, concept in ontology.concepts.items() if own in kept]
    return Ontology(concepts, properties, (r for r in ontology.rules.values() if r.source == source))


def properties_of(ontology: Ontology, own: str) -> list[Property]:
    """The properties that a concept is a domain or a range of, by label."""
    found = (each for each in ontology.properties.values() if own in (*each.domains, *each.ranges))
    return sorted(found, key=lambda each: (own not in each.domains, each.label.casefold(), each.id))


def inherited_properties(ontology: Ontology, own: str) -> dict[str, list[Property]]:
    """The properties that things of a class have because of the classes above it, by the ids of those, the nearest first."""
    found = {}
    for above in list(Taxonomy(ontology).ancestors(own))[1:]:
        given = [each for each in properties_of(ontology, above) if above in each.domains]
        found |= {above: given} if given else {}
    return found


def close_names(ontology: Ontology, name: str) -> list[str]:
    """Names that somebody may have meant by one that nothing has."""
    known: dict[str, str] = {}
    for node in ontology.nodes():
        for each in filter(None, (node.label, *names_of(node), node.id)):
            known.setdefault(name_key(each), each)
    return [known[key] for key in get_close_matches(name_key(name), known, n=3, cutoff=0.7)]
