"""Deliberation from the shell: what a proposal writes when it is taken, what a cycle takes by itself, and what stays as it is."""

from pathlib import Path

import pytest

from commands.desk import Desk
from mabos_cli.workspace import mind as mind_files


def proposals(desk: Desk) -> dict[str, str]:
    return {row["name"]: row["action"] for row in desk.run("bdi", "deliberate", "--json").data["proposals"]}


def rows(desk: Desk, kind: str) -> list[dict]:
    return desk.run(kind, "list", "--json").data[f"{kind}s"]


def tree(desk: Desk) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(desk.folder()).rglob("*.*") if path.is_file()}


def do(desk: Desk, *calls: str) -> None:
    for call in calls:
        done = desk.run(*(word.replace("_", " ") for word in call.split()))
        assert done.code == 0, (call, done.stderr)


def test_nothing_is_written_by_proposing_or_by_a_dry_run(desk: Desk) -> None:
    do(desk, "goal add Open_a_shop", "commitment add Accounts --due 2026-02-20", "intention add x --goal G-001")
    desk.write("Intentions.md", "# Intentions\n\n- x status: active [deadline: 2026-02-01] [goal: G-001]\n")
    before = tree(desk)
    assert proposals(desk) == {"C-001": "reconsider"}
    (found,) = desk.run("bdi", "cycle", "--dry-run", "--json").data["agents"]
    assert {row["name"]: row["action"] for row in found["proposals"]} == {"C-001": "reconsider", "G-001": "re-plan"}
    assert tree(desk) == before


def test_a_second_cycle_proposes_the_same_and_leaves_no_diff(desk: Desk) -> None:
    do(desk, "goal add Open_a_shop", "goal add Late --deadline 2026-02-25", "belief add News G-001_is_impossible")
    first = desk.run("bdi", "cycle", "--json").data["agents"]
    before = tree(desk)
    again = desk.run("bdi", "cycle", "--json").data["agents"]
    assert [row["proposals"] for row in again] == [row["proposals"] for row in first]
    assert tree(desk) == before


@pytest.mark.parametrize(("autonomy", "left"), [("propose", 3), ("adopt", 1), ("all", 0)])
def test_a_cycle_takes_what_the_setting_leaves_to_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, autonomy: str, left: int
) -> None:
    do(desk, "goal add Open_a_shop", "plan add P --goal G-001 --step a", "goal add Win_a_prize", "goal add Old_one")
    do(desk, "belief add News G-003_is_impossible --certainty 0.9")
    monkeypatch.setenv("MABOS_BDI_AUTONOMY", autonomy)
    (found,) = desk.run("bdi", "cycle", "--json").data["agents"]
    assert len(found["proposals"]) == left
    taken = [(row["goal"], row["plan"]) for row in rows(desk, "intention")]
    assert taken == ([] if autonomy == "propose" else [(["G-001"], ["PL-001"]), (["G-002"], [])])
    before = tree(desk)
    assert desk.run("bdi", "cycle", "--json").data["agents"][0]["taken"] == []
    assert tree(desk) == before


def test_a_rival_is_suspended_and_stays_so(desk: Desk) -> None:
    do(
        desk,
        "goal add One_thing --priority high --resource line",
        "goal add Other_thing --priority low --resource line",
    )
    do(desk, "intention add a --goal G-001", "intention add b --goal G-002", "bdi deliberate --adopt G-002")
    assert [row["status"].partition(" (")[0] for row in rows(desk, "intention")] == ["active", "suspended"]
    assert [row["status"].partition(" (")[0] for row in rows(desk, "goal")] == ["active", "suspended"]
    assert proposals(desk) == {}


def test_a_better_plan_is_followed_from_then_on(desk: Desk) -> None:
    do(
        desk,
        "goal add One_thing",
        "plan add Long --goal G-001 --step a --step b",
        "intention add x --goal G-001 --plan PL-001",
    )
    assert proposals(desk) == {}
    do(desk, "plan add Short --goal G-001 --step c", "bdi deliberate --adopt G-001")
    assert [row["plan"] for row in rows(desk, "intention")] == [["PL-002"]]
    assert proposals(desk) == {}


def test_a_playbook_and_a_case_are_named_in_the_intention(desk: Desk) -> None:
    desk.write(
        "Playbooks.md", "# Playbooks\n\n## A large customer wants to leave\n\n1. Call them.\n2. Offer nothing.\n"
    )
    do(desk, "goal add Keep_the_large_customer", "bdi deliberate --adopt G-001")
    (row,) = rows(desk, "intention")
    assert row["text"] == "As in A large customer wants to leave (Playbooks.md:3): Call them.; Offer nothing."


def test_a_desire_becomes_a_goal(desk: Desk) -> None:
    do(desk, "desire add Sleep_well --priority high", "bdi deliberate --adopt D-001")
    assert [(row["title"], row["desire"]) for row in rows(desk, "goal")] == [("Sleep well", ["D-001"])]
    assert proposals(desk) == {"G-001": "adopt"}


