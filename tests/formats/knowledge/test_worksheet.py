"""Worksheets: what is asked for can be filled in and read again."""

import json

import pytest

from mabos_cli.core import BadValue
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.knowledge.reason_input import PARSERS, cited, parse_source
from mabos_cli.formats.knowledge.worksheet import parse_inputs, render_worksheet
from mabos_cli.reasoning.catalog import METHODS
from mabos_cli.reasoning.shape import Worksheet, conform, parse_shape

FIELDS = {
    "options": [
        "list | options",
        "record",
        {"name": "text | what it is called", "cost": "optional number 0.. = 3 | its cost"},
    ],
    "priors": ["map | priors by name", "probability | how likely"],
    "mode": "usual text fast/slow = fast | how",
    "draws": "optional whole 1..100 = 10 | how many",
    "rule": "optional rule | a rule",
}
SHAPE = parse_shape(["record", FIELDS])
SHEET = render_worksheet(METHODS["bayesian"], Worksheet(("What is known?",), SHAPE), 'Is it "true"?')


def test_the_sheet_shows_every_field() -> None:
    assert SHEET.split("```yaml\n")[1] == (
        "method: bayesian\n"
        'problem: "Is it \\"true\\"?"\n'
        "options:                            # a list; options\n"
        "  - name:                           # What it is called\n"
        "    # cost:                           # a number from 0; its cost (optional, else 3)\n"
        "priors:                             # names with values; priors by name\n"
        "  NAME:                             # a number from 0 to 1; how likely\n"
        "mode:                               # fast or slow; how\n"
        "# draws:                              # a whole number from 1 to 100; how many (optional, else 10)\n"
        "# rule:                               # if ... then ...; a rule (optional)\n"
        "```\n"
    )
    assert "- What is known?\n" in SHEET and "Computed: false." in SHEET


def test_what_may_be_left_out_and_bounds_that_nobody_meets() -> None:
    shape = parse_shape(
        ["record | Give a or b.", {"a": "usual number -1e15..1e15 | gain", "b": "optional text x/y/z | how"}]
    )
    sheet = render_worksheet(METHODS["fuzzy"], Worksheet((), shape), "")
    assert "## Input\n\nGive a or b.\nFill in the values." in sheet
    assert "a:                                  # a number; gain\n" in sheet
    assert "# b:                                  # x, y or z; how (optional)\n" in sheet


def test_filled_in_and_fed_back() -> None:
    filled = (
        SHEET.replace("name:   ", "name: bond")
        .replace("NAME:", "rain: 30%  #")
        .replace("# cost:  ", "cost: 2  # ")
        .replace("# draws:", "draws: 5 #")
    )
    inputs = parse_inputs(filled, "sheet.md")
    assert inputs.problem == 'Is it "true"?'
    given = conform(SHAPE, inputs.by_method["bayesian"].value, PARSERS)
    assert given == {
        "options": [{"name": "bond", "cost": 2}],
        "priors": {"rain": 0.3},
        "mode": "fast",
        "draws": 5,
        "rule": None,
    }


def test_an_empty_sheet_says_what_to_fill_in() -> None:
    source = parse_inputs(SHEET, "sheet.md").by_method["bayesian"]
    with pytest.raises(BadValue) as caught:
        conform(SHAPE, source.value, PARSERS)
    line = 1 + SHEET[: SHEET.index("  - name:")].count("\n")
    assert cited(caught.value, source).message == f"sheet.md:{line}: options[1].name: is not filled in"
    assert caught.value.hint == "needed: what it is called"


def test_several_sheets_in_one_file() -> None:
    other = render_worksheet(METHODS["fuzzy"], Worksheet((), SHAPE), "")
    assert list(parse_inputs(SHEET + "\n" + other, "s.md").by_method) == ["bayesian", "fuzzy"]
    with pytest.raises(InvalidFile, match="input for bayesian occurs twice"):
        parse_inputs(SHEET + SHEET, "s.md")


