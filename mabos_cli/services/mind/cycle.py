"""The BDI cycle, for one agent or all, once or again and again: intentions pruned, desires sorted, beliefs compared, and what
follows from that written down."""

import signal
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any

from mabos_cli.core.language.clock import end_of, format_time
from mabos_cli.core.language.text import plural
from mabos_cli.core.mind.commitment import Mind, Verdict, judge_intentions
from mabos_cli.core.mind.conflicts import Conflict, Show
from mabos_cli.core.mind.deliberation import Deliberation, Proposal
from mabos_cli.core.mind.means import Means
from mabos_cli.core.mind.mind import Attitude, Belief, Problem
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import InvalidFile, MabosError
from mabos_cli.formats.memory.checkpoint_md import restore_into_beliefs
from mabos_cli.formats.mind.attitudes import KINDS, parse_attitudes, priority_of
from mabos_cli.formats.mind.cognitive import parse_cognitive
from mabos_cli.formats.mind.cognitive_edit import reorder, set_fields
from mabos_cli.services.hierarchy.build import Order, build_hierarchy
from mabos_cli.services.inputs import Session
from mabos_cli.services.memory.checkpoints import awaited_checkpoint, current_checkpoints, note_restored
from mabos_cli.services.mind.deliberation import deliberate_now, strategy_of, take_by_itself
from mabos_cli.services.search.llm_ask import OverviewWriter, open_writer
from mabos_cli.workspace import mind as mind_files
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import FileWrite, plan_edit, read_text
from mabos_cli.workspace.locate import find_agent, list_agents
from mabos_cli.workspace.transaction import Fresh, Write, transact

_COMMAND = "bdi cycle"
_SUNDAY = 6


class CycleOrder(NamedTuple):
    """How a cycle is to run: without writing, as after a compaction even if nobody noted one, and what shows how far it is."""

    dry_run: bool = False
    compacted: bool = False
    show: Show | None = None


class Cycle(NamedTuple):
    """Holds what a cycle found and did."""

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
    taken: list[str]
    deliberation: Deliberation
    warnings: list[str]


class _CyclePlan(NamedTuple):
    """Holds the plan of a cycle: the files to write, the intentions to give up, and the conflicts."""

    files: list[FileWrite]
    awaited: str
    checkpoint: str
    pruned: list[Verdict]
    is_sorted: bool
    mind: Mind
    problems: list[Problem]
    compared: mind_files.Comparison
    conflicts: list[Conflict]
    warnings: list[str]


def run_cycle(agent: Agent, order: CycleOrder) -> Cycle:
    """Runs the cycle, or repeats the result of the last one while nothing that it reads has changed."""
    is_fresh = order.dry_run or order.compacted or agent.now().weekday() == _SUNDAY
    if is_fresh or awaited_checkpoint(agent, current_checkpoints(agent)):
        return _run_cycle(agent, order)
    last, now = mind_files.read_settled(agent), format_time(agent.now())
    same = None
    with suppress(LookupError, TypeError, ValueError):  # a damaged note is none
        is_valid = last["at"] <= now < last["until"] and last["of"] == mind_files.stamp_mind(agent, last["owners"])
        same = parse_cycle(last["cycle"], now) if is_valid else None
    if same:
        counts = {"pruned": 0, "conflicts": len(same.conflicts), "summaries": 0}
        notes = transact(agent, _COMMAND, lambda fresh: (Write(part="mind", counts=counts, is_moved=True), None))[1]
        # What a killed writer left may have been finished by that.
        if last["of"] == mind_files.stamp_mind(agent, last["owners"]):
            return same._replace(warnings=[*same.warnings, *notes])
    goals = mind_files.load_attitudes(agent, "goal")[0]
    owners = sorted({goal.owner for goal in goals if goal.owner} & {*list_agents(agent.paths.workspace)})
    before = mind_files.stamp_mind(agent, owners)
    done = _run_cycle(agent, order)
    if before == mind_files.stamp_mind(agent, owners):
        kept = {"of": before, "at": now, "until": _until(agent), "owners": owners, "cycle": dump_cycle(done)}
        mind_files.keep_settled(agent, kept)
    return done


def _until(agent: Agent) -> str:
    """Returns the moment from which the same files may mean something else: the next day, or a deadline before that."""
    now = agent.now()
    ends = [now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)]
    for kind in ("goal", "intention", "commitment"):
        ends += [
            end for each in mind_files.load_attitudes(agent, kind)[0] if (end := end_of(each.deadline)) and end >= now
        ]
    return format_time(min(ends))


def dump_cycle(cycle: Cycle) -> dict[str, Any]:
    """Returns a cycle without changes as JSON values."""
    held = [[e.kind, e.id, e.title, e.path, e.line, why] for e, why in cycle.deliberation.held]
    values = {"conflicts": cycle.conflicts, "proposals": cycle.deliberation.proposals, "held": held}
    return values | {
        name: getattr(cycle, name) for name in ("agent", "strategy", "counts", "chunks", "resolved", "warnings")
    }


