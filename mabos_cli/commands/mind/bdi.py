"""mind and bdi: the cycle over beliefs, desires and intentions, and what beliefs disagree about."""

import sys
from typing import Annotated, Any

from mabos_cli.commands.call import (
    Argument,
    Call,
    Commands,
    Context,
    DryRun,
    Every,
    Option,
    open_progress,
)
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import parse_span
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mind.deliberation import Deliberation
from mabos_cli.core.mind.mind import Attitude, Belief, is_active, status_word
from mabos_cli.errors import CheckFailed, MabosError
from mabos_cli.formats.mind.mind_md import proposal_lines, proposal_row
from mabos_cli.services.inputs import NO_AGENTS
from mabos_cli.services.mind.beliefs import list_conflicts, resolve_conflict
from mabos_cli.services.mind.cycle import (
    Cycle,
    CycleOrder,
    PartlyFailed,
    repeat_until_stopped,
    run_round,
)
from mabos_cli.services.mind.deliberation import adopt_proposal, decline_proposal, deliberate_now, find_proposal
from mabos_cli.services.mind.overview import describe_all, describe_mind, show_mind
from mabos_cli.terminal.emit import columns, note

mind = Commands()
app = Commands("bdi", "Maintain an agent's mind, and resolve conflicts of its beliefs.")

_SHOWN = 20  # proposals that a cycle prints


@app.command()
def cycle(
    ctx: Context,
    every: Every = False,
    dry_run: DryRun = False,
    check: Annotated[bool, Option("--check", help="Exit 7 if beliefs conflict.")] = False,
    compacted: Annotated[
        bool, Option("--compacted", help="Restore the latest checkpoint: the context was compacted.")
    ] = False,
    watching: Annotated[
        str, Option("--watch", metavar="SPAN", help="Run again every 30m, 1h, ... until stopped.")
    ] = "",
) -> None:
    """End stale intentions, sort desires, report conflicting beliefs, and propose what to do.

    Example: mabos bdi cycle --all
    """
    ctx.obj.check_all(every)
    show = None if ctx.obj.quiet else open_progress("comparing beliefs")
    order = CycleOrder(dry_run, compacted, show)
    if not watching:
        return _run(ctx.obj, every, order, check)
    pause = parse_span(watching)
    if pause <= 0 or check:
        raise BadValue("--watch needs a span above zero and cannot be combined with --check", "as in --watch 30m")
    repeat_until_stopped(lambda: _run_again(ctx.obj, every, order), pause)


def _run(call: Call, every: bool, order: CycleOrder, check: bool = False) -> None:
    """Runs a round and prints its results."""
    cycles, failed = run_round(call, every, order)
    rows = [_cycle_row(cycle) for cycle in cycles]
    rows += [{"agent": agent, "error": {"code": e.code, "message": e.message}} for agent, e in failed.items()]
    lines = [line for cycle in cycles for line in _cycle_lines(cycle, order.dry_run)]
    lines += [f"{agent}: failed: {error.message}" for agent, error in failed.items()]
    warnings = [f"{cycle.agent}: {text}" if every else text for cycle in cycles for text in cycle.warnings]
    data = {"dry_run": order.dry_run, "agents": sorted(rows, key=lambda row: row["agent"])}
    call.emit("bdi.cycle", data, lines or [NO_AGENTS], warnings)
    if failed:
        for agent, problem in failed.items() if call.quiet and not call.as_json else ():
            note(f"mabos: {agent}: {problem.message}")
        raise PartlyFailed(failed, len(cycles) + len(failed))
    conflicts = sum(len(cycle.conflicts) for cycle in cycles)
    if check and conflicts:
        raise CheckFailed(f"{plural(conflicts, 'conflict')} among beliefs", "mabos bdi conflicts shows them")


def _run_again(call: Call, every: bool, order: CycleOrder) -> None:
    try:
        _run(call, every, order)
    except MabosError as error:  # the next round may find the file mended, or the lock free
        note(f"mabos: {error.message}")
    sys.stdout.flush()


def _cycle_row(cycle: Cycle) -> dict[str, Any]:
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
        "taken": cycle.taken,
        **_proposed(cycle.deliberation),
    }


