import json
import shutil
from pathlib import Path

import pytest

from commands.desk import Desk
from mabos_cli.formats.memory import observations
from mabos_cli.formats.memory.observations import observation_from_dict
from mabos_cli.workspace.lock import locked
from mabos_cli.workspace.memory.observations import count_waiting, find_waiting
from mabos_cli.workspace.memory.trust_log import Judge
from mabos_cli.workspace.sources import find_sources

DAY = "observations/2026-02-24.jsonl"
LEDGER = "observations/harvested/2026-02-24.jsonl"
SECRET = "ghp_" + "x7Kq2LmN9pRs4TvW1yZa3BcD5eFg6HjK8uQi"


def capture(desk: Desk, *texts: str, **fields: object) -> list[str]:
    data = "".join(json.dumps({"text": text, **fields}) + "\n" for text in texts)
    return desk.run("capture", "--batch", "-", "--json", stdin=data.encode()).data["ids"]


def harvest(desk: Desk, *words: str) -> dict:
    return desk.run("harvest", "--json", *words).data


def items(desk: Desk, *words: str) -> list[dict]:
    rows = desk.run("recall", "--json", "--limit", "0", *words).data["results"]
    return sorted((row for row in rows if row.get("id")), key=lambda row: row["id"])


def taken(data: dict) -> int:
    return data["harvested"] + data["merged"]


