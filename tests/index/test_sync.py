"""A sync is a diff: it reads what changed, writes nothing when nothing did, and ends where a rebuild would."""

import json
import os
import shutil
from contextlib import closing

import pytest
from forked import run_here as run

from mabos_cli.core.search.recall import Filters
from mabos_cli.index import follow
from mabos_cli.services.search import agent_search
from mabos_cli.services.search.agent_search import AgentIndex
from mabos_cli.workspace.sources import find_sources, holds_items, item_state

from .lab import Lab, check_sound, differences, settle
from .world import QUESTIONS


def stamp(lab: Lab) -> tuple[int, ...]:
    st = lab.index.stat()
    return st.st_size, st.st_mtime_ns, st.st_ctime_ns, st.st_ino


def test_a_sync_counts_what_it_did(lab: Lab) -> None:
    for name in ("a", "b", "c"):
        lab.write(f"notes/{name}.md", f"The note {name}.\n")
    settle()
    first = lab.sync()
    assert first.added == first.unchanged + first.added == len(AgentIndex(lab.home()).sources)
    assert (first.changed, first.removed, first.errors) == (0, 0, 0)
    lab.write("notes/b.md", "The note b, changed.\n")
    lab.write("notes/d.md", "A new note.\n\n# With\n\ntwo passages.\n")
    (lab.agent / "notes/c.md").unlink()
    settle()
    stats = lab.sync()
    assert (stats.added, stats.changed, stats.removed, stats.errors) == (1, 1, 1, 0)
    assert stats.unchanged == first.added - 2
    assert stats.passages == 3
    assert stats.embedded == 3


def test_a_touched_file_is_not_a_changed_one(lab: Lab) -> None:
    path = lab.write("notes/a.md", "The note.\n")
    settle()
    lab.sync()
    os.utime(path)
    settle()
    stats = lab.sync()
    assert (stats.changed, stats.added, stats.removed, stats.passages) == (0, 0, 0, 0)


