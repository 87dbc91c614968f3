"""Members and elements put into JSON text and taken out of it again, with every other byte as it was.

What is put behind something else brings its comma. What is put into something empty stands right behind the bracket, and what we
make ourselves begins on a new line: that is how taking it out knows whether the empty rest was there before.
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

_BLANK = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_ATOM = re.compile(r"[^\s,\]}]+")
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]]', re.DOTALL)


class Part(NamedTuple):
    """A member of an object or an element of an array: where it begins (a member with its key), its value, and where that ends."""

    start: int
    value: int
    end: int
    key: str = ""


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    assert match
    return match.end()


def _value_end(text: str, at: int) -> int:
    """Where the value that begins here ends. The text is JSON that was read before."""
    if text[at] == '"':
        return _ended(_STRING, text, at)
    if text[at] not in "{[":
        return _ended(_ATOM, text, at)
    depth = 0
    for match in _STRUCTURE.finditer(text, at):
        if match[0] in "{[":
            depth += 1
        elif match[0] in "}]":
            depth -= 1
            if not depth:
                return match.end()
    raise ValueError("a bracket is not closed")


def _ended(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    if match is None:
        raise ValueError("not JSON")
    return match.end()


def root_of(text: str) -> int:
    """Where the value of a document begins."""
    return _skip(text, 1 if text.startswith("\ufeff") else 0)


def parts_of(text: str, at: int) -> Iterator[Part]:
    """The members of the object, or the elements of the array, that begins here."""
    is_object = text[at] == "{"
    place = _skip(text, at + 1)
    while text[place] not in "]}":
        start, key = place, ""
        if is_object:
            end = _ended(_STRING, text, place)
            key, place = json.loads(text[place:end]), _skip(text, _skip(text, end) + 1)
        end = _value_end(text, place)
        yield Part(start, place, end, key)
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)


def add_part(text: str, at: int, part: str, gap: str) -> str:
    """The text with a part behind the last one of the container that begins here; gap is what stands before it on its line."""
    last = next(iter(reversed([*parts_of(text, at)])), None)
    place = last.end if last else at + 1
    return text[:place] + (f",{gap}{part}" if last else part) + text[place:]


def remove_part(text: str, at: int, part: Part) -> tuple[str, bool]:
    """The text without a part of the container that begins here, and whether that container is left empty and was ours."""
    before, after = None, None
    for other in parts_of(text, at):
        if other.start < part.start:
            before = other
        elif other.start > part.start and after is None:
            after = other
    if before:
        return text[: before.end] + text[part.end :], False
    if after:
        return text[: part.start] + text[after.start :], False
    is_ours = part.start != at + 1
    return text[: at + 1] + text[part.end :], is_ours
