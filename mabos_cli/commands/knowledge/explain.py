"""explain: a question or a triple, answered by facts, proof, abduction and recall together, each part cited."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core.language.text import one_line
from mabos_cli.errors import UsageFault
from mabos_cli.formats.knowledge.case_text import case_line
from mabos_cli.formats.knowledge.cases import case_to_dict
from mabos_cli.formats.knowledge.fact_text import fact_line
from mabos_cli.formats.knowledge.facts import fact_to_dict
from mabos_cli.formats.knowledge.proof_text import explanation_lines, explanation_row, verdict_lines, verdict_row
from mabos_cli.services.inputs import text_argument
from mabos_cli.services.knowledge.inference import Answer, answer

app = typer.Typer()


@app.command()
def explain(
    ctx: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="TEXT | S P O", help="A question, or a triple; - reads standard input.")
    ],
    depth: Annotated[int, typer.Option(help="Rules in a row at most.")] = 5,
) -> None:
    """Answer a question or a triple by facts, proof, hypotheses, memories and cases, and cite each.

    Example: mabos explain acme isTaxable true
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    if len(words) not in (1, 3):
        raise UsageFault("give a question, or subject predicate object", 'as in: mabos explain "why is acme audited?"')
    triple = (words[0], words[1], words[2]) if len(words) == 3 else None
    question = " ".join(words) if triple else text_argument(words[0], call.literal_dash)
    found = answer(call, agent, question, triple, depth)
    data = {
        "question": question,
        "facts": [fact_to_dict(fact) for fact in found.facts],
        "proofs": [verdict_row(verdict) for verdict in found.proofs],
        "hypotheses": [explanation_row(each) for each in found.hypotheses],
        "memories": [{"ref": hit.candidate.ref, "text": one_line(hit.candidate.text, 300)} for hit in found.memories],
        "cases": [case_to_dict(case) for case in found.cases],
    }
    call.emit("explain", data, _lines(found) or ["nothing is known about that"], found.warnings)


def _lines(found: Answer) -> list[str]:
    lines = [f"fact: {fact_line(fact)}" for fact in found.facts]
    for verdict in found.proofs:
        first, *rest = verdict_lines(verdict)
        lines += [f"proof: {' '.join(verdict.goal)}: {first}", *(f"  {line}" for line in rest)]
    lines += [f"memory: {hit.candidate.ref} {one_line(hit.candidate.text, 140)}" for hit in found.memories]
    lines += [f"case: {case_line(case)}" for case in found.cases]
    return lines + [line for each in found.hypotheses for line in ("hypothesis:", *explanation_lines(each, "  "))]
