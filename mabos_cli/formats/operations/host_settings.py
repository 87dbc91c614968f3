"""Adds our entries to settings files of agent hosts (JSON and JSON5) and removes them again; all other bytes stay as they are.

An entry that is added after another one brings its comma. An entry in a container that was empty stands right after the bracket, and
one in a container of ours on a new line: so that removing it knows whether the empty container was there before.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mabos_cli.core.operations.hook_hosts import EVENTS, NAMES
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import dump_document, dump_line, parse_json

_OURS = re.compile(r"(?:^|[\s/\\'\"])mabos(?:_cli)?['\"]? hook [A-Za-z-]+ --host (\w+)")
_HINT = "nothing was changed; repair the file by hand"
_BLANK = re.compile(r"(?:\s|//[^\r\n]*|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"|\'(?:[^\'\\]|\\.)*+\'', re.DOTALL)
_NAME = re.compile(rf"{_STRING.pattern}|[\w$]+", re.DOTALL)
_ATOM = re.compile(r"[^\s,:\[\]{}/\"']+")
_DEEPEST = 200


class Part(NamedTuple):
    """A member of an object or an element of an array: its start, and the start and end of its value."""

    start: int
    value: int
    end: int
    key: str = ""


class Entry(NamedTuple):
    """An entry of ours in JSON settings: the keys that lead to it, and its value, which is the member itself or an element of that array."""

    keys: tuple[str, ...]
    value: Any
    is_element: bool = False
    if_there: bool = False  # only where there is such a list already


class Settings(NamedTuple):
    """Our entries in a JSON file of a host. A new file gets the head, too; comments are accepted if the host accepts them."""

    host: str
    entries: tuple[Entry, ...]
    head: tuple[tuple[str, Any], ...] = ()
    has_comments: bool = False


def hook_entries(host: str, program: str, options: str = "") -> tuple[Entry, ...]:
    """Returns our hooks for a host, which calls a program with options.

    Cursor adds nothing to the context of a prompt; it and Gemini do not report the number of tokens when an agent stops.
    """
    skipped = {"cursor": ("user-prompt", "stop"), "gemini": ("stop",)}.get(host, ())
    found = []
    for event, name in zip(EVENTS, NAMES[host], strict=True):
        seconds = 3 if event == "session-end" else 10  # Codex warns about more
        line = f"{program} hook {event} --host {host} {options}".rstrip()
        run = {"command": line, "timeout": seconds}
        if host == "gemini":
            run |= {"name": "mabos", "timeout": seconds * 1000}
        element = run if host == "cursor" else {"hooks": [{"type": "command", **run}]}
        found += [Entry(("hooks", name), element, True)] if event not in skipped else []
    return tuple(found)


def add_entries(text: str | None, settings: Settings, shown: str) -> str:
    """Adds our entries to the text of a file and removes older ones; returns the same text if nothing has to change."""
    if text is not None:
        check_settings(text, settings, shown)
        settings = settings._replace(entries=tuple(_with_added(text, entry) for entry in settings.entries))
    old, text = text, None if text is None else remove_entries(text, settings, shown)
    if text is None:
        # Our entries come before the head: after it, the head would look as if it had been there before.
        return dump_document(_document(settings.entries) | dict(settings.head))
    newline = "\r\n" if "\r\n" in text else "\n"
    step, new = _indent(text), text
    for entry in settings.entries:
        new = _put(new, entry, newline, step)
    if remove_entries(new, settings, shown) != text:
        raise InvalidFile(f"{shown}: our entries cannot be added without changing other parts of it", _HINT)
    return old if old is not None and _is_same(old, new, settings) else new


def _with_added(text: str, entry: Entry) -> Entry:
    """Returns an entry with what a person added to it in a file, such as permission to call tools."""
    at, part = root_of(text), None
    for key in entry.keys:
        part = next((part for part in parts_of(text, at) if part.key == key), None)
        if part is None:
            return entry
        at = part.value
    found = _value(text, part) if part and not entry.is_element else None
    return entry._replace(value=found | entry.value) if isinstance(found, dict) else entry


def _is_same(old: str, new: str, settings: Settings) -> bool:
    """Returns whether two texts have the same entries of ours, in any order."""
    one, two = (
        sorted(dump_line([[part.key for _, part in path], _value(text, path[-1][1])]) for path in _ours(text, settings))
        for text in (old, new)
    )
    return one == two


def _document(entries: Sequence[Entry]) -> dict[str, Any]:
    """Returns the entries as the value of a new file."""
    root: dict[str, Any] = {}
    for entry in (entry for entry in entries if not entry.if_there):
        place: Any = root
        for key in entry.keys[:-1]:
            place = place.setdefault(key, {})
        if entry.is_element:
            place.setdefault(entry.keys[-1], []).append(entry.value)
        else:
            place[entry.keys[-1]] = entry.value
    return root


def remove_entries(text: str, settings: Settings, shown: str) -> str | None:
    """Removes our entries from the text of a file, and the containers that we created. None if that was the whole file."""
    check_settings(text, settings, shown)
    while found := next(_ours(text, settings), None):
        was_first = next(parts_of(text, root_of(text))).start == found[0][1].start
        for at, part in reversed(found):
            # The container of the last part is shorter now, but begins at the same place.
            left = next(other for other in parts_of(text, at) if other.start == part.start)
            text, is_empty = _remove_part(text, at, left)
            if not is_empty:
                break
        else:
            return None
        if (
            was_first and settings.head and text == dump_document(dict(settings.head))
        ):  # only the head of a new file is left
            return None
    return text


def check_settings(text: str, settings: Settings, shown: str) -> None:
    """Raises InvalidFile if a file is malformed, or has something else in the place of our entries."""
    found = (
        _load_loosely(text, shown)
        if settings.has_comments
        else parse_json(text.removeprefix("\ufeff"), shown, hint=_HINT)
    )
    if not isinstance(found, dict):
        raise InvalidFile(f"{shown}:1: the settings must be an object", _HINT)
    for entry in settings.entries:
        _check_place(found, entry, text, shown)


def _check_place(found: dict[str, Any], entry: Entry, text: str, shown: str) -> None:
    place: Any = found
    for number, key in enumerate(entry.keys):
        if not isinstance(place, dict):
            name, wanted = ".".join(entry.keys[:number]), "an object"
            raise InvalidFile(f"{shown}:{_line(text, entry.keys[number - 1])}: {name} must be {wanted}", _HINT)
        if key not in place:
            return
        place = place[key]
    name, line = ".".join(entry.keys), _line(text, entry.keys[-1])
    if entry.is_element and not isinstance(place, list):
        raise InvalidFile(f"{shown}:{line}: {name} must be a list", _HINT)
    if not entry.is_element and "command" in entry.value and place != entry.value and "mabos" not in dump_line(place):
        raise InvalidFile(f"{shown}:{line}: {name} is something else", "nothing was changed; rename that entry")


def _line(text: str, key: str) -> int:
    return text[: max(0, text.find(key))].count("\n") + 1


def _put(text: str, entry: Entry, newline: str, step: str) -> str:
    """Adds one entry, in the layout that the file has."""
    at = root_of(text)
    for depth, key in enumerate(entry.keys, 1):
        part = next((part for part in parts_of(text, at) if part.key == key), None)
        if part is None and entry.if_there:
            return text
        if part is None:
            return _add_part(text, at, _nested(entry, depth, newline, step), newline + step * depth)
        at = part.value
    return _add_part(text, at, dump_line(entry.value), newline + step * (len(entry.keys) + 1))


def _nested(entry: Entry, depth: int, newline: str, step: str) -> str:
    """Returns the text of the missing member at a depth, with the containers below it."""
    key, is_last = entry.keys[depth - 1], depth == len(entry.keys)
    if is_last and not entry.is_element:
        return f"{dump_line(key)}: {dump_line(entry.value)}"
    inner = dump_line(entry.value) if is_last else _nested(entry, depth + 1, newline, step)
    left, right = "[]" if is_last else "{}"
    return f"{dump_line(key)}: {left}{newline}{step * (depth + 1)}{inner}{newline}{step * depth}{right}"


def _indent(text: str) -> str:
    """Returns the indentation of the first member; two blanks if it is not on a line of its own."""
    match = re.match(r"\ufeff?\s*\{[^\S\n]*\r?\n([ \t]+)[\"\w]", text)
    return match[1] if match else "  "


def _ours(text: str, settings: Settings) -> Iterator[list[tuple[int, Part]]]:
    """Yields the path to each of our entries: the containers from the root on, each with the part that leads further."""
    places = [
        (entry.keys, None if entry.is_element and isinstance(entry.value, dict) else entry)
        for entry in settings.entries
    ]
    for keys in dict.fromkeys(keys[:1] if entry is None else keys for keys, entry in places):
        entry = next((entry for some, entry in places if some == keys), None)
        path, at = [], root_of(text)
        for key in keys:
            part = next((part for part in parts_of(text, at) if part.key == key), None)
            if part is None:
                break
            path.append((at, part))
            at = part.value
        else:
            if entry is None:
                yield from _our_hooks(text, path, settings.host)
            elif not entry.is_element:
                yield path
            else:
                same = (part for part in parts_of(text, at) if _value(text, part) == entry.value)
                yield from ([*path, (at, part)] for part in same)


def _our_hooks(text: str, path: list[tuple[int, Part]], host: str) -> Iterator[list[tuple[int, Part]]]:
    """Yields the path to each of our hooks, or to the element around it if it has no others."""
    hooks = path[-1][1].value
    for event in parts_of(text, hooks) if text[hooks] == "{" else ():
        for element in parts_of(text, event.value) if text[event.value] == "[" else ():
            around = [*path, (hooks, event), (event.value, element)]
            members = parts_of(text, element.value) if text[element.value] == "{" else ()
            inner = next((part for part in members if part.key == "hooks" and text[part.value] == "["), None)
            held = [*parts_of(text, inner.value)] if inner else [element]
            ours = [part for part in held if _runs_us(_value(text, part), host)]
            if ours and len(ours) == len(held):
                yield around
            elif ours and inner:
                yield [*around, (element.value, inner), (inner.value, ours[0])]


def _runs_us(value: Any, host: str) -> bool:
    """Returns whether a hook runs our program for this host."""
    command = value.get("command") if isinstance(value, dict) else None
    match = _OURS.search(command) if isinstance(command, str) else None
    return match is not None and match[1] == host


# Members and elements of the text of JSON, with comments, commas behind the last part, and bare or singly quoted names as in JSON5.


def _load_loosely(text: str, shown: str) -> Any:
    """Returns the value of a JSON5 document; InvalidFile if it is malformed."""
    try:
        at = root_of(text)
        if at == len(text):
            raise InvalidFile(f"{shown}:1: the file is empty", _HINT)
        end = _value_end(text, at)
        value = _value(text, Part(at, at, end))
        if (rest := _skip(text, end)) != len(text):
            raise ValueError(rest)
    except (ValueError, IndexError, RecursionError) as error:
        place = error.args[0] if error.args and isinstance(error.args[0], int) else len(text)
        raise InvalidFile(f"{shown}:{text[:place].count(chr(10)) + 1}: not valid JSON", _HINT) from None
    return value


def _value(text: str, part: Part, depth: int = 0) -> Any:
    """Returns the value of a part; numbers that only JSON5 allows are returned as text."""
    if depth > _DEEPEST:
        raise RecursionError
    if text[part.value] not in "{[":
        return _plain(text[part.value : part.end])
    parts = [*parts_of(text, part.value)]
    if text[part.value] == "[":
        return [_value(text, one, depth + 1) for one in parts]
    found = {one.key: _value(text, one, depth + 1) for one in parts}
    if len(found) < len(parts):
        raise ValueError(part.value)
    return found


def _plain(text: str) -> Any:
    if text[0] == "'":
        text = f'"{text[1:-1]}"'.replace("\\'", "'")
    try:
        return json.loads(text)
    except ValueError:
        return text.strip("\"'")


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    assert match
    return match.end()


def _value_end(text: str, at: int) -> int:
    """Returns where the value that begins here ends."""
    if text[at] not in "{[":
        return _ended(_STRING if text[at] in "\"'" else _ATOM, text, at)
    closing = []
    while True:
        if text[at] in "{[":
            closing.append("]" if text[at] == "[" else "}")
            at += 1
        elif text[at] in "}]":
            if closing.pop() != text[at]:
                raise ValueError(at)
            at += 1
        else:
            at = at + 1 if text[at] in ",:" else _ended(_STRING if text[at] in "\"'" else _ATOM, text, at)
        if not closing:
            return at
        at = _skip(text, at)


def _ended(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    if match is None:
        raise ValueError(at)
    return match.end()


def root_of(text: str) -> int:
    """Returns where the value of a document begins."""
    return _skip(text, 1 if text.startswith("\ufeff") else 0)


def parts_of(text: str, at: int) -> Iterator[Part]:
    """Yields the members of the object, or the elements of the array, that begins here."""
    is_object = text[at] == "{"
    place = _skip(text, at + 1)
    while text[place] not in "]}":
        start, key = place, ""
        if is_object:
            end = _ended(_NAME, text, place)
            key, place = str(_plain(text[place:end])), _skip(text, end)
            if text[place] != ":":
                raise ValueError(place)
            place = _skip(text, place + 1)
        end = _value_end(text, place)
        yield Part(start, place, end, key)
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
        elif text[place] not in "]}":
            raise ValueError(place)


def _add_part(text: str, at: int, part: str, gap: str) -> str:
    """Adds a part to the end of the container that begins here, or before its first part if a comment follows the last one; `gap`
    comes before it."""
    parts = [*parts_of(text, at)]
    if not parts:
        return text[: at + 1] + part + text[at + 1 :]
    last = parts[-1].end
    if parts[0].start != at + 1 and text[last : _value_end(text, at) - 1].strip(", \t\r\n"):
        return text[: at + 1] + f"{gap}{part}," + text[at + 1 :]
    return text[:last] + f",{gap}{part}" + text[last:]


def _remove_part(text: str, at: int, part: Part) -> tuple[str, bool]:
    """Removes a part of the container that begins here; also returns whether the container is empty now and was ours."""
    before, after = None, None
    for other in parts_of(text, at):
        if other.start < part.start:
            before = other
        elif other.start > part.start and after is None:
            after = other
    behind = _skip(text, part.end)
    behind = behind + 1 if text[behind] == "," else part.end
    if before:
        has_comment = text[before.end : part.start].strip(", \t\r\n")
        return (text[: part.start] + text[behind:] if has_comment else text[: before.end] + text[part.end :]), False
    if after:
        lead = text[at + 1 : part.start]
        behind = after.start if not lead and text[behind : after.start].isspace() else behind
        return text[: at + 1 if lead.isspace() else part.start] + text[behind:], False
    is_ours = part.start != at + 1
    return text[: at + 1] + text[part.end :], is_ours
