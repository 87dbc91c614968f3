"""TypeQL 3: the one place where values become text of the query language, and where text of others is looked at."""

import json
import math
import re
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, date, datetime
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.ontology import Ontology
from mabos_cli.core.language.clock import find_time, format_time
from mabos_cli.core.mirror.records import Links, Record
from mabos_cli.core.mirror.schema import LABEL, RESERVED, VALUE_TYPES, Entity, Schema, ontology_schema

_WRITING = frozenset("define undefine redefine insert put update delete".split())
_MARK = re.compile(r"@(?:key|unique|abstract|independent|card\(\d+(?:\.\.\d*)?\))")
# A comment ends at either kind of line break, as in the grammar: what follows a bare \r is a query again.
_TOKEN = re.compile(
    r"""\s+|\#[^\r\n]*|(?P<token>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\$[\w-]+|@\w+|[^\W\d][\w·-]*|\d+|\.\.|.)""",
    re.DOTALL,
)


def literal(value: str | int | float | bool | date | datetime) -> str:
    """Returns a value as TypeQL reads it back: text in quotes, numbers, truth, days, and moments in UTC.

    >>> print(literal('say "hi"'), literal(2), literal(2.0), literal(True), literal(datetime(2026, 2, 24, tzinfo=UTC)))
    "say \\"hi\\"" 2 2.0 true 2026-02-24T00:00:00.000000Z
    """
    if isinstance(value, str):
        # JSON escapes just what TypeQL unescapes, as long as it does not split characters into surrogate pairs.
        if not value.isascii() and re.search("[\ud800-\udfff]", value):
            raise BadValue("a text is not valid Unicode", "replace the half characters in it")
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not -(2**63) < value < 2**63:
            raise BadValue(f"{value} is too large for the graph", "whole numbers have 64 bits there")
        return str(value)
    if isinstance(value, float):
        return _double(value)
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, date):
        return value.isoformat()
    raise BadValue(f"no value for the graph: {type(value).__name__}", "text, numbers, truth, days and moments are")


def _double(value: float) -> str:
    if not math.isfinite(value):
        raise BadValue(f"{value} is no number for the graph", "give a finite number")
    mantissa, e, power = repr(value).partition("e")
    return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}{e}{power}"


def _moment(value: datetime) -> str:
    if value.tzinfo is None:
        raise BadValue(f"{value.isoformat()} names no time zone", "give the moment in UTC")
    try:
        return value.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    except OverflowError:
        raise BadValue(f"{value.isoformat()} is out of range", "give a moment of the years 1 to 9999") from None


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
        raise BadValue(f"{text[:40]!r} is no annotation", "@key, @unique or @card(0..1)")
    return text


def value_type(name: str) -> str:
    """Returns the name of a value type, BadValue if there is none such."""
    if name not in VALUE_TYPES:
        raise BadValue(f"unknown value type {name[:40]!r}", f"one of: {', '.join(sorted(VALUE_TYPES))}")
    return name


def render_define(schema: Schema) -> str:
    """Returns the define query of a schema: attributes, relations, then entities in their order. Empty for nothing."""
    plain = [f"attribute {label(each.name)}, value {value_type(each.value_type)};" for each in schema.attributes]
    for relation in schema.relations:
        roles = (f"relates {label(role)}" for role in relation.roles)
        plain.append(", ".join((f"relation {label(relation.name)}", *roles)) + ";")
    lines = [*sorted(plain), *map(_entity, schema.entities)]
    return "\n".join(("define", *lines)) + "\n" if lines else ""


def missing_types(schema: Schema, present: str) -> Schema:
    """Returns the types of a schema that the define text of a server does not name."""
    known = {*tokens(present)}
    return Schema(
        tuple(each for each in schema.attributes if each.name not in known),
        tuple(each for each in schema.entities if each.name not in known),
        tuple(each for each in schema.relations if each.name not in known),
    )


def _entity(entity: Entity) -> str:
    first = f"entity {label(entity.name)}" + (f", sub {label(entity.parent)}" if entity.parent else "")
    return ",\n  ".join((first, *sorted(_capabilities(entity)))) + ";"


def _capabilities(entity: Entity) -> Iterator[str]:
    """Yields what an entity type owns and plays, each with its annotations."""
    for own in entity.owns:
        yield " ".join((f"owns {label(own.attribute)}", *map(mark, own.marks)))
    for play in entity.plays:
        yield " ".join((f"plays {label(play.relation)}:{label(play.role)}", *map(mark, play.marks)))


