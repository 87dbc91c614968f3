"""reason: thirty-five methods, one at a time or together, and the outcomes of their results."""

from typing import Annotated, Any

from mabos_cli.commands.call import Argument, Commands, Context, Limit, Option, more_line
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.item import check_choice, check_word
from mabos_cli.reasoning.catalog import CATEGORIES, METHODS, Method

app = Commands(
    "reason",
    "Reason about a problem with one of 35 methods, or several.\n\n"
    "Begin with list and show METHOD. For the options of solve, see mabos reason solve --help.",
    opens_first=True,
    usage="PROBLEM [OPTIONS] | COMMAND [ARGS]...",
)
_FIT = ("uncertainty", "complexity", "domain", "data_availability", "stakes")


@app.command()
def solve(
    ctx: Context,
    problem: Annotated[str, Argument(metavar="[PROBLEM]", help="The problem in words; - reads standard input.")] = "",
    method: Annotated[str, Option("--method", "-m", help="The method: see mabos reason list.")] = "",
    methods: Annotated[str, Option(help="Several methods, comma-separated; their results are combined.")] = "",
    input: Annotated[
        list[str] | None,
        Option(
            metavar="FILE",
            help="Input as YAML or JSON, or a worksheet filled in; - reads standard input. May repeat.",
        ),
    ] = None,
    classify: Annotated[
        str,
        Option(
            metavar="ASPECT=WORD,...",
            help="What the problem is like, as in domain=social,stakes=high: picks the method, or weighs several. "
            "uncertainty, stakes: low, medium, high; complexity: simple, moderate, complex; domain: formal, empirical, social, "
            "mixed; time_pressure: none, moderate, urgent; data_availability: rich, moderate, sparse.",
        ),
    ] = "",
    save: Annotated[
        bool, Option("--save", help="Save the result as a memory, and as a record that reason outcome can score.")
    ] = False,
) -> None:
    """Solve a problem with a method; the word solve may be omitted. Without input, print a worksheet to fill in.

    Example: mabos reason solve "Is the outage our fault?" --method bayesian --input evidence.yaml
    """
    from mabos_cli.formats.knowledge.reason_record import reasoned_lines, reasoned_to_dict
    from mabos_cli.services.knowledge.reason import Request, reason_about

    found = reason_about(ctx.obj, Request(problem, method, methods, input or [], classify, save, ctx.obj.literal_dash))
    ctx.obj.emit("reason", reasoned_to_dict(found), reasoned_lines(found), found.warnings)


@app.command("list")
def list_command(
    ctx: Context,
    category: Annotated[
        str,
        Option(metavar="[formal|probabilistic|causal|experience|social|meta]", help="Only methods of this category."),
    ] = "",
) -> None:
    """List the methods by category.

    Example: mabos reason list --category causal
    """
    only = check_choice(category, CATEGORIES, "category") if category else ""
    found = [method for method in METHODS.values() if only in ("", method.category)]
    width = max(len(method.name) for method in found)
    lines: list[str] = []
    for name in CATEGORIES:
        group = [method for method in found if method.category == name]
        lines += [name, *(f"  {method.name:<{width}}  {method.about}" for method in group)] if group else []
    ctx.obj.emit("reason.list", {"methods": [_method_row(method) for method in found]}, lines)


def _method_row(method: Method) -> dict[str, Any]:
    fit = {name: list(getattr(method, name)) for name in _FIT}
    row = {"name": method.name, "category": method.category, "about": method.about, "ideal": fit}
    return row | {"effort": method.effort, "draws_on": list(method.draws)}


