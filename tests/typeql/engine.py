"""A small TypeQL engine over values in memory: as much of the language as the program emits, read by a lexer of its own.

It refuses what a server would refuse: unknown types, attributes that a type does not own, roles that it does not play, a key held
twice, an update of what may be there several times.
"""

import re
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from itertools import count
from typing import Any

from mabos_cli.core.mirror.schema import Schema

_LEX = re.compile(
    r"""\s+|(?P<text>"(?:[^"\\]|\\.)*")|(?P<moment>\d{4}-\d\d-\d\dT[\d:.]+Z)|(?P<day>\d{4}-\d\d-\d\d)"""
    r"""|(?P<decimal>-?\d+\.\d+dec)|(?P<number>-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+)"""
    r"""|(?P<var>\$\w+)|(?P<word>isa!|[a-z_]\w*)|(?P<sign>==|!=|<=|>=|[<>{}\[\]();:,.])""",
    re.DOTALL,
)
_PLAIN = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "'": "'", "\\": "\\"}
_COMPARE = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "contains": lambda a, b: b.casefold() in a.casefold(),
    "like": lambda text, pattern: re.search(pattern, text) is not None,
}
Row = dict[str, Any]


def unescape(literal: str) -> str:
    """The text that a quoted literal stands for, by the grammar of TypeQL: \\b \\t \\n \\f \\r \\" \\' \\\\ and \\u with four digits."""
    assert re.fullmatch(r'"(?:[^"\\]|\\.)*"', literal, re.DOTALL), literal

    def one(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else _PLAIN[match[2]]

    return re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.))", one, literal[1:-1], flags=re.DOTALL)


def lex(query: str) -> list[tuple[str, Any]]:
    found, at = [], 0
    while at < len(query):
        match = _LEX.match(query, at)
        assert match, query[at : at + 40]
        at = match.end()
        kind, text = match.lastgroup, match[0]
        if kind == "text":
            found.append(("value", unescape(text)))
        elif kind == "moment":
            found.append(("value", datetime.fromisoformat(text)))
        elif kind == "day":
            found.append(("value", date.fromisoformat(text)))
        elif kind == "decimal":
            found.append(("value", Decimal(text.removesuffix("dec"))))
        elif kind == "number":
            found.append(("value", float(text) if "." in text else int(text)))
        elif kind == "word" and text in ("true", "false"):
            found.append(("value", text == "true"))
        elif kind:
            found.append((kind, text))
    return found


class Attr(tuple):
    """An attribute: its type and its value."""


