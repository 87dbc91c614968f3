"""The table of what may follow which words, which completion reads at a TAB (serve/complete.py)."""

from collections.abc import Sequence
from typing import NamedTuple

# Kinds of values that the shell finds by itself, and one that nobody can guess. Every other kind is asked of the program.
FILES, FOLDERS, WORDS, ANY = "files", "folders", "words", "any"
SHELLS = ("bash", "zsh", "fish")


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
