"""Structure mapping: what goes to what, and what carries over."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.reasoning.formal.analogical import (
    Expression,
    Matcher,
    expressions,
    parse_expression,
    render_expression,
)
from reasoning.solving import refused, solve, solve_yaml

ATOM = """
source:
  name: solar system
  facts:
    - causes(and(attracts(sun, planet), more_massive(sun, planet)), revolves(planet, sun))
    - hotter(sun, planet)
    - yellow(sun)
    - massive(sun)
target:
  name: atom
  facts:
    - attracts(nucleus, electron)
    - electron revolves nucleus
    - more_massive(nucleus, electron)
    - hotter(electron, nucleus)
    - yellow(electron)
"""


def test_solar_system_and_atom() -> None:
    """Gentner, Structure-Mapping, 1983: the sun is like the nucleus although it is less alike in what it looks like, and the cause
    carries over while heat and colour do not."""
    answer = solve_yaml("analogical", ATOM)
    assert answer.detail["pairs"] == {"sun": "nucleus", "planet": "electron"}
    cause = "causes(and(attracts(nucleus, electron), more_massive(nucleus, electron)), revolves(electron, nucleus))"
    assert answer.conclusion.value == (cause,)
    assert answer.detail["inferences"][0]["support"] == 3
    weak = [one["fact"] for one in answer.detail["inferences"] if not one["support"]]
    assert weak == ["hotter(nucleus, electron)"]
    assert answer.confidence is None


def test_what_is_missing_is_inferred() -> None:
    answer = solve_yaml("analogical", ATOM.replace("    - electron revolves nucleus\n", ""))
    assert "revolves(electron, nucleus)" in answer.conclusion.value


WATER = """
source:
  name: water flow
  facts:
    - causes(greater(pressure(beaker), pressure(vial)), flow(beaker, vial, water, pipe))
    - greater(diameter(beaker), diameter(vial))
    - liquid(water)
    - flat_top(water)
    - clear(beaker)
target:
  name: heat flow
  facts:
    - greater(temperature(coffee), temperature(ice))
    - flow(coffee, ice, heat, bar)
    - liquid(coffee)
    - flat_top(coffee)
