"""infer: what follows from facts by rules, whether something does, and what would explain it."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.options import Limit, more_line
from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.forward import Limits
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import check_importance
from mabos_cli.formats.knowledge.fact_text import fact_line
from mabos_cli.formats.knowledge.facts import fact_to_dict
from mabos_cli.formats.knowledge.proof_text import (
    SHOWN,
    explanation_lines,
    explanation_row,
    problem_lines,
    verdict_lines,
    verdict_row,
)
from mabos_cli.services.knowledge.inference import find_hypotheses, infer_forward, prove

app = new_group("infer", "Derive facts by rules, prove goals, and look for explanations.", no_args_is_help=True)
Part = Annotated[str, typer.Argument(help="* or ?x stands for anything.")]


@app.command()
def forward(
    ctx: typer.Context,
    persist: Annotated[bool, typer.Option("--persist", help="Write what follows to facts-derived.json.")] = False,
    max_facts: Annotated[int, typer.Option(help="Derive this many at most; the surest are kept.")] = 250_000,
    min_confidence: Annotated[float, typer.Option(help="Derive nothing less sure.")] = 0.0,
    max_depth: Annotated[int, typer.Option(help="Rules in a row at most; 0 for no limit.")] = 0,
    limit: Limit = SHOWN,
) -> None:
    """Derive everything that follows from the asserted facts, each fact by its best derivation.

    Example: mabos infer forward --persist
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    if max_facts < 1 or max_depth < 0:
        raise BadValue("--max-facts must be above 0, and --max-depth not negative", "--max-depth 0 for no limit")
    limits = Limits(max_facts, check_importance(min_confidence), max_depth)
    found, done, notes = infer_forward(agent, limits, persist=persist)
    shown = found.derived[: limit or None]
    summary = f"{plural(len(found.derived), 'fact')} derived; fixpoint: {found.fixpoint}"
    summary += f"; {done.added} new, {done.changed} changed, {done.removed} gone" if persist else ""
    lines = [fact_line(fact) for fact in shown]
    lines += more_line(len(found.derived), len(shown))
    data = {
        "derived": len(found.derived),
        "fixpoint": found.fixpoint,
        "depth": found.depth,
        "persisted": persist,
        **done._asdict(),
        "facts": [fact_to_dict(fact) for fact in shown],
    }
    call.emit("infer.forward", data, [*lines, summary], [*problem_lines(found.problems), *notes])


@app.command()
def backward(
    ctx: typer.Context,
    subject: Part,
    predicate: Annotated[str, typer.Argument(help="The predicate.")],
    object: Part,
    depth: Annotated[int, typer.Option(help="Rules in a row at most.")] = 5,
) -> None:
    """Say whether something follows, by which proof, and what is missing if it does not.

    Example: mabos infer backward acme isTaxable true
    """
    call: Call = ctx.obj
    verdict = prove(call.open_agent(), (subject, predicate, object), depth)
    call.emit("infer.backward", verdict_row(verdict), verdict_lines(verdict), problem_lines(verdict.problems))


@app.command()
def abductive(
    ctx: typer.Context,
    subject: Part,
    predicate: Annotated[str, typer.Argument(help="The predicate.")],
    object: Part,
    depth: Annotated[int, typer.Option(help="Rules in a row at most.")] = 3,
    limit: Limit = 10,
) -> None:
    """Rank what would explain an observation, with what each needs to be assumed.

    Example: mabos infer abductive server-7 status down
    """
    call: Call = ctx.obj
    found = find_hypotheses(call.open_agent(), (subject, predicate, object), depth)
    shown = found.hypotheses[: limit or None]
    lines = [f"known: {fact_line(fact)}" for fact in found.known[:SHOWN]]
    lines += [line for each in shown for line in explanation_lines(each)]
    data = {
        "observation": list(found.observation),
        "known": [fact.id for fact in found.known],
        "hypotheses": [explanation_row(each) for each in shown],
    }
    call.emit("infer.abductive", data, lines or ["no rule would explain it"], problem_lines(found.problems))
