"""How a problem is reasoned about: input is gathered, methods are chosen and run, results fused, kept and shown."""

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple

from mabos_cli.commands.knowledge.reason_shown import (
    Run,
    result_lines,
    result_row,
    routing_lines,
    routing_row,
    saved_line,
    summary_of,
)
from mabos_cli.commands.memory.store import store_drafts
from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.reasoning import KeptResult
from mabos_cli.core.memory.item import check_word
from mabos_cli.core.memory.storing import Draft
from mabos_cli.errors import NotFound, UsageFault
from mabos_cli.formats.knowledge.reason_input import PARSERS, Source, cited
from mabos_cli.formats.knowledge.reason_record import render_result
from mabos_cli.formats.knowledge.worksheet import Inputs, parse_inputs, render_worksheet
from mabos_cli.reasoning.answer import Answer
from mabos_cli.reasoning.catalog import METHODS, Method, Scored, parse_classification, score_methods
from mabos_cli.reasoning.fusion import Fused, fuse
from mabos_cli.reasoning.shape import conform
from mabos_cli.services.inputs import draft_from, read_given, text_argument
from mabos_cli.services.knowledge.reason_own import load_own, trust_drawn
from mabos_cli.services.session import Session
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.reasoning import keep_result

# A method that does not fit the problem at all counts a little all the same, for what it computed.
_LEAST_WEIGHT = 0.05
_LONGEST_PROBLEM = 4000


class Request(NamedTuple):
    """What was asked for, as the options say it."""

    problem: str
    method: str
    methods: str
    inputs: list[str]
    classify: str
    save: bool


def find_method(name: str) -> Method:
    """The method with a name."""
    said = name.strip().lower().replace("_", "-")
    if said not in METHODS:
        close = get_close_matches(said, METHODS, n=1)
        raise NotFound(f"no method {name[:40]!r}", f"did you mean {close[0]}?" if close else "see mabos reason list")
    return METHODS[said]


def open_solver(method: Method) -> Any:
    """The module of a method: its SHAPE, QUESTIONS and solve."""
    return import_module(method.module)


def reason_about(call: Session, request: Request) -> None:
    """Runs what was asked for, and prints it."""
    inputs = _gather(request.inputs)
    asked = text_argument(request.problem, call.literal_dash).strip() or inputs.problem
    problem = check_word(" ".join(asked.split()), "problem", _LONGEST_PROBLEM)
    given = parse_classification(request.classify) if request.classify else {}
    scores = score_methods(given) if given else ()
    chosen = _chosen(request, inputs, scores)
    agent = call.open_agent()
    warnings: list[str] = []
    runs = [_run(agent, method, _input_for(method, inputs, chosen), problem, warnings) for method in chosen]
    routed = () if request.method or request.methods or any(inputs.by_method) else scores
    weights = {one.method.name: max(one.score, _LEAST_WEIGHT) for one in scores}
    result = _result(runs, weights)
    data = result_row(problem, runs, result) | routing_row(given, routed)
    lines = [*routing_lines(routed), *result_lines(runs, result)]
    if request.save and result is None:
        warnings.append("nothing is kept: nothing was computed")
    elif request.save:
        data["saved"], notes = _save(agent, Kept(problem, given, runs, result))
        warnings += notes
        lines.append(saved_line(data["saved"]))
    call.emit("reason", data, lines, warnings)


def _result(runs: list[Run], weights: Mapping[str, float]) -> Answer | Fused | None:
    """What came out: the answer of the one method, or of several that computed something, together."""
    answers = {run.method.name: run.answer for run in runs if run.answer}
    if len(runs) == 1 or not answers:
        return runs[0].answer
    return fuse(answers, {name: weights.get(name, 1.0) for name in answers})


def _gather(given: list[str]) -> Inputs:
    """The input of all files that were given, by method."""
    problem, by_method = "", {}
    for word in given:
        name, equals, path = word.partition("=")
        said = name.strip().lower().replace("_", "-")
        named = said if equals and said in METHODS else ""
        path = path if named else word
        found = parse_inputs(read_given(path), "standard input" if path == "-" else path)
        problem = problem or found.problem
        for own, source in found.by_method.items():
            key = own or named
            if named and own not in ("", named):
                raise UsageFault(f"{path} holds input for {own}, not for {named}", "leave the name out")
            if key in by_method:
                raise UsageFault(f"input for {key or 'one method'} is given twice", "give it once")
            by_method[key] = source
    return Inputs(problem, by_method)


