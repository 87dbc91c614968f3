"""Cases through the commands: the whole cycle, and what people get wrong."""

import json

import pytest
from forked import tree

from commands.desk import Desk, Said
from mabos_cli.core.knowledge.case import Case
from mabos_cli.formats.knowledge.cases import CaseFile

TABLE = """# Beliefs

| ID | Belief | Value | Certainty | Status |
|----|--------|-------|-----------|--------|
| B-001 | Churn | rising | 0.9 | |
| B-002 | Prices | raised | 0.9 | Superseded (2026-02-01: by B-003) |
| B-003 | Prices | lowered | 0.9 | |
| B-004 | Prices | frozen | 0.9 | superseded by B-003 (2026-02-02) |
"""
DESIRES = "# Desires\n\n## D-001: Keep customers\n\nstatus: active\n\n## D-002: Move office\n\nstatus: achieved\n"


def do(desk: Desk, *words: str, **more) -> dict:
    return desk.run("case", *words, "--json", **more).data


def refused(said: Said, code: int, told: str) -> None:
    assert (said.code, said.stdout, "Traceback" in said.stderr) == (code, "", False), said
    assert told in said.stderr


@pytest.fixture
def minded(desk: Desk) -> Desk:
    """An agent with four beliefs, two superseded, and two desires, one achieved."""
    desk.write("Beliefs.md", TABLE)
    desk.write("Desires.md", DESIRES)
    return desk


def put(desk: Desk, *cases: Case) -> None:
    desk.write("cases.json", CaseFile().changed(cases, ()).data.decode())


def scores(found: dict) -> dict[str, float]:
    return {row["case_id"]: row["score"] for row in found["cases"]}


def test_what_an_agent_holds_now_is_taken_from_its_files(minded):
    kept = do(minded, "store", "--from-mind", "--belief", "Cash is short", "--action", "wait")["case"]
    assert kept["situation"] == {
        "beliefs": ["Cash is short", "B-001", "B-003"],
        "desires": ["D-001"],
        "context": "",
    }
    found = do(minded, "retrieve")
    assert (found["beliefs"], found["desires"]) == (["B-001", "B-003"], ["D-001"])
    assert scores(found) == {"C-001": 0.8}  # .6 x 2/3 + .4
    assert found["cases"][0]["beliefs"]["missing"] == ["Cash is short"]


def test_ids_are_spelled_as_in_the_files_and_unknown_ones_told(minded):
    said = minded.run("case", "store", "--belief", "b-001, B-77,b-78", "--desire", "wish", "--action", "a", "--json")
    assert said.data["case"]["situation"]["beliefs"] == ["B-001", "B-77", "b-78"]
    assert said.warnings == ["not in Beliefs.md: B-77, b-78"]
    assert minded.run("case", "retrieve", "--belief", "B-77", "--json").warnings == [
        "not in Beliefs.md: B-77",
    ]


def test_failures_are_shown_and_warned_about(desk):
    put(desk, Case("C-1", ("a", "b"), success=True, actions=("x",)), Case("C-2", ("a",), success=False, actions=("y",)),
        Case("C-3", ("a", "b", "c"), success=True, actions=("z",)))  # fmt: skip
    said = desk.run("case", "retrieve", "--belief", "a", "--limit", "1", "--json")
    assert scores(said.data) == {"C-2": 1.0} and said.data["cases"][0]["failed"] and said.data["count"] == 3
    assert said.data["proposal"] == {
        "case_id": "C-1",
        "score": 0.5,
        "plan_id": "",
        "actions": ["x"],
        "missing": ["b"],
        "extra": [],
    }
    assert said.warnings == ["C-2 FAILED and is more similar than C-1"]
    text = desk.run("case", "retrieve", "--belief", "a")
    assert "C-2 1.00 FAILED (Sb 1.00)" in text.stdout and "reuse C-1: x (differs: missing b)" in text.stdout
    only = desk.run("case", "retrieve", "--belief", "a", "--success-only", "--json")
    assert list(scores(only.data)) == ["C-1", "C-3"] and only.warnings == []
    put(desk, Case("C-2", ("a",), success=False, actions=("y",)))
    none = desk.run("case", "retrieve", "--belief", "a", "--json")
    assert none.data["proposal"] is None and none.warnings == ["no case like this worked: C-2 FAILED"]


