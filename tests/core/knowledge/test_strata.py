"""Negation, aggregates, arithmetic, today and variables for predicates: what clingo derives, and circles refused."""

import random

import clingo
import pytest

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.forward import Limits, forward_chain
from mabos_cli.core.knowledge.rule import Pattern, Rule, check_rule, is_variable, stratify
from mabos_cli.formats.knowledge.rules import parse_rule_text

P = Pattern
AGGREGATES = ("count", "sum", "min", "max")


def rules_of(*texts, factor=1.0):
    return [
        Rule(f"R-{n:03}", "", "inference", *parse_rule_text(text), confidence_factor=factor)
        for n, text in enumerate(texts, 1)
    ]


def derived(facts, *texts, limits=Limits()):
    rules = rules_of(*texts)
    assert not [reason for rule in rules for reason in check_rule(rule)]
    made = [Fact(f"F-{n}", *triple) for n, triple in enumerate(facts)]
    return {fact.triple for fact in forward_chain(made, rules, limits).derived}


def random_program(draw):
    """Facts and rules in layers: a rule may use what is derived in its own layer, and negate or count what is below."""
    facts = {
        (f"e{draw.randrange(5)}", draw.choice(("p", "q")), f"e{draw.randrange(5)}") for _ in range(draw.randint(4, 14))
    }
    facts |= {(f"e{draw.randrange(5)}", "n", str(draw.randint(0, 6))) for _ in range(draw.randint(2, 8))}
    rules, below = [], ["p", "q"]
    for layer in range(3):
        heads = [f"l{layer}a", f"l{layer}b"]
        for _ in range(draw.randint(1, 3)):
            terms = lambda: (draw.choice(("?x", "?y", "?z")), draw.choice(("?x", "?y", "?z")))  # noqa: E731
            conditions = [
                P(a, draw.choice((*below, *heads)), b) for a, b in (terms() for _ in range(draw.randint(1, 2)))
            ]
            bound = sorted({term for one in conditions for term in (one.subject, one.object)})
            if draw.random() < 0.7:
                ends = draw.choice(bound), draw.choice((*bound, "?new", "e1"))
                conditions.append(P(ends[0], draw.choice(below), ends[1], negated=True))
            if draw.random() < 0.3:
                inner = (P(bound[0], draw.choice(below), "?u"), P("?u", draw.choice(below), "?v"))
                conditions.append(P("", "", "", negated=True, of=inner))
            head = P(draw.choice(bound), draw.choice(heads), draw.choice(bound))
            if draw.random() < 0.5:
                name = draw.choice(AGGREGATES)
                inner = (P(bound[0], draw.choice(below), "?u"), P("?u", "n", "?w"))
                conditions.append(P("?t", "", "?u" if name == "count" else "?w", name, of=inner))
                head = P(bound[0], f"total{layer}", "?t")
            rules.append(Rule(f"R-{len(rules):03}", "", "inference", tuple(conditions), head, confidence_factor=1.0))
        below += heads
    return facts, rules


def by_clingo(facts, rules):
    """What clingo derives and was not given. Numbers are numbers there."""
    term = lambda text: text[1:].upper() if is_variable(text) else text if text.isdigit() else f'"{text}"'  # noqa: E731
    atom = lambda c: f"{'' if not c.negated else 'not '}f({','.join(map(term, c[:3]))})"  # noqa: E731
    program = [f"f({','.join(map(term, fact))})." for fact in facts]
    for number, rule in enumerate(rules):
        bound = {name for c in rule.conditions if c.is_positive for name in c[:3] if is_variable(name)}
        body = [atom(c) for c in rule.conditions if c.is_positive]
        for at, condition in enumerate(rule.conditions):
            inner = [atom(c) for c in condition.inner]
            names = {name for c in condition.inner for name in c[:3] if is_variable(name)}
            if condition.is_aggregate:
                local = [term(name) for name in sorted(names - bound - {condition.object})]
                counted = [term(condition.object)] + ([] if condition.operator == "count" else local)
                some = ", T != #sup, T != #inf"  # where nothing is counted, there is no least and no greatest
                body.append(f"T = #{condition.operator}{{{','.join(counted)} : {', '.join(inner)}}}{some}")
            elif condition.negated:
                shared = ",".join(term(name) for name in sorted(names & bound))
                helper = f"h{number}x{at}{f'({shared})' if shared else ''}"
                program.append(f"{helper} :- {', '.join(inner)}.")
                body.append(f"not {helper}")
        program.append(f"f({','.join(map(term, rule.conclusion[:3]))}) :- {', '.join(body)}.")
    control = clingo.Control(["--warn=none"])
    control.add("base", [], "\n".join(program))
    control.ground([("base", [])])
    found = set()
    for symbol in control.symbolic_atoms.by_signature("f", 3):
        found.add(tuple(a.string if a.type == clingo.SymbolType.String else str(a) for a in symbol.symbol.arguments))
    return found - facts


