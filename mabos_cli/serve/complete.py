"""Answers a TAB: the scripts of the shells (templates/completion.*) hand over the line and print what comes back.

`mabos complete words -- WORD... CURRENT` prints values for the current word, each with a description behind a tab, or
`:files` or `:folders` where the shell finds them itself. `mabos complete bash LINE LAST` does the same for a line as it was
typed, quoted as bash needs it. Nothing is loaded for commands, options and fixed words but their table; whatever goes wrong
means that nothing is offered.
"""

import os
import sys

_TABLE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "templates", "completion.txt")
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=+,:@%")
Pair = tuple[str, str]


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
        with open(_TABLE, encoding="utf-8") as file:
            table = file.read().split("\n")
    except OSError:
        return []
    at, pending, is_literal, number, where = _walk(table, words)
    about = _read_command(table, at)
    if pending:
        kind = about.kinds.get(pending, "")
    elif not is_literal and current.startswith("--") and "=" in current:
        name, _, current = current.partition("=")
        kind = about.kinds.get(name, "")
    elif not is_literal and current.startswith("-"):
        return _starting(about.options, current)
    elif number == 0 and about.below:
        return _starting(about.below, current)
    else:
        kind = about.arguments[number] if number < len(about.arguments) else about.more
    return _values(table, kind, where, current)


def _values(table: list[str], kind: str, where: dict[str, str], start: str) -> list[Pair]:
    if kind in ("", "any"):
        return []
    if kind in ("files", "folders"):
        return [(f":{kind}", "")]
    if kind[0] == "=":
        return _starting([(word, "") for word in kind[1:].split(" ")], start)
    if kind[0] == "@":
        return _starting(_block(table, kind), start)
    from mabos_cli.serve.known_values import find_values

    return find_values(kind, where.get("-w", ""), where.get("-a", ""), start)


def _starting(pairs: list[Pair], start: str) -> list[Pair]:
    return [pair for pair in pairs if pair[0].startswith(start)]


class _Command:
    """Holds what may follow a command: the commands below it, options and what they take, and arguments in order."""

    def __init__(self) -> None:
        self.below: list[Pair] = []
        self.options: list[Pair] = []
        self.kinds: dict[str, str] = {}
        self.arguments: list[str] = []
        self.more = ""

    def add_option(self, line: str) -> None:
        names, kind, about = line.split("\t")
        for name in names.split(" "):
            self.options.append((name, about))
            if kind:
                self.kinds[name] = kind


def _read_command(table: list[str], name: str) -> _Command:
    """Returns what the table says about a command; the options of `*` hold for all."""
    found, reading, depth = _Command(), "", name.count(" ") + bool(name)
    for line in table:
        if line[:1] != " ":
            reading, _, rest = line.partition("\t")
            about, _, arguments = rest.partition("\t")
            if reading == name and arguments:
                found.arguments = arguments.removesuffix(" *").split("|")
                found.more = found.arguments[-1] if arguments.endswith(" *") else ""
            elif reading.count(" ") == depth and reading[:1] not in ("", "@", "*") and reading.startswith(name):
                last = reading[len(name) :]
                if not name or last[0] == " ":
                    found.below.append((last.strip(), about))
        elif reading == name or reading == "*":
            found.add_option(line[1:])
    return found


def _block(table: list[str], name: str) -> list[Pair]:
    """Returns the words, each with what it means, below a name."""
    first = table.index(name) + 1
    found: list[Pair] = []
    for line in table[first:]:
        if line[:1] != " ":
            break
        word, _, about = line[1:].partition("\t")
        found.append((word, about))
    return found


def _walk(table: list[str], words: list[str]) -> tuple[str, str, bool, int, dict[str, str]]:
    """Returns the command that some words name, the option that waits for its value, whether `--` came, how many arguments
    came, and where to look."""
    at, pending, is_literal, number = "", "", False, 0
    where: dict[str, str] = {}
    about = _read_command(table, "")
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
            pending = word if word in about.kinds else ""
        elif number == 0 and any(word == name for name, _ in about.below):
            at = f"{at} {word}".strip()
            about = _read_command(table, at)
        else:
            number += 1
    return at, pending, is_literal, number, where


def _short(option: str) -> str:
    return {"--workspace": "-w", "--agent": "-a"}.get(option, option)


def _offer_bash(line: str, last: str) -> list[str]:
    """Returns what bash shall put in place of the last word, which it cuts at = and : as well."""
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
    """Returns the words of a line as a program would get them, and the last one as typed and as it would get it, as far as
    that needs no evaluation."""
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
