"""Backward chaining proves what forward chaining derives, with the same confidence, and says what else would be needed."""

import random
from datetime import UTC, datetime

import pytest

from core.rulesets import LINEAR, random_facts, random_rules
from mabos_cli.core.knowledge.backward import backward_chain
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.forward import forward_chain
from mabos_cli.core.knowledge.rule import Pattern, Rule

P = Pattern
FACTS = [
    Fact("F-1", "acme", "revenue", "$60,000", 0.8),
    Fact("F-2", "acme", "in", "US"),
    Fact("F-3", "bolt", "revenue", "$1M"),
    Fact("F-4", "cask", "in", "US"),
]
TAX = Rule(
    "R-1",
    "",
    "inference",
    (P("?x", "revenue", "$50k", "gt"), P("?x", "in", "US")),
    P("?x", "taxable", "true"),
)
AUDIT = Rule("R-2", "", "inference", (P("?x", "taxable", "true"), P("?x", "listed", "yes")), P("?x", "audited", "yes"))


def chain(length):
    return [Fact(f"F-{n}", f"n{n:03}", "edge", f"n{n + 1:03}") for n in range(length)]


def test_a_proof_is_a_tree_of_rules_and_facts():
    found = backward_chain(("acme", "taxable", "true"), FACTS, [TAX, AUDIT])
    assert found.status == "PROVEN" and found.why == "1 step"
    (proof,) = found.proofs
    assert proof.rule is TAX and proof.confidence == 0.8 * 0.9
    assert [part.fact.id for part in proof.parts] == ["F-1", "F-2"]


def test_a_fact_proves_itself():
    found = backward_chain(("acme", "in", "*"), FACTS, [TAX], depth=0)
    assert found.status == "PROVEN" and found.proofs[0].fact == FACTS[1] and found.why == "a fact"
    everyone = backward_chain(("?who", "in", "US"), FACTS, [])
    assert [proof.triple[0] for proof in everyone.proofs] == ["acme", "cask"]


def test_what_is_missing_is_told_nearest_first():
    other = Rule("R-3", "", "inference", (P("?x", "fined", "yes"),), P("?x", "audited", "yes"))
    found = backward_chain(("bolt", "audited", "yes"), FACTS, [TAX, AUDIT, other])
    assert found.status == "POTENTIALLY_DERIVABLE"
    assert [(gap.rule.id, [tuple(one[:3]) for one in gap.assumptions]) for gap in found.gaps] == [
        ("R-3", [("bolt", "fined", "yes")]),
        ("R-2", [("bolt", "in", "US"), ("bolt", "listed", "yes")]),
    ]
    assert [step.rule.id for step in found.gaps[1].steps] == ["R-1"]
    assert [fact.id for fact in found.gaps[1].supports] == ["F-3"]


def test_asserting_what_is_missing_proves_it():
    for goal in (("bolt", "audited", "yes"), ("cask", "audited", "yes"), ("new", "audited", "yes")):
        gap = backward_chain(goal, FACTS, [TAX, AUDIT]).gaps[0]
        more = [
            Fact(f"N-{n}", one.subject, one.predicate, "$51k" if one.operator == "gt" else one.object)
            for n, one in enumerate(gap.assumptions)
        ]
        assert backward_chain(goal, FACTS + more, [TAX, AUDIT]).status == "PROVEN"


@pytest.mark.parametrize(
    ("goal", "why"),
    [
        (("acme", "unknown", "x"), "no rule concludes unknown"),
        (("acme", "taxable", "false"), "conclude it of something else"),
        (("acme", "*", "x"), "needs a predicate"),
        (("acme", "?p", "x"), "needs a predicate"),
    ],
)
def test_what_cannot_be_proven_says_why(goal, why):
    found = backward_chain(goal, FACTS, [TAX, AUDIT])
    assert found.status == "CANNOT_PROVE" and why in found.why and not found.proofs and not found.gaps


def test_depth_bounds_the_proof():
    for rules in (
        LINEAR,
        [LINEAR[0], LINEAR[1]._replace(conditions=(P("?x", "path", "?y"), P("?y", "edge", "?z")))],
    ):
        for goal in (("n000", "path", "n005"), ("n000", "path", "*"), ("*", "path", "n005")):
            found = backward_chain(goal, chain(9), rules)
            assert ("n000", "path", "n005") in {proof.triple for proof in found.proofs}
            assert max(proof.depth for proof in found.proofs) <= 5
            four = backward_chain(goal, chain(9), rules, depth=4)
            assert ("n000", "path", "n005") not in {proof.triple for proof in four.proofs}
    assert backward_chain(("n000", "path", "n005"), chain(9), LINEAR, depth=0).status == "CANNOT_PROVE"


