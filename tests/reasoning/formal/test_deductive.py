"""Deduction: proofs from facts and rules, and propositional arguments."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.rule import Pattern, Rule
from mabos_cli.reasoning.formal.deductive import QUESTIONS, SHAPE, Decider
from mabos_cli.reasoning.formal.formula import Formula, parse_formula, render_formula
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


def test_what_cannot_be_proved_is_open_and_false_only_in_a_closed_world():
    text = (
        'goal: acme is risky\nfacts: [acme pays late]\nrules: ["if ?x pays late and ?x debt high then ?x is risky"]\n'
    )
    answer = solve_yaml("deductive", text)
    assert answer.conclusion.value is None and answer.confidence is None
    assert answer.detail["missing"] == [["acme debt high"]]
    assert solve_yaml("deductive", text + "closed_world: yes").conclusion.value is False


def test_a_goal_is_refuted_by_its_negation_or_by_another_value():
    text = "goal: acme tier gold\nrules: []\nfacts: [acme tier silver, acme isNot gold]\n"
    assert solve_yaml("deductive", text).conclusion.value is None
    assert solve_yaml("deductive", text + "not_goal: acme isNot gold").conclusion.value is False
    assert solve_yaml("deductive", text + "functional: [tier]").conclusion.value is False
    contradictory = text.replace("[acme tier silver", "[acme tier gold") + "not_goal: acme isNot gold"
    answer = solve_yaml("deductive", contradictory)
    assert answer.conclusion.value is None and "contradicts itself" in answer.summary


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
    st.sampled_from([Formula("atom", name) for name in "pqr"] + [Formula("true"), Formula("false")]),
    lambda inner: st.one_of(
        st.builds(lambda a: Formula("not", "", (a,)), inner),
        st.builds(lambda op, a, b: Formula(op, "", (a, b)), st.sampled_from(["and", "or", "implies", "iff"]), inner, inner),
    ),
    max_leaves=12,
)  # fmt: skip


def truth_of(formula, values):
    parts = [truth_of(part, values) for part in formula.parts]
    told = {
        "atom": lambda: values[formula.name],
        "true": lambda: True,
        "false": lambda: False,
        "not": lambda: not parts[0],
        "and": lambda: parts[0] and parts[1],
        "or": lambda: parts[0] or parts[1],
        "implies": lambda: not parts[0] or parts[1],
        "iff": lambda: parts[0] == parts[1],
    }
    return told[formula.op]()


@settings(max_examples=80, deadline=None)
@given(st.lists(FORMULAS, min_size=1, max_size=4))
def test_models_are_those_of_the_truth_table(formulas):
    rows = [dict(zip("pqr", row, strict=True)) for row in product((False, True), repeat=3)]
    possible = any(all(truth_of(one, row) for one in formulas) for row in rows)
    model = Decider().find_model(formulas)
    assert (model is not None) == possible
    if model is not None:
        assert all(truth_of(one, dict.fromkeys("pqr", False) | model) for one in formulas)
    assert parse_formula(render_formula(formulas[0])) == formulas[0]


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


def pigeons(count, holes):
    """Premises that put pigeons into fewer holes, none of them twice."""
    homes = [" | ".join(f"p{i}h{j}" for j in range(holes)) for i in range(count)]
    pairs = [f"!(p{i}h{j} & p{k}h{j})" for j in range(holes) for i in range(count) for k in range(i)]
    return homes + [" & ".join(pairs[n : n + 20]) for n in range(0, len(pairs), 20)]


def test_what_is_too_hard_is_refused_and_not_guessed():
    with pytest.raises(ValueError, match="undecided after 1,000,000 steps"):
        solve("deductive", {"premises": pigeons(10, 9), "conclusion": "p0h0"})


def test_bad_input_is_refused():
    assert refused("deductive", "facts: []") == "goal: give a goal, or premises and a conclusion"
    assert refused("deductive", "goal: a b c\npremises: [p]\nconclusion: p").endswith("not both")
    assert refused("deductive", "premises: [p]") == "conclusion: is missing"
    assert refused("deductive", "goal: a ?p c\nfacts: []\nrules: []") == "goal: needs a predicate"
    assert "premises[1]: expected a statement" in refused("deductive", "premises: ['p ->']\nconclusion: p")
    assert "modal reasoning" in refused("deductive", "premises: ['[]p']\nconclusion: p")
    assert "compares with ?y" in refused("deductive", "goal: ?x revenue > ?y\nfacts: []\nrules: []")


def test_long_formulas_do_not_exhaust_the_stack():
    answer = solve("deductive", {"premises": ["&".join(["p"] * 140)], "conclusion": "p"})
    assert answer.conclusion.value is True


def test_the_frame_is_there():
    assert SHAPE.kind == "record" and 3 <= len(QUESTIONS) <= 6


@pytest.mark.parametrize(("sure", "confidence"), [(1, 1), (0.9, None)])
def test_several_instances_are_as_sure_as_all_of_them_together(sure: float, confidence: float | None):
    facts = [{"subject": name, "predicate": "isA", "object": "bank", "confidence": sure} for name in "ab"]
    answer = solve("deductive", {"goal": "?x isA bank", "facts": facts, "rules": []})
    assert answer.conclusion.value == ("a", "b") and answer.confidence == confidence
    assert answer.detail["instances"] == {"a": sure, "b": sure}
