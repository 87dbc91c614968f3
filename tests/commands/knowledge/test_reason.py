"""reason from the shell: one method, several, by fit; kept, and scored when the truth is known."""

import json
from pathlib import Path
from typing import Any

import pytest

from mabos_cli.reasoning.catalog import METHODS

FIXTURES = Path(__file__).parents[3] / "fixtures" / "reasoning"
ILL = """
hypotheses: {ill: 0.01, healthy: 0.99}
evidence:
  - name: positive test
    likelihoods: {ill: 0.8, healthy: 0.096}
"""


@pytest.fixture
def reason(mabos, workspace: Path):
    """Runs mabos reason with --json on the workspace: the data; the code must be 0."""

    def run(*words: str, stdin: str = "") -> dict[str, Any]:
        done = mabos("reason", *words, "--json", cwd=workspace, stdin=stdin)
        assert done.code == 0, done.stderr
        return json.loads(done.stdout)["data"]

    return run


def test_kept_scored_and_learned_from(mabos, workspace: Path, reason) -> None:
    for n in range(3):
        data = reason(f"Is patient {n} healthy?", "-m", "bayesian", "--input", "-", "--save", stdin=ILL)
        assert data["computed"] and data["saved"]["id"].startswith("T-")
        happened = "yes" if n < 2 else "no"
        told = reason("outcome", data["saved"]["id"], "--happened", happened)
        assert told["brier"] == pytest.approx((data["confidence"] - (n < 2)) ** 2)
    assert [row["happened"] for row in reason("history")["results"]] == [False, True, True]
    calibrated = reason("Am I calibrated?", "--method", "calibration")
    assert calibrated["computed"] and calibrated["drawn"] == {"past": 3}
    stated = 0.922360248447205
    brier = (2 * (stated - 1) ** 2 + stated**2) / 3
    assert calibrated["detail"]["brier"] == pytest.approx(brier)
    found = mabos("recall", "patient 1 healthy", "--json", cwd=workspace)
    assert any("T-17" in row["content"] for row in json.loads(found.stdout)["data"]["results"] if "content" in row)


def test_an_outcome_can_be_corrected(reason) -> None:
    own = reason("Ill?", "-m", "bayesian", "--input", "-", "--save", stdin=ILL)["saved"]["id"]
    reason("outcome", own, "--happened", "no")
    reason("outcome", "last", "--happened", "yes", "--note", "mixed up")
    (row,) = reason("history")["results"]
    assert row["happened"] is True and row["note"] == "mixed up"
    assert reason("history", "--open")["results"] == []


def test_the_agents_own_files_are_drawn_on(mabos, workspace: Path, reason) -> None:
    assert mabos("fact", "assert", "tweety", "isA", "bird", cwd=workspace).code == 0
    assert mabos("rule", "create", "if ?x isA bird then ?x can fly", cwd=workspace).code == 0
    data = reason("Can it fly?", "-m", "deductive", "--input", "-", stdin="goal: tweety can fly\n")
    assert data["drawn"] == {"facts": 1, "rules": 1}
    assert data["conclusion"]["value"] is True and data["confidence"] == pytest.approx(0.9)
    given = "goal: tweety can fly\nfacts: [tweety isA fish]\nrules:\n  - if ?x isA bird then ?x can fly\n"
    data = reason("Can it fly?", "-m", "deductive", "--input", "-", stdin=given)
    assert data["drawn"] == {} and data["conclusion"]["value"] is None


def test_several_methods_are_fused(workspace: Path, reason) -> None:
    (workspace / "b.yaml").write_text(f"method: bayesian\n{ILL}")
    data = reason("Ill?", "--methods", "bayesian,abductive", "--input", str(workspace / "b.yaml"))
    assert [part["method"] for part in data["parts"]] == ["bayesian"]
    assert data["conclusion"]["value"] == "healthy" and data["confidence"] == pytest.approx(0.922, abs=1e-3)
    assert [sheet["method"] for sheet in data["worksheets"]] == ["abductive"]


def test_nothing_computed_nothing_kept(mabos, workspace: Path) -> None:
    done = mabos("reason", "Ill?", "-m", "bayesian", "--save", cwd=workspace)
    assert done.code == 0 and "nothing is kept" in done.stderr and "# Worksheet: bayesian" in done.stdout
    assert not (workspace / "agents/main/reasoning.jsonl").exists()


def test_the_router_takes_the_best_fit(reason) -> None:
    data = reason("Who wins?", "--classify", "domain=social,data=rich,uncertainty=low,stakes=medium")
    assert data["method"] == "social-choice" == data["scores"][0]["method"]
    assert data["scores"][0]["score"] == pytest.approx(0.8) and len(data["scores"]) == len(METHODS)
    assert data["computed"] is False and data["confidence"] is None
    words = ("Who wins?", "--classify", "domain=social,data=rich,uncertainty=low", "--input", "-")
    data = reason(*words, stdin="ballots: [a > b]\n")
    assert data["computed"] and data["scores"][0]["method"] == "social-choice"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("x", "-m", "bayesian", "--methods", "causal"), 2, "both --method and --methods given"),
        (("x", "--methods", "bayesian,causal", "--input", "-"), 2, "does not say which method it is for"),
        (("x", "-m", "nothing"), 3, "no method 'nothing'"),
        (("x",), 2, "no method given"),
        (("outcome", "last", "--happened", "perhaps"), 2, "unknown --happened 'perhaps'"),
        (("-m", "bayesian", "--input", "-", "--save"), 2, "a result is kept with its problem"),
    ],
)
def test_calls_that_cannot_be_meant(mabos, workspace: Path, words: tuple[str, ...], code: int, message: str) -> None:
    done = mabos("reason", *words, cwd=workspace, stdin=ILL)
    assert (done.code, message in done.stderr) == (code, True), done.stderr


