"""Induction: shares with their intervals."""

import pytest

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.reasoning.answer import wilson
from reasoning.solving import refused, solve, solve_yaml


@pytest.mark.parametrize(
    ("hits", "count", "score"),
    [
        (81, 263, (0.2553, 0.3662)),
        (15, 148, (0.0624, 0.1605)),
        (0, 20, (0.0000, 0.1611)),
        (1, 29, (0.0061, 0.1718)),
    ],
)
def test_intervals_are_those_of_newcombe(hits, count, score):
    """Newcombe, Statistics in Medicine 17 (1998), table I: method 3 (Wilson)."""
    assert wilson(hits, count, 0.95) == pytest.approx(score, abs=6e-5)


def test_laplace_on_the_sunrise():
    """Laplace, Essai philosophique sur les probabilites: 1,826,213 sunrises make the next a bet of 1,826,214 to 1."""
    answer = solve_yaml("inductive", "counts: {held: 1826213, failed: 0}")
    assert answer.conclusion.kind == "number" and answer.confidence is None
    assert 1 / (1 - answer.conclusion.value) == pytest.approx(1_826_215)
    assert "no exception" in answer.caveats[0]


FACTS = """
if: ["?x isA customer"]
then: ?x renews yes
facts:
  - acme isA customer
  - acme isA partner
  - globex isA customer
  - initech isA customer
  - hooli isA customer
  - acme renews yes
  - globex renews yes
  - initech renews no
"""


def test_facts_are_counted_and_what_is_not_known_is_left_out():
    answer = solve_yaml("inductive", FACTS)
    assert (answer.detail["held"], answer.detail["exceptions"], answer.detail["unknown"]) == (
        2,
        ["initech"],
        ["hooli"],
    )
    assert answer.conclusion.value == pytest.approx(3 / 5)


def test_another_value_denies_nothing_where_a_subject_may_have_several():
    """acme is a customer and a partner, so that globex is a customer does not tell that it is no partner."""
    answer = solve_yaml("inductive", FACTS.replace("then: ?x renews yes", "then: ?x isA partner"))
    assert (answer.detail["held"], answer.detail["failed"], len(answer.detail["unknown"])) == (1, 0, 3)


def test_own_facts_are_used():
    own = (
        Fact("F-1", "a", "isA", "lead"),
        Fact("F-2", "a", "became", "client"),
        Fact("F-3", "b", "isA", "lead"),
        Fact("F-4", "b", "became", "lost"),
    )
    answer = solve("inductive", {"if": ["?x isA lead"], "then": "?x became client"}, facts=own)
    assert (answer.detail["held"], answer.detail["failed"]) == (1, 1)


def test_bad_input_is_refused():
    assert refused("inductive", "level: 0.9") == "cases: give cases, counts, or `if` and `then`"
    assert "not cases and counts" in refused("inductive", "cases: [{held: yes}]\ncounts: {held: 1, failed: 1}")
    assert refused("inductive", "counts: {held: 0, failed: 0}") == "counts: no instance tells whether it holds"
    assert "level: must be from 0.5" in refused("inductive", "counts: {held: 1, failed: 0}\nlevel: 1")
    assert "if: no conditions" in refused("inductive", "then: ?x renews yes\nfacts: []")
    assert "shares no variable" in refused("inductive", 'if: ["?y isA customer"]\nthen: ?x renews yes\nfacts: []')
