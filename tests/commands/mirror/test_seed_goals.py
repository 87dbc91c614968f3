"""typedb seed-goals: what comes to stand in the files of agents, once and never over what is there."""

from pathlib import Path

import pytest

from commands.desk import Desk, Said
from mabos_cli.services.mind import goal_seed
from mabos_cli.workspace.mind import load_attitudes, load_beliefs

SMALL = """\
agents:
  main:
    goals:
      - {id: G-MAIN-1, title: Grow, level: strategic, desire: [D-MAIN-1], deadline: 30d}
      - {id: G-MAIN-2, title: Sell, level: operational, parent: G-MAIN-1, requires: [PL-MAIN-1]}
    desires:
      - {id: D-MAIN-1, title: Be free, priority: high}
    plans:
      - {id: PL-MAIN-1, title: Sales, steps: [Call]}
    beliefs:
      - {id: B-MAIN-1, title: Demand, text: growing, supports: [G-MAIN-1, G-COO-1]}
  coo:
    role: operations
    goals:
      - {id: G-COO-1, title: Ship, level: tactical, parent: G-MAIN-1}
"""


@pytest.fixture
def seed(desk: Desk, tmp_path: Path):
    """Seeds a template, ours or a text."""

    def run(*words: str, text: str = SMALL) -> Said:
        path = tmp_path / "t.yaml"
        path.write_text(text, "utf-8")
        return desk.run("typedb", "seed-goals", str(path), "--json", *words)

    return run


def counts(said: Said) -> dict[str, int]:
    states = [row["state"] for row in said.data["entries"]]
    return {state: states.count(state) for state in dict.fromkeys(states)}


def files(desk: Desk) -> dict[str, bytes]:
    """All files of agents, as they are."""
    return {p.as_posix(): p.read_bytes() for p in sorted((desk.root / "agents").rglob("*")) if p.is_file()}


def test_a_template_comes_to_stand_in_the_files(desk, seed):
    said = seed("--create-agents")
    assert counts(said) == {"added": 6} and said.warnings == []
    assert said.data["agents_created"] == ["coo"]
    goals = {goal.id: goal for goal in load_attitudes(desk.home(), "goal")[0]}
    assert [*goals] == ["G-MAIN-1", "G-MAIN-2"]
    first, second = goals.values()
    assert (first.level, first.deadline, first.linked("desire")) == ("strategic", "2026-03-26", ("D-MAIN-1",))
    assert (second.linked("parent"), second.linked("requires")) == (("G-MAIN-1",), ("PL-MAIN-1",))
    [belief] = load_beliefs(desk.home())[0]
    assert (belief.statement, belief.supports) == ("Demand: growing", ("G-MAIN-1", "G-COO-1"))
    [shipping] = load_attitudes(desk.home("coo"), "goal")[0]
    assert (shipping.id, shipping.linked("parent")) == ("G-COO-1", ("G-MAIN-1",))
    assert desk.home("coo").manifest()["role"] == "operations"
    rows = {row["id"]: row["place"] for row in said.data["entries"]}
    assert rows["G-MAIN-1"] == first.place and rows["B-MAIN-1"] == belief.place


def test_again_changes_no_byte(desk, seed):
    seed("--create-agents")
    before = files(desk)
    again = seed("--create-agents")
    assert counts(again) == {"kept": 6} and again.data["agents_created"] == []
    assert files(desk) == before


def test_a_dry_run_changes_no_byte_and_says_the_same(desk, seed):
    before = files(desk)
    dry = seed("--create-agents", "--dry-run")
    assert files(desk) == before
    real = seed("--create-agents")
    bare = [{**row, "place": None} for row in real.data["entries"]]
    assert dry.data["entries"] == bare and dry.data["agents_created"] == ["coo"]


def test_agents_are_made_only_when_asked(desk, seed):
    said = seed()
    assert counts(said) == {"added": 5, "left out": 1}
    assert said.data["agents_missing"] == ["coo"] and not desk.folder("coo").exists()
    assert said.warnings == ["no agent coo: 1 of its entries left out; --create-agents creates it"]
    assert counts(seed("--create-agents")) == {"kept": 5, "added": 1}


def test_what_is_there_by_title_keeps_its_id_and_gets_the_links(desk, seed):
    desk.run("goal", "add", "grow", "--level", "strategic")
    said = seed()
    assert counts(said) == {"kept": 1, "added": 4, "left out": 1}
    assert said.data["entries"][0]["id"] == "G-001" and said.data["entries"][0]["for"] == "G-MAIN-1"
    goals = load_attitudes(desk.home(), "goal")[0]
    assert [(goal.id, goal.linked("parent")) for goal in goals] == [("G-001", ()), ("G-MAIN-2", ("G-001",))]
    assert load_beliefs(desk.home())[0][0].supports == ("G-001", "G-COO-1")


