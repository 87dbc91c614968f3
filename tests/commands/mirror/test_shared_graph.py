"""--shared: facts and memories of other agents, in the files of this workspace and in a mirror that several workspaces write."""

from collections.abc import Iterator

import pytest

from commands.desk import Desk, Said, note
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.mirror.fact_records import fact_record
from mabos_cli.core.mirror.records import agent_record, memory_records

OWN, SHARED, SECRET = "acme pays late", "acme owes us", "acme fears us"


@pytest.fixture
def office(desk: Desk) -> Desk:
    """Three agents with a fact and a memory each; one keeps them to itself. Words suffice to find them."""
    desk.settle("embeddings:\n  provider: none\n")
    desk.add_agent("cfo", memory={"shared": True})
    desk.add_agent("spy")
    for agent, said in (("main", OWN), ("cfo", SHARED), ("spy", SECRET)):
        assert desk.run("fact", "assert", "-a", agent, *said.split()).code == 0
        desk.put([note(1, said)], agent)
    return desk


def facts(office: Desk, *words: str) -> Said:
    return office.run("fact", "query", "-a", "main", "--json", *words)


def triples(said: Said) -> list[str]:
    return [f"{r['subject']} {r['predicate']} {r['object']}" for r in said.data["facts"]]


def test_facts_of_those_who_share(office):
    assert triples(facts(office)) == [OWN]
    said = facts(office, "--shared")
    assert triples(said) == [SHARED, OWN] and said.data["count"] == 2 and said.warnings == []
    assert [row.get("agent") for row in said.data["facts"]] == ["cfo", None]
    assert triples(facts(office, "*", "ow*", "--shared")) == [SHARED]
    assert triples(facts(office, "*", "pays", "--shared")) == [OWN]
    assert triples(facts(office, "--shared", "--limit", "1")) == [SHARED]
    assert "cfo/F-" in office.run("fact", "query", "-a", "main", "--shared").stdout


def test_nobody_shares_facts(desk):
    desk.add_agent("spy")
    said = facts(desk, "--shared")
    assert said.data["count"] == 0
    assert said.warnings == [
        "no other agent shares its memory: set memory.shared or memory.shared_tags in its agent.json"
    ]


def test_facts_that_cannot_be_read_are_a_warning(office):
    (office.folder("cfo") / "facts.json").write_text("{broken")
    (office.folder("spy") / "agent.json").write_text("{broken")
    said = facts(office, "--shared")
    assert triples(said) == [OWN]
    assert [warning.partition(":")[0] for warning in said.warnings] == ["spy", "cfo"]


# The mirror


