"""Typer's view of the commands: help, and what is wrong with a line."""

import functools
import inspect
import re
import shlex
import sys
from contextlib import redirect_stdout
from difflib import get_close_matches
from io import StringIO
from itertools import takewhile
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info, get_group
from typer.models import CommandInfo

from mabos_cli.app import ANYWHERE, COMMANDS, GROUPS, OTHER_NAMES, declare_globals, find_commands
from mabos_cli.commands.call import Argument, Call, Commands, Context, Function, Option, run_function
from mabos_cli.errors import UsageFault
from mabos_cli.serve.complete import offer
from mabos_cli.terminal.emit import is_terminal, write
from mabos_cli.workspace.runtime import now

# Arguments that take a text of several words.
_WORDS_TO_QUOTE = frozenset("TEXT QUERY TITLE PROBLEM NOTE LESSON".split())
_HELP = {"help_option_names": ["-h", "--help"]}


def load_command(name: str) -> TyperCommand | TyperGroup:
    """Imports the command with a name."""
    commands = find_commands(name)
    return _build_group(commands) if commands.name else _build_command(commands, name)


def _build_group(commands: Commands) -> TyperGroup:
    # The first lines of a group's own function are its help, and rich help is slow.
    about: dict[str, Any] = {"help": commands.about} if commands.about else {}
    about |= {"subcommand_metavar": commands.usage} if commands.usage else {}
    app = typer.Typer(
        name=commands.name,
        cls=_group_class(commands),
        rich_markup_mode=None,
        add_completion=False,
        context_settings=_HELP,
        epilog=ANYWHERE,
        no_args_is_help=commands.first is None,
        invoke_without_command=commands.first is not None,
        **about,
    )
    app.callback()(_declare(commands.first) if commands.first else lambda: None)
    group = get_group(app)
    group.name = commands.name
    return group


def _build_command(commands: Commands, name: str) -> TyperCommand:
    info = CommandInfo(
        name,
        cls=PlainCommand,
        callback=_declare(commands[name]),
        epilog=ANYWHERE,
        help=commands.helps.get(name),
        context_settings=_HELP,
    )
    found = get_command_from_info(info, pretty_exceptions_short=False, rich_markup_mode=None)
    assert isinstance(found, TyperCommand), "commands are made by Typer"
    return found


