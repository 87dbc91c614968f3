import random
from collections import Counter
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.language import similar
from mabos_cli.core.language.similar import (
    CANDIDATES,
    SubjectIndex,
    WordIndex,
    bands,
    likeness,
    repeats,
    says_the_same,
    word_set,
)

quick = settings(deadline=None, derandomize=True)
WORDS = [a * n + b for a in "abcdefg" for b in "xyz" for n in (1, 2, 5)]
word_sets = st.frozensets(st.sampled_from(WORDS), min_size=1, max_size=40)


@st.composite
def near_pairs(draw):
    """Two sets of words of which one is the other with a few words gone and a few added."""
    a = draw(word_sets)
    gone = draw(st.frozensets(st.sampled_from(sorted(a)), max_size=len(a) // 3))
    more = draw(st.frozensets(st.sampled_from(WORDS), max_size=len(a) // 3))
    return a, (a - gone) | more


def test_texts_that_are_alike_share_a_band_however_common_their_words_are():
    rnd, missed, tried = random.Random(7), 0, 0
    for size in (6, 12, 20, 30, 60):
        for _ in range(60):
            drawn = rnd.sample(range(1000), size + 4)
            one, other = (
                frozenset(f"word{n}" for n in part) for part in (drawn[:size], drawn[max(1, size // 12) :][:size])
            )
            assert {*bands(one)} & {*bands(one)}
            if likeness(one, other) >= 0.8:
                tried += 1
                missed += not {*bands(one)} & {*bands(other)}
    assert tried > 100 and missed <= tried // 50


def test_texts_that_share_only_common_words_share_no_band():
    common = [f"common{n}" for n in range(12)]
    texts = [frozenset((*common, *(f"own{n}-{k}" for k in range(28)))) for n in range(300)]
    counts = Counter(band for text in texts for band in bands(text))
    assert sum(count - 1 for count in counts.values()) < 150


@quick
@given(
    st.lists(near_pairs(), max_size=6),
    st.just(0.5),
    st.sampled_from((0.3, 0.5, 0.7, 0.9, 1.0)),
    st.sampled_from((0, 3, 250)),
)
def test_word_index_finds_what_comparing_all_would_find(pairs, floor, threshold, few):
    texts = {f"k{n}": text for n, text in enumerate(text for pair in pairs for text in pair)}
    index = WordIndex(floor)
    with mock.patch.object(similar, "_FEW", few):
        for key, text in texts.items():
            index.add(key, text)
    for wanted in texts.values():
        scored = [(likeness(wanted, text), key) for key, text in texts.items()]
        alike = [hit for hit in scored if hit[0] >= max(floor, threshold)]
        assert index.find(wanted, threshold) == sorted(alike, key=lambda hit: (-hit[0], hit[1]))


def test_few_texts_are_found_whatever_their_bands():
    common = {f"common{n}" for n in range(27)}
    index = WordIndex(0.7)
    for n in range(100):
        index.add(f"k{n}", frozenset((*common, *(f"own{n}-{k}" for k in range(4)))))
    assert len(index.find(frozenset((*common, *(f"asked{k}" for k in range(4)))), 0.7)) == 100


@quick
@given(word_sets, word_sets)
def test_likeness_is_symmetric_and_one_only_for_equal_sets(a, b):
    assert likeness(a, b) == likeness(b, a)
    assert 0 <= likeness(a, b) <= 1
    assert (likeness(a, b) == 1) == (a == b)


def test_likeness_is_shared_words_over_all_words():
    assert likeness(word_set("b c d"), word_set("c d e")) == 0.5
    assert likeness(word_set("a"), word_set("")) == 0


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("We bill per seat", "we bill per seat!"),
        ("Note: the key is in the vault", "The key is in a vault, please."),
        ("Remember that it doesn't restart", "It does not restart"),
        ("- 1,000 seats", "1000 seats"),
    ],
)
def test_case_punctuation_and_fillers_make_no_difference(a, b):
    assert repeats(a, b) and repeats(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Use C++", "Use C#"),
        ("It costs $5", "It costs €5"),
        ("Servers run Debian", "Server runs Debian"),
        ("Sue sees Tom", "Tom sees Sue"),
        ("We ship", "We do not ship"),
        ("!", "?"),
    ],
)
def test_any_other_word_sign_or_order_is_no_repetition(a, b):
    assert not repeats(a, b)


def test_word_set_ignores_case_punctuation_and_apostrophes():
    assert word_set("Don't PANIC!") == word_set("dont panic") == word_set("Don’t panic.")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("limit is 50", "limit is 500"),
        ("use v2", "use v3"),
        ("due on 2026-02-24", "due on 2026-02-25"),
        ("pay now", "do not pay now"),
        ("the key works", "the key never works"),
        ("it is safe", "it isn't safe"),
        ("it can run", "it can’t run"),
        ("ship with tests", "ship without tests"),
    ],
)
def test_other_number_or_negation_says_something_else(a, b):
    assert not says_the_same(a, b)
    assert not says_the_same(b, a)


@pytest.mark.parametrize("contraction", ["shouldn't", "couldn't", "wouldn't", "hasn't", "haven't", "hadn't", "mustn't"])
def test_every_common_contraction_of_not_is_a_negation(contraction):
    plain = contraction.removesuffix("n't")
    assert not says_the_same(f"it {plain} run", f"it {contraction} run")


def test_other_plain_words_say_the_same():
    assert says_the_same("the big limit is 50", "the large limit is 50")
    assert says_the_same("do not pay", "please do not pay")


def test_of_statements_that_share_as_many_words_the_newest_are_looked_at():
    index = SubjectIndex()
    for n in range(CANDIDATES + 5):
        index.add(f"M-{n}", word_set(f"harbour note{n}"))
    found = {key for _, key in index.find(word_set("harbour crane"), 0)}
    assert found == {f"M-{n}" for n in range(5, CANDIDATES + 5)}
