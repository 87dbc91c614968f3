"""Files of two branches: all records of both are there, the bytes are ours, and swapping the sides changes nothing."""

import json
import re
from collections.abc import Callable
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.core.knowledge.case import Case
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.hierarchy.daily_log import parse_log
from mabos_cli.formats.json.text import dump_line
from mabos_cli.formats.knowledge.cases import CaseFile, parse_cases
from mabos_cli.formats.knowledge.facts import FactFile, parse_facts, render_fact, render_facts
from mabos_cli.formats.knowledge.rules import parse_rules
from mabos_cli.formats.markdown.escape import seal
from mabos_cli.formats.memory.derived_md import render_log_entry, render_log_header
from mabos_cli.formats.memory.items import StoreFile, parse_page, parse_store, render_item, render_page, render_store
from mabos_cli.formats.operations.git_merge import merge_file
from mabos_cli.formats.operations.merge_records import Merged

AT = "2026-02-24T14:30:00.000Z"


def item(number: int, text: str = "", **fields) -> MemoryItem:
    times = {"created_at": AT, "accessed_at": AT} | fields
    return MemoryItem(f"M-{1771943400000 + number}-{2 * number:04x}", text or f"note {number}", **times)


def store(long_term=(), short_term=(), working=(), version=1, **others) -> bytes:
    lines = [render_item(each) for each in long_term]
    ids = [each.id for each in (*working, *short_term, *long_term)]
    return render_store(StoreFile(tuple(working), tuple(short_term), lines, version, max(ids, default=""), **others))


def merge(kind: str, base: bytes, ours: bytes, theirs: bytes) -> Merged:
    merged = merge_file(kind, f"agents/cfo/{kind}", (base, ours, theirs))
    swapped = merge_file(kind, f"agents/cfo/{kind}", (base, theirs, ours))
    assert merged and swapped
    assert (merged.data, merged.notes) == (swapped.data, swapped.notes)
    assert merged.renames == (swapped.renames[0], swapped.renames[2], swapped.renames[1])
    return merged


def held(data: bytes) -> dict[str, str]:
    """The ids in a store, each with the store that it is in."""
    raw = json.loads(data)
    return {each["id"]: name for name in ("working", "short_term", "long_term") for each in raw[name]}


def test_both_sides_stored():
    base = store([item(0)], version=1)
    ours = store([item(0), item(1)], [item(3)], version=3)
    theirs = store([item(0), item(2)], working=[item(4)], version=2)
    merged = merge("store", base, ours, theirs)
    expected = store([item(0), item(1), item(2)], [item(3)], [item(4)], version=4)
    assert merged == Merged(expected)


def test_removed_moved_used_and_edited():
    base = store([item(0), item(1), item(2)], [item(3), item(4)])
    ours = store([item(0), item(3)], [item(4)])  # 1 and 2 forgotten, 3 kept for long
    used = item(1)._replace(access_count=5)
    theirs = store([item(0), used, item(2, importance=0.9)], [item(3)])  # 2 edited, 4 expired
    merged = merge("store", base, ours, theirs)
    lasting = {each: "long_term" for each in (item(0).id, item(2).id, item(3).id)}
    assert held(merged.data) == lasting  # a use does not bring 1 back, an edit brings 2


def test_an_item_that_both_edited_is_there_twice_and_linked():
    base = store([item(0)])
    ours = store([item(0, "We bill per user", accessed_at="2026-02-25T00:00:00.000Z")])
    theirs = store([item(0, "We bill per year")])
    merged = merge("store", base, ours, theirs)
    first, other = json.loads(merged.data)["long_term"]
    assert (first["id"], first["content"], other["content"]) == (
        item(0).id,
        "We bill per user",
        "We bill per year",
    )
    assert first["related_to"] == [other["id"]] and other["related_to"] == [first["id"]]
    assert merged.notes == (f"{item(0).id} was changed on both sides: the other version is {other['id']}",)
    assert parse_store(merged.data, "x").last_id == max(first["id"], other["id"])


