"""Plans that assert facts. A triple may hold for several stretches of time, each of which is a fact."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Protocol

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.fact import Fact, FactChanges, FactDeparture, Triple, check_fact
from mabos_cli.core.language.spans import ALWAYS, EMPTY, Span, find_span, meet, span_texts, subtract, unite
from mabos_cli.core.memory.trust import vouch_for

NONE = "none"  # a bound that is to be cleared


class KnownFacts(Protocol):
    """Facts found by what they say: now and then, or many times."""

    def with_triple(self, triple: Triple) -> Sequence[Fact]: ...

    def look_up(self, triple: Triple) -> Sequence[Fact]: ...


def plan_assert(
    given: Iterable[Fact],
    find: Callable[[Triple], Sequence[Fact]],
    mint: Callable[[], str],
    now: str,
    keep: Collection[str] = (),
) -> tuple[FactChanges, list[tuple[Fact, str]]]:
    """Adds facts, or changes those whose triple is known; also returns the outcome for each: added, updated, extended (it holds longer),
    split (others with its triple no longer hold where it does) or unchanged. Known facts keep the fields in `keep`, which nobody gave."""
    plan = _Plan(find, mint, now, keep)
    outcomes = [plan.take(fact) for fact in given]
    put = tuple(fact for facts in plan.held.values() for fact in facts if plan.before.get(fact.id) != fact)
    return FactChanges(put, tuple(plan.gone), tuple(plan.archive)), outcomes


def _span(fact: Fact) -> Span:
    return find_span(fact.valid_from, fact.valid_until) or ALWAYS


class _Plan:
    """Facts by triple as they are to be, as they were, and those that go."""

    def __init__(
        self, find: Callable[[Triple], Sequence[Fact]], mint: Callable[[], str], now: str, keep: Collection[str]
    ) -> None:
        self.find, self.mint, self.now, self.keep = find, mint, now, keep
        self.held: dict[Triple, list[Fact]] = {}
        self.before: dict[str, Fact] = {}
        self.gone: list[str] = []
        self.archive: list[FactDeparture] = []

    def take(self, fact: Fact) -> tuple[Fact, str]:
        """Returns a given fact as it is to be stored, and the outcome."""
        bounds = fact.valid_from, fact.valid_until
        start, end = ("" if bound == NONE else bound for bound in bounds)
        fact = check_fact(fact._replace(valid_from=start, valid_until=end))
        if fact.triple not in self.held:
            self.held[fact.triple] = list(self.find(fact.triple))
            self.before |= {each.id: each for each in self.held[fact.triple]}
        held = sorted(self.held[fact.triple], key=_span)
        if not held:
            return self._add(fact), "added"
        if not any(bounds):
            changed = [self._update(each, fact, each.valid_from, each.valid_until) for each in held]
            return changed[-1][0], "updated" if any(state == "updated" for _, state in changed) else "unchanged"
        target = held[0] if len(held) == 1 and _span(held[0]) == ALWAYS else _find_target(bounds, fact, held)
        if target is None:
            return self._enter(fact, held)
        start, end = ("" if bound == NONE else bound or old for bound, old in zip(bounds, target[7:9], strict=True))
        new, state = self._update(target, fact, start, end)
        if state == "unchanged":
            return target, state
        others = self._make_room(new, [each for each in held if each is not target])
        longer = meet(_span(new), _span(target)) == _span(target) != _span(new)
        return new, "extended" if longer else "split" if others else state

    def _add(self, fact: Fact) -> Fact:
        new = fact._replace(id=self.mint(), created_at=fact.created_at or self.now, updated_at=self.now)
        self.held[fact.triple].append(new)
        return new

    def _update(self, known: Fact, fact: Fact, start: str, end: str) -> tuple[Fact, str]:
        """Returns a known fact with what is given of another and these bounds, and whether that changes it."""
        fact = fact._replace(**{name: getattr(known, name) for name in self.keep})
        new = check_fact(known._replace(
            confidence=fact.confidence, source=fact.source, trust=fact.trust, valid_from=start, valid_until=end,
            # Other tools keep derived facts among the asserted ones. This one is asserted now.
            derived_from=() if known.is_derived else known.derived_from, rule_id="",
            extra=tuple((dict(vouch_for(known, "").extra) | dict(fact.extra)).items()),
        ))  # fmt: skip
        if new == known:
            return known, "unchanged"
        return self._put(known, new), "updated"

    def _put(self, known: Fact, new: Fact) -> Fact:
        """Puts a fact in the place of another version of it."""
        new = new._replace(updated_at=self.now)
        if self.before.get(known.id) == known:
            self.archive.append(FactDeparture(known, "updated", self.now, known.id))
        facts = self.held[known.triple]
        facts[facts.index(known)] = new
        return new

    def _enter(self, fact: Fact, held: list[Fact]) -> tuple[Fact, str]:
        """Adds a stretch of time to those that are known: to one that says the same, or beside the others."""
        fact = fact._replace(**{name: getattr(held[-1], name) for name in self.keep})
        alike = [each for each in held if each[4:7] == fact[4:7]]  # confidence, source and trust
        same = [each for each in alike if len(unite((_span(each), _span(fact)))) == 1]
        if not same:
            new = self._add(fact)
            return new, "split" if self._make_room(new, held) else "added"
        whole = unite(_span(each) for each in (fact, *same))[0]
        if whole == (find_span(*same[0][7:9])):
            return same[0], "unchanged"
        new, _ = self._update(same[0], fact, *span_texts(whole))
        self._drop(same[1:], new)
        self._make_room(new, [each for each in held if each not in same])
        return new, "extended"

    def _drop(self, facts: Iterable[Fact], into: Fact) -> None:
        for each in facts:
            self.held[each.triple].remove(each)
            if each.id in self.before:
                self.gone.append(each.id)
                self.archive.append(FactDeparture(self.before[each.id], "updated", self.now, into.id))

    def _make_room(self, new: Fact, others: list[Fact]) -> bool:
        """Takes the time of a new fact away from others with its triple; returns whether any had some of it."""
        touched = [each for each in others if meet(_span(each), _span(new)) is not EMPTY]
        for each in touched:
            first, *more = [*subtract(_span(each), [_span(new)]), EMPTY]
            if first is EMPTY:
                self._drop([each], new)
                continue
            for piece in (first, *more[:-1]):
                start, end = span_texts(piece)
                part = each._replace(valid_from=start, valid_until=end)
                _ = self._put(each, part) if piece is first else self._add(part)
        return bool(touched)


def _find_target(bounds: tuple[str, str], fact: Fact, held: list[Fact]) -> Fact | None:
    """Returns the fact whose bound is set or cleared, of several in the order of their times; None when a stretch of its own is
    given."""
    start, end = bounds
    if start and end and NONE not in bounds:
        return next((each for each in held if _span(each) == _span(fact)), None)
    low, high = _span(fact)
    if end == NONE:
        return held[-1]
    if start == NONE:
        return held[0]
    if end:  # the last that began by then
        begun = [each for each in held if _span(each)[0] < high]
        if not begun:
            hint = "give --from too, for a stretch of its own"
            raise BadValue(f"it ends ({end}) before it begins ({held[0].valid_from})", hint)
        return begun[-1]
    return next((each for each in held if low < _span(each)[1]), None)  # what holds then, or later
