"""The settings files of agent hosts, with our hooks put in and taken out again: all else stays to the byte.

A part that is put behind something else brings its comma. What is put into something empty stands right behind the bracket, and what we
make ourselves begins on a new line: that is how taking it out knows whether the empty rest was there before.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mabos_cli.core.operations.hook_hosts import EVENTS, NAMES
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import dump_document, dump_line, parse_json

_OURS = re.compile(r"(?:^|[\s/\\'\"])mabos(?:_cli)?['\"]? hook [A-Za-z-]+ --host (\w+)")
_HINT = "nothing was changed; repair the file by hand: comments are not JSON"
_BLANK = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_ATOM = re.compile(r"[^\s,\]}]+")
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]]', re.DOTALL)


class Part(NamedTuple):
    """A member of an object or an element of an array: where it begins, where its value begins and ends."""

    start: int
    value: int
    end: int
    key: str = ""


class Hook(NamedTuple):
    """A hook as a host's settings have it: the host's name of the event, and the element of its array."""

    event: str
    element: dict[str, Any]


def hooks_of(host: str, program: str, options: str = "") -> list[Hook]:
    """Returns our hooks for a host, which calls a program with options.

    Cursor takes nothing into the context with a prompt; it and Gemini tell no number of tokens when an agent stops.
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
        found += [Hook(name, element)] if event not in skipped else []
    return found


def add_hooks(text: str | None, hooks: Sequence[Hook], host: str, shown: str, head: dict[str, Any]) -> str:
    """Adds our hooks to settings and removes older ones of ours. Without a file, new settings begin with `head`."""
    text = None if text is None else remove_hooks(text, host, shown)
    if text is None:
        # Ours come before what a new file must have: behind it they would look as if the rest had been there first.
        return dump_document({"hooks": {hook.event: [hook.element] for hook in hooks}, **head})
    newline = "\r\n" if "\r\n" in text else "\n"
    step = _indent(text)
    for hook in hooks:
        text = _put(text, hook, newline, step)
    return text


def check_settings(text: str, shown: str) -> None:
    """Raises InvalidFile when settings cannot be read, or hooks are not where we would put ours."""
    found = parse_json(text.removeprefix("\ufeff"), shown, hint=_HINT)
    if not isinstance(found, dict):
        raise InvalidFile(f"{shown}:1: the settings must be an object", _HINT)
    hooks = found.get("hooks", {})
    if not isinstance(hooks, dict):
        raise InvalidFile(f"{shown}:{_line(text, 'hooks')}: hooks must be an object", _HINT)
    for event, elements in hooks.items():
        if not isinstance(elements, list) and event not in ("enabled", "disabled"):
            raise InvalidFile(f"{shown}:{_line(text, event)}: the hooks of {event[:60]} must be a list", _HINT)


def _line(text: str, key: str) -> int:
    return text[: max(0, text.find(dump_line(key)))].count("\n") + 1


def _member(text: str, at: int, key: str) -> Part | None:
    return next((part for part in parts_of(text, at) if part.key == key), None)


def _put(text: str, hook: Hook, newline: str, step: str) -> str:
    """Adds one hook to settings, in the layout that they have."""
    element = dump_line(hook.element)
    root = root_of(text)
    hooks = _member(text, root, "hooks")
    inner = newline + step * 2
    if hooks is None:
        member = f'"hooks": {{{inner}{_event(hook.event, element, newline, step)}{newline}{step}}}'
        return add_part(text, root, member, newline + step)
    event = _member(text, hooks.value, hook.event)
    if event is None:
        return add_part(text, hooks.value, _event(hook.event, element, newline, step), inner)
    return add_part(text, event.value, element, newline + step * 3)


def _event(name: str, element: str, newline: str, step: str) -> str:
    return f'"{name}": [{newline}{step * 3}{element}{newline}{step * 2}]'


def _indent(text: str) -> str:
    """Returns what the first member is indented by; two blanks where it has no line of its own."""
    match = re.match(r"\ufeff?\s*\{[^\S\n]*\r?\n([ \t]+)\"", text)
    return match[1] if match else "  "


def remove_hooks(text: str, host: str, shown: str) -> str | None:
    """Removes our hooks from settings, and what we made around them. None when that was the whole file."""
    check_settings(text, shown)
    while found := next(_ours(text, host), None):
        hooks, event, at, part = found
        text, is_empty = remove_part(text, at, part)
        if not is_empty:
            continue
        text, is_empty = _dropped(text, hooks, event)
        if not is_empty:
            continue
        root = root_of(text)
        first = next(parts_of(text, root)).start == hooks.start
        text, is_empty = _dropped(text, Part(root, root, 0), hooks)
        if is_empty or (first and text == dump_document({"version": 1})):  # nothing is left but what a new file has
            return None
    return text


def _dropped(text: str, container: Part, part: Part) -> tuple[str, bool]:
    """Removes a member that is empty now: it begins where it did, but ends earlier."""
    left = next(other for other in parts_of(text, container.value) if other.start == part.start)
    return remove_part(text, container.value, left)


def _ours(text: str, host: str) -> Iterator[tuple[Part, Part, int, Part]]:
    """Yields our hooks: the member of hooks, that of the event, the array, and the hook or all around it."""
    hooks = _member(text, root_of(text), "hooks")
    if hooks is None:
        return
    for event in parts_of(text, hooks.value):
        for element in parts_of(text, event.value) if text[event.value] == "[" else ():
            inner = _member(text, element.value, "hooks") if text[element.value] == "{" else None
            if inner is None or text[inner.value] != "[":
                if _is_ours(text, element, host):
                    yield hooks, event, event.value, element
                continue
            held = [*parts_of(text, inner.value)]
            ours = [part for part in held if _is_ours(text, part, host)]
            if ours and len(ours) == len(held):
                yield hooks, event, event.value, element
            elif ours:
                yield hooks, event, inner.value, ours[0]


def _is_ours(text: str, part: Part, host: str) -> bool:
    """Returns whether an object runs our program for this host."""
    found = parse_json(text[part.value : part.end], "settings")
    command = found.get("command") if isinstance(found, dict) else None
    match = _OURS.search(command) if isinstance(command, str) else None
    return match is not None and match[1] == host


# Members and elements of JSON text.


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    assert match
    return match.end()


def _value_end(text: str, at: int) -> int:
    """Returns where the value that begins here ends. The text is JSON that was read before."""
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
    """Returns where the value of a document begins."""
    return _skip(text, 1 if text.startswith("\ufeff") else 0)


def parts_of(text: str, at: int) -> Iterator[Part]:
    """Yields the members of the object, or the elements of the array, that begins here."""
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
    """Adds a part behind the last one of the container that begins here; gap is what comes before it on its line."""
    last = next(iter(reversed([*parts_of(text, at)])), None)
    place = last.end if last else at + 1
    return text[:place] + (f",{gap}{part}" if last else part) + text[place:]


def remove_part(text: str, at: int, part: Part) -> tuple[str, bool]:
    """Removes a part of the container that begins here; also returns whether that is empty now and was ours."""
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