def parse_cycle(found: dict[str, Any], at: str) -> Cycle:
    """Returns the cycle that dump_cycle was given."""
    conflicts = [Conflict(Belief(*a), Belief(*b), *rest) for a, b, *rest in found["conflicts"]]
    proposals = [Proposal(*row)._replace(means=Means(*row[7]) if row[7] else None) for row in found["proposals"]]
    held = [
        (Attitude(kind, name, title, path=path, line=line), why) for kind, name, title, path, line, why in found["held"]
    ]
    what = Deliberation(proposals, held)
    counts, chunks, resolved = found["counts"], found["chunks"], found["resolved"]
    warnings = [str(text) for text in found["warnings"]]
    head = (found["agent"], at, found["strategy"])
    return Cycle(*head, counts, chunks, [], False, conflicts, resolved, "", "", [], [], [], what, warnings)


def _run_cycle(agent: Agent, order: CycleOrder) -> Cycle:
    """Runs the cycle as one transaction. The lock is not held while beliefs are compared, unless somebody edits them meanwhile:
    that may take seconds, and others want to store."""
    strategy, warnings = strategy_of(agent)
    model = None if order.dry_run else open_writer(agent)
    writer = OverviewWriter(model) if model else None
    summaries, later = _sum_up(agent, order, writer) if agent.now().weekday() == _SUNDAY else ([], [])
    ahead, made = _think(agent, order, strategy, None), _Made()

    def planned(fresh: Fresh) -> tuple[Write, _CyclePlan]:
        cycle_plan = _think(agent, order, strategy, ahead.compared)
        pruned = [v.intention.id for v in cycle_plan.pruned if v.intention.id]
        counts = {"pruned": len(cycle_plan.pruned), "conflicts": len(cycle_plan.conflicts), "summaries": len(summaries)}
        counts |= {"restored": 1} if cycle_plan.checkpoint else {}
        follow = lambda: made.follow(agent, cycle_plan)  # noqa: E731
        return Write(cycle_plan.files, follow=follow, part="mind", ids=pruned, counts=counts, is_moved=True), cycle_plan

    done, notes = ahead, list[str]()
    if order.dry_run:
        path = mind_files.due_report(agent, format_time(agent.now())[:10], done.conflicts)
        made.report = agent.paths.relative(path) if path else ""
    else:
        done, notes = transact(agent, _COMMAND, planned)
    for error in made.trouble:
        raise error
    found, taken = _deliberate(agent, order, done.pruned)
    return Cycle(
        agent.id,
        format_time(agent.now()),
        strategy,
        _count(agent, done.mind, done.problems),
        max(1, -(-len(done.mind.beliefs) // max(1, agent.settings["bdi.chunk"]))),
        done.pruned,
        done.is_sorted,
        done.conflicts,
        len(done.compared.conflicts) - len(done.conflicts),
        made.report,
        done.checkpoint,
        summaries,
        made.materialized,
        taken,
        found,
        [*warnings, *done.warnings, *notes, *later, *map(str, done.problems), *(writer.warnings() if writer else ())],
    )


def _deliberate(agent: Agent, order: CycleOrder, pruned: list[Verdict]) -> tuple[Deliberation, list[str]]:
    """Returns what is proposed now that intentions are pruned, and lines about what the agent took by itself."""
    found = deliberate_now(agent, {v.intention.line: v.status for v in pruned} if order.dry_run else None)
    done = [] if order.dry_run else take_by_itself(agent, found)
    return deliberate_now(agent) if done else found, [result.lines[0] for result in done]


class _Made:
    """Writes what depends on a cycle: the conflict report and mabos-beliefs.md, if they change."""

    def __init__(self) -> None:
        self.report = ""
        self.materialized: list[str] = []
        self.trouble: list[MabosError] = []

    def follow(self, agent: Agent, cycle_plan: _CyclePlan) -> list[str]:
        """Writes both, and what the next cycle wants to know: warnings."""
        if cycle_plan.awaited:
            note_restored(agent)
        if cycle_plan.compared.is_new:
            mind_files.keep_comparison(agent, cycle_plan.compared)
        self.materialized, notes = mind_files.refresh_mind(agent)
        try:
            self.report, more = mind_files.write_report(agent, format_time(agent.now())[:10], cycle_plan.conflicts)
        except MabosError as error:  # the report is what a cycle is for
            self.trouble.append(error)
            return notes
        return [*more, *notes]


def _think(agent: Agent, order: CycleOrder, strategy: str, known: mind_files.Comparison | None) -> _CyclePlan:
    """Returns what the cycle comes to now. Beliefs are compared across all chunks, unless that was done for just
    these."""
    files: list[FileWrite] = []
    awaited, text, warnings = _restored(agent, order, files)
    checkpoint = awaited if files else ""
    beliefs, problems = mind_files.parse_belief_text(text)
    mind = Mind(mind_files.load_attitudes(agent, "goal")[0], mind_files.load_attitudes(agent, "desire")[0], beliefs)
    pruned: list[Verdict] = []
    files += _plan_file(agent, "intention", lambda old: _prune(agent, old, mind, strategy, pruned))
    sorting = _plan_file(agent, "desire", lambda old: reorder(parse_cognitive(old), priority_of))
    compared = mind_files.compare_beliefs(agent, beliefs, show=order.show, known=known)
    resolved = mind_files.read_resolved(agent)
    conflicts = [conflict for conflict in compared.conflicts if conflict.key not in resolved]
    done, warnings = [*files, *sorting], [*warnings, *compared.warnings]
    return _CyclePlan(done, awaited, checkpoint, pruned, bool(sorting), mind, problems, compared, conflicts, warnings)


def _plan_file(agent: Agent, kind: str, edit: Callable[[str], str | None]) -> list[FileWrite]:
    file = plan_edit(agent.paths.root / KINDS[kind].file, edit)
    return [file] if file else []


def judge(agent: Agent, intentions: list[Attitude], mind: Mind, strategy: str) -> list[Verdict]:
    """Returns the intentions that the strategy and the settings say to give up now."""
    s = agent.settings
    stall = {"open-minded": s["bdi.open_minded"], "cautious": s["bdi.cautious"]}.get(strategy)
    days = None if stall is None else stall / timedelta(days=1).total_seconds()
    return judge_intentions(intentions, mind, strategy, days, agent.now(), s["bdi.certainty_floor"])


def _prune(agent: Agent, text: str, mind: Mind, strategy: str, verdicts: list[Verdict]) -> str | None:
    """Returns Intentions.md with those marked that are given up; the verdicts are noted."""
    name, day = KINDS["intention"].file, format_time(agent.now())[:10]
    verdicts[:] = judge(agent, parse_attitudes(text, "intention", name)[0], mind, strategy)
    if not verdicts:
        return None
    file = parse_cognitive(text)
    at = {entry.first + 1: entry for entry in file.entries}
    return set_fields(file, [(at[v.intention.line], "status", f"{v.status} ({day}: {v.reason})") for v in verdicts])


def _restored(agent: Agent, order: CycleOrder, files: list[FileWrite]) -> tuple[str, str, list[str]]:
    """Returns the path of the checkpoint that a compaction left, or nothing; the text of Beliefs.md with it, which is
    added to the files unless it is there already; and warnings. One that is no text is passed over."""
    names, text = current_checkpoints(agent), mind_files.read_mind(agent, "belief")
    name = names[-1] if order.compacted and names else awaited_checkpoint(agent, names)
    if not name:
        return "", text, []
    path = agent.paths.checkpoints / name
    source = agent.paths.relative(path)
    try:
        kept = read_text(path, source)
    except InvalidFile as error:
        return "", text, [f"no checkpoint restored: {error.message}"]
    stamp = format_time(agent.now())
    file = plan_edit(agent.paths.beliefs, lambda old: restore_into_beliefs(old, kept, source, stamp))
    if file is None:  # it is there already
        return source, text, []
    files.append(file)
    return source, file.data.decode("utf-8", "surrogateescape"), []


def _sum_up(agent: Agent, order: CycleOrder, writer: OverviewWriter | None) -> tuple[list[str], list[str]]:
    """Builds the week that ends today: paths, and warnings. Trouble with that takes nothing from the cycle."""
    monday = (agent.now() - timedelta(days=_SUNDAY)).date()
    try:
        built = build_hierarchy(agent, Order("week", monday, dry_run=order.dry_run), writer)
    except MabosError as error:
        return [], [f"the week was not built: {error.message}"]
    return [agent.paths.relative(state.path) for state in built.written], list(built.warnings)


def _count(agent: Agent, mind: Mind, problems: list[Problem]) -> dict[str, int]:
    """Returns how much there is of each kind; what makes no sense in the files is added to the problems."""
    counts = {"beliefs": len(mind.beliefs)}
    for kind in ("desire", "goal", "intention"):
        found, troubles = mind_files.load_attitudes(agent, kind)
        counts[f"{kind}s"] = len(found)
        problems += troubles
    return counts


class Round(NamedTuple):
    """The cycles that were run, and the errors of agents for which that failed."""

    cycles: list[Cycle]
    failed: Mapping[str, MabosError]


class PartlyFailed(MabosError):
    """Some agents could not be done; the others are. Carries the exit code of the first failure."""

    is_reported = True

    def __init__(self, failed: Mapping[str, MabosError], total: int) -> None:
        first = next(iter(failed.values()))
        super().__init__(f"{plural(len(failed), 'agent')} of {total} failed: {', '.join(failed)}", first.hint)
        self.code, self.exit_code = first.code, first.exit_code


def run_round(session: Session, every: bool, order: CycleOrder) -> Round:
    """Runs a cycle for the agent of a session or for every agent. Of several, one that fails does not stop the others."""
    workspace = session.open_workspace()
    agents = list_agents(workspace) if every else [find_agent(workspace, session.agent).id]
    done: list[Cycle] = []
    failed: dict[str, MabosError] = {}
    for agent in agents:
        try:
            done.append(run_cycle(session.agent_of(find_agent(workspace, agent)), order))
        except MabosError as error:
            if not every:
                raise
            failed[agent] = error
    return Round(done, failed)


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
