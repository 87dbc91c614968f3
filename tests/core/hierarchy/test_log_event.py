import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.hierarchy.log_event import LogEvent, shape_of, split_kind
from mabos_cli.core.memory.item import TYPES

quick = settings(deadline=None, derandomize=True)


def event(text="We ship", **fields):
    return LogEvent("2026-02-24", 3, text, **fields)


@pytest.mark.parametrize(
    "line, kind, said, importance",
    [
        ("Decision: keep Stripe", "decision", "keep Stripe", None),
        ("DECISION: keep Stripe", "decision", "keep Stripe", None),
        ("**Decision:** keep Stripe", "decision", "keep Stripe", None),
        ("**lesson** (0.70): test restores", "lesson", "test restores", 0.7),
        ("outcome (1): signed", "outcome", "signed", 1.0),
        ("fact (7.5): counts to ten", "fact", "counts to ten", None),
        ("todo: call Ines", "plan", "call Ines", None),
        ("Learned: never on Friday", "lesson", "never on Friday", None),
        ("Decided: wait", "decision", "wait", None),
        ("We decided to wait", "decision", "We decided to wait", None),
        ("The team has agreed on EUR", "decision", "The team has agreed on EUR", None),
        ("Decided against it", "decision", "Decided against it", None),
        ("Nobody decided anything", "note", "Nobody decided anything", None),
        ("factory: new roof", "note", "factory: new roof", None),
        ("Decision:", "note", "Decision:", None),
        ("Decision:   ", "note", "Decision:   ", None),
        ("", "note", "", None),
    ],
)
def test_notes_name_their_kind_and_importance(line, kind, said, importance):
    assert split_kind(line) == (kind, said, importance)


lines = st.tuples(
    st.sampled_from(("", "**", "decision", "Decided", "todo (0.5): ", "fact (9): ", "lesson:")),
    st.text(max_size=30),
).map("".join)


@quick
@given(lines)
def test_any_line_has_a_kind_and_loses_nothing_behind_it(line):
    kind, said, importance = split_kind(line)
    assert kind in (*TYPES, "note") and line.endswith(said)
    assert importance is None or 0 <= importance <= 1
    assert bool(said.strip()) == bool(line.strip())


def test_weight_is_what_was_said_or_else_graded():
    assert event(importance=0.0, kind="decision").weight == 0.0
    assert event(kind="decision").weight == 0.8
    assert event("Important: rotate keys").weight == 0.7
    assert event().weight == 0.5


@pytest.mark.parametrize(
    "kind, importance, text, found",
    [
        ("outcome", 0.6, "It rained", True),
        ("outcome", 0.59, "Signed the contract", False),
        ("event", 0.8, "It rained", True),
        ("event", 0.79, "It rained", False),
        ("event", 0.7, "The portal went live", True),
        ("note", 0.7, "We signed Northwind", True),
        ("note", 0.69, "We signed Northwind", False),
        ("fact", 0.7, "We designed it", False),
        ("decision", 1.0, "We launched", False),
        ("lesson", 1.0, "We launched", False),
    ],
)
def test_milestones_are_what_was_reached_or_lost(kind, importance, text, found):
    assert event(text, kind=kind, importance=importance).is_milestone is found


@pytest.mark.parametrize("kind, text", [("outcome", "We launched the portal"), ("note", "Signed Northwind")])
def test_what_was_reached_is_a_milestone_though_nobody_graded_it(kind, text):
    assert event(text, kind=kind).is_milestone


def test_shape_is_what_recurring_tellings_share():
    assert shape_of("Backup took 41 minutes") == shape_of("backup took 9 minutes!")
    assert shape_of("Backup took 41 minutes") != shape_of("Restore took 41 minutes")
    assert shape_of("12:30 2026-02-24 v2") == "" == shape_of("")
