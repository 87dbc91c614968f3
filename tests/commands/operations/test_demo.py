"""mabos demo: the tour goes through, says what it does, and leaves nothing behind but the folder that was named."""

import json
import os
import shutil
from pathlib import Path

import pytest
from conftest import Done, Mabos
from forked import tree

from mabos_cli.services.operations.setup import load_tour

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="no git here")


@pytest.fixture
def tour(mabos: Mabos, quick: Path):
    """Runs the demo where temporary folders, the home and the current folder can be looked into afterwards."""
    for name in ("tmp", "home", "here"):
        (quick / name).mkdir()

    def run(*words: str, **variables: str) -> Done:
        places = {"TMPDIR": str(quick / "tmp"), "HOME": str(quick / "home")}
        return mabos("demo", *words, cwd=quick / "here", **places | variables)

    return run


def commands_of(text: str) -> list[str]:
    return [line[2:].rstrip(" \\") for line in text.split("\n") if line.startswith("$ ")]


@needs_git
def test_every_command_is_shown_with_what_it_prints_and_nothing_stays(tour, quick: Path) -> None:
    # What the caller has set is not for the tour: not the agent, not the settings, not git's.
    foreign = {
        "MABOS_AGENT": "nobody",
        "MABOS_WORKSPACE": "/none",
        "MABOS_RECALL_LIMIT": "0",
        "GIT_DIR": "/none",
    }
    done = tour(**foreign)
    assert done.code == 0 and done.stderr == "warning: C-001 FAILED and is more similar than C-002\n"
    chapters = load_tour()
    assert commands_of(done.stdout) == [c.split("\\\n")[0].rstrip() for chapter in chapters for c in chapter.commands]
    for told in (
        "stored 124 items",
        "consolidated 13 memories into 4 items",
        "(archived) Saltmarsh said yes on the phone",
        "+## Consolidated (2026-02-24)",
        "## Strategic Themes",
        "denied by one, stated by the other: Saltmarsh renew",
        "saltmarsh-discount was approved by lotte, who requested it",
        "negotiation: price 27 a berth, term 3 years",
        "token=[redacted:github_token]",
        "beliefs: 2 new",
        "agent cfo is healthy",
    ):
        assert told in done.stdout
    assert [path for path in quick.rglob("*") if path.is_file()] == []


def test_without_git_its_chapters_are_left_out(tour) -> None:
    done = tour("--json", PATH="/none")
    assert done.code == 0 and done.stderr == "" and done.stdout.count("\n") == 1
    found = json.loads(done.stdout)
    assert found["schema"] == "mabos.demo.v1" and found["data"]["folder"] is None
    commands = [step["command"] for step in found["data"]["steps"]]
    assert not [command for command in commands if command.startswith(("git", "mabos review"))]
    assert commands[0].startswith("mabos init") and commands[-1] == "mabos doctor --check"
    assert found["data"]["steps"][-1]["output"][0] == "agent cfo is healthy"


def test_in_a_folder_of_ones_own_the_workspace_stays(tour, mabos: Mabos, quick: Path) -> None:
    done = tour("mine", "--quiet")
    assert done.code == 0 and done.stdout == ""
    mine = quick / "here" / "mine"
    assert [path.name for path in (quick / "here").iterdir()] == ["mine"] and not [*(quick / "tmp").iterdir()]
    assert json.loads(mabos("status", "--json", cwd=mine).stdout)["data"]["stores"]["long_term"] > 100
    before = tree(mine)
    again = tour("mine", "--json")
    assert (
        again.code == 2 and again.stdout == "" and "mine exists already" in json.loads(again.stderr)["error"]["message"]
    )
    assert tree(mine) == before


def test_a_folder_that_cannot_be_made_is_named(tour, quick: Path) -> None:
    (quick / "here" / "file").write_text("x")
    assert tour("file").code == 2
    done = tour(os.path.join("file", "below"))
    assert done.code == 4 and "below" in done.stderr and done.stdout == ""
    assert (quick / "here" / "file").read_text() == "x"
