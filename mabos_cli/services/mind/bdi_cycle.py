"""Runs BDI cycles for one agent or all, once or again and again, and says what a mind holds and disagrees about."""

import signal
import threading
from collections.abc import Callable, Mapping
from typing import NamedTuple

from mabos_cli.core.language.text import plural
from mabos_cli.core.mind.commitment import Mind, Verdict
from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mind.mind import Attitude, Belief
from mabos_cli.errors import MabosError, NotFound, UsageFault
from mabos_cli.services.mind.cycle import Cycle, CycleOrder, judge, run_cycle, strategy_of
from mabos_cli.services.search.llm_ask import OverviewWriter, open_writer
from mabos_cli.services.session import Session
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.conflicts import compare_beliefs, latest_report, read_resolved
from mabos_cli.workspace.locate import find_agent, list_agents
from mabos_cli.workspace.mind import load_attitudes, load_beliefs
from mabos_cli.workspace.receipts import last_runs


class Round(NamedTuple):
    """The cycles that were run, and the errors of agents for which that failed."""

    cycles: list[Cycle]
    failed: Mapping[str, MabosError]


class PartlyFailed(MabosError):
    """Some agents could not be done; the others are. Carries the exit code of the first failure."""

    is_told = True

    def __init__(self, failed: Mapping[str, MabosError], total: int) -> None:
        first = next(iter(failed.values()))
        super().__init__(f"{plural(len(failed), 'agent')} of {total} failed: {', '.join(failed)}", first.hint)
        self.code, self.exit_code = first.code, first.exit_code


class MindState(NamedTuple):
    """What an agent holds in mind, what the next cycle would end, and the conflicts that its last report lists as open."""

    strategy: str
    beliefs: list[Belief]
    attitudes: Mapping[str, list[Attitude]]
    due: list[Verdict]
    conflicts: int
    report: str
    last_cycle: str
    warnings: list[str]


def run_round(session: Session, every: bool, order: CycleOrder) -> Round:
    """Runs a cycle for the agent of a session or for every agent. Of several, one that fails does not stop the others."""
    workspace = session.open_workspace()
    agents = list_agents(workspace) if every else [find_agent(workspace, session.agent).id]
    done: list[Cycle] = []
    failed: dict[str, MabosError] = {}
    for agent in agents:
        try:
            done.append(_run_cycle(session.agent_of(find_agent(workspace, agent)), order))
        except MabosError as error:
            if not every:
                raise
            failed[agent] = error
    return Round(done, failed)


def _run_cycle(agent: Agent, order: CycleOrder) -> Cycle:
    writer = None if order.dry_run else open_writer(agent)
    composer = OverviewWriter(writer) if writer else None
    found = run_cycle(agent, order, composer)
    return found._replace(warnings=[*found.warnings, *(composer.warnings() if composer else ())])


def repeat_until_stopped(work: Callable[[], None], pause: float) -> None:
    """Does some work again and again until a signal comes; work under way is finished first, unless a second signal comes."""
    stop = threading.Event()
    received: list[int] = []

    def end(number: int, _: object) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)
        stop.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        while not stop.is_set():
            work()
            stop.wait(min(pause, threading.TIMEOUT_MAX))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if signal.SIGINT in received:
        raise KeyboardInterrupt


def describe_mind(agent: Agent) -> MindState:
    """Returns what an agent holds in mind, and what the next cycle would do about it."""
    strategy, warnings = strategy_of(agent)
    beliefs, problems = load_beliefs(agent)
    found: dict[str, list[Attitude]] = {}
    for kind in ("desire", "goal", "intention", "plan", "commitment"):
        found[kind], more = load_attitudes(agent, kind)
        problems += more
    due = judge(agent, found["intention"], Mind(found["goal"], found["desire"], beliefs), strategy)
    latest, known = latest_report(agent), read_resolved(agent)
    conflicts = len([key for key in latest[1] if key not in known]) if latest else 0
    report = agent.paths.relative(latest[0]) if latest else ""
    last = last_runs(agent).get("bdi cycle", {}).get("at") or ""
    warnings = [*warnings, *(str(problem) for problem in problems)]
    return MindState(strategy, beliefs, found, due, conflicts, report, last, warnings)


def find_conflict(agent: Agent, key: str) -> Conflict:
    """Returns the open conflict with a key, or the start of one."""
    known = read_resolved(agent)
    found = compare_beliefs(agent, load_beliefs(agent)[0]).conflicts
    named = {c.key: c for c in found if len(key) >= 4 and c.key.startswith(key)}
    if len(named) > 1:
        raise UsageFault(f"{key} could be {plural(len(named), 'conflict')}", f"one of: {', '.join(named)}")
    if not named:
        earlier = [k for k in known if len(key) >= 4 and k.startswith(key)]
        if earlier:
            raise NotFound(f"conflict {key} was resolved already", f"on {known[earlier[0]].at[:10]}")
        raise NotFound(f"no conflict {key!r} for agent {agent.id}", "mabos bdi conflicts lists them")
    return next(iter(named.values()))