class Engine:
    """A database with a schema. Things are numbers; an attribute is a type and a value."""

    def __init__(self, schema: Schema) -> None:
        self.values = {each.name: each.value_type for each in schema.attributes}
        self.above = {each.name: each.parent for kind in (schema.entities, schema.relations) for each in kind}
        self.abstract = {each.name for each in schema.entities if each.marks == ("@abstract",)}
        self.owns = {each.name: {own.attribute: own.marks for own in each.owns} for each in schema.entities}
        self.plays = {each.name: {(p.relation, p.role) for p in each.plays} for each in schema.entities}
        self.roles = {each.name: {*each.roles} for each in schema.relations}
        for each in (*schema.relations, *schema.entities):
            for up in self._up(each.name):
                if each.name in self.roles:
                    self.roles[each.name] |= self.roles[up]
                else:
                    self.owns[each.name] = self.owns[up] | self.owns[each.name]
                    self.plays[each.name] |= self.plays[up]
        self.types: dict[int, str] = {}
        self.has: dict[int, set[tuple[str, Any]]] = {}
        self.links: dict[int, dict[str, int]] = {}
        self._new = count(1)

    def _up(self, kind: str) -> list[str]:
        """A type and all above it."""
        return [kind, *(self._up(self.above[kind]) if self.above.get(kind) else ())]

    def run(self, query: str) -> list[Row]:
        """The rows or documents of a query."""
        reader = _Reader(lex(query))
        rows: list[Row] = [{}]
        while not reader.at_end():
            rows = self._stage(reader, rows)
        return rows

    def state(self) -> tuple[list[Any], list[Any]]:
        """All that is there, without the numbers of things."""
        things = sorted((kind, sorted(self.has[own], key=repr)) for own, kind in self.types.items() if own in self.has)
        named = {own: next(v for name, v in held if name == "uid") for own, held in self.has.items()}
        relations = [
            (self.types[own], sorted((role, named[player]) for role, player in players.items()))
            for own, players in self.links.items()
        ]
        return things, sorted(relations)

    def _stage(self, reader: "_Reader", rows: list[Row]) -> list[Row]:
        word = reader.word()
        if word == "match":
            patterns = reader.patterns()
            return [found for row in rows for found in self._match(patterns, row)]
        if word in ("put", "insert", "update", "delete"):
            told = reader.deleted() if word == "delete" else reader.patterns()
            return [found for row in rows for found in getattr(self, f"_{word}")(told, row)]
        if word == "fetch":
            start = reader.at
            found = []
            for row in rows:
                reader.at = start
                found.append(self._fetch(reader, row))
            if not rows:
                reader.skip_object()
            reader.take(";")
            return found
        names = reader.names()
        if word == "sort":
            return sorted(rows, key=lambda row: [row[name][1] for name in names])
        if word == "select":
            return [{name: row[name] for name in names} for row in rows]
        if word == "distinct":
            return [row for number, row in enumerate(rows) if row not in rows[:number]]
        assert word == "limit", word
        return rows[: names[0]]

    def _match(self, patterns: list[Any], row: Row) -> Iterator[Row]:
        if not patterns:
            yield row
            return
        first, *rest = patterns
        for found in self._pattern(first, row):
            yield from self._match(rest, found)

    def _pattern(self, pattern: Any, row: Row) -> Iterator[Row]:
        kind, *told = pattern
        if kind == "or":
            for branch in told[0]:
                for found in self._match(branch, row):
                    yield {**row, **found}
        elif kind == "not":
            if not any(self._match(told[0], row)):
                yield row
        elif kind == "compare":
            name, sign, value = told
            assert type(row[name][1]) is type(value) or {type(row[name][1]), type(value)} <= {int, float}
            if _COMPARE[sign](row[name][1], value):
                yield row
        else:
            yield from self._thing(told[0], told[1], row)

    def _thing(self, name: str, constraints: list[Any], row: Row) -> Iterator[Row]:
        if name in row:
            candidates: list[Any] = [row[name]]
        elif any(each[0] == "links" for each in constraints):
            candidates = [*self.links]
        else:
            candidates = [*self.has]
        for each in candidates:
            yield from self._constrain(each, constraints, {**row, name: each})

    def _constrain(self, thing: Any, constraints: list[Any], row: Row) -> Iterator[Row]:
        if not constraints:
            yield row
            return
        (kind, *told), *rest = constraints
        for found in getattr(self, f"_by_{kind}")(thing, *told, row):
            yield from self._constrain(thing, rest, found)

    def _by_isa(self, thing: Any, kind: str, exact: bool, row: Row) -> Iterator[Row]:
        assert kind in self.owns or kind in self.roles or kind in self.values, kind
        own = thing[0] if isinstance(thing, Attr) else self.types[thing]
        if own == kind or (not exact and kind in self._up(own)):
            yield row

    def _by_has(self, thing: int, attribute: str, value: Any, row: Row) -> Iterator[Row]:
        assert not attribute or attribute in self.owns[self.types[thing]], attribute
        for own in sorted(self.has.get(thing, ()), key=repr):
            if attribute and own[0] != attribute:
                continue
            if isinstance(value, str) and value.startswith("$"):
                if row.get(value, Attr(own)) == own:
                    yield {**row, value: Attr(own)}
            elif own[1] == value[0]:
                yield row

    def _by_links(self, thing: int, players: list[tuple[str, str]], row: Row) -> Iterator[Row]:
        if not players:
            yield row
            return
        (role, name), *rest = players
        assert not role or role in self.roles[self.types[thing]], role
        for own, player in self.links.get(thing, {}).items():
            if role in ("", own) and row.get(name, player) == player:
                yield from self._by_links(thing, rest, {**row, name: player})

    def _put(self, patterns: list[Any], row: Row) -> list[Row]:
        return [*self._match(patterns, row)] or self._insert(patterns, row)

    def _insert(self, patterns: list[Any], row: Row) -> list[Row]:
        row = dict(row)
        for _, name, constraints in patterns:
            for kind, *told in constraints:
                if kind == "isa":
                    assert name not in row
                    row[name] = self._create(told[0])
                elif kind == "has":
                    self._own(row[name], told[0], told[1][0])
                else:
                    for role, player in told[0]:
                        self._play(row[name], role, row[player])
        return [row]

    def _create(self, kind: str) -> int:
        own = next(self._new)
        self.types[own] = kind
        assert kind not in self.abstract
        if kind in self.roles:
            self.links[own] = {}
        else:
            assert kind in self.owns, kind
            self.has[own] = set()
        return own

    def _own(self, thing: int, attribute: str, value: Any) -> None:
        kind = self.types[thing]
        marks = self.owns[kind][attribute]
        wanted = {"string": str, "double": float, "integer": int, "boolean": bool, "datetime-tz": datetime}
        wanted |= {"date": date, "decimal": Decimal}
        assert type(value) is wanted[self.values[attribute]], (attribute, value)
        held = [each for each in self.has[thing] if each[0] == attribute]
        assert marks == ("@card(0..)",) or not held, f"{attribute} twice"
        if marks == ("@key",):
            # A key is one of its kind among all below the type that has it.
            top = [each for each in self._up(kind) if attribute in self.owns[each]][-1]
            same = [
                own for own, has in self.has.items() if (attribute, value) in has and top in self._up(self.types[own])
            ]
            assert not same, f"{value} is the key of two"
        self.has[thing].add((attribute, value))

    def _play(self, relation: int, role: str, player: int) -> None:
        kind = self.types[relation]
        assert role in self.roles[kind]
        assert any((each, role) in self.plays[self.types[player]] for each in self._up(kind)), (kind, role)
        self.links[relation][role] = player

    def _update(self, patterns: list[Any], row: Row) -> list[Row]:
        for _, name, constraints in patterns:
            for kind, attribute, value in constraints:
                assert kind == "has" and self.owns[self.types[row[name]]][attribute] == ()
                held = self.has[row[name]]
                held -= {each for each in held if each[0] == attribute}
                self._own(row[name], attribute, value[0])
        return [row]

    def _delete(self, told: tuple[str, str], row: Row) -> list[Row]:
        name, owner = told
        if owner:
            self.has[row[owner]].discard(tuple(row[name]))
        elif row[name] in self.types:
            del self.types[row[name]]
            self.has.pop(row[name], None)
            self.links.pop(row[name], None)
            for players in self.links.values():
                for role in [role for role, player in players.items() if player == row[name]]:
                    del players[role]
        return [row]

    def _fetch(self, reader: "_Reader", row: Row) -> Row:
        reader.take("{")
        found: Row = {}
        while not reader.is_next("}"):
            key = reader.value()
            reader.take(":")
            found[key] = self._fetched(reader, row)
            if reader.is_next(","):
                reader.take(",")
        reader.take("}")
        return found

    def _fetched(self, reader: "_Reader", row: Row) -> Any:
        if reader.is_next("["):
            reader.take("[")
            if not reader.is_next("match"):
                several = self._attribute(reader, row)
                reader.take("]")
                return several
            rows = [row]
            while not reader.is_next("]"):
                rows = self._stage(reader, rows)
            reader.take("]")
            return rows
        if reader.is_dotted():
            values = self._attribute(reader, row)
            assert len(values) < 2
            return values[0] if values else None
        return row[reader.var()][1]

    def _attribute(self, reader: "_Reader", row: Row) -> list[Any]:
        thing = row[reader.var()]
        reader.take(".")
        name = reader.word()
        assert name in self.owns[self.types[thing]], f"{self.types[thing]} owns no {name}"
        return sorted(value for own, value in self.has[thing] if own == name)


