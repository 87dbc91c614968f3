"""Derived facts lead back to asserted ones, and a retraction to all that rest on it."""

from datetime import UTC, datetime

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.fact_lint import explain_fact, find_unfounded, lint_facts, lint_names, supports_lost
from mabos_cli.core.knowledge.forward import forward_chain
from mabos_cli.core.knowledge.rule import Pattern, Rule

EDGES = [Fact(f"F-{n}", f"n{n}", "edge", f"n{n + 1}") for n in range(4)]
RULES = [
    Rule("R-1", "", "inference", (Pattern("?x", "edge", "?y"),), Pattern("?x", "path", "?y")),
    Rule("R-2", "", "inference", (Pattern("?x", "edge", "?y"), Pattern("?y", "path", "?z")), Pattern("?x", "path", "?z")),
]  # fmt: skip
DERIVED = forward_chain(EDGES, RULES).derived
IDS = {fact.triple: fact.id for fact in DERIVED}


def derived(fact_id, *supports):
    return Fact(fact_id, fact_id, "p", "o", derived_from=supports, rule_id="R-1")


def test_tree_goes_back_to_asserted_facts():
    tree = explain_fact(IDS["n1", "path", "n4"], [*EDGES, *DERIVED], RULES)
    assert tree.rule == RULES[1] and [part.fact.triple for part in tree.parts] == [
        ("n1", "edge", "n2"),
        ("n2", "path", "n4"),
    ]
    last = tree.parts[1].parts[1]
    assert last.rule == RULES[0] and last.parts[0].fact == EDGES[3] and last.parts[0].parts == ()


def test_tree_ends_where_it_was_asked_to():
    tree = explain_fact(IDS["n0", "path", "n4"], [*EDGES, *DERIVED], RULES, depth=1)
    assert [part.note for part in tree.parts] == ["", "deeper"]
    assert explain_fact("F-1", EDGES, RULES).parts == ()


def test_what_is_missing_is_said():
    assert explain_fact("F-9", EDGES, RULES).note == "no such fact"
    tree = explain_fact("A", [derived("A", "F-0", "F-9")._replace(rule_id="R-9"), *EDGES], RULES)
    assert tree.note == "no such rule" and [part.note for part in tree.parts] == ["", "no such fact"]


def test_cycles_end():
    facts = [derived("A", "B"), derived("B", "C"), derived("C", "A", "C")]
    tree = explain_fact("A", facts, RULES)
    inner = tree.parts[0].parts[0]
    assert [part.note for part in inner.parts] == ["cycle", "cycle"]
    assert supports_lost(["B"], facts) == (facts[0], facts[2])
    assert find_unfounded(facts) == tuple(facts)


def test_a_derivation_is_told_once():
    """Each level rests twice on the one below: the tree would double with every level."""
    facts = [Fact("L0", "a", "b", "c"), Fact("K0", "a", "b", "d")]
    for n in range(1, 60):
        facts += [derived(f"L{n}", f"L{n - 1}", f"K{n - 1}"), derived(f"K{n}", f"K{n - 1}", f"L{n - 1}")]
    tree = explain_fact("L59", facts, RULES, depth=100)

    def size(node):
        return 1 + sum(map(size, node.parts))

    assert size(tree) < 300
    assert "shown above" in str(tree)


def test_a_retraction_reaches_all_that_rest_on_it():
    lost = supports_lost(["F-2"], [*EDGES, *DERIVED])
    assert [fact.triple[::2] for fact in lost] == [
        (f"n{a}", f"n{b}") for a in range(3) for b in range(a + 1, 5) if b > 2
    ]
    assert supports_lost(["F-9"], DERIVED) == ()
    assert lost == supports_lost(["F-2"], [*DERIVED[::-1], *EDGES])


def test_facts_without_ground_are_found():
    facts = [
        *EDGES,
        *DERIVED,
        derived("A", "F-0", "gone"),
        derived("B", "A"),
        derived("C", "F-0", "F-0"),
        derived("D"),
    ]
    assert [fact.id for fact in find_unfounded(facts)] == ["A", "B", "D"]


def test_names_that_look_like_a_slip():
    given = [("a", "hasRevenue", "5"), ("b", "hasRevenue", "6"), ("c", "hasRevenue", "7"), ("d", "hasRevnue", "8")]
    given += [(one, "tier", "silver") for one in "abc"] + [("d", "tier", "sliver"), ("e", "tier", "gold")]
    given += [("a", "suplier", "x"), ("a", "locatedAt", "y"), ("a", "due_on", "2026-01-01")]
    facts = [Fact(f"F-{n}", *triple) for n, triple in enumerate(given)]
    found = lint_names(facts, {"supplier", "locatedIn", "dueOn"})
    assert {(one.facts, one.message.split(", ")[0]) for one in found} == {
        (("F-3",), "predicate hasRevnue looks like hasRevenue"),
        (("F-9",), "predicate suplier looks like supplier"),
        (("F-11",), "predicate due_on looks like dueOn"),
        (("F-7",), "value of tier sliver looks like silver"),
    }


def test_one_value_written_in_two_ways_is_no_contradiction():
    facts = [
        Fact("F-1", "x", "price", "$1,200.50"),
        Fact("F-2", "x", "price", "1200.5"),
        Fact("F-3", "x", "price", "9", 0.4),
    ]
    found = lint_facts(facts, frozenset({"price"}), frozenset(), datetime(2026, 1, 1, tzinfo=UTC))
    assert found[0].message == "x price: $1,200.50 (1.00) and 9 (0.40) at one time"
    assert not any({*one.facts} == {"F-1", "F-2"} for one in found)
