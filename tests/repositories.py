"""Git for tests: an identity, and no settings of whoever runs them."""

import os
import subprocess
from pathlib import Path

import pytest


def settle_git(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Gives git a name to commit under, and a home without settings."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("HOME", os.fspath(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


def git(root: Path, *words: str, **variables: str) -> str:
    """What git says in a folder; it must not fail."""
    done = subprocess.run(
        ["git", "-C", root, *words],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def commit_all(root: Path, message: str = "x", **variables: str) -> None:
    """Commits everything, as a person does."""
    git(root, "add", "-A")
    git(root, "commit", "-qm", message, **variables)


def start_repository(root: Path) -> None:
    """Makes a folder a repository, with everything in it committed."""
    git(root, "init", "-q", "-b", "main")
    commit_all(root, "start")
