"""explain: a question or a triple, answered by facts, proof, abduction and recall together, each part cited."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call
from mabos_cli.commands.knowledge.infer import (
    clamp_depth,
    explanation_lines,
    explanation_row,
    verdict_lines,
    verdict_row,
)
from mabos_cli.core.knowledge.backward import PROVEN, Verdict, backward_chain
from mabos_cli.core.knowledge.case import Case
from mabos_cli.core.knowledge.explaining import abduce
from mabos_cli.core.knowledge.fact import Fact, Query, select_facts
from mabos_cli.core.knowledge.graph import find_asked
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import one_line
from mabos_cli.core.search.recall import Filters, Hit
from mabos_cli.errors import UsageFault
from mabos_cli.formats.knowledge.cases import case_to_dict
from mabos_cli.formats.knowledge.facts import fact_to_dict
from mabos_cli.services.inputs import text_argument
from mabos_cli.services.knowledge.case_common import UNDER, case_line, find_texts
from mabos_cli.services.knowledge.fact_common import fact_line, stale_warning
from mabos_cli.services.search.agent_search import Way, open_search
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.cases import load_cases
from mabos_cli.workspace.knowledge.facts import load_facts
from mabos_cli.workspace.knowledge.rulebook import load_rules

app = typer.Typer()
_FACTS, _MEMORIES, _GOALS, _CASES = 12, 5, 4, 3
_NEAR = 0.5  # the nearest case has this likeness by itself; above it, it shares words with the question


@app.command()
def explain(
    ctx: typer.Context,
    said: Annotated[
        list[str], typer.Argument(metavar="TEXT | S P O", help="A question, or a triple; - reads standard input.")
    ],
    depth: Annotated[int, typer.Option(help="Rules in a row at most.")] = 5,
) -> None:
    """Answer a question or a triple by facts, proof, hypotheses, memories and cases, and cite each.

    Example: mabos explain acme isTaxable true
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    if len(said) not in (1, 3):
        raise UsageFault("give a question, or subject predicate object", 'as in: mabos explain "why is acme audited?"')
    held, rules = load_facts(agent), load_rules(agent).rules
    facts = list(held.all())
    if len(said) == 3:
        question, goals = " ".join(said), [(said[0], said[1], said[2])]
        found = list(select_facts(facts, Query(*("*" if part.startswith("?") else part for part in said))))
    else:
        question = text_argument(said[0], call.literal_dash)
        found, goals = find_asked(question, facts, rules, _GOALS)
    proofs = [backward_chain(goal, facts, rules, clamp_depth(depth)) for goal in goals]
    proofs = [v for v in proofs if len(said) == 3 or v.status == PROVEN]
    open_goals = [v.goal for v in proofs if v.status != PROVEN] if len(said) == 3 else []
    guesses = [each for goal in open_goals for each in abduce(goal, facts, rules).hypotheses[:_GOALS]]
    hits, warnings = _recalled(call, agent, question)
    cases, trouble = _cases(call, agent, question)
    data = {
        "question": question,
        "facts": [fact_to_dict(fact) for fact in found[:_FACTS]],
        "proofs": [verdict_row(verdict) for verdict in proofs],
        "hypotheses": [explanation_row(each) for each in guesses],
        "memories": [{"ref": hit.candidate.ref, "text": one_line(hit.candidate.text, 300)} for hit in hits],
        "cases": [case_to_dict(case) for case in cases],
    }
    lines = _told(found, proofs, hits) + [f"case: {case_line(case)}" for case in cases]
    lines += [line for each in guesses for line in ("hypothesis:", *explanation_lines(each, "  "))]
    warnings = list(dict.fromkeys([*warnings, *trouble, *stale_warning(agent, held)]))
    call.emit("explain", data, lines or ["nothing is known about that"], warnings)


def _recalled(call: Call, agent: Agent, question: str) -> tuple[list[Hit], list[str]]:
    """What memory says about a question, and warnings. Facts and cases are told apart."""
    way = Way(Filters(now=format_time(agent.now())), False, _MEMORIES + 5, agent.settings["recall.preset"], None, 0.0)
    search = open_search(call, agent, way, shared=False)
    apart = ("memory/mabos-facts", UNDER)
    hits = [hit for hit in search(question) if not hit.candidate.path.startswith(apart)]
    return hits[:_MEMORIES], search.warnings()


def _cases(call: Call, agent: Agent, question: str) -> tuple[list[Case], list[str]]:
    """The cases whose context or lessons speak about a question, and warnings."""
    file = load_cases(agent)
    near, warnings = find_texts(call, agent, file, question, 4 * _CASES)
    ids = [own for own, like in sorted(near.items(), key=lambda each: -each[1]) if like > _NEAR]
    return [file.case(file.places[own]) for own in ids[:_CASES]], warnings


def _told(found: list[Fact], proofs: list[Verdict], hits: list[Hit]) -> list[str]:
    lines = [f"fact: {fact_line(fact)}" for fact in found[:_FACTS]]
    for verdict in proofs:
        first, *rest = verdict_lines(verdict)
        lines += [f"proof: {' '.join(verdict.goal)}: {first}", *(f"  {line}" for line in rest)]
    return lines + [f"memory: {hit.candidate.ref} {one_line(hit.candidate.text, 140)}" for hit in hits]
