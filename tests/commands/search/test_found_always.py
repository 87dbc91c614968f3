"""What is stored stays in sight: what leaves the loaded set by time, for want of room or of use is still found."""

import json
from pathlib import Path

import pytest

from commands.desk import Desk, note
from mabos_cli.core.memory.item import TYPES
from mabos_cli.core.memory.stores import Departure
from mabos_cli.formats.memory.items import render_departure
from mabos_cli.workspace import contents

STORIES = json.loads((Path(__file__).parents[3] / "fixtures/sight.json").read_text("utf-8"))
NIGHT = ("harvest", "consolidate", "log consolidate", "log archive", "lifecycle run")


@pytest.fixture(params=["index", "no SQLite", "no vectors"])
def desk(request: pytest.FixtureRequest, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A desk, on which memory is found by an index, or in the files themselves."""
    if request.param == "no SQLite":

        def missing(*_: object) -> None:
            raise ImportError("no SQLite")

        monkeypatch.setattr("mabos_cli.services.search.agent_search.open_engine", missing)
    elif request.param == "no vectors":
        monkeypatch.setenv("MABOS_EMBEDDINGS_PROVIDER", "none")
    return desk


def at(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    monkeypatch.setenv("MABOS_NOW", moment)


def in_sight(desk: Desk, question: str, text: str) -> bool:
    """Whether a fitting recall and a pack both find a text."""
    packed = desk.run("context", "pack", question, "--no-use").stdout
    return text in [row["content"] for row in desk.recall(question).data["results"][:10]] and text in packed


def test_eight_stores_in_the_morning_are_found_in_the_afternoon(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, "2026-03-02T08:00:00Z")
    for text, _ in STORIES["eight"]:
        assert desk.run("store", text).code == 0
    at(monkeypatch, "2026-03-02T13:00:00Z")
    assert desk.run("store", "Lunch was long").code == 0
    assert desk.run("status", "--json").data["stores"]["short_term"] == 1
    assert [text for text, question in STORIES["eight"] if not in_sight(desk, question, text)] == []
    [row] = desk.recall("plumber").data["results"]
    assert row["archived"] == "expired" and desk.recall("plumber", "--live").refs == []
    assert " [archived: expired] The plumber" in desk.run("recall", "plumber").stdout
    assert " 2026-03-02 expired: The plumber" in desk.run("context", "pack", "plumber").stdout
    assert "The plumber" not in desk.run("context", "pack", "plumber", "--live").stdout


def test_every_type_is_found_three_hours_and_a_night_later(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {kind for kind, _, _ in STORIES["skill"]} == {*TYPES}
    at(monkeypatch, "2026-03-02T09:00:00Z")
    for kind, text, _ in STORIES["skill"]:
        assert desk.run("store", text, "--type", kind).code == 0
    for moment, jobs in (("2026-03-02T12:00:00Z", ["store Noon"]), ("2026-03-03T03:10:00Z", NIGHT)):
        at(monkeypatch, moment)
        for job in jobs:
            assert desk.run(*job.split()).code == 0
        assert [text for _, text, question in STORIES["skill"] if not in_sight(desk, question, text)] == []


def left(number: int, reason: str, moment: str = "2026-02-20T00:00:00.000Z", text: str = "the quince tree") -> str:
    return render_departure(Departure(note(number, f"{text} {number}"), "long_term", reason, moment)).decode("utf-8")


def test_only_what_somebody_took_away_is_out_of_sight(desk: Desk) -> None:
    reasons = "expired evicted unused:_40_days forgotten merged consolidated updated superseded trust".split()
    desk.write("archive/2026-02.jsonl", "".join(left(n, reason.replace("_", " ")) for n, reason in enumerate(reasons)))
    found = {row["id"]: row["archived"] for row in desk.recall("quince").data["results"]}
    assert found == {note(0, "").id: "expired", note(1, "").id: "evicted", note(2, "").id: "unused: 40 days"}
    assert {*desk.recall().refs} == {*found}
    assert len(desk.recall("quince", "--archived").refs) == len(reasons)
    assert desk.recall("quince", "--live").refs == desk.recall("quince", "--store", "long_term").refs == []


def test_the_last_departure_counts_wherever_its_line_stands(desk: Desk) -> None:
    early, late = "2026-01-10T00:00:00.000Z", "2026-01-20T00:00:00.000Z"
    desk.write("archive/2026-01.jsonl", left(1, "forgotten", late) + left(1, "expired", early))
    desk.write("archive/2026-02.jsonl", left(2, "updated") + left(2, "expired", "2026-02-21T00:00:00.000Z"))
    assert desk.recall("quince").refs == [note(2, "").id]


def test_what_lives_again_is_shown_once_and_as_such(desk: Desk) -> None:
    desk.write("archive/2026-02.jsonl", left(1, "unused: 40 days"))
    assert desk.recall("quince").data["results"][0]["archived"]
    assert desk.run("revive", note(1, "").id).code == 0
    assert [row["archived"] for row in desk.recall("quince").data["results"]] == [None]
    assert desk.run("forget", note(1, "").id).code == 0
    assert desk.recall("quince").refs == []


@pytest.mark.parametrize("question", [("quince",), ()], ids=["asked", "browsed"])
def test_a_live_memory_comes_before_an_archived_one_that_is_as_good(desk: Desk, question: tuple[str, ...]) -> None:
    desk.put([note(2, "the quince tree", created_at="2026-01-01T00:00:00.000Z")])
    away = note(1, "the quince tree", created_at="2026-02-01T00:00:00.000Z")
    better = note(3, "the quince tree", importance=0.9)
    desk.archive([away, better], reason="evicted")
    assert desk.recall(*question).refs == [better.id, note(2, "").id, away.id]


def test_what_waits_in_the_queue_and_is_past_its_date_is_found(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, "2026-03-02T08:00:00Z")
    assert desk.run("store", "the quince is ripe", "--defer", "--expires", "1h").code == 0
    at(monkeypatch, "2026-03-02T13:00:00Z")
    assert [row["archived"] for row in desk.recall("quince").data["results"]] == ["expired"]


def test_an_untrusted_source_stays_untrusted_in_the_archive(desk: Desk) -> None:
    item = note(1, "the quince tree", source="tool:mail", trust="trusted")
    desk.archive([item], reason="expired")
    assert [row["trust"] for row in desk.recall("quince").data["results"]] == ["untrusted"]
    assert desk.recall("quince", "--min-trust", "agent").refs == []


def test_only_the_new_lines_of_an_archive_are_read(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    taken = contents._archived
    monkeypatch.setattr(
        contents, "_archived", lambda agent, shown, data: read.append(len(data)) or taken(agent, shown, data)
    )
    path = desk.folder() / "archive/2026-02.jsonl"
    desk.write("archive/2026-02.jsonl", "".join(left(n, "expired") for n in range(50)))
    before = len(desk.recall("quince", "--limit", "0").refs)
    with path.open("a") as file:
        file.write(left(99, "expired") + left(3, "forgotten", "2026-02-22T00:00:00.000Z"))
    found = desk.recall("quince", "--limit", "0").refs
    assert (before, len(found)) == (50, 50) and note(99, "").id in found and note(3, "").id not in found
    if (desk.root / ".mabos/index/main.sqlite").exists():
        assert read[-1] < read[0] / 10
    path.write_text(path.read_text().replace("the quince tree 7", "a damson 7") + left(100, "expired"))
    assert len(desk.recall("quince", "--limit", "0").refs) == 50
    assert note(7, "").id in desk.recall("damson").refs


def test_who_asks_in_the_words_of_a_memory_gets_that_one_first(desk: Desk) -> None:
    """Not those like it that are live, more important and differ in a number."""
    desk.put([note(n, f"The nightly backup took {n} minutes", importance=0.9) for n in range(10, 40)])
    desk.archive([note(50, "The nightly backup took 55 minutes", importance=0.2)], reason="expired")
    assert desk.recall("The nightly backup took 55 minutes").refs[0] == note(50, "").id
