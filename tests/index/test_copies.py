"""An item is one result, wherever copies of it stand; what a person made of a copy is a result of its own."""

import json

import pytest
from forked import run_here as run

from .lab import Lab


def log_of(lab: Lab):
    return next((lab.agent / "memory").glob("2026-*.md"))


def edit(path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


@pytest.mark.parametrize("store", ["working", "short_term", "long_term"])
def test_an_item_and_its_line_in_the_log_are_one_result(lab: Lab, store: str) -> None:
    item_id = lab.store("The quince tree wants 3 litres, *weekly*.", store, type="decision", tags=["garden", "tree"])
    assert "quince" in log_of(lab).read_text("utf-8")
    assert lab.refs("quince tree") == [item_id]
    assert lab.refs("garden decision") == [item_id]


def test_many_items_of_a_day_are_one_result_each(lab: Lab) -> None:
    ids = lab.store_all([lab.draft(f"Quince number {n} of the garden", store="long_term") for n in range(8)])
    assert sorted(lab.refs("quince garden", limit=50)) == sorted(ids)


def test_odd_contents_are_one_result_each(lab: Lab) -> None:
    odd = (
        "## A heading about quinces\n\nand more",
        "quince\n\n\n\nwith gaps",
        "- quince\n- list",
        "    quince indented",
        "```\nquince fenced\n```",
        "quince | table\n|---|---|\n| 1 | 2 |",
        "quince ^M-1708800000000-a3f2",
        "<!-- quince --> hidden",
        "榅桲 quince マルメロ",
        "Quince É \u0130 ß ﬁ",
        "quince " * 900,
    )
    ids = [lab.store(text, "long_term") for text in odd]
    assert sorted(lab.refs("quince", limit=50)) == sorted(ids)


def test_a_consolidated_item_in_memory_md_is_one_result(lab: Lab) -> None:
    for number in range(3):
        lab.store(f"Quince jelly needs sugar, jar {number}", "short_term", importance=0.9, tags=["jelly"])
    lab.consolidate()
    assert "uince jelly" in (lab.agent / "MEMORY.md").read_text("utf-8")
    hits = lab.ask("quince jelly sugar", limit=50)
    assert [hit.candidate.path for hit in hits if not hit.candidate.item] == []
    assert len(hits) == len(lab.live())


def test_deferred_and_drained_items_are_one_result(lab: Lab) -> None:
    item_id = lab.defer("The quince waits in the queue")
    assert lab.refs("quince queue") == [item_id]
    lab.store("something else")
    assert lab.refs("quince queue")[:1] == [item_id]
    assert len(lab.ask("quince")) <= 2
    assert lab.refs("quince", limit=50).count(item_id) == 1


def test_words_that_a_person_adds_to_a_log_line_are_a_result_of_their_own(lab: Lab) -> None:
    item_id = lab.store("The quince tree wants water", "long_term")
    edit(log_of(lab), "quince tree wants water", "quince tree wants water, said the nurseryman Zbigniew")
    refs = lab.refs("what did Zbigniew say about the quince")
    assert item_id in refs
    assert [ref for ref in refs if ref.startswith("memory/2026-")][:1]
    hit = lab.ask("Zbigniew")[0].candidate
    assert "Zbigniew" in hit.text and hit.path.startswith("memory/")
    edit(log_of(lab), ", said the nurseryman Zbigniew", "")
    assert lab.refs("quince tree") == [item_id]


def test_a_log_line_outlives_its_item(lab: Lab) -> None:
    lab.store("something that stays")
    item_id = lab.store("The quince tree wants water", "long_term")
    assert lab.refs("quince tree")[:1] == [item_id]
    lab.edit_store(lambda data: data.update(long_term=[i for i in data["long_term"] if i["id"] != item_id]))
    refs = lab.refs("quince tree")
    assert item_id not in refs
    assert refs[0].startswith("memory/2026-")
    assert "quince" in lab.ask("quince tree")[0].candidate.text


def test_a_new_wording_takes_the_place_of_the_old(lab: Lab) -> None:
    item_id = lab.store("The quince tree wants water", "long_term")
    lab.update(item_id, content="The pear tree wants sun")
    found = lab.ask("quince pear tree", limit=50)
    assert [hit.candidate.ref for hit in found] == [item_id]
    assert found[0].candidate.text == "The pear tree wants sun"
    assert lab.refs("pear sun", archived=True) == [item_id]
    for number in range(5):
        lab.update(item_id, content=f"The pear tree wants sun {number}")
    assert lab.refs("tree wants", limit=50, archived=True) == [item_id]


def test_archived_items_only_when_asked_for(lab: Lab) -> None:
    gone, stays = lab.store("The quince is ripe", "long_term"), lab.store("The pear is ripe", "long_term")
    lab.forget(gone)
    assert lab.refs("ripe quince") == [stays]
    assert sorted(lab.refs("ripe quince", archived=True)) == sorted([gone, stays])
    hit = lab.ask("quince", archived=True)[0].candidate
    assert (hit.ref, hit.archived.split(":")[0]) == (gone, "forgotten")
    done = run("recall", "quince", "-w", str(lab.root), "--json")
    assert gone not in done.stdout
    done = run("recall", "quince", "-w", str(lab.root), "--json", "--archived")
    assert json.loads(done.stdout)["data"]["results"][0]["ref"] == gone


def test_the_copy_of_an_archived_item_in_a_log_is_no_way_around_the_archive(lab: Lab) -> None:
    item_id = lab.store("The quince is ripe", "long_term")
    lab.forget(item_id)
    assert lab.ask("quince") == []


def test_materialized_copies_are_not_searched(lab: Lab) -> None:
    item_id = lab.store("The quince tree wants water", "long_term")
    assert run("materialize", "-w", str(lab.root)).code == 0
    assert (lab.agent / "memory/mabos-memory-items.md").is_file()
    assert lab.refs("quince tree") == [item_id]


def test_a_copy_with_other_words_in_a_note_is_both(lab: Lab) -> None:
    item_id = lab.store("The quince tree wants water", "long_term")
    lab.write("notes/garden.md", f"# Garden\n\nThe quince tree wants water ^{item_id}\n\nBut not in winter.\n")
    refs = lab.refs("quince tree water")
    assert refs[0] == item_id
    assert "notes/garden.md:3-3" not in refs
    assert lab.ask("not in winter")[0].candidate.text == "But not in winter."


def test_an_item_in_two_stores_is_one_result(lab: Lab) -> None:
    """As a merge of two branches may leave it."""
    item_id = lab.store("The quince tree wants water", "long_term")
    lab.edit_store(lambda data: data["short_term"].append(dict(data["long_term"][0])))
    assert lab.refs("quince tree") == [item_id]
