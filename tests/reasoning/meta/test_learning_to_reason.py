import pytest

from mabos_cli.core.knowledge.case import KeptResult
from mabos_cli.reasoning.meta.learning_to_reason import (
    Record,
    find_factors,
    learned_scores,
)
from reasoning.solving import refused, solve


def past(method, happened, **kind):
    return KeptResult("R-1", method, "", None, happened, "2026-01-01T00:00:00Z", tuple(kind.items()))


def episodes(**counts):
    """Uses of methods, as right and wrong: causal=(3, 1)."""
    return [
        {"method": name.replace("_", "-"), "right": right}
        for name, (good, bad) in counts.items()
        for right in [True] * good + [False] * bad
    ]


def test_rule_of_succession() -> None:
    """Laplace: after 3 of 4 the mean is 4/6. Nothing known is one half, and the interval is everything."""
    assert Record(3, 4).mean == pytest.approx(4 / 6)
    assert (Record(0, 0).mean, Record(0, 0).low, Record(0, 0).high) == (0.5, 0, 1)
    assert 0.5 < Record(9, 9).low < 0.95 and Record(9, 9).high == 1


def test_few_successes_do_not_beat_many() -> None:
    """2 of 2 has the better raw rate, 18 of 20 the better lower bound."""
    answer = solve("learning-to-reason", {"episodes": episodes(causal=(2, 0), bayesian=(18, 2))})
    assert answer.conclusion.value == ("bayesian", "causal")
    assert answer.detail["enough"] == ["bayesian"]
    assert "fewer than 5 results: causal" in answer.caveats


def test_factors_shrink_towards_all_together() -> None:
    """With a base rate of 1/2 and four prior cases: (8 + 2) / 12 / (1/2) and (0 + 2) / 12 / (1/2)."""
    factors = find_factors({"a": Record(8, 8), "b": Record(0, 8)})
    assert factors == pytest.approx({"a": 5 / 3, "b": 1 / 3})
    assert find_factors({"a": Record(3, 6), "b": Record(1, 2)}) == pytest.approx({"a": 1, "b": 1})
    assert find_factors({"a": Record(0, 4)}) == {"a": 0.5}
    assert find_factors({}) == {}


def test_own_results_count_where_the_outcome_is_known() -> None:
    own = (past("causal", True), past("causal", None), past("bayesian", False))
    assert learned_scores(own) == {"bayesian": Record(0, 1), "causal": Record(1, 1)}
    answer = solve("learning-to-reason", {}, past=own)
    assert answer.detail["results"] == 2
    assert answer.conclusion.value[0] == "causal"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("least: 3", "episodes: no result has a known outcome"),
        ("episodes: [{method: bayes, right: yes}]", "episodes[1].method: unknown method 'bayes'"),
        ("episodes: [{method: causal, right: perhaps}]", "episodes[1].right: must be yes or no"),
    ],
)
def test_refusals(said: str, message: str) -> None:
    assert refused("learning-to-reason", said).startswith(message)
