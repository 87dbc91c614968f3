"""Finds memories for a question, shows what happened around a moment, and reads the lines that both cite."""

import os
import re
from typing import Any

from mabos_cli.config import PRESETS, Settings
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time, parse_when
from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import CLASSES, STORES, TRUSTS, TYPES, check_choice, check_tags
from mabos_cli.core.memory.stores import EVERYTHING, FINDABLE, LIVE, REPLACED
from mabos_cli.core.records import NamedTuple
from mabos_cli.core.search.recall import Candidate, Depth, Filters, Hit, fit_budget, gather, with_words
from mabos_cli.core.search.recall import recall as find_hits
from mabos_cli.core.search.second_opinion import newer_first
from mabos_cli.errors import InvalidFile, NotFound
from mabos_cli.index.candidates import END_OF_TIME
from mabos_cli.services.inputs import Session
from mabos_cli.services.search.agent_search import MOST, AgentSearch, SearchOptions
from mabos_cli.workspace.agent import Agent

_DEEPEST, _AUTOMATIC = 3, 2
_WIDER = 3  # times more hits from which what is all about a thing is gathered
_EITHER = "--live and --archived exclude each other", "leave one of them out"
_RERANKED = 20  # hits that a model puts in order
_LOOKED_AT = 20  # hits, which may be passages of files; the best item among them is what a timeline is about
_LARGEST = 64 << 20  # bytes of a file that is read
_RANGE = r"(.+?):(\d+)(?:-(\d*))?"


class Request(NamedTuple):
    """Holds what somebody wants to recall; empty values do not restrict, and None takes the setting."""

    query: str
    depth: str = "0"
    limit: int | None = None
    types: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    store: str = "all"
    min_importance: float = 0.0
    min_trust: str = ""
    since: str = ""
    until: str = ""
    tags: tuple[str, ...] = ()
    token_budget: int = 0
    archived: bool = False
    live: bool = False
    shared: bool = False
    preset: str | None = None
    diverse: bool = False
    decay: bool = False
    llm: bool = False
    all_about: bool = False  # in the order of time, each thing once, over sessions and files
    with_words: bool = False  # say which words of the question each hit matches


class Recalled(NamedTuple):
    """The hits, the depth and number of candidates, why there is no hit, warnings, and what a model did."""

    hits: list[Hit]
    depth: int
    candidates: int
    is_stale: bool
    nothing: str
    warnings: list[str]
    llm: dict[str, Any] | None = None


def open_search(call: Session, agent: Agent, options: SearchOptions, *, shared: bool) -> AgentSearch:
    """Returns the search over an agent's memory, and over what others share if that is wanted."""
    if not shared:
        return AgentSearch([agent], options, call.progress)
    from mabos_cli.services.search.shared_memories import SharedSearch

    return SharedSearch(call, agent, options)


def recall(call: Session, agent: Agent, request: Request) -> Recalled:
    """Returns the best hits for a question, or the most important and recent items without one."""
    s, query = agent.settings, request.query
    filters = _filters(agent, request)
    if request.archived and request.live:
        raise BadValue(*_EITHER)
    if request.token_budget < 0:
        raise BadValue("--token-budget cannot be negative", "0 for no budget")
    limit = s["recall.limit"] if request.limit is None else request.limit
    depth, asked_depth = parse_depth(request.depth, s)
    options = SearchOptions(
        filters,
        EVERYTHING if request.archived else LIVE if filters.now else FINDABLE,
        min(limit or MOST, MOST),
        check_choice(request.preset or s["recall.preset"], PRESETS, "preset"),
        s["recall.mmr_lambda"] if request.diverse else None,
        s["recall.half_life"] if request.decay else 0.0,
    )
    aid = AidedRecall(agent) if request.llm else None
    search = open_search(call, agent, options, shared=request.shared)
    if request.all_about and query.strip():
        search.options = options._replace(limit=min(_WIDER * options.limit, MOST))
        hits = gather((aid or find_hits)(search, query, search.options.limit, depth), options.limit)
    else:
        hits = (aid or find_hits)(search, query, options.limit, depth) if query.strip() else search.best()
    hits = hits if request.all_about else newer_first(hits)
    fitting = fit_budget(hits, request.token_budget, s["text.chars_per_token"])
    if request.with_words:
        fitting = [with_words(hit, query) for hit in fitting]
    warnings = search.warnings() + (aid.warnings() if aid else [])
    warnings += ["depth is at most 3"] if asked_depth > _DEEPEST else []
    if request.token_budget and len(fitting) < len(hits):
        warnings.append(f"{plural(len(hits) - len(fitting), 'result')} did not fit the token budget")
    nothing = "" if fitting else _explain_nothing(search, query, options, len(hits))
    summary = aid.summary() if aid else None
    return Recalled(fitting, depth.passes, search.candidates, search.stale, nothing, warnings, summary)


