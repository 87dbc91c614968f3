"""Abduction: lean and likely sets of hypotheses."""

import math
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.reasoning.formal.abductive import Cause, log_joint, minimal_covers, posterior
from reasoning.solving import refused, solve, solve_yaml


def test_the_fewest_hypotheses_win_where_greed_takes_three():
    """The textbook trap for greedy set cover (Vazirani, Approximation Algorithms, chapter 2): the largest set comes first there."""
    answer = solve_yaml(
        "abductive",
        """
        observations: [o1, o2, o3, o4, o5, o6]
        hypotheses:
          large: {explains: [o2, o3, o5, o6]}
          top: {explains: [o1, o2, o3]}
          bottom: {explains: [o4, o5, o6]}
        """,
    )
    assert answer.conclusion.kind == "names" and answer.conclusion.value == ("top", "bottom")
    assert answer.confidence is None and answer.detail["explanation_count"] == 1


def test_noisy_or_of_fever():
    """Russell and Norvig, Artificial Intelligence, section 14.3: P(fever | causes) of cold 0.4, flu 0.8, malaria 0.9."""
    causes = [
        Cause("cold", {"fever": 0.4}, 0.5),
        Cause("flu", {"fever": 0.8}, 0.5),
        Cause("malaria", {"fever": 0.9}, 0.5),
    ]
    table = {
        (): 0.0,
        (0,): 0.4,
        (1,): 0.8,
        (2,): 0.9,
        (0, 1): 0.88,
        (0, 2): 0.94,
        (1, 2): 0.98,
        (0, 1, 2): 0.988,
    }
    for chosen, chance in table.items():
        assert math.exp(log_joint(causes, chosen, ["fever"], ())) == pytest.approx(chance / 8)


def test_probabilities_are_those_of_the_whole_model_and_not_of_single_causes():
    """Two causes, prior 0.1 and 0.2, sure effects: P(a | e) = 0.1 / 0.28. Bayes over the two alone would give 0.1 / 0.3."""
    text = "observations: [e]\nhypotheses:\n  a: {explains: [e], prior: 0.1}\n  b: {explains: [e], prior: 0.2}\n"
    answer = solve_yaml("abductive", text)
    assert answer.conclusion.value == "b" and answer.confidence == pytest.approx(0.2 / 0.28)
    assert dict(answer.conclusion.scores)["a"] == pytest.approx(0.1 / 0.28)


def test_what_is_absent_speaks_against_what_would_bring_it_about():
    text = "observations: [e]\nabsent: [f]\nhypotheses:\n  a: {explains: {e: 1, f: 0.9}, prior: 0.4}\n  b: {explains: [e], prior: 0.1}\n"
    answer = solve_yaml("abductive", text)
    assert answer.conclusion.value == "b"
    assert solve_yaml("abductive", text.replace("absent: [f]\n", "")).conclusion.value == "a"
    certain = "observations: [e]\nabsent: [f]\nhypotheses:\n  a: {explains: [e, f]}\n  b: {explains: [e]}\n"
    assert solve_yaml("abductive", certain).conclusion.value == "b"


MODELS = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from("wxyz"), st.sampled_from([0.3, 0.8, 1.0]), min_size=1),
        st.sampled_from([0.05, 0.3, 0.6]),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(MODELS, st.sets(st.sampled_from("wxyz"), min_size=1))
def test_covers_and_probabilities_against_brute_force(rows, seen):
    causes = [Cause(str(n), strengths, prior) for n, (strengths, prior) in enumerate(rows)]
    effects = sorted(seen)
    absent = [one for one in "wxyz" if one not in seen]

    def covered(chosen):
        return seen <= {effect for c in chosen for effect in causes[c].strengths}

    subsets = [s for size in range(len(causes) + 1) for s in combinations(range(len(causes)), size)]
    lean = [s for s in subsets if covered(s) and not any(covered([o for o in s if o != c]) for c in s)]
    assert minimal_covers(causes, effects) == lean
    joint = {}
    for flags in product((0, 1), repeat=len(causes)):
        chance = 1.0
        for flag, (_, prior) in zip(flags, rows, strict=True):
            chance *= prior if flag else 1 - prior
        for effect in "wxyz":
            off = 1.0
            for flag, (strengths, _) in zip(flags, rows, strict=True):
                off *= 1 - flag * strengths.get(effect, 0)
            chance *= 1 - off if effect in seen else off
        joint[tuple(n for n, flag in enumerate(flags) if flag)] = chance
    total = sum(joint.values())
    shares = posterior(causes, effects, absent)
    assert set(shares) == {chosen for chosen, chance in joint.items() if chance > 0}
    for chosen, share in shares.items():
        assert share == pytest.approx(joint[chosen] / total)


