"""Observations as JSON lines: ours, and whatever other tools write into the same folder."""

import json
import re
from _blake2 import blake2b
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple
from zlib import crc32

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import find_time, format_time
from mabos_cli.core.memory.item import TYPES, check_importance
from mabos_cli.core.memory.observation import ID, Observation, is_observation_id, tool_text
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import dump_line, dump_record, parse_json, parse_ledger

QUOTED_ID = re.compile(rb'"(O-[0-9a-f-]+)"')
# How a line of ours begins, and the id on it.
_OPENING = re.compile(rf'\{{"id": "({ID})"'.encode())
_ORDER = ("id", "at", "kind", "text", *(f for f in Observation._fields if f not in ("id", "at", "kind", "text")))
_TOOLS = ("tool", "tool_name")
_INPUTS = ("input", "tool_input", "arguments")
_OUTPUTS = ("output", "result", "tool_response", "tool_output")
_TIMES = ("at", "timestamp", "time", "ts", "observed_at", "created_at")


class Line(NamedTuple):
    """A line of a file of observations: its number, its id, and what it says or what is wrong with it."""

    number: int
    id: str
    observation: Observation | None
    fault: str = ""


def render_observation(observation: Observation) -> bytes:
    """Returns the observation as one JSON line; what is empty is left out."""
    found = {}
    for name in _ORDER:
        value = getattr(observation, name)
        if value or (name == "importance" and value is not None):
            found[name] = list(value) if isinstance(value, tuple) else value
    return dump_record(found)


def observation_to_dict(observation: Observation) -> dict[str, Any]:
    """Returns the observation as JSON values, as its line holds them."""
    found: dict[str, Any] = parse_json(render_observation(observation), "observation")
    return found


def observation_from_dict(raw: Any) -> Observation:
    """Returns what a record says, in whatever shape: text, content, a message, or a tool with its input and output. Nothing is checked
    but the time and the importance. BadValue says what is off."""
    if not isinstance(raw, dict):
        raise BadValue("not an object", 'like {"text": "..."}')
    tool, line_text = _word(raw, *_TOOLS), read_line_text(raw)
    text = _tool_text(raw, tool) if tool and not isinstance(raw.get("text"), str) else line_text.text
    if not text.strip():
        raise BadValue("no text", 'give "text", "content", or a tool with its output')
    kind = _word(raw, "type")
    return Observation(
        text,
        id=raw["id"] if isinstance(raw.get("id"), str) and is_observation_id(raw["id"]) else "",
        at=_time(raw, line_text.at),
        kind=_word(raw, "kind") or ("tool" if tool else "message" if _word(raw, "role") else ""),
        source=_word(raw, "source") or (f"tool:{tool}" if tool else ""),
        session=_word(raw, "session", "session_id", "sessionId"),
        author=line_text.author if not tool else _word(raw, "author"),
        type=kind if kind in TYPES else "",
        tags=(*_texts(raw.get("tags")), *(("error",) if raw.get("is_error") is True else ())),
        trust=_word(raw, "trust"),
        importance=_importance(raw.get("importance")),
        key=_word(raw, "key"),
        truncated=raw["truncated"] if type(raw.get("truncated")) is int else 0,
        redacted=_texts(raw.get("redacted")),
    )


def parse_record(line: bytes) -> Any:
    """Returns the JSON value on a line; BadValue when it is none."""
    try:
        return parse_json(line.strip(b"\0 \t\r"), "", line=1)
    except InvalidFile as error:
        raise BadValue(error.message.removeprefix(":1: "), "each line must be one JSON object") from None


def _tool_text(raw: dict[str, Any], tool: str) -> str:
    given = next((raw[name] for name in _INPUTS if name in raw), "")
    output = next((raw[name] for name in _OUTPUTS if name in raw), raw.get("content", ""))
    if isinstance(given, dict) and len(given) == 1:
        given = next(iter(given.values()))
    return tool_text(tool, _plain(given), collect_texts(output) or _plain(output))


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else dump_line(value) if value not in (None, {}, []) else ""


def _word(raw: dict[str, Any], *names: str) -> str:
    return next((raw[name] for name in names if isinstance(raw.get(name), str)), "")


def _texts(value: Any) -> tuple[str, ...]:
    found = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return tuple(part for part in found if isinstance(part, str) and part.strip())


