"""Rules in words: what is written can be read again, and what cannot be read is told."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.rule import OPERATORS, Pattern
from mabos_cli.formats.knowledge.rules import parse_rule_text, render_pattern, render_rule_text

quick = settings(deadline=None, derandomize=True)
WORDS = ["and", "AND", "then", "if", "contains", ">", "=", "<>", "eq", '"', '""', "\\", '\\"', "a b", "?x", "?y", "*", "$50,000", "it's", "#1", " x ", "a\tb"]  # fmt: skip
terms = st.one_of(st.sampled_from(WORDS), st.text(min_size=1))
conditions = st.tuples(terms, terms, terms, st.sampled_from(OPERATORS)).map(lambda parts: Pattern(*parts))
conclusions = st.one_of(st.none(), st.tuples(terms, terms, terms).map(lambda parts: Pattern(*parts)))


@quick
@given(st.lists(conditions, min_size=1, max_size=3).map(tuple), conclusions)
def test_a_rule_survives_being_written_out(found, conclusion):
    assert parse_rule_text(render_rule_text(found, conclusion)) == (found, conclusion)
    for pattern in found:
        assert parse_rule_text(render_pattern(pattern))[0] == (pattern,)


# Not st.builds: it may fill in fields that have a default.
tests_of = st.tuples(st.sampled_from(["?x", "?y", "?z"]), st.just(""), terms, st.sampled_from(OPERATORS)).map(
    lambda parts: Pattern(*parts)
)


@quick
@given(st.lists(conditions, min_size=1, max_size=3), st.lists(tests_of, max_size=2), conclusions)
def test_comparisons_settle_at_once(found, tests, conclusion):
    """A comparison may move into the condition that binds its variable; what was read once is read the same again."""
    once = parse_rule_text(render_rule_text((*found, *tests), conclusion))
    assert parse_rule_text(render_rule_text(*once)) == once


@pytest.mark.parametrize(
    ("text", "conditions", "conclusion"),
    [
        ("IF ?x a b THEN ?x c d", (("?x", "a", "b", "eq"),), ("?x", "c", "d", "eq")),
        ("?x a b AND ?y c d", (("?x", "a", "b", "eq"), ("?y", "c", "d", "eq")), None),
        ('if ?x says "and then" then ?x is odd', (("?x", "says", "and then", "eq"),), ("?x", "is", "odd", "eq")),
        ('if "if" "and" "then"', (("if", "and", "then", "eq"),), None),
        ('if ?x "contains" 5', (("?x", "contains", "5", "eq"),), None),
        ('if ?x says "say \\"hi\\" \\\\ C:\\dir"', (("?x", "says", 'say "hi" \\ C:\\dir', "eq"),), None),
        ("if ?x size 5\" and ?x owner O'Brien", (("?x", "size", '5"', "eq"), ("?x", "owner", "O'Brien", "eq")), None),
        ("if ?x city 'New York' and ?x says 'it\\'s \"so\"'", (("?x", "city", "New York", "eq"), ("?x", "says", 'it\'s "so"', "eq")), None),
        ("if ?x p ?y and ?y >= 5", (("?x", "p", "5", "gte"),), None),
        # What is needed elsewhere, compared already, or bound twice is not folded.
        ("if ?x p ?y and ?y > 5 then ?x q ?y", (("?x", "p", "?y", "eq"), ("?y", "", "5", "gt")), ("?x", "q", "?y", "eq")),
        ("if ?x p > ?y and ?y < 5", (("?x", "p", "?y", "gt"), ("?y", "", "5", "lt")), None),
        ("if ?y p ?y and ?y > 5", (("?y", "p", "?y", "eq"), ("?y", "", "5", "gt")), None),
        ("if ?x p ?y and ?y > 5 and ?y < 9", (("?x", "p", "?y", "eq"), ("?y", "", "5", "gt"), ("?y", "", "9", "lt")), None),
    ],
)  # fmt: skip
def test_rules_are_read_as_they_are_meant(text, conditions, conclusion):
    found = parse_rule_text(text)
    assert found == (
        tuple(Pattern(*each) for each in conditions),
        Pattern(*conclusion) if conclusion else None,
    )


def test_what_a_message_names_stays_bound():
    found, _ = parse_rule_text("if ?x debt ?the-sum and ?the-sum > 5", "?x owes ?the-sum")
    assert found == (Pattern("?x", "debt", "?the-sum"), Pattern("?the-sum", "", "5", "gt"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "cannot read"),
        ("if", "cannot read"),
        ("if ?x a", "cannot read '?x a'"),
        ("if ?x a b then", "cannot read ''"),
        ("if ?x a b and then ?x c d", "cannot read ''"),
        ("if ?x a b then ?x c d then ?x e f", "cannot read"),
        ("if ?x a b then ?x c d and ?x e f", "cannot read"),
        ('if ?x a "b', "a quote is not closed"),
        ('if ?x "a"b c', "a quote is not closed"),
        ('if ?x "" b', "cannot read"),
        ("if 5 > 3", "compares no variable"),
    ],
)
def test_what_cannot_be_read_is_told(text, told):
    with pytest.raises(BadValue) as error:
        parse_rule_text(text)
    assert told in error.value.message and error.value.hint
