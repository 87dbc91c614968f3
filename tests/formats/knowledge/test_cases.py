"""cases.json: what is read, what comes back, and what is said about what makes no sense."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.knowledge.case import Case, CaseDeparture, Revision
from mabos_cli.core.memory.item import TRUSTS
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.knowledge import cases
from mabos_cli.formats.knowledge.cases import (
    CaseFile,
    case_from_dict,
    case_to_dict,
    parse_case_departures,
    parse_cases,
    render_case_departure,
)

SEED = {
    "case_id": "C-001",
    "situation": {"beliefs": ["B-001", "B-002"], "desires": ["D-001"], "context": "Churn rose"},
    "solution": {"plan_id": "P-001", "actions": ["Called", "Wrote"]},
    "outcome": {"success": True, "metrics": {"churn": 0.03}, "lessons": "Call first"},
    "stored_at": "2026-02-24T14:30:00.000Z",
}
FULL = Case("C-9", ("B",), ("D",), "c", "P", ("a",), False, (("m", 1),), "l", "t", 3, "u", 2, "C-1",
            (Revision("t", "reuse", (("success", True), ("metrics", (("m", 2),)), ("actions", ("z",)), ("lessons", ""))),))  # fmt: skip


def test_a_case_of_the_seed():
    case = case_from_dict(SEED, "x")
    assert case == Case("C-001", ("B-001", "B-002"), ("D-001",), "Churn rose", "P-001", ("Called", "Wrote"), True,
                        (("churn", 0.03),), "Call first", "2026-02-24T14:30:00.000Z")  # fmt: skip
    assert json.dumps(case_to_dict(case)) == json.dumps(SEED)  # the order too


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBER = st.one_of(st.integers(-9, 9), st.floats(allow_nan=False, allow_infinity=False))
CASES = st.builds(
    Case,
    TEXT.filter(bool),
    st.lists(TEXT, max_size=3).map(tuple),
    st.lists(TEXT, max_size=3).map(tuple),
    TEXT,
    TEXT,
    st.lists(TEXT, max_size=2).map(tuple),
    st.sampled_from((True, False, None)),
    st.dictionaries(TEXT, NUMBER, max_size=2).map(lambda found: tuple(found.items())),
    TEXT,
    TEXT,
    st.integers(0, 5),
    TEXT,
    st.integers(0, 5),
    TEXT,
    st.lists(st.builds(Revision, TEXT, TEXT, TEXT.map(lambda text: (("lessons", text),)), st.just(())), max_size=2).map(
        tuple
    ),
    st.just(()),
    st.sampled_from(("", "manual")),
    st.sampled_from(TRUSTS),
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(CASES, max_size=4, unique_by=lambda case: case.id), st.booleans())
def test_what_is_written_comes_back(given_cases, small):
    data = CaseFile().changed(given_cases, ()).data
    limit = cases.FULL_CHECK
    cases.FULL_CHECK = limit if small else 0  # as in a large file
    try:
        file = parse_cases(data, "cases.json")
        assert file.cases() == given_cases
        assert file.changed((), ()).data == data
        assert data.count(b"\n") == (len(given_cases) + 2 if given_cases else 1)
        assert [side[:2] for side in file.sides] == [(list(c.beliefs), list(c.desires)) for c in given_cases]
    finally:
        cases.FULL_CHECK = limit


def test_every_field_comes_back():
    assert case_from_dict(json.loads(json.dumps(case_to_dict(FULL))), "x") == FULL


def test_keys_of_other_tools_come_back():
    raw = SEED | {
        "embedding": [1, 2],
        "situation": SEED["situation"] | {"mood": "tense"},
        "outcome": {"success": False, "by": None},
    }
    case = case_from_dict(raw, "x")
    assert case_to_dict(case) == raw
    changed = (
        parse_cases(json.dumps([raw, SEED | {"case_id": "C-2"}]).encode(), "x")
        .changed([case._replace(uses=1)], ())
        .data
    )
    assert json.loads(changed)[0] == raw | {"uses": 1} and json.loads(changed)[1] == SEED | {"case_id": "C-2"}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_stays_a_list_and_an_object_an_object(indent):
    other = {"stored_at": "x", "case_id": "deal 9"}
    listed = parse_cases(json.dumps([SEED, other], indent=indent).encode(), "x")
    new = listed.changed([Case("C-3")], ["C-001"]).data
    assert new.startswith(b'[\n  {"case_id": "deal 9", "stored_at": "x"},\n  {"case_id": "C-3"')
    held = {"cases": [SEED, other], "tool": "v2"}
    wrapped = parse_cases(json.dumps(held, indent=indent).encode(), "x").changed([Case("C-3")], ["C-001"]).data
    assert wrapped.startswith(b'{\n  "cases": [\n    {"case_id": "deal 9"') and wrapped.endswith(
        b'  ],\n  "tool": "v2"\n}\n'
    )
    assert [e["case_id"] for e in json.loads(wrapped)["cases"]] == ["deal 9", "C-3"]
    again = parse_cases(wrapped, "x")
    assert again.changed((), ()).data == wrapped


def test_lines_that_nobody_touches_stay_byte_for_byte():
    odd = b'[\n  {"case_id": "C-1", "situation": {"beliefs": ["\\u0041"],   "desires": [], "context": ""}, "n": 1.50},\n  {"case_id": "C-2"}\n]\n'
    new = parse_cases(odd, "x").changed([Case("C-2", uses=1)], ()).data
    assert new.split(b"\n")[1] == odd.split(b"\n")[1] and json.loads(new)[1]["uses"] == 1


def test_a_line_that_only_looks_like_ours_is_decoded():
    nested = b'[\n{"case_id": "C-1", "was": [\n  {"case_id": "C-0"}\n]}\n]\n'
    new = json.loads(parse_cases(nested, "x").changed([Case("C-2")], ()).data)
    assert new[0] == {"case_id": "C-1", "was": [{"case_id": "C-0"}]} and len(new) == 2
    two = b'[\n  {"case_id": "C-1"}, {"case_id": "C-2"}\n]\n'
    assert [e["case_id"] for e in json.loads(parse_cases(two, "x").changed((), ["C-1"]).data)] == ["C-2"]


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "x:1: not valid JSON"),
        ("", "x:1: the file is empty"),
        ('[{"case_id": "C-1", "n": NaN}]', "x:1: not valid JSON: NaN"),
        ('[{"case_id": "C-1", "n": 1e999}]', "x:1: not valid JSON: 1e999"),
        ("[" * 100_000, "x:1: not valid JSON: nested"),
        ('"cases"', "x:1: a case file must be a list"),
        ('{"cases": {}}', "x:1: a case file must be a list"),
        ('[\n{"case_id": "C-1"},\n7]', "x:3: a case must be an object with a case_id"),
        ('[\n{"case_id": ""}]', "x:2: a case must be an object with a case_id"),
        ('[\n{"case_id": "C-1"},\n{"case_id": "C-1"}]', "x:3: case C-1 occurs twice"),
    ],
)
def test_what_is_no_case_file_is_refused(monkeypatch, text, told, large):
    monkeypatch.setattr(cases, "FULL_CHECK", 0 if large else 1 << 20)
    with pytest.raises(InvalidFile, match=re.escape(told)):
        parse_cases(text.encode(), "x")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"situation": []}, "situation must be an object"),
        ({"situation": {"beliefs": "B-1"}}, "situation.beliefs must be a list of texts"),
        ({"situation": {"desires": [{}]}}, "situation.desires must be a list of texts"),
        ({"situation": {"context": 7}}, "situation.context must be text"),
        ({"solution": {"actions": [1]}}, "solution.actions must be a list of texts"),
        ({"outcome": {"success": "yes"}}, "outcome.success must be true or false"),
        ({"outcome": {"success": 1}}, "outcome.success must be true or false"),
        ({"outcome": {"metrics": {"a": "b"}}}, "outcome.metrics must be an object of numbers"),
        ({"outcome": {"metrics": {"a": True}}}, "outcome.metrics must be an object of numbers"),
        ({"stored_at": 7}, "stored_at must be text"),
        ({"uses": -1}, "uses must be a whole number"),
        ({"revisions": {}}, ""),
        ({"revisions": {"a": 1}}, "revisions must be a list"),
        ({"revisions": [{"at": "x"}]}, "revisions: each must be an object with what was"),
    ],
)
def test_a_field_that_makes_no_sense_is_cited(changes, told):
    data = json.dumps([SEED, SEED | {"case_id": "C-2"} | changes]).replace("}, {", "},\n{").encode()
    file = parse_cases(data, "x")
    if not told:
        assert file.case(1).revisions == ()
        return
    with pytest.raises(InvalidFile, match=re.escape(f"x:2: case C-2: {told}")):
        file.cases()


def test_a_search_notices_features_that_make_no_sense():
    file = parse_cases(
        json.dumps([SEED | {"situation": {"beliefs": [["a"]], "desires": [], "context": ""}}]).encode(), "x"
    )
    with pytest.raises(InvalidFile, match=r"situation\.beliefs must be a list of texts"):
        file.sides  # noqa: B018


def test_what_is_left_out_may_be():
    file = parse_cases(
        b'[{"case_id": "C-1"}, {"case_id": "C-2", "situation": {"beliefs": null, "context": "x"}, "outcome": null}]',
        "x",
    )
    assert file.sides == [((), (), False), ((), (), True)]
    assert [file.standing(n) for n in (0, 1)] == [("C-1", None, ""), ("C-2", None, "")]
    assert next(file.worths()) == ("C-1", (frozenset(), frozenset()), 0, None, "")


def test_the_archive():
    line = render_case_departure(CaseDeparture("C-9", "least useful", "2026-03-01T00:00:00.000Z"), FULL)
    assert line.startswith(
        b'{"id": "C-9", "kind": "case", "reason": "least useful", "at": "2026-03-01'
    ) and line.endswith(b"}\n")
    data = b'{"id": "F-1", "kind": "fact"}\n' + line + b'{"id": "C-8", "kind": "case", "case": 7}\n{"torn'
    assert parse_case_departures(data, "x") == [CaseDeparture("C-9", "least useful", "2026-03-01T00:00:00.000Z", FULL)]


def test_what_other_tools_note_in_revisions_stays():
    raw = {"case_id": "C-1", "revisions": [{"at": "2026", "by": "x", "note": 1, "was": {"success": None, "mood": "bad"}}]}  # fmt: skip
    assert cases.case_to_dict(cases.case_from_dict(raw, "f"))["revisions"] == raw["revisions"]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('{"metrics": {"a": 1' + "0" * 400 + "}}", r"^f:1: case C-1: outcome.metrics must be an object of numbers"),
        ('{"success": 1}', "^f:1: case C-1: outcome.success must be true or false"),
    ],
)  # fmt: skip
def test_outcomes_that_only_look_right_are_refused(entry, said):
    file = parse_cases(f'[{{"case_id": "C-1", "outcome": {entry}}}]'.encode(), "f")
    with pytest.raises(InvalidFile, match=said):
        file.cases()


def test_an_outcome_that_is_a_number_counts_as_none():
    file = parse_cases(b'[{"case_id": "C-1", "outcome": {"success": 1}}]', "f")
    with pytest.raises(InvalidFile, match="must be true or false"):
        file.standing(0)


def test_an_object_that_holds_no_list_is_no_empty_file():
    with pytest.raises(InvalidFile, match=r"^f:1: a case file must be a list of cases"):
        parse_cases(b'{"case_id": "C-1", "situation": {}}', "f")
    assert len(parse_cases(b"{}", "f")) == 0
