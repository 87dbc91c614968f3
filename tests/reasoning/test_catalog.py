"""The router: the seed's weights, and time pressure among equals."""

import pytest

from mabos_cli.core import BadValue
from mabos_cli.reasoning.catalog import ASPECTS, CATEGORIES, METHODS, WEIGHTS, parse_classification, score_methods


def test_the_catalogue_holds_thirty_five() -> None:
    per = [sum(m.category == category for m in METHODS.values()) for category in CATEGORIES]
    assert per == [10, 5, 5, 5, 5, 5]
    for method in METHODS.values():
        for aspect in WEIGHTS:
            ideal = getattr(method, aspect)
            assert ideal and set(ideal) <= set(ASPECTS[aspect]) and len(set(ideal)) == len(ideal)
        assert method.effort in (1, 2, 3) and method.about.endswith(".")


def test_weights_are_the_seeds() -> None:
    assert WEIGHTS == {
        "uncertainty": 0.2,
        "complexity": 0.2,
        "domain": 0.3,
        "data_availability": 0.15,
        "stakes": 0.15,
    }
    assert sum(WEIGHTS.values()) == pytest.approx(1)


def test_score_adds_what_matches() -> None:
    given = {"uncertainty": "high", "complexity": "complex", "domain": "empirical", "stakes": "high"}
    scores = {one.method.name: one for one in score_methods(given)}
    assert scores["monte-carlo"].score == pytest.approx(0.85)
    assert scores["monte-carlo"].matched == ("uncertainty", "complexity", "domain", "stakes")
    assert scores["social-choice"].score == 0
    assert scores["bayesian"].score == pytest.approx(0.2 + 0.3 + 0.15)


def test_an_ideal_problem_scores_one_and_comes_first() -> None:
    for method in METHODS.values():
        given = {aspect: getattr(method, aspect)[0] for aspect in WEIGHTS}
        best = score_methods(given)
        assert best[0].score == pytest.approx(1)
        assert method.name in [one.method.name for one in best if one.score == best[0].score]


def test_time_pressure_breaks_ties_only() -> None:
    base = {"domain": "empirical"}
    urgent = score_methods(base | {"time_pressure": "urgent"})
    calm = score_methods(base | {"time_pressure": "none"})
    top = [one for one in urgent if one.score == urgent[0].score]
    assert [one.method.effort for one in top] == sorted(one.method.effort for one in top)
    assert calm[0].method.effort == 3 and urgent[0].method.effort == 1
    assert {one.method.name: one.score for one in urgent} == {one.method.name: one.score for one in calm}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("uncertanty=high", "cannot read 'uncertanty=high' as an aspect of the problem"),
        ("uncertainty", "cannot read 'uncertainty' as an aspect of the problem"),
        ("uncertainty=huge", "uncertainty cannot be 'huge'"),
        ("stakes=low,stakes=high", "stakes is given twice"),
        ("", "nothing to choose a method by"),
        ("time_pressure=urgent", "nothing to choose a method by"),
    ],
)
def test_bad_classifications(text: str, message: str) -> None:
    with pytest.raises(BadValue) as caught:
        parse_classification(text)
    assert caught.value.message == message and caught.value.hint
