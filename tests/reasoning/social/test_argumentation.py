from itertools import combinations

import clingo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.knowledge.closures import bits
from mabos_cli.reasoning.social.argumentation import (
    attackers_of,
    find_complete,
    keep_preferred,
    keep_stable,
    label_grounded,
)
from reasoning.solving import refused, solve

quick = settings(max_examples=80, deadline=None, derandomize=True)


def argue(links, **more):
    """The answer for arguments with one letter each and attacks such as `ab bc`."""
    letters = sorted({*links.replace(" ", "")})
    raw = {
        "arguments": {one: f"says {one}" for one in letters},
        "attacks": [" -> ".join(pair) for pair in links.split()],
    }
    return solve("argumentation", raw | more)


def sets(answer, semantics):
    return ["".join(one) for one in answer.detail[semantics]["sets"]]


def test_nixon_diamond() -> None:
    """Two arguments that attack each other: both defensible, neither grounded."""
    answer = argue("ab ba", claim="a")
    assert answer.conclusion.value is None
    assert answer.detail["status"] == {"a": "defensible", "b": "defensible"}
    assert answer.detail["grounded"]["undecided"] == ["a", "b"]
    assert sets(answer, "preferred") == sets(answer, "stable") == ["a", "b"]
    assert {*sets(answer, "complete")} == {"a", "b", ""}


def test_reinstatement() -> None:
    """Dung 1995, example 1, the quarrel of I and A: the last word stands and reinstates the first."""
    answer = argue("ba cb", claim="a")
    assert answer.conclusion.value is True
    assert answer.detail["grounded"] == {"in": ["a", "c"], "out": ["b"], "undecided": []}
    assert argue("ba cb", claim="b").conclusion.value is False


def test_odd_circle_has_no_stable_set() -> None:
    """Three in a ring: nothing can be held, and that is not the same as being rejected."""
    answer = argue("ab bc ca", claim="a")
    assert answer.conclusion.value is None
    assert answer.detail["status"]["a"] == "undecided"
    assert sets(answer, "preferred") == [""]
    assert answer.detail["stable"]["count"] == 0 and "stable: none" in answer.steps
    assert any("no stable set" in caveat for caveat in answer.caveats)


def test_floating_acceptance() -> None:
    """a and b exclude each other, each attacks c, which attacks d: d is in every preferred set, though not grounded."""
    answer = argue("ab ba ac bc cd", claim="d")
    assert answer.conclusion.value is True
    assert sets(answer, "preferred") == ["ad", "bd"]
    assert answer.detail["grounded"]["in"] == []


def test_preferred_not_stable() -> None:
    """A standard example of a preferred set that is not stable: a and b exclude each other, b attacks c in a ring c, d, e."""
    answer = argue("ab ba bc cd de ec")
    assert {*sets(answer, "preferred")} == {"a", "bd"}
    assert sets(answer, "stable") == ["bd"]
    assert "stable: b, d" in answer.steps


def test_a_long_chain_needs_no_recursion() -> None:
    raw = {
        "arguments": {f"a{n}": "." for n in range(300)},
        "attacks": [f"a{n} -> a{n + 1}" for n in range(299)],
    }
    assert len(solve("argumentation", raw).conclusion.value) == 150


def test_too_many_sets_leave_the_grounded_ones() -> None:
    """Forty pairs have 3 to the 40 complete labellings: not searched to the end, and said."""
    pairs = [f"{x}{n} -> {y}{n}" for n in range(40) for x, y in ("ab", "ba")]
    arguments = {f"{x}{n}": "." for n in range(40) for x in "ab"} | {"free": "."}
    answer = solve("argumentation", {"arguments": arguments, "attacks": pairs, "claim": "free"})
    assert answer.conclusion.value is True
    assert "preferred" not in answer.detail
    assert any(caveat.startswith("grounded semantics only") for caveat in answer.caveats)
    answer = solve("argumentation", {"arguments": arguments, "attacks": pairs})
    assert answer.summary == "at least 1 of 81 arguments stand: free"
    assert answer.conclusion.about == "arguments that stand in the grounded set"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("arguments: {}", "arguments: must hold something"),
        ("arguments: {a: x}\nattacks: [a -> b]", "attacks[1]: unknown argument 'b'"),
        ("arguments: {a: x}\nattacks: [a]", "attacks[1]: must be `a -> b`"),
        ("arguments: {a: x}\nattacks: 7", "attacks: must be a list, not 7"),
        ("arguments: {a: x}\nclaim: aa", "claim: unknown argument 'aa'"),
    ],
)
def test_refusals(said: str, message: str) -> None:
    assert refused("argumentation", said).startswith(message)


graphs = st.integers(1, 5).flatmap(
    lambda n: st.tuples(st.just(n), st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=9))
)


@quick
@given(graphs)
def test_against_the_definitions(graph) -> None:
    """Every semantics from its definition over all subsets: conflict-free, admissible, complete, and so on."""
    size, attacks = graph
    everything = [{*some} for k in range(size + 1) for some in combinations(range(size), k)]

    def defended(some):
        return {
            n
            for n in range(size)
            if all(any((c, b) in attacks for c in some) for b in range(size) if (b, n) in attacks)
        }

    free = [some for some in everything if not any((a, b) in attacks for a in some for b in some)]
    admissible = [some for some in free if some <= defended(some)]
    complete = [some for some in free if some == defended(some)]
    preferred = [some for some in admissible if not any(some < other for other in admissible)]
    stable = [some for some in free if {b for a in some for x, b in attacks if x == a} == {*range(size)} - some]

    attackers = attackers_of(size, attacks)
    labels = find_complete(attackers)

    def as_sets(found):
        return sorted(tuple(bits(one.inside)) for one in found)

    def told(found):
        return sorted(tuple(sorted(one)) for one in found)

    assert as_sets(labels) == told(complete)
    assert as_sets(keep_preferred(labels)) == told(preferred)
    assert as_sets(keep_stable(labels)) == told(stable)
    assert {*bits(label_grounded(attackers).inside)} == min(complete, key=len)


def test_stable_sets_of_a_larger_frame_against_clingo() -> None:
    """Stable sets are answer sets: in(X) unless somebody in attacks X. Eighteen arguments in rings of four and pairs across."""
    size = 18
    attacks = {(n, (n + 1) % size) for n in range(size)} | {(n, (n * 5 + 3) % size) for n in range(0, size, 2)}
    control = clingo.Control(["0", "--warn=none"])
    facts = "".join(f"arg({n})." for n in range(size)) + "".join(f"att({a},{b})." for a, b in attacks)
    control.add("base", [], facts + "in(X) :- arg(X), not out(X). out(X) :- in(Y), att(Y,X). #show in/1.")
    control.ground([("base", [])])
    models = []
    control.solve(
        on_model=lambda model: models.append(sorted(s.arguments[0].number for s in model.symbols(shown=True)))
    )
    found = keep_stable(find_complete(attackers_of(size, attacks)))
    assert sorted([*bits(one.inside)] for one in found) == sorted(models)
    assert models
