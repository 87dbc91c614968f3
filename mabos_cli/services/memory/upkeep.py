"""Upkeep of memory: what is due, consolidation, the lifecycle, and grades that nobody gave."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from mabos_cli.core.memory.consolidation import Consolidation, plan_consolidation
from mabos_cli.core.memory.item import MemoryItem, is_ungraded
from mabos_cli.core.memory.stores import Changes, Limits, Memory, locate
from mabos_cli.core.memory.upkeep import (
    Grading,
    Lifecycle,
    Rules,
    draft_observation,
    grade_item,
    plan_grading,
    plan_lifecycle,
)
from mabos_cli.errors import NotFound
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.memory.trust_log import Judge
from mabos_cli.workspace.transaction import Fresh


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
        planned = plan_lifecycle(memory, rules, now=agent.now(), limits=s.limits(), is_confirmed=is_confirmed)
        return planned.changes, planned

    return agent.change("lifecycle", plan, dry_run=dry_run)


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
    """The grade that an observation will get, or the importance that it says."""
    from mabos_cli.workspace.memory.observations import find_observation

    found = find_observation(agent.paths, observation_id)
    if found is None:
        raise NotFound(f"no observation {observation_id!r} for agent {agent.id}", "mabos recall finds ids")
    draft = draft_observation(found.observation)
    if draft.graded:
        return observation_id, Grading(draft.item, (("given", draft.item.importance),))
    return observation_id, grade_item(draft.item, agent.settings.limits())