def test_weights_are_settings(desk):
    put(desk, Case("C-1", ("a", "b"), ("d",)))
    assert scores(do(desk, "retrieve", "--belief", "a", "--desire", "d")) == {"C-1": 0.7}
    desk.settle("cbr:\n  belief_weight: 0.9\n  desire_weight: 0.1\n")
    assert scores(do(desk, "retrieve", "--belief", "a", "--desire", "d")) == {"C-1": 0.55}


def test_nothing_to_go_by(desk):
    assert desk.run("case", "retrieve").stdout == "no cases yet\n"
    put(desk, Case("C-1", ("a",)))
    assert "nothing is known of the present situation" in desk.run("case", "retrieve").stdout
    assert desk.run("case", "retrieve", "--belief", "z").stdout == "no case is like this\n"
    assert desk.run("case", "list", "--failure").stdout == "no case that failed\n"


def test_reading_writes_nothing(minded):
    do(minded, "store", "--belief", "a", "--action", "x")
    before = tree(minded.root)
    for words in (("retrieve",), ("retrieve", "--belief", "a"), ("list",), ("show", "C-001")):
        do(minded, *words)
    assert tree(minded.root) == before


def test_texts_count_through_the_index(desk):
    for words in ("The harbour froze and ships waited", "A supplier raised its prices", "The printer broke"):
        do(desk, "store", "--belief", "a", "--context", words, "--action", "wait")
    found = do(desk, "retrieve", "--belief", "a", "--context", "ships wait in a frozen harbour")
    first = found["cases"][0]
    assert first["case_id"] == "C-001" and 0.5 < first["parts"]["context"] <= 1
    assert first["score"] == pytest.approx((0.6 + 0.3 * first["parts"]["context"]) / 0.9, abs=1e-3)
    exact = do(desk, "retrieve", "--context", "The printer broke")["cases"][0]
    assert (exact["case_id"], exact["parts"], exact["score"]) == (
        "C-003",
        {"beliefs": 0.0, "desires": None, "context": 1.0},
        1.0,
    )
    assert "mabos-cases.md" in desk.recall("harbour froze").refs[0]
    told = desk.run("explain", "which ships waited in the harbour?", "--json").data
    assert [case["case_id"] for case in told["cases"]] == ["C-001"]
    assert not any("mabos-cases" in memory["ref"] for memory in told["memories"])


def test_cases_that_search_does_not_know_yet(desk):
    put(desk, Case("C-1", ("a",), context="The harbour froze"))
    said = desk.run("case", "retrieve", "--context", "harbour", "--json")
    assert said.warnings == ["search does not know the latest cases: mabos materialize"]


def test_reasoning_compares_cases_as_retrieve_does(minded):
    """The same situation from the agent's files, the same weights."""
    put(minded, Case("C-1", ("KeyAccount", "B-001", "B-002"), ("D-001",), success=True, actions=("call",)))
    minded.write("Beliefs.md", TABLE + "| | KeyAccount | lost | 0.9 | |\n")
    (minded.root / "mabos.yaml").write_text("cbr: {belief_weight: 0.5, desire_weight: 0.5}\n")
    reasoned = minded.run("reason", "What now?", "-m", "case-based", "--json").data
    near = scores(do(minded, "retrieve"))
    assert near == {"C-1": round(2 / 3 / 2 + 1 / 2, 4)}
    (case,) = reasoned["detail"]["cases"]
    assert round(case["similarity"], 4) == near["C-1"] and case["missing"] == ["B-002"]
    assert reasoned["drawn"] == {"cases": 1, "beliefs": 3, "desires": 1}


