"""What a killed writer, a second tool or an older file leaves behind: nothing doubled, nothing lost, nothing risen from the archive."""

import json
import re
from pathlib import Path

import pytest
from agent import Agent
from forked import Fault, places

PAGES = {
    "MABOS_MEMORY_SPLIT_ABOVE": "3",
    "MABOS_MEMORY_PAGE_ITEMS": "10",
    "MABOS_MEMORY_MATERIALIZE_SPLIT_ABOVE": "2",
}


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path / "seed").init()


def test_a_drained_item_is_updated_in_place_and_forgotten_whole(agent: Agent) -> None:
    """Its id is newer than the last one that was minted under the lock."""
    agent.do("store", "alpha bravo", "--store", "long_term")
    agent.minutes = 1
    item_id = agent.do("store", "charlie delta", "--store", "long_term", "--defer")["id"]
    agent.do("materialize")
    agent.do("update", item_id, "--tag", "x")
    assert sorted(agent.live()) == ["alpha bravo", "charlie delta"]
    agent.do("forget", item_id)
    assert agent.do("get", item_id)["state"] == "archived"


@pytest.mark.parametrize("words", [("update", "--tag", "x"), ("forget",), ("reinforce",)], ids=lambda words: words[0])
def test_a_queued_item_survives_a_kill_at_any_point_of_a_command_about_it(
    agent: Agent, tmp_path: Path, words: tuple[str, ...]
) -> None:
    agent.do("store", "the first")
    item_id = agent.do("store", "deferred words", "--defer", "-i", "0.7")["id"]
    calls = agent.copy(tmp_path / "probe").run(words[0], item_id, *words[1:]).calls
    for at in places(calls, 4, first=1 + len(words[0]) % 4):  # the commands take different ones
        other = agent.copy(tmp_path / "ws")
        other.run(words[0], item_id, *words[1:], fault=Fault("kill", at))
        other.run("checkpoint", "-c", "somebody else takes the lock first")
        then = other.do("get", item_id)["state"]
        other.do("store", "the next")
        other.do("store", "and one more")
        assert other.do("get", item_id)["state"] == then
        assert then == "live" or words == ("forget",)
        assert other.live().count("deferred words") == (then == "live")
        log = (other.root / "agents/main/memory/2026-03-01.md").read_text("utf-8")
        assert log.count(f"^{item_id}\n") == 1


def test_a_deferred_item_survives_a_kill_behind_which_git_brings_a_newer_store(agent: Agent, tmp_path: Path) -> None:
    """The version alone does not tell whether the killed writer came as far as the store."""
    agent.do("store", "the first")
    agent.do("store", "deferred words", "--defer")
    for at in range(1, 60):
        other = agent.copy(tmp_path / "ws")
        other.run("store", "never acknowledged", fault=Fault("kill", at))
        store, lock = other.root / "agents/main/memory-store.json", other.root / ".mabos/locks/main.lock"
        held = store.read_text("utf-8")
        if "deferred words" not in held and '"queued": ["M-' in lock.read_text("utf-8"):
            break
    store.write_text(re.sub(r'"version": \d+', '"version": 9', held), "utf-8")
    other.do("store", "the next")
    assert sorted(other.live()) == ["deferred words", "the first", "the next"]


def test_ids_of_deferred_items_are_not_repeated_after_a_kill(agent: Agent) -> None:
    ids = [agent.do("store", "one", "--defer")["id"]]
    for at in range(1, 9):
        agent.run("store", "never acknowledged", "--defer", fault=Fault("kill", at))
        ids.append(agent.do("store", f"number {at}", "--defer")["id"])
    assert len(set(ids)) == len(ids)
    agent.do("store", "now")
    assert {"one", *(f"number {at}" for at in range(1, 9))} <= set(agent.live())


def test_unfinished_work_is_carried_over_a_rollback(agent: Agent, tmp_path: Path) -> None:
    log = agent.root / "agents/main/memory/2026-03-01.md"
    log.mkdir(parents=True)
    assert any(
        "the next write finishes" in w for w in json.loads(agent.run("store", "first", "--json").stdout)["warnings"]
    )
    for at in range(1, 12):
        agent.run("store", "killed", fault=Fault("kill", at))
    log.rmdir()
    agent.do("store", "last")
    text = log.read_text("utf-8")
    assert text.count("\nfirst\n") == text.count("\nlast\n") == 1


def test_uses_are_counted_once_wherever_a_fold_is_cut_off(agent: Agent, tmp_path: Path) -> None:
    item_id = agent.do("store", "zebra thing")["id"]
    agent.do("context", "pack", "zebra")
    calls = agent.copy(tmp_path / "probe").run("store", "two").calls
    for at in places(calls, 3):
        other = agent.copy(tmp_path / "ws")
        other.run("store", "two", fault=Fault("kill", at))
        other.do("context", "pack", "zebra")
        other.do("store", "three")
        assert other.do("get", item_id)["item"]["access_count"] == 2, at


def foreign(count: int) -> str:
    items = [{"id": f"mem-{n}", "content": f"zebra {n} {n * 7}", "type": "fact", "importance": 0.5, "created_at": "2026-02-01T00:00:00Z"}
             for n in range(count)]  # fmt: skip
    return json.dumps({"working": [], "short_term": [], "long_term": items, "version": 1}, indent=2)


