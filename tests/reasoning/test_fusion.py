"""Conclusions of several methods put together, with answers worked out by hand."""

import pytest

from mabos_cli.reasoning.answer import (
    Answer,
    Conclusion,
    choice,
    distribution,
    names,
    quantity,
    ranking,
    words,
    yes_no,
)
from mabos_cli.reasoning.fusion import Fused, fuse


def said(conclusion: Conclusion, confidence: float | None = None) -> Answer:
    return Answer(conclusion, confidence, "")


def fused(weights: dict[str, float] | None = None, **answers: Answer) -> Fused:
    return fuse(answers, weights or dict.fromkeys(answers, 1.0))


def test_truths_are_pooled_by_weight() -> None:
    found = fused({"a": 3, "b": 1}, a=said(yes_no(True), 0.8), b=said(yes_no(False), 0.6))
    assert found.conclusion.value is True
    assert found.confidence == pytest.approx((3 * 0.8 + 0.4) / 4)
    assert found.agreement == pytest.approx(0.75)
    assert found.disagreements == (("a", "b"),) and found.agreements == ()
    assert [(p.method, p.weight, p.stance) for p in found.parts] == [
        ("a", 0.75, "for"),
        ("b", 0.25, "against"),
    ]
    assert found.parts[1].support == pytest.approx(0.4)


def test_no_stated_probability_no_confidence() -> None:
    found = fused(a=said(yes_no(True)), b=said(yes_no(True)))
    assert found.confidence is None and found.agreement == 1.0 and found.conclusion.value is True
    assert "no method states a probability" in found.basis


def test_a_vote_beside_a_probability() -> None:
    found = fused(a=said(yes_no(True)), b=said(yes_no(True), 0.6))
    assert found.confidence == pytest.approx(0.8)
    assert found.basis == "1 of 2 methods state a probability; the others count as votes"


def test_open_answers_carry_no_weight_in_it() -> None:
    found = fused(a=said(yes_no(None)), b=said(yes_no(False), 0.9))
    assert found.conclusion.value is False and found.confidence == pytest.approx(0.9)
    assert [part.stance for part in found.parts] == ["open", "for"]


def test_all_open_decides_nothing() -> None:
    found = fused(a=said(yes_no(None)), b=said(yes_no(None)))
    assert found.conclusion == Conclusion("truth", None) and found.confidence is None and found.agreement == 0


def test_a_draw_is_no_conclusion() -> None:
    found = fused(a=said(yes_no(True)), b=said(yes_no(False)))
    assert found.conclusion.value is None


def test_a_distribution_over_yes_and_no_is_a_truth() -> None:
    found = fused(a=said(distribution({"Yes": 0.7, "No": 0.3})), b=said(yes_no(True), 0.9))
    assert found.conclusion.kind == "truth" and found.confidence == pytest.approx(0.8)


def test_choice_distribution_and_ranking_meet() -> None:
    found = fused(
        a=said(choice("Buy")),
        b=said(distribution({"buy": 0.4, "lease": 0.6})),
        c=said(ranking(("lease", "buy", "wait"))),
    )
    shares = dict(found.conclusion.scores)
    assert shares["Buy"] == pytest.approx((1 + 0.4 + 1 / 3) / 3)
    assert shares["lease"] == pytest.approx((0 + 0.6 + 2 / 3) / 3)
    assert found.conclusion.value == "Buy"
    assert [part.stance for part in found.parts] == ["for", "against", "against"]
    assert found.agreements == (("b", "c"),)


def test_an_unsure_choice_is_still_for_itself() -> None:
    found = fused(a=said(choice("x", {"x": 1, "y": 0, "z": 0}), 0.4), b=said(choice("x")))
    assert [part.stance for part in found.parts] == ["for", "for"]
    assert found.confidence == pytest.approx(0.7)


def test_choices_without_a_common_option_stand_apart() -> None:
    found = fused({"a": 1, "b": 2}, a=said(choice("red")), b=said(choice("Tuesday")))
    assert [part.stance for part in found.parts].count("apart") == 1


def test_numbers_agree_by_interval_or_nearness() -> None:
    found = fused(
        a=said(quantity(100, (90, 110), "k")),
        b=said(quantity(115, (105, 125), "k")),
        c=said(quantity(300, None, "k")),
    )
    assert found.conclusion.value == pytest.approx(107.5) and found.conclusion.interval == (90, 125)
    assert [part.stance for part in found.parts] == ["for", "for", "against"]
    assert found.agreement == pytest.approx(2 / 3)
    near = fused(a=said(quantity(100)), b=said(quantity(111)), c=said(quantity(112)))
    assert near.agreements == (("a", "b"), ("b", "c")) and near.disagreements == (("a", "c"),)


def test_numbers_of_other_units_stand_apart() -> None:
    found = fused({"a": 2, "b": 1}, a=said(quantity(5, None, "days")), b=said(quantity(5, None, "USD")))
    assert [part.stance for part in found.parts] == ["for", "apart"]


def test_sets_keep_what_most_hold() -> None:
    found = fused(a=said(names(("p", "q"))), b=said(names(("q", "r"))), c=said(names(("q",))))
    assert found.conclusion.value == ("q",)
    assert found.parts[0].support == pytest.approx(0.5)


def test_sets_without_a_common_name_stand_apart() -> None:
    found = fused(a=said(names(("monday=ann",))), b=said(names(("p", "q"))), c=said(names(("q",), "claims")))
    assert found.conclusion.value == ("q",) and [p.stance for p in found.parts] == ["apart", "for", "for"]


