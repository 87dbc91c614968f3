import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.samples import AT, any_text, items, make_item
from mabos_cli.core.memory.stores import Departure
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.memory.items import departure_from_dict, lines_naming, parse_archive, render_departure

quick = settings(deadline=None, derandomize=True)
departures = st.builds(Departure, items, any_text, any_text, st.just(AT), any_text)


@quick
@given(st.lists(departures, max_size=4))
def test_archive_survives_writing_and_reading(found):
    data = b"".join(render_departure(departure) for departure in found)
    assert data.count(b"\n") == len(found)
    assert parse_archive(data, "a") == (found, 0)


def test_record_names_id_kind_reason_time_and_what_it_became():
    line = render_departure(Departure(make_item(1), "short_term", "merged", AT, into="M-2-aaaa"))
    record = json.loads(line)
    assert list(record) == ["id", "kind", "reason", "at", "into", "store", "item"]
    assert (record["id"], record["kind"], record["into"]) == (make_item(1).id, "item", "M-2-aaaa")
    assert "into" not in json.loads(render_departure(Departure(make_item(1), "working", "expired", AT)))


def test_torn_lines_are_counted_and_other_kinds_passed_over():
    good = render_departure(Departure(make_item(1), "working", "expired", AT))
    data = b'{"kind": "fact", "id": "F-1"}\n' + good + b"[1]\n" + good[:40] + b"\n\0\0\n" + good
    found, skipped = parse_archive(data, "a")
    assert [d.item.id for d in found] == [make_item(1).id] * 2
    assert skipped == 2


def test_record_with_a_bad_item_is_refused_by_name():
    with pytest.raises(InvalidFile, match=r"archive/2026-02\.jsonl: item M-1-aaaa"):
        departure_from_dict({"kind": "item", "item": {"id": "M-1-aaaa"}}, "archive/2026-02.jsonl")


@quick
@given(st.lists(departures, max_size=5))
def test_lines_naming_an_id_are_exactly_its_records(found):
    data = b"".join(render_departure(departure) for departure in found)
    for item_id in {departure.item.id for departure in found}:
        assert parse_archive(lines_naming(data, item_id), "a")[0] == [d for d in found if d.item.id == item_id]


def test_mention_or_longer_id_is_not_a_record_of_an_id():
    other = make_item(1, '{"id": "M-2-aaaa", and ^M-2-aaaa', derived_from=("M-2-aaaa",))
    longer = make_item(1)._replace(id="M-2-aaaab")
    data = b"".join(render_departure(Departure(item, "working", "expired", AT)) for item in (other, longer))
    assert lines_naming(data, "M-2-aaaa") == b""


def test_last_record_without_a_newline_is_found():
    data = render_departure(Departure(make_item(1), "working", "expired", AT)).rstrip(b"\n")
    assert lines_naming(data, make_item(1).id) == data
