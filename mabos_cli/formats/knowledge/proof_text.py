"""Proofs, explanations, origins of facts, ways between them and what depends on beliefs, as lines of text and as JSON."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mabos_cli.core.knowledge.backward import Proof, Verdict
from mabos_cli.core.knowledge.explaining import Explanation
from mabos_cli.core.knowledge.fact_lint import Origin
from mabos_cli.core.knowledge.graph import Concern, Edge, Match
from mabos_cli.core.knowledge.rule import Problem
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.formats.knowledge.fact_text import fact_line
from mabos_cli.formats.knowledge.facts import fact_to_dict
from mabos_cli.formats.knowledge.rules import render_pattern

SHOWN = 50  # proofs, or rules that lack something


def problem_lines(problems: Iterable[Problem]) -> list[str]:
    """Returns a warning about each rule that was not run."""
    return [f"{each.rule_id} {'' if each.is_left_out else 'was not run: '}{each.reason}" for each in problems]


def verdict_row(verdict: Verdict) -> dict[str, Any]:
    """Returns a verdict as JSON."""
    return {
        "status": verdict.status,
        "goal": list(verdict.goal),
        "why": verdict.why,
        "complete": not verdict.is_cut,
        "proofs": [_proof_row(proof) for proof in verdict.proofs[:SHOWN]],
        "gaps": [explanation_row(gap) for gap in verdict.gaps[:SHOWN]],
    }


def verdict_lines(verdict: Verdict) -> list[str]:
    """Returns a verdict as lines: the proofs as trees, or what each rule lacks."""
    lines = [f"{verdict.status}: {verdict.why}{'; the search was cut short' if verdict.is_cut else ''}"]
    for proof in verdict.proofs[:SHOWN]:
        lines += _proof_lines(proof, "")
    for gap in verdict.gaps[:SHOWN]:
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


def _proof_lines(proof: Proof, indent: str) -> list[str]:
    by = f"<- {proof.rule.label}" if proof.rule else proof.fact.id if proof.fact else ""
    dates = proof.dates.replace(" until", ", until")
    sure = ", ".join(filter(None, (f"{proof.confidence:.2f}", dates)))
    line = f"{indent}{one_line(' '.join(proof.triple), 140)} ({sure}) {by}"
    return [line, *(each for part in proof.parts for each in _proof_lines(part, indent + "  "))]


def explanation_row(each: Explanation) -> dict[str, Any]:
    """Returns a hypothesis, or what a proof lacks, as JSON."""
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
    """Returns a hypothesis, or what a proof lacks, as lines."""
    lines = [f"{indent}{each.score:.2f} {each.rule.label}: {each.supported} of {plural(each.total, 'condition')} hold"]
    lines += [f"{indent}  assumes {one_line(render_pattern(pattern), 140)}" for pattern in each.assumptions]
    lines += [f"{indent}  rests on {fact_line(fact)}" for fact in each.supports]
    return lines + [line for step in each.steps for line in explanation_lines(step, indent + "  ")]


def origin_row(origin: Origin) -> dict[str, Any]:
    """Returns a node of an explanation as JSON."""
    return {
        "id": origin.fact_id,
        "fact": fact_to_dict(origin.fact) if origin.fact else None,
        "rule": origin.rule.id if origin.rule else None,
        "note": origin.note or None,
        "sources": [origin_row(part) for part in origin.parts],
    }


def origin_lines(origin: Origin, indent: str = "") -> list[str]:
    """Returns a tree of an explanation as lines."""
    text = fact_line(origin.fact) if origin.fact else origin.fact_id
    by = f" <- {origin.rule.label}" if origin.rule else ""
    note = f" [{origin.note}]" if origin.note else ""
    return [f"{indent}{text}{by}{note}", *(line for part in origin.parts for line in origin_lines(part, indent + "  "))]


def chain_lines(rows: Sequence[dict[str, Any]], beliefs: Mapping[str, tuple[str, float | None]]) -> list[str]:
    """Returns chains as lines: beliefs, given with name and certainty by key, below them goals, below these plans and intentions."""
    lines: list[str] = []
    before = ""
    for row in rows:
        if row["belief"] != before:
            before = row["belief"]
            name, sure = beliefs.get(before, ("", None))
            lines.append(_named(before, name, "" if sure is None else f"{sure:.2f}"))
        lines.append(f"  supports {_named(row['goal'], row['goal_name'], row['goal_status'])}")
        for kind, verb in (("plan", "requires"), ("intention", "pursued by")):
            for each in row.get(f"{kind}s", ()):
                lines.append(f"    {verb} {_named(each[kind], each['name'], each['status'])}")
    return lines


def goal_line(row: dict[str, Any]) -> str:
    """Returns a goal that is behind, on a line."""
    done = "" if row["progress"] is None else f"{row['progress']:g} %"
    due = f"due {row['deadline']}" if row["deadline"] else ""
    details = ", ".join(part for part in (row["level"], row["status"] or row["state"], done, due) if part)
    return _named(row["goal"], row["name"], details)


def _named(uid: str, name: str | None, details: str | None) -> str:
    return f"{uid} {one_line(name or '', 80)}{f' ({one_line(details, 60)})' if details else ''}"


def edge_text(edge: Edge) -> str:
    """Returns a step in the graph of facts, in the direction in which it is walked."""
    fact = edge.fact
    if edge.backwards:
        return one_line(f"{fact.object} <-{fact.predicate}- {fact.subject}", 160)
    return one_line(f"{fact.subject} -{fact.predicate}-> {fact.object}", 160)


def edge_row(edge: Edge) -> dict[str, Any]:
    """Returns a step in the graph of facts as JSON."""
    fact = edge.fact
    parts = {"subject": fact.subject, "predicate": fact.predicate, "object": fact.object}
    return {**parts, "confidence": fact.confidence, "fact": fact.id, "backwards": edge.backwards}


def concern_line(found: Concern) -> str:
    """Returns on a line what to know before work on something, and the way to it."""
    against = f"; against {fact_line(found.against)}" if found.against else ""
    via = f" via {'; '.join(map(edge_text, found.path))}" if found.path else ""
    return f"{found.kind}: {fact_line(found.fact)}{against}{via}"


def concern_row(found: Concern) -> dict[str, Any]:
    """Returns the same as JSON."""
    against = found.against.id if found.against else None
    return fact_to_dict(found.fact) | {"against": against, "path": [edge_row(edge) for edge in found.path]}


def match_line(found: Match) -> str:
    """Returns what an idea is about, and why, on a line."""
    kind = f" [{', '.join(found.types)}]" if found.types else ""
    why = f"names {', '.join(found.words)}" if not found.path else "; ".join(map(edge_text, found.path))
    return f"{found.score:.2f} {one_line(found.node, 60)}{kind}: {why}"
