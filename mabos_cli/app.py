"""Parses global options, loads commands when they are called, and turns errors into exit codes."""

import sys
from contextlib import suppress
from importlib import import_module
from typing import Annotated

from mabos_cli import INTERRUPTED, __version__
from mabos_cli.commands.call import Call, Commands, Context, Option, run_function
from mabos_cli.commands.parse import name_options, plan_calls, read_parameters
from mabos_cli.core import BadValue
from mabos_cli.errors import MabosError, UsageFault
from mabos_cli.terminal.emit import emit, emit_error, write
from mabos_cli.workspace.files import watch_writes

# The module in commands/ of each command, which is imported only when it is called.
COMMANDS = dict(
    pair.split(":")
    for pair in (
        "init:operations.setup agent:operations.setup store:memory.store recall:search.recall get:memory.item "
        "read:search.recall update:memory.item forget:memory.item revive:memory.item reinforce:memory.item "
        "trust:memory.trust timeline:search.recall consolidate:memory.upkeep log:hierarchy.hierarchy "
        "lifecycle:memory.upkeep capture:memory.capture ingest:memory.capture harvest:memory.capture "
        "migrate:memory.migrate grade:memory.upkeep hierarchy:hierarchy.hierarchy status:memory.status "
        "checkpoint:memory.checkpoint belief:mind.belief desire:mind.attitudes goal:mind.attitudes "
        "intention:mind.attitudes plan:mind.attitudes commitment:mind.attitudes learning:mind.attitudes "
        "mind:mind.bdi bdi:mind.bdi fact:knowledge.fact rule:knowledge.infer infer:knowledge.infer "
        "constraint:knowledge.infer policy:knowledge.infer explain:knowledge.infer graph:knowledge.graph "
        "ontology:knowledge.ontology case:knowledge.case reason:knowledge.reason typedb:mirror.typedb "
        "context:context.context index:search.index report:operations.reports materialize:memory.upkeep "
        "ui:operations.hosts git:operations.setup review:operations.reports connect:operations.hosts "
        "disconnect:operations.hosts hook:operations.hosts skill:operations.hosts doctor:operations.reports "
        "allow:operations.setup deny:operations.setup schedule:operations.reports mcp:operations.hosts "
        "completion:operations.setup demo:operations.setup config:operations.setup"
    ).split()
)

# The groups of the help, the daily commands first.
GROUPS = {
    "Daily": "store recall get context checkpoint status",
    "Memory over time": (
        "update forget revive reinforce trust timeline read capture harvest ingest migrate grade consolidate lifecycle log hierarchy"
    ),
    "Mind": "mind belief desire goal intention plan commitment learning bdi",
    "Knowledge": "fact rule infer constraint policy explain graph ontology case reason",
    "Connect": "connect disconnect hook mcp skill typedb completion",
    "Maintenance": "init agent config allow deny doctor index materialize git review report ui schedule demo",
}
# Other words that people type for a command.
OTHER_NAMES = {
    "recall": "search find query ask lookup grep",
    "store": "add remember note save write put new",
    "forget": "delete remove rm del drop",
    "update": "edit change modify set",
    "revive": "undo restore recover undelete",
    "timeline": "list ls history all",
    "migrate": "import load",
    "get": "show view cat open",
    "--version": "version -V",
    "status": "stats info state",
    "index sync": "sync reindex rebuild",
    "ingest transcript": "transcript",
    "bdi cycle": "cycle think",
    "context pack": "pack prompt",
    "report": "export html",
    "config": "settings configure",
    "connect": "install setup",
    "schedule": "cron timer",
    "init": "create start",
    "explain": "why",
    "--help": "man usage commands ?",
}

_QUESTIONS = ("recall", "explain", "timeline", "index search", "hierarchy search", "hierarchy drill")


