"""Finishes or rolls back the work of a killed writer before anybody else writes."""

from typing import Any
from zlib import crc32

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.stores import Memory, locate
from mabos_cli.errors import MabosError
from mabos_cli.formats.json.text import parse_ledger
from mabos_cli.formats.memory.items import find_line, line_id, render_page
from mabos_cli.workspace.agent import Agent, Loaded
from mabos_cli.workspace.files import replace_file, sweep_temps
from mabos_cli.workspace.memory import store
from mabos_cli.workspace.memory.derived_pages import materialize_domains, materialize_items
from mabos_cli.workspace.transaction import Unfinished


def nothing() -> Unfinished:
    return {"log": [], "promoted": []}


def recover(agent: Agent, left_behind: bytes) -> tuple[Unfinished, list[str]]:
    """Finishes or rolls back what a killed writer began, by its intent; returns what is still unfinished, and warnings."""
    sweep_temps(agent.paths.root, locked=True)
    sweep_temps(agent.paths.workspace.local, locked=False)
    intents = [r for r in parse_ledger(left_behind).records if isinstance(r.get("version"), int)]
    if not intents:
        return nothing(), []
    intent, loaded = intents[0], agent.load()
    noted = intent.get("carried")
    carried: dict[str, Any] = noted if isinstance(noted, dict) else {}
    if loaded.head.version < intent["version"]:
        _roll_back(agent, loaded.long_term, intent)
        return _finish(agent, agent.load(), {name: _texts(carried.get(name)) for name in nothing()})
    queued = _texts(intent.get("queued"))
    if crc32(loaded.data or b"") != intent.get("store"):
        # Another tool or git wrote the store since, perhaps before ours was there: what it does not hold still waits.
        memory = loaded.memory()
        queued = [item_id for item_id in queued if _find_items(agent, memory, [item_id])]
    if queued:
        store.remove_queued(agent.paths, queued, agent.settings["lock.timeout"])
    _cut_uses(agent, intent.get("uses"))
    due = {name: [*_texts(carried.get(name)), *_texts(intent.get(name))] for name in nothing()}
    return _finish(agent, loaded, due)


def _cut_uses(agent: Agent, uses: Any) -> None:
    """Cuts the access journal where the killed writer had read to, unless it did so itself."""
    if not isinstance(uses, dict) or not all(isinstance(uses.get(name), int) for name in ("size", "cut")):
        return
    if folded := _texts(uses.get("folded")):
        store.cut_uses(agent.paths, uses["size"], uses["cut"], {*folded}, agent.settings["lock.timeout"])


def _texts(value: Any) -> list[str]:
    """Returns a list of texts, whatever a damaged lock file holds."""
    return [part for part in value if isinstance(part, str)] if isinstance(value, list) else []


def _finish(agent: Agent, loaded: Loaded, due: Unfinished) -> tuple[Unfinished, list[str]]:
    """Does what is missing behind the commit point. A file that cannot be written now must not block all that follows."""
    memory, day = loaded.memory(), format_time(agent.now())[:10]
    unfinished, warnings = nothing(), []
    for name, ids in due.items():
        items = _find_items(agent, memory, ids)
        try:
            if name == "log":
                store.append_to_logs(agent.paths, items, again=True)
            else:
                store.append_promoted(agent.paths, items, day)
            store.append_to_legacy(agent.paths, items, again=True)
        except MabosError as error:
            unfinished[name] = ids
            warnings.append(f"an earlier write is still unfinished: {error.message}")
    try:
        warnings += materialize_items(agent, memory, loaded.long_term).warnings
        warnings += materialize_domains(agent, memory, loaded.long_term)[1].warnings
    except MabosError as error:
        warnings.append(f"derived files are behind: {error.message}")
    return unfinished, warnings


def _find_items(agent: Agent, memory: Memory, ids: list[str]) -> tuple[MemoryItem, ...]:
    found = []
    for item_id in ids:
        live = locate(memory, item_id)
        if live:
            found.append(live[1])
        else:
            found += [departure.item for departure in agent.departures(item_id)[-1:]]
    return tuple(found)


def _roll_back(agent: Agent, long_term: store.LongTermStore, intent: dict[str, Any]) -> None:
    """Takes pages back to where they were; nothing else was changed before the commit point but the archive grew."""
    pages = intent.get("pages")
    for name, undo in pages.items() if isinstance(pages, dict) else ():
        if not isinstance(undo, dict):
            continue
        lines, new = long_term.page(name), set(_texts(undo.get("new")))
        kept = [line for line in lines if line_id(line) not in new]
        for line in (text.encode("utf-8") for text in _texts(undo.get("lost")) if text.startswith('{"id": "')):
            position = find_line(kept, line_id(line))
            if position is None:
                kept.append(line)
            else:
                kept[position] = line
        if kept != lines:
            path = agent.paths.store_page(name)
            replace_file(path, render_page(kept), root=agent.paths.workspace.root, expect=long_term.loaded[name][0])
