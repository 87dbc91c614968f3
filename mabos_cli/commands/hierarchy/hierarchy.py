"""hierarchy and log: summaries of weeks, months and quarters, the path from there down to a line, and upkeep of old daily logs."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any

from mabos_cli.commands.call import Argument, Commands, Context, DryRun, Option, open_progress
from mabos_cli.core import BadValue
from mabos_cli.core.hierarchy.log_taking import Candidate, LogFact, Rules, Taking
from mabos_cli.core.language.clock import format_span, parse_when
from mabos_cli.core.language.periods import LEVELS, Period, parse_period
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_choice
from mabos_cli.services.hierarchy.build import SCOPES, Built, Order, State, build_with_overviews, show_tree
from mabos_cli.services.hierarchy.daily_logs import Archiving, archive_logs
from mabos_cli.services.hierarchy.log_consolidation import Found, consolidate_logs, rules_of
from mabos_cli.services.inputs import option, text_argument
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import list_names

_LISTED = 12
_MOST = 1000  # results, whatever is asked for

app = Commands("hierarchy", "Summarize weeks, months and quarters, and drill down to a day.")


@app.command()
def build(
    ctx: Context,
    scope: Annotated[str, Option(metavar="[week|month|quarter|all]", help="Which summaries.")] = "all",
    since: Annotated[str, Option(metavar="DATE", help="Only periods that reach a date, or an age such as 30d.")] = "",
    force: Annotated[bool, Option("--force", help="Rewrite all of them; your edits are set aside.")] = False,
    dry_run: DryRun = False,
    no_llm: Annotated[bool, Option("--no-llm", help="Leave out the overview by a language model.")] = False,
) -> None:
    """Write the weekly, monthly and quarterly summaries whose daily logs changed.

    Example: mabos hierarchy build --since 30d
    """
    agent = ctx.obj.open_agent()
    scope = check_choice(scope.removesuffix("ly"), list(SCOPES), "scope")
    day = parse_when(since, agent.now()).date() if since else None
    show = None if ctx.obj.quiet else open_progress("summing up")
    built = build_with_overviews(agent, Order(scope, day, force, dry_run, not no_llm), show)
    data = {
        "dry_run": dry_run,
        "scope": scope,
        "written": [_row(agent, state) for state in built.written],
        "kept": [_row(agent, state) for state in built.kept],
        "unchanged": len(built.unchanged),
        "orphans": [agent.paths.relative(path) for path in built.orphans],
    }
    ctx.obj.emit("hierarchy.build", data, _lines(agent, built, dry_run, bool(since)), built.warnings)


def _row(agent: Agent, state: State) -> dict[str, str]:
    path = agent.paths.relative(state.path)
    return {"level": state.period.level, "period": state.period.name, "path": path, "state": state.state}


def _lines(agent: Agent, built: Built, dry_run: bool, since: bool) -> Iterator[str]:
    levels = Counter(state.period.level for state in built.written)
    would = "would write" if dry_run else "wrote"
    counts = [f"{count} {level}" for level, count in levels.items()]
    same = f"{len(built.unchanged)} unchanged" if built.unchanged else ""
    if counts:
        yield f"{would} {', '.join(counts)}{'; ' if same else ''}{same}"
    else:
        yield (
            f"nothing to build{': ' if same else ''}{same}"
            if same or built.kept or since
            else "no daily logs to summarize"
        )
    for state in built.written[:_LISTED]:
        yield f"  {agent.paths.relative(state.path)}{' (new)' if state.state == 'missing' else ''}"
    if len(built.written) > _LISTED:
        yield f"  and {len(built.written) - _LISTED} more"
    for path in built.orphans:
        yield f"left {agent.paths.relative(path)}: its logs are gone"
    for state in built.kept:
        stale = ", and its logs changed since; --force rewrites it" if "stale" in state.state else ""
        yield f"kept {agent.paths.relative(state.path)}: edited by hand{stale}"


@app.command()
def show(
    ctx: Context,
    period: Annotated[str, Argument(metavar="[PERIOD]", help="2026-Q1, 2026-02 or 2026-W09; all if empty.")] = "",
    level: Annotated[
        str,
        Option(
            metavar="[quarterly|monthly|weekly|daily]", help="The lowest level to show (default: one below PERIOD)."
        ),
    ] = "",
) -> None:
    """Show the tree of periods, and which summaries are up to date.

    Example: mabos hierarchy show 2026-Q1 --level weekly
    """
    agent = ctx.obj.open_agent()
    within = parse_period(period) if period else None
    deepest = check_choice(level, list(LEVELS), "level") if level else _below(within)
    if within and LEVELS.index(deepest) < LEVELS.index(within.level):
        raise BadValue(f"{deepest} lies above {within.name}", "--level says how far down to go")
    rows, has_logs = show_tree(agent, LEVELS.index(deepest), within)
    top = min((row["depth"] for row in rows), default=0)
    lines = [f"{'  ' * (row['depth'] - top)}{row['period']}  {_covered(row)}{row['state']}" for row in rows]
    due = len({row["path"] for row in rows if row["state"] in ("missing", "stale")})
    if due:
        lines.append(f"{plural(due, 'summary')} to write: mabos hierarchy build")
    ctx.obj.emit(
        "hierarchy.show",
        {"level": deepest, "periods": rows, "due": due},
        lines or [f"no logs in {within.name}" if within and has_logs else "no daily logs yet"],
    )


def _covered(row: dict[str, Any]) -> str:
    return f"{row['days']} of {row['length']} days  " if row["level"] != "daily" else ""


def _below(within: Period | None) -> str:
    return LEVELS[min(LEVELS.index(within.level) + 1, 3)] if within else "monthly"


@app.command()
def search(
    ctx: Context,
    words: Annotated[list[str], Argument(metavar="QUERY", help="What to look for; - reads standard input.")],
    level: Annotated[
        str, Option(metavar="[daily|weekly|monthly|quarterly]", help="Only summaries of this level (default: all).")
    ] = "",
    limit: Annotated[
        int, Option("--limit", "-n", min=0, max=1000, help="Show at most this many a level; 0 for all.")
    ] = 10,
) -> None:
    """Search the summaries of one level, or of all.

    Example: mabos hierarchy search "berth price" --level monthly
    """
    agent = ctx.obj.open_agent()
    query = text_argument(" ".join(words), ctx.obj.literal_dash)
    levels = [check_choice(level, list(LEVELS), "level")] if level else list(LEVELS)
    # Building, which runs by the clock, starts without all that a search needs.
    from mabos_cli.services.hierarchy.drill import search_levels

    results, warnings = search_levels(ctx.obj, agent, query, levels, limit or _MOST)
    lines = [
        f"{row['level']} {row['period']} {row['ref']} {row['score']:.2f} {one_line(row['text'], 110)}"
        for row in results
    ]
    data = {"query": query, "levels": levels, "results": results}
    ctx.obj.emit("hierarchy.search", data, lines or [_nothing(agent, levels)], warnings)


def _nothing(agent: Agent, levels: list[str]) -> str:
    missing = [each for each in levels if each != "daily" and not list_names(agent.paths.summary(each, "x").parent)]
    return f"no {missing[0]} summaries yet: mabos hierarchy build" if missing else "nothing found"


@app.command("drill")
def drill_command(
    ctx: Context,
    words: Annotated[list[str], Argument(metavar="QUERY", help="What to look for; - reads standard input.")],
    width: Annotated[int | None, Option(min=1, max=20, help="Nodes followed at each level (default 3).")] = None,
    limit: Annotated[int, Option("--limit", "-n", min=0, max=100, help="Show at most this many lines; 0 for all.")] = 3,
) -> None:
    """Follow a question from quarters down to the lines of a day, and show why.

    The scores: found is what the index finds below a node, told is what the summary above says about it, and named
    means that the question names the period.

    Example: mabos hierarchy drill "why did we raise the berth price"
    """
    agent = ctx.obj.open_agent()
    query = text_argument(" ".join(words), ctx.obj.literal_dash)
    if not query.strip():
        raise BadValue("the question is empty", "say what to look for")
    from mabos_cli.services.hierarchy.drill import drill_down

    data, lines, warnings = drill_down(ctx.obj, agent, query, width, limit or _MOST)
    ctx.obj.emit("hierarchy.drill", data, lines, warnings)


_SHOWN = 20  # MEMORY.md and --json have all of them

log = Commands("log", "Copy events of old daily logs into MEMORY.md, and archive old logs.")


@log.command()
def consolidate(
    ctx: Context,
    older_than: Annotated[str | None, Option(metavar="SPAN", help="Only logs older than this (default 7d).")] = None,
    min_importance: Annotated[float | None, Option(help="Copy events at least this important (default 0.6).")] = None,
    dry_run: DryRun = False,
    llm: Annotated[
        bool, Option("--llm", help="Let the language model find facts in them; a dry run does not ask it.")
    ] = False,
) -> None:
    """Copy important events of old daily logs into MEMORY.md, each once.

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
        "taken": [_log_row(candidate) for candidate in taking.taken],
        "known": taking.known,
        "untrusted": found.untrusted,
    }
    data |= {"llm": done.llm} if done.llm else {}
    ctx.obj.emit("log.consolidate", data, _log_lines(found, taking, rules, dry_run), done.warnings)


