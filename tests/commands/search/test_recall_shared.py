"""recall --shared: memory of other agents, where they allow it."""

import json
import os
import re
import shutil

import pytest

from commands.desk import note
from mabos_cli.index.tables import SqliteLanes


@pytest.fixture
def office(desk):
    """main, cfo and coo, who share, and spy, who does not; each with a note about the budget."""
    desk.add_agent("cfo", memory={"shared": True})
    desk.add_agent("coo", **{"memory.shared": "yes"})
    desk.add_agent("spy")
    for number, agent in enumerate(("main", "cfo", "coo", "spy")):
        desk.put([note(number, f"the budget of {agent} is {agent}-secret")], agent)
    desk.write("Beliefs.md", "# Beliefs\n\n## Budget\n\nThe budget is small.\n", "cfo")
    return desk


MAIN, CFO, COO = note(0, "").id, f"cfo/{note(1, '').id}", f"coo/{note(2, '').id}"


def test_only_the_own_memory_is_searched_unless_asked(office):
    assert office.recall("budget").refs == [MAIN]


def test_only_agents_that_share_are_searched(office):
    said = office.recall("budget", "--shared")
    assert {*said.refs} == {MAIN, CFO, COO, "cfo/Beliefs.md:3-5"}
    assert "spy" not in said.stdout
    assert said.warnings == []


def test_an_agent_that_does_not_share_may_search_those_that_do(office):
    said = office.run("recall", "--json", "-a", "spy", "budget", "--shared")
    assert {*said.refs} == {note(3, "").id, CFO, COO, "cfo/Beliefs.md:3-5"}


def test_sharing_is_never_the_default_for_names_that_come_close(office):
    assert office.recall("spy-secret", "--shared").stdout.count("spy-secret") == 1  # the query itself


def test_results_carry_their_agent(office):
    rows = {row["ref"]: row for row in office.recall("budget", "--shared").data["results"]}
    assert "agent" not in rows[MAIN]
    assert (rows[CFO]["agent"], rows[CFO]["id"]) == ("cfo", note(1, "").id)
    assert (rows["cfo/Beliefs.md:3-5"]["agent"], rows["cfo/Beliefs.md:3-5"]["path"]) == ("cfo", "Beliefs.md")
    lines = office.run("recall", "-a", "main", "budget", "--shared").stdout.splitlines()
    assert {line.split()[0] for line in lines} == {*rows}


def test_the_same_id_of_two_agents_is_two_results(office):
    office.put([note(0, "the budget of the twin")], "coo")
    found = office.recall("budget twin", "--shared").refs
    assert {MAIN, f"coo/{MAIN}"} <= {*found}


def test_a_use_of_an_own_item_does_not_show_on_the_same_id_of_another(office):
    office.put([note(0, "the budget of the twin")], "coo")
    assert office.run("get", MAIN, "-a", "main").code == 0
    rows = {row["ref"]: row for row in office.recall("budget", "--shared").data["results"]}
    assert (rows[MAIN]["access_count"], rows[f"coo/{MAIN}"]["access_count"]) == (1, 0)


def test_filters_limit_and_depth_hold_across_agents(office):
    office.put([note(9, "The cfo-secret is kept by Quillfeather", type="plan", tags=("k",))], "coo")
    assert office.recall("--shared", "--type", "plan").refs == [f"coo/{note(9, '').id}"]
    assert office.recall("secret", "--shared", "--tag", "k").refs == [f"coo/{note(9, '').id}"]
    assert len(office.recall("budget", "--shared", "--limit", "2").refs) == 2
    assert f"coo/{note(9, '').id}" in office.recall("budget", "--shared", "--depth", "2").refs


def test_an_exact_match_of_another_comes_first(office):
    office.put([note(7, "ERR_4711 was seen", importance=0.0)], "cfo")
    assert office.recall("the budget of main and ERR_4711", "--shared").refs[0] == f"cfo/{note(7, '').id}"


def test_without_a_question_all_are_ranked_together(office):
    office.put([note(1, "low", importance=0.1), note(2, "high", importance=0.9)], "cfo")
    rows = office.recall("--shared").data["results"]
    assert [row["importance"] for row in rows] == sorted((row["importance"] for row in rows), reverse=True)
    assert len(rows) == 4


def test_without_a_question_ties_go_to_the_newer(office):
    assert office.recall("--shared").refs == [COO, CFO, MAIN]


