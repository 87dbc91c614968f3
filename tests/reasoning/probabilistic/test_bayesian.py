"""Bayesian updating and networks against textbook answers and full enumeration."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoning.solving import refused, solve, solve_yaml

MAMMOGRAPHY = """
hypotheses: {cancer: 1%, healthy: 99%}
evidence:
  - name: positive mammography
    likelihoods: {cancer: 0.8, healthy: 0.096}
    marginal: 0.103
"""
ALARM = """
network:
  burglary: {table: 0.001}
  earthquake: {table: 0.002}
  alarm:
    parents: [burglary, earthquake]
    table: {"true, true": 0.95, "true, false": 0.94, "false, true": 0.29, "false, false": 0.001}
  john: {parents: [alarm], table: {yes: 0.9, no: 0.05}}
  mary: {parents: [alarm], table: {yes: 0.7, no: 0.01}}
observed: {john: true, mary: yes}
query: [burglary, earthquake]
"""


def test_mammography() -> None:
    """Eddy 1982, after Gigerenzer: 1 % prevalence, 80 % sensitivity, 9.6 % false alarms give 7.8 %. Reading the sensitivity as
    the answer gives 80 %."""
    answer = solve_yaml("bayesian", MAMMOGRAPHY)
    assert answer.detail["posterior"]["cancer"] == pytest.approx(0.0776, abs=5e-5)
    assert answer.conclusion.value == "healthy"
    assert answer.confidence == pytest.approx(0.9224, abs=5e-5)


def test_monty_hall() -> None:
    """Selvin 1975: the host, who knows, opens door 3; door 2 now has two thirds, not one half."""
    answer = solve_yaml(
        "bayesian",
        """
hypotheses: {door 1: 0.3333333, door 2: 0.3333333, door 3: 0.3333334}
evidence:
  - {name: host opens door 3, likelihoods: {door 1: 0.5, door 2: 1, door 3: 0}}
""",
    )
    assert answer.conclusion.value == "door 2"
    assert answer.confidence == pytest.approx(2 / 3, abs=1e-6)


def test_order_of_evidence_does_not_matter_and_absence_counts() -> None:
    pieces = [
        {"name": "a", "likelihoods": {"x": 0.7, "y": 0.2}},
        {"name": "b", "likelihoods": {"x": 0.4, "y": 0.9}, "observed": False},
    ]
    one = solve("bayesian", {"hypotheses": {"x": 0.3, "y": 0.7}, "evidence": pieces})
    two = solve("bayesian", {"hypotheses": {"x": 0.3, "y": 0.7}, "evidence": pieces[::-1]})
    x, y = 0.3 * 0.7 * 0.6, 0.7 * 0.2 * 0.1
    assert one.detail["posterior"]["x"] == pytest.approx(x / (x + y))
    assert two.detail["posterior"]["x"] == pytest.approx(x / (x + y))


def test_burglary_network() -> None:
    """Russell & Norvig, Artificial Intelligence, section 14.4: P(burglary | john, mary) = 0.284."""
    answer = solve_yaml("bayesian", ALARM)
    assert answer.detail["posterior"]["burglary"]["yes"] == pytest.approx(0.2842, abs=5e-5)
    assert answer.detail["posterior"]["earthquake"]["yes"] == pytest.approx(0.176, abs=5e-4)
    assert answer.conclusion.about == "burglary"
    assert "0.716" in answer.summary


def test_sprinkler_explaining_away() -> None:
    """Murphy 1998: P(sprinkler | wet) = 0.4298, P(rain | wet) = 0.7079, P(sprinkler | wet, rain) = 0.1945."""
    network = {
        "cloudy": {"table": 0.5},
        "sprinkler": {"parents": ["cloudy"], "table": {"yes": 0.1, "no": 0.5}},
        "rain": {"parents": ["cloudy"], "table": {"yes": 0.8, "no": 0.2}},
        "wet": {
            "parents": ["sprinkler", "rain"],
            "table": {"yes": {"yes": 0.99, "no": 0.9}, "no": {"yes": 0.9, "no": 0}},
        },
    }
    raw = {"network": network, "observed": {"wet": "yes"}, "query": ["sprinkler", "rain"]}
    found = solve("bayesian", raw).detail
    assert found["posterior"]["sprinkler"]["yes"] == pytest.approx(0.4298, abs=5e-5)
    assert found["posterior"]["rain"]["yes"] == pytest.approx(0.7079, abs=5e-5)
    assert found["evidence_probability"] == pytest.approx(0.6471, abs=5e-5)
    raw["observed"] = {"wet": "yes", "rain": "yes"}
    assert solve("bayesian", raw).detail["posterior"]["sprinkler"]["yes"] == pytest.approx(0.1945, abs=5e-5)


chances = st.floats(0.01, 0.99)


@settings(max_examples=25, deadline=None)
@given(st.lists(chances, min_size=11, max_size=11))
def test_elimination_agrees_with_enumeration(p: list[float]) -> None:
    """A diamond with a tail, three values at the top, against the sum over all worlds."""
    top = {"a": p[0] * 0.5, "b": p[1] * 0.5, "c": 1 - p[0] * 0.5 - p[1] * 0.5}
    low = dict(zip("abc", p[2:5], strict=True))
    right = dict(zip("abc", p[5:8], strict=True))
    end = {(x, y): p[8] if x == y else p[9] for x in ("yes", "no") for y in ("yes", "no")}
    network = {
        "top": {"values": ["a", "b", "c"], "table": top},
        "left": {"parents": ["top"], "table": low},
        "right": {"parents": ["top"], "table": right},
        "end": {"parents": ["left", "right"], "table": {f"{x}, {y}": q for (x, y), q in end.items()}},
        "tail": {"parents": ["end"], "table": {"yes": p[10], "no": 0.5}},
    }
    answer = solve("bayesian", {"network": network, "observed": {"tail": "yes"}, "query": ["top"]})
    total = dict.fromkeys("abc", 0.0)
    for t, x, y, e in product("abc", ("yes", "no"), ("yes", "no"), ("yes", "no")):
        weight = top[t] * (low[t] if x == "yes" else 1 - low[t]) * (right[t] if y == "yes" else 1 - right[t])
        weight *= end[x, y] if e == "yes" else 1 - end[x, y]
        total[t] += weight * (p[10] if e == "yes" else 0.5)
    for t in "abc":
        assert answer.detail["posterior"]["top"][t] == pytest.approx(total[t] / sum(total.values()))


def test_tables_from_counts() -> None:
    answer = solve_yaml(
        "bayesian",
        """
