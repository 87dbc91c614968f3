"""Harvest: how observations become memory items, and how importance that nobody gave is filled in."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from mabos_cli.core.memory.grade import BANDS, band, grade, grade_parts
from mabos_cli.core.memory.item import MemoryItem, is_ungraded, with_importance
from mabos_cli.core.memory.observation import Observation
from mabos_cli.core.memory.stores import Changes, Limits, Memory
from mabos_cli.core.memory.storing import Draft, Stored, signals_of


class Tally(NamedTuple):
    """What became of harvested observations: new items, those among them that are linked, merges, items by band."""

    harvested: int = 0
    merged: int = 0
    linked: int = 0
    bands: tuple[tuple[str, int], ...] = tuple((name, 0) for name in BANDS)

    def count(self, results: Iterable[Stored], must: float, nice: float) -> "Tally":
        """The tally with more results in it."""
        results = tuple(results)
        new = [result for result in results if not result.deduplicated]
        bands = dict(self.bands)
        for result in new:
            bands[band(result.item.importance, must, nice)] += 1
        return Tally(
            self.harvested + len(new),
            self.merged + len(results) - len(new),
            self.linked + sum(bool(result.linked) for result in new),
            tuple(bands.items()),
        )


def draft_observation(observation: Observation, store: str) -> Draft:
    """The draft that an observation becomes: all that it says, and where it comes from."""
    level = observation.importance
    item = MemoryItem(
        id="",
        content=observation.text,
        type=observation.type or "observation",
        importance=0.5 if level is None else level,
        source=observation.source,
        trust=observation.trust,
        author=observation.author,
        session=observation.session,
        tags=observation.tags,
        observed_at=observation.at,
        derived_from=(observation.id,),
    )
    return Draft(item, store, graded=level is not None)


def is_worth(draft: Draft, floor: float, now: datetime, limits: Limits) -> bool:
    """Whether a draft is as important as asked for, by what it says or by its grade."""
    if floor <= 0:
        return True
    level = draft.item.importance if draft.graded else grade(**signals_of(draft.item, now, limits))
    return level >= floor


class Grading(NamedTuple):
    """An item with the importance that it got, and how that came about."""

    item: MemoryItem
    parts: tuple[tuple[str, float], ...]


def grade_item(item: MemoryItem, now: datetime, limits: Limits) -> Grading:
    """The item with the importance that heuristic-v1 gives it."""
    signals = signals_of(item, now, limits)
    return Grading(with_importance(item, grade(**signals)), grade_parts(**signals))


def plan_grading(
    memory: Memory, ids: Sequence[str], *, now: datetime, limits: Limits
) -> tuple[Changes, tuple[Grading, ...]]:
    """The changes that fill in the importance that nobody gave, of the items with these ids or, without ids, of all."""
    wanted, done = set(ids), []

    def graded(items: Iterable[MemoryItem]) -> tuple[MemoryItem, ...]:
        kept = []
        for item in items:
            if is_ungraded(item) and (not wanted or item.id in wanted):
                done.append(grade_item(item, now, limits))
                item = done[-1].item
            kept.append(item)
        return tuple(kept)

    working, short_term = graded(memory.working), graded(memory.short_term)
    recent = len(done)
    far = (memory.long_term.find(i) for i in wanted) if wanted else memory.long_term
    graded(sorted(filter(None, far), key=lambda item: item.id) if wanted else far)
    put = tuple(grading.item for grading in done[recent:])
    return Changes(working, short_term, put=put), tuple(done)
