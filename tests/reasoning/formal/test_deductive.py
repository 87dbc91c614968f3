"""Deduction: proofs from facts and rules, and propositional arguments."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.rule import Pattern, Rule
from reasoning.solving import refused, solve, solve_yaml

CRIMINAL = """
facts:
  - Nono owns M1
  - M1 isA missile
  - Nono enemyOf America
  - West isA American
rules:
  - if ?m isA missile and Nono owns ?m then West sellsToNono ?m
  - if ?m isA missile then ?m isA weapon
  - if ?n enemyOf America then ?n isA hostile
  - if ?p isA American and ?w isA weapon and ?p sellsToNono ?w and Nono isA hostile then ?p isA criminal
"""


def test_the_colonel_is_a_criminal():
    """Russell and Norvig, Artificial Intelligence, section 9.3: the crime example."""
    answer = solve_yaml("deductive", CRIMINAL + "goal: West isA criminal")
    assert answer.conclusion.value is True and answer.confidence == 1.0
    used = [tuple(step["triple"]) for step in answer.detail["proofs"][0]]
    assert used[-1] == ("West", "isA", "criminal") and ("Nono", "isA", "hostile") in used
    assert len(used) == 8 == len(set(used))


def test_a_goal_with_a_variable_is_answered_by_all_that_fits():
    answer = solve_yaml("deductive", CRIMINAL + "goal: ?x isA weapon")
    assert (answer.conclusion.kind, answer.conclusion.value) == ("names", ("M1",))
    assert solve_yaml("deductive", CRIMINAL + "goal: ?x isA tank").conclusion.value == ()
    both = solve_yaml("deductive", CRIMINAL + "goal: ?x isA ?y")
    assert "West isA criminal" in both.conclusion.value and len(both.conclusion.value) == 5


def test_confidence_is_that_of_the_weakest_support_times_the_factor():
    """Not the product of the supports, which would be 0.8 * 0.6 * 0.9."""
    answer = solve_yaml(
        "deductive",
        """
        goal: acme is risky
        facts:
          - {subject: acme, predicate: pays, object: late, confidence: 0.8}
          - {subject: acme, predicate: debt, object: 500, confidence: 0.6}
        rules: [{if: "?x pays late and ?x debt > 100", then: "?x is risky", factor: 0.9}]
        """,
    )
    assert abs(answer.confidence - 0.54) < 1e-12


def test_what_cannot_be_proved_is_open():
    text = (
        'goal: acme is risky\nfacts: [acme pays late]\nrules: ["if ?x pays late and ?x debt high then ?x is risky"]\n'
    )
    answer = solve_yaml("deductive", text)
    assert answer.conclusion.value is None and answer.confidence is None
    assert answer.detail["missing"] == [["acme debt high"]]


def test_own_facts_count_only_while_they_hold():
    own = {
        "facts": (
            Fact("F-1", "acme", "pays", "late", valid_until="2026-01-31"),
            Fact("F-2", "globex", "pays", "late"),
        ),
        "rules": (Rule("R-1", "", "inference", (Pattern("?x", "pays", "late"),), Pattern("?x", "is", "risky")),),
    }
    answer = solve("deductive", {"goal": "?x is risky"}, **own)
    assert answer.conclusion.value == ("globex",) and answer.confidence == 0.9
    assert answer.caveats == ("1 of 2 facts do not hold now and were left out",)


def test_a_goal_may_compare():
    text = "facts: [acme revenue $60k, globex revenue $20k]\nrules: []\ngoal: "
    assert solve_yaml("deductive", text + "?x revenue > 50000").conclusion.value == ("acme",)
    assert solve_yaml("deductive", text + "globex revenue > 50000").conclusion.value is None


def test_long_chains_are_proved():
    facts = [f"n{n} next n{n + 1}" for n in range(1500)]
    rules = ["if ?x next ?y then ?x before ?y", "if ?x next ?y and ?y before ?z then ?x before ?z"]
    answer = solve("deductive", {"goal": "n0 before n1500", "facts": facts, "rules": rules})
    assert answer.conclusion.value is True and len(answer.steps) <= 12


def test_copi_arguments():
    """Copi, Introduction to Logic: constructive dilemma and disjunctive syllogism are valid, affirming the consequent is not."""
    dilemma = 'premises: ["(p -> q) & (r -> s)", "p | r"]\nconclusion: q | s'
    assert solve_yaml("deductive", dilemma).detail["status"] == "valid"
    answer = solve_yaml("deductive", 'premises: ["p -> q", "q"]\nconclusion: p')
    assert answer.conclusion.value is None and answer.detail["counter_model"] == {"p": False, "q": True}
    syllogism = solve_yaml("deductive", 'premises: ["a -> b", "p | q", "not p"]\nconclusion: q')
    assert syllogism.conclusion.value is True and syllogism.confidence == 1.0
    assert syllogism.detail["used"] == ["p | q", "not p"]


def test_what_contradicts_the_premises_is_false_and_contradictory_premises_prove_nothing():
    assert solve_yaml("deductive", 'premises: ["p -> q", "not q"]\nconclusion: p').conclusion.value is False
    answer = solve_yaml("deductive", 'premises: ["p", "r", "p -> q", "not q"]\nconclusion: r')
    assert answer.conclusion.value is None and answer.detail["used"] == ["p", "p -> q", "not q"]


FORMULAS = st.recursive(
    st.sampled_from(["p", "q", "r", "true", "false"]),
    lambda inner: st.one_of(
        inner.map("not ({})".format),
        st.builds("({}) {} ({})".format, inner, st.sampled_from(["and", "or", "->", "<->"]), inner),
    ),
    max_leaves=12,
)


def truth_of(formula, values):
    """Returns the truth of a formula, computed by Python."""
    code = formula.replace("<->", "==").replace("->", "<=").replace("true", "True").replace("false", "False")
    return bool(eval(code, {}, values))


@settings(max_examples=80, deadline=None)
@given(st.lists(FORMULAS, min_size=1, max_size=4), FORMULAS)
def test_verdicts_are_those_of_the_truth_table(premises, conclusion):
    rows = [dict(zip("pqr", row, strict=True)) for row in product((False, True), repeat=3)]
    left = [row for row in rows if all(truth_of(one, row) for one in premises)]
    truths = {truth_of(conclusion, row) for row in left}
    answer = solve("deductive", {"premises": premises, "conclusion": conclusion})
    assert answer.conclusion.value is (next(iter(truths)) if len(truths) == 1 else None)
    if len(truths) == 2:
        model = dict.fromkeys("pqr", False) | answer.detail["model"]
        assert all(truth_of(one, model) for one in (*premises, conclusion))


def test_five_pigeons_do_not_fit_into_four_holes():
    """Haken 1985: the pigeonhole formulas; hard for resolution, but small ones are decided."""
    homes = [" | ".join(f"p{i}h{j}" for j in range(4)) for i in range(5)]
    alone = [
        f"not (p{i}h{j} & p{k}h{j})"
        for j in range(4)
        for i in range(5)
        for k in range(i)
    ]  # fmt: skip
    answer = solve("deductive", {"premises": homes + alone, "conclusion": "p0h0"})
    assert answer.detail["status"] == "inconsistent" and len(answer.detail["used"]) == 45


def test_more_statements_than_can_be_tried_are_refused():
    many = " | ".join(f"p{n}" for n in range(21))
    assert "21 statements are too many; the limit is 20" in refused("deductive", f"premises: [{many}]\nconclusion: p1")


def test_bad_input_is_refused():
    assert refused("deductive", "facts: []") == "goal: give a goal, or premises and a conclusion"
    assert refused("deductive", "goal: a b c\npremises: [p]\nconclusion: p").endswith("not both")
    assert refused("deductive", "premises: [p]") == "conclusion: is missing"
    assert refused("deductive", "goal: a ?p c\nfacts: []\nrules: []") == "goal: needs a predicate"
    assert "premises[1]: ends too early" in refused("deductive", "premises: ['p ->']\nconclusion: p")
    assert "modal reasoning" in refused("deductive", "premises: ['[]p']\nconclusion: p")
    assert "compares with ?y" in refused("deductive", "goal: ?x revenue > ?y\nfacts: []\nrules: []")


def test_long_formulas_do_not_exhaust_the_stack():
    answer = solve("deductive", {"premises": ["&".join(["p"] * 140)], "conclusion": "p"})
    assert answer.conclusion.value is True


@pytest.mark.parametrize(("sure", "confidence"), [(1, 1), (0.9, None)])
def test_several_instances_are_as_sure_as_all_of_them_together(sure: float, confidence: float | None):
    facts = [{"subject": name, "predicate": "isA", "object": "bank", "confidence": sure} for name in "ab"]
    answer = solve("deductive", {"goal": "?x isA bank", "facts": facts, "rules": []})
    assert answer.conclusion.value == ("a", "b") and answer.confidence == confidence
    assert answer.detail["instances"] == {"a": sure, "b": sure}
