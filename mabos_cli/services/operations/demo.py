"""Opens the sandbox of the tour: a folder with sample data, a fixed time, and nothing of the caller's settings."""

import os
from collections.abc import Iterator
from contextlib import chdir, contextmanager, nullcontext
from pathlib import Path
from shutil import which
from typing import NamedTuple

from mabos_cli.errors import UsageFault
from mabos_cli.workspace.files import list_names, make_folder, read_text, replace_file, temporary_folder
from mabos_cli.workspace.git import Repository
from mabos_cli.workspace.layout import demo_folder
from mabos_cli.workspace.locate import place_named

_NOW = "2026-02-24T15:00:00Z"  # the day on which the sample data ends
_SAMPLES = ("memories.ndjson", "price.yaml")
# Git as nobody has set it up, and somebody to commit.
_GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "demo"), ("EMAIL", "demo@example.invalid"))},
}  # fmt: skip


class Chapter(NamedTuple):
    """A part of the tour: what it is about, and the commands that show it, as they are typed."""

    about: str
    commands: tuple[str, ...]

    @property
    def needs_git(self) -> bool:
        return any(command.startswith("git ") for command in self.commands)


def load_tour() -> list[Chapter]:
    """Returns the chapters of the tour; those that need git only where it is installed."""
    chapters = parse_tour(read_text(demo_folder() / "tour.txt"))
    return chapters if which("git") else [chapter for chapter in chapters if not chapter.needs_git]


def run_git(root: Path, words: list[str]) -> list[str]:
    """Runs git in the folder of the tour and returns the lines that it prints."""
    return Repository(root).run(*words).decode("utf-8", "replace").splitlines()


@contextmanager
def open_sandbox(folder: str) -> Iterator[Path]:
    """Makes the folder of the tour the current one; without a name, a temporary one that is removed at the end."""
    place_named(".")  # fails now if the current folder is gone: there would be no way back
    with nullcontext(_new_folder(folder)) if folder else temporary_folder("mabos-demo-") as place:
        root = place if folder else place / "harbourline"
        make_folder(root)
        for name in _SAMPLES:
            replace_file(root / name, (demo_folder() / name).read_bytes(), root=root, expect=None)
        with chdir(root), _clean_environment():
            yield root


def _new_folder(named: str) -> Path:
    root = place_named(named)
    if os.path.exists(root) and (not root.is_dir() or list_names(root)):
        raise UsageFault(f"{root} is there already", "name a folder that is empty, or not there yet")
    return root


@contextmanager
def _clean_environment() -> Iterator[None]:
    """Takes settings of mabos and of git out of the environment, and fixes the time."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(("MABOS_", "GIT_")):
            del os.environ[name]
    os.environ.update(_GIT, MABOS_NOW=_NOW)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def parse_tour(text: str) -> list[Chapter]:
    r"""Parses the chapters of a tour. A command goes on in the next line behind a backslash.

    >>> parse_tour("Look.\n$ mabos status\n$ mabos store x \\\n    --tag y\n")
    [Chapter(about='Look.', commands=('mabos status', 'mabos store x \\\n    --tag y'))]
    """
    return [_parse_chapter(part) for part in text.strip("\n").split("\n\n")]


def _parse_chapter(text: str) -> Chapter:
    about, *commands = f"\n{text}".split("\n$ ")
    return Chapter(about.strip("\n"), tuple(commands))
