"""Copies events of old daily logs into MEMORY.md, each once.

MEMORY.md is written first, then the ledger: after a crash in between, the block ids in MEMORY.md tell what was taken. An old log
that changed is read, for its digest; only those that the ledger does not know as they are, and the 30 days before them, are parsed.
"""

from collections.abc import Sequence
from datetime import UTC, date
from functools import partial
from typing import Any, NamedTuple

from mabos_cli.core.hierarchy import log_taking
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.item import has_expired
from mabos_cli.core.memory.stores import locate
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.errors import MabosError
from mabos_cli.formats.hierarchy.daily_log import parse_events
from mabos_cli.formats.hierarchy.digest_json import LogLedger, parse_log_ledger, render_day_taken
from mabos_cli.formats.memory import memory_md
from mabos_cli.services.hierarchy.daily_logs import LogFile, find_logs, read_log, state_of
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import plan_edit, read_bytes
from mabos_cli.workspace.memory.trust_log import Judge
from mabos_cli.workspace.seen import Seen
from mabos_cli.workspace.transaction import Fresh, Write, transact


class Found(NamedTuple):
    """Holds what a look at the logs found: the days that are to be decided on, how many are done, warnings, and how many events
    are important but untrusted."""

    days: tuple[log_taking.LogDay, ...]
    done: int
    warnings: list[str]
    untrusted: int = 0

    @property
    def events(self) -> int:
        return sum(day.events for day in self.days)


class Consolidated(NamedTuple):
    """Holds what a look at the logs found, what of it was taken, what the model did if it was asked, and warnings."""

    found: Found
    taking: log_taking.Taking
    llm: dict[str, Any] | None
    warnings: list[str]


def consolidate_logs(agent: Agent, rules: log_taking.Rules, *, llm: bool, dry_run: bool) -> Consolidated:
    """Takes the important events of old logs into MEMORY.md, each once; with `llm`, a model puts facts in their place. A dry run
    does not ask it."""
    finder = None
    if llm:
        from mabos_cli.services.memory.llm_words import FactFinder

        finder = FactFinder(agent)
    found = find_events(agent, rules)
    if dry_run:
        taking, warnings = preview_taking(agent, found, rules), found.warnings
    else:
        facts = finder.find(preview_taking(agent, found, rules).taken) if finder else []
        taking, warnings = take_events(agent, found, rules, facts)
        warnings = found.warnings + warnings
    if finder is None:
        return Consolidated(found, taking, None, list(dict.fromkeys(warnings)))
    warnings = list(dict.fromkeys([*warnings, *finder.warnings()]))
    return Consolidated(found, taking, finder.summary(taking), warnings)


def find_events(agent: Agent, rules: log_taking.Rules) -> Found:
    """Returns the days of old logs that the ledger does not know as they are, with their important events. Needs no lock."""
    ledger, seen = _read_ledger(agent), Seen(agent)
    old: dict[str, tuple[LogFile, ...]] = {}
    digests: dict[str, str] = {}
    warnings: list[str] = []
    for day, logs in find_logs(agent.paths).items():
        if log_taking.is_past(date.fromisoformat(day), rules.today, rules.older_than):
            try:
                digests[day] = seen.look_state("logs", day, state_of(logs), partial(_digest, agent, logs))
                old[day] = logs
            except MabosError as error:
                warnings.append(f"the log of {day} is left out: {error.message}")
    seen.save()
    fresh = {day for day, digest in digests.items() if not ledger.is_done(day, digest, rules.min_importance)}
    found = _parse_days(agent, old, fresh, rules)
    days = tuple(log_taking.LogDay(day, digests[day], *found[day]) for day in sorted(fresh))
    kept = _as_they_are_now(agent, days, ledger)
    left_out = sum(len(day.candidates) for day in days) - sum(len(day.candidates) for day in kept)
    return Found(kept, len(old) - len(fresh), warnings, left_out)


def _digest(agent: Agent, logs: Sequence[LogFile]) -> str:
    return log_taking.digest_of([read_log(agent.paths, log) for log in logs])


def _parse_days(
    agent: Agent, old: dict[str, tuple[LogFile, ...]], fresh: set[str], rules: log_taking.Rules
) -> dict[str, tuple[int, tuple[log_taking.Candidate, ...]]]:
    """Returns how many events each fresh day has, and the important ones."""
    days = [date.fromisoformat(day) for day in old]
    needed = [day.isoformat() for day in log_taking.days_around(days, {date.fromisoformat(day) for day in fresh})]
    events = {
        day: [
            (event, agent.paths.relative(log.path))
            for log in old[day]
            for event in parse_events(read_log(agent.paths, log), day)
        ]
        for day in needed
    }
    trusted = {day: [event for event, _ in found if not event.untrusted] for day, found in events.items()}
    recurring = log_taking.find_recurring(trusted, rules.recurring_days)
    return {
        day: (len(events[day]), log_taking.find_candidates(events[day], recurring.get(day, ()), rules)) for day in fresh
    }


