"""What agents really write: ids of any form, lists, nested lists, tables, bold keys, and other words for the same fields."""

import pytest

from mabos_cli.core.mind.mind import with_goals
from mabos_cli.formats.mind.attitudes import find_unread, parse_attitudes, parse_beliefs
from mabos_cli.formats.mind.cognitive import parse_cognitive
from mabos_cli.formats.mind.cognitive_edit import set_field
from mabos_cli.formats.mind.mind_edit import Draft, add_entry
from mabos_cli.formats.mind.plans import add_step, find_plans, finish_step

DAY = "2026-03-01"


def test_tables_whose_columns_have_other_names() -> None:
    """Ids, titles, states and dates of a table are found by what its cells hold, or by another name of the column."""
    text = """# Goals

| Ref | Goal | Prio | State | Until | Motivated by |
|---|---|---|---|---|---|
| GL.1 | Cut food waste | very high | under way | end of Q3 2026 | D1 |
| GL.2 | Inspectors come back | ★★★☆☆ | on hold | 2026/12/01 | D2 |
"""
    goals, problems = parse_attitudes(text, "goal", "Goals.md")
    assert not problems
    assert [(g.id, g.title, g.priority, g.status, g.deadline, g.linked("desire")) for g in goals] == [
        ("GL.1", "Cut food waste", 0.9, "under way", "2026-09-30", ("D1",)),
        ("GL.2", "Inspectors come back", 0.6, "on hold", "2026-12-01", ("D2",)),
    ]
    promises = """# Commitments

| ID | Promise | To whom | By when | State |
|---|---|---|---|---|
| C3 | Send the plan | the authority | March 2026 | pending |
| C4 | Repair the knife | Ivo | 2026-01-05 | kept |
"""
    found, _ = parse_attitudes(promises, "commitment", "Commitments.md")
    assert [(c.id, c.title, c.owner, c.deadline, c.status) for c in found] == [
        ("C3", "Send the plan", "the authority", "2026-03-31", "pending"),
        ("C4", "Repair the knife", "Ivo", "2026-01-05", "kept"),
    ]


def test_beliefs_with_certainty_among_their_words() -> None:
    """How sure one is may be said in parentheses, behind a dash, as a mark, or in a column called otherwise."""
    text = """# Beliefs

## Suppliers

- The fish arrives on Tuesdays (sure: 0.9; seen 2026-01-03)
- B.2: The price rises by 4 % in May — 80 % certain
- Butter costs 7.20 EUR a kilo (0.6)

| Nr | What I believe | About | How sure | Since |
|---|---|---|---|---|
| b3 | The old stove uses 40 kWh a day | stove | 70% | 2025-12 |

## The cold room works
Confidence: 9/10
Recorded on: 2026-02-20
"""
    beliefs, problems = parse_beliefs(text, "Beliefs.md")
    assert not problems
    assert [(b.id, b.subject, b.text, b.certainty, b.updated) for b in beliefs] == [
        ("", "The fish arrives on Tuesdays", "", 0.9, "2026-01-03"),
        ("B.2", "The price rises by 4 % in May", "", 0.8, ""),
        ("", "Butter costs 7.20 EUR a kilo", "", 0.6, ""),
        ("b3", "The old stove uses 40 kWh a day", "", 0.7, "2025-12-01"),
        ("", "The cold room works", "", 0.9, "2026-02-20"),
    ]
    assert beliefs[3].about == "stove"
    file = parse_cognitive(text)
    changed = set_field(file, file.entries[1], "certainty", "0.4")
    assert "by 4 % in May — 0.4 certain\n" in changed
    assert parse_beliefs(changed, "Beliefs.md")[0][1].certainty == 0.4


def test_short_ids_crossed_out_items_and_dates_at_the_end() -> None:
    """G1 is an id in Goals.md without a colon; what is crossed out is dropped; a title may end with when it is due."""
    text = """# Goals

- G1 Fill the winter season by 1 May 2026
- ~~G2: Sell the boat~~
- Keep the *kitchen*
- Q3 Report is read
"""
    goals, _ = parse_attitudes(text, "goal", "Goals.md")
    assert [(g.id, g.title, g.status, g.deadline) for g in goals] == [
        ("G1", "Fill the winter season by 1 May 2026", "", "2026-05-01"),
        ("G2", "Sell the boat", "dropped", ""),
        ("", "Keep the *kitchen*", "", ""),
        ("", "Q3 Report is read", "", ""),
    ]


