"""Records for the graph: keys, attributes, links from both sides, and hashes that move only with what is said."""

from datetime import UTC, datetime

import pytest
from typeql.samples import CEO, CFO, known, world

from mabos_cli.core.memory.item import MemoryItem, touch
from mabos_cli.core.mind.mind import Attitude, Belief, Step, state_of
from mabos_cli.core.mirror.mind_records import AgentMind, linked_records, mind_records, shared_ids
from mabos_cli.core.mirror.records import Links, Record, make_record, memory_records, record_hash
from mabos_cli.core.mirror.schema import mirror_schema


def one_memory(agent: str, item: MemoryItem, store: str = "") -> Record:
    return next(memory_records(agent, item, store))


def by_uid(records: list[Record]) -> dict[str, Record]:
    found = {record.uid: record for record in records}
    assert len(found) == len(records)
    return found


def test_all_that_records_say_is_in_the_schema():
    schema = mirror_schema()
    base = {(p.relation, p.role) for p in schema.entity("record").plays}
    plays = {each.name: {(p.relation, p.role) for p in each.plays} | base for each in schema.entities}
    kinds = {each.name: each.value_type for each in schema.attributes}
    types = {"string": str, "double": float, "integer": int, "boolean": bool, "datetime-tz": datetime}
    for record in world():
        owns = {own.attribute: own.marks for own in schema.entity(record.type).owns}
        said = [name for name, _ in record.attributes]
        assert said == [name for name in owns if name in said] and "uid" not in said
        for name, value in record.attributes:
            several = value if isinstance(value, tuple) else (value,)
            assert isinstance(value, tuple) <= (owns[name] == ("@card(0..)",))
            assert all(type(each) is types[kinds[name]] for each in several)
        for links in record.links:
            assert (links.relation, links.role) in plays[record.type]
            assert (links.relation, links.other) in plays[links.type]


def test_a_memory_item():
    item = MemoryItem("M-1-000a", "x", "fact", 1, tags=("b", "a"), created_at="2026-02-24T10:00:00.000Z")
    record = one_memory("cfo", item, "working")
    told = {name: value for name, value in record.attributes if value is not None}
    assert (record.uid, record.type) == ("cfo/M-1-000a", "memory_item")
    assert told == {
        "content": "x",
        "item_type": "fact",
        "importance": 1.0,
        "source": "manual",
        "trust": "agent",
        "tag": ("b", "a"),
        "store_name": "working",
        "created_at": datetime(2026, 2, 24, 10, tzinfo=UTC),
    }
    origins = Links("derivation", "derived", "origin", "memory_item", ())
    assert record.links == (Links("agent_owns", "owned", "owner", "agent", ("cfo",)), origins)


def test_a_decision_is_about_goals_and_comes_from_its_item():
    item = MemoryItem(
        "M-1-000a", "Hire two", "decision", related_to=("G-1", "M-0"), author="ann", observed_at="2026-02-20"
    )
    memory, decision = memory_records("cfo", item, goals={"G-1", "G-2"})
    assert (memory.type, decision.type, decision.uid) == ("memory_item", "decision", memory.uid)
    assert (decision.get("decided_by"), decision.get("decided_at")) == ("ann", datetime(2026, 2, 20, tzinfo=UTC))
    assert decision.linked("derivation") == (memory.uid,) and decision.linked("decision_resolves_goal") == ("cfo/G-1",)


def test_a_hash_moves_with_what_is_said_and_with_nothing_else():
    item = MemoryItem("M-1-000a", "x")
    record = one_memory("cfo", item)
    assert record_hash(record) == record_hash(one_memory("cfo", touch(item, "2026-02-24T10:00:00Z")))
    assert record_hash(record) == "01ac4c3f03b9500c3ab7f738b738a274"  # the same on every machine and day
    others = [
        one_memory("ceo", item),
        one_memory("cfo", item._replace(content="y")),
        one_memory("cfo", item._replace(tags=("t",))),
        one_memory("cfo", item, "working"),
        record._replace(links=()),
        record._replace(type="belief"),
    ]
    assert len({record_hash(each) for each in (record, *others)}) == 7


def test_links_count_from_both_sides_and_only_to_what_is_there():
    found = by_uid(mind_records(CFO))
    assert found["cfo/B-001"].linked("belief_supports_goal") == ("cfo/G-9",)
    assert found["cfo/D-1"].linked("desire_motivates_goal") == ("cfo/G-9",)
    assert found["cfo/G-9"].linked("goal_requires_plan") == ("cfo/PL-1", "cfo/PL-2")
    assert found["cfo/G-8"].linked("goal_requires_plan") == ("cfo/PL-2",)
    assert found["cfo/I-1"].linked("intention_pursues_goal") == ("cfo/G-9",)
    assert found["cfo/I-1"].linked("intention_follows_plan") == ("cfo/PL-1",)
    assert by_uid(mind_records(CEO))["ceo/G-2"].linked("goal_part_of_goal") == ("ceo/G-1",)


