"""Forward chaining derives what clingo and SQLite derive, each triple by its best derivation, in whatever order it is told."""

import os
import random
import sqlite3
from contextlib import closing
from datetime import timedelta
from itertools import pairwise

import clingo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.rulesets import LINEAR, brute_force, by_the_day, random_facts, random_rules
from mabos_cli.core.knowledge.fact import Fact, derived_id
from mabos_cli.core.knowledge.forward import Limits, forward_chain
from mabos_cli.core.knowledge.rule import Pattern, Rule, is_variable
from mabos_cli.core.language.clock import find_time

P = Pattern


def edges(*pairs, **more):
    return [Fact(f"F-{a}-{b}", a, "edge", b, **more) for a, b in pairs]


def triples(found):
    assert found.fixpoint == "reached" and not found.cuts and not found.problems
    return {fact.triple for fact in found.derived}


def by_clingo(facts, rules):
    """What clingo derives and was not given."""
    term = lambda text: text[1:].upper() if is_variable(text) else f'"{text}"'  # noqa: E731
    program = [f'fact("{s}","{p}","{o}").' for s, p, o in (fact.triple for fact in facts)]
    for rule in rules:
        body = [
            f"fact({term(c.subject)},{term(c.predicate)},{term(c.object)})"
            if c.predicate
            else f"{term(c.subject)} != {term(c.object)}"
            for c in rule.conditions
        ]
        head = ",".join(map(term, rule.conclusion[:3]))
        program.append(f"fact({head}) :- {', '.join(body)}.")
    control = clingo.Control(["--warn=none"])
    control.add("base", [], "\n".join(program))
    control.ground([("base", [])])
    atoms = control.symbolic_atoms.by_signature("fact", 3)
    found = {tuple(part.string for part in atom.symbol.arguments) for atom in atoms}
    return found - {fact.triple for fact in facts}


def by_sqlite(facts, rules):
    """What a recursive query derives and was not given. A rule may have one condition that is concluded, the first."""
    selects = []
    for rule in rules:
        places, where = {}, []
        named = [c for c in rule.conditions if c.predicate]
        for at, c in enumerate(named):
            where.append(f"t{at}.p = '{c.predicate}'")
            for term, column in ((c.subject, f"t{at}.s"), (c.object, f"t{at}.o")):
                known = places.setdefault(term, column) if is_variable(term) else f"'{term}'"
                where += [f"{column} = {known}"] if known != column else []
        where += [f"{places[c.subject]} <> {places[c.object]}" for c in rule.conditions if not c.predicate]
        said = [places.get(term, f"'{term}'") for term in (rule.conclusion.subject, rule.conclusion.object)]
        tables = ", ".join(f"{'every' if at == 0 else 'given'} t{at}" for at in range(len(named)))
        selects.append(
            f"SELECT {said[0]}, '{rule.conclusion.predicate}', {said[1]} FROM {tables} WHERE {' AND '.join(where)}"
        )
    query = (
        f"WITH RECURSIVE every(s, p, o) AS (SELECT * FROM given UNION {' UNION '.join(selects)}) SELECT * FROM every"
    )
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE given (s, p, o)")
        db.executemany("INSERT INTO given VALUES (?, ?, ?)", [fact.triple for fact in facts])
        return {*db.execute(query)} - {fact.triple for fact in facts}


@pytest.mark.parametrize("seed", range(200 if os.environ.get("FULL") else 60))
def test_same_as_clingo_and_sqlite(seed):
    draw = random.Random(seed)
    facts = random_facts(draw, draw.randint(1, 40), draw.randint(2, 8))
    rules = random_rules(draw, draw.randint(1, 8))
    assert triples(forward_chain(facts, rules)) == by_clingo(facts, rules)
    linear = random_rules(draw, draw.randint(1, 8), linear=True)
    assert triples(forward_chain(facts, linear)) == by_sqlite(facts, linear) == by_clingo(facts, linear)


@pytest.mark.parametrize("kind", ["chain", "cycle", "grid", "random", "dense"])
def test_closures_are_those_of_clingo_and_sqlite(kind):
    draw = random.Random(kind)
    pairs = {
        "chain": [(n, n + 1) for n in range(60)],
        "cycle": [(n, (n + 1) % 40) for n in range(40)],
        "grid": [(n, n + step) for n in range(64) for step in (1, 8) if n + step < 64],
        "random": sorted({(draw.randrange(80), draw.randrange(80)) for _ in range(120)}),
        "dense": [(a, b) for a in range(14) for b in range(14)],
    }[kind]
    facts = edges(*((f"n{a}", f"n{b}") for a, b in pairs))
    swapped = (LINEAR[0], LINEAR[1]._replace(conditions=LINEAR[1].conditions[::-1]))
    found = triples(forward_chain(facts, LINEAR))
    assert found == by_clingo(facts, LINEAR) == by_sqlite(facts, swapped)
    square = LINEAR[1]._replace(conditions=(P("?x", "path", "?y"), P("?y", "path", "?z")))
    assert found == triples(forward_chain(facts, [LINEAR[0], square]))