def _time(raw: dict[str, Any], moment_text: str) -> str:
    """Returns the time that a record gives: ISO, or seconds or milliseconds since 1970. Messages do not repeat what stands there: it may
    be a secret that went astray."""
    value = next((raw[name] for name in _TIMES if raw.get(name) not in (None, "")), moment_text)
    moment = None
    if isinstance(value, str):
        moment = find_time(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(ValueError, OverflowError, OSError):
            moment = datetime.fromtimestamp(value / 1000 if abs(value) > 1e11 else value, UTC)
    if moment is None and value != "":
        raise BadValue("not a date or time", "use 2026-02-24T14:30:00Z")
    return format_time(moment) if moment else ""


def _importance(value: Any) -> float | None:
    try:
        return None if value is None else check_importance(value)
    except BadValue as error:
        raise BadValue("importance must be a number from 0 to 1", error.hint) from None


def complete_size(data: bytes) -> int:
    """Returns how many bytes of a file are complete lines: somebody may just be writing the last one. A last line without its end
    counts when it is whole JSON: other tools may not end it."""
    end = data.rfind(b"\n") + 1
    if end < len(data):
        try:
            parse_record(data[end:])
        except BadValue:
            return end
    return len(data)


def parse_observations(data: bytes, name: str, start: int = 0) -> Iterator[Line]:
    """Yields the lines behind the first `start` bytes of a file, each with its id; blank ones are passed over.

    A line without an id of ours gets one from the file's name, its text and how many lines before it read the same: the order
    of lines may change, as in a merge, and what is there keeps its id.
    """
    before: Counter[bytes] | None = None
    first = data.count(b"\n", 0, start) + 1
    for number, line in enumerate(data[start : complete_size(data)].split(b"\n"), first):
        line = line.strip(b"\0 \t\r")
        if not line:
            continue
        try:
            observation = observation_from_dict(parse_record(line))
        except BadValue as error:
            yield Line(number, "", None, error.message)
            continue
        if not observation.id:
            if before is None:
                before = Counter(part.strip(b"\0 \t\r") for part in data[:start].split(b"\n"))
            observation = observation._replace(id=_hashed_id(name, line, before[line]))
            before[line] += 1
        yield Line(number, observation.id, observation)


def numbered_ids(data: bytes, name: str, start: int = 0) -> list[tuple[int, str]]:
    """Returns the numbers of the lines that parse_observations reads, with their ids. Where all are in our own layout, none is decoded.

    >>> numbered_ids(b'{"id": "O-1-0000", "text": "x"}\\n\\n{"id": "O-2-0000", "text": "y"}\\n', "x.jsonl")
    [(1, 'O-1-0000'), (3, 'O-2-0000')]
    """
    first = data.count(b"\n", 0, start) + 1
    lines = enumerate(data[start : complete_size(data)].split(b"\n"), first)
    found = [(number, _OPENING.match(line)) for number, line in lines if line.strip(b"\0 \t\r")]
    known = [(number, match[1].decode()) for number, match in found if match]
    if len(known) == len(found):
        return known
    return [(line.number, line.id) for line in parse_observations(data, name, start) if line.observation]


def _hashed_id(name: str, line: bytes, repetition: int) -> str:
    seed = b"\0".join((name.encode("utf-8", "surrogateescape"), line, str(repetition).encode()))
    return f"O-{blake2b(seed, digest_size=8).hexdigest()}"


class NamedLines:
    """The lines of a file by the ids that they name somewhere, found by text: none is decoded, and none cut out unasked.

    >>> NamedLines(b'{"text": "x", "id": "O-1-0000"}\\n{"text": "y"}\\n').find("O-1-0000")
    b'{"text": "x", "id": "O-1-0000"}\\n'
    """

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._places: dict[bytes, list[int]] = {}
        for match in QUOTED_ID.finditer(data):
            self._places.setdefault(match[1], []).append(match.start())

    def find(self, observation_id: str) -> bytes:
        """Returns the lines that name an id; none when there are none."""
        places, data = self._places.get(observation_id.encode(), ()), self._data
        starts = dict.fromkeys(data.rfind(b"\n", 0, place) + 1 for place in places)
        return b"".join(data[start : (data.find(b"\n", start) + 1) or None] for start in starts)


def opening_ids(data: bytes) -> list[str]:
    """Returns the ids of lines in our own layout, read without decoding the rest.

    >>> opening_ids(b'{"id": "O-1771943400000-0000", "at": "x"}\\n{"text": "no id"}\\n')
    ['O-1771943400000-0000']
    """
    found = (_OPENING.match(line) for line in data.split(b"\n"))
    return [match[1].decode() for match in found if match]


_TEXT_KEYS = ("text", "content", "message", "summary", "prompt", "output", "result", "thinking")
_AUTHOR_KEYS = ("author", "speaker", "role", "name")
_DEEPEST = 8  # a message holds blocks, a block the answer of a tool, that answer blocks again
_TIME_KEYS = ("timestamp", "at", "time", "created_at", "observed_at")


class LineText(NamedTuple):
    """Holds the text of one line."""

    line: int
    text: str
    author: str = ""
    at: str = ""


def parse_line_texts(data: bytes) -> Iterator[LineText]:
    """Yields the lines that have text; torn lines are skipped."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip(b"\0 \t\r"):
            continue
        try:
            value = json.loads(line.strip(b"\0").decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            line_text = read_line_text(value, number)
            if line_text.text.strip():
                yield line_text


def read_line_text(value: dict[str, Any], line: int = 0) -> LineText:
    """Returns what a record says, by whom and when; empty where it does not tell."""
    return LineText(line, collect_texts(value), _first(value, _AUTHOR_KEYS), _first(value, _TIME_KEYS))


def collect_texts(value: Any) -> str:
    """Returns the texts below the usual keys of a value, each once."""
    return "\n".join(dict.fromkeys(_nested_texts(value, _DEEPEST)))


def _nested_texts(value: Any, deep: int) -> Iterator[str]:
    """Yields the texts below the usual keys, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and deep:
        for part in value:
            yield from _nested_texts(part, deep - 1)
    elif isinstance(value, dict) and deep:
        for key in (*_TEXT_KEYS, "payload", "parts"):
            if key in value:
                yield from _nested_texts(value[key], deep - 1)


def _first(value: dict[str, Any], keys: tuple[str, ...]) -> str:
    """Returns the first text under one of the keys, in the record or in the message that it wraps."""
    for level in (value, value.get("message"), value.get("payload")):
        if isinstance(level, dict):
            for key in keys:
                if isinstance(text := level.get(key), str):
                    return text
    return ""


BLOCK = 4096
_LINEAGE = rb'"derived_from"\s*:\s*\[([^\]]*)\]'


class Cover(NamedTuple):
    """All of a file up to `size` is settled, for harvests that ask for `floor` of importance or more. crc is of its last block."""

    size: int
    crc: int
    floor: float = 0.0

    def fits(self, data: bytes) -> bool:
        """Returns whether a file still begins as it did."""
        return len(data) >= self.size and crc_before(data, self.size) == self.crc


class HarvestLedger(NamedTuple):
    """Holds what is known about one file: observations that became items, how far it is settled, and where somebody chose among the
    candidates of an observation, those that are settled and that observation."""

    ids: frozenset[str] = frozenset()
    covers: tuple[Cover, ...] = ()
    candidates: frozenset[str] = frozenset()
    chosen_from: frozenset[str] = frozenset()

    def find_cover(self, data: bytes, floor: float) -> Cover:
        """Returns what of the file needs no second look: the largest part, for the lowest floor that it is settled for."""
        ordered = sorted(self.covers, key=lambda cover: (-cover.size, cover.floor))
        return next((c for c in ordered if c.floor <= floor and c.fits(data)), Cover(0, 0))


def crc_before(data: bytes, size: int) -> int:
    """Returns a checksum of the last block before a place in a file."""
    return crc32(data[max(0, size - BLOCK) : size])


def parse_harvests(data: bytes) -> HarvestLedger:
    """Returns the ledger in its lines, in whatever order. Torn lines are passed over: what is missing is looked up again."""
    named: dict[str, set[str]] = {"ids": set(), "candidates": set(), "of": set()}
    covers: list[Cover] = []
    for record in parse_ledger(data).records:
        for name, found in named.items():
            found.update(_texts(record.get(name)))
        size, crc, floor = (record.get(name, 0) for name in Cover._fields)
        if isinstance(size, int) and isinstance(crc, int) and isinstance(floor, int | float) and size > 0:
            covers.append(Cover(size, crc, float(floor)))
    ids, candidates, chosen_from = map(frozenset, named.values())
    return HarvestLedger(ids, tuple(covers), candidates, chosen_from)


def render_taken(ids: Sequence[str], at: str) -> bytes:
    """Returns a line that says which observations were taken."""
    return dump_record({"at": at, "ids": list(ids)})


def render_chosen(candidates: Sequence[str], of: Sequence[str], at: str) -> bytes:
    """Returns a line that says which candidates were taken or left, and which observations they come from; others of those may wait."""
    return dump_record({"at": at, "candidates": list(candidates), "of": list(dict.fromkeys(of))})


def render_cover(cover: Cover) -> bytes:
    """Returns a line that says how far a file was looked through."""
    record = cover._asdict()
    if not cover.floor:
        del record["floor"]
    return dump_record(record)


def last_cover(tail: bytes) -> Cover | None:
    """Returns the cover on the last line of a ledger, from its end alone; None when it does not end with one."""
    covers = parse_harvests(tail.rstrip(b"\n").rpartition(b"\n")[2]).covers
    return covers[0] if covers else None


def names_any(data: bytes, ids: Iterable[str]) -> set[str]:
    """Returns which ids stand in the lineage of an item in the text of a file, whatever its layout. Elsewhere they make nothing of it."""
    found = (match for lineage in re.findall(_LINEAGE, data) for match in QUOTED_ID.findall(lineage))
    return {match.decode() for match in found}.intersection(ids)