def test_torn_and_foreign_lines_are_passed_over(mabos, workspace: Path, reason) -> None:
    own = reason("Ill?", "-m", "bayesian", "--input", "-", "--save", stdin=ILL)["saved"]["id"]
    path = workspace / "agents/main/reasoning.jsonl"
    path.write_text('{"id": "T-torn\n[1]\n' + path.read_text() + '{"id": "T-x", "kind": "result", "met')
    done = mabos("reason", "history", cwd=workspace)
    assert done.code == 0 and own in done.stdout
    assert "agents/main/reasoning.jsonl: 3 lines cannot be read" in done.stderr
    again = reason("Ill?", "-m", "bayesian", "--input", "-", "--save", stdin=ILL)["saved"]["id"]
    assert [row["id"] for row in reason("history")["results"]] == [again, own]


def test_a_kept_result_is_recalled_once_as_a_memory(mabos, workspace: Path, reason) -> None:
    saved = [reason(f"Ill {n}?", "-m", "bayesian", "--input", "-", "--save", stdin=ILL)["saved"] for n in "ab"]
    other = workspace / "agents/main/sessions/reasoning.jsonl"
    other.parent.mkdir()
    other.write_text('{"text": "Nobody here is ill"}\n')
    found = mabos("recall", "is somebody ill or healthy", "--limit", "9", cwd=workspace).stdout
    assert all(found.count(one["id"]) == 1 for one in saved)
    assert "sessions/reasoning.jsonl:1" in found and "\nreasoning.jsonl" not in f"\n{found}"
    assert [row["id"] for row in reason("history", "--limit", "0")["results"]] == [
        saved[1]["id"],
        saved[0]["id"],
    ]
    assert len(reason("history", "--limit", "1")["results"]) == 1


def test_show_tells_the_worksheet_or_the_schema(reason) -> None:
    sheet, schema = reason("show", "modal"), reason("show", "modal", "--schema")
    assert "worksheet" in sheet and "schema" not in sheet
    assert "worksheet" not in schema and schema["schema"]["title"] == "modal"


def test_a_problem_is_one_line(workspace: Path, reason) -> None:
    (workspace / "b.yaml").write_text(ILL)
    data = reason("-", "-m", "bayesian", "--input", str(workspace / "b.yaml"), stdin="Is he\n  ill?\n")
    assert data["problem"] == "Is he ill?"
    data = reason("-m", "bayesian", "--input", "-", stdin="problem: |\n  Is he\n  ill?\n" + ILL)
    assert data["problem"] == "Is he ill?"


def test_what_cannot_be_a_memory_is_not_kept_at_all(mabos, workspace: Path) -> None:
    (workspace / "mabos.yaml").write_text("memory: {max_content_bytes: 100}\n")
    words = ("reason", "Is he ill? " * 20, "-m", "bayesian", "--input", "-", "--save")
    done = mabos(*words, cwd=workspace, stdin=ILL)
    assert done.code == 2 and "the limit is 100" in done.stderr
    assert not (workspace / "agents/main/reasoning.jsonl").exists()
    done = mabos("reason", "-m", "bayesian", "--input", "-", cwd=workspace, stdin=f"problem: {'x' * 4001}\n{ILL}")
    assert done.code == 2 and "at most 4000 characters" in done.stderr


def test_names_with_line_breaks_do_not_break_lines(mabos, workspace: Path) -> None:
    said = 'options: {"a\\nconfidence: 1.00": {x: yes}, b: {x: no}}'
    done = mabos("reason", "x", "-m", "heuristic", "--input", "-", cwd=workspace, stdin=said)
    assert done.code == 0 and not any(line.startswith("confidence") for line in done.stdout.split("\n"))


def test_why_the_agents_own_files_do_not_do_is_said(mabos, workspace: Path, reason) -> None:
    assert mabos("reason", "Calibrated?", "-m", "calibration", cwd=workspace).stderr == ""
    reason("Ill?", "-m", "bayesian", "--input", "-", "--save", stdin=ILL)
    done = mabos("reason", "Calibrated?", "-m", "calibration", cwd=workspace)
    assert done.code == 0 and done.stdout.startswith("# Worksheet: calibration")
    assert "no past result has both a confidence and a known outcome" in done.stderr


@pytest.mark.parametrize("name", ["deductive", "monte-carlo", "game-theory", "argumentation", "fuzzy", "causal"])
def test_examples_run_from_the_shell(mabos, workspace: Path, name: str) -> None:
    done = mabos("reason", "--method", name, "--input", str(FIXTURES / f"{name}.yaml"), cwd=workspace, LC_ALL="C")
    assert done.code == 0, done.stderr
    assert done.stdout.startswith(f"{name}: ")


def test_a_byte_order_mark_on_standard_input_is_no_part_of_it(reason) -> None:
    assert reason("Ill?", "-m", "bayesian", "--input", "-", stdin="\ufeff" + ILL)["computed"]
