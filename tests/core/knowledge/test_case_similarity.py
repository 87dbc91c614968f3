"""Scores of cases against the seed's formula, by hand and by brute force."""

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.knowledge.case_similarity import (
    Comparison,
    Standing,
    Weights,
    best_cases,
    text_likeness,
)

NAMES = st.lists(st.sampled_from("abcdefgh"), max_size=6)


def score(beliefs, desires, now, wants, **how):
    return Comparison(now, wants, **how).score("C-1", beliefs, desires)


def test_the_formula_of_the_seed():
    """Four beliefs of which three hold, two desires of which one does: .6 x 3/4 + .4 x 1/2."""
    found = score(["B1", "B2", "B3", "B4"], ["D1", "D2"], ["B1", "B2", "B3", "B9"], ["D2"])
    assert (found.total, found.beliefs, found.desires, found.context) == (0.65, 0.75, 0.5, None)


def test_a_side_that_a_case_lacks_does_not_count():
    assert score([], ["D1", "D2"], ["B1"], ["D1"]).total == 0.5
    assert score(["B1"], [], ["B1"], []).total == 1.0
    assert score([], [], ["B1"], ["D1"]) == (0.0, None, None, None)


def test_a_side_that_the_situation_lacks_does():
    assert score(["B1"], ["D1"], ["B1"], []).total == 0.6


def test_a_feature_that_is_listed_twice_counts_once():
    assert score(["B1", "B1", "B2"], [], ["B1"], []).beliefs == 0.5


@settings(deadline=None, derandomize=True)
@given(NAMES, NAMES, NAMES, NAMES)
def test_scores_by_brute_force(beliefs, desires, now, wants):
    def side(own, here):
        return Fraction(sum(x in here for x in set(own)), len(set(own))) if own else None

    parts = [(Fraction("0.6"), side(beliefs, now)), (Fraction("0.4"), side(desires, wants))]
    parts = [(weight, value) for weight, value in parts if value is not None]
    expected = sum(w * v for w, v in parts) / sum(w for w, _ in parts) if parts else 0
    compared = Comparison(now, wants)
    found = compared.score("C-1", beliefs, desires)
    assert found.total == pytest.approx(float(expected))
    assert compared.totals(["C-1"], [(beliefs, desires, True)]) == [found.total]


def test_the_context_adds_its_weight():
    texts = {"C-1": 0.5}
    compared = Comparison(["B1"], ["D1"], texts, weights=Weights(0.6, 0.4, 0.25))
    assert compared.score("C-1", ["B1"], ["D2"]).total == pytest.approx((0.6 + 0.125) / 1.25)
    assert compared.score("C-2", ["B1"], ["D1"], has_text=True).total == pytest.approx(1 / 1.25)
    assert compared.score("C-2", ["B1"], ["D1"], has_text=False).total == 1.0  # no text to compare
    assert compared.score("C-1", [], []).total == 0.5  # only the text is there


def test_without_beliefs_and_desires_only_the_text_counts():
    compared = Comparison([], [], {"C-1": 0.5})
    assert compared.score("C-1", ["B1"], ["D1"]).total == 0.5
    assert compared.score("C-2", ["B1"], ["D1"]).total == 0.0


def test_weights_of_nothing():
    assert score(["B1"], ["D1"], ["B1"], ["D1"], weights=Weights(0, 0, 0)).total == 0.0


@settings(deadline=None, derandomize=True)
@given(NAMES, NAMES)
def test_an_explanation_accounts_for_every_feature_once(own, now):
    side = Comparison(now, []).explain("beliefs", own)
    assert sorted((*side.matched, *side.missing)) == sorted(set(own))
    assert sorted((*side.matched, *side.extra)) == sorted(set(now))


def test_ties_go_by_success_then_the_latest_then_the_id():
    cases = [
        Standing("C-10", True, "2026-01-01"),
        Standing("C-9", True, "2026-01-01"),
        Standing("C-1", False, "2026-02-01"),
        Standing("C-2", None, "2026-02-01"),
        Standing("C-3", True, "2026-02-01"),
        Standing("C-4", True, "2026-01-15"),
    ]
    for order in list(permutations(range(6)))[::37]:
        held = [cases[n] for n in order]
        totals = [0.9 if case.id == "C-4" else 0.5 for case in held]
        best, count = best_cases(totals, 0, 0.0, held.__getitem__)
        assert [held[n].id for n in best] == ["C-4", "C-3", "C-9", "C-10", "C-2", "C-1"] and count == 6
        first, count = best_cases(totals, 2, 0.0, held.__getitem__)
        assert [held[n].id for n in first] == ["C-4", "C-3"] and count == 6


def test_cases_that_are_not_near_are_not_found():
    held = [Standing(f"C-{n}", True, "") for n in range(4)]
    assert best_cases([0.0, 0.2, 0.5, 0.0], 5, 0.0, held.__getitem__) == ([2, 1], 2)
    assert best_cases([0.0, 0.2, 0.5, 0.0], 5, 0.3, held.__getitem__) == ([2], 1)
    assert best_cases([0.0], 5, 0.0, held.__getitem__) == ([], 0)


def test_a_text_that_only_is_the_nearest_counts_half():
    assert text_likeness("prices rose", "the office moved", 1.0) == 0.5
    assert text_likeness("prices rose", "Prices rose.", 0.8) == 0.8
    assert text_likeness("?!", "x", 1.0) == 0.5