def _cycle_lines(cycle: Cycle, dry_run: bool) -> list[str]:
    counts = ", ".join(plural(count, kind.removesuffix("s")) for kind, count in cycle.counts.items())
    lines = [f"{cycle.agent} ({cycle.strategy}): {counts}, {plural(len(cycle.conflicts), 'conflict')}"]
    lines += [f"  {v.intention.name} {v.status}: {v.reason} ({v.intention.place})" for v in cycle.pruned]
    lines += ["  desires sorted by priority"] if cycle.sorted_desires else []
    lines += [f"  {c.key[:8]} {one_line(c.reason, 80)} ({c.a.place}, {c.b.place})" for c in cycle.conflicts]
    lines += [f"  took by itself: {line}" for line in cycle.taken]
    proposed = cycle.deliberation.proposals
    lines += [f"  propose {line}" for each in proposed[:_SHOWN] for line in proposal_lines(each)[:1]]
    more = len(proposed) - _SHOWN
    lines += [f"  and {plural(more, 'proposal')} more: mabos bdi deliberate"] if more > 0 else []
    lines += [f"  restored {cycle.checkpoint} into Beliefs.md"] if cycle.checkpoint else []
    verb = "would write" if dry_run else "wrote"
    written = [cycle.report, *cycle.summaries, *cycle.materialized]
    return lines + [f"  {verb} {path}" for path in written if path]


@app.command()
def deliberate(
    ctx: Context,
    adopt: Annotated[str, Option(metavar="ID", help="Accept a proposal: its id, or the name of its subject.")] = "",
    decline: Annotated[
        str, Option(metavar="ID", help="Decline a proposal; it does not come back while its reasons are the same.")
    ] = "",
    deadline: Annotated[str, Option(metavar="DATE", help="The deadline of what is adopted.")] = "",
    reason: Annotated[str, Option(help="Why it is accepted or declined.")] = "",
) -> None:
    """Propose what to adopt, reconsider, drop or plan again, with reasons and citations.

    Example: mabos bdi deliberate --adopt G-001
    """
    agent = ctx.obj.open_agent()
    if adopt and decline:
        raise BadValue("both --adopt and --decline given", "one of them")
    if adopt or decline:
        each = find_proposal(agent, adopt or decline)
        done = adopt_proposal(agent, each, deadline, reason) if adopt else decline_proposal(agent, each, reason)
        return ctx.obj.emit("bdi.deliberate", *done)
    found = deliberate_now(agent)
    lines = [line for each in found.proposals for line in proposal_lines(each)]
    lines += [f"held back {each.name} {one_line(each.title, 60)}: {why} ({each.place})" for each, why in found.held]
    lines += [f"next: mabos bdi deliberate --adopt {found.proposals[0].key}, or --decline"] if found.proposals else []
    ctx.obj.emit("bdi.deliberate", _proposed(found), lines or ["nothing to propose"], [])


def _proposed(found: Deliberation) -> dict[str, Any]:
    held = [{"name": each.name, "title": each.title, "place": each.place, "reason": why} for each, why in found.held]
    return {"proposals": [proposal_row(each) for each in found.proposals], "held": held}


@app.command()
def status(ctx: Context, every: Every = False) -> None:
    """Show counts, what the next cycle would end, and open conflicts.

    Example: mabos bdi status --all
    """
    ctx.obj.check_all(every)
    if every:
        return ctx.obj.emit("bdi.status", *describe_all(ctx.obj))
    agent = ctx.obj.open_agent()
    mind = describe_mind(agent)
    counts = {"belief": len(mind.beliefs), **{kind: len(each) for kind, each in mind.attitudes.items()}}
    due = mind.due
    data = {
        "agent": agent.id,
        "strategy": mind.strategy,
        "counts": {f"{kind}s": count for kind, count in counts.items()},
        "active_intentions": sum(is_active(each) for each in mind.attitudes["intention"]),
        "due": [{"id": v.intention.id, "status": v.status, "reason": v.reason} for v in due],
        "conflicts": mind.conflicts,
        "report": mind.report or None,
        "last_cycle": mind.last_cycle or None,
        "behind": dict(mind.behind),
        "proposals": len(mind.deliberation.proposals),
    }
    states = {kind: _count_states(mind.attitudes[kind]) for kind in ("goal", "intention")}
    rows = [("agent", agent.id), ("strategy", mind.strategy)]
    rows += [(f"{kind}s", f"{count}{states.get(kind, '')}") for kind, count in counts.items()]
    rows += [("due", f"{v.intention.name} {v.status}: {v.reason}") for v in due[:10]]
    rows += [("due", f"and {len(due) - 10} more")] if len(due) > 10 else []
    rows.append(("conflicts", f"{mind.conflicts} in {mind.report}" if mind.report else "no report yet"))
    rows += [("behind", f"{name}: {why}") for name, why in [*mind.behind.items()][:10]]
    proposed = len(mind.deliberation.proposals)
    rows += [("proposals", f"{proposed}: mabos bdi deliberate")] if proposed else []
    rows.append(("last cycle", mind.last_cycle or "none today or yesterday"))
    ctx.obj.emit("bdi.status", data, columns(rows), mind.warnings)


def _count_states(attitudes: list[Attitude]) -> str:
    """Returns how many attitudes have which status, in words."""
    found: dict[str, int] = {}
    for each in attitudes:
        word = status_word(each.status) or "without status"
        found[word] = found.get(word, 0) + 1
    return f": {', '.join(f'{count} {word}' for word, count in sorted(found.items()))}" if found else ""


