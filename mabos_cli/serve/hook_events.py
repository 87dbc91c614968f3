"""Answers the events of a session: a prompt, the stop of an agent, and a compaction; hook_opening.py has its start.

Only os and json are loaded at the top: each event loads what it needs.
"""

from __future__ import annotations

import json
import os
import stat
import time

from mabos_cli.core.operations.hook_hosts import ROOM, again_answer, prompt_of, session_of, text_of, word_of
from mabos_cli.serve.hook import HostCall, log, spool
from mabos_cli.serve.hook_opening import width

TYPE_CHECKING = False  # so that nothing loads typing here; type checkers take it as true
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from mabos_cli.core.memory.checkpoint import Checkpoint, Standing
    from mabos_cli.workspace.agent import Agent

_ENTRIES = 8  # at most: few prompts are questions
_TAIL = 1 << 18  # bytes of a transcript that are searched for the number of tokens
_LARGEST = 1 << 27  # bytes of a transcript that are searched for compactions
_USED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_COMPACTED = (b'"compact_boundary"', b'"type":"compacted"')
_READ, _KEPT = 1 << 23, 1 << 16  # bytes of a transcript that are looked at, and that are kept
_READING = 0.5  # seconds for reading a transcript; a compaction takes longer
_TEXT = 1500  # bytes of a request or an answer that a checkpoint quotes
_LEAST = 0.03  # seconds for removing secrets, also on a busy machine
_WRITING = 0.04  # seconds that the checkpoint takes
_LOCK = 2.0  # seconds that a checkpoint waits for another command; a compaction takes longer


def _open_agent(call: HostCall, **options: Any) -> Agent:
    from pathlib import Path

    from mabos_cli.workspace.agent import Agent
    from mabos_cli.workspace.layout import WorkspacePaths
    from mabos_cli.workspace.runtime import now
    from mabos_cli.workspace.settings import load_settings

    paths = WorkspacePaths(Path(call.root)).agent(call.agent)
    return Agent(paths, load_settings(paths.workspace, paths, options), now())


def prompt_text(call: HostCall) -> str:
    """Returns a small pack of what is relevant to a prompt, by words and by meaning; empty when nothing is relevant enough."""
    from pathlib import Path

    from mabos_cli.core.context.candidates import Limits
    from mabos_cli.core.context.pack import choose, pack
    from mabos_cli.core.language.text import terms, token_cost
    from mabos_cli.core.search.prompt import read_prompt
    from mabos_cli.formats.context.context_pack import WRITING
    from mabos_cli.services.operations.prompt_entries import find_entries, find_shared
    from mabos_cli.workspace.layout import WorkspacePaths
    from mabos_cli.workspace.settings import load_settings

    prompt = read_prompt(prompt_of(call.payload))
    if not prompt.asked:
        return ""
    paths = WorkspacePaths(Path(call.root)).agent(call.agent)
    settings = load_settings(paths.workspace, paths, {})  # an agent with all that it can do takes longer to load
    entries = find_entries(paths, settings, prompt, 3 * _ENTRIES)
    if entries is None:
        log(call.root, "user-prompt: no index to look at: run mabos index sync")
    entries = [*(entries or ()), *find_shared(paths, settings, prompt, _ENTRIES)]
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
    text = pack(choose(entries, limits), limits, WRITING, count=count, asked=frozenset(terms(prompt.text))).text
    return text if width(text) <= ROOM[call.host] else ""


def stop_answer(call: HostCall) -> dict[str, Any]:
    """Returns the request to save memory before the context is full, once per compaction; else an empty answer."""
    used, window = find_usage(read_tail(call.transcript, _TAIL)[0])
    if not used:
        return {}
    from mabos_cli.core.memory.checkpoint import should_flush
    from mabos_cli.formats.memory.checkpoint_md import render_flush_prompt
    from mabos_cli.services.memory.checkpoints import note_flush, read_flushes

    agent = _open_agent(call)
    settings = agent.settings
    bounds = {"soft": settings["flush.soft_tokens"], "reserve": settings["flush.reserve_tokens"]}
    if not should_flush(used, window or settings["context.window"], **bounds):
        return {}
    session, count = session_of(call.payload), count_compactions(call.transcript)
    if read_flushes(agent).get(session) == count or note_flush(agent, session, count):
        return {}  # asked already; or it could not be recorded, and would be asked again and again
    at = agent.now()
    return again_answer(call.host, render_flush_prompt(agent.id, f"{at:%Y-%m-%d}", f"{at:%H%M}", call.root))


