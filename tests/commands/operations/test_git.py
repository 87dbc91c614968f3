"""git install and git merge as commands, and --commit on whatever writes."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from repositories import git, settle_git, start_repository

from commands.desk import Desk


@pytest.fixture
def desk(quick: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A workspace in a repository of its own, with a first commit."""
    settle_git(monkeypatch, quick)
    made = Desk(quick / "ws")
    start_repository(made.root)
    return made


def subject(desk: Desk, rev: str = "HEAD") -> str:
    return git(desk.root, "log", "-1", "--format=%s", rev).rstrip("\n")


def names(desk: Desk) -> set[str]:
    """The files of the last commit, below the agent's folder."""
    listed = git(desk.root, "show", "--name-only", "--format=", "HEAD").split()
    return {name.removeprefix("agents/main/") for name in listed}


def test_commit_takes_what_the_command_wrote_and_nothing_else(desk: Desk):
    desk.write("Persona.md", "edited, not staged\n")
    (desk.root / "notes.txt").write_text("staged\n")
    git(desk.root, "add", "notes.txt")
    said = desk.run("store", "We bill per seat", "--store", "long_term", "--commit", "--json")
    own = said.data["id"]
    assert said.warnings == [] and said.data["commit"] == git(desk.root, "rev-parse", "--short", "HEAD").strip()
    assert subject(desk) == f"store: We bill per seat ({own}) [main]"
    body = git(desk.root, "log", "-1", "--format=%b").strip()
    assert body == f"store: put 1, logged 1; {own}"
    made = {"memory-store.json", "memory/2026-02-24.md", "memory/mabos-memory-items.md"}
    assert made <= names(desk) and "Persona.md" not in names(desk)
    assert git(desk.root, "status", "--porcelain") == " M agents/main/Persona.md\nA  notes.txt\n"


def test_commit_anywhere_on_the_line_and_by_setting(desk: Desk):
    assert desk.run("--commit", "fact", "assert", "acme", "owns", "river").stdout.count("committed ") == 1
    assert subject(desk).startswith("fact assert: acme owns river (F-")
    desk.settle("git: {commit: true}\n")
    desk.run("belief", "add", "Demand", "growing")
    assert subject(desk) == "belief add: added B-001 Beliefs.md:5: Demand: growing [main]"
    before = git(desk.root, "rev-parse", "HEAD")
    assert desk.run("recall", "billing", "--json").data["commit"] is None  # nothing written, nothing committed
    desk.run("consolidate", "--dry-run")
    assert git(desk.root, "rev-parse", "HEAD") == before


def test_several_writes_are_one_commit(desk: Desk):
    lines = b"".join(b'{"content": "note %d"}\n' % n for n in range(3))
    desk.run("store", "--batch", "-", "--commit", stdin=lines)
    assert git(desk.root, "rev-list", "--count", "HEAD") == "2\n"
    assert "and 2 more [main]" in subject(desk)


def test_shared_files_are_committed_too(desk: Desk):
    said = desk.run("agent", "create", "cfo", "--commit", "--json")
    assert said.warnings == [] and said.data["commit"]
    assert subject(desk) == "agent create: agent cfo created: 12 files [cfo]"
    assert git(desk.root, "status", "--porcelain") == ""


def test_what_lies_outside_the_workspace_is_not_committed(desk: Desk):
    other = desk.root.parent / "other"
    other.mkdir()
    (other / "AGENTS.md").write_text("# Ours\n")
    start_repository(other)
    before = git(other, "rev-parse", "HEAD")
    (other / "AGENTS.md").write_text("# Ours\n\nEdited by a person.\n")
    desk.settle("git: {commit: true}\n")
    said = desk.run("skill", "--format", "agents", "-o", str(other / "AGENTS.md"), "--json")
    assert said.data["written"] and said.data["commit"] is None and said.warnings == []
    assert git(other, "rev-parse", "HEAD") == before
    assert git(other, "status", "--porcelain") == " M AGENTS.md\n"


@pytest.mark.parametrize("words", [("add",), ("rm", "-q", "--cached")])
def test_what_somebody_staged_of_the_same_file_is_not_taken_along(desk: Desk, words: tuple[str, ...]):
    file, before = "agents/main/Beliefs.md", git(desk.root, "rev-parse", "HEAD")
    desk.write("Beliefs.md", "# Beliefs\n\nFor a commit of its own.\n")
    git(desk.root, *words, file)
    put_by = git(desk.root, "diff", "--cached")
    said = desk.run("belief", "add", "Demand", "growing", "--commit", "--json")
    assert said.data["commit"] is None
    assert said.warnings == [f"not committed: {file} has staged changes; commit or unstage them first"]
    assert git(desk.root, "rev-parse", "HEAD") == before and git(desk.root, "diff", "--cached") == put_by


def test_a_workspace_below_a_folder_named_as_the_local_one_is_committed(desk: Desk):
    moved = desk.root.parent / ".mabos" / "ws"
    moved.parent.mkdir()
    desk.root.rename(moved)
    said = Desk(moved).run("store", "We bill per seat", "--commit", "--json")
    assert said.data["commit"] and not git(moved, "status", "--porcelain")


