import json

import pytest

from commands.desk import Desk

ITEMS = [
    {"id": "M-1771000000001-0000", "content": "plain", "created_at": "2026-02-24T14:30:00Z", "mood": "good"},
    {
        "id": "M-1771000000002-0000",
        "content": "remember the vault",
        "type": "decision",
        "created_at": "2026-02-24T14:30:00Z",
    },
    {
        "id": "M-1771000000003-0000",
        "content": "important",
        "created_at": "2025-08-26T02:30:00Z",
        "importance": None,
    },
    {
        "id": "M-1771000000004-0000",
        "content": "important",
        "importance": 0.5,
        "created_at": "2026-02-24T14:30:00Z",
    },
]
ONE, TWO, THREE, FOUR = (item["id"] for item in ITEMS)


@pytest.fixture
def store(desk: Desk) -> Desk:
    """A memory as another tool writes it: in a layout of its own, without importance where nobody gave one."""
    text = json.dumps({"working": ITEMS[:1], "short_term": [], "long_term": ITEMS[1:], "version": 3}, indent=4)
    desk.write("memory-store.json", text)
    return desk


def levels(desk: Desk) -> dict[str, float | None]:
    stores = json.loads((desk.folder() / "memory-store.json").read_text())
    return {
        item["id"]: item.get("importance") for name in ("working", "short_term", "long_term") for item in stores[name]
    }


def test_what_nobody_graded_is_graded_and_nothing_else(store: Desk) -> None:
    data = store.run("grade", "--all", "--json").data
    assert {row["id"]: row["importance"] for row in data["graded"]} == {ONE: 0.5, TWO: 1.0, THREE: 0.7}
    assert levels(store) == {ONE: 0.5, TWO: 1.0, THREE: 0.7, FOUR: 0.5}
    assert json.loads(store.run("get", ONE, "--json").stdout)["data"]["item"]["mood"] == "good"


def test_a_second_time_there_is_nothing_to_do(store: Desk) -> None:
    store.run("grade", "--all")
    before = (store.folder() / "memory-store.json").read_bytes()
    assert store.run("grade", "--all", "--json").data["graded"] == []
    assert (store.folder() / "memory-store.json").read_bytes() == before


def test_only_what_is_named(store: Desk) -> None:
    data = store.run("grade", TWO, FOUR, TWO, "--json").data
    assert [row["id"] for row in data["graded"]] == [TWO]
    assert data["kept"] == [{"id": FOUR, "importance": 0.5}]
    assert levels(store) == {ONE: None, TWO: 1.0, THREE: None, FOUR: 0.5}


def test_what_is_open_stays_open_until_somebody_says(store: Desk) -> None:
    store.run("store", "something else", "--store", "long_term")
    store.run("reinforce", ONE)
    store.run("update", TWO, "--tag", "x")
    assert {i: level for i, level in levels(store).items() if i in (ONE, TWO, THREE)} == {
        ONE: None,
        TWO: None,
        THREE: None,
    }
    store.run("reinforce", ONE, "--by", "0.2")
    store.run("update", TWO, "--importance", "0.5")
    assert store.run("grade", "--all", "--json").data["graded"][0]["id"] == THREE
    assert {i: level for i, level in levels(store).items() if i in (ONE, TWO)} == {ONE: 0.7, TWO: 0.5}


def test_the_version_before_is_not_archived_and_use_is_not_counted(store: Desk) -> None:
    store.run("grade", "--all")
    data = store.run("get", TWO, "--json").data
    assert data["history"] == [] and data["item"]["access_count"] == 0


def test_a_dry_run_writes_nothing(store: Desk) -> None:
    before = (store.folder() / "memory-store.json").read_bytes()
    assert len(store.run("grade", "--all", "--dry-run", "--json").data["graded"]) == 3
    assert (store.folder() / "memory-store.json").read_bytes() == before


def test_it_says_how_a_number_comes_about(store: Desk) -> None:
    rows = {row["id"]: row["parts"] for row in store.run("grade", "--all", "--explain", "--json").data["graded"]}
    assert rows[TWO] == {
        "base": 0.5,
        "decision": 0.3,
        "important": 0.0,
        "remember": 0.25,
        "recurring": 0.0,
    }
    assert rows[THREE] == {
        "base": 0.5,
        "decision": 0.0,
        "important": 0.2,
        "remember": 0.0,
        "recurring": 0.0,
    }


def test_the_grade_of_an_observation_is_shown(store: Desk) -> None:
    seen = store.run("capture", "remember the pear", "--json").data["id"]
    told = store.run("capture", "remember the pear", "--importance", "0.1", "--json").data["id"]
    data = store.run("grade", seen, told, "--explain", "--json").data
    assert [(row["id"], row["importance"]) for row in data["observations"]] == [(seen, 0.75), (told, 0.1)]
    assert data["observations"][1]["parts"] == {"given": 0.1}
    assert (data["graded"], levels(store)[ONE]) == ([], None)


@pytest.mark.parametrize(
    ("words", "code"),
    [((), 2), (("--all", ONE), 2), (("M-1-0000",), 3), (("O-1-0000",), 3), ((ONE, "M-1-0000"), 3)],
)
def test_bad_words_change_nothing(store: Desk, words: tuple[str, ...], code: int) -> None:
    assert store.run("grade", *words).code == code
    assert levels(store)[ONE] is None