def parse_depth(text: str, settings: Settings) -> tuple[Depth, int]:
    """Returns how far hits are followed, and the number that was asked for: auto only where the first pass leaves something open."""
    is_auto = text.strip().casefold() == "auto"
    if not is_auto and not text.strip().isdecimal():
        raise BadValue(f"--depth is a number from 0 to {_DEEPEST}, or auto, not {text!r}", "0 follows no hit")
    asked = _AUTOMATIC if is_auto else int(text)
    hits, terms, reserved = (settings[f"recall.depth_{name}"] for name in ("hits", "terms", "reserved"))
    return Depth(min(asked, _DEEPEST), hits, terms, reserved, is_auto), asked


def _filters(agent: Agent, request: Request) -> Filters:
    wanted = [check_choice(name, TYPES, "type") for name in request.types]
    for name in request.categories:
        wanted += CLASSES.get(name) or [check_choice(name, [*CLASSES, *TYPES], "category")]
    check_choice(request.store, [*STORES, "all"], "store")
    now = agent.now()
    return Filters(
        tuple(wanted),
        () if request.store == "all" else (request.store,),
        check_tags(request.tags),
        request.min_importance,
        format_time(parse_when(request.since, now)) if request.since else "",
        format_time(parse_when(request.until, now, end=True)) if request.until else "",
        # What is in a store now, or only what is loaded; what is past its date is as good as archived.
        format_time(now) if request.live or (request.store != "all" and not request.archived) else "",
        min_trust=check_choice(request.min_trust, TRUSTS, "trust") if request.min_trust else "",
    )


def _explain_nothing(search: AgentSearch, query: str, options: SearchOptions, total: int) -> str:
    """Says why there is no answer."""
    if total:
        return "no result fits the token budget"
    if options.reach < EVERYTHING:
        gone = search.count_archived(query)
        if gone and options.reach == LIVE:
            return f"nothing live, but {plural(gone, 'memory')} in the archive: leave --live and --store out, or add --archived"
        if gone:
            return f"nothing found, but {plural(gone, 'memory')} forgotten, merged or superseded: add --archived"
    if query.strip():
        return f"nothing found among {plural(search.count(), 'memory')} and passages"
    return "no memories yet" if options.filters == Filters(now=options.filters.now) else "no memory passes the filters"


class AidedRecall:
    """Finds as core.search.recall does while a language model puts the question in other words, and helps to order."""

    def __init__(self, agent: Agent) -> None:
        from mabos_cli.services.search.llm_ask import Asker

        self._asker = Asker(agent, "search step")
        self._variations: tuple[str, ...] = ()
        self._reranked = False

    def __call__(self, search: AgentSearch, question: str, limit: int, depth: Depth) -> list[Hit]:
        """Returns the best hits, also for other words than those of the question."""
        from mabos_cli.core.search.second_opinion import WiderSearch
        from mabos_cli.formats.search.llm_answers import parse_variations, render_expansion_prompt

        prompt = render_expansion_prompt(question)
        self._variations = self._asker.ask(prompt, lambda answer: parse_variations(answer, question)) or ()
        # What is to be put in order must be there, even if less is shown in the end.
        wide = max(limit, _RERANKED)
        search.options = search.options._replace(limit=wide)
        hits = find_hits(WiderSearch(search, self._variations, wide), question, wide, depth)
        return self._reorder(question, hits)[:limit]

    def _reorder(self, question: str, hits: list[Hit]) -> list[Hit]:
        from mabos_cli.core.search.second_opinion import reorder
        from mabos_cli.formats.search.llm_answers import parse_order, render_rerank_prompt

        head = hits[:_RERANKED]
        if len(head) < 2:
            return hits
        # In the prompt the question is number 1.
        numbers = range(2, len(head) + 2)
        prompt = render_rerank_prompt(question, [hit.candidate.text for hit in head])
        order = self._asker.ask(prompt, lambda answer: parse_order(answer, numbers))
        self._reranked = order is not None
        return [*reorder(head, [number - 2 for number in order]), *hits[len(head) :]] if order else hits

    def warnings(self) -> list[str]:
        """Returns what went wrong with the model."""
        return self._asker.warnings()

    def summary(self) -> dict[str, Any]:
        """Returns what the model did."""
        return {"model": self._asker.name, "expansions": list(self._variations), "reranked": self._reranked}


class Timeline(NamedTuple):
    """Items in order, the one that was asked about, whether there is any item at all, and warnings."""

    entries: list[Candidate]
    focus: str | None
    is_known: bool
    warnings: list[str]


