"""consolidate, grade, lifecycle, materialize: what keeps memory in order, in files as in its stores."""

from collections.abc import Iterator
from typing import Annotated, Any

from mabos_cli.commands.call import Argument, Commands, Context, DryRun, Option
from mabos_cli.core.language.clock import format_span
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.consolidation import Consolidation
from mabos_cli.core.memory.item import TRUSTS, band
from mabos_cli.core.memory.trust import is_untrusted
from mabos_cli.core.memory.upkeep import TIERS, Grading, Leaving, Lifecycle, count_leaving
from mabos_cli.errors import UsageFault
from mabos_cli.services.inputs import option
from mabos_cli.services.memory.upkeep import consolidate as consolidate_memory
from mabos_cli.services.memory.upkeep import grade_items, run_lifecycle
from mabos_cli.terminal.emit import columns
from mabos_cli.workspace.agent import Agent

app = Commands()
lifecycle = Commands("lifecycle", "Archive items that have expired or have not been used for a long time.")
_SHOWN = 20  # of what would be archived


@app.command()
def consolidate(
    ctx: Context,
    min_importance: Annotated[
        float | None, Option(help="Consolidate items at least this important (default 0.6).")
    ] = None,
    min_access: Annotated[
        int | None, Option(help="Also consolidate items used at least this often (default 2).")
    ] = None,
    no_summarize: Annotated[bool, Option("--no-summarize", help="Move items one by one, without grouping.")] = False,
    dry_run: DryRun = False,
    llm: Annotated[
        bool, Option("--llm", help="Let the language model write the text of groups; a dry run does not ask it.")
    ] = False,
) -> None:
    """Merge related short-term memories into long-term ones.

    Example: mabos consolidate --dry-run
    """
    agent = ctx.obj.open_agent()
    limits = agent.settings.limits(
        option("consolidation.min_importance", min_importance), option("consolidation.min_access", min_access)
    )
    done = consolidate_memory(agent, limits, summarize=not no_summarize, llm=llm, dry_run=dry_run)
    data = _consolidation(done.planned, dry_run) | ({"llm": done.llm} if done.llm else {})
    ctx.obj.emit("consolidate", data, _consolidation_lines(done.planned, dry_run), done.warnings)


def _consolidation(planned: Consolidation, dry_run: bool) -> dict[str, Any]:
    groups = [
        {
            "id": None if dry_run and len(members) > 1 else item.id,
            "type": item.type,
            "importance": item.importance,
            "content": item.content,
            "tags": list(item.tags),
            "trust": item.trust,
            "derived_from": list(item.derived_from),
            "members": [member.id for member in members],
        }
        for item, members in planned.groups
    ]
    return {
        "dry_run": dry_run,
        "candidates": planned.candidates,
        "consolidated": len(groups),
        "untrusted": planned.untrusted,
        "groups": groups,
        "archived": [d.item.id for d in planned.changes.archive],
    }


def _consolidation_lines(planned: Consolidation, dry_run: bool) -> list[str]:
    if not planned.groups:
        return ["nothing to consolidate"]
    done = "would consolidate" if dry_run else "consolidated"
    lines = [f"{done} {plural(planned.candidates, 'memory')} into {plural(len(planned.groups), 'item')}"]
    for item, members in planned.groups:
        label = "(new)" if dry_run and len(members) > 1 else item.id
        marked = "untrusted " if is_untrusted(item) else ""
        lines.append(f"  {label} <- {len(members)}: {marked}{one_line(item.content, 100)}")
    if planned.untrusted:
        lines.append(f"{plural(planned.untrusted, 'untrusted item')} kept out of MEMORY.md")
    return lines


@app.command()
def grade(
    ctx: Context,
    ids: Annotated[
        list[str] | None,
        Argument(metavar="[ID...]", ids="items observations", help="Items, or observations whose grade to show."),
    ] = None,
    all: Annotated[bool, Option("--all", help="Every item without an importance.")] = False,
    dry_run: DryRun = False,
    explain: Annotated[bool, Option("--explain", help="Explain each number.")] = False,
) -> None:
    """Grade the importance of items that have none, by heuristic-v1.

    Example: mabos grade --all --explain
    """
    agent = ctx.obj.open_agent()
    if bool(ids) == all:
        raise UsageFault("give ids, or --all", "mabos grade --all --dry-run shows what is missing")
    done = grade_items(agent, ids or (), every=all, dry_run=dry_run)
    rows = [_grade_row(agent, one, explain) for one in done.done]
    observed = [_grade_row(agent, one, explain) | {"id": i} for i, one in done.observed]
    data = {
        "graded": rows,
        "kept": [{"id": item.id, "importance": item.importance} for item in done.kept],
        "observations": observed,
        "dry_run": dry_run,
    }
    lines = (
        [f"{'would grade' if dry_run else 'graded'} {plural(len(rows), 'item')}"]
        if len(observed) < len(ids or ()) or all
        else []
    )
    lines += [_grade_line(row) for row in rows]
    lines += [f"  {item.id} {item.importance:.2f} is given, and stays" for item in done.kept]
    lines += [f"{_grade_line(row)} (what harvest will give it)" for row in observed]
    ctx.obj.emit("grade", data, lines, done.warnings)