def test_nobody_shares(desk):
    desk.put([note(1, "budget")])
    desk.add_agent("spy")
    said = desk.recall("budget", "--shared")
    assert said.refs == [note(1, "").id]
    assert said.warnings == [
        "no other agent shares its memory: set memory.shared or memory.shared_tags in its agent.json"
    ]
    assert desk.recall("budget").warnings == []


def test_a_workspace_may_let_all_share(office):
    office.settle("memory:\n  shared: true\n")
    assert f"spy/{note(3, '').id}" in office.recall("budget", "--shared").refs


def test_an_agent_that_shares_nothing_yet(desk):
    desk.put([note(1, "budget")])
    desk.add_agent("empty", memory={"shared": True})
    said = desk.recall("budget", "--shared")
    assert (said.refs, said.warnings) == ([note(1, "").id], [])


# Trouble with the others


def test_an_agent_that_leads_out_of_the_workspace_is_not_searched(office, tmp_path):
    away = tmp_path / "away"
    shutil.move(office.folder("coo"), away)  # the workspace may lie on another disk
    office.folder("coo").symlink_to(away)
    assert office.run("recall", "-a", "coo", "budget").code == 4
    assert COO not in office.recall("budget", "--shared").refs


@pytest.mark.parametrize(
    "text", ["{broken", "[]", '{"settings": {"memory": {"shared": "perhaps"}}}', '{"settings": 3}']
)
def test_an_agent_whose_settings_cannot_be_read_shares_nothing(office, text):
    (office.folder("cfo") / "agent.json").write_text(text)
    said = office.recall("budget", "--shared")
    assert {*said.refs} == {MAIN, COO}


@pytest.mark.parametrize("text", ["{broken", '{"long_term": 3}', ""])
def test_a_damaged_store_of_another_does_not_end_the_own_search(office, text):
    (office.folder("cfo") / "memory-store.json").write_text(text)
    said = office.recall("budget", "--shared")
    assert {MAIN, COO} <= {*said.refs}
    assert any("cfo" in warning for warning in said.warnings)


def test_an_unreadable_file_of_another_is_a_warning(office):
    (office.folder("cfo") / "Playbooks.md").mkdir()
    (office.folder("cfo") / "archive").mkdir(exist_ok=True)
    (office.folder("cfo") / "archive/2026-01.jsonl").write_bytes(b'{"id": "torn')
    assert {MAIN, CFO, COO} <= {*office.recall("budget", "--shared").refs}


@pytest.mark.parametrize("thing", ["folder", "garbage", "empty"])
def test_a_damaged_index_of_another_heals(office, thing):
    office.recall("budget", "--shared")
    path = office.root / ".mabos/index/cfo.sqlite"
    path.unlink()
    if thing == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"garbage" * 1000 if thing == "garbage" else b"")
    said = office.recall("budget", "--shared")
    assert {*said.refs} == {MAIN, CFO, COO, "cfo/Beliefs.md:3-5"}


def test_an_index_that_fails_while_it_is_asked_keeps_its_agent(office, monkeypatch):
    real, struck = SqliteLanes.find_words, []

    def find_words(lanes, *how):
        if not struck:
            struck.append(True)
            return lanes._db.execute("SELECT * FROM nowhere").fetchall()
        return real(lanes, *how)

    monkeypatch.setattr(SqliteLanes, "find_words", find_words)
    assert {*office.recall("budget", "--shared").refs} == {MAIN, CFO, COO, "cfo/Beliefs.md:3-5"}
    assert struck


def test_an_index_that_fails_while_it_is_asked_is_made_anew(office, monkeypatch):
    real, struck = SqliteLanes.find_words, []

    def find_words(lanes, *how):
        if not struck:
            struck.append(True)
            return lanes._db.execute("SELECT * FROM nowhere").fetchall()
        return real(lanes, *how)

    monkeypatch.setattr(SqliteLanes, "find_words", find_words)
    assert office.recall("budget").refs == [MAIN]
    assert struck


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_store_of_another_that_may_not_be_read(office):
    (office.folder("cfo") / "memory-store.json").chmod(0)
    assert {MAIN, COO} <= {*office.recall("budget", "--shared").refs}


