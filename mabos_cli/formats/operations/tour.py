"""The tour of `mabos demo` as text: chapters with a blank line between them, each some prose and then commands behind `$ `."""

from typing import NamedTuple


class Chapter(NamedTuple):
    """What is shown, and the commands that show it, as a shell would be given them."""

    about: str
    commands: tuple[str, ...]

    @property
    def needs_git(self) -> bool:
        return any(command.startswith("git ") for command in self.commands)


def parse_tour(text: str) -> list[Chapter]:
    r"""The chapters of a tour. A command goes on in the next line behind a backslash.

    >>> parse_tour("Look.\n$ mabos status\n$ mabos store x \\\n    --tag y\n")
    [Chapter(about='Look.', commands=('mabos status', 'mabos store x \\\n    --tag y'))]
    """
    return [_parse_chapter(part) for part in text.strip("\n").split("\n\n")]


def _parse_chapter(text: str) -> Chapter:
    about, *commands = f"\n{text}".split("\n$ ")
    return Chapter(about.strip("\n"), tuple(commands))
