"""completion: the program's own commands and options, in the language of a shell."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call, OpenGroup
from mabos_cli.core.memory.item import check_choice
from mabos_cli.core.operations.completion import Line, Option, Value, first_sentence
from mabos_cli.formats.operations.completion import SHELLS, render_completion

app = typer.Typer()
_VERSION = ("--version",)


@app.command()
def completion(
    ctx: typer.Context, shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]
) -> None:
    """Print what completes this program's words in a shell.

    Commands, options and fixed words are in it; ids, tags and agents are asked of the program at each TAB.

    Example: mabos completion bash
    """
    call: Call = ctx.obj
    check_choice(shell, SHELLS, "shell")
    commands = call.program() if call.program else {}
    text = render_completion(shell, list(describe_program(commands)), list(anywhere(commands[""])))
    call.emit("completion", {"shell": shell, "text": text}, text.splitlines())


def anywhere(root: Any) -> Iterator[Option]:
    """The options that every command takes."""
    yield from (option for option in _options("", root) if option.names != _VERSION)
    yield Option(("--help", "-h"), "Show the help of a command")


def describe_program(commands: dict[str, Any]) -> Iterator[Line]:
    """What may follow each command of the program, the root first; commands by name, as Click knows them, "" is the root."""
    told = [(name, first_sentence(command.help or "")) for name, command in commands.items() if name]
    version = [option for option in _options("", commands[""]) if option.names == _VERSION]
    yield Line("", tuple(told), tuple(version), ())
    for name, command in commands.items():
        if name:
            yield _line(name, command)
            for last, child in getattr(command, "commands", {}).items():
                yield _line(f"{name} {last}", child)


def _line(name: str, command: Any) -> Line:
    below = getattr(command, "commands", {})
    said = tuple((last, first_sentence(child.help or "")) for last, child in below.items())
    if isinstance(command, OpenGroup):  # its first command is meant when none is named
        name_of, command = f"{name} {said[0][0]}", below[said[0][0]]
    else:
        name_of = name
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    return Line(
        name,
        said,
        tuple(_options(name_of, command)),
        tuple(_value(name_of, each.name, each) for each in arguments),
        bool(arguments) and arguments[-1].nargs < 0,
    )


def _options(command_name: str, command: Any) -> Iterator[Option]:
    for each in command.params:
        if each.param_type_name != "option" or each.hidden:
            continue
        names = (*each.opts, *each.secondary_opts)
        value = None if each.is_flag or each.count else _value(command_name, max(each.opts, key=len), each)
        yield Option(names, first_sentence(each.help or ""), value)


def _value(command: str, name: str, parameter: Any) -> Value:
    # Loaded here: the table gathers words from half of the program.
    from mabos_cli.commands.operations.completion_values import value_of

    return value_of(command, name, parameter.metavar or "")