def test_goals_of_intentions_by_title() -> None:
    """An intention may name the title of its goal where that has no id, or instead of it."""
    text = "# Intentions\n\n- INT/2 Call three dealers [goal: Find a fish supplier] [status: executing]\n"
    goals, _ = parse_attitudes("# Goals\n\n- G7: Find a fish supplier\n", "goal", "Goals.md")
    intentions, _ = parse_attitudes(text, "intention", "Intentions.md")
    assert intentions[0].id == "INT/2"
    assert [each.linked("goal") for each in with_goals(intentions, goals)] == [("G7",)]
    assert [each.linked("goal") for each in with_goals(intentions, [])] == [()]


def test_a_plan_that_is_called_one() -> None:
    """A heading that begins with the word is a plan, also below that of another plan."""
    text = """# Plans

## P.1 Less waste
1. [x] Buy a scale
2. [ ] Weigh each bin

### Plan B: Fish
| # | Step | Status |
|---|---|---|
| 1 | List dealers | done |
| 2 | Taste samples | in progress |
"""
    plans, _ = parse_attitudes(text, "plan", "Plans.md")
    assert [(p.id, p.title, [s.done for s in p.steps]) for p in plans] == [
        ("P.1", "Less waste", [True, False]),
        ("", "Plan B: Fish", [True, False]),
    ]


GOALS = """\
# Goals — Harbour Hotel

## Strategic Goals

What we are here for.

- Fill the winter season
- Keep the kitchen (with Ada) profitable (priority high, due 2026-05-01)

## Delegated Goals

### DG-1: Double direct bookings by year 2
- **Source:** owners
- **Status:** active

#### Milestones
- first half
- second half

## Tactical

- G-HH-1: Renovate the roof
  - Status: in_progress
  - G-HH-2: Find a roofer
    - **Priority Score:** 0.94
    - Created: 3 February 2026
- _None otherwise._

## Goal Hierarchy
1. DG-1: Double direct bookings — 0.9
"""
INTENTIONS = """\
# Intentions

## Active Intentions

### INT-HH-1: Ask three roofers
- **Goal:** G-HH-2, DG-1
- **Status:** executing
- **Adopted:** 2026-02-17

## Suspended Intentions

_None currently._

## Expired

| ID | Reason | Lesson |
|---|---|---|
| INT-HH-0 | the roofer retired | ask two at once |
"""
PLANS = """\
# Plans

## Active Plans

### P-HH-1: Roof
- **Intention:** INT-HH-1
- **Template:** PT-002 (Repairs)
- **Status:** in_progress
- **Started:** 2026-02-17

#### Steps
1. [done] Measure
2. [pending] Order tiles

#### Risks
- rain

### P-HH-2: Winter guests
- **Week 1:** write to last year's guests
- **Week 2:** call them

## Ideas
- P-HH-3: Sauna
  1. Ask the neighbours
  2. Buy wood

## Completed Plans

| ID | Plan | Goal | Completed | Outcome |
|---|---|---|---|---|
| P-HH-0 | Paint the fence | G-HH-9 | 2026-01-05 | done |
"""
BELIEFS = """\
# Beliefs

## Business Context
- **Season:** May to October
- Guests come by train
1. **Rooms:** 42

## Agent Beliefs

| ID | About | Belief | Value | Certainty | Source | Updated |
|---|---|---|---|---|---|---|
| BA-1 | chef | Limit for purchases | 500 EUR | 0.9 | owner | 2026-02-01 |

## Cases

| ID | Pattern | Frequency | Confidence | Implications |
|---|---|---|---|---|
| BC-1 | Rain means late guests | 3 | 0.8 | cook later |

## Words

| Word | Meaning |
|---|---|
| HB | half board |

## Terrace
- **Belief:** The terrace seats 64
- **Recorded:** 2026-02-03
- **Confidence:** high
"""


