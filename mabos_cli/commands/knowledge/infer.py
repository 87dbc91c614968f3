"""infer: what follows from facts by rules, whether something does, and what would explain it."""

from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.options import Limit, more_line
from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.backward import Proof, Verdict, backward_chain
from mabos_cli.core.knowledge.explaining import Explanation, abduce
from mabos_cli.core.knowledge.forward import Limits, forward_chain
from mabos_cli.core.knowledge.rule import Problem
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_importance
from mabos_cli.formats.knowledge.facts import Derived, fact_to_dict
from mabos_cli.formats.knowledge.rules import render_pattern
from mabos_cli.services.knowledge.fact_common import fact_line, without_gc
from mabos_cli.workspace.knowledge.facts import load_facts, write_derived_facts
from mabos_cli.workspace.knowledge.rulebook import load_rules

app = new_group("infer", "Derive facts by rules, prove goals, and look for explanations.", no_args_is_help=True)
Part = Annotated[str, typer.Argument(help="* or ?x stands for anything.")]
_SHOWN = 50
_DEEPEST = 20


@app.command()
def forward(
    ctx: typer.Context,
    persist: Annotated[bool, typer.Option("--persist", help="Write what follows to facts-derived.json.")] = False,
    max_facts: Annotated[int, typer.Option(help="Derive this many at most; the surest are kept.")] = 250_000,
    min_confidence: Annotated[float, typer.Option(help="Derive nothing less sure.")] = 0.0,
    max_depth: Annotated[int, typer.Option(help="Rules in a row at most; 0 for no limit.")] = 0,
    limit: Limit = _SHOWN,
) -> None:
    """Derive everything that follows from the asserted facts, each fact by its best derivation.

    Example: mabos infer forward --persist
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    if max_facts < 1 or max_depth < 0:
        raise BadValue("--max-facts must be above 0, and --max-depth not negative", "--max-depth 0 for no limit")
    facts, rules = load_facts(agent), load_rules(agent)
    limits = Limits(max_facts, check_importance(min_confidence), max_depth)
    with without_gc():
        found = forward_chain(facts.asserted.facts(), rules.rules, limits)
    done, warnings = Derived(0, 0, 0), [*_problems(found.problems)]
    if persist:
        mark = {"facts_version": facts.asserted.version, "rules_version": rules.version}
        done, notes = write_derived_facts(agent, found.derived, mark, [rule.id for rule in rules.rules])
        warnings += notes
    shown = found.derived[: limit or None]
    told = f"{plural(len(found.derived), 'fact')} derived; fixpoint: {found.fixpoint}"
    told += f"; {done.added} new, {done.changed} changed, {done.removed} gone" if persist else ""
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
    call.emit("infer.forward", data, [*lines, told], warnings)


def _problems(problems: tuple[Problem, ...]) -> list[str]:
    return [f"{problem.rule_id} was not run: {problem.reason}" for problem in problems]


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
    agent = call.open_agent()
    verdict = backward_chain(
        (subject, predicate, object), load_facts(agent).all(), load_rules(agent).rules, clamp_depth(depth)
    )
    data = verdict_row(verdict)
    call.emit("infer.backward", data, verdict_lines(verdict), _problems(verdict.problems))


def clamp_depth(depth: int) -> int:
    """A depth that can be searched and drawn: proofs share their parts, and a tree of them would not."""
    return min(max(0, depth), _DEEPEST)


def verdict_row(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON."""
    return {
        "status": verdict.status,
        "goal": list(verdict.goal),
        "why": verdict.why,
        "complete": not verdict.is_cut,
        "proofs": [_proof_row(proof) for proof in verdict.proofs[:_SHOWN]],
        "gaps": [explanation_row(gap) for gap in verdict.gaps[:_SHOWN]],
    }


def verdict_lines(verdict: Verdict) -> list[str]:
    """A verdict as lines: the proofs as trees, or what each rule lacks."""
    lines = [f"{verdict.status}: {verdict.why}{'; the search was cut short' if verdict.is_cut else ''}"]
    for proof in verdict.proofs[:_SHOWN]:
        lines += _draw(proof, "")
    for gap in verdict.gaps[:_SHOWN]:
        lines += explanation_lines(gap)
    return lines


def _proof_row(proof: Proof) -> dict[str, Any]:
    return {
        "triple": list(proof.triple),
        "confidence": proof.confidence,
        "fact": proof.fact.id if proof.fact else None,
        "rule": proof.rule.id if proof.rule else None,
        "valid_from": proof.valid_from or None,
        "valid_until": proof.valid_until or None,
        "parts": [_proof_row(part) for part in proof.parts],
    }


def _draw(proof: Proof, indent: str) -> list[str]:
    by = f"<- {proof.rule.label}" if proof.rule else proof.fact.id if proof.fact else ""
    line = f"{indent}{one_line(' '.join(proof.triple), 140)} ({proof.confidence:.2f}) {by}"
    return [line, *(each for part in proof.parts for each in _draw(part, indent + "  "))]


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
    agent = call.open_agent()
    facts = list(load_facts(agent).all())
    found = abduce((subject, predicate, object), facts, load_rules(agent).rules, max(1, clamp_depth(depth)))
    lines = [f"known: {fact_line(fact)}" for fact in found.known[:_SHOWN]]
    for each in found.hypotheses[: limit or None]:
        lines += explanation_lines(each)
    data = {
        "observation": list(found.observation),
        "known": [fact.id for fact in found.known],
        "hypotheses": [explanation_row(each) for each in found.hypotheses[: limit or None]],
    }
    call.emit("infer.abductive", data, lines or ["no rule would explain it"], _problems(found.problems))


def explanation_row(each: Explanation) -> dict[str, Any]:
    """A hypothesis, or what a proof lacks, as JSON."""
    return {
        "rule": each.rule.id,
        "conclusion": render_pattern(each.conclusion),
        "score": round(each.score, 4),
        "supported": each.supported,
        "total": each.total,
        "bindings": dict(each.bindings),
        "assumptions": [render_pattern(pattern) for pattern in each.assumptions],
        "supports": [fact.id for fact in each.supports],
        "steps": [explanation_row(step) for step in each.steps],
    }


def explanation_lines(each: Explanation, indent: str = "") -> list[str]:
    """A hypothesis, or what a proof lacks, as lines."""
    lines = [f"{indent}{each.score:.2f} {each.rule.label}: {each.supported} of {plural(each.total, 'condition')} hold"]
    lines += [f"{indent}  assumes {one_line(render_pattern(pattern), 140)}" for pattern in each.assumptions]
    lines += [f"{indent}  rests on {fact_line(fact)}" for fact in each.supports]
    return lines + [line for step in each.steps for line in explanation_lines(step, indent + "  ")]