def test_what_nothing_explains_is_named_and_takes_the_confidence_away():
    answer = solve_yaml("abductive", "observations: [a, odd]\nhypotheses:\n  h: {explains: [a], prior: 0.2}\n")
    assert answer.conclusion.value == "h" and answer.confidence is None
    assert answer.detail["unexplained"] == ["odd"] and "1 of 2 observations" in answer.summary


def test_a_tie_is_told():
    answer = solve_yaml("abductive", "observations: [a]\nhypotheses:\n  g: {explains: a}\n  h: {explains: a}\n")
    assert answer.conclusion.value == "g" and "equally good" in answer.caveats[0]


def test_bad_input_is_refused():
    assert refused("abductive", "observations: [a]") == "hypotheses: is missing"
    assert refused("abductive", "hypotheses: {h: {explains: [a]}}") == "observations: is missing"
    assert "occurs twice" in refused("abductive", "observations: [a, a]\nhypotheses: {h: {explains: [a]}}")
    assert "must be from 0 to 1" in refused("abductive", "observations: [a]\nhypotheses: {h: {explains: {a: 2}}}")
    assert "must be a list" in refused("abductive", "observations: [a]\nhypotheses: {h: {explains: []}}")
    assert "none explains any" in refused("abductive", "observations: [a]\nhypotheses: {h: {explains: [b]}}")
    assert "no set can have led" in refused(
        "abductive", "observations: [a]\nhypotheses: {h: {explains: [a], prior: 0}}"
    )
    assert "no set can have led" in refused(
        "abductive", "observations: [a]\nabsent: [b]\nhypotheses: {h: {explains: [a, b]}}"
    )
    assert "among the observations" in refused(
        "abductive", "observations: [a]\nabsent: [a]\nhypotheses: {h: {explains: [a]}}"
    )


def test_more_hypotheses_than_can_be_weighed_are_refused():
    hypotheses = {f"h{n}": {"explains": ["a"]} for n in range(15)}
    with pytest.raises(ValueError, match="15 hypotheses are too many"):
        solve("abductive", {"observations": ["a"], "hypotheses": hypotheses})


def test_what_is_there_in_any_case_keeps_no_explanation_from_being_found():
    """A background cause with prior 1 that is not needed: {leak} cannot be there alone, and yet leak explains the pool.
    P(leak | pool) = 0.1 / (0.1 + 0.9 * 0.2) by hand, for rain alone wets with 0.2."""
    hypotheses = {
        "leak": {"explains": ["pool"], "prior": 0.1},
        "rain": {"explains": {"pool": "20 %"}, "prior": 1},
    }
    answer = solve("abductive", {"observations": ["pool"], "hypotheses": hypotheses})
    assert answer.detail["probabilities"] == {"leak": pytest.approx(0.1 / 0.28), "rain": pytest.approx(1)}
    assert answer.conclusion.value == "rain" and answer.confidence == pytest.approx(1)
    rows = {tuple(row["hypotheses"]): row["probability"] for row in answer.detail["explanations"]}
    assert rows == {("rain",): pytest.approx(0.18 / 0.28), ("leak",): pytest.approx(0.1 / 0.28)}


def test_something_absent_that_nothing_predicts_is_told() -> None:
    given = "observations: [smoke]\nabsent: [alarm, rain]\nhypotheses:\n  fire: {explains: [smoke, alarm], prior: 0.1}\n  toast: {explains: [smoke], prior: 0.3}\n"
    answer = solve_yaml("abductive", given)
    assert answer.conclusion.value == "toast"
    assert "no hypothesis would bring about rain, so that it is absent says nothing" in answer.caveats
