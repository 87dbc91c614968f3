"""Renders results of reasoning as JSON values and as text, and reasoning.jsonl: a line for each kept result and each
outcome."""

from typing import Any, NamedTuple

from mabos_cli.core.knowledge.case import KeptResult
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.formats.json.text import dump_record, parse_ledger
from mabos_cli.reasoning.answer import Answer, Conclusion, figure
from mabos_cli.reasoning.catalog import Method, Scored
from mabos_cli.reasoning.fusion import Fused

_SHOWN_SCORES = 5
_ONE = {name: name.removesuffix("s") for name in ("facts", "rules", "cases", "beliefs", "desires")}
_ONE["past"] = "kept result"


def conclusion_to_dict(conclusion: Conclusion) -> dict[str, Any]:
    """Returns the conclusion as JSON values; what its kind does not have is left out."""
    found: dict[str, Any] = {"kind": conclusion.kind, "value": conclusion.value}
    if isinstance(conclusion.value, tuple):
        found["value"] = list(conclusion.value)
    if conclusion.scores:
        found["scores"] = dict(conclusion.scores)
    if conclusion.interval:
        found["interval"] = list(conclusion.interval)
    return found | {name: shown for name in ("unit", "about") if (shown := getattr(conclusion, name))}


def answer_to_dict(answer: Answer) -> dict[str, Any]:
    """Returns the answer of a method as JSON values."""
    return answer._asdict() | {"conclusion": conclusion_to_dict(answer.conclusion)}


class MethodRun(NamedTuple):
    """One method on the problem: its answer, or the worksheet when there was no input."""

    method: Method
    answer: Answer | None
    worksheet: str
    used: dict[str, int]  # how many entries of the agent's files were used, by kind


class Reasoned(NamedTuple):
    """A problem that was reasoned about: which methods fit it, if they were chosen by fit, what they answer, and the ids under
    which the result is kept."""

    problem: str
    classification: dict[str, str]
    scores: tuple[Scored, ...]
    runs: list[MethodRun]
    result: Answer | Fused | None
    saved: dict[str, str] | None
    warnings: list[str]


def reasoned_to_dict(found: Reasoned) -> dict[str, Any]:
    """Returns the result as JSON values. Without input it is the worksheet, and says that nothing was computed."""
    data: dict[str, Any] = {"problem": found.problem, "computed": found.result is not None}
    if len(found.runs) == 1:
        run = found.runs[0]
        data |= {"method": run.method.name, "category": run.method.category, "drawn": run.used}
        data |= answer_to_dict(run.answer) if run.answer else {"confidence": None, "worksheet": run.worksheet}
    else:
        data["methods"] = [run.method.name for run in found.runs]
        data["drawn"] = {run.method.name: run.used for run in found.runs if run.used}
        data |= _fused_to_dict(found.result) if isinstance(found.result, Fused) else {"confidence": None}
        sheets = [{"method": r.method.name, "worksheet": r.worksheet} for r in found.runs if not r.answer]
        data |= {"worksheets": sheets} if sheets else {}
    data |= {"classification": found.classification} if found.classification else {}
    scores = [{"method": one.method.name, "score": one.score, "matched": list(one.matched)} for one in found.scores]
    data |= {"scores": scores} if scores else {}
    return data | ({"saved": found.saved} if found.saved else {})


def reasoned_lines(found: Reasoned) -> list[str]:
    """Returns the result for people, after the methods that fit best if the method was chosen by fit."""
    fit = [f"  {one.score:.2f} {one.method.name} ({', '.join(one.matched)})" for one in found.scores[:_SHOWN_SCORES]]
    lines = ["methods that fit best:", *fit, ""] if fit else []
    first = len(lines)
    lines += _fused_lines(found.result) if isinstance(found.result, Fused) else []
    for run in found.runs:
        if run.answer and len(found.runs) == 1:
            lines += _answer_lines(run.method.name, run.answer)
        elif not run.answer:
            lines += [""] * (len(lines) > first) + run.worksheet.rstrip("\n").split("\n")
    used = {name: count for run in found.runs for name, count in run.used.items() if count}
    shown = ", ".join(plural(count, _ONE[name]) for name, count in used.items())
    lines += [f"from the agent's files: {shown}"] if shown else []
    if found.saved:
        result_id, item = found.saved["id"], found.saved["item"]
        lines.append(f"kept as {result_id} and {item}; later: mabos reason outcome {result_id} --happened yes (or no)")
    return lines


def _fused_to_dict(fused: Fused) -> dict[str, Any]:
    parts = [part._asdict() | answer_to_dict(part.answer) for part in fused.parts]
    for part in parts:
        del part["answer"]
    return fused._asdict() | {"conclusion": conclusion_to_dict(fused.conclusion), "parts": parts}


