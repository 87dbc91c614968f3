"""index sync, status and search, and what status and doctor say about the index."""

import json
import os
import signal
import threading
import time

import pytest
from backends.service import Answer, serving

from commands.desk import note
from commands.notes import UNRELATED
from commands.search.test_providers import speak
from mabos_cli.commands.search import index


def one_object(said):
    """The one JSON object that a command printed."""
    assert said.code == 0, said.stderr
    assert said.stdout.count("\n") == 1 and said.stderr == ""
    return json.loads(said.stdout)


@pytest.fixture
def filled(desk):
    desk.put([note(n, text) for n, text in enumerate(UNRELATED)])
    desk.archive([note(100, "an old fence")])
    desk.write("Playbooks.md", "# Playbooks\n\nPaint the fence.\n")
    time.sleep(0.03)  # what was written just now might be written again within the same tick of the clock
    return desk


def test_status_before_and_after(filled):
    before = one_object(filled.run("index", "status", "--json"))
    assert before["schema"] == "mabos.index.status.v1"
    assert before["data"]["state"] == "none"
    assert not (filled.root / ".mabos/index/main.sqlite").exists()
    filled.recall("fence")
    after = one_object(filled.run("index", "status", "--json"))["data"]
    assert after["state"] == "fresh"
    assert after["agent"] == "main"
    assert (after["items"], after["archived_items"], after["passages"]) == (50, 1, 52)
    assert (after["waiting_for_vectors"], after["unreadable"]) == (0, [])
    assert after["model"] == after["indexed_model"] == "wordllama-l2_supercat-256"
    assert after["width"] == 256
    assert after["path"] == ".mabos/index/main.sqlite"
    assert after["bytes"] == (filled.root / ".mabos/index/main.sqlite").stat().st_size


def test_status_changes_nothing_and_sees_changes(filled):
    filled.recall("fence")
    path = filled.root / ".mabos/index/main.sqlite"
    before = path.read_bytes()
    filled.write("Playbooks.md", "# Playbooks\n\nPaint the fence twice, and the gate as well.\n")
    said = one_object(filled.run("index", "status", "--json"))["data"]
    assert said["state"].startswith("stale: 1 of ")
    assert path.read_bytes() == before


def test_status_as_text(filled):
    filled.recall("fence")
    said = filled.run("index", "status")
    rows = dict(line.split("  ", 1) for line in said.stdout.splitlines())
    assert rows["state"].strip() == "fresh"
    assert rows["archived items"].strip() == "1"
    assert said.stderr == ""


def test_status_of_a_damaged_index(filled):
    filled.recall("fence")
    (filled.root / ".mabos/index/main.sqlite").write_bytes(b"garbage")
    said = one_object(filled.run("index", "status", "--json"))["data"]
    assert said["state"].startswith("damaged")
    assert filled.recall("fence").refs
    assert one_object(filled.run("index", "status", "--json"))["data"]["state"] == "fresh"


def test_status_and_doctor_speak_of_the_index(filled):
    filled.recall("fence")
    for command in ("status", "doctor"):
        said = one_object(filled.run(command, "--json"))
        assert said["schema"] == f"mabos.{command}.v1"
    assert "index" in one_object(filled.run("status", "--json"))["data"]
    assert any(line.startswith("index") for line in filled.run("status").stdout.splitlines())


def test_sync_counts(filled):
    first = one_object(filled.run("index", "sync", "--json"))
    assert first["schema"] == "mabos.index.sync.v1"
    data = first["data"]
    assert (data["passages"], data["embedded"], data["rebuilt"]) == (52, 52, False)
    again = one_object(filled.run("index", "sync", "--json"))["data"]
    assert (again["added"], again["changed"], again["removed"], again["passages"], again["embedded"]) == (0,) * 5
    filled.write("Playbooks.md", "# Playbooks\n\nPaint the fence, and the gate as well.\n")
    changed = one_object(filled.run("index", "sync", "--json"))["data"]
    assert (changed["added"], changed["changed"], changed["embedded"]) == (0, 1, 1)
    (filled.folder() / "Playbooks.md").unlink()
    removed = one_object(filled.run("index", "sync", "--json"))["data"]
    assert (removed["removed"], removed["embedded"]) == (1, 0)
    rebuilt = one_object(filled.run("index", "sync", "--rebuild", "--json"))["data"]
    assert (rebuilt["rebuilt"], rebuilt["passages"]) == (True, 51)


def test_search_shows_both_lanes(filled):
    said = one_object(filled.run("index", "search", "paint the fence", "--json"))
    assert said["schema"] == "mabos.index.search.v1"
    assert {*said["data"]} == {"query", "words", "vectors"}
    for lane in ("words", "vectors"):
        rows = said["data"][lane]
        assert rows[0].keys() == {"ref", "score", "text"}
        assert {row["ref"] for row in rows[:2]} == {note(0, "").id, "Playbooks.md:1-3"}
        assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)
        assert len(rows) <= 10
    assert -1 <= said["data"]["vectors"][-1]["score"] <= said["data"]["vectors"][0]["score"] <= 1


