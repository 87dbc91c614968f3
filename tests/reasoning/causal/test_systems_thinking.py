"""Feedback loops against counting and brute force."""

from itertools import combinations, permutations
from math import comb, factorial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.reasoning.causal.systems_thinking import find_loops, links_of, parse_links, sign_of
from reasoning.solving import refused, solve, solve_yaml


@pytest.mark.parametrize("size", [3, 4, 5])
def test_complete_graphs(size: int) -> None:
    """Johnson 1975: a complete graph of n has the sum over k of C(n, k) (k - 1)! loops."""
    links = [f"v{a} -> v{b} +" for a in range(size) for b in range(size) if a != b]
    loops, are_all = find_loops(parse_links(links, "links"))
    assert are_all
    assert len(loops) == sum(comb(size, k) * factorial(k - 1) for k in range(2, size + 1))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([None, "+", "-"]), min_size=25, max_size=25))
def test_loops_agree_with_brute_force(signs: list[str | None]) -> None:
    """Every ordered choice of variables that closes, counted once from its first one; self-loops too."""
    pairs = {(a, b): s for (a, b), s in zip(((a, b) for a in "abcde" for b in "abcde"), signs, strict=True) if s}
    if not pairs:
        return
    graph = parse_links([f"{a} -> {b} {s}" for (a, b), s in pairs.items()], "links")
    loops, _ = find_loops(graph)
    expected = {}
    for size in range(1, 6):
        for chosen in combinations("abcde", size):
            for rest in permutations(chosen[1:]):
                names = (chosen[0], *rest)
                steps = list(zip(names, (*names[1:], names[0]), strict=True))
                if all(step in pairs for step in steps):
                    expected[frozenset(steps)] = -1 if sum(pairs[step] == "-" for step in steps) % 2 else 1
    assert len(loops) == len(expected)
    assert {frozenset(links_of(loop)): sign_of(loop, graph) for loop in loops} == expected


def test_leverage_counts_loops() -> None:
    answer = solve_yaml("systems-thinking", "links: [a -> b +, b -> a +, b -> c +, c -> b -, c -> d +]")
    assert answer.conclusion.value == ("b", "a", "c")
    assert answer.detail["loops_through"] == {"a": 1, "b": 2, "c": 1, "d": 0}
    assert [one["label"] for one in answer.detail["loops"]] == ["R1", "B1"]


def test_more_loops_than_can_be_listed_are_said() -> None:
    links = [f"v{a} -> v{b} +" for a in range(9) for b in range(9) if a != b]
    answer = solve("systems-thinking", {"links": links})
    assert len(answer.detail["loops"]) == 1000
    assert any("more loops than the 1000" in said for said in answer.caveats)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("links: [price demand]", "links[1]: 'price demand' is no link"),
        ("links: [price -> demand]", "links[1]: 'price -> demand' is no link"),
        ("links: [a -> b + slowly]", "links[1]: 'a -> b + slowly' is no link"),
        ("links: [a -> b +, a -> b -]", "links[2]: a -> b occurs twice"),
        ("links: []", "links: must hold something, and is empty"),
    ],
)
def test_refusals(text: str, said: str) -> None:
    assert said in refused("systems-thinking", text)


def test_exactly_as_many_loops_as_are_listed_are_all() -> None:
    """Three places in a ring with ten ways from each to the next: 10 * 10 * 10 ways around."""
    links = [f"r{a} -> p{a}{n} +" for a in range(3) for n in range(10)]
    links += [f"p{a}{n} -> r{(a + 1) % 3} +" for a in range(3) for n in range(10)]
    answer = solve("systems-thinking", {"links": links})
    assert len(answer.detail["loops"]) == 1000 and not any("more loops" in said for said in answer.caveats)


def test_both_kinds_of_loops_are_counted() -> None:
    answer = solve("systems-thinking", {"links": ["a -> b +", "b -> a +", "a -> c +", "c -> a -", "c -> c -"]})
    assert answer.summary.startswith("3 loops, 1 reinforcing and 2 balancing")
