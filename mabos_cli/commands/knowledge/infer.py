"""infer, explain: what follows from facts by rules, whether something does, what would explain it, and all that is known."""

from typing import Annotated

from mabos_cli.commands.call import Commands, Context
from mabos_cli.commands.options import Argument, Limit, Option, ValidAt, more_line
from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.forward import Limits
from mabos_cli.core.knowledge.reply import find_leaves
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_importance
from mabos_cli.errors import CheckFailed, UsageFault
from mabos_cli.formats.knowledge.case_text import case_line
from mabos_cli.formats.knowledge.cases import case_to_dict
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
from mabos_cli.services.inputs import read_moment, text_argument
from mabos_cli.services.knowledge.inference import Answer, answer, find_hypotheses, infer_forward, prove

app = Commands("infer", "Derive facts by rules, prove goals, and look for explanations.")
explain = Commands()
Part = Annotated[str, Argument(help="* or ?x stands for anything.")]


@app.command()
def forward(
    ctx: Context,
    persist: Annotated[bool, Option("--persist", help="Write what follows to facts-derived.json.")] = False,
    max_facts: Annotated[int, Option(help="Derive this many at most; the surest are kept.")] = 250_000,
    min_confidence: Annotated[float, Option(help="Derive nothing less sure.")] = 0.0,
    max_depth: Annotated[int, Option(help="Rules in a row at most; 0 for no limit.")] = 0,
    max_work: Annotated[int, Option(help="Combinations of facts that each rule may try.")] = Limits().max_joins,
    failing: Annotated[bool, Option("--check", help="Exit 7 when a limit kept something from being derived.")] = False,
    valid_at: ValidAt = "",
    limit: Limit = SHOWN,
) -> None:
    """Derive everything that follows from the asserted facts, each fact by its best derivation at each time.

    A run that a limit stops keeps the surest, says what is missing, and deletes nothing.

    Example: mabos infer forward --persist
    """
    agent = ctx.obj.open_agent()
    if max_facts < 1 or max_depth < 0 or max_work < 1:
        raise BadValue(
            "--max-facts and --max-work must be above 0, and --max-depth not negative", "--max-depth 0 for no limit"
        )
    if persist and valid_at:
        raise UsageFault("--persist writes what holds at any time", "leave out --valid-at")
    limits = Limits(max_facts, check_importance(min_confidence), max_depth, max_work)
    found, done, notes = infer_forward(agent, limits, persist=persist, at=read_moment(valid_at, agent.now()))
    shown = found.derived[: limit or None]
    summary = f"{plural(len(found.derived), 'fact')} derived; fixpoint: {found.fixpoint}"
    summary += f"; {done.added} new, {done.changed} changed, {done.removed} gone" if persist else ""
    lines = [fact_line(fact) for fact in shown]
    lines += more_line(len(found.derived), len(shown))
    data = {
        "derived": len(found.derived),
        "fixpoint": found.fixpoint,
        "complete": found.is_complete,
        "depth": found.depth,
        "persisted": persist,
        **done._asdict(),
        "facts": [fact_to_dict(fact) for fact in shown],
    }
    ctx.obj.emit("infer.forward", data, [*lines, summary], [*problem_lines(found.problems), *notes])
    if failing and not found.is_complete:
        raise CheckFailed(f"inference {found.fixpoint}", "raise the limit that it names")


@app.command()
def backward(
    ctx: Context,
    subject: Part,
    predicate: Annotated[str, Argument(help="The predicate.")],
    object: Part,
    depth: Annotated[int, Option(help="Rules in a row at most.")] = 5,
    valid_at: ValidAt = "",
) -> None:
    """Say whether something follows, by which proof, and what is missing if it does not.

    Example: mabos infer backward acme isTaxable true
    """
    agent = ctx.obj.open_agent()
    verdict = prove(agent, (subject, predicate, object), depth, read_moment(valid_at, agent.now()))
    ctx.obj.emit("infer.backward", verdict_row(verdict), verdict_lines(verdict), problem_lines(verdict.problems))


