"""Facts: triples with confidence, a source, and the time for which they hold; and plans that assert and retract them."""

from _blake2 import blake2b
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Protocol

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import find_time, is_day
from mabos_cli.core.language.values import compare
from mabos_cli.core.memory.item import TRUSTS, check_choice, check_word
from mabos_cli.core.memory.trust import bound_by_source
from mabos_cli.core.records import NamedTuple

Triple = tuple[str, str, str]
_LONGEST = 2_000


class Fact(NamedTuple):
    """A triple that is held true. Times are ISO-8601 text as on disk, empty where there is no bound; a day as an end means
    the whole day. A derived fact names the facts and the rule that it comes from; `extra` holds keys of other tools."""

    id: str
    subject: str
    predicate: str
    object: str
    confidence: float = 1.0
    source: str = "manual"
    trust: str = "agent"
    valid_from: str = ""
    valid_until: str = ""
    derived_from: tuple[str, ...] = ()
    rule_id: str = ""
    created_at: str = ""
    updated_at: str = ""
    extra: tuple[tuple[str, Any], ...] = ()

    @property
    def triple(self) -> Triple:
        return self.subject, self.predicate, self.object

    @property
    def is_derived(self) -> bool:
        return bool(self.rule_id)


class FactSource(Protocol):
    """The facts of an agent, decoded only as far as somebody asks."""

    def all(self) -> Iterator[Fact]: ...

    def where(self, name: str, value: str) -> Iterator[Fact]: ...


def derived_id(subject: str, predicate: str, obj: str, start: str = "") -> str:
    """Returns the id of a derived fact: always the same for a triple and the date from which it holds, and of no other.

    >>> derived_id("a", "b", "c") == derived_id("a", "b", "c"), derived_id("ab", "c", "d") == derived_id("a", "bc", "d")
    (True, False)
    """
    text = f"{len(subject)} {len(predicate)} {subject}{predicate}{obj}" + (f"\0{start}" if start else "")
    return "F-inf-" + blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def interval(fact: Fact) -> tuple[datetime, datetime]:
    """Returns the first and the last moment at which a fact holds; a day as an end is included."""
    start = find_time(fact.valid_from) if fact.valid_from else None
    end = find_time(fact.valid_until) if fact.valid_until else None
    if end and is_day(fact.valid_until):
        end += timedelta(days=1, microseconds=-1)
    return start or FIRST, end or LAST


def holds_at(fact: Fact, moment: datetime) -> bool:
    """Returns whether a fact holds at a moment, ends included."""
    start, end = interval(fact)
    return start <= moment <= end


def current_facts(facts: Iterable[Fact], functional: frozenset[str], now: datetime) -> list[Fact]:
    """Returns the facts that hold now; of a functional predicate, which has one value at a time, only the latest word."""
    holding = [fact for fact in facts if holds_at(fact, now)]
    latest: dict[tuple[str, str], Fact] = {}
    for fact in holding:
        key = fact.subject, fact.predicate
        if fact.predicate in functional and (key not in latest or _rank(fact) > _rank(latest[key])):
            latest[key] = fact
    kept = [f for f in holding if f.predicate not in functional or latest[f.subject, f.predicate] is f]
    return sorted(kept, key=lambda fact: fact.triple)


def _rank(fact: Fact) -> tuple[datetime, str, float, str]:
    """Returns the later it began to hold, the later it was said, the surer: the more it counts."""
    return interval(fact)[0], fact.updated_at or fact.created_at, fact.confidence, fact.id


def known_since(fact: Fact) -> str:
    """Returns the day from which a fact is known to hold: as it says, or when it was asserted, unless it was over by then.

    >>> known_since(Fact("F-1", "acme", "hasOwner", "Ada", valid_until="2025-12-31", created_at="2026-02-24T09:00:00.000Z"))
    '2025-12-31'
    """
    asserted = fact.created_at[:10] or "undated"
    return fact.valid_from[:10] or min(asserted, fact.valid_until[:10] or asserted)


def find_contradictions(facts: Sequence[Fact], functional: frozenset[str]) -> list[tuple[Fact, Fact]]:
    """Returns pairs of facts that give a functional predicate two values at one time."""
    groups: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        if fact.predicate in functional:
            groups.setdefault((fact.subject, fact.predicate), []).append(fact)
    found = []
    for group in groups.values():
        spans = sorted(((*interval(fact), fact) for fact in group), key=lambda span: (span[0], span[2].id))
        for number, (_, end, one) in enumerate(spans):
            for start, _, two in islice(spans, number + 1, None):
                if start > end:
                    break
                if compare("ne", one.object, two.object):
                    found.append((one, two))
                    break  # one finding for each fact says enough
    return found


