"""Asserting and retracting facts, as plans: what to write, what leaves, and what is said about it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.fact import Fact, interval
from mabos_cli.core.knowledge.rule import is_variable
from mabos_cli.core.language.clock import find_time
from mabos_cli.core.memory.item import TRUSTS, check_choice, check_word

_LONGEST = 2_000


class FactDeparture(NamedTuple):
    """A fact, or an earlier version of it, that left its store: for the archive."""

    fact: Fact
    reason: str
    at: str
    into: str = ""


class FactChanges(NamedTuple):
    """What a command wants written: facts to add or to replace by id, ids to drop, what goes to the archive, and what rules make
    of the facts then, with the version of the rules; None leaves derived facts as they are."""

    put: tuple[Fact, ...] = ()
    drop: tuple[str, ...] = ()
    archive: tuple[FactDeparture, ...] = ()
    derived: tuple[Fact, ...] | None = None
    rules_version: int = 0


def check_fact(fact: Fact) -> Fact:
    """The fact if it makes sense, BadValue otherwise."""
    subject, predicate, obj = (_part(getattr(fact, name), name) for name in ("subject", "predicate", "object"))
    if any(map(is_variable, (subject, predicate, obj))):
        raise BadValue("a fact holds no variables", "?x belongs into rules and patterns")
    if not 0 <= fact.confidence <= 1:
        raise BadValue(f"confidence {fact.confidence:g} is outside 0..1", "0.0 to 1.0")
    for name in ("valid_from", "valid_until"):
        told = getattr(fact, name)
        if told and find_time(told) is None:
            raise BadValue(f"not a date or time: {told[:40]!r}", "use 2026-02-24 or 2026-02-24T14:30:00Z")
    start, end = interval(fact)
    if end < start:
        raise BadValue(
            f"it ends ({fact.valid_until}) before it begins ({fact.valid_from})", "swap them, or leave one out"
        )
    check_choice(fact.trust, TRUSTS, "trust")
    source = check_word(fact.source, "source") or "manual"
    return fact._replace(subject=subject, predicate=predicate, object=obj, source=source)


def _part(text: str, name: str) -> str:
    said = " ".join(text.split())
    if not said:
        raise BadValue(f"the {name} is empty", "a fact is a subject, a predicate and an object")
    if len(said) > _LONGEST or not said.isprintable():
        raise BadValue(f"bad {name} {said[:40]!r}", f"printable text of at most {_LONGEST} characters")
    return said


def plan_assert(
    given: Sequence[Fact], find: Callable[[tuple[str, str, str]], Fact | None], mint: Callable[[], str], now: str
) -> tuple[FactChanges, list[tuple[Fact, str]]]:
    """Adds facts, or updates those whose triple is known; and for each what became of it: added, updated, unchanged."""
    put: dict[tuple[str, str, str], Fact] = {}
    archive: list[FactDeparture] = []
    told: list[tuple[Fact, str]] = []
    for fact in map(check_fact, given):
        known = put.get(fact.triple) or find(fact.triple)
        if known is None:
            new = fact._replace(id=mint(), created_at=fact.created_at or now, updated_at=now)
            put[fact.triple] = new
            told.append((new, "added"))
            continue
        new = known._replace(
            confidence=fact.confidence, source=fact.source, trust=fact.trust,
            valid_from=fact.valid_from or known.valid_from, valid_until=fact.valid_until or known.valid_until,
            # Other tools keep derived facts among the asserted ones. This one is asserted now.
            derived_from=() if known.is_derived else known.derived_from, rule_id="",
            extra=tuple((dict(known.extra) | dict(fact.extra)).items()),
        )  # fmt: skip
        new = check_fact(new)
        if new == known:
            told.append((known, "unchanged"))
            continue
        if fact.triple not in put:
            archive.append(FactDeparture(known, "updated", now, known.id))
        put[fact.triple] = new._replace(updated_at=now)
        told.append((put[fact.triple], "updated"))
    return FactChanges(tuple(put.values()), archive=tuple(archive)), told


def plan_retract(gone: Sequence[Fact], reason: str, now: str) -> FactChanges:
    """Takes facts out; the archive keeps them."""
    departures = tuple(FactDeparture(fact, reason or "retracted", now) for fact in gone)
    return FactChanges(drop=tuple(fact.id for fact in gone), archive=departures)
