"""The one mechanism for derived pages: a file is rewritten only if it differs, and what a person changed in it is set aside first."""

import re
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path

from mabos_cli.core.language.clock import format_time
from mabos_cli.errors import Conflict
from mabos_cli.formats.markdown.escape import is_untouched
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import Moved, attempts, list_stems, read_bytes, remove_file, replace_file
from mabos_cli.workspace.layout import AgentPaths


def list_pages(folder: Path, pattern: str) -> set[str]:
    """Returns the names of our pages in a folder; what else lies there is somebody's own."""
    return {name for name in list_stems(folder, ".md") if re.fullmatch(pattern, name)}


class DerivedFiles:
    """Derived files of an agent as they are brought up to date: which changed, and warnings about those that somebody had
    edited."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.changed: list[str] = []
        self.warnings: list[str] = []

    def write(self, path: Path, text: str) -> None:
        """Replaces a file if it differs; what a person had changed in it is kept aside."""
        data, shown = text.encode("utf-8"), self._agent.paths.relative(path)
        for _ in attempts(f"{shown} keeps changing"):
            old = read_bytes(path)
            if old == data:
                break
            notes = set_aside(self._agent, path, old or b"")
            self.warnings += [note for note in notes if note not in self.warnings]
            with suppress(Moved):
                replace_file(path, data, root=self._agent.paths.workspace.root, expect=old, shared=True)
                self.changed.append(shown)
                break

    def remove(self, path: Path) -> None:
        """Removes a file that stands for nothing any more; what somebody wrote into it is kept aside."""
        self.warnings += set_aside(self._agent, path, read_bytes(path) or b"")
        remove_file(path, root=self._agent.paths.workspace.root)
        self.changed.append(self._agent.paths.relative(path))


class DerivedPages(DerivedFiles):
    """A derived file that, when it would grow large, is an index of pages in a folder. It names the state that it was made from."""

    def __init__(self, agent: Agent, path: Path, folder: Path, pattern: str) -> None:
        super().__init__(agent)
        self._path, self._folder = path, folder
        self.there = list_pages(folder, pattern)

    def read(self, name: str) -> str:
        """Returns the text of a page, empty when there is none."""
        return (read_bytes(self._folder / f"{name}.md") or b"").decode("utf-8", "replace")

    def replace(
        self, text: str, pages: Iterable[tuple[str, str]] = (), names: Collection[str] = ()
    ) -> tuple[list[str], list[str]]:
        """Writes the pages that are given and the file itself, and removes the pages that are not among `names`: the files that
        changed, and warnings."""
        for name, page in pages:
            self.write(self._folder / f"{name}.md", page)
        self.write(self._path, text)
        for name in sorted(self.there.difference(names)):
            self.remove(self._folder / f"{name}.md")
        return self.changed, self.warnings


def is_made_from(path: Path, state: str) -> bool:
    """Returns whether a derived file says that it was made from a state: a writer that was killed leaves it behind."""
    return state.encode() in (read_bytes(path) or b"")[:1000]


def set_aside(agent: Agent, path: Path, old: bytes) -> list[str]:
    """Keeps what a person made of a derived file that is about to change, and says where."""
    if is_untouched(old):
        return []
    stamp = format_time(agent.now()).translate(str.maketrans("", "", "-:."))
    copy = _keep_edited(agent.paths, path, old, stamp)
    return [f"{agent.paths.relative(path)} was edited by hand; your version is now {agent.paths.relative(copy)}"]


def _keep_edited(paths: AgentPaths, path: Path, data: bytes, stamp: str) -> Path:
    """Saves what a person made of a derived file under a name of its own."""
    for number in range(1, 1000):
        copy = paths.set_aside / f"{path.stem}-{stamp}{f'-{number}' if number > 1 else ''}.md"
        kept = read_bytes(copy)
        if kept is None:
            with suppress(Moved):
                replace_file(copy, data, root=paths.workspace.root, expect=None)
                return copy
        elif kept == data:
            return copy
    raise Conflict(f"no free name in {paths.relative(paths.set_aside)}", "tidy that folder")
