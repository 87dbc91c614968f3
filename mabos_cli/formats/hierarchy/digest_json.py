"""Segments as JSON, for the cache from which summaries are put together. Decoded only as far as somebody looks."""

import json
from typing import Any

from mabos_cli.core.hierarchy.summary import Chore, DayDigest, Highlight, Segment
from mabos_cli.core.hierarchy.themes import Counts, Topic

VERSION = 2  # of digests: another one means that logs are read again
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
        """The days of a week and the hashes of their logs, as they were digested; none when it is not here."""
        try:
            return [(day[0], day[1]) for day in self._segments[week][2]]
        except _BROKEN:
            return []

    def counts(self, week: str) -> Counts | None:
        """How often a week spoke of what, without decoding the rest."""
        try:
            _, _, days, kinds, topics, *_ = self._segments[week]
            total = sum(day[2] for day in days)
            return Counts((topics,), total, kinds.get("decision", 0))
        except _BROKEN:
            return None

    def find(self, week: str) -> Segment | None:
        """The segment of a week."""
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
        """The file."""
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
    told = tuple(Highlight(*line) for line in lines)
    return DayDigest(day, digest, entries, tuple(headings), told, untrusted)
