"""Lines of the transcripts that agent hosts write (Claude Code, Codex, Gemini, OpenClaw): what was said, asked of tools and answered.

None of these formats is promised to stay as it is. What a line says is taken as far as it is understood; all else is named, so
that it can be counted.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from mabos_cli.formats.json.text import dump_line

_TEXTS = ("text", "input_text", "output_text")
_PEOPLE = ("user", "assistant")
_CODEX_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_CODEX_RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
# What marks a line of Claude Code as not part of the talk, and what it is counted as.
_CLAUDE_ASIDES = {
    "isSidechain": "sidechain",
    "isMeta": "meta",
    "isCompactSummary": "summary",
    "isApiErrorMessage": "api_error",
}
_CLAUDE_TYPES = ("user", "assistant", "system", "summary", "file-history-snapshot", "queue-operation")
# What hosts put into the mouth of the user, each part between tags.
_TAGS = tuple(
    "command-name,command-message,command-args,command-contents,local-command-stdout,local-command-stderr,local-command-caveat,"
    "bash-input,bash-stdout,bash-stderr,system-reminder,user-prompt-submit-hook,environment_context,user_instructions,"
    "permissions instructions,collaboration_mode,turn_aborted,INSTRUCTIONS,session_context".split(",")
)
_HOOK_CONTEXT = re.compile(r"\A\s*<hook_context>[^<]*</hook_context>\s*")
_HEADINGS = ("# AGENTS.md instructions for ", "[Request interrupted by user")
# Tools that change a file, the names under which they are given it, and files in a patch.
_EDITS = re.compile(r"(?i)edit|write|patch|create|replace")
_PATHS = ("file_path", "path", "notebook_path", "filename")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)


class Message(NamedTuple):
    """Holds what the user or the agent said."""

    author: str
    text: str


class Called(NamedTuple):
    """A tool that was called, and what it was given."""

    call: str
    tool: str
    given: str


def changed_files(called: Called) -> list[str]:
    """Returns the files that a call of a tool changes, by what it is given.

    >>> changed_files(Called("1", "Edit", '{"file_path": "a.py", "old_string": "x"}')), changed_files(Called("2", "Read", "a.py"))
    (['a.py'], [])
    """
    if patched := _PATCHED.findall(called.given):
        return list(dict.fromkeys(patched))
    given = _load(called.given) if _EDITS.search(called.tool) and called.given.startswith("{") else None
    paths = [_word(given, name) for name in _PATHS] if isinstance(given, dict) else []
    return [path for path in paths if path][:1]


class Answered(NamedTuple):
    """Holds what a tool gave back. The tool and what it was given are empty where only the call tells."""

    call: str
    text: str
    failed: bool = False
    tool: str = ""
    given: str = ""


class Skipped(NamedTuple):
    """Something that nobody said, by the name that it is counted under."""

    what: str


Event = Message | Called | Answered | Skipped


class HostLine(NamedTuple):
    """Holds what a line of a transcript holds. id is empty where the host gives none, session where only the first line tells."""

    id: str = ""
    at: str = ""
    session: str = ""
    events: tuple[Event, ...] = ()


def find_host(record: Any) -> str:
    """Returns the host that writes such lines; empty when a line could be anybody's.

    >>> find_host({"type": "session", "version": 3, "id": "s1", "cwd": "/"})
    'openclaw'
    """
    if not isinstance(record, dict) or not isinstance(record.get("type"), str):
        return "gemini" if isinstance(record, dict) and "projectHash" in record and "sessionId" in record else ""
    kind = record["type"]
    if kind == "gemini":
        return "gemini"
    if isinstance(record.get("payload"), dict) and isinstance(record.get("timestamp"), str):
        return "codex"
    if kind == "session" and isinstance(record.get("id"), str) and ("version" in record or "cwd" in record):
        return "openclaw"
    if kind == "message" and "parentId" in record and isinstance(record.get("message"), dict):
        return "openclaw"
    named = {"sessionId", "parentUuid", "leafUuid", "messageId"} & record.keys()
    return "claude" if named and (kind in _CLAUDE_TYPES or "sessionId" in named) else ""


def parse_host_line(record: dict[str, Any], host: str) -> HostLine:
    """Returns what a record of a host's transcript holds."""
    return HOSTS[host](record)


