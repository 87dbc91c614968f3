"""Observations: captured cheaply as they come, and harvested into memory items, each once."""

from _blake2 import blake2b
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import cache, partial
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.observation import Observation, clean, with_origin
from mabos_cli.core.memory.stores import Changes, Draft, Memory
from mabos_cli.core.memory.storing import Stored
from mabos_cli.core.memory.upkeep import Tally, is_worth, join_repeats
from mabos_cli.errors import InvalidFile, NotFound
from mabos_cli.formats.memory.observations import Cover, Line, observation_from_dict, parse_record
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.lock import locked
from mabos_cli.workspace.memory.changing import plan_drafts
from mabos_cli.workspace.memory.observations import (
    Waiting,
    append_observations,
    chosen_lines,
    find_waiting,
    settled_lines,
    stored_already,
    taken_lines,
)
from mabos_cli.workspace.transaction import Fresh, Write, transact, write_receipt

MOST_NAMED = 10  # faults that are listed one by one
Show = Callable[[int, int], None]


class Fault(NamedTuple):
    """A line that could not be taken, and why."""

    place: str
    reason: str


def prepare(agent: Agent, observation: Observation, most: str = "") -> Observation:
    """Returns the observation as it may touch the disk: with its origin, without secrets, bounded. BadValue where it makes no sense."""
    from mabos_cli.core.language.secrets import KINDS, redact

    # What a record says was taken out of it may be anything; only kinds are reported.
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
    """Returns whether standard input begins with a record, and not with text that happens to be there."""
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


def capture_lines(
    agent: Agent, data: bytes, name: str, given: Observation, *, strict: bool
) -> tuple[list[Observation], list[Fault]]:
    """Captures each line of NDJSON; `given` holds where a line is silent. Returns observations, and lines that could not be taken; with
    `strict`, a malformed line is InvalidFile."""
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
    return capture_observations(agent, taken), faults


def _with_defaults(record: Observation, given: Observation) -> Observation:
    """Returns what a line says, and what was given for all lines where it is silent. An id of its own it cannot have."""
    stated = {name: value for name, value in record._asdict().items() if value not in ("", (), None)}
    if "source" in stated:
        given = given._replace(kind="")  # which is that of the source
    return given._replace(trust="")._replace(**stated)._replace(id="")


def fault_lines(faults: Sequence[Fault]) -> list[str]:
    """Warnings about lines that could not be taken: the first few by name, the others counted."""
    named = [f"{fault.place}: {fault.reason}" for fault in faults[:MOST_NAMED]]
    more = len(faults) - len(named)
    return [*named, f"and {plural(more, 'more malformed line')}"] if more else named


ALL = "all"


class Rules(NamedTuple):
    """Holds what a harvest takes: into which store (by type when empty), from which importance and time on, how many (none: all), and
    which candidates (none: as the settings say). With `leaves`, these are not stored, and are never offered again."""

    store: str
    floor: float
    since: str = ""
    limit: int | None = None
    only: frozenset[str] | None = None
    leaves: bool = False


class Candidate(NamedTuple):
    """A memory that a harvest would keep, the observation that it comes from, and the file and line of that."""

    file: str
    line: int
    seen: Observation
    draft: Draft

    @property
    def id(self) -> str:
        """Returns an id that depends on nothing but the statement and where it was made."""
        seed = f"{self.seen.key or self.seen.id}\0{self.draft.item.content}".encode("utf-8", "replace")
        return f"H-{blake2b(seed, digest_size=5).hexdigest()}"


class Gathered(NamedTuple):
    """Holds what a look at the observations found: what is to be stored, what is not, and why; and the observations of which only some
    candidates are, or were, taken."""

    drafts: list[Candidate]
    settled: list[Waiting]
    faults: list[Fault]
    ignored: int = 0
    remaining: int = 0
    chosen_from: frozenset[str] = frozenset()


