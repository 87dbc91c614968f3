"""timeline: by the index as by the files, without reading all of memory."""

import random

import pytest

from commands.desk import Desk, note
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.services.search.agent_search import AgentIndex, decode_line
from mabos_cli.workspace.memory.store import LongTermView


@pytest.fixture
def desk(tmp_path) -> Desk:
    return Desk(tmp_path / "w")


def days(count: int) -> list[MemoryItem]:
    """Items of different days, in no order, some at the same moment."""
    rnd = random.Random(count)
    order = [rnd.randrange(1, 27) for _ in range(count)]
    return [
        note(n, f"walk number{n} to harbour{n % 7}", observed_at=f"2026-01-{day:02d}T12:00:00.000Z")
        for n, day in enumerate(order)
    ]


def without_sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(self: AgentIndex) -> None:
        raise ImportError("no SQLite")

    monkeypatch.setattr(AgentIndex, "plan", missing)


ASKED = (
    (), ("2026-01-15",), ("2026-01-01", "-B", "0"), ("2026-03-01",), ("2030-01-01",), ("number17",), ("harbour3", "--live"),
    ("nowhere to be found",), ("2026-01-20", "-B", "999999999999999999999", "-A", "999999999999999999999"),
)  # fmt: skip


def test_the_index_and_the_files_say_the_same(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    items = days(60)
    desk.put(items[:30], short_term=items[30:40])
    desk.archive(items[35:60], reason="superseded")
    desk.run("store", "walk later to harbour3", "--defer")
    asked = [*ASKED, *((items[n].id, *more) for n in (0, 37, 55) for more in ((), ("--live",)))]
    by_index = [desk.run("timeline", "--json", *words).data for words in asked]
    without_sqlite(monkeypatch)
    by_files = [desk.run("timeline", "--json", *words) for words in asked]
    assert [said.data for said in by_files] == by_index
    assert all("no SQLite" in said.warnings[0] for said in by_files)
    everything = by_index[asked.index(ASKED[-1])]["entries"]
    assert [(e["at"], e["id"]) for e in everything] == sorted((e["at"], e["id"]) for e in everything)
    assert len(everything) == 61 and sum(bool(e["archived"]) for e in everything) == 20


def test_only_what_is_shown_is_decoded(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    items = days(400)
    desk.put(items)
    desk.run("index", "sync")
    monkeypatch.setattr(LongTermView, "__iter__", lambda self: pytest.fail("all of memory was read"))
    for words in ((), ("2026-01-15",), (items[7].id,), ("number17",)):
        decode_line.cache_clear()
        said = desk.run("timeline", "--json", *words).data
        assert said["entries"] and decode_line.cache_info().misses <= 31


def test_an_archived_item_is_the_focus_only_where_it_is_shown(desk: Desk) -> None:
    items = days(9)
    desk.put(items[:8])
    desk.archive(items[8:])
    for more, flagged in ((("--archived",), 1), ((), 0), (("--live",), 0)):
        said = desk.run("timeline", "--json", items[8].id, *more).data
        assert said["focus"] == items[8].id and sum(e["focus"] for e in said["entries"]) == flagged


def test_words_that_only_a_file_answers_best_still_lead_to_an_item(desk: Desk) -> None:
    desk.put([note(1, "The harbour was closed", observed_at="2026-01-05T12:00:00.000Z")])
    desk.write("memory/notes.md", "\n\n".join(f"## Walk {n}\n\nharbour walk number {n}" for n in range(60)))
    assert desk.recall("harbour walk").refs[0].startswith("memory/notes.md")
    assert desk.run("timeline", "--json", "harbour walk").data["focus"]