def _claude(record: dict[str, Any]) -> HostLine:
    kind, message = record.get("type"), _object(record, "message")
    aside = next((name for flag, name in _CLAUDE_ASIDES.items() if record.get(flag) is True), "")
    if kind not in _PEOPLE:
        events: tuple[Event, ...] = (Skipped(_name(kind)),)
    elif aside:
        events = (Skipped(aside),)
    else:
        events = tuple(_content_events(message.get("content"), kind))
    return HostLine(_word(record, "uuid"), _word(record, "timestamp"), _word(record, "sessionId"), events)


def _codex(record: dict[str, Any]) -> HostLine:
    kind, payload = record.get("type"), _object(record, "payload")
    at = _word(record, "timestamp")
    if kind == "session_meta":
        return HostLine(at=at, session=_word(payload, "id"))
    item = payload.get("type") if kind == "response_item" else None
    call, name = (
        _word(payload, "call_id"),
        "__".join(filter(None, (_word(payload, "namespace"), _word(payload, "name")))),
    )
    if item == "message" and payload.get("role") in _PEOPLE:
        events = tuple(_content_events(payload.get("content"), payload["role"]))
    elif item in _CODEX_CALLS:
        given = next((payload[key] for key in ("arguments", "input", "action") if payload.get(key)), "")
        events = (Called(call, name or "shell", _given_text(given)),)
    elif item in _CODEX_RESULTS:
        output, failed = _codex_output(payload.get("output"))
        events = tuple(_answer_events(call, output, failed))
    else:
        events = (Skipped(_name(payload.get("role") if item == "message" else item or kind)),)
    return HostLine(at=at, events=events)


def _codex_output(output: Any) -> tuple[Any, bool]:
    """Returns what a call gave back and whether it failed; older versions wrap both into JSON once more."""
    if isinstance(output, str) and output.startswith('{"output"'):
        output = _load(output)
    if not isinstance(output, dict):
        return output, False
    code = _object(output, "metadata").get("exit_code", 0)
    content = next((output[key] for key in ("output", "content") if key in output), "")
    return content, output.get("success") is False or code not in (0, None)


def _openclaw(record: dict[str, Any]) -> HostLine:
    kind, message, at = record.get("type"), _object(record, "message"), _word(record, "timestamp")
    if kind == "session":
        return HostLine(at=at, session=_word(record, "id"))
    role = message.get("role")
    if kind != "message":
        events: tuple[Event, ...] = (Skipped(_name(kind)),)
    elif role in _PEOPLE:
        events = tuple(_content_events(message.get("content"), role))
    elif role == "toolResult":
        call, failed = _word(message, "toolCallId"), message.get("isError") is True
        tool = _word(message, "toolName")
        events = tuple(_answer_events(call, message.get("content"), failed, tool))
    elif role == "bashExecution" and message.get("excludeFromContext") is not True:
        code, command = message.get("exitCode"), _word(message, "command")
        events = (Answered("", _word(message, "output"), code not in (0, None), "bash", command),)
    else:
        events = (Skipped(_name(role)),)
    entry_id = _word(record, "id")
    # Eight digits of an id are one of its kind together with the time, also in a session that was forked.
    return HostLine(f"{entry_id}@{at}" if entry_id and at else "", at, events=events)


