"""Results of reasoning as rows and lines."""

from typing import Any, NamedTuple

from mabos_cli.core.language.text import one_line, plural
from mabos_cli.formats.knowledge.reason_record import answer_to_dict, fused_to_dict, scored_to_dict
from mabos_cli.reasoning.answer import Answer, Conclusion
from mabos_cli.reasoning.catalog import Method, Scored
from mabos_cli.reasoning.fusion import Fused, Part

_SHOWN_SCORES = 5
_ONE = {name: name.removesuffix("s") for name in ("facts", "rules", "cases", "beliefs", "desires")}
_ONE["past"] = "kept result"


class Run(NamedTuple):
    """One method on the problem: its answer, or the worksheet when there was no input."""

    method: Method
    answer: Answer | None
    sheet: str
    drawn: dict[str, int]  # how much was taken from the agent's own files


def routing_row(classification: dict[str, str], scores: tuple[Scored, ...]) -> dict[str, Any]:
    """How the method was chosen, if it was, as JSON values."""
    found: dict[str, Any] = {"classification": classification} if classification else {}
    return found | ({"scores": [scored_to_dict(one) for one in scores]} if scores else {})


def routing_lines(scores: tuple[Scored, ...]) -> list[str]:
    """The best fits, if the method was chosen by fit."""
    shown = [f"  {one.score:.2f} {one.method.name} ({', '.join(one.matched)})" for one in scores[:_SHOWN_SCORES]]
    return ["methods that fit best:", *shown, ""] if shown else []


def result_row(problem: str, runs: list[Run], result: Answer | Fused | None) -> dict[str, Any]:
    """The result as JSON values. Without input it is the worksheet, and says that nothing was computed."""
    names = [run.method.name for run in runs]
    data: dict[str, Any] = {"problem": problem, "computed": result is not None}
    if len(runs) == 1:
        run = runs[0]
        data |= {"method": run.method.name, "category": run.method.category, "drawn": run.drawn}
        return data | (answer_to_dict(run.answer) if run.answer else {"confidence": None, "worksheet": run.sheet})
    data |= {"methods": names, "drawn": {run.method.name: run.drawn for run in runs if run.drawn}}
    data |= fused_to_dict(result) if isinstance(result, Fused) else {"confidence": None}
    sheets = [{"method": run.method.name, "worksheet": run.sheet} for run in runs if not run.answer]
    return data | ({"worksheets": sheets} if sheets else {})


def result_lines(runs: list[Run], result: Answer | Fused | None) -> list[str]:
    """The result for people."""
    if len(runs) == 1 and runs[0].answer:
        return [*_answer_lines(runs[0].method.name, runs[0].answer), *_drawn_lines(runs)]
    lines = _fused_lines(result) if isinstance(result, Fused) else []
    for run in runs:
        if run.answer is None:
            lines += [""] * bool(lines) + run.sheet.rstrip("\n").split("\n")
    return lines + _drawn_lines(runs)


def _answer_lines(name: str, answer: Answer) -> list[str]:
    sure = [f"confidence: {answer.confidence:.2f}"] if answer.confidence is not None else []
    steps = [f"  {one_line(step)}" for step in answer.steps]
    notes = [f"note: {one_line(caveat)}" for caveat in answer.caveats]
    return [f"{name}: {one_line(answer.summary)}", *sure, *steps, *notes]


def _fused_lines(fused: Fused) -> list[str]:
    sure = "none" if fused.confidence is None else f"{fused.confidence:.2f}"
    lines = [
        f"together: {one_line(show_conclusion(fused.conclusion))}",
        f"confidence: {sure} ({fused.basis})",
        f"agreement: {fused.agreement:.2f}{_apart(fused)}",
    ]
    lines += [_part_line(part) for part in fused.parts]
    for told, pairs in (("agree", fused.agreements), ("disagree", fused.disagreements)):
        lines += [f"{told}: {', '.join(f'{a} and {b}' for a, b in pairs)}"] if pairs else []
    return lines + [f"note ({p.method}): {one_line(caveat)}" for p in fused.parts for caveat in p.answer.caveats]


def _apart(fused: Fused) -> str:
    """How much of the weight the agreement is of, if some methods answer another question."""
    apart = sum(part.weight for part in fused.parts if part.stance == "apart")
    return f" of {1 - apart:.2f} of the weight; the others answer other questions" if apart else ""


def _part_line(part: Part) -> str:
    support = "" if part.support is None else f" {part.support:.2f}"
    return f"  {part.method} ({part.weight:.2f}) {part.stance}{support}: {one_line(part.answer.summary, 120)}"


def _drawn_lines(runs: list[Run]) -> list[str]:
    drawn = {name: count for run in runs for name, count in run.drawn.items()}
    told = ", ".join(plural(count, _ONE[name]) for name, count in drawn.items() if count)
    return [f"drawn from the agent's files: {told}"] if told else []


def show_conclusion(conclusion: Conclusion) -> str:
    """A conclusion in a few words.

    >>> show_conclusion(Conclusion("truth", True, about="demand grows"))
    'demand grows: yes'
    """
    value = conclusion.value
    if conclusion.kind == "truth":
        said = {True: "yes", False: "no", None: "open"}[value]
    elif conclusion.kind == "number":
        span = f" ({conclusion.interval[0]:.4g} to {conclusion.interval[1]:.4g})" if conclusion.interval else ""
        said = f"{value:.4g}{f' {conclusion.unit}' if conclusion.unit else ''}{span}"
    elif isinstance(value, tuple):
        said = (" > " if conclusion.kind == "ranking" else ", ").join(value) or "nothing"
    else:
        said = str(value)
    return f"{conclusion.about}: {said}" if conclusion.about else said


def summary_of(result: Answer | Fused) -> str:
    """The result in one line."""
    return one_line(result.summary if isinstance(result, Answer) else show_conclusion(result.conclusion))


def saved_line(saved: dict[str, Any]) -> str:
    """Where a result is kept, and what to do about it later."""
    return (
        f"kept as {saved['id']} and {saved['item']}; later: mabos reason outcome {saved['id']} --happened yes (or no)"
    )
