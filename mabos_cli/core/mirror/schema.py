"""The schema of the mirror as values: its types, and the attributes and roles that each has."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import NamedTuple

from mabos_cli.core import read_data
from mabos_cli.core.knowledge.ontology import Ontology, Property, Taxonomy, local_name
from mabos_cli.core.language.values import is_whole_number

VALUE_TYPES = frozenset("boolean integer double decimal date datetime datetime-tz duration string".split())
# Words of TypeQL, and names of its value types and annotations: as the label of a type any of them is an error or a trap.
RESERVED = frozenset(
    (
        "with match fetch update define undefine redefine insert put delete end entity relation attribute role asc desc struct "
        "fun return alias sub owns as plays relates iid isa links has is or not try in true false of from first last value label "
        "let like contains select sort limit offset require reduce distinct groupby check kind thing type abstract key unique "
        "card regex range values independent cascade subkey boolean integer double decimal string date datetime duration list "
        "abs ceil floor round length count max min mean median std sum group given"
    ).split()
)
LABEL = re.compile(r"[a-z][a-z0-9_]{0,99}")
KEY, MANY = ("@key",), ("@card(0..)",)


class Attribute(NamedTuple):
    """A kind of value."""

    name: str
    value_type: str


class Owns(NamedTuple):
    """That a type has an attribute: once at most, unless its annotations say otherwise."""

    attribute: str
    marks: tuple[str, ...] = ()


class Plays(NamedTuple):
    """That a type can stand in a role of a relation: any number of times, unless its annotations say otherwise."""

    relation: str
    role: str
    marks: tuple[str, ...] = ()


class Entity(NamedTuple):
    """A kind of thing. What is above it owns and plays, it owns and plays too."""

    name: str
    owns: tuple[Owns, ...] = ()
    plays: tuple[Plays, ...] = ()
    parent: str = ""
    marks: tuple[str, ...] = ()


class Relation(NamedTuple):
    """A kind of relation, and the roles in it. The roles of what is above it are its roles too."""

    name: str
    roles: tuple[str, ...]
    parent: str = ""


class Schema(NamedTuple):
    """Types by kind."""

    attributes: tuple[Attribute, ...] = ()
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()

    def names(self) -> frozenset[str]:
        """Returns the labels of all types."""
        return frozenset(each.name for kind in self for each in kind)

    def entity(self, name: str) -> Entity:
        """Returns the entity type with a name; KeyError when there is none."""
        found = next((each for each in self.entities if each.name == name), None)
        if found is None:
            raise KeyError(name)
        return found


RECORD, INDIVIDUAL, STATEMENT = "record", "individual", "statement"


@cache
def _read_table() -> dict[str, dict[str, list[str]]]:
    """Returns the words of schema.txt, by kind and name."""
    found: dict[str, dict[str, list[str]]] = {}
    for line in read_data("mirror/schema.txt").replace("\n  ", " ").split("\n"):
        head, colon, words = line.partition(": ")
        if colon and not line.startswith("#"):
            kind, name = head.split()
            found.setdefault(kind, {})[name] = words.split()
    return found


def fields_of(kind: str) -> dict[str, str]:
    """Returns the attributes of an entity besides its uid, each with the field of the files that it comes from."""
    return {name: field or name for name, _, field in (each.partition("=") for each in _read_table()["entity"][kind])}


@cache
def mirror_schema() -> Schema:
    """Returns the schema that is there before any ontology adds to it."""
    table = _read_table()
    many = table["several"]["attributes"]
    relations = {name: [end.split("=") for end in ends] for name, ends in table["relation"].items()}
    plays: dict[str, list[Plays]] = {}
    for relation, ends in relations.items():
        for role, player in ends:
            plays.setdefault(player, []).append(Plays(relation, role))

    def entity(name: str) -> Entity:
        owned = fields_of(name)
        owns = (Owns("uid", KEY), *(Owns(attribute, MANY if attribute in many else ()) for attribute in owned))
        return Entity(name, owns, tuple(plays.get(name, ())), "" if name == "agent" else RECORD)

    return Schema(
        tuple(Attribute(name, kind) for kind, names in table["value"].items() for name in names),
        (
            Entity(RECORD, plays=tuple(plays[RECORD]), marks=("@abstract",)),
            *map(entity, table["entity"]),
        ),
        tuple(Relation(name, tuple(role for role, _ in ends)) for name, ends in relations.items()),
    )


def whole_schema(ontology: Ontology) -> Schema:
    """Returns the schema of the mirror with the types that an ontology adds, its classes below `individual` and its relations
    below `statement`. No label occurs twice: those of the mirror are taken."""
    base = mirror_schema()
    more = ontology_schema(ontology, base.names())
    return Schema(
        base.attributes + more.attributes,
        base.entities + tuple(each._replace(parent=each.parent or INDIVIDUAL) for each in more.entities),
        base.relations + tuple(each._replace(parent=STATEMENT) for each in more.relations),
    )


def unplayed_roles(schema: Schema) -> list[str]:
    """Returns the roles that nothing plays: a relation of an ontology without classes could never be used.

    >>> unplayed_roles(Schema(relations=(Relation("sells", ("subject", "object")),)))
    ['sells:subject', 'sells:object']
    """
    played = {(play.relation, play.role) for each in schema.entities for play in each.plays}
    roles = ((each.name, role) for each in schema.relations for role in each.roles)
    return [f"{relation}:{role}" for relation, role in roles if (relation, role) not in played]


_ROLES = ("subject", "object")
_VALUES = {"boolean": "boolean", "decimal": "decimal", "date": "date", "gYear": "integer"}
_VALUES |= {"float": "double", "double": "double", "dateTime": "datetime-tz", "dateTimeStamp": "datetime-tz"}


def ontology_schema(ontology: Ontology, taken: Collection[str] = ()) -> Schema:
    """Returns the types that an ontology adds to a schema whose labels are taken. A type has one parent there: of several
    classes above a class the first counts, and what the others own and play, the class owns and plays itself."""
    names, above = label_types(ontology, taken), supertypes(ontology)
    owned: dict[str, list[Owns | Plays]] = {}
    for each in ontology.properties.values():
        for class_id, capability in _capabilities_for(each, names[each.id], ontology, above):
            owned.setdefault(class_id, []).append(capability)
    entities = []
    place = {class_id: n for n, class_id in enumerate(above)}
    # Each class behind the one above it, else as they are.
    for class_id in sorted(above, key=lambda each: [place[up] for up in reversed(path_up(above, each))]):
        has = sorted(owned.get(class_id, ()))
        owns = tuple(each for each in has if isinstance(each, Owns))
        plays = tuple(each for each in has if isinstance(each, Plays))
        entities.append(Entity(names[class_id], owns, plays, names.get(above[class_id], "")))
    properties = sorted(ontology.properties.values(), key=lambda each: names[each.id])
    return Schema(
        tuple(
            Attribute(
                names[p.id], "integer" if is_whole_number(datatype) else _VALUES.get(local_name(datatype), "string")
            )
            for p, datatype in ((p, next(iter(p.ranges), "xsd:string")) for p in properties)
            if p.kind == "datatype"
        ),
        tuple(entities),
        tuple(Relation(names[p.id], _ROLES) for p in properties if p.kind != "datatype"),
    )


def label_types(ontology: Ontology, taken: Collection[str] = ()) -> dict[str, str]:
    """Returns the label of each class and property, by id: safe, and once in all; classes choose first."""
    used = {*taken, *RESERVED}
    found = {}
    for node_id in (*sorted(ontology.concepts), *sorted(ontology.properties)):
        prefix, name = node_id.partition(":")[0], _safe(local_name(node_id))
        kind = "" if node_id in ontology.concepts else f"{name}_{ontology.properties[node_id].kind}"
        choices = [name, _safe(f"{prefix}_{name}"), *([kind] if kind else [])]
        label = next((choice for choice in choices if choice not in used), "")
        number = 2
        while not label or label in used:
            label, number = f"{name}_{number}", number + 1
        used.add(label)
        found[node_id] = label
    return found


def _safe(name: str) -> str:
    """Returns a label of small letters, digits and underscores.

    >>> _safe("DropshipFulfillment"), _safe("hasMRR"), _safe("2ndTier"), _safe("Straße")
    ('dropship_fulfillment', 'has_mrr', 't_2nd_tier', 'strau00df_e')
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    plain = re.sub(r"[^a-z0-9_]", lambda m: f"u{ord(m[0]):04x}_" if m[0].isalnum() else "_", spaced.lower())
    plain = re.sub(r"_+", "_", plain)[:80].strip("_") or "type"
    return plain if plain[0].isalpha() else f"t_{plain}"