def _gemini(record: dict[str, Any]) -> HostLine:
    """Reads a line of Gemini. An answer is written once more, under the same id, when its tools have answered."""
    kind, at, content = record.get("type"), _word(record, "timestamp"), record.get("content")
    if kind not in ("user", "gemini"):
        skipped = () if "sessionId" in record else (Skipped(_name(kind or next(iter(record), ""))),)
        return HostLine(at=at or _word(record, "startTime"), session=_word(record, "sessionId"), events=skipped)
    events: list[Event] = []
    for call in _objects(record.get("toolCalls")):
        events.append(Called(_word(call, "id"), _word(call, "name"), _given_text(call.get("args"))))
    parts = [{"text": content}] if isinstance(content, str) else _objects(content)
    for answer in filter(None, (_object(part, "functionResponse") for part in parts)):
        given = _object(answer, "response")
        text = _plain(given.get("output", given.get("error")))
        events.append(Answered(_word(answer, "id"), text, "error" in given, _word(answer, "name")))
    # What hooks tell stands in front of a prompt, its angle brackets escaped.
    texts = [
        _HOOK_CONTEXT.sub("", _word(part, "text")) for part in parts if "text" in part and "toolCalls" not in record
    ]
    events += _content_events(
        [{"type": "text", "text": text} for text in texts], kind if kind == "user" else "assistant"
    )
    return HostLine(_word(record, "id"), at, events=tuple(events))


HOSTS: dict[str, Callable[[dict[str, Any]], HostLine]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "openclaw": _openclaw,
}


def _content_events(content: Any, author: str) -> Iterator[Event]:
    """Yields what a message holds: calls, answers and what is left out as they come, and what was said as one text behind them."""
    texts: list[str] = []
    for block in content if isinstance(content, list) else [content]:
        kind = block.get("type") if isinstance(block, dict) else "text"
        if kind in _TEXTS:
            text = _word(block, "text") if isinstance(block, dict) else _plain(block)
            if is_host_text(text):
                yield Skipped("host")
            elif text.strip():
                texts.append(text)
        elif kind in ("tool_use", "toolCall"):
            given = _given_text(block.get("input", block.get("arguments")))
            yield Called(_word(block, "id"), _word(block, "name"), given)
        elif kind == "tool_result":
            failed = block.get("is_error") is True
            yield from _answer_events(_word(block, "tool_use_id"), block.get("content"), failed)
        else:
            yield Skipped(_name(kind))
    if texts:
        yield Message(author, "\n".join(texts))


def _answer_events(call: str, content: Any, failed: bool, tool: str = "") -> Iterator[Event]:
    """Yields what a tool gave back, as text; what is not text is left out, and all of it where no text is left."""
    texts, others = [], 0
    for block in content if isinstance(content, list) else [content]:
        if isinstance(block, dict) and block.get("type") not in _TEXTS:
            others += 1
            yield Skipped(_name(block.get("type")))
        else:
            texts.append(_word(block, "text") if isinstance(block, dict) else _plain(block))
    text = "\n".join(part for part in texts if part)
    if text or not others:
        yield Answered(call, text, failed, tool)


def is_host_text(text: str) -> bool:
    """Returns whether a text is nothing but what a host adds on its own, each part between its tags.

    >>> is_host_text("<command-name>/clear</command-name>"), is_host_text("what does <command-name> mean?")
    (True, False)
    """
    if text.startswith(_HEADINGS):
        return True
    place, text = 0, text.strip()
    while place < len(text):
        tag = next((tag for tag in _TAGS if text.startswith(f"<{tag}>", place)), "")
        end = text.find(f"</{tag}>", place) if tag else -1
        if end < 0:
            return False
        place = end + len(tag) + 3
        while place < len(text) and text[place].isspace():
            place += 1
    return bool(text)


def _given_text(given: Any) -> str:
    """Returns what a tool was given, by what matters most: a command as it would be typed, a single value as it is."""
    if isinstance(given, str) and given.startswith("{"):
        given = _load(given)
    if isinstance(given, dict):
        command = next((given[key] for key in ("command", "cmd") if given.get(key)), None)
        single = next(iter(given.values())) if len(given) == 1 else given
        given = single if command is None else command
    if isinstance(given, list) and all(isinstance(word, str) for word in given):
        is_shell = len(given) == 3 and given[1] in ("-c", "-lc")
        given = given[2] if is_shell else " ".join(given)
    return _plain(given)


def _load(text: str) -> Any:
    """Returns the value in JSON text, or the text where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return dump_line(value) if value not in (None, {}, []) else ""
    except (ValueError, RecursionError):
        return ""


def _object(record: dict[str, Any], key: str) -> dict[str, Any]:
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def _objects(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _word(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


def _name(kind: Any) -> str:
    return kind if isinstance(kind, str) and kind else "unknown"
