"""Structured input of reasoning as people write it: YAML or JSON, with the line of every value, so that a refusal can cite it."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.rule import Pattern, Rule, check_rule
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.knowledge.rules import parse_rule_text

_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_NULLS = ("", "~", "null", "Null", "NULL")
_MOST_VALUES = 200_000
_DEEPEST = 40
_LONGEST = 300  # characters of a number; what is longer no float could hold, and is text
# Two escapes that stand for one character beyond the first 65,536, not behind a backslash that escapes the first.
_PAIR = re.compile(r"((?<!\\)(?:\\\\)*)(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})")
_FIELDS = frozenset(("subject", "predicate", "object", "confidence", "valid_from", "valid_until"))


class Source(NamedTuple):
    """A value that was read, where from, and the line of each part of it by its path, as in `options[2].cost`."""

    value: Any
    path: str
    lines: dict[str, int]

    def part(self, name: str) -> "Source":
        """Returns what stands under a name at the top."""
        below = {
            key.removeprefix(f"{name}.") if key != name else "": line
            for key, line in self.lines.items()
            if key == name or key.startswith((f"{name}.", f"{name}["))
        }
        return Source(self.value[name], self.path, below)

    def without(self, *names: str) -> "Source":
        """Returns the same without some names at the top."""
        kept = {key: value for key, value in self.value.items() if key not in names}
        return self._replace(value=kept)

    def line_of(self, path: str) -> int:
        """Returns the line of a value, or of the nearest one around it that is there."""
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.lines.get(path, self.lines.get("", 1))


def parse_source(text: str, path: str, first_line: int = 1) -> Source:
    """Returns the value in YAML or JSON. Only true and false are truth values, dates stay text: a world may be called
    `no`, and 12:30 is no number."""
    import yaml

    reader = _Reader(path, first_line)
    with suppress(ValueError, RecursionError):
        if text.lstrip()[:1] in ("{", "["):
            json.loads(text)
            # JSON as YAML can read it: tabs become spaces, and pairs of escapes one character.
            text = _PAIR.sub(lambda found: found[1] + json.loads(f'"{found[2]}"'), text.replace("\t", " "))
    # Events, not nodes: what is too deep or too large is refused while it is read, before it fills memory or the stack.
    events = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    try:
        return Source(reader.read_document(events), path, reader.lines)
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).split("\n")[0]
        line = first_line + (mark.line if mark else 0)
        hint = "a text with ': ' or ' #' in it, or one that begins with a sign such as [ ! ? or *, goes in quotes"
        raise InvalidFile(f"{path}:{line}: not valid YAML: {problem}", hint) from None


class _Reader:
    """Events of a parser to values. Aliases are followed, but a few that stand for millions of values are refused."""

    def __init__(self, path: str, first_line: int) -> None:
        self.path = path
        self.first_line = first_line
        self.lines: dict[str, int] = {}
        self._count = 0
        self._anchors: dict[str, tuple[Any, int]] = {}  # values with how many there are in them

    def read_document(self, events: Iterator[Any]) -> Any:
        """Returns the value of the only document."""
        found = None
        for event in events:
            kind = type(event).__name__
            if kind == "DocumentStartEvent":
                if self.lines:
                    raise self._refused(event, "a second document begins", "give one")
                found = self._read(next(events), events, "", 0)
        return found

    def _refused(self, event: Any, text: str, hint: str) -> InvalidFile:
        return InvalidFile(f"{self.path}:{self.first_line + event.start_mark.line}: {text}", hint)

    def _read(self, event: Any, events: Iterator[Any], path: str, depth: int) -> Any:
        before, kind = self._count, type(event).__name__
        if kind == "AliasEvent" and event.anchor not in self._anchors:
            raise self._refused(event, f"*{event.anchor} stands for nothing that comes before it", "")
        self._count += self._anchors[event.anchor][1] if kind == "AliasEvent" else 1
        if depth > _DEEPEST or self._count > _MOST_VALUES:
            raise self._refused(event, "too deep or too large", "give fewer values")
        self.lines[path] = self.first_line + event.start_mark.line
        if kind == "AliasEvent":
            return self._anchors[event.anchor][0]
        if kind == "ScalarEvent":
            found = _scalar(event)
        elif kind == "SequenceStartEvent":
            found = []
            while type(each := next(events)).__name__ != "SequenceEndEvent":
                found.append(self._read(each, events, f"{path}[{len(found) + 1}]", depth + 1))
        else:
            found = self._read_map(events, path, depth)
        if event.anchor:
            self._anchors[event.anchor] = (found, self._count - before)
        return found

    def _read_map(self, events: Iterator[Any], path: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while type(key := next(events)).__name__ != "MappingEndEvent":
            if type(key).__name__ != "ScalarEvent":
                raise self._refused(key, "a name must be a single word or text", "")
            if key.value in found:
                raise self._refused(key, f"{key.value} occurs twice", "keep one of them")
            below = f"{path}.{key.value}" if path else key.value
            found[key.value] = self._read(next(events), events, below, depth + 1)
            self.lines[below] = self.first_line + key.start_mark.line
        return found


def _scalar(event: Any) -> Any:
    """Returns numbers, true, false and None for what stands without quotes; all else is the text that stands there."""
    text = event.value
    if event.style:
        return text
    if text in _NULLS:
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if len(text) <= _LONGEST and _NUMBER.fullmatch(text) and not re.match(r"[-+]?0\d", text):
        plain = text.replace("_", "")
        return int(plain) if re.fullmatch(r"[-+]?\d+", plain) else float(plain)
    return text


def _parse_fact(value: Any) -> Fact:
    """Returns a fact from `s p o` or its fields; its triple is its id, for nothing else names it."""
    more: dict[str, Any] = {}
    if isinstance(value, str):
        found = _parse_pattern(value)
        if found.operator != "eq" or any(term.startswith("?") for term in found[:3]):
            raise BadValue(f"{value[:60]!r} is a condition, not a fact", "write: subject predicate object")
        terms = [*found[:3]]
    elif isinstance(value, dict) and value.keys() <= _FIELDS:
        terms = [str(value.get(name, "")).strip() for name in ("subject", "predicate", "object")]
        more = {name: value[name] for name in ("confidence", "valid_from", "valid_until") if name in value}
    else:
        raise BadValue("a fact is `subject predicate object`, or fields", "")
    if not all(terms):
        raise BadValue("a fact needs a subject, a predicate and an object", "")
    confidence = more.setdefault("confidence", 1.0)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise BadValue(f"the confidence of a fact must be from 0 to 1, not {confidence!r}", "")
    subject, predicate, object_ = terms
    return Fact(" ".join(terms), subject, predicate, object_, **more)


def _parse_pattern(value: Any) -> Pattern:
    """Returns a triple that may hold variables, as in `?x isA customer`."""
    if not isinstance(value, str):
        raise BadValue("must be `subject predicate object`", "a variable starts with ?")
    conditions, conclusion = parse_rule_text(value)
    if len(conditions) != 1 or conclusion is not None:
        raise BadValue(f"{value[:60]!r} must be one triple", "write: subject predicate object")
    return conditions[0]


def _parse_rule(value: Any) -> Rule:
    """Returns a rule from `if ... then ...`; name and factor may stand beside `if`."""
    fields = {"if": value} if isinstance(value, str) else value
    if not isinstance(fields, dict) or not fields.keys() <= {"if", "then", "factor", "name"}:
        raise BadValue("a rule is `if ... then ...`, or has the fields if, then, factor, name", "")
    text = str(fields.get("if", "")) + (f" then {fields['then']}" if "then" in fields else "")
    conditions, conclusion = parse_rule_text(text)
    name = str(fields.get("name", "")) or text.strip()
    rule = Rule(name, name, "inference", conditions, conclusion, confidence_factor=fields.get("factor", 1.0))
    problems = check_rule(rule)
    if problems:
        raise BadValue(f"{rule.name[:60]!r} cannot run: {problems[0]}", "")
    return rule


PARSERS = {"fact": _parse_fact, "pattern": _parse_pattern, "rule": _parse_rule}


def cited(error: BadValue, source: Source) -> InvalidFile:
    """Returns a refusal with the line of the field that it names first."""
    place = re.match(r"[^:\s]+", error.message)
    line = source.line_of(place.group() if place else "")
    return InvalidFile(f"{source.path}:{line}: {error.message}", error.hint)
