"""The do-operator against published examples and the formula written out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoning.solving import STONES_DATA, refused, solve, solve_yaml

COUNTS = f"""
network:
  size: {{values: [small, large]}}
  treatment: {{values: [A, B], parents: [size]}}
  cured: {{parents: [treatment, size]}}
do: {{treatment: A}}
outcome: cured
data:{STONES_DATA}"""


def test_kidney_stones_from_rounded_rates() -> None:
    """Peters, Janzing & Schölkopf, Elements of Causal Inference, example 6.16: 0.832 under do(A), 0.782 under do(B)."""
    answer = solve_yaml(
        "interventional",
        """
network:
  size: {values: [small, large], table: 0.51}
  treatment: {values: [A, B], parents: [size], table: {small: 0.244, large: 0.767}}
  cured: {parents: [treatment, size], table: {A: {small: 0.93, large: 0.73}, B: {small: 0.87, large: 0.69}}}
do: {treatment: A}
outcome: cured
""",
    )
    assert answer.detail["do"]["yes"] == pytest.approx(0.832, abs=5e-4)
    assert answer.detail["do_compared"]["yes"] == pytest.approx(0.782, abs=5e-4)
    assert answer.detail["compared_with"] == {"treatment": "B"}


def test_kidney_stones_from_counts() -> None:
    """Charig et al. 1986: 78 % against 83 % as seen, the other way round when the treatment is set."""
    answer = solve_yaml("interventional", COUNTS)
    assert answer.detail["seen"]["yes"] == pytest.approx(273 / 350)
    assert answer.detail["seen_compared"]["yes"] == pytest.approx(289 / 350)
    assert answer.detail["do"]["yes"] == pytest.approx((81 / 87) * (357 / 700) + (192 / 263) * (343 / 700))
    assert answer.detail["effect"] > 0 > answer.detail["seen_difference"]
    assert any("Simpson" in said for said in answer.caveats)


def test_setting_an_effect_tells_nothing_about_its_cause() -> None:
    """Pearl's barometer: seeing it fall makes a storm likely, pushing its needle does not."""
    text = """
network:
  pressure: {values: [low, high], table: 0.2}
  needle: {values: [down, up], parents: [pressure], table: {low: 0.95, high: 0.05}}
  storm: {parents: [pressure], table: {low: 0.7, high: 0.05}}
do: {needle: down}
outcome: storm
"""
    answer = solve_yaml("interventional", text)
    assert answer.detail["do"]["yes"] == pytest.approx(0.2 * 0.7 + 0.8 * 0.05)
    assert answer.detail["effect"] == pytest.approx(0)
    assert answer.detail["seen"]["yes"] == pytest.approx((0.19 * 0.7 + 0.04 * 0.05) / 0.23)


chances = st.floats(0.05, 0.95)


@settings(max_examples=25, deadline=None)
@given(st.lists(chances, min_size=9, max_size=9))
def test_truncated_product(p: list[float]) -> None:
    """z -> x, z -> y, x -> m -> y: the sum over z and m with x fixed and its own table left out."""
    end = {("yes", "yes"): p[5], ("yes", "no"): p[6], ("no", "yes"): p[7], ("no", "no"): p[8]}
    network = {
        "z": {"table": p[0]},
        "x": {"parents": ["z"], "table": {"yes": p[1], "no": p[2]}},
        "m": {"parents": ["x"], "table": {"yes": p[3], "no": p[4]}},
        "y": {"parents": ["m", "z"], "table": {f"{m}, {z}": q for (m, z), q in end.items()}},
    }
    raw = {"network": network, "do": {"x": "yes"}, "outcome": "y"}
    expected = {
        x: sum(
            (p[0] if z == "yes" else 1 - p[0]) * (q if m == "yes" else 1 - q) * end[m, z]
            for z in ("yes", "no")
            for m in ("yes", "no")
        )
        for x, q in (("yes", p[3]), ("no", p[4]))
    }
    found = solve("interventional", raw).detail
    assert found["do"]["yes"] == pytest.approx(expected["yes"])
    assert found["effect"] == pytest.approx(expected["yes"] - expected["no"])
    raw["observed"] = {"z": "yes"}
    within = solve("interventional", raw).detail
    # Once the only common cause is known, seeing is as good as setting.
    assert within["effect"] == pytest.approx(within["seen_difference"])


def test_numbers_as_values() -> None:
    answer = solve_yaml(
        "interventional",
        """
network:
  ads: {values: [none, some, many], table: [0.5, 0.3, 0.2]}
  orders: {values: [0, 10, 30], parents: [ads], table: {none: [0.6, 0.3, 0.1], some: [0.3, 0.5, 0.2], many: [0.1, 0.5, 0.4]}}
do: {ads: many}
compare: {ads: none}
outcome: orders
""",
    )
    assert answer.conclusion.value == "10"


def test_what_nobody_does_by_himself_can_still_be_set() -> None:
    answer = solve_yaml(
        "interventional",
        "network: {x: {table: 0}, y: {parents: [x], table: {yes: 0.9, no: 0.2}}}\ndo: {x: yes}\noutcome: y",
    )
    assert answer.detail["do"]["yes"] == pytest.approx(0.9)
    assert answer.detail["seen"] is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (COUNTS.replace("do: {treatment: A}", "do: {treatment: C}"), "do.treatment: unknown value 'C'"),
        (COUNTS.replace("do: {treatment: A}", "do: {cured: yes}"), "do: 'cured' is the outcome itself"),
        (COUNTS + "observed: {treatment: B}", "observed: 'treatment' is set already"),
        (COUNTS.replace("outcome: cured", "outcome: cure"), "outcome: unknown variable 'cure'"),
        (COUNTS.replace("count: 81", "count: 0").replace("count: 6}", "count: 0}"), "data: no row has treatment=A, size=small"),
        (COUNTS.replace("do: {treatment: A}", "do: {}"), "do: must hold something, and is empty"),
    ],
)  # fmt: skip
def test_refusals(text: str, said: str) -> None:
    assert said in refused("interventional", text)


def test_of_three_values_the_comparison_is_doing_nothing() -> None:
    text = """
network:
  ads: {values: [none, some, many], table: [0.5, 0.3, 0.2]}
  visits: {parents: [ads], table: {none: 0.1, some: 0.4, many: 0.6}}
  orders: {parents: [visits], table: {yes: 0.5, no: 0.1}}
do: {ads: many}
outcome: orders
"""
    answer = solve_yaml("interventional", text)
    assert answer.detail["compared_with"] == {}
    assert answer.detail["do_compared"]["yes"] == pytest.approx(0.1 + 0.4 * (0.05 + 0.12 + 0.12))
    assert "with nothing set" in answer.summary
    later = solve_yaml("interventional", text + "observed: {visits: yes}")
    assert any("visits follows from what is set" in said for said in later.caveats)
    assert not any("follows from what is set" in said for said in answer.caveats)


ALARM = """
network:
  fire: {table: 0.1}
  alarm: {parents: [fire], table: {yes: 0.9, no: 0}}
  leave: {parents: [alarm], table: {yes: 0.8, no: 0.1}}
do: {fire: yes}
observed: {alarm: yes}
outcome: leave
"""


def test_what_was_seen_need_not_be_possible_the_other_way() -> None:
    """Without fire there is no alarm, so that the comparison is with doing nothing."""
    answer = solve_yaml("interventional", ALARM)
    assert answer.detail["do"]["yes"] == pytest.approx(0.8) and answer.detail["compared_with"] == {}
    assert refused("interventional", ALARM + "compare: {fire: no}").startswith("compare: alarm=yes cannot happen")
