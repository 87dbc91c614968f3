"""lifecycle: memory that nobody uses goes to the archive, by and by."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.options import DryRun
from mabos_cli.core.language.clock import format_span
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import TRUSTS
from mabos_cli.core.memory.upkeep import TIERS, Leaving, Lifecycle, count_leaving
from mabos_cli.services.memory.upkeep import explain_fuse, run_lifecycle
from mabos_cli.terminal.emit import columns

app = new_group("lifecycle", "Archive what nobody used for long, and what has expired.", no_args_is_help=True)
_SHOWN = 20


@app.command()
def run(
    ctx: typer.Context,
    dry_run: DryRun = False,
    yes: Annotated[bool, typer.Option("--yes", help="Go on when more items than the fuse allows would go.")] = False,
) -> None:
    """Archive what is unused or expired.

    Unused is a long-term item whose last use is more than 30 days ago, or 90 if its importance is 0.8 or more; from
    0.95 on it never is. A recall is a use; so are reinforce, revive and storing the same again. Expired is an item
    of any store that is past the date of its --expires. Nothing is deleted: get shows an archived item, recall
    --archived finds it, revive brings it back. If more than 25 % of the agent's live items would go, nothing is
    done without --yes.

    Example: mabos lifecycle run --dry-run
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    planned, warnings = run_lifecycle(agent, dry_run=dry_run, is_confirmed=yes)
    notice = agent.settings["lifecycle.notice"]
    call.emit("lifecycle.run", _summary(planned, dry_run), _lines(planned, dry_run, notice), warnings)


def _summary(planned: Lifecycle, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "live": planned.live,
        "archived": len(planned.leaving),
        "needs_yes": planned.needs_yes,
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


def _lines(planned: Lifecycle, dry_run: bool, notice: float) -> Iterator[str]:
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
    if not leaving:
        return
    yield "  " + "  ".join(_counted([away.tier for away in leaving], TIERS, "{0} {1}"))
    if {away.trust for away in leaving} != {"agent"}:
        yield "  " + "  ".join(_counted([away.trust for away in leaving], TRUSTS, "{0} {1}"))
    if dry_run and planned.needs_yes:
        yield f"needs --yes: {explain_fuse(planned)}"
    if dry_run:
        yield from _listed(leaving)


def _counted(found: list[str], names: tuple[str, ...], form: str) -> list[str]:
    """The names that occur, each with how often."""
    return [form.format(name, found.count(name)) for name in names if name in found]


def _listed(leaving: tuple[Leaving, ...]) -> Iterator[str]:
    """The items that would go, those first that one would miss most."""
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
