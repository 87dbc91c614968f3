"""Templates in YAML: what is read, what is refused and on which line, and how entries come to stand in files."""

from collections import Counter
from pathlib import Path

import pytest

from mabos_cli.core import BadValue
from mabos_cli.core.mind.mind import LEVELS
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.mind.attitudes import goal_group, parse_attitudes, parse_beliefs
from mabos_cli.formats.mind.goal_seed import LINKS, Seed, parse_template, seed_draft
from mabos_cli.formats.mind.mind_edit import add_entry

SHIPPED = Path(__file__).parents[3] / "mabos_cli" / "templates" / "business-goals.yaml"
WHOLE = """\
business: A shop
agents:
  ceo:
    role: chief executive
    goals:
      - id: G-1
        title: "Grow: faster"
        level: strategic
        priority: 0.9
        deadline: 90d
        desire: [D-1]
        text: By selling more.
    desires:
      - {id: D-1, title: Be free, priority: High}
    plans:
      - id: PL-1
        title: Sales
        goal: [G-1, G-1]
        steps: [Call, 2nd call]
    beliefs:
      - id: B-1
        title: Demand
        text: growing
        certainty: 85%
        supports: [G-1]
  no:
    role: says no
"""


def day_of(text: str) -> str:
    if text and not text[:1].isdigit():
        raise BadValue(f"not a date: {text!r}", "a date")
    return f"<{text}>" if text else ""


def parse(text: str):
    return parse_template(text, "t.yaml", day_of)


def test_a_template_is_read_as_it_is_written():
    found = parse(WHOLE)
    assert (found.business, [(a.id, a.role, a.line) for a in found.agents]) == (
        "A shop",
        [("ceo", "chief executive", 3), ("no", "says no", 26)],
    )
    goal, desire, plan, belief = found.seeds
    assert (goal.kind, goal.agent, goal.title, goal.text) == (
        "goal",
        "ceo",
        "Grow: faster",
        "By selling more.",
    )
    assert goal.fields == {"type": "strategic", "priority": "0.9", "status": "active", "deadline": "<90d>"}
    assert (dict(goal.links)["desire"], goal.line) == (("D-1",), 6)
    assert desire.fields == {"priority": "high", "status": "active"}
    assert (plan.links, plan.steps) == ({"goal": ("G-1",)}, ("Call", "2nd call"))
    assert belief.fields == {"certainty": "0.85", "source": ""}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("level: strategic", "level: huge", "8: agents.ceo.goals[1].level: must be one of strategic"),
        ("        level: strategic\n", "", "6: agents.ceo.goals[1].level: is missing"),
        ("priority: 0.9", "priority: 9", "9: agents.ceo.goals[1].priority: priority '9' is outside 0..1"),
        ("deadline: 90d", "deadline: soon", "10: agents.ceo.goals[1].deadline: not a date: 'soon'"),
        ("desire: [D-1]", "desire: D-1", "11: agents.ceo.goals[1].desire: must be a list"),
        ("desire: [D-1]", "desires: [D-1]", "11: agents.ceo.goals[1].desires: unknown field"),
        ("desire: [D-1]", "desire: [PL-1]", "11: agents.ceo.goals[1].desire[1]: 'PL-1' is no id of a desire"),
        ("id: G-1\n", "id: first goal\n", "6: agents.ceo.goals[1].id: 'first goal' is no id of a goal"),
        ("id: G-1\n", "id: G-\n", "6: agents.ceo.goals[1].id: 'G-' is no id of a goal"),
        ("certainty: 85%", "certainty: 1.2", "24: agents.ceo.beliefs[1].certainty: must be from 0 to 1"),
        ("Grow: faster", "a\\nb", "7: agents.ceo.goals[1].title: bad title"),
        ("steps: [Call", "steps: [~", "19: agents.ceo.plans[1].steps[1]: must be text"),
        ("title: Sales", "title: [", "not valid YAML"),
        ("business: A shop", "business: {}", "1: business: must be text"),
        (WHOLE, "- a\n", "1: input: must be fields with values, not a list"),
        (WHOLE, "", "1: input: must be fields with values, not nothing"),
        (WHOLE, "agents: {}\n", "1: agents: must hold something, and is empty"),
    ],
)
def test_what_is_off_is_refused_with_its_line(old, new, message):
    assert old in WHOLE
    with pytest.raises(InvalidFile) as refused:
        parse(WHOLE.replace(old, new, 1))
    assert refused.value.message.startswith("t.yaml:") and message in refused.value.message


