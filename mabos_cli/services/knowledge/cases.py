"""Cases of an agent: stored, revised, read from files, and found by how near they are to a situation."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.case import (
    NOTED,
    Case,
    CaseChanges,
    CaseDeparture,
    adapt_case,
    check_case,
    check_texts,
    plan_store,
    revise_case,
)
from mabos_cli.core.knowledge.case_similarity import (
    Comparison,
    FoundCase,
    Weights,
    best_cases,
    text_likeness,
)
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.trust import Claim, bound_by_source, needs_voucher, trust_rank, vouch_for
from mabos_cli.core.mind.mind import DONE, GONE, Belief, status_word
from mabos_cli.errors import InvalidFile, NotFound
from mabos_cli.formats.json.text import parse_json
from mabos_cli.formats.knowledge.cases import CaseFile, case_from_dict
from mabos_cli.formats.mind.attitudes import KINDS
from mabos_cli.services.inputs import Session, check_trust, read_given, without_gc
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.cases import (
    are_materialized,
    change_cases,
    find_case,
    find_case_departures,
    find_cases_at,
    load_cases,
)
from mabos_cli.workspace.memory.trust_log import voucher_lines
from mabos_cli.workspace.mind import load_attitudes, load_beliefs

UNDER = "memory/mabos-cases"
_TEXTS = 200  # cases that a search by context looks at
_ID = re.compile(r"[A-Za-z]{1,4}-\d[\w-]*")
_HINT = (
    'nothing was stored; a case is {"situation": {"beliefs": [], "desires": [], "context": ""}, '
    '"solution": {"plan_id": "", "actions": []}, "outcome": {"success": true}}'
)


class Situation(NamedTuple):
    """The beliefs and desires that are meant, and warnings about them."""

    beliefs: tuple[str, ...]
    desires: tuple[str, ...]
    warnings: list[str]


def read_situation(
    agent: Agent, beliefs: Sequence[str] | None, desires: Sequence[str] | None, *, from_mind: bool
) -> Situation:
    """Returns features as they are given, separated by commas, with those of the agent's files if they are wanted. Ids are
    spelled as in the files; one that is not there is said not to be: cases may come from elsewhere."""
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
    """Returns the ids of what is held true or wanted now; of what has none, the words. What is untrusted is not held."""
    live = [each for each in held if status_word(each.status) not in DONE | GONE and trust_rank(each.trust)]
    return [each.id or one_line(each.subject if isinstance(each, Belief) else each.title, 200) for each in live]


def case_weights(agent: Agent) -> Weights:
    """Returns what each side of a case counts, by the settings."""
    return Weights(*(agent.settings[f"cbr.{name}_weight"] for name in ("belief", "desire", "context")))


def find_texts(
    call: Session, agent: Agent, file: CaseFile, text: str, limit: int = _TEXTS
) -> tuple[dict[str, float], list[str]]:
    """Returns how similar the texts of cases are to a text, by id, the most similar first, and warnings. The index finds them by words
    and meaning."""
    if not len(file):
        return {}, []
    from mabos_cli.core.memory.stores import LIVE
    from mabos_cli.core.search.recall import Filters
    from mabos_cli.services.search.agent_search import AgentSearch, SearchOptions  # only this needs what recall needs

    search = AgentSearch([agent], SearchOptions(Filters(under=UNDER), LIVE, limit), call.progress)
    hits = search(text)
    places = [(hit.candidate.path, hit.candidate.lines[0]) for hit in hits]
    found: dict[str, float] = {}
    for case_id, hit in zip(find_cases_at(agent, file, places), hits, strict=True):
        if case_id:
            case = file.case(file.places[case_id])
            stored = f"{case.context}\n{case.lessons}"
            found[case_id] = max(found.get(case_id, 0.0), text_likeness(text, stored, hit.relevance))
    behind = [] if are_materialized(agent, file) else ["search does not know the latest cases: mabos materialize"]
    return found, [*search.warnings(), *behind]


def list_cases(agent: Agent, success: bool | None, limit: int) -> tuple[list[Case], int, int]:
    """Returns cases that went as asked, the latest first and at most so many; how many did, and how many cases there are."""
    with without_gc():
        file = load_cases(agent)
        found = [n for n in range(len(file)) if success is None or file.standing(n).success is success]
    found.sort(key=lambda n: (str(file.entries[n].get("stored_at") or ""), n), reverse=True)
    return [file.case(n) for n in found[: limit or None]], len(found), len(file)


def show_case(agent: Agent, case_id: str) -> tuple[Case, CaseDeparture | None]:
    """Returns the case with an id, live or archived; one that left with when and why."""
    file = load_cases(agent)
    found = find_case(file, case_id)
    gone = [] if found else [each for each in find_case_departures(agent, case_id) if each.case]
    if gone and gone[-1].case:
        return gone[-1].case, gone[-1]
    return found or wanted_case(agent, file, case_id), None


def wanted_case(agent: Agent, file: CaseFile, case_id: str) -> Case:
    """Returns the case with an id; NotFound says whether it left."""
    found = find_case(file, case_id)
    if found:
        return found
    left = find_case_departures(agent, case_id)
    if left:
        why = f"{left[-1].reason}; mabos case show {case_id} still shows it"
        raise NotFound(f"{case_id} left on {left[-1].at[:10]}", why)
    raise NotFound(f"no case {case_id!r} for agent {agent.id}", "mabos case list shows them")


def read_cases(path: str, source: str = "") -> list[Case]:
    """Returns the cases in NDJSON, a list or a case file, each made sure of; InvalidFile cites the first line that is off. What
    became of them elsewhere, such as how often they were used or who vouched for them, is left there. `source` is that of the
    cases that name none."""
    shown = "standard input" if path == "-" else path
    found = []
    try:
        for line, case in _read(read_given(path), shown):
            fresh = case._replace(uses=0, last_used="", merged=0, adapted_from="", revisions=())
            try:
                found.append(check_case(vouch_for(fresh._replace(source=case.source or source), "")))
            except BadValue as error:
                raise InvalidFile(f"{shown}:{line()}: {error.message}") from None
    except InvalidFile as error:
        raise InvalidFile(error.message, _HINT) from None
    return found


def _read(text: str, shown: str) -> Iterator[tuple[Callable[[], int], Case]]:
    """Yields cases, and what tells the line of each."""
    if text.lstrip()[:1] == "[" or _is_whole(text):
        data = text.encode("utf-8")
        raw = parse_json(data, shown)
        entries = raw.get("cases", [raw]) if isinstance(raw, dict) else raw
        if not isinstance(entries, list):
            raise InvalidFile(f"{shown}:1: cases must be a list")
        file = CaseFile(entries, None, shown, data)
        yield from ((partial(file.line, n), file.case(n)) for n in range(len(file)))
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            case = case_from_dict(parse_json(line, shown, line=number), f"{shown}:{number}")
            yield partial(int, number), case


def _is_whole(text: str) -> bool:
    """Returns whether a text is one JSON object, on however many lines; another one behind the first is soon seen."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