def harvest_observations(
    agent: Agent,
    rules: Rules,
    *,
    dry_run: bool = False,
    show: Show | None = None,
    pending: Sequence[Observation] = (),
) -> tuple[Gathered, Tally]:
    """Stores what waits, chunk by chunk: what was found, and what became of it. One harvest runs at a time."""
    root, timeout = agent.paths.workspace.root, agent.settings["lock.timeout"]
    with nullcontext() if dry_run else locked(agent.paths.harvest_lock, root, timeout, "mabos harvest"):
        gathered = gather(agent, rules, pending)
        _check_chosen(rules, gathered)
        done = Tally() if rules.leaves else _store(agent, gathered, dry_run, show)
        lines = [] if dry_run else settled_lines(agent.paths, gathered.settled)
        if rules.leaves:
            left = [(each.file, each.seen.id, each.id) for each in gathered.drafts]
            lines = [*chosen_lines(agent.paths, left, format_time(agent.now())), *lines]
        if lines:
            transact(agent, "harvest", lambda fresh: (Write(lines=lines), None))
    return gathered, done


def _check_chosen(rules: Rules, gathered: Gathered) -> None:
    """Raises NotFound for candidates that were asked for and do not wait."""
    missing = (rules.only or frozenset()) - {ALL} - {each.id for each in gathered.drafts if rules.only}
    if missing:
        hint = "nothing was stored; mabos harvest --review lists what waits"
        raise NotFound(f"no candidate {', '.join(sorted(missing))[:200]}", hint)


def review_candidates(agent: Agent, gathered: Gathered) -> list[tuple[Candidate, Stored]]:
    """Returns what a harvest would keep, and what would become of each; nothing is written."""
    known = _find_known(agent, gathered)
    waiting = [each for each in gathered.drafts if each.seen.id not in known]
    results = agent.preview(plan_drafts(agent, [each.draft for each in waiting])) if waiting else []
    return list(zip(waiting, results, strict=True))


def gather(agent: Agent, rules: Rules, pending: Sequence[Observation] = ()) -> Gathered:
    """Returns what waits, cleaned and sorted out by the rules; `pending` is what was not written yet. A line that makes no sense is a
    fault, and no reason to stop."""
    from mabos_cli.services.memory.learning import draft_observations  # late: to capture is to note down

    gathered, limits = Gathered([], [], []), agent.settings.limits()
    only = frozenset() if rules.only is None and agent.settings["harvest.review"] else rules.only
    for waiting in _with_pending(agent, find_waiting(agent.paths, rules.floor), pending):
        ignored, left, chosen_from = 0, 0, set(waiting.ledger.chosen_from)
        ready, older, faults = _ready(agent, waiting, rules.since)
        numbers = {line.id: line.number for line in waiting.lines}
        for seen, draft in draft_observations(agent, waiting.name, ready, rules.store):
            each = Candidate(waiting.name, numbers[seen.id], seen, draft)
            if waiting.ledger.candidates and each.id in waiting.ledger.candidates:
                continue
            if (rules.limit is not None and len(gathered.drafts) >= rules.limit) or not _is_chosen(each, only):
                left += 1
                chosen_from.add(seen.id)
            elif is_worth(draft, rules.floor, limits):
                gathered.drafts.append(each)
            else:
                ignored += 1
        gathered.faults.extend(faults)
        if not left + older:
            # What an earlier harvest ignored waits for one that asks for less.
            floor = max(waiting.cover.floor, rules.floor if ignored else 0.0)
            gathered.settled.append(waiting._replace(cover=waiting.cover._replace(floor=floor)))
        gathered = gathered._replace(
            ignored=gathered.ignored + ignored,
            remaining=gathered.remaining + left + older,
            chosen_from=gathered.chosen_from | chosen_from,
        )
    return gathered


def _is_chosen(each: Candidate, only: frozenset[str] | None) -> bool:
    return only is None or ALL in only or (bool(only) and each.id in only)


def _with_pending(agent: Agent, files: Iterable[Waiting], pending: Sequence[Observation]) -> Iterator[Waiting]:
    """Yields the files that wait, with pending observations in the one that they will be written to."""
    name = f"{format_time(agent.now())[:10]}.jsonl"
    lines = tuple(Line(0, f"pending {n}", seen._replace(id=f"pending {n}")) for n, seen in enumerate(pending))
    for waiting in files:
        if waiting.name == name:
            waiting, lines = waiting._replace(lines=(*waiting.lines, *lines)), ()
        yield waiting
    if lines:
        yield Waiting(name, lines, (), Cover(0, 0), is_noted=True)


