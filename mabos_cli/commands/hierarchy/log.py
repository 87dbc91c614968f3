"""log: what becomes of daily logs when they are old."""

from typing import Annotated, Any

from mabos_cli.commands.call import Commands, Context
from mabos_cli.commands.options import DryRun, Option
from mabos_cli.core import BadValue
from mabos_cli.core.hierarchy.log_taking import Candidate, LogFact, Rules, Taking
from mabos_cli.core.language.clock import format_span
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.services.hierarchy.daily_logs import Archiving, archive_logs
from mabos_cli.services.hierarchy.log_consolidation import Found, consolidate_logs, rules_of
from mabos_cli.services.inputs import option

_SHOWN = 20  # MEMORY.md and --json have all of them

app = Commands("log", "Take events of old daily logs into MEMORY.md, and archive old logs.")


@app.command()
def consolidate(
    ctx: Context,
    older_than: Annotated[str | None, Option(metavar="SPAN", help="Days of more than this ago (default 7d).")] = None,
    min_importance: Annotated[float | None, Option(help="Take events at least this important (default 0.6).")] = None,
    dry_run: DryRun = False,
    llm: Annotated[
        bool, Option("--llm", help="Let the language model find facts in them; a dry run does not ask it.")
    ] = False,
) -> None:
    """Take the important events of old daily logs into MEMORY.md, each once.

    Example: mabos log consolidate --dry-run
    """
    agent = ctx.obj.open_agent()
    rules = rules_of(
        agent, option("log.consolidate_after", _span(older_than)), option("log.min_importance", min_importance)
    )
    done = consolidate_logs(agent, rules, llm=llm, dry_run=dry_run)
    found, taking = done.found, done.taking
    data = {
        "dry_run": dry_run,
        "days": len(found.days),
        "events": found.events,
        "taken": [_row(candidate) for candidate in taking.taken],
        "known": taking.known,
        "untrusted": found.untrusted,
    }
    data |= {"llm": done.llm} if done.llm else {}
    ctx.obj.emit("log.consolidate", data, _lines(found, taking, rules, dry_run), done.warnings)


def _span(text: str | None) -> str | None:
    """A span with its unit: a bare number, which means seconds elsewhere, nobody means for logs."""
    if text and text.strip().isdigit() and int(text):
        raise BadValue(f"{text} has no unit", f"{text.strip()}d for days")
    return text


def _row(candidate: Candidate) -> dict[str, Any]:
    event = candidate.event
    return {
        "day": event.day,
        "line": event.line,
        "path": candidate.path,
        "category": candidate.section,
        "kind": event.kind,
        "importance": candidate.importance,
        "text": event.text,
        "id": candidate.key,
    }


def _lines(found: Found, taking: Taking, rules: Rules, dry_run: bool) -> list[str]:
    looked = f"{plural(found.events, 'event')} of {plural(len(found.days), 'day')}"
    left = [f"{plural(found.untrusted, 'untrusted event')} left out"] if found.untrusted else []
    if taking.taken:
        did = "would take" if dry_run else "took"
        as_facts = f", {len(taking.covered)} of them as {plural(len(taking.facts), 'fact')}"
        head = f"{did} {len(taking.taken)} of {looked} into MEMORY.md{as_facts if taking.covered else ''}"
        told = [*map(_fact_line, taking.facts), *map(_line, taking.lines)]
        more = [f"  and {len(told) - _SHOWN} more"] if len(told) > _SHOWN else []
        return [head, *told[:_SHOWN], *more, *left]
    if found.days:
        known = f", but for {taking.known} known already" if taking.known else ""
        none = f"nothing to take: {looked}, none of importance {rules.min_importance:g} or more{known}"
        return [none, *left]
    if found.done:
        return [f"nothing to take: {plural(found.done, 'day')} looked through before, nothing new since"]
    return [f"nothing to take: no log of more than {format_span(rules.older_than)} ago"]


def _fact_line(fact: LogFact) -> str:
    places = ", ".join(f"{c.event.day}:{c.event.line}" for c in fact.events)
    return f"  {places} {fact.section} {fact.importance:.2f} {one_line(fact.content, 100)}"


def _line(candidate: Candidate) -> str:
    event = candidate.event
    place = f"{event.day}:{event.line} {candidate.section} {candidate.importance:.2f}"
    return f"  {place} {one_line(event.text, 100)}"


@app.command()
def archive(
    ctx: Context,
    older_than: Annotated[str | None, Option(metavar="SPAN", help="Logs of more than this ago (default 30d).")] = None,
    dry_run: DryRun = False,
) -> None:
    """Move old daily logs to memory/archive/; they stay searchable and readable.

    Example: mabos log archive --older-than 60d
    """
    agent = ctx.obj.open_agent()
    given = option("log.archive_after", _span(older_than))
    span = agent.settings["log.archive_after"] if given is None else given
    done = archive_logs(agent, span, dry_run=dry_run)
    data = {"dry_run": dry_run, "archived": [{"from": old, "to": new} for old, new in done.moved], "links": done.links}
    ctx.obj.emit("log.archive", data, _archived(done, span, dry_run), done.warnings)


def _archived(done: Archiving, span: float, dry_run: bool) -> list[str]:
    links = f"{'would rewrite' if dry_run else 'rewrote'} {plural(done.links, 'link')}"
    if not done.moved:
        return [links if done.links else f"nothing to archive: no log of more than {format_span(span)} ago"]
    days = [old.rpartition("/")[2].removesuffix(".md") for old, _ in done.moved]
    span_of_days = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    did = "would archive" if dry_run else "archived"
    return [f"{did} {plural(len(days), 'log')}, {span_of_days}", *([f"  {links}"] if done.links else [])]
