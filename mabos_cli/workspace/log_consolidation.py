"""Events of old daily logs into MEMORY.md, each once, ever.

MEMORY.md is written first, then the ledger: after a crash in between, the block ids in MEMORY.md tell what was taken. Every
old log is read, for its digest; only those that the ledger does not know as they are, and the 30 days before them, are parsed.
"""

import time
from collections.abc import Sequence
from datetime import UTC, date
from typing import NamedTuple

from mabos_cli.core.clock import format_time
from mabos_cli.core.log_taking import (
    SECTIONS,
    Candidate,
    LogDay,
    Rules,
    Taking,
    days_around,
    digest_of,
    find_candidates,
    find_recurring,
    is_past,
    mark_of,
    plan_taking,
)
from mabos_cli.core.stores import locate
from mabos_cli.errors import MabosError
from mabos_cli.formats.daily_log import parse_events
from mabos_cli.formats.log_ledger import Ledger, parse_ledger, render_day_taken
from mabos_cli.formats.memory_md import find_block_ids, render_memory_header
from mabos_cli.formats.memory_sections import add_to_sections, render_log_bullet, told_texts
from mabos_cli.workspace.files import append_bytes, read_bytes
from mabos_cli.workspace.home import AgentHome
from mabos_cli.workspace.log_files import LogFile, find_logs, read_log, where_log_is
from mabos_cli.workspace.logs import edit_text
from mabos_cli.workspace.receipts import write_receipt
from mabos_cli.workspace.recovery import holding_lock

_Parts = list[tuple[LogFile, str]]


class Found(NamedTuple):
    """What a look at the logs found: the days that are to be decided on, how many are done, and warnings."""

    days: tuple[LogDay, ...]
    done: int
    warnings: list[str]

    @property
    def events(self) -> int:
        return sum(day.events for day in self.days)


def find_events(home: AgentHome, rules: Rules) -> Found:
    """The days of old logs that the ledger does not know as they are, with their important events. Needs no lock."""
    ledger = _read_ledger(home)
    texts: dict[str, _Parts] = {}
    warnings: list[str] = []
    for day, logs in find_logs(home.paths).items():
        if is_past(date.fromisoformat(day), rules.today, rules.older_than):
            try:
                texts[day] = [(log, read_log(home.paths, log)) for log in logs]
            except MabosError as error:
                warnings.append(f"the log of {day} is left out: {error.message}")
    digests = {day: digest_of(text for _, text in parts) for day, parts in texts.items()}
    fresh = {day for day, digest in digests.items() if not ledger.is_done(day, digest, rules.min_importance)}
    found = _parse_days(home, texts, fresh, rules)
    days = tuple(LogDay(day, digests[day], *found[day]) for day in sorted(fresh))
    return Found(_as_they_are_now(home, days, ledger), len(texts) - len(fresh), warnings)


def _parse_days(
    home: AgentHome, texts: dict[str, _Parts], fresh: set[str], rules: Rules
) -> dict[str, tuple[int, tuple[Candidate, ...]]]:
    """How many events each fresh day has, and the important ones."""
    days = [date.fromisoformat(day) for day in texts]
    needed = [day.isoformat() for day in days_around(days, {date.fromisoformat(day) for day in fresh})]
    events = {
        day: [
            (event, home.paths.relative(log.path))
            for log, text in texts[day]
            for event in parse_events(text, day)
        ]
        for day in needed
    }
    told = {day: [event for event, _ in found] for day, found in events.items()}
    recurring = find_recurring(told, rules.recurring_days)
    return {
        day: (len(events[day]), find_candidates(events[day], recurring.get(day, ()), rules)) for day in fresh
    }


