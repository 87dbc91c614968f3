"""Transcripts of agent hosts as observations: one for each message of the user or the agent, one for each answer of a tool."""

import json
import re
from _blake2 import blake2b
from collections import Counter
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from mabos_cli.core.language.clock import find_time, format_time
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.learning import AGENT, is_outside_tool
from mabos_cli.core.memory.observation import Observation, bound_text, tool_text
from mabos_cli.formats.json.text import dump_line, dump_record, parse_ledger
from mabos_cli.formats.memory import agent_hosts

ROLES = ("user", "assistant")
NAMED = 10  # numbers of malformed lines that are kept
_GIVEN_BYTES = 400  # of what a tool was given, in what it answered
_OPEN_CALLS = 64  # that wait for their answer; what is older will have none
_KINDS = 50  # names that skipped things are counted under; the rest are one
_WIDTH = 120
# Ids that are told from each other by what redaction never touches.
_PLAIN_ID = re.compile(r"[0-9a-fA-F-]{8,64}(?:@[0-9TZ:.+-]{10,40})?")


class Scope(NamedTuple):
    """Holds what of a transcript is wanted: by whom, with or without tools, from which time on (empty: all)."""

    roles: tuple[str, ...] = ROLES
    tools: bool = True
    since: str = ""

    def covers(self, other: "Scope") -> bool:
        """Returns whether all that another scope wants is in this one.

        >>> Scope().covers(Scope(("user",))), Scope(tools=False).covers(Scope())
        (True, False)
        """
        return set(self.roles) >= set(other.roles) and self.tools >= other.tools and self.since <= other.since


class Asked(NamedTuple):
    """A call that waits for its answer: the tool, what it was given (without secrets, shortened), the kinds of those secrets."""

    tool: str
    given: str = ""
    redacted: tuple[str, ...] = ()


