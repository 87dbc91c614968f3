"""Results of reasoning as JSON values, and reasoning.jsonl: a line for each result that is kept and for each outcome of one."""

from typing import Any

from mabos_cli.core.knowledge.reasoning import KeptResult
from mabos_cli.formats.json.text import dump_record, parse_lines
from mabos_cli.reasoning.answer import Answer, Conclusion
from mabos_cli.reasoning.catalog import Scored
from mabos_cli.reasoning.fusion import Fused


def conclusion_to_dict(conclusion: Conclusion) -> dict[str, Any]:
    """The conclusion as JSON values; what its kind does not have is left out."""
    found: dict[str, Any] = {"kind": conclusion.kind, "value": conclusion.value}
    if isinstance(conclusion.value, tuple):
        found["value"] = list(conclusion.value)
    if conclusion.scores:
        found["scores"] = dict(conclusion.scores)
    if conclusion.interval:
        found["interval"] = list(conclusion.interval)
    return found | {name: said for name in ("unit", "about") if (said := getattr(conclusion, name))}


def answer_to_dict(answer: Answer) -> dict[str, Any]:
    """The answer of a method as JSON values."""
    return {
        "conclusion": conclusion_to_dict(answer.conclusion),
        "confidence": answer.confidence,
        "summary": answer.summary,
        "steps": list(answer.steps),
        "detail": dict(answer.detail),
        "caveats": list(answer.caveats),
    }


def fused_to_dict(fused: Fused) -> dict[str, Any]:
    """What several methods say together, as JSON values."""
    parts = [
        {"method": p.method, "weight": p.weight, "stance": p.stance, "support": p.support} | answer_to_dict(p.answer)
        for p in fused.parts
    ]
    return {
        "conclusion": conclusion_to_dict(fused.conclusion),
        "confidence": fused.confidence,
        "agreement": fused.agreement,
        "basis": fused.basis,
        "agreements": [list(pair) for pair in fused.agreements],
        "disagreements": [list(pair) for pair in fused.disagreements],
        "parts": parts,
    }


def scored_to_dict(one: Scored) -> dict[str, Any]:
    """A method's fit as JSON values."""
    return {"method": one.method.name, "score": one.score, "matched": list(one.matched)}


def render_result(past: KeptResult, methods: tuple[str, ...], conclusion: Conclusion, summary: str) -> bytes:
    """The line of a result that is kept."""
    record = {
        "id": past.id,
        "kind": "result",
        "at": past.at,
        "method": past.method,
        "methods": list(methods) if len(methods) > 1 else None,
        "problem": past.problem,
        "classification": dict(past.classification) or None,
        "conclusion": conclusion_to_dict(conclusion),
        "confidence": past.confidence,
        "summary": summary,
    }
    kept = {name: value for name, value in record.items() if value is not None or name == "confidence"}
    return dump_record(kept)


def render_outcome(result_id: str, happened: bool, note: str, at: str) -> bytes:
    """The line of what became of a result."""
    record = {"id": result_id, "kind": "outcome", "at": at, "happened": happened}
    return dump_record(record | ({"note": note} if note else {}))


def parse_past(data: bytes) -> tuple[list[tuple[KeptResult, str]], int]:
    """The results in the order in which they were kept, each with its summary, and how many lines are torn or not ours. The
    latest word about an outcome holds."""
    results: dict[str, tuple[KeptResult, str]] = {}
    outcomes: dict[str, tuple[bool, str]] = {}
    records, odd = parse_lines(data)
    for record in records:
        if not isinstance(record, dict) or not isinstance(record.get("id"), str):
            odd += 1
        elif record.get("kind") == "outcome" and isinstance(record.get("happened"), bool):
            outcomes[record["id"]] = (record["happened"], str(record.get("note") or ""))
        elif record.get("kind") == "result" and isinstance(record.get("method"), str):
            results.setdefault(record["id"], (_result(record), str(record.get("summary") or "")))
        else:
            odd += 1
    for own, (happened, note) in outcomes.items():
        if own in results:
            past, summary = results[own]
            results[own] = past._replace(happened=happened, lesson=note), summary
    return list(results.values()), odd


def _result(record: dict[str, Any]) -> KeptResult:
    sure, told = record.get("confidence"), record.get("classification")
    is_sure = isinstance(sure, int | float) and not isinstance(sure, bool) and 0 <= sure <= 1
    aspects = tuple((k, v) for k, v in told.items() if isinstance(v, str)) if isinstance(told, dict) else ()
    return KeptResult(
        record["id"],
        record["method"],
        str(record.get("problem") or ""),
        float(sure) if is_sure else None,  # type: ignore[arg-type]
        None,
        str(record.get("at") or ""),
        aspects,
    )
