"""Lists the entries of a workspace: links are not followed, git's folders are left out; finds files that a newer version wrote."""

import os
import stat
from _blake2 import blake2b
from collections.abc import Iterable, Iterator
from pathlib import Path

from mabos_cli.core.records import NamedTuple
from mabos_cli.formats.json.text import BEGINNING, newer_format
from mabos_cli.workspace.files import list_names
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.plain_files import LARGEST, read_regular

_SPECIAL = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class FoundEntry(NamedTuple):
    """A file, link or folder: its name below the root, its mode and size, and where a link leads in the end."""

    name: str
    mode: int
    size: int
    target: str = ""

    @property
    def special(self) -> str:
        """Returns what it is when nobody can read it as a file: a pipe, a socket, a device; else empty."""
        return _SPECIAL.get(stat.S_IFMT(self.mode), "")

    @property
    def is_file(self) -> bool:
        """Returns whether it is a regular file of a size that is read."""
        return stat.S_ISREG(self.mode) and self.size <= LARGEST


def walk_entries(root: Path) -> Iterator[FoundEntry]:
    """Yields what is below a folder, sorted by name within each folder."""
    for here, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted([*folders, *names]):
            path = os.path.join(here, name)
            try:
                found = os.lstat(path)
            except OSError:
                continue
            target = os.path.realpath(path) if stat.S_ISLNK(found.st_mode) else ""
            yield FoundEntry(os.path.relpath(path, root), found.st_mode, found.st_size, target)


def stamp_entries(*folders: Path) -> str:
    """Returns a text that is another one when a file below these folders was written, added or removed."""
    found = blake2b(digest_size=16)
    for folder in folders:
        for here, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(here, name)
                try:
                    seen = os.lstat(path)
                except OSError:
                    continue
                found.update(f"{path}\0{seen.st_mtime_ns}\0{seen.st_size}\0{seen.st_ino}\n".encode("utf-8", "replace"))
    return found.hexdigest()


def is_open_to_others(root: Path) -> bool:
    """Returns whether any user of this machine can list a folder: it and all folders above let everybody in."""
    if os.name != "posix":
        return False
    real = Path(os.path.realpath(root))
    try:
        modes = [os.stat(folder).st_mode for folder in (real, *real.parents)]
    except OSError:
        return False
    return all(mode & stat.S_IXOTH for mode in modes) and bool(modes[0] & (stat.S_IROTH | stat.S_IWOTH))


def find_newer(paths: AgentPaths) -> Iterator[tuple[Path, str]]:
    """Yields the files of an agent that are of a newer format, with what is said about them: those that there is one of."""
    single = (paths.manifest, paths.store, paths.facts, paths.derived_facts, paths.rules, paths.cases)
    ledgers = (paths.reasoning, paths.trust_log, paths.transcript_ledger, paths.log_ledger)
    yield from _newer_among((*single, *ledgers, paths.migration_ledger, paths.conflict_ledger))


def find_newer_in_folders(paths: AgentPaths) -> Iterator[tuple[Path, str]]:
    """Yields those that there is one of for each month or day, and ontologies with their proposals."""
    workspace = paths.workspace
    folders = (
        paths.store_pages,
        paths.fact_pages,
        paths.derived_pages,
        paths.archive,
        paths.observations,
        paths.harvest_ledgers,
    )
    for folder in (*folders, workspace.ontologies, workspace.proposals_folder):
        yield from _newer_among(folder / name for name in list_names(folder) if ".json" in name)


def _newer_among(found: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    for path in found:
        try:
            reason = newer_format(read_regular(os.fspath(path), BEGINNING))
        except OSError:
            continue
        if reason:
            yield path, reason
