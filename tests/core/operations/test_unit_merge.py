"""Named parts of a text from two copies: what is there, and in which order."""

from collections.abc import Sequence
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.core.operations.three_way import follow_renames, merge_lines
from mabos_cli.formats.operations.markdown_units import Unit, merge_units

NAMES = st.lists(st.sampled_from("abcdef"), unique=True)


def units(names: Sequence[str], **changed: str) -> list[Unit]:
    return [Unit(name, "line", (changed.get(name, name),)) for name in names]


def merged(base: Sequence[Unit], a: Sequence[Unit], b: Sequence[Unit]) -> list[str]:
    found = merge_units(base, a, b, lambda _, one, other: [max(one, other)])
    assert found == merge_units(base, b, a, lambda _, one, other: [max(one, other)])
    return [unit.lines[0] for unit in found]


@given(NAMES, NAMES, NAMES)
def test_each_unit_is_there_once(base: list[str], a: list[str], b: list[str]):
    found = merged(units(base), units(a), units(b))
    added, kept = ({*a} | {*b}) - {*base}, {*a} & {*b}
    assert sorted(found) == sorted(added | kept)


@given(NAMES, NAMES)
def test_a_side_that_changed_nothing_gives_way(base: list[str], a: list[str]):
    assert merged(units(base), units(a), units(base)) == a


def test_order():
    assert merged(units("abc"), units("cab"), units("abcd")) == [*"cabd"]
    assert merged(units("abc"), units("cab"), units("bac")) in ([*"cba"], [*"bca"], [*"cab"], [*"bac"])
    assert merged(units("ab"), units("axb"), units("ayb")) == [*"axyb"]


def test_what_one_removed_and_the_other_changed_stays_in_its_place():
    assert merged(units("abc"), units("ac"), units("abc", b="B")) == [*"aBc"]
    assert merged(units("abc"), units("ac"), units("abc")) == [*"ac"]


def test_a_heading_stays_with_what_was_added_below_it():
    base = units("ah")
    below = [*base, Unit("new", "line", ("new",), above="h")]
    assert merged(base, units("a"), below) == ["a", "h", "new"]


LINES = st.lists(st.sampled_from("abc"), max_size=6)


@given(LINES, LINES, LINES)
def test_lines(base: list[str], a: list[str], b: list[str]):
    found = merge_lines(base, a, b)
    assert found == merge_lines(base, b, a)
    assert merge_lines(base, a, base) == merge_lines(base, a, a) == a
    assert found is None or set(found) <= {*base, *a, *b}


def test_records_that_an_earlier_merge_renamed():
    """The base has x as 1; a merge gave 1 to y, and 1-x to x: then x is 1-x everywhere, and what a side made of it too."""

    def follow(base: dict[str, str], ours: dict[str, str], theirs: dict[str, str]) -> list[dict[str, str]]:
        return follow_renames((base, ours, theirs), lambda text: text[0], lambda key, text: f"{key}-{text[0]}")

    moved = {"1": "y", "1-x": "x"}
    for ours, theirs in product(({"1": "x"}, {"1": "x, edited"}), (moved,)):
        expected = [{"1-x": "x"}, {"1-x": ours["1"]}, moved]
        assert follow({"1": "x"}, ours, theirs) == expected
        assert follow({"1": "x"}, theirs, ours) == [expected[0], expected[2], expected[1]]
    assert follow({"1": "x"}, {"1": "y"}, {"1": "x"}) == [{"1": "x"}, {"1": "y"}, {"1": "x"}]
