"""When an agent stops: nothing, unless its context is nearly full. Then it is asked once for each compaction to save what must
survive, as `context flush-check` and `flush-prompt` say."""

import json
import os
from pathlib import Path
from typing import Any

from mabos_cli.core.operations.hook_hosts import again_answer, session_of
from mabos_cli.serve.hook import HostCall, read_tail

_READ = 1 << 18
_USED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_COMPACTED = (b'"compact_boundary"', b'"type":"compacted"')
_LARGEST = 1 << 27  # bytes of a transcript that are searched for compactions


def stop_answer(call: HostCall) -> dict[str, Any]:
    """What makes the agent save its memory first; empty when it may stop."""
    used, window = find_usage(read_tail(call.transcript, _READ)[0])
    if not used:
        return {}
    from mabos_cli.core.memory.checkpoint import should_flush
    from mabos_cli.formats.memory.checkpoint_md import render_flush_prompt
    from mabos_cli.workspace.agent import Agent
    from mabos_cli.workspace.layout import WorkspacePaths
    from mabos_cli.workspace.memory.checkpoints import note_flush, read_flushes
    from mabos_cli.workspace.runtime import now
    from mabos_cli.workspace.settings import load_settings

    paths = WorkspacePaths(Path(call.root)).agent(call.agent)
    settings = load_settings(paths.workspace, paths, {})
    window = window or settings["context.window"]
    bounds = {"soft": settings["flush.soft_tokens"], "reserve": settings["flush.reserve_tokens"]}
    if not should_flush(used, window, **bounds):
        return {}
    agent, session, count = (
        Agent(paths, settings, now()),
        session_of(call.payload),
        count_compactions(call.transcript),
    )
    if read_flushes(agent).get(session) == count or note_flush(agent, session, count):
        return {}  # asked already; or nobody would know that it was, and it would be asked again and again
    at = agent.now()
    return again_answer(call.host, render_flush_prompt(agent.id, f"{at:%Y-%m-%d}", f"{at:%H%M}", call.root))


def find_usage(lines: tuple[bytes, ...]) -> tuple[int, int]:
    """Tokens in the context by the last line that tells, and the size of the window where it does; 0 where nothing does."""
    for line in reversed(lines):
        if b'_tokens"' not in line:
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if found := _usage(record):
            return found
    return 0, 0


def _usage(record: Any) -> tuple[int, int] | None:
    """As Claude Code and Codex tell it."""
    if not isinstance(record, dict) or record.get("isSidechain") is True:
        return None
    message, payload = record.get("message"), record.get("payload")
    if isinstance(message, dict) and isinstance(message.get("usage"), dict):
        return sum(_count(message["usage"], name) for name in _USED), 0
    info = payload.get("info") if isinstance(payload, dict) else None
    if not isinstance(info, dict) or not isinstance(last := info.get("last_token_usage"), dict):
        return None
    return _count(last, "total_tokens"), _count(info, "model_context_window")


def _count(record: dict[str, Any], name: str) -> int:
    value = record.get(name)
    return value if isinstance(value, int) and value > 0 else 0


def count_compactions(path: str) -> int:
    """How often the context of a session was compacted, by its transcript."""
    if os.path.getsize(path) > _LARGEST:
        return 0
    with open(path, "rb") as file:
        data = file.read()
    return sum(data.count(mark) for mark in _COMPACTED)