def _answer_lines(name: str, answer: Answer) -> list[str]:
    sure = [f"confidence: {figure(answer.confidence)}"] if answer.confidence is not None else []
    steps = [f"  {one_line(step)}" for step in answer.steps]
    notes = [f"note: {one_line(caveat)}" for caveat in answer.caveats]
    return [f"{name}: {one_line(answer.summary)}", *sure, *steps, *notes]


def _fused_lines(fused: Fused) -> list[str]:
    sure = "none" if fused.confidence is None else figure(fused.confidence)
    # Some methods may answer another question: then the agreement is of less than all of the weight.
    apart = sum(part.weight for part in fused.parts if part.stance == "apart")
    of = f" of {1 - apart:.2f} of the weight; the others answer other questions" if apart else ""
    lines = [f"together: {one_line(conclusion_text(fused.conclusion))}", f"confidence: {sure} ({fused.basis})"]
    lines.append(f"agreement: {fused.agreement:.2f}{of}")
    for part in fused.parts:
        support = "" if part.support is None else f" {part.support:.2f}"
        summary = one_line(part.answer.summary, 120)
        lines.append(f"  {part.method} ({part.weight:.2f}) {part.stance}{support}: {summary}")
    for shown, pairs in (("agree", fused.agreements), ("disagree", fused.disagreements)):
        lines += [f"{shown}: {', '.join(f'{a} and {b}' for a, b in pairs)}"] if pairs else []
    return lines + [f"note ({p.method}): {one_line(caveat)}" for p in fused.parts for caveat in p.answer.caveats]


def conclusion_text(conclusion: Conclusion) -> str:
    """Returns a conclusion in a few words.

    >>> conclusion_text(Conclusion("truth", True, about="demand grows"))
    'demand grows: yes'
    """
    value = conclusion.value
    if conclusion.kind == "truth":
        shown = {True: "yes", False: "no", None: "open"}[value]
    elif conclusion.kind == "number":
        span = f" ({figure(conclusion.interval[0])} to {figure(conclusion.interval[1])})" if conclusion.interval else ""
        shown = f"{figure(value)}{f' {conclusion.unit}' if conclusion.unit else ''}{span}"
    elif isinstance(value, tuple):
        shown = (" > " if conclusion.kind == "ranking" else ", ").join(value) or "nothing"
    else:
        shown = str(value)
    return f"{conclusion.about}: {shown}" if conclusion.about else shown


def summary_of(result: Answer | Fused) -> str:
    """Returns the result in one line."""
    return one_line(result.summary if isinstance(result, Answer) else conclusion_text(result.conclusion))


def render_result(past: KeptResult, methods: tuple[str, ...], conclusion: Conclusion, summary: str) -> bytes:
    """Returns the line of a result that is kept."""
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
    """Returns the line of what became of a result."""
    record = {"id": result_id, "kind": "outcome", "at": at, "happened": happened}
    return dump_record(record | ({"note": note} if note else {}))


def parse_past(data: bytes) -> tuple[list[tuple[KeptResult, str]], int]:
    """Returns the results in the order in which they were kept, each with its summary, and how many lines are torn or
    not ours. The latest word about an outcome holds."""
    results: dict[str, tuple[KeptResult, str]] = {}
    outcomes: dict[str, tuple[bool, str]] = {}
    ledger = parse_ledger(data)
    odd = ledger.skipped
    for record in ledger.records:
        if not isinstance(record.get("id"), str):
            odd += 1
        elif record.get("kind") == "outcome" and isinstance(record.get("happened"), bool):
            outcomes[record["id"]] = (record["happened"], str(record.get("note") or ""))
        elif record.get("kind") == "result" and isinstance(record.get("method"), str):
            results.setdefault(record["id"], (_result(record), str(record.get("summary") or "")))
        else:
            odd += 1
    for result_id, (happened, note) in outcomes.items():
        if result_id in results:
            past, summary = results[result_id]
            results[result_id] = past._replace(happened=happened, lesson=note), summary
    return list(results.values()), odd


def _result(record: dict[str, Any]) -> KeptResult:
    sure, kinds = record.get("confidence"), record.get("classification")
    is_sure = isinstance(sure, int | float) and not isinstance(sure, bool) and 0 <= sure <= 1
    aspects = tuple((k, v) for k, v in kinds.items() if isinstance(v, str)) if isinstance(kinds, dict) else ()
    problem, at = (str(record.get(name) or "") for name in ("problem", "at"))
    confidence = float(sure) if is_sure else None  # type: ignore[arg-type]
    return KeptResult(record["id"], record["method"], problem, confidence, None, at, aspects)