@pytest.mark.parametrize("seed", range(40))
def test_same_as_brute_force(seed):
    draw = random.Random(seed)
    facts = random_facts(draw, draw.randint(2, 12), 4, weighed=True)
    rules = random_rules(draw, draw.randint(1, 5), weighed=True)
    found = forward_chain(facts, rules)
    wanted = brute_force(facts, rules)
    by_id = {fact.id: fact for fact in (*facts, *found.derived)}
    assert {fact.triple for fact in found.derived} == {*wanted}
    for fact in found.derived:
        sure, _, rule_id, supports = wanted[fact.triple]
        assert (fact.confidence, fact.rule_id) == (sure, rule_id)
        assert tuple(by_id[one].triple for one in fact.derived_from) == tuple(dict.fromkeys(supports))
        lowest = "untrusted" if any(by_id[one].trust == "untrusted" for one in fact.derived_from) else "agent"
        assert fact.trust == lowest and fact.source == "inference"
    assert found.depth == max((depth for _, depth, *_ in wanted.values()), default=0)


DAYS = ["2025-12-31", *(f"2026-01-{day:02}" for day in range(1, 32)), "2026-02-01"]


@pytest.mark.parametrize("seed", range(40))
def test_at_each_time_what_follows_from_the_facts_of_that_day(seed):
    """Of each stretch the best confidence; stretches of one triple neither overlap nor follow on one another equally sure."""
    draw = random.Random(seed)
    facts = random_facts(draw, draw.randint(4, 14), 3, weighed=True, timed=True)
    rules = random_rules(draw, draw.randint(1, 5), weighed=True)
    derived = forward_chain(facts, rules).derived
    found = {}
    for fact in derived:
        held = [day for day in DAYS if (fact.valid_from or day) <= day <= (fact.valid_until or day)]
        assert found.keys().isdisjoint((day, fact.triple) for day in held) and held
        found |= {(day, fact.triple): fact.confidence for day in held}
    assert found == by_the_day(facts, rules, DAYS)
    for one, two in pairwise(derived):
        if one.triple == two.triple and one.confidence == two.confidence:
            assert find_time(one.valid_until) + timedelta(days=1) < find_time(two.valid_from)
    assert len({fact.id for fact in derived}) == len(derived)


def test_a_conclusion_holds_when_its_conditions_do():
    facts = [
        Fact("F-1", "acme", "contract", "gold", 0.95, valid_from="2025-01-01", valid_until="2025-12-31"),
        Fact("F-2", "acme", "contract", "silver", 0.8, valid_from="2026-01-01"),
    ]
    rule = Rule("R-1", "", "inference", (P("?x", "contract", "?y"),), P("?x", "is", "customer"), confidence_factor=1.0)
    found = forward_chain(facts, [rule]).derived
    assert [(f.confidence, f.valid_from, f.valid_until) for f in found] == [
        (0.95, "2025-01-01", "2025-12-31"),
        (0.8, "2026-01-01", ""),
    ]
    even = [fact._replace(confidence=0.9) for fact in facts]
    (joined,) = forward_chain(even, [rule]).derived
    assert (joined.valid_from, joined.valid_until, joined.derived_from) == ("2025-01-01", "", ("F-1", "F-2"))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.randoms(use_true_random=False), st.sampled_from([0, 3, 10]))
def test_order_does_not_matter(seed, mixed, most):
    """Not of facts, nor of rules, nor with limits."""
    draw = random.Random(seed)
    facts = random_facts(draw, 25, 6, weighed=True, timed=True)
    rules = random_rules(draw, 5, weighed=True)
    for limits in (Limits(), Limits(max_facts=most), Limits(min_confidence=0.4), Limits(max_depth=2)):
        once = forward_chain(facts, rules, limits)
        again = forward_chain(mixed.sample(facts, len(facts)), mixed.sample(rules, len(rules)), limits)
        assert again == once
    assert forward_chain((*facts, *once.derived), rules, limits) == once


def test_a_fact_keeps_its_best_derivation():
    facts = [*edges(("a", "b"), ("b", "c"), confidence=0.8), *edges(("a", "c"), confidence=0.3)]
    found = {fact.triple: fact for fact in forward_chain(facts, LINEAR).derived}
    best = found["a", "path", "c"]
    assert best.confidence == 0.8 * 0.9 * 0.9 and best.rule_id == "R-2"
    assert best.derived_from == ("F-a-b", derived_id("b", "path", "c"))
    assert best.id == derived_id("a", "path", "c") and best.id.startswith("F-inf-") and len(best.id) == 22


