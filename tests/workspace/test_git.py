"""Git as we run it: without questions, about the right repository, and leaving a person's work alone."""

import os
from pathlib import Path

import pytest
from repositories import git, settle_git, start_repository

from mabos_cli.errors import NotFound, Unavailable
from mabos_cli.workspace.git import (
    GitFailed,
    Repository,
    ask_git,
    changed_paths,
    commit_paths,
    find_repository,
    open_repository,
)


@pytest.fixture
def repository(quick: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    settle_git(monkeypatch, quick)
    root = quick / "repo"
    (root / "a").mkdir(parents=True)
    (root / "a" / "one").write_text("1\n")
    (root / "other").write_text("1\n")
    start_repository(root)
    return open_repository(root)


def test_repository_of_a_folder(repository: Repository, quick: Path):
    assert open_repository(repository.top / "a") == repository
    assert repository.inside(repository.top / "a" / "new") == "a/new"
    with pytest.raises(NotFound, match="in no git repository"):
        open_repository(quick)
    assert find_repository(quick) is None
    with pytest.raises(GitFailed, match="not in the repository"):
        repository.inside(quick / "elsewhere")


def test_a_hook_that_calls_us_does_not_lead_elsewhere(repository: Repository, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert open_repository(repository.top) == repository


def test_without_git(repository: Repository, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Unavailable, match="cannot run git"):
        open_repository(repository.top)
    assert find_repository(repository.top) is None


def test_nobody_is_asked_and_nothing_waits_for_ever(repository: Repository):
    hook = repository.top / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\nread answer </dev/tty || echo no terminal >&2\ncat\nsleep 60\n")
    hook.chmod(0o755)
    with pytest.raises(GitFailed, match=r"did not end within 0\.5 s"):
        ask_git(repository.top, "commit", "--allow-empty", "-m", "x", patience=0.5)
    assert git(repository.top, "rev-list", "--count", "HEAD") == "1\n"


def test_only_the_paths_that_are_named_are_committed(repository: Repository):
    (repository.top / "a" / "one").write_text("2\n")
    (repository.top / "a" / "two").write_text("new\n")
    (repository.top / "a" / "three").write_text("not ours\n")
    (repository.top / "other").write_text("staged\n")
    git(repository.top, "add", "other")
    changed = changed_paths(repository, [repository.top / "a"])
    assert changed == {"a/one": " M", "a/two": "??", "a/three": "??"}
    name = commit_paths(repository, ["a/one", "a/two"], ["a/two"], "store: x\n\n# a line")
    assert git(repository.top, "show", "--name-only", "--format=%h%n%B", "HEAD").split() == [
        name, "store:", "x", "#", "a", "line", "a/one", "a/two",
    ]  # fmt: skip
    assert git(repository.top, "status", "--porcelain") == "M  other\n?? a/three\n"


def test_removed_files_are_committed_as_removed(repository: Repository):
    (repository.top / "a" / "one").unlink()
    assert changed_paths(repository, [repository.top]) == {"a/one": " D"}
    commit_paths(repository, ["a/one"], [], "gone")
    assert git(repository.top, "ls-files") == "other\n"


def test_a_commit_that_fails_leaves_everything_as_it_was(repository: Repository):
    hook = repository.top / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\necho 'error: tests fail' >&2\nexit 1\n")
    hook.chmod(0o755)
    (repository.top / "a" / "two").write_text("new\n")
    (repository.top / "other").write_text("staged\n")
    git(repository.top, "add", "other")
    with pytest.raises(GitFailed, match="git commit: tests fail"):
        commit_paths(repository, ["a/two"], ["a/two"], "x")
    assert git(repository.top, "status", "--porcelain") == "M  other\n?? a/two\n"


def test_the_first_commit(quick: Path, monkeypatch: pytest.MonkeyPatch):
    settle_git(monkeypatch, quick)
    git(quick, "init", "-q", os.fspath(quick / "fresh"))
    repository = open_repository(quick / "fresh")
    (repository.top / "ä b").write_text("1\n")
    assert changed_paths(repository, [repository.top]) == {"ä b": "??"}
    commit_paths(repository, ["ä b"], ["ä b"], "first")
    assert git(repository.top, "status", "--porcelain") == ""
