"""Solvers as tests call them: with input as people write it."""

import random
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from mabos_cli.core import BadValue
from mabos_cli.formats.knowledge.reason_input import PARSERS, parse_source
from mabos_cli.formats.knowledge.worksheet import parse_inputs
from mabos_cli.reasoning.answer import Answer
from mabos_cli.reasoning.catalog import METHODS
from mabos_cli.reasoning.inputs import AgentData
from mabos_cli.reasoning.shape import conform, find_worksheet

FIXTURES = Path(__file__).parents[2] / "fixtures" / "reasoning"
NOW = datetime(2026, 2, 24, 14, 30, tzinfo=UTC)
# Charig et al. 1986: open surgery (A) and nephrolithotomy (B) of small and large kidney stones.
STONES_DATA = """
  - {size: small, treatment: A, cured: yes, count: 81}
  - {size: small, treatment: A, cured: no, count: 6}
  - {size: small, treatment: B, cured: yes, count: 234}
  - {size: small, treatment: B, cured: no, count: 36}
  - {size: large, treatment: A, cured: yes, count: 192}
  - {size: large, treatment: A, cured: no, count: 71}
  - {size: large, treatment: B, cured: yes, count: 55}
  - {size: large, treatment: B, cured: no, count: 25}
"""


def solve(name: str, raw: dict[str, Any], **own: Any) -> Answer:
    """What a method says to input as values."""
    given = conform(find_worksheet(name).shape, raw, PARSERS)
    return import_module(METHODS[name].module).solve(given, AgentData(now=NOW, chance=random.Random, **own))


def solve_yaml(name: str, text: str, **own: Any) -> Answer:
    """What a method says to input as YAML."""
    return solve(name, parse_source(text, "input.yaml").value, **own)


def refused(name: str, text: str, **own: Any) -> str:
    """The line with which a method refuses input."""
    with pytest.raises(BadValue) as caught:
        solve_yaml(name, text, **own)
    return caught.value.message


def example(name: str) -> dict[str, Any]:
    """The input of the example of a method."""
    path = FIXTURES / f"{name}.yaml"
    inputs = parse_inputs(path.read_text("utf-8"), path.name)
    assert inputs.problem.strip(), f"{path.name} names no problem"
    (source,) = inputs.by_method.values()
    return source.value