def test_a_proposal_that_is_declined_stays_away_until_there_is_another_reason(desk: Desk) -> None:
    do(desk, "goal add One_thing", "bdi deliberate --decline G-001 --reason later")
    assert proposals(desk) == {}
    do(desk, "intention add x --goal G-001", "intention drop I-001")
    assert proposals(desk) == {"G-001": "re-plan"}


def test_a_belief_that_lost_what_it_rests_on(desk: Desk) -> None:
    do(desk, "belief add Rate 1510 --certainty 0.9", "belief add Offer ours_is_best --rests-on B-001 --supports G-001")
    do(desk, "goal add Win_Bologna", "intention add Call --goal G-001", "belief revise B-001 --status retracted")
    assert proposals(desk) == {"B-002": "reconsider", "G-001": "reconsider"}
    assert "rests on B-001, which is retracted" in desk.run("belief", "list").stdout
    do(desk, "bdi deliberate --adopt B-002")
    assert [row["status"] for row in rows(desk, "belief")] == ["retracted", "retracted"]


# A settled cycle


def cycle(desk: Desk) -> dict:
    (found,) = desk.run("bdi", "cycle", "--json").data["agents"]
    return found | {"timestamp": ""}


@pytest.fixture
def settled(desk: Desk) -> Desk:
    do(
        desk,
        "goal add Open_a_shop --resource line",
        "goal add Late --deadline 2026-02-25 --resource line --priority low",
    )
    do(
        desk,
        "plan add P --goal G-001 --step a",
        "belief add Rate 14 --certainty 0.9",
        "belief add Rate 45 --certainty 0.9",
    )
    for _ in range(2):
        cycle(desk)
    return desk


def test_a_settled_cycle_says_the_same_and_reads_no_file_of_the_mind(
    settled: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mind_files, "read_settled", lambda agent: {})
    full = cycle(settled)
    monkeypatch.undo()
    monkeypatch.setenv("MABOS_NOW", "2026-02-24T12:00:00Z")
    cycle(settled)
    with monkeypatch.context() as patch:
        patch.setattr(mind_files, "read_mind", None)
        assert cycle(settled) == full
        assert len(full["conflicts"]) == len(full["proposals"]) == len(full["held"]) == 1
    do(settled, "goal close G-001")
    assert cycle(settled)["proposals"][0]["name"] == "G-002"


@pytest.mark.parametrize(
    ("later", "names"), [("2026-02-24T23:59:00Z", ["G-001"]), ("2026-02-26T09:00:00Z", ["G-002", "G-001"])]
)
def test_a_settled_cycle_looks_again_when_a_day_is_over(
    settled: Desk, monkeypatch: pytest.MonkeyPatch, later: str, names: list[str]
) -> None:
    monkeypatch.setenv("MABOS_NOW", later)
    assert [row["name"] for row in cycle(settled)["proposals"]] == names


def test_a_settled_cycle_looks_again_when_an_hour_passes_that_is_a_deadline(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write("Commitments.md", "# Commitments\n\n## C-001: Call\n\nstatus: open\n[deadline: 2026-02-24T15:00:00Z]\n")
    for hour, count in (("14:00", 0), ("14:10", 0), ("14:20", 0), ("15:10", 1)):
        monkeypatch.setenv("MABOS_NOW", f"2026-02-24T{hour}:00Z")
        assert len(cycle(desk)["proposals"]) == count, hour


def test_a_settled_cycle_sees_what_another_agent_reports(desk: Desk) -> None:
    do(desk, "goal add Open_a_shop", "agent create cto --role x", "goal delegate G-001 --to cto -a main")
    for _ in range(3):
        found = desk.run("bdi", "cycle", "-a", "main", "--json").data["agents"][0]
        assert found["proposals"] == []
    do(desk, "goal close G-001 -a cto")
    (found,) = desk.run("bdi", "cycle", "-a", "main", "--json").data["agents"]
    assert [(row["action"], row["name"]) for row in found["proposals"]] == [("drop", "G-001")]


def test_a_goal_that_is_there_twice_is_one_proposal(desk: Desk) -> None:
    do(desk, "goal add Open_a_shop")
    goals = desk.folder() / "Goals.md"
    goals.write_text(goals.read_text() + goals.read_text())
    assert desk.run("bdi", "deliberate", "--adopt", "G-001", "-a", "main").code == 0


def test_a_goal_with_an_impossible_deadline_is_refused_with_its_line(desk: Desk) -> None:
    do(desk, "goal add Open_a_shop", "agent create cto --role x")
    goals = desk.folder() / "Goals.md"
    goals.write_text(goals.read_text().replace("status: active", "status: active\nDeadline: NaN-03-31"))
    said = desk.run("goal", "delegate", "G-001", "--to", "cto", "-a", "main")
    assert said.code == 4 and "Goals.md:" in said.stderr and "NaN-03-31" in said.stderr