class Query(NamedTuple):
    """Which facts are asked for; `*` in a part stands for any text, and a part that is only `*` for anything."""

    subject: str = "*"
    predicate: str = "*"
    object: str = "*"
    min_confidence: float = 0.0
    valid_at: datetime | None = None
    with_derived: bool = True

    def literals(self) -> dict[str, str]:
        """Returns the parts that are plain text."""
        parts = {"subject": self.subject, "predicate": self.predicate, "object": self.object}
        return {name: part for name, part in parts.items() if "*" not in part}


def select_facts(facts: Iterable[Fact], query: Query) -> Iterator[Fact]:
    """Yields the facts that a query asks for, in the order given."""
    patterns = [tuple(part.split("*")) for part in (query.subject, query.predicate, query.object)]
    for fact in facts:
        if fact.confidence < query.min_confidence or (fact.is_derived and not query.with_derived):
            continue
        if query.valid_at and not holds_at(fact, query.valid_at):
            continue
        if all(map(_fits, fact.triple, patterns)):
            yield fact


def _fits(text: str, pieces: tuple[str, ...]) -> bool:
    """Returns whether a text consists of pieces with anything between them. One pass, however many there are.

    >>> _fits("acme corp", ("ac", "co", "")), _fits("aba", ("ab", "ba"))
    (True, False)
    """
    if len(pieces) == 1:
        return text == pieces[0]
    first, *middle, last = pieces
    if not text.startswith(first) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in middle:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return at <= end


class FactDeparture(NamedTuple):
    """A fact, or an earlier version of it, that left its store: for the archive."""

    fact: Fact
    reason: str
    at: str
    into: str = ""


class FactChanges(NamedTuple):
    """Holds what a command wants written: facts to add or to replace by id, ids to drop, what goes to the archive, and what rules make
    of the facts then, with the version of the rules; None leaves derived facts as they are."""

    put: tuple[Fact, ...] = ()
    drop: tuple[str, ...] = ()
    archive: tuple[FactDeparture, ...] = ()
    derived: tuple[Fact, ...] | None = None
    rules_version: int = 0


def check_fact(fact: Fact) -> Fact:
    """Returns the fact if it makes sense, BadValue otherwise."""
    from mabos_cli.core.knowledge.rule import is_variable  # a pack reads facts, and needs no rules

    subject, predicate, obj = (_part(getattr(fact, name), name) for name in ("subject", "predicate", "object"))
    if any(map(is_variable, (subject, predicate, obj))):
        raise BadValue("a fact holds no variables", "?x belongs into rules and patterns")
    if not 0 <= fact.confidence <= 1:
        raise BadValue(f"confidence {fact.confidence:g} is outside 0..1", "0.0 to 1.0")
    for name in ("valid_from", "valid_until"):
        value = getattr(fact, name)
        if value and find_time(value) is None:
            raise BadValue(f"not a date or time: {value[:40]!r}", "use 2026-02-24 or 2026-02-24T14:30:00Z")
    start, end = interval(fact)
    if end < start:
        raise BadValue(
            f"it ends ({fact.valid_until}) before it begins ({fact.valid_from})", "swap them, or leave one out"
        )
    check_choice(fact.trust, TRUSTS, "trust")
    source = check_word(fact.source, "source") or "manual"
    return bound_by_source(fact._replace(subject=subject, predicate=predicate, object=obj, source=source))


def _part(text: str, name: str) -> str:
    cleaned = " ".join(text.split())
    if not cleaned:
        raise BadValue(f"the {name} is empty", "a fact is a subject, a predicate and an object")
    if len(cleaned) > _LONGEST or not cleaned.isprintable():
        raise BadValue(f"bad {name} {cleaned[:40]!r}", f"printable text of at most {_LONGEST} characters")
    return cleaned


def plan_retract(gone: Sequence[Fact], reason: str, now: str) -> FactChanges:
    """Takes facts out; the archive keeps them."""
    departures = tuple(FactDeparture(fact, reason or "retracted", now) for fact in gone)
    return FactChanges(drop=tuple(fact.id for fact in gone), archive=departures)