def _as_they_are_now(
    agent: Agent, days: tuple[log_taking.LogDay, ...], ledger: LogLedger
) -> tuple[log_taking.LogDay, ...]:
    """Returns the days, with events of items as those are today: what was forgotten, has expired or went to MEMORY.md when it was
    consolidated is settled and stays in the log; what was edited since says what it says now.

    What is untrusted is left out altogether: the ledger must not take a trusted event for known because of it.
    """
    fresh = [c for day in days for c in day.candidates if c.key not in ledger.keys]
    if not fresh:
        return days
    ids = {c.event.id for c in fresh if c.event.id}
    last = {d.item.id: d for d in agent.all_departures() if d.item.id in ids} if ids else {}
    memory, now = agent.memory(), format_time(agent.now())
    judge = Judge(agent.paths, memory)

    def current(candidate: log_taking.Candidate) -> log_taking.Candidate | None:
        item_id = candidate.event.id
        if candidate.key in ledger.keys:
            return candidate
        live, gone = (locate(memory, item_id), last.get(item_id)) if item_id else (None, None)
        item = live[1] if live else gone.item if gone else None
        if item is None:
            return None if candidate.event.untrusted else candidate
        if trust_rank(judge(item)) == 0:
            return None
        away = not live and gone is not None and gone.reason.startswith(("forgotten", "consolidated"))
        if away or has_expired(item, now):
            return candidate._replace(settled=True)
        if item.content == candidate.event.text:
            return candidate
        event = candidate.event._replace(text=item.content)
        return candidate._replace(event=event, marks=(log_taking.mark_of(item.content), *candidate.marks))

    return tuple(day._replace(candidates=tuple(filter(None, map(current, day.candidates)))) for day in days)


def preview_taking(agent: Agent, found: Found, rules: log_taking.Rules) -> log_taking.Taking:
    """Returns what would be taken now, without writing anything."""
    text = (read_bytes(agent.paths.memory_md) or b"").decode("utf-8", "surrogateescape")
    return _plan(found, rules, _read_ledger(agent), text)


def take_events(
    agent: Agent, found: Found, rules: log_taking.Rules, facts: Sequence[log_taking.LogFact] = ()
) -> tuple[log_taking.Taking, list[str]]:
    """Takes events, or facts that were made of them, into MEMORY.md and notes it in the ledger: what was taken, and warnings."""
    if not found.days:
        return log_taking.Taking((), 0, ()), []

    def planned(fresh: Fresh) -> tuple[Write | None, log_taking.Taking]:
        ledger, taking = _read_ledger(agent), log_taking.Taking((), 0, ())

        def edit(text: str) -> str | None:
            nonlocal taking
            taking = _plan(found, rules, ledger, text, facts)
            return _add_bullets(agent, text, taking) if taking.lines or taking.facts else None

        file = plan_edit(agent.paths.memory_md, edit)
        new = [line for line in taking.days if not ledger.is_done(*line[:3])]
        if not new:  # another run was faster
            return (Write([file], is_moved=True) if file else None), taking
        line = b"".join(map(render_day_taken, new))
        counts = {"days": len(found.days), "events": found.events, "taken": len(taking.taken)}
        counts |= {"facts": len(taking.facts)} if taking.facts else {}
        write = Write(
            [file] if file else [],
            lines=[(agent.paths.log_ledger, line)],
            ids=[c.key for c in taking.taken],
            counts=counts,
            is_moved=True,
        )
        return write, taking

    return transact(agent, "log consolidate", planned)


def _read_ledger(agent: Agent) -> LogLedger:
    return parse_log_ledger(read_bytes(agent.paths.log_ledger) or b"")


def _plan(
    found: Found, rules: log_taking.Rules, ledger: LogLedger, text: str, facts: Sequence[log_taking.LogFact] = ()
) -> log_taking.Taking:
    """Returns the events to copy from the days that were found, by what MEMORY.md and the ledger hold now."""
    ids, texts = memory_md.find_block_ids(text) | memory_md.find_cited(text), memory_md.Texts(text)
    taking = log_taking.plan_taking(
        found.days, rules.min_importance, keys=ledger.keys, marks=ledger.marks, ids=ids, texts=texts
    )
    return log_taking.cover(taking, facts, marks=ledger.marks, texts=texts) if facts else taking


def _add_bullets(agent: Agent, text: str, taking: log_taking.Taking) -> str:
    paths: dict[str, str] = {}
    for candidate in taking.taken:
        there = (agent.paths.root / candidate.path).exists()  # or archived meanwhile
        moved = "" if there else agent.paths.relative(agent.paths.find_log(candidate.event.day))
        paths[candidate.path] = moved or candidate.path
    lines = [(c.section, memory_md.render_log_bullet(c, paths[c.path])) for c in taking.lines]
    lines += [(fact.section, memory_md.render_fact_bullet(fact, paths)) for fact in taking.facts]
    bullets = {title: [line for section, line in lines if section == title] for title in log_taking.SECTIONS}
    found = {title: added for title, added in bullets.items() if added}
    return memory_md.add_to_sections(text or memory_md.render_memory_header(agent.id), found)


def rules_of(agent: Agent, older_than: float | None, min_importance: float | None) -> log_taking.Rules:
    """Returns the rules by the settings; options of the command win."""
    settings = agent.settings
    return log_taking.Rules(
        agent.now().astimezone(UTC).date(),
        settings["log.consolidate_after"] if older_than is None else older_than,
        settings["log.min_importance"] if min_importance is None else min_importance,
        settings["log.recurring_days"],
        {name: settings[f"grade.{name}"] for name in log_taking.Rules._field_defaults["weights"]},
    )