def find_usage(lines: tuple[bytes, ...]) -> tuple[int, int]:
    """Returns the tokens in the context by the last line that has them, and the window; 0 where unknown."""
    for line in reversed(lines):
        if b'tokens"' not in line:
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if found := _usage(record):
            return found
    return 0, 0


def _usage(record: Any) -> tuple[int, int] | None:
    """Reads a line of Claude Code, of Codex or of Gemini."""
    if not isinstance(record, dict) or record.get("isSidechain") is True:
        return None
    message, payload = record.get("message"), record.get("payload")
    if isinstance(message, dict) and isinstance(message.get("usage"), dict):
        return sum(_count(message["usage"], name) for name in _USED), 0
    if record.get("type") == "gemini" and isinstance(tokens := record.get("tokens"), dict):
        return _count(tokens, "total"), 0
    info = payload.get("info") if isinstance(payload, dict) else None
    if not isinstance(info, dict) or not isinstance(last := info.get("last_token_usage"), dict):
        return None
    return _count(last, "total_tokens"), _count(info, "model_context_window")


def _count(record: dict[str, Any], name: str) -> int:
    value = record.get(name)
    return value if isinstance(value, int) and value > 0 else 0


def count_compactions(path: str) -> int:
    """Counts how often the context of a session was compacted, by its transcript."""
    if os.path.getsize(path) > _LARGEST:
        return 0
    with open(path, "rb") as file:
        data = file.read()
    return sum(data.count(mark) for mark in _COMPACTED)


def read_tail(path: str, most: int) -> tuple[tuple[bytes, ...], int]:
    """Returns the last complete lines of a transcript, and its size; no lines if it cannot be read."""
    try:
        if not path or not stat.S_ISREG(os.stat(path).st_mode):
            return (), 0
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - most))
            data = file.read(most)
    except (OSError, ValueError):
        return (), 0
    if size > most:
        data = data.partition(b"\n")[2]  # its first line began before
    return tuple(line for line in data.split(b"\n") if line.strip()), size


_BY_HAND = -1  # instead of a number of quarters: a person compacted, and the session has not been told yet


def is_compacting(call: HostCall) -> bool:
    """Returns whether a context is about to be compacted. Gemini announces it before each request, and compacts far later: this
    counts from half of a window on, once for each quarter."""
    if call.host != "gemini":
        return True
    from mabos_cli.services.memory.checkpoints import note_flush, read_flushes

    agent, session = _open_agent(call), session_of(call.payload)
    if word_of(call.payload, "trigger") != "auto":
        note_flush(agent, session, _BY_HAND)
        return True
    quarters, known = _quarters(call, agent), read_flushes(agent).get(session, 0)
    return max(quarters, known) > 1 and quarters != known and not note_flush(agent, session, quarters) and quarters > 1


def was_compacted(call: HostCall) -> bool:
    """Returns whether the context was compacted before this prompt, once: Gemini does not restart the session after it."""
    from pathlib import Path

    from mabos_cli.services.memory.checkpoints import note_flush, read_flushes
    from mabos_cli.workspace.layout import WorkspacePaths

    session = session_of(call.payload)
    state = WorkspacePaths(Path(call.root)).agent(call.agent).flush_state
    if not session or not state.exists():
        return False
    agent = _open_agent(call)
    known, quarters = read_flushes(agent).get(session, 0), _quarters(call, agent)
    is_less = known == _BY_HAND or (known > 1 and quarters < known)
    return is_less and not note_flush(agent, session, quarters)


def _quarters(call: HostCall, agent: Agent) -> int:
    """Returns how many quarters of a window a session uses, by its transcript."""
    used, _ = find_usage(read_tail(call.transcript, _TAIL)[0])
    return 4 * used // int(agent.settings["context.window"])


