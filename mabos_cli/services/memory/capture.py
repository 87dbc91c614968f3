"""Observations: captured cheaply as they come, and harvested into memory items, each once."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cache
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.observation import Observation, clean, with_origin
from mabos_cli.core.memory.stores import Changes, Memory
from mabos_cli.core.memory.storing import Draft, Stored
from mabos_cli.core.memory.upkeep import Tally, is_worth, join_repeats
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.memory.observations import observation_from_dict, parse_record
from mabos_cli.services.memory.learning import draft_observations
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.lock import locked
from mabos_cli.workspace.memory.changing import plan_drafts
from mabos_cli.workspace.memory.observations import (
    Waiting,
    append_observations,
    find_waiting,
    settled_lines,
    stored_already,
    taken_lines,
)
from mabos_cli.workspace.transaction import Fresh, Write, transact, write_receipt

MOST_NAMED = 10  # faults that are told one by one
Show = Callable[[int, int], None]


class Fault(NamedTuple):
    """A line that could not be taken, and why."""

    place: str
    reason: str


class Captured(NamedTuple):
    """Observations that were captured, and lines that could not be."""

    observations: list[Observation]
    faults: list[Fault]


def prepare(agent: Agent, observation: Observation, most: str = "") -> Observation:
    """The observation as it may touch the disk: with its origin, without secrets, bounded. BadValue where it makes no sense."""
    from mabos_cli.core.language.secrets import KINDS, redact

    # What a record says was taken out of it may be anything; kinds are told, and nothing else.
    known = tuple(kind for kind in observation.redacted if kind in KINDS)
    whole = with_origin(observation._replace(redacted=known), format_time(agent.now()), most)
    return clean(whole, agent.settings["capture.max_bytes"], redact)


def capture_observations(agent: Agent, observations: Sequence[Observation]) -> list[Observation]:
    """Appends prepared observations, durably, and leaves a receipt. They come back with their ids."""
    kept = append_observations(agent, observations)
    if kept:
        write_receipt(agent, "capture", {"captured": len(kept)}, [one.id for one in kept])
    return kept


def is_record(data: bytes) -> bool:
    """Whether standard input begins with a record, and not with text that happens to be there."""
    first = data.lstrip().split(b"\n", 1)[0]
    if not first.startswith(b"{"):
        return False
    try:
        observation_from_dict(parse_record(first))
    except BadValue:
        return False
    return True


def capture_text(agent: Agent, given: Observation, text: str) -> Observation:
    """Captures one observation; it comes back with its id."""
    [kept] = capture_observations(agent, [prepare(agent, given._replace(text=text), given.trust)])
    return kept


def capture_lines(agent: Agent, data: bytes, name: str, given: Observation, *, strict: bool) -> Captured:
    """Captures each line of NDJSON; `given` holds where a line is silent. With `strict`, a malformed line is InvalidFile."""
    taken: list[Observation] = []
    faults: list[Fault] = []
    most = given.trust or ("untrusted" if given.kind == "tool" else "")
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip(b"\0 \t\r"):
            continue
        try:
            record = observation_from_dict(parse_record(line))
            taken.append(prepare(agent, _with_defaults(record, given), most))
        except BadValue as error:
            faults.append(Fault(f"{name}:{number}", error.message))
            if strict:
                hint = f"nothing was captured; {error.hint}".rstrip("; ")
                raise InvalidFile(f"{name}:{number}: {error.message}", hint) from None
    return Captured(capture_observations(agent, taken), faults)


def _with_defaults(record: Observation, given: Observation) -> Observation:
    """What a line says, and what was given for all lines where it is silent. An id of its own it cannot have."""
    stated = {name: value for name, value in record._asdict().items() if value not in ("", (), None)}
    if "source" in stated:
        given = given._replace(kind="")  # which is that of the source
    return given._replace(trust="")._replace(**stated)._replace(id="")


def fault_lines(faults: Sequence[Fault]) -> list[str]:
    """Warnings about lines that could not be taken: the first few by name, the others counted."""
    named = [f"{fault.place}: {fault.reason}" for fault in faults[:MOST_NAMED]]
    more = len(faults) - len(named)
    return [*named, f"and {plural(more, 'more malformed line')}"] if more else named


class Rules(NamedTuple):
    """What a harvest takes: into which store (by type when empty), from which importance and time on, and how many (none: all)."""

    store: str
    floor: float
    since: str = ""
    limit: int | None = None


Drafts = list[tuple[str, Observation, Draft]]  # with the file of each observation


class Gathered(NamedTuple):
    """What a look at the observations found: what is to be stored, from which file; what is not, and why."""

    drafts: Drafts
    settled: list[Waiting]
    faults: list[Fault]
    ignored: int = 0
    remaining: int = 0


class HarvestResult(NamedTuple):
    """What a harvest did."""

    tally: Tally
    chunks: int = 0
    known: int = 0
    warnings: tuple[str, ...] = ()


def harvest_observations(
    agent: Agent, rules: Rules, *, dry_run: bool = False, show: Show | None = None
) -> tuple[Gathered, HarvestResult]:
    """Stores what waits, chunk by chunk: what was found, and what became of it. One harvest runs at a time."""
    root, timeout = agent.paths.workspace.root, agent.settings["lock.timeout"]
    with nullcontext() if dry_run else locked(agent.paths.harvest_lock, root, timeout, "mabos harvest"):
        gathered = gather(agent, rules)
        done = _store(agent, gathered.drafts, dry_run, show)
        settled = [] if dry_run else settled_lines(agent.paths, gathered.settled)
        if settled:
            transact(agent, "harvest", lambda fresh: (Write(lines=settled), None))
    return gathered, done


def gather(agent: Agent, rules: Rules) -> Gathered:
    """What waits, cleaned and sorted out by the rules. A line that makes no sense is a fault, and no reason to stop."""
    from mabos_cli.core.language.secrets import redact

    gathered, limits, most = Gathered([], [], []), agent.settings.limits(), agent.settings["capture.max_bytes"]
    for waiting in find_waiting(agent.paths, rules.floor):
        place = agent.paths.relative(agent.paths.observations / waiting.name)
        faults = [(line.number, line.fault) for line in waiting.faults]
        ignored = left = 0
        ready: dict[str, Observation] = {}
        for line in waiting.lines:
            assert line.observation is not None
            seen = _vouched(line.observation, waiting.name)
            if seen.at < rules.since:
                left += 1
                continue
            try:
                ready[line.id] = clean(seen, most, redact)
            except BadValue as error:
                faults.append((line.number, error.message))
        for seen, draft in draft_observations(agent, waiting.name, ready, rules.store):
            if rules.limit is not None and len(gathered.drafts) >= rules.limit:
                left += 1
            elif is_worth(draft, rules.floor, limits):
                gathered.drafts.append((waiting.name, seen, draft))
            else:
                ignored += 1
        gathered.faults.extend(Fault(f"{place}:{number}", reason) for number, reason in sorted(faults))
        if not left:
            # What an earlier harvest ignored waits for one that asks for less.
            floor = max(waiting.cover.floor, rules.floor if ignored else 0.0)
            gathered.settled.append(waiting._replace(cover=waiting.cover._replace(floor=floor)))
        gathered = gathered._replace(ignored=gathered.ignored + ignored, remaining=gathered.remaining + left)
    return gathered


def _vouched(observation: Observation, name: str) -> Observation:
    """The observation with its origin. Where a record does not say how far it is trusted, it is not; an undated one is as old
    as its file."""
    day = name[:10] if name[:4].isdigit() else ""
    return with_origin(observation, f"{day}T00:00:00.000Z" if day else "", observation.trust or "untrusted")


def _store(agent: Agent, drafts: Drafts, dry_run: bool, show: Show | None) -> HarvestResult:
    """Stores drafts and notes in the ledgers that they were taken, one transaction for each chunk."""
    if not drafts:
        return HarvestResult(Tally())

    @cache
    def find_known() -> set[str]:
        """Items already, though the ledger does not know: a harvest was cut off behind its store. Asked under the agent's lock."""
        return stored_already(agent.paths, [observation.id for _, observation, _ in drafts])

    done, size = HarvestResult(Tally()), len(drafts) if dry_run else agent.settings["harvest.chunk"]
    for start in range(0, len(drafts), size):
        if show:
            show(start, len(drafts))
        results, notes = _store_chunk(agent, drafts[start : start + size], find_known, dry_run)
        tally = done.tally.with_results(results, *_bands(agent))
        warnings = tuple(dict.fromkeys((*done.warnings, *notes)))
        done = HarvestResult(tally, done.chunks + bool(results and not dry_run), len(find_known()), warnings)
    if show:
        show(len(drafts), len(drafts))
    return done


def _store_chunk(
    agent: Agent, chunk: Drafts, find_known: Callable[[], set[str]], dry_run: bool
) -> tuple[list[Stored], list[str]]:
    def plan(memory: Memory, fresh: Fresh) -> tuple[Changes, list[Stored]]:
        new = [draft for _, observation, draft in chunk if observation.id not in find_known()]
        if not new:
            return Changes(memory.working, memory.short_term), []
        joined = join_repeats(new)
        changes, results = plan_drafts(agent, joined)(memory, fresh)
        return changes, results + [results[0]._replace(deduplicated=True)] * (len(new) - len(joined))

    taken = taken_lines(agent.paths, chunk, format_time(agent.now()))
    return agent.change("harvest", plan, ledger=lambda _: taken, dry_run=dry_run)


def _bands(agent: Agent) -> tuple[float, float]:
    return agent.settings["grade.must_remember"], agent.settings["grade.nice_to_have"]
