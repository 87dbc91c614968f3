"""harvest: observations become memory items, each once."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call, open_progress
from mabos_cli.commands.options import DryRun
from mabos_cli.core.language.text import plural
from mabos_cli.services.inputs import option, stamp_of
from mabos_cli.services.memory.capture import MOST_NAMED, Crop, Rules, Yield, fault_lines, harvest_observations
from mabos_cli.services.memory.ingest import Spoils, take_spooled

app = typer.Typer()


@app.command()
def harvest(
    ctx: typer.Context,
    since: Annotated[
        str, typer.Option(metavar="DATE", help="Only what was observed since: a date, or an age such as 7d.")
    ] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=0, help="Take at most this many; 0 for all.")] = 0,
    store: Annotated[str | None, typer.Option(help="working, short_term or long_term (default long_term).")] = None,
    min_importance: Annotated[
        float | None, typer.Option(help="Take what is at least this important (default 0).")
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Make memories of observations, each once, ever.

    Example: mabos harvest --since 7d --dry-run
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    settings = agent.settings
    floor = option("harvest.min_importance", min_importance)
    rules = Rules(
        option("harvest.store", store) or settings["harvest.store"],
        settings["harvest.min_importance"] if floor is None else floor,
        stamp_of(since, agent.now()),
        limit or None,
    )
    spoils = take_spooled(agent, dry_run=dry_run, progress=open_progress)
    show = open_progress("harvesting")
    crop, done = harvest_observations(agent, rules, dry_run=dry_run, show=show)
    call.emit(
        "harvest",
        _summary(crop, done, dry_run) | {"transcripts": spoils.transcripts, "observed": spoils.taken},
        [*_spoils_lines(spoils, dry_run), *_lines(crop, done, dry_run)],
        [*spoils.notes, *done.warnings, *fault_lines(crop.faults)],
    )


def _spoils_lines(spoils: Spoils, dry_run: bool) -> Iterator[str]:
    """What there is to tell about transcripts that hooks named, if anything."""
    if spoils.transcripts:
        of, did = plural(spoils.transcripts, "transcript"), "would take" if dry_run else "took"
        yield f"{did} {plural(spoils.taken, 'observation')} of {of} that hooks named"


def _summary(crop: Crop, done: Yield, dry_run: bool) -> dict[str, Any]:
    return {
        "harvested": done.tally.harvested,
        "merged": done.tally.merged,
        "linked": done.tally.linked,
        "ignored": crop.ignored,
        "known": done.known,
        "malformed": [fault._asdict() for fault in crop.faults[:MOST_NAMED]],
        "malformed_total": len(crop.faults),
        "by_band": dict(done.tally.bands),
        "chunks": done.chunks,
        "remaining": crop.remaining,
        "dry_run": dry_run,
    }


def _lines(crop: Crop, done: Yield, dry_run: bool) -> Iterator[str]:
    tally = done.tally
    if not (crop.drafts or crop.faults or crop.ignored or crop.remaining):
        yield "nothing to harvest"
        return
    parts = [f"{'would harvest' if dry_run else 'harvested'} {plural(tally.harvested, 'observation')}"]
    bands = ", ".join(f"{count} {name}" for name, count in tally.bands if count)
    parts[0] += f" ({bands})" if bands else ""
    rest = {"merged": tally.merged, "linked": tally.linked, "ignored": crop.ignored, "known": done.known}
    parts += [f"{count} {name}" for name, count in {**rest, "malformed": len(crop.faults)}.items() if count]
    parts += [f"{crop.remaining} remaining"] if crop.remaining else []
    yield ", ".join(parts)