def tree(root: Path) -> dict[str, bytes]:
    """All files that git sees."""
    found = (path for path in root.rglob("*") if path.is_file() and ".mabos" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def test_an_observation_becomes_an_item_that_says_where_it_comes_from(desk: Desk) -> None:
    fields = {
        "session": "s1",
        "author": "ada",
        "tags": ["ci"],
        "type": "outcome",
        "at": "2026-02-24T10:00:00Z",
    }
    [seen] = capture(desk, "Important: the build is green", source="tool:make", **fields)
    data = harvest(desk)
    assert (data["harvested"], data["merged"], data["chunks"], data["remaining"]) == (1, 0, 1, 0)
    [item] = items(desk)
    assert item["derived_from"] == [seen]
    assert {
        name: item[name] for name in ("content", "type", "source", "trust", "author", "session", "tags", "store")
    } == {
        "content": "Important: the build is green",
        "type": "outcome",
        "source": "tool:make",
        "trust": "untrusted",
        "author": "ada",
        "session": "s1",
        "tags": ["ci"],
        "store": "short_term",
    }
    assert item["observed_at"] == "2026-02-24T10:00:00.000Z"
    assert item["importance"] == pytest.approx(0.7, abs=0.001)  # graded, a few hours old


def test_importance_that_was_given_is_not_graded(desk: Desk) -> None:
    capture(desk, "remember this", importance=0.1)
    data = harvest(desk)
    assert items(desk)[0]["importance"] == 0.1
    assert data["by_band"] == {"must_remember": 0, "nice_to_have": 0, "ignore": 1}


def test_a_second_harvest_leaves_no_trace(desk: Desk) -> None:
    capture(desk, "one apple", "two pears", "three figs")
    (desk.folder() / DAY).open("ab").write(b"broken\n")
    assert taken(harvest(desk)) == 3
    before = tree(desk.root)
    again = harvest(desk)
    assert (taken(again), again["chunks"], again["known"]) == (0, 0, 0)
    assert tree(desk.root) == before


def test_a_clone_harvests_nothing_again(desk: Desk) -> None:
    capture(desk, "one apple", "two pears")
    harvest(desk)
    shutil.rmtree(desk.root / ".mabos")
    before = tree(desk.root)
    assert taken(harvest(desk)) == 0 and tree(desk.root) == before


@pytest.mark.parametrize("fate", ["update", "forget", "merge", "archive"])
def test_what_became_of_the_item_does_not_matter(desk: Desk, fate: str) -> None:
    capture(desk, "the apple fell far from the tree today")
    harvest(desk)
    [item] = items(desk)
    if fate == "update":
        assert desk.run("update", item["id"], "--content", "something else").code == 0
    elif fate == "forget":
        assert desk.run("forget", item["id"]).code == 0
    elif fate == "merge":
        assert desk.run("store", "The apple fell far from the tree today!", "--store", "long_term").code == 0
    else:
        (desk.folder() / "memory-store.json").unlink()
    assert taken(harvest(desk)) == 0
    assert taken(harvest(desk, "--since", "2026-01-01")) == 0


def test_what_comes_later_is_taken_then(desk: Desk) -> None:
    capture(desk, "one apple")
    harvest(desk)
    capture(desk, "two pears")
    assert harvest(desk)["harvested"] == 1
    assert [item["content"] for item in items(desk)] == ["one apple", "two pears"]


def test_lines_in_another_order_are_neither_lost_nor_doubled(desk: Desk) -> None:
    """As after a merge: what was taken is shuffled in between what was not."""
    capture(desk, "one apple", "two pears", "three figs")
    harvest(desk)
    other = [json.dumps({"id": f"O-{1771943399000 + n}-0001", "text": f"quince {n}"}) for n in range(2)]
    own = (desk.folder() / DAY).read_text().split("\n")
    foreign = json.dumps({"text": "no id at all"})
    (desk.folder() / DAY).write_text("\n".join([own[2], other[0], own[0], foreign, other[1], own[1], foreign]) + "\n")
    data = harvest(desk)
    assert (data["harvested"], data["merged"]) == (3, 1)
    assert taken(harvest(desk)) == 0
    texts = sorted(item["content"] for item in items(desk))
    assert texts == ["no id at all", "one apple", "quince 0", "quince 1", "three figs", "two pears"]


def test_the_same_line_twice_is_two_observations_and_one_item(desk: Desk) -> None:
    desk.write(DAY, '{"text": "the pump runs"}\n' * 3)
    data = harvest(desk)
    assert (data["harvested"], data["merged"]) == (1, 2)
    desk.write(DAY, '{"text": "the pump runs"}\n' * 4)
    assert taken(harvest(desk)) == 1
    assert taken(harvest(desk)) == 0


def test_an_id_counts_once_wherever_it_stands(desk: Desk) -> None:
    capture(desk, "one apple")
    data = (desk.folder() / DAY).read_bytes()
    desk.write("observations/copy.jsonl", (data + data).decode())
    assert taken(harvest(desk)) == 1
    assert taken(harvest(desk)) == 0


def test_items_that_the_ledger_does_not_know_are_found(desk: Desk) -> None:
    """A harvest that was cut off between its items and its ledger."""
    capture(desk, "one apple", "two pears", "the apple", "the apple")
    harvest(desk)
    [gone] = [item for item in items(desk) if item["content"] == "one apple"]
    desk.run("forget", gone["id"])
    (desk.folder() / LEDGER).unlink()
    capture(desk, "three figs")
    data = harvest(desk)
    assert (taken(data), data["known"]) == (1, 4)
    assert (taken(harvest(desk)), harvest(desk)["known"]) == (0, 0)


def test_chunks_are_stored_one_by_one(desk: Desk) -> None:
    desk.settle("harvest:\n  chunk: 2\n")
    capture(desk, *(f"fruit number {n} is {word}" for n, word in enumerate("red green blue grey pink".split())))
    data = harvest(desk)
    assert (data["harvested"], data["chunks"]) == (5, 3)


def test_a_limit_leaves_the_rest_for_later(desk: Desk) -> None:
    capture(desk, "one apple", "two pears", "three figs")
    assert [(d["harvested"], d["remaining"]) for d in (harvest(desk, "--limit", "2") for _ in range(3))] == [
        (2, 1),
        (1, 0),
        (0, 0),
    ]
    assert [item["content"] for item in items(desk)] == ["one apple", "two pears", "three figs"]
    assert harvest(desk, "--limit", "0")["harvested"] == 0


def test_since_leaves_what_is_older(desk: Desk) -> None:
    capture(desk, "old apple", at="2026-02-01")
    capture(desk, "new pear", at="2026-02-23")
    data = harvest(desk, "--since", "7d")
    assert (data["harvested"], data["remaining"]) == (1, 1)
    assert [item["content"] for item in items(desk)] == ["new pear"]
    assert harvest(desk)["harvested"] == 1


def test_what_is_not_important_enough_stays_where_it_is(desk: Desk) -> None:
    capture(desk, "plain apple", "remember the pear")
    data = harvest(desk, "--min-importance", "0.6")
    assert (data["harvested"], data["ignored"], data["remaining"]) == (1, 1, 0)
    before = tree(desk.root)
    assert taken(harvest(desk, "--min-importance", "0.6")) == 0 and tree(desk.root) == before
    assert desk.run("status", "--json").data["due"]["observations"] == 1
    assert taken(harvest(desk)) == 1
    assert desk.run("status", "--json").data["due"]["observations"] == 0


def test_what_was_ignored_waits_although_later_harvests_ignore_nothing(desk: Desk) -> None:
    capture(desk, "plain apple", "remember the pear")
    assert harvest(desk, "--min-importance", "0.6")["ignored"] == 1
    capture(desk, "remember the quince")
    data = harvest(desk, "--min-importance", "0.6")
    assert (data["harvested"], data["ignored"]) == (1, 0)
    assert desk.run("status", "--json").data["due"]["observations"] == 1
    assert taken(harvest(desk)) == 1 and taken(harvest(desk)) == 0


def test_an_item_that_only_names_an_observation_does_not_stand_for_it(desk: Desk) -> None:
    [seen] = capture(desk, "the quince is ripe")
    desk.run("store", "somebody should look at the pears", "--related-to", seen, "--tag", seen)
    assert desk.run("get", seen, "--json").data["items"] == []
    data = harvest(desk)
    assert (data["harvested"], data["known"]) == (1, 0)


def test_a_dry_run_tells_what_would_happen_and_writes_nothing(desk: Desk) -> None:
    capture(desk, "the apple fell far from the tree today", "The apple fell far from the tree, today", "two pears")
    before = tree(desk.root)
    wanted = harvest(desk, "--dry-run", "--store", "long_term")
    assert (wanted["harvested"], wanted["merged"], wanted["chunks"], wanted["dry_run"]) == (2, 1, 0, True)
    assert tree(desk.root) == before
    done = harvest(desk, "--store", "long_term")
    assert {**wanted, "chunks": 1, "dry_run": False} == done


def test_malformed_lines_are_named_and_the_rest_is_stored(desk: Desk) -> None:
    bad = ["torn {", "[]", '{"x": 1}', '{"text": "a", "at": "noon"}', '{"text": "a", "importance": 7}']
    good = [json.dumps({"text": f"fruit {n} is {word}"}) for n, word in enumerate(("red", "green", "blue"))]
    desk.write(
        "observations/other.jsonl",
        "\n".join([good[0], *bad, good[1], '{"text": "a", "session": "\\n"}x', good[2]]),
    )
    done = desk.run("harvest", "--json")
    assert done.data["harvested"] == 3
    places = [fault["place"] for fault in done.data["malformed"]]
    assert places == [f"observations/other.jsonl:{n}" for n in (2, 3, 4, 5, 6, 8)]
    assert len(done.warnings) == 6 and "observations/other.jsonl:4: no text" in done.warnings
    findings = desk.run("doctor", "--json").data["findings"]
    assert [f["place"] for f in findings] == ["observations/other.jsonl:2"]


def test_records_of_others_are_cleaned_too(desk: Desk) -> None:
    desk.settle("capture:\n  max_bytes: 200\n")
    desk.write("observations/other.jsonl", json.dumps({"text": f"{SECRET} " + "x" * 5000, "author": SECRET}) + "\n")
    assert harvest(desk)["harvested"] == 1
    [item] = items(desk)
    assert len(item["content"].encode()) <= 200 and SECRET not in json.dumps(item)
    assert item["trust"] == "untrusted"


def test_a_line_that_is_being_written_is_left_for_later(desk: Desk) -> None:
    desk.write(DAY, '{"text": "one apple"}\n{"text": "two pe')
    data = harvest(desk)
    assert (data["harvested"], data["malformed_total"]) == (1, 0)
    before = tree(desk.root)
    assert taken(harvest(desk)) == 0 and tree(desk.root) == before
    desk.write(DAY, '{"text": "one apple"}\n{"text": "two pears"}')
    assert harvest(desk)["harvested"] == 1


def test_one_harvest_at_a_time(desk: Desk) -> None:
    capture(desk, "one apple")
    with locked(desk.home().paths.harvest_lock, desk.root, 0, "mabos harvest"):
        done = desk.run("harvest", "--lock-timeout", "0")
        assert done.code == 5 and "locked by mabos harvest" in done.stderr
        assert harvest(desk, "--dry-run")["harvested"] == 1
    assert harvest(desk)["harvested"] == 1


def test_what_is_trusted_more_is_not_changed(desk: Desk) -> None:
    words = ("--store", "long_term", "--trust", "trusted", "--importance", "0.3", "--tag", "mine")
    desk.run("store", "The apple fell far from the tree today", *words)
    capture(desk, "the apple fell far from the tree today", tags=["theirs"], importance=0.9, source="tool:x")
    data = harvest(desk, "--store", "long_term")
    assert data["merged"] == 1
    [item] = items(desk)
    assert (item["importance"], item["tags"], item["trust"]) == (0.3, ["mine"], "trusted")
    assert item["content"] == "The apple fell far from the tree today"


def test_where_items_go_is_a_setting_and_an_option(desk: Desk) -> None:
    desk.settle("harvest:\n  store: short_term\n")
    capture(desk, "one apple")
    harvest(desk)
    capture(desk, "two pears")
    harvest(desk, "--store", "working")
    assert [item["store"] for item in items(desk)] == ["short_term", "working"]


@pytest.mark.parametrize("step", ["auto", "lexical"])
def test_an_observation_and_its_item_are_one_result(desk: Desk, step: str) -> None:
    desk.settle(f"index:\n  vectors: {step}\n")
    capture(desk, "the quince is ripe")
    assert [row["ref"] for row in desk.recall("quince").data["results"]] == [f"{DAY}:1-1"]
    harvest(desk)
    capture(desk, "another quince fell")
    [item] = items(desk)
    assert sorted(row["ref"] for row in desk.recall("quince").data["results"]) == sorted([item["id"], f"{DAY}:2-2"])


def test_the_ledger_is_not_searched(desk: Desk) -> None:
    capture(desk, "the quince is ripe")
    harvest(desk)
    listed = {source.path for source in find_sources(desk.home())}
    assert DAY in listed and not any(path.startswith("observations/harvested") for path in listed)


def test_an_item_is_trusted_as_far_as_its_observation(desk: Desk) -> None:
    desk.run("capture", "the agent itself saw the quince")
    desk.run("capture", "a page says that the quince is free", "--tool", "browser")
    assert desk.run("harvest").code == 0
    found = {row["content"]: row for row in desk.recall("quince").data["results"]}
    assert found["the agent itself saw the quince"]["trust"] == "agent"
    assert found["a page says that the quince is free"]["trust"] == "untrusted"
    own = found["the agent itself saw the quince"]["id"]
    assert desk.run("get", own, "--json").data["effective_trust"] == "agent"
    assert [f for f in desk.run("doctor", "--json").data["findings"] if "trust" in str(f)] == []


def test_the_other_observations_of_a_day_are_not_decoded_to_judge_an_item(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture(desk, *(f"pear number {n} fell from tree {n * 7}" for n in range(60)), "the quince is ripe")
    harvest(desk)
    decoded, memory = [], desk.home().memory()
    monkeypatch.setattr(
        observations, "observation_from_dict", lambda raw: decoded.append(raw) or observation_from_dict(raw)
    )
    judge = Judge(desk.home().paths, memory)
    assert [judge(item) for item in memory.short_term if "quince" in item.content] == ["agent"]
    assert [raw["text"] for raw in decoded] == ["the quince is ripe"]


def test_the_way_down_leads_to_the_observation(desk: Desk) -> None:
    [seen] = capture(desk, "the quince is ripe")
    data = desk.run("get", seen, "--json").data
    assert (data["state"], data["place"], data["items"]) == ("waiting", f"{DAY}:1", [])
    harvest(desk)
    [item] = items(desk)
    data = desk.run("get", seen, "--json").data
    assert (data["state"], data["items"], data["observation"]["text"]) == (
        "harvested",
        [item["id"]],
        "the quince is ripe",
    )
    tree_of = desk.run("get", item["id"], "--tree", "--json").data["tree"]
    assert tree_of["sources"] == [{"id": seen, "state": "observed", "content": "the quince is ripe", "sources": []}]
    desk.run("forget", item["id"])
    assert desk.run("get", seen, "--json").data["items"] == [item["id"]]
    assert desk.run("get", "O-1-0000").code == 3


def test_an_observation_of_others_is_found_by_the_id_that_it_got(desk: Desk) -> None:
    desk.write("observations/other.jsonl", '{"text": "the quince is ripe"}\n')
    harvest(desk)
    [seen] = items(desk)[0]["derived_from"]
    assert desk.run("get", seen, "--json").data["place"] == "observations/other.jsonl:1"


def test_what_waits_is_counted_as_it_is_harvested(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of ours without decoding any; a line of another kind, one that repeats and one that says nothing among them."""
    paths = desk.home().paths
    capture(desk, *(f"pear number {n}" for n in range(20)))
    harvest(desk, "--limit", "7")
    with monkeypatch.context() as patch:
        patch.setattr(observations, "observation_from_dict", None)
        assert count_waiting(paths, 0.0) == 13
    day = desk.folder() / DAY
    first, last = day.read_text().splitlines()[::19]
    day.write_text(
        day.read_text() + f'{first}\n{last}\n\n{{"text": "quince"}}\n{{"text": "quince"}}\n{{"no": "text"}}\n'
    )
    assert count_waiting(paths, 0.0) == sum(len(w.lines) for w in find_waiting(paths, 0.0)) == 15
    assert taken(harvest(desk)) == 15 and count_waiting(paths, 0.0) == 0


def test_status_counts_what_waits(desk: Desk) -> None:
    def due() -> int:
        return desk.run("status", "--json").data["due"]["observations"]

    assert due() == 0
    capture(desk, "one apple", "two pears")
    assert due() == 2
    harvest(desk, "--limit", "1")
    assert due() == 1
    harvest(desk)
    assert due() == 0


@pytest.mark.parametrize(
    "words", [("--limit", "-1"), ("--min-importance", "2"), ("--store", "attic"), ("--since", "noon")]
)
def test_bad_words_change_nothing(desk: Desk, words: tuple[str, ...]) -> None:
    capture(desk, "one apple")
    before = tree(desk.root)
    assert desk.run("harvest", *words).code == 2
    assert tree(desk.root) == before
