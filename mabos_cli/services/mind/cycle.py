"""The BDI cycle of one agent: intentions pruned, desires sorted, beliefs compared, and what follows from that written down."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.mind.commitment import STRATEGIES, Mind, Verdict, judge_intentions
from mabos_cli.core.mind.conflicts import Conflict, Show
from mabos_cli.core.mind.mind import Attitude, Belief, Problem
from mabos_cli.errors import InvalidFile, MabosError
from mabos_cli.formats.memory.checkpoint_md import restore_into_beliefs
from mabos_cli.formats.mind.attitudes import KINDS, parse_attitudes, priority_of
from mabos_cli.formats.mind.cognitive import parse_cognitive
from mabos_cli.formats.mind.cognitive_edit import reorder, set_fields
from mabos_cli.services.hierarchy.build import Compose, Order, build_hierarchy
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.conflicts import (
    Comparison,
    compare_beliefs,
    due_report,
    keep_comparison,
    read_resolved,
    write_report,
)
from mabos_cli.workspace.files import read_text
from mabos_cli.workspace.memory.checkpoints import (
    awaited_checkpoint,
    checkpoint_names,
    note_restored,
    restore_checkpoint,
)
from mabos_cli.workspace.memory.logs import edit_text
from mabos_cli.workspace.mind import load_attitudes, load_beliefs, read_mind, refresh_mind
from mabos_cli.workspace.receipts import write_receipt
from mabos_cli.workspace.recovery import holding_lock

_COMMAND = "bdi cycle"
_SUNDAY = 6


class CycleOrder(NamedTuple):
    """How a cycle is to run: without writing, as after a compaction even if nobody noted one, and what shows how far it is."""

    dry_run: bool = False
    compacted: bool = False
    show: Show | None = None


class Cycle(NamedTuple):
    """What a cycle found and did."""

    agent: str
    at: str
    strategy: str
    counts: dict[str, int]
    chunks: int
    pruned: list[Verdict]
    sorted_desires: bool
    conflicts: list[Conflict]
    resolved: int
    report: str
    checkpoint: str
    summaries: list[str]
    materialized: list[str]
    warnings: list[str]


def run_cycle(agent: Agent, order: CycleOrder, compose: Compose | None = None) -> Cycle:
    """Runs the cycle. Its files are written one by one, each whole; a cycle that is cut off is finished by the next.

    The lock is not held while beliefs are compared: that may take seconds, and others want to store.
    """
    started, day = time.monotonic(), format_time(agent.now())[:10]
    strategy, warnings = strategy_of(agent)
    checkpoint = _restore(agent, order, warnings)
    beliefs, problems = load_beliefs(agent)
    mind = Mind(load_attitudes(agent, "goal")[0], load_attitudes(agent, "desire")[0], beliefs)
    pruned = _prune(agent, order, warnings, lambda found: judge(agent, found, mind, strategy))
    was_sorted = _sort_desires(agent, order, warnings)
    chunks, compared = _process(agent, beliefs, order.show)
    known = read_resolved(agent)
    conflicts = [conflict for conflict in compared.conflicts if conflict.key not in known]
    if compared.is_new and not order.dry_run:
        with holding_lock(agent, _COMMAND) as holding:
            warnings += holding.warnings
            keep_comparison(agent, beliefs, compared)
    report, materialized = _write_derived(agent, order, day, conflicts, warnings)
    summaries = _sum_up(agent, order, compose, warnings) if agent.now().weekday() == _SUNDAY else []
    told = _count(agent, mind, problems)
    warnings += map(str, problems)
    if not order.dry_run:
        done = {"pruned": len(pruned), "conflicts": len(conflicts), "summaries": len(summaries)}
        write_receipt(agent, _COMMAND, done, [v.intention.id for v in pruned if v.intention.id], started)
    return Cycle(
        agent.id,
        format_time(agent.now()),
        strategy,
        told,
        chunks,
        pruned,
        was_sorted,
        conflicts,
        len(compared.conflicts) - len(conflicts),
        report,
        checkpoint,
        summaries,
        materialized,
        warnings,
    )


def strategy_of(agent: Agent) -> tuple[str, list[str]]:
    """The commitment strategy that agent.json names, and a warning when it names none that we know."""
    bdi = agent.manifest().get("bdi")
    said = str((bdi.get("commitmentStrategy") if isinstance(bdi, dict) else "") or STRATEGIES[2])
    strategy = said.strip().lower().replace("_", "-").replace(" ", "-")
    if strategy in STRATEGIES:
        return strategy, []
    place = agent.paths.cited(agent.paths.manifest)
    return STRATEGIES[2], [f"{place}: unknown commitmentStrategy {said[:40]!r}; open-minded is assumed"]


def judge(agent: Agent, intentions: list[Attitude], mind: Mind, strategy: str) -> list[Verdict]:
    """The intentions that the strategy and the settings say to give up now."""
    s = agent.settings
    stall = {"open-minded": s["bdi.open_minded"], "cautious": s["bdi.cautious"]}.get(strategy)
    days = None if stall is None else stall / timedelta(days=1).total_seconds()
    return judge_intentions(intentions, mind, strategy, days, agent.now(), s["bdi.certainty_floor"])


def _prune(
    agent: Agent, order: CycleOrder, warnings: list[str], judged: Callable[[list[Attitude]], list[Verdict]]
) -> list[Verdict]:
    """Marks intentions in place; they are judged by the file as it is in the moment of writing."""
    name, day = KINDS["intention"].file, format_time(agent.now())[:10]
    verdicts: list[Verdict] = []

    def edit(text: str) -> str | None:
        verdicts[:] = judged(parse_attitudes(text, "intention", name)[0])
        if not verdicts:
            return None
        file = parse_cognitive(text)
        at = {entry.first + 1: entry for entry in file.entries}
        told = [(at[v.intention.line], "status", f"{v.status} ({day}: {v.reason})") for v in verdicts]
        return set_fields(file, told)

    _edit(agent, order, warnings, "intention", edit)
    return verdicts


def _sort_desires(agent: Agent, order: CycleOrder, warnings: list[str]) -> bool:
    return _edit(agent, order, warnings, "desire", lambda text: reorder(parse_cognitive(text), priority_of))


def _edit(agent: Agent, order: CycleOrder, warnings: list[str], kind: str, edit: Callable[[str], str | None]) -> bool:
    """Edits the file of a kind, or only looks whether it would change; the lock is taken when there is something to write."""
    text = read_mind(agent, kind)
    new = edit(text)
    if order.dry_run or new is None or new == text:
        return new is not None and new != text
    with holding_lock(agent, _COMMAND) as holding:
        warnings += holding.warnings
        return edit_text(agent.paths, agent.paths.root / KINDS[kind].file, edit)


def _process(agent: Agent, beliefs: list[Belief], show: Show | None) -> tuple[int, Comparison]:
    """Beliefs are read chunk by chunk, and compared across all chunks: how many chunks, and the conflicts."""
    size = max(1, agent.settings["bdi.chunk"])
    return max(1, -(-len(beliefs) // size)), compare_beliefs(agent, beliefs, show=show)


def _restore(agent: Agent, order: CycleOrder, warnings: list[str]) -> str:
    """Puts the checkpoint of a compaction into Beliefs.md, once: its path, or nothing. One that is no text is passed over."""
    names = checkpoint_names(agent)
    name = names[-1] if order.compacted and names else awaited_checkpoint(agent, names)
    if not name:
        return ""
    path = agent.paths.checkpoints / name
    source = agent.paths.relative(path)
    try:
        text = read_text(path, source)
    except InvalidFile as error:
        warnings.append(f"no checkpoint restored: {error.message}")
        return ""
    if order.dry_run:
        stamp = format_time(agent.now())
        return source if restore_into_beliefs(read_mind(agent, "belief"), text, source, stamp) else ""
    restored = restore_checkpoint(agent, source, text)
    note_restored(agent)
    return source if restored else ""


def _write_derived(
    agent: Agent, order: CycleOrder, day: str, conflicts: list[Conflict], warnings: list[str]
) -> tuple[str, list[str]]:
    """Writes the conflict report and mabos-beliefs.md where there is news: their paths."""
    if order.dry_run:
        path = due_report(agent, day, conflicts)
        return (agent.paths.relative(path) if path else ""), []
    with holding_lock(agent, _COMMAND) as holding:
        report, notes = write_report(agent, day, conflicts)
        materialized, more = refresh_mind(agent)
        warnings += [*holding.warnings, *notes, *more]
    return report, materialized


def _sum_up(agent: Agent, order: CycleOrder, compose: Compose | None, warnings: list[str]) -> list[str]:
    """Builds the week that ends today; trouble with that takes nothing back of what the cycle did."""
    monday = (agent.now() - timedelta(days=_SUNDAY)).date()
    try:
        built = build_hierarchy(agent, Order("week", monday, dry_run=order.dry_run), compose)
    except MabosError as error:
        warnings.append(f"the week was not built: {error.message}")
        return []
    warnings += built.warnings
    return [agent.paths.relative(state.path) for state in built.written]


def _count(agent: Agent, mind: Mind, problems: list[Problem]) -> dict[str, int]:
    """How much there is of each kind; what makes no sense in the files is added to the problems."""
    counts = {"beliefs": len(mind.beliefs)}
    for kind in ("desire", "goal", "intention"):
        found, troubles = load_attitudes(agent, kind)
        counts[f"{kind}s"] = len(found)
        problems += troubles
    return counts