def _span(text: str | None) -> str | None:
    """Returns a span with its unit: a bare number, which means seconds elsewhere, nobody means for logs."""
    if text and text.strip().isdigit() and int(text):
        raise BadValue(f"{text} has no unit", f"{text.strip()}d for days")
    return text


def _log_row(candidate: Candidate) -> dict[str, Any]:
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


def _log_lines(found: Found, taking: Taking, rules: Rules, dry_run: bool) -> list[str]:
    looked = f"{plural(found.events, 'event')} of {plural(len(found.days), 'day')}"
    left = [f"{plural(found.untrusted, 'untrusted event')} left out"] if found.untrusted else []
    if taking.taken:
        did = "would copy" if dry_run else "copied"
        as_facts = f", {len(taking.covered)} of them as {plural(len(taking.facts), 'fact')}"
        head = f"{did} {len(taking.taken)} of {looked} to MEMORY.md{as_facts if taking.covered else ''}"
        taken_lines = [*map(_fact_line, taking.facts), *map(_line, taking.lines)]
        more = [f"  and {len(taken_lines) - _SHOWN} more"] if len(taken_lines) > _SHOWN else []
        return [head, *taken_lines[:_SHOWN], *more, *left]
    if found.days:
        known = f" except {taking.known} already known" if taking.known else ""
        none = f"nothing to copy: {looked}, none of importance {rules.min_importance:g} or more{known}"
        return [none, *left]
    if found.done:
        return [f"nothing to copy: {plural(found.done, 'day')} already processed, nothing new since"]
    return [f"nothing to copy: no logs older than {format_span(rules.older_than)}"]


def _fact_line(fact: LogFact) -> str:
    places = ", ".join(f"{c.event.day}:{c.event.line}" for c in fact.events)
    return f"  {places} {fact.section} {fact.importance:.2f} {one_line(fact.content, 100)}"


def _line(candidate: Candidate) -> str:
    event = candidate.event
    place = f"{event.day}:{event.line} {candidate.section} {candidate.importance:.2f}"
    return f"  {place} {one_line(event.text, 100)}"


@log.command()
def archive(
    ctx: Context,
    older_than: Annotated[str | None, Option(metavar="SPAN", help="Only logs older than this (default 30d).")] = None,
    dry_run: DryRun = False,
) -> None:
    """Move old daily logs to memory/archive/; recall and read still find them.

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
        return [links if done.links else f"nothing to archive: no logs older than {format_span(span)}"]
    days = [old.rpartition("/")[2].removesuffix(".md") for old, _ in done.moved]
    span_of_days = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    did = "would archive" if dry_run else "archived"
    return [f"{did} {plural(len(days), 'log')}, {span_of_days}", *([f"  {links}"] if done.links else [])]
