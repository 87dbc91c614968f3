"""graph impact: what depends on beliefs, across agents, and what it says about it."""

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
        "",
    ]
    assert "no belief of ceo supports a goal" in office.run("graph", "impact", "-a", "ceo").stdout


@pytest.mark.parametrize("words", [("B-1", "--behind"), ("B-1", "--conflict", "abcd"), ("--level", "tactical")])
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
