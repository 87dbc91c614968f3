"""Which words of a prompt tell something, and what shares enough of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.core.search.prompt import asked_about, share_words, telling_words, words_needed

WORDS = st.sampled_from("acme seat price webhook dana refund".split())


@pytest.mark.parametrize(
    "prompt, expected",
    [
        ("How do we price seats?", ["price", "seats"]),
        ("  /compact the price of seats", []),
        ("!ls the price of seats", []),
        ("# the price of seats", []),
        ("price seats", []),
        ("東京の価格は", ["東京の価格は"]),
        ("", []),
        ("a b c d", []),
    ],
)
def test_what_a_prompt_may_be_about(prompt: str, expected: list[str]) -> None:
    assert asked_about(prompt) == expected


@pytest.mark.parametrize(
    "held, total, tells",
    [
        (1, 1, True),
        (2, 3, False),
        (3, 10, True),
        (4, 10, False),
        (12, 100, True),
        (13, 100, False),
        (500, 10_000, True),
        (501, 10_000, False),
        (0, 10, False),
    ],
)
def test_how_common_a_word_may_be(held: int, total: int, tells: bool) -> None:
    worth = telling_words(["acme"], {"acme": held}, total)
    assert bool(worth and share_words({"acme": {1}}, worth, ["acme"], total)) is tells


def test_of_many_words_the_rarest_are_kept_in_their_order() -> None:
    asked = [f"w{n}" for n in range(100)]
    worth = telling_words(asked, {word: 100 - n for n, word in enumerate(asked)}, 10_000)
    assert [*worth] == asked[52:]
    assert [*worth.values()] == sorted(worth.values())


@pytest.mark.parametrize(
    "prompt, shared, found",
    [
        (
            "berth price doing weeks",
            "berth price weeks",
            True,
        ),  # two that are common here, and one that is not
        ("berth price doing later", "berth price", False),
        ("berth price", "berth price", True),  # all of it
        ("berth price", "price", False),
        ("price", "price", False),
        ("weeks doing refund", "refund", False),  # one word is not enough, however rare
        ("price doing refund", "price refund", False),  # nor beside one that is common
        ("weeks doing refund", "weeks refund", True),
    ],
)
def test_common_words_tell_together(prompt: str, shared: str, found: bool) -> None:
    held = {"berth": 50, "price": 40, "weeks": 8, "refund": 1}
    asked = prompt.split()
    worth = telling_words(asked, held, 250)
    places = {word: {1} for word in shared.split()}
    assert bool(share_words(places, worth, asked, 250)) is found


def test_what_stands_in_more_than_half_tells_nothing() -> None:
    assert telling_words(["berth", "price"], {"berth": 126, "price": 125}, 250) == {"price": 1.099}


@given(st.dictionaries(WORDS, st.sets(st.integers(0, 9))), st.integers(1, 20))
def test_of_words_that_tell_as_many_as_are_needed_are_enough(places: dict[str, set[int]], others: int) -> None:
    asked = [*places, *(f"w{n}" for n in range(others))]
    found = share_words(places, dict.fromkeys(places, 9.0), asked, 10_000)
    counts = {n: sum(n in held for held in places.values()) for n in range(10)}
    assert found == {n: 9.0 * count for n, count in counts.items() if count and count >= words_needed(len(asked))}


def test_a_long_prompt_needs_more() -> None:
    assert [words_needed(n) for n in (0, 1, 5, 12, 13, 30, 31, 500)] == [0, 1, 2, 2, 3, 3, 4, 4]
