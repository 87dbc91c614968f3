"""What changed, told to a person: rows, their order, and what is no news."""

from mabos_cli.core.knowledge.case import Case
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.rule import Rule
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.mind.mind import Attitude, Belief, Step
from mabos_cli.core.operations.review import (
    Row,
    attitude_row,
    belief_row,
    case_row,
    count_states,
    differing,
    fact_row,
    fold_parts,
    item_row,
    make_section,
    rule_row,
    section_lines,
    state_of,
)

ITEM = MemoryItem("M-1-0002", "We bill per seat", "decision", 0.5)


def test_a_memory_that_was_only_used_is_no_news():
    used = ITEM._replace(access_count=3, accessed_at="2026-02-24")
    assert item_row(("short_term", ITEM), ("short_term", used), {}) is None
    assert item_row(("working", ITEM), ("short_term", used), {}) is None
    lasting = item_row(("short_term", ITEM), ("long_term", used), {})
    assert lasting and (lasting.state, lasting.change) == ("changed", "short_term -> long_term")


def test_what_became_of_a_memory():
    edited = ITEM._replace(content="We bill per user", importance=0.8, tags=("billing",))
    row = item_row(("long_term", ITEM), ("long_term", edited), {})
    assert row == Row(
        "changed",
        "M-1-0002",
        "decision 0.80 We bill per user",
        "importance 0.50 -> 0.80; tags none -> billing; was: We bill per seat",
        "long_term",
        0.8,
        "decision",
    )
    gone = item_row(("short_term", ITEM), None, {"M-1-0002": "consolidated into M-2-0004"})
    assert gone and (gone.state, gone.change) == ("gone", "consolidated into M-2-0004")


def test_facts_beliefs_goals_and_cases():
    fact = Fact("F-1-0002", "acme", "owns", "river", 0.5)
    row = fact_row(fact, fact._replace(confidence=0.9, updated_at="2026-02-24"))
    assert row and (row.text, row.change) == ("acme owns river (0.90)", "confidence 0.50 -> 0.90")
    assert fact_row(fact, fact._replace(updated_at="2026-02-24")) is None
    belief = Belief("Demand", "growing", 0.8, id="B-1", path="Beliefs.md", line=4)
    assert belief_row(belief, belief._replace(line=9, updated="2026-02-24")) is None
    row = belief_row(belief, belief._replace(text="flat", line=9))
    assert row and (row.change, row.place) == ("was: Demand: growing", "Beliefs.md:9")
    goal = Attitude("goal", "G-1", "Grow", status="active", steps=(Step("1", "hire", False, "", 3),))
    row = attitude_row(goal, goal._replace(status="achieved", steps=(Step("1", "hire", True, "done", 3),)))
    assert row and row.change == "status active -> achieved; steps done 0 of 1 -> 1 of 1"
    case = Case("C-001", ("B-1",), context="churn", actions=("call",))
    assert case_row(case, case._replace(uses=3, last_used="2026-02-24")) is None
    row = case_row(case, case._replace(success=False))
    assert row and (row.text, row.change) == ("FAILED: churn -> call", "success none -> False")


def test_a_rule_that_was_edited_and_switched_off():
    rule = Rule("R-001", "R-001", "inference", (), enabled=True)
    row = rule_row((rule, "if a then b"), (rule._replace(name="debtors", enabled=False), "if a then c"))
    assert (row.text, row.change) == ("inference debtors: if a then c", "was: if a then b; disabled")
    assert rule_row(None, (rule, "if a then b")) == Row("new", "R-001", "inference if a then b")


def test_sections_come_in_order_and_bounded():
    pairs = [*differing({"a": 1, "b": 2, "c": 7}, {"b": 3, "c": 7, "d": 5, "e": 6})]
    assert pairs == [(2, 3), (None, 5), (None, 6), (1, None)]
    rows = [Row(state_of(was, now), f"M-{was or now}", "x", weight=now or 0) for was, now in pairs]
    section = make_section("memories", rows)
    assert [(row.state, row.id) for row in section.rows] == [
        ("new", "M-6"),
        ("new", "M-5"),
        ("changed", "M-2"),
        ("gone", "M-1"),
    ]
    assert count_states(section) == {"new": 2, "changed": 1, "gone": 1}
    assert [*section_lines(section, 2)] == [
        "memories: 2 new, 1 changed, 1 gone",
        "  + M-6 x",
        "  + M-5 x",
        "  and 2 more: --limit 0 shows all",
    ]


def test_what_went_into_something_new_is_told_with_it() -> None:
    rows = [
        Row("new", "N", "one of three"),
        Row("gone", "A", "a"),
        Row("gone", "B", "b"),
        Row("gone", "C", "c"),
        Row("new", "M", "m"),
    ]
    told = [*fold_parts(rows, {"A": "N", "B": "N", "C": "elsewhere"})]
    assert [(row.id, row.change) for row in told] == [("N", "from 2 earlier items"), ("C", ""), ("M", "")]