@app.command()
def show(
    ctx: Context,
    name: Annotated[str, Argument(metavar="METHOD", help="The method.")],
    schema: Annotated[bool, Option("--schema", help="Print the JSON Schema of its input instead.")] = False,
) -> None:
    """Describe a method and print its worksheet.

    Example: mabos reason show bayesian
    """
    from mabos_cli.formats.json.text import dump_document
    from mabos_cli.formats.knowledge.worksheet import render_worksheet, to_json_schema
    from mabos_cli.reasoning.shape import find_worksheet
    from mabos_cli.services.knowledge.reason import find_method

    method = find_method(name)
    worksheet = find_worksheet(method.name)
    if schema:
        described = to_json_schema(worksheet.shape, method.name)
        row = _method_row(method) | {"schema": described}
        ctx.obj.emit("reason.show", row, dump_document(described).rstrip("\n").split("\n"))
        return
    sheet = render_worksheet(method, worksheet, "")
    row = _method_row(method) | {"questions": list(worksheet.questions), "worksheet": sheet}
    ideal = "; ".join(f"{aspect} {', '.join(getattr(method, aspect))}" for aspect in _FIT)
    notes = [f"from the agent's files, unless given: {', '.join(method.draws)}"] if method.draws else []
    head = [f"{method.name} ({method.category}, effort {method.effort} of 3)", f"ideal for: {ideal}", *notes]
    ctx.obj.emit("reason.show", row, [*head, "", *sheet.rstrip("\n").split("\n")])


@app.command()
def outcome(
    ctx: Context,
    result_id: Annotated[str, Argument(metavar="ID", ids="results", help="The saved result: T-..., or last.")],
    happened: Annotated[str, Option(metavar="[yes|no]", help="Whether the conclusion was right.")],
    note: Annotated[str, Option(help="The lesson.")] = "",
) -> None:
    """Record whether a saved conclusion was right; calibration and learning-to-reason use it.

    Example: mabos reason outcome T-1771943400000-0000 --happened yes
    """
    from mabos_cli.services.knowledge.reason import record_outcome

    agent = ctx.obj.open_agent()
    is_right = check_choice(happened.lower(), ("yes", "no"), "--happened") == "yes"
    kept, warnings = record_outcome(agent, result_id, is_right, check_word(note, "note", 2000))
    brier = None if kept.confidence is None else (kept.confidence - is_right) ** 2
    score = "no confidence was stated, so calibration does not score it"
    if brier is not None:
        score = f"stated confidence {kept.confidence:.2f}, Brier score {brier:.3f}"
    row = {"id": kept.id, "method": kept.method, "happened": is_right, "note": note}
    ctx.obj.emit(
        "reason.outcome",
        row | {"confidence": kept.confidence, "brier": brier},
        [f"{kept.id} {kept.method}: {'right' if is_right else 'wrong'}; {score}"],
        warnings,
    )


@app.command()
def history(
    ctx: Context,
    open_only: Annotated[bool, Option("--open", help="Only results without an outcome.")] = False,
    limit: Limit = 20,
) -> None:
    """List saved results and their outcomes, latest first.

    Example: mabos reason history --open
    """
    from mabos_cli.workspace.knowledge.reasoning import load_past

    kept, warnings = load_past(ctx.obj.open_agent())
    found = [(result, summary) for result, summary in reversed(kept) if not (open_only and result.happened is not None)]
    rows, lines = [], []
    for result, summary in found[: limit or None]:
        row = {name: getattr(result, name) for name in ("id", "at", "method", "problem")} | {"summary": summary}
        rows.append(row | {"confidence": result.confidence, "happened": result.happened, "note": result.lesson})
        became = {None: "open", True: "right", False: "wrong"}[result.happened]
        sure = f" {result.confidence:.2f}" if result.confidence is not None else ""
        asked = f"{one_line(result.problem, 60)}: " if result.problem else ""
        lines.append(f"{result.id} {became:<5} {result.method}{sure}  {asked}{one_line(summary, 100)}")
    lines = [*(lines or ["no kept result" + " is open" * open_only]), *more_line(len(found), len(rows))]
    ctx.obj.emit("reason.history", {"results": rows, "total": len(found)}, lines, warnings)
