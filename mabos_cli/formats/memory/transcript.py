"""Transcripts and logs of JSON lines, whoever wrote them: who said what, when, on which line."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

_TEXTS = ("text", "content", "message", "summary", "prompt", "output", "result", "thinking")
_AUTHORS = ("author", "speaker", "role", "name")
_DEEPEST = 8  # a message holds blocks, a block the answer of a tool, that answer blocks again
_TIMES = ("timestamp", "at", "time", "created_at", "observed_at")


class Said(NamedTuple):
    """What one line says."""

    line: int
    text: str
    author: str = ""
    at: str = ""


def parse_said(data: bytes) -> Iterator[Said]:
    """The lines that say something; torn lines and lines without text are passed over."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip(b"\0 \t\r"):
            continue
        try:
            value = json.loads(line.strip(b"\0").decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            said = read_said(value, number)
            if said.text.strip():
                yield said


def read_said(value: dict[str, Any], line: int = 0) -> Said:
    """What a record says, by whom and when; empty where it does not tell."""
    return Said(line, said_text(value), _first(value, _AUTHORS), _first(value, _TIMES))


def said_text(value: Any) -> str:
    """The texts below the usual keys of a value, each once."""
    return "\n".join(dict.fromkeys(_texts(value, _DEEPEST)))


def _texts(value: Any, deep: int) -> Iterator[str]:
    """The texts below the usual keys, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and deep:
        for part in value:
            yield from _texts(part, deep - 1)
    elif isinstance(value, dict) and deep:
        for key in (*_TEXTS, "payload", "parts"):
            if key in value:
                yield from _texts(value[key], deep - 1)


def _first(value: dict[str, Any], keys: tuple[str, ...]) -> str:
    """The first text under one of the keys, in the record or in the message that it wraps."""
    for level in (value, value.get("message"), value.get("payload")):
        if isinstance(level, dict):
            for key in keys:
                if isinstance(level.get(key), str):
                    return level[key]
    return ""
