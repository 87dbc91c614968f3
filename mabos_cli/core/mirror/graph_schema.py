"""The schema of the knowledge graph as values: which types there are, what they own and play, and whether that makes sense."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from mabos_cli.core import BadValue

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
KEY, MANY, ONE = ("@key",), ("@card(0..)",), ("@card(0..1)",)


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


class Relation(NamedTuple):
    """A kind of relation, and the roles in it."""

    name: str
    roles: tuple[str, ...]


class Schema(NamedTuple):
    """Types by kind."""

    attributes: tuple[Attribute, ...] = ()
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()

    def names(self) -> frozenset[str]:
        """The labels of all types."""
        return frozenset(each.name for kind in self for each in kind)

    def entity(self, name: str) -> Entity:
        """The entity type with a name; KeyError when there is none."""
        found = next((each for each in self.entities if each.name == name), None)
        if found is None:
            raise KeyError(name)
        return found


def merge_schemas(*schemas: Schema) -> Schema:
    """All types of some schemas, each once; BadValue when two of them mean different things by one name."""
    found: dict[str, Attribute | Entity | Relation] = {}
    for schema in schemas:
        for each in (*schema.attributes, *schema.entities, *schema.relations):
            if found.setdefault(each.name, each) != each:
                raise BadValue(f"two schemas define {each.name!r} differently", "give one of them another name")
    kinds = ((each for each in found.values() if isinstance(each, kind)) for kind in (Attribute, Entity, Relation))
    return Schema(*(tuple(kind) for kind in kinds))  # type: ignore[arg-type]


def check_schema(schema: Schema) -> list[str]:
    """What is wrong with a schema, in words: a server would refuse it, or a type in it could never be used."""
    return [
        *_name_troubles(schema),
        *(
            f"attribute {each.name} has the unknown value type {each.value_type}"
            for each in schema.attributes
            if each.value_type not in VALUE_TYPES
        ),
        *_parent_troubles(schema),
        *_capability_troubles(schema),
        *_role_troubles(schema),
    ]


def _name_troubles(schema: Schema) -> Iterator[str]:
    named = [each.name for kind in schema for each in kind]
    yield from (f"{name} is defined {times} times" for name, times in Counter(named).items() if times > 1)
    for name in dict.fromkeys((*named, *(role for each in schema.relations for role in each.roles))):
        if name in RESERVED:
            yield f"{name} is a word of TypeQL"
        elif not LABEL.fullmatch(name):
            yield f"{name!r} is no label: small letters, digits and underscores, a letter first"


def _parent_troubles(schema: Schema) -> Iterator[str]:
    above = {each.name: each.parent for each in schema.entities}
    for name, parent in above.items():
        if parent and parent not in above:
            yield f"entity {name} is below {parent}, which is not defined"
        elif parent and name in _ancestors(above, name):
            yield f"entity {name} is below itself"


def _ancestors(above: Mapping[str, str], name: str) -> dict[str, None]:
    """The types above an entity type, the nearest first, by the parent of each. In a circle the last one is the first one seen again."""
    found: dict[str, None] = {}
    while (name := above.get(name, "")) and name not in found:
        found[name] = None
    return found


def _capability_troubles(schema: Schema) -> Iterator[str]:
    """Attributes and roles that are not defined, or said again where they are inherited."""
    attributes = {each.name for each in schema.attributes}
    roles = {(each.name, role) for each in schema.relations for role in each.roles}
    said = {each.name: {*_capabilities(each)} for each in schema.entities}
    above = {each.name: each.parent for each in schema.entities}
    for each in schema.entities:
        for own in each.owns:
            if own.attribute not in attributes:
                yield f"entity {each.name} owns {own.attribute}, which is not defined"
        for play in each.plays:
            if (play.relation, play.role) not in roles:
                yield f"entity {each.name} plays {play.relation}:{play.role}, which is not defined"
        twice = [told for told, times in Counter(_capabilities(each)).items() if times > 1]
        yield from (f"entity {each.name} {told} twice" for told in twice)
        for parent in _ancestors(above, each.name):
            again = sorted(said.get(parent, set()) & said[each.name]) if parent != each.name else ()
            yield from (f"entity {each.name} {told}, as {parent} above it does" for told in again)


def _capabilities(entity: Entity) -> Iterable[str]:
    yield from (f"owns {each.attribute}" for each in entity.owns)
    yield from (f"plays {each.relation}:{each.role}" for each in entity.plays)


def _role_troubles(schema: Schema) -> Iterator[str]:
    played = {(play.relation, play.role) for each in schema.entities for play in each.plays}
    for each in schema.relations:
        if not each.roles:
            yield f"relation {each.name} has no roles"
        for role, times in Counter(each.roles).items():
            if times > 1:
                yield f"relation {each.name} has the role {role} {times} times"
            if (each.name, role) not in played:
                yield f"nothing plays {each.name}:{role}"