def test_agents_with_models_of_their_own(office):
    """One agent embeds, another does not: both are found, on one scale."""
    manifest = office.folder("cfo") / "agent.json"
    about = json.loads(manifest.read_text())
    about["settings"]["embeddings"] = {"provider": "none"}
    manifest.write_text(json.dumps(about))
    said = office.recall("budget", "--shared", "--explain")
    assert {*said.refs} == {MAIN, CFO, COO, "cfo/Beliefs.md:3-5"}
    assert all(0 <= row["score"] <= 2 for row in said.data["results"])


def test_trouble_of_another_names_it(office):
    manifest = office.folder("cfo") / "agent.json"
    about = json.loads(manifest.read_text())
    about["settings"]["embeddings"] = {"provider": "http", "url": "http://127.0.0.1:9/v1"}
    manifest.write_text(json.dumps(about))
    (warning,) = office.recall("budget", "--shared").warnings
    assert "agents/cfo/agent.json: embeddings.provider, embeddings.url" in warning and "mabos allow" in warning
    assert office.run("allow").code == 0
    said = office.recall("budget", "--shared")
    assert CFO in said.refs
    assert len(said.warnings) == 1
    assert re.match(r"cfo: searched by words only: embeddings from 127\.0\.0\.1:9: ", said.warnings[0])


@pytest.fixture
def secretive(desk):
    """main, and cfo with four notes about Oslo: one for all, one by a tag, one of both that is private, and one that has neither."""
    desk.put([note(0, "Oslo is in Norway")])
    desk.add_agent("cfo")
    tags = {1: (), 2: ("pricing",), 3: ("pricing", "Private"), 4: ("travel",)}
    desk.put([note(n, f"Oslo report {n} of the budget", tags=found) for n, found in tags.items()], "cfo")
    desk.write("notes/week.md", "# Week\n\nThe Oslo report 3 of the budget came on Monday.\n", "cfo")
    desk.write("notes/open.md", "# Open\n\nOslo has a harbour.\n", "cfo")
    return desk


def told(desk, *words):
    return {ref.partition("/")[2] for ref in desk.recall(*words, "--shared", "--limit", "0").refs if "/" in ref}


def share(desk, **settings):
    path = desk.folder("cfo") / "agent.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"settings": {"memory": settings}}))


@pytest.mark.parametrize("step", ["auto", "scan", "lexical"])
def test_what_is_shared_is_said_by_agent_tag_and_item(secretive, monkeypatch, step):
    monkeypatch.setenv("MABOS_INDEX_VECTORS", step)
    assert told(secretive, "Oslo report") == set()
    share(secretive, shared_tags="Pricing, nothing")
    assert told(secretive, "Oslo report") == {note(2, "").id} == told(secretive, "")
    share(secretive, shared=True)
    # Private is private, also where a file tells it again.
    items = {note(n, "").id for n in (1, 2, 4)}
    assert told(secretive, "Oslo report") == {*items, "notes/open.md:1-3"} and told(secretive, "") == items
    assert secretive.recall("Oslo report", "-a", "cfo").refs.count(note(3, "").id) == 1


def test_get_shows_what_another_agent_shares_and_nothing_else(secretive):
    share(secretive, shared_tags="pricing")
    said = secretive.run("get", "-a", "main", f"cfo/{note(2, '').id}", "--tree", "--json")
    assert said.data["item"]["content"] == "Oslo report 2 of the budget" and "tree" not in said.data
    assert secretive.run("get", "-a", "main", f"main/{note(0, '').id}").code == 0
    for other in (
        f"cfo/{note(1, '').id}",
        f"cfo/{note(3, '').id}",
        "cfo/M-1-0000",
        "cfo/F-1",
        "spy/M-1",
        f"cfo/../cfo/{note(2, '').id}",
    ):
        said = secretive.run("get", "-a", "main", other)
        assert said.code == 3 and "Oslo" not in said.stdout + said.stderr, other


def test_packs_and_windows_hold_what_is_shared_when_asked(secretive):
    share(secretive, shared_tags="pricing")
    pack = ("context", "pack", "-a", "main", "Oslo report budget", "--json")
    assert f"cfo/{note(2, '').id}" not in secretive.run(*pack).data["citations"]
    said = secretive.run(*pack, "--shared").data
    assert f"cfo/{note(2, '').id}" in said["citations"] and "report 3" not in said["bundle_text"]
    build = ("context", "build", "-a", "main", "--request", "the Oslo report of the budget", "--json")
    assert "report 2" in json.dumps(secretive.run(*build, "--shared").data["messages"])
    assert "report 2" not in json.dumps(secretive.run(*build).data["messages"])
