"""Many processes at one index, some of them killed: nobody is locked out, nothing is lost, and the answers are right."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from forked import Fault, places
from forked import run_here as run

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.search.documents import Content
from mabos_cli.core.search.recall import Filters
from mabos_cli.index.vectors import Engine
from mabos_cli.services.search.agent_search import AgentSearch
from mabos_cli.workspace import contents
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.locate import create_agent

from .lab import Lab, check_sound, close, differences, settle
from .world import QUESTIONS, page, sentence

PROGRAM = Path(sys.executable).with_name("mabos")


def start(lab: Lab, *words: str) -> subprocess.Popen:
    environment = {name: value for name, value in os.environ.items() if name != "MABOS_NOW"}
    return subprocess.Popen(
        [PROGRAM, *words, "-w", lab.root],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def check_like_rebuilt(lab: Lab) -> None:
    """The index is sound and answers as a fresh one does."""
    searching = lab.open()
    assert searching.warnings == []
    with closing(searching.index) as index:
        assert index.path == lab.index
        check_sound(index.db)
        assert index.db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert differences(lab.contents(), lab.fresh_contents()) == {}
    answers = lab.tops(QUESTIONS)
    lab.sync(rebuild=True)
    assert lab.tops(QUESTIONS) == answers


def leftovers(lab: Lab) -> list[str]:
    return [name for name in os.listdir(lab.index.parent) if name.startswith(".mabos-tmp-")]


def test_readers_writers_and_rebuilders_at_once(busy: Lab) -> None:
    problems: list[str] = []

    def call(*words: str) -> None:
        process = start(busy, *words)
        out, err = process.communicate()
        if process.returncode != 0 or "Traceback" in err or "database is locked" in out + err:
            problems.append(f"{words}: {process.returncode} {err}")

    def writer(number: int) -> None:
        for n in range(3):
            call("store", f"Writer {number} remembers zebra{number}x{n}", "--store", "long_term")

    def reader() -> None:
        for question in QUESTIONS[:3]:
            call("recall", question, "--json")

    def rebuilder() -> None:
        for _ in range(3):
            call("index", "sync", "--rebuild")

    threads = [threading.Thread(target=writer, args=(n,)) for n in range(2)]
    threads += [threading.Thread(target=reader) for _ in range(2)]
    threads += [threading.Thread(target=rebuilder) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, "\n".join(problems)
    for number in range(2):
        for n in range(3):
            assert f"zebra{number}x{n}" in busy.ask(f"zebra{number}x{n}")[0].candidate.text
    assert leftovers(busy) == []
    check_like_rebuilt(busy)


@pytest.mark.parametrize("words", [("index", "sync"), ("index", "sync", "--rebuild"), ("recall", "tomato")])
def test_a_killed_process_blocks_nobody(busy: Lab, words: tuple[str, ...]) -> None:
    """Killed at random moments, with many changes to follow."""
    rnd = Random(12)
    busy.sync()
    for number in range(4):
        for n in range(15):
            busy.write(f"notes/{n}.md", page(rnd))
        process = start(busy, *words)
        time.sleep(rnd.uniform(0.08, 0.35))  # start-up and imports come first
        process.kill()
        process.communicate()
        word = f"zebra{number}"
        busy.write("notes/word.md", f"{sentence(rnd)} {word}\n")
        assert word in busy.ask(word)[0].candidate.text
    check_like_rebuilt(busy)


@pytest.mark.parametrize("kind", ["kill", "powerloss"])
def test_a_sync_that_is_cut_off_at_any_call_is_made_good(little: Lab, kind: str) -> None:
    rnd = Random(13)
    little.sync()
    words = ("index", "sync", "--rebuild")
    calls = run(*words, "-w", str(little.root)).calls
    for at in places(calls, 3):
        for rebuild in (words, words[:2]):
            little.write("notes/word.md", f"{sentence(rnd)} zebra{at}\n")
            done = run(*rebuild, "-w", str(little.root), fault=Fault(kind, at))
            assert done.code in (-signal.SIGKILL, 0), done.stderr
            assert f"zebra{at}" in little.ask(f"zebra{at}")[0].candidate.text
    check_like_rebuilt(little)


def kill_in_transaction(lab: Lab, statement: int) -> bool:
    """Runs a sync in a child that dies at its n-th SQL statement; whether it came that far."""
    pid = os.fork()
    if pid == 0:
        try:
            real = Engine.connect

            def connect(self, path: str, *, read_only: bool = False):
                db, count = real(self, path, read_only=read_only), [0]

                def trace(sql: str) -> None:
                    count[0] += 1
                    if count[0] >= statement:
                        os.kill(os.getpid(), signal.SIGKILL)

                db.execute("PRAGMA cache_size = 4")  # pages reach the file before the commit
                db.set_trace_callback(trace)
                return db

            Engine.connect = connect
            for number in range(8):
                lab.write(f"notes/{number}.md", page(Random(statement + number)))
            lab.open()
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (0, -signal.SIGKILL)
    return code != 0


def test_a_process_killed_between_two_statements_is_rolled_back(little: Lab) -> None:
    settle()
    little.sync()
    killed = 0
    for statement in (8, 30, 90, 200, 400):
        killed += kill_in_transaction(little, statement)
        assert "ERR_042" in little.ask("ERR_042")[0].candidate.text
        searching = little.open()
        with closing(searching.index) as index:
            check_sound(index.db)
        assert differences(little.contents(), little.fresh_contents()) == {}
    assert killed > 2
    check_like_rebuilt(little)


def test_half_a_transaction_of_a_killed_writer_is_not_taken_for_the_whole(little: Lab) -> None:
    """There is no journal on disk to roll back with: the note says that somebody was writing, and the file is rebuilt."""
    settle()
    little.sync()
    assert kill_in_transaction(little, 200)
    assert little.note.read_text().strip() == "writing"
    answers = little.tops(QUESTIONS)
    assert differences(little.contents(), little.fresh_contents()) == {}
    little.sync(rebuild=True)
    assert little.tops(QUESTIONS) == answers


def test_a_reader_of_the_old_file_does_not_touch_the_new_one(little: Lab) -> None:
    """It knows the file by its number, but the journal by its name: that of the new file is not its own."""
    settle()
    little.sync()
    answers = little.tops(QUESTIONS)
    search = little.search()  # has the old file open
    little.sync(rebuild=True)
    with closing(little.open().index) as writer:
        writer.db.execute("PRAGMA cache_size = 4")  # so that changes reach the file before they are committed
        writer.db.execute("BEGIN IMMEDIATE")
        writer.db.execute("UPDATE items SET line = line || ' '")
        beside = {path.name for path in little.index.parent.iterdir()}
        found = {question: [hit.candidate.ref for hit in search(question)] for question in QUESTIONS[:3]}
        writer.db.execute("ROLLBACK")
    close(search)
    assert "main.sqlite-journal" not in beside
    assert found == {question: answers[question] for question in QUESTIONS[:3]}


def test_temporary_files_of_the_dead_do_not_pile_up(little: Lab) -> None:
    little.sync()
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    left = little.index.parent / f".mabos-tmp-{child.pid}-main.sqlite"
    left.write_bytes(b"left over")
    for words in (("store", "something"), ("index", "sync", "--rebuild"), ("doctor", "--repair")):
        assert run(*words, "-w", str(little.root)).code == 0
    assert not left.exists()


def test_first_use_by_many_at_once(busy: Lab) -> None:
    processes = [start(busy, "recall", question, "--json") for question in QUESTIONS[:6]]
    for process in processes:
        out, err = process.communicate()
        assert process.returncode == 0, err
        assert json.loads(out)["data"]["results"]
    check_like_rebuilt(busy)
    assert leftovers(busy) == []


def shared_lab(lab: Lab) -> list:
    """Homes of agents main and other; other shares its memory."""
    create_agent(WorkspacePaths(lab.root), "other")
    folder = lab.root / "agents/other"
    manifest = json.loads((folder / "agent.json").read_text())
    (folder / "agent.json").write_text(json.dumps(manifest | {"settings": {"memory": {"shared": True}}}))
    (folder / "notes.md").write_text("The quince of the other.\n")
    lab.write("notes.md", "The quince of my own.\n")
    return [lab.home("main"), lab.home("other")]


def test_memory_that_is_shared_stays_apart_when_an_index_heals(lab: Lab) -> None:
    homes = shared_lab(lab)
    way = lab.search().options._replace(filters=Filters(now=format_time(homes[0].now())))
    search = AgentSearch(homes, way)
    before = sorted(hit.candidate.ref for hit in search("quince"))
    assert before == ["notes.md:1-1", "other/notes.md:1-1"]
    for agent in ("main", "other"):
        db = sqlite3.connect(lab.root / f".mabos/index/{agent}.sqlite")
        db.execute("DROP TABLE items")
        db.commit()
        db.close()
        assert sorted(hit.candidate.ref for hit in search("quince")) == before, agent
    close(search)


def test_an_id_that_stands_twice_is_shown_as_a_rebuild_would(lab: Lab) -> None:
    """As a merge of two branches may leave it: whichever was edited last."""
    lab.store("first")
    twice = [{"id": "hand-1", "content": "The quince"}, {"id": "hand-1", "content": "The pear"}]
    lab.edit_store(lambda data: data["long_term"].extend(twice))
    lab.sync()
    assert differences(lab.contents(), lab.fresh_contents()) == {}
    lab.edit_store(lambda data: data["long_term"][1].update(content="The medlar"))
    lab.sync()
    assert differences(lab.contents(), lab.fresh_contents()) == {}


def test_a_new_name_of_the_agent_does_not_divide_sync_and_rebuild(lab: Lab) -> None:
    """What the template put there is told by the name in agent.json."""
    settle()
    lab.sync()
    path = lab.agent / "agent.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"name": "Quincy", "role": "gardener"}))
    lab.sync()
    assert differences(lab.contents(), lab.fresh_contents()) == {}


def test_a_workspace_can_be_copied_with_its_index(little: Lab, quick: Path) -> None:
    settle()
    answers = little.tops(QUESTIONS)
    shutil.copytree(little.root, quick / "copy")
    other = Lab(quick / "copy")
    other.write("notes/new.md", "marzipan\n")
    assert other.refs("marzipan")[0] == "notes/new.md:1-1"
    (other.agent / "notes/new.md").unlink()
    assert other.tops(QUESTIONS) == answers
    assert "notes/new.md:1-1" not in little.refs("marzipan")


def test_an_item_that_is_archived_while_files_are_read_is_seen(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The archive was looked at before, the store is read behind it: the item stands in neither."""
    item_id = lab.store("the quince is ripe")
    settle()
    lab.sync()
    lab.store("the store is other than the index knows")
    real, moves = contents.load_source, []

    def load(home: Agent, shown: str, path: str) -> Content:
        if shown == "memory-store.json" and not moves:
            moves.append(item_id)
            lab.forget(item_id)
        return real(home, shown, path)

    monkeypatch.setattr(contents, "load_source", load)
    search = lab.search(archived=True)
    assert [hit.candidate.ref for hit in search("quince")] == moves
    assert not search.stale
    close(search)


def test_memory_that_never_rests_is_said_to_be_stale(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    real = contents.load_source

    def load(home: Agent, shown: str, path: str) -> Content:
        content = real(home, shown, path)
        if shown == "memory-store.json":
            lab.store(f"one more {os.urandom(8).hex()}")
        return content

    lab.store("the first")
    monkeypatch.setattr(contents, "load_source", load)
    search = lab.search()
    assert any("keeps changing" in warning for warning in search.warnings())
    assert search("first")
    close(search)
