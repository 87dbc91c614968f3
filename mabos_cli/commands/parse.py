"""Reads the words of an ordinary call by what its function declares.

Anything else (an unknown option, an invalid value, a missing word, --help) is left to Typer, which explains what is wrong; a test
compares both on every line of the docs."""

from collections.abc import Sequence
from pathlib import Path
from types import UnionType
from typing import Any

from mabos_cli.commands.call import Argument, Commands, Function, Option
from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.records import NamedTuple

_NUMBERS = {int: r"-?\d{1,18}", float: r"-?\d{1,15}(\.\d{1,15})?"}


class Parameter(NamedTuple):
    """A parameter of a command: its name, the type of a value, or list where it takes several, and how it is declared."""

    name: str
    type: Any
    declared: Option
    default: Any
    is_required: bool

    @property
    def is_argument(self) -> bool:
        return isinstance(self.declared, Argument)

    @property
    def spellings(self) -> tuple[str, ...]:
        """Returns the names of an option; a switch may have one for each of its sides, as in `--live/--no-live`."""
        plain = f"--{self.name.replace('_', '-')}"
        return self.declared.names or ((f"{plain}/--no-{plain[2:]}",) if self.type is bool else (plain,))


def plan_calls(commands: Commands, words: Sequence[str]) -> list[tuple[Function, str, dict[str, Any]]]:
    """Returns the functions that a line calls, each with the subcommand that follows and its arguments; none if it is left to
    Typer."""
    if words and words[0] in commands:
        function, rest = commands[words[0]], words[1:]
        before = [(commands.first, words[0], _defaults(commands.first))] if commands.first else []
    elif commands.first:
        function, rest, before = commands.first, words, []
    elif commands.opens_first and words:
        function, rest, before = commands[next(iter(commands))], words, []
    else:
        return []
    given = parse_words(function, rest)
    return [] if given is None else [*before, (function, "", given)]


def parse_words(function: Function, words: Sequence[str]) -> dict[str, Any] | None:
    """Returns the arguments of a function by parameter; None if the words are left to Typer."""
    parameters = read_parameters(function)
    flags, valued = name_options(parameters)
    given, places = _defaults(function), list[str]()
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--":
            places += rest
        elif word in flags and not equals:
            given[flags[word][0]] = flags[word][1]
        elif name in valued and (not equals or name.startswith("--")):
            parameter = valued[name]
            read = _read_value(parameter, value if equals else next(rest, ""))
            if read is None:
                return None
            given[parameter.name] = [*(given[parameter.name] or ()), read] if parameter.type is list else read
        elif not word or (word[0] == "-" and word != "-" and not compiled(_NUMBERS[float]).fullmatch(word)):
            return None
        else:  # -5 is a number: no option is called so
            places.append(word)
    return _place(parameters, places, given)


def read_parameters(function: Function) -> list[Parameter]:
    """Returns the parameters of a function after its context."""
    code, found, defaults = function.__code__, list[Parameter](), _defaults(function)
    for name in code.co_varnames[1 : code.co_argcount]:
        annotation = function.__annotations__[name]
        kind = annotation.__origin__
        kind = kind.__args__[0] if isinstance(kind, UnionType) else kind
        kind = getattr(kind, "__origin__", kind)
        found.append(Parameter(name, kind, annotation.__metadata__[0], defaults.get(name), name not in defaults))
    return found


def name_options(parameters: Sequence[Parameter]) -> tuple[dict[str, tuple[str, bool]], dict[str, Parameter]]:
    """Returns the switches, each with its parameter and value, and the options that take a value."""
    flags: dict[str, tuple[str, bool]] = {}
    valued: dict[str, Parameter] = {}
    for each in parameters:
        for name in () if each.is_argument else each.spellings:
            if each.type is bool:
                on, _, off = name.partition("/")
                flags |= {on: (each.name, True)} | ({off: (each.name, False)} if off else {})
            else:
                valued[name] = each
    return flags, valued


def _defaults(function: Function) -> dict[str, Any]:
    values = function.__defaults__ or ()
    count = function.__code__.co_argcount
    return dict(zip(function.__code__.co_varnames[count - len(values) : count], values, strict=True))


def _read_value(parameter: Parameter, word: str) -> Any:
    """Returns the value of a word; None if it is left to Typer: an empty one, an invalid one, or one that may be an option."""
    if not word or (word[0] == "-" and word != "-"):
        return None
    number = _NUMBERS.get(parameter.type)
    if number is None:
        return Path(word) if parameter.type is Path else word
    value = parameter.type(word) if compiled(number).fullmatch(word) else None
    low, high = parameter.declared.min, parameter.declared.max
    is_within = value is not None and (low is None or low <= value) and (high is None or value <= high)
    return value if is_within else None


def _place(parameters: Sequence[Parameter], words: list[str], given: dict[str, Any]) -> dict[str, Any] | None:
    """Adds the positional arguments; None if there are too few or too many."""
    for each in parameters:
        if not each.is_argument:
            if each.is_required and each.name not in given:
                return None
        elif words and each.type is list:
            given[each.name], words = words, []
        elif words:
            value = words[0] if each.type is str else _read_value(each, words[0])
            if value is None:
                return None
            given[each.name], words = value, words[1:]
        elif each.is_required:
            return None
    return None if words else given
