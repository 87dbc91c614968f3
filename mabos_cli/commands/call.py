"""The common part of all commands: the global options of a call, and how a command declares its options and arguments.

Declarations are plain values, so that an ordinary call loads no parser library; typer_app.py converts them for Typer."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import MabosError, UsageFault
from mabos_cli.services.inputs import Session
from mabos_cli.terminal.emit import emit, is_terminal, note
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.locate import find_agent, list_agents
from mabos_cli.workspace.runtime import now

# Commands that show contents of files that people edit: secrets in them are replaced. Searches and packs read passages, which
# contain none; an item contains one only if somebody allowed it.
_QUOTING = frozenset("belief desire goal intention plan commitment learning bdi mind review graph doctor".split())

Function = Callable[..., Any]


class Answer(NamedTuple):
    """Holds the result of a command: the data of its JSON, its lines of text, and warnings."""

    data: dict[str, Any]
    lines: list[str]
    warnings: list[str]


def open_progress(label: str) -> Callable[[int, int], None] | None:
    """Returns a function that shows progress, or None if standard error is not a terminal."""
    if not is_terminal(sys.stderr):
        return None
    from mabos_cli.terminal.progress import progress

    return progress(label)


class Call(Session):
    """One call of a command: its global options, and how its result is printed."""

    as_json = quiet = verbose = commit = no_pager = False
    literal_dash = False  # whether a dash after `--` stands for itself
    # The files that this call wrote; None if they are not recorded, and nothing is committed.
    written: set[Path] | None = None
    # Finds the commands of a first word, for MCP and the page.
    find_commands: "Callable[[str], Commands] | None" = None
    # Splits a typed line into a call with global options, and the other words.
    parse: "Callable[[list[str]], tuple[Call, list[str]]] | None" = None
    # Runs the words of a command, and returns the exit code.
    run: "Callable[[Call, list[str]], int] | None" = None
    # Takes the result, which is printed otherwise.
    take: Callable[[Answer], None] | None = None

    def __init__(
        self,
        workspace: str | None = None,
        agent: str | None = None,
        lock_timeout: str | None = None,
        *,
        opened: list[Agent] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(workspace, agent, lock_timeout, opened)
        vars(self).update(options)
        self.progress = None if self.quiet else open_progress

    def with_changes(self, **changes: Any) -> "Call":
        """Returns the same call with some of its options replaced."""
        other = copy(self)
        vars(other).update(changes, notices=[])
        return other

    def check_all(self, every: bool) -> None:
        """Raises UsageFault for --all together with --agent."""
        if every and self.agent:
            raise UsageFault("both --all and --agent given", "one names an agent, the other means all")

    def emit(
        self,
        name: str,
        data: dict[str, Any],
        text: Iterable[str] = (),
        warnings: Sequence[str] = (),
        *,
        is_whole: bool = False,
    ) -> None:
        """Prints the result of a command as text or JSON; with `is_whole`, a terminal shows contents uncut.

        Changes are mirrored and committed first, if that is configured, so that their errors are among the warnings.
        """
        if name.partition(".")[0] in _QUOTING:
            from mabos_cli.core.language.secrets import hide_in

            data, text = hide_in(data), hide_in(list(text))
        warnings = [*self.notices, *warnings, *self._mirror()]
        if self.commit or any(home.settings["git.commit"] for home in self.opened or ()):
            from mabos_cli.services.operations.merging import commit_written

            text = list(text)
            commit, trouble = commit_written(name, self.opened or (), self.written or set(), "".join(text[:1]))
            data, text = (data | {"commit": commit or None}, [*text, *([f"committed {commit}"] if commit else [])])
            warnings = [*warnings, *trouble]
        if self.verbose:
            where = f"{self.workspace or os.environ.get('MABOS_WORKSPACE') or os.getcwd()}"
            note(f"{name} in {where}: {time.process_time() * 1000:.0f} ms of CPU time")
        if self.take:
            self.take(Answer(data, list(text), list(warnings)))
            return
        show = partial(self._show, name, data, is_whole)
        emit(f"mabos.{name}.v1", data, text, as_json=self.as_json, quiet=self.quiet, warnings=warnings, show=show)

    def _show(self, name: str, data: dict[str, Any], is_whole: bool, lines: Iterable[str]) -> None:
        """Shows a result on a terminal; ids are shortened among those of the agents that were opened."""
        from mabos_cli.terminal.screen import Screen, show
        from mabos_cli.workspace.ids import LONG, find_ids, shorten

        @cache
        def known() -> Callable[[str], str]:
            return shorten({name for paths in self._seen_agents() for name in find_ids(paths, LONG)})

        show(name, data, lines, Screen(now(), lambda item: known()(item), is_whole, name == "get"), not self.no_pager)

    def _seen_agents(self) -> list[AgentPaths]:
        """Returns the agents that a result may be about: the opened ones, or all of the workspace."""
        with suppress(MabosError):
            return [home.paths for home in self.opened or ()] or [
                find_agent(self.open_workspace(), name) for name in list_agents(self.open_workspace())
            ]
        return []

    def _mirror(self) -> list[str]:
        """Mirrors changes in TypeDB, if one is configured; returns warnings."""
        written = [home for home in self.opened or () if home.changes and home.settings["typedb.address"]]
        if not written:
            return []
        from mabos_cli.services.mirror.follow import mirror_changes

        return mirror_changes(written)


class Context(NamedTuple):
    """The first argument of every command: the call, and the name of the subcommand that follows, if any."""

    obj: Call
    invoked_subcommand: str = ""


class Commands:
    """Functions that are commands, by name; with a `name`, a group of commands.

    `late` names functions as module:function below commands/, which are imported on demand. With `opens_first`, the first command is
    the default if the first word is not a command.
    """

    def __init__(
        self,
        name: str = "",
        about: str = "",
        *,
        late: Mapping[str, str] | None = None,
        opens_first: bool = False,
        usage: str = "",
    ) -> None:
        self.name = name
        self.about = about
        self.opens_first = opens_first
        self.usage = usage
        self.first: Function | None = None  # runs before a subcommand, and alone where none is named
        self.helps: dict[str, str] = {}
        self._found: dict[str, Function | str] = dict(late or {})

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __getitem__(self, name: str) -> "Function":
        found = self._found[name]
        if isinstance(found, str):
            module, _, function = found.partition(":")
            found = self._found[name] = getattr(import_module(f"mabos_cli.commands.{module}"), function)
        return found

    def command(self, name: str = "", help: str = "") -> "Callable[[Function], Function]":
        """Returns a decorator that adds a function under its name or another one."""

        def add(function: Function) -> Function:
            known = name or function.__name__.replace("_", "-")
            self._found[known] = function
            if help:
                self.helps[known] = help
            return function

        return add

    def callback(self) -> "Callable[[Function], Function]":
        """Returns a decorator for the function of the group itself, which runs before a subcommand or without one."""

        def add(function: Function) -> Function:
            self.first = function
            return function

        return add


# Placeholders for the id or title of an entry in a cognitive file.
_NAMED_KINDS = {name: f"{name.lower()}s" for name in "BELIEF DESIRE GOAL INTENTION PLAN COMMITMENT".split()}
_NAMED_KINDS["LESSON"] = "learnings"


class Option:
    """Declares an option of a command, in the metadata of its parameter's type."""

    def __init__(
        self,
        *names: str,
        help: str = "",
        metavar: str | None = None,
        min: float | None = None,
        max: float | None = None,
        show_default: bool = True,
        ids: str = "",
    ) -> None:
        self.names = names
        self.help = help
        self.metavar = metavar
        self.min = min
        self.max = max
        self.show_default = show_default
        # The kinds of ids that it takes, as in workspace/ids.py: the end of an id is completed.
        self.ids = ids or _NAMED_KINDS.get(metavar or "", "")


