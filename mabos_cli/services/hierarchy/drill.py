"""Drills into the hierarchy: reads its files, with every byte counted, searches them, and reports the path."""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mabos_cli.core.hierarchy.drill import (
    Child,
    Descent,
    Find,
    HierarchyReader,
    Step,
    Trace,
    best_line,
    drill,
    first_line,
    match_terms,
    trace_of,
)
from mabos_cli.core.hierarchy.log_event import LogEvent
from mabos_cli.core.language.periods import LEVELS, Period, period_of
from mabos_cli.core.language.text import asked_words, one_line, plural, stem
from mabos_cli.core.memory.stores import LIVE, REPLACED
from mabos_cli.core.search.recall import Filters, Hit
from mabos_cli.services.hierarchy.digests import Digests
from mabos_cli.services.inputs import Session
from mabos_cli.services.search.agent_search import AgentSearch, SearchOptions
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import list_names, read_bytes

_HITS = 30  # finds that a question is answered with on the way down


class AgentHierarchy(HierarchyReader):
    """The HierarchyReader of core.drill over real files. Everything is read once; without an index the search reads every log."""

    def __init__(self, call: Session, agent: Agent) -> None:
        self.agent = agent
        self._digests = Digests(agent)
        self.logs, self.days = self._digests.logs, self._digests.days
        self.search = AgentSearch([agent], SearchOptions(Filters(), REPLACED, _HITS), call.progress)
        self.read_from: dict[str, int] = {}  # bytes by file
        self.found: dict[str, int] = {}  # bytes of texts that the index gave
        self._texts: dict[str, str] = {}
        self._passages: dict[str, dict[str, str]] = {}  # by file and place, as the index gave them
        self._places: dict[LogEvent, str] = {}
        if not self.search.has_index:
            for path in self._all_files():
                self._load(path)

    def read(self, period: Period) -> str:
        """Returns the summary of a period, or the log of a day; empty when there is none."""
        if period.name not in self._texts:
            self._texts[period.name] = "\n".join(self._load(path) for path in self.files_of(period))
        return self._texts[period.name]

    def glance(self, period: Period) -> str:
        """Returns what the search has found in the summary of a period, or all of it when it was read."""
        if period.name in self._texts or period.level == "daily":
            return self.read(period)
        found = self._passages.get(self.agent.paths.relative(self.agent.paths.summary(period.level, period.name)), {})
        return "\n".join(found.values())

    def files_of(self, period: Period) -> list[Path]:
        """Returns the files of a period; a day may have two."""
        if period.level == "daily":
            return [log.path for log in self.logs.get(period.name, ())]
        return [self.agent.paths.summary(period.level, period.name)]

    def _load(self, path: Path) -> str:
        data = read_bytes(path)
        if data is not None:
            self.read_from[self.agent.paths.relative(path)] = len(data)
        return (data or b"").decode("utf-8", "replace")

    def events(self, day: Period) -> list[LogEvent]:
        """Returns the events of the logs of a day."""
        self.read(day)
        found = []
        for log in self.logs.get(day.name, ()):
            events = self._digests.events(log)
            self._places |= dict.fromkeys(events, self.agent.paths.relative(log.path))
            found += events
        return found

    def path_of(self, find: Find) -> str:
        """Returns the file of a line."""
        return self._places[find.event]

    def ask(self, question: str) -> list[Trace]:
        """Returns what the question finds, as far as it belongs to a day or a summary."""
        return self._traces(self.search(question))

    def follow(self, question: str, asked: Sequence[str]) -> list[Trace]:
        """Returns what some words find."""
        return self._traces(self.search.follow(question, asked))

    def holders(self, asked: Sequence[str]) -> Mapping[str, int]:
        """Returns how many passages hold each word."""
        return self.search.holders(asked)

    def _traces(self, hits: list[Hit]) -> list[Trace]:
        traces = [(hit.candidate, trace) for hit in hits if (trace := trace_of(hit))]
        for candidate, _ in traces:
            self.found[candidate.ref] = len(candidate.text.encode("utf-8", "replace"))
            self._passages.setdefault(candidate.path, {})[candidate.ref] = candidate.text
        return [trace for _, trace in traces]

    def _all_files(self) -> list[Path]:
        paths = [log.path for logs in self.logs.values() for log in logs]
        for level in LEVELS[:-1]:
            folder = self.agent.paths.summary(level, "x").parent
            paths += [folder / name for name in list_names(folder) if name.endswith(".md")]
        return paths

    def whole(self) -> tuple[int, int]:
        """Returns how many files there are on all levels, and how many bytes."""
        paths = [os.fspath(path) for path in self._all_files()]
        sizes = [os.path.getsize(path) for path in paths if os.path.exists(path)]  # some may just be archived
        return len(sizes), sum(sizes)


