"""Git as we run it: without questions, about the right repository, and leaving a person's work alone."""

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from repositories import git, settle_git, start_repository

from mabos_cli.errors import NotFound, Unavailable
from mabos_cli.workspace.git import (
    GitFailed,
    Repository,
    Revision,
    ask_git,
    changed_paths,
    commit_before,
    commit_paths,
    find_commit,
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


def test_nothing_waits_for_ever(repository: Repository, monkeypatch: pytest.MonkeyPatch):
    slow = repository.top / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text('#!/bin/sh\ncase "$*" in *config*) exit 0;; esac\nsleep 60\n')
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(GitFailed, match=r"did not end within 0\.5 s"):
        ask_git(repository.top, "commit", "--allow-empty", "-m", "x", patience=0.5)


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


def test_a_commit_that_fails_leaves_everything_as_it_was(repository: Repository, monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in os.environ if name.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))]:
        monkeypatch.delenv(name)
    git(repository.top, "config", "user.useConfigOnly", "true")
    (repository.top / "a" / "two").write_text("new\n")
    (repository.top / "other").write_text("staged\n")
    git(repository.top, "add", "other")
    with pytest.raises(GitFailed, match="git commit: "):
        commit_paths(repository, ["a/two"], ["a/two"], "x")
    assert git(repository.top, "status", "--porcelain") == "M  other\n?? a/two\n"


@pytest.fixture
def ran(repository: Repository, quick: Path) -> Callable[[], list[str]]:
    """A repository whose own configuration names a program wherever git runs one: which of them ran."""
    top, signs = repository.top, quick / "ran"
    signs.mkdir()
    (top / "a" / "one.md").write_text("words\n")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "more")
    nested = top / "nested"
    git(top, "init", "-q", os.fspath(nested))
    (nested / "file").write_text("1\n")
    git(nested, "add", "-A")
    git(nested, "commit", "-qm", "x")
    git(top, "add", "nested")
    git(top, "commit", "-qm", "a repository in it")
    (nested / "file").write_text("2\n")
    git(nested, "config", "core.fsmonitor", f"touch {signs}/nested-fsmonitor")
    run = {
        "core.fsmonitor": f"touch {signs}/fsmonitor",
        "diff.external": f"touch {signs}/external",
        "diff.odd.textconv": f"sh -c 'touch {signs}/textconv'",
        "diff.odd.command": f"touch {signs}/command",
        "filter.a=b.clean": f"sh -c 'touch {signs}/clean; cat'",
        "filter.a=b.required": "true",
        "gpg.program": f"touch {signs}/gpg",
        "core.pager": f"touch {signs}/pager",
        "core.editor": f"touch {signs}/editor",
    }
    for name, value in run.items():
        git(top, "config", name, value)
    (top / ".git" / "info" / "attributes").write_text("*.md diff=odd filter=a=b\n")
    for name in ("pre-commit", "commit-msg", "post-commit", "post-index-change", "reference-transaction"):
        hook = top / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {signs}/{name}\n")
        hook.chmod(0o755)

    return lambda: sorted(os.listdir(signs))


def test_nothing_that_a_repository_names_is_run(repository: Repository, ran: Callable[[], list[str]]):
    repository = open_repository(repository.top)  # each command opens it again, and looks at its configuration
    (repository.top / "a" / "one.md").write_text("sword\n")  # as long as before: git has to look at the content
    changed = changed_paths(repository, [repository.top / "a"])
    assert changed == {"a/one.md": " M"} and ran() == []
    revision = Revision(repository, find_commit(repository, "HEAD"), repository.top / "a")
    assert revision.changed == ["one.md"] and commit_paths(repository, ["a/one.md"], [], "x")
    assert commit_before(repository, datetime(2090, 1, 1, tzinfo=UTC)) == find_commit(repository, "HEAD")
    assert ran() == []
    (repository.top / "a" / "one.md").write_text("wards\n")
    git(repository.top, "status", "--porcelain")
    assert {"fsmonitor", "clean"} <= {*ran()}, "the traps work"


def test_the_first_commit(quick: Path, monkeypatch: pytest.MonkeyPatch):
    settle_git(monkeypatch, quick)
    git(quick, "init", "-q", os.fspath(quick / "fresh"))
    repository = open_repository(quick / "fresh")
    (repository.top / "ä b").write_text("1\n")
    assert changed_paths(repository, [repository.top]) == {"ä b": "??"}
    commit_paths(repository, ["ä b"], ["ä b"], "first")
    assert git(repository.top, "status", "--porcelain") == ""
