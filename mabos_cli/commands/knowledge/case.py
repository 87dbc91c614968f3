"""case: what happened before, found by likeness and used again, in cases.json."""

from typing import Annotated

from mabos_cli.commands.call import Argument, Call, Commands, Context, Limit, Option, Trust, Voucher, more_line
from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.case import Case, parse_metric
from mabos_cli.errors import UsageFault
from mabos_cli.formats.knowledge import case_text
from mabos_cli.formats.knowledge.cases import case_to_dict
from mabos_cli.services.inputs import check_trust, check_voucher
from mabos_cli.services.knowledge import cases
from mabos_cli.workspace.agent import Agent

app = Commands("case", "Store cases, retrieve similar ones, and record the outcomes of reuse.")
CaseId = Annotated[str, Argument(metavar="ID", ids="cases", help="The case: C-001.")]
Beliefs = Annotated[
    list[str] | None, Option("--belief", help="A belief, by id or in words; commas separate, may repeat.")
]
Desires = Annotated[list[str] | None, Option("--desire", help="A desire, likewise.")]
Plan = Annotated[str, Option(help="The plan that was used: P-001.")]
Actions = Annotated[list[str] | None, Option("--action", help="What was done; may repeat, in order.")]
Success = Annotated[bool | None, Option("--success/--failure", help="The outcome; open if left out.")]
Metrics = Annotated[list[str] | None, Option("--metric", metavar="NAME=NUMBER", help="A result; may repeat.")]
Lessons = Annotated[str, Option(help="What was learned.")]


@app.command()
def store(
    ctx: Context,
    belief: Beliefs = None,
    desire: Desires = None,
    context: Annotated[str, Option(help="The situation in words.")] = "",
    plan: Plan = "",
    action: Actions = None,
    success: Success = None,
    metric: Metrics = None,
    lessons: Lessons = "",
    base: Annotated[
        str, Option("--from", metavar="ID", ids="cases", help="Copy what is not given from this case: an adaptation.")
    ] = "",
    from_mind: Annotated[bool, Option("--from-mind", help="Add the beliefs and desires of the agent's files.")] = False,
    batch: Annotated[str, Option(metavar="FILE", help="Cases as NDJSON or a case file; - reads standard input.")] = "",
    source: Annotated[str, Option(help="The source, if not the agent's own experience.")] = "",
    trust: Trust = "",
    by: Voucher = "",
) -> None:
    """Store a case: situation, action, outcome. A known case is merged.

    Example: mabos case store --belief B-001 --desire D-001 --context "Churn rose" --action "Called the ten largest" --success
    """
    agent = ctx.obj.open_agent()
    given = (belief, desire, context, plan, action, metric, lessons, base, trust, by)
    if batch:
        if any(given) or success is not None or from_mind:
            raise UsageFault("--batch brings whole cases", "leave out the other options, but for --source")
        return _store_batch(ctx.obj, agent, batch, source)
    now = cases.read_situation(agent, belief, desire, from_mind=from_mind)
    metrics = tuple(map(parse_metric, metric or ()))
    voucher = check_voucher(agent.settings, by)
    draft = Case("", now.beliefs, now.desires, context, plan, tuple(action or ()), success, metrics, lessons)
    draft = draft._replace(source=source, trust=check_trust(trust, source, voucher))
    stored = cases.store_case(agent, draft, base, voucher)
    case, state = stored.states[0]
    data = {"state": state, "case": case_to_dict(case), "left": stored.left}
    verb = "merged into" if state == "merged" else state
    lines = [f"{verb} {case_text.case_line(case)}", *case_text.left_line(stored.left)]
    ctx.obj.emit("case.store", data, lines, now.warnings + stored.warnings)


def _store_batch(call: Call, agent: Agent, path: str, source: str) -> None:
    """Stores all cases of a file, or none."""
    stored = cases.store_batch(agent, path, source)
    counts = {name: sum(state == name for _, state in stored.states) for name in ("stored", "merged")}
    rows = [{"case_id": case.id, "state": state} for case, state in stored.states]
    line = f"cases: {counts['stored']} stored, {counts['merged']} merged"
    data = {**counts, "cases": rows, "left": stored.left}
    call.emit("case.store", data, [line, *case_text.left_line(stored.left)], stored.warnings)