def test_a_file_by_methods() -> None:
    inputs = parse_inputs("problem: p\nbayesian:\n  a: 1\ndeductive:\n  b: [x, y]\n", "in.yaml")
    assert inputs.problem == "p" and list(inputs.by_method) == ["bayesian", "deductive"]
    assert inputs.by_method["deductive"].value == {"b": ["x", "y"]}
    assert inputs.by_method["deductive"].line_of("b[2]") == 5 and inputs.by_method["bayesian"].line_of("a") == 3


def test_input_of_one_method_may_have_names_of_methods() -> None:
    """A field may be called as a method is; only a file of nothing but methods is one of several."""
    inputs = parse_inputs("causal: {a: 1}\ngoal: x\n", "in.yaml")
    assert list(inputs.by_method) == [""] and inputs.by_method[""].value == {"causal": {"a": 1}, "goal": "x"}


def test_a_method_with_nothing_below_it_has_no_input() -> None:
    found = parse_inputs("calibration:\nheuristic: {options: 1}\n", "in.yaml").by_method
    assert {name: source.value for name, source in found.items()} == {
        "calibration": {},
        "heuristic": {"options": 1},
    }


def test_a_sheet_as_other_editors_keep_it() -> None:
    """Line ends of Windows, and a fence that says more."""
    sheet = "# Worksheet: satisficing\n\n```YAML title=input\nmethod: satisficing\noptions: {a: {x: 1}}\n```\n"
    for said in (sheet, sheet.replace("\n", "\r\n")):
        source = parse_inputs(said, "s.md").by_method["satisficing"]
        assert source.value == {"options": {"a": {"x": 1}}} and source.line_of("options.a") == 5


def test_a_sheet_without_its_block() -> None:
    with pytest.raises(InvalidFile) as caught:
        parse_inputs("# Worksheet: bayesian\n\nnothing\n", "s.md")
    assert caught.value.message == "s.md:1: the worksheet has no block of input"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("- 1\n- 2\n", "in.yaml:1: input must be names with values"),
        ("method: baysian\n", "in.yaml:1: unknown method 'baysian'"),
        ("a: 1\nb: [1\n", "in.yaml:3: not valid YAML: "),  # what follows is the parser's own word
        ("problem: [a, b]\n", "in.yaml:1: problem: must be text"),
        ("method: [bayesian]\n", "in.yaml:1: unknown method \"['bayesian']\""),
        ("a: 1\n---\na: 2\n", "in.yaml:2: a second document begins"),
        ("a: *b\n", "in.yaml:1: *b stands for nothing that comes before it"),
        ("[" * 100_000, "in.yaml:1: too deep or too large"),
        ("a: 1\nb: 2\na: 3\n", "in.yaml:3: a occurs twice"),
        ("? [a, b]\n: 1\n", "in.yaml:1: a name must be a single word or text"),
        ("x: !!python/object:os.system\n  a: 1\n", None),
    ],
)
def test_bad_files(said: str, message: str | None) -> None:
    if message is None:  # a tag names nothing here: the value is what stands there
        assert parse_inputs(said, "in.yaml").by_method[""].value == {"x": {"a": 1}}
        return
    with pytest.raises(InvalidFile) as caught:
        parse_inputs(said, "in.yaml")
    assert caught.value.message == message or (message[-2:] == ": " and message in caught.value.message)


def test_json_as_programs_write_it() -> None:
    said = '{\n\t"a": "\\ud83d\\ude00 \\\\ud83d\\\\ude00",\n\t"b": [1]\n}'
    source = parse_source(said, "x")
    assert source.value == {"a": "\U0001f600 \\ud83d\\ude00", "b": [1]} == json.loads(said)
    assert source.line_of("b[1]") == 3


def test_aliases_stand_for_what_they_name() -> None:
    source = parse_source("a: &p {x: 1}\nb: *p\nc:\n  - *p\n", "x")
    assert source.value == {"a": {"x": 1}, "b": {"x": 1}, "c": [{"x": 1}]}
    assert (source.line_of("b.x"), source.line_of("c[1].x")) == (2, 4)


