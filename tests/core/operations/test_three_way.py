"""Three-way merges: nothing is lost, a side that did nothing changes nothing, and it does not matter which side is ours."""

from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.core.operations.three_way import (
    Settled,
    Spare,
    merge_count,
    merge_keyed,
    merge_maps,
    merge_runs,
    merge_sets,
)

_records = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 3), max_size=6)
_runs = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


def _settle(base: int | None, a: int, b: int) -> Settled:
    """The larger one stays; the other one needs an id when there is no base."""
    return Settled(max(a, b), ("theirs" if a > b else "ours") if base is None else "")


def _merge(base: dict, a: dict, b: dict):
    return merge_keyed(base, a, b, _settle, lambda was, now: False, str)


@given(_records, _records, _records)
def test_records_do_not_ask_who_is_ours(base, a, b):
    one, other = _merge(base, a, b), _merge(base, b, a)
    assert list(one.kept.items()) == list(other.kept.items())
    assert [spare[:3] for spare in one.spares] == [spare[:3] for spare in other.spares]


@given(_records, _records)
def test_a_side_that_did_nothing_changes_nothing(base, a):
    assert _merge(base, a, base).kept == a
    assert _merge(base, base, a).kept == a
    assert _merge(base, a, a) == (_merge(base, a, base).kept, ())


@given(_records, _records, _records)
def test_what_a_side_added_or_changed_is_there(base, a, b):
    union = _merge(base, a, b)
    for side in (a, b):
        for own, value in side.items():
            if base.get(own) != value:
                lost = Spare(own, value, False, side is a)
                assert union.kept[own] >= value and (own in base or union.kept[own] == value or lost in union.spares)


def test_removed_and_changed():
    kept = merge_keyed({"x": 1, "y": 1}, {}, {"x": 2, "y": 9}, _settle, lambda was, now: now == 9, str).kept
    assert kept == {"x": 2}  # what is_same calls nothing does not bring y back


@given(_runs, _runs, _runs)
def test_sets_are_symmetric_and_keep_additions(base, a, b):
    merged = merge_sets(base, a, b)
    assert merged == merge_sets(base, b, a)
    assert {*a, *b} - {*base} <= {*merged}
    assert not ({*base} - {*a}) & {*merged} and not ({*base} - {*b}) & {*merged}


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_counts_add_up(base, more, yet_more):
    assert merge_count(base, base + more, base + yet_more) == base + more + yet_more


@given(_records, _records, _records)
def test_maps_keep_what_one_side_changed(base, a, b):
    merged = merge_maps(base, a, b, a)
    assert merge_maps(base, a, base, a) == a and merge_maps(base, base, b, b) == b
    for key in {*a, *b}:
        if a.get(key) == base.get(key) and key in b:
            assert merged[key] == b[key]
        elif key in a and b.get(key) == base.get(key):
            assert merged[key] == a[key]


@given(_runs, _runs, _runs)
def test_runs_keep_every_addition(base, a, b):
    merged = merge_runs(base, a, b, lambda each: None)
    assert merged == merge_runs(base, b, a, lambda each: None)
    assert {*a, *b} - {*base} <= {*merged}
    assert merge_runs(base, a, base, lambda each: None) == a


def test_runs_stand_in_the_order_of_time():
    when = {"a3": 3, "a5": 5, "b4": 4, "b6": 6}.get
    grown = merge_runs(["head", "x"], ["head", "x", "a3", "remark on a3", "a5"], ["head", "x", "b4", "b6"], when)
    assert grown == ["head", "x", "a3", "remark on a3", "b4", "a5", "b6"]


def test_runs_with_a_block_that_one_side_edited():
    assert merge_runs(["x"], ["x, edited"], ["x", "y"], {"y": 1}.get) == ["x, edited", "y"]
