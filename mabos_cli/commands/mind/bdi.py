"""bdi: the cycle over beliefs, desires and intentions, and what beliefs disagree about."""

from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.options import DryRun, Every
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import parse_span
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_choice, check_word
from mabos_cli.core.mind.commitment import Mind
from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mind.mind import Belief, is_active, status_word
from mabos_cli.errors import CheckFailed, NotFound, UsageFault
from mabos_cli.services.inputs import option
from mabos_cli.services.mind.bdi_cycle import Round, run_round, watch
from mabos_cli.services.mind.cycle import CycleOrder, judge, strategy_of
from mabos_cli.services.mind.resolving import resolve_conflict
from mabos_cli.terminal.emit import columns, progress, shows_progress
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.conflicts import compare_beliefs, latest_report, read_resolved
from mabos_cli.workspace.mind import load_attitudes, load_beliefs
from mabos_cli.workspace.receipts import last_runs

app = new_group(
    "bdi", "Run the cycle over an agent's mind, and settle what its beliefs disagree about.", no_args_is_help=True
)


@app.command()
def cycle(
    ctx: typer.Context,
    every: Every = False,
    dry_run: DryRun = False,
    check: Annotated[bool, typer.Option("--check", help="Exit 7 when beliefs conflict.")] = False,
    compacted: Annotated[
        bool, typer.Option("--compacted", help="Restore the latest checkpoint: the context was compacted.")
    ] = False,
    watching: Annotated[
        str, typer.Option("--watch", metavar="SPAN", help="Stay, and run again after 30m, 1h, ... until stopped.")
    ] = "",
) -> None:
    """Prune intentions, sort desires, compare beliefs, and report what they disagree about.

    Example: mabos bdi cycle --all
    """
    call: Call = ctx.obj
    call.check_all(every)
    show = progress("comparing beliefs") if shows_progress() and not call.quiet else None
    run = Round(call, every, CycleOrder(dry_run, compacted, show))
    if not watching:
        return run_round(run, check=check)
    pause = parse_span(watching)
    if pause <= 0 or check:
        raise BadValue("--watch needs a span above zero and goes without --check", "as in --watch 30m")
    watch(run, pause)


@app.command()
def status(ctx: typer.Context) -> None:
    """Show how much an agent holds in mind, what the next cycle would end, and open conflicts.

    Example: mabos bdi status
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    strategy, warnings = strategy_of(agent)
    beliefs, problems = load_beliefs(agent)
    found = {kind: load_attitudes(agent, kind) for kind in ("desire", "goal", "intention", "plan", "commitment")}
    problems += [problem for _, troubles in found.values() for problem in troubles]
    mind = Mind(found["goal"][0], found["desire"][0], beliefs)
    due = judge(agent, found["intention"][0], mind, strategy)
    counts = {"belief": len(beliefs), **{kind: len(each) for kind, (each, _) in found.items()}}
    latest, known = latest_report(agent), read_resolved(agent)
    last = last_runs(agent).get("bdi cycle", {}).get("at")
    data = {
        "agent": agent.id,
        "strategy": strategy,
        "counts": {f"{kind}s": count for kind, count in counts.items()},
        "active_intentions": sum(is_active(each) for each in found["intention"][0]),
        "due": [{"id": v.intention.id, "status": v.status, "reason": v.reason} for v in due],
        "conflicts": len([key for key in latest[1] if key not in known]) if latest else 0,
        "report": agent.paths.relative(latest[0]) if latest else None,
        "last_cycle": last,
    }
    held = {kind: _held(found[kind][0]) for kind in ("goal", "intention")}
    rows = [("agent", agent.id), ("strategy", strategy)]
    rows += [(f"{kind}s", f"{count}{held.get(kind, '')}") for kind, count in counts.items()]
    rows += [("due", f"{v.intention.name} {v.status}: {v.reason}") for v in due[:10]]
    rows += [("due", f"and {len(due) - 10} more")] if len(due) > 10 else []
    rows.append(("conflicts", f"{data['conflicts']} in {data['report']}" if latest else "no report yet"))
    rows.append(("last cycle", str(last or "none today or yesterday")))
    call.emit("bdi.status", data, columns(rows), warnings + [str(p) for p in problems])


def _held(attitudes: list) -> str:
    """How many stand how, as people say it."""
    found: dict[str, int] = {}
    for each in attitudes:
        word = status_word(each.status) or "without status"
        found[word] = found.get(word, 0) + 1
    return f": {', '.join(f'{count} {word}' for word, count in sorted(found.items()))}" if found else ""


@app.command()
def conflicts(
    ctx: typer.Context,
    floor: Annotated[
        float | None, typer.Option(help="Only beliefs that are more certain than this (default 0.6).")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit 7 when there are any.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Resolved ones too.")] = False,
) -> None:
    """List the beliefs that contradict each other, with their places and what to do.

    Example: mabos bdi conflicts --check
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    beliefs, problems = load_beliefs(agent)
    floor = agent.settings["bdi.certainty_floor"] if floor is None else option("bdi.certainty_floor", floor)
    known = read_resolved(agent)
    found = compare_beliefs(agent, beliefs, floor).conflicts
    shown = [conflict for conflict in found if every or conflict.key not in known]
    data = {"beliefs": len(beliefs), "conflicts": [_row(c) | {"resolved": c.key in known} for c in shown]}
    lines = [line for conflict in shown for line in _told(conflict, conflict.key in known)]
    left = [conflict for conflict in shown if conflict.key not in known]
    lines += [f"next: mabos bdi resolve {left[0].key[:8]} --keep a, b or both"] if left else []
    call.emit("bdi.conflicts", data, lines or ["no conflicts"], [str(p) for p in problems])
    if check and left:
        raise CheckFailed(
            f"{plural(len(left), 'conflict')} among {plural(len(beliefs), 'belief')}",
            "settle one: mabos bdi resolve ID --keep a|b|both",
        )