@app.command("list")
def list_command(
    ctx: Context,
    success: Annotated[
        bool | None, Option("--success/--failure", help="Only cases that worked, or that failed.")
    ] = None,
    limit: Limit = 20,
) -> None:
    """List cases, the latest first.

    Example: mabos case list --failure
    """
    shown, count, total = cases.list_cases(ctx.obj.open_agent(), success, limit)
    nothing = f"no case that {'worked' if success else 'failed'}" if total else "no cases yet"
    lines = [case_text.case_line(case) for case in shown] or [nothing]
    lines += more_line(count, len(shown))
    ctx.obj.emit("case.list", {"count": count, "cases": [case_to_dict(c) for c in shown]}, lines)


@app.command()
def show(ctx: Context, case_id: CaseId) -> None:
    """Show a case, live or archived, with its history.

    Example: mabos case show C-001
    """
    case, left = cases.show_case(ctx.obj.open_agent(), case_id)
    data = {"state": "archived" if left else "live", "case": case_to_dict(case)}
    ctx.obj.emit("case.show", data, case_text.case_lines(case, left))


@app.command()
def revise(
    ctx: Context,
    case_id: CaseId,
    success: Success = None,
    metric: Metrics = None,
    lessons: Lessons = "",
    plan: Plan = "",
    action: Actions = None,
    context: Annotated[str, Option(help="The situation in other words.")] = "",
    correct: Annotated[bool, Option("--correct", help="Correct the case without counting a use.")] = False,
    trust: Trust = "",
    by: Voucher = "",
) -> None:
    """Record the outcome of reusing a case; earlier values are kept.

    Example: mabos case revise C-001 --failure --metric churn=0.06 --lessons "Discounts do not hold"
    """
    agent = ctx.obj.open_agent()
    metrics = tuple(map(parse_metric, metric or ()))
    given = Case("", (), (), context, plan, tuple(action or ()), success, metrics, lessons)
    voucher = check_voucher(agent.settings, by)
    new, state, warnings = cases.revise_known(agent, case_id, given, is_use=not correct, trust=trust, by=voucher)
    data = {"state": state, "case": case_to_dict(new)}
    ctx.obj.emit("case.revise", data, [f"{state} {case_text.case_line(new)}"], warnings)


@app.command()
def retrieve(
    ctx: Context,
    belief: Annotated[
        list[str] | None,
        Option("--belief", help="A belief that holds now, as in store (default: those in the agent's files)."),
    ] = None,
    desire: Annotated[list[str] | None, Option("--desire", help="A desire, likewise.")] = None,
    context: Annotated[str, Option(help="The situation in words, compared by words and meaning.")] = "",
    success_only: Annotated[bool, Option("--success-only", help="Only cases that worked.")] = False,
    min_score: Annotated[float, Option(help="Only cases that match at least this well.")] = 0.0,
    limit: Limit = 5,
) -> None:
    """Find cases similar to the present situation, and what worked in them.

    Example: mabos case retrieve --belief B-001,B-002 --desire D-001 --context "Customers leave after the price change"
    """
    agent = ctx.obj.open_agent()
    if not 0 <= min_score <= 1:
        raise BadValue(f"the least score {min_score:g} is outside 0..1", "as in --min-score 0.5")
    now = cases.read_situation(agent, belief, desire, from_mind=not (belief or desire))
    found = cases.retrieve_cases(ctx.obj, agent, now, context, success_only, min_score, limit)
    data = {
        "beliefs": now.beliefs,
        "desires": now.desires,
        "context": context or None,
        "total": found.total,
        "count": found.near,
        "cases": [case_text.found_row(each) for each in found.cases],
        "proposal": case_text.proposed_row(found.proposal) if found.proposal else None,
    }
    lines = [line for each in found.cases for line in case_text.found_lines(each)] + more_line(
        found.near, len(found.cases)
    )
    if found.proposal:
        lines.append(case_text.reuse_line(found.proposal))
    is_known = now.beliefs or now.desires or context.strip()
    unknown = "nothing is known of the present situation: give --belief, --desire or --context"
    nothing = ("no case is like this" if is_known else unknown) if found.total else "no cases yet"
    ctx.obj.emit("case.retrieve", data, lines or [nothing], found.warnings)