def test_goals_are_sections_bullets_and_nested_lists():
    found = parse_attitudes(GOALS, "goal", "Goals.md")[0]
    assert [(g.id, g.title, g.status, g.priority, g.updated, g.level) for g in found] == [
        ("", "Fill the winter season", "", None, "", "strategic"),
        ("", "Keep the kitchen (with Ada) profitable", "", 0.8, "", "strategic"),
        ("DG-1", "Double direct bookings by year 2", "active", None, "", ""),
        ("G-HH-1", "Renovate the roof", "in_progress", None, "", "tactical"),
        ("G-HH-2", "Find a roofer", "", 0.94, "2026-02-03", "tactical"),
    ]
    assert (found[1].deadline, found[4].links) == ("2026-05-01", {"parent": ("G-HH-1",)})


def test_labels_gather_what_is_nested_below_them():
    text = "# Goals\n\n- Strategic goals:\n  - Grow\n  - Hire (status active)\n- **Tactical**\n  - G-4: Ship\n- Rest\n"
    found = parse_attitudes(text, "goal", "")[0]
    assert [(g.title, g.level, g.status) for g in found] == [
        ("Grow", "strategic", ""),
        ("Hire", "strategic", "active"),
        ("Ship", "tactical", ""),
        ("Rest", "", ""),
    ]


def test_dates_under_other_names_are_activity():
    first, second = parse_attitudes(INTENTIONS, "intention", "")[0]
    assert (first.id, first.status, first.updated) == ("INT-HH-1", "executing", "2026-02-17")
    assert first.links == {"goal": ("G-HH-2", "DG-1")}
    assert (second.id, second.title, second.status) == ("INT-HH-0", "INT-HH-0", "expired")


def test_plans_are_sections_items_and_rows_and_headings_below_are_parts_of_them():
    found = parse_attitudes(PLANS, "plan", "")[0]
    assert [(p.id, p.title, p.status, p.updated, [(s.text, s.done) for s in p.steps]) for p in found] == [
        ("P-HH-1", "Roof", "in_progress", "2026-02-17", [("Measure", True), ("Order tiles", False)]),
        (
            *("P-HH-2", "Winter guests", "active", ""),
            [("**Week 1:** write to last year's guests", None), ("**Week 2:** call them", None)],
        ),
        ("P-HH-3", "Sauna", "", "", [("Ask the neighbours", None), ("Buy wood", None)]),
        ("P-HH-0", "Paint the fence", "completed", "2026-01-05", []),
    ]


def test_beliefs_of_a_group_are_one_each():
    found, problems = parse_beliefs(BELIEFS, "")
    assert [(b.id, b.about, b.subject, b.text, b.updated) for b in found] == [
        ("", "", "Season", "May to October", ""),
        ("", "", "Guests come by train", "", ""),
        ("", "", "Rooms", "42", ""),
        ("BA-1", "chef", "Limit for purchases", "500 EUR", "2026-02-01"),
        ("BC-1", "", "Rain means late guests", "", ""),
        ("", "", "HB", "half board", ""),
        ("", "", "Terrace", "The terrace seats 64", "2026-02-03"),
    ]
    assert not problems and (found[3].statement, found[6].certainty) == ("chef: Limit for purchases: 500 EUR", 0.85)


@pytest.mark.parametrize(
    ("line", "about", "text"),
    [
        ("About: head of sales", "head of sales", "Prefers the phone."),
        ("- **About:** cfo", "cfo", "Prefers the phone."),
        ("About: we should not call after six, he said.", "", None),
    ],
)
def test_a_name_behind_about_is_what_a_belief_is_about_and_a_sentence_is_not(line: str, about: str, text: str | None):
    (found,), _ = parse_beliefs(
        f"# Beliefs\n\n## Channel\n\nPrefers the phone.\n\nCertainty: 0.8\n{line}\n", "Beliefs.md"
    )
    assert found.about == about and (text is None or found.text == text)


@pytest.mark.parametrize("text", [GOALS, INTENTIONS, PLANS, BELIEFS])
def test_files_come_back(text: str):
    assert parse_cognitive(text).render() == text
    assert parse_cognitive(text.replace("\n", "\r\n")).render() == text.replace("\n", "\r\n")


