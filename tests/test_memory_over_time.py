"""Memory under long use: nothing is ever lost, derived files always agree, and a person's edits stay."""

import json
import random
from pathlib import Path

import pytest
from agent import Agent
from forked import Fault, run, tree

PAGES = {
    "MABOS_MEMORY_SPLIT_ABOVE": "30",
    "MABOS_MEMORY_PAGE_ITEMS": "10",
    "MABOS_MEMORY_MATERIALIZE_SPLIT_ABOVE": "20",
}


def random_rows(rnd: random.Random, count: int) -> list[dict]:
    tags = ["a", "b", "c", "d", "e"]
    return [
        {
            "content": f"note {rnd.random()} about {rnd.choice(tags)}",
            "tags": rnd.sample(tags, rnd.randint(0, 3)),
            "importance": rnd.random(),
            "store": rnd.choice(["working", "short_term", "short_term", "short_term", "long_term"]),
        }
        for _ in range(count)
    ]


@pytest.mark.parametrize("settings", [{}, PAGES], ids=["one-file", "pages"])
def test_ten_rounds_of_storing_and_consolidating_lose_no_id(tmp_path: Path, settings: dict[str, str]) -> None:
    rnd, agent, issued = random.Random(7), Agent(tmp_path / "ws", **settings).init(), set()
    for _ in range(10):
        stored = agent.batch(random_rows(rnd, 120))
        issued |= {row["id"] for row in stored["items"]}
        agent.minutes += rnd.choice([1, 30, 150])
        done = agent.do("consolidate")
        issued |= {group["id"] for group in done["groups"]} | set(done["archived"])
        issued |= {source for group in done["groups"] for source in group["derived_from"]}
    assert len(issued) > 1200
    for item_id in rnd.sample(sorted(issued), 20):
        assert agent.do("get", item_id, "--tree")["item"]["id"] == item_id
    rows = agent.do("recall", "--limit", "0", "--archived")["results"]
    assert issued <= {row["id"] for row in rows}
    assert len(rows) == len({row["id"] for row in rows})
    assert agent.do("doctor", "--check")["healthy"]


@pytest.mark.parametrize("settings", [{}, PAGES], ids=["one-file", "pages"])
@pytest.mark.parametrize("seed", range(3))
def test_any_sequence_of_commands_leaves_derived_files_as_a_rebuild_would(
    tmp_path: Path, settings: dict[str, str], seed: int
) -> None:
    rnd, agent, issued = random.Random(seed), Agent(tmp_path / "ws", **settings).init(), []
    for _ in range(25):
        agent.minutes += rnd.randint(0, 40)
        act = rnd.choice(
            [
                "batch",
                "store",
                "defer",
                "update",
                "forget",
                "revive",
                "reinforce",
                "consolidate",
                "recall",
                "move",
            ]
        )
        some = rnd.choice(issued) if issued else ""
        if act == "batch":
            issued += [row["id"] for row in agent.batch(random_rows(rnd, rnd.randint(1, 25)))["items"]]
        elif act in ("store", "defer"):
            words = [
                "store",
                f"single {rnd.random()}",
                "--store",
                rnd.choice(["working", "short_term", "long_term"]),
            ]
            issued.append(agent.do(*words, *(["--defer"] if act == "defer" else []))["id"])
        elif act == "consolidate":
            issued += [group["id"] for group in agent.do("consolidate")["groups"]]
        elif act == "recall":
            agent.do("recall", "note single", "--limit", "30")
        elif some:
            extra = {
                "update": ["--content", f"edited {rnd.random()}"],
                "move": ["--store", rnd.choice(["working", "long_term"])],
            }
            code = agent.run("update" if act == "move" else act, some, *extra.get(act, [])).code
            assert code in (0, 2, 3)
    agent.do("store", "the last word")
    assert agent.do("materialize")["changed"] == []
    findings = agent.do("doctor")["findings"]
    assert findings == []
    for item_id in rnd.sample(issued, min(len(issued), 20)):
        assert agent.run("get", item_id).code == 0


def test_materializing_twice_changes_nothing(tmp_path: Path) -> None:
    agent = Agent(tmp_path / "ws", **PAGES).init()
    agent.batch(random_rows(random.Random(3), 90))
    agent.do("materialize")
    before = tree(tmp_path / "ws")
    assert agent.do("materialize")["changed"] == []
    assert tree(tmp_path / "ws") == before


def test_the_store_splits_by_page_and_a_store_rewrites_only_the_page_it_touches(tmp_path: Path) -> None:
    agent = Agent(tmp_path / "ws", **PAGES).init()
    rows = [{"content": f"fact number {n} of {n * 31}", "store": "long_term", "importance": 0.5} for n in range(45)]
    ids = [row["id"] for row in agent.batch(rows)["items"]]
    home = tmp_path / "ws/agents/main"
    assert sorted(p.name for p in (home / "memory-store").iterdir()) == [
        f"2026-03{n}.json" for n in ("-2", "-3", "-4", "")
    ]
    held = json.loads((home / "memory-store.json").read_text())
    assert [item["id"] for item in held["long_term"]] == ids[-10:] and sum(held["pages"].values()) == 35
    before = tree(home)
    agent.do("store", "one more, in short-term memory")
    changed = {name for name, data in tree(home).items() if before.get(name) != data}
    shown = "memory/INDEX.md"
    assert changed == {"memory-store.json", "memory/2026-03-01.md", "memory/mabos-memory-items.md", shown}
    before = tree(home)
    agent.do("update", ids[3], "--content", "fact number three, corrected")
    changed = {name for name, data in tree(home).items() if before.get(name) != data}
    pages = {"memory-store/2026-03.json", "memory/mabos-memory-items/2026-03.md"}
    assert changed == {"memory-store.json", "archive/2026-03.jsonl", *pages, shown}
    assert agent.do("get", ids[3])["item"]["content"] == "fact number three, corrected"


