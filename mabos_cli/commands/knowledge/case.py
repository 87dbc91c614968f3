"""case: what happened before, found by likeness and used again, in cases.json."""

from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.knowledge.case_retrieve import retrieve
from mabos_cli.commands.options import Limit, more_line
from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.case import (
    Case,
    CaseChanges,
    Held,
    adapt_case,
    check_case,
    check_text,
    parse_metric,
    plan_store,
    render_metrics,
    revise_case,
)
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_word
from mabos_cli.errors import UsageFault
from mabos_cli.formats.knowledge.cases import CaseFile, case_to_dict
from mabos_cli.services.knowledge.case_batch import read_cases
from mabos_cli.services.knowledge.case_common import case_line, read_situation, solution_line, wanted_case
from mabos_cli.services.knowledge.fact_common import without_gc
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.cases import change_cases, find_case, find_case_departures, load_cases

app = new_group(
    "case", "Store cases, retrieve those like the present situation, and note what came of reuse.", no_args_is_help=True
)
# What became of each case that was stored, and the ids of those that left for them.
Told = tuple[list[tuple[Case, str]], tuple[str, ...]]
CaseId = Annotated[str, typer.Argument(metavar="ID", help="The case: C-001.")]
Beliefs = Annotated[
    list[str] | None, typer.Option("--belief", help="A belief, by id or in words; commas separate, may repeat.")
]
Desires = Annotated[list[str] | None, typer.Option("--desire", help="A desire, likewise.")]
Plan = Annotated[str, typer.Option(help="The plan that was used: P-001.")]
Actions = Annotated[list[str] | None, typer.Option("--action", help="What was done; may repeat, in order.")]
Success = Annotated[bool | None, typer.Option("--success/--failure", help="How it went; else it is open.")]
Metrics = Annotated[list[str] | None, typer.Option("--metric", metavar="NAME=NUMBER", help="A result; may repeat.")]
Lessons = Annotated[str, typer.Option(help="What was learned.")]


@app.command()
def store(
    ctx: typer.Context,
    belief: Beliefs = None,
    desire: Desires = None,
    context: Annotated[str, typer.Option(help="The situation in words.")] = "",
    plan: Plan = "",
    action: Actions = None,
    success: Success = None,
    metric: Metrics = None,
    lessons: Lessons = "",
    source: Annotated[
        str, typer.Option("--from", metavar="ID", help="Take what is not given from this case: an adaptation.")
    ] = "",
    from_mind: Annotated[
        bool, typer.Option("--from-mind", help="Add the beliefs and desires of the agent's files.")
    ] = False,
    batch: Annotated[
        str, typer.Option(metavar="FILE", help="Cases as NDJSON or a case file; - reads standard input.")
    ] = "",
) -> None:
    """Keep a case: the situation, what was done, what came of it. One that is known already is merged.

    Example: mabos case store --belief B-001 --desire D-001 --context "Churn rose" --action "Called the ten largest" --success
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    given = (belief, desire, context, plan, action, metric, lessons, source)
    if batch:
        if any(given) or success is not None or from_mind:
            raise UsageFault("--batch brings whole cases", "leave out the other options")
        return _store_batch(call, agent, batch)
    now = read_situation(agent, belief, desire, from_mind=from_mind)
    metrics = tuple(map(parse_metric, metric or ()))
    made = Case("", now.beliefs, now.desires, context, plan, tuple(action or ()), success, metrics, lessons)

    def planned(file: CaseFile, held: Held) -> tuple[CaseChanges, Told]:
        base = wanted_case(agent, file, source) if source else None
        return _planned(agent, [check_case(adapt_case(base, made) if base else made)], held, base)

    (told, left), warnings = change_cases(agent, "case store", planned)
    case, state = told[0]
    data = {"state": state, "case": case_to_dict(case), "left": left}
    verb = "merged into" if state == "merged" else state
    call.emit("case.store", data, [f"{verb} {case_line(case)}", *_left_line(left)], now.warnings + warnings)


def _planned(agent: Agent, given: list[Case], held: Held, used: Case | None = None) -> tuple[CaseChanges, Told]:
    limit = agent.settings["cbr.max_cases"]
    changes, told = plan_store(given, held, agent.now(), format_time(agent.now()), limit, used)
    return changes, (told, changes.drop)


def _left_line(left: tuple[str, ...]) -> list[str]:
    """A line about the cases that had to leave, if any."""
    return [f"left for the archive: {one_line(', '.join(left), 200)}"] if left else []


def _store_batch(call: Call, agent: Agent, path: str) -> None:
    """Stores all cases of a file, or none."""
    given = read_cases(path)
    with without_gc():
        (told, left), warnings = change_cases(agent, "case store", lambda _, held: _planned(agent, given, held))
    renamed = [
        f"{case.id} was given before: stored as {new.id}"
        for case, (new, state) in zip(given, told, strict=True)
        if case.id and state == "stored" and new.id != case.id
    ]
    counts = {name: sum(state == name for _, state in told) for name in ("stored", "merged")}
    rows = [{"case_id": case.id, "state": state} for case, state in told]
    line = f"cases: {counts['stored']} stored, {counts['merged']} merged"
    data = {**counts, "cases": rows, "left": left}
    call.emit("case.store", data, [line, *_left_line(left)], warnings + renamed)


@app.command("list")
def list_command(
    ctx: typer.Context,
    success: Annotated[
        bool | None, typer.Option("--success/--failure", help="Only those that worked, or that failed.")
    ] = None,
    limit: Limit = 20,
) -> None:
    """List cases, the latest first.

    Example: mabos case list --failure
    """
    call: Call = ctx.obj
    with without_gc():
        file = load_cases(call.open_agent())
        found = [n for n in range(len(file)) if success is None or file.standing(n).success is success]
    found.sort(key=lambda n: (str(file.entries[n].get("stored_at") or ""), n), reverse=True)
    shown = [file.case(n) for n in found[: limit or None]]
    lines = [case_line(case) for case in shown] or [_nothing(file, success)]
    lines += more_line(len(found), len(shown))
    call.emit("case.list", {"count": len(found), "cases": [case_to_dict(c) for c in shown]}, lines)


def _nothing(file: CaseFile, success: bool | None) -> str:
    return f"no case that {'worked' if success else 'failed'}" if len(file) else "no cases yet"


@app.command()
def show(ctx: typer.Context, case_id: CaseId) -> None:
    """Show all of a case, live or archived, and how it changed.

    Example: mabos case show C-001
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    file = load_cases(agent)
    case, left = find_case(file, case_id), None
    if case is None:
        gone = find_case_departures(agent, case_id)
        left = gone[-1] if gone else None
        case = left.case if left and left.case else wanted_case(agent, file, case_id)
    rows = (
        ("beliefs", ", ".join(case.beliefs)),
        ("desires", ", ".join(case.desires)),
        ("context", one_line(case.context)),
        ("did", solution_line(case)),
        ("metrics", render_metrics(case.metrics)),
        ("lessons", one_line(case.lessons)),
        ("adapted from", case.adapted_from),
        ("merged", plural(case.merged, "time") if case.merged else ""),
        ("used", f"{plural(case.uses, 'time')}, last {case.last_used[:10]}" if case.uses else ""),
    )
    lines = [case_line(case), *(f"  {name}: {told}" for name, told in rows if told)]
    lines += [f"  archived {left.at[:10]}: {left.reason}"] if left else []
    lines += [f"  {r.at[:10]} {r.by}; before: {_earlier(r.was)}" for r in reversed(case.revisions)]
    data = {"state": "archived" if left else "live", "case": case_to_dict(case)}
    call.emit("case.show", data, lines)