def test_what_is_added_takes_the_shape_of_the_file():
    new, entry_id = add_entry(
        INTENTIONS, Draft("intention", "", "Book", fields={"status": "active", "updated": DAY}), DAY
    )
    assert entry_id == "INT-HH-2"
    assert f"### INT-HH-2: Book\n- **Status:** active\n- **Adopted:** {DAY}\n" in new
    new, entry_id = add_entry(PLANS.partition("\n## Ideas")[0], Draft("plan", "", "Sauna", steps=("1. [ ] Ask",)), DAY)
    assert entry_id == "P-HH-3" and new.endswith("### P-HH-3: Sauna\n\n1. [ ] Ask\n")
    first = PLANS.partition("\n### P-HH-2")[0]
    new, _ = add_entry(first, Draft("plan", "", "Sauna", fields={"goal": "G-1"}, steps=("1. [ ] Ask",)), DAY)
    assert new.endswith("### P-HH-2: Sauna\n- **Goal:** G-1\n\n#### Steps\n\n1. [pending] Ask\n")
    new, entry_id = add_entry(
        BELIEFS, Draft("belief", "", "Lifts", "two", {"certainty": "0.8"}), DAY, "Business Context"
    )
    assert entry_id == "" and "1. **Rooms:** 42\n2. **Lifts:** two, certainty: 0.8\n" in new
    goals = "# Goals\n\n## All\n\n### G-1: Ship\n- **KPI:** parcels\n"
    assert add_entry(goals, Draft("goal", "", "Sell", fields={"status": "active"}), DAY)[0].endswith(
        "### G-2: Sell\n- **Status:** active\n"
    )
    row = Draft("belief", "", "cook", "Limit is 100 EUR", {"certainty": "0.8"})
    assert "| BA-2 | cook | Limit is 100 EUR |  | 0.8 |  |  |" in add_entry(BELIEFS, row, DAY, "Agent Beliefs")[0]


def test_steps_are_added_and_finished_where_they_stand():
    plans = find_plans(parse_cognitive(PLANS))
    assert "2. [pending] Order tiles\n3. [pending] Lay them\n" in add_step(PLANS, plans[0], "Lay them")
    assert "  2. Buy wood\n  3. Heat\n" in add_step(PLANS, plans[2], "Heat")
    steps = [step for plan in parse_attitudes(PLANS, "plan", "")[0] for step in plan.steps]
    assert "2. [done] Order tiles" in finish_step(PLANS, steps[1], DAY)
    assert f"  1. Ask the neighbours (done {DAY})" in finish_step(PLANS, steps[4], DAY)


def test_fields_in_parentheses_are_changed_in_place():
    file = parse_cognitive("# B\n\n- Rooms: 42 (certainty 0.9, added 2026-01-14)\n")
    assert "(certainty 0.3, added" in set_field(file, file.entries[0], "certainty", "0.3")
    new = set_field(file, file.entries[0], "certainty", "0 (wrong)")
    assert "(added 2026-01-14) [certainty: 0 (wrong)]" in new
    assert parse_cognitive(new).entries[0].get("created") == "2026-01-14"


def test_what_could_not_be_read_is_named_with_its_line():
    text = "# Goals\n\nIntro.\n\n## G-1: Ship\n\nstatus: active\n\n## Thoughts\n\nWe should think.\nMore.\n\n> quote\n"
    assert [str(each) for each in find_unread(text, "goal", "Goals.md")] == [
        "Goals.md:11: not read as a goal: 'We should think.'"
    ]
    assert [each.line for each in find_unread(GOALS, "goal", "")] == [5]
    assert not find_unread(PLANS, "plan", "") and not find_unread(BELIEFS, "belief", "")


BLOCKS = """\
# Beliefs

- **ID:** BEL-1
- **Belief:** Rent is 900 EUR.
- **Certainty:** 0.9
- **Updated:** 3 May 2026

- **ID:** BEL-2
- **Belief:** The terrace seats 64.
- **Certainty:** 0.8
- **Updated:** 2026-05-04
---
1. **Belief:** Guests come by train.
   - **Confidence:** high
   - **Created:** 2026-01-02
2. **Belief:** The roof leaks.

**B-001**
The lift is broken.
Certainty: 0.7

- **B-2** The cook is new. **Certainty:** 0.85 **Updated:** 2026-05-05

## Staff
- **Belief:** Ada cooks.
- **Certainty:** 0.9

- **Belief:** Bo serves.
- **Certainty:** 0.75

## B-7
The cellar is dry.
"""