@pytest.fixture
def mirror(office: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator:
    """A mirror of these agents, and of others who live elsewhere: `far` shares, `shy` does not."""
    pytest.importorskip("grpc", reason="the TypeDB server of the tests needs grpcio")
    pytest.importorskip("typedb.driver", reason="needs the official driver, typedb-driver")
    from commands.answering import Answering

    mirror = Answering()
    for name, value in mirror.environment().items():
        monkeypatch.setenv(name, value)
    assert office.run("typedb", "sync-agent", "--all").code == 0
    for agent, shares in (("far", True), ("shy", False)):
        mirror.put([agent_record(agent, is_shared=shares)])
        mirror.put([fact_record(agent, Fact("F-1", "acme", "sues", agent, 0.7, valid_until="2026-02-01"))])
        mirror.put([fact_record(agent, Fact("F-2", "acme", "trusts", agent, rule_id="R-1"))])
        mirror.put([*memory_records(agent, note(2, f"acme writes to {agent}", tags=("letters",)))])
    yield mirror
    mirror.server.stop()


def test_facts_from_the_graph(office, mirror):
    said = facts(office, "--shared")
    assert triples(said) == [SHARED, OWN, "acme sues far", "acme trusts far"] and said.warnings == []
    assert [(r.get("agent"), r.get("via")) for r in said.data["facts"]] == [
        ("cfo", "files"),
        (None, None),
        ("far", "typedb"),
        ("far", "typedb"),
    ]
    assert said.data["facts"][2]["id"] == "F-1"
    assert triples(facts(office, "--shared", "--no-derived")) == [SHARED, OWN, "acme sues far"]
    assert triples(facts(office, "acme", "s*", "--shared", "--valid-at", "2026-01-15")) == ["acme sues far"]
    assert triples(facts(office, "acme", "s*", "--shared", "--valid-at", "today")) == []
    assert triples(facts(office, "--shared", "--min-confidence", "0.8", "*", "sues")) == []
    assert "far/F-1 acme sues far" in office.run("fact", "query", "-a", "main", "--shared").stdout


def test_without_shared_the_graph_is_not_asked(office, mirror):
    before = len(mirror.server.calls)
    assert triples(facts(office)) == [OWN]
    office.recall("acme")
    assert len(mirror.server.calls) == before


FAR = f"far/{note(2, '').id}"


def test_memories_from_the_graph(office, mirror):
    said = office.recall("acme writing", "--shared")
    assert said.refs[0] == FAR and said.warnings == []
    row = said.data["results"][0]
    assert (row["agent"], row["store"], row["content"]) == ("far", "typedb", "acme writes to far")
    assert {f"cfo/{note(1, '').id}", note(1, "").id} <= {*said.refs}
    assert not any(ref.startswith(("spy/", "shy/")) for ref in said.refs)
    assert len(said.refs) == len({*said.refs})
    text = office.run("recall", "-a", "main", "--shared", "writes").stdout
    assert f"{FAR} [typedb] fact 0.50 acme writes to far" in text


def test_memories_from_the_graph_pass_the_filters(office, mirror):
    assert office.recall("acme", "--shared", "--tag", "letters").refs == [FAR]
    assert FAR not in office.recall("acme", "--shared", "--type", "lesson").refs
    assert FAR not in office.recall("acme", "--shared", "--store", "long_term").refs
    assert FAR not in office.recall("acme", "--shared", "--until", "2026-01-01").refs
    assert len(office.recall("acme writes", "--shared", "--limit", "1").refs) == 1
    gone = note(3, "acme writes no more", expires_at="2026-02-02T00:00:00.000Z")
    mirror.put([*memory_records("far", gone)])
    assert f"far/{gone.id}" not in office.recall("acme", "--shared", "--live").refs


def test_without_a_question_the_graph_is_ranked_among_the_rest(office, mirror):
    mirror.put([*memory_records("far", note(4, "very important", importance=0.99))])
    assert office.recall("--shared").refs[0] == f"far/{note(4, '').id}"
    assert FAR in office.recall("--shared").refs


def test_a_question_without_words_asks_for_nothing(office, mirror):
    before = len(mirror.server.calls)
    assert office.recall("???", "--shared").data["count"] == 0
    assert len(mirror.server.calls) == before


def test_words_of_a_question_are_only_words(office, mirror):
    mirror.put([*memory_records("far", note(5, 'He said "quit\\" loudly'))])
    assert office.recall('quit" }; delete $m; \\', "--shared").refs[0] == f"far/{note(5, '').id}"


def test_who_stops_sharing_is_no_longer_shown(office, mirror):
    mirror.put([agent_record("far", is_shared=False)])
    assert triples(facts(office, "--shared")) == [SHARED, OWN]
    assert FAR not in office.recall("acme", "--shared").refs


def test_a_mirror_that_is_down_is_one_warning(office, mirror, monkeypatch):
    monkeypatch.setenv("MABOS_TYPEDB_ADDRESS", "127.0.0.1:1")
    said = facts(office, "--shared")
    assert triples(said) == [SHARED, OWN]
    assert said.warnings == ["only agents of this workspace: no TypeDB at 127.0.0.1:1: Connection refused"]
    found = office.recall("acme", "--shared", "--depth", "2")
    assert {f"cfo/{note(1, '').id}", note(1, "").id} <= {*found.refs}
    assert found.warnings == ["only agents of this workspace: TypeDB at 127.0.0.1:1 did not answer a moment ago"]


def test_a_mirror_that_refuses_is_one_warning(office, mirror):
    mirror.poison = "acme"
    said = facts(office, "acme", "--shared")
    assert triples(said) == [SHARED, OWN] and len(said.warnings) == 1
    assert "TypeDB refused" in said.warnings[0]


def test_settings_of_this_workspace_win_over_an_old_mirror(office, mirror):
    """An agent of this workspace that shared once is not shown from the graph."""
    mirror.put([agent_record("spy", is_shared=True)])
    assert SECRET not in triples(facts(office, "--shared"))
    assert not any(ref.startswith("spy/") for ref in office.recall("acme", "--shared").refs)
