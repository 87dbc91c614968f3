"""facts.json and facts-derived.json: one fact per line. The only place that knows the order of their keys."""

from collections.abc import Iterator
from typing import Any

from mabos_cli.core.clock import find_time
from mabos_cli.core.fact import Fact
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json_text import dump_line, parse_json
from mabos_cli.formats.lined_json import line_of, render_array, render_document, render_value, split_lines

_TEXT = tuple(name for name in Fact._fields if name not in ("confidence", "derived_from", "extra"))
_ORDER = Fact._fields[:-1]  # all but extra
_ALWAYS = frozenset(("id", "subject", "predicate", "object", "confidence", "source", "trust", "created_at"))
_KNOWN = frozenset(_ORDER)
_MEND = "repair the value by hand, or restore the file from git"


class FactFile:
    """A file of facts: raw lines, the version, the last id issued, and other keys as they were."""

    def __init__(
        self,
        lines: list[bytes] | None = None,
        version: int = 0,
        last_id: str = "",
        extra: dict[str, Any] | None = None,
    ) -> None:
        self.lines = lines or []
        self.version = version
        self.last_id = last_id
        self.extra = extra or {}

    def facts(self, path: str = "facts.json") -> Iterator[Fact]:
        """The facts, decoded as they are asked for."""
        for number, line in enumerate(self.lines):
            yield parse_fact(line, f"{path}:{number + 3}")

    def lines_with(self, name: str, value: str) -> Iterator[bytes]:
        """The lines whose field has exactly a value, found by text: nothing else is decoded."""
        wanted = f'"{name}": {dump_line(value)}, "'.encode()
        return (line for line in self.lines if wanted in line)


def parse_facts(data: bytes, path: str) -> FactFile:
    """The facts in a file. Lines are split by text when they are in our layout, decoded otherwise."""
    head, lines = split_lines(data, "facts", path)
    raw = parse_json(head, path)
    if isinstance(raw, list):  # other tools keep a bare list
        raw = {"facts": raw}
    if not isinstance(raw, dict) or not isinstance(raw.get("facts", []), list):
        raise InvalidFile(f"{path}:1: a fact store must be an object with a list of facts", _MEND)
    found = raw.pop("facts", [])
    version, last_id = raw.pop("version", 0), raw.pop("last_id", "")
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        raise InvalidFile(f"{path}: version must be a whole number", _MEND)
    decoded = [render_fact(_located(entry, path, data)) for entry in found]
    return FactFile(decoded or lines, version, str(last_id), raw)


def _located(entry: Any, path: str, data: bytes) -> Fact:
    try:
        return fact_from_dict(entry, path)
    except InvalidFile:
        mark = dump_line(entry.get("id", "")).encode() if isinstance(entry, dict) else b""
        return fact_from_dict(entry, f"{path}:{line_of(data, mark)}")


def render_facts(file: FactFile) -> bytes:
    """The file's bytes."""
    parts = [render_array("facts", file.lines)]
    parts += [render_value(key, value) for key, value in file.extra.items()]
    parts += [render_value("last_id", file.last_id)] if file.last_id else []
    return render_document([*parts, render_value("version", file.version)])


def fact_to_dict(fact: Fact) -> dict[str, Any]:
    """The fact as JSON values in a fixed order; empty optional fields are left out, foreign keys come last."""
    found = {}
    for name in _ORDER:
        value = getattr(fact, name)
        if value or name in _ALWAYS:
            found[name] = list(value) if type(value) is tuple else value
    return found | dict(fact.extra)


def fact_from_dict(raw: Any, where: str) -> Fact:
    """The fact that a JSON object holds; InvalidFile names the place and the field that is off."""
    if not isinstance(raw, dict):
        raise InvalidFile(f"{where}: a fact must be an object", _MEND)
    label = f"{where}: fact {str(raw.get('id', '?'))[:60]}"
    values: dict[str, Any] = {}
    for name in _TEXT:
        value = raw.get(name)
        if isinstance(value, bool | int | float) and name == "object":
            value = dump_line(value)  # other tools write numbers as numbers
        if value is not None and not isinstance(value, str):
            raise InvalidFile(f"{label}: {name} must be text", _MEND)
        values |= {name: value} if value is not None else {}
    missing = [name for name in ("id", "subject", "predicate", "object") if not values.get(name)]
    if missing:
        raise InvalidFile(f"{label}: {missing[0]} is missing", _MEND)
    confidence = raw.get("confidence", 1.0)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise InvalidFile(f"{label}: confidence {confidence!r} is outside 0..1", _MEND)
    for name in ("valid_from", "valid_until"):
        if values.get(name) and find_time(values[name]) is None:
            raise InvalidFile(f"{label}: {name} {values[name][:40]!r} is no date", _MEND)
    sources = raw.get("derived_from") or ()
    if not isinstance(sources, list | tuple) or not all(isinstance(part, str) for part in sources):
        raise InvalidFile(f"{label}: derived_from must be a list of ids", _MEND)
    extra = tuple((key, value) for key, value in raw.items() if key not in _KNOWN)
    return Fact(confidence=confidence, derived_from=tuple(sources), extra=extra, **values)


def render_fact(fact: Fact) -> bytes:
    """The fact as one JSON line, without the newline."""
    return dump_line(fact_to_dict(fact)).encode("utf-8")


def parse_fact(line: bytes, where: str) -> Fact:
    """The fact on a JSON line."""
    return fact_from_dict(parse_json(line, where), where)
