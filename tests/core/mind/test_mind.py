"""Steps of plans, and how goals hang together, from whichever side a link is written."""

from mabos_cli.core.mind.mind import Attitude, Belief, Branch, Step, build_tree, find_step

STEPS = (
    Step("S1", "Visit them", True, "done", 3),
    Step("2", "Send the offer", None, "", 4),
    Step("", "Sign", None, "", 5),
)


def test_a_step_goes_by_its_name_else_by_its_place() -> None:
    assert find_step(STEPS, "s1") is STEPS[0]
    assert find_step(STEPS, "2") is STEPS[1]
    assert find_step(STEPS, "3") is STEPS[2]
    assert find_step(STEPS, "4") is None and find_step((), "1") is None


def goal(goal_id: str, line: int, level: str = "", **links: tuple[str, ...]) -> Attitude:
    return Attitude("goal", goal_id, f"the goal {goal_id}", level=level, links=links, line=line)


def names_of(branches: list[Branch] | tuple[Branch, ...]) -> list[object]:
    return [(branch.goal.id, names_of(branch.below)) if branch.below else branch.goal.id for branch in branches]


def test_goals_stand_below_the_goal_that_they_are_part_of():
    goals = [goal("G-3", 1, parent=("G-2",)), goal("G-2", 2, parent=("G-1",)), goal("G-1", 3), goal("G-4", 4)]
    assert names_of(build_tree(goals, [], [], [])) == [("G-1", [("G-2", ["G-3"])]), "G-4"]


def test_strategic_goals_come_first_and_the_rest_keeps_its_order():
    goals = [
        goal("G-1", 1),
        goal("G-2", 2, "operational"),
        goal("G-3", 3, "strategic"),
        goal("G-4", 4, "tactical"),
    ]
    assert names_of(build_tree(goals, [], [], [])) == ["G-3", "G-4", "G-2", "G-1"]


def test_a_parent_that_is_not_here_leaves_a_goal_at_the_top():
    found = build_tree([goal("G-1", 1, parent=("G-CEO-S2",))], [], [], [])
    assert names_of(found) == ["G-1"] and found[0].is_root


def test_of_two_parents_the_one_that_is_here_counts():
    goals = [goal("G-1", 1), goal("G-2", 2, parent=("G-CEO-S2", "G-1"))]
    assert names_of(build_tree(goals, [], [], [])) == [("G-1", ["G-2"])]


def test_rings_and_goals_that_are_their_own_parents_stand_at_the_top_once():
    ring = [goal("G-1", 1, parent=("G-2",)), goal("G-2", 2, parent=("G-1",)), goal("G-3", 3, parent=("G-3",))]
    assert names_of(build_tree(ring, [], [], [])) == [("G-1", ["G-2"]), "G-3"]


def test_every_goal_is_there_once_even_without_or_with_the_same_id():
    goals = [goal("", 1), goal("", 2), goal("G-1", 3), goal("G-1", 4), goal("G-2", 5, parent=("G-1",))]
    assert names_of(build_tree(goals, [], [], [])) == ["", "", ("G-1", ["G-2"]), "G-1"]


def test_links_count_from_both_sides_and_once():
    goals = [goal("G-1", 1, desire=("D-1",), requires=("PL-1",))]
    desires = [
        Attitude("desire", "D-1", "x", links={"motivates": ("G-1",)}),
        Attitude("desire", "", "Be calm", links={"motivates": ("G-1", "G-9")}),
    ]
    plans = [Attitude("plan", "PL-2", "y", links={"goal": ("G-1",)})]
    beliefs = [Belief("Runway", "", id="B-1", supports=("G-1",)), Belief("Burn", "", supports=("G-1",))]
    (branch,) = build_tree(goals, desires, plans, beliefs)
    assert (branch.desires, branch.plans, branch.beliefs) == (
        ("D-1", "Be calm"),
        ("PL-1", "PL-2"),
        ("B-1", "Burn"),
    )


def test_nothing_gives_nothing():
    assert build_tree([], [], [], []) == []


def test_a_very_long_chain_of_goals_is_drawn_in_pieces():
    goals = [Attitude("goal", f"G-{n}", f"goal {n}", links={"parent": (f"G-{n - 1}",)}, line=n) for n in range(3000)]
    branches = build_tree(goals, [], [], [])
    found, waiting = 0, list(branches)
    while waiting:
        found, waiting = found + 1, [*waiting[1:], *waiting[0].below]
    assert found == len(goals) and len(branches) > 1
