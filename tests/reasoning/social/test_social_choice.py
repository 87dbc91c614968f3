from itertools import combinations, pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.reasoning.social.social_choice import (
    Ballot,
    count_pairs,
    find_paths,
    find_schulze,
)
from reasoning.solving import refused, solve, solve_yaml

quick = settings(max_examples=50, deadline=None, derandomize=True)
TENNESSEE = """
ballots:
  - 42: Memphis > Nashville > Chattanooga > Knoxville
  - 26: Nashville > Chattanooga > Knoxville > Memphis
  - 15: Chattanooga > Knoxville > Nashville > Memphis
  - 17: Knoxville > Chattanooga > Nashville > Memphis
"""


def test_the_capital_of_tennessee() -> None:
    """The textbook example: Nashville beats all, Memphis leads in first places."""
    answer = solve_yaml("social-choice", TENNESSEE)
    assert answer.conclusion.value == ("Nashville", "Chattanooga", "Knoxville", "Memphis")
    assert answer.detail["winners"] == {
        "schulze": ["Nashville"],
        "borda": ["Nashville"],
        "plurality": ["Memphis"],
    }
    assert answer.detail["scores"]["borda"] == {
        "Memphis": 126,
        "Nashville": 194,
        "Chattanooga": 173,
        "Knoxville": 107,
    }
    assert answer.detail["condorcet_winner"] == "Nashville"
    assert any("the rules disagree" in caveat for caveat in answer.caveats)


def test_schulzes_forty_five_voters() -> None:
    """Schulze 2011, A new monotonic, clone-independent, reversal symmetric and Condorcet-consistent method: E wins, E > A > C > B > D."""
    rows = "5 ACBED, 5 ADECB, 8 BEDAC, 3 CABED, 7 CAEBD, 2 CBADE, 7 DCEBA, 8 EBADC"
    ballots = [f"{row.split()[0]}: {' > '.join(row.split()[1])}" for row in rows.split(", ")]
    answer = solve("social-choice", {"ballots": ballots, "candidates": [*"ABCDE"]})
    assert answer.conclusion.value == ("E", "A", "C", "B", "D")
    assert "order by schulze: E > A > C > B > D" in answer.steps
    assert answer.detail["pairs"]["E"] == {"A": 23, "B": 27, "C": 21, "D": 31}
    index = {name: n for n, name in enumerate("ABCDE")}
    counted = [Ballot(int(row.split()[0]), tuple((index[c],) for c in row.split()[1])) for row in rows.split(", ")]
    assert find_paths(count_pairs(counted, 5)) == [
        [0, 28, 28, 30, 24],
        [25, 0, 28, 33, 24],
        [25, 29, 0, 29, 24],
        [25, 28, 28, 0, 24],
        [25, 28, 28, 31, 0],
    ]


def test_the_paradox_of_voting() -> None:
    """Condorcet 1785: three voters, each order turned by one; majorities run in a circle."""
    answer = solve("social-choice", {"ballots": ["a > b > c", "b > c > a", "c > a > b"]})
    assert answer.detail["condorcet_winner"] is None
    assert answer.detail["winners"]["schulze"] == ["a", "b", "c"]
    assert any(caveat.startswith("tie for the first place by schulze") for caveat in answer.caveats)


def test_bordas_twenty_one_voters() -> None:
    """Borda 1784: A leads in first places with 8, 7 and 6, and loses to both others by 13 to 8; by points C has 26, B 21, A 16."""
    said = "ballots: ['1: A > B > C', '7: A > C > B', '7: B > C > A', '6: C > B > A']"
    answer = solve_yaml("social-choice", said)
    assert answer.detail["scores"]["borda"] == {"A": 16, "B": 21, "C": 26}
    assert answer.detail["scores"]["plurality"] == {"A": 8, "B": 7, "C": 6}
    assert answer.detail["condorcet_winner"] == "C"


def test_borda_against_a_majority() -> None:
    """Borda may pass over the first choice of most voters: 3 of 5 put a first, b gets more points."""
    answer = solve("social-choice", {"ballots": ["3: a > b > c", "2: b > c > a"], "rule": "borda"})
    assert answer.conclusion.value[0] == "b"
    assert dict(answer.conclusion.scores) == {"a": 6, "b": 7, "c": 2}
    assert answer.detail["condorcet_winner"] == "a"


def test_ties_and_names_left_out() -> None:
    """A tie shares the points; who is not named is tied at the end, below everyone named."""
    answer = solve("social-choice", {"ballots": ["2: a = b > c", "a"], "candidates": ["a", "b", "c"]})
    assert answer.detail["scores"]["borda"] == {"a": 5, "b": 3.5, "c": 0.5}
    assert answer.detail["scores"]["plurality"] == {"a": 2, "b": 1, "c": 0}
    assert answer.detail["pairs"] == {"a": {"b": 1, "c": 3}, "b": {"a": 0, "c": 2}, "c": {"a": 0, "b": 0}}


def test_a_count_before_a_list() -> None:
    answer = solve_yaml("social-choice", "ballots:\n  - 2: [a, b, c]\n  - 3: [b, [a, c]]\n")
    assert answer.detail["pairs"]["a"] == {"b": 2, "c": 2} and answer.detail["pairs"]["b"]["a"] == 3
    assert answer.detail["voters"] == 5 and answer.conclusion.value[0] == "b"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("ballots: []", "ballots: must hold something"),
        ("ballots: [a, a]", "ballots: there is only one candidate"),
        ("ballots: [a > b > a]", "ballots[1]: 'a' occurs twice"),
        ("ballots: [a > bb]\ncandidates: [a, b]", "ballots[1]: unknown candidate 'bb'"),
        ("ballots: [a > b]\ncandidates: [a, b, a]", "candidates: 'a' occurs twice"),
        ("ballots: ['a > > b']", "ballots[1].rank[2]: must be text"),
        ("ballots: [{count: 0, rank: [a, b]}]", "ballots[1].count: must be from 1"),
        ("ballots: [{count: 2}]", "ballots[1]: names nobody"),
        ("ballots: [7]", "ballots[1]: must be fields"),
        (f"ballots: [{' > '.join(f'c{n}' for n in range(51))}]", "candidates: 51 candidates are too many"),
    ],
)
def test_refusals(said: str, message: str) -> None:
    assert refused("social-choice", said).startswith(message)


orders = st.lists(st.tuples(st.integers(1, 4), st.permutations(range(4))), min_size=1, max_size=6)


@quick
@given(orders)
def test_against_brute_force(found) -> None:
    """The strongest paths over all simple paths; who wins is in the smallest set whose members each beat all others."""
    ballots = [Ballot(count, tuple((one,) for one in order)) for count, order in found]
    pairs = count_pairs(ballots, 4)

    beats = {(a, b) for a in range(4) for b in range(4) if pairs[a][b] > pairs[b][a]}
    smith = next(
        [*members]
        for size in range(1, 5)
        for members in combinations(range(4), size)
        if all((a, b) in beats for a in members for b in range(4) if b not in members)
    )

    def strongest(a, b):
        paths = [(a, *via, b) for n in range(3) for via in permutations({*range(4)} - {a, b}, n)]
        return max(min(pairs[x][y] if (x, y) in beats else 0 for x, y in pairwise(path)) for path in paths)

    paths = find_paths(pairs)
    assert all(paths[a][b] == strongest(a, b) for a, b in permutations(range(4), 2))
    assert {*find_schulze(paths)} <= {*smith}
