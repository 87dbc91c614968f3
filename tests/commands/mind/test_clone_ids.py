"""Ids in a clone: letters behind the number, which people need not write."""

import re
from pathlib import Path

import pytest
from repositories import commit_all, git, settle_git, start_repository

from commands.desk import Desk

LETTERS = r"[bcdfghjkmnpqrstvwxz]{3}"


@pytest.fixture
def clone(desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Desk:
    """A workspace with the merge driver, in a repository that has a remote."""
    settle_git(monkeypatch, tmp_path)
    start_repository(desk.root)
    desk.run("goal", "add", "Grow")
    desk.run("git", "install")
    commit_all(desk.root)
    git(desk.root, "remote", "add", "origin", str(tmp_path))
    return desk


def test_without_a_remote_ids_are_counted(desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    settle_git(monkeypatch, tmp_path)
    start_repository(desk.root)
    desk.run("git", "install")
    assert desk.run("goal", "add", "Grow", "--json").data["id"] == "G-001"


def test_a_clone_puts_letters_behind_the_number(clone: Desk):
    ids = [clone.run("goal", "add", title, "--json").data["id"] for title in ("Hire two", "Save")]
    assert re.fullmatch(f"G-002-{LETTERS}", ids[0]) and re.fullmatch(f"G-003-{LETTERS}", ids[1])


def test_the_number_alone_is_enough(clone: Desk):
    goal = clone.run("goal", "add", "Hire two", "--json").data["id"]
    intention = clone.run("intention", "add", "Write the advert", "--goal", "g-002", "--json").data
    assert intention["goal"] == goal
    belief = clone.run("belief", "add", "Hiring", "We are short of people", "--supports", "G-002", "--json").data
    assert belief["supports"] == [goal]
    done = clone.run("goal", "update", "G-002", "--status", "achieved", "--json")
    assert (done.data["id"], done.data["status"]) == (goal, "achieved")
    assert clone.run("goal", "list", "--status", "achieved", "--json").data["goals"][0]["id"] == goal


def test_a_number_that_several_have(clone: Desk):
    """Without letters the one that has none is meant; where all have some, the first, and the call says so."""
    text = "# Goals\n\n## G-001-bcd: One\n\nstatus: active\n\n## G-001-fgh: Two\n\nstatus: active\n"
    path = clone.root / "agents" / "main" / "Goals.md"
    path.write_text(text)
    done = clone.run("goal", "update", "G-001", "--status", "achieved", "--json")
    assert done.data["id"] == "G-001-bcd" and "2 goals go by 'G-001'" in done.warnings[0]
    path.write_text(text.replace("G-001-fgh", "G-001"))
    done = clone.run("goal", "update", "G-001", "--status", "achieved", "--json")
    assert done.data["id"] == "G-001" and not done.warnings
