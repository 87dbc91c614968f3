"""Parses conversations as agent hosts and providers write them into turns of plain text."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from mabos_cli.core.context.texts import Turn
from mabos_cli.core.language.text import one_line
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import dump_line, line_of_element, parse_json

_ROLES = dict.fromkeys(("system", "developer"), "system") | dict.fromkeys(("user", "human"), "user")
_ROLES |= dict.fromkeys(("assistant", "model", "ai"), "assistant")
_ROLES |= dict.fromkeys(("tool", "function", "toolResult"), "tool")
_CALLS = ("tool_use", "toolCall", "tool_call", "function_call", "custom_tool_call", "function")
_RESULTS = ("tool_result", "toolResult", "function_call_output", "custom_tool_call_output")
# What a model thought is not part of what was said, and hosts do not send it again.
_THOUGHTS = ("thinking", "redacted_thinking", "reasoning")
_DEEPEST = 8  # a message holds blocks, a block the answer of a tool, that answer blocks again
_HINT = 'a JSON array of {"role": ..., "content": ...}, an object with "messages", or JSON lines'


def parse_history(text: str, shown: str) -> tuple[Turn, ...]:
    """Parses a conversation; InvalidFile cites the line that is neither a message nor a host's bookkeeping.

    Takes a JSON array of messages, an object with "messages", or JSON lines: plain messages, or a transcript of Claude
    Code, Codex or OpenClaw. Records with a type that says nothing (sessions, snapshots, events) and turns without text are
    passed over.
    """
    turns = (_parse_record(record, shown, line_of) for record, line_of in _records(text, shown))
    return tuple(turn for turn in turns if turn and turn.content.strip())


def _records(text: str, shown: str) -> Iterator[tuple[Any, Callable[[], int]]]:
    """Yields the records of a file, each with what finds its line: only a faulty one is looked for."""
    if not text.strip():
        return
    if _is_line(text.lstrip().split("\n", 1)[0]):
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                record = parse_json(line, shown, line=number, hint=_HINT)
                has_many = isinstance(record, dict) and isinstance(record.get("messages"), list)
                for message in record["messages"] if has_many else [record]:
                    yield message, partial(int, number)
        return
    whole = parse_json(text, shown, hint=_HINT)
    messages = whole.get("messages") if isinstance(whole, dict) else whole
    if not isinstance(messages, list):
        raise InvalidFile(f"{shown}:1: no messages here", _HINT)
    for number, message in enumerate(messages):
        yield message, partial(_line_of, text, number)


def _line_of(text: str, number: int) -> int:
    return line_of_element(text.encode("utf-8", "replace"), "messages", number)


def _is_line(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _parse_record(record: Any, shown: str, line_of: Callable[[], int]) -> Turn | None:
    """Returns the turn of a record, None for bookkeeping."""
    message = _find_message(record)
    if message is None:
        if isinstance(record, dict) and isinstance(record.get("type"), str) and "role" not in record:
            return None
        role = record.get("role") if isinstance(record, dict) else None
        if isinstance(role, str) and role not in _ROLES:
            fault = f"{shown}:{line_of()}: unknown role {one_line(role, 40)!r}"
            raise InvalidFile(fault, f"known roles: {', '.join(_ROLES)}")
        raise InvalidFile(f"{shown}:{line_of()}: no message with a role and content", _HINT)
    role = _ROLES[message["role"]]
    content = message.get("content")
    parts = [*_texts(content, _DEEPEST), *_texts(message.get("tool_calls"), _DEEPEST)]
    if role == "user" and parts and _is_result(content):
        role = "tool"
    elif role == "tool" and not _is_result(content):
        parts = [f"[tool result] {part}" for part in parts]
    names = (message.get("name"), message.get("toolName"))
    name = next((name for name in names if isinstance(name, str)), "")
    found = (level.get(key) for level in (record, message) for key in ("timestamp", "at", "created_at"))
    return Turn(role, "\n".join(parts), next((time for time in found if isinstance(time, str)), ""), name)


def _find_message(record: Any) -> dict[str, Any] | None:
    """Returns the message in a record: the record itself, or what a host wrapped; None when there is none."""
    if not isinstance(record, dict) or record.get("isSidechain"):
        return None
    wrapped = record.get("payload" if record.get("type") == "response_item" else "message")
    message = wrapped if isinstance(wrapped, dict) else record
    role, content = message.get("role"), message.get("content", message.get("tool_calls", 0))
    if role is None and message.get("type") in (*_CALLS, *_RESULTS):
        return {"role": "assistant" if message["type"] in _CALLS else "tool", "content": [message]}
    known = isinstance(role, str) and role in _ROLES and isinstance(content, str | list | None)
    return message if known else None


def _is_result(content: Any) -> bool:
    """Returns whether all that a user's message holds is what tools gave back."""
    is_blocks = isinstance(content, list) and all(isinstance(block, dict) for block in content)
    return is_blocks and all(block.get("type") in _RESULTS for block in content)


def _texts(content: Any, deep: int) -> Iterator[str]:
    """Yields the texts of a message's content, blocks in order; calls and results of tools are named as such."""
    if isinstance(content, str):
        if content.strip():
            yield content
    elif isinstance(content, list) and deep:
        for block in content:
            yield from _texts(block, deep - 1)
    elif isinstance(content, dict):
        yield from _block_texts(content, deep)


def _block_texts(block: dict[str, Any], deep: int) -> Iterator[str]:
    kind = block.get("type")
    if kind in _CALLS:
        called = block["function"] if isinstance(block.get("function"), dict) else block
        given = next((called[key] for key in ("input", "arguments") if called.get(key)), "")
        text = given if isinstance(given, str) else dump_line(given)
        yield f"[tool call {called.get('name') or 'unnamed'}] {text}".rstrip()
    elif kind in _RESULTS:
        mark = "error" if block.get("is_error") or block.get("isError") else "result"
        text = "\n".join(_texts(block.get("content", block.get("output")), deep - 1))
        yield f"[tool {mark}] {text}".rstrip()
    elif isinstance(block.get("text"), str):
        yield from _texts(block["text"], deep)
    elif kind not in _THOUGHTS and isinstance(kind, str):
        yield f"[{kind}]"
