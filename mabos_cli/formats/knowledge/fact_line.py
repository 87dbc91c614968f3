"""A fact as a JSON object, and on a line. The only place that knows the order of the keys."""

import re
from functools import cache, lru_cache
from typing import Any

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.language.clock import find_time
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import dump_line, parse_json, record_to_dict

MEND = "repair the value by hand, or restore the file from git"
_TEXT = tuple(name for name in Fact._fields if name not in ("confidence", "derived_from", "extra"))
_ORDER = Fact._fields[:-1]  # all but extra
_ALWAYS = frozenset(("id", "subject", "predicate", "object", "confidence", "source", "trust", "created_at"))
_KNOWN = frozenset(_ORDER)
# A number from 0 to 1 as we write it.
_SHARE = r"(?:0(?:\.[0-9]++)?+|1(?:\.0)?+|[0-9](?:\.[0-9]++)?+e-(?:0[1-9]|[1-9][0-9]*+))"


def _line_pattern(needed: str, text: str, ids: str, share: str, more: str) -> str:
    """A line as we write it, from expressions for a text that may not be empty, any text, ids, a number from 0 to 1, and more keys."""
    found = []
    for name in _ORDER:
        value = {"derived_from": rf"\[{ids}\]", "confidence": share}.get(name, text)
        value = needed if name in ("id", "subject", "predicate", "object") else value
        part = rf'{", " * (name != "id")}"{name}": {value}'
        found.append(part if name in _ALWAYS else f"(?:{part})?+")
    return rf"\{{{''.join(found)}{more}\}}"


@cache
def line_shape() -> str:
    """What a line must look like so that it can be found by its text: the keys in our order, texts escaped as we do it."""
    rest = r'[^"\\\x00-\x1f]*+(?:\\[^u/][^"\\\x00-\x1f]*+)*+"'
    foreign = rf'(?:, (?![^\n]*"(?:{"|".join(_ORDER)})": )[^\n]*)?'
    return _line_pattern(f'"(?!"){rest}', f'"{rest}', f'"{rest}(?:, "{rest})*+', _SHARE, foreign)


@cache
def _plain_line() -> re.Pattern[str]:
    """A line without escapes and foreign keys, with a group for each value: it need not be decoded as JSON."""
    rest = r'[^"\\\x00-\x1f]*+'
    return re.compile(
        _line_pattern(f'"((?!"){rest})"', f'"({rest})"', f'"({rest}(?:", "{rest})*+)"', f"({_SHARE})", "")
    )


@lru_cache(maxsize=4096)
def is_time(text: str) -> bool:
    """Whether a text names a day or a moment; one that says nothing is as good."""
    return not text or find_time(text) is not None


def parse_fact(line: bytes, where: str) -> Fact:
    """The fact on a JSON line; InvalidFile cites the place."""
    try:
        found = _plain_line().fullmatch(line.decode("utf-8"))
    except UnicodeDecodeError:
        found = None
    values: list[Any] = list(found.groups("")) if found else []
    if not values or not (is_time(values[7]) and is_time(values[8])):
        path, number = _split_place(where)
        return fact_from_dict(parse_json(line, path, line=number), where)
    values[4] = float(values[4]) if len(values[4]) > 1 else int(values[4])
    values[9] = tuple(values[9].split('", "')) if values[9] else ()
    return Fact(*values)


def _split_place(where: str) -> tuple[str, int]:
    """The path and the line of a place such as facts.json:12."""
    path, _, number = where.rpartition(":")
    return (path, int(number)) if number.isdigit() else (where, 0)


def render_fact(fact: Fact) -> bytes:
    """The fact as one JSON line, without the newline."""
    return dump_line(fact_to_dict(fact)).encode("utf-8")


def fact_to_dict(fact: Fact) -> dict[str, Any]:
    """The fact as JSON values in a fixed order; empty optional fields are left out, foreign keys come last."""
    return record_to_dict(fact, _ALWAYS)


def fact_from_dict(raw: Any, where: str) -> Fact:
    """The fact that a JSON object holds; InvalidFile names the place and the field that is off."""
    if not isinstance(raw, dict):
        raise InvalidFile(f"{where}: a fact must be an object", MEND)
    label = f"{where}: fact {str(raw.get('id', '?'))[:60]}"
    values: dict[str, Any] = {}
    for name in _TEXT:
        value = raw.get(name)
        if isinstance(value, bool | int | float) and name == "object":
            value = dump_line(value)  # other tools write numbers as numbers
        if value is not None and not isinstance(value, str):
            raise InvalidFile(f"{label}: {name} must be text", MEND)
        values |= {name: value} if value is not None else {}
    missing = [name for name in ("id", "subject", "predicate", "object") if not values.get(name)]
    if missing:
        raise InvalidFile(f"{label}: {missing[0]} is missing", MEND)
    confidence = raw.get("confidence", 1.0)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise InvalidFile(f"{label}: confidence {confidence!r} is outside 0..1", MEND)
    for name in ("valid_from", "valid_until"):
        if not is_time(values.get(name, "")):
            raise InvalidFile(f"{label}: {name} {values[name][:40]!r} is no date", MEND)
    sources = raw.get("derived_from") or ()
    if not isinstance(sources, list | tuple) or not all(isinstance(part, str) for part in sources):
        raise InvalidFile(f"{label}: derived_from must be a list of ids", MEND)
    extra = tuple((key, value) for key, value in raw.items() if key not in _KNOWN)
    return Fact(confidence=confidence, derived_from=tuple(sources), extra=extra, **values)
