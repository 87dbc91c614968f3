"""Schemas as values: the base schema is whole, and every kind of mistake in one is told."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.core.knowledge.ontology import Concept, Ontology, Property
from mabos_cli.core.mirror.schema import (
    KEY,
    LABEL,
    MANY,
    RESERVED,
    VALUE_TYPES,
    Attribute,
    Entity,
    Owns,
    Plays,
    Relation,
    Schema,
    mirror_schema,
    ontology_schema,
    unplayed_roles,
    whole_schema,
)

ENTITIES = (
    "agent belief desire goal intention plan plan_step persona skill workflow task decision conflict spo_fact knowledge_rule "
    "cbr_case memory_item action_execution reasoning_method reasoning_result individual"
).split()
RELATIONS = {
    "agent_owns": ("agent", "record"),
    "derivation": ("record", "record"),
    "belief_supports_goal": ("belief", "goal"),
    "desire_motivates_goal": ("desire", "goal"),
    "goal_requires_plan": ("goal", "plan"),
    "plan_contains_step": ("plan", "plan_step"),
    "step_depends_on": ("plan_step", "plan_step"),
    "agent_has_skill": ("agent", "skill"),
    "agent_has_persona": ("agent", "persona"),
    "method_produces_result": ("reasoning_method", "reasoning_result"),
    "decision_resolves_goal": ("decision", "goal"),
}


def test_the_base_schema_has_all_types_and_no_trouble():
    schema = mirror_schema()
    assert check_schema(schema) == []
    assert [each.name for each in schema.entities] == ["record", *ENTITIES]
    assert {each.parent for each in schema.entities if each.name not in ("agent", "record")} == {"record"}
    assert len(schema.attributes) > 60
    assert {own.attribute for each in schema.entities for own in each.owns} == {a.name for a in schema.attributes}
    assert all(each.owns[0] == Owns("uid", KEY) for each in schema.entities[1:])


def test_who_plays_what():
    schema = mirror_schema()
    players: dict[tuple[str, str], set[str]] = {}
    for each in schema.entities:
        for play in each.plays:
            players.setdefault((play.relation, play.role), set()).add(each.name)
    roles = {each.name: each.roles for each in schema.relations}
    for name, (first, second) in RELATIONS.items():
        assert players[name, roles[name][0]] == {first}
        assert players[name, roles[name][1]] == {second}


def test_value_types():
    values = {each.name: each.value_type for each in mirror_schema().attributes}
    assert {values[name] for name in ("certainty", "confidence", "priority", "progress")} == {"double"}
    assert {values[name] for name in values if name.endswith("_at")} == {"datetime-tz"}
    assert values["uid"] == "string" and values["succeeded"] == "boolean" and values["step_number"] == "integer"


GOOD = Schema(
    (Attribute("uid", "string"),),
    (
        Entity("person", (Owns("uid", KEY),), (Plays("knows", "who"), Plays("knows", "whom"))),
        Entity("worker", (), (), "person"),
    ),
    (Relation("knows", ("who", "whom")),),
)


def test_a_good_schema_has_no_trouble():
    assert check_schema(GOOD) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"attributes": ()}, ["entity person owns uid, which is not defined"]),
        (
            {"attributes": (Attribute("uid", "text"),)},
            ["attribute uid has the unknown value type text"],
        ),
        (
            {"attributes": (*GOOD.attributes, Attribute("person", "string"))},
            ["person is defined 2 times"],
        ),
        ({"attributes": (*GOOD.attributes, Attribute("role", "string"))}, ["role is a word of TypeQL"]),
        (
            {"attributes": (*GOOD.attributes, Attribute("a b", "string"))},
            ["'a b' is no label: small letters, digits and underscores, a letter first"],
        ),
        (
            {"relations": ()},
            [
                "entity person plays knows:who, which is not defined",
                "entity person plays knows:whom, which is not defined",
            ],
        ),
        ({"relations": (Relation("knows", ("who", "whom", "why")),)}, ["nothing plays knows:why"]),
        (
            {"relations": (*GOOD.relations, Relation("is_left", ()))},
            ["relation is_left has no roles"],
        ),
        (
            {"relations": (Relation("knows", ("who", "whom", "who")),)},
            ["relation knows has the role who 2 times"],
        ),
        (
            {"entities": (GOOD.entities[0], Entity("worker", parent="being"))},
            ["entity worker is below being, which is not defined"],
        ),
        (
            {"entities": (*GOOD.entities, Entity("a", parent="b"), Entity("b", parent="a"))},
            ["entity a is below itself", "entity b is below itself"],
        ),
        (
            {"entities": (GOOD.entities[0], Entity("worker", (Owns("uid"),), (), "person"))},
            ["entity worker owns uid, as person above it does"],
        ),
        (
            {"entities": (*GOOD.entities, Entity("pet", (Owns("uid"), Owns("uid", MANY))))},
            ["entity pet owns uid twice"],
        ),
    ],
)
def test_every_mistake_is_told(change, told):
    assert check_schema(GOOD._replace(**change)) == told


def test_an_ontology_adds_types_beside_those_of_the_base():
    ontology = Ontology(
        [Concept("m:Goal", "Goal"), Concept("m:Sale", "Sale", ("m:Goal",)), Concept("m:End", "End")],
        [
            Property("m:name", "name", "datatype", ("m:Sale",), ("xsd:string",), True),
            Property("m:sells", "sells", "object", ("m:Sale",), ("m:End",)),
        ],
    )
    base = mirror_schema()
    added = ontology_schema(ontology, base.names())
    assert added == Schema(
        (Attribute("m_name", "string"),),
        (
            Entity("m_goal"),
            Entity("sale", (Owns("m_name", MANY),), (Plays("sells", "subject"),), "m_goal"),
            Entity("m_end", (), (Plays("sells", "object"),)),
        ),
        (Relation("sells", ("subject", "object")),),
    )
    whole = whole_schema(ontology)
    assert check_schema(whole) == [] and whole.relations[-1] == Relation("sells", ("subject", "object"), "statement")
    assert [whole.entity(name).parent for name in ("m_goal", "sale", "m_end")] == ["individual", "m_goal", "individual"]


def test_a_class_below_two_owns_and_plays_what_both_do():
    ontology = Ontology(
        [
            Concept("m:Asset"),
            Concept("m:Place"),
            Concept("m:Site", "", ("m:Asset", "m:Place")),
            Concept("m:Hut", "", ("m:Site",)),
        ],
        [
            Property("m:in", "in", "object", ("m:Asset",), ("m:Place",)),
            Property("m:size", "", "datatype", ("m:Place",), ()),
        ],
    )
    site = next(each for each in ontology_schema(ontology).entities if each.name == "site")
    assert site == Entity("site", (Owns("size", MANY),), (Plays("m_in", "object"),), "asset")


IDS = st.sampled_from(["m:A", "m:a", "n:A", "m:Goal", "m:match", "m:2nd", "m:Straße", "m:__", "x", "m:" + "Long" * 30])


@st.composite
def ontologies(draw: st.DrawFn) -> Ontology:
    """Ontologies with circles, several parents, ends that are not there, and names that are words of TypeQL or taken."""
    several = st.lists(IDS, max_size=3).map(tuple)
    classes = draw(st.lists(st.builds(Concept, IDS, IDS, several), min_size=1, max_size=6))
    kinds = st.sampled_from(["object", "datatype"])
    datatypes = st.lists(st.sampled_from(["xsd:string", "xsd:int", "xsd:dateTime"]), max_size=2).map(tuple)
    names = IDS.map(lambda own: f"{own}p")
    made = st.builds(Property, names, IDS, kinds, several, several | datatypes, st.booleans())
    return Ontology(classes, draw(st.lists(made, max_size=6)))


@given(ontologies())
def test_whatever_an_ontology_says_its_schema_has_no_trouble(ontology):
    whole = whole_schema(ontology)
    assert check_schema(whole) == [] and unplayed_roles(whole) == []


def test_properties_without_classes_are_played_by_nothing():
    alone = whole_schema(Ontology((), [Property("m:sells", "sells", "object")]))
    assert unplayed_roles(alone) == ["sells:subject", "sells:object"]
    assert check_schema(alone) == ["nothing plays sells:subject", "nothing plays sells:object"]


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