class Stored(NamedTuple):
    """Holds the outcome for each case (stored or merged), the ids of those that left for them, and warnings."""

    states: list[tuple[Case, str]]
    left: tuple[str, ...]
    warnings: list[str]


def store_case(agent: Agent, draft: Case, base_id: str = "", by: str = "") -> Stored:
    """Keeps a case. What it does not say is taken from another one, if one is named. `by` vouches for it where it comes from
    outside."""

    def plan(file: CaseFile) -> tuple[CaseChanges, Stored]:
        base = wanted_case(agent, file, base_id) if base_id else None
        made = adapt_case(base, draft) if base else draft
        return _plan(agent, [check_case(vouch_for(made, by))], file, base)

    needed = by if needs_voucher(draft.trust, draft.source) else ""
    stored, warnings = change_cases(
        agent, "case store", plan, lambda stored: _vouchers(agent, stored.states[0][0], needed)
    )
    return stored._replace(warnings=warnings)


def _vouchers(agent: Agent, case: Case, by: str) -> list[tuple[Path, bytes]]:
    """Returns the lines of the trust log by which a person vouches for a case."""
    text = "\n".join((case.context, case.plan_id, *case.actions))
    return voucher_lines(agent, by, [(Claim(case.id, case.trust, case.source), text)])


def store_batch(agent: Agent, path: str, source: str = "") -> Stored:
    """Keeps all cases of a file, or none. `source` is that of the cases that name none."""
    cases = read_cases(path, source)
    with without_gc():
        stored, warnings = change_cases(agent, "case store", lambda file: _plan(agent, cases, file))
    renamed = [
        f"{case.id} is taken: stored as {new.id}"
        for case, (new, state) in zip(cases, stored.states, strict=True)
        if case.id and state == "stored" and new.id != case.id
    ]
    return stored._replace(warnings=warnings + renamed)