def _as_they_are_now(home: AgentHome, days: tuple[LogDay, ...], ledger: Ledger) -> tuple[LogDay, ...]:
    """The days, with events of items as those are today: what was forgotten, has expired or must not be trusted is
    settled and stays in the log; what was edited since says what it says now."""
    ids = {c.event.id for day in days for c in day.candidates if c.event.id and c.key not in ledger.keys}
    if not ids:
        return days
    last = {d.item.id: d for d in home.all_departures() if d.item.id in ids}
    memory, now = home.memory(), format_time(home.now())

    def current(candidate: Candidate) -> Candidate:
        live, gone = locate(memory, candidate.event.id), last.get(candidate.event.id)
        item = live[1] if live else gone.item if gone else None
        if item is None:
            return candidate
        away = not live and gone is not None and gone.reason.startswith("forgotten")
        expired = bool(item.expires_at) and item.expires_at <= now
        if away or expired or item.trust == "untrusted":
            return candidate._replace(settled=True)
        if item.content == candidate.event.text:
            return candidate
        event = candidate.event._replace(text=item.content)
        return candidate._replace(event=event, marks=(mark_of(item.content), *candidate.marks))

    return tuple(
        day._replace(candidates=tuple(current(c) if c.event.id in ids else c for c in day.candidates))
        for day in days
    )


def preview_taking(home: AgentHome, found: Found, rules: Rules) -> Taking:
    """What would be taken now, without writing anything."""
    text = (read_bytes(home.paths.memory_md) or b"").decode("utf-8", "surrogateescape")
    return _plan(found, rules, _read_ledger(home), text)


def take_events(home: AgentHome, found: Found, rules: Rules) -> tuple[Taking, list[str]]:
    """Takes events into MEMORY.md and notes it in the ledger: what was taken, and warnings."""
    if not found.days:
        return Taking((), 0, ()), []
    started = time.monotonic()
    with holding_lock(home, "log consolidate") as holding:
        ledger = _read_ledger(home)
        taking = Taking((), 0, ())

        def edit(text: str) -> str | None:
            nonlocal taking
            taking = _plan(found, rules, ledger, text)
            return _add_bullets(home, text, taking.taken) if taking.taken else None

        edit_text(home.paths, home.paths.memory_md, edit)
        new = [line for line in taking.days if not ledger.is_done(*line[:3])]
        if new:  # unless another run was faster
            lines = "".join(render_day_taken(line) for line in new)
            append_bytes(home.paths.log_ledger, lines.encode("utf-8"), root=home.paths.workspace.root)
            counts = {"days": len(found.days), "events": found.events, "taken": len(taking.taken)}
            write_receipt(home, "log consolidate", counts, [c.key for c in taking.taken], started)
    return taking, holding.warnings


def _read_ledger(home: AgentHome) -> Ledger:
    return parse_ledger(read_bytes(home.paths.log_ledger) or b"")


def _plan(found: Found, rules: Rules, ledger: Ledger, text: str) -> Taking:
    """What is to be taken of the days that were found, seen what MEMORY.md and the ledger hold now."""
    ids, texts = find_block_ids(text), told_texts(text)
    return plan_taking(
        found.days, rules.min_importance, keys=ledger.keys, said=ledger.said, ids=ids, texts=texts
    )


def _add_bullets(home: AgentHome, text: str, taken: Sequence[Candidate]) -> str:
    bullets: dict[str, list[str]] = {
        title: [] for title in SECTIONS if any(c.section == title for c in taken)
    }
    for candidate in taken:
        path = candidate.path
        if not (home.paths.root / path).exists():  # archived meanwhile
            path = home.paths.relative(where_log_is(home.paths, candidate.event.day))
        bullets[candidate.section].append(render_log_bullet(candidate, path))
    return add_to_sections(text or render_memory_header(home.id), bullets)


def rules_of(home: AgentHome, older_than: float | None, min_importance: float | None) -> Rules:
    """The rules by the settings; options of the command win."""
    settings = home.settings
    return Rules(
        home.now().astimezone(UTC).date(),
        settings["log.consolidate_after"] if older_than is None else older_than,
        settings["log.min_importance"] if min_importance is None else min_importance,
        settings["log.recurring_days"],
        {name: settings[f"grade.{name}"] for name in Rules._field_defaults["weights"]},
    )