class PlainCommand(TyperCommand):
    """A command whose usage shows required arguments plainly: Typer puts them into braces."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


def _group_class(commands: Commands) -> type[TyperGroup]:
    """Returns a class of groups with these commands; the first one is the default if they say so."""

    class Group(TyperGroup):
        runs_first = commands.opens_first

        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes)
            self.commands = {name: _build_command(commands, name) for name in commands}

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            if self.runs_first and args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
                args = [next(iter(self.commands)), *args]
            return super().parse_args(ctx, args)

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            with formatter.section("Commands"):  # whole first lines: Click would cut them
                formatter.write_dl([(name, (each.help or "").split("\n\n")[0]) for name, each in self.commands.items()])

    return Group


def _declare(function: Function) -> Function:
    """Returns a function with parameters declared for Typer, which passes on our context."""

    @functools.wraps(function)
    def run(ctx: typer.Context, **given: Any) -> Any:
        return run_function(ctx.obj, function, ctx.invoked_subcommand or "", given)

    parameters = [_declare_parameter(each) for each in inspect.signature(function).parameters.values()]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def _declare_parameter(parameter: inspect.Parameter) -> inspect.Parameter:
    if parameter.annotation is Context:
        return parameter.replace(annotation=typer.Context)
    declared: Option = parameter.annotation.__metadata__[0]
    about: dict[str, Any] = {"help": declared.help, "show_default": declared.show_default}
    about |= {"metavar": declared.metavar or _name_value(parameter), "min": declared.min, "max": declared.max}
    make: Any = typer.Argument if isinstance(declared, Argument) else typer.Option
    made = make(*declared.names, **about)
    return parameter.replace(annotation=Annotated[parameter.annotation.__origin__, made])


def _name_value(parameter: inspect.Parameter) -> str:
    """Returns the placeholder of a value in help, for a parameter that declares none."""
    kind, declared = parameter.annotation.__origin__, parameter.annotation.__metadata__[0]
    if isinstance(declared, Argument):
        name = parameter.name.upper()
        return name if parameter.default is parameter.empty else f"[{name}]"
    return "" if kind is bool else "NUMBER" if {int, float} & {kind, *getattr(kind, "__args__", ())} else "TEXT"


class LazyGroup(TyperGroup):
    """Commands that are imported when they are called."""

    # The context and the formatter are Click's, and where Typer keeps its Click differs between versions.
    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, name: str) -> TyperCommand | TyperGroup | None:
        return load_command(name) if name in COMMANDS else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        about = dict(offer([], ""))  # first lines of helps, without importing a command
        width = max(map(len, COMMANDS))  # one column of names for all groups
        for group, names in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(name.ljust(width), f"{about[name]}.") for name in names.split()])


def build_root() -> TyperGroup:
    """Builds the whole command line, for help and unknown words; known commands do not need it."""
    root = typer.Typer(
        cls=LazyGroup, add_completion=False, rich_markup_mode=None, no_args_is_help=True, context_settings=_HELP
    )

    about = "The options above work anywhere on the line. mabos help COMMAND shows more, with an example."
    root.callback(epilog=about)(_declare(declare_globals))
    return get_group(root)


def run_typer(call: Call, args: list[str]) -> int:
    """Runs a line that parse.py leaves to Typer, for help or an error message; returns the exit code."""
    usage_error: Any = typer.BadParameter.__mro__[2]  # ClickException, wherever this Typer keeps its Click
    if args[:1] == ["help"]:
        args = [*args[1 + (args[1:2] == ["help"]) :], "--help"]
    known = bool(args) and args[0] in COMMANDS
    name, rest = (f"mabos {args[0]}", args[1:]) if known else ("mabos", args)
    try:
        command = load_command(args[0]) if known else build_root()
        run = functools.partial(command.main, args=rest, prog_name=name, standalone_mode=False, obj=call)
        is_help = any(word in ("--help", "-h") for word in takewhile(lambda word: word != "--", rest))
        code = _show_help(call, run) if is_help else run()
        return code if isinstance(code, int) else 0  # Typer gives back the code of an Exit, 130 for Ctrl-C among them
    except typer.Exit as stop:
        return stop.exit_code
    except typer.Abort:
        return 130
    except usage_error as error:
        if type(error).__name__ == "NoArgsIsHelpError" and not call.as_json:
            write(sys.stderr, f"{error.format_message()}\n")
            return 2
        if type(error).__name__ == "NoArgsIsHelpError":
            raise UsageFault("no command given", f"see {name} --help") from None
        raise UsageFault(_plain_message(error), _usage_hint(error, args)) from None


def _show_help(call: Call, run: Any) -> Any:
    """Prints a help; on a terminal in its full width, with names and examples highlighted."""
    size: dict[str, int] = {}
    if is_terminal(sys.stdout):
        from mabos_cli.terminal.screen import Screen, screen_size, show

        size = dict.fromkeys(("max_content_width", "terminal_width"), screen_size()[0])
    with redirect_stdout(StringIO()) as printed:
        code = run(**size)
    if size:
        show("help", {}, printed.getvalue().rstrip("\n").split("\n"), Screen(now(), str), not call.no_pager)
    else:
        write(sys.stdout, printed.getvalue())
    return code


# Messages of the parser, and plainer words for them.
_PLAINER = (
    (r"Got unexpected extra argument\S* \((.*)\)", r"unexpected argument: \1"),
    (r"Invalid value for '([^']*)'(?: / '[^']*')*: ", r"\1: "),
    (r"is not a valid float(?: range)?", "is not a number"),
    (r"is not a valid int(?:eger)?(?: range)?", "is not a whole number"),
    (r"is not in the range x>=(\S+)", r"is less than \1"),
    (r"is not in the range (\S+)<=x<=(\S+)", r"is not within \1 to \2"),
    (r"Option '(\S+)' requires an argument", r"\1 needs a value"),
    (r" \(Possible options: .*\)", ""),
)


def _plain_message(error: Any) -> str:
    message: str = error.format_message().rstrip(".")
    for pattern, plain in _PLAINER:
        message = re.sub(pattern, plain, message)
    return message[:1].lower() + message[1:]


def _usage_hint(error: Any, args: list[str]) -> str:
    """Returns a hint for a line that cannot be parsed."""
    known = f"mabos {args[0]}" if args and args[0] in COMMANDS else "mabos"
    path = error.ctx.command_path if getattr(error, "ctx", None) else known
    if path == "mabos" and args and args[0] not in COMMANDS:
        return _name_command(args)
    if (group := path.removeprefix("mabos ")) in COMMANDS and type(error).__name__ == "UsageError":
        below = list(getattr(load_command(group), "commands", ()))
        word = args[1] if len(args) > 1 else ""
        matching = (
            name for name, others in OTHER_NAMES.items() if word in others.split() and name.startswith(f"{group} ")
        )
        if below and (known := next(matching, "")):
            return f"did you mean mabos {known}?"
        if below:
            return (
                f"one of: {', '.join(below)}"
                if len(below) > 1
                else f"did you mean {path} {shlex.join((*below, *args[1:]))}?"
            )
    option = str(getattr(error, "option_name", ""))
    if type(error).__name__ == "NoSuchOption":
        options = [name for each in error.ctx.command.params for name in (*each.opts, *each.secondary_opts)]
        near = get_close_matches(option, [*options, *re.findall(r"--[a-z-]+", ANYWHERE)], 2, 0.7)
        if near:
            return f"did you mean {' or '.join(near)}? see {path} --help"
    dashed = next((word for word in args[1:] if word.startswith("-") and " " in word), "")
    if dashed or (option.startswith("-") and option[1:2].isdigit()):
        return f"text that starts with a dash goes behind --, as in: {path} -- TEXT"
    if "extra argument" in error.format_message():
        words = list(takewhile(lambda word: word[:1] != "-", args[path.count(" ") :]))
        places = [each.metavar or "" for each in error.ctx.command.params if each.param_type_name == "argument"]
        if path == "mabos config":
            return f"settings are changed in mabos.yaml: {words[-2]}: {words[-1]}; mabos config shows where each comes from"
        if path == "mabos update" and len(words) > 1:
            return f"the new text goes behind --content: {path} {words[0]} --content {shlex.quote(' '.join(words[1:]))}"
        if not places and len(words) == 1:
            return f"to name an agent: {path} --agent {words[0]}"
        if len(words) > 1 and len(places) == 1 and places[0].strip("[]") in _WORDS_TO_QUOTE:
            return f'did you mean to quote it? {path} "{" ".join(words)}"'
    if (
        type(error).__name__ == "MissingParameter"
        and (apart := [word for each in args for word in each.split()]) != args
    ):
        return f"did you mean mabos {shlex.join(apart)}?"
    example = re.search(r"Example: (.*)", getattr(getattr(error.ctx, "command", None), "help", "") or "")
    return f"as in: {example[1]}" if example and "--" not in option else f"see {path} --help"


def _name_list(word: str) -> str:
    """Returns the command that lists what a plural names."""
    name = word.removesuffix("s") if word.endswith("s") else ""
    below = list(find_commands(name)) if name in COMMANDS else []
    return next((f"{name} {verb}" for verb in ("list", "query") if verb in below), "")


def _name_command(args: list[str]) -> str:
    """Returns a hint for a line whose first word is not a command."""
    word = args[0].lower()
    known = next((name for name, others in OTHER_NAMES.items() if word in others.split()), "")
    listed = _name_list(word)
    known = known or listed or next(iter(get_close_matches(word, COMMANDS, n=1)), "")
    if (
        not listed
        and len(args) > 1
        and (noun := args[1].rstrip("s")) in COMMANDS
        and (found := find_commands(noun)).name
    ):
        if word in found:
            return f"did you mean {shlex.join(['mabos', noun, word, *args[2:]])}?"
        return f"mabos {noun} has: {', '.join(found)}; see mabos {noun} --help"
    if known:
        return f"did you mean {shlex.join(['mabos', *known.split(), *args[1:]])}? see mabos --help"
    if " " in (text := " ".join(args)) and not any(word.startswith("-") for word in args):
        return f"to keep it: mabos store {shlex.quote(text)}; to look for it: mabos recall {shlex.quote(text)}"
    return "see mabos --help"
