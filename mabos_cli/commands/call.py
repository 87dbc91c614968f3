"""What every command starts from: the global options of the call, and the agent they name."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from typer import Typer
from typer.core import TyperGroup

from mabos_cli.config import layer
from mabos_cli.core.stores import Relatives
from mabos_cli.errors import InvalidFile, UsageFault
from mabos_cli.output import emit, note
from mabos_cli.workspace.files import is_inside
from mabos_cli.workspace.home import AgentHome
from mabos_cli.workspace.layout import AgentPaths, WorkspacePaths
from mabos_cli.workspace.locate import find_agent, find_workspace
from mabos_cli.workspace.long_term import Shelf
from mabos_cli.workspace.settings import load_settings
from mabos_cli.workspace.world import now

NO_AGENTS = "no agents; make one: mabos agent create ID"


class Told(NamedTuple):
    """What a command says: the data of its JSON, its lines of text, and warnings."""

    data: dict[str, Any]
    lines: list[str]
    warnings: list[str]


class Call(NamedTuple):
    """The global options of one call."""

    workspace: str | None = None
    agent: str | None = None
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False
    lock_timeout: str | None = None
    literal_dash: bool = False
    commit: bool = False
    # The agents that were opened in this call, for what follows a write; nothing follows where there is no list.
    homes: list[AgentHome] | None = None
    # The files that were written in this call, as they are written; nothing is committed where nobody notes them.
    written: set[Path] | None = None
    # Every command of the program by name, imported when asked for; "" is the root. For who describes the program.
    program: Callable[[], dict[str, Any]] | None = None
    # The call that a whole line makes, global options taken out of it. For who gives lines as they are typed.
    parse: "Callable[[list[str]], tuple[Call, list[str]]] | None" = None
    # Runs the words of a command under a call: its exit code. For who stands between a caller and the commands.
    run: "Callable[[Call, list[str]], int] | None" = None
    # Takes the result instead of the terminal: data, lines, warnings.
    take: "Callable[[Told], None] | None" = None

    def open_workspace(self) -> WorkspacePaths:
        """The workspace of this call."""
        return find_workspace(self.workspace)

    def open_home(self, *, fallback: bool = False) -> AgentHome:
        """The agent of this call, with its settings."""
        return self.home_of(find_agent(self.open_workspace(), self.agent), fallback=fallback)

    def check_all(self, every: bool) -> None:
        """UsageFault when all agents are meant and one is named."""
        if every and self.agent:
            raise UsageFault("both --all and --agent given", "one names an agent, the other means all")

    def home_of(self, agent: AgentPaths, *, fallback: bool = False) -> AgentHome:
        """An agent's home under this call's options; with fallback, settings that cannot be read are the defaults."""
        try:
            settings = load_settings(agent.workspace, agent, {"lock.timeout": self.lock_timeout})
        except InvalidFile:
            if not fallback:
                raise
            settings = layer([])
        floor = min(settings["memory.related_threshold"], settings["memory.duplicate_threshold"])
        home = AgentHome(agent, settings, now(), partial(_open_relatives, floor), touched=[])
        if self.homes is not None:
            self.homes.append(home)
        return home

    def emit(
        self, name: str, data: dict[str, Any], text: Iterable[str] = (), warnings: Sequence[str] = ()
    ) -> None:
        """Prints the result of a command in the form that was asked for; verbose adds how long it took.

        What was written is mirrored and committed before, where that is asked for, so that trouble stands among the warnings.
        """
        warnings = [*warnings, *self._mirror()]
        if self._wants_commit():
            from mabos_cli.commands.git_commit import commit_written

            text = list(text)
            commit, trouble = commit_written(name, self.homes or (), self.written or set(), "".join(text[:1]))
            data, text = (
                data | {"commit": commit or None},
                [*text, *([f"committed {commit}"] if commit else [])],
            )
            warnings = [*warnings, *trouble]
        if self.verbose:
            where = f"{self.workspace or os.environ.get('MABOS_WORKSPACE') or os.getcwd()}"
            note(f"{name} in {where}: {time.process_time() * 1000:.0f} ms of CPU time")
        if self.take:
            self.take(Told(data, list(text), list(warnings)))
            return
        emit(f"mabos.{name}.v1", data, text, as_json=self.as_json, quiet=self.quiet, warnings=warnings)

    def _wants_commit(self) -> bool:
        return self.commit or any(home.settings["git.commit"] for home in self.homes or ())

    def _mirror(self) -> list[str]:
        """Takes what was written into TypeDB: warnings. Nothing is loaded or read unless one is configured."""
        written = [home for home in self.homes or () if home.touched and home.settings["typedb.address"]]
        if not written:
            return []
        from mabos_cli.commands.typedb_mirror import mirror_touched

        return mirror_touched(written)


def new_group(name: str, about: str, **options: Any) -> Typer:
    """A group of commands with plain help (without `about`, its callback's): rich help is slow to draw and four times as long."""
    if about:
        options["help"] = about
    settings = {"help_option_names": ["-h", "--help"]}
    return Typer(name=name, rich_markup_mode=None, add_completion=False, context_settings=settings, **options)


class OpenGroup(TyperGroup):
    """A group whose first command is meant when the first word is none of them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)


def _open_relatives(floor: float, shelf: Shelf) -> Relatives:
    """The index of similar items, brought up to date; SQLite is loaded only when somebody asks for relatives."""
    from mabos_cli.index.similar import SimilarIndex

    path = shelf.paths.similar
    index = SimilarIndex(path if is_inside(path, shelf.paths.workspace.root) else None, floor)
    index.follow(shelf.sources())
    return index
