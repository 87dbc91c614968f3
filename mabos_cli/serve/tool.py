"""A tool of MCP: the command behind it, and how named parameters become the words of a command line.

The option of the command declares what a parameter takes and means. A table of tools declares only what differs: another name, a
narrower choice, another shape.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from mabos_cli.commands.call import Commands, Function
from mabos_cli.commands.parse import Parameter, read_parameters
from mabos_cli.errors import UsageFault
from mabos_cli.formats.json.text import dump_line

Words = Callable[[Any], Iterable[str]]
Schema = Mapping[str, Any]
TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}
AGENT = {"type": "string", "description": "The agent's id; needed only where there are several."}
# Parts of a help text that concern a command line only.
_ONLY_THERE = re.compile(
    r"[;,] (?:- (?:reads|is) |a whole request; - reads |- for )standard input"
    r"|; (?:may repeat|repeat it, or separate with commas|repeat for all of several|commas separate, may repeat)"
    r"|,? may repeat\b|; else --agent| [Mm]ay repeat\."
)


class Effect(NamedTuple):
    """Holds what a call changes: nothing, the same when it is repeated, or something is removed."""

    reads: bool = False
    repeats: bool = False
    removes: bool = False


EFFECTS = {
    "reads": Effect(reads=True, repeats=True),
    "adds": Effect(),
    "sets": Effect(repeats=True),
    "removes": Effect(repeats=True, removes=True),
}


class Param(NamedTuple):
    """A parameter. Without an option it is a word of its own, in the order of the table."""

    name: str
    option: str = ""
    about: str = ""
    required: bool | None = None  # None: as the command has it
    schema: Schema = MappingProxyType({})  # in addition to what the option takes; with a type, instead of it
    words: Words | None = None  # makes the words of a value; by default they follow from its type
    blank: str = ""  # the word to use if it is not given
    is_fed: bool = False  # passed to the command as JSON on standard input


class Tool(NamedTuple):
    """A tool: its family, the words that call the command, its parameters, and what a call does."""

    name: str
    family: str
    command: tuple[str, ...]
    effect: Effect
    params: tuple[Param, ...] = ()
    about: str = ""  # by default the help of the command
    recast: Callable[[dict[str, Any]], dict[str, Any]] = dict  # rewrites the arguments, if several make one word
    # Another tool to use for some arguments.
    instead: "Callable[[dict[str, Any]], Tool | None]" = lambda arguments: None
    # Makes the answer of other systems out of the data of the command and the arguments; its text is then JSON.
    shape: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]] | None = None


class Line(NamedTuple):
    """The words of a command, and what it finds on standard input; None when nothing is there."""

    words: list[str]
    fed: str | None


def choice(*words: str) -> Schema:
    """Returns the schema of one of some words."""
    return {"type": "string", "enum": list(words)}


def choices(*words: str) -> Schema:
    """Returns the schema of a list of some words."""
    return {"type": "array", "items": choice(*words)}


def record(required: Sequence[str] = (), **fields: Schema) -> Schema:
    """Returns the schema of an object with these names and no others."""
    found = {"type": "object", "properties": fields, "additionalProperties": False}
    return found | {"required": list(required)} if required else found


def unless(off: str) -> Words:
    """Returns the words of a switch that is on by default."""
    return lambda value: () if value else (off,)


def either(yes: str, no: str) -> Words:
    """Returns the words of a switch that has two names."""
    return lambda value: (yes if value else no,)


def line_of(tool: Tool, arguments: Mapping[str, Any]) -> Line:
    """Returns the command line for arguments that fit the schema. No value in them can act as an option."""
    tool = tool.instead(dict(arguments)) or tool
    arguments = tool.recast(dict(arguments))
    named: list[str] = []
    rest: list[str] = []
    fed = None
    for param in tool.params:
        value = arguments.get(param.name)
        if value is None:
            rest += [param.blank] if param.blank else []
        elif param.is_fed:
            fed = dump_line(value)
            (named if param.option else rest).append(f"{param.option}=-" if param.option else "-")
        elif param.words:
            named += param.words(value)
        elif param.option:
            named += _named(param.option, value)
        else:
            rest += map(_text, value if isinstance(value, list) else (value,))
    return Line([*tool.command, *named, *(["--", *rest] if rest else ())], fed)


def _named(name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [name] if value else []
    return [f"{name}={_text(each)}" for each in (value if isinstance(value, list) else [value])]


def _text(value: Any) -> str:
    """Returns a value as a word: text as it is, whole numbers without a point, objects as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return dump_line(value)


