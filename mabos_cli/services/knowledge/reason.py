"""Reasons about a problem: gathers input, chooses methods and runs them with the data of the agent, fuses and keeps results."""

import random
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.case import KeptResult
from mabos_cli.core.knowledge.fact import holds_at
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import check_word
from mabos_cli.core.memory.stores import Draft
from mabos_cli.core.memory.trust import lowest_trust, trust_rank
from mabos_cli.errors import NotFound, UsageFault
from mabos_cli.formats.knowledge.reason_input import PARSERS, Source, cited
from mabos_cli.formats.knowledge.reason_record import MethodRun, Reasoned, render_result, summary_of
from mabos_cli.formats.knowledge.worksheet import Inputs, parse_inputs, render_worksheet
from mabos_cli.reasoning.answer import Answer, suggest_name
from mabos_cli.reasoning.catalog import METHODS, Method, Scored, parse_classification, score_methods
from mabos_cli.reasoning.fusion import Fused, fuse
from mabos_cli.reasoning.inputs import AgentData
from mabos_cli.reasoning.shape import conform, find_worksheet
from mabos_cli.services.inputs import Session, draft_from, read_given, text_argument
from mabos_cli.services.memory.remember import store_drafts
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.reasoning import keep_result, load_past, note_outcome

# A method that does not fit the problem at all counts a little all the same, for what it computed.
_LEAST_WEIGHT = 0.05
_LONGEST_PROBLEM = 4000


class Request(NamedTuple):
    """The options of a call."""

    problem: str
    method: str
    methods: str
    inputs: list[str]
    classify: str
    save: bool
    literal_dash: bool = False  # a problem of - is a dash, and not standard input


def find_method(name: str) -> Method:
    """Returns the method with a name."""
    plain = name.strip().lower().replace("_", "-")
    if plain not in METHODS:
        raise NotFound(f"no method {name[:40]!r}", suggest_name(plain, METHODS, "see mabos reason list"))
    return METHODS[plain]


def reason_about(session: Session, request: Request) -> Reasoned:
    """Runs what was asked for; returns what came out, and where it is kept."""
    inputs = _gather(request.inputs)
    asked = text_argument(request.problem, request.literal_dash).strip() or inputs.problem
    problem = check_word(" ".join(asked.split()), "problem", _LONGEST_PROBLEM)
    classification = parse_classification(request.classify) if request.classify else {}
    scores = score_methods(classification) if classification else ()
    chosen = _chosen(request, inputs, scores)
    agent = session.open_agent()
    warnings: list[str] = []
    given, alone = inputs.by_method, inputs.by_method.get("") if len(chosen) == 1 else None
    runs = [_run(agent, method, given.get(method.name) or alone, problem, warnings) for method in chosen]
    weights = {one.method.name: max(one.score, _LEAST_WEIGHT) for one in scores}
    answers = {run.method.name: run.answer for run in runs if run.answer}
    result: Answer | Fused | None = runs[0].answer
    if len(runs) > 1 and answers:
        result = fuse(answers, {name: weights.get(name, 1.0) for name in answers})
    routed = () if request.method or request.methods or any(inputs.by_method) else scores
    found = Reasoned(problem, classification, routed, runs, result, None, warnings)
    if request.save and result is None:
        warnings.append("nothing is kept: nothing was computed")
    elif request.save and result is not None:
        saved, notes = _save(agent, found, result)
        found = found._replace(saved=saved, warnings=warnings + notes)
    return found


def _gather(given: list[str]) -> Inputs:
    """Returns the input of all files that were given, by method."""
    problem = ""
    by_method: dict[str, Source] = {}
    for path in given:
        found = parse_inputs(read_given(path), "standard input" if path == "-" else path)
        problem = problem or found.problem
        for method, source in found.by_method.items():
            if method in by_method:
                raise UsageFault(f"input for {method or 'one method'} is given twice", "give it once")
            by_method[method] = source
    return Inputs(problem, by_method)


def _chosen(request: Request, inputs: Inputs, scores: tuple[Scored, ...]) -> list[Method]:
    """Returns the methods to run: those that were named, else those that the input is for, else the best fit."""
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
        hint = "put it under the method's name"
        raise UsageFault("the input does not say which method it is for", hint)
    return chosen


def _run(agent: Agent, method: Method, source: Source | None, problem: str, warnings: list[str]) -> MethodRun:
    """Runs one method on its input. Without any, a method that draws on the agent's files may do with those; if they do
    not suffice, the answer is the worksheet."""
    worksheet = find_worksheet(method.name)
    used: dict[str, int] = {}
    try:
        given = conform(worksheet.shape, source.value if source else {}, PARSERS)
        if source is None and not method.draws:
            raise BadValue("nothing is given")
        data = load_agent_data(agent, method, given, warnings)
        used = data.used
        return MethodRun(method, import_module(method.module).solve(given, data), "", used)
    except BadValue as error:
        if source is not None:
            raise cited(error, source) from None
        if any(used.values()):
            warnings.append(f"{method.name}, from the agent's files: {error.message}")
        return MethodRun(method, None, render_worksheet(method, worksheet, problem), {})


