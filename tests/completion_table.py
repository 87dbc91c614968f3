"""Describes the program for shell completion: its commands and options, and what each option and argument takes.

Choices are those that the help of an option shows; the rest is gathered here. The package ships what it renders,
templates/completion.txt; test_completions.py compares the two, and writes the file with UPDATE=1.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mabos_cli.config import SETTINGS
from mabos_cli.core.memory.item import TYPES
from mabos_cli.core.operations.hook_hosts import HOSTS
from mabos_cli.core.operations.schedule import JOBS
from mabos_cli.formats.memory.agent_transcripts import ROLES
from mabos_cli.reasoning.catalog import METHODS

# Kinds of values that the shell finds by itself, and one that nobody can guess. Every other kind is asked of the program.
FILES, FOLDERS, WORDS, ANY = "files", "folders", "words", "any"


class Value(NamedTuple):
    """What an option or an argument takes: a kind, and for WORDS the words, each with what it means."""

    kind: str
    words: tuple[tuple[str, str], ...] = ()


class Option(NamedTuple):
    """An option in all its spellings. Without a value it is a switch."""

    names: tuple[str, ...]
    about: str
    value: Value | None = None


class Line(NamedTuple):
    """What may follow the words of a command: the commands below it, options, and arguments in order.

    With `repeats`, the last argument may come again.
    """

    name: str
    below: tuple[tuple[str, str], ...]
    options: tuple[Option, ...]
    arguments: tuple[Value, ...]
    repeats: bool = False


def first_sentence(text: str) -> str:
    """Returns the first sentence of a help text, on one line, without its full stop.

    >>> first_sentence("Remember something. More.\\n\\nExample"), first_sentence("active, dormant, ... and so on.")
    ('Remember something', 'active, dormant, ... and so on')
    """
    line = " ".join(text.strip().split("\n\n")[0].split())
    return re.split(r"(?<!\.)\.(?: |$)", line)[0]


def render_table(lines: Sequence[Line], anywhere: Sequence[Option]) -> str:
    """Returns the table that completion reads: a line for each command, with what its arguments take; below it a line for
    each option; `*` has those of all commands, and a name behind @ has words with what they mean."""
    blocks: dict[str, tuple[tuple[str, str], ...]] = {}
    found = ["*", *_option_lines(anywhere, blocks)]
    abouts = {f"{line.name} {name}".strip(): about for line in lines for name, about in line.below}
    for line in lines:
        arguments = "|".join(_kind(value, blocks) for value in line.arguments) + (" *" if line.repeats else "")
        found += [f"{line.name}\t{abouts.get(line.name, '')}\t{arguments}", *_option_lines(line.options, blocks)]
    for name, words in blocks.items():
        found += [name, *(f" {word}\t{about}" for word, about in words)]
    return "\n".join(found) + "\n"


def _option_lines(options: Sequence[Option], blocks: dict[str, tuple[tuple[str, str], ...]]) -> list[str]:
    return [
        f" {' '.join(each.names)}\t{_kind(each.value, blocks) if each.value else ''}\t{each.about}" for each in options
    ]


def _kind(value: Value, blocks: dict[str, tuple[tuple[str, str], ...]]) -> str:
    """Returns a kind as the table has it: its name, the words themselves, or the name of a block where they have meanings."""
    if value.kind != WORDS:
        return value.kind
    if not any(about for _, about in value.words):
        return "=" + " ".join(word for word, _ in value.words)
    known = [name for name, words in blocks.items() if words == value.words]
    name = known[0] if known else f"@{len(blocks)}"
    blocks[name] = value.words
    return name


_VERSION = ("--version",)


def _words(*words: str) -> Value:
    return Value(WORDS, tuple((word, "") for word in words))


def _described(pairs: Iterable[tuple[str, str]]) -> Value:
    return Value(WORDS, tuple(pairs))


_METHODS = _described((name, method.about) for name, method in METHODS.items())

# Keys name an option of any command (`--store`), or an option or argument of one (`recall --store`).
_VALUES = {
    "--workspace": Value(FOLDERS),
    "--agent": Value("agents"),
    "--tag": Value("tags"),
    "--type": _words(*TYPES),
    "--related-to": Value("items"),
    "--history": Value(FILES),
    "--skills": Value(FILES),
    "--supports": Value("goals"),
    "--motivates": Value("goals"),
    "--goal": Value("goals"),
    "--requires": Value("plans"),
    "--system": Value(FILES),
    "item_id": Value("items"),
    "case_id": Value("cases"),
    "fact_id": Value("facts"),
    "rule_id": Value("rules"),
    "agent show agent_id": Value("agents"),
    "belief revise name": Value("beliefs"),
    "case store --from": Value("cases"),
    "connect host": _words(*HOSTS),
    "config name": _described((setting.name, setting.about) for setting in SETTINGS),
    "demo folder": Value(FOLDERS),
    "disconnect host": _words(*HOSTS),
    "get item_id": Value("ids"),
    "goal add --desire": Value("desires"),
    "goal add --parent": Value("goals"),
    "goal update name": Value("goals"),
    "grade ids": Value("items"),
    "ingest transcript --roles": _words(*ROLES),
    "intention add --plan": Value("plans"),
    "intention complete name": Value("intentions"),
    "intention drop name": Value("intentions"),
    "intention progress name": Value("intentions"),
    "ontology merge ids": Value("proposals"),
    "ontology propose --by": Value("agents"),
    "ontology reject proposal_id": Value("proposals"),
    "ontology validate ids": Value("proposals"),
    "plan step name": Value("plans"),
    "read place": Value("paths"),
    "reason outcome result_id": Value("results"),
    "reason show name": _METHODS,
    "reason solve --method": _METHODS,
    "revive item_id": Value("archived"),
    "schedule run job": _described((job.name, job.about) for job in JOBS),
    "timeline around": Value("items"),
    "typedb sync-agent agent": Value("agents"),
}


def completion_table(commands: Mapping[str, Any]) -> str:
    """Returns the table of commands by name, as Click knows them; "" is the root."""
    return render_table(list(describe_program(commands)), list(global_options(commands[""])))


def global_options(root: Any) -> Iterator[Option]:
    """Yields the options that every command takes."""
    yield from (option for option in _options("", root) if option.names != _VERSION)
    yield Option(("--help", "-h"), "Show the help of a command")


def describe_program(commands: Mapping[str, Any]) -> Iterator[Line]:
    """Yields what may follow each command of the program, the root first."""
    names = [(name, first_sentence(command.help or "")) for name, command in commands.items() if name]
    version = [option for option in _options("", commands[""]) if option.names == _VERSION]
    yield Line("", tuple(names), tuple(version), ())
    for name, command in commands.items():
        if name:
            yield _line(name, command)
            for last, child in getattr(command, "commands", {}).items():
                yield _line(f"{name} {last}", child)


def _line(name: str, command: Any) -> Line:
    children = getattr(command, "commands", {})
    below = tuple((last, first_sentence(child.help or "")) for last, child in children.items())
    full_name = name
    if getattr(command, "runs_first", False):  # its first command is meant when none is named
        full_name, command = f"{name} {below[0][0]}", children[below[0][0]]
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    values = tuple(value_of(full_name, each.name, each.metavar or "") for each in arguments)
    repeats = bool(arguments) and arguments[-1].nargs < 0
    return Line(name, below, tuple(_options(full_name, command)), values, repeats)


def _options(command_name: str, command: Any) -> Iterator[Option]:
    for each in command.params:
        if each.param_type_name != "option" or each.hidden:
            continue
        is_switch = each.is_flag or each.count
        value = None if is_switch else value_of(command_name, max(each.opts, key=len), each.metavar or "")
        yield Option((*each.opts, *each.secondary_opts), first_sentence(each.help or ""), value)


def value_of(command: str, name: str, metavar: str) -> Value:
    """Returns what an option (its longest name) or an argument of a command takes."""
    choices = [word for word in metavar.strip("[]").split("|") if "|" in metavar and re.fullmatch("[a-z_]+", word)]
    known = _VALUES.get(f"{command} {name}") or (_words(*choices) if choices else _VALUES.get(name))
    if known:
        return known
    if "FILE" in metavar:
        return Value(FILES)
    return Value(FOLDERS if "FOLDER" in metavar or metavar == "DIR" else ANY)


def unused_values(used: set[tuple[str, str]]) -> list[str]:
    """Returns the rows of the table that name nothing of the program, given all its options and arguments."""
    names = {f"{command} {name}" for command, name in used} | {name for _, name in used}
    return [key for key in _VALUES if key not in names]