class _Reader:
    """Tokens one after another."""

    def __init__(self, tokens: list[tuple[str, Any]]) -> None:
        self.tokens, self.at = tokens, 0

    def at_end(self) -> bool:
        return self.at == len(self.tokens)

    def is_next(self, text: str) -> bool:
        return not self.at_end() and self.tokens[self.at][0] != "value" and self.tokens[self.at][1] == text

    def take(self, text: str) -> None:
        assert self.is_next(text), (text, self.tokens[self.at : self.at + 5])
        self.at += 1

    def _of(self, *kinds: str) -> Any:
        kind, value = self.tokens[self.at]
        assert kind in kinds, (kinds, self.tokens[self.at : self.at + 5])
        self.at += 1
        return value

    def word(self) -> str:
        return self._of("word")

    def var(self) -> str:
        return self._of("var")

    def value(self) -> Any:
        return self._of("value")

    def is_dotted(self) -> bool:
        return self.tokens[self.at + 1] == ("sign", ".")

    def names(self) -> list[Any]:
        found = []
        while not self.is_next(";"):
            found.append(self._of("var", "value"))
            if self.is_next(","):
                self.take(",")
        self.take(";")
        return found

    def skip_object(self) -> None:
        depth = 0
        while True:
            depth += self.is_next("{") - self.is_next("}")
            self.at += 1
            if not depth:
                return

    def patterns(self) -> list[Any]:
        found = []
        while not self.at_end() and (self.tokens[self.at][0] == "var" or self.is_next("{") or self.is_next("not")):
            found.append(self._pattern())
            self.take(";")
        assert found
        return found

    def _block(self) -> list[Any]:
        self.take("{")
        found = self.patterns()
        self.take("}")
        return found

    def _pattern(self) -> Any:
        if self.is_next("not"):
            self.take("not")
            return "not", self._block()
        if self.is_next("{"):
            branches = [self._block()]
            while self.is_next("or"):
                self.take("or")
                branches.append(self._block())
            return "or", branches
        name = self.var()
        if self.tokens[self.at][1] in _COMPARE:
            return "compare", name, self._of("sign", "word"), self.value()
        constraints = [self._constraint()]
        while self.is_next(","):
            self.take(",")
            constraints.append(self._constraint())
        return "thing", name, constraints

    def _constraint(self) -> Any:
        verb = self.word()
        if verb in ("isa", "isa!"):
            return "isa", self.word(), verb == "isa!"
        if verb == "has":
            attribute = "" if self.tokens[self.at][0] == "var" else self.word()
            return verb, attribute, self.var() if self.tokens[self.at][0] == "var" else (self.value(),)
        assert verb == "links", verb
        self.take("(")
        players = []
        while not self.is_next(")"):
            role = "" if self.tokens[self.at][0] == "var" else self.word()
            if role:
                self.take(":")
            players.append((role, self.var()))
            if self.is_next(","):
                self.take(",")
        self.take(")")
        return verb, players

    def deleted(self) -> tuple[str, str]:
        if self.is_next("has"):
            self.take("has")
            name = self.var()
            self.take("of")
            told = name, self.var()
        else:
            told = self.var(), ""
        self.take(";")
        return told
