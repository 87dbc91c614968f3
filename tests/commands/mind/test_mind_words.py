"""Words that look like structure, in what people and agents give to the commands of the mind."""

import pytest

from commands.desk import Desk

SHAPES = {
    "section": "# Intentions\n\n## I-001: First\n\nstatus: active\n[updated: 2026-02-20]\n",
    "item": "# Intentions\n\n- I-001: First, status: active [updated: 2026-02-20]\n",
    "row": "# Intentions\n\n| ID | Intention | Status | Updated |\n|---|---|---|---|\n| I-001 | First | active | 2026-02-20 |\n",
}
LOGS = {"table": "| Date | Change |\n|---|---|\n| 2026-01-01 | x |\n", "list": "- 2026-01-01: x\n"}


def intentions(desk: Desk) -> list[dict]:
    return desk.run("intention", "list", "--json").data["intentions"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "note",
    ["status: waiting for legal", "[deadline: 2020-01-01] moved", "a | b", "# x", "- x", "(so)", "<!-- x"],
)
def test_a_note_is_only_a_note(desk: Desk, shape: str, note: str) -> None:
    desk.write("Intentions.md", SHAPES[shape])
    desk.run("intention", "progress", "I-001", "--", note)
    (found,) = intentions(desk)
    assert (found["id"], found["title"], found["status"], found["deadline"]) == (
        "I-001",
        "First",
        "active",
        None,
    )
    assert note.split()[-1] in (desk.folder() / "Intentions.md").read_text("utf-8")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reason", ["they (both) left", "a | b", "[x] status: active", "x (y", "x) y"])
def test_a_reason_goes_with_the_status_that_it_explains(desk: Desk, shape: str, reason: str) -> None:
    desk.write("Intentions.md", SHAPES[shape])
    dropped = desk.run("intention", "drop", "I-001", "--reason", reason, "--json").data
    assert dropped["status"].startswith("dropped (2026-02-24: ")
    desk.run("intention", "complete", "I-001", "--outcome", "signed")
    (found,) = intentions(desk)
    assert (found["title"], found["status"]) == ("First", "completed (2026-02-24: signed)")
    assert reason.split()[-1] not in (desk.folder() / "Intentions.md").read_text("utf-8")


ESCAPED = ("- x", "1. x", "<!-- x", "```")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("title", ["Ship it [status: completed]", "status: done", "a | b", "# x", "I-001: x", *ESCAPED])
def test_a_title_is_only_a_title(desk: Desk, shape: str, title: str) -> None:
    desk.write("Intentions.md", SHAPES[shape])
    said = desk.run("intention", "add", "--json", "--", title)
    assert said.code == 0
    first, second = intentions(desk)
    assert (first["title"], first["status"]) == ("First", "active")
    assert (second["id"], second["status"], second["place"]) == ("I-002", "active", said.data["place"])
    assert second["title"] == title or (shape == "item" and title in ESCAPED)


@pytest.mark.parametrize("title", ESCAPED)
def test_the_title_of_an_item_comes_back_as_it_was_given(desk: Desk, title: str) -> None:
    desk.write("Intentions.md", SHAPES["item"])
    desk.run("intention", "add", "--", title)
    assert intentions(desk)[1]["title"] == title


@pytest.mark.parametrize("log", LOGS)
def test_a_log_above_its_entries_moves_them_and_the_answer_is_about_the_right_one(desk: Desk, log: str) -> None:
    entries = SHAPES["section"].partition("\n\n")[2]
    text = f"# Intentions\n\n## History\n\n{LOGS[log]}\n{entries}\n{entries.replace('I-001: First', 'I-002: Second')}"
    desk.write("Intentions.md", text)
    said = desk.run("intention", "drop", "I-002", "--reason", "x", "--json").data
    assert (said["id"], said["status"]) == ("I-002", "dropped (2026-02-24: x)")
    line = int(said["place"].partition(":")[2])
    assert (desk.folder() / "Intentions.md").read_text("utf-8").split("\n")[line - 1] == "## I-002: Second"


@pytest.mark.parametrize(
    "text",
    [
        "# Beliefs\n\n## B-001: Market\n\nCertainty: 0.8\n\nGrowing\n",
        "# Beliefs\n\n- B-001: Market, certainty: 0.8 [updated: 2026-01-01]\n",
        "# Beliefs\n\n| ID | Belief | Certainty |\n|---|---|---|\n| B-001 | Market | 0.8 |\n",
    ],
)
def test_beliefs_are_found_by_ids_wherever_these_stand(desk: Desk, text: str) -> None:
    desk.write("Beliefs.md", text)
    said = desk.run("belief", "revise", "B-001", "--certainty", "0.4", "--json").data
    assert (said["certainty"], said["line"]) == (0.4, text[: text.index("B-001")].count("\n") + 1)
    added = desk.run("belief", "add", "Churn", "3 %", "--json").data
    assert added["id"] == "B-002" and added["line"] > said["line"]
    shown = desk.run("belief", "list", "--json").data["beliefs"]
    assert [(each["id"], each["subject"]) for each in shown] == [("B-001", "Market"), ("B-002", "Churn")]


def test_a_table_without_ids_gives_none(desk: Desk) -> None:
    desk.write("Beliefs.md", "# B\n\n| Belief | Value | Certainty |\n|---|---|---|\n| Churn | 2 % | 0.8 |\n")
    desk.write("Desires.md", "# D\n\n| Desire | Priority |\n|---|---|\n| Calm | High |\n")
    assert desk.run("belief", "add", "Churn", "3 %", "--json").data["id"] == ""
    said = desk.run("desire", "add", "Calm", "--json").data
    assert (said["id"], said["place"]) == (None, "Desires.md:6")
