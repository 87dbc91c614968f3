"""Adds our table to a TOML file of an agent host and removes it again; all other bytes stay as they are."""

import json
import re
import tomllib
from contextlib import suppress
from itertools import pairwise
from typing import Any

from mabos_cli.errors import InvalidFile

_HINT = "nothing was changed; repair the file by hand"
_HEADER = re.compile(r"^[ \t]*\[{1,2}[ \t]*([^\r\n]+?)[ \t]*\]{1,2}[ \t]*(?:#.*)?\r?$", re.MULTILINE)


def add_table(text: str | None, name: str, values: dict[str, Any], shown: str) -> str:
    """Adds a table to the text of a file, or replaces the one with that name; returns the same text if it is there already."""
    found = _find(_load(text or "", shown), name)
    if text is not None and isinstance(found, dict) and found | values == found:  # a person may have added to it
        return text
    text = None if text is None else remove_table(text, name, shown)
    newline = "\r\n" if text and "\r\n" in text else "\n"
    block = newline.join([f"[{name}]", *(f"{key} = {_render(value)}" for key, value in values.items())])
    if text is None:
        return block + newline
    # If the last line of the file has no line end, ours has none either, so that removing it restores the file.
    new = f"{text}{newline}{block}{newline}" if text.endswith("\n") or not text else f"{text}{newline * 2}{block}"
    with suppress(InvalidFile):  # such as inline tables
        if _find(_load(new, shown), name) == values and remove_table(new, name, shown) == text:
            return new
    raise InvalidFile(f"{shown}: our table cannot be added without changing other parts of it", _HINT)


def remove_table(text: str, name: str, shown: str) -> str | None:
    """Removes a table and its subtables from the text of a file. None if that was the whole file."""
    wanted = _load(text, shown)
    is_whole = False
    while span := _span(text, name):
        start, end = span
        lines = text[start:end].splitlines(keepends=True)
        while lines[-1].strip()[:1] in ("", "#"):  # comments before the next table are about that
            lines.pop()
        before, behind = text[:start], text[start + sum(map(len, lines)) :]
        newline = "\r\n" if before.endswith("\r\n") else "\n"
        if before == newline or before.endswith(newline * 2):
            before = before.removesuffix(newline)
            before = before if lines[-1].endswith("\n") else before.removesuffix(newline)
        is_whole = not start and not behind
        text = before + behind
    *above, last = name.split(".")
    if isinstance(place := _find(wanted, ".".join(above)), dict):
        place.pop(last, None)
    with suppress(InvalidFile):  # such as a text that looks like a table
        if _filled(_load(text, shown)) == _filled(wanted):
            return None if is_whole else text
    raise InvalidFile(f"{shown}: {name} is no table of its own", "nothing was changed; remove it by hand")


def _span(text: str, name: str) -> tuple[int, int] | None:
    """Returns the start of the first table with the name or below it, and the start of the table after it."""
    heads = [(match.start(), re.sub(r"[\s\"']", "", match[1])) for match in _HEADER.finditer(text)]
    pairs = pairwise([*heads, (len(text), "")])
    return next(((at, end) for (at, found), (end, _) in pairs if f"{found}.".startswith(f"{name}.")), None)


def _load(text: str, shown: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        line = re.search(r"line (\d+)", str(error))
        where = line[1] if line else text.count("\n") + 1
        raise InvalidFile(f"{shown}:{where}: not valid TOML", _HINT) from None


def _find(found: Any, name: str) -> Any:
    for key in name.split("."):
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _filled(found: dict[str, Any]) -> dict[str, Any]:
    """Returns the values without empty tables: a table exists as soon as one below it does."""
    inner = {key: _filled(value) if isinstance(value, dict) else value for key, value in found.items()}
    return {key: value for key, value in inner.items() if value != {}}


def _render(value: Any) -> str:
    """Returns a text or a list of texts: strings are those of JSON."""
    if isinstance(value, list):
        return f"[{', '.join(map(_render, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
