"""Keeps and describes the search index of an agent: sync, watch, status, and what each of its lanes finds."""

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.ids import minted_at
from mabos_cli.core.language.text import token_cost
from mabos_cli.core.memory.item import PRIORITIES, TYPES
from mabos_cli.core.records import NamedTuple
from mabos_cli.core.search.documents import Source
from mabos_cli.errors import InvalidFile, Unavailable
from mabos_cli.index.ask import search_lanes
from mabos_cli.index.follow import Stats
from mabos_cli.index.search_index import SearchIndex
from mabos_cli.services.inputs import Session
from mabos_cli.services.search.agent_search import MOST, AgentIndex
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import sweep_temps
from mabos_cli.workspace.lock import locked
from mabos_cli.workspace.memory.derived_pages import survey_memory
from mabos_cli.workspace.sources import holds_items, index_places

_NICE, _PAUSE = 10, 0.2  # of who works behind the commands, and lets them write between two parts


def sync_index(
    call: Session, agent: Agent, *, rebuild: bool = False, wait: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """Brings the index up to date with the files; returns what that did, and warnings. With `wait` also for a model that takes long; one
    process does that at a time."""
    start = time.perf_counter()
    if wait:
        os.nice(_NICE)
        with locked(agent.paths.embedding_lock, agent.paths.workspace.root, agent.settings["lock.timeout"]):
            return _sync(call, agent, start, rebuild=rebuild, wait=True)
    return _sync(call, agent, start, rebuild=rebuild, wait=False)


def _sync(call: Session, agent: Agent, start: float, *, rebuild: bool, wait: bool) -> tuple[dict[str, Any], list[str]]:
    sweep_temps(agent.paths.index_file.parent, locked=False)
    opened = AgentIndex(agent, progress=call.progress)
    index = opened.refresh(rebuild=rebuild, wait=agent.settings["lock.timeout"], in_parts=wait)
    totals = Counter(opened.stats._asdict())
    while index and index.path and opened.stats.left:
        time.sleep(_PAUSE)
        opened = AgentIndex(agent, progress=call.progress)
        index = opened.refresh(wait=agent.settings["lock.timeout"], in_parts=True)
        totals += Counter(opened.stats._replace(left=0, unchanged=0)._asdict())
    if index is None or index.path is None:
        raise InvalidFile(
            f"the index of {agent.id} cannot be written", "recall still works: it builds one in memory each time"
        )
    more = opened.embed_all(agent.settings["lock.timeout"]) if wait and index.count_waiting() else 0
    done = {"agent": agent.id, "path": agent.paths.relative(index.path), "rebuilt": rebuild}
    done |= {name: totals[name] for name in Stats._fields if name != "left"}
    done |= {"embedded": totals["embedded"] + more, "waiting": index.count_waiting() if not more else 0}
    return done | {"seconds": round(time.perf_counter() - start, 3)}, opened.troubles()


def watch_changes(agent: Agent) -> Iterator[Any]:
    """Yields batches of changes below the agent's folder, until SIGINT or SIGTERM.

    The first may be empty and says that somebody watches from now on: what changes during the first sync is not missed.
    """
    try:
        from watchfiles import watch
    except ImportError:
        raise Unavailable("--watch needs watchfiles", "pip install 'mabos-cli[watch]'") from None
    import signal
    from threading import Event

    stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    places = [agent.paths.root, *([agent.paths.queue.parent] if agent.paths.queue.parent.is_dir() else [])]
    return watch(
        *places, stop_event=stop, rust_timeout=250, yield_on_timeout=True, debounce=400, step=50, raise_interrupt=False
    )


class IndexStatus(NamedTuple):
    """Holds what the index holds and what state it is in, what memory itself holds, and warnings."""

    about: dict[str, Any]
    memory: dict[str, Any]
    warnings: list[str]


def index_status(agent: Agent) -> IndexStatus:
    """Describes the index and the memory behind it. Changes nothing."""
    opened = AgentIndex(agent)
    index = describe_index(opened)
    memory = _describe_memory(agent, opened.sources, index.pop("file_passages", 0))
    return IndexStatus(index, memory, opened.warnings)


def describe_index(opened: AgentIndex) -> dict[str, Any]:
    """Describes what the index holds and what state it is in, without changing it."""
    agent = opened.agent
    about: dict[str, Any] = {"agent": agent.id, "state": "none", "vectors": "none, without SQLite"}
    try:
        plan = opened.plan()
    except ImportError:
        return about | {"step": "none", "model": None}
    about["vectors"] = plan.engine.about
    wanted = plan.strong or plan.embedder
    about |= {"step": plan.engine.step, "model": wanted.model if wanted else None}
    for place in index_places(agent.paths):
        found = SearchIndex(place, plan).inspect(opened.sources)
        if found and about["state"] != "fresh":
            about |= {"path": agent.paths.relative(place.path)} | found
    return about


def _describe_memory(agent: Agent, sources: Sequence[Source], chunks: int) -> dict[str, Any]:
    """Describes the files that people write (legacy), the items (progressive), and what is always loaded (index)."""
    loaded = agent.load()
    survey = survey_memory(agent, loaded)
    digest, per_token = survey.digest, agent.settings["text.chars_per_token"]
    texts = {source.path: source.size for source in sources if not holds_items(source.path)}
    stored = minted_at(loaded.head.last_id)
    recalled = max((at for _, at in loaded.uses.touches.values()), default="")
    domains = survey.memory_index.domains
    return {
        "legacy": {
            "files": len(texts),
            "chunks": chunks,
            "total_tokens_estimated": -(-sum(texts.values()) // per_token),
            "memory_md_size": texts.get(agent.paths.relative(agent.paths.memory_md), 0),
            "memory_dir_files": sum(path.startswith("memory/") for path in texts),
        },
        "progressive": {
            "total_entries": sum(digest.types.values()),
            "by_category": _ordered(digest.types, TYPES),
            "by_priority": _ordered(digest.priorities, tuple(PRIORITIES)),
            "total_tokens_estimated": -(-digest.size // per_token),
            "last_store": format_time(stored) if stored else None,
            "last_recall": max(recalled, digest.used_at) or None,
            "domain_files": [agent.paths.relative(agent.paths.domain(domain.name)) for domain in domains],
        },
        "index": {
            "always_loaded_tokens": token_cost(survey.text, per_token) if agent.paths.index_md.exists() else 0,
            "on_demand_domains": [{"name": domain.name, "tokens": domain.tokens} for domain in domains],
        },
    }


def _ordered(counts: dict[str, int], names: tuple[str, ...]) -> dict[str, int]:
    """Returns counts in the order of known names; others, as other tools may write them, behind those."""
    return {name: counts[name] for name in (*names, *sorted(counts.keys() - {*names})) if name in counts}


def find_in_lanes(
    call: Session, agent: Agent, query: str, limit: int
) -> tuple[dict[str, list[tuple[str, float, str]]], list[str]]:
    """Returns what each lane finds by itself, best first: reference, measure (BM25 or cosine) and text; and warnings."""
    opened = AgentIndex(agent, progress=call.progress)
    index = opened.refresh()
    if index is None:
        return {"words": [], "vectors": []}, opened.troubles()
    try:
        found = search_lanes(index, query, limit or MOST)
    except index.engine.errors:  # damaged without our doing: rebuilt
        index = opened.refresh(rebuild=True)
        assert index is not None
        found = search_lanes(index, query, limit or MOST)
    return found, opened.troubles()