def _chosen(request: Request, inputs: Inputs, scores: tuple[Scored, ...]) -> list[Method]:
    """The methods to run: those that were named, else those that the input is for, else the best fit."""
    if request.method and request.methods:
        raise UsageFault("both --method and --methods given", "give one of them")
    named = [name for name in request.methods.split(",") if name.strip()] or [request.method]
    chosen = list(dict.fromkeys(find_method(name) for name in named if name))
    known = [METHODS[name] for name in inputs.by_method if name]
    if not chosen:
        chosen = known or [one.method for one in scores[:1]]
    if not chosen:
        raise UsageFault(
            "no method given",
            "give --method, --methods or --classify, or write `method: NAME` into the input; see mabos reason list",
        )
    unused = [name for name in inputs.by_method if name and METHODS[name] not in chosen]
    if unused:
        raise UsageFault(f"there is input for {unused[0]}, which is not asked for", f"add {unused[0]} to the methods")
    if "" in inputs.by_method and len(chosen) > 1:
        raise UsageFault(
            "the input does not say which method it is for", "put it under the method's name, or METHOD=FILE"
        )
    return chosen


def _input_for(method: Method, inputs: Inputs, chosen: list[Method]) -> Source | None:
    found = inputs.by_method.get(method.name)
    return found or (inputs.by_method.get("") if len(chosen) == 1 else None)


def _run(agent: Agent, method: Method, source: Source | None, problem: str, warnings: list[str]) -> Run:
    """One method on its input. Without any, a method that draws on the agent's files may do with those; if they do not
    suffice, the answer is the worksheet."""
    solver, drawn = open_solver(method), {}
    try:
        given = conform(solver.SHAPE, source.value if source else {}, PARSERS)
        if source is None and not method.draws:
            raise BadValue("nothing is given")
        own, drawn = load_own(agent, method, given, warnings)
        return Run(method, solver.solve(given, own), "", drawn)
    except BadValue as error:
        if source is not None:
            raise cited(error, source) from None
        if any(drawn.values()):
            warnings.append(f"{method.name}, from the agent's files: {error.message}")
        sheet = render_worksheet(method, solver.SHAPE, solver.QUESTIONS, problem)
        return Run(method, None, sheet, {})


class Kept(NamedTuple):
    """A result that is to be kept, with what it answers."""

    problem: str
    classification: dict[str, str]
    runs: list[Run]
    result: Answer | Fused


def _save(agent: Agent, kept: Kept) -> tuple[dict[str, Any], list[str]]:
    """Keeps a result as a record, and as a memory that cites it: their ids, and warnings."""
    if not kept.problem:
        raise UsageFault("a result is kept with its problem", "say the problem in words")
    names = tuple(run.method.name for run in kept.runs if run.answer)
    method = names[0] if isinstance(kept.result, Answer) else "fusion"
    told = summary_of(kept.result)

    def render(own: str, at: str) -> bytes:
        aspects = tuple(kept.classification.items())
        past = KeptResult(own, method, kept.problem, kept.result.confidence, None, at, aspects)
        return render_result(past, names, kept.result.conclusion, told)

    def draft(own: str) -> Draft:
        sure = f", confidence {kept.result.confidence:.2f}" if kept.result.confidence is not None else ""
        content = f"{kept.problem} {told} ({', '.join(names)}{sure}; {own})"
        fields = {"content": content, "type": "insight", "source": "reason", "store": "long_term"}
        about = {"tags": ["reasoning", *names], "trust": trust_drawn(agent, [run.drawn for run in kept.runs])}
        return draft_from(fields | about, agent.settings, agent.now())

    draft("T-0000000000000-0000")  # what cannot be a memory is refused before anything is kept
    own, warnings = keep_result(agent, render)
    stored, notes = store_drafts(agent, [draft(own)])
    return {"id": own, "item": stored[0].item.id}, warnings + notes
