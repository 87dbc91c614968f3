"""A schema compared with the one that a server has: what is new, what differs, and what only the server has."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.mirror.schema import Schema
from mabos_cli.formats.mirror.typeql import label, mark, render_capabilities, tokens, value_type

_KINDS = ("entity", "relation", "attribute")
# What holds where no cardinality is given.
_USUAL = {"owns": "@card(0..1)", "relates": "@card(0..1)", "plays": "@card(0..)"}
_HINT = "this may be a schema of a newer server; report it with the output of typedb status"


class Told(NamedTuple):
    """A schema as single statements: the kind of each type, and what is said about it, as `owns uid` with its annotations,
    `sub` and `value` with a name. Functions and structs are only named."""

    kinds: dict[str, str]
    said: dict[tuple[str, str], str]
    others: tuple[str, ...] = ()


class Change(NamedTuple):
    """A type that the server has otherwise, and the queries that would change it, one by one; none where none can."""

    told: str
    queries: tuple[str, ...]


class SchemaDiff(NamedTuple):
    """What is to be defined, as a query or nothing; what differs; and what only the server has, which is left alone."""

    define: str
    changes: tuple[Change, ...]
    only_there: tuple[str, ...]


def diff_schema(schema: Schema, present: str) -> SchemaDiff:
    """Returns a schema against the define text that a server gives back."""
    wanted, there = _told(schema), parse_define(present)
    changes = []
    lost = {name for name, kind in wanted.kinds.items() if there.kinds.get(name, kind) != kind}
    for name in sorted(lost):
        told = f"{name} is {_a(there.kinds[name])} there, and should be {_a(wanted.kinds[name])}"
        changes.append(Change(told, ()))
    new: dict[str, list[str]] = {name: [] for name in wanted.kinds if name not in there.kinds}
    for (name, what), value in wanted.said.items():
        if name in lost:
            continue
        if (name, what) not in there.said:
            new.setdefault(name, []).append(f"{what} {value}".strip())
        elif there.said[name, what] != value:
            told = f"{name} {what}: {there.said[name, what] or 'plain'} there, should be {value or 'plain'}"
            changes.append(Change(told, tuple(_queries(name, what, there.said[name, what], value))))
    only = [f"{kind} {name}" for name, kind in there.kinds.items() if name not in wanted.kinds]
    only += [
        f"{name} {what} {value}".strip()
        for (name, what), value in there.said.items()
        if name in wanted.kinds and name not in lost and (name, what) not in wanted.said
    ]
    return SchemaDiff(_define(new, wanted), tuple(changes), (*sorted(only), *there.others))


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "ae" else f"a {kind}"


def _define(new: dict[str, list[str]], wanted: Told) -> str:
    """Returns the define query of what is new: attributes and relations before the entities that own and play them."""
    lines = [
        ", ".join((f"{kind} {label(name)}", *new[name])) + ";" for name, kind in wanted.kinds.items() if name in new
    ]
    return "\n".join(("define", *lines)) + "\n" if lines else ""


def _queries(name: str, what: str, old: str, new: str) -> Iterator[str]:
    """Yields queries that turn one statement into another. A server redefines one thing in a query, and only what is there: an
    annotation that is missing is defined, one that is too many undefined."""
    if what in ("sub", "value"):
        yield f"redefine {label(name)} {what} {label(new) if what == 'sub' else value_type(new)};"
        return
    has, wants = ({each.partition("(")[0]: each for each in text.split()} for text in (old, new))
    for category in sorted(has.keys() - wants.keys()):
        yield f"undefine {category} from {label(name)} {what};"
    for category, text in wants.items():
        if has.get(category, text) != text:
            yield f"redefine {label(name)} {what} {mark(text)};"
    for category, text in wants.items():
        if category not in has:
            yield f"define {label(name)} {what} {mark(text)};"


def _told(schema: Schema) -> Told:
    """Returns a schema of our own as statements."""
    kinds = {each.name: "attribute" for each in schema.attributes}
    kinds |= {each.name: "relation" for each in schema.relations}
    kinds |= {each.name: "entity" for each in schema.entities}
    said = {(each.name, "value"): value_type(each.value_type) for each in schema.attributes}
    for relation in schema.relations:
        said |= {(relation.name, f"relates {label(role)}"): "" for role in relation.roles}
    for entity in schema.entities:
        said |= {(entity.name, "sub"): label(entity.parent)} if entity.parent else {}
        for capability in render_capabilities(entity):
            verb, far, *marks = capability.split()
            said[entity.name, f"{verb} {far}"] = _marks(verb, marks)
    return Told(kinds, said)


def _marks(verb: str, found: list[str]) -> str:
    """Returns annotations in order, without a cardinality that holds anyway."""
    return " ".join(sorted(each for each in found if each != _USUAL.get(verb)))


def parse_define(text: str) -> Told:
    """Returns a define query as statements; BadValue where it is none. An empty schema is none at all."""
    return _Reader(tokens(text)).read()


class _Reader:
    """Reads a define query token by token."""

    def __init__(self, found: list[str]) -> None:
        self._tokens = found
        self._at = 0
        self._kinds: dict[str, str] = {}
        self._said: dict[tuple[str, str], str] = {}
        self._others: list[str] = []

    def read(self) -> Told:
        while self._peek():
            if self._peek() == "define":
                self._next()
            elif self._peek() in ("fun", "struct"):
                self._other()
            else:
                self._type()
        return Told(self._kinds, self._said, tuple(self._others))

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _name(self) -> str:
        token = self._next()
        if not re.fullmatch(r"[^\W\d][\w·-]*", token):
            before = " ".join(self._tokens[max(0, self._at - 6) : self._at])
            raise BadValue(f"cannot read the schema of the server near {before[:80]!r}", _HINT)
        return token

    def _other(self) -> None:
        """A function, which ends behind what it returns, or a struct."""
        kind, name = self._next(), self._name()
        self._others.append(f"{kind} {name}")
        while kind == "fun" and self._peek() not in ("return", ""):
            self._next()
        while self._next() not in (";", ""):
            pass

    def _type(self) -> None:
        first = self._name()
        name = self._name() if first in _KINDS else first
        if first in _KINDS:
            self._kinds[name] = first
        for each in self._annotations():
            self._said[name, each] = ""
        while self._peek() != ";":
            if self._peek() == ",":
                self._next()
            self._capability(name)
        self._next()

    def _capability(self, name: str) -> None:
        verb = self._name()
        far = self._name()
        if verb == "plays" and self._peek() == ":":
            self._next()
            far = f"{far}:{self._name()}"
        while self._peek() in ("[", "]"):
            far += self._next()
        above = ""
        if verb == "relates" and self._peek() == "as":
            self._next()
            above = self._name()
        marks = self._annotations()
        if verb in ("sub", "value", "alias"):
            self._said[name, verb] = far
            self._said |= {(name, f"value {each}"): "" for each in marks}
            return
        self._said[name, f"{verb} {far}"] = _marks(verb, marks)
        if above:
            self._said[name, f"{verb} {far} as"] = above

    def _annotations(self) -> list[str]:
        found = []
        while self._peek().startswith("@"):
            text = self._next()
            if self._peek() == "(":
                while self._peek() not in (")", ""):
                    text += self._next()
                text += self._next()
            found.append(text)
        return found