@app.command()
def conflicts(
    ctx: Context,
    floor: Annotated[float | None, Option(help="Only beliefs that are more certain than this (default 0.6).")] = None,
    check: Annotated[bool, Option("--check", help="Exit 7 if there are any.")] = False,
    every: Annotated[bool, Option("--all", help="Include resolved conflicts.")] = False,
    beside: Annotated[
        str,
        Option("--with", metavar="KINDS", help="Also list what contradicts beliefs in facts, memory, or facts,memory."),
    ] = "",
) -> None:
    """List beliefs that contradict each other, with file and line and what to do.

    Example: mabos bdi conflicts --check
    """
    found = list_conflicts(ctx.obj.open_agent(), floor, every, beside)
    rows = [_row(conflict) | {"resolved": conflict.key in found.resolved} for conflict in found.conflicts]
    lines = [line for c in found.conflicts for line in _conflict_lines(c, c.key in found.resolved)]
    left = [conflict for conflict in found.conflicts if conflict.key not in found.resolved]
    resolvable = [conflict for conflict in left if not (conflict.a.is_witness or conflict.b.is_witness)]
    lines += [f"next: mabos bdi resolve {resolvable[0].key[:8]} --keep a, b or both"] if resolvable else []
    data = {"beliefs": found.beliefs, "conflicts": rows}
    ctx.obj.emit("bdi.conflicts", data, lines or ["no conflicts"], found.warnings)
    if check and left:
        raise CheckFailed(
            f"{plural(len(left), 'conflict')} among {plural(found.beliefs, 'belief')}",
            "settle one: mabos bdi resolve ID --keep a|b|both",
        )


@app.command()
def resolve(
    ctx: Context,
    key: Annotated[str, Argument(metavar="ID", help="The conflict: its key, or the start of it.")],
    keep: Annotated[
        str,
        Option(
            metavar="[a|b|both|stronger]",
            help="The belief to keep: both if they can hold together; the stronger one is more trusted, surer or newer.",
        ),
    ],
    reason: Annotated[str, Option(help="Why; kept with the resolution.")] = "",
) -> None:
    """Settle a conflict for good; the other belief is marked as superseded.

    Example: mabos bdi resolve d6754c53 --keep b --reason "migrated in February"
    """
    conflict, side, changed, warnings = resolve_conflict(ctx.obj.open_agent(), key, keep, reason)
    kept = {"a": conflict.a, "b": conflict.b}.get(side)
    text = f"kept {kept.id or kept.place}: {one_line(kept.statement, 80)}" if kept else "both are kept"
    data = _row(conflict) | {"keep": side, "changed": changed}
    ctx.obj.emit("bdi.resolve", data, [f"resolved {conflict.key[:8]}: {text}"], warnings)


def _row(conflict: Conflict) -> dict[str, Any]:
    sides = {"a": _side(conflict.a), "b": _side(conflict.b)}
    about = {"kind": conflict.kind, "severity": conflict.severity, "newer": conflict.newer or None}
    return {"key": conflict.key, "subject": conflict.subject, **about, "reason": conflict.reason, **sides,
            "goals": list(conflict.goals), "action": conflict.action, "stronger": conflict.stronger[0] or None}  # fmt: skip


def _side(belief: Belief) -> dict[str, Any]:
    return {
        "id": belief.id or None,
        "place": belief.place,
        "statement": belief.statement,
        "certainty": belief.certainty,
        "updated": belief.updated or None,
        "supports": list(belief.supports),
        "trust": belief.trust,
        "from": belief.path if belief.is_witness else "belief",
    }


def _conflict_lines(conflict: Conflict, resolved: bool) -> list[str]:
    def side(belief: Belief, mark: str) -> str:
        dated = f", {belief.updated}" if belief.updated else ""
        newer = ", newer" if conflict.newer == mark else ""
        low = "" if trust_rank(belief.trust) else f", {belief.trust}"
        return f"  {mark} {belief.place} ({belief.certainty:.2f}{dated}{newer}{low}) {one_line(belief.statement, 140)}"

    known = ", resolved" if resolved else ""
    about = f"({conflict.kind}, severity {conflict.severity:.2f}{known})"
    head = f"{conflict.key[:8]} {one_line(conflict.subject, 60)}: {conflict.reason} {about}"
    goals = [f"  touches {', '.join(conflict.goals)}"] if conflict.goals else []
    return [head, side(conflict.a, "a"), side(conflict.b, "b"), *goals, f"  {conflict.action}"]


@mind.command("mind")
def overview(ctx: Context) -> None:
    """Show beliefs, desires, goals, intentions, commitments and proposals on one screen.

    Example: mabos mind
    """
    ctx.obj.emit("mind", *show_mind(ctx.obj.open_agent()))
