"""What is read: every file that holds memory, whatever is wrong with its neighbours; and where its passages say they stand."""

import errno
import json
import os
from random import Random

import pytest
from forked import run_here as run

from mabos_cli.errors import InvalidFile
from mabos_cli.index.packing import unpack_text
from mabos_cli.services.search.agent_search import AgentIndex
from mabos_cli.workspace import files
from mabos_cli.workspace.sources import find_sources

from .lab import Lab, close
from .world import QUESTIONS, page


def recalled(lab: Lab, *words: str):
    done = run("recall", *words, "--json", "-w", str(lab.root), HOME=str(lab.root.parent))
    return done, json.loads(done.stdout) if done.code == 0 else {}


def test_a_damaged_store_is_an_error_that_names_it(lab: Lab) -> None:
    item_id = lab.store("The quince is ripe", "long_term")
    lab.sync()
    path = lab.agent / "memory-store.json"
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"", b"[]", b"{]", whole.replace(b'"content"', b'"contents"')):
        path.write_bytes(damaged)
        done, _ = recalled(lab, "quince")
        assert done.code == 4, damaged
        assert "memory-store.json" in done.stderr and "Traceback" not in done.stderr
        assert json.loads(done.stderr)["error"]["code"] == "invalid_file"
        assert path.read_bytes() == damaged
    path.write_bytes(whole)
    assert lab.refs("quince") == [item_id]


def test_a_damaged_store_leaves_no_ghosts(lab: Lab) -> None:
    lab.store("The quince is ripe", "long_term")
    lab.sync()
    lab.write("memory-store.json", "{")
    with pytest.raises(InvalidFile):
        lab.ask("quince")


def test_a_file_that_is_too_large_is_a_warning(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MABOS_INDEX_MAX_FILE_BYTES", "2000")
    lab.write("notes/large.md", "quince " * 2000)
    lab.write("notes/small.md", "The quince is ripe.\n")
    search = lab.search()
    assert [hit.candidate.ref for hit in search("quince")] == ["notes/small.md:1-1"]
    assert len(search.warnings()) == 1 and "notes/large.md" in search.warnings()[0]
    close(search)
    lab.write("notes/large.md", "a smaller quince\n")
    assert sorted(lab.refs("quince")) == ["notes/large.md:1-1", "notes/small.md:1-1"]


def test_a_file_that_cannot_be_read_is_a_warning(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.write("notes/a.md", "The quince is ripe.\n")
    lab.write("notes/b.md", "The quince is locked away.\n")
    real = files.open_regular

    def read(path: str) -> int:
        if path.endswith("/b.md"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path)

    monkeypatch.setattr(files, "open_regular", read)
    search = lab.search()
    assert [hit.candidate.ref for hit in search("quince")] == ["notes/a.md:1-1"]
    assert len(search.warnings()) == 1 and "notes/b.md" in search.warnings()[0]
    close(search)
    monkeypatch.undo()
    assert "notes/b.md:1-1" in lab.refs("locked away")


def test_a_file_that_is_too_large_is_not_even_read(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MABOS_INDEX_MAX_FILE_BYTES", "4096")
    lab.write("notes/a.md", "The quince is ripe.\n")
    lab.write("notes/large.md", "The quince is large.\n" * 400)
    real, read = files.open_regular, []
    monkeypatch.setattr(files, "open_regular", lambda path: [read.append(os.path.basename(path)), real(path)][1])
    search = lab.search()
    assert [hit.candidate.ref for hit in search("quince")] == ["notes/a.md:1-1"]
    assert search.warnings() == ["notes/large.md is larger than 4,096 bytes and is left out"]
    close(search)
    assert "a.md" in read and "large.md" not in read


def test_links_that_lead_nowhere_do_not_stop_a_recall(lab: Lab) -> None:
    lab.write("notes/a.md", "The quince is ripe.\n")
    (lab.agent / "notes/loop.md").symlink_to("loop.md")
    (lab.agent / "notes/gone.md").symlink_to("nowhere.md")
    (lab.agent / "notes/folder.md").symlink_to(lab.agent / "notes")
    done, answer = recalled(lab, "quince")
    assert done.code == 0
    assert [row["ref"] for row in answer["data"]["results"]] == ["notes/a.md:1-1"]


def test_a_file_that_is_not_utf8_is_found_with_replacements(lab: Lab) -> None:
    lab.write("notes/old.md", b"Le caf\xe9 et la quince\n")
    hit = lab.ask("quince")[0].candidate
    assert hit.text == "Le caf\ufffd et la quince"
    lab.write("sessions/old.jsonl", b'{"content": "un caf\xe9, une myrtille"}\n')
    assert lab.ask("myrtille")[0].candidate.path == "sessions/old.jsonl"


def test_bytes_of_any_kind_do_not_stop_a_recall(lab: Lab) -> None:
    rnd = Random(3)
    lab.write("notes/good.md", "The quince is ripe.\n")
    for number in range(12):
        lab.write(f"notes/{number}.md", rnd.randbytes(3000))
        lab.write(f"sessions/{number}.jsonl", rnd.randbytes(3000))
    lab.write("notes/nul.md", b"before\0after quince\n")
    lab.write("notes/empty.md", b"")
    lab.write("notes/blank.md", b"\n \n\t\n")
    lab.write("notes/mark.md", b"\xef\xbb\xbf# Quince\r\n\r\nwith marks\r\n")
    refs = lab.refs("quince")
    assert {"notes/good.md:1-1", "notes/nul.md:1-1", "notes/mark.md:1-3"} <= set(refs)


@pytest.mark.parametrize("folder", ["sessions", "observations", "memory/sessions", "notes"])
def test_lines_of_transcripts_are_found_and_cited(lab: Lab, folder: str) -> None:
    lines = [
        {"role": "user", "content": "Where is the quince?", "timestamp": "2026-02-01T10:00:00Z"},
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "In the attic."}]},
        },
        {"type": "tool", "payload": {"output": "The barometer fell"}},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    lab.write(f"{folder}/day.jsonl", text.replace("\n", '\n{"torn": "qui\n\n', 1))
    assert lab.refs("quince")[0] == f"{folder}/day.jsonl:1-1"
    assert lab.refs("attic")[0] == f"{folder}/day.jsonl:4-4"
    assert lab.refs("barometer")[0] == f"{folder}/day.jsonl:5-5"
    assert lab.ask("quince")[0].candidate.at.startswith("2026-02-01T10:00:00")