@pytest.mark.parametrize("trouble", ["no repository", "no identity", "locked", "no git", "merging"])
def test_trouble_with_git_is_a_warning(desk: Desk, monkeypatch: pytest.MonkeyPatch, trouble: str):
    reasons = {
        "no repository": "is in no git repository",
        "no identity": "",
        "locked": "index.lock",
        "no git": "cannot run git",
        "merging": "cannot do a partial commit during a merge",
    }
    if trouble == "no repository":
        os.rename(desk.root / ".git", desk.root / "git-is-gone")
    elif trouble == "no identity":
        for name in [name for name in os.environ if name.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))]:
            monkeypatch.delenv(name)
        git(desk.root, "config", "user.useConfigOnly", "true")
    elif trouble == "locked":
        (desk.root / ".git" / "index.lock").write_text("")
    elif trouble == "no git":
        monkeypatch.setenv("PATH", "/nowhere")
    else:
        (desk.root / ".git" / "MERGE_HEAD").write_text(git(desk.root, "rev-parse", "HEAD"))
    said = desk.run("store", "We bill per seat", "--commit", "--json")
    assert said.code == 0 and said.data["commit"] is None
    (warning,) = said.warnings
    assert warning.startswith("not committed: ") and reasons[trouble] in warning
    assert desk.run("recall", "bill", "--json").refs == [said.data["id"]]


def test_install_and_uninstall(desk: Desk):
    rules = desk.root / ".gitattributes"
    rules.write_text("*.png binary\n")
    dry = desk.run("git", "install", "--dry-run", "--json").data
    assert dry["changed"] == ["merge.mabos in the repository's configuration", ".gitattributes"]
    assert rules.read_text() == "*.png binary\n"
    assert desk.run("git", "install", "--json").data["changed"] == dry["changed"]
    installed = rules.read_text()
    assert installed.startswith("*.png binary\n# >>> mabos")
    assert git(desk.root, "config", "--local", "merge.mabos.driver").endswith("mabos git merge %O %A %B %P\n")
    assert desk.run("git", "install", "--json").data["changed"] == []
    assert rules.read_text() == installed
    assert desk.run("git", "install", "--uninstall", "--json").data["changed"] == dry["changed"]
    assert rules.read_text() == "*.png binary\n"
    assert "mabos" not in git(desk.root, "config", "--local", "--list")
    assert desk.run("git", "install", "--uninstall").stdout == "the merge driver is not installed\n"


def test_where_mabos_is_not_found_both_sides_stay(desk: Desk, tmp_path: Path):
    driver = desk.run("git", "install", "--json").data["driver"]
    for name, text in (("%O", "a\n"), ("%A", "ours\n"), ("%B", "theirs\n"), ("%P", "")):
        path = tmp_path / f"version{name[1]}"
        path.write_text(text)
        driver = driver.replace(name, str(path))
    git_only = tmp_path / "bin"
    git_only.mkdir()
    (git_only / "git").symlink_to(shutil.which("git") or "")
    done = subprocess.run(["/bin/sh", "-c", driver], env={"PATH": str(git_only)}, check=False)
    merged = (tmp_path / "versionA").read_text()
    assert done.returncode == 1 and "<<<<<<<" in merged and "ours" in merged and "theirs" in merged


def test_another_way_to_call_mabos_is_left_as_it_is(desk: Desk):
    own = "/opt/mabos/bin/mabos git merge %O %A %B %P"
    git(desk.root, "config", "merge.mabos.driver", own)
    assert desk.run("git", "install", "--json").data["changed"] == [".gitattributes"]
    assert git(desk.root, "config", "merge.mabos.driver").strip() == own
    desk.run("git", "install", "--uninstall")
    assert not (desk.root / ".gitattributes").exists()


def test_a_driver_of_the_user_stays_when_the_repository_has_none(desk: Desk):
    git(desk.root, "config", "--global", "merge.mabos.driver", "mabos git merge %O %A %B %P")
    desk.run("git", "install")
    said = desk.run("git", "install", "--uninstall", "--json")
    assert said.data["changed"] == [".gitattributes"] and not (desk.root / ".gitattributes").exists()
    assert git(desk.root, "config", "--global", "merge.mabos.driver").startswith("mabos git merge")


def test_doctor_says_when_a_clone_has_no_driver(desk: Desk):
    assert desk.run("doctor", "--json").data["findings"] == []
    desk.run("git", "install")
    assert desk.run("doctor", "--json").data["findings"] == []
    git(desk.root, "config", "--remove-section", "merge.mabos")
    (found,) = desk.run("doctor", "--json").data["findings"]
    assert (found["level"], found["place"]) == ("note", ".gitattributes")


def test_install_without_a_repository(quick: Path, monkeypatch: pytest.MonkeyPatch):
    settle_git(monkeypatch, quick)
    said = Desk(quick / "elsewhere").run("git", "install")
    assert said.code == 3 and "git init" in said.stderr


def test_merge_of_text_leaves_marks_and_says_so(desk: Desk):
    files = [desk.root / name for name in ("base", "ours", "theirs")]
    for path, text in zip(files, ("a\n", "b\n", "c\n"), strict=True):
        path.write_text(text)
    said = desk.run("git", "merge", *map(str, files), "notes.md")
    assert said.code == 5 and files[1].read_text() == "<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n"


def test_merge_refuses_what_it_cannot_read_and_changes_nothing(desk: Desk):
    files = [desk.root / name for name in ("base", "ours", "theirs")]
    for path, text in zip(files, ("", "{}", "{"), strict=True):
        path.write_text(text)
    said = desk.run("git", "merge", *map(str, files), "agents/main/memory-store.json")
    assert said.code == 4 and "memory-store.json (theirs):1" in said.stderr
    assert files[1].read_text() == "{}"
    gone = desk.run("git", "merge", "nowhere", *map(str, files[1:]), "agents/main/facts.json")
    assert gone.code == 3
