"""Values and lines cut down to a size, so that an answer fits where it goes: what is left is still whole, and what went is counted."""

import json
from collections.abc import Iterable
from typing import Any

from mabos_cli.core.language.text import plural

_LEAST = 2  # characters of the smallest value that can stand for a cut one: "", [] or {}
_JOINT = 4  # characters between a name and its value, and behind it


def json_size(value: Any) -> int:
    """How many characters a value takes as JSON."""
    return len(json.dumps(value, ensure_ascii=False))


def fit_value(value: Any, room: int) -> tuple[Any, dict[str, int]]:
    """The value in at most `room` characters of JSON, and by place how much was cut away: entries of a list, names, or characters.

    Lists keep their first entries; what is small stays whole, what is large shares the rest. A number is never cut: in a room too
    small for it the name goes.

    >>> fit_value({"count": 3, "results": ["aaaa", "bbbb", "cccc"]}, 40)
    ({'count': 3, 'results': ['aaaa']}, {'results': 2})
    """
    cuts: dict[str, int] = {}
    return _fit(value, max(room, _LEAST), "", cuts), cuts


def _fit(value: Any, room: int, place: str, cuts: dict[str, int]) -> Any:
    if json_size(value) <= room:
        return value
    if isinstance(value, str):
        return _fit_text(value, room, place, cuts)
    if isinstance(value, dict):
        return _fit_names(value, room, place, cuts)
    return _fit_list(value, room, place, cuts) if isinstance(value, list) else value


def _fit_text(text: str, room: int, place: str, cuts: dict[str, int]) -> str:
    """The start of a text; what needs escaping takes more room than it seems."""
    kept = text[: room - _LEAST]
    while (over := json_size(kept) - room) > 0:
        kept = kept[: -max(1, over // 6)]
    cuts[place] = len(text) - len(kept)
    return kept


def _fit_list(entries: list[Any], room: int, place: str, cuts: dict[str, int]) -> list[Any]:
    """The first entries that fit; when not even the first does, that one cut down."""
    kept, left = [], room
    for entry in entries:
        left -= json_size(entry) + _LEAST
        if left < 0:
            break
        kept.append(entry)
    if not kept and room >= 3 * _LEAST and not isinstance(entries[0], int | float | None):
        kept = [_fit(entries[0], room - _LEAST, _below(place, "0"), cuts)]
    if len(kept) < len(entries):
        cuts[place] = len(entries) - len(kept)
    return kept


def _fit_names(entries: dict[str, Any], room: int, place: str, cuts: dict[str, int]) -> dict[str, Any]:
    """Names with their values: small ones first, each large one an equal share of what they leave."""
    sizes = {name: json_size(value) for name, value in entries.items()}
    order = sorted(sizes, key=lambda name: sizes[name])
    kept: dict[str, Any] = {}
    left = room - _LEAST
    for number, name in enumerate(order):
        share = left // (len(order) - number) if sizes[name] > left // (len(order) - number) else left
        own = share - json_size(name) - _JOINT
        cuttable = isinstance(entries[name], str | list | dict)
        if own < (_LEAST if cuttable else sizes[name]):
            continue
        kept[name] = _fit(entries[name], own, _below(place, name), cuts)
        left -= json_size(name) + _JOINT + json_size(kept[name])
    if len(kept) < len(entries):
        cuts[place or "."] = len(entries) - len(kept)
    return {name: kept[name] for name in entries if name in kept}


def _below(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def fit_lines(lines: Iterable[str], room: int) -> str:
    """Lines as one text of at most `room` characters; the last line says how much did not fit.

    >>> fit_lines(["one", "two", "three"], 100)
    'one\\ntwo\\nthree'
    >>> fit_lines(["a" * 40, "b" * 40, "c" * 40], 80)
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\\n(2 lines more did not fit)'
    """
    whole = "\n".join(lines)
    if len(whole) <= room:
        return whole
    count = whole.count("\n") + 1
    end = whole.rfind("\n", 0, max(0, room - len(_rest(count))))
    if end < 0:
        return whole[: max(0, room - 1)] + "…"[:room]
    return f"{whole[:end]}\n{_rest(whole.count(chr(10), end))}"


def _rest(count: int) -> str:
    return f"({plural(count, 'line')} more did not fit)"