def test_blocks_of_keys_are_entries_and_an_id_alone_is_no_subject():
    beliefs, problems = parse_beliefs(BLOCKS, "Beliefs.md")
    assert [(b.id, b.subject, b.text, b.certainty, b.updated) for b in beliefs] == [
        ("BEL-1", "Rent is 900 EUR.", "", 0.9, "2026-05-03"),
        ("BEL-2", "The terrace seats 64.", "", 0.8, "2026-05-04"),
        ("", "Guests come by train.", "", 0.85, "2026-01-02"),
        ("", "The roof leaks.", "", 0.7, ""),
        ("B-001", "The lift is broken.", "", 0.7, ""),
        ("B-2", "The cook is new.", "", 0.85, "2026-05-05"),
        ("", "Ada cooks.", "", 0.9, ""),
        ("", "Bo serves.", "", 0.75, ""),
        ("B-7", "The cellar is dry.", "", 0.7, ""),
    ]
    assert not problems and not find_unread(BLOCKS, "belief", "Beliefs.md")
    assert parse_cognitive(BLOCKS).render() == BLOCKS


def test_blocks_of_other_kinds_keep_their_links():
    text = (
        "# Intentions\n\n- **Intention:** Ask three roofers\n- **Goal:** G-1\n- **Plan:** P-2\n- **Status:** active\n"
    )
    (found,) = parse_attitudes(text, "intention", "Intentions.md")[0]
    assert (found.title, found.status) == ("Ask three roofers", "active")
    assert found.links == {"goal": ("G-1",), "plan": ("P-2",)}
    goals = "# Goals\n\n**Goal:** Fill the house\n**Priority:** 0.9\n**Deadline:** 2026-09-01\n\n**Goal:** Paint it\n"
    assert [(g.title, g.priority, g.deadline) for g in parse_attitudes(goals, "goal", "Goals.md")[0]] == [
        ("Fill the house", 0.9, "2026-09-01"),
        ("Paint it", None, ""),
    ]


def test_a_block_may_be_a_plan_with_steps_below():
    text = "# Plans\n\n- **Plan:** Mend the roof\n- **Goal:** G-1\n- **Steps:**\n  1. Measure\n  2. Order tiles\n"
    (plan,) = parse_attitudes(text, "plan", "Plans.md")[0]
    assert (plan.title, plan.links, [step.text for step in plan.steps]) == (
        "Mend the roof",
        {"goal": ("G-1",)},
        ["Measure", "Order tiles"],
    )


def test_what_is_added_and_changed_beside_blocks_looks_like_them():
    text = "# Beliefs\n\n- **ID:** B-1\n- **Belief:** Rent is due\n- **Certainty:** 0.9\n"
    draft = Draft("belief", "", "The roof leaks", fields={"certainty": "0.8", "source": "Bo"})
    new, own = add_entry(text, draft, DAY)
    block = "- **ID:** B-2\n- **Belief:** The roof leaks\n- **Certainty:** 0.8\n- **Source:** Bo\n"
    assert (own, new) == ("B-2", f"{text}\n{block}")
    file = parse_cognitive(new)
    assert set_field(file, file.entries[0], "status", "doubtful") == f"{text}- **Status:** doubtful\n\n{block}"


def test_what_an_item_says_of_itself_behind_its_words_is_no_part_of_them() -> None:
    text = """# Goals

1. [GRO-7] Win 20 hotel customers. Priority: ★★★★☆. Due: 2026-01-31
2. [GRO-8] Move the bakery (status: on hold)
* INT-CEO-1 | Tour of the sites | goal: GRO-8 | status: ongoing
- Pay the rent in May. Recorded: 2026-01-03
- The council refuses (certainty 90%, source: city council, last reviewed 2026-03-01)
"""
    read = [(e.title, {name: field.value for name, field in e.fields.items()}) for e in parse_cognitive(text).entries]
    assert [fields for _, fields in read] == [
        {"priority": "★★★★☆", "deadline": "2026-01-31"},
        {"status": "on hold"},
        {"goal": "GRO-8", "status": "ongoing"},
        {"created": "2026-01-03"},
        {"certainty": "90%", "source": "city council", "updated": "2026-03-01"},
    ]
    assert [title for title, _ in read][3:] == ["Pay the rent in May.", "The council refuses"]