def note_session(call: HostCall) -> None:
    """Records a transcript before its context is compacted, and writes a checkpoint of the session.

    The host gets nothing: none of them adds an answer to the context here. The checkpoint is added when the session starts again.
    """
    from mabos_cli.core.language.secrets import redact
    from mabos_cli.core.memory.checkpoint import sum_up
    from mabos_cli.services.memory.checkpoints import write_checkpoint

    def hide(text: str) -> str:
        return redact(text.encode("utf-8", "replace").decode("utf-8"))[0]

    lines, size = read_tail(call.transcript, _READ)
    spool(call, trigger=word_of(call.payload, "trigger"), offset=size, tail=_kept(lines, call.deadline, hide))
    standing = sum_up(_turns(lines, call.host))
    wanted = text_of(call.payload, "custom_instructions").strip()
    if any(standing) or wanted:
        agent = _open_agent(call, **{"lock.timeout": _LOCK})
        quotes = {"Last request": standing.request, "Last answer": standing.answer, "To be kept": wanted}
        made = _checkpoint(agent, call, quotes, standing, hide)
        write_checkpoint(agent, made, f"transcript:{hide(session_of(call.payload))}")


def learn_now(call: HostCall) -> None:
    """Harvests the sessions that hooks recorded, and updates the index."""
    from mabos_cli.services.memory.capture import Rules
    from mabos_cli.services.memory.ingest import harvest
    from mabos_cli.services.search.agent_search import AgentIndex

    agent = _open_agent(call)
    if not agent.settings["hook.harvest"]:
        return
    rules = Rules("", agent.settings["harvest.min_importance"])
    spooled, _, done = harvest(agent, rules, dry_run=False, progress=lambda about: None)
    AgentIndex(agent).refresh()
    log(call.root, f"learn: {spooled.taken} turns, {done.harvested} memories")


def _turns(lines: tuple[bytes, ...], host: str) -> Iterator[tuple[str, str]]:
    """Yields messages and the files that tools changed, latest first, as long as there is time."""
    from mabos_cli.formats.memory.agent_hosts import (
        HOSTS,
        Answered,
        Called,
        Message,
        changed_files,
        find_host,
        parse_host_line,
    )
    from mabos_cli.formats.memory.agent_transcripts import load_record

    failed: set[str] = set()
    end = time.process_time() + _READING  # also on a busy machine
    for line in reversed(lines):
        if time.process_time() > end:
            return
        record = load_record(line)
        name = find_host(record) or host
        if record is None or name not in HOSTS:
            continue
        for event in reversed(parse_host_line(record, name).events):
            if isinstance(event, Message):
                yield event.author, event.text
            elif isinstance(event, Answered) and event.failed:
                failed.add(event.call)
            elif isinstance(event, Called) and event.call not in failed:
                yield from (("tool", path) for path in changed_files(event))


def _kept(lines: tuple[bytes, ...], deadline: float, hide: Callable[[str], str]) -> str:
    """Returns the last lines without secrets, as far as room and time allow."""
    kept: list[str] = []
    room, deadline = _KEPT, max(deadline - _WRITING, time.monotonic() + _LEAST)
    for line in reversed(lines):
        room -= len(line) + 1
        if room < 0 or time.monotonic() > deadline:
            break
        kept.append(hide(line.decode("utf-8", "replace")))
    return "\n".join(reversed(kept))


def _checkpoint(
    agent: Agent, call: HostCall, quotes: dict[str, str], standing: Standing, hide: Callable[[str], str]
) -> Checkpoint:
    """Returns the checkpoint of a session by its transcript; secrets are replaced before anything is cut."""
    from mabos_cli.core.memory.checkpoint import Checkpoint
    from mabos_cli.core.memory.observation import bound_text

    trigger, session = word_of(call.payload, "trigger"), session_of(call.payload)
    parts = [f"Session {hide(session) or 'without id'}, before its context was compacted ({trigger or 'auto'})."]
    parts += [f"{name}: {bound_text(text, _TEXT, hide)[0].strip()}" for name, text in quotes.items() if text]
    lists = [tuple(map(hide, entries)) for entries in standing[2:]]
    return Checkpoint(agent.now(), "\n\n".join(parts), *lists)