class Argument(Option):
    """Declares a positional argument of a command."""


def run_function(call: Call, function: Function, subcommand: str, given: Mapping[str, Any]) -> Any:
    """Calls the function of a command; the end of an id is completed."""
    whole = dict(given)
    for name, value in given.items():
        declared: Option = function.__annotations__[name].__metadata__[0]
        if value and declared.ids:
            whole[name] = (
                [_complete(call, declared, word) for word in value]
                if isinstance(value, list)
                else _complete(call, declared, value)
            )
    return function(Context(call, subcommand), **whole)


def _complete(call: Call, declared: Option, given: str) -> str:
    """Completes the ids in a word. If other text is allowed there, only a word with a digit that is not a year can be the end of an
    id."""
    is_word = declared.metavar == "[QUERY]" and (not any(map(str.isdigit, given)) or given[:2] in ("19", "20"))
    if is_word:
        return given
    from mabos_cli.workspace.ids import complete_id

    agent = cache(lambda: find_agent(call.open_workspace(), call.agent))
    return ",".join(complete_id(agent, each, declared.ids.split()) for each in given.split(","))


DryRun = Annotated[bool, Option("--dry-run", help="Show what would happen.")]
Every = Annotated[bool, Option("--all", help="All agents of the workspace.")]
Limit = Annotated[int, Option("--limit", "-n", min=0, help="Show at most this many; 0 for all.")]
ValidAt = Annotated[str, Option(metavar="DATE", help="Only what holds at this time: today, 2026-03-01.")]
# Options for secrets in what is stored.
Redact = Annotated[bool, Option("--redact", help="Store it with secrets replaced by [redacted:KIND].")]
AllowSecret = Annotated[bool, Option("--allow-secret", help="Store it even if it contains a secret.")]
# Options for trust.
Trust = Annotated[
    str,
    Option(
        metavar="[trusted|agent|untrusted]",
        help="How far to trust it (default agent; untrusted if the source is tool:, web:, mail: or transcript:).",
    ),
]
Voucher = Annotated[
    str, Option("--by", metavar="NAME", help="The person who vouches for more trust than the source has; logged.")
]


def more_line(total: int, shown: int) -> list[str]:
    """Returns a line about the rows that --limit left out, if any."""
    return [f"and {total - shown} more: --limit 0 shows all"] if total > shown else []