def search_levels(
    call: Session, agent: Agent, query: str, levels: Sequence[str], limit: int
) -> tuple[list[dict[str, Any]], list[str]]:
    """Returns the best periods of each level for a question, each with the line that says most of it; also warnings.

    A period that only a heading speaks for, or that says less than half of what the best one says, is not among them.
    """
    results, warnings = [], list[str]()
    for level in levels:
        under = "" if level == "daily" else f"memory/{level}/"
        options = SearchOptions(Filters(under=under), LIVE, 10 * limit)
        finder = AgentSearch([agent], options, call.progress)
        found: dict[str, dict[str, Any]] = {}
        hits, held = finder(query), finder.holders(asked_words(query))
        weights = {stem(word): 1 / math.log(2.5 + times) for word, times in held.items()}
        for hit in hits:
            trace = trace_of(hit)
            if trace is None or (level == "daily" and trace.first != trace.last):
                continue
            name = period_of(level, trace.first).name
            text = best_line(hit.candidate.text, weights)[0] or ("" if hit.matched else first_line(hit.candidate.text))
            row = {"level": level, "period": name, "ref": hit.candidate.ref, "score": hit.relevance}
            if text:
                found.setdefault(name, row | {"trust": hit.candidate.trust, "text": text})
        shares = {name: match_terms(row["text"], weights)[0] for name, row in found.items()}
        least = 0.5 * max(shares.values(), default=0.0)
        results += [row for name, row in found.items() if shares[name] >= least][:limit]
        warnings += finder.warnings()
    return results, list(dict.fromkeys(warnings))


def drill_down(
    call: Session, agent: Agent, query: str, width: int | None, limit: int
) -> tuple[dict[str, Any], Iterator[str], list[str]]:
    """Goes down to the lines that answer a question: every node that was scored, the way in words, and warnings."""
    reader = AgentHierarchy(call, agent)
    width = agent.settings["hierarchy.width"] if width is None else width
    descent = drill(reader, query, reader.days, width=width, limit=limit)
    return visited(reader, query, descent), describe_path(reader, descent), reader.search.warnings()


def visited(reader: AgentHierarchy, query: str, descent: Descent) -> dict[str, Any]:
    """Returns the whole way down with every node that was scored, and how much of everything was read."""
    files, size = reader.whole()
    steps = [
        {"level": step.level, "refined": list(step.refined), "nodes": [_node(reader, child) for child in step.children]}
        for step in descent.steps
    ]
    finds = [
        {
            "day": find.day.name,
            "path": reader.path_of(find),
            "line": find.event.line,
            "id": find.event.id or None,
            "kind": find.event.kind,
            "score": find.score,
            "matched": list(find.matched),
            "untrusted": find.event.untrusted,
            "cause": find.is_cause,
            "text": find.event.text,
        }
        for find in descent.finds
    ]
    read = {
        "files": len(reader.read_from),
        "bytes": sum(reader.read_from.values()),
        "found": sum(reader.found.values()),
    }
    return {"query": query, "finds": finds, "steps": steps, "read": read, "whole": {"files": files, "bytes": size}}


def _node(reader: AgentHierarchy, child: Child) -> dict[str, Any]:
    paths = [reader.agent.paths.relative(path) for path in reader.files_of(child.period) if path.exists()]
    read = sum(reader.read_from.get(path, 0) for path in paths)
    return {
        "period": child.period.name,
        "parent": child.parent or None,
        "path": paths[-1] if paths else None,
        "score": child.score,
        "signals": dict(child.signals),
        "followed": child.followed,
        "bytes": read,
        "line": child.line or None,
    }


def _branches(steps: tuple[Step, ...], parent: str, depth: int) -> Iterator[str]:
    """Yields the nodes that were followed, each below the one that led to it, with the reasons."""
    if not steps:
        return
    for child in steps[0].children:
        if child.followed and child.parent == parent:
            why = ", ".join(f"{name} {value:.2f}" for name, value in child.signals if value)
            line = f" {one_line(child.line, 100)}" if child.line else ""
            yield f"{'  ' * depth}{child.period.name} {child.score:.2f} ({why}){line}"
            yield from _branches(steps[1:], child.period.name, depth + 1)


def describe_path(reader: AgentHierarchy, descent: Descent) -> Iterator[str]:
    """Yields the way down for people: the nodes that were followed, and the lines at the end."""
    yield from _branches(descent.steps, "", 0)
    for step in descent.steps:
        if step.refined:
            yield f"added to the question after the {step.level} level: {', '.join(step.refined)}"
    for find in descent.finds:
        place = f"{reader.path_of(find)}:{find.event.line}"
        marked = f"{' untrusted' if find.event.untrusted else ''}{' cause' if find.is_cause else ''}"
        named = f"{find.event.id or find.event.kind} {find.score:.2f}{marked}"
        yield f"{place} {named} {one_line(find.event.text, 120)}"
    if not descent.finds:
        yield "nothing found"
    files, size = reader.whole()
    read, found = sum(reader.read_from.values()), sum(reader.found.values())
    share = f"{read:,} of {size:,} bytes ({100 * read / max(1, size):.1f} %)"
    yield f"read {len(reader.read_from)} of {plural(files, 'file')}, {share}, and {found:,} bytes from the index"
