"""Constraints are violated, and policies ask for actions, where all conditions hold at one time."""

import random

import pytest

from mabos_cli.core.knowledge.constraints import check_constraints, check_with_ontology, eval_policies
from mabos_cli.core.knowledge.fact import Fact, derived_id
from mabos_cli.core.knowledge.forward import forward_chain
from mabos_cli.core.knowledge.matching import JoinLimit, match
from mabos_cli.core.knowledge.ontology import Concept, Ontology
from mabos_cli.core.knowledge.relations import FactIndex
from mabos_cli.core.knowledge.rule import Pattern, Rule, check_rule
from mabos_cli.core.language.spans import span_texts
from mabos_cli.core.memory.trust import lowest_trust

P = Pattern
FACTS = [
    Fact("F-1", "acme", "revenue", "$60,000"),
    Fact("F-2", "acme", "in", "US"),
    Fact("F-3", "bolt", "revenue", "$1.2M"),
    Fact("F-4", "bolt", "in", "US"),
    Fact("F-5", "cask", "revenue", "€9M"),
    Fact("F-6", "cask", "in", "US"),
    Fact("F-7", "acme", "budget", "$70,000"),
    Fact("F-8", "bolt", "budget", "$1M"),
]


def rule(kind="constraint", *conditions, **more):
    return Rule(more.pop("id", "R-1"), "big", kind, conditions, **more)


def bindings(conditions, facts=FACTS):
    return [dict(one.bindings) for one in match(conditions, FactIndex(facts))]


def test_match_gives_bindings_and_supports():
    found = match((P("?x", "revenue", "?r"), P("?x", "in", "US"), P("?r", "", "$100k", "gt")), FactIndex(FACTS))
    assert [(one.bindings, [f.id for f in one.supports]) for one in found] == [
        ((("?x", "bolt"), ("?r", "$1.2M")), ["F-3", "F-4"])
    ]
    assert found[0].confidence == 1.0


@pytest.mark.parametrize(
    ("conditions", "xs"),
    [
        ((P("?x", "revenue", "50000", "gt"),), ["acme", "bolt", "cask"]),
        ((P("?x", "revenue", "$50000", "gt"),), ["acme", "bolt"]),
        ((P("?x", "revenue", "$60k"),), ["acme"]),
        ((P("?x", "revenue", "$60k", "ne"),), ["bolt", "cask"]),
        ((P("?x", "in", "u", "contains"),), ["acme", "bolt", "cask"]),
        ((P("?x", "revenue", "?b", "gt"), P("?x", "budget", "?b")), ["bolt"]),
        ((P("?x", "budget", "?b"), P("?x", "revenue", "?b", "lte")), ["acme"]),
        ((P("?x", "revenue", "*"), P("?x", "budget", "")), ["acme", "bolt"]),
        (
            (P("?x", "in", "?y"), P("?z", "in", "?y"), P("?x", "", "?z", "ne"), P("?z", "", "bolt")),
            ["acme", "cask"],
        ),
        ((P("?x", "in", "?x"),), []),
        ((P("?x", "nothing", "?y"),), []),
        ((P("acme", "in", "?x"),), ["US"]),
    ],
)
def test_conditions_of_all_kinds(conditions, xs):
    assert check_rule(rule("constraint", *conditions)) == []
    assert sorted({found["?x"] for found in bindings(conditions)}) == xs
    if len(conditions) > 1:
        assert sorted({found["?x"] for found in bindings(conditions[::-1])}) == xs


def test_what_never_holds_together_does_not_match():
    facts = [
        Fact("F-1", "acme", "ceo", "bob", valid_until="2025-12-31"),
        Fact("F-2", "acme", "cfo", "bob", valid_from="2025-12-31T12:00:00Z"),
        Fact("F-3", "bolt", "ceo", "eve", valid_until="2025-12-30"),
        Fact("F-4", "bolt", "cfo", "eve", valid_from="2025-12-31"),
    ]
    found = match((P("?x", "ceo", "?y"), P("?x", "cfo", "?y")), FactIndex(facts))
    assert [(one.bindings[0][1], *span_texts(one.span)) for one in found] == [
        ("acme", "2025-12-31T12:00:00Z", "2025-12-31")
    ]


def test_violations_say_what_and_where():
    rules = [
        rule("constraint", P("?x", "revenue", "?r"), P("?x", "budget", "?r", "lt"), P("?x", "budget", "?b"), id="R-2",
             violation_message="?x plans ?b but earns ?r", severity="critical"),
        rule("constraint", P("?x", "revenue", "$1M", "gt")),
        rule("constraint", P("?x", "in", "US"), id="R-3", enabled=False),
        rule("policy", P("?x", "in", "US"), id="R-4", action="call"),
        rule("constraint", P("?x", "revenue", "?q", "gt"), id="R-5"),
    ]  # fmt: skip
    found = check_constraints(FACTS, rules)
    assert [(one.rule.id, one.rule.severity, one.message, one.supports) for one in found.found] == [
        ("R-2", "critical", "bolt plans $1M but earns $1.2M", ("F-3", "F-8")),
        ("R-1", "warning", "big: bolt revenue $1.2M", ("F-3",)),
    ]
    assert [(one.rule_id, one.reason) for one in found.problems] == [
        ("R-5", "no condition binds ?q, which is compared with")
    ]
    mixed = random.Random(3)
    shuffled = mixed.sample(FACTS, len(FACTS)), mixed.sample(rules, len(rules))
    assert check_constraints(*shuffled) == found


