"""Describes the hosts whose hooks we answer: names of events, payloads, and the answers that they accept.

It imports next to nothing: the end of a session must not wait. All hosts treat exit code 2 as a veto, and read JSON or nothing on stdout.
"""

from collections.abc import Container, Iterable

EVENTS = ("session-start", "user-prompt", "pre-compact", "stop", "session-end")
TELLING = ("session-start", "user-prompt")  # whose answers a model reads
HOSTS = ("claude", "codex", "gemini", "cursor", "openclaw", "opencode")
_CLAUDE = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")
_PLUGINS = ("openclaw", "opencode")
# The names of EVENTS with each host, in order.
NAMES = {
    "claude": _CLAUDE,
    "codex": _CLAUDE,
    "gemini": ("SessionStart", "BeforeAgent", "PreCompress", "AfterAgent", "SessionEnd"),
    "cursor": ("sessionStart", "beforeSubmitPrompt", "preCompact", "stop", "sessionEnd"),
    # Called by our plugin, which passes on the names of the host.
    "openclaw": ("session_start", "before_prompt_build", "before_compaction", "agent_end", "session_end"),
    "opencode": (
        "session.created",
        "chat.message",
        "experimental.session.compacting",
        "session.idle",
        "session.deleted",
    ),
}
# Other names of the same: the hooks of OpenClaw's gateway.
_ALSO = {"session:compact:before": "pre-compact"} | dict.fromkeys(
    ("command:new", "command:reset", "session:auto-reset"), "session-end"
)
# Characters, as hosts count them, that a host adds to the context. The limit of Codex is 2,500 tokens.
ROOM = dict.fromkeys(HOSTS, 10_000) | {"codex": 8_000}
# Hosts that report the end of a session late (Codex, a minute after it) or never: each stop is recorded, and harvested at once or later.
LATE = {"codex": False, "openclaw": True, "opencode": True}
TRIAL = "mabos-connect"  # the session that connect plays: it is not harvested
_LONGEST = 4096  # of an id or a path
_KEPT = 100_000  # characters of a prompt or an answer that are looked at


def find_event(word: str) -> str:
    """Finds the event with a name, ours or a host's; empty if there is none.

    >>> find_event("PreCompress"), find_event("session-end"), find_event("command:new"), find_event("PreToolUse")
    ('pre-compact', 'session-end', 'session-end', '')
    """
    if word in EVENTS:
        return word
    if word in _ALSO:
        return _ALSO[word]
    return next((EVENTS[names.index(word)] for names in NAMES.values() if word in names), "")


def find_host(payload: dict[str, object], environ: Container[str]) -> str:
    """Finds the host that sent a payload, by fields that only that host sends; Claude Code otherwise, which others imitate.

    >>> find_host({"conversation_id": "c1"}, {}), find_host({"session_id": "s1"}, {})
    ('cursor', 'claude')
    """
    name = payload.get("hook_event_name")
    if "cursor_version" in payload or "conversation_id" in payload or "CURSOR_VERSION" in environ:
        return "cursor"
    if "GEMINI_SESSION_ID" in environ or name in ("BeforeAgent", "AfterAgent", "PreCompress"):
        return "gemini"
    if isinstance(name, str) and (found := next((host for host in _PLUGINS if name in NAMES[host]), "")):
        return found
    if name in _ALSO:
        return "openclaw"
    if "turn_id" in payload or "/.codex/" in word_of(payload, "transcript_path"):
        return "codex"
    return "claude"


def word_of(payload: dict[str, object], *keys: str) -> str:
    """Returns the first of several values that is a short text; empty if none is."""
    for key in keys:
        value = payload.get(key)
        if isinstance(value, str) and 0 < len(value) <= _LONGEST:
            return value
    return ""


def text_of(payload: dict[str, object], key: str) -> str:
    """Returns a text of any length, its start when it is very long."""
    value = payload.get(key)
    return value[:_KEPT] if isinstance(value, str) else ""