def test_ids_that_collide_get_apart_and_links_follow():
    younger = item(0, "theirs", created_at="2026-02-25T00:00:00.000Z")
    link = item(5, "derived", derived_from=(younger.id,))
    merged = merge("store", store(), store([item(0, "ours")]), store([younger, link]))
    records = {each["content"]: each for each in json.loads(merged.data)["long_term"]}
    assert records["ours"]["id"] == item(0).id != records["theirs"]["id"]
    assert records["derived"]["derived_from"] == [records["theirs"]["id"]]
    assert len(merged.notes) == 1


_numbers = st.sets(st.integers(0, 30), max_size=8)


@given(_numbers, _numbers, _numbers)
def test_every_item_of_both_sides_is_there(shared, mine, yours):
    base = [item(n) for n in sorted(shared)]
    ours = [*base, *(item(n + 100) for n in sorted(mine))]
    theirs = [*base, *(item(n + 200) for n in sorted(yours))]
    data = merge("store", store(base), store(ours), store(theirs)).data
    assert held(data).keys() == {each.id for each in (*ours, *theirs)}
    assert render_store(parse_store(data, "x")) == data


def test_pages():
    base, ours, theirs = (render_page([render_item(item(n)) for n in found]) for found in ((0,), (0, 1), (0, 2)))
    lines = parse_page(merge("page", base, ours, theirs).data, "x")
    assert lines == [render_item(item(n)) for n in (0, 1, 2)]
    counts = [store(pages={"2026-01": 4, "2026-02": n}) for n in (1, 3, 2)]
    assert parse_store(merge("store", *counts).data, "x").pages == {"2026-01": 4, "2026-02": 4}


def test_one_side_split_its_store():
    base = store([item(0), item(1), item(2)], [item(7)])
    split = store([], [item(7)], pages={"2026-02": 3})
    whole = store([item(0), item(1, "edited"), item(3)], [item(7)])  # 2 forgotten
    merged = merge("store", base, split, whole)
    found = parse_store(merged.data, "x")
    assert found.pages == {"2026-02": 3}
    # What is on a page stays there; the next write files what is here.
    assert held(merged.data) == {item(1).id: "long_term", item(3).id: "long_term", item(7).id: "short_term"}
    assert [note.partition(" is on")[0] for note in merged.notes] == [f"{item(2).id} was removed on one side and"]


def test_both_sides_moved_their_items_to_pages():
    base = store([item(0), item(1), item(2)])
    ours, theirs = (store([item(n)], pages={"2026-02": 3}) for n in (3, 4))
    merged = merge("store", base, ours, theirs)
    assert {*held(merged.data)} == {item(3).id, item(4).id}
    assert not merged.notes


@pytest.mark.parametrize("bad", [b"", b"{", b'{"long_term": 3}'])
def test_a_malformed_side_is_refused(bad):
    for sides in ((store(), bad, store([item(0)])), (store(), store([item(0)]), bad)):
        with pytest.raises(InvalidFile, match=r"memory-store.json \((ours|theirs)\)"):
            merge_file("store", "memory-store.json", sides)


def test_an_id_that_is_there_twice_is_refused():
    with pytest.raises(InvalidFile, match="occurs twice"):
        merge_file("store", "memory-store.json", (store(), store([item(0)], [item(0, "other")]), store()))


def test_keys_of_other_tools_are_merged():
    base, ours, theirs = (store(extra=extra) for extra in ({"a": 1}, {"a": 1, "b": 2}, {"a": 3}))
    assert parse_store(merge("store", base, ours, theirs).data, "x").extra == {"a": 3, "b": 2}


def fact(number: int, triple: str, **fields) -> Fact:
    times = {"created_at": f"2026-02-{number:02d}", "updated_at": f"2026-02-{number:02d}"} | fields
    return Fact(f"F-{1771943400000 + number}-{2 * number:04x}", *triple.split(), **times)


def facts(*given: Fact, version: int = 1, **extra) -> bytes:
    last = max((each.id for each in given), default="")
    return render_facts(FactFile([render_fact(each) for each in given], version, last, extra))


