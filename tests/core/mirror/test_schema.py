"""Schemas as values: the base schema is whole, and every kind of mistake in one is told."""

import pytest

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.ontology import Concept, Ontology, Property
from mabos_cli.core.mirror.schema import (
    KEY,
    MANY,
    Attribute,
    Entity,
    Owns,
    Plays,
    Relation,
    Schema,
    check_schema,
    merge_schemas,
    mirror_schema,
    ontology_schema,
)

ENTITIES = (
    "agent belief desire goal intention plan plan_step persona skill workflow task decision spo_fact knowledge_rule cbr_case "
    "memory_item action_execution reasoning_method reasoning_result"
).split()
RELATIONS = {
    "agent_owns": ("agent", None),
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
    assert [each.name for each in schema.entities] == ENTITIES
    assert len(schema.attributes) > 60
    assert {own.attribute for each in schema.entities for own in each.owns} == {a.name for a in schema.attributes}
    assert all(each.owns[0] == Owns("uid", KEY) for each in schema.entities)


def test_who_plays_what():
    schema = mirror_schema()
    players: dict[tuple[str, str], set[str]] = {}
    for each in schema.entities:
        for play in each.plays:
            players.setdefault((play.relation, play.role), set()).add(each.name)
    roles = {each.name: each.roles for each in schema.relations}
    for name, (first, second) in RELATIONS.items():
        assert players[name, roles[name][0]] == {first}
        assert players[name, roles[name][1]] == ({second} if second else {*ENTITIES} - {"agent"})


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


def test_merging_adds_and_refuses_to_guess():
    more = Schema((Attribute("uid", "string"), Attribute("size", "double")), (Entity("shoe", (Owns("size"),)),))
    both = merge_schemas(GOOD, more)
    assert both.attributes == (*GOOD.attributes, Attribute("size", "double"))
    assert [each.name for each in both.entities] == ["person", "worker", "shoe"] and check_schema(both) == []
    with pytest.raises(BadValue, match="'uid' differently"):
        merge_schemas(GOOD, Schema((Attribute("uid", "integer"),)))
    with pytest.raises(BadValue, match="'person' differently"):
        merge_schemas(GOOD, Schema((Attribute("person", "string"),)))


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
            Entity("sale", (Owns("m_name", ("@card(0..1)",)),), (Plays("sells", "subject", MANY),), "m_goal"),
            Entity("m_end", (), (Plays("sells", "object"),)),
        ),
        (Relation("sells", ("subject", "object")),),
    )
    assert check_schema(merge_schemas(base, added)) == []
