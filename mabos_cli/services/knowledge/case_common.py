"""What case commands share: the situation that an agent is in, texts found by the index, likeness by ontologies, and a case on a line."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from mabos_cli.core.knowledge.case import Case
from mabos_cli.core.knowledge.case_similarity import Alike, Side, Weights, text_likeness
from mabos_cli.core.language.text import one_line
from mabos_cli.core.mind.mind import DONE, GONE, Belief, status_word
from mabos_cli.errors import NotFound
from mabos_cli.formats.knowledge.cases import CaseFile
from mabos_cli.formats.mind.attitudes import KINDS
from mabos_cli.services.session import Session
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.cases import find_case, find_case_departures
from mabos_cli.workspace.knowledge.cases_md import find_told_cases, is_told
from mabos_cli.workspace.mind import load_attitudes, load_beliefs

UNDER = "memory/mabos-cases"
_TEXTS = 200  # cases that a search by context looks at
_ID = re.compile(r"[A-Za-z]{1,4}-\d[\w-]*")


class Situation(NamedTuple):
    """The beliefs and desires that are meant, and warnings about them."""

    beliefs: tuple[str, ...]
    desires: tuple[str, ...]
    warnings: list[str]


def read_situation(
    agent: Agent, beliefs: Sequence[str] | None, desires: Sequence[str] | None, *, from_mind: bool
) -> Situation:
    """Features as they are given, separated by commas, with those of the agent's files if they are wanted. Ids are spelled as in
    the files; one that is not there is said not to be: cases may come from elsewhere."""
    found: dict[str, tuple[str, ...]] = {}
    warnings: list[str] = []
    for kind, given in (("belief", beliefs), ("desire", desires)):
        named = [word for each in given or () for part in each.split(",") if (word := part.strip())]
        ids = [word for word in named if _ID.fullmatch(word)]
        if ids or from_mind:
            held, problems = load_beliefs(agent) if kind == "belief" else load_attitudes(agent, kind)
            known = {each.id.casefold(): each.id for each in held if each.id}
            named = [known.get(word.casefold(), word) for word in named]
            unknown = [word for word in ids if word.casefold() not in known]
            warnings += [f"not in {KINDS[kind].file}: {', '.join(unknown)}"] if unknown else []
            if from_mind:
                named += held_now(held)
                warnings += map(str, problems)
        found[kind] = tuple(dict.fromkeys(named))
    return Situation(found["belief"], found["desire"], warnings)


def held_now(held: Sequence[Any]) -> list[str]:
    """The ids of what is held true or wanted now; of what has none, the words."""
    live = [each for each in held if status_word(each.status) not in DONE | GONE]
    return [each.id or one_line(each.subject if isinstance(each, Belief) else each.title, 200) for each in live]


def open_taxonomy(agent: Agent, features: Iterable[str]) -> tuple[Alike | None, list[str]]:
    """How near two concepts are by the ontologies of the workspace, and warnings; None when there are none, or no feature can
    be a concept."""
    folder = agent.paths.workspace.ontologies
    if all(map(_ID.fullmatch, features)) or not any(folder.glob("*.jsonld")):
        return None, []
    from mabos_cli.core.knowledge.ontology import Taxonomy
    from mabos_cli.workspace.knowledge.ontologies import load_ontology

    ontology, warnings = load_ontology(agent.paths.workspace)
    return Taxonomy(ontology).similarity, warnings


def case_weights(agent: Agent) -> Weights:
    """What each side of a case counts, by the settings."""
    return Weights(*(agent.settings[f"cbr.{name}_weight"] for name in ("belief", "desire", "context")))


def find_texts(
    call: Session, agent: Agent, file: CaseFile, text: str, limit: int = _TEXTS
) -> tuple[dict[str, float], list[str]]:
    """How near the texts of cases are to one, by id, the nearest first, and warnings. Found by the index, by words and meaning."""
    if not len(file):
        return {}, []
    from mabos_cli.core.search.recall import Filters
    from mabos_cli.services.search.agent_search import Way, open_search  # only this needs what recall needs

    search = open_search(call, agent, Way(Filters(under=UNDER), False, limit))
    hits = search(text)
    places = [(hit.candidate.path, hit.candidate.lines[0]) for hit in hits]
    found: dict[str, float] = {}
    for own, hit in zip(find_told_cases(agent, file, places), hits, strict=True):
        if own:
            case = file.case(file.places[own])
            told = f"{case.context}\n{case.lessons}"
            found[own] = max(found.get(own, 0.0), text_likeness(text, told, hit.relevance))
    behind = [] if is_told(agent, file) else ["search does not know the latest cases: mabos materialize"]
    return found, [*search.warnings(), *behind]


def wanted_case(agent: Agent, file: CaseFile, case_id: str) -> Case:
    """The case with an id; NotFound says whether it left."""
    found = find_case(file, case_id)
    if found:
        return found
    left = find_case_departures(agent, case_id)
    if left:
        why = f"{left[-1].reason}; mabos case show {case_id} still shows it"
        raise NotFound(f"{case_id} left on {left[-1].at[:10]}", why)
    raise NotFound(f"no case {case_id!r} for agent {agent.id}", "mabos case list shows them")


def case_line(case: Case) -> str:
    """A case on a line."""
    about = one_line(case.context, 100) or one_line(", ".join((*case.beliefs, *case.desires)), 100)
    told = [case.stored_at[:10]] if case.stored_at else []
    told += [f"used {case.uses}x"] if case.uses else []
    return f"{one_line(case.id, 80)} {case.word}: {about}" + (f" ({', '.join(told)})" if told else "")


def solution_line(case: Case) -> str:
    """What was done, on a line."""
    return "; ".join([*([f"plan {case.plan_id}"] if case.plan_id else []), *(one_line(a, 100) for a in case.actions)])


def side_row(side: Side) -> dict[str, Any]:
    """What became of the features of one side, as JSON."""
    alike = [{"feature": f, "to": to, "likeness": round(like, 4)} for f, to, like in side.alike]
    return {"matched": side.matched, "alike": alike, "missing": side.missing, "extra": side.extra}


def difference(sides: Iterable[Side]) -> str:
    """What a case had that is not there now, and what is there now that it did not have."""
    both = tuple(sides)
    missing = [each for side in both for each in side.missing]
    extra = [each for side in both for each in side.extra]
    told = [f"missing {', '.join(missing)}"] if missing else []
    return one_line("; ".join([*told, *([f"extra {', '.join(extra)}"] if extra else [])]), 400)
