"""Parses global options, loads commands when they are called, and turns errors into exit codes."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

from mabos_cli import INTERRUPTED, __version__
from mabos_cli.commands.call import Call, Commands, run_function
from mabos_cli.commands.parse import plan_calls
from mabos_cli.core import BadValue
from mabos_cli.errors import MabosError, UsageFault
from mabos_cli.terminal.emit import emit, emit_error, write
from mabos_cli.workspace.files import watch_writes

# name -> (module in commands/, first line of its help). A module is imported only when its command is called; the
# house test keeps the lines equal to the docstrings.
COMMANDS = {
    "init": ("operations.setup", "Make a workspace, with a first agent."),
    "agent": ("operations.setup", "Create, list and show agents."),
    "store": ("memory.store", "Remember something."),
    "recall": ("search.recall", "Find memories and passages of memory files."),
    "get": ("memory.item", "Show the item with an id, live or archived."),
    "read": ("search.recall", "Print lines of a file of the agent."),
    "update": ("memory.item", "Edit an item; the version before is archived."),
    "forget": ("memory.item", "Move an item to the archive; revive undoes it."),
    "revive": ("memory.item", "Bring an archived item back."),
    "reinforce": ("memory.item", "Count a use of an item, and raise its importance if asked."),
    "trust": ("memory.trust", "Show how far an item is trusted and why, or decide it."),
    "timeline": ("search.recall", "Show what happened around an id, a date or a query, in order."),
    "consolidate": ("memory.upkeep", "Compress related short-term memories into long-term ones."),
    "log": ("hierarchy.hierarchy", "Take events of old daily logs into MEMORY.md, and archive old logs."),
    "lifecycle": ("memory.upkeep", "Archive what nobody used for long, and what has expired."),
    "capture": ("memory.capture", "Note down what happened, without secrets; harvest makes memories of it."),
    "ingest": ("memory.capture", "Take what was said in transcripts of agent hosts as observations."),
    "harvest": ("memory.capture", "Make memories of observations, never twice."),
    "migrate": ("memory.migrate", "Make memories of notes that people wrote, each once, with their lines cited."),
    "grade": ("memory.upkeep", "Fill in the importance that nobody gave, by heuristic-v1."),
    "hierarchy": ("hierarchy.hierarchy", "Sum up weeks, months and quarters, and find the way down to a day."),
    "status": ("memory.status", "Show counts, what is due and the last runs."),
    "checkpoint": ("memory.checkpoint", "Write down the state of a session, or show and restore one."),
    "belief": ("mind.bdi", "Add, revise and list what an agent holds true."),
    "desire": ("mind.attitudes", "Add, change and list what an agent wants."),
    "goal": ("mind.attitudes", "Add, change, close, delegate and list goals, and show how they are related."),
    "intention": ("mind.attitudes", "Add intentions, note progress, complete, drop and list them."),
    "plan": ("mind.attitudes", "Add plans and steps, finish steps, and list plans."),
    "commitment": ("mind.attitudes", "Add, change, end and list what an agent has promised to others."),
    "learning": ("mind.attitudes", "Add and list lessons, and make instructions of them."),
    "mind": (
        "mind.bdi",
        "Show a mind on one screen: what an agent believes, wants, intends and owes, and what is due.",
    ),
    "bdi": ("mind.bdi", "Run the cycle over an agent's mind, and settle what its beliefs disagree about."),
    "fact": ("knowledge.fact", "Assert, retract, query and check facts."),
    "rule": ("knowledge.infer", "Create, list, test and switch rules over facts."),
    "infer": ("knowledge.infer", "Derive facts by rules, prove goals, and look for explanations."),
    "constraint": ("knowledge.infer", "Check facts against constraints."),
    "policy": ("knowledge.infer", "Evaluate policies against facts."),
    "explain": (
        "knowledge.infer",
        "Answer a question or a triple in one line; then proof, hypotheses, memories and cases, each cited.",
    ),
    "graph": ("knowledge.graph", "Walk and export the graph of facts, and show what depends on a belief."),
    "ontology": ("knowledge.ontology", "Propose, check and merge concepts, and show ontologies."),
    "case": ("knowledge.case", "Store cases, retrieve those like the present situation, and note what came of reuse."),
    "reason": ("knowledge.reason", "Reason about a problem by one of 35 methods, or several."),
    "typedb": ("mirror.typedb", "Mirror agents in a TypeDB 3 server, and query it."),
    "context": ("context.context", "Decide what an agent reads: its memory index, packs, whole windows."),
    "index": ("search.index", "Keep and inspect the search index; it can be deleted at any time."),
    "report": ("operations.reports", "Write a page of HTML that shows memory, mind and facts of one agent or of all."),
    "materialize": ("memory.upkeep", "Rewrite the Markdown that is derived from memory."),
    "ui": ("operations.page", "Open memory, mind and facts to a browser of this machine: look, search, decide."),
    "git": ("operations.setup", "Merge what two branches remember, by git itself."),
    "review": ("operations.reports", "Show what an agent learned since a commit."),
    "connect": (
        "operations.hosts",
        "Give an agent host this memory: hooks, MCP server, skill, first index; then try it.",
    ),
    "disconnect": ("operations.hosts", "Take out of an agent host's files exactly what connect put in."),
    "hook": ("operations.hosts", "Answer an event of an agent host, whose JSON comes on standard input."),
    "skill": ("operations.hosts", "Print what tells an agent how to use its memory here."),
    "doctor": ("operations.reports", "Check every file of an agent, and repair what can be repaired."),
    "allow": ("operations.setup", "Allow settings of a workspace that run programs, send data or lower guards."),
    "deny": ("operations.setup", "Withdraw what mabos allow permitted."),
    "schedule": ("operations.reports", "Run the upkeep of all agents by timers of systemd, or by cron."),
    "mcp": ("operations.hosts", "Serve tools and memory to an agent host, by the Model Context Protocol."),
    "completion": ("operations.setup", "Print what completes this program's words in a shell."),
    "demo": ("operations.setup", "Show how it all goes, on three months of a small company's memories."),
    "config": ("operations.setup", "Show the settings in effect and where each comes from."),
}

# The groups of the help, the daily commands first.
GROUPS = {
    "Daily": "store recall get context checkpoint status",
    "Memory over time": (
        "update forget revive reinforce trust timeline read capture harvest ingest migrate grade consolidate lifecycle log hierarchy"
    ),
    "Mind": "mind belief desire goal intention plan commitment learning bdi",
    "Knowledge": "fact rule infer constraint policy explain graph ontology case reason",
    "Connect": "connect disconnect hook mcp skill typedb completion",
    "Care": "init agent config allow deny doctor index materialize git review report ui schedule demo",
}
# What people type for a command that has another name.
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
_SWITCHES = {
    "--json": "as_json",
    "--quiet": "quiet",
    "-q": "quiet",
    "--verbose": "verbose",
    "-v": "verbose",
    "--commit": "commit",
    "--no-pager": "no_pager",
}
_VALUES = {
    "--workspace": "workspace",
    "-w": "workspace",
    "--agent": "agent",
    "-a": "agent",
    "--lock-timeout": "lock_timeout",
}
ANYWHERE = (
    "Anywhere: -w/--workspace DIR, -a/--agent ID, --json, -q/--quiet, -v/--verbose, --commit, --lock-timeout SECONDS."
)


def find_commands(name: str) -> Commands:
    """Imports the commands of the module that holds one with a name, or the group of this name."""
    module = import_module(f"mabos_cli.commands.{COMMANDS[name][0]}")
    group = getattr(module, name, None)  # a module may hold several groups, each under its name
    found: Commands = group if isinstance(group, Commands) else module.app
    return found


class Program(Mapping[str, Any]):
    """Every command as Typer knows it, by name, with the root under no name; one is imported when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        from mabos_cli.typer_app import build_root, load_command

        return load_command(name) if name else build_root()

    def __iter__(self) -> Iterator[str]:
        return iter(("", *COMMANDS))

    def __len__(self) -> int:
        return len(COMMANDS) + 1


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
            found[_SWITCHES[word]] = True
        elif word in _VALUES:
            given = next(words, None)
            if given is None:
                raise UsageFault(f"{word} needs a value", ANYWHERE)
            found[_VALUES[word]] = given
        elif equals and name in _VALUES:
            found[_VALUES[name]] = value
        elif word[:2] in _VALUES and word[1] != "-":
            found[_VALUES[word[:2]]] = word[2:]
        elif len(word) > 2 and set(word[1:]) <= {"q", "v"} and word[0] == "-":
            found |= {_SWITCHES[f"-{letter}"]: True for letter in word[1:]}
        else:
            rest.append(word)
    doors = {"program": Program(), "parse": _global_options, "run": _run}
    call = Call(**found, opened=[], written=watch_writes(), **doors)  # type: ignore[arg-type]
    return call, rest


def _check_utf8(args: list[str]) -> list[str]:
    """Returns the arguments if they are text.

    What Python could not decode in this locale arrives as lone surrogates. If it is UTF-8, it is read as that; of what is not,
    a question may hold some, a memory not.
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
        if not (as_json and error.is_told):
            emit_error(error, as_json=as_json)
        return error.exit_code
    except BadValue as error:
        fault = UsageFault(error.message, error.hint)
        emit_error(fault, as_json=as_json)
        return fault.exit_code
    except KeyboardInterrupt:
        write(sys.stderr, "")  # which takes a line of progress off the terminal
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
