"""Defaults: extensions after Reiter, and clingo as an oracle."""

import clingo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.reasoning.formal.default import Closure, Default, Strict, find_clash, find_extensions
from reasoning.solving import refused, solve, solve_yaml


def test_tweety():
    """Reiter, A Logic for Default Reasoning (1980): birds fly, unless they are penguins."""
    text = """
    strict: [{if: [penguin], then: bird}, {if: [penguin], then: not flies}]
    defaults: [{if: [bird], then: flies}]
    query: flies
    facts: """
    assert solve_yaml("default", text + "[bird]").conclusion.value is True
    assert solve_yaml("default", text + "[penguin]").conclusion.value is False
    assert solve_yaml("default", text + "[fish]").conclusion.value is None


NIXON = """
facts: [quaker, republican]
defaults:
  - {name: quakers, if: [quaker], then: pacifist}
  - {name: republicans, if: [republican], then: not pacifist}
query: pacifist
"""


def test_the_nixon_diamond_has_two_extensions_and_leaves_it_open():
    """Reiter and Criscuolo, On Interacting Defaults (1981). A credulous reading would say yes."""
    answer = solve_yaml("default", NIXON)
    assert answer.conclusion.value is None
    assert [one["defaults"] for one in answer.detail["extensions"]] == [["quakers"], ["republicans"]]
    assert answer.detail["in_all"] == ["quaker", "republican"]


def test_a_semi_normal_default_blocks_the_chain():
    """Reiter and Criscuolo: students are adults, adults work, students do not; with `unless student` there is one extension."""
    text = """
    facts: [student]
    query: works
    defaults:
      - {if: [student], then: adult}
      - {if: [adult], then: works}
      - {if: [student], then: not works}
    """
    assert len(solve_yaml("default", text).detail["extensions"]) == 2
    answer = solve_yaml("default", text.replace("then: works}", "then: works, unless: [student]}"))
    assert len(answer.detail["extensions"]) == 1 and answer.conclusion.value is False


def test_defaults_that_undo_each_other_have_no_extension():
    """Etherington (1987): each of three defaults blocks the one before it."""
    text = """
    facts: []
    defaults:
      - {then: a, unless: [b]}
      - {then: b, unless: [c]}
      - {then: c, unless: [a]}
    """
    answer = solve_yaml("default", text)
    assert answer.detail["extensions"] == [] and "no extension" in answer.summary
    assert solve_yaml("default", text.rstrip() + "\n    query: a").conclusion.value is None


def test_a_default_is_not_its_own_reason():
    """Groundedness: `if a then a` gives nothing, though the set with a would be stable."""
    answer = solve_yaml("default", "facts: []\ndefaults: [{if: [a], then: a}]")
    assert answer.conclusion.value == ()


ATOMS = "abcd"
LITERALS = st.tuples(st.sampled_from(ATOMS), st.booleans())
SETS = st.frozensets(LITERALS, max_size=2)
DEFAULTS = st.lists(st.tuples(SETS, SETS, LITERALS), max_size=6)


def as_term(literal):
    return literal[0] if literal[1] else f"-{literal[0]}"


def answer_sets(facts, strict, defaults):
    """Gelfond and Lifschitz (1991): a justification becomes `not` its opposite; answer sets are extensions."""
    lines = [f"{as_term(one)}." for one in facts]
    for rule in strict:
        lines.append(f"{as_term(rule.then)} :- {', '.join(map(as_term, rule.when)) or '#true'}.")
    for one in defaults:
        body = [as_term(literal) for literal in one.when]
        body += [f"not {as_term((atom, not holds))}" for atom, holds in one.assuming]
        lines.append(f"{as_term(one.then)} :- {', '.join(body)}.")
    control = clingo.Control(["0", "--warn=none"])
    control.add("base", [], "\n".join(lines))
    control.ground([("base", [])])
    found = set()
    control.solve(on_model=lambda model: found.add(frozenset(map(str, model.symbols(atoms=True)))))
    return found


@settings(deadline=None)
@given(SETS, st.lists(st.tuples(SETS, LITERALS), max_size=3), DEFAULTS)
def test_extensions_are_the_answer_sets_of_clingo(facts, rules, rows):
    strict = [Strict(when, then) for when, then in rules]
    defaults = [
        Default(str(n), when, assuming | {then}, then)
        for n, (when, assuming, then) in enumerate(rows)
        if find_clash(assuming | {then}) is None
    ]
    if find_clash(Closure(strict).close(facts)) is not None:
        assert answer_sets(facts, strict, ()) == set()
        return
    found = find_extensions(facts, strict, defaults)
    mine = {frozenset(map(as_term, one.literals)) for one in found}
    assert mine == answer_sets(facts, strict, defaults)


def test_many_defaults_that_do_not_meet_cost_nothing():
    rows = [{"then": f"s{n}"} for n in range(150)]
    answer = solve("default", {"facts": [], "defaults": rows})
    assert len(answer.conclusion.value) == 150 and len(answer.detail["extensions"]) == 1


def test_own_facts_are_statements():
    own = (Fact("F-1", "tweety", "isA", "bird"), Fact("F-2", "rex", "isA", "dog"))
    raw = {"defaults": [{"if": ["tweety isA bird"], "then": "tweety flies"}], "query": "tweety flies"}
    answer = solve("default", raw, facts=own)
    assert answer.conclusion.value is True and "1 of your own facts" in answer.caveats[0]


def test_bad_input_is_refused():
    assert "defaults: is missing" in refused("default", "facts: [a]")
    assert "'a' both holds and does not hold" in refused("default", "facts: [a, not a]\ndefaults: [{then: b}]")
    assert "never applies" in refused("default", "facts: []\ndefaults: [{then: b, unless: [b]}]")
    assert "occurs twice" in refused("default", "facts: []\ndefaults: [{name: d, then: b}, {name: d, then: c}]")
    with pytest.raises(ValueError, match="combinations to try"):
        rows = [{"then": said, "name": said} for n in range(16) for said in (f"s{n}", f"not s{n}")]
        solve("default", {"facts": [], "defaults": rows})
