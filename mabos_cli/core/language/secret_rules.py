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
    kind, marks, keys, pattern = "", [""], dict.fromkeys([""]), ""
    for line in [*lines, "end"]:
        for name, value in names.items() if "<" in line else ():
            line = line.replace(f"<{name}>", value)
        if line[:1] == " ":
            pattern += line[4:]
            continue
        if pattern:
            judge = next((mark for mark in marks if mark not in _MARKS), "is_token")
            pattern = f"(?:{pattern}){_END}" if "exact" in marks else pattern
            yield Rule(kind, tuple(filter(None, keys)), pattern, getattr(secret_shapes, judge), "anywhere" in marks)
            pattern = ""
        name, equals, value = line.partition(" = ")
        if equals:
            names[name] = value
        elif line and line[0] != "#":
            (kind, *marks), keys, pattern = _read_head(line)


def _read_head(line: str) -> tuple[list[str], dict[str, None], str]:
    """Returns kind and marks of a rule, its keys, and its pattern if that is made of beginnings and a length."""
    head, plus, starts = line.partition("+ ")
    if plus and "|" not in head:
        *words, length = head.split()
        begins = starts.split()
        pattern = f"(?:{'|'.join(map(re.escape, begins))}){_REST % length}"
        return words, dict.fromkeys(begin.lower() for begin in begins), pattern
    head, *keys = line.split("|")
    return head.split(), dict.fromkeys(keys), ""


_tokens, _named = (part.split("\n") for part in read_data("language/secret_rules.txt").split("\n---\n"))
# Each key of a token is the beginning of it; the last rule is for those of any vendor. The others go by what stands around a secret.
TOKENS = tuple(_read_rules(_tokens))
RULES = tuple(_read_rules(_named))
ISSUED = len(TOKENS) - 1