def test_a_short_proof_is_found_behind_a_surer_long_one():
    facts = [*chain(7), Fact("F-9", "n000", "edge", "n007", 0.2)]
    assert forward_chain(facts, LINEAR).derived[6].confidence == pytest.approx(0.9**7)
    found = backward_chain(("n000", "path", "n007"), facts, LINEAR)
    assert (found.proofs[0].depth, found.proofs[0].confidence) == (1, 0.2 * 0.9)
    assert backward_chain(("n000", "path", "n007"), facts, LINEAR, depth=7).proofs[0].depth == 7


def test_loops_end():
    same = Rule("R-1", "", "inference", (P("?y", "knows", "?x"),), P("?x", "knows", "?y"))
    more = Rule("R-2", "", "inference", (P("?x", "knows", "?y"), P("?y", "knows", "?z")), P("?x", "knows", "?z"))
    facts = [Fact("F-1", "a", "knows", "b"), Fact("F-2", "b", "knows", "c")]
    assert backward_chain(("c", "knows", "a"), facts, [same, more]).status == "PROVEN"
    assert backward_chain(("c", "knows", "d"), facts, [same, more]).status == "POTENTIALLY_DERIVABLE"
    itself = Rule("R-1", "", "inference", (P("?x", "is", "?y"),), P("?x", "is", "?y"))
    assert backward_chain(("a", "is", "b"), facts, [itself]).status == "POTENTIALLY_DERIVABLE"


def test_many_ways_do_not_explode():
    """Twenty layers, each joined with the next in nine ways: 3^20 paths."""
    facts = [
        Fact(f"F-{n}-{a}-{b}", f"n{n}.{a}", "edge", f"n{n + 1}.{b}")
        for n in range(20)
        for a in range(3)
        for b in range(3)
    ]
    found = backward_chain(("n0.0", "path", "n20.2"), facts, LINEAR, depth=20)
    assert found.status == "PROVEN" and found.proofs[0].depth == 20 and not found.is_cut
    cut = backward_chain(("n0.0", "path", "n20.2"), facts, LINEAR, depth=20, most_steps=50)
    assert cut.is_cut and cut.status == "POTENTIALLY_DERIVABLE"


@pytest.mark.parametrize("seed", range(80))
def test_agrees_with_forward(seed):
    """What follows is proven with the same confidence, by the same rule, for the same times; what does not follow is not."""
    draw = random.Random(seed)
    facts = random_facts(draw, draw.randint(2, 20), 5, weighed=True, timed=seed % 4 == 0)
    rules = random_rules(draw, draw.randint(1, 6), weighed=True)
    derived = forward_chain(facts, rules).derived
    given = {fact.triple for fact in facts}
    for predicate in ("s", "t", "u"):
        everything = backward_chain(("*", predicate, "*"), facts, rules, depth=50).proofs
        assert {proof.triple for proof in everything if proof.fact is None} == {
            fact.triple for fact in derived if fact.predicate == predicate
        }
    for triple in {fact.triple for fact in derived}:
        held = [(fact.confidence, fact.rule_id) for fact in derived if fact.triple == triple]
        found = [proof for proof in backward_chain(triple, facts, rules, depth=50).proofs if proof.rule]
        assert {sure for sure, _ in held} == {proof.confidence for proof in found}
        if seed % 4:
            assert [(proof.confidence, proof.rule.id) for proof in found] == held and triple not in given
            near = backward_chain(triple, facts, rules, depth=found[0].depth)
            assert (near.status, near.proofs[0].confidence) == ("PROVEN", found[0].confidence)
    assert backward_chain(("e0", "s", "nothing"), facts, rules).status != "PROVEN"


def test_what_ended_is_proven_with_its_dates():
    facts = [
        Fact("F-1", "ann", "worksFor", "acme", valid_from="2020-01-01", valid_until="2021-12-31"),
        Fact("F-2", "ann", "worksFor", "acme", valid_from="2024-01-01"),
    ]
    found = backward_chain(("ann", "worksFor", "acme"), facts, [])
    assert [(proof.valid_from, proof.valid_until) for proof in found.proofs] == [
        ("2020-01-01", "2021-12-31"),
        ("2024-01-01", ""),
    ]
    assert found.why == "a fact, from 2020-01-01 until 2021-12-31; from 2024-01-01"
    between = backward_chain(("ann", "worksFor", "acme"), facts, [], at=datetime(2022, 6, 1, tzinfo=UTC))
    assert between.status == "CANNOT_PROVE"
    assert between.why == "not then: it holds from 2020-01-01 until 2021-12-31; from 2024-01-01"


def test_a_goal_derives_only_what_it_needs():
    """Of 1,500 things in a row, the closure would have a million pairs."""
    found = backward_chain(("n000", "path", "n1400"), chain(1_500), LINEAR, depth=2_000)
    assert found.status == "PROVEN" and found.proofs[0].depth == 1_400 and not found.is_cut


def test_same_variable_twice_means_the_same():
    facts = [Fact("F-1", "a", "knows", "b"), Fact("F-2", "c", "knows", "c")]
    assert [proof.triple[0] for proof in backward_chain(("?x", "knows", "?x"), facts, []).proofs] == ["c"]
