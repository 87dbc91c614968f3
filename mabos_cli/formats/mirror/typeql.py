"""TypeQL 3: the one place that renders values as queries, and that checks queries of others."""

import json
import math
import re
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.ontology import Ontology
from mabos_cli.core.mirror.records import Links, Record, Statement
from mabos_cli.core.mirror.schema import LABEL, RESERVED, VALUE_TYPES, Entity, Relation, Schema, ontology_schema

_WRITING = frozenset("define undefine redefine insert put update delete".split())
_MARK = re.compile(r"@(?:key|unique|abstract|independent|card\(\d+(?:\.\.\d*)?\))")
# A comment ends at either kind of line break, as in the grammar: what follows a bare \r is a query again.
_TOKEN = re.compile(
    r"""\s+|\#[^\r\n]*|(?P<token>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\$[\w-]+|@\w+|[^\W\d][\w·-]*|\d+|\.\.|.)""",
    re.DOTALL,
)


def literal(value: str | int | float | bool | Decimal | date | datetime) -> str:
    """Returns a value as TypeQL reads it back: text in quotes, numbers, truth, days, and moments in UTC.

    >>> print(literal('say "hi"'), literal(2), literal(2.0), literal(True), literal(datetime(2026, 2, 24, tzinfo=UTC)))
    "say \\"hi\\"" 2 2.0 true 2026-02-24T00:00:00.000000Z
    """
    if isinstance(value, str):
        # JSON escapes just what TypeQL unescapes, as long as it does not split characters into surrogate pairs.
        if not value.isascii() and re.search("[\ud800-\udfff]", value):
            raise BadValue("a text is not valid Unicode", "replace the half characters in it")
        # Who reads a NUL by the driver is ended by it.
        return json.dumps(value.replace("\0", "\ufffd"), ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not -(2**63) < value < 2**63:
            raise BadValue(f"{value} is too large for the graph", "whole numbers have 64 bits there")
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadValue(f"{value} is no number for the graph", "give a finite number")
        mantissa, e, power = repr(value).partition("e")
        return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}{e}{power}"
    if isinstance(value, Decimal):
        return f"{value:f}{'' if '.' in f'{value:f}' else '.0'}dec"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise BadValue(f"{value.isoformat()} names no time zone", "give the moment in UTC")
        try:
            return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
        except OverflowError:
            raise BadValue(f"{value.isoformat()} is out of range", "give a moment of the years 1 to 9999") from None
    if isinstance(value, date):
        return value.isoformat()
    raise BadValue(f"no value for the graph: {type(value).__name__}", "text, numbers, truth, days and moments are")


def label(name: str) -> str:
    """Returns the name if it can stand as a label in a query, BadValue otherwise.

    >>> label("belief_supports_goal")
    'belief_supports_goal'
    """
    if name in RESERVED or not LABEL.fullmatch(name):
        raise BadValue(f"{name[:40]!r} cannot be a label", "small letters, digits and _, and no word of TypeQL")
    return name


def mark(text: str) -> str:
    """Returns an annotation if it is one that schemas here have, BadValue otherwise."""
    if not _MARK.fullmatch(text):
        raise BadValue(f"{text[:40]!r} is no annotation", "@key, @unique or @card(0..)")
    return text


def value_type(name: str) -> str:
    """Returns the name of a value type, BadValue if there is none such."""
    if name not in VALUE_TYPES:
        raise BadValue(f"unknown value type {name[:40]!r}", f"one of: {', '.join(sorted(VALUE_TYPES))}")
    return name


def render_define(schema: Schema) -> str:
    """Returns the define query of a schema: attributes, relations, then entities in their order. Empty for nothing."""

    def sub(each: Entity | Relation) -> str:
        return f", sub {label(each.parent)}" if each.parent else ""

    plain = [f"attribute {label(each.name)}, value {value_type(each.value_type)};" for each in schema.attributes]
    for relation in schema.relations:
        roles = (f"relates {label(role)}" for role in relation.roles)
        plain.append(", ".join((f"relation {label(relation.name)}{sub(relation)}", *roles)) + ";")
    lines = sorted(plain)
    for entity in schema.entities:
        first = " ".join((f"entity {label(entity.name)}", *map(mark, entity.marks))) + sub(entity)
        more = [" ".join((f"owns {label(owned.attribute)}", *map(mark, owned.marks))) for owned in entity.owns]
        plays = ((f"plays {label(play.relation)}:{label(play.role)}", *map(mark, play.marks)) for play in entity.plays)
        lines.append(",\n  ".join((first, *sorted((*more, *map(" ".join, plays))))) + ";")
    return "\n".join(("define", *lines)) + "\n" if lines else ""


def missing_types(schema: Schema, present: str) -> Schema:
    """Returns the types of a schema that the define text of a server does not name."""
    known = {*tokens(present)}
    return Schema(
        tuple(each for each in schema.attributes if each.name not in known),
        tuple(each for each in schema.entities if each.name not in known),
        tuple(each for each in schema.relations if each.name not in known),
    )


def render_upsert(record: Record) -> tuple[str, ...]:
    """Returns the queries that write a record itself, whatever the graph held of it before, for one write transaction in this order."""
    key = f"isa {label(record.type)}, has uid {literal(record.uid)}"
    has = _attributes(record)
    put = f"put $e isa {label(record.label or record.type)}, has uid {literal(record.uid)};"
    return *_take_back(record, key), f"{put}\ninsert $e {has};" if has else put


