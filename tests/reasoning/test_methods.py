"""What holds for all thirty-five methods: an example, a schema, a worksheet, a typed answer, and no input that breaks them."""

import copy
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mabos_cli.core import BadValue
from mabos_cli.formats.json.text import dump_line
from mabos_cli.formats.knowledge.reason_record import answer_to_dict
from mabos_cli.formats.knowledge.worksheet import parse_inputs, render_worksheet, to_json_schema
from mabos_cli.reasoning.answer import KINDS, Answer, Conclusion
from mabos_cli.reasoning.catalog import METHODS
from mabos_cli.reasoning.shape import Shape, find_worksheet
from reasoning.solving import example, solve

JUNK = (None, -1, 0, 1e300, "", "nonsense", [], {}, [[]], {"x": None}, "é" * 300)
ALL = pytest.mark.parametrize("name", METHODS)


def check_conclusion(conclusion: Conclusion) -> None:
    kind, value = conclusion.kind, conclusion.value
    assert kind in KINDS
    if kind == "truth":
        assert value is None or isinstance(value, bool)
    elif kind == "number":
        assert isinstance(value, int | float) and not isinstance(value, bool)
        if conclusion.interval:
            assert conclusion.interval[0] <= conclusion.interval[1]
    elif kind in ("ranking", "names"):
        assert isinstance(value, tuple) and all(isinstance(one, str) for one in value)
    else:
        assert isinstance(value, str) and value
    if kind == "distribution":
        assert sum(share for _, share in conclusion.scores) == pytest.approx(1)
        assert dict(conclusion.scores)[value] == max(share for _, share in conclusion.scores)


def check_answer(answer: Answer) -> None:
    check_conclusion(answer.conclusion)
    assert answer.confidence is None or 0 <= answer.confidence <= 1
    assert answer.summary.strip() and "\n" not in answer.summary
    assert len(answer.steps) <= 16 and not any("\n" in line for line in (*answer.steps, *answer.caveats))
    assert json.loads(dump_line(answer_to_dict(answer)))["summary"] == answer.summary


# What each example comes to; of several names the first.
CONCLUSIONS = {
    "deductive": True, "inductive": 0.625, "abductive": "bad release", "analogical": "delays(bookings, deposits)",
    "modal": True, "deontic": "notify the authority", "temporal": "met-by", "default": True,
    "constraint-satisfaction": "monday=ben", "fuzzy": pytest.approx(14.85, abs=0.01), "bayesian": "tracking broken",
    "decision-theory": "medium", "expected-utility": "second line", "info-theory": "city test",
    "monte-carlo": pytest.approx(36_500, rel=0.05), "causal": pytest.approx(0.08), "counterfactual": "no",
    "interventional": "yes", "root-cause": "bad release", "systems-thinking": "delay of releases",
    "heuristic": "globex", "case-based": "multi-year-offer", "pattern-recognition": "bad release",
    "satisficing": "arcade", "naturalistic": "visit them", "game-theory": "cut",
    "negotiation": "rate 4.40, term 3 years, pickup daily", "social-choice": "analytics", "argumentation": True,
    "stakeholder": "CFO", "meta-cognitive": "check demand grows 20 percent", "strategy-selection": "expected-utility",
    "learning-to-reason": "expected-utility", "calibration": False,
    "reflection": "act on this cause: estimates left out the security review",
}  # fmt: skip


@ALL
def test_the_example_is_computed(name: str) -> None:
    answer = solve(name, example(name))
    check_answer(answer)
    value = answer.conclusion.value
    assert (value[0] if isinstance(value, tuple) else value) == CONCLUSIONS[name]
    # Every figure is a JSON value: no NaN, no infinity, no key that is not text.
    assert json.loads(json.dumps(answer.detail, allow_nan=False))
    assert answer == solve(name, example(name)), "two runs differ"


def test_answers_do_not_depend_on_the_hash_seed() -> None:
    """Texts in a set come in another order in each run; no step or figure may follow that order."""
    code = "from reasoning.test_methods import *\nprint([solve(name, example(name)) for name in METHODS])"
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parents[1],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": ".:.."},
            capture_output=True,
            text=True,
            check=True,
        )
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout and len(runs[0].stdout) > 10_000