def test_links_that_lead_out_of_the_workspace_are_not_followed(lab: Lab) -> None:
    outside = lab.root.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("The quince is a secret.\n")
    (lab.agent / "notes").mkdir()
    (lab.agent / "notes/link.md").symlink_to(outside / "secret.md")
    (lab.agent / "notes/folder").symlink_to(outside)
    (lab.agent / "linked").symlink_to(outside)
    assert lab.ask("quince") == []
    lab.write("notes/own.md", "The quince is mine.\n")
    (lab.agent / "notes/again.md").symlink_to("own.md")
    assert set(lab.refs("quince")) == {"notes/own.md:1-1", "notes/again.md:1-1"}


def test_hidden_and_foreign_files_are_not_read(lab: Lab) -> None:
    for name in (
        ".hidden.md",
        ".git/x.md",
        ".mabos-tmp-1-0",
        "notes/.x.md",
        "a.py",
        "b.json",
        "c.md~",
        "d.md.bak",
    ):
        lab.write(name, "The quince is hidden.\n")
    assert lab.ask("quince") == []


def test_what_the_template_put_there_is_not_memory(lab: Lab) -> None:
    search = lab.search()
    assert search.count() == 0
    close(search)
    path = lab.agent / "MEMORY.md"
    path.write_text(path.read_text("utf-8") + "\nThe quince is ripe.\n", "utf-8")
    assert [hit.candidate.path for hit in lab.ask("quince")] == ["MEMORY.md"]


def test_a_pipe_is_not_read(lab: Lab) -> None:
    """Reading it would wait for ever."""
    os.mkfifo(lab.agent / "pipe.md")
    assert "pipe.md" not in [source.path for source in find_sources(lab.home())]


def test_a_note_beside_the_store_is_a_note(lab: Lab) -> None:
    lab.store("first")
    lab.write("memory-store-ideas.md", "Ideas for the quince.\n")
    lab.write("memory-store/README.md", "Pages of the quince.\n")
    assert {"memory-store-ideas.md:1-1", "memory-store/README.md:1-1"} <= set(lab.refs("quince"))


def test_a_name_that_is_not_utf8_does_not_stop_a_recall(lab: Lab) -> None:
    lab.write("notes/good.md", "The quince is ripe.\n")
    with open(os.fsencode(lab.agent) + b"/notes/caf\xe9.md", "w") as file:
        file.write("The quince is French.\n")
    assert "notes/good.md:1-1" in lab.refs("quince")
    done, answer = recalled(lab, "quince")
    assert (done.code, "Traceback" in done.stderr) == (0, False)
    assert len(answer["data"]["results"]) == 2


