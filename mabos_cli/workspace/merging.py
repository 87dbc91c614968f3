"""The merge in progress when git calls the driver: its three commits, and the contents of files in each."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from mabos_cli.core.records import NamedTuple
from mabos_cli.workspace.files import read_bytes, remove_file
from mabos_cli.workspace.git import Repository, find_repository
from mabos_cli.workspace.layout import AgentPaths

Versions = tuple[bytes, bytes, bytes]  # of a file: the base's, ours, theirs; nothing where there is none
_PICKED = re.compile(r"(?:pick|reword|edit|squash|fixup|p|r|e|s|f)\s+(?:-[cC]\s+)?([0-9a-f]{7,64})\b")


def pages_after_merge(agent: AgentPaths) -> Path:
    """Returns where the derived files of a merge are saved, until doctor has checked all of them."""
    return agent.workspace.local / "merged" / f"{agent.id}.json"


def forget_merge(agent: AgentPaths) -> None:
    """Removes the derived files that a merge left for its next call."""
    if pages_after_merge(agent).exists():
        remove_file(pages_after_merge(agent), root=agent.workspace.root)


class Merge(NamedTuple):
    """Three commits, and the repository that has them."""

    repository: Repository
    commits: tuple[str, str, str]

    def versions(self, paths: Sequence[str]) -> list[Versions]:
        """Returns the contents of files in the three commits."""
        found = self.repository.read_objects([f"{commit}:{path}" for path in paths for commit in self.commits])
        return [(found[n], found[n + 1], found[n + 2]) for n in range(0, len(found), 3)]

    def blobs(self, folder: str) -> dict[str, tuple[str, str, str]]:
        """Returns the files below a folder, each with the names of its blobs in the three commits."""
        base, ours, theirs = (self._list(commit, folder) for commit in self.commits)
        paths = dict.fromkeys((*base, *ours, *theirs))
        return {path: (base.get(path, ""), ours.get(path, ""), theirs.get(path, "")) for path in paths}

    def load(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """Returns the contents of blobs by name, all at once; nothing for an empty name."""
        wanted = [*dict.fromkeys(filter(None, blobs))]
        return {"": b"", **dict(zip(wanted, self.repository.read_objects(wanted), strict=True))}

    def _list(self, commit: str, folder: str) -> dict[str, str]:
        out = self.repository.run("ls-tree", "-r", "-z", commit, "--", folder)
        rows = (entry.partition(b"\t") for entry in out.split(b"\0") if b" blob " in entry)
        return {os.fsdecode(path): row.split(b" ")[2].decode() for row, _, path in rows}


def find_merge(path: str, versions: Versions) -> Merge | None:
    """Returns the merge or rebase that the driver is called in, if its commits hold a file in these versions.

    None for a merge without commits: of a stash, of a patch, or of several ancestors.
    """
    repository = find_repository(Path.cwd()) if "\n" not in path else None
    theirs = _merged_commit() or (_picked_commit(repository) if repository else "")
    if repository is None or not theirs:
        return None
    is_pick = not _merged_commit()
    base = repository.ask(*(("rev-parse", f"{theirs}^") if is_pick else ("merge-base", "HEAD", theirs)))
    ours = repository.ask("rev-parse", "HEAD")
    if base.code or ours.code:
        return None
    merge = Merge(repository, (base.out.decode().strip(), ours.out.decode().strip(), theirs))
    return merge if merge.versions([path]) == [versions] else None


def _merged_commit() -> str:
    """Returns the commit that `git merge` names in the environment, if it merges just one."""
    named = [name.removeprefix("GITHEAD_") for name in os.environ if re.fullmatch(r"GITHEAD_[0-9a-f]{40,64}", name)]
    return named[0] if len(named) == 1 else ""


def _picked_commit(repository: Repository) -> str:
    """Returns the commit that `git rebase` is applying to HEAD."""
    place = repository.ask("rev-parse", "--git-path", "rebase-merge/done").out.decode().strip()
    done = (read_bytes(repository.top / place) or b"").decode("utf-8", "replace") if place else ""
    last = _PICKED.match(next((line for line in reversed(done.split("\n")) if line.strip()), ""))
    return last[1] if last else ""
