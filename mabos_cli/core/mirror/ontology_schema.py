"""An ontology as types of a graph: classes are entities, relations between them relations, plain values attributes."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from mabos_cli.core.knowledge.ontology import Ontology, Property, is_whole_number, local_name
from mabos_cli.core.mirror.graph_schema import MANY, ONE, RESERVED, Attribute, Entity, Owns, Plays, Relation, Schema

_ROLES = ("subject", "object")
_VALUES = {
    "boolean": "boolean",
    "decimal": "decimal",
    "float": "double",
    "double": "double",
    "date": "date",
    "dateTime": "datetime",
    "dateTimeStamp": "datetime-tz",
    "duration": "duration",
    "gYear": "integer",
}


def ontology_schema(ontology: Ontology, taken: Collection[str] = ()) -> Schema:
    """The types that an ontology adds to a schema whose labels are taken. A type has one parent there: of several classes above
    a class the first counts."""
    names, above = label_types(ontology, taken), _supertypes(ontology)
    tops = [own for own in ontology.concepts if not above[own]]
    owned: dict[str, list[Owns | Plays]] = {}
    for each in ontology.properties.values():
        for own, capability in _capabilities(each, names[each.id], tops, above):
            owned.setdefault(own, []).append(capability)
    entities = []
    for own in _parents_first(above):
        has = sorted(owned.get(own, ()))
        owns = tuple(each for each in has if isinstance(each, Owns))
        plays = tuple(each for each in has if isinstance(each, Plays))
        entities.append(Entity(names[own], owns, plays, names.get(above[own], "")))
    properties = sorted(ontology.properties.values(), key=lambda each: names[each.id])
    return Schema(
        tuple(Attribute(names[p.id], _value_type(p)) for p in properties if p.kind == "datatype"),
        tuple(entities),
        tuple(Relation(names[p.id], _ROLES) for p in properties if p.kind != "datatype"),
    )


def label_types(ontology: Ontology, taken: Collection[str] = ()) -> dict[str, str]:
    """The label of each class and property, by id: safe, and once in all; classes choose first."""
    used = {*taken, *RESERVED}
    found = {}
    for own in (*sorted(ontology.concepts), *sorted(ontology.properties)):
        prefix, name = own.partition(":")[0], _safe(local_name(own))
        kind = "" if own in ontology.concepts else f"{name}_{ontology.properties[own].kind}"
        choices = [name, _safe(f"{prefix}_{name}"), *([kind] if kind else [])]
        label = next((choice for choice in choices if choice not in used), "")
        number = 2
        while not label or label in used:
            label, number = f"{name}_{number}", number + 1
        used.add(label)
        found[own] = label
    return found


def _safe(name: str) -> str:
    """A label of small letters, digits and underscores.

    >>> _safe("DropshipFulfillment"), _safe("hasMRR"), _safe("2ndTier"), _safe("Straße")
    ('dropship_fulfillment', 'has_mrr', 't_2nd_tier', 'strau00df_e')
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    plain = re.sub(r"[^a-z0-9_]", lambda m: f"u{ord(m[0]):04x}_" if m[0].isalnum() else "_", spaced.lower())
    plain = re.sub(r"_+", "_", plain)[:80].strip("_") or "type"
    return plain if plain[0].isalpha() else f"t_{plain}"


def _value_type(each: Property) -> str:
    datatype = next(iter(each.ranges), "xsd:string")
    return "integer" if is_whole_number(datatype) else _VALUES.get(local_name(datatype), "string")


def _capabilities(
    each: Property, label: str, tops: Iterable[str], above: Mapping[str, str]
) -> Iterator[tuple[str, Owns | Plays]]:
    """What classes own or play for a property; one that names no class is open to all."""
    marks = ONE if each.is_functional else MANY

    def ends(named: tuple[str, ...]) -> Iterable[str]:
        known = [own for own in named if own in above]
        # What a class owns or plays, those below it inherit: to say it again is an error.
        return [own for own in known if not {*_path_up(above, own)[1:]} & {*known}] or tops

    if each.kind == "datatype":
        yield from ((own, Owns(label, marks)) for own in ends(each.domains))
        return
    yield from ((own, Plays(label, "subject", marks)) for own in ends(each.domains))
    yield from ((own, Plays(label, "object")) for own in ends(each.ranges))


def _supertypes(ontology: Ontology) -> dict[str, str]:
    """The class right above each class, or nothing. Where the way up leads back, it is cut above the first by name."""
    parents = {own: _first_parent(ontology, own) for own in ontology.concepts}
    cut, done = set(), set()
    for start in parents:
        way: dict[str, int] = {}
        own = start
        while own and own not in done and own not in way:
            way[own] = len(way)
            own = parents[own]
        if own in way:
            cut.add(min(each for each, place in way.items() if place >= way[own]))
        done |= way.keys()
    return {own: "" if own in cut else above for own, above in parents.items()}


def _path_up(above: Mapping[str, str], own: str) -> list[str]:
    found = [own]
    while above[found[-1]]:
        found.append(above[found[-1]])
    return found


def _first_parent(ontology: Ontology, own: str) -> str:
    return next((each for each in ontology.concepts[own].parents if each in ontology.concepts), "")


def _parents_first(above: Mapping[str, str]) -> list[str]:
    """The classes in an order in which each comes behind the one above it, else as they are."""
    below: dict[str, list[str]] = {}
    for own, parent in above.items():
        below.setdefault(parent, []).append(own)
    found, waiting = [], list(reversed(below.get("", [])))
    while waiting:
        found.append(waiting.pop())
        waiting += reversed(below.get(found[-1], []))
    return found
