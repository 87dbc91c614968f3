"""The rules for secrets, as secret_rules.txt has them; it also says how to write one."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mabos_cli.core import read_data
from mabos_cli.core.language import secret_shapes

_REST, _END = r"(?:[\w-]|[.%%$:+/=](?=[\w-])){%s,}={0,2}", r"(?![A-Za-z0-9])"

_MARKS = ("exact", "anywhere")


class Rule(NamedTuple):
    """One way to find secrets of a kind. The secret is the group of the pattern that matched, or else all of it."""

    kind: str
    keys: tuple[str, ...]  # in lower case; the pattern starts at one of them
    pattern: str
    judge: Callable[[str], bool]
    anywhere: bool  # the pattern may start elsewhere; the text only has to hold a key


def _read_rules(lines: list[str]) -> Iterator[Rule]:
    """Yields the rules of some lines, in their order."""
    names: dict[str, str] = {}

    def fill_in(text: str) -> str:
        return re.sub(r"<([A-Z_]+)>", lambda match: names[match[1]], text)

    while lines:
        line = fill_in(lines.pop(0))
        name, equals, value = line.partition(" = ")
        if equals:
            names[name] = value
        if equals or not line or line[0] == "#":
            continue
        if plain := re.fullmatch(r"([a-z_ ]+) (\d+)\+ (.*)", line):
            head, starts = plain[1], plain[3].split()
            keys = dict.fromkeys(start.lower() for start in starts)
            pattern = f"(?:{'|'.join(map(re.escape, starts))}){_REST % plain[2]}"
        else:
            head, *found = line.split("|")
            keys, pattern = dict.fromkeys(filter(None, found)), ""
            while lines and lines[0].startswith(" "):
                pattern += fill_in(lines.pop(0)[4:])
        kind, *marks = head.split()
        judge = next((mark for mark in marks if mark not in _MARKS), "is_token")
        pattern = f"(?:{pattern}){_END}" if "exact" in marks else pattern
        yield Rule(kind, tuple(keys), pattern, getattr(secret_shapes, judge), "anywhere" in marks)


_tokens, _named = (part.split("\n") for part in read_data("language/secret_rules.txt").split("\n---\n"))
# Each key of a token is the beginning of it; the last rule is for those of any vendor. The others go by what stands around a secret.
TOKENS = tuple(_read_rules(_tokens))
RULES = tuple(_read_rules(_named))
ISSUED = len(TOKENS) - 1
