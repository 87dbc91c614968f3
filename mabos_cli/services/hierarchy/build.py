"""Building the hierarchy: weekly, monthly and quarterly summaries from the daily logs, and only those that changed."""

import time
from _blake2 import blake2b
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

from mabos_cli.core.hierarchy.summary import summarize
from mabos_cli.core.language.periods import LEVELS, Period, periods_of
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import MabosError
from mabos_cli.formats.hierarchy.digest_json import VERSION as DIGEST_VERSION
from mabos_cli.formats.hierarchy.summary_md import VERSION, Overview, Places, Written, parse_summary, render_summary
from mabos_cli.services.hierarchy.daily_logs import relink_logs_of
from mabos_cli.services.hierarchy.digests import Digests
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.derived import set_aside
from mabos_cli.workspace.files import FileWrite, list_stems, read_bytes
from mabos_cli.workspace.transaction import Fresh, Write, transact, write_receipt

SCOPES = {
    "week": ("weekly",),
    "month": ("monthly",),
    "quarter": ("quarterly",),
    "all": ("weekly", "monthly", "quarterly"),
}
_BYTES = {"weekly": "hierarchy.week_bytes", "monthly": "hierarchy.month_bytes", "quarterly": "hierarchy.quarter_bytes"}
_BELOW = {"monthly": "weekly", "quarterly": "monthly"}
FAILED = "failed"  # in place of an overview's author: it could not be had, and is asked for again next time
_BATCH = 16  # files written while the agent's lock is held: nobody waits for a whole build


class State(NamedTuple):
    """A period and its file: missing, current, stale, edited (and stale), unreadable when a log of it is; the hash that
    its sources have now, and which of the weeks or months below it have files."""

    period: Period
    path: Path
    hash: str
    state: str
    below: frozenset[str] = frozenset()


class Built(NamedTuple):
    """Holds what a build did: files written, kept because a person changed them, as they should be, and left without logs."""

    written: list[State]
    kept: list[State]
    unchanged: list[State]
    orphans: list[Path]
    warnings: list[str]


class Order(NamedTuple):
    """Holds what is to be built."""

    scope: str = "all"
    since: date | None = None
    force: bool = False
    dry_run: bool = False
    overviews: bool = False  # by a language model, if one is configured
    days: frozenset[str] = frozenset()  # if given, only summaries that are there and tell of one of these days


Compose = Callable[[str], Overview]
Show = Callable[[int, int], None]


def build_with_overviews(agent: Agent, order: Order, show: Show | None = None) -> Built:
    """Builds the summaries whose sources changed, with overviews by a language model if they are wanted and one is configured."""
    from mabos_cli.services.search.llm_ask import OverviewWriter, open_writer

    model = open_writer(agent) if order.overviews and not order.dry_run else None
    writer = OverviewWriter(model) if model else None
    built = build_hierarchy(agent, order, writer, show)
    built.warnings.extend(writer.warnings() if writer else ())
    return built


def build_hierarchy(agent: Agent, order: Order, compose: Compose | None = None, show: Show | None = None) -> Built:
    """Builds the summaries whose sources changed; compose, if given, writes an overview from the text of a summary.

    Level by level: a month links to the weeks that have files, and those are known when the weeks are done.
    """
    started, digests = time.monotonic(), Digests(agent)
    built = Built([], [], [], [], [])
    if digests.has_moved() and not order.dry_run:
        active = frozenset(digests.logs) - digests.archived
        relinked = Write(follow=lambda: relink_logs_of(agent.paths, digests.archived, active)[1])
        built.warnings.extend(transact(agent, "hierarchy build", lambda fresh: (relinked, None))[1])
    for level in SCOPES[order.scope]:
        _build_level(digests, level, order, None if order.dry_run else compose, show, built)
    if not order.dry_run:
        digests.save()
        if built.written:
            write_receipt(agent, "hierarchy build", {"summaries": len(built.written)}, [], started)
    return built