def render_upsert(record: Record, is_new: bool = False) -> tuple[str, ...]:
    """Returns queries that make the graph say what a record says, whatever it said before, for one write transaction in this
    order. What is new to the graph has nothing to be taken back."""
    key = f"isa {label(record.type)}, has uid {literal(record.uid)}"
    said = [(label(name), value) for name, value in record.attributes]
    single = [
        f"has {name} {literal(value)}" for name, value in said if value is not None and not isinstance(value, tuple)
    ]
    several = [f"has {name} {literal(each)}" for name, value in said if isinstance(value, tuple) for each in value]
    update = f"\nupdate $e {', '.join(single)};" if single else ""
    queries = [f"put $e {key};{update}"]
    away = [name for name, value in said if value is None or type(value) is tuple]
    if away and not is_new:
        kinds = " or ".join(f"{{ $a isa {name}; }}" for name in away)
        queries.append(f"match\n$e {key}, has $a;\n{kinds};\ndelete has $a of $e;")
    if several:
        queries.append(f"match $e {key};\ninsert $e {', '.join(several)};")
    for links in record.links:
        queries += _link(key, links, is_new)
    return tuple(queries)


def _link(key: str, links: Links, is_new: bool) -> Iterator[str]:
    """Yields queries that link a record with just those that it names. The far end is put by its key, so that it does not
    matter which of two records comes first."""
    relation, own, other = label(links.relation), label(links.own), label(links.other)
    # The key of a record says whose it is: that never changes.
    if not is_new and relation != "agent_owns":
        stale = "".join(f"\n$u != {literal(uid)};" for uid in links.uids)
        yield (
            f"match\n$e {key};\n$r isa {relation}, links ({own}: $e, {other}: $o);\n$o has uid $u;{stale}\ndelete $r;"
        )
    for uid in links.uids:
        yield (
            f"match $e {key};\nput $o isa {label(links.type)}, has uid {literal(uid)};\n"
            f"put $r isa {relation}, links ({own}: $e, {other}: $o);"
        )


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


def ask_facts_elsewhere(agent: str, subject: str = "", predicate: str = "", object: str = "", limit: int = 200) -> str:
    """Returns facts of agents other than one that share what they have, with this subject, predicate and object as far as they
    are given."""
    given = (("subject_val", subject), ("predicate_val", predicate), ("object_val", object))
    wanted = "".join(f", has {name} {literal(value)}" for name, value in given if value)
    return f"""match
$o isa agent_owns, links (owner: $a, owned: $f);
$a isa agent, has uid $au, has is_shared true;
$au != {literal(agent)};
$f isa spo_fact, has uid $fu{wanted};
sort $fu;
limit {literal(limit)};
fetch {{
"agent": $au, "fact": $fu, "subject": $f.subject_val, "predicate": $f.predicate_val, "object": $f.object_val,
"confidence": $f.confidence, "source": $f.source, "trust": $f.trust,
"valid_from": $f.valid_from, "valid_until": $f.valid_until, "rule": $f.rule_ref
}};"""


def ask_memories_elsewhere(agent: str, words: Iterable[str] = (), limit: int = 200) -> str:
    """Returns memories of agents other than one that share what they have, with all of some words."""
    wanted = "".join(f"\n$text contains {literal(word)};" for word in words)
    return f"""match
$o isa agent_owns, links (owner: $a, owned: $m);
$a isa agent, has uid $au, has is_shared true;
$au != {literal(agent)};
$m isa memory_item, has uid $mu, has content $text;{wanted}
sort $mu;
limit {literal(limit)};
fetch {{
"agent": $au, "memory": $mu, "content": $text, "type": $m.item_type, "importance": $m.importance,
"source": $m.source, "trust": $m.trust, "tags": [$m.tag],
"created_at": $m.created_at, "expires_at": $m.expires_at
}};"""


def ask_uids(kind: str, agent: str) -> str:
    """Returns the uids of a type that begin with the name of an agent; of agents, the one with this name.

    >>> print(ask_uids("goal", "c.f-o"))
    match $e isa goal, has uid $uid;
    $uid like "^c[.]f-o/.*";
    select $uid;
    """
    # Of what the name of an agent may hold, only a dot means something to a regular expression.
    prefix = literal(f"^{agent.replace('.', '[.]')}/.*")
    wanted = f"== {literal(agent)}" if kind == "agent" else f"like {prefix}"
    return f"match $e isa {label(kind)}, has uid $uid;\n$uid {wanted};\nselect $uid;"


def plain_rows(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns rows as a server gives them, with moments as files have them and lists of values in order."""
    return [{name: _plain(name, value) for name, value in row.items()} for row in rows]


def _plain(name: str, value: Any) -> Any:
    if name.endswith("_at") and isinstance(value, str):
        # Behind the moment a server may name its zone.
        moment = find_time(value.partition(" ")[0])
        return format_time(moment) if moment else value
    return sorted(value) if name == "tags" and isinstance(value, list) else value
