"""Hypotheses for an observation are ranked by how much of them is known, and say what must be assumed."""

import random

import pytest

from core.rulesets import random_facts, random_rules
from mabos_cli.core.knowledge.explaining import abduce
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.matching import fill
from mabos_cli.core.knowledge.rule import Pattern, Rule

P = Pattern
FACTS = [
    Fact("F-1", "lawn", "is", "green"),
    Fact("F-2", "sky", "is", "cloudy"),
    Fact("F-3", "garden", "has", "sprinkler"),
    Fact("F-4", "bob", "owns", "garden"),
]
RAIN = Rule("R-1", "", "inference", (P("sky", "is", "cloudy"), P("sky", "sounds", "wet")), P("lawn", "is", "wet"))
SPRINKLER = Rule("R-2", "", "inference", (P("?g", "has", "sprinkler"), P("?o", "owns", "?g"), P("?o", "was", "home")),
                 P("lawn", "is", "wet"), confidence_factor=0.8)  # fmt: skip
HOME = Rule("R-3", "", "inference", (P("?o", "owns", "?g"), P("?o", "has", "holiday")), P("?o", "was", "home"))


def told(found):
    return [(one.rule.id, round(one.score, 4), [one[:3] for one in one.assumptions]) for one in found.hypotheses]


def test_score_is_the_supported_share_times_the_factor():
    found = abduce(("lawn", "is", "wet"), FACTS, [RAIN, SPRINKLER])
    assert told(found) == [
        ("R-2", round(2 / 3 * 0.8, 4), [("bob", "was", "home")]),
        ("R-1", 0.45, [("sky", "sounds", "wet")]),
    ]
    best = found.hypotheses[0]
    assert [fact.id for fact in best.supports] == ["F-3", "F-4"] and (best.supported, best.total) == (2, 3)
    assert best.bindings == (("?g", "garden"), ("?o", "bob")) and found.known == ()


def test_a_condition_may_follow_in_turn():
    found = abduce(("lawn", "is", "wet"), FACTS, [RAIN, SPRINKLER, HOME])
    best = found.hypotheses[0]
    assert told(found)[0] == ("R-2", round((2 + 0.45) / 3 * 0.8, 4), [("bob", "has", "holiday")])
    assert [step.rule.id for step in best.steps] == ["R-3"]
    assert [fact.id for fact in best.supports] == ["F-3", "F-4"]
    single = abduce(("lawn", "is", "wet"), FACTS, [RAIN, SPRINKLER, HOME], depth=1)
    assert single.hypotheses[0].steps == ()


def test_what_follows_already_needs_no_assumption():
    facts = [*FACTS, Fact("F-5", "bob", "has", "holiday")]
    best = abduce(("lawn", "is", "wet"), facts, [SPRINKLER, HOME]).hypotheses[0]
    assert best.assumptions == () and best.score == pytest.approx(0.8)
    assert [fact.rule_id for fact in best.supports] == ["", "", "R-3"]


def test_nothing_supported_scores_nothing():
    found = abduce(("lawn", "is", "wet"), [], [RAIN, SPRINKLER])
    assert [(one.rule.id, one.score, len(one.assumptions)) for one in found.hypotheses] == [
        ("R-1", 0.0, 2),
        ("R-2", 0.0, 3),
    ]
    assert found.hypotheses[1].assumptions[1] == P("?o", "owns", "?g")


def test_an_observation_may_be_open_or_known():
    assert abduce(("lawn", "is", "*"), FACTS, [RAIN]).known == (FACTS[0],)
    assert abduce(("moon", "is", "wet"), FACTS, [RAIN]).hypotheses == ()


def test_comparisons_are_kept_in_assumptions():
    rule = Rule(
        "R-1",
        "",
        "inference",
        (P("?x", "revenue", "$50k", "gt"), P("?x", "in", "US")),
        P("?x", "taxed", "yes"),
    )
    facts = [Fact("F-1", "acme", "in", "US"), Fact("F-2", "acme", "revenue", "$10")]
    (one,) = abduce(("acme", "taxed", "yes"), facts, [rule]).hypotheses
    assert one.assumptions == (P("acme", "revenue", "$50k", "gt"),)
    fixed = Rule("R-2", "", "inference", (P("?x", "has", "shop"),), P("?x", "revenue", "$20"))
    shop = Fact("F-3", "acme", "has", "shop")
    (one,) = abduce(("acme", "taxed", "yes"), [facts[0], shop], [rule, fixed]).hypotheses
    assert one.steps == () and one.assumptions == (P("acme", "revenue", "$50k", "gt"),)


def test_several_ways_of_one_rule_and_loops():
    rule = Rule("R-1", "", "inference", (P("?x", "knows", "?y"), P("?y", "trusts", "?x")), P("?x", "knows", "?y"))
    facts = [Fact(f"F-{n}", "a", "knows", f"b{n}") for n in range(9)]
    found = abduce(("a", "knows", "*"), facts, [rule], each=5)
    assert len(found.hypotheses) == 5 and len(found.known) == 9
    assert {one.score for one in found.hypotheses} == {0.45}


@pytest.mark.parametrize("seed", range(30))
def test_order_does_not_matter_and_scores_hold(seed):
    draw = random.Random(seed)
    facts, rules = random_facts(draw, 15, 5, weighed=True), random_rules(draw, 6, weighed=True)
    for goal in (("e1", "s", "e2"), ("*", "t", "e1"), ("e3", "u", "*")):
        found = abduce(goal, facts, rules)
        assert abduce(goal, draw.sample(facts, len(facts)), draw.sample(rules, len(rules))) == found
        scores = [one.score for one in found.hypotheses]
        assert scores == sorted(scores, reverse=True)
        for one in found.hypotheses:
            assert 0 <= one.score <= one.rule.confidence_factor
            assert one.supported < one.total or not one.assumptions
            assert bool(one.steps) or one.score == one.supported / one.total * one.rule.confidence_factor
            assert fill(one.rule.conclusion.subject, one.bindings) == one.conclusion.subject


def test_large_worlds_stay_quick():
    facts = [Fact(f"F-{n}", f"e{n}", f"p{n % 3}", f"e{n % 97}") for n in range(3000)]
    conditions = tuple(P(f"?v{n}", f"p{n % 3}", f"?v{n + 1}") for n in range(6))
    rule = Rule("R-1", "", "inference", (*conditions, P("?v6", "missing", "?v0")), P("?v0", "found", "?v6"))
    (one, *_) = abduce(("*", "found", "*"), facts, [rule]).hypotheses
    assert one.total == 7 and len(one.assumptions) >= 1
