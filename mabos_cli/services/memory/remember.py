"""Remembering: drafts are stored, queued for the next write, or merged with what a language model finds to be the same."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import Prose
from mabos_cli.core.memory.stores import Changes, Memory
from mabos_cli.core.memory.storing import Doubt, Draft, Pair, Stored, find_doubts, plan_store
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.memory.changing import MemoryPlan
from mabos_cli.workspace.memory.trust_log import Judge
from mabos_cli.workspace.transaction import Fresh, write_receipt

if TYPE_CHECKING:
    from mabos_cli.formats.search.llm_answers import Merge

_ROOM = 100  # characters by which a text of the model may be longer than both together


class Remembered(NamedTuple):
    """What became of drafts, warnings, and what the model did if it was asked."""

    results: list[Stored]
    warnings: list[str]
    llm: dict[str, Any] | None = None


def remember(agent: Agent, drafts: list[Draft], *, if_new: bool = False, llm: bool = False) -> Remembered:
    """Stores drafts under one lock; with `llm`, a language model may merge near duplicates in long-term memory."""
    merger = Merger(agent) if llm else None
    agreed = merger.agree(drafts) if merger else {}
    results, warnings = agent.change("store", plan_drafts(agent, drafts, if_new=if_new, agreed=agreed))
    warnings += [*redacted_note(drafts), *_lowered(drafts, results)]
    if merger is None:
        return Remembered(results, warnings)
    return Remembered(results, warnings + merger.warnings(), merger.summary(results))


def queue_drafts(agent: Agent, drafts: list[Draft]) -> Remembered:
    """Queues drafts for the next write, with a receipt."""
    queued = agent.defer(drafts)
    write_receipt(agent, "store --defer", {"queued": len(queued)}, [d.item.id for d in queued], part="memory")
    return Remembered([Stored(draft.item, draft.store) for draft in queued], redacted_note(drafts))


def store_drafts(agent: Agent, drafts: list[Draft]) -> tuple[list[Stored], list[str]]:
    """Stores drafts under one lock: what became of each, and warnings."""
    return agent.change("store", plan_drafts(agent, drafts))


def plan_drafts(
    agent: Agent, drafts: list[Draft], *, if_new: bool = False, agreed: Mapping[Pair, Prose] = MappingProxyType({})
) -> MemoryPlan[list[Stored]]:
    """A plan that stores drafts by the settings of the agent, for `change` and `preview`."""

    def plan(memory: Memory, fresh: Fresh) -> tuple[Changes, list[Stored]]:
        return plan_store(
            memory,
            drafts,
            now=agent.now(),
            mint=fresh.new_id,
            limits=agent.settings.limits(),
            relatives=fresh,
            if_new=if_new,
            trust_of=Judge(agent.paths, memory),
            agreed=agreed,
        )

    return plan


def check_related(agent: Agent, ids: Sequence[str]) -> None:
    """NotFound for an item that was never stored here: a typing error. Ids of facts and other things are taken as they are."""
    item_ids = [item_id for item_id in ids if item_id[:1] == "M" or item_id[1:2] != "-"]
    if item_ids:
        from mabos_cli.services.memory.items import find_item

        memory = agent.memory()
        for item_id in item_ids:
            find_item(agent, memory, item_id)


def redacted_note(drafts: Sequence[Draft]) -> list[str]:
    """A warning that names what was replaced in drafts."""
    kinds = sorted({kind for draft in drafts for kind in draft.redacted})
    return [f"secrets replaced: {', '.join(kinds)}"] if kinds else []


def _lowered(drafts: list[Draft], results: list[Stored]) -> list[str]:
    """A warning when items are trusted less than was asked for."""
    pairs = zip(drafts, results, strict=True)
    fell = [r.item for d, r in pairs if not r.deduplicated and trust_rank(r.item.trust) < trust_rank(d.item.trust)]
    if not fell:
        return []
    which = fell[0].id if len(fell) == 1 else plural(len(fell), "item")
    trusts = " or ".join(sorted({item.trust for item in fell}))
    return [f"{which} stored as {trusts}: nothing is trusted more than what it derives from"]


class Merger:
    """Puts drafts and their nearest relatives to the model; those that it does not merge are linked as always."""

    def __init__(self, agent: Agent) -> None:
        from mabos_cli.services.search.llm_ask import Asker

        self._agent = agent
        self._asker = Asker(agent, "near duplicate")
        self._notes: list[str] = []

    def agree(self, drafts: list[Draft]) -> dict[Pair, Prose]:
        """The texts for drafts that are the same memory as an item."""
        from mabos_cli.formats.search.llm_answers import is_too_large, render_merge_prompt

        agreed = {}
        for doubt in self._find_doubts(drafts):
            if is_too_large(doubt.pair):
                self._asker.do_without("too large for a prompt")
                continue
            prompt = render_merge_prompt(doubt.item.content, doubt.content)
            merge = self._asker.ask(prompt, partial(_read, doubt=doubt))
            if merge and merge.same:
                agreed[doubt.pair] = Prose(merge.text, self._asker.mark)
        return agreed

    def _find_doubts(self, drafts: list[Draft]) -> list[Doubt]:
        """Looks under the lock, as the index of relatives wants it, and lets go before anybody is asked."""
        if not any(draft.store == "long_term" for draft in drafts):
            return []

        def look(memory: Memory, fresh: Fresh) -> tuple[Changes, list[Doubt]]:
            trust_of, limits = Judge(self._agent.paths, memory), self._agent.settings.limits()
            doubts = find_doubts(memory, drafts, limits, fresh, trust_of)
            return Changes(memory.working, memory.short_term), doubts

        found, self._notes = self._agent.change("store", look)
        return found

    def summary(self, results: Iterable[Stored]) -> dict[str, Any]:
        """What the model did, for the answer."""
        merged = sum(result.reworded for result in results)
        return {"model": self._asker.name, "asked": self._asker.asked, "merged": merged}

    def warnings(self) -> list[str]:
        """What went wrong with the model."""
        return [*self._notes, *self._asker.warnings()]


def _read(answer: str, doubt: Doubt) -> "Merge":
    """What the model says of two memories, if its text keeps to them."""
    from mabos_cli.core import BadValue
    from mabos_cli.core.language.similar import find_merge_fault
    from mabos_cli.formats.search.llm_answers import parse_merge

    merge = parse_merge(answer, len(doubt.content) + len(doubt.item.content) + _ROOM)
    if merge.same and (fault := find_merge_fault(merge.text, doubt.item.content, doubt.content)):
        raise BadValue(fault)
    return merge