def test_items_keep_words_and_vectors_when_the_store_is_split(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    # So that the pages come in another transaction than what they left.
    monkeypatch.setattr(follow, "_BATCH", 5)
    lab.store_all([lab.draft(f"note {n} on subject{n % 7} and place{n}", store="long_term") for n in range(30)])
    settle()
    assert lab.sync().embedded >= 30
    monkeypatch.setenv("MABOS_MEMORY_SPLIT_ABOVE", "30")
    monkeypatch.setenv("MABOS_MEMORY_PAGE_ITEMS", "10")
    lab.store("one more makes pages")
    assert len([*(lab.agent / "memory-store").iterdir()]) == 2
    settle()
    stats = lab.sync()
    assert (stats.added, stats.embedded) == (2, 1)
    with closing(lab.open().index) as index:
        check_sound(index.db)


def test_the_best_are_read_off_the_top_however_many_there_are(lab: Lab) -> None:
    steps: list[int] = []

    def tick() -> None:
        steps[-1] += 1

    lab.store("of the day", store="short_term")
    for start, end in ((0, 30), (30, 400)):
        drafts = [lab.draft(f"note{n} place{n} thing{n}", importance=n % 100 / 100) for n in range(start, end)]
        lab.store_all([draft._replace(store="long_term") for draft in drafts])
        with closing(lab.open().index) as index:
            for stores, count in (((), 10), (("working", "short_term"), 1)):
                only = index.lanes.restrict(Filters(stores=stores))
                steps.append(0)
                index.db.set_progress_handler(tick, 1)
                found = [row.importance for row in index.lanes.list_best(10, only, 0)]
                assert len(found) == count and found == sorted(found, reverse=True)
    assert steps[2] < 1.5 * steps[0] and steps[3] < 1.5 * steps[1]


def test_a_second_sync_writes_nothing(busy: Lab) -> None:
    settle()
    busy.sync()
    before, note = stamp(busy), busy.note.read_bytes()
    assert busy.sync() == (0, 0, 0, len(AgentIndex(busy.home()).sources), 0, 0, 0, 0)
    assert busy.tops(QUESTIONS) == busy.tops(QUESTIONS)
    assert (stamp(busy), busy.note.read_bytes()) == (before, note)
    assert sorted(path.name for path in busy.index.parent.glob("main.[sl][qo]*")) == [
        "main.lock",
        "main.sqlite",
    ]


def test_all_files_are_looked_at_once_though_one_changed(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a sync only what holds items is looked at again: nothing must have moved from one file to another meanwhile."""
    lab.store("It is kept")
    lab.forget(lab.store("It is gone"))
    lab.defer("It waits")
    lab.sync()
    lab.write("memory/notes.md", "A new note\n")
    looked: list[object] = []
    monkeypatch.setattr(agent_search, "find_sources", lambda home: looked.append(home) or find_sources(home))
    assert lab.sync().added == 1 and len(looked) == 1
    held = {(source.path, source.stamp) for source in find_sources(lab.home()) if holds_items(source.path)}
    assert item_state(lab.home()) == held
    assert {path.split("/")[0] for path, _ in held} == {"memory-store.json", "archive", ".mabos"}


def test_a_file_that_changed_a_moment_ago_is_read_again_until_it_settles(lab: Lab) -> None:
    lab.write("notes/a.md", "The note.\n")
    lab.sync()
    settle()
    assert lab.sync().changed == 0
    before = stamp(lab)
    lab.sync()
    assert stamp(lab) == before


def test_deleting_the_index_changes_no_answer(busy: Lab) -> None:
    busy.sync()
    before = busy.tops(QUESTIONS)
    shutil.rmtree(busy.index.parent)
    assert busy.tops(QUESTIONS) == before
    assert all(before.values())


def test_a_rebuild_equals_an_index_that_grew(busy: Lab) -> None:
    hidden = busy.agent / "notes"
    away = busy.root / "away"
    hidden.rename(away)
    busy.sync()
    away.rename(hidden)
    busy.sync()
    grown, answers = busy.contents(), busy.tops(QUESTIONS, archived=True)
    stats = busy.sync(rebuild=True)
    assert stats.added == len(AgentIndex(busy.home()).sources)
    assert differences(busy.contents(), grown) == {}
    assert busy.tops(QUESTIONS, archived=True) == answers
    searching = busy.open()
    with closing(searching.index) as index:
        check_sound(index.db)


def test_a_rebuild_needs_nothing_to_be_there(lab: Lab) -> None:
    """Neither in a new workspace nor where somebody deleted the index with its folder."""
    for _ in "12":
        shutil.rmtree(lab.index.parent, ignore_errors=True)
        lab.sync(rebuild=True)
        assert lab.index.is_file()


def test_a_rebuild_replaces_the_file_and_leaves_no_other(busy: Lab) -> None:
    busy.sync()
    before = stamp(busy)
    busy.sync(rebuild=True)
    assert stamp(busy)[3] != before[3]
    settle()
    assert busy.sync().added == 0
    assert sorted(os.listdir(busy.index.parent)) == sorted(
        {"main.lock", "main.sqlite", *(n for n in os.listdir(busy.index.parent) if "similar" in n)}
    )


def test_the_commands_tell_what_they_did(busy: Lab) -> None:
    def data(*words: str) -> dict:
        done = run(*words, "--json", "-w", str(busy.root), HOME=str(busy.root.parent))
        assert (done.code, done.stderr) == (0, ""), done.stderr
        return json.loads(done.stdout)["data"]

    settle()
    assert data("index", "status")["state"] == "none"
    made = data("index", "sync")
    assert made["added"] > 10 and made["embedded"] > 50 and not made["rebuilt"]
    assert data("index", "sync")["unchanged"] == made["added"]
    again = data("index", "sync", "--rebuild")
    assert (again["rebuilt"], again["added"], again["embedded"]) == (True, made["added"], made["embedded"])
    status = data("index", "status")
    assert (status["state"], status["files"], status["waiting_for_vectors"]) == ("fresh", made["added"], 0)
    busy.write("notes/new.md", "Something else.\n")
    assert data("index", "status")["state"].startswith("stale: 1 of")
    lanes = data("index", "search", "ERR_042")
    assert "ERR_042" in lanes["words"][0]["text"] and lanes["vectors"]


def test_settings_of_another_shape_rebuild_the_index(busy: Lab, monkeypatch) -> None:
    busy.sync()
    before = busy.contents()
    monkeypatch.setenv("MABOS_INDEX_PASSAGE_TOKENS", "40")
    assert busy.sync().added > 10
    smaller = busy.contents()
    assert smaller["passages"].total() > before["passages"].total()
    assert differences(smaller, busy.fresh_contents()) == {}
    monkeypatch.delenv("MABOS_INDEX_PASSAGE_TOKENS")
    busy.sync()
    assert differences(busy.contents(), before) == {}