def load_record(line: bytes) -> dict[str, Any] | None:
    """Returns the object on a line, or None when there is none. Bytes that are no UTF-8 are replaced: the rest of the line counts."""
    try:
        record = json.loads(line.strip(b"\0 \t\r\n\xef\xbb\xbf").decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def host_of(line: bytes) -> str:
    """Returns the host that a line tells; empty when it tells none."""
    return agent_hosts.find_host(load_record(line))


class TranscriptReader:
    """Reads the lines of one transcript in order. What it has to remember of lines before is the session, and calls of tools."""

    def __init__(
        self,
        name: str,
        host: str,
        scope: Scope,
        session: str = "",
        calls: dict[str, Asked] | None = None,
        heard_outside: bool = False,
        local_tools: Collection[str] = (),
    ) -> None:
        self.host, self.scope, self.session = host, scope, session
        self.heard_outside, self._local_tools = heard_outside, local_tools
        self.calls: dict[str, Asked] = dict(calls or {})
        self.skipped: Counter[str] = Counter()
        self.malformed = 0
        self.malformed_lines: list[int] = []
        self._source = f"session:{safe_name(name)}"

    def read(self, line: bytes, number: int) -> list[Observation]:
        """Returns what a line says, without id and as it came; nothing, and a count, where it says nothing that is wanted."""
        if not line.strip(b"\0 \t\r\n"):
            return []
        record = load_record(line)
        if record is None:
            self.malformed += 1
            self.malformed_lines += [number] if len(self.malformed_lines) < NAMED else []
            return []
        host_line = agent_hosts.parse_host_line(record, self.host)
        self.session = self.session or safe_name(host_line.session)
        found, key, place = [], "", 0
        for event in host_line.events:
            if isinstance(event, agent_hosts.Called):
                self._note_call(event)
            elif isinstance(event, agent_hosts.Skipped):
                self.skip(event.what)
            else:
                key = key or _key(host_line, line)
                observation = self._observe(event, host_line, f"{key}/{place}" if place else key, number)
                found += [observation] if observation else []
                place += 1
        return found

    def skip(self, what: str) -> None:
        """Counts something that is not taken."""
        name = one_line(what, 40)
        known = name in self.skipped or len(self.skipped) < _KINDS
        self.skipped[name if known else "other"] += 1

    def _note_call(self, event: agent_hosts.Called) -> None:
        name = _call_name(event.call)
        self.calls.pop(name, None)
        self.calls[name] = _ask(event.tool, event.given)
        if len(self.calls) > _OPEN_CALLS:
            del self.calls[next(iter(self.calls))]

    def _observe(
        self, event: agent_hosts.Event, host_line: agent_hosts.HostLine, key: str, number: int
    ) -> Observation | None:
        """Returns what was said or answered. A person's own words are trusted as the agent is; the agent's are until something
        from outside entered the session; a tool's are not."""
        moment = find_time(host_line.at)
        session = safe_name(host_line.session) or self.session
        given = Observation("", at=format_time(moment) if moment else "", session=session, key=key)
        if isinstance(event, agent_hosts.Answered):
            found = self._answer(event, given)
            self.heard_outside |= is_outside_tool(found.source, found.text, self._local_tools)
            unwanted = "" if self.scope.tools else "tool"
        else:
            assert isinstance(event, agent_hosts.Message)
            trust = "untrusted" if event.author == AGENT and self.heard_outside else "agent"
            place = f"{self._source}:{number}"
            found = given._replace(text=event.text, kind="message", author=event.author, source=place, trust=trust)
            unwanted = "" if event.author in self.scope.roles else event.author
        if not unwanted and found.at and found.at < self.scope.since:
            unwanted = "older"
        if unwanted or not found.text.strip():
            self.skip(unwanted or "empty")
            return None
        return found

    def _answer(self, event: agent_hosts.Answered, given: Observation) -> Observation:
        """Returns the answer of a tool, with what was asked."""
        asked = self.calls.pop(_call_name(event.call), None) if event.call else None
        tool, short, kinds = asked or _ask(event.tool, event.given)
        return given._replace(
            text=tool_text(tool, short, event.text) if tool else event.text,
            kind="tool",
            author="tool",
            source=f"tool:{tool}" if tool else self._source,
            tags=("error",) if event.failed else (),
            redacted=kinds,
        )


def _ask(tool: str, given: str) -> Asked:
    """Returns a call in as few words as are worth keeping. Secrets go before anything is cut: half of one would not be known."""
    kinds: set[str] = set()

    def hide(text: str) -> str:
        text, found = _redact(text)
        kinds.update(found)
        return text

    short = one_line(bound_text(given, _GIVEN_BYTES, hide)[0]) if given else ""
    return Asked(safe_name(tool), short, tuple(sorted(kinds)))


def _redact(text: str) -> tuple[str, tuple[str, ...]]:
    from mabos_cli.core.language.secrets import redact

    return redact(text.encode("utf-8", "replace").decode("utf-8"))


@lru_cache(maxsize=256)
def safe_name(text: str) -> str:
    """Returns a name from outside as it may be written down: one short line without secrets."""
    return one_line(_redact(text[:4096])[0], _WIDTH) if text else ""


def _call_name(call: str) -> str:
    """Returns what a call is remembered by until its answer comes."""
    return blake2b(call.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _key(host_line: agent_hosts.HostLine, line: bytes) -> str:
    """Returns what tells an entry from all others: the id that the host gave it, or a hash of its line."""
    if _PLAIN_ID.fullmatch(host_line.id):
        return host_line.id
    return blake2b(line.strip(b"\0 \t\r\n"), digest_size=16).hexdigest()


class Place(NamedTuple):
    """How much of a file there is, and a checksum of the last block before that."""

    size: int
    crc: int


class Mark(NamedTuple):
    """A transcript was taken up to a place, in a scope. `seen` is how far the observations reached then: whatever was taken of it
    and is not noted here stands behind."""

    file: str
    host: str
    place: Place
    line: int = 0
    session: str = ""
    scope: Scope = Scope()
    calls: tuple[tuple[str, Asked], ...] = ()
    seen: tuple[str, Place] | None = None
    at: str = ""
    heard_outside: bool = False


def find_marks(ledger: bytes, file: str) -> Iterator[Mark]:
    """Yields the marks of transcripts with a name, newest first. No other line is decoded, so that a long ledger costs little."""
    wanted = dump_line({"file": file})[1:-1].encode("utf-8")
    end = len(ledger)
    while (place := ledger.rfind(wanted, 0, end)) >= 0:
        start, stop = ledger.rfind(b"\n", 0, place) + 1, ledger.find(b"\n", place)
        for record in parse_ledger(ledger[start : stop if stop >= 0 else None]).records:
            mark = _mark_from(record)
            if mark and mark.file == file:
                yield mark
        end = start


def _mark_from(record: dict[str, Any]) -> Mark | None:
    """Returns the mark in a record, or None when it is none: then that part is read again, and keys tell what was taken."""
    try:
        scope, seen = record.get("scope", {}), record.get("seen")
        mark = Mark(
            file=str(record["file"]),
            host=str(record["host"]),
            place=Place(int(record["size"]), int(record["crc"])),
            line=int(record["line"]),
            session=str(record.get("session", "")),
            scope=Scope(
                tuple(map(str, scope.get("roles", Scope().roles))),
                bool(scope.get("tools", True)),
                str(scope.get("since", "")),
            ),
            calls=tuple(
                (name, Asked(str(tool), str(given), tuple(map(str, kinds))))
                for name, tool, given, kinds in record.get("calls", ())
            ),
            seen=(str(seen[0]), Place(int(seen[1]), int(seen[2]))) if seen else None,
            heard_outside=record.get("heard_outside") is True,
        )
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None
    return mark if mark.host in agent_hosts.HOSTS and mark.place.size >= 0 else None


def render_mark(mark: Mark) -> bytes:
    """Returns the mark as a line of the ledger; what is as usual is left out."""
    usual = Scope()
    scope = {name: value for name, value in mark.scope._asdict().items() if value != getattr(usual, name)}
    record = {
        "at": mark.at,
        "file": mark.file,
        "host": mark.host,
        "session": mark.session,
        "size": mark.place.size,
        "crc": mark.place.crc,
        "line": mark.line,
        "scope": scope,
        "calls": [(name, *asked) for name, asked in mark.calls],
        "seen": (mark.seen[0], *mark.seen[1]) if mark.seen else (),
        "heard_outside": mark.heard_outside or "",
    }
    record_fields = {name: value for name, value in record.items() if value not in ("", (), [], {})}
    return dump_record(record_fields)