@app.command()
def resolve(
    ctx: typer.Context,
    key: Annotated[str, typer.Argument(metavar="ID", help="The conflict: its key, or the start of it.")],
    keep: Annotated[str, typer.Option(help="a, b, or both when they can hold together.")],
    reason: Annotated[str, typer.Option(help="Why; kept with the resolution.")] = "",
) -> None:
    """Settle a conflict for good. The belief that is not kept is marked as superseded, in place.

    Example: mabos bdi resolve d6754c53 --keep b --reason "migrated in February"
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    side = check_choice(keep.strip().lower(), ("a", "b", "both"), "side")
    conflict = _find(agent, key.strip().lower())
    changed, warnings = resolve_conflict(agent, conflict, side, check_word(reason, "reason", 2000))
    kept = {"a": conflict.a, "b": conflict.b}.get(side)
    data = _row(conflict) | {"keep": side, "changed": changed}
    told = f"kept {kept.id or kept.place}: {one_line(kept.statement, 80)}" if kept else "both are kept"
    call.emit("bdi.resolve", data, [f"resolved {conflict.key[:8]}: {told}"], warnings)


def _find(agent: Agent, key: str) -> Conflict:
    """The open conflict with a key."""
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


def _row(conflict: Conflict) -> dict[str, Any]:
    sides = {"a": _side(conflict.a), "b": _side(conflict.b)}
    told = {"kind": conflict.kind, "severity": conflict.severity, "newer": conflict.newer or None}
    return {"key": conflict.key, "subject": conflict.subject, **told, "reason": conflict.reason, **sides,
            "goals": list(conflict.goals), "action": conflict.action}  # fmt: skip


def _side(belief: Belief) -> dict[str, Any]:
    return {
        "id": belief.id or None,
        "place": belief.place,
        "statement": belief.statement,
        "certainty": belief.certainty,
        "updated": belief.updated or None,
        "supports": list(belief.supports),
    }


def _told(conflict: Conflict, resolved: bool) -> list[str]:
    def side(belief: Belief, mark: str) -> str:
        dated = f", {belief.updated}" if belief.updated else ""
        newer = ", newer" if conflict.newer == mark else ""
        return f"  {mark} {belief.place} ({belief.certainty:.2f}{dated}{newer}) {one_line(belief.statement, 140)}"

    known = ", resolved" if resolved else ""
    told = f"({conflict.kind}, severity {conflict.severity:.2f}{known})"
    head = f"{conflict.key[:8]} {one_line(conflict.subject, 60)}: {conflict.reason} {told}"
    goals = [f"  touches {', '.join(conflict.goals)}"] if conflict.goals else []
    return [head, side(conflict.a, "a"), side(conflict.b, "b"), *goals, f"  {conflict.action}"]