def _earlier(was: tuple[tuple[str, Any], ...]) -> str:
    """Earlier values, on a line."""
    told = []
    for name, value in was:
        if name == "success":
            told.append(Case("", success=value).word)
        elif name == "metrics":
            told.append(render_metrics(value) or "no metrics")
        else:
            text = "; ".join(value) if isinstance(value, tuple) else str(value)
            told.append(f"{name.removesuffix('_id')} {one_line(text, 120) or 'none'}")
    return "; ".join(told)


@app.command()
def revise(
    ctx: typer.Context,
    case_id: CaseId,
    success: Success = None,
    metric: Metrics = None,
    lessons: Lessons = "",
    plan: Plan = "",
    action: Actions = None,
    context: Annotated[str, typer.Option(help="The situation in other words.")] = "",
    correct: Annotated[
        bool, typer.Option("--correct", help="Only a correction: no use of the case is counted.")
    ] = False,
) -> None:
    """Note what came of a reuse: it counts as a use, and the earlier values stay known.

    Example: mabos case revise C-001 --failure --metric churn=0.06 --lessons "Discounts do not hold"
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    changes: dict[str, Any] = {} if success is None else {"success": success}
    changes |= {"metrics": tuple(map(parse_metric, metric))} if metric else {}
    told = {
        "lessons": check_text(lessons, "lessons"),
        "plan_id": check_word(plan, "plan"),
        "actions": tuple(text for each in action or () if (text := check_text(each, "action"))),
        "context": check_text(context, "context"),
    }
    changes |= {name: value for name, value in told.items() if value}
    if not changes:
        raise BadValue(
            "nothing given to note", "--success, --failure, --metric, --lessons, --plan, --action or --context"
        )

    def planned(file: CaseFile, _: Held) -> tuple[CaseChanges, tuple[Case, str]]:
        old = wanted_case(agent, file, case_id)
        new, cut = revise_case(old, changes, format_time(agent.now()), is_use=not correct)
        if new == old:
            return CaseChanges(), (old, "unchanged")
        return CaseChanges((new,), archive=tuple(cut)), (new, "revised")

    (new, state), warnings = change_cases(agent, "case revise", planned)
    data = {"state": state, "case": case_to_dict(new)}
    call.emit("case.revise", data, [f"{state} {case_line(new)}"], warnings)


app.command()(retrieve)