def _ready(agent: Agent, waiting: Waiting, since: str) -> tuple[dict[str, Observation], int, list[Fault]]:
    """Returns what waits in a file without its secrets, how much of it is older than asked for, and lines that make no sense."""
    from mabos_cli.core.language.secrets import redact

    place, most = agent.paths.relative(agent.paths.observations / waiting.name), agent.settings["capture.max_bytes"]
    faults, older, ready = [(line.number, line.fault) for line in waiting.faults], 0, dict[str, Observation]()
    for line in waiting.lines:
        assert line.observation is not None
        seen = _vouched(line.observation, waiting.name)
        if seen.at < since:
            older += 1
            continue
        try:
            ready[line.id] = clean(seen, most, redact)
        except BadValue as error:
            faults.append((line.number, error.message))
    return ready, older, [Fault(f"{place}:{number}", reason) for number, reason in sorted(faults)]


def _vouched(observation: Observation, name: str) -> Observation:
    """Returns the observation with its origin. Where a record does not say how far it is trusted, it is not; an undated one is as old
    as its file."""
    day = name[:10] if name[:4].isdigit() else ""
    return with_origin(observation, f"{day}T00:00:00.000Z" if day else "", observation.trust or "untrusted")


def _find_known(agent: Agent, gathered: Gathered) -> set[str]:
    """Returns observations that are items already, though the ledger does not know: a harvest was cut off behind its store."""
    return stored_already(agent.paths, [each.seen.id for each in gathered.drafts]) - gathered.chosen_from


def _store(agent: Agent, gathered: Gathered, dry_run: bool, show: Show | None) -> Tally:
    """Stores drafts and notes in the ledgers that they were taken, one transaction for each chunk."""
    drafts = gathered.drafts
    if not drafts:
        return Tally()
    find_known = cache(partial(_find_known, agent, gathered))  # asked under the agent's lock
    done, size = Tally(), len(drafts) if dry_run else agent.settings["harvest.chunk"]
    for start in range(0, len(drafts), size):
        if show:
            show(start, len(drafts))
        results, notes = _store_chunk(agent, drafts[start : start + size], gathered.chosen_from, find_known, dry_run)
        warnings = tuple(dict.fromkeys((*done.warnings, *notes)))
        done = done.with_results(results, *_bands(agent))._replace(known=len(find_known()), warnings=warnings)
        done = done._replace(chunks=done.chunks + bool(results and not dry_run))
    if show:
        show(len(drafts), len(drafts))
    return done


def _store_chunk(
    agent: Agent,
    chunk: Sequence[Candidate],
    chosen_from: frozenset[str],
    find_known: Callable[[], set[str]],
    dry_run: bool,
) -> tuple[list[Stored], list[str]]:
    def plan(memory: Memory, fresh: Fresh) -> tuple[Changes, list[Stored]]:
        new = [each.draft for each in chunk if each.seen.id not in find_known()]
        if not new:
            return Changes(memory.working, memory.short_term), []
        joined = join_repeats(new)
        changes, results = plan_drafts(agent, joined)(memory, fresh)
        return changes, results + [results[0]._replace(deduplicated=True)] * (len(new) - len(joined))

    at = format_time(agent.now())
    whole = [(each.file, each.seen.id) for each in chunk if each.seen.id not in chosen_from]
    some = [(each.file, each.seen.id, each.id) for each in chunk if each.seen.id in chosen_from]
    lines = [*taken_lines(agent.paths, whole, at), *chosen_lines(agent.paths, some, at)]
    return agent.change("harvest", plan, ledger=lambda _: lines, dry_run=dry_run)


def _bands(agent: Agent) -> tuple[float, float]:
    return agent.settings["grade.must_remember"], agent.settings["grade.nice_to_have"]
