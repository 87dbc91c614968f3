"""Descriptions of situations as relations between things: text to expressions and back."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.input_checks import check_size

MOST_FACTS, _MOST_PARTS = 80, 1000
_LONGEST, _DEEPEST = 500, 12
_NAME = re.compile(r"\s*([^\s(),][^(),]*?)\s*(?=[(),]|$)")
_HINT = "write attracts(sun, planet), sun attracts planet, hot(sun), or causes(hot(sun), melts(ice))"


class Expression(NamedTuple):
    """A thing, which has no parts, or a relation, attribute or measure of things and other expressions."""

    name: str
    parts: tuple["Expression", ...] = ()

    @property
    def is_thing(self) -> bool:
        return not self.parts

    @property
    def order(self) -> int:
        """0 for a thing, 1 for what is said of things, and so on."""
        return 1 + max(part.order for part in self.parts) if self.parts else 0


def render_expression(one: Expression) -> str:
    """The expression as text."""
    return f"{one.name}({', '.join(map(render_expression, one.parts))})" if one.parts else one.name


def inner(one: Expression) -> Iterator[Expression]:
    """Every expression within an expression, and itself, the outer ones first."""
    yield one
    for part in one.parts:
        yield from inner(part)


def read_facts(said: Any, place: str) -> dict[Expression, None]:
    """The facts of a description, from a list or from labels with facts; a label may stand within other facts."""
    rows: dict[str, str] = {}
    entries = said.items() if isinstance(said, dict) else enumerate(said if isinstance(said, list) else (), 1)
    for key, value in entries:
        label, text = (str(key), value) if isinstance(said, dict) else (f"[{key}]", value)
        if isinstance(text, dict) and len(text) == 1:
            label, text = next(iter(text.items()))
        if not isinstance(text, str) or not text.strip():
            raise BadValue(f"{place}: {label} is no fact", _HINT)
        if label in rows:
            raise BadValue(f"{place}: the label {label} is there twice", "give each fact a label of its own")
        rows[label] = text.strip()
    if not rows:
        raise BadValue(f"{place}: there are no facts", _HINT)
    check_size(place, len(rows), MOST_FACTS, "facts")
    parsed = {
        label: parse_expression(text, f"{place}{label if label[0] == '[' else '.' + label}")
        for label, text in rows.items()
    }
    resolver = _Labels(parsed, place)
    return dict.fromkeys(resolver.resolve(one, (label,)) for label, one in parsed.items())


def parse_expression(text: str, place: str) -> Expression:
    """A fact from `relation(a, b)` or from three words, `a relation b`.

    >>> render_expression(parse_expression("sun attracts planet", ""))
    'attracts(sun, planet)'
    """
    if len(text) > _LONGEST:
        raise BadValue(f"{place}: longer than {_LONGEST} characters", "use labels for its parts")
    if "(" not in text:
        words = text.split()
        if len(words) != 3 or "," in text or ")" in text:
            raise BadValue(f"{place}: cannot read {text[:60]!r}", _HINT)
        return Expression(words[1], (Expression(words[0]), Expression(words[2])))
    found, at = _read(text, 0, place, 0)
    if text[at:].strip():
        raise BadValue(f"{place}: cannot read {text[at : at + 30]!r}", _HINT)
    return found


def _read(text: str, at: int, place: str, depth: int) -> tuple[Expression, int]:
    match = _NAME.match(text, at)
    if not match or depth > _DEEPEST:
        raise BadValue(f"{place}: cannot read {text[at : at + 30]!r}", _HINT if not match else "too deep; use labels")
    name, at = " ".join(match[1].split()), match.end()
    if at >= len(text) or text[at] != "(":
        return Expression(name), at
    parts: list[Expression] = []
    while at < len(text) and text[at] in "(,":
        part, at = _read(text, at + 1, place, depth + 1)
        parts.append(part)
    if at >= len(text) or text[at] != ")":
        raise BadValue(f"{place}: a ) is missing in {text[:60]!r}", f"{_HINT}; within [ ] put each into quotes")
    at += 1
    return Expression(name, tuple(parts)), at + len(text[at:]) - len(text[at:].lstrip())


class _Labels:
    """Puts facts in place of their labels. Few labels can stand for very much: what all facts come to is bounded."""

    def __init__(self, labels: Mapping[str, Expression], place: str) -> None:
        self.labels, self.place = labels, place
        self.size = 0

    def resolve(self, one: Expression, within: tuple[str, ...]) -> Expression:
        self.size += 1
        if self.size > _MOST_PARTS or len(within) > _DEEPEST:
            raise BadValue(f"{self.place}: more than {_MOST_PARTS} parts, or labels {_DEEPEST} deep", "use fewer facts")
        if one.is_thing and one.name in self.labels:
            if one.name in within:
                circle = " -> ".join((*within, one.name))
                raise BadValue(f"{self.place}: {circle} runs in a circle", "a fact cannot contain itself")
            return self.resolve(self.labels[one.name], (*within, one.name))
        return one._replace(parts=tuple(self.resolve(part, within) for part in one.parts))
