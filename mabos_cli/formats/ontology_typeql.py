"""An ontology as a TypeQL 3 schema: classes are entities, relations between them relations, plain values attributes."""

import re
from collections.abc import Collection, Iterable

from mabos_cli.core.ontology import Ontology, Property, local_name

# Words of the language and names of its value types: none of them can be the label of a type without trouble.
RESERVED = frozenset(
    (
        "with match fetch update define undefine redefine insert put delete end entity relation attribute role asc desc struct "
        "fun return alias sub owns as plays relates iid isa links has is or not try in true false of from first last value label "
        "let like contains select sort limit offset require reduce distinct groupby check kind thing type abstract key unique "
        "card regex range values independent cascade subkey boolean integer double decimal string date datetime duration list"
    ).split()
)
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
_WHOLE = ("integer", "long", "int", "short", "byte", "Integer", "Long", "Int")


def render_typeql(ontology: Ontology, taken: Collection[str] = ()) -> str:
    """A define query: entities with what they own and play, relations with their roles, attributes with their value types.

    A type has one parent in TypeDB: of several the first counts. `taken` are labels that the schema has already.
    """
    names = label_types(ontology, taken)
    tops = [own for own in ontology.concepts if not _supertype(ontology, own)]
    owned: dict[str, list[str]] = {}
    for each in ontology.properties.values():
        for own, capability in _capabilities(each, names[each.id], tops, ontology):
            owned.setdefault(own, []).append(capability)
    lines = ["define", *(f"{line};" for line in _types(ontology, names))]
    for own in _parents_first(ontology):
        above = _supertype(ontology, own)
        parts = [f"entity {names[own]}", *([f"sub {names[above]}"] if above else [])]
        lines.append(",\n  ".join([", ".join(parts), *sorted(owned.get(own, ()))]) + ";")
    return "\n".join(lines) + "\n"


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
    plain = re.sub(r"_+", "_", plain).strip("_") or "type"
    return plain if plain[0].isalpha() else f"t_{plain}"


def _types(ontology: Ontology, names: dict[str, str]) -> list[str]:
    """Attributes and relations, by label."""
    found = []
    for each in ontology.properties.values():
        if each.kind == "datatype":
            found.append(f"attribute {names[each.id]}, value {_value_type(each)}")
        else:
            found.append(f"relation {names[each.id]}, relates subject, relates object")
    return sorted(found)


def _value_type(each: Property) -> str:
    name = local_name(next(iter(each.ranges), "string"))
    return "integer" if name.endswith(_WHOLE) else _VALUES.get(name, "string")


def _capabilities(
    each: Property, label: str, tops: Iterable[str], ontology: Ontology
) -> Iterable[tuple[str, str]]:
    """What classes own or play for a property; one that names no class is open to all."""
    card = "@card(0..1)" if each.is_functional else "@card(0..)"

    def ends(named: tuple[str, ...]) -> Iterable[str]:
        known = [own for own in named if own in ontology.concepts]
        # What a class owns or plays, those below it inherit: to say it again is an error.
        return [own for own in known if not {*_path_up(ontology, own)[1:]} & {*known}] or tops

    if each.kind == "datatype":
        yield from ((own, f"owns {label} {card}") for own in ends(each.domains))
        return
    yield from ((own, f"plays {label}:subject {card}") for own in ends(each.domains))
    yield from ((own, f"plays {label}:object") for own in ends(each.ranges))


def _supertype(ontology: Ontology, own: str) -> str:
    """The class right above a class, if it is defined and the way up does not lead back."""
    found = [own]
    while above := _first_parent(ontology, found[-1]):
        if above in found:
            return "" if own == min(found[found.index(above) :]) else found[1]
        found.append(above)
    return found[1] if len(found) > 1 else ""


def _path_up(ontology: Ontology, own: str) -> list[str]:
    found = [own]
    while above := _supertype(ontology, found[-1]):
        found.append(above)
    return found


def _first_parent(ontology: Ontology, own: str) -> str:
    return next((each for each in ontology.concepts[own].parents if each in ontology.concepts), "")


def _parents_first(ontology: Ontology) -> list[str]:
    """The classes in an order in which each comes behind the one above it, else as they are."""
    below: dict[str, list[str]] = {}
    for own in ontology.concepts:
        below.setdefault(_supertype(ontology, own), []).append(own)
    found, waiting = [], list(reversed(below.get("", [])))
    while waiting:
        found.append(waiting.pop())
        waiting += reversed(below.get(found[-1], []))
    return found