def _capabilities_for(
    each: Property, label: str, ontology: Ontology, above: Mapping[str, str]
) -> Iterator[tuple[str, Owns | Plays]]:
    """Returns what classes own or play for a property; one that names no class is open to all. Files have one value after
    another, and values that contradict each other: nothing is limited to one."""
    taxonomy = Taxonomy(ontology)

    def ends(named: tuple[str, ...]) -> Iterable[str]:
        known = {name for name in named if name in above} or {name for name in above if not above[name]}
        known |= {
            name
            for name, concept in ontology.concepts.items()
            if len(concept.parents) > 1 and any(map(partial(taxonomy.is_a, name), known))
        }
        # What a class owns or plays, those below it inherit: to say it again is an error.
        return [name for name in known if not {*path_up(above, name)[1:]} & known]

    if each.kind == "datatype":
        yield from ((class_id, Owns(label, MANY)) for class_id in ends(each.domains))
        return
    yield from ((class_id, Plays(label, "subject")) for class_id in ends(each.domains))
    yield from ((class_id, Plays(label, "object")) for class_id in ends(each.ranges))


def supertypes(ontology: Ontology) -> dict[str, str]:
    """Returns the parent of each class, or nothing. A cycle is cut above its first class by name."""
    concepts = ontology.concepts
    parents = {class_id: next((up for up in each.parents if up in concepts), "") for class_id, each in concepts.items()}
    for class_id in sorted(parents):
        path = [class_id]
        while parents[path[-1]] and parents[path[-1]] not in path:
            path.append(parents[path[-1]])
        if parents[path[-1]] == class_id:
            parents[class_id] = ""
    return parents


def path_up(above: Mapping[str, str], class_id: str) -> list[str]:
    """Returns a class and those above it, by the class right above each."""
    found = [class_id]
    while above[found[-1]]:
        found.append(above[found[-1]])
    return found
