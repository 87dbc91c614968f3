"""What memory says about a prompt: a small pack of what shares enough telling words with it, or nothing.

The index is taken as it is. What it found is told only if it still stands in its file, in the same lines where it is a passage.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mabos_cli.config import Settings
from mabos_cli.core.context.candidates import Entry, Limits
from mabos_cli.core.context.pack import pack
from mabos_cli.core.context.texts import asked_about
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import terms, token_cost
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.operations.hook_hosts import ROOM, text_of
from mabos_cli.core.search.documents import stamp_of
from mabos_cli.formats.context.context_pack import WRITING
from mabos_cli.formats.json.text import dump_line
from mabos_cli.serve.hook import HostCall, log
from mabos_cli.serve.hook_start import width
from mabos_cli.workspace.layout import AgentPaths, WorkspacePaths
from mabos_cli.workspace.runtime import now
from mabos_cli.workspace.settings import load_settings

_ENTRIES = 8  # at most: a prompt is no question


def prompt_text(call: HostCall) -> str:
    """The pack for a prompt; empty when nothing is relevant enough."""
    prompt = text_of(call.payload, "prompt")
    if not asked_about(prompt):
        return ""
    paths = WorkspacePaths(Path(call.root)).agent(call.agent)
    settings = load_settings(paths.workspace, paths, {})
    entries = [*_entries(call, paths, settings, prompt)]
    if not entries:
        return ""
    budget = min(settings["hook.prompt_budget"], ROOM[call.host] // settings["text.chars_per_token"])
    limits = Limits(
        budget,
        _ENTRIES,
        settings["hook.min_trust"],
        cold_share=settings["context.cold_share"],
        duplicate=settings["memory.duplicate_threshold"],
    )
    count = lambda text: token_cost(text, settings["text.chars_per_token"])  # noqa: E731
    text = pack(entries, limits, WRITING, count=count, asked=frozenset(terms(prompt))).text
    return text if width(text) <= ROOM[call.host] else ""


def _entries(call: HostCall, paths: AgentPaths, settings: Settings, prompt: str) -> Iterator[Entry]:
    """What the index has to say and the files confirm."""
    from mabos_cli.index.peek import open_peek

    note = _read(os.fspath(paths.index.with_suffix(".lock"))).decode("utf-8", "replace").strip("\0\n")
    peek = open_peek(os.fspath(paths.index), note)
    if peek is None:
        return log(call.root, "user-prompt: no index to look at: run mabos index sync")
    with peek:
        seen = peek.find(prompt, trust_rank(settings["hook.min_trust"]), settings["recall.importance_weight"])
        judge = _Judge(paths, peek) if seen and paths.trust_log.exists() else None
        files, at, told = _Files(call.folder), format_time(now()), 0
        for one in seen:
            item = one.item
            if told == 3 * _ENTRIES or not files.confirm(one) or (item and _is_over(item, at)):
                continue
            told += 1
            trust = judge(item) if judge and item else one.trust
            kind = ("item", "warm", str(item.get("type", ""))) if item else ("passage", "cold", "file")
            yield Entry(one.ref, one.text, *kind, trust, one.importance, one.score, one.at)


def _is_over(item: Any, at: str) -> bool:
    return bool(item.get("expires_at")) and str(item["expires_at"]) <= at


class _Files:
    """The files that candidates come from, each looked at once."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._stamps: dict[str, str] = {}
        self._texts: dict[str, bytes] = {}

    def confirm(self, seen: Any) -> bool:
        """Whether a candidate still stands where the index found it."""
        path = os.path.join(self._folder, seen.source)
        if seen.source not in self._stamps:
            self._stamps[seen.source] = _stamp(path)
        if seen.stamp and self._stamps[seen.source] == seen.stamp:
            return True
        if seen.source not in self._texts:
            self._texts[seen.source] = _read(path)
        data = self._texts[seen.source]
        if seen.item:
            return dump_line({"id": seen.ref, "content": seen.text})[:-1].encode("utf-8") in data
        first, last = seen.lines
        return seen.text.strip().encode("utf-8") in b"\n".join(data.split(b"\n")[first - 1 : last])


class _Judge:
    """How far items are trusted after what persons decided: loaded where there is such a decision."""

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

        self._trust_of = lambda item: effective_trust(
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
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