def test_what_is_asserted_stays_asserted():
    facts = [*edges(("a", "b"), ("b", "c")), Fact("F-1", "a", "path", "c", 0.1)]
    assert {fact.triple for fact in forward_chain(facts, LINEAR).derived} == {
        ("a", "path", "b"),
        ("b", "path", "c"),
    }


def test_derived_facts_follow_anew_or_not_at_all():
    facts = edges(("a", "b"), ("b", "c"))
    derived = forward_chain(facts, LINEAR).derived
    assert forward_chain([*facts, *derived], LINEAR).derived == derived
    left = forward_chain([*facts[:1], *derived], LINEAR).derived
    assert [fact.triple for fact in left] == [("a", "path", "b")]


def test_of_two_assertions_the_better_supports():
    one, two = edges(("a", "b"), confidence=0.4)[0], edges(("a", "b"), confidence=0.8)[0]
    for facts in ([one, two._replace(id="F-2")], [two._replace(id="F-2"), one]):
        assert forward_chain(facts, LINEAR).derived[0].derived_from == ("F-2",)


@pytest.mark.parametrize(
    ("first", "second", "common"),
    [
        (("", ""), ("", ""), ("", "")),
        (("2026-01-01", ""), ("", "2026-06-30"), ("2026-01-01", "2026-06-30")),
        (("2026-01-01", "2026-03-31"), ("2026-03-31T18:00:00Z", ""), ("2026-03-31T18:00:00Z", "2026-03-31")),
        (("2026-01-01", "2026-03-31"), ("2026-03-01", "2026-04-30"), ("2026-03-01", "2026-03-31")),
        (("2026-01-01T00:00:00+02:00", ""), ("2026-01-01", ""), ("2026-01-01", "")),
        (("", "2026-03-31"), ("2026-04-01", ""), None),
        (("2026-04-01", "2026-03-01"), ("", ""), None),
        (("soon", ""), ("", "2026-04-01"), ("", "2026-04-01")),
    ],
)
def test_validity_is_what_the_supports_have_in_common(first, second, common):
    names = ("valid_from", "valid_until")
    facts = [
        *edges(("a", "b"), **dict(zip(names, first, strict=True))),
        *edges(("b", "c"), **dict(zip(names, second, strict=True))),
    ]
    rule = Rule("R-1", "", "inference", (P("?x", "edge", "?y"), P("?y", "edge", "?z")), P("?x", "path", "?z"))
    for order in (facts, facts[::-1]):
        found = forward_chain(order, [rule]).derived
        assert [(fact.valid_from, fact.valid_until) for fact in found] == ([common] if common else [])


def test_limits_say_what_they_cut():
    facts = edges(*((f"n{n}", f"n{n + 1}") for n in range(10)))
    whole = forward_chain(facts, LINEAR)
    assert (whole.fixpoint, len(whole.derived), whole.depth) == ("reached", 55, 10)
    few = forward_chain(facts, LINEAR, Limits(max_facts=12))
    assert few.fixpoint == "stopped: max_facts 12 cut at least 8" and len(few.derived) == 12
    assert {fact.id for fact in few.derived} < {fact.id for fact in whole.derived}
    assert min(fact.confidence for fact in few.derived) == 0.81
    shallow = forward_chain(facts, LINEAR, Limits(max_depth=3))
    assert shallow.fixpoint == "stopped: max_depth 3 cut at least 7" and shallow.depth == 3
    assert shallow.cuts[0].examples[0] == ("n0", "path", "n4")
    sure = forward_chain(facts, LINEAR, Limits(min_confidence=0.7))
    assert sure.fixpoint == "stopped: min_confidence 0.7 cut at least 7" and len(sure.derived) == 27
    assert forward_chain(facts, LINEAR, Limits(55, 0.3, 10)).fixpoint == "reached"


def test_a_limit_that_costs_nothing_is_not_told():
    """A long way is cut, but the short one is as good."""
    facts = edges(("a", "b"), ("b", "c"), ("a", "c"))
    assert forward_chain(facts, LINEAR, Limits(min_confidence=0.85)).fixpoint == "reached"


def test_a_rule_that_explodes_keeps_what_it_found_and_stops_no_other():
    facts = [Fact(f"F-{n}", f"e{n}", "is", f"c{n}") for n in range(3000)]
    wild = Rule("R-7", "", "inference", (P("?x", "is", "?a"), P("?y", "is", "?b")), P("?x", "meets", "?y"))
    tame = Rule("R-8", "", "inference", (P("?x", "is", "c7"),), P("?x", "has", "seven"))
    found = forward_chain(facts, [wild, tame], Limits(max_facts=100_000, max_joins=50_000))
    told = {fact.predicate: fact.triple for fact in found.derived}
    assert told["has"] == ("e7", "has", "seven") and 40_000 < len(found.derived) <= 50_000
    assert found.fixpoint == "stopped: R-7 stopped early: it joins facts in too many ways" and not found.is_complete
    assert [one.rule_id for one in found.problems] == ["R-7"]


