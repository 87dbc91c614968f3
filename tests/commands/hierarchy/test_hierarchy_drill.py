"""mabos hierarchy search and drill: what they find, the way they show, and what they read for it."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from forked import as_nobody
from workspace.logbook import Logbook, entry

from commands.desk import Desk
from mabos_cli.services.search.agent_search import AgentSearch


@pytest.fixture
def book(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Logbook:
    """Three quarters of logs: notes, an entry with an id, one theme."""
    found = Logbook(desk, monkeypatch)
    found.spread("2025-11-04", "2025-11-11", "2026-02-03", "2026-02-10", "2026-03-01")
    found.put("2026-02-24", "## Pier\n\n- The crane lost a bolt\n- Ines ordered lanterns #pier\n")
    text = "Postbote sends our invoices, since nobody maintains the mailer"
    found.put("2026-05-05", entry(1, text, "2026-05-05", type="decision", importance=0.8, tags=("mail",)))
    return found


@pytest.fixture
def built(book: Logbook) -> Logbook:
    book.build()
    return book


def find(book: Logbook, *words: str) -> list[tuple[str, str]]:
    rows = book.run("search", "--json", *words).data["results"]
    return [(row["level"], row["period"]) for row in rows]


def drill(book: Logbook, *words: str) -> dict[str, Any]:
    return book.run("drill", "--json", *words).data


def test_search_finds_the_periods_of_a_level(built: Logbook):
    assert find(built, "lanterns", "--level", "weekly") == [("weekly", "2026-W09")]
    assert find(built, "lanterns", "--level", "daily") == [("daily", "2026-02-24")]
    assert find(built, "Postbote", "--level", "monthly") == [("monthly", "2026-05")]
    assert find(built, "Postbote", "--level", "quarterly") == [("quarterly", "2026-Q2")]


def test_search_goes_through_all_levels(built: Logbook):
    found = find(built, "Postbote")
    assert {level for level, _ in found} == {"quarterly", "monthly", "weekly", "daily"}
    assert [level for level, _ in found] == sorted((level for level, _ in found), key=lambda w: "qmwd".index(w[0]))
    said = built.say("search", "Postbote")
    assert said.count("\n") == len(found) and said.startswith("quarterly 2026-Q2 memory/quarterly/2026-Q2.md:")


def test_search_in_json(built: Logbook):
    said = built.run("search", "berth price", "--level", "weekly", "--limit", "2", "--json")
    assert json.loads(said.stdout)["schema"] == "mabos.hierarchy.search.v1"
    assert (said.data["query"], said.data["levels"], len(said.data["results"])) == (
        "berth price",
        ["weekly"],
        2,
    )
    assert said.data["results"][0].keys() == {"level", "period", "ref", "score", "trust", "text"}
    assert "berth price" in said.data["results"][0]["text"]
    periods = [row["period"] for row in built.run("search", "berth price", "--json").data["results"]]
    assert len(periods) == len(set(periods)), "each period once"


def test_search_finds_nothing(built: Logbook):
    assert built.say("search", "zeppelin") == "nothing found\n"
    assert find(built, "zeppelin") == []


def test_search_without_summaries_says_how_to_get_them(book: Logbook):
    assert book.say("search", "berth", "--level", "weekly") == "no weekly summaries yet: mabos hierarchy build\n"
    assert ("daily", "2026-02-03") in find(book, "berth")


def test_search_without_logs(desk: Desk):
    said = desk.run("hierarchy", "search", "berth")
    assert (said.code, said.stdout) == (0, "no quarterly summaries yet: mabos hierarchy build\n")


def test_search_finds_days_in_the_archive(built: Logbook):
    assert built.desk.run("log", "archive", "--older-than", "30d").code == 0
    assert find(built, "lanterns", "--level", "daily") == [("daily", "2026-02-24")]
    assert drill(built, "lanterns")["finds"][0]["path"] == "memory/archive/2026/2026-02-24.md"


def test_odd_questions_do_no_harm(built: Logbook):
    for question in ("", " ", "?!", "the of and", "🚀", '"', "a" * 3000, "NEAR(", "x*"):
        for words in (("search",), ("drill",)):
            said = built.run(*words, "--", question)
            assert said.code in (0, 2) and "Traceback" not in said.stderr
            assert bool(said.stderr) == bool(said.code)


def test_a_question_may_come_from_standard_input(built: Logbook):
    said = built.run("drill", "-", "--json", stdin=b"who ordered lanterns?\n")
    assert said.data["finds"][0]["line"] == 4
    assert built.run("search", "-", "--json", stdin=b"lanterns").data["results"]


def test_drill_shows_the_way_and_why(built: Logbook):
    lines = built.say("drill", "who", "ordered", "lanterns").splitlines()
    assert lines[0].startswith("2026-Q1 ") and "(found 1.00" in lines[0]
    assert [line.split()[0] for line in lines if line.strip().startswith("2026-")] == [
        *("2026-Q1", "2026-02", "2026-W09", "2026-02-24"),
    ]
    assert any(line.startswith("memory/2026-02-24.md:4 note") and "lanterns" in line for line in lines)
    assert lines[-1].startswith("read ") and " bytes" in lines[-1]


def test_drill_in_json_tells_every_node_and_byte(built: Logbook):
    said = built.run("drill", "why does Postbote send invoices", "--json")
    assert json.loads(said.stdout)["schema"] == "mabos.hierarchy.drill.v1"
    data = said.data
    assert data.keys() == {"query", "finds", "steps", "read", "whole"}
    assert [step["level"] for step in data["steps"]] == ["quarterly", "monthly", "weekly", "daily"]
    nodes = [node for step in data["steps"] for node in step["nodes"]]
    assert all(node["bytes"] == 0 for node in nodes if not node["followed"])
    read = [node for node in nodes if node["bytes"]]
    assert sum(node["bytes"] for node in read) == data["read"]["bytes"] and len(read) == data["read"]["files"]
    sizes = {node["path"]: (built.desk.folder() / node["path"]).stat().st_size for node in read}
    assert all(node["bytes"] == sizes[node["path"]] for node in read)
    files = [p for p in built.memory.rglob("*.md") if p.stem[:4].isdigit() and "checkpoints" not in p.parts]
    assert data["whole"] == {"files": len(files), "bytes": sum(p.stat().st_size for p in files)}
    [best] = [find for find in data["finds"] if find["day"] == "2026-05-05"]
    assert (best["id"], best["kind"], best["line"]) == ("M-1770000000001-00aa", "decision", 2)
    assert best["path"] == "memory/2026-05-05.md" and "postbote" in best["matched"]


def test_drill_follows_no_more_than_width(built: Logbook):
    for width in (1, 2):
        for step in drill(built, "berth price", "--width", str(width))["steps"]:
            assert 1 <= sum(node["followed"] for node in step["nodes"]) <= width
    built.desk.settle("hierarchy:\n  width: 1\n")
    assert all(sum(n["followed"] for n in s["nodes"]) == 1 for s in drill(built, "berth price")["steps"])


def test_drill_shows_at_most_limit_lines(built: Logbook):
    assert len(drill(built, "berth price", "--limit", "2")["finds"]) == 2
    assert len(drill(built, "berth price", "--limit", "100")["finds"]) > 3


def test_drill_finds_hand_written_lines_without_ids(built: Logbook):
    found = drill(built, "crane bolt")["finds"][0]
    assert (found["path"], found["line"], found["id"], found["kind"]) == (
        "memory/2026-02-24.md",
        3,
        None,
        "note",
    )
    log = (built.desk.folder() / found["path"]).read_text().split("\n")
    assert "crane" in log[found["line"] - 1]


def test_drill_works_without_summaries(book: Logbook):
    data = drill(book, "who ordered lanterns")
    assert data["finds"][0]["day"] == "2026-02-24"
    assert all(node["bytes"] == 0 for step in data["steps"][:3] for node in step["nodes"])


def test_a_node_without_a_file_has_no_path(book: Logbook):
    nodes = [node for step in drill(book, "lanterns")["steps"] for node in step["nodes"]]
    assert all(node["path"] is None or (book.desk.folder() / node["path"]).is_file() for node in nodes)


def test_drill_works_without_an_index(built: Logbook, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(AgentSearch, "_indexes", lambda self: [])
    data = drill(built, "who ordered lanterns")
    assert data["finds"][0]["day"] == "2026-02-24"
    assert data["read"]["bytes"] == data["whole"]["bytes"], "all of it had to be read"
    assert find(built, "lanterns", "--level", "weekly") == [("weekly", "2026-W09")]


def test_drill_works_with_an_edited_summary(built: Logbook):
    built.path("2026-W09").write_bytes(b"\xff mine")
    assert drill(built, "who ordered lanterns")["finds"][0]["day"] == "2026-02-24"


def test_drill_without_logs(desk: Desk):
    said = desk.run("hierarchy", "drill", "berth", "--json")
    assert (said.data["finds"], said.data["steps"]) == ([], [])
    assert said.data["read"]["bytes"] == said.data["whole"]["bytes"] == 0
    assert desk.run("hierarchy", "drill", "berth").stdout.startswith("nothing found\nread 0 of 0 files")


def test_drill_finds_nothing(built: Logbook):
    assert "nothing found\n" in built.say("drill", "zeppelin")


def test_drill_goes_where_the_question_names_a_time(built: Logbook):
    built.log("2026-05-12", *(f"- berth price {n} #pricing" for n in range(3)))
    built.build()
    best = drill(built, "berth price in November 2025", "--width", "1")["steps"][-1]["nodes"][0]
    assert best["period"] == "2025-11-04"


def test_drill_cites_the_line_of_the_part_that_holds_it(built: Logbook):
    built.put("2026-02-24", "# 2026-02-24 — Agent Log\n\n- Ines returned the lanterns to Klintholm\n")
    built.put("2026-02-24", "\n\n\n\n- The crane lost a bolt\n", "archive/2026")
    for question, text in (("Klintholm lanterns", "Klintholm"), ("crane bolt", "crane")):
        found = drill(built, question)["finds"][0]
        lines = (built.desk.folder() / found["path"]).read_text().split("\n")
        assert text in "".join(lines[found["line"] - 1 : found["line"]])


@pytest.fixture
def reader(built: Logbook, quick: Path) -> Iterator[Any]:
    """Runs commands as somebody who may only read the workspace; gives their codes and outputs."""
    os.chmod(quick, 0o755)
    os.chmod(built.desk.root, 0o755)  # as who wants others to read it
    changed = [built.desk.root, *built.desk.root.rglob("*")] if os.geteuid() else []
    for path in changed:
        path.chmod(path.stat().st_mode & ~0o222)

    def run(*lines: tuple[str, ...]) -> list[list[Any]]:
        if os.geteuid():
            return [list(built.run(*words)) for words in lines]
        return as_nobody(lambda: [built.run(*words) for words in lines])

    yield run
    for path in changed:
        path.chmod(path.stat().st_mode | 0o200)


def test_a_workspace_that_can_only_be_read(built: Logbook, reader: Any):
    lines = [("build", "--dry-run"), ("show",), ("drill", "lanterns"), ("search", "lanterns")]
    built.log("2026-05-06", "- new words")
    expected = [built.say(*words) for words in lines]
    before = built.stamps()
    assert [said[:2] for said in reader(*lines)] == [[0, text] for text in expected]
    [[code, out, error]] = reader(("build",))
    assert code in (4, 5) and not out and "Traceback" not in error
    assert built.stamps() == before