def test_the_cycle(desk):
    do(
        desk,
        "store",
        "--belief",
        "a",
        "--context",
        "Churn rose",
        "--plan",
        "P-1",
        "--action",
        "call",
        "--success",
        "--metric",
        "churn=0.1",
    )
    new = do(desk, "revise", "c-001", "--failure", "--metric", "churn=0.3", "--lessons", "Too late")["case"]
    assert new["outcome"] == {"success": False, "metrics": {"churn": 0.3}, "lessons": "Too late"} and new["uses"] == 1
    assert new["revisions"][0]["was"] == {"success": True, "metrics": {"churn": 0.1}, "lessons": ""}
    adapted = do(desk, "store", "--from", "C-001", "--action", "visit")
    assert adapted["case"]["adapted_from"] == "C-001" and adapted["case"]["solution"] == {
        "plan_id": "P-1",
        "actions": ["visit"],
    }
    assert "outcome" not in adapted["case"] or adapted["case"]["outcome"] == {}
    assert do(desk, "show", "C-001")["case"]["uses"] == 2
    again = do(desk, "store", "--from", "C-002", "--success")
    assert (again["state"], again["case"]["case_id"], again["case"]["merged"], again["case"]["uses"]) == (
        "merged",
        "C-002",
        1,
        1,
    )


def test_a_file_of_another_tool_keeps_what_it_holds(desk):
    held = [{"case_id": "C-001", "situation": {"beliefs": ["a"], "desires": [], "context": "", "mood": 3},
             "solution": {"plan_id": "", "actions": ["x"]}, "outcome": {"success": True}, "stored_at": "2024-01-01", "vector": [1.5]}]  # fmt: skip
    desk.write("cases.json", json.dumps(held, indent=2))
    assert do(desk, "store", "--belief", "a", "--action", "X", "--failure")["state"] == "merged"
    do(desk, "store", "--belief", "b", "--action", "x")
    now = json.loads((desk.folder() / "cases.json").read_text())
    assert now[0]["vector"] == [1.5] and now[0]["situation"]["mood"] == 3 and now[0]["outcome"] == {"success": False}
    assert [case["case_id"] for case in now] == ["C-001", "C-002"]


def test_batches_are_taken_whole_or_not_at_all(desk):
    lines = [
        {"situation": {"beliefs": [f"b{n % 3}"], "desires": []}, "solution": {"actions": ["x"]}, "uses": 9}
        for n in range(5)
    ]
    data = "\n".join(map(json.dumps, lines)).encode() + b"\n\n"
    assert {k: v for k, v in do(desk, "store", "--batch", "-", stdin=data).items() if k != "cases"} == {
        "stored": 3,
        "merged": 2,
        "left": [],
    }
    assert [case.get("uses", 0) for case in do(desk, "list", "--limit", "0")["cases"]] == [0, 1, 1]
    before = tree(desk.root)
    refused(
        desk.run("case", "store", "--batch", "-", stdin=data + b'{"situation": {}}\n'),
        4,
        "standard input:7: the situation is empty",
    )
    refused(desk.run("case", "store", "--batch", "-", stdin=data + b"{\n"), 4, "standard input:7: not valid JSON")
    refused(
        desk.run("case", "store", "--batch", "-", stdin=data + b"7\n"),
        4,
        "standard input:7: a case must be an object",
    )
    refused(desk.run("case", "store", "--batch", "none.ndjson"), 3, "no file none.ndjson")
    refused(
        desk.run("case", "store", "--batch", "-", "--belief", "x", stdin=data),
        2,
        "--batch brings whole cases",
    )
    assert tree(desk.root) == before


def test_the_case_file_of_another_agent_is_a_batch(desk):
    desk.add_agent("other")
    do(desk, "store", "-a", "main", "--belief", "a", "--action", "x", "--success")
    do(desk, "revise", "-a", "main", "C-001", "--lessons", "y")
    path = desk.folder() / "cases.json"
    for given in (path.read_bytes(), json.dumps({"cases": json.loads(path.read_text())}, indent=1).encode()):
        done = do(desk, "store", "-a", "other", "--batch", "-", stdin=given)
        assert done["cases"] == [{"case_id": "C-001", "state": "stored" if done["stored"] else "merged"}]
    kept = do(desk, "show", "-a", "other", "C-001")["case"]
    assert kept["outcome"]["lessons"] == "y" and kept["merged"] == 1 and "revisions" not in kept