def retell_days(agent: Agent, days: frozenset[str]) -> list[str]:
    """Rebuilds the summaries of days whose items were forgotten, revived or given another trust; returns warnings."""
    if not days or not any(agent.paths.summaries(level).is_dir() for level in SCOPES["all"]):
        return []
    built = build_hierarchy(agent, Order(days=days))
    kept = [agent.paths.relative(state.path) for state in built.kept if state.state == "edited, stale"]
    return [*built.warnings, *(f"{path} was edited by hand and is kept" for path in kept)]


def _build_level(
    digests: Digests, level: str, order: Order, compose: Compose | None, show: Show | None, built: Built
) -> None:
    states = list(_states(digests, level, order, {s.period.name for s in built.written}, built.warnings))
    wanted = ("stale",) if order.days else ("missing", "stale")
    due = [s for s in states if s.state != "unreadable" and (order.force or s.state in wanted)]
    built.kept.extend(s for s in states if s.state.startswith("edited") and not order.force)
    built.orphans.extend(_orphans(digests, level))
    for number in range(0, len(due), _BATCH):
        if show:
            show(number, len(due))
        made = ((state, _text(digests, state, compose, built.warnings)) for state in due[number : number + _BATCH])
        texts = [(state, text) for state, text in made if text]
        if order.dry_run:
            built.written.extend(state for state, _ in texts)
        else:
            _write(digests, texts, order, built)
    if show and due:
        show(len(due), len(due))
    done = {s.path for s in (*built.written, *built.kept)}
    built.unchanged.extend(s for s in states if s.path not in done and s.state in ("current", "stale"))


def _orphans(digests: Digests, level: str) -> list[Path]:
    """Summaries whose logs are gone. They stay, for they may be all that is left, but somebody should know."""
    with_logs = {period.name for period in periods_of(level, digests.days)}
    paths = digests.agent.paths
    names = [name for name in list_stems(paths.summaries(level), ".md") if name not in with_logs]
    found = [paths.summary(level, name) for name in names]
    return [path for path in found if (known := look_at(digests, path)) and known.hash]


def show_tree(agent: Agent, deepest: int, within: Period | None = None) -> tuple[list[dict[str, Any]], bool]:
    """Returns the rows of the tree, and whether there are any logs; what was read is kept in the cache."""
    digests = Digests(agent)
    rows = tree_rows(digests, deepest, within)
    digests.save()
    return rows, bool(digests.days)


def tree_rows(digests: Digests, deepest: int, within: Period | None = None) -> list[dict[str, Any]]:
    """Returns the periods that have logs, each followed by what lies in it, with coverage and the state of its file."""
    levels = LEVELS[: deepest + 1]
    states = {
        s.period: _shown_state(digests, s)
        for level in levels
        if level != "daily"
        for s in _states(digests, level, Order(), set(), [])
    }
    rows: list[dict[str, Any]] = []

    def add(level: int, days: list[date]) -> None:
        for period in periods_of(levels[level], days):
            inner_days = [day for day in days if period.holds(day)]
            log = str(period.first) if period.level == "daily" else ""
            path = digests.logs[log][-1].path if log else digests.agent.paths.summary(period.level, period.name)
            rows.append(
                {
                    "period": period.name,
                    "level": period.level,
                    "depth": level,
                    "days": len(inner_days),
                    "length": period.length,
                    "state": states.get(period, "log"),
                    "path": digests.agent.paths.relative(path),
                }
            )
            if level < deepest:
                add(level + 1, inner_days)

    add(LEVELS.index(within.level) if within else 0, digests.days_in(within) if within else digests.days)
    return rows


def _shown_state(digests: Digests, state: State) -> str:
    """Returns the state of a file; of logs that tell nothing none is to be written."""
    has_entries = state.state != "missing" or digests.stretch(state.period).extent.entries
    return state.state if has_entries else "empty"


