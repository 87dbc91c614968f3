"""Use-based retention: what nobody used for long, and what is past its date, goes to the archive; revive undoes it.

Trust has no say in it, and is never raised by use: it is only counted. Importance is not rewritten either: an item stays
what it was until the day it leaves.
"""

from collections import Counter
from datetime import datetime
from typing import NamedTuple

from mabos_cli.core.language.clock import DAY, as_stamp, earlier, find_time, format_time
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import STORES, TRUSTS, MemoryItem, has_expired, priority_of
from mabos_cli.core.memory.stores import Changes, Departure, Limits, Memory, tidy
from mabos_cli.core.memory.trust import trust_rank

TIERS = ("critical", "high", "other")


class Rules(NamedTuple):
    """The numbers that govern retention, times in seconds; the settings fill them in. Critical items have no time."""

    high: float = 90 * DAY
    other: float = 30 * DAY
    notice: float = 7 * DAY
    fuse: float = 0.25


class Leaving(NamedTuple):
    """An item that goes, and what is counted of it. The cause is expired or unused; days are those since its last use."""

    departure: Departure
    tier: str
    trust: str
    cause: str
    days: int | None


class Lifecycle(NamedTuple):
    """The plan: what changes, which items go, how many more soon will, and how many there were."""

    changes: Changes
    leaving: tuple[Leaving, ...]
    fading: int
    live: int
    tidied: int
    fuse: float

    @property
    def needs_yes(self) -> bool:
        """Whether more would go in one run than anybody expects."""
        return len(self.leaving) > round(self.fuse * self.live, 9)


def plan_lifecycle(memory: Memory, rules: Rules = Rules(), *, now: datetime, limits: Limits = Limits()) -> Lifecycle:
    """What a lifecycle run would do: items of any store past their own date go, and long-term items that are unused.

    Unused means: more time than the tier allows has passed since the last use. An item that will be unused within the
    notice fades. Working and short-term memory are tidied by their own limits, as by every write; that is not counted.
    """
    at, marks = format_time(now), _marks(rules, now)
    kept: dict[str, list[MemoryItem]] = {"working": [], "short_term": []}
    leaving: list[Leaving] = []
    live = fading = 0
    for store in STORES:
        for item in getattr(memory, store):
            live += 1
            if has_expired(item, at):
                leaving.append(_leaving(item, store, "expired", now))
            elif store != "long_term":
                kept[store].append(item)
            elif (mark := marks.get(tier_of(item))) and (used := _used_before(item, mark)):
                if used < mark.gone:
                    leaving.append(_leaving(item, store, "unused", now))
                else:
                    fading += 1
    changes = Changes(
        tuple(kept["working"]),
        tuple(kept["short_term"]),
        drop=tuple(away.departure.item.id for away in leaving if away.departure.store == "long_term"),
        archive=tuple(away.departure for away in leaving),
    )
    tidy_too = tidy(changes, now, limits)
    tidied = len(tidy_too.archive) - len(leaving)
    tally = [("/".join(kind), count) for kind, count in count_leaving(leaving)]
    tally += [("tidied", tidied)] if tidied else []
    return Lifecycle(tidy_too._replace(tally=tuple(tally)), tuple(leaving), fading, live, tidied, rules.fuse)


def tier_of(item: MemoryItem) -> str:
    """How long an item is kept without use, as a name: the priorities are points on its importance."""
    priority = priority_of(item.importance)
    return priority if priority in TIERS else TIERS[-1]


def count_leaving(leaving: list[Leaving] | tuple[Leaving, ...]) -> list[tuple[tuple[str, str, str], int]]:
    """How many items go for each cause, tier and trust, in a fixed order."""
    return sorted(Counter((away.cause, away.tier, away.trust) for away in leaving).items())


class _Mark(NamedTuple):
    """The moments that decide about a tier: last used before `gone` is unused, before `fading` soon will be."""

    gone: str
    fading: str


def _marks(rules: Rules, now: datetime) -> dict[str, _Mark]:
    marks = {}
    for tier, seconds in (("high", rules.high), ("other", rules.other)):
        gone, fading = earlier(now, seconds), earlier(now, seconds - rules.notice)
        marks[tier] = _Mark(format_time(gone), format_time(fading))
    return marks


def _used_before(item: MemoryItem, mark: _Mark) -> str:
    """When the item was last used, if that was before it began to fade. What names no moment is never unused."""
    used = as_stamp(item.touched_at)
    return used if used < mark.fading else ""


def _leaving(item: MemoryItem, store: str, cause: str, now: datetime) -> Leaving:
    used = find_time(item.touched_at)
    days = max(0, (now - used).days) if used else None
    reason = f"unused: {plural(days or 0, 'day')}" if cause == "unused" else cause
    # What other tools call their trust is not known here, and what is not known is not trusted.
    trust = TRUSTS[trust_rank(item.trust)]
    return Leaving(Departure(item, store, reason, format_time(now)), tier_of(item), trust, cause, days)