def declare_globals(
    ctx: Context,
    workspace: Annotated[
        str,
        Option(
            "--workspace",
            "-w",
            metavar="DIR",
            help="The workspace (default: MABOS_WORKSPACE, else the nearest parent with mabos.yaml).",
        ),
    ] = "",
    agent: Annotated[
        str, Option("--agent", "-a", metavar="ID", help="The agent (default: MABOS_AGENT, else the only one).")
    ] = "",
    as_json: Annotated[bool, Option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print nothing but errors and warnings.")] = False,
    verbose: Annotated[bool, Option("--verbose", "-v", help="Print more.")] = False,
    lock_timeout: Annotated[
        str, Option("--lock-timeout", metavar="SECONDS", help="How long to wait for the agent's lock (default 10).")
    ] = "",
    commit: Annotated[bool, Option("--commit", help="Commit to git what the command writes.")] = False,
    no_pager: Annotated[bool, Option("--no-pager", help="Do not use a pager.")] = False,
    version: Annotated[bool, Option("--version", help="Print the version.")] = False,
) -> None:
    """Memory and mind for autonomous agents, kept in plain files."""


_SWITCHES, _VALUES = name_options(read_parameters(declare_globals))
del _SWITCHES["--version"]  # which stands alone
ANYWHERE = "Accepted anywhere: -w/--workspace DIR, -a/--agent ID, --json, -q/--quiet, -v/--verbose, --commit, --lock-timeout SECONDS."


def find_commands(name: str) -> Commands:
    """Imports the commands of the module that holds one with a name, or the group of this name."""
    module = import_module(f"mabos_cli.commands.{COMMANDS[name]}")
    group = getattr(module, name, None)  # a module may hold several groups, each under its name
    found: Commands = group if isinstance(group, Commands) else module.app
    return found


def _global_options(args: list[str]) -> tuple[Call, list[str]]:
    """Splits a line into the global options, wherever they are before `--`, and the rest."""
    found: dict[str, object] = {}
    rest: list[str] = []
    words = iter(args)
    for word in words:
        name, equals, value = word.partition("=")
        if word == "--":
            tail = list(words)
            found["literal_dash"] = "-" in tail
            rest += [word, *tail]
        elif word in _SWITCHES:
            found |= [_SWITCHES[word]]
        elif word in _VALUES:
            given = next(words, None)
            if given is None:
                raise UsageFault(f"{word} needs a value", ANYWHERE)
            found[_VALUES[word].name] = given
        elif equals and name in _VALUES:
            found[_VALUES[name].name] = value
        elif equals and name in _SWITCHES:
            raise UsageFault(f"{name} takes no value", f"give {name} alone")
        elif word[:2] in _VALUES and word[1] != "-":
            found[_VALUES[word[:2]].name] = word[2:]
        elif len(word) > 2 and set(word[1:]) <= {"q", "v"} and word[0] == "-":
            found |= [_SWITCHES[f"-{letter}"] for letter in word[1:]]
        else:
            rest.append(word)
    doors = {"find_commands": find_commands, "parse": _global_options, "run": _run}
    call = Call(**found, opened=[], written=watch_writes(), **doors)  # type: ignore[arg-type]
    return call, rest


def _check_utf8(args: list[str]) -> list[str]:
    """Returns the arguments if they are text.

    Bytes that Python could not decode in this locale arrive as lone surrogates. They are decoded as UTF-8; invalid ones are
    replaced in a query, and refused elsewhere.
    """
    for position, word in enumerate(args):
        if any("\ud800" <= c <= "\udfff" for c in word):
            with suppress(UnicodeError):
                args[position] = word.encode("utf-8", "surrogateescape").decode("utf-8")
                continue
            if args[0] not in _QUESTIONS and " ".join(args[:2]) not in _QUESTIONS:
                raise UsageFault(
                    f"argument {position + 1} is not valid UTF-8", "convert it, for example with iconv -t utf-8"
                )
            args[position] = word.encode("utf-8", "replace").decode("utf-8")
    return args


def main(argv: list[str] | None = None) -> int:
    """Runs one command line and gives its exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in (args[: args.index("--")] if "--" in args else args)
    try:
        call, rest = _global_options(args)
        return _run(call, _check_utf8(rest))
    except MabosError as error:
        if not (as_json and error.is_reported):
            emit_error(error, as_json=as_json)
        return error.exit_code
    except BadValue as error:
        fault = UsageFault(error.message, error.hint)
        emit_error(fault, as_json=as_json)
        return fault.exit_code
    except KeyboardInterrupt:
        write(sys.stderr, "")  # removes a line of progress
        return INTERRUPTED


def _run(call: Call, args: list[str]) -> int:
    if args[:1] == ["--version"]:
        emit("mabos.version.v1", {"version": __version__}, [f"mabos {__version__}"], as_json=call.as_json)
        return 0
    # Typer takes longer to load than most commands take to run: an ordinary call does without it.
    if args and args[0] in COMMANDS:
        commands = find_commands(args[0])
        plan = plan_calls(commands, args[1:] if commands.name else args)
        for function, subcommand, given in plan:
            run_function(call, function, subcommand, given)
        if plan:
            return 0
    from mabos_cli.typer_app import run_typer

    return run_typer(call, args)
