"""graph impact: the same rows from the files and from the mirror, and what it says about them."""

import json
from collections.abc import Iterator

import pytest

from commands.desk import Desk, Said

CFO_BELIEFS = """\
# Beliefs

## Cash

ID: B-1
Certainty: 0.9
Supports: G-9
[updated: 2026-02-01]

Costs for five months are in the bank

## Cash

ID: B-2
Certainty: 0.8
Supports: G-1
[updated: 2026-02-20]

Costs for nine months are in the bank

## Weather

Certainty: 0.7

Rain
"""
CFO_GOALS = """\
# Goals

## G-9: Keep cash

status: active
[deadline: 2026-02-20]
Requires: PL-1

## G-8: Lend some

status: stalled
Type: strategic
"""
CFO_PLANS = "# Plans\n\n## PL-1: Collect\n\n1. [ ] Call\n"
CFO_INTENTIONS = """\
# Intentions

## I-1: Call Pagel

status: active
Goal: G-9

## I-2: Follow the plan

status: active
Plan: PL-1
"""
CEO_GOALS = "# Goals\n\n## G-1: Stay free\n\nstatus: active\n"


@pytest.fixture
def office(desk: Desk) -> Desk:
    """A cfo whose beliefs support goals of two agents."""
    for agent in ("ceo", "cfo"):
        desk.add_agent(agent)
    desk.write("Goals.md", CEO_GOALS, "ceo")
    for name, text in (
        ("Beliefs.md", CFO_BELIEFS),
        ("Goals.md", CFO_GOALS),
        ("Plans.md", CFO_PLANS),
        ("Intentions.md", CFO_INTENTIONS),
    ):
        desk.write(name, text, "cfo")
    return desk


def asked(office: Desk, *words: str) -> Said:
    return office.run("graph", "impact", "-a", "cfo", "--json", *words)


def pairs(said: Said) -> list[tuple[str, str]]:
    return [(row["belief"], row["goal"]) for row in said.data["rows"]]


KEEP = ("cfo/B-1", "cfo/G-9")
FREE = ("cfo/B-2", "ceo/G-1")


def conflict_key(office: Desk) -> str:
    return office.run("bdi", "conflicts", "-a", "cfo", "--json").data["conflicts"][0]["key"]


def test_chains_of_an_agent_reach_the_goals_of_another(office):
    said = asked(office)
    assert pairs(said) == [KEEP, FREE]
    first = said.data["rows"][0]
    assert [each["plan"] for each in first["plans"]] == ["cfo/PL-1"]
    assert [each["intention"] for each in first["intentions"]] == ["cfo/I-1", "cfo/I-2"]
    assert (said.data["via"], said.data["question"], said.data["agent"]) == ("files", "chains", "cfo")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("B-1", [KEEP]),
        ("b-2", [FREE]),
        ("cfo/B-2", [FREE]),
        ("G-9", [KEEP]),
        ("keep CASH", [KEEP]),
        ("G-1", [FREE]),
        ("ceo/G-1", [FREE]),
        ("PL-1", [KEEP]),
        ("I-2", [KEEP]),
        ("Weather", []),
        ("G-8", []),
    ],
)
def test_chains_through_something(office, name, found):
    assert pairs(asked(office, name)) == found


def test_a_name_that_is_nobodys_or_several_peoples(office):
    missing = asked(office, "G-404")
    assert missing.code == 3 and "no belief, goal, plan or intention 'G-404'" in missing.stderr
    office.add_agent("coo")
    office.write("Goals.md", CEO_GOALS, "coo")
    unclear = asked(office, "G-1")
    assert unclear.code == 2 and "one of: ceo/G-1, coo/G-1" in unclear.stderr


def test_what_a_conflict_touches(office):
    key = conflict_key(office)
    said = asked(office, "--conflict", key[:6])
    assert pairs(said) == [KEEP, FREE]
    assert (said.data["question"], said.data["conflict"]) == ("conflict", key)
    assert said.data["rows"][0]["intentions"][0]["name"] == "Call Pagel"
    office.run("bdi", "resolve", key, "--keep", "both", "-a", "cfo")
    assert pairs(asked(office, "--conflict", key)) == [KEEP, FREE]
    assert asked(office, "--conflict", "ffff").code == 3


