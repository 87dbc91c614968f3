"""Cases on disk: ids, the archive, and the Markdown that follows them."""

import json
import os
from pathlib import Path

import pytest

from mabos_cli.commands.call import Call
from mabos_cli.core.knowledge.case import Case, CaseChanges, CaseIds, plan_store
from mabos_cli.core.language.clock import format_time
from mabos_cli.errors import Conflict
from mabos_cli.formats.knowledge.cases import CaseFile
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.cases import (
    are_materialized,
    change_cases,
    find_case,
    find_case_departures,
    find_cases_at,
    load_cases,
    materialize_cases,
)
from mabos_cli.workspace.locate import create_agent, create_workspace


@pytest.fixture
def home(still_world: None, quick: Path) -> Agent:
    workspace, _ = create_workspace(quick / "ws")
    create_agent(workspace, "main")
    return Call(workspace=os.fspath(quick / "ws")).open_agent()


def keep(home: Agent, *cases: Case, limit: int = 10_000) -> list[tuple[str, str]]:
    """Stores cases: the id of each, and what became of it."""

    def plan(held):
        return plan_store(cases, held, home.now(), format_time(home.now()), limit)

    told, warnings = change_cases(home, "case store", plan)
    assert warnings == []
    return [(case.id, state) for case, state in told]


def some(count: int, start: int = 1) -> list[Case]:
    return [Case("", (f"B-{n}",), context=f"It was day {n}", actions=("wait",)) for n in range(start, start + count)]


def markdown(home: Agent) -> dict[str, tuple[str, int]]:
    """The derived files: their texts, and when they were written."""
    paths = [home.paths.cases_md, *home.paths.cases_pages.glob("*.md")]
    return {p.name: (p.read_text("utf-8"), p.stat().st_ino) for p in paths if p.exists()}


def test_ids_go_on_whatever_stands_in_the_file(home):
    home.paths.cases.write_text(
        '[{"case_id": "C-007"}, {"case_id": "deal"}, {"case_id": "c-99"}, {"case_id": "C-12x"}]'
    )
    assert keep(home, *some(2)) == [("C-008", "stored"), ("C-009", "stored")]
    assert keep(home, Case("C-003", ("a",), actions=("x",)), Case("deal", ("b",), actions=("x",)), Case("C-020", ("c",), actions=("x",)),
                Case("new", ("d",), actions=("x",))) == [("C-010", "stored"), ("C-011", "stored"), ("C-020", "stored"), ("new", "stored")]  # fmt: skip
    assert keep(home, *some(1, 50)) == [("C-021", "stored")]


def test_the_highest_number_stays_so_that_no_id_is_given_twice(home):
    keep(home, *some(3))
    keep(home, Case("x-1", ("q",), actions=("a",)), Case("x-2", ("r",), actions=("a",)), limit=3)
    assert list(load_cases(home).places) == ["C-003", "x-1", "x-2"]
    keep(home, Case("x-3", ("s",), actions=("a",)), limit=1)
    assert "C-003" in load_cases(home).places
    assert keep(home, *some(1, 50), limit=1) == [("C-004", "stored")]
    assert list(load_cases(home).places) == ["C-004"]  # the next id goes by the new one


def test_ids_of_a_batch_stay_in_whichever_order_they_come(home):
    given = [case._replace(id=own) for case, own in zip(some(4), ("C-9", "C-007", "", "C-10"), strict=True)]
    assert [own for own, _ in keep(home, *given)] == ["C-9", "C-007", "C-010", "C-011"]
    again = [case._replace(id=own) for case, own in zip(some(2, 20), ("C-8", "C-12"), strict=True)]
    assert [own for own, _ in keep(home, *again)] == ["C-012", "C-013"]  # C-8 may have been there, and left


def test_what_leaves_is_in_the_archive_with_all_that_it_held(home):
    home.paths.cases.write_text(
        json.dumps(
            [
                {"case_id": "C-001", "mood": "tense", "stored_at": "2020-01-01"},
                {"case_id": "C-002", "stored_at": "2026-01-01"},
            ]
        )
    )
    keep(home, *some(1), limit=2)
    assert list(load_cases(home).places) == ["C-002", "C-003"]
    left = find_case_departures(home, "C-001")
    assert [(d.id, d.reason, d.case.extra) for d in left] == [
        ("C-001", "least useful of more than 2", (("mood", "tense"),))
    ]
    assert find_case_departures(home, "C-002") == []


