"""The examples of the probabilistic and causal methods: each can be solved, and says what it should."""

import json
from pathlib import Path

import pytest

from mabos_cli.formats.knowledge.reason_input import parse_source
from reasoning.solving import solve

EXAMPLES = Path(__file__).parents[2] / "fixtures" / "reasoning"


@pytest.mark.parametrize(
    ("name", "kind", "value"),
    [
        ("bayesian", "distribution", "tracking broken"),
        ("decision-theory", "choice", "medium"),
        ("expected-utility", "choice", "second line"),
        ("info-theory", "choice", "city test"),
        ("monte-carlo", "number", pytest.approx(36_500, rel=0.05)),
        ("causal", "number", pytest.approx(0.08)),
        ("counterfactual", "distribution", "no"),
        ("interventional", "distribution", "yes"),
        (
            "root-cause",
            "ranking",
            ("bad release", "no backup", "disk full", "replica c", "replica a", "replica b"),
        ),
        (
            "systems-thinking",
            "ranking",
            (
                "delay of releases",
                "work done",
                "hiring",
                "overtime",
                "people",
                "time for training",
                "defects",
            ),
        ),
    ],
)
def test_example(name: str, kind: str, value: object) -> None:
    raw = parse_source((EXAMPLES / f"{name}.yaml").read_text("utf-8"), name).value
    assert raw.pop("problem").strip()
    answer = solve(name, raw)
    assert (answer.conclusion.kind, answer.conclusion.value) == (kind, value)
    assert "\n" not in answer.summary
    assert 0 < len(answer.steps) <= 12
    # Every figure is a JSON value: no NaN, no infinity, no key that is not text.
    assert json.loads(json.dumps(answer.detail, allow_nan=False)) == answer.detail
    assert solve(name, raw) == answer