def test_policies_ask_for_actions():
    rules = [
        rule("policy", P("?x", "revenue", "$50k", "gt"), action="invoice ?x"),
        rule("policy", P("?x", "in", "US"), P("?x", "budget", "$1M"), action="review ?x, not ?y", escalate=True, id="R-2"),
        rule("policy", P("?x", "in", "US"), id="R-3"),
    ]  # fmt: skip
    found = eval_policies(FACTS, rules)
    assert [(one.message, one.rule.escalate, one.supports) for one in found.found] == [
        ("review bolt, not ?y", True, ("F-4", "F-8")),
        ("invoice acme", False, ("F-1",)),
        ("invoice bolt", False, ("F-3",)),
    ]
    assert [one.reason for one in found.problems] == ["a policy needs an action"]


def conclude(rule, one):
    """The fact that an inference rule derives from one way in which its conditions hold."""
    values = dict(one.bindings)
    subject, predicate, obj = (values.get(term, term) for term in rule.conclusion[:3])
    return Fact(
        derived_id(subject, predicate, obj), subject, predicate, obj,
        one.confidence * rule.confidence_factor, "inference", lowest_trust(tuple(fact.trust for fact in one.supports)),
        *span_texts(one.span), tuple(dict.fromkeys(fact.id for fact in one.supports)), rule.id,
    )  # fmt: skip


def test_a_match_of_one_rule_concludes_what_forward_chaining_does():
    facts = [
        fact._replace(confidence=0.5 + n / 20, trust="untrusted" if n == 3 else "agent") for n, fact in enumerate(FACTS)
    ]
    big = rule("inference", P("?x", "revenue", "$50k", "gt"), P("?x", "in", "?c"), conclusion=P("?x", "bigIn", "?c"))
    found = [conclude(big, one) for one in match(big.conditions, FactIndex(facts))]
    assert tuple(found) == forward_chain(facts, [big]).derived and len(found) == 2


def test_too_many_combinations_are_refused():
    facts = [Fact(f"F-{n}", f"e{n}", "in", f"c{n}") for n in range(3000)]
    wild = rule("constraint", P("?x", "in", "?a"), P("?y", "in", "?b"), P("?z", "in", "?c"))
    with pytest.raises(JoinLimit):
        match(wild.conditions, FactIndex(facts))
    found = check_constraints(facts, [wild, rule("constraint", P("e7", "in", "?c"), id="R-2")])
    assert len(found.found) == 1 and "too many ways" in found.problems[0].reason


GOOD = Rule("R-1", "", "inference", (P("?x", "p", "?y"),), P("?x", "q", "?y"))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"conditions": ()}, "no conditions"),
        ({"conditions": (P("?x", "", "5", "gt"),)}, "no condition names a predicate"),
        ({"conditions": (P("?x", "p", "?y"), P("5", "", "?y", "gt"))}, "compares no variable"),
        ({"conditions": (P("?x", "p", "?y"), P("?z", "", "5", "gt"))}, "no condition binds ?z"),
        ({"conditions": (P("?x", "*", "?y"),)}, "use a variable"),
        ({"conditions": (P("?x", "p", "?y", "like"),)}, "unknown operator"),
        ({"conditions": (P("?x", "p", "?y", "gt"),)}, "no condition binds ?y"),
        ({"conditions": (P("?x", "p", "?y"), P("?x", "r", "*", "gt"))}, "compares with nothing"),
        ({"conditions": (P("?x", "p", "?y"),) * 17}, "at most 16"),
        ({"conclusion": None}, "needs a conclusion"),
        ({"conclusion": P("?x", "", "?y")}, "no predicate"),
        ({"conclusion": P("", "q", "?y")}, "no subject"),
        ({"conclusion": P("?x", "?q", "?y")}, "binds ?q of the conclusion"),
        ({"conclusion": P("?x", "q", "?z")}, "binds ?z of the conclusion"),
        ({"confidence_factor": 0}, "outside (0, 1]"),
        ({"confidence_factor": 1.1}, "outside (0, 1]"),
        ({"confidence_factor": float("nan")}, "outside (0, 1]"),
        ({"type": "law"}, "unknown type"),
        ({"type": "policy"}, "needs an action"),
        ({"type": "constraint", "severity": "mild"}, "unknown severity"),
    ],
)
def test_bad_rules_are_told_why(change, reason):
    assert check_rule(GOOD) == []
    assert reason in "; ".join(check_rule(GOOD._replace(**change)))
    assert check_rule(GOOD._replace(type="constraint", conclusion=None)) == []


def test_sixteen_conditions_can_be_joined():
    facts = [Fact(f"F-{n}", f"n{n}", "p", f"n{n + 1}") for n in range(16)]
    assert len(bindings(tuple(P(f"?v{n}", "p", f"?v{n + 1}") for n in range(16)), facts)) == 1
    apart = tuple(P(f"?a{n}", "p", f"?b{n}") for n in range(16))
    assert len(bindings(apart, facts[:1])) == 1


def test_constraints_of_ontologies_see_classes_above_and_stand_among_the_agents_own():
    ontology = Ontology([Concept("x:Firm", "Firm"), Concept("x:Shop", "Shop", ("x:Firm",))])
    facts = [*FACTS, Fact("F-9", "acme", "type", "Shop")]
    own = rule("constraint", P("?x", "in", "US"), id="R-1", severity="warning")
    given = [rule("constraint", P("?x", "type", "Firm"), id="x:r", severity="critical")]
    found = check_with_ontology(facts, [own], given, ontology).found
    assert [(one.rule.id, one.supports) for one in found][:1] == [("x:r", ("F-9",))]
    assert [one.rule.id for one in found][1:] == ["R-1"] * 3
    assert [one.rule.id for one in check_with_ontology(facts, [own], [], ontology).found] == ["R-1"] * 3