def test_a_plan_that_changes_nothing_writes_nothing(home):
    assert change_cases(home, "case revise", lambda file: (CaseChanges(), len(file))) == (0, [])
    assert not home.paths.cases.exists() and not home.paths.cases_md.exists()


def test_somebody_who_does_not_lock_is_noticed(home):
    keep(home, *some(1))

    def plan(file: CaseFile):
        entries = json.loads(home.paths.cases.read_bytes())
        home.paths.cases.write_text(json.dumps([*entries, {"case_id": f"hand-{len(entries)}"}]))
        return CaseChanges((Case(CaseIds(file.ids()).new_id(""), ("b",), actions=("a",)),)), None

    with pytest.raises(Conflict, match=r"cases\.json keeps changing"):
        change_cases(home, "case store", plan)
    assert len(json.loads(home.paths.cases.read_bytes())) == 51  # none of the hand's is lost


def test_few_cases_are_one_file_and_many_are_pages(home):
    keep(home, *some(200))
    assert list(markdown(home)) == ["mabos-cases.md"]
    keep(home, *some(50, 201))
    pages = markdown(home)
    assert sorted(pages) == ["C-0000.md", "C-0100.md", "C-0200.md", "mabos-cases.md"]
    assert "250 cases on 3 pages" in pages["mabos-cases.md"][0] and pages["C-0100.md"][0].count("## [case]") == 100
    keep(home, Case("", ("new",), actions=("a",)))
    after = markdown(home)
    assert {name for name in pages if pages[name] != after[name]} == {"C-0200.md", "mabos-cases.md"}
    keep(home, *some(1, 7))  # a merge touches the page of the case that is known
    assert {name for name, held in markdown(home).items() if held != after[name]} == {"mabos-cases.md"}
    keep(home, *(c._replace(lessons="Learned") for c in some(1, 7)))
    assert "Learned" in markdown(home)["C-0000.md"][0]
    keep(home, *some(1, 900), limit=40)
    assert list(markdown(home)) == ["mabos-cases.md"] and markdown(home)["mabos-cases.md"][0].count("## [case]") == 40


def test_what_a_killed_writer_left_undone_is_done_by_the_next(home):
    keep(home, *some(250))
    whole = markdown(home)
    file = load_cases(home)
    home.paths.cases.write_bytes(file.changed([file.case(3)._replace(lessons="Unseen")], ()).data)
    assert not are_materialized(home, load_cases(home))
    keep(home, *some(1, 300))
    assert are_materialized(home, load_cases(home))
    assert "Unseen" in markdown(home)["C-0000.md"][0] and "Unseen" not in whole["C-0000.md"][0]
    before = markdown(home)
    assert materialize_cases(home, load_cases(home)) == ([], []) and markdown(home) == before


def test_edits_of_derived_files_are_set_aside(home):
    keep(home, *some(1))
    home.paths.cases_md.write_text(home.paths.cases_md.read_text("utf-8") + "My own words\n", "utf-8")
    _, warnings = change_cases(
        home, "case store", lambda file: (CaseChanges((Case(CaseIds(file.ids()).new_id(""), ("b",)),)), None)
    )
    assert "was edited by hand" in warnings[0]
    kept = list(home.paths.set_aside.glob("mabos-cases-*.md"))
    assert len(kept) == 1 and "My own words" in kept[0].read_text("utf-8")


def test_lines_of_pages_lead_to_cases(home):
    keep(home, Case("# odd *id*", ("a",), context="An odd one", actions=("a",)), *some(3))
    file, lines = load_cases(home), home.paths.cases_md.read_text("utf-8").split("\n")
    at = next(n for n, line in enumerate(lines, 1) if "An odd one" in line)
    shown = home.paths.relative(home.paths.cases_md)
    assert find_cases_at(home, file, [(shown, at), (shown, len(lines)), (shown, 1), ("memory/none.md", 5)]) == [
        "# odd *id*",
        "C-003",
        "",
        "",
    ]
    assert find_case(file, " c-002 ").id == "C-002" and find_case(file, "C-2") is None