def _states(digests: Digests, level: str, order: Order, written: set[str], warnings: list[str]) -> Iterator[State]:
    """Yields the periods of a level that have logs, oldest first, each with the state of its file."""
    below = _files_below(digests, level) | written
    for period in periods_of(level, digests.days):
        if order.since and period.last < order.since:
            continue
        if order.days and not any(period.holds(date.fromisoformat(day)) for day in order.days):
            continue
        path = digests.agent.paths.summary(level, period.name)
        children = periods_of(_BELOW[level], digests.days_in(period)) if level in _BELOW else ()
        names = below.intersection(child.name for child in children)
        try:
            want = _hash(digests, period, names)
        except MabosError as error:
            warnings.append(f"{period.name} is left as it is: {error.message}")
            yield State(period, path, "", "unreadable")
            continue
        known = look_at(digests, path)
        if known is None:
            state = "missing"
        elif not known.untouched:
            state = "edited" if known.hash == want else "edited, stale"
        else:
            state = "current" if known.hash == want and known.overview != FAILED else "stale"
        yield State(period, path, want, state, names)


def look_at(digests: Digests, path: Path) -> Written | None:
    """Returns what a summary file says about itself; None when there is none."""

    def read(path: Path) -> list[Any] | None:
        data = read_bytes(path)
        return None if data is None else list(parse_summary(data.decode("utf-8", "replace")))

    known = digests.look_at(path, read)
    return Written(*known) if known else None


def _files_below(digests: Digests, level: str) -> frozenset[str]:
    """Returns the weeks, for months, or months, for quarters, that have files."""
    if level not in _BELOW:
        return frozenset()
    return frozenset(list_stems(digests.agent.paths.summaries(_BELOW[level]), ".md"))


def _hash(digests: Digests, period: Period, below: frozenset[str]) -> str:
    """Returns what changes when a summary has to be rewritten: its logs, the form, its size, and what it can lead to.

    The period before, which it is compared with, is not part of it: a changed day concerns its own week, month and
    quarter. `--force` compares again.
    """
    parts = [f"{VERSION}.{DIGEST_VERSION}", str(digests.agent.settings[_BYTES[period.level]])]
    parts += [f"{day} {digest}" for day, digest in digests.hashes_in(period)]
    parts += sorted(below)
    return blake2b("\n".join(parts).encode(), digest_size=12).hexdigest()


def _text(digests: Digests, state: State, compose: Compose | None, warnings: list[str]) -> str:
    """Returns the new text of a summary; empty for a period whose logs tell nothing, or cannot be read any more. One that is there is
    rewritten all the same: what it says may be forgotten or untrusted by now."""
    period = state.period
    try:
        now = digests.stretch(period)
    except MabosError as error:
        warnings.append(f"{period.name} is left as it is: {error.message}")
        return ""
    if not now.extent.entries and state.state == "missing":
        return ""
    summary = summarize(period, now, digests.history(period))
    budget = digests.agent.settings[_BYTES[period.level]]
    places = Places(digests.archived, state.below, digests.parted)
    text = render_summary(summary, places, state.hash, budget)
    overview = compose(text) if compose else None
    return render_summary(summary, places, state.hash, budget, overview) if overview else text


def _write(digests: Digests, texts: Iterable[tuple[State, str]], order: Order, built: Built) -> None:
    """Writes summaries in one transaction, but not over what a person saved meanwhile."""
    agent, texts = digests.agent, list(texts)

    def planned(fresh: Fresh) -> tuple[Write | None, tuple[list[State], list[State], list[str]]]:
        files, written, kept, notes = [], [], [], list[str]()
        for state, text in texts:
            data, old = text.encode("utf-8"), read_bytes(state.path)
            edited = old is not None and not parse_summary(old.decode("utf-8", "replace")).untouched
            if edited and not order.force:
                kept.append(state._replace(state="edited, stale"))
            elif old != data:
                if edited and old is not None:
                    notes += set_aside(agent, state.path, old)
                files.append(FileWrite(state.path, data, old, True))
                written.append(state)
        return (Write(files, is_moved=True) if files else None), (written, kept, notes)

    (written, kept, notes), warnings = transact(agent, "hierarchy build", planned)
    built.warnings.extend([*warnings, *notes])
    built.written.extend(written)
    built.kept.extend(kept)