def _grade_row(agent: Agent, done: Grading, explain: bool) -> dict[str, Any]:
    must, nice = agent.settings["grade.must_remember"], agent.settings["grade.nice_to_have"]
    item = done.item
    row: dict[str, Any] = {
        "id": item.id,
        "importance": item.importance,
        "band": band(item.importance, must, nice),
        "content": item.content,
    }
    return row | {"parts": {name: round(value, 4) for name, value in done.parts}} if explain else row


def _grade_line(row: dict[str, Any]) -> str:
    added = " + ".join(f"{name} {value:g}" for name, value in row.get("parts", {}).items() if value)
    why = f" = {added}" if added else ""
    return f"  {row['id']} {row['importance']:.2f}{why}: {one_line(row['content'], 60)}"


@app.command()
def materialize(ctx: Context) -> None:
    """Rewrite derived Markdown files.

    Example: mabos materialize
    """
    from mabos_cli.services.memory.upkeep import (
        rebuild_derived,  # late: the others start without facts, cases and mind
    )

    changed, warnings = rebuild_derived(ctx.obj.open_agent())
    lines = [f"wrote {path}" for path in changed] or ["everything is up to date"]
    ctx.obj.emit("materialize", {"changed": changed}, lines, warnings)


@lifecycle.command()
def run(
    ctx: Context,
    dry_run: DryRun = False,
    yes: Annotated[bool, Option("--yes", help="Archive all of them at once, however many.")] = False,
) -> None:
    """Archive items that have expired or have not been used for a long time.

    Unused is a long-term item whose last use is more than 30 days ago, or 90 if its importance is 0.8 or more.
    Decisions, instructions, preferences, people and what is critical (0.95) never are. Being packed or opened is a
    use; so are reinforce, revive and storing the same again. Expired is an item of any store that is past the date
    of its --expires. Nothing is lost: recall and context pack still find what is archived, revive brings it back.
    One run takes at most 25 % of the agent's live items; the next runs take the rest, or --yes all at once.

    Example: mabos lifecycle run --dry-run
    """
    agent = ctx.obj.open_agent()
    planned, warnings = run_lifecycle(agent, dry_run=dry_run, is_confirmed=yes)
    notice = agent.settings["lifecycle.notice"]
    ctx.obj.emit(
        "lifecycle.run", _lifecycle_summary(planned, dry_run), _lifecycle_lines(planned, dry_run, notice), warnings
    )


def _lifecycle_summary(planned: Lifecycle, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "live": planned.live,
        "archived": len(planned.leaving),
        "needs_yes": planned.held > 0,
        "held": planned.held,
        "by": [
            {"reason": cause, "tier": tier, "trust": trust, "count": count}
            for (cause, tier, trust), count in count_leaving(planned.leaving)
        ],
        "fading": planned.fading,
        "tidied": planned.tidied,
        "items": [
            {
                "id": away.departure.item.id,
                "store": away.departure.store,
                "tier": away.tier,
                "trust": away.trust,
                "reason": away.cause,
                "days": away.days,
            }
            for away in planned.leaving
        ],
    }


def _lifecycle_lines(planned: Lifecycle, dry_run: bool, notice: float) -> Iterator[str]:
    leaving, fading = planned.leaving, planned.fading
    causes = ", ".join(_counted([away.cause for away in leaving], ("unused", "expired"), "{1} {0}"))
    would = "would archive" if dry_run else "archived"
    text = f"{would} {len(leaving)} of {plural(planned.live, 'item')}: {causes}"
    text = text if leaving else "nothing to archive"
    if fading:
        more = "more " if leaving else ""
        text += f"; {fading} {more}{'fades' if fading == 1 else 'fade'} within {_span(notice)}"
    if planned.tidied:
        text += f"; short-term memory lets go of {planned.tidied}"
    yield text
    if planned.held:
        yield f"{plural(planned.held, 'more item')} would be too many for one run: the next runs take them, or --yes all at once"
    if not leaving:
        return
    yield "  " + "  ".join(_counted([away.tier for away in leaving], TIERS, "{0} {1}"))
    if {away.trust for away in leaving} != {"agent"}:
        yield "  " + "  ".join(_counted([away.trust for away in leaving], TRUSTS, "{0} {1}"))
    if dry_run:
        yield from _listed(leaving)


def _counted(found: list[str], names: tuple[str, ...], form: str) -> list[str]:
    """Returns the names that occur, each with how often."""
    return [form.format(name, found.count(name)) for name in names if name in found]


def _listed(leaving: tuple[Leaving, ...]) -> Iterator[str]:
    """Yields the items that would go, those first that one would miss most."""
    worst = sorted(leaving, key=lambda away: -away.departure.item.importance)[:_SHOWN]
    rows = [
        (
            away.departure.item.id,
            away.tier,
            "expired" if away.cause == "expired" else plural(away.days or 0, "day"),
            one_line(away.departure.item.content, 80),
        )
        for away in worst
    ]
    yield from (f"  {line}" for line in columns(rows))
    if len(leaving) > _SHOWN:
        yield f"  and {len(leaving) - _SHOWN} more"


def _span(seconds: float) -> str:
    return plural(round(seconds / 86_400), "day") if seconds % 86_400 == 0 else format_span(seconds)