same: {pressure: temperature}
"""


def test_water_flow_and_heat_flow() -> None:
    """Falkenhainer, Forbus, Gentner, The Structure-Mapping Engine, 1989: water is like heat and not like coffee,
    although both are liquid, and the cause carries over."""
    answer = solve_yaml("analogical", WATER)
    pairs = {"beaker": "coffee", "vial": "ice", "water": "heat", "pipe": "bar"}
    assert answer.detail["pairs"] == pairs
    assert answer.conclusion.value == (
        "causes(greater(temperature(coffee), temperature(ice)), flow(coffee, ice, heat, bar))",
    )


def test_a_system_beats_more_facts_that_stand_alone() -> None:
    """Systematicity: one chain of causes, two relations, counts more than three that nothing joins."""
    source = ["causes(r(a, b), q(b, c))", "s(a, b)", "t(a, b)", "u(a, b)"]
    target = ["causes(r(x, y), q(y, z))", "s(y, x)", "t(y, x)", "u(y, x)"]
    answer = solve("analogical", {"source": {"facts": source}, "target": {"facts": target}})
    assert answer.detail["pairs"] == {"a": "x", "b": "y", "c": "z"}
    # 1 for the cause, and 1 + 1 for each of its two parts.
    assert answer.detail["score"] == 5
    loose = solve("analogical", {"source": {"facts": source[1:]}, "target": {"facts": target}})
    assert loose.detail["pairs"] == {"a": "y", "b": "x"}


THINGS = ["a", "b", "c"]
FIRST = st.one_of(
    st.builds(lambda r, x, y: f"{r}({x}, {y})", st.sampled_from("rq"), *[st.sampled_from(THINGS)] * 2),
    st.builds("p({})".format, st.sampled_from(THINGS)),
)
FACTS = st.lists(
    st.one_of(FIRST, st.builds("causes({}, {})".format, FIRST, FIRST)), min_size=1, max_size=6, unique=True
)


def _score(source: tuple[Expression, ...], target: set[Expression], pairs: dict[str, str]) -> float:
    """The score by its definition: a fact that is said of the target too, and what holds it."""

    def said(one: Expression) -> Expression:
        if not one.parts:
            return Expression(pairs.get(one.name, "?" + one.name))
        return Expression(one.name, tuple(map(said, one.parts)))

    matched = [one for one in source if said(one) in target]

    def worth(one: Expression) -> float:
        mine = 0.1 if len(one.parts) == 1 else 1.0
        return mine + sum(worth(up) for up in matched if one in up.parts)

    return sum(map(worth, matched))


@given(FACTS, FACTS)
@settings(max_examples=40, deadline=None)
def test_best_score_against_all_mappings(source: list[str], target: list[str]) -> None:
    one = expressions(parse_expression(text, "") for text in source)
    other = expressions(parse_expression(text, "") for text in target)
    every = [dict(zip(THINGS, chosen, strict=True)) for chosen in permutations([*THINGS, "-", "--", "---"], 3)]
    best = max(_score(one, {*other}, pairs) for pairs in every)
    found, _ = Matcher(one, other, {}).best()
    assert found.score == pytest.approx(best)
    assert _score(one, {*other}, found.pairs) == pytest.approx(best)
    assert len({*found.pairs.values()}) == len(found.pairs)


def test_ties_are_told() -> None:
    raw = {"source": {"facts": ["likes(a, b)"]}, "target": {"facts": ["likes(x, y)", "likes(y, x)"]}}
    answer = solve("analogical", raw)
    assert "another mapping is as good; the first that was found is given" in answer.caveats


def test_relations_by_another_name() -> None:
    raw = {
        "source": {"facts": ["causes(and(r(a, b), q(b, c)), s(a, c))"]},
        "target": {"facts": ["causes(and(r(x, y), q(y, z)), t(x, z))"]},
        "same": {"s": "t"},
    }
    assert solve("analogical", raw).detail["share_of_source"] == 1
    assert solve("analogical", raw | {"same": {}}).detail["share_of_source"] < 1


def test_things_without_counterpart() -> None:
    raw = {"source": {"facts": ["causes(r(a, b), q(a, c))"]}, "target": {"facts": ["r(x, y)"]}}
    answer = solve("analogical", raw)
    assert answer.conclusion.value == ()
    assert [one["fact"] for one in answer.detail["inferences"]] == ["q(x, ?c)", "causes(r(x, y), q(x, ?c))"]
    assert answer.detail["inferences"][0]["without_counterpart"] == ["c"]


def test_nothing_in_common() -> None:
    answer = solve("analogical", {"source": {"facts": ["r(a, b)"]}, "target": {"facts": ["q(a, b)"]}})
    assert answer.conclusion.value == () and answer.detail["score"] == 0


def test_text_and_back() -> None:
    said = "causes(and(is in(red car, garage), hot(sun)), melts(ice, x-1))"
    assert render_expression(parse_expression(said, "")) == said
    assert parse_expression(" r( a ,b ) ", "") == parse_expression("a r b", "")


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ("[]", "source.facts: must hold something, and is empty"),
        ("[sun attracts]", "source.facts[1]: cannot read 'sun attracts'"),
        ("['r(a, b']", "source.facts[1]: a ) is missing in 'r(a, b'"),
        ("['r(a, b) c']", "source.facts[1]: cannot read 'c'"),
        ("['r(a,, b)']", "source.facts[1]: cannot read ', b)'"),
        ("['r()']", "source.facts[1]: cannot read ')'"),
        ("hello", "source.facts: must be a list, not 'hello'"),
    ],
)
def test_bad_facts(facts: str, said: str) -> None:
    assert refused("analogical", f"source: {{facts: {facts}}}\ntarget: {{facts: ['r(a, b)']}}") == said


def test_a_search_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mabos_cli.reasoning.formal.analogical.MOST_NODES", 50)
    ring = [f"r({a}, {b})" for a in "abcdefgh" for b in "abcdefgh" if a < b]
    other = [fact.upper().replace("R(", "r(") for fact in ring[::2]]
    said = refused("analogical", str({"source": {"facts": ring}, "target": {"facts": other}}))
    assert said == "source: no best mapping after 50 trials"