def _plan(agent: Agent, cases: list[Case], held: CaseFile, used: Case | None = None) -> tuple[CaseChanges, Stored]:
    limit = agent.settings["cbr.max_cases"]
    changes, states = plan_store(cases, held, agent.now(), format_time(agent.now()), limit, used)
    return changes, Stored(states, changes.drop, [])


def revise_known(
    agent: Agent, case_id: str, given: Case, *, is_use: bool, trust: str = "", by: str = ""
) -> tuple[Case, str, list[str]]:
    """Notes the values of a case that are given: the case, whether it was revised or is unchanged, and warnings. A case that was
    untrusted is trusted more only where `by` vouches for it, and as long as what was done stays the same."""
    changes = {name: value for name in NOTED if (value := getattr(check_texts(given), name)) not in (None, "", ())}
    if not changes and not trust:
        options = "--success, --failure, --metric, --lessons, --plan, --action, --context or --trust"
        raise BadValue("nothing to record", options)

    def plan(file: CaseFile) -> tuple[CaseChanges, tuple[Case, str]]:
        old = wanted_case(agent, file, case_id)
        new = revise_case(old, changes, format_time(agent.now()), is_use=is_use and bool(changes))
        if trust or changes.keys() & {"context", "plan_id", "actions"}:
            level = check_trust(trust, old.source, by, old.trust)
            new = bound_by_source(vouch_for(new._replace(trust=level), by))
        if new == old:
            return CaseChanges(), (old, "unchanged")
        return CaseChanges((new,)), (new, "revised")

    ledger = (lambda result: _vouchers(agent, result[0], by)) if trust else None
    (new, state), warnings = change_cases(agent, "case revise", plan, ledger)
    return new, state, warnings


class Retrieved(NamedTuple):
    """The nearest cases, how many are near, how many there are, the nearest one that worked, and warnings."""

    cases: list[FoundCase]
    near: int
    total: int
    proposal: FoundCase | None
    warnings: list[str]


def retrieve_cases(
    call: Session, agent: Agent, situation: Situation, context: str, success_only: bool, least: float, limit: int
) -> Retrieved:
    """Finds the cases that are nearest to a situation, by features and perhaps the words of a context, with a warning about those that failed and are nearer than the one that is
    proposed."""
    beliefs, desires, warnings = situation
    with without_gc():
        file = load_cases(agent)
        texts, notes = find_texts(call, agent, file, context) if context.strip() else (None, [])
        comparison = Comparison(beliefs, desires, texts, case_weights(agent))
        found, count, proposal = _find_nearest(file, comparison, success_only, least, limit)
    warnings = [*warnings, *notes]
    near = proposal.score.total if proposal else 0.0
    failed = [each.case.id for each in found if each.case.success is False and each.score.total > near]
    named = f"{', '.join(failed[:10])} FAILED"
    if failed and proposal is None:
        warnings.append(f"no case like this worked: {named}")
    elif failed and proposal:
        warnings.append(f"{named} and {'is' if len(failed) == 1 else 'are'} more similar than {proposal.case.id}")
    return Retrieved(found, count, len(file), proposal, warnings)


def _find_nearest(
    file: CaseFile, comparison: Comparison, success_only: bool, least: float, limit: int
) -> tuple[list[FoundCase], int, FoundCase | None]:
    """Returns the nearest cases, how many are near at all, and the nearest one that worked; an untrusted one is no proposal."""

    def nearest(fits: Callable[[int], object], most: int) -> tuple[list[int], int]:
        fitting = [total if total and fits(n) else 0.0 for n, total in enumerate(totals)]
        return best_cases(fitting, most, least, file.standing)

    def worked(n: int) -> bool:
        return bool(file.standing(n).success)

    def compared(n: int) -> FoundCase:
        case = file.case(n)
        beliefs, desires = (comparison.explain(side, getattr(case, side)) for side in ("beliefs", "desires"))
        return FoundCase(case, comparison.score(case.id, *file.sides[n]), beliefs, desires)

    totals = comparison.totals(file.places, file.sides)
    places, count = nearest(worked if success_only else lambda n: True, limit)
    best = next((n for n in places if worked(n) and file.is_trusted(n)), None)
    if best is None:
        best = next(iter(nearest(lambda n: file.is_trusted(n) and worked(n), 1)[0]), None)
    return [*map(compared, places)], count, None if best is None else compared(best)
