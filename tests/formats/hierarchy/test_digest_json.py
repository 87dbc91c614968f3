import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.periods import busy, cut
from formats.samples import hostile_texts, json_values
from mabos_cli.core.hierarchy.log_event import LogEvent
from mabos_cli.formats.hierarchy.digest_json import VERSION, SegmentFile

quick = settings(max_examples=40, deadline=None, derandomize=True)
texts = hostile_texts | st.text(max_size=20)
events = st.builds(
    LogEvent,
    st.just("2026-02-24"),
    st.integers(1, 99),
    texts,
    kind=st.sampled_from(("note", "decision", "outcome")) | st.text(max_size=5),
    heading=texts,
    tags=st.lists(texts, max_size=3).map(tuple),
    id=st.text(max_size=5),
    importance=st.none() | st.integers(0, 100).map(lambda n: n / 100),
)
days = st.dictionaries(
    st.sampled_from(("2026-02-23", "2026-02-24", "2026-02-28")), st.lists(events, max_size=4), max_size=3
)


def packed(told):
    """A cache file of the segments of some days."""
    file = SegmentFile(b"")
    for segment in cut(told):
        file.put(segment)
    return file.render()


@quick
@given(days)
def test_segments_come_back_as_they_were(told):
    data, segments = packed(told), cut(told)
    file = SegmentFile(data)
    for segment in segments:
        assert file.hashes(segment.week) == [(day.day, day.hash) for day in segment.days]
        counts = file.counts(segment.week)
        assert counts[1:] == segment.counts[1:]
        assert {key: counts.of(key) for key in segment.topics} == {k: t.entries for k, t in segment.topics.items()}
    assert file.render() == data, "not decoded yet"
    assert [file.find(segment.week) for segment in segments] == segments
    assert [list(file.find(s.week).topics) for s in segments] == [list(s.topics) for s in segments]
    assert file.render() == data and file.find("2026-W01") is None


def test_of_one_file_every_week_comes_back():
    january = {day: told for day, told in busy().items() if day < "2026-02"}
    file = SegmentFile(packed(january))
    assert [file.find(segment.week) for segment in cut(january)] == cut(january)


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe", b"[" * 100_000, b'{"version": 1}'),
        *(b'{"version": 1, "segments": []}', b'{"version": 1, "segments": {"2026-W09": [1, 2]}}'),
        *(b'{"version": 1, "segments": {"2026-W09": [1, 2, 3, 4, 5, 6, 7]}}', b'{"segments": {}}'),
    ],
)
def test_a_damaged_cache_holds_nothing(data):
    file = SegmentFile(data)
    assert (file.hashes("2026-W09"), file.counts("2026-W09"), file.find("2026-W09")) == ([], None, None)


def test_a_cache_of_another_version_holds_nothing():
    data = json.loads(packed(busy()))
    [week] = list(data["segments"])[:1]
    assert SegmentFile(json.dumps(data).encode()).find(week)
    assert SegmentFile(json.dumps(data | {"version": VERSION + 1}).encode()).find(week) is None


@quick
@given(json_values, st.integers(0, 6))
def test_any_json_in_a_cache_is_harmless(value, place):
    fields = ["2026-W09", "2026-02", [], {}, {}, {}, {}]
    fields[place] = value
    body = {"version": VERSION, "segments": {"2026-W09": fields}}
    for found in (body, value, {"version": VERSION, "segments": value}):
        file = SegmentFile(json.dumps(found).encode("utf-8", "replace"))
        file.hashes("2026-W09"), file.counts("2026-W09"), file.find("2026-W09")
        assert file.render()