@pytest.mark.parametrize(
    ("line", "title", "certainty", "day"),
    [
        ("Main cluster: 14 nodes. Certainty: 0.8. Recorded: 2026-05-01", "Main cluster: 14 nodes.", 0.8, "2026-05-01"),
        ("Deploys happen on Tuesdays; certainty 80%", "Deploys happen on Tuesdays", 0.8, ""),
        ("The API is stable, conf. high", "The API is stable", 0.85, ""),
        ("Latency: 40 ms (conf. 0.9)", "Latency: 40 ms", 0.9, ""),
        ("Redis is our cache - Confidence: 90 %", "Redis is our cache", 0.9, ""),
        ("Backups run at night. Confidence 0.85, recorded 2026-03-04.", "Backups run at night.", 0.85, "2026-03-04"),
        ("Low confidence: they missed two dates", "Low confidence: they missed two dates", 0.7, ""),
    ],
)
def test_how_sure_an_item_is_is_read_as_people_write_it(line: str, title: str, certainty: float, day: str):
    beliefs, problems = parse_beliefs(f"# Beliefs\n\n- {line}\n", "Beliefs.md")
    assert [(each.statement, each.certainty, each.updated) for each in beliefs] == [(title, certainty, day)]
    assert problems == []


def test_short_ids_bare_words_in_parentheses_and_dates_without_a_colon_are_read():
    text = """\
# What I am after

## Strategic

* **G1 – Cut the timber bill** (importance: high, by 30 June 2026, in progress)
* **G2 – Find a second sawmill** — status: blocked; due 2026-04-20
* G3: Sell the stock (low)
* Q3: grow sales

| Goal | State | Prio | Until |
|------|-------|------|-------|
| Renew the lease | executing | 0.9 | 2026-05-20 |

### OBJ-7. Stop paying for pallets
Status: active
Target: 2026-07-01
"""
    found, problems = parse_attitudes(text, "goal", "Goals.md")
    assert [(a.id, a.title, a.status, a.priority, a.deadline) for a in found] == [
        ("G1", "Cut the timber bill", "in progress", 0.8, "2026-06-30"),
        ("G2", "Find a second sawmill", "blocked", None, "2026-04-20"),
        ("G3", "Sell the stock (low)", "", None, ""),
        ("", "Q3: grow sales", "", None, ""),
        ("", "Renew the lease", "executing", 0.9, "2026-05-20"),
        ("OBJ-7", "Stop paying for pallets", "active", None, "2026-07-01"),
    ]
    assert not problems
    changed = set_field(file := parse_cognitive(text), file.entries[0], "status", "achieved")
    assert "(importance: high, by 30 June 2026, achieved)" in changed


def test_stars_behind_a_title_links_in_parentheses_and_dates_without_a_colon_are_read():
    text = """\
# Goals

- **G-1: Win the harbour tender** ★★★★
  - due 15.03.2026
- G-2 Launch three dinghies ★★
- Refit the Alma, by 2026-04-30 | priority 0.9

### G-3: Hire an apprentice ★★★★★
Status: active
"""
    found, problems = parse_attitudes(text, "goal", "Goals.md")
    assert [(a.id, a.title, a.priority, a.deadline) for a in found] == [
        ("G-1", "Win the harbour tender", 0.8, "2026-03-15"),
        ("G-2", "Launch three dinghies", 0.4, ""),
        ("", "Refit the Alma", 0.9, "2026-04-30"),
        ("G-3", "Hire an apprentice", 1.0, ""),
    ]
    assert not problems
    changed = set_field(file := parse_cognitive(text), file.entries[0], "priority", "★")
    assert "- **G-1: Win the harbour tender** ★\n" in changed


def test_the_goal_of_an_intention_may_stand_in_parentheses():
    text = "# Intentions\n\n1. **I-1: Write the offer** (goal: G-1, started 2026-02-20)\n"
    found, problems = parse_attitudes(text, "intention", "Intentions.md")
    assert [(a.id, a.title, a.links["goal"]) for a in found] == [("I-1", "Write the offer", ("G-1",))]
    assert not problems