network: {late: {values: [yes, no]}, rain: {parents: [late]}}
data: [{late: yes, rain: yes, count: 6}, {late: yes, rain: no, count: 2}, {late: no, rain: yes, count: 3}, {late: no, rain: no, count: 9}]
observed: {rain: yes}
query: [late]
""",
    )
    assert answer.confidence == pytest.approx(6 / 9)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hypotheses: {a: 0.5, b: 0.4}\nevidence: [{name: e, likelihoods: {a: 1, b: 1}}]", "hypotheses: probabilities must sum to 1, not 0.9"),
        ("hypotheses: {a: 0.5, b: 0.5}\nevidence: [{name: e, likelihoods: {a: 0, b: 0}}]", "cannot happen under any hypothesis"),
        ("hypotheses: {a: 0.5, b: 0.5}\nevidence: [{name: e, likelihoods: {a: 1, c: 0}}]", "evidence[1].likelihoods: unknown hypothesis 'c'"),
        (MAMMOGRAPHY.replace("0.103", "0.2"), "evidence[1].marginal: is 0.2, but the priors and likelihoods make it 0.10304"),
        ("query: [a]", "give either hypotheses with evidence, or a network"),
        ("network: {a: {parents: [b], table: {yes: 1, no: 0}}, b: {parents: [a], table: {yes: 1, no: 0}}}\nquery: [a]", "runs in a circle: "),
        ("network: {a: {table: {yes: 0.5, no: 0.4}}}\nquery: [a]", "network.a.table: probabilities must sum to 1, not 0.9"),
        ("network: {a: {table: 0.5}}\nquery: [b]", "query: unknown variable 'b'"),
        ("network: {a: {table: 0.5}}\nquery: [a]\nobserved: {a: maybe}", "observed.a: unknown value 'maybe'"),
        ("network: {a: {table: 0}}\nquery: [a]\nobserved: {a: yes}", "observed: a=yes cannot happen in this network"),
        ("network: {a: {table: 0.5}, b: {parents: [a], table: 0.5}}\nquery: [a]", "must have an entry for each value of a"),
        ("network: {a: {table: 0.5}, b: {parents: [a], table: {yes: 0.5}}}\nquery: [a]", "network.b.table: no is missing"),
        ("network: {a: {}}\nquery: [a]", "network.a.table: is missing"),
    ],
)  # fmt: skip
def test_refusals(text: str, said: str) -> None:
    assert said in refused("bayesian", text)


def test_a_network_too_dense_is_refused() -> None:
    """Thirty causes of one effect: the table alone has a billion rows."""
    many = {f"c{n}": {"table": 0.5} for n in range(30)}
    text = {"network": {**many, "e": {"parents": list(many), "table": 0.5}}, "query": ["e"]}
    with pytest.raises(ValueError, match="limit is 200,000"):
        solve("bayesian", text)


def test_a_long_chain_is_exact() -> None:
    """A hundred steps of a symmetric channel forget the start: one half, in no time."""
    network = {"n0": {"table": 1}}
    for n in range(1, 100):
        network[f"n{n}"] = {"parents": [f"n{n - 1}"], "table": {"yes": 0.8, "no": 0.2}}
    answer = solve("bayesian", {"network": network, "query": ["n99"]})
    assert answer.detail["posterior"]["n99"]["yes"] == pytest.approx(0.5 + 0.5 * 0.6**99)


def test_what_is_ruled_out_is_said() -> None:
    raw = {
        "hypotheses": {"x": 0.2, "y": 0.8},
        "evidence": [{"name": "e", "likelihoods": {"x": 0.9, "y": 0.1}}],
    }
    assert solve("bayesian", raw).caveats == ()
    raw["evidence"][0]["likelihoods"]["y"] = 0
    sure = solve("bayesian", raw)
    assert sure.caveats == ("A likelihood or prior of 0 rules hypotheses out for good.",)


def test_of_equals_the_text_and_the_conclusion_name_the_same() -> None:
    """0.6 * 0.3 * 0.9 and 0.3 * 0.9 * 0.6 are equal, though not in floating point."""
    raw = {
        "hypotheses": {"a": 0.1, "b": 0.6, "c": 0.3},
        "evidence": [
            {"name": "e", "likelihoods": {"a": 0.2, "b": 0.3, "c": 0.9}},
            {"name": "f", "likelihoods": {"a": 0.6, "b": 0.9, "c": 0.6}},
        ],
    }
    answer = solve("bayesian", raw)
    assert answer.conclusion.value == "b" and answer.summary.startswith("b:")
    assert "b and c are equally likely." in answer.caveats
