"""facts.json as we and as others write it: nothing is lost, what is wrong is told with its line, and text finds what is there."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.samples import any_text, json_values
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.knowledge.exchange import Silent, parse_csv, parse_ndjson, render_csv, render_ndjson
from mabos_cli.formats.knowledge.facts import (
    FactFile,
    fact_from_dict,
    fact_to_dict,
    parse_fact,
    parse_fact_departures,
    parse_facts,
    render_fact,
    render_facts,
    renew_derived,
)

quick = settings(deadline=None, derandomize=True)
names = st.one_of(
    any_text.filter(bool),
    st.sampled_from(["a", "a b", 'say "hi"', "back\\slash", "é", "\u202ex", "tab\tbed"]),
)
times = st.sampled_from(["", "2026-01-01", "2026-02-24T14:30:00Z", "2026-02-24T14:30:00.000+01:00"])
KNOWN = frozenset(Fact._fields)
facts = st.builds(
    Fact,
    names,
    names,
    names,
    names,
    st.one_of(st.floats(0, 1), st.sampled_from([0, 1, 1e-7, 0.5])),
    any_text,
    any_text,
    times,
    times,
    st.lists(names, max_size=2).map(tuple),
    any_text,
    any_text,
    any_text,
    st.dictionaries(any_text.filter(lambda key: key not in KNOWN), json_values, max_size=2).map(
        lambda extra: tuple(extra.items())
    ),
)
many = st.lists(facts, max_size=4, unique_by=lambda fact: fact.id)


def line(number: int, **fields) -> dict:
    return {"id": f"F-{number}", "subject": "acme", "predicate": "owns", "object": f"shop {number}"} | fields


def lined(entries: list[dict], ascii_only: bool = True) -> bytes:
    """Our layout, with whichever keys and escapes."""
    lines = ",\n".join(f"    {json.dumps(entry, ensure_ascii=ascii_only)}" for entry in entries)
    return f'{{\n  "facts": [\n{lines}\n  ]\n}}\n'.encode("utf-8", "surrogatepass")


def document(entries: list[dict], **others) -> bytes:
    return json.dumps({"facts": entries} | others, indent=2).encode()


@quick
@given(facts)
def test_a_fact_survives_its_line(fact):
    assert parse_fact(render_fact(fact), "x") == fact
    assert fact_from_dict(fact_to_dict(fact), "x") == fact


@quick
@given(
    many,
    st.integers(0, 9),
    st.dictionaries(any_text.filter(lambda key: key not in ("facts", "version", "last_id")), json_values, max_size=2),
)
def test_a_file_survives(found, version, extra):
    written = render_facts(FactFile([render_fact(fact) for fact in found], version, "F-9-0000", extra))
    file = parse_facts(written, "facts.json")
    assert list(file.facts()) == found and len(file) == len(found)
    assert (file.version, file.last_id, file.extra) == (version, "F-9-0000", extra)
    assert render_facts(file) == written
    assert render_facts(parse_facts(written, "x")) == written  # also before anybody asked for the lines


@quick
@given(many, st.integers(0, 3), st.booleans())
def test_facts_are_found_by_text_whoever_wrote_the_file(found, layout, ascii_only):
    """In our layout, in ours with other escapes and key orders, pretty-printed, and as a bare list."""
    rows = [fact_to_dict(fact) for fact in found]
    own = [{"id": row["id"], **dict(sorted(row.items(), reverse=True))} for row in rows]
    if layout == 0:
        data = render_facts(FactFile([render_fact(fact) for fact in found]))
    elif layout == 1:
        data = lined(own, ascii_only)
    elif layout == 2:
        data = json.dumps({"facts": own}, indent=4).encode()
    else:
        data = json.dumps(rows).encode()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return
    file = parse_facts(data, "facts.json")
    for fact in found:
        assert fact_to_dict(fact) in [fact_to_dict(f) for f in file.where("subject", fact.subject)]
        assert fact.id in {f.id for f in file.where("object", fact.object)}
        assert [f.id for f in file.where("id", fact.id)] == [fact.id]
        known = file.with_triple(fact.triple)
        assert known and all(each.triple == fact.triple for each in known)
    assert not list(file.where("subject", "nobody said this"))
    assert parse_facts(render_facts(file), "x").lines == file.lines


def test_files_of_other_tools_open_as_they_are():
    rows = [
        line(1, confidence=1, object=42, note={"by": "crm"}),
        {"id": "F-1708800000-ab12", "subject": "a", "predicate": "b", "object": True},
        line(3, rule_id="R-001", derived_from=["F-1"], confidence=0.5, valid_from=None),
    ]
    for data in (json.dumps(rows).encode(), document(rows), document(rows, tool="x", version=7)):
        file = parse_facts(data, "facts.json")
        first, second, third = file.facts()
        assert (first.object, first.extra) == ("42", (("note", {"by": "crm"}),))
        assert (second.object, second.confidence, second.source) == ("true", 1.0, "manual")
        assert third.is_derived and third.derived_from == ("F-1",)
        again = json.loads(render_facts(file))
        assert [row["id"] for row in again["facts"]] == ["F-1", "F-1708800000-ab12", "F-3"]
        assert again["facts"][0]["note"] == {"by": "crm"}
        assert again.get("tool") == ("x" if b"tool" in data else None)


OFF = [
    ({"confidence": 1.7}, "confidence 1.7 is outside 0..1"),
    ({"confidence": -0.1}, "outside 0..1"),
    ({"confidence": "high"}, "outside 0..1"),
    ({"confidence": True}, "outside 0..1"),
    ({"valid_from": "soon"}, "valid_from 'soon' is no date"),
    ({"valid_until": "2026-02-31"}, "is no date"),
    ({"subject": ""}, "subject is missing"),
    ({"object": None}, "object is missing"),
    ({"object": {"a": 1}}, "object must be text"),
    ({"source": 3}, "source must be text"),
    ({"derived_from": "F-1"}, "derived_from must be a list of ids"),
    ({"id": "F-1"}, "occurs twice"),
]


@pytest.mark.parametrize(("fields", "told"), OFF)
def test_what_is_wrong_is_told_with_its_line(fields, told):
    rows = [fact_to_dict(fact_from_dict(line(n), "x")) for n in (1, 2, 3)]
    rows[1] |= fields
    ours = ",\n".join(f"    {json.dumps(row)}" for row in rows)
    with pytest.raises(InvalidFile) as ours_error:
        parse_facts(f'{{\n  "tool": 1,\n  "facts": [\n{ours}\n  ]\n}}\n'.encode(), "a/facts.json")
    assert str(ours_error.value.message).startswith("a/facts.json:5: ") and told in ours_error.value.message
    with pytest.raises(InvalidFile) as pretty_error:
        parse_facts(document(rows), "a/facts.json")
    at = int(pretty_error.value.message.split(":")[1])
    assert document(rows).decode().split("\n")[at - 1] == "    {" and at > 4
    assert told in pretty_error.value.message


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"facts": {}}',
        b'{"facts": "on pages", "version": 3}',
        b'"text"',
        b'{"facts": [3]}',
        b'{"facts": [], "version": "1.0"}',
        b'{"facts": [], "version": true}',
        b'{"facts": [], "facts": []}',
        b'{\n  "facts": [\n    {"id": "F-1", "subject": "a\xff", "predicate": "b", "object": "c"}\n  ]\n}',
        b'{\n  "facts": [\n    {"id": "F-1", "subject": "a", "predicate": "b"\n  ]\n}',
        b'{\n  "facts": [\n<<<<<<< HEAD\n    {"id": "F-1"}\n=======\n  ]\n}',
    ],
)
def test_broken_files_are_refused(data):
    with pytest.raises(InvalidFile, match=r"^agents/main/facts\.json(:\d+)?: "):
        parse_facts(data, "agents/main/facts.json")


def test_a_large_file_is_looked_over_too():
    rows = [fact_to_dict(fact_from_dict(line(n), "x")) for n in range(9_000)]
    for fields, told in OFF:
        bad = [*rows[:8000], rows[8000] | fields | {"note": "x"}, *rows[8001:]]
        data = lined(bad)
        assert len(data) > 1 << 20
        with pytest.raises(InvalidFile, match=r"^f:8003: .*") as error:
            parse_facts(data, "f").ids()
        assert told in error.value.message


def test_what_is_derived_again_keeps_its_line():
    one, two = (
        Fact(f"F-inf-{n}", "a", "b", str(n), rule_id="R-001", derived_from=("F-1",), source="inference") for n in (1, 2)
    )
    file = FactFile()
    assert tuple(renew_derived(file, [two, one], "2026-01-01T00:00:00.000Z", drops=True).done) == (2, 0, 0)
    lines = file.lines
    assert tuple(renew_derived(file, [one, two], "2026-01-02T00:00:00.000Z", drops=True).done) == (0, 0, 0)
    assert file.lines is lines
    surer = one._replace(confidence=0.5)
    assert tuple(renew_derived(file, [surer], "2026-01-02T00:00:00.000Z", drops=False).done) == (0, 1, 0)
    less = renew_derived(file, [surer], "2026-01-02T00:00:00.000Z", drops=True)
    assert (tuple(less.done), less.subjects) == ((0, 0, 1), {"a"})
    kept = next(file.facts())
    assert (kept.created_at[:10], kept.updated_at[:10]) == ("2026-01-01", "2026-01-02")


def test_records_that_cannot_be_read_do_not_hide_the_others():
    good = b'{"id": "F-1", "kind": "fact", "reason": "x", "at": "y", "fact": {"id": "F-1", "subject": "a", "predicate": "b", "object": "c"}}'
    data = b'{"kind": "fact", "fact": {"id": "F-0"}}\n{"kind": "fact"}\n{"kind": "fa\n[]\n' + good
    assert [departure.fact.id for departure in parse_fact_departures(data, "x")] == ["F-1"]


plain_names = st.text(st.characters(blacklist_categories=["C", "Z"]), min_size=1).filter(
    lambda text: not text.startswith("?") and text == text.strip()
)
hostile = st.one_of(plain_names, st.sampled_from(['"', '""', "a,b", "=1+1", "';--", "a  b", "\ufeffx", "null", "𝄞"]))
trusts = st.sampled_from(["agent", "trusted", "untrusted"])
sent = st.lists(
    st.tuples(hostile, hostile, hostile, st.floats(0, 1), hostile, trusts, times, times).map(
        lambda values: Fact("new", *values)
    ),
    max_size=4,
)


@quick
@given(sent)
def test_what_is_exported_comes_back(found):
    assert [fact for _, fact in parse_ndjson(render_ndjson(found), "x")] == found
    assert [fact for _, fact in parse_csv(render_csv(found), "x")] == found


def test_an_import_says_what_facts_do_not_say_and_lets_none_be_trusted_more():
    text = '{"subject": "a", "predicate": "b", "object": "1"}\n'
    text += '{"subject": "a", "predicate": "b", "object": "2", "source": "manual", "trust": "trusted"}\n'
    found = [fact for _, fact in parse_ndjson(text, "x", Silent("crm", "untrusted"))]
    assert [(fact.source, fact.trust) for fact in found] == [("crm", "untrusted"), ("manual", "untrusted")]
    found = [fact for _, fact in parse_ndjson(text, "x", Silent("crm"))]
    assert [(fact.source, fact.trust) for fact in found] == [("crm", "agent"), ("manual", "trusted")]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("subject,predicate\n", "x:1: no column object"),
        ("", "x:1: no column subject"),
        ("subject,predicate,object,confidence\na,b,c,high\n", "x:2: confidence 'high' is no number"),
        ("subject,predicate,object,confidence\na,b,c,nan\n", "x:2: confidence nan is outside 0..1"),
        ("subject,predicate,object\na,b,c\na,,c\n", "x:3: predicate is missing"),
        ("subject,predicate,object\na,b," + "c" * 200_000, "x:2: not valid CSV"),
    ],
)
def test_a_table_that_cannot_be_read_says_where(text, told):
    with pytest.raises(InvalidFile) as error:
        list(parse_csv(text, "x"))
    assert error.value.message.startswith(told)