def test_foreign_ids_on_pages_are_counted_and_found_once(agent: Agent) -> None:
    agent.settings |= PAGES | {"MABOS_MEMORY_ACCESS_JOURNAL_LINES": "1"}
    agent.store.write_text(foreign(5))
    agent.do("store", "something else")
    for _ in range(3):
        agent.do("context", "pack", "zebra")
    agent.do("store", "and again")
    assert sorted(text for text in agent.live() if "zebra" in text) == [f"zebra {n} {n * 7}" for n in range(5)]
    assert agent.do("get", "mem-3")["item"]["access_count"] == 3
    agent.do("forget", "mem-3")
    assert agent.do("get", "mem-3")["state"] == "archived"


def test_an_id_beyond_the_calendar_is_found_on_its_page(agent: Agent) -> None:
    agent.settings |= PAGES
    agent.store.write_text(foreign(5).replace("mem-2", "M-1772359200000000-00aa"))
    agent.do("store", "something else")
    assert agent.do("get", "M-1772359200000000-00aa")["state"] == "live"


def test_lines_in_the_head_of_a_split_store_replace_or_join_the_pages(agent: Agent) -> None:
    agent.settings |= PAGES
    agent.store.write_text(foreign(5))
    agent.do("store", "something else")
    head = json.loads(agent.store.read_text())
    head["long_term"] = [
        {"id": "mem-1", "content": "as another tool has it now"},
        {"id": "mem-9", "content": "quite new"},
    ]
    agent.store.write_text(json.dumps(head))
    agent.do("store", "one more")
    texts = agent.live()
    assert texts.count("as another tool has it now") == texts.count("quite new") == 1
    assert "zebra 1 7" not in texts
    assert agent.do("doctor")["healthy"]


def test_an_older_store_put_back_beside_its_pages_loses_none_of_them(agent: Agent) -> None:
    agent.settings |= PAGES
    agent.store.write_text(foreign(3))
    older = agent.store.read_bytes()
    agent.do("store", "charlie one", "--store", "long_term")
    agent.do("store", "delta two", "--store", "long_term")
    agent.do("store", "foxtrot four", "--store", "long_term")
    on_pages = [json.loads(page.read_text())["long_term"] for page in agent.store.with_suffix("").glob("*.json")]
    held = {item["content"] for page in on_pages for item in page}
    assert "charlie one" in held
    agent.store.write_bytes(older)
    agent.minutes = 5
    agent.do("store", "echo three", "--store", "long_term")
    agent.do("doctor", "--repair")
    assert {*held, "echo three", "zebra 0 0", "zebra 1 7", "zebra 2 14"} <= set(agent.live())


def test_only_our_own_pages_are_removed_and_edited_ones_set_aside(agent: Agent) -> None:
    agent.settings["MABOS_MEMORY_MATERIALIZE_SPLIT_ABOVE"] = "1"
    ids = [agent.do("store", text, "--store", "long_term")["id"] for text in ("alpha one", "bravo two")]
    folder = agent.root / "agents/main/memory/mabos-memory-items"
    (folder / "notes.md").write_text("mine\n")
    page = folder / "2026-03.md"
    page.write_text(page.read_text() + "a remark\n")
    agent.do("forget", ids[0])
    assert [path.name for path in folder.iterdir()] == ["notes.md"]
    kept = list((agent.root / "agents/main/memory/archive/edited").iterdir())
    assert len(kept) == 1 and "a remark" in kept[0].read_text()


def test_stricter_options_of_one_consolidation_do_not_expire_what_waits(agent: Agent) -> None:
    item_id = agent.do("store", "waiting memory", "-i", "0.7")["id"]
    agent.minutes = 240
    agent.do("consolidate", "--min-importance", "0.9")
    assert agent.do("get", item_id)["state"] == "live"


@pytest.mark.parametrize("damage", ["tail", "noise", "folder"])
def test_a_damaged_index_is_made_anew(agent: Agent, damage: str) -> None:
    rows = [{"content": f"fact {number} of {number * 31}", "store": "long_term"} for number in range(40)]
    agent.batch(rows)
    path = agent.root / ".mabos/index/main.similar.sqlite"
    if damage == "tail":
        data = path.read_bytes()
        path.write_bytes(data[:-4096] + b"\x5a" * 4096)
    elif damage == "noise":
        path.write_bytes(b"not a database" * 1000)
    else:
        path.unlink()
        path.mkdir()
    again = agent.do("store", "Fact 7 of 217!", "--store", "long_term")
    assert again["deduplicated"] and again["token_cost"] > 0


@pytest.mark.parametrize(
    "text",
    [
        '{"version": 99, "log": 3, "pages": {"2026-01": 3}}',
        '{"version": 1, "carried": 7, "queued": {}}',
        "\0\0\0",
        "{",
    ],
)
def test_an_odd_lock_file_blocks_nobody(agent: Agent, text: str) -> None:
    agent.do("store", "before")
    (agent.root / ".mabos/locks/main.lock").write_text(f"mabos store, process 1\n{text}\n")
    agent.do("store", "after")
    assert sorted(agent.live()) == ["after", "before"]


def test_a_tree_of_shared_sources_is_drawn_once(agent: Agent) -> None:
    rows, ids = [], ["mem-0", "mem-1"]
    rows += [{"id": i, "content": i} for i in ids]
    for level in range(1, 25):
        above = [f"mem-{level}a", f"mem-{level}b"]
        rows += [{"id": i, "content": i, "derived_from": ids} for i in above]
        ids = above
    agent.store.write_text(json.dumps({"long_term": rows, "version": 1}))
    assert len(agent.run("get", "mem-24a", "--tree").stdout.split("\n")) < 120