@app.command()
def abductive(
    ctx: Context,
    subject: Part,
    predicate: Annotated[str, Argument(help="The predicate.")],
    object: Part,
    depth: Annotated[int, Option(help="Rules in a row at most.")] = 3,
    valid_at: ValidAt = "",
    limit: Limit = 10,
) -> None:
    """Rank what would explain an observation, with what each needs to be assumed.

    Example: mabos infer abductive server-7 status down
    """
    agent = ctx.obj.open_agent()
    found = find_hypotheses(agent, (subject, predicate, object), depth, read_moment(valid_at, agent.now()))
    shown = found.hypotheses[: limit or None]
    lines = [f"known: {fact_line(fact)}" for fact in found.known[:SHOWN]]
    lines += [line for each in shown for line in explanation_lines(each)]
    data = {
        "observation": list(found.observation),
        "known": [fact.id for fact in found.known],
        "hypotheses": [explanation_row(each) for each in shown],
    }
    ctx.obj.emit("infer.abductive", data, lines or ["no rule would explain it"], problem_lines(found.problems))


@explain.command("explain")
def explain_command(
    ctx: Context,
    words: Annotated[
        list[str], Argument(metavar="TEXT | S P O", help="A question, or a triple; - reads standard input.")
    ],
    depth: Annotated[int, Option(help="Rules in a row at most.")] = 5,
    valid_at: ValidAt = "",
    llm: Annotated[
        bool, Option("--llm", help="Let the language model help to read the question, never to answer.")
    ] = False,
) -> None:
    """Answer a question or a triple in one line; then proof, hypotheses, memories and cases, each cited.

    Example: mabos explain "Who does Tom Berg report to?"
    """
    agent = ctx.obj.open_agent()
    if len(words) not in (1, 3):
        raise UsageFault("give a question, or subject predicate object", 'as in: mabos explain "why is acme audited?"')
    triple = (words[0], words[1], words[2]) if len(words) == 3 else None
    question = " ".join(words) if triple else text_argument(words[0], ctx.obj.literal_dash)
    moment = read_moment(valid_at, agent.now())
    found = answer(ctx.obj, agent, question, triple, depth, at=moment, llm=llm)
    data = {
        "question": question,
        "answer": {
            "verdict": found.reply.verdict,
            "kind": found.reply.kind,
            "values": list(found.reply.values),
            "line": found.reply.line,
            "read_as": found.reply.reading,
            "against": [fact.id for proof in found.reply.against for fact in find_leaves(proof)],
        },
        "facts": [fact_to_dict(fact) for fact in found.facts],
        "proofs": [verdict_row(verdict) for verdict in found.proofs],
        "hypotheses": [explanation_row(each) for each in found.hypotheses],
        "memories": [{"ref": hit.candidate.ref, "text": one_line(hit.candidate.text, 300)} for hit in found.memories],
        "cases": [case_to_dict(case) for case in found.cases],
    }
    ctx.obj.emit("explain", data, _answer_lines(found), found.warnings)


def _answer_lines(found: Answer) -> list[str]:
    lines = [found.reply.line, *([f"read as: {found.reply.reading}"] if found.reply.reading else [])]
    against = {fact.id for proof in found.reply.against for fact in find_leaves(proof)}
    shown = {fact.id for proof in found.reply.proofs for fact in find_leaves(proof)} if found.proofs else set()
    for fact in (fact for fact in found.facts if fact.id not in shown):
        lines.append(f"{'against' if fact.id in against else 'fact'}: {fact_line(fact)}")
    for verdict in found.proofs:
        first, *rest = verdict_lines(verdict)
        lines += [f"proof: {' '.join(verdict.goal)}: {first}", *(f"  {line}" for line in rest)]
    lines += [f"memory: {hit.candidate.ref} {one_line(hit.candidate.text, 140)}" for hit in found.memories]
    lines += [f"case: {case_line(case)}" for case in found.cases]
    return lines + [line for each in found.hypotheses for line in ("hypothesis:", *explanation_lines(each, "  "))]
