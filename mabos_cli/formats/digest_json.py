"""Segments as JSON, for the cache from which summaries are put together."""

import json
from typing import Any

from mabos_cli.core.digest import Chore, DayDigest, Highlight, Segment
from mabos_cli.core.topics import Topic

VERSION = 1  # of digests: another one means that logs are read again


def render_segments(segments: dict[str, Segment]) -> bytes:
    """The segments of a month, by week."""
    body = {"version": VERSION, "segments": {week: segments[week] for week in sorted(segments)}}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


def parse_segments(data: bytes) -> dict[str, Segment]:
    """The segments in a cache file; none when it is damaged or of another version: it is only a cache."""
    try:
        body = json.loads(data)
        if body["version"] != VERSION:
            return {}
        return {week: _segment(fields) for week, fields in body["segments"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def _segment(fields: list[Any]) -> Segment:
    week, month, days, kinds, topics, chores, pairs = fields
    return Segment(
        week,
        month,
        tuple(_day(*day) for day in days),
        kinds,
        {key: Topic(*topic) for key, topic in topics.items()},
        {shape: Chore(*chore) for shape, chore in chores.items()},
        pairs,
    )


def _day(day: str, digest: str, entries: int, headings: list[str], lines: list[list[Any]]) -> DayDigest:
    return DayDigest(day, digest, entries, tuple(headings), tuple(Highlight(*line) for line in lines))