def test_uses_are_counted_without_rewriting_memory_and_folded_in_by_the_next_write(tmp_path: Path) -> None:
    agent = Agent(tmp_path / "ws").init()
    item_id = agent.do("store", "the vault key hangs behind the door")["id"]
    before = tree(tmp_path / "ws")
    agent.do("recall", "vault")
    agent.do("context", "pack", "vault")
    agent.do("get", item_id)
    assert tree(tmp_path / "ws") == before
    agent.do("store", "something else")
    stored = json.loads((tmp_path / "ws/agents/main/memory-store.json").read_text())["short_term"]
    assert [item["access_count"] for item in stored if item["id"] == item_id] == [2]
    assert agent.do("get", item_id)["item"]["access_count"] == 2


def test_an_item_used_twice_outlives_its_time_until_consolidation_takes_it(tmp_path: Path) -> None:
    agent = Agent(tmp_path / "ws").init()
    kept = agent.do("store", "the kettle is descaled", "-i", "0.2")["id"]
    lost = agent.do("store", "lunch was soup", "-i", "0.2")["id"]
    agent.do("get", kept)
    agent.do("get", kept)
    agent.minutes += 125
    agent.do("store", "two hours later", "-i", "0.2")
    assert agent.do("get", kept)["state"] == "live"
    gone = agent.do("get", lost)
    assert (gone["state"], gone["history"][-1]["reason"]) == ("archived", "expired")
    assert [g["id"] for g in agent.do("consolidate")["groups"]] == [kept]
    assert agent.do("get", kept)["store"] == "long_term"


def test_an_edited_derived_file_is_set_aside_not_overwritten(tmp_path: Path) -> None:
    agent = Agent(tmp_path / "ws").init()
    agent.do("store", "first")
    path = tmp_path / "ws/agents/main/memory/mabos-memory-items.md"
    path.write_text(path.read_text() + "a line that a person typed\n")
    agent.do("store", "second")
    assert "a line that a person typed" not in path.read_text()
    kept = list((tmp_path / "ws/agents/main/memory/archive/edited").iterdir())
    assert len(kept) == 1 and "a line that a person typed" in kept[0].read_text()


def test_an_edit_of_the_store_made_while_a_command_plans_is_kept(tmp_path: Path) -> None:
    """The plan itself saves the file behind the command's back, as an editor would."""
    from mabos_cli.commands.call import Call
    from mabos_cli.core.memory.stores import put_item

    agent = Agent(tmp_path / "ws").init()
    item_id = agent.do("store", "the old words", "--store", "long_term")["id"]
    store = tmp_path / "ws/agents/main/memory-store.json"
    home = Call(workspace=str(tmp_path / "ws")).open_agent()
    tries = []

    def plan(memory, means):
        if not tries:
            store.write_text(store.read_text().replace("the old words", "words of a person"))
        tries.append(1)
        item = memory.long_term.find(item_id)._replace(id=means.new_id(), content="from the command")
        return put_item(memory, "long_term", item), item.id

    made, _ = home.change("test", plan)
    assert len(tries) == 2
    assert agent.do("get", item_id)["item"]["content"] == "words of a person"
    assert agent.do("get", made)["item"]["content"] == "from the command"


def test_a_clock_that_jumps_back_warns_and_keeps_ids_in_order(tmp_path: Path) -> None:
    agent = Agent(tmp_path / "ws").init()
    agent.minutes = 600
    first = agent.do("store", "at ten")["id"]
    agent.minutes = 0
    done = agent.run("store", "at midnight", "--json")
    answer = json.loads(done.stdout)
    assert answer["data"]["id"] > first
    assert "the clock is 10.0 h behind" in answer["warnings"][0]


def test_deferred_items_are_seen_at_once_and_stored_once(tmp_path: Path) -> None:
    agent = Agent(tmp_path / "ws").init()
    before = tree(tmp_path / "ws")
    ids = [agent.do("store", f"queued {n}", "--defer")["id"] for n in range(3)]
    assert tree(tmp_path / "ws") == before
    assert len(set(ids)) == 3
    assert {row["id"] for row in agent.do("recall", "queued")["results"]} == set(ids)
    agent.minutes += 10
    agent.do("store", "the next command")
    stored = json.loads((tmp_path / "ws/agents/main/memory-store.json").read_text())["short_term"]
    assert sorted(item["id"] for item in stored)[:3] == sorted(ids)
    assert {item["created_at"] for item in stored if item["id"] in ids} == {"2026-03-01T10:00:00.000Z"}
    assert agent.do("status")["due"]["deferred"] == 0


def test_a_queue_that_was_stored_but_not_cut_is_not_stored_again(tmp_path: Path) -> None:
    """A crash between the commit and the cut, then time passes: the id must not come back to life."""
    agent = Agent(tmp_path / "ws").init()
    agent.do("store", "the first memory")
    item_id = agent.do("store", "queued once", "--defer", "-i", "0.1")["id"]
    store, queue = tmp_path / "ws/agents/main/memory-store.json", tmp_path / "ws/.mabos/queue/main.jsonl"
    for at in range(1, 100):
        run(
            "store",
            "x",
            "-w",
            str(tmp_path / "ws"),
            fault=Fault("kill", at),
            MABOS_NOW="2026-03-01T10:01:00Z",
        )
        if item_id in store.read_text():
            break
    assert item_id in queue.read_text()
    agent.minutes = 5
    agent.do("store", "after the crash")
    assert item_id not in queue.read_text()
    agent.minutes = 300
    agent.do("store", "hours later")
    agent.do("store", "and later still")
    assert agent.do("get", item_id)["state"] == "archived"
