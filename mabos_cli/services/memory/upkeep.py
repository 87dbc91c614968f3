"""Upkeep of memory: what is due, consolidation, the lifecycle, grades that nobody gave, and derived files from scratch."""

import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mabos_cli.core.language.clock import epoch_ms, format_time
from mabos_cli.core.memory.consolidation import Consolidation, plan_consolidation
from mabos_cli.core.memory.item import MemoryItem, is_ungraded
from mabos_cli.core.memory.stores import Changes, Limits, Memory, locate
from mabos_cli.core.memory.upkeep import (
    Grading,
    Lifecycle,
    Rules,
    draft_observation,
    find_ends,
    grade_item,
    leaves_at,
    plan_grading,
    plan_lifecycle,
)
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import MabosError, NotFound
from mabos_cli.formats.memory.items import parse_item
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.derived import DerivedFiles
from mabos_cli.workspace.knowledge.cases import load_cases, materialize_cases
from mabos_cli.workspace.knowledge.facts import load_facts, materialize_facts
from mabos_cli.workspace.memory.derived_pages import (
    Survey,
    materialize_domains,
    materialize_items,
    note_pages,
    sound_pages,
)
from mabos_cli.workspace.memory.observation_log import materialize_observations, survey_observations
from mabos_cli.workspace.memory.store import LongTermView
from mabos_cli.workspace.memory.trust_log import Judge
from mabos_cli.workspace.merging import forget_merge, pages_after_merge
from mabos_cli.workspace.mind import materialize_mind
from mabos_cli.workspace.seen import Seen
from mabos_cli.workspace.transaction import Fresh, holding_lock, write_receipt


class Consolidated(NamedTuple):
    """A consolidation, warnings, and what the model did if it was asked."""

    planned: Consolidation
    warnings: list[str]
    llm: dict[str, Any] | None = None


def consolidate(
    agent: Agent, limits: Limits, *, summarize: bool = True, llm: bool = False, dry_run: bool = False
) -> Consolidated:
    """Consolidates short-term memory; `limits` choose the candidates. A dry run does not ask the model."""
    author = None
    if llm:
        from mabos_cli.services.memory.llm_words import GroupAuthor

        author = GroupAuthor(agent)

    def plan(memory: Memory, fresh: Fresh) -> tuple[Changes, Consolidation]:
        planned = plan_consolidation(
            memory,
            limits,
            now=agent.now(),
            mint=fresh.new_id,
            jaccard=agent.settings["consolidation.jaccard"],
            summarize=summarize,
            keep=agent.settings.limits(),
            trust_of=Judge(agent.paths, memory),
            prose=author.prose if author else {},
        )
        return planned.changes, planned

    if author and not dry_run:
        author.write(agent.preview(plan).groups)
    planned, warnings = agent.change("consolidate", plan, dry_run=dry_run)
    if author is None:
        return Consolidated(planned, warnings)
    return Consolidated(planned, warnings + author.warnings(), author.summary(planned.groups))


def run_lifecycle(agent: Agent, *, dry_run: bool, is_confirmed: bool) -> tuple[Lifecycle, list[str]]:
    """Archives what is unused or expired: no more in one run than the fuse allows, unless that is confirmed."""
    s = agent.settings
    rules = Rules(s["lifecycle.high_unused"], s["lifecycle.notice"], s["lifecycle.fuse"], s.keeping())

    def plan(memory: Memory, _: object) -> tuple[Changes, Lifecycle]:
        awake, fading = _without_resting(agent, memory, rules)
        planned = plan_lifecycle(
            awake, rules, now=agent.now(), limits=s.limits(), is_confirmed=is_confirmed, fading=fading
        )
        return planned.changes, planned

    return agent.change("lifecycle", plan, dry_run=dry_run)


def _without_resting(agent: Agent, memory: Memory, rules: Rules) -> tuple[Memory, int]:
    """Returns a memory that passes over pages of which no item leaves yet, and how many items of these pages fade: when each will is
    kept while a page is as it was. Only a use that is not counted in yet puts that off."""
    view, now, seen = memory.long_term, agent.now(), Seen(agent)
    assert isinstance(view, LongTermView)
    store, resting, fading = view.store, set[str](), 0
    until = epoch_ms(now) + rules.notice * 1000

    def look(name: str) -> tuple[str, list[float]]:
        return find_ends((parse_item(line, "memory-store.json") for line in store.page(name)), rules)

    for name in store.head.pages:
        path = agent.paths.store_page(name)
        expires, unused = seen.look("ends", name, [path], partial(look, name), repr(rules))
        if not (expires and expires <= format_time(now)) and not (unused and unused[0] < epoch_ms(now)):
            resting.add(name)
            fading += bisect_left(unused, until)
    seen.save()
    for item_id in view.touches:
        line = store.find(item_id)
        if line and leaves_at(parse_item(line, "memory-store.json"), rules) < until:
            place, item = store.find_place(item_id), view.find(item_id)
            fading -= bool(place and place[0] in resting and item and leaves_at(item, rules) >= until)
    return memory._replace(long_term=LongTermView(store, view.touches, view.put, view.drop, resting)), fading