@pytest.mark.parametrize("nodes", [40, 90])
@pytest.mark.parametrize("factor", [1.0, 0.9])
def test_dense_closures_are_those_of_clingo(nodes, factor):
    """A transitive relation, worked out as such, with edges that are not equally sure; more edges take nothing away."""
    draw = random.Random(nodes)
    rule = Rule("R-1", "", "inference", (P("?x", "edge", "?y"), P("?y", "edge", "?z")), P("?x", "edge", "?z"))
    facts = [
        Fact(f"F-{n}", f"n{draw.randrange(nodes)}", "edge", f"n{draw.randrange(nodes)}", draw.choice((1.0, 0.8, 0.5)))
        for n in range(2 * nodes)
    ]
    facts = list({fact.triple: fact for fact in facts}.values())
    rules = [rule._replace(confidence_factor=factor)]
    found = forward_chain(facts, rules)
    assert triples(found) == by_clingo(facts, rules)
    spelled = [rules[0]._replace(conditions=(*rule.conditions, P("?x", "", "n", "contains")))]  # joined, not closed
    again = forward_chain(facts, spelled)
    assert {f.triple: f.confidence for f in again.derived} == {f.triple: f.confidence for f in found.derived}
    fewer = forward_chain(facts[: nodes + nodes // 2], rules)
    assert {f.triple for f in fewer.derived} <= {f.triple for f in (*facts, *found.derived)}


def test_several_transitive_rules_in_one_run_each_find_all():
    names = ("p", "q", "r")
    rules = [
        Rule(f"R-{n}", "", "inference", (Pattern("?x", n, "?y"), Pattern("?y", n, "?z")), Pattern("?x", n, "?z"))
        for n in names
    ]
    facts = [Fact(f"F-{n}{a}{b}", a, n, b) for n in names for a, b in pairwise("abcd")]
    wanted = {(x, n, z) for n in names for x, z in ("ac", "bd", "ad")}
    assert {fact.triple for fact in forward_chain(facts, rules).derived} == wanted


def test_bad_rules_are_not_run_but_told():
    bad = [
        LINEAR[0]._replace(id="R-3", conclusion=P("?x", "q", "?z")),
        LINEAR[0]._replace(id="R-4", confidence_factor=1.5),
        LINEAR[0]._replace(id="R-5", enabled=False, confidence_factor=2),
        LINEAR[0]._replace(id="R-6", type="policy"),
    ]
    found = forward_chain(edges(("a", "b")), [*bad, LINEAR[0]])
    assert [one.rule_id for one in found.problems] == ["R-3", "R-4"]
    assert len(found.derived) == 1 and found.fixpoint == "reached"


def test_comparisons_take_part():
    facts = [
        Fact("F-1", "acme", "revenue", "$60,000"),
        Fact("F-2", "bolt", "revenue", "$1k"),
        Fact("F-3", "acme", "floor", "$50k"),
        Fact("F-4", "bolt", "floor", "$50k"),
    ]
    rule = Rule(
        "R-1",
        "",
        "inference",
        (P("?x", "revenue", "?f", "gte"), P("?x", "floor", "?f")),
        P("?x", "is", "big"),
    )
    found = forward_chain(facts, [rule]).derived
    assert [(fact.triple, fact.derived_from) for fact in found] == [(("acme", "is", "big"), ("F-1", "F-3"))]
    same = Rule("R-2", "", "inference", (P("?x", "floor", "50000 USD"), P("?x", "is", "big")), P("?x", "is", "equal"))
    both = forward_chain(facts, [rule, same]).derived
    assert [fact.triple for fact in both] == [("acme", "is", "big"), ("acme", "is", "equal")]


def test_odd_terms_are_only_terms():
    """Quotes, braces, backslashes and code in terms and variables reach no code."""
    odd = "'); raise SystemExit #{}\\\n\"\ud800"
    facts = [Fact("F-1", odd, odd, "b"), Fact("F-2", "b", odd, odd)]
    rule = Rule(odd, "", "inference", (P("?" + odd, odd, "?y"), P("?y", odd, odd)), P(odd, "?".join("ab"), "?" + odd))
    found = forward_chain(facts, [rule]).derived
    assert [fact.triple for fact in found] == [(odd, "a?b", odd)]
    assert derived_id("a|b", "c", "d") != derived_id("a", "b|c", "d")
