"""An agent's files as they were at a commit, and as they are. Only what differs is read."""

import os
from datetime import datetime
from functools import cached_property
from pathlib import Path

from mabos_cli.core.language.clock import format_time
from mabos_cli.errors import NotFound
from mabos_cli.workspace.files import read_bytes
from mabos_cli.workspace.git import GitFailed, Repository


def find_commit(repository: Repository, name: str) -> str:
    """The commit that a name means; NotFound when there is none."""
    answer = repository.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if answer.code or not answer.out:
        raise NotFound(f"no commit {name[:60]!r}", "a branch, a tag, HEAD~3 or a hash; git log lists them")
    return answer.out.decode().strip()


def head_commit(repository: Repository) -> str:
    """The last commit; empty when there is none yet."""
    return repository.ask("rev-parse", "--verify", "--quiet", "HEAD").out.decode().strip()


def commit_before(repository: Repository, moment: datetime) -> str:
    """The last commit that was made before a moment; empty when there is none."""
    if not head_commit(repository):
        return ""
    told = f"--before={format_time(moment)}"
    return repository.run("rev-list", "--max-count=1", told, "HEAD").decode().strip()


class Revision:
    """The files below a folder, at a commit and now; with no commit, as if there had been none."""

    def __init__(self, repository: Repository, commit: str, folder: Path) -> None:
        self._repository = repository
        self._folder = folder
        self._prefix = repository.inside(folder) + "/"
        self._tree = commit or repository.run("hash-object", "-t", "tree", "--stdin").decode().strip()
        self._old: dict[str, bytes] = {}

    @cached_property
    def changed(self) -> list[str]:
        """The files that differ, named from the folder on; those that git ignores are left out."""
        below = ("--", self._prefix)
        out = self._repository.run("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", self._tree, *below)
        out += self._repository.run("ls-files", "-z", "--others", "--exclude-standard", *below)
        names = {os.fsdecode(name) for name in out.split(b"\0") if name}
        return sorted(name.removeprefix(self._prefix) for name in names)

    def load(self, names: list[str]) -> None:
        """Reads old versions, all at once."""
        wanted = [name for name in names if "\n" not in name]
        asked = "".join(f"{self._tree}:{self._prefix}{name}\n" for name in wanted)
        out, at = self._repository.run("cat-file", "--batch", stdin=os.fsencode(asked)), 0
        for name in wanted:
            end = out.index(b"\n", at)
            head = out[at:end].rsplit(b" ", 2)
            if head[-1] == b"missing":
                at = end + 1
            elif len(head) == 3 and head[1] == b"blob":
                size = int(head[2])
                self._old[name] = out[end + 1 : end + 1 + size]
                at = end + size + 2
            else:
                raise GitFailed(f"git cat-file: {out[at:end][:80].decode('utf-8', 'replace')}")

    def old(self, name: str) -> bytes:
        """A file as it was; empty when it was not there."""
        return self._old.get(name, b"")

    def new(self, name: str) -> bytes:
        """A file as it is; empty when it is not there any more."""
        return read_bytes(self._folder / name) or b""

    def added_lines(self, name: str) -> bytes:
        """The lines of a file that only grows which were not in it before."""
        known = set(self.old(name).split(b"\n"))
        return b"\n".join(line for line in self.new(name).split(b"\n") if line not in known)