def test_numbers_that_no_float_can_hold_are_no_numbers() -> None:
    shape = parse_shape(["record", {"n": "number | a number"}])
    for said in ("9" * 5000, "9" * 400, "1e999"):
        with pytest.raises(BadValue, match="n: must be a number"):
            conform(shape, parse_source(f"n: {said}", "x").value, {})


def test_scalars_are_what_people_mean() -> None:
    source = parse_source("[yes, no, true, 'true', 1, 1.5, 1e3, 12:30, 2026-01-02, 007, ~, null, 0x1f]", "x")
    assert source.value == [
        "yes", "no", True, "true", 1, 1.5, 1000.0, "12:30", "2026-01-02", "007", None, None, "0x1f"
    ]  # fmt: skip


def test_few_aliases_that_stand_for_millions_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 8)]
    with pytest.raises(InvalidFile, match="too deep or too large"):
        parse_source("\n".join(lines), "bomb.yaml")
    with pytest.raises(InvalidFile, match="stands for nothing"):
        parse_source("a: &a [*a]", "loop.yaml")
    with pytest.raises(InvalidFile):
        parse_source("[" * 5000, "deep.yaml")


@pytest.mark.parametrize(
    ("fields", "value", "message"),
    [
        ({"p": "probability | x"}, {"p": 1.2}, "p: must be from 0 to 1, not 1.2"),
        ({"p": "probability | x"}, {"p": "high"}, "p: must be a number, not 'high'"),
        ({"p": "probability | x"}, {"p": True}, "p: must be a number, not yes or no"),
        ({"p": "number | x"}, {"p": float("nan")}, "p: must be a number, not nan"),
        ({"n": "whole | x"}, {"n": 1.5}, "n: must be a whole number, not 1.5"),
        ({"n": "number 2.. | x"}, {"n": 1}, "n: must be at least 2, not 1"),
        ({"a": "text b/c | x"}, {"a": "d"}, "a: must be one of b, c, not 'd'"),
        ({"a": "text | x"}, {"a": [1]}, "a: must be text, not a list"),
        ({"a": "truth | x"}, {"a": "maybe"}, "a: must be yes or no, not 'maybe'"),
        ({"a": ["list 2+ | y", "text | x"]}, {"a": ["b"]}, "a: must hold at least 2, not 1"),
        ({"a": ["list | y", "text | x"]}, {"a": []}, "a: must hold something, and is empty"),
        ({"a": ["map | y", "number | x"]}, {"a": {"b": "c"}}, "a.b: must be a number, not 'c'"),
        ({"a": "text | x"}, {"b": 1}, "b: unknown field"),
        ({"a": "text | x"}, {}, "a: is missing"),
        ({"a": "text | x"}, [], "input: must be fields with values, not a list"),
        ({"f": "fact | x"}, {"f": "a b ?c"}, "f: 'a b ?c' is a condition, not a fact"),
        ({"r": "rule | x"}, {"r": "if ?x a b then ?y c d"},
         "r: 'if ?x a b then ?y c d' cannot run: no condition binds ?y of the conclusion"),
    ],
)  # fmt: skip
def test_what_is_off_is_named(fields, value, message: str) -> None:
    with pytest.raises(BadValue) as caught:
        conform(parse_shape(["record", fields]), value, PARSERS)
    assert caught.value.message == message


@pytest.mark.parametrize("said", ["formula: []p -> p", "premises:\n  - !a | b", "seats: normal: [1, 2]"])
def test_what_yaml_cannot_read_is_told_to_go_in_quotes(said: str) -> None:
    with pytest.raises(InvalidFile) as caught:
        parse_inputs(f"{said}\n", "in.yaml")
    assert caught.value.message.startswith("in.yaml:") and "goes in quotes" in caught.value.hint
