import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.memory.item import TYPES, WEIGHTS, band, grade


@pytest.mark.parametrize(
    ("content", "kind", "recurring", "expected"),
    [
        ("plain", "fact", False, 0.5),
        ("plain", "decision", False, 0.8),
        ("this is IMPORTANT", "fact", False, 0.7),
        ("Remember the key", "fact", False, 0.75),
        ("plain", "fact", True, 0.65),
        ("important: remember", "fact", False, 0.95),
        ("important", "fact", True, 0.85),
    ],
)
def test_each_signal_adds_its_weight(content, kind, recurring, expected):
    assert grade(content, kind, recurring=recurring) == expected


def test_grade_is_at_most_one():
    assert grade("important: remember", "decision", recurring=True) == 1.0


@pytest.mark.parametrize(
    ("name", "content", "kind", "recurring"),
    [
        ("base", "plain", "fact", False),
        ("decision", "plain", "decision", False),
        ("important", "important", "fact", False),
        ("remember", "remember", "fact", False),
        ("recurring", "plain", "fact", True),
    ],
)
def test_weights_can_be_set(name, content, kind, recurring):
    only = dict.fromkeys(WEIGHTS, 0.0) | {name: 0.25}
    assert grade(content, kind, recurring=recurring, weights=only) == 0.25


@settings(deadline=None, derandomize=True)
@given(st.text(), st.sampled_from(TYPES), st.booleans())
def test_grade_stays_in_range(content, kind, recurring):
    assert 0 <= grade(content, kind, recurring=recurring) <= 1


def test_bands_begin_at_their_thresholds():
    assert [band(x) for x in (0.8, 0.79, 0.5, 0.49)] == [
        "must_remember",
        "nice_to_have",
        "nice_to_have",
        "ignore",
    ]
    assert band(0.7, must=0.7) == "must_remember"
    assert band(0.4, nice=0.4) == "nice_to_have"
