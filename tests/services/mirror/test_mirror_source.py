"""The records that an agent's files hold for the mirror."""

from pathlib import Path

import pytest
from commands.desk import Desk, note

from mabos_cli.core.mirror.records import Entry, Record, Statement
from mabos_cli.services.mirror import source as mirror_source
from mabos_cli.services.mirror.source import PARTS, load_part
from mabos_cli.services.mirror.sync import plan_touched


@pytest.fixture
def desk(quick: Path, still_world: None) -> Desk:
    return Desk(quick / "ws")


def by_uid(records: list[Record]) -> dict[str, Record]:
    found = {record.uid: record for record in records}
    assert len(found) == len(records)
    return found


def test_every_part_of_a_fresh_agent_can_be_loaded(desk: Desk) -> None:
    home = desk.home()
    held = {part: load_part(home, part).records for part in PARTS}
    assert {part: len(records) for part, records in held.items()} == {part: 2 * (part == "agent") for part in PARTS}
    assert held["agent"][0].uid == "main" and held["agent"][0].get("name")


def test_the_types_of_parts_are_those_of_their_records(desk: Desk) -> None:
    for words in (
        ("store", "We bill per seat", "--type", "decision"),
        ("ontology", "scaffold", "business"),
        ("fact", "assert", "acme", "supplies", "us"),
        ("rule", "create", "if ?x supplies ?y then ?y uses ?x"),
        ("case", "store", "--belief", "x", "--action", "Wait"),
        ("belief", "add", "Market grows"),
        ("belief", "add", "Market shrinks"),
        ("commitment", "add", "Send the report"),
        ("desire", "add", "Stay afloat"),
        ("goal", "add", "Grow"),
        ("intention", "add", "Hire", "--goal", "G-001"),
        ("plan", "add", "Hire people", "--goal", "G-001", "--step", "Ask around"),
    ):
        assert desk.run(*words).code == 0, desk.run(*words).stderr
    desk.write("Capabilities.md", "# Capabilities\n\n| Skill | Proficiency |\n| --- | --- |\n| Planning | high |\n")
    home = desk.home()
    for part in ("agent", "mind", "rules", "facts", "cases", "memory"):
        held = load_part(home, part)
        assert {record.type for record in held.records} == {*PARTS[part]}, part
        assert held.alive == {(record.type, record.uid) for record in held.records}
    steps = by_uid(load_part(home, "mind").records)
    assert steps["main/G-001"].linked("goal_requires_plan") == ("main/PL-001",)


def test_an_agent_is_described_by_its_manifest(desk: Desk) -> None:
    path = desk.folder() / "agent.json"
    path.write_text('{"name": "Ada", "role": "CFO", "department": 3, "bdi": {"commitmentStrategy": "cautious"}}')
    record = load_part(desk.home(), "agent").records[0]
    told = {name: value for name, value in record.attributes if value is not None}
    assert told == {
        "name": "Ada",
        "agent_role": "CFO",
        "commitment_strategy": "cautious",
        "is_shared": False,
    }


def test_memory_by_id_brings_what_the_mirror_knows_of_recent_items(desk: Desk) -> None:
    """Items that move between working and short-term memory are named by no command."""
    long_ago, other = note(1, "Long ago"), note(2, "Another")
    recent, new = note(3, "Recent"), note(4, "New")
    desk.put([long_ago, other], working=[recent], short_term=[new])
    held = load_part(desk.home(), "memory", [long_ago.id, "M-none"], known={recent.id, other.id})
    assert [record.uid for record in held.records] == [f"main/{long_ago.id}", f"main/{recent.id}"]
    assert [record.get("store_name") for record in held.records] == ["long_term", "working"]
    assert {uid for kind, uid in held.alive if kind == "memory_item"} == {
        f"main/{each.id}" for each in (long_ago, other, recent, new)
    }
    assert ("decision", f"main/{long_ago.id}") not in held.alive  # it was looked at, and is none


def test_what_was_made_of_an_item_comes_along_with_it(desk: Desk) -> None:
    """Its link goes when the item goes, and is there again when the item comes back."""
    first = note(1, "First")
    sums, other = note(2, "Sum", derived_from=(first.id, "M-gone")), note(3, "Other")
    desk.put([first, sums, other])
    assert [record.linked("derivation") for record in load_part(desk.home(), "memory", [first.id]).records] == [
        (),
        (f"main/{first.id}",),
    ]
    desk.put([sums, other])
    [left] = load_part(desk.home(), "memory", [first.id]).records
    assert left.uid == f"main/{sums.id}" and left.linked("derivation") == ()