def test_half_a_character_in_a_transcript_does_not_stop_a_recall(lab: Lab) -> None:
    """JSON can say \\ud83d without its other half; hosts that cut texts do."""
    lab.write(
        "sessions/cut.jsonl",
        '{"content": "The quince \\ud83d"}\n{"content": "The pear", "role": "\\udc00"}\n',
    )
    assert lab.refs("quince")[0] == "sessions/cut.jsonl:1-1"
    assert lab.refs("pear")[0] == "sessions/cut.jsonl:2-2"


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": "M-1-aaaa", "kind": "item", "torn',
        b'{"id": "M-1\\q", "kind": "item", "item": {}}',
        b'{"id": "M-1-aaaa", "kind": "note", "more": {"kind": "item"}}',
        b'{"id": "M-1-aaaa", "kind": "item"}',
        b'{"id": "\xff", "kind": "item", "item": 5}',
        b"\0\0\0\0",
    ],
)
def test_a_torn_line_in_the_archive_costs_that_line_only(lab: Lab, line: bytes) -> None:
    gone = lab.store("The quince is ripe", "long_term")
    lab.forget(gone)
    path = next((lab.agent / "archive").glob("*.jsonl"))
    path.write_bytes(line + b"\n" + path.read_bytes() + line)
    assert lab.refs("quince", archived=True)[:1] == [gone]
    lab.write("notes/a.md", "The pear is ripe.\n")
    assert lab.refs("pear")[:1] == ["notes/a.md:1-1"]


def test_a_torn_queue_costs_the_torn_line_only(lab: Lab) -> None:
    item_id = lab.defer("The quince waits")
    path = lab.home().paths.queue
    with path.open("ab") as file:
        file.write(b'{"store": "short_term", "item": {"id": "M-')
    assert lab.refs("quince") == [item_id]


def test_deep_folders_do_not_stop_a_recall(lab: Lab) -> None:
    lab.write("notes/good.md", "The quince is ripe.\n")
    lab.write("notes/" + "d/" * 300 + "deep.md", "The quince is deep.\n")
    assert len(lab.refs("quince")) == 2


def test_passages_cite_the_lines_they_stand_on(busy: Lab) -> None:
    rnd = Random(4)
    for number in range(10):
        busy.write(f"notes/long{number}.md", "".join(page(rnd) for _ in range(4)))
    searching = busy.open()
    assert searching.index is not None
    rows = searching.index.db.execute(
        "SELECT source, first, last, text FROM passages WHERE item = '' AND source LIKE '%.md'"
    ).fetchall()
    searching.index.close()
    assert len(rows) > 60
    for source, first, last, packed in rows:
        text = unpack_text(packed)
        lines = (busy.agent / source).read_text("utf-8").split("\n")[first - 1 : last]
        assert text in "\n".join(lines), source
        assert text.split("\n")[0] in lines[0] and text.split("\n")[-1] in lines[-1], (source, first, last)


def test_the_lines_that_recall_cites_are_right_after_edits_above(lab: Lab) -> None:
    lab.write("notes/a.md", "# A\n\nThe quince is ripe.\n\n## B\n\nThe pear is not.\n")
    assert lab.refs("pear")[0] == "notes/a.md:5-7"
    lab.write("notes/a.md", "# A\n\nThe quince is ripe.\n\nOne\n\ntwo.\n\n## B\n\nThe pear is not.\n")
    assert lab.refs("pear")[0] == "notes/a.md:9-11"


def test_a_passage_is_found_by_the_headings_above_it(lab: Lab) -> None:
    body = "\n\n".join(f"Step {n}: {'turn the wheel and wait for the light ' * 12}" for n in range(8))
    lab.write("notes/manual.md", f"# Espresso machine\n\n## Descaling\n\n{body}\n\nThen rinse it thoroughly.\n")
    lab.write("notes/other.md", "# Bicycle\n\n## Chain\n\nThen rinse it thoroughly.\n")
    for question in ("descaling", "espresso machine"):
        found = [hit.candidate for hit in lab.ask(question)]
        assert any("rinse" in c.text and "Espresso" not in c.text and c.path == "notes/manual.md" for c in found)
        assert all(c.path == "notes/manual.md" for c in found[:2])
    assert lab.ask("bicycle chain")[0].candidate.path == "notes/other.md"


def test_a_file_is_found_by_its_name(lab: Lab) -> None:
    lab.write("projects/zeppelin.md", "We meet on Monday.\n")
    lab.write("projects/balloon.md", "We meet on Monday.\n")
    assert lab.refs("zeppelin")[0] == "projects/zeppelin.md:1-1"


def test_without_sqlite_the_files_are_searched(busy: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(self):
        raise ImportError("no _sqlite3")

    monkeypatch.setattr(AgentIndex, "plan", missing)
    search = busy.search()
    assert all(search(question) for question in QUESTIONS[:3])
    assert any("SQLite" in warning for warning in search.warnings())


def test_the_best_without_a_question_are_the_most_important(busy: Lab) -> None:
    search = busy.search(limit=15)
    found = [hit.candidate for hit in search.best()]
    close(search)
    everything = [
        busy.home().memory().long_term,
        busy.home().memory().working,
        busy.home().memory().short_term,
    ]
    important = sorted((item.importance for items in everything for item in items), reverse=True)
    assert [c.importance for c in found] == important[:15]