class Graded(NamedTuple):
    """Items that got an importance, items that had one, observations with the grade that they will get, and warnings."""

    done: Sequence[Grading]
    kept: list[MemoryItem]
    observed: list[tuple[str, Grading]]
    warnings: list[str]


def grade_items(agent: Agent, ids: Sequence[str], *, every: bool, dry_run: bool) -> Graded:
    """Fills in the importance that nobody gave, of items by their ids or of all; observations are only looked at."""
    observed = [_observed(agent, i) for i in ids if i.startswith("O-")]
    wanted = [i for i in dict.fromkeys(ids) if not i.startswith("O-")]

    def plan(memory: Memory, _: object) -> tuple[Changes, tuple[Sequence[Grading], list[MemoryItem]]]:
        found = [(i, locate(memory, i)) for i in wanted]
        missing = next((i for i, live in found if live is None), None)
        if missing:
            from mabos_cli.services.memory.items import not_live

            raise not_live(agent, missing)
        kept = [live[1] for _, live in found if live and not is_ungraded(live[1])]
        changes, done = plan_grading(memory, wanted, limits=agent.settings.limits())
        return changes, (done, kept)

    if not wanted and not every:
        return Graded((), [], observed, [])
    (done, kept), warnings = agent.change("grade", plan, dry_run=dry_run)
    return Graded(done, kept, observed, warnings)


def _observed(agent: Agent, observation_id: str) -> tuple[str, Grading]:
    """Returns the grade that an observation will get, or the importance that it says."""
    from mabos_cli.workspace.memory.observations import find_observation

    found = find_observation(agent.paths, observation_id)
    if found is None:
        raise NotFound(f"no observation {observation_id!r} for agent {agent.id}", "mabos recall finds ids")
    draft = draft_observation(found.observation)
    if draft.graded:
        return observation_id, Grading(draft.item, (("given", draft.item.importance),))
    return observation_id, grade_item(draft.item, agent.settings.limits())


def rebuild_derived(agent: Agent, *, full: bool = False) -> tuple[list[str], list[str]]:
    """Writes every derived file that is not as it should be: their names, and warnings. What is made of pages of memory is looked at
    again where one of these files changed since it was as it should be, or all of it if that is asked for.

    Deferred items are stored first.
    """
    started = time.monotonic()
    _drain(agent, "materialize")
    with holding_lock(agent, "materialize"):
        loaded, changed, warnings, seen = agent.load(), list[str](), list[str](), Seen(agent, forgets=full)
        sound = sound_pages(agent, seen)
        moved = {*loaded.head.pages} - sound
        steps: tuple[Callable[[], DerivedFiles | tuple[list[str], list[str]]], ...] = (
            lambda: materialize_items(agent, loaded.memory(), loaded.long_term, moved),
            lambda: materialize_domains(agent, loaded.memory(), loaded.long_term, sound=sound)[1],
            lambda: materialize_observations(agent, loaded.memory()),
            lambda: materialize_mind(agent),
            lambda: materialize_facts(agent, load_facts(agent)),
            lambda: materialize_cases(agent, load_cases(agent)),
        )
        for step in agent.each("materializing", steps):
            done = step()
            names, notes = (done.changed, done.warnings) if isinstance(done, DerivedFiles) else done
            changed, warnings = changed + names, warnings + notes
        if changed:
            write_receipt(agent, "materialize", {"files": len(changed)}, [], started)
        else:
            note_pages(seen)
            seen.save()
    return changed, warnings


def finish_merge(agent: Agent) -> list[str]:
    """Rebuilds what is derived from files that git merged, and that git did not ask the merge driver about: lists what.

    A page that came to the same on both sides, as a number of items may, is not the page of what both have together.
    """
    if not pages_after_merge(agent.paths).exists():
        return []
    try:
        done = [f"rewrote {path} after a merge" for path in rebuild_derived(agent)[0]]
        forget_merge(agent.paths)
    except MabosError:
        return []  # the checks report what is wrong
    return done


def refresh_index(agent: Agent) -> tuple[Survey, DerivedFiles]:
    """Writes the memory index and the domain files as far as they differ, and returns what they say.

    Deferred items are stored first: they may be critical.
    """
    _drain(agent, "context index")
    with holding_lock(agent, "context index"):
        loaded = agent.load()
        return materialize_domains(agent, loaded.memory(), loaded.long_term, sound=None)


def refresh_observations(agent: Agent) -> tuple[str, DerivedFiles]:
    """Writes observations.md as far as it differs, and returns what it says. Deferred items are stored first."""
    _drain(agent, "context observations")
    with holding_lock(agent, "context observations"):
        text, files = survey_observations(agent, agent.memory()), DerivedFiles(agent)
        files.write(agent.paths.observations_md, text)
    return text, files


def _drain(agent: Agent, command: str) -> None:
    """Stores what waits in the queue."""
    agent.change(command, lambda memory, _: (Changes(memory.working, memory.short_term), None))