def test_what_a_fact_says_follows_the_classes_that_other_facts_give(desk: Desk) -> None:
    desk.run("ontology", "scaffold", "business")
    desk.run("fact", "assert", "acme", "buys", "lamp")
    desk.run("fact", "assert", "rain", "is", "wet")
    ids = {record.get("predicate_val"): record.uid[5:] for record in load_part(desk.home(), "facts").records[2:]}
    own = desk.run("fact", "assert", "acme", "isA", "Customer", "--json").data["fact"]["id"]
    held = load_part(desk.home(), "facts", [own])
    assert [record.uid[5:] for record in held.records] == ["acme", "lamp", ids["buys"], own]
    assert held.records[2].statement == Statement("buys", ("customer", "main/acme"), ("offering", "main/lamp"))
    gone = load_part(desk.home(), "facts", ["F-gone"])
    assert len(gone.records) == 5  # what it was about is not known: all is looked through


def test_facts_by_id_bring_what_was_derived_from_them_as_they_are(desk: Desk) -> None:
    desk.run("fact", "assert", "acme", "supplies", "us")
    desk.run("fact", "assert", "us", "supplies", "them")
    desk.run("rule", "create", "if ?x supplies ?y and ?y supplies ?z then ?x reaches ?z")
    facts = load_part(desk.home(), "facts").records
    first = facts[0].uid.removeprefix("main/")
    assert [record.uid for record in load_part(desk.home(), "facts", [first]).records] == [f"main/{first}"]
    assert desk.run("infer", "forward", "--persist").code == 0
    held = load_part(desk.home(), "facts", [first])
    assert [record.get("is_derived") for record in held.records] == [False, True]
    assert len(held.alive) == 3


def test_cases_by_id_are_those_that_are_there(desk: Desk) -> None:
    for number in range(3):
        desk.run("case", "store", "--belief", f"b{number}", "--action", "Wait")
    held = load_part(desk.home(), "cases", ["C-002", "C-009"])
    assert [record.uid for record in held.records] == ["main/C-002"]
    assert held.alive == {("cbr_case", f"main/C-00{n}") for n in (1, 2, 3)}


def test_goals_of_other_agents_can_be_linked(desk: Desk) -> None:
    desk.add_agent("cfo")
    desk.run("goal", "add", "Grow", "-a", "cfo")
    desk.run("belief", "add", "Market grows", "--supports", "G-001", "-a", "main")
    [belief] = load_part(desk.home(), "mind").records
    assert belief.linked("belief_supports_goal") == ("cfo/G-001",)


def test_many_ids_find_the_same_as_few(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    items = [note(number, f"Thing {number}") for number in range(6)]
    desk.put(items[:4], working=items[4:5], short_term=items[5:])
    for number in range(4):
        desk.run("fact", "assert", f"s{number}", "is", "there")
    facts = [record.uid.removeprefix("main/") for record in load_part(desk.home(), "facts").records]
    asked = {"memory": [item.id for item in items[1:]], "facts": facts[1:]}
    few = {part: load_part(desk.home(), part, ids) for part, ids in asked.items()}
    monkeypatch.setattr(mirror_source, "_MANY", 0)
    for part, ids in asked.items():
        many = load_part(desk.home(), part, ids)
        assert sorted(many.records) == sorted(few[part].records) and many.alive == few[part].alive
        assert len(many.records) == len(ids)


def test_what_is_private_stays_out_with_all_that_was_made_of_it(desk: Desk) -> None:
    secret, other = note(1, "The board sells Oslo", type="decision"), note(2, "Oslo is rainy")
    sums = note(3, "Oslo goes, and it rains there", derived_from=(secret.id, other.id))
    desk.put([secret, other, sums])
    for words in (("oslo", "isSold", "soon"), ("oslo", "has", "rain")):
        source = f"memory:{secret.id}" if words[1] == "isSold" else f"memory:{other.id}"
        assert desk.run("fact", "assert", *words, "--source", source).code == 0
    desk.run("rule", "create", "if ?x isSold ?y then ?x leaves us")
    assert desk.run("infer", "forward", "--persist").code == 0
    home = desk.home()
    assert len(load_part(home, "memory").records) == 4 and len(load_part(home, "facts").records) == 3
    known = {key: Entry(*key, "ok") for part in ("memory", "facts") for key in load_part(home, part).alive}
    desk.put([secret._replace(tags=("Private",)), other, sums])
    assert [record.uid for record in load_part(home, "memory").records] == [f"main/{other.id}"]
    assert [record.get("predicate_val") for record in load_part(home, "facts").records] == ["has"]
    named = load_part(home, "memory", [secret.id, sums.id, other.id])
    assert [record.uid for record in named.records] == [f"main/{other.id}"] == [uid for _, uid in named.alive]
    todo, _, warnings = plan_touched(home, {"memory": [secret.id]}, known)
    gone = {uid for _, uid in todo.drop}
    assert {f"main/{secret.id}", f"main/{sums.id}"} <= gone and len(gone) == 4 and not warnings
