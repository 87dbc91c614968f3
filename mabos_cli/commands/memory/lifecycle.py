"""lifecycle: memory that nobody uses goes to the archive, by and by."""

import math
from collections.abc import Iterator
from typing import Annotated

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.options import DryRun
from mabos_cli.core.language.clock import format_span
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import TRUSTS
from mabos_cli.core.memory.stores import Memory
from mabos_cli.core.memory.upkeep import TIERS, Leaving, Lifecycle, Rules, count_leaving, plan_lifecycle
from mabos_cli.errors import UsageFault
from mabos_cli.terminal.emit import columns

app = new_group("lifecycle", "Archive what nobody used for long, and what has expired.", no_args_is_help=True)
_SHOWN = 20
_RULES = ("high_unused", "other_unused", "notice", "fuse")


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
    rules = Rules(*(agent.settings[f"lifecycle.{name}"] for name in _RULES))

    def plan(memory: Memory, fresh: object):
        planned = plan_lifecycle(memory, rules, now=agent.now(), limits=agent.settings.limits())
        if planned.needs_yes and not (yes or dry_run):
            raise UsageFault(_too_many(planned), "look at them with --dry-run, then run it with --yes")
        return planned.changes, planned

    planned, warnings = (agent.preview(plan), []) if dry_run else agent.change("lifecycle", plan)
    call.emit("lifecycle.run", _summary(planned, dry_run), _lines(planned, dry_run, rules.notice), warnings)


def _summary(planned: Lifecycle, dry_run: bool) -> dict:
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
    said = f"{would} {len(leaving)} of {plural(planned.live, 'item')}: {causes}"
    said = said if leaving else "nothing to archive"
    if fading:
        more = "more " if leaving else ""
        said += f"; {fading} {more}{'fades' if fading == 1 else 'fade'} within {_span(notice)}"
    if planned.tidied:
        said += f"; short-term memory lets go of {planned.tidied}"
    yield said
    if not leaving:
        return
    yield "  " + "  ".join(_counted([away.tier for away in leaving], TIERS, "{0} {1}"))
    if {away.trust for away in leaving} != {"agent"}:
        yield "  " + "  ".join(_counted([away.trust for away in leaving], TRUSTS, "{0} {1}"))
    if dry_run and planned.needs_yes:
        yield f"needs --yes: {_too_many(planned)}"
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


def _too_many(planned: Lifecycle) -> str:
    """Why a run needs --yes. The share is rounded up, so that it never looks like one that the fuse allows."""
    share = math.ceil(round(1000 * len(planned.leaving) / planned.live, 6)) / 10
    return (
        f"{len(planned.leaving)} of {plural(planned.live, 'live item')} ({share:g} %) would be archived; "
        f"the fuse is {round(100 * planned.fuse, 4):g} %"
    )


def _span(seconds: float) -> str:
    return plural(round(seconds / 86_400), "day") if seconds % 86_400 == 0 else format_span(seconds)
