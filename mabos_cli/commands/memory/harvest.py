"""harvest: observations become memory items, each once."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Annotated, Any, NamedTuple

import typer

from mabos_cli.commands.call import Call
from mabos_cli.commands.memory.capture import MOST_NAMED, Fault, fault_lines
from mabos_cli.commands.options import DryRun
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.observation import Observation, clean, with_origin
from mabos_cli.core.memory.stores import Memory
from mabos_cli.core.memory.storing import Draft, plan_store
from mabos_cli.core.memory.upkeep import Tally, draft_observation, is_worth
from mabos_cli.services.inputs import option, stamp_of
from mabos_cli.services.memory.ingest_spool import take_spooled
from mabos_cli.terminal.emit import progress, shows_progress
from mabos_cli.workspace.agent import Agent, Fresh
from mabos_cli.workspace.lock import locked
from mabos_cli.workspace.memory.observations import Waiting, find_waiting, note_settled, note_taken, stored_already
from mabos_cli.workspace.memory.trust_log import Judge
from mabos_cli.workspace.recovery import holding_lock

app = typer.Typer()


class Rules(NamedTuple):
    """What a harvest takes: into which store, from which importance and time on, and how many (none: all)."""

    store: str
    floor: float
    since: str = ""
    limit: int | None = None


class Crop(NamedTuple):
    """What a look at the observations found: what is to be stored, from which file; what is not, and why."""

    drafts: list[tuple[str, Observation, Draft]]
    settled: list[Waiting]
    faults: list[Fault]
    ignored: int = 0
    remaining: int = 0


class Yield(NamedTuple):
    """What a harvest did."""

    tally: Tally
    chunks: int = 0
    known: int = 0
    warnings: tuple[str, ...] = ()


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
    spoils = take_spooled(agent, dry_run=dry_run)
    crop, done = harvest_observations(agent, rules, dry_run=dry_run)
    call.emit(
        "harvest",
        _summary(crop, done, dry_run) | {"transcripts": spoils.transcripts, "observed": spoils.taken},
        [*spoils.lines(dry_run), *_lines(crop, done, dry_run)],
        [*spoils.notes, *done.warnings, *fault_lines(crop.faults)],
    )


def harvest_observations(agent: Agent, rules: Rules, *, dry_run: bool = False) -> tuple[Crop, Yield]:
    """Stores what waits, chunk by chunk: what was found, and what became of it. One harvest runs at a time."""
    timeout = agent.settings["lock.timeout"]
    root = agent.paths.workspace.root
    with nullcontext() if dry_run else locked(agent.paths.harvest_lock, root, timeout, "mabos harvest"):
        crop = gather(agent, rules)
        known = _stored(agent, crop, dry_run) if crop.drafts else set()
        drafts = [entry for entry in crop.drafts if entry[1].id not in known]
        done = _preview(agent, drafts) if dry_run else _store(agent, drafts)
        if not dry_run:
            note_taken(agent.paths, (e[:2] for e in crop.drafts if e[1].id in known), _now(agent))
            note_settled(agent.paths, crop.settled)
    return crop, done._replace(known=len(known))


def gather(agent: Agent, rules: Rules) -> Crop:
    """What waits, cleaned and sorted out by the rules. A line that makes no sense is a fault, and no reason to stop."""
    from mabos_cli.core.language.secrets import redact

    crop, limits, most = Crop([], [], []), agent.settings.limits(), agent.settings["capture.max_bytes"]
    for waiting in find_waiting(agent.paths, rules.floor):
        place = agent.paths.relative(agent.paths.observations / waiting.name)
        faults = [(line.number, line.fault) for line in waiting.faults]
        ignored = left = 0
        for line in waiting.lines:
            assert line.observation is not None
            seen = _vouched(line.observation, waiting.name)
            if seen.at < rules.since or (rules.limit is not None and len(crop.drafts) >= rules.limit):
                left += 1
                continue
            try:
                draft = draft_observation(clean(seen, most, redact), rules.store)
            except BadValue as error:
                faults.append((line.number, error.message))
                continue
            if is_worth(draft, rules.floor, agent.now(), limits):
                crop.drafts.append((waiting.name, line.observation, draft))
            else:
                ignored += 1
        crop.faults.extend(Fault(f"{place}:{number}", reason) for number, reason in sorted(faults))
        if not left:
            # What an earlier harvest ignored waits for one that asks for less.
            floor = max(waiting.cover.floor, rules.floor if ignored else 0.0)
            crop.settled.append(waiting._replace(cover=waiting.cover._replace(floor=floor)))
        crop = crop._replace(ignored=crop.ignored + ignored, remaining=crop.remaining + left)
    return crop


def _vouched(observation: Observation, name: str) -> Observation:
    """The observation with its origin. Where a record does not say how far it is trusted, it is not; an undated one is as old
    as its file."""
    day = name[:10] if name[:4].isdigit() else ""
    return with_origin(observation, f"{day}T00:00:00.000Z" if day else "", observation.trust or "untrusted")


def _stored(agent: Agent, crop: Crop, dry_run: bool) -> set[str]:
    """The observations that are items already, though the ledger does not know: a harvest was cut off behind its store. What a
    killed writer left half done is finished or undone before anybody looks."""
    if not dry_run:
        with holding_lock(agent, "harvest"):
            pass
    return stored_already(agent.paths, [observation.id for _, observation, _ in crop.drafts])


def _preview(agent: Agent, drafts: Sequence[tuple[str, Observation, Draft]]) -> Yield:
    results = agent.preview(_plan(agent, drafts)) if drafts else []
    return Yield(Tally().count(results, *_bands(agent)))


def _store(agent: Agent, drafts: Sequence[tuple[str, Observation, Draft]]) -> Yield:
    done, size = Yield(Tally()), agent.settings["harvest.chunk"]
    show = progress("harvesting") if shows_progress() else None
    for start in range(0, len(drafts), size):
        if show:
            show(start, len(drafts))
        chunk = drafts[start : start + size]
        results, warnings = agent.change("harvest", _plan(agent, chunk))
        note_taken(agent.paths, (entry[:2] for entry in chunk), _now(agent))
        known = tuple(dict.fromkeys((*done.warnings, *warnings)))
        done = Yield(done.tally.count(results, *_bands(agent)), done.chunks + 1, warnings=known)
    if show and drafts:
        show(len(drafts), len(drafts))
    return done


def _plan(agent: Agent, drafts: Sequence[tuple[str, Observation, Draft]]) -> Any:
    def plan(memory: Memory, fresh: Fresh) -> Any:
        return plan_store(
            memory,
            [draft for _, _, draft in drafts],
            now=agent.now(),
            mint=fresh.new_id,
            limits=agent.settings.limits(),
            relatives=fresh,
            trust_of=Judge(agent.paths, memory),
        )

    return plan


def _bands(agent: Agent) -> tuple[float, float]:
    return agent.settings["grade.must_remember"], agent.settings["grade.nice_to_have"]


def _now(agent: Agent) -> str:
    return format_time(agent.now())


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
    told = [f"{'would harvest' if dry_run else 'harvested'} {plural(tally.harvested, 'observation')}"]
    bands = ", ".join(f"{count} {name}" for name, count in tally.bands if count)
    told[0] += f" ({bands})" if bands else ""
    rest = {"merged": tally.merged, "linked": tally.linked, "ignored": crop.ignored, "known": done.known}
    told += [f"{count} {name}" for name, count in {**rest, "malformed": len(crop.faults)}.items() if count]
    told += [f"{crop.remaining} remaining"] if crop.remaining else []
    yield ", ".join(told)
