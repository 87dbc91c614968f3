"""Templates of a business: what is wrong with one, and what of it is to be added beside what agents have."""

from mabos_cli.core.mind.goal_seed import Held, Seed, SeedAgent, Template, check_template, plan_seed

CEO, CFO = SeedAgent("ceo", line=1), SeedAgent("cfo", line=10)
GROW = Seed("goal", "ceo", "G-1", "Grow", links={"desire": ("D-1",)}, line=2)
SELL = Seed("goal", "cfo", "G-2", "Sell", links={"parent": ("G-1",), "requires": ("PL-1",)}, line=11)
WISH = Seed("desire", "ceo", "D-1", "Be free", line=3)
PLAN = Seed("plan", "cfo", "PL-1", "Sales", links={"goal": ("G-2",)}, line=12)
SURE = Seed("belief", "cfo", "B-1", "Demand", links={"supports": ("G-1", "G-2")}, line=13)
ALL = (GROW, WISH, SELL, PLAN, SURE)


def template(*seeds: Seed) -> Template:
    return Template("t.yaml", "", (CEO, CFO), seeds)


def told(*seeds: Seed, held: tuple[Held, ...] = ()) -> list[str]:
    return [str(problem) for problem in check_template(template(*seeds), held)]


def states(*held: Held, agents: tuple[str, ...] = ("ceo", "cfo")) -> list[str]:
    return [each.state for each in plan_seed(template(*ALL), held, agents).entries]


def links(*held: Held) -> dict[str, dict[str, tuple[str, ...]]]:
    plan = plan_seed(template(*ALL), held, ("ceo", "cfo"))
    return {each.seed.id: dict(each.seed.links) for each in plan.entries}


def test_nothing_is_wrong_with_a_whole_template():
    assert told(*ALL) == []


def test_a_link_must_lead_somewhere():
    assert told(GROW, SELL) == [
        "t.yaml:2: desire: no desire D-1",
        "t.yaml:11: requires: no plan PL-1",
    ]
    held = (Held("desire", "coo", "D-1", "x", "Desires.md:3"), Held("plan", "ceo", "PL-1", "y", "Plans.md:3"))
    assert told(GROW, SELL, held=held) == []
    # A plan of this id is no desire of this id.
    assert told(GROW, held=(Held("plan", "ceo", "D-1", "x", ""),)) == ["t.yaml:2: desire: no desire D-1"]


def test_ids_and_titles_are_there_once():
    again = WISH._replace(agent="cfo", title="Other", line=20)
    assert told(*ALL, again) == ["t.yaml:20: D-1 is also the id of line 3"]
    same = WISH._replace(id="D-2", title="be FREE", line=21)
    assert told(*ALL, same) == ["t.yaml:21: ceo has a desire with this title on line 3"]
    assert told(*ALL, same._replace(agent="cfo")) == []
    # Kinds do not share ids.
    assert told(*ALL, Seed("plan", "ceo", "G-1", "A plan", line=22)) == []


def test_no_goal_is_part_of_itself():
    a, b, c = (Seed("goal", "ceo", f"G-{n}", f"t{n}", line=n) for n in (1, 2, 3))
    ring = [each._replace(links={"parent": (to,)}) for each, to in ((a, "G-2"), (b, "G-1"), (c, "G-1"))]
    # The third hangs on the ring, and is no part of it.
    assert told(*ring) == ["t.yaml:1: G-1 is a part of itself", "t.yaml:2: G-2 is a part of itself"]
    assert told(a._replace(links={"parent": ("G-1",)})) == ["t.yaml:1: G-1 is a part of itself"]


def test_all_is_added_where_nothing_is():
    plan = plan_seed(template(*ALL), (), ("ceo", "cfo"))
    assert {each.state for each in plan.entries} == {"added"} and plan.missing == ()
    assert {key: [seed.id for seed in seeds] for key, seeds in plan.added().items()} == {
        ("ceo", "goal"): ["G-1"],
        ("ceo", "desire"): ["D-1"],
        ("cfo", "goal"): ["G-2"],
        ("cfo", "plan"): ["PL-1"],
        ("cfo", "belief"): ["B-1"],
    }


def test_what_is_there_by_id_stays_whoever_has_it():
    assert states(Held("goal", "coo", "g-1", "Renamed", "Goals.md:9"))[0] == "kept"
    assert states(Held("plan", "ceo", "G-1", "Grow", "Plans.md:9"))[0] == "added"


def test_what_is_there_by_title_stays_with_its_own_agent():
    assert states(Held("goal", "ceo", "G-77", "GROW", "Goals.md:9"))[0] == "kept"
    assert states(Held("goal", "cfo", "G-77", "Grow", "Goals.md:9"))[0] == "added"


def test_links_follow_what_is_there_under_another_id():
    found = links(Held("goal", "ceo", "G-77", "Grow", "Goals.md:9"))
    assert found["G-2"]["parent"] == ("G-77",)
    assert found["B-1"]["supports"] == ("G-77", "G-2")


def test_links_to_what_has_no_id_are_left_out_and_told():
    nameless = Held("goal", "ceo", "", "Grow", "Goals.md:9")
    assert "parent" not in links(nameless)["G-2"]
    assert links(nameless)["B-1"]["supports"] == ("G-2",)
    plan = plan_seed(template(*ALL), (nameless,), ("ceo", "cfo"))
    assert plan.notes == ("Goals.md:9 of ceo has no id: links to G-1 are left out",)


def test_an_agent_that_is_not_there_is_left_out():
    plan = plan_seed(template(*ALL), (), ("ceo",))
    assert plan.missing == (CFO,)
    assert [each.state for each in plan.entries] == ["added", "added", "left out", "left out", "left out"]
    # It may come later: links to what is left out stay.
    kept = plan_seed(template(GROW._replace(links={"parent": ("G-2",)}), SELL), (), ("ceo",)).entries[0]
    assert kept.seed.links == {"parent": ("G-2",)}
