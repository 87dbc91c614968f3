from datetime import UTC, datetime

import pytest

from core.fakes import make_memory
from mabos_cli.core.memory.item import UNGRADED, MemoryItem, is_ungraded, with_importance
from mabos_cli.core.memory.observation import Observation
from mabos_cli.core.memory.stores import Limits, Memory
from mabos_cli.core.memory.storing import Stored
from mabos_cli.core.memory.upkeep import Tally, draft_observation, is_worth, plan_grading

NOW = datetime(2026, 2, 24, tzinfo=UTC)


def item(number: int, content: str = "plain", **fields) -> MemoryItem:
    return MemoryItem(f"M-{number}-0000", content, created_at="2026-02-24T00:00:00.000Z", **fields)


def test_a_draft_says_all_that_was_observed():
    seen = Observation(
        "We ship",
        id="O-1-0000",
        at="2026-02-01T00:00:00.000Z",
        source="tool:git",
        session="s1",
        author="ada",
        type="decision",
        tags=("git",),
        trust="untrusted",
        importance=0.0,
    )
    draft = draft_observation(seen, "long_term")
    assert draft.graded and draft.store == "long_term"
    assert draft.item == MemoryItem(
        "",
        "We ship",
        "decision",
        0.0,
        "tool:git",
        "untrusted",
        "ada",
        "s1",
        ("git",),
        observed_at=seen.at,
        derived_from=("O-1-0000",),
    )
    plain = draft_observation(Observation("x"), "working")
    assert (plain.graded, plain.item.type) == (False, "observation")


@pytest.mark.parametrize(
    ("seen", "floor", "worth"),
    [
        (Observation("plain"), 0.5, True),
        (Observation("plain"), 0.51, False),
        (Observation("remember this"), 0.75, True),
        (Observation("remember this", importance=0.2), 0.75, False),
        (Observation("plain", importance=0.9), 0.75, True),
        (Observation("plain", at="2005-02-24T00:00:00.000Z"), 0.5, True),
        (Observation("plain", importance=0.0), 0.0, True),
    ],
)
def test_worth(seen, floor, worth):
    assert is_worth(draft_observation(seen, "long_term"), floor, Limits()) is worth


def test_the_tally_counts_new_items_by_band_and_merges_apart():
    results = [
        Stored(item(1, importance=0.8), "long_term"),
        Stored(item(2, importance=0.79, related_to=("M-1-0000",)), "long_term", linked=("M-1-0000",)),
        Stored(item(1, importance=0.1, related_to=("x",)), "long_term", deduplicated=True),
    ]
    tally = (
        Tally().with_results(results, 0.8, 0.5).with_results([Stored(item(3, importance=0.1), "long_term")], 0.8, 0.5)
    )
    assert tally == Tally(3, 1, 1, (("must_remember", 1), ("nice_to_have", 1), ("ignore", 1)))


def memory() -> Memory:
    far = (item(3, "remember", extra=(UNGRADED,)), item(4, importance=0.5))
    return make_memory((item(1, extra=(("x", 1), UNGRADED)),), (item(2, importance=0.2),), far)


def test_only_what_nobody_graded_is_graded():
    changes, done = plan_grading(memory(), (), limits=Limits())
    assert [(g.item.id, g.item.importance) for g in done] == [("M-1-0000", 0.5), ("M-3-0000", 0.75)]
    assert changes.working == (item(1, extra=(("x", 1),)),)
    assert changes.short_term == (item(2, importance=0.2),)
    assert changes.put == (item(3, "remember", importance=0.75),)
    assert dict(done[1].parts)["remember"] == 0.25


def test_only_what_is_named_is_graded():
    changes, done = plan_grading(memory(), ("M-3-0000", "M-4-0000", "M-9-0000"), limits=Limits())
    assert [g.item.id for g in done] == ["M-3-0000"]
    assert is_ungraded(changes.working[0])


def test_importance_that_somebody_gave_is_no_longer_missing():
    assert not is_ungraded(with_importance(item(1, extra=(UNGRADED,)), 0.5))