def test_search_as_text(filled):
    lines = filled.run("index", "search", "paint", "the", "fence", "--limit", "2").stdout.splitlines()
    assert lines[0] == "words: 2 passages" and lines[3] == "vectors: 2 passages"
    assert len(lines) == 6


def test_search_counts_no_use_and_shows_nothing_archived(filled):
    filled.run("index", "search", "fence")
    said = filled.run("index", "search", "old fence", "--json", "-n", "50")
    assert note(100, "").id not in said.stdout
    assert all(row["access_count"] == 0 for row in filled.recall().data["results"])


@pytest.mark.parametrize("query", ["", "   ", "???", '"', "NEAR(", "\0", "x" * 3000, "東京"])
def test_search_with_any_words(filled, query):
    said = one_object(filled.run("index", "search", "--json", "--", query))
    assert isinstance(said["data"]["words"], list) and isinstance(said["data"]["vectors"], list)


def test_search_from_standard_input(filled):
    said = filled.run("index", "search", "--json", "-", stdin=b"the fence")
    assert said.data["query"] == "the fence" and said.data["words"]


def test_search_of_an_empty_workspace(desk):
    said = one_object(desk.run("index", "search", "anything", "--json"))
    assert said["data"] == {"query": "anything", "words": [], "vectors": []}
    assert desk.run("index", "search", "anything").stdout == "words: 0 passages\nvectors: 0 passages\n"


def test_search_without_a_model(filled):
    filled.settle("embeddings:\n  provider: none\n")
    data = one_object(filled.run("index", "search", "fence", "--json"))["data"]
    assert data["vectors"] == [] and data["words"]


def test_search_when_the_service_is_down_is_a_warning(filled):
    filled.settle("embeddings:\n  provider: http\n  url: http://127.0.0.1:9/v1\n")
    said = filled.run("index", "search", "fence", "--json")
    assert said.code == 0
    assert said.data["words"] and said.data["vectors"] == []


@pytest.mark.parametrize("words", [["sync"], ["search", "fence"]])
def test_a_service_that_is_down_is_named(filled, words):
    filled.settle("embeddings:\n  provider: http\n  url: http://127.0.0.1:9/v1\n")
    said = filled.run("index", *words, "--json")
    assert said.code == 0
    assert any("127.0.0.1:9" in warning for warning in said.warnings)


def test_search_of_words_when_the_question_cannot_be_embedded(filled):
    with serving(speak) as service:
        filled.settle(f"embeddings:\n  provider: http\n  url: {service.url}\n")
        filled.recall("fence")
        service.plan[:] = [Answer({"error": "no"}, 400)]
        said = filled.run("index", "search", "fence", "--json")
    assert said.code == 0 and said.data["words"]


def test_no_limit_of_a_search_is_all_of_it(filled):
    found = filled.run("index", "search", "fence", "--limit", "0", "--json").data
    assert found == filled.run("index", "search", "fence", "--limit", "1000", "--json").data
    assert (
        len(filled.run("index", "search", "fence", "--limit", "1", "--json").data["words"]) <= len(found["words"]) > 0
    )


@pytest.mark.parametrize("limit", ["-1", "many"])
def test_limit_of_a_search_is_checked(filled, limit):
    said = filled.run("index", "search", "fence", "--limit", limit)
    assert (said.code, said.stdout) == (2, "")
    assert "--limit" in said.stderr


def test_search_needs_a_query(filled):
    said = filled.run("index", "search")
    assert (said.code, said.stdout) == (2, "")


def test_a_large_limit_of_a_search(filled):
    data = one_object(filled.run("index", "search", "fence", "--limit", "100000", "--json"))["data"]
    assert len(data["vectors"]) == 51


def test_an_unknown_agent_and_a_missing_workspace(filled, tmp_path):
    assert filled.run("index", "status", "-a", "nobody").code == 3
    assert filled.run("index", "search", "x", "-w", str(tmp_path / "nowhere")).code == 3


def test_what_changes_while_the_first_sync_runs_is_followed(desk, monkeypatch):
    synced = []

    def sync(call, home, rebuild, wait):
        synced.append(rebuild)
        if len(synced) == 1:
            desk.write("late.md", "A note.\n")
        else:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(index, "_sync", sync)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    patience = threading.Timer(30, os.kill, (os.getpid(), signal.SIGTERM))
    patience.start()
    try:
        assert desk.run("index", "sync", "--watch", "--rebuild").code == 0
    finally:
        patience.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)
    assert synced == [True, False]
