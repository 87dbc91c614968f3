"""Completion scripts: one table of what may follow which words, written down in the language of each shell.

Each script has a function `spec` that is the table, generated here, and a few lines that walk the words of a command line
along it. TAB on commands, options and fixed words needs no process; other values come from `mabos complete`.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mabos_cli.core.operations.completion import WORDS, Line, Option, Value
from mabos_cli.formats.operations import completion_shells as shells


class Dialect(NamedTuple):
    """How a shell writes the table: a list, one branch of a case, a switch over options, and whether it shows descriptions."""

    script: str
    quote: Callable[[str], str]
    assign: str
    listed: str
    branch: str
    switch: str
    either: str
    case: str
    described: bool


_SH = {
    "assign": "{name}={value}",
    "listed": "{name}=({values})",
    "branch": "    {name})\n{body} ;;",
    "switch": "      case $2 in\n{cases}\n      esac",
    "either": "|",
    "case": "        {names}) kind={kind} ;;",
}

_PLAIN = r"[A-Za-z0-9_./+-]+"


def _quote_sh(text: str) -> str:
    if re.fullmatch(_PLAIN, text):
        return text
    return "'" + text.replace("'", "'\\''") + "'"


def _quote_fish(text: str) -> str:
    if re.fullmatch(_PLAIN, text):
        return text
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_DIALECTS = {
    "bash": Dialect(shells.BASH, _quote_sh, described=False, **_SH),
    "zsh": Dialect(shells.ZSH, _quote_sh, described=True, **_SH),
    "fish": Dialect(
        shells.FISH,
        _quote_fish,
        assign="set {name} {value}",
        listed="set {name} {values}",
        branch="        case {name}\n{body}",
        switch="            switch $option\n{cases}\n            end",
        either=" ",
        case="                case {names}\n                    set kind {kind}",
        described=True,
    ),
}
SHELLS = tuple(_DIALECTS)


def render_completion(shell: str, lines: Sequence[Line], anywhere: Sequence[Option]) -> str:
    """The completion script of a shell: what may follow each command, and the options that every one takes."""
    dialect = _DIALECTS[shell]
    names = [_entry(dialect, name, option.about) for option in anywhere for name in option.names]
    script = dialect.script.replace("@SPEC@", "\n".join(filter(None, (_branch(dialect, line) for line in lines))))
    script = script.replace("@OPTIONS@", " ".join(names))
    return script.replace("@VALUES@", "\n".join(_cases(dialect, anywhere)))


def _branch(dialect: Dialect, line: Line) -> str:
    """What may follow one command."""
    pad = " " * (12 if dialect.script is shells.FISH else 6)
    names = [(name, option.about) for option in line.options for name in option.names]
    values = [_kind(dialect, value) for value in line.arguments]
    parts = {"subs": [_entry(dialect, *pair) for pair in line.below],
             "opts": [_entry(dialect, *pair) for pair in names], "args": values}  # fmt: skip
    body = [pad + dialect.listed.format(name=name, values=" ".join(words)) for name, words in parts.items() if words]
    body += [pad + dialect.assign.format(name="more", value=values[-1])] if line.repeats else []
    body += [dialect.switch.format(cases="\n".join(cases))] if (cases := _cases(dialect, line.options)) else []
    return dialect.branch.format(name=dialect.quote(line.name), body="\n".join(body)) if body else ""


def _cases(dialect: Dialect, options: Sequence[Option]) -> list[str]:
    """What the options of a command take; those that take the same stand together."""
    found: dict[str, list[str]] = {}
    for option in options:
        if option.value:
            found.setdefault(_kind(dialect, option.value), []).extend(option.names)
    return [dialect.case.format(names=dialect.either.join(n), kind=kind) for kind, n in found.items()]


def _entry(dialect: Dialect, word: str, about: str) -> str:
    return dialect.quote(f"{word}\t{about}" if dialect.described and about else word)


def _kind(dialect: Dialect, value: Value) -> str:
    """A kind as the table has it: its name, or the words themselves behind an equals sign, each on a line."""
    if value.kind != WORDS:
        return value.kind
    words = [f"{word}\t{about}" if dialect.described and about else word for word, about in value.words]
    return dialect.quote("=" + "\n".join(words))