def _save(agent: Agent, found: Reasoned, result: Answer | Fused) -> tuple[dict[str, str], list[str]]:
    """Keeps a result as a record, and as a memory that cites it: their ids, and warnings."""
    if not found.problem:
        raise UsageFault("a result is kept with its problem", "say the problem in words")
    names = tuple(run.method.name for run in found.runs if run.answer)
    method = names[0] if isinstance(result, Answer) else "fusion"
    summary = summary_of(result)

    def render(result_id: str, at: str) -> bytes:
        aspects = tuple(found.classification.items())
        kept = KeptResult(result_id, method, found.problem, result.confidence, None, at, aspects)
        return render_result(kept, names, result.conclusion, summary)

    def draft(result_id: str) -> Draft:
        sure = f", confidence {result.confidence:.2f}" if result.confidence is not None else ""
        content = f"{found.problem} {summary} ({', '.join(names)}{sure}; {result_id})"
        fields = {"content": content, "type": "insight", "source": "reason", "store": "long_term"}
        about = {"tags": ["reasoning", *names], "trust": _trust_of(agent, [run.used for run in found.runs])}
        return draft_from(fields | about, agent.settings, agent.now())

    draft("T-0000000000000-0000")  # what cannot be a memory is refused before anything is kept
    result_id, warnings = keep_result(agent, render)
    stored, notes = store_drafts(agent, [draft(result_id)])
    return {"id": result_id, "item": stored[0].item.id}, warnings + notes


def record_outcome(agent: Agent, result_id: str, is_right: bool, note: str) -> tuple[KeptResult, list[str]]:
    """Notes whether a kept result, or the last one, turned out right; returns it, and warnings."""
    if result_id == "last":
        kept = load_past(agent)[0]
        if not kept:
            raise NotFound("no result is kept yet", "keep one: mabos reason ... --save")
        result_id = kept[-1][0].id
    return note_outcome(agent, result_id, is_right, note)


def load_agent_data(agent: Agent, method: Method, given: Mapping[str, Any], warnings: list[str]) -> AgentData:
    """Returns what the method may take from the agent's files where the input does not give it."""
    wanted = [name for name in method.draws if given.get(name) is None]
    loaded: dict[str, Any] = {name: tuple(_load(name, agent, warnings)) for name in wanted}
    if "cases" in method.draws:
        from mabos_cli.services.knowledge.cases import case_weights

        loaded["weights"] = case_weights(agent)
    return AgentData(agent.now(), random.Random, **loaded)


def _load(name: str, agent: Agent, warnings: list[str]) -> Iterable[Any]:
    """Returns what an agent's files hold of a kind: facts and rules that hold now, kept results, trusted cases, and the ids of beliefs
    or desires that are held now. What nobody vouches for is left out, with a warning."""
    if name in ("facts", "rules"):
        from mabos_cli.workspace.knowledge.facts import load_facts
        from mabos_cli.workspace.knowledge.rules import inference_rules

        facts = load_facts(agent).all()
        if name == "rules":
            return (rule for rule in inference_rules(agent, facts) if rule.enabled)
        return (fact for fact in facts if holds_at(fact, agent.now()))
    if name == "past":
        past, notes = load_past(agent)
        warnings += notes
        return (result for result, _ in past)
    if name == "cases":
        from mabos_cli.workspace.knowledge.cases import load_cases

        cases = load_cases(agent).cases()
        warnings += _left_out("case", [case.id for case in cases if not case.is_trusted])
        return (case for case in cases if case.is_trusted)
    from mabos_cli.services.knowledge.cases import held_now
    from mabos_cli.workspace.mind import load_attitudes, load_beliefs

    held, problems = load_beliefs(agent) if name == "beliefs" else load_attitudes(agent, "desire")
    warnings += map(str, problems)
    warnings += _left_out(
        name.removesuffix("s"), [each.id or each.place for each in held if not trust_rank(each.trust)]
    )
    return held_now(held)


def _trust_of(agent: Agent, used: Iterable[Mapping[str, int]]) -> str:
    """Returns the trust of a result from the agent's files: the lowest of the facts, if any were used."""
    facts = _load("facts", agent, []) if any(each.get("facts") for each in used) else ()
    return lowest_trust(("agent", *(fact.trust for fact in facts)))


def _left_out(kind: str, ids: Sequence[str]) -> list[str]:
    """Returns a warning about what reasoning does not use because nobody vouches for it."""
    named = f"{plural(len(ids), f'untrusted {kind}')} left out ({', '.join(ids[:5])}{', ...' if ids[5:] else ''})"
    return [f"{named}: mabos {kind} revise ID --trust agent --by NAME vouches for one"] if ids else []
