"""The messages of the TypeDB 3 protocol (version 8) that the server hears and says, and the answers that tests script.

Field numbers are those of the public protocol.
"""

import re
import struct
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import floor
from typing import Any, NamedTuple

from typedb_server.wire import (
    Fields,
    all_in,
    bytes_in,
    field,
    number_in,
    read,
    repeated,
    text_in,
    unzigzag,
    zigzag,
)

PROTOCOL = 8
KINDS = ("read", "write", "schema")  # of transactions and of queries, by their number
_PREFETCH = 50  # answers before the driver has to ask for more, unless it says how many

_EPOCH = datetime(1970, 1, 1)
_FRACTION = 10**19  # what a decimal counts behind the point
_SCHEMA_WORDS = ("define", "undefine", "redefine")
_WRITE_WORDS = {"insert", "put", "update", "delete"}
_NOT_WORDS = re.compile(r"""\"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\#[^\n]*""", re.DOTALL)
_WORD = re.compile(r"(?<![\w$-])[\w-]+")


class Ok(NamedTuple):
    """A query that is done and has nothing to show, as a definition."""


class Rows(NamedTuple):
    """Concept rows: plain values, Thing, Attribute, Type, or None for what a row has not."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()


class Documents(NamedTuple):
    """Concept documents, which is what `fetch` gives: dicts, lists and plain values."""

    documents: tuple[Any, ...] = ()


class Failure(NamedTuple):
    """An error of the server. A fatal one ends the transaction; unless told, those of writes and definitions do."""

    code: str
    text: str
    domain: str = "Query execution"
    fatal: bool | None = None


class Thing(NamedTuple):
    """An entity or a relation."""

    label: str
    iid: bytes
    is_relation: bool = False


class Attribute(NamedTuple):
    """An attribute with its value."""

    label: str
    value: Any


class Type(NamedTuple):
    """A type: `kind` is entity, relation, attribute or role."""

    kind: str
    label: str


Answer = Ok | Rows | Documents | Failure


class Request(NamedTuple):
    """One request inside a transaction."""

    id: bytes
    name: str
    body: Fields


_REQUESTS = {3: "open", 4: "query", 5: "stream", 6: "commit", 7: "rollback", 8: "close"}


def kind_of(query: str) -> str:
    """What a query does, by its words: read, write or schema. Quoted text, remarks and variables do not count."""
    words = _WORD.findall(_NOT_WORDS.sub(" ", query))
    if words and words[0] in _SCHEMA_WORDS:
        return "schema"
    return "write" if _WRITE_WORDS.intersection(words) else "read"


def requests_in(message: bytes) -> Iterator[Request]:
    """The requests of one message of the driver, which puts several together when it is fast."""
    for raw in all_in(read(message), 1):
        fields = read(raw)
        for number in _REQUESTS.keys() & fields.keys():
            yield Request(bytes_in(fields, 1), _REQUESTS[number], read(bytes_in(fields, number)))


def credentials_in(request: Fields) -> tuple[str, str]:
    """User and password of a request for a token."""
    password = read(bytes_in(request, 1))
    return text_in(password, 1), text_in(password, 2)


def given_in(query: Fields) -> tuple[dict[str, Any], ...]:
    """The rows that a query was given as input."""
    given = read(bytes_in(query, 3))
    names = [name.decode("utf-8") for name in all_in(given, 1)]
    rows = [all_in(read(row), 1) for row in all_in(given, 2)]
    return tuple(dict(zip(names, map(_read_entry, row), strict=True)) for row in rows)


def prefetch_in(query: Fields) -> int:
    """How many answers the driver takes before it asks for more."""
    return max(1, number_in(read(bytes_in(query, 1)), 2, _PREFETCH))


def token(text: str) -> bytes:
    """What the driver shows with every call from now on."""
    return field(1, text)


def servers(address: str) -> bytes:
    """The list of servers, which is this one."""
    return field(1, field(1, address))


def connection_opened(token: bytes, address: str) -> bytes:
    """The answer to a driver that connects: an id for the connection, the servers, and a token."""
    return field(2, field(1, bytes(16))) + field(3, servers(address)) + field(4, token)


def opened(request: bytes) -> bytes:
    """A transaction is open."""
    return _response(request, 2)


def committed(request: bytes) -> bytes:
    """A transaction is committed."""
    return _response(request, 5)


def rolled_back(request: bytes) -> bytes:
    """A transaction is rolled back."""
    return _response(request, 6)


def query_head(request: bytes, answer: Answer, kind: str) -> bytes:
    """The first part of an answer: what kind it is of, or the error."""
    number = KINDS.index(kind)
    match answer:
        case Failure():
            return _response(request, 3, field(1, _error(answer)))
        case Ok():
            head = field(1, field(1, number))
        case Documents():
            head = field(3, field(2, number))
        case Rows():
            head = field(4, repeated(1, answer.columns) + field(2, number))
    return _response(request, 3, field(2, head))


def query_items(answer: Answer) -> list[bytes]:
    """The rows or documents of an answer, each as it goes over the wire."""
    if isinstance(answer, Rows):
        return [repeated(1, (_entry(value) for value in row)) for row in answer.rows]
    if isinstance(answer, Documents):
        return [field(1, _node(document)) for document in answer.documents]
    return []


def query_part(request: bytes, answer: Answer, items: Iterable[bytes]) -> bytes:
    """Some of the rows or documents."""
    return _part(request, 2, field(2 if isinstance(answer, Rows) else 1, repeated(1, items)))


def query_pause(request: bytes) -> bytes:
    """There is more if the driver asks."""
    return _part(request, 3, field(1, b""))


def query_end(request: bytes) -> bytes:
    """There is no more."""
    return _part(request, 3, field(2, b""))


def no_database(code: str, name: str) -> Failure:
    """There is no database of this name."""
    return Failure(code, f"Database '{name}' not found.", "Server state")


def status_details(failure: Failure, code: int, text: str) -> bytes:
    """The details of a gRPC status, in which the driver looks for the error of the server."""
    info = field(1, failure.code) + field(2, failure.domain)
    trace = field(1, f"[{failure.code}] {failure.text}")
    details = (("ErrorInfo", info), ("DebugInfo", trace))
    packed = (field(1, f"type.googleapis.com/google.rpc.{name}") + field(2, body) for name, body in details)
    return field(1, code) + field(2, text) + repeated(3, packed)


def _response(request: bytes, number: int, body: bytes = b"") -> bytes:
    return field(1, field(1, request) + field(number, body))


def _part(request: bytes, number: int, body: bytes) -> bytes:
    return field(2, field(1, request) + field(number, body))


def _error(failure: Failure) -> bytes:
    return field(1, failure.code) + field(2, failure.domain) + field(3, f"[{failure.code}] {failure.text}")


def _entry(value: Any) -> bytes:
    if value is None:
        return field(1, b"")
    if isinstance(value, Thing | Attribute | Type):
        return field(2, _concept(value))
    return field(3, _value(value))


def _concept(concept: Thing | Attribute | Type) -> bytes:
    match concept:
        case Type(kind, label):
            return field(("entity", "relation", "attribute", "role").index(kind) + 1, field(1, label))
        case Thing(label, iid, is_relation):
            return field(6 if is_relation else 5, field(1, iid) + field(2, field(1, label)))
        case Attribute():
            return field(7, _attribute(concept))


def _attribute(attribute: Attribute) -> bytes:
    value = _value(attribute.value)
    # The kinds of values have the same numbers as the values.
    kind = field(next(iter(read(value))), b"")
    return field(1, b"\x01") + field(2, field(1, attribute.label) + field(2, kind)) + field(3, value)


def _node(node: Any) -> bytes:
    """A node of a document: a map, a list or a leaf."""
    if isinstance(node, dict):
        return field(1, repeated(1, (field(1, key) + field(2, _node(value)) for key, value in node.items())))
    if isinstance(node, list):
        return field(2, repeated(1, map(_node, node)))
    if node is None:
        return field(3, field(1, b""))
    return field(3, field(20, _attribute(node)) if isinstance(node, Attribute) else field(21, _value(node)))


def _value(value: Any) -> bytes:
    match value:
        case bool():
            return field(1, value)
        case int():
            return field(2, zigzag(value))
        case float():
            return field(3, value)
        case Decimal():
            whole = floor(value)  # also below zero: the fraction is always added
            return field(4, field(1, zigzag(whole)) + field(2, int((value - whole) * _FRACTION)))
        case str():
            return field(5, value)
        case datetime(tzinfo=None):
            return field(7, _datetime(value))
        case datetime():
            moment = value.astimezone(UTC).replace(tzinfo=None)
            offset = (value.utcoffset() or timedelta()) // timedelta(seconds=1)
            return field(8, field(1, _datetime(moment)) + field(3, zigzag(offset)))
        case date():
            return field(6, field(1, zigzag(value.toordinal())))
    raise TypeError(f"no TypeDB value for {value!r}")


def _datetime(value: datetime) -> bytes:
    seconds, rest = divmod(value - _EPOCH, timedelta(seconds=1))
    return field(1, zigzag(seconds)) + field(2, rest.microseconds * 1000)


def _read_entry(entry: bytes) -> Any:
    """A value that a query was given: text, number, truth or None; of other kinds the bytes."""
    fields = read(bytes_in(read(entry), 2))
    for number, [value, *_] in fields.items():
        return _READERS.get(number, bytes)(value)
    return None


_READERS: dict[int, Any] = {
    1: bool,
    2: unzigzag,
    3: lambda data: struct.unpack("<d", data)[0],
    5: lambda data: data.decode("utf-8"),
}