@pytest.mark.parametrize("seed", range(60))
def test_random_layered_programs_equal_clingos(seed):
    facts, rules = random_program(random.Random(seed))
    assert not [reason for rule in rules for reason in check_rule(rule)]
    made = [Fact(f"F-{n}", *triple) for n, triple in enumerate(sorted(facts))]
    found = forward_chain(made, rules)
    assert not found.problems and found.is_complete
    assert {fact.triple for fact in found.derived} == by_clingo(facts, rules)


def test_what_depends_on_its_own_negation_is_refused_with_the_circle():
    rules = rules_of("if ?x p ?y and not ?x q ?y then ?x r ?y", "if ?x r ?y then ?x q ?y", "if ?x p ?y then ?x s ?y")
    layers, problems = stratify(rules)
    assert [rule.id for layer in layers for rule in layer] == ["R-002", "R-003"]
    assert [(each.rule_id, each.reason) for each in problems] == [
        ("R-001", "it depends on its own negation: r (R-001) needs no q (R-002) which needs r")
    ]


def test_what_is_negated_must_be_complete():
    """A run that is stopped concludes nothing from what it did not get to."""
    facts = [Fact(f"F-{n}", f"e{n}", "p", f"e{n + 1}") for n in range(20)]
    rules = rules_of("if ?x p ?y then ?x q ?y", "if ?x p ?y and not ?x q ?y then ?x r ?y")
    found = forward_chain(facts, rules, Limits(max_facts=5))
    assert {fact.predicate for fact in found.derived} == {"q"}
    assert [(each.rule_id, each.reason) for each in found.problems] == [
        ("R-002", "what it negates or counts is not complete (q)")
    ]


def test_values_are_worked_out():
    facts = [("a", "price", "$1,200.50"), ("a", "quantity", "3"), ("b", "price", "$5"), ("b", "quantity", "2"), ("c", "price", "soon"), ("c", "quantity", "1")]  # fmt: skip
    found = derived(
        facts,
        "if ?x price ?p and ?x quantity ?q and ?v = ?p * ?q then ?x value ?v",
        "if ?x price ?p and ?t = sum ?v of (?y value ?v) and ?p * 2 < ?t then ?x share small",
        "if ?x value ?v and not ?x share small then ?x is large",
    )
    assert found == {("a", "value", "$3601.5"), ("b", "value", "$10"), ("a", "share", "small"), ("b", "share", "small")}


def test_predicates_may_be_variables():
    facts = [
        ("owns", "inverseOf", "ownedBy"),
        ("acme", "owns", "shop"),
        ("part", "inverseOf", "whole"),
        ("x", "whole", "y"),
    ]
    assert derived(
        facts, "if ?p inverseOf ?q and ?x ?p ?y then ?y ?q ?x", "if ?p inverseOf ?q and ?x ?q ?y then ?y ?p ?x"
    ) == {
        ("shop", "ownedBy", "acme"),
        ("y", "part", "x"),
    }


def test_today_is_the_day_that_is_asked_for():
    facts = [
        Fact("F-1", "inv", "due", "2026-01-31"),
        Fact("F-2", "inv", "paid", "yes", valid_from="2026-02-10"),
        Fact("F-3", "new", "due", "2026-03-31"),
    ]
    rules = rules_of(
        "if ?i due ?d and ?d < today and not ?i paid yes then ?i is overdue",
        "if ?i due ?d and ?d - 7 days <= today and ?d >= today then ?i is due-soon",
    )
    assert {(f.subject, f.object, f.valid_from, f.valid_until) for f in forward_chain(facts, rules).derived} == {
        ("inv", "overdue", "2026-02-01", "2026-02-09"),
        ("new", "overdue", "2026-04-01", ""),
        ("inv", "due-soon", "2026-01-24", "2026-01-31"),
        ("new", "due-soon", "2026-03-24", "2026-03-31"),
    }


def test_counts_follow_the_time():
    facts = [
        Fact("F-1", "acme", "employs", "ann", 0.9, valid_from="2026-01-01"),
        Fact("F-2", "acme", "employs", "bob", 0.8, valid_from="2026-02-01", valid_until="2026-02-28"),
    ]
    rules = rules_of("if ?x isA Company and ?n = count ?p of (?x employs ?p) then ?x size ?n")
    found = forward_chain([*facts, Fact("F-3", "acme", "isA", "Company")], rules).derived
    assert [(f.object, f.confidence, f.valid_from, f.valid_until) for f in found] == [
        ("0", 1.0, "", "2025-12-31"),
        ("1", 0.9, "2026-01-01", "2026-01-31"),
        ("1", 0.9, "2026-03-01", ""),
        ("2", 0.8, "2026-02-01", "2026-02-28"),
    ]