def prompt_of(payload: dict[str, object]) -> str:
    """Returns the prompt of a person, without the answers of hooks that a host put before it.

    >>> prompt_of({"prompt": "<hook_context>INDEX</hook_context>\\n\\nWhat do seats cost?"})
    'What do seats cost?'
    """
    text = text_of(payload, "prompt")
    while text.startswith("<hook_context>") and "</hook_context>" in text:
        text = text.partition("</hook_context>")[2].lstrip()
    return text


def session_of(payload: dict[str, object]) -> str:
    """Returns the id of the session."""
    return word_of(payload, "session_id", "conversation_id")


def folders_of(payload: dict[str, object]) -> list[str]:
    """Returns the folders of a session, the current one first."""
    roots = payload.get("workspace_roots")
    found = [word_of(payload, "cwd"), *(roots if isinstance(roots, list) else ())]
    return [folder for folder in found if isinstance(folder, str) and folder.startswith("/")]


def context_answer(host: str, event: str, text: str) -> dict[str, object]:
    """Returns the answer that adds a text to the context of a session; empty if the host cannot do that."""
    if not text or (host == "cursor" and event != "session-start"):
        return {}
    if host == "cursor":
        return {"additional_context": text}
    name = NAMES[host][EVENTS.index(event)]
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def again_answer(host: str, text: str) -> dict[str, object]:
    """Returns the answer that makes an agent continue with a task instead of stopping."""
    if host == "cursor":
        return {"followup_message": text}
    return {"decision": "deny" if host == "gemini" else "block", "reason": text}


def is_again(payload: dict[str, object]) -> bool:
    """Returns whether an agent already continued because of a hook: then it may stop."""
    count = payload.get("loop_count")
    return bool(payload.get("stop_hook_active")) or (isinstance(count, int) and count > 0)


def event_payload(host: str, event: str, folder: str, prompt: str = "") -> dict[str, object]:
    """Returns the payload of an event, for a session without a transcript."""
    found: dict[str, object] = {"hook_event_name": NAMES[host][EVENTS.index(event)], "cwd": folder}
    if host == "cursor":
        found |= {"conversation_id": TRIAL, "workspace_roots": [folder], "cursor_version": "0"}
    else:
        found["session_id"] = TRIAL
    more = {
        "session-start": ("source", "startup"),
        "user-prompt": ("prompt", prompt),
        "session-end": ("reason", "other"),
    }
    return found | dict([more[event]])


def shown_text(answer: object) -> str:
    """Returns the part of an answer that a model sees.

    >>> shown_text(context_answer("claude", "session-start", "x")), shown_text(context_answer("cursor", "session-start", "y")), shown_text({})
    ('x', 'y', '')
    """
    found = answer if isinstance(answer, dict) else {}
    inner = found.get("hookSpecificOutput")
    return text_of(found, "additional_context") or (
        text_of(inner, "additionalContext") if isinstance(inner, dict) else ""
    )


def count_answers(lines: Iterable[str], agent: str) -> list[dict[str, object]]:
    """Counts what hooks answered for an agent, by host and event, with the last answer of each.

    >>> count_answers(["2026-03-02T09:00:00Z main claude user-prompt told"], "main")
    [{'host': 'claude', 'hook': 'user-prompt', 'answers': {'told': 1}, 'last': 'told', 'at': '2026-03-02T09:00:00Z'}]
    """
    found: dict[tuple[str, str], dict[str, object]] = {}
    counts: dict[tuple[str, str], dict[str, int]] = {}
    for line in lines:
        at, *words = line.split()[:5] or [""]
        if len(words) == 4 and words[0] == agent:
            key, last = (words[1], words[2]), words[3]
            count = counts.setdefault(key, {})
            count[last] = count.get(last, 0) + 1
            found[key] = {"host": words[1], "hook": words[2], "answers": count, "last": last, "at": at}
    return [found[key] for key in sorted(found)]
