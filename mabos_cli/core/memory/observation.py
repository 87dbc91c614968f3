"""Observations: what a tool, a message or the agent itself said, as it came but for secrets and length."""

import re
from collections.abc import Callable

from mabos_cli.core import BadValue
from mabos_cli.core.memory.item import TRUSTS, check_importance, check_tags, check_word
from mabos_cli.core.memory.trust import is_outside, lowest_trust
from mabos_cli.core.records import NamedTuple

# Minted at capture, or drawn from the line itself where another tool wrote it without one.
ID = r"O-(?:\d{1,16}-[0-9a-f]{4}|[0-9a-f]{16})"
# Of a huge text, so many times the limit are looked through at either end, and the characters of that which lie next to
# the rest are never kept: there are more of them than the longest secret has.
_WINDOW, _BORDER = 64, 20_000

Redact = Callable[[str], tuple[str, tuple[str, ...]]]


class Observation(NamedTuple):
    """One thing observed. importance is None until somebody says; truncated counts the bytes that were left out, redacted
    names the kinds of secrets, key is the name of the entry where it comes from."""

    text: str
    id: str = ""
    at: str = ""
    kind: str = ""
    source: str = ""
    session: str = ""
    author: str = ""
    type: str = ""
    tags: tuple[str, ...] = ()
    trust: str = ""
    importance: float | None = None
    key: str = ""
    truncated: int = 0
    redacted: tuple[str, ...] = ()


def is_observation_id(text: str) -> bool:
    """Returns whether a text is the id of an observation.

    >>> is_observation_id("O-1771943400000-00a4"), is_observation_id("M-1771943400000-00a4")
    (True, False)
    """
    return bool(re.fullmatch(ID, text))


def with_origin(observation: Observation, at: str, most: str = "") -> Observation:
    """Returns the observation with its kind, source, time and trust filled in where it is silent.

    `most` is how far it may be trusted, where the caller says. Otherwise messages are untrusted, and what the agent notes itself
    is trusted as the agent is. What a record says of itself only lowers that. What comes from outside is untrusted in any case.
    """
    # Without the spaces that are taken off later: behind them a tool would not be known as one.
    source = observation.source.strip() or "capture"
    outside = is_outside(source)
    is_tool = source.casefold().startswith("tool:")
    kind = observation.kind.strip() or ("tool" if is_tool else "message" if outside else "note")
    given = most or ("agent" if kind == "note" else "untrusted")
    trust = TRUSTS[0] if outside or kind == "tool" else lowest_trust((given, observation.trust or given))
    return observation._replace(source=source, kind=kind, at=observation.at or at, trust=trust)


def clean(observation: Observation, limit: int, redact: Redact) -> Observation:
    """Returns the observation without secrets in any of its words, and with at most `limit` bytes of text. BadValue where a word does
    not fit: the message holds no secret, for those are gone by then."""
    kinds = dict.fromkeys(observation.redacted)

    def hide(text: str) -> str:
        text, found = redact(text.encode("utf-8", "replace").decode("utf-8"))
        kinds.update(dict.fromkeys(found))
        return text

    text, cut = bound_text(observation.text.replace("\0", "\ufffd").strip("\r\n"), limit, hide)
    if not text.strip():
        raise BadValue("no text", 'give "text", "content", or a tool with its output')
    names = ("kind", "source", "session", "author", "key")
    words, tags = {name: getattr(observation, name) for name in names}, observation.tags
    if redact("\n".join((*words.values(), *tags)))[1]:  # one look at all of them, and most have nothing to hide
        words, tags = {name: hide(word) for name, word in words.items()}, tuple(map(hide, tags))
    level = observation.importance
    return observation._replace(
        text=text,
        tags=check_tags(tags),
        importance=None if level is None else check_importance(level),
        truncated=observation.truncated + cut,
        redacted=tuple(sorted(kinds)),
        **{name: check_word(word, name) for name, word in words.items()},
    )


def bound_text(text: str, limit: int, hide: Callable[[str], str] = str) -> tuple[str, int]:
    """Returns a text without what `hide` takes away, its middle left out where it has more than `limit` bytes, and how many are.

    Hiding comes before cutting: half a secret would not be known as one.

    >>> bound_text("abc", 10), bound_text("0123456789" * 20, 60)
    (('abc', 0), ('0123456789012345678\\n[162 bytes left out]\\n1234567890123456789', 162))
    """
    window = _WINDOW * limit
    if len(text) > 2 * window:
        head, tail = hide(text[:window]), hide(text[-window:])
        if min(len(head), len(tail)) >= limit + _BORDER:
            between = len(text[window:-window].encode("utf-8", "replace"))
            return _without_middle(head.encode("utf-8"), tail.encode("utf-8"), between, limit)
    data = hide(text).encode("utf-8", "replace")
    if len(data) <= limit:
        return data.decode("utf-8"), 0
    return _without_middle(data, data, -len(data), limit)


def _without_middle(head: bytes, tail: bytes, between: int, limit: int) -> tuple[str, int]:
    """Returns the start of one text and the end of another, cut between characters, around a mark that says how much is missing."""
    size = len(head) + len(tail) + between
    room = limit - len(_mark(size))
    first = head[: max(0, room) // 2 if room > 0 else limit].decode("utf-8", "ignore")
    last = tail[-(room // 2) :].decode("utf-8", "ignore") if room > 1 else ""
    left = size - len(first.encode("utf-8")) - len(last.encode("utf-8"))
    return (f"{first}{_mark(left)}{last}" if room > 0 else first), left


def _mark(count: int) -> str:
    return f"\n[{count:,} bytes left out]\n"


def tool_text(tool: str, given: str, output: str) -> str:
    """Returns what a call of a tool is remembered by: the tool with what it was given, and below what came back.

    >>> tool_text("bash", "ls", "a.txt")
    'bash: ls\\na.txt'
    """
    asked = f"{tool}: {given}" if given else tool
    return f"{asked}\n{output}" if output else asked
