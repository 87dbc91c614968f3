"""What can stand on the command line, as shells complete it: commands, options and the values that go with them."""

from typing import NamedTuple

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
    """What may follow the words of a command: the commands below it, options, and arguments in order. With `repeats`, the last
    argument may come again."""

    name: str
    below: tuple[tuple[str, str], ...]
    options: tuple[Option, ...]
    arguments: tuple[Value, ...]
    repeats: bool = False


def first_sentence(text: str) -> str:
    """The first sentence of a help text, on one line.

    >>> first_sentence("Remember something. More.\\n\\nExample"), first_sentence("0 to 1; graded by heuristic-v1.")
    ('Remember something', '0 to 1; graded by heuristic-v1')
    """
    line = " ".join(text.strip().split("\n\n")[0].split())
    return line.partition(". ")[0].removesuffix(".")
