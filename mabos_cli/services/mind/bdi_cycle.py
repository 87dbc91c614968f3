"""Running BDI cycles: for one agent or all, once or again and again."""

import signal
import sys
import threading
from typing import Any, NamedTuple

from mabos_cli.commands.hierarchy.hierarchy import Composer
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.errors import CheckFailed, MabosError
from mabos_cli.services.mind.cycle import Cycle, CycleOrder, run_cycle
from mabos_cli.services.search.llm_ask import open_writer
from mabos_cli.services.session import NO_AGENTS, Session
from mabos_cli.terminal.emit import note
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.locate import find_agent, list_agents


class Round(NamedTuple):
    """A cycle to be run: the call, whether for every agent, and how."""

    call: Session
    every: bool
    order: CycleOrder


class PartlyFailed(MabosError):
    """Some agents could not be done; the others are. Carries the exit code of the first failure."""

    is_told = True

    def __init__(self, message: str, first: MabosError) -> None:
        super().__init__(message, first.hint)
        self.code, self.exit_code = first.code, first.exit_code


def run_round(run: Round, *, check: bool = False) -> None:
    """Runs a cycle for each agent and prints the results. An agent that fails is reported, and the others are done."""
    call, workspace = run.call, run.call.open_workspace()
    agents = list_agents(workspace) if run.every else [find_agent(workspace, call.agent).id]
    done: list[Cycle] = []
    failed: dict[str, MabosError] = {}
    for agent in agents:
        try:
            done.append(_cycle(call, find_agent(workspace, agent), run.order))
        except MabosError as error:
            if not run.every:
                raise
            failed[agent] = error
    rows = [_row(cycle) for cycle in done]
    rows += [{"agent": agent, "error": {"code": e.code, "message": e.message}} for agent, e in failed.items()]
    lines = [line for cycle in done for line in _lines(cycle, run.order.dry_run)]
    lines += [f"{agent}: failed: {error.message}" for agent, error in failed.items()]
    warnings = [_warned(cycle, text, run.every) for cycle in done for text in cycle.warnings]
    data = {"dry_run": run.order.dry_run, "agents": sorted(rows, key=lambda row: row["agent"])}
    call.emit("bdi.cycle", data, lines or [NO_AGENTS], warnings)
    if failed:
        for agent, error in failed.items() if call.quiet and not call.as_json else ():
            note(f"mabos: {agent}: {error.message}")
        told = f"{plural(len(failed), 'agent')} of {len(agents)} failed: {', '.join(failed)}"
        raise PartlyFailed(told, next(iter(failed.values())))
    conflicts = sum(len(cycle.conflicts) for cycle in done)
    if check and conflicts:
        raise CheckFailed(f"{plural(conflicts, 'conflict')} among beliefs", "mabos bdi conflicts shows them")


def _cycle(call: Session, agent: AgentPaths, order: CycleOrder) -> Cycle:
    home = call.agent_of(agent)
    writer = None if order.dry_run else open_writer(home)
    composer = Composer(writer) if writer else None
    found = run_cycle(home, order, composer)
    return found._replace(warnings=[*found.warnings, *(composer.warnings() if composer else ())])


def _warned(cycle: Cycle, text: str, every: bool) -> str:
    return f"{cycle.agent}: {text}" if every else text


def watch(run: Round, pause: float) -> None:
    """Runs cycles until somebody sends a signal; a cycle that is under way is finished first, unless they insist."""
    stop = threading.Event()
    asked: list[int] = []

    def end(number: int, _: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)
        stop.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        while not stop.is_set():
            try:
                run_round(run)
            except MabosError as error:  # the next round may find the file mended, or the lock free
                note(f"mabos: {error.message}")
            sys.stdout.flush()
            stop.wait(min(pause, threading.TIMEOUT_MAX))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if signal.SIGINT in asked:
        raise KeyboardInterrupt


def _row(cycle: Cycle) -> dict[str, Any]:
    pruned = [
        {"id": v.intention.id or None, "title": v.intention.title, "place": v.intention.place,
         "status": v.status, "reason": v.reason}
        for v in cycle.pruned
    ]  # fmt: skip
    return {
        "agent": cycle.agent,
        "timestamp": cycle.at,
        "strategy": cycle.strategy,
        **cycle.counts,
        "chunks_processed": cycle.chunks,
        "intentions_pruned": len(pruned),
        "pruned": pruned,
        "desires_sorted": cycle.sorted_desires,
        "conflicts_detected": len(cycle.conflicts),
        "conflicts_resolved": cycle.resolved,
        "conflicts": [{"key": c.key, "a": c.a.place, "b": c.b.place, "reason": c.reason} for c in cycle.conflicts],
        "report": cycle.report or None,
        "checkpoint": cycle.checkpoint or None,
        "summaries": cycle.summaries,
        "materialized": cycle.materialized,
    }


def _lines(cycle: Cycle, dry_run: bool) -> list[str]:
    counts = ", ".join(plural(count, kind.removesuffix("s")) for kind, count in cycle.counts.items())
    lines = [f"{cycle.agent} ({cycle.strategy}): {counts}, {plural(len(cycle.conflicts), 'conflict')}"]
    lines += [f"  {v.intention.name} {v.status}: {v.reason} ({v.intention.place})" for v in cycle.pruned]
    lines += ["  desires sorted by priority"] if cycle.sorted_desires else []
    lines += [f"  {c.key[:8]} {one_line(c.reason, 80)} ({c.a.place}, {c.b.place})" for c in cycle.conflicts]
    lines += [f"  restored {cycle.checkpoint} into Beliefs.md"] if cycle.checkpoint else []
    verb = "would write" if dry_run else "wrote"
    written = [cycle.report, *cycle.summaries, *cycle.materialized]
    return lines + [f"  {verb} {path}" for path in written if path]