def test_entries_come_back_from_files_as_they_were_given():
    goal, desire, plan, belief = parse(WHOLE).seeds
    text, own = add_entry("# Goals\n", seed_draft(goal, "2026-02-24"), "2026-02-24")
    [read] = parse_attitudes(text, "goal", "Goals.md")[0]
    assert own == read.id == "G-1"
    assert (read.title, read.level, read.priority, read.linked("desire")) == (
        "Grow: faster",
        "strategic",
        0.9,
        ("D-1",),
    )
    text, own = add_entry("# Plans\n", seed_draft(plan, "2026-02-24"), "2026-02-24")
    [read] = parse_attitudes(text, "plan", "Plans.md")[0]
    assert (read.id, read.linked("goal"), [(s.text, s.done) for s in read.steps]) == (
        "PL-1",
        ("G-1",),
        [("Call", False), ("2nd call", False)],
    )
    text, own = add_entry("# Beliefs\n", seed_draft(belief, "2026-02-24"), "2026-02-24")
    [read] = parse_beliefs(text, "Beliefs.md")[0]
    assert (read.id, read.subject, read.text, read.certainty, read.supports, read.updated) == (
        "B-1",
        "Demand",
        "growing",
        0.85,
        ("G-1",),
        "2026-02-24",
    )
    text, own = add_entry("# Desires\n", seed_draft(desire, "2026-02-24"), "2026-02-24")
    assert parse_attitudes(text, "desire", "Desires.md")[0][0].id == own == "D-1"


def test_a_step_stays_a_step():
    odd = Seed("plan", "ceo", "PL-1", "Odd", "", {}, {}, ("# no heading", "1. no number", "[x] no box"), 1)
    text = add_entry("# Plans\n", seed_draft(odd, "2026-02-24"), "2026-02-24")[0]
    [read] = parse_attitudes(text, "plan", "Plans.md")[0]
    assert [step.done for step in read.steps] == [False, False, False]


def test_goals_go_below_the_heading_of_their_level():
    text = "# Goals\n\n## Active goals\n\n## Strategic aims\n"
    assert goal_group(text, "strategic") == "Strategic aims"
    assert goal_group(text, "tactical") == "Active goals"
    assert goal_group("# Goals\n", "tactical") == ""


def test_the_shipped_template_is_a_whole_business():
    found = parse_template(SHIPPED.read_text("utf-8"), "t.yaml", day_of)
    assert [agent.id for agent in found.agents] == ["ceo", "cfo", "cmo", "coo", "cto"]
    levels = Counter(seed.fields["type"] for seed in found.seeds if seed.kind == "goal")
    assert [levels[level] for level in LEVELS] == [4, 8, 14]
    goals = {seed.id: seed for seed in found.seeds if seed.kind == "goal"}
    # Every goal is part of one that reaches farther, and every strategic one is motivated.
    for goal in goals.values():
        reach = LEVELS.index(goal.fields["type"])
        above = [LEVELS.index(goals[own].fields["type"]) for own in goal.links["parent"]]
        assert [far < reach for far in above] == [True] * bool(reach)
        assert reach or goal.links["desire"]
    linked = {(LINKS[s.kind][name], to) for s in found.seeds for name, ids in s.links.items() for to in ids}
    assert {seed.key for seed in found.seeds if seed.kind in ("desire", "plan")} <= linked
    for agent in found.agents:
        assert {seed.kind for seed in found.seeds if seed.agent == agent.id} == {*LINKS}
