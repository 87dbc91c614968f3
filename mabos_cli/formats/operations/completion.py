"""Completion scripts: one table of what may follow which words, written down in the language of each shell.

Each script (templates/completion.SHELL) has a function `spec` that is the table, generated here, and a few lines that walk the
words of a command line along it. TAB on commands, options and fixed words needs no process; other values come from
`mabos complete`.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

# Kinds of values that the shell finds by itself, and one that nobody can guess. Every other kind is asked of the program.
FILES, FOLDERS, WORDS, ANY = "files", "folders", "words", "any"
_PLAIN = r"[A-Za-z0-9_./+-]+"


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
    """Returns the first sentence of a help text, on one line.

    >>> first_sentence("Remember something. More.\\n\\nExample"), first_sentence("0 to 1; graded by heuristic-v1.")
    ('Remember something', '0 to 1; graded by heuristic-v1')
    """
    line = " ".join(text.strip().split("\n\n")[0].split())
    return line.partition(". ")[0].removesuffix(".")


class Dialect(NamedTuple):
    """How a shell writes the table: a list, a branch of a case, a switch over options, and descriptions."""

    quote: Callable[[str], str]
    described: bool
    indent: int = 6
    assign: str = "{name}={value}"
    listed: str = "{name}=({values})"
    branch: str = "    {name})\n{body} ;;"
    switch: str = "      case $2 in\n{cases}\n      esac"
    either: str = "|"
    case: str = "        {names}) kind={kind} ;;"


def _quote_sh(text: str) -> str:
    return text if re.fullmatch(_PLAIN, text) else "'" + text.replace("'", "'\\''") + "'"


def _quote_fish(text: str) -> str:
    if re.fullmatch(_PLAIN, text):
        return text
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_DIALECTS = {
    "bash": Dialect(_quote_sh, described=False),
    "zsh": Dialect(_quote_sh, described=True),
    "fish": Dialect(
        _quote_fish,
        described=True,
        indent=12,
        assign="set {name} {value}",
        listed="set {name} {values}",
        branch="        case {name}\n{body}",
        switch="            switch $option\n{cases}\n            end",
        either=" ",
        case="                case {names}\n                    set kind {kind}",
    ),
}
SHELLS = tuple(_DIALECTS)


def render_completion(shell: str, script: str, lines: Sequence[Line], anywhere: Sequence[Option]) -> str:
    """Fills the table into the script of a shell: what may follow each command, and global options."""
    dialect = _DIALECTS[shell]
    names = [_entry(dialect, name, option.about) for option in anywhere for name in option.names]
    script = script.replace("@SPEC@", "\n".join(filter(None, (_branch(dialect, line) for line in lines))))
    script = script.replace("@OPTIONS@", " ".join(names))
    return script.replace("@VALUES@", "\n".join(_cases(dialect, anywhere)))


def _branch(dialect: Dialect, line: Line) -> str:
    """Returns what may follow one command."""
    pad = " " * dialect.indent
    names = [(name, option.about) for option in line.options for name in option.names]
    values = [_kind(dialect, value) for value in line.arguments]
    parts = {"subs": [_entry(dialect, *pair) for pair in line.below],
             "opts": [_entry(dialect, *pair) for pair in names], "args": values}  # fmt: skip
    body = [pad + dialect.listed.format(name=name, values=" ".join(words)) for name, words in parts.items() if words]
    body += [pad + dialect.assign.format(name="more", value=values[-1])] if line.repeats else []
    body += [dialect.switch.format(cases="\n".join(cases))] if (cases := _cases(dialect, line.options)) else []
    return dialect.branch.format(name=dialect.quote(line.name), body="\n".join(body)) if body else ""


def _cases(dialect: Dialect, options: Sequence[Option]) -> list[str]:
    """Returns what the options of a command take; those that take the same stand together."""
    found: dict[str, list[str]] = {}
    for option in options:
        if option.value:
            found.setdefault(_kind(dialect, option.value), []).extend(option.names)
    return [dialect.case.format(names=dialect.either.join(n), kind=kind) for kind, n in found.items()]


def _entry(dialect: Dialect, word: str, about: str) -> str:
    return dialect.quote(f"{word}\t{about}" if dialect.described and about else word)


def _kind(dialect: Dialect, value: Value) -> str:
    """Returns a kind as the table has it: its name, or the words themselves behind an equals sign, each on a line."""
    if value.kind != WORDS:
        return value.kind
    words = [f"{word}\t{about}" if dialect.described and about else word for word, about in value.words]
    return dialect.quote("=" + "\n".join(words))