def test_beyond_the_limit(desk):
    desk.settle("cbr:\n  max_cases: 2\n")
    for name in "abc":
        last = do(desk, "store", "--belief", name, "--action", "x")
    assert last["left"] == ["C-001"]
    assert [c["case_id"] for c in do(desk, "list")["cases"]] == ["C-003", "C-002"]
    assert do(desk, "show", "c-001")["state"] == "archived"
    refused(desk.run("case", "revise", "C-001", "--success"), 3, "C-001 left on 2026-02-24")
    refused(desk.run("case", "store", "--from", "C-001"), 3, "C-001 left on 2026-02-24")


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("store --belief a", 2, "the solution is empty"),
        ("store --action a", 2, "the situation is empty"),
        ("store --belief a --action b --metric x=y", 2, "as a metric"),
        ("store --from C-009 --action b", 3, "no case 'C-009'"),
        ("retrieve --limit -1", 2, "-1 is less than 0"),
        ("retrieve --min-score 2", 2, "the least score 2 is outside 0..1"),
        ("list --limit -1", 2, "-1 is less than 0"),
        ("revise C-001", 2, "nothing to record"),
        ("revise C-009 --success", 3, "no case 'C-009'"),
        ("show C-009", 3, "no case 'C-009'"),
    ],
)
def test_what_makes_no_sense_is_refused(desk, words, code, told):
    do(desk, "store", "--belief", "a", "--action", "x")
    before = tree(desk.root)
    refused(desk.run("case", *words.split()), code, told)
    assert tree(desk.root) == before


def test_a_broken_file_stops_what_needs_it_and_stays(desk):
    text = '[\n{"case_id": "C-1"},\n{"case_id": "C-1"}]'
    desk.write("cases.json", text)
    for words in (
        "list",
        "show C-1",
        "retrieve --belief a",
        "store --belief a --action b",
        "revise C-1 --success",
    ):
        refused(desk.run("case", *words.split()), 4, "cases.json:3: case C-1 occurs twice")
    assert "cases.json:3: case C-1 occurs twice" in desk.run("doctor").stdout
    assert (desk.folder() / "cases.json").read_text() == text


def test_batches_come_in_every_layout(desk):
    case = {"situation": {"beliefs": ["a"]}, "solution": {"actions": ["x"]}}
    for n, given in enumerate((
        json.dumps([case]),
        json.dumps({"version": 1, "cases": [case]}, indent=2),
        json.dumps(case, indent=2),
        json.dumps(case),
    )):  # fmt: skip
        done = do(desk, "store", "--batch", "-", stdin=given.encode())
        assert done["cases"] == [{"case_id": "C-001", "state": "merged" if n else "stored"}]
    given = json.dumps([case, {"situation": {"beliefs": ["b"]}}], indent=1).encode()
    refused(desk.run("case", "store", "--batch", "-", stdin=given), 4, "standard input:14: the solution is empty")


def test_metrics_are_shown_with_all_their_digits(desk):
    put(desk, Case("C-1", ("a",), actions=("x",)))
    do(desk, "revise", "C-1", "--metric", "revenue=12345678", "--metric", "big=12345678901234567890")
    do(desk, "revise", "C-1", "--metric", "revenue=87654321")
    shown = desk.run("case", "show", "C-1").stdout
    assert "metrics: revenue 87654321, big 12345678901234567890\n" in shown
    assert "before: revenue 12345678, big 12345678901234567890\n" in shown
    assert "revenue 87654321" in (desk.folder() / "memory/mabos-cases.md").read_text()


def test_a_revision_never_empties_a_case_and_takes_one_that_other_tools_left_bare(desk):
    put(desk, Case("C-1", ("a",), plan_id="P-1", actions=("x",), context="c"), Case("C-2"))
    refused(desk.run("case", "revise", "C-1", "--action", " ", "--context", " "), 2, "nothing to record")
    assert do(desk, "revise", "C-1", "--action", "", "--plan", "P-2")["case"]["solution"] == {
        "plan_id": "P-2",
        "actions": ["x"],
    }
    assert do(desk, "revise", "C-2", "--failure")["case"]["outcome"] == {"success": False}
    assert do(desk, "revise", "C-2", "--failure", "--correct")["state"] == "unchanged"


def test_blank_words_say_nothing_of_the_situation(desk):
    put(desk, Case("C-1", ("a",), actions=("x",)))
    assert "nothing is known of the present situation" in desk.run("case", "retrieve", "--context", " ").stdout