def is_valid(schema: dict[str, Any], value: Any) -> bool:
    """Whether a value is valid by the few words of JSON Schema that are used."""
    if "anyOf" in schema and not any(is_valid(one, value) for one in schema["anyOf"]):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    types = {
        "string": str,
        "number": (int, float),
        "integer": int,
        "boolean": bool,
        "array": list,
        "object": dict,
    }
    types["null"] = type(None)
    wanted = schema.get("type", list(types))
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if not any(isinstance(value, types[w]) and (w == "boolean" or not isinstance(value, bool)) for w in wanted):
        return isinstance(value, bool) and "boolean" in wanted
    if isinstance(value, int | float) and not isinstance(value, bool):
        return schema.get("minimum", value) <= value <= schema.get("maximum", value)
    if isinstance(value, list):
        enough = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        return enough and all(is_valid(schema.get("items", {}), one) for one in value)
    if isinstance(value, dict):
        fields, more = schema.get("properties", {}), schema.get("additionalProperties", {})
        if schema.get("minProperties", 0) > len(value) or not {*schema.get("required", ())} <= {*value}:
            return False
        below = [(fields.get(key, more), one) for key, one in value.items()]
        return all(one_schema is not False and is_valid(one_schema, one) for one_schema, one in below)
    return True


@ALL
def test_the_schema_tells_the_example_from_nonsense(name: str) -> None:
    schema = to_json_schema(find_worksheet(name).shape, name)
    raw = example(name)
    assert json.loads(json.dumps(schema)) == schema and schema["title"] == name
    assert is_valid(schema, raw)
    assert not is_valid(schema, raw | {"no such field": 1}) and not is_valid(schema, [raw])
    for needed in schema["required"]:
        assert not is_valid(schema, {key: value for key, value in raw.items() if key != needed})


@ALL
def test_the_worksheet_asks_for_every_field(name: str) -> None:
    worksheet = find_worksheet(name)
    fields = dict(worksheet.shape.fields)
    assert fields and not {"method", "problem", "methods"} & {*fields}
    assert 3 <= len(worksheet.questions) <= 6 and all(
        each.rstrip().endswith(("?", ".")) for each in worksheet.questions
    )
    sheet = render_worksheet(METHODS[name], worksheet, "A problem: with signs # - 'x'")
    inputs = parse_inputs(sheet, "sheet.md")
    shown = [key for key, shape in fields.items() if not shape.is_optional or shape.is_usual]
    assert list(inputs.by_method) == [name] and inputs.problem == "A problem: with signs # - 'x'"
    assert list(inputs.by_method[name].value) == shown and shown, "nothing to fill in: mark a field as usual"
    whole = parse_inputs(re.sub(r"(?m)^( *)# (?=[\w-])", r"\1", re.sub(r"(?m)  # .*$", "", sheet)), "sheet.md")
    assert {*fields} == {*whole.by_method[name].value}
    assert all(_is_told(shape) for shape in _shapes(worksheet.shape)), "a field says not what it is"
    if any(shape.is_usual for shape in fields.values()):
        assert f"\n{worksheet.shape.about}\n" in sheet and worksheet.shape.about.endswith("."), (
            "say which forms it takes"
        )


def _shapes(shape: Shape) -> Iterator[Shape]:
    for _, each in shape.fields:
        yield each
        yield from _shapes(each)
    if shape.each:
        yield from _shapes(shape.each)


def _is_told(shape: Shape) -> bool:
    return bool(shape.about) and not shape.about.endswith(".")


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in an input, the outer ones first."""
    keys = value if isinstance(value, dict) else range(min(2, len(value))) if isinstance(value, list) else ()
    for key in keys:
        yield (*path, key)
    for key in keys:
        yield from _places(value[key], (*path, key))


@ALL
def test_odd_input_is_refused_or_answered(name: str) -> None:
    """A wrong value anywhere gives an answer that is well-formed, or one line; never a traceback, and never an invented figure."""
    raw = example(name) | ({"draws": 200} if name == "monte-carlo" else {})
    for number, place in enumerate(_places(raw)):
        if number > 25:
            break
        for junk in JUNK[number % 3 :: 3]:
            poisoned = copy.deepcopy(raw)
            inner = poisoned
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = junk
            try:
                check_answer(solve(name, poisoned))
            except BadValue as error:
                assert error.message and "\n" not in error.message, (place, junk)


@ALL
def test_nothing_given_is_refused(name: str) -> None:
    """Neither input nor anything in the agent's files: there is nothing to compute from."""
    with pytest.raises(BadValue) as caught:
        solve(name, {})
    assert caught.value.message
