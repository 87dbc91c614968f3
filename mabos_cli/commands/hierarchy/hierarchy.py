"""hierarchy: what weeks, months and quarters were about, and the way from there down to a line."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any

from mabos_cli.commands.call import Commands, Context, open_progress
from mabos_cli.commands.options import Argument, DryRun, Option
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import parse_when
from mabos_cli.core.language.periods import LEVELS, Period, parse_period
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_choice
from mabos_cli.services.hierarchy.build import SCOPES, Built, Order, State, build_with_overviews, show_tree
from mabos_cli.services.inputs import text_argument
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import list_names

_LISTED = 12
_MOST = 1000  # results, whatever is asked for

app = Commands("hierarchy", "Sum up weeks, months and quarters, and find the way down to a day.")


@app.command()
def build(
    ctx: Context,
    scope: Annotated[str, Option(help="week, month, quarter or all.")] = "all",
    since: Annotated[str, Option(metavar="DATE", help="Only periods that reach a date, or an age such as 30d.")] = "",
    force: Annotated[bool, Option("--force", help="Write all of them anew; edited ones are set aside.")] = False,
    dry_run: DryRun = False,
    no_llm: Annotated[bool, Option("--no-llm", help="Without an overview by a language model.")] = False,
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
            else "no daily logs to sum up"
        )
    for state in built.written[:_LISTED]:
        yield f"  {agent.paths.relative(state.path)}{' (new)' if state.state == 'missing' else ''}"
    if len(built.written) > _LISTED:
        yield f"  and {len(built.written) - _LISTED} more"
    for path in built.orphans:
        yield f"left {agent.paths.relative(path)}: its logs are gone"
    for state in built.kept:
        stale = ", and its logs changed since; --force writes it anew" if "stale" in state.state else ""
        yield f"kept {agent.paths.relative(state.path)}: edited by hand{stale}"


@app.command()
def show(
    ctx: Context,
    period: Annotated[str, Argument(metavar="[PERIOD]", help="2026-Q1, 2026-02 or 2026-W09; all if empty.")] = "",
    level: Annotated[
        str, Option(help="How far down: quarterly, monthly, weekly or daily (default: one below PERIOD).")
    ] = "",
) -> None:
    """Show the tree of summaries: how many days each covers, and whether it is up to date.

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
    level: Annotated[str, Option(help="daily, weekly, monthly or quarterly; all of them if not given.")] = "",
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
    """Go down from quarters to months, weeks, days and lines, and say why.

    found: what the index finds below a node; told: what the summary above says of it; named: the question names that time.

    Example: mabos hierarchy drill "why did we raise the berth price"
    """
    agent = ctx.obj.open_agent()
    query = text_argument(" ".join(words), ctx.obj.literal_dash)
    if not query.strip():
        raise BadValue("the question is empty", "say what to look for")
    from mabos_cli.services.hierarchy.drill import drill_down

    data, lines, warnings = drill_down(ctx.obj, agent, query, width, limit or _MOST)
    ctx.obj.emit("hierarchy.drill", data, lines, warnings)