def test_facts():
    shared = fact(1, "acme owns river")
    later = shared._replace(confidence=0.4, updated_at="2026-02-20")
    ours = facts(later, fact(2, "acme has seats"), fact(3, "acme owes euro"), version=4)
    theirs = facts(shared, fact(4, "acme has seats", confidence=0.8), fact(5, "bob likes tea"), version=2)
    data = merge("facts", facts(shared), ours, theirs).data
    united = fact(4, "acme has seats", confidence=0.8)._replace(
        id=fact(2, "a b c").id, created_at="2026-02-02", extra=(("same_as", [fact(4, "a b c").id]),)
    )
    parsed = parse_facts(data, "facts.json")
    assert [*parsed.facts()] == [later, united, fact(3, "acme owes euro"), fact(5, "bob likes tea")]
    assert (parsed.version, parsed.last_id) == (5, fact(5, "a b c").id)
    assert parsed.find_united(fact(4, "a b c").id) == united and parsed.find_united(shared.id) is None
    assert render_facts(parsed) == data


def test_derived_facts_are_not_taken_for_fresh():
    base, ours, theirs = (facts(version=n, facts_version=n) for n in (1, 5, 3))
    merged = parse_facts(merge("facts", base, ours, theirs).data, "facts-derived.json")
    assert (merged.version, merged.extra) == (6, {"facts_version": 5})  # facts.json is at 6 or more then


def rules(*names: str, version: int = 1, last_id: str = "") -> bytes:
    entries = [
        {
            "id": f"R-{n:03d}",
            "name": name,
            "type": "policy",
            "conditions": [],
            "action": name,
            "created_at": f"2026-02-{n:02d}",
        }
        for n, name in enumerate(names, 1)
        if name
    ]
    return dump_line({"rules": entries, "version": version} | ({"last_id": last_id} if last_id else {})).encode()


def test_rules_that_got_the_same_number():
    merged = merge("rules", rules("a"), rules("a", "ours", "x"), rules("a", "theirs", version=7))
    file = parse_rules(merged.data, "rules.json")
    ids = {rule.name: rule.id for rule in file.rules}
    assert re.fullmatch("R-002-[a-z]{3}", ids["theirs"])
    assert ids == {"a": "R-001", "ours": "R-002", "x": "R-003", "theirs": ids["theirs"]}
    assert (file.version, file.last_id) == (8, "")
    assert merged.notes == (f"R-002 was given to two rules: the younger one is {ids['theirs']}",)


def test_the_number_of_a_rule_that_is_gone_is_not_given_again():
    merged = merge("rules", rules("a", "b"), rules("a", last_id="R-002"), rules("a", "b", version=2))
    assert parse_rules(merged.data, "rules.json").last_id == "R-002"


def test_a_rule_that_both_changed_is_there_twice_but_runs_once():
    changed = [rules("a").replace(b'"action": "a"', b'"action": "%s"' % word) for word in (b"call", b"write")]
    found = parse_rules(merge("rules", rules("a"), *changed).data, "rules.json").rules
    assert [(rule.id[:6], rule.action, rule.enabled) for rule in found] == [
        ("R-001", "call", True),
        ("R-001-", "write", False),
    ]


def cases(*given: Case) -> bytes:
    return CaseFile().changed(given, ()).data


def case(number: int, context: str, **fields) -> Case:
    return Case(f"C-{number:03d}", ("B-1",), context=context, actions=("act",), **{"stored_at": "2026-02-01"} | fields)


def test_cases_that_got_the_same_number():
    ours = cases(case(1, "a"), case(2, "ours"))
    later = {"stored_at": "2026-02-02"}
    theirs = cases(case(1, "a"), case(2, "theirs", **later), case(3, "more", adapted_from="C-002", **later))
    merged = merge("cases", cases(case(1, "a")), ours, theirs)
    found = {each.context: each for each in parse_cases(merged.data, "cases.json").cases()}
    other = found["theirs"].id
    assert re.fullmatch("C-002-[a-z]{3}", other)
    assert {name: each.id for name, each in found.items()} == {
        "a": "C-001", "ours": "C-002", "more": "C-003", "theirs": other,
    }  # fmt: skip
    assert found["more"].adapted_from == other
    assert cases(*found.values()) == merged.data


def proposals(node: str) -> bytes:
    row = {"id": "OP-001", "node_type": "class", "node_id": f"shop:{node}", "label": "A node"}
    return dump_line({"proposals": [row]}).encode()


