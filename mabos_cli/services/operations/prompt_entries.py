"""Finds what is relevant to a prompt: what the index finds and the files confirm, and what was stored since the index was written.

A passage must still be on the same lines, an item in its file or in the archive. The index is not updated.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from time import sleep
from typing import Any

from mabos_cli.config import Settings
from mabos_cli.core.context.candidates import Entry
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.ids import stamp_of
from mabos_cli.core.language.text import stem, words
from mabos_cli.core.memory.stores import FINDABLE, reach_of
from mabos_cli.core.memory.trust import Sharing, needs_voucher, parse_sharing, trust_rank
from mabos_cli.core.search.documents import WRITING, Embedder, cosine
from mabos_cli.core.search.prompt import (
    Prompt,
    choose_relevant,
    holds_value,
    least_relevance,
    other_names,
    relevance,
    words_needed,
)
from mabos_cli.errors import MabosError, Unavailable
from mabos_cli.formats.json.text import dump_line
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.plain_files import read_regular
from mabos_cli.workspace.runtime import now

_PAUSES = (0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4)  # seconds between looks at an index that is being written
_BESIDE = ("auto", "local", "granite", "minilm", "onnx")
_RECENT = 1 << 16  # bytes at the end of the store that may be newer than the index


def find_shared(paths: AgentPaths, settings: Settings, prompt: Prompt, most: int) -> list[Entry]:
    """Returns shared items of other agents that are relevant to a prompt, if the setting hook.shared is on."""
    if not settings["hook.shared"]:
        return []
    from mabos_cli.workspace.locate import list_agents
    from mabos_cli.workspace.settings import load_settings

    found: list[Entry] = []
    for name in list_agents(paths.workspace):
        if name == paths.id:
            continue
        with suppress(MabosError):  # an agent that cannot be read does not hide the others
            theirs = load_settings(paths.workspace, other := paths.workspace.agent(name), {})
            sharing = parse_sharing(theirs["memory.shared"], theirs["memory.shared_tags"])
            entries = find_entries(other, settings, prompt, most, sharing) if sharing.is_any else None
            found += [entry._replace(ref=f"{name}/{entry.ref}", use="") for entry in entries or ()]
    return found


def find_entries(
    paths: AgentPaths, settings: Settings, prompt: Prompt, most: int, sharing: Sharing | None = None
) -> list[Entry] | None:
    """Returns what was stored recently and what the index finds for a prompt, if the files confirm it; None if there is no index and
    nothing else is found. With `sharing`, only indexed items that another agent shares."""
    from mabos_cli.index.peek import open_peek

    embedder, place = open_static_model(settings), os.fspath(paths.index_file.with_suffix(".lock"))
    for pause in _PAUSES:  # the harvest of the last session may be writing
        sleep(pause)
        note = _read(place).decode("utf-8", "replace").strip("\0\n")
        peek = open_peek(os.fspath(paths.index_file), note)
        if peek or note.partition(" ")[0] != WRITING:
            break
    if (
        peek is None
    ):  # a large memory is then searched by words alone: the model takes long without the vectors of the index
        if sharing:
            return None
        is_small = len(_read(os.fspath(paths.store))) <= _RECENT and not paths.store_pages.exists()
        return _find_recent(paths, settings, prompt, embedder if is_small else None, None) or None
    with peek:
        least = trust_rank(settings["hook.min_trust"])
        if prompt.wants_latest:
            seen = peek.latest(most, least)
        else:
            seen = peek.find(prompt, least, settings["recall.importance_weight"], embedder)
        entries = _find_recent(paths, settings, prompt, embedder, peek) if sharing is None else []
        seen = [one for one in seen if not sharing or (one.item and sharing.admits(one.item.get("tags") or ()))]
        judge = (
            _Judge(paths, peek)
            if any(_is_claim(one.item) for one in seen) or (seen and paths.trust_log.exists())
            else None
        )
        files, at = _Files(os.fspath(paths.root), peek.stamps() if seen else {}), format_time(now())
        for one in seen:
            item, is_known = one.item, any(one.ref == entry.ref for entry in entries)
            state = None if is_known or len(entries) == most else files.confirm(one)
            if state is None:
                continue
            state = state or ("expired" if item and _is_over(item, at) else "")
            trust = judge(item) if judge and item else one.trust
            kind = ("item", "warm", str(item.get("type", ""))) if item else ("passage", "cold", "file")
            entry = Entry(one.ref, one.text, *kind, trust, one.importance, one.score, one.at, state=state)
            entries.append(entry._replace(author=str((item or {}).get("author") or "")))
    entries = [entry._replace(applies=entry.type == "instruction" and trust_rank(entry.trust) > 0) for entry in entries]
    is_answered = holds_value(prompt, [entry.text for entry in entries])
    return [entry for entry in entries if is_answered or entry.applies]


def find_relevant(settings: Settings, prompt: Prompt, instructions: Sequence[str]) -> set[int]:
    """Returns which standing instructions are relevant enough to a prompt, by their numbers: by words in common and by meaning."""
    asked = {stem(word.casefold()) for word in prompt.asked}
    shared = [len(asked & {stem(word) for word in words(text)}) for text in instructions]
    found = {n for n, count in enumerate(shared) if asked and count >= words_needed(len(asked))}
    embedder = open_static_model(settings) if instructions and asked else None
    if embedder:
        query, least = embedder.embed_query(prompt.text), least_relevance(prompt, "instruction", len(instructions))
        near = [cosine(query, embedder.embed_query(text)) for text in instructions]
        values = [relevance(prompt, text, shared[n] / len(asked), near[n]) for n, text in enumerate(instructions)]
        found |= {n for n, value in enumerate(values) if value >= least}
    return found


def open_static_model(settings: Settings) -> Embedder | None:
    """Returns the model that is a memory-mapped file, if the index uses it alone or beside a slower local one; other models take longer
    than a prompt may wait."""
    provider = settings["embeddings.provider"]
    if provider not in (*_BESIDE, "wordllama") or settings["index.vectors"] == "lexical":
        return None
    from mabos_cli.backends.wordllama import open_wordllama

    try:
        return open_wordllama(settings["embeddings.path"] if provider == "wordllama" else "")
    except Unavailable:
        return None


def _find_recent(
    paths: AgentPaths, settings: Settings, prompt: Prompt, embedder: Embedder | None, peek: Any
) -> list[Entry]:
    """Returns the items at the end of the store that are relevant to a prompt and are not in the index yet, newest first."""
    stamps, at, least = peek.stamps() if peek else {}, format_time(now()), trust_rank(settings["hook.min_trust"])
    items: list[Any] = []
    place = os.fspath(paths.store)
    if _stamp(place) not in ("", stamps.get(paths.relative(paths.store))):
        items = [item for item in _last_items(_read(place)[-_RECENT:]) if not peek or not peek.knows(item)]
    items = [
        item for item in items if trust_rank(item["trust"]) >= least and not _is_claim(item) and not _is_over(item, at)
    ]
    names = other_names(prompt, [item["content"] for item in items])
    asked = {stem(word.casefold()) for word in (*prompt.asked, *names)}
    shared = [len(asked & {stem(word) for word in words(item["content"])}) for item in items]
    chosen: dict[int, float] = {n: 1.0 for n, count in enumerate(shared) if count >= max(1, words_needed(len(asked)))}
    if embedder and items and asked:
        total, query = len(items) + (peek.count() if peek else 0), embedder.embed_query(prompt.text)
        near = [cosine(query, embedder.embed_query(item["content"])) for item in items]
        values = {
            n: relevance(prompt, item["content"], shared[n] / len(asked), near[n]) for n, item in enumerate(items)
        }
        floors = {n: least_relevance(prompt, item["type"], total) for n, item in enumerate(items)}
        chosen = choose_relevant(values, floors, chosen)
    found = []
    for n, value in sorted(chosen.items(), reverse=True):
        item = items[n]
        about = (
            "item",
            "warm",
            item["type"],
            item["trust"],
            item["importance"],
            min(1.0, value),
            item.get("observed_at") or item["created_at"],
        )
        found.append(Entry(item["id"], item["content"], *about, author=str(item.get("author") or "")))
    return found


def _last_items(data: bytes) -> Iterator[dict[str, Any]]:
    """Yields the items at the end of a store in our own layout, one per line; other lines are skipped."""
    for line in data.split(b"\n"):
        if line.lstrip().startswith(b'{"id": "M-'):
            with suppress(ValueError):
                item = json.loads(line.strip().rstrip(b","))
                if {"content", "type", "trust", "importance", "created_at"} <= item.keys():
                    yield item


def _is_over(item: Any, at: str) -> bool:
    return bool(item.get("expires_at")) and str(item["expires_at"]) <= at


class _Files:
    """The files that candidates come from, each read at most once."""

    def __init__(self, folder: str, known: Mapping[str, str]) -> None:
        self._folder = folder
        self._known = known
        self._stamps: dict[str, str] = {}
        self._texts: dict[str, bytes] = {}
        self._departures: bytes | None = None

    def confirm(self, seen: Any) -> str | None:
        """Returns why a candidate is no longer loaded, empty if it is loaded; None if it is gone or hidden."""
        stands = self._stands(seen)
        if seen.item and (seen.archived or not stands):
            start = b'{"id": %s, "kind": "item", "reason": "' % dump_line(seen.ref).encode("utf-8")
            _, left, line = self._new_departures().rpartition(start)
            if left:
                reason = line.partition(b'"')[0].decode("utf-8", "replace")
                return (
                    reason.partition(":")[0]
                    if reach_of(reason) == FINDABLE and _line_start(seen) in line.partition(b"\n")[0]
                    else None
                )
        return seen.archived.partition(":")[0] if stands else None

    def _new_departures(self) -> bytes:
        """Returns the archive files that changed since the index read them, the latest last."""
        if self._departures is None:
            folder = os.path.join(self._folder, "archive")
            names = sorted(os.listdir(folder)) if os.path.isdir(folder) else ()
            paths = [(f"archive/{name}", os.path.join(folder, name)) for name in names if name.endswith(".jsonl")]
            self._departures = b"".join(_read(path) for shown, path in paths if _stamp(path) != self._known.get(shown))
        return self._departures

    def _stands(self, seen: Any) -> bool:
        """Returns whether a candidate is still where the index found it."""
        path = os.path.join(self._folder, seen.source)
        if seen.source not in self._stamps:
            self._stamps[seen.source] = _stamp(path)
        if seen.stamp and self._stamps[seen.source] == seen.stamp:
            return True
        if seen.source not in self._texts:
            self._texts[seen.source] = _read(path)
        data = self._texts[seen.source]
        if seen.item:
            return _line_start(seen) in data
        first, last = seen.lines
        return seen.text.strip().encode("utf-8") in b"\n".join(data.split(b"\n")[first - 1 : last])


def _line_start(seen: Any) -> bytes:
    """Returns how the line of an item begins."""
    return dump_line({"id": seen.ref, "content": seen.text})[:-1].encode("utf-8")


def _is_claim(item: Any) -> bool:
    """Returns whether an item claims to be trusted although its source is outside."""
    return bool(item) and needs_voucher(str(item.get("trust", "")), str(item.get("source", "")))


class _Judge:
    """Computes the trust of items, with the decisions of people; loaded only if such a decision exists, or an item needs one."""

    def __init__(self, paths: AgentPaths, peek: Any) -> None:
        from mabos_cli.core.memory.trust import OBSERVATION, effective_trust, find_rulings
        from mabos_cli.formats.memory.items import parse_item
        from mabos_cli.workspace.memory.trust_log import Observed, load_decisions

        rulings, observed = find_rulings(load_decisions(paths)[0]), Observed(paths)

        def find(item_id: str) -> Any:
            if item_id.startswith(OBSERVATION):
                return observed.find(item_id)
            line = peek.line(item_id)
            return parse_item(line.encode("utf-8"), "the index") if line else None

        self._trust_of: Callable[[Any], str] = lambda item: effective_trust(
            parse_item(dump_line(item).encode("utf-8"), "the index"), find, rulings
        )

    def __call__(self, item: Any) -> str:
        return self._trust_of(item)


def _stamp(path: str) -> str:
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return ""


def _read(path: str) -> bytes:
    try:
        return read_regular(path)
    except OSError:
        return b""