def test_a_goal_of_another_agent_can_be_named():
    assert shared_ids((CEO, CFO))["goal", "G-1"] == "ceo/G-1"
    assert ("desire", "D-1") not in shared_ids((CEO, CFO))  # both have one
    found = by_uid(linked_records((CEO, CFO)))
    assert found["cfo/B-001"].linked("belief_supports_goal") == ("ceo/G-1", "cfo/G-9")


def test_a_plan_may_be_for_a_goal_of_another_agent():
    plan = Attitude("plan", "PL-7", "Fund it", links={"goal": ("G-1", "G-0")})
    goal = Attitude("goal", "G-7", "Own", links={"desire": ("D-9",)})
    coo = AgentMind("coo", goals=[goal], plans=[plan])
    found = by_uid(mind_records(CEO, (CFO, coo)))
    assert "coo/PL-7" in found["ceo/G-1"].linked("goal_requires_plan")
    assert "coo/PL-7" not in by_uid(mind_records(CEO, (CFO,)))["ceo/G-1"].linked("goal_requires_plan")
    alone = [
        record for minds in ((CEO, (coo, CFO)), (CFO, (CEO, coo)), (coo, (CFO, CEO))) for record in mind_records(*minds)
    ]
    assert alone == linked_records((CEO, CFO, coo))  # whoever is asked about, and in whatever order


def test_something_may_be_linked_with_what_has_the_same_id_and_never_with_itself():
    goal = Attitude("goal", "X", "Grow", links={"requires": ("X",), "parent": ("X",)})
    mind = AgentMind("a", goals=[goal], plans=[Attitude("plan", "X", "How")])
    found = next(record for record in mind_records(mind) if record.type == "goal")
    assert found.linked("goal_requires_plan") == ("a/X",) and found.linked("goal_part_of_goal") == ()


def test_steps():
    found = by_uid(mind_records(CFO))
    steps = [found[f"cfo/PL-1/{name}"] for name in ("S-1", "S-2", "#3")]
    assert [step.get("step_number") for step in steps] == [1, 2, 3]
    assert [step.get("is_done") for step in steps] == [True, None, False]
    assert all(step.linked("plan_contains_step") == ("cfo/PL-1",) for step in steps)
    assert [step.linked("step_depends_on") for step in steps] == [(), ("cfo/PL-1/S-1",), ()]
    plan = found["cfo/PL-1"]
    assert (plan.get("step_count"), plan.get("steps_done")) == (3, 1)


def test_steps_of_one_name_are_kept_apart():
    steps = (Step("1", "a", None, "", 1), Step("1", "b", None, "", 2), Step("2", "after step 1", None, "", 3))
    plan = Attitude("plan", "PL-1", "x", steps=steps)
    found = by_uid(mind_records(AgentMind("a", plans=[plan])))
    assert [*found] == ["a/PL-1", "a/PL-1/1", "a/PL-1/#2", "a/PL-1/2"]
    assert found["a/PL-1/2"].linked("step_depends_on") == ("a/PL-1/1",)


def test_what_has_no_id_is_known_by_what_it_says_and_an_id_counts_once():
    mind = AgentMind("a", [Belief("s", "t"), Belief("s", "u"), Belief("s", "t"), Belief("x", "1", id="B-1")])
    mind.beliefs.append(Belief("x", "2", id="B-1"))
    found = by_uid(mind_records(mind))
    assert len(found) == 3 and found["a/B-1"].get("content") == "1"
    assert [*found] == [*by_uid(mind_records(mind))]


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("Achieved", "done"),
        ("dropped (2026-01-01: x)", "gone"),
        ("expired", "gone"),
        ("Stalled", "stalled"),
        ("in progress", "active"),
        ("", "open"),
        ("planned", "open"),
    ],
)
def test_states(status, state):
    assert state_of(Attitude("goal", "G-1", "x", status=status)) == state


def test_an_attribute_that_a_type_does_not_have_is_a_mistake():
    with pytest.raises(KeyError, match="agent owns no certainty"):
        make_record("agent", "a", {"certainty": 1.0})


def test_results_stand_behind_their_methods():
    records = [each for each in known("cfo", "x") if each.type.startswith("reasoning")]
    assert [each.uid for each in records] == ["cfo/bayesian", "cfo/T-1-000a", "cfo/T-2-000a"]
    assert records[1].linked("method_produces_result") == ("cfo/bayesian",)
    assert records[1].get("happened") is True and records[1].get("confidence") is None
