"""Which words of a prompt tell something, and what shares enough of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.core.telling import asked_about, share_words, telling_words, words_needed

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
    assert bool(telling_words(["acme"], {"acme": held}, total)) is tells


def test_of_many_words_the_rarest_are_kept_in_their_order() -> None:
    asked = [f"w{n}" for n in range(100)]
    worth = telling_words(asked, {word: 100 - n for n, word in enumerate(asked)}, 10_000)
    assert [*worth] == asked[52:]
    assert [*worth.values()] == sorted(worth.values())


@given(st.dictionaries(WORDS, st.sets(st.integers(0, 9))), st.integers(1, 4))
def test_nothing_shares_less_than_is_needed(places: dict[str, set[int]], needed: int) -> None:
    found = share_words(places, dict.fromkeys(places, 1.0), needed)
    counts = {n: sum(n in held for held in places.values()) for n in range(10)}
    assert found == {n: float(count) for n, count in counts.items() if count >= needed}


def test_a_long_prompt_needs_more() -> None:
    assert [words_needed(n) for n in (0, 1, 5, 12, 13, 30, 31, 500)] == [0, 1, 2, 2, 3, 3, 4, 4]