def render_new(records: Sequence[Record]) -> str:
    """Returns a query that adds records which the graph does not have, each with its owner if it has one."""
    owners = dict.fromkeys(uid for record in records for uid in record.linked("agent_owns"))
    puts = (f"put $a{number} isa agent, has uid {literal(uid)};" for number, uid in enumerate(owners))
    lines = ["\n".join(puts)] if owners else []
    names = {uid: f"$a{number}" for number, uid in enumerate(owners)}
    lines.append("insert")
    for number, record in enumerate(records):
        has = ", ".join(filter(None, (f"has uid {literal(record.uid)}", _attributes(record))))
        lines.append(f"$e{number} isa {label(record.label or record.type)}, {has};")
        for uid in record.linked("agent_owns"):
            lines.append(f"$o{number} isa agent_owns, links (owner: {names[uid]}, owned: $e{number});")
    return "\n".join(lines)


def render_links(record: Record, *, is_owned: bool = False) -> tuple[str, ...]:
    """Returns queries that link a record with what it names, where nothing of the kind is there, but perhaps its owner."""
    key = f"isa {label(record.type)}, has uid {literal(record.uid)}"
    queries = [query for links in record.links for query in _link(key, links, is_owned)]
    return *queries, *([_state(key, record.statement)] if record.statement else ())


def _attributes(record: Record) -> str:
    pairs = ((label(name), value if isinstance(value, tuple) else (value,)) for name, value in record.attributes)
    return ", ".join(f"has {name} {literal(each)}" for name, values in pairs for each in values)


def _take_back(record: Record, key: str) -> Iterator[str]:
    """Yields queries that delete the old state of a record: the thing itself where it is of another type, else its attributes, and the
    relations that it owns."""
    if record.label:
        other = f"match\n$e {key};\nnot {{ $e isa! {label(record.label)}; }};"
        yield f"{other}\n$r links ($e);\ndelete $r;"
        yield f"{other}\ndelete $e;"
    yield f"match\n$e {key}, has $a;\nnot {{ $a isa uid; }};\ndelete has $a of $e;"
    # The key of a record says whose it is: that never changes.
    spoken = {f"$r isa {label(each.relation)}, links ({label(each.role)}: $e);" for each in record.links}
    spoken -= {"$r isa agent_owns, links (owned: $e);"}
    spoken |= {"$r isa statement, links (evidence: $e);"} if record.type == "spo_fact" else set()
    if spoken:
        either = f"{{ {' } or { '.join(sorted(spoken))} }};" if len(spoken) > 1 else "".join(spoken)
        yield f"match\n$e {key};\n{either}\ndelete $r;"


def _link(key: str, links: Links, is_owned: bool) -> Iterator[str]:
    """Yields queries that link a record with those that it names. The far end is put by its key: that of another agent may not
    be there yet."""
    relation, role, other = label(links.relation), label(links.role), label(links.other)
    verb = "put" if relation == "agent_owns" else "insert"
    for uid in links.uids if verb == "insert" or not is_owned else ():
        yield (
            f"match $e {key};\nput $o isa {label(links.type)}, has uid {literal(uid)};\n"
            f"{verb} $r isa {relation}, links ({role}: $e, {other}: $o);"
        )


def _state(key: str, statement: Statement) -> str:
    """Returns the query that writes a fact as a relation of an ontology."""
    ends = zip("so", (statement.subject, statement.object), strict=True)
    puts = "".join(f"\nput ${name} isa {label(kind)}, has uid {literal(uid)};" for name, (kind, uid) in ends)
    links = "evidence: $e, subject: $s, object: $o"
    return f"match $e {key};{puts}\ninsert $r isa {label(statement.relation)}, links ({links});"


def render_delete(kind: str, uid: str) -> tuple[str, ...]:
    """Returns queries that take an entity out of the graph. Its relations go first: they would stay behind with a role
    empty."""
    key = f"$e isa {label(kind)}, has uid {literal(uid)};"
    return f"match\n{key}\n$r links ($e);\ndelete $r;", f"match {key}\ndelete $e;"


def tokens(text: str) -> list[str]:
    """Returns the tokens of TypeQL, without blanks and comments; BadValue when a text in quotes does not end.

    >>> tokens("match $x isa a; # insert")
    ['match', '$x', 'isa', 'a', ';']
    """
    found = [match["token"] for match in _TOKEN.finditer(text) if match["token"]]
    if any(token in ("'", '"') for token in found):
        raise BadValue("a text in quotes does not end", 'close it, or write \\" for a quote within it')
    return found


def check_read_only(query: str) -> str:
    """Returns the query if it only reads, BadValue if it would write or change the schema."""
    found = tokens(query)
    if not found:
        raise BadValue("the query is empty", 'for example: match $g isa goal; fetch { "goal": $g.name };')
    writes = next((token for token in found if token in _WRITING), "")
    if writes:
        raise BadValue(f"the query would write: {writes}", "only queries that read are run; files are what to change")
    return query


def render_typeql(ontology: Ontology, taken: Collection[str] = ()) -> str:
    """Returns the define query of an ontology. `taken` are labels that the schema has already."""
    return render_define(ontology_schema(ontology, taken)) or "define\n"