def find_timeline(
    call: Session, agent: Agent, around: str, before: int, after: int, *, live: bool, archived: bool = False
) -> Timeline:
    """Returns what happened around an id, a date or a query, or the latest items when nothing is given."""
    if live and archived:
        raise BadValue(*_EITHER)
    if before < 0 or after < 0:
        raise BadValue("--before and --after cannot be negative", "0 for no entry on that side")
    reach = EVERYTHING if archived else LIVE if live else REPLACED
    search = AgentSearch([agent], SearchOptions(Filters(), reach, _LOOKED_AT), call.progress)
    if around:
        place = _find_place(agent, search, around)
        earlier, later = search.around(place, before, after + 1) if place else ([], [])
        named = place[1] if place else ""
        entries = [*earlier, *later] if later or named else []
        focus = named or (later[0].ref if later else None)
    else:
        entries, focus = search.around(END_OF_TIME, before + 1, 0)[0], None
    is_known = bool(entries or search.around(END_OF_TIME, 1, 0)[0])
    return Timeline(entries, focus, is_known, search.warnings())


def _find_place(agent: Agent, search: AgentSearch, around: str) -> tuple[str, str] | None:
    """Returns the moment that a question is about, with the id if it is about an item; None when nothing fits it."""
    if re.fullmatch(r"M-\d+-[0-9a-f]{4}", around):
        from mabos_cli.services.memory.items import find_item

        item = find_item(agent, agent.memory(), around).item
        return item.happened_at, item.id
    try:
        return format_time(parse_when(around, agent.now())), ""
    except BadValue:
        hits = [hit.candidate for hit in find_hits(search, around, _LOOKED_AT) if hit.candidate.item]
    if not hits:  # files alone answer better; asking for items only takes longer
        search.options = search.options._replace(filters=Filters(stores=STORES), limit=1)
        hits = [hit.candidate for hit in find_hits(search, around, 1)]
    return (hits[0].at, hits[0].ref) if hits else None


class Lines(NamedTuple):
    """Lines of a file, the number of the first one, and how many the file has."""

    path: str
    first: int
    lines: list[str]
    total: int


def read_lines(agent: Agent, place: str, *, raw: bool = False) -> Lines:
    """Reads lines of a file below the agent's folder, named as recall cites them: PATH, PATH:3 or PATH:3-9.

    Secrets are replaced unless `raw`.
    """
    from mabos_cli.core.language.secrets import hide_secrets
    from mabos_cli.workspace.files import explained, read_text, resolve_inside
    from mabos_cli.workspace.layout import DAY

    name, first, last = _parse_place(place, agent.paths.root)
    path = agent.paths.root / name
    if os.path.isabs(name) or ".." in name.split("/") or "\0" in name:
        hint = "give a path as recall prints it: memory/2026-02-24.md:3-9"
        raise BadValue(f"{name!r} is not below the agent's folder", hint)
    log = re.fullmatch(rf"memory/({DAY})\.md", name)
    if log and not path.exists():  # a daily log that was archived is still cited by its first name
        path = agent.paths.find_log(log[1])
        name = agent.paths.relative(path)
    real = resolve_inside(path, agent.paths.workspace.root)
    with explained(path, "read"):
        is_folder, is_file = real.is_dir(), real.is_file()
    if is_folder:
        raise NotFound(f"{name} is a folder", "recall cites files in it, with lines")
    if not is_file:
        hint = "recall cites paths; mabos agent show lists the main files"
        raise NotFound(f"no file {name} for agent {agent.id}", hint)
    if real.stat().st_size > _LARGEST:
        raise InvalidFile(f"{name} is larger than {_LARGEST >> 20} MiB", "read it with another tool")
    text = read_text(real, name)
    lines = (text if raw else hide_secrets(text)).removesuffix("\n").split("\n")
    if first > len(lines):
        raise NotFound(f"{name} has {plural(len(lines), 'line')}, not {first}", f"mabos read {name}")
    return Lines(name, first, lines[first - 1 : last or None], len(lines))


def _parse_place(place: str, root: os.PathLike[str]) -> tuple[str, int, int]:
    """Returns path, first and last line (0: to the end). A colon may be part of a file's name."""
    match = compiled(_RANGE).fullmatch(place)
    if not match or os.path.exists(os.path.join(root, place)):
        return place, 1, 0
    first = int(match[2])
    last = int(match[3]) if match[3] else first if match[3] is None else 0
    if first < 1 or (last and last < first):
        raise BadValue(f"bad line range in {place!r}", "PATH:3, PATH:3-9 or PATH:3-")
    return match[1], first, last
