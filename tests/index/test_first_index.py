"""The first index of a large memory: bounded work in the foreground, batches that a kill leaves alone, answers by words meanwhile."""

import os
import signal
import subprocess
import sys
import time

import pytest

from mabos_cli.index import follow
from mabos_cli.services.search import agent_search
from mabos_cli.services.search.agent_search import AgentIndex

from .lab import Lab, check_sound, close, contents_of, differences, settle
from .models import Hashed
from .world import QUESTIONS


@pytest.fixture
def hurried(busy: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Nobody waits for more than one small batch."""
    monkeypatch.setattr(follow, "_BATCH", 10)
    monkeypatch.setenv("MABOS_INDEX_PATIENCE", "0")
    monkeypatch.setattr(AgentIndex, "_embedder", lambda self: Hashed())
    monkeypatch.setattr(agent_search, "sync_later", lambda agent: None)
    return busy


def held(lab: Lab) -> int:
    """How many items and passages can be found, whatever is still to be read."""
    found = AgentIndex(lab.home())
    db = found.plan().engine.connect(os.fspath(lab.index), read_only=True)
    count = db.execute("SELECT count(*) FROM passages WHERE shown").fetchone()[0]
    db.close()
    return count


def test_each_search_does_a_part_until_all_is_there(hurried: Lab) -> None:
    counts, warnings = [], []
    for _ in range(200):
        search = hurried.search()
        warnings = search.warnings()
        close(search)
        counts.append(held(hurried))
        if not warnings:
            break
        assert warnings == ["the index is being built: answers are from what it has by now, by words; the rest follows"]
    assert len(counts) > 5 and counts == sorted(counts) and not warnings
    found, fresh = hurried.contents(), hurried.fresh_contents()
    assert not differences(found, fresh)


def test_what_is_there_answers_by_words(hurried: Lab) -> None:
    search = hurried.search()
    assert all(index.embedder is None for index in search._indexes())
    assert any(search(question) for question in QUESTIONS)
    assert search.stale is False
    close(search)


def test_a_sync_does_not_stop(hurried: Lab) -> None:
    opened = AgentIndex(hurried.home())
    opened.refresh(wait=5)
    assert not opened.stats.left and opened.warnings == []
    check_sound(opened.index.db)
    opened.index.close()


@pytest.mark.parametrize("after", [0.35, 0.6, 1.0, 1.6])
def test_who_is_killed_goes_on(busy: Lab, after: float) -> None:
    for number in range(12):
        busy.write(
            f"notes/more-{number}.md",
            "".join(f"# Part {n}\n\nThe ferry number {n} of {number}.\n\n" for n in range(60)),
        )
    settle()
    words = [sys.executable, "-m", "mabos_cli", "-w", os.fspath(busy.root), "index", "sync", "-q"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = held(busy) if busy.index.exists() and busy.note.read_text().startswith("building") else 0
    opened = AgentIndex(busy.home())
    opened.refresh(wait=5)
    assert opened.index.db.execute("SELECT count(*) FROM passages WHERE shown").fetchone()[0] >= before
    check_sound(opened.index.db)
    found = contents_of(opened.index.db)
    opened.index.close()
    assert not differences(found, busy.fresh_contents())


def test_batches_of_one_large_source(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "_BATCH", 10)
    ids = lab.store_all([lab.draft(f"the ferry number {n}", store="long_term") for n in range(95)])
    real, seen = follow.Follower._apply, []

    def apply(follower, batch, known):
        seen.append(len(batch))
        if len(seen) == 5:
            raise KeyboardInterrupt
        real(follower, batch, known)

    monkeypatch.setattr(follow.Follower, "_apply", apply)
    with pytest.raises(KeyboardInterrupt):
        lab.sync()
    assert held(lab) == 40
    lab.sync()
    monkeypatch.setattr(follow.Follower, "_apply", real)
    assert {*lab.refs("ferry", limit=200)} == {*ids}
    lab.forget(ids[3])
    assert {*lab.refs("ferry", limit=200)} == {*ids} - {ids[3]}
    assert not differences(lab.contents(), lab.fresh_contents())


def test_a_link_in_its_place_is_not_followed(lab: Lab) -> None:
    other = lab.root.parent / "precious.sqlite"
    other.write_bytes(b"precious")
    lab.index.parent.mkdir(parents=True, exist_ok=True)
    lab.index.symlink_to(other)
    item = lab.store("the ferry leaves at nine")
    assert lab.refs("ferry") == [item]
    assert other.read_bytes() == b"precious" and not lab.index.is_symlink()