def test_what_is_there_by_id_is_not_touched(desk, seed):
    desk.write("Goals.md", "# Goals\n\n## G-MAIN-1: Shrink\n\nstatus: abandoned\n")
    assert counts(seed()) == {"kept": 1, "added": 4, "left out": 1}
    [first, _] = load_attitudes(desk.home(), "goal")[0]
    assert (first.title, first.status) == ("Shrink", "abandoned")


def test_files_keep_their_shape(desk, seed):
    table = "# Goals\n\n| ID | Goal | Type | Status |\n| --- | --- | --- | --- |\n| G-1 | Rest | strategic | active |\n"
    desk.write("Goals.md", table)
    assert counts(seed())["added"] == 5
    text = (desk.folder() / "Goals.md").read_text()
    assert (
        text.startswith(table)
        and "| G-MAIN-2 | Sell [parent: G-MAIN-1] [requires: PL-MAIN-1] | operational | active |" in text
    )
    assert counts(seed())["kept"] == 5


def test_a_table_without_ids_is_known_by_titles(desk, seed):
    desk.write("Goals.md", "# Goals\n\n| Goal | Status |\n| --- | --- |\n| Rest | active |\n")
    seed()
    before = files(desk)
    again = seed()
    assert counts(again)["kept"] == 5 and files(desk) == before


def test_who_was_faster_is_not_doubled(desk, seed, monkeypatch):
    """Two that plan at the same time: the second finds what the first wrote when it holds the lock."""
    monkeypatch.setattr(goal_seed, "_held_by", lambda home: [])
    assert counts(seed("--create-agents")) == {"added": 6}
    before = files(desk)
    assert counts(seed("--create-agents")) == {"kept": 6}
    assert files(desk) == before


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("parent: G-MAIN-1}", "parent: G-NO-1}", ":15: parent: no goal G-NO-1"),
        ("id: D-MAIN-1", "id: D 1", ":7: agents.main.desires[1].id: 'D 1' is no id of a desire"),
        ("  coo:", "  co/o:", ":12: bad agent id 'co/o'"),
        ("deadline: 30d", "deadline: someday", ":4: agents.main.goals[1].deadline: not a date"),
    ],
)
def test_a_bad_template_writes_nothing(desk, seed, old, new, message):
    before = files(desk)
    done = seed("--create-agents", text=SMALL.replace(old, new))
    assert done.code == 4 and "t.yaml" in done.stderr and message in done.stderr
    assert files(desk) == before


def test_a_template_may_come_by_standard_input(desk):
    done = desk.run("typedb", "seed-goals", "-", "--json", stdin=SMALL.encode())
    assert counts(done)["added"] == 5
    bad = desk.run("typedb", "seed-goals", "-", stdin=b"agents: 3")
    assert bad.code == 4 and "standard input:1: agents: must be names with values" in bad.stderr
    assert desk.run("typedb", "seed-goals", "nowhere.yaml").code == 3


def test_only_agents_of_the_template_are_read(desk, seed):
    desk.add_agent("spy")
    (desk.folder("spy") / "agent.json").write_text("{broken")
    assert counts(seed("--create-agents")) == {"added": 6}
    (desk.folder("coo") / "agent.json").write_text("{broken")
    assert seed().code == 4


def test_the_shipped_template_makes_a_healthy_business(desk):
    done = desk.run("typedb", "seed-goals", "--create-agents")
    assert done.code == 0 and done.stdout.split("\n")[0] == "ceo (new): added 5 goals, 2 desires, 1 plan, 1 belief"
    for agent in ("ceo", "cfo", "cmo", "coo", "cto"):
        kinds = ("goal", "desire", "plan")
        problems = [p for kind in kinds for p in load_attitudes(desk.home(agent), kind)[1]]
        assert problems + load_beliefs(desk.home(agent))[1] == []
        assert '"conflicts": []' in desk.run("bdi", "conflicts", "-a", agent, "--json").stdout


def test_what_is_seeded_is_in_the_mirror_too(desk, seed, monkeypatch):
    pytest.importorskip("grpc", reason="the TypeDB server of the tests needs grpcio")
    pytest.importorskip("typedb.driver", reason="needs the official driver, typedb-driver")
    from commands.answering import Answering

    mirror = Answering()
    for name, value in mirror.environment().items():
        monkeypatch.setenv(name, value)
    assert seed("--create-agents").warnings == []
    assert {kind: sorted(uids) for kind, uids in mirror.held().items()} == {
        "agent": ["coo", "main"],
        "belief": ["main/B-MAIN-1"],
        "desire": ["main/D-MAIN-1"],
        "goal": ["coo/G-COO-1", "main/G-MAIN-1", "main/G-MAIN-2"],
        "plan": ["main/PL-MAIN-1"],
        "plan_step": ["main/PL-MAIN-1/1"],
        "persona": ["coo/persona", "main/persona"],
    }
    own = desk.run("graph", "impact", "-a", "main", "--json").data
    assert [row["goal"] for row in own["rows"]] == ["coo/G-COO-1", "main/G-MAIN-1"]
    mirror.server.stop()
