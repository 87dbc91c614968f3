"""Answers a TAB: the scripts of the shells (templates/completion.*) hand over the line and print what comes back.

`mabos complete words -- WORD... CURRENT` prints values for the current word, each with a description behind a tab, or
`:files` or `:folders` where the shell finds them itself. `mabos complete bash LINE LAST` does the same for a line as it was
typed, quoted as bash needs it. Commands, options and fixed words come from a table; other modules are loaded for ids and the like only.
If anything goes wrong, nothing is offered.
"""

import os
import sys

_TABLE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "templates", "completion.txt")
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=+,:@%")
Pair = tuple[str, str]
# By command, or by a name behind @ for words: what it is about, what its arguments take, and the rows below it.
Table = dict[str, tuple[str, str, list[list[str]]]]


def main(words: list[str]) -> int:
    """Prints what can stand in the place of the last word; the exit code is always 0."""
    lines: list[str] = []
    if words[:1] == ["words"] and len(words) > 2:
        lines = [f"{value}\t{about}" if about else value for value, about in offer(words[2:-1], words[-1])]
    elif words[:1] == ["bash"] and len(words) > 2:
        lines = _offer_bash(words[1], words[2])
    try:
        sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 0


def offer(words: list[str], current: str) -> list[Pair]:
    """Returns what may stand in place of the current word behind some words; a value behind `--option=` comes alone."""
    try:
        table = _read_table()
    except OSError:
        return []
    command, pending, is_literal, number, where = _walk(table, words)
    if pending:
        kind = command.kinds.get(pending, "")
    elif not is_literal and current.startswith("--") and "=" in current:
        name, _, current = current.partition("=")
        kind = command.kinds.get(name, "")
    elif not is_literal and current.startswith("-"):
        return _starting(command.options, current)
    elif number == 0 and command.below:
        return _starting(command.below, current)
    else:
        kind = command.arguments[number] if number < len(command.arguments) else command.more
    return _values(table, kind, where, current)


def _values(table: Table, kind: str, where: dict[str, str], start: str) -> list[Pair]:
    if kind in ("", "any"):
        return []
    if kind in ("files", "folders"):
        return [(f":{kind}", "")]
    if kind[0] == "=":
        return _starting([(word, "") for word in kind[1:].split(" ")], start)
    if kind[0] == "@":
        return _starting([(row[0], row[-1]) for row in table[kind][2]], start)
    from mabos_cli.serve.known_values import find_values

    return find_values(kind, where.get("-w", ""), where.get("-a", ""), start)


def _starting(pairs: list[Pair], start: str) -> list[Pair]:
    return [pair for pair in pairs if pair[0].startswith(start)]


def _read_table() -> Table:
    """Reads what completion knows of the program."""
    found: Table = {}
    rows: list[list[str]] = []
    with open(_TABLE, encoding="utf-8") as file:
        for line in file.read().rstrip("\n").split("\n"):
            if line[:1] == " ":
                rows.append(line[1:].split("\t"))
            else:
                name, about, arguments = [*line.split("\t"), "", ""][:3]
                rows = []
                found[name] = (about, arguments, rows)
    return found


class _Command:
    """Holds what may follow a command: the commands below it, options and what they take, and arguments in order."""

    def __init__(self, table: Table, name: str) -> None:
        _, arguments, rows = table[name]
        self.arguments = arguments.removesuffix(" *").split("|") if arguments else []
        self.more = self.arguments[-1] if arguments.endswith(" *") else ""
        self.options: list[Pair] = []
        self.kinds: dict[str, str] = {}
        for names, kind, about in (*table["*"][2], *rows):  # the options of `*` are those of all commands
            self.options += [(option, about) for option in names.split(" ")]
            self.kinds |= dict.fromkeys(names.split(" "), kind) if kind else {}
        pairs = ((known.rpartition(" "), row[0]) for known, row in table.items() if known and known[0] not in "@*")
        self.below = [(last, about) for (above, _, last), about in pairs if above == name]


def _walk(table: Table, words: list[str]) -> "tuple[_Command, str, bool, int, dict[str, str]]":
    """Returns the command that some words name, the option that waits for its value, whether `--` came, how many arguments
    came, and where to look."""
    at, pending, is_literal, number = "", "", False, 0
    where: dict[str, str] = {}
    command = _Command(table, "")
    for word in words:
        if pending:
            where[_short(pending)], pending = word, ""
        elif is_literal:
            number += 1
        elif word == "--":
            is_literal = True
        elif word.startswith("--") and "=" in word:
            name, _, value = word.partition("=")
            where[_short(name)] = value
        elif len(word) > 1 and word[0] == "-":
            pending = word if word in command.kinds else ""
        elif number == 0 and any(word == name for name, _ in command.below):
            at = f"{at} {word}".strip()
            command = _Command(table, at)
        else:
            number += 1
    return command, pending, is_literal, number, where


def _short(option: str) -> str:
    return {"--workspace": "-w", "--agent": "-a"}.get(option, option)


def _offer_bash(line: str, last: str) -> list[str]:
    """Returns the replacements for what bash takes as the last word: it also splits words at = and :."""
    words, raw, current = _split(line)
    if not words:
        return []
    found = offer(words[1:], current)
    is_quoted = raw[:1] in ("'", '"')
    raw = current if is_quoted else raw
    if current.startswith("--") and "=" in current and "--" not in words:
        raw = raw.partition("=")[2]
    last = "" if last in ("=", ":") else last
    lead = len(raw) - len(last) if raw.endswith(last) else 0
    values = [value for value, _ in found]
    if values[:1] in ([":files"], [":folders"]):
        return values
    shown = [value if is_quoted else _escape(value) for value in values]
    return [value[lead:] for value in shown]


def _escape(word: str) -> str:
    return "".join(c if c in _SAFE or ord(c) > 127 else f"\\{c}" for c in word)


def _split(line: str) -> tuple[list[str], str, str]:
    """Returns the words of a line before the last as a program would get them, and the last one as typed and unquoted. Variables and
    commands are not evaluated."""
    words: list[str] = []
    word, quote, start, is_escaped = "", "", 0, False
    for at, c in enumerate(line):
        if is_escaped:
            word, is_escaped = word + c, False
        elif c == "\\" and quote != "'":
            is_escaped = True
        elif quote:
            word, quote = (word, "") if c == quote else (word + c, quote)
        elif c in "'\"":
            quote = c
        elif c in " \t":
            if at > start:
                words.append(word)
            word, start = "", at + 1
        else:
            word += c
    return words, line[start:], word