ALIKE: dict[str, Callable[[str], bytes]] = {
    "store": lambda name: store([item(1, name)]),
    "facts": lambda name: facts(fact(1, f"acme knows {name}")),
    "rules": rules,
    "cases": lambda name: cases(case(1, name)),
    "proposals": proposals,
    "mind": lambda name: f"# Goals\n\n## G-001: {name}\n\nstatus: active\n".encode(),
}
EMPTY = {"store": store(), "cases": b"[]", "mind": b"# Goals\n", "proposals": b'{"proposals": []}'}


@pytest.mark.parametrize("kind", ALIKE)
@pytest.mark.parametrize("order", [*permutations(("ada", "bob", "cyd"))], ids="-".join)
def test_three_that_got_the_same_id_are_merged_and_rebased(kind: str, order: tuple[str, str, str]):
    """A rebase of two commits meets ids that its first one gave anew; a merge of merges meets them on both sides."""
    path = "agents/cfo/Goals.md" if kind == "mind" else f"agents/cfo/{kind}.json"

    def merge_sides(*sides: bytes) -> bytes:
        merged = merge_file(kind, path, (sides[0], sides[1], sides[2]))
        assert merged
        return merged.data

    start = EMPTY.get(kind, b"")
    a, b, c = (ALIKE[kind](name) for name in order)
    merged = merge_sides(start, merge_sides(start, a, b), c)
    rebased = merge_sides(b, merge_sides(start, c, b), merge_sides(start, b, a))
    crossed = merge_sides(b, merge_sides(start, a, b), merge_sides(start, b, c))
    for data in (merged, rebased, crossed):
        text = data.decode()
        assert {len(re.findall(rf'[:" ]{name}["\n]', text)) for name in order} == {2 if kind == "rules" else 1}, text
        ids = re.findall(r'"(?:case_)?id": "([^"]*)"|^## (\S+):', text, re.MULTILINE)
        assert len({*ids}) == len(ids) == 3, text
        assert '"enabled": false' not in text and "revisions" not in text and "related_to" not in text


def test_a_case_that_both_used():
    base, ours, theirs = (cases(case(1, "a", uses=n)) for n in (1, 3, 2))
    assert parse_cases(merge("cases", base, ours, theirs).data, "x").cases()[0].uses == 4


def log(*numbers: int) -> bytes:
    entries = (render_log_entry(item(n, f"line of {n}\n\n## not a heading")) for n in numbers)
    return (render_log_header("2026-02-24") + "".join(entries)).encode()


def test_entries_of_logs_stay_whole_and_in_order():
    assert merge("log", log(0), log(0, 1, 3), log(0, 2, 4)).data == log(0, 1, 2, 3, 4)
    assert merge("log", b"", log(1), log(2)).data == log(1, 2)


@given(_numbers, _numbers)
def test_every_entry_of_both_logs_is_there(mine, yours):
    ours, theirs = (log(*sorted(numbers)) for numbers in (mine, yours))
    entries = parse_log(merge("log", log(), ours, theirs).data.decode())
    assert [(each.id, each.content) for each in entries] == [
        (item(n).id, f"line of {n}\n\n## not a heading") for n in sorted({*mine, *yours})
    ]


def test_remarks_in_logs_stay_where_they_are():
    ours = log(0) + b"\n- seen by ada\n"
    merged = merge("log", log(0), ours, log(0, 1)).data
    assert merged == ours + log(0, 1).removeprefix(log(0))


def test_derived_files_are_ours_unless_a_person_edited_theirs():
    a, b, edited = (seal(text).encode() for text in ("a\n", "b\n", "c\n"))
    edited = edited.replace(b"c", b"mine")
    assert merge_file("derived", "x", (b"", a, b)) == Merged(a)
    assert (
        merge_file("derived", "x", (b"", a, edited)) == merge_file("derived", "x", (b"", edited, a)) == Merged(edited)
    )
    assert merge_file("derived", "x", (b"", edited, edited + b"!")) is None
    assert merge_file("", "notes.md", (b"", b"a", b"b")) is None
