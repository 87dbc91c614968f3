"""Expected utility against Bernoulli's own figures and closed forms."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoning.solving import refused, solve


def petersburg(wealth: float, tosses: int = 50) -> dict:
    """Pays 1, 2, 4, ... ducats if heads first comes at toss 1, 2, 3, ...; the last prize takes what is left."""
    game = [{"gain": 2 ** (n - 1), "p": 2**-n} for n in range(1, tosses)]
    game.append({"gain": 2 ** (tosses - 1), "p": 2 ** -(tosses - 1)})
    return {"options": {"game": game}, "utility": "log", "wealth": wealth}


@pytest.mark.parametrize(("wealth", "worth"), [(0, 2), (10, 3), (100, 4), (1000, 6)])
def test_saint_petersburg(wealth: float, worth: int) -> None:
    """Bernoulli 1738, section 19: worth 2 ducats to one who has nothing, about 3 with 10, 4 with 100, 6 with 1000."""
    answer = solve("expected-utility", petersburg(wealth))
    assert round(answer.detail["options"]["game"]["certainty_equivalent"]) == worth
    assert answer.detail["options"]["game"]["mean"] == pytest.approx(50 / 2 + 0.5)


def test_cargo_insurance() -> None:
    """Bernoulli 1738, section 15: with goods worth 10,000, five ships of a hundred lost and a premium of 800, insurance pays for
    a merchant whose other wealth is below 5043 rubles and not above. The mean alone never says so."""
    raw = {
        "options": {
            "insure": [{"gain": 9200, "p": 1}],
            "risk it": [{"gain": 10000, "p": 0.95}, {"gain": 0, "p": 0.05}],
        },
        "utility": "log",
    }
    assert solve("expected-utility", raw | {"wealth": 5000}).conclusion.value == "insure"
    assert solve("expected-utility", raw | {"wealth": 5100}).conclusion.value == "risk it"


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(1, 1e6), min_size=2, max_size=4), st.floats(-3, 60))
def test_crra_is_the_power_mean_and_falls_with_aversion(gains: list[float], aversion: float) -> None:
    def worth(g: float) -> float:
        options = {"a": [{"gain": gain, "p": 1 / len(gains)} for gain in gains]}
        raw = {"options": options, "utility": "crra", "aversion": g}
        return solve("expected-utility", raw).detail["options"]["a"]["certainty_equivalent"]

    assert min(gains) * (1 - 1e-9) <= worth(aversion) <= max(gains) * (1 + 1e-9)
    assert worth(aversion + 1) <= worth(aversion) * (1 + 1e-9)
    assert worth(2) == pytest.approx(len(gains) / sum(1 / gain for gain in gains))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("options: {a: [{gain: 1, p: 0.5}]}", "options.a: probabilities must sum to 1, not 0.5"),
        ("options: {a: [{gain: -5, p: 1}]}\nutility: log\nwealth: 5", "options.a: leaves 0 of the wealth"),
        ("options: {a: [{gain: 5, p: 1}]}\nutility: crra", "aversion: is missing"),
    ],
)  # fmt: skip
def test_refusals(text: str, said: str) -> None:
    assert said in refused("expected-utility", text)
