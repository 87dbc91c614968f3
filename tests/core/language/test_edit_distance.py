from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.language.similar import edit_distance, tolerance


def by_definition(one: str, two: str) -> int:
    @cache
    def away(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        return min(away(i - 1, j) + 1, away(i, j - 1) + 1, away(i - 1, j - 1) + (one[i - 1] != two[j - 1]))

    return away(len(one), len(two))


@pytest.mark.parametrize(
    ("one", "two", "distance"),
    [("", "abc", 3), ("kitten", "sitting", 3), ("flaw", "lawn", 2), ("mrr", "arr", 1), ("same", "same", 0)],
)
def test_known_distances(one: str, two: str, distance: int):
    assert edit_distance(one, two, 9) == distance


@settings(deadline=None)
@given(st.text("abc", max_size=8), st.text("abc", max_size=8), st.integers(0, 4))
def test_it_is_the_definition_up_to_a_limit(one: str, two: str, most: int):
    assert edit_distance(one, two, most) == min(by_definition(one, two), most + 1)


def test_short_names_must_be_equal_and_long_ones_may_differ_in_two_letters():
    assert [tolerance(length) for length in (1, 3, 5, 6, 8, 9, 30)] == [0, 0, 0, 1, 1, 2, 2]