def find_function(tool: Tool, find_commands: Callable[[str], Commands]) -> tuple[Function, str]:
    """Finds the function behind a tool, and the help of its command."""
    first, *below = (part for part in tool.command if not part.startswith("-"))
    commands = find_commands(first)
    name = below[0] if below else "" if commands.name else first
    function = commands[name] if name else commands.first
    assert function is not None, "a tool names a command"
    return function, commands.helps.get(name, function.__doc__ or "")


def about_tool(tool: Tool, help: str) -> str:
    """Returns what a tool does, in a line or two; `help` is that of its command."""
    return " ".join((tool.about or help.split("Example:")[0]).split())


def input_schema(tool: Tool, function: Function) -> dict[str, Any]:
    """Returns the JSON Schema of a tool's arguments."""
    declared = read_parameters(function)
    places = [each for each in declared if each.is_argument]
    named = {name: each for each in declared for names in each.spellings for name in names.split("/")}
    properties: dict[str, Any] = {"agent_id": AGENT}
    required = []
    for param in tool.params:
        given = named[param.option] if param.option else (places.pop(0) if places else None)
        properties[param.name] = _property(param, given)
        if given.is_required if param.required is None and given else param.required:
            required.append(param.name)
    found = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | {"required": required} if required else found


def _property(param: Param, given: Parameter | None) -> dict[str, Any]:
    found = dict(param.schema) if "type" in param.schema or not given else _taken(param, given) | dict(param.schema)
    about = param.about or _ONLY_THERE.sub("", given.declared.help if given else "")
    return found | ({"description": about} if about else {})


def _taken(param: Param, given: Parameter) -> dict[str, Any]:
    """Returns what an option or argument of a command takes, and what it is when it is not given."""
    one: dict[str, Any] = {"type": _TYPES.get(given.type, "string")}
    for key, bound in (("minimum", given.declared.min), ("maximum", given.declared.max)):
        one |= {} if bound is None else {key: bound}
    if param.option and given.type is list:
        return {"type": "array", "items": one}
    return one | ({"default": given.default} if isinstance(given.default, str | int | float) and given.default else {})


_TYPES = {bool: "boolean", int: "integer", float: "number"}
_KINDS: dict[str, tuple[str, Any]] = {
    "string": ("a text", str),
    "integer": ("a whole number", int),
    "number": ("a number", (int, float)),
    "boolean": ("true or false", bool),
    "array": ("a list", list),
    "object": ("an object", dict),
}


def check_arguments(schema: Schema, arguments: Mapping[str, Any]) -> None:
    """Raises UsageFault for arguments that do not fit the schema of a tool. Ranges are left to the command, which clamps some."""
    known = schema["properties"]
    for name in (*schema.get("required", ()), *arguments):
        if name not in known or name not in arguments:
            missing = "no such parameter" if name in arguments else "missing"
            raise UsageFault(f"{name[:60]}: {missing}", f"parameters: {', '.join(known)}")
    for name, value in arguments.items():
        _check_value(name, known[name], value)


def _check_value(place: str, schema: Schema, value: Any) -> None:
    about, kinds = _KINDS[schema["type"]]
    is_whole = schema["type"] == "integer" and isinstance(value, float) and value.is_integer()
    if not (is_whole or isinstance(value, kinds)) or (isinstance(value, bool) and schema["type"] != "boolean"):
        raise UsageFault(f"{place}: expected {about}, got {dump_line(value)[:60]}")
    if "enum" in schema and value not in schema["enum"]:
        raise UsageFault(f"{place}: {value[:60]!r} is not one of {', '.join(schema['enum'])}")
    if isinstance(value, list) and "items" in schema:
        for number, each in enumerate(value):
            _check_value(f"{place}[{number}]", schema["items"], each)
    if isinstance(value, dict):
        parts, others = schema.get("properties", {}), schema.get("additionalProperties")
        for name in schema.get("required", ()):
            if name not in value:
                raise UsageFault(f"{place}.{name}: missing")
        for name, each in value.items():
            if name in parts:
                _check_value(f"{place}.{name}", parts[name], each)
            elif others is False:
                raise UsageFault(f"{place}.{name[:60]}: no such field", f"fields: {', '.join(parts)}")
            elif others:
                _check_value(f"{place}.{name}", others, each)