def test_goals_that_are_behind_whoever_has_them(office):
    office.write("Goals.md", "# Goals\n\n## G-1: Hire\n\nstatus: active\n[deadline: 2026-02-23]\n", "ceo")
    said = office.run("graph", "impact", "--behind", "--json")
    assert [(row["agent"], row["goal"]) for row in said.data["rows"]] == [
        ("ceo", "ceo/G-1"),
        ("cfo", "cfo/G-8"),
        ("cfo", "cfo/G-9"),
    ]
    said = office.run("graph", "impact", "--behind", "--level", "strategic", "--json")
    assert [row["goal"] for row in said.data["rows"]] == ["cfo/G-8"]


def test_text_says_what_hangs_on_what_and_who_said_so(office):
    done = office.run("graph", "impact", "B-1", "-a", "cfo")
    assert done.stdout.split("\n") == [
        "cfo/B-1 Cash (0.90)",
        "  supports cfo/G-9 Keep cash (active)",
        "    requires cfo/PL-1 Collect",
        "    pursued by cfo/I-1 Call Pagel (active)",
        "    pursued by cfo/I-2 Follow the plan (active)",
        "by the files",
        "",
    ]
    assert "no belief of ceo supports a goal" in office.run("graph", "impact", "-a", "ceo").stdout


@pytest.mark.parametrize(
    "words", [("B-1", "--behind"), ("B-1", "--conflict", "abcd"), ("--level", "tactical"), ("--via", "magic")]
)
def test_words_that_do_not_go_together(office, words):
    assert asked(office, *words).code == 2


def test_one_agent_that_cannot_be_read_does_not_hide_the_others(office):
    office.add_agent("spy")
    (office.folder("spy") / "agent.json").write_text("{broken")
    said = asked(office)
    assert pairs(said) == [KEEP, FREE]
    assert [warning.partition(":")[0] for warning in said.warnings] == ["spy"]
    (office.folder("cfo") / "agent.json").write_text("{broken")
    assert asked(office).code == 4


# The mirror


@pytest.fixture
def mirror(office: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator:
    pytest.importorskip("grpc", reason="the TypeDB server of the tests needs grpcio")
    pytest.importorskip("typedb.driver", reason="needs the official driver, typedb-driver")
    from commands.answering import Answering

    mirror = Answering()
    for name, value in mirror.environment().items():
        monkeypatch.setenv(name, value)
    assert office.run("typedb", "sync-agent", "--all").code == 0
    yield mirror
    mirror.server.stop()


def test_the_mirror_says_the_same_as_the_files(office, mirror):
    key = conflict_key(office)
    for words in ((), ("B-1",), ("G-1",), ("PL-1",), ("--conflict", key), ("Weather",)):
        own, other = asked(office, *words), asked(office, *words, "--via", "typedb")
        assert other.data == own.data | {"via": "typedb"}, words
    own = office.run("graph", "impact", "--behind", "--json")
    other = office.run("graph", "impact", "--behind", "--via", "typedb", "--json")
    assert len(own.data["rows"]) == 2 and other.data == own.data | {"via": "typedb"}
    told = office.run("graph", "impact", "-a", "cfo", "--via", "typedb").stdout
    assert told.endswith(f"by TypeDB at {mirror.server.address}\n")


def test_what_only_the_mirror_knows(office, mirror):
    """Goals of agents that live in another workspace."""
    from mabos_cli.core.mind.mind import Attitude
    from mabos_cli.core.mirror.mind_records import AgentMind, mind_records
    from mabos_cli.core.mirror.records import agent_record

    late = Attitude("goal", "G-5", "Pay", status="active", deadline="2026-01-01")
    mirror.put([agent_record("far"), *mind_records(AgentMind("far", goals=[late]))])
    said = office.run("graph", "impact", "--behind", "--via", "typedb", "--json")
    assert [row["goal"] for row in said.data["rows"]] == ["cfo/G-8", "cfo/G-9", "far/G-5"]


def test_a_mirror_that_is_named_and_absent_is_an_error(office):
    done = asked(office, "--via", "typedb")
    assert done.code == 6 and json.loads(done.stderr)["error"]["message"] == "TypeDB is not configured"