def test_questions_are_kept_apart() -> None:
    found = fused(
        a=said(yes_no(True, "demand grows"), 0.9),
        b=said(yes_no(False, "prices fall"), 0.9),
        c=said(yes_no(True), 0.7),
    )
    assert [part.stance for part in found.parts] == ["for", "apart", "for"]
    assert found.conclusion.about == "demand grows"


def test_words_agree_only_when_they_are_the_same() -> None:
    found = fused({"a": 2, "b": 1, "c": 1}, a=said(words("x")), b=said(words("y")), c=said(words("x")))
    assert found.conclusion.value == "x" and found.agreement == pytest.approx(0.75)


def test_one_method_is_its_own_conclusion() -> None:
    found = fused(a=said(distribution({"x": 0.2, "y": 0.8}), 0.8))
    assert found.conclusion.value == "y" and found.confidence == pytest.approx(0.8) and found.agreement == 1
    assert found.basis == "the probability that a states"
    unsure = fused(a=said(choice("x", {"x": 1, "y": 0}), 0.3))
    assert unsure.conclusion.value == "x" and unsure.confidence == pytest.approx(0.3)
    for value, sure in ((True, 0.3), (False, 0.3), (False, 0.5)):  # a weak proof does not prove the opposite
        found = fused(a=said(yes_no(value), sure))
        assert (found.conclusion.value, found.agreement) == (value, 1)
        assert found.confidence == pytest.approx(sure)


def test_a_choice_without_rivals_keeps_its_confidence() -> None:
    found = fused(a=said(choice("x"), 0.6), b=said(choice("x"), 0.7))
    assert found.confidence == pytest.approx(0.65)


def test_shares_that_are_no_probabilities_make_no_confidence() -> None:
    # A mixed strategy, and what was recognized in a situation that is unlike all examples.
    found = fused(a=said(distribution({"bluff": 0.25, "fold": 0.75})), b=said(distribution({"fold": 1.0})))
    assert found.conclusion.value == "fold" and found.confidence is None
    # The nearest neighbours all say so, but are right in 85 of 100 cases only.
    assert fused(a=said(distribution({"x": 1.0, "y": 0.0}), 0.85)).confidence == pytest.approx(0.85)
    assert fused(a=said(ranking(("x", "y", "z")), 0.9)).confidence == pytest.approx(0.9)


def test_a_draw_has_no_confidence_and_nobody_behind_it() -> None:
    found = fused(a=said(yes_no(True), 0.8), b=said(yes_no(False), 0.8))
    assert (found.conclusion.value, found.confidence, found.agreement) == (None, None, 0)
    assert found.basis == "yes and no weigh the same" and found.disagreements == (("a", "b"),)


def test_options_that_weigh_the_same_are_said_to() -> None:
    found = fused(a=said(choice("x", {"x": 1, "y": 0})), b=said(choice("y", {"x": 0, "y": 1})))
    assert found.conclusion.value == "x" and "x and y weigh the same, the first is taken" in found.basis


def test_options_that_one_method_tells_apart_stay_apart() -> None:
    found = fused({"a": 2, "b": 1}, a=said(distribution({"it": 0.3, "IT": 0.7}), 0.7), b=said(choice("IT"), 0.9))
    assert found.conclusion.value == "IT" and found.confidence == pytest.approx((2 * 0.7 + 0.9) / 3)
    met = fused(a=said(choice("Stra\u00dfe")), b=said(choice("STRASSE")), c=said(choice("Caf\u00e9")))
    assert met.agreements == (("a", "b"),)
    assert fused(a=said(choice("Caf\u00e9")), b=said(choice("cafe\u0301"))).agreement == 1


def test_of_options_with_nothing_in_common_the_heaviest_count() -> None:
    found = fused({"a": 1, "b": 2}, a=said(choice("red")), b=said(choice("Tuesday")))
    assert found.conclusion.value == "Tuesday" and found.parts[0].stance == "apart"
    colours, days = said(choice("red")), said(choice("Tuesday"))
    found = fused({"a": 2, "b": 2, "c": 3, "d": 3}, a=colours, b=colours, c=days, d=days)
    assert [part.stance for part in found.parts] == ["apart", "apart", "for", "for"]
    assert dict(found.conclusion.scores) == {"Tuesday": 1.0}


def test_the_interval_holds_every_number_that_agrees() -> None:
    found = fused(a=said(quantity(100, (99, 101))), b=said(quantity(109)))
    assert found.conclusion.value == pytest.approx(104.5) and found.conclusion.interval == (99, 109)


def test_the_heaviest_words_count_with_their_confidence() -> None:
    found = fused(a=said(words("x")), b=said(words("y"), 0.6), c=said(words("y"), 0.8))
    assert found.conclusion.value == "y" and [part.stance for part in found.parts] == [
        "against",
        "for",
        "for",
    ]
    assert found.confidence == pytest.approx((0 + 0.6 + 0.8) / 3)


def test_how_alike_sets_are_is_no_probability() -> None:
    found = fused(a=said(names(("p", "q")), 0.9), b=said(names(("p", "q")), 0.8))
    assert found.confidence == pytest.approx(0.85)
    found = fused({"a": 3, "b": 1}, a=said(names(("p", "q")), 0.9), b=said(names(("p",)), 0.8))
    assert found.conclusion.value == ("p", "q") and found.confidence == pytest.approx(3 * 0.9 / 4)
