"""Segments as JSON, for the cache from which summaries are put together. Decoded only as far as somebody looks."""

import json
from typing import Any

from mabos_cli.core.hierarchy.log_taking import DayTaken
from mabos_cli.core.hierarchy.summary import Chore, DayDigest, Highlight, Segment
from mabos_cli.core.hierarchy.themes import Counts, Topic
from mabos_cli.core.records import NamedTuple
from mabos_cli.formats.json.text import dump_record, parse_ledger

VERSION = 3  # of digests: another one means that logs are read again
_BROKEN = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)


class SegmentFile:
    """The segments of a month by week. What is damaged or of another version is not there: it is only a cache."""

    def __init__(self, data: bytes) -> None:
        self._segments: dict[str, Any] = {}
        try:
            body = json.loads(data)
            if body["version"] == VERSION:
                self._segments = dict(body["segments"])
        except _BROKEN:
            pass

    def hashes(self, week: str) -> list[tuple[str, str]]:
        """Returns the days of a week and the hashes of their logs, as they were digested; none when it is not here."""
        try:
            return [(day[0], day[1]) for day in self._segments[week][2]]
        except _BROKEN:
            return []

    def counts(self, week: str) -> Counts | None:
        """Returns how often a week spoke of what, without decoding the rest."""
        try:
            _, _, days, kinds, topics, *_ = self._segments[week]
            total = sum(day[2] for day in days)
            return Counts((topics,), total, kinds.get("decision", 0), sum(1 for day in days if day[2]))
        except _BROKEN:
            return None

    def find(self, week: str) -> Segment | None:
        """Returns the segment of a week."""
        try:
            found = self._segments[week]
            if not isinstance(found, Segment):
                found = self._segments[week] = _segment(*found)
            return found
        except _BROKEN:
            return None

    def put(self, segment: Segment) -> None:
        """Takes a segment in."""
        self._segments[segment.week] = segment

    def render(self) -> bytes:
        """Returns the file."""
        body = {"version": VERSION, "segments": {week: self._segments[week] for week in sorted(self._segments)}}
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def _segment(week: str, month: str, days: list[Any], kinds: Any, topics: Any, chores: Any, pairs: Any) -> Segment:
    return Segment(
        week,
        month,
        tuple(_day(*day) for day in days),
        kinds,
        {key: Topic(*topic) for key, topic in topics.items()},
        {shape: Chore(*chore) for shape, chore in chores.items()},
        pairs,
    )


def _day(day: str, digest: str, entries: int, headings: list[str], lines: list[list[Any]], untrusted: int) -> DayDigest:
    highlights = tuple(Highlight(*line) for line in lines)
    return DayDigest(day, digest, entries, tuple(headings), highlights, untrusted)


class LogLedger(NamedTuple):
    """The ledger of log consolidation: the lowest threshold by day and digest, keys of events, marks of texts."""

    done: dict[tuple[str, str], float]
    keys: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()

    def is_done(self, day: str, digest: str, min_importance: float) -> bool:
        """Returns whether a day was looked through as it is, and no more strictly than now."""
        return self.done.get((day, digest), 2.0) <= min_importance


def parse_log_ledger(data: bytes) -> LogLedger:
    """Parses the lines of the ledger. Torn lines and foreign records are skipped: what is missing is looked up again."""
    done: dict[tuple[str, str], float] = {}
    keys: set[str] = set()
    marks: set[str] = set()
    for record in parse_ledger(data).records:
        keys.update(_strings(record.get("taken")), _strings(record.get("known")))
        marks.update(_strings(record.get("said")))
        least = record.get("min_importance")
        if isinstance(least, int | float) and not isinstance(least, bool):
            name = (str(record.get("day")), str(record.get("digest")))
            done[name] = min(done.get(name, 2.0), least)
    return LogLedger(done, frozenset(keys), frozenset(marks))


def _strings(value: Any) -> list[str]:
    return [part for part in value if isinstance(part, str)] if isinstance(value, list) else []


def render_day_taken(line: DayTaken) -> bytes:
    """Returns a line of the ledger; lists that are empty are left out."""
    fields = line._asdict()
    fields["said"] = fields.pop("marks")  # the name in ledgers
    return dump_record({name: value for name, value in fields.items() if value != ()})
