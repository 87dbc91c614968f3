"""What a report shows: counted right, cut with a count of the rest, and safe to read."""

from datetime import UTC, date, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.hierarchy.themes import Theme
from mabos_cli.core.language.periods import month_of
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.mind.conflicts import find_conflicts
from mabos_cli.core.mind.mind import Attitude, Belief, build_tree
from mabos_cli.core.operations.report import (
    Settled,
    list_clashes,
    list_dates,
    list_goals,
    list_settled,
    list_troubles,
)
from mabos_cli.core.operations.report_memory import (
    Cut,
    Held,
    MonthLog,
    Outside,
    Tally,
    cut,
    fair_share,
    list_months,
    shown,
)

NOW = datetime(2026, 2, 24, 14, 30, tzinfo=UTC)
quick = settings(deadline=None, derandomize=True)


@quick
@given(st.text(max_size=400), st.integers(4, 60))
def test_shown_text_is_one_safe_line(text: str, width: int) -> None:
    line = shown(text, width)
    assert len(line) <= width
    assert not any(c < " " or "\x7f" <= c <= "\x9f" or c in "\u202e\u2066\u2028\u200f" for c in line)


def test_a_secret_is_not_shown_even_where_the_text_is_cut() -> None:
    key = "AKIA" + "QZ7XW3MPLT5RNB2K"
    assert "AKIA" not in shown(f"the key is {key} for the bucket", 20)
    block = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA\n" * 400 + "-----END RSA PRIVATE KEY-----"
    assert shown(f"{block} tail", 60) == "[redacted:private_key] tail"
    assert len(shown("x" * 100_000, 50)) == 50


@quick
@given(st.lists(st.integers(1, 300), max_size=40), st.integers(1, 200))
def test_a_fair_share_leaves_room_for_all(sizes: list[int], room: int) -> None:
    share = fair_share(sizes, room)
    assert share >= 1
    assert share == 1 or sum(min(size, share) for size in sizes) <= room


def test_cut_counts_the_rest() -> None:
    assert cut(iter(range(5)), 3) == Cut((0, 1, 2), 2)
    assert cut((), 3).total == 0


def item(number: int, day: str = "2026-02-20", **fields) -> MemoryItem:
    values = {"type": "fact", "created_at": f"{day}T08:00:00.000Z" if day else "", **fields}
    return MemoryItem(f"M-{number}-0000", f"memory {number}", **values)


def tally(*held: Held) -> Tally:
    found = Tally(("main", "ops"), NOW.date())
    for each in held:
        found.add(each)
    return found


def test_items_are_counted_by_week_type_tier_band_and_trust() -> None:
    view = tally(
        Held("main", "working", item(1), "agent"),
        Held("main", "long_term", item(2, importance=0.95, type="decision"), "trusted"),
        Held("ops", "long_term", item(3, "2026-02-10", importance=0.1, type="event"), "untrusted"),
        Held("ops", "archive", item(4, "2026-02-10", type="event", importance=1.0), "agent"),
    ).view()
    assert view.tiers == (1, 0, 2, 1) and (view.live, view.archived) == (3, 1)
    assert view.by_agent.rows == (("main", (1, 0, 1, 0)), ("ops", (0, 0, 1, 1)))
    assert view.bands == (("critical", 1), ("high", 0), ("medium", 1), ("low", 1))
    assert view.trusts == (("trusted", 1), ("agent", 1), ("untrusted", 1))
    counts = {week.name: week.counts for week in view.weeks if any(week.counts)}
    assert counts == {"2026-W07": (2, 0, 0, 0), "2026-W08": (0, 2, 0, 0)}
    assert len(view.weeks) == 12 and view.weeks[-1].first == date(2026, 2, 16)
    kinds = {kind.name: (kind.total, sum(kind.weeks)) for kind in view.kinds.rows}
    assert kinds == {"event": (2, 2), "decision": (1, 1), "fact": (1, 1)}
    assert [moment.id for moment in view.timeline.rows] == ["M-2-0000", "M-1-0000", "M-3-0000"]


def test_what_the_weeks_do_not_show_is_counted() -> None:
    days = ("2026-02-20", "2020-01-01", "9999-12-31", "", "soon", "2026-13-45")
    view = tally(*(Held("main", "long_term", item(n, day), "agent") for n, day in enumerate(days))).view()
    assert view.outside == Outside(earlier=1, later=1, undated=3)
    assert len(view.weeks) == 53 and sum(sum(week.counts) for week in view.weeks) == 1
    oldest = tally(Held("main", "working", item(1, "0001-01-02"), "agent")).view()
    assert [sum(week.counts) for week in oldest.weeks] == [1]


def test_the_timeline_keeps_the_most_important_of_very_many() -> None:
    many = [item(n, importance=(n * 37 % 1000) / 1000) for n in range(3000)]
    view = tally(*(Held("main", "long_term", each, "agent") for each in many)).view()
    assert {moment.importance for moment in view.timeline.rows} == {n / 1000 for n in range(986, 1000)}
    assert len(view.timeline.rows) == 40 and view.timeline.left == 2960


def test_types_of_other_tools_stand_behind_ours_and_are_cut() -> None:
    view = tally(*(Held("main", "working", item(n, type=f"kind-{n:03}"), "agent") for n in range(100))).view()
    assert view.kinds.rows[0].name == "kind-000" and view.kinds.left == 86
    assert sum(week.counts[3] for week in view.weeks) == 100


def theme(key: str, entries: int, score: float) -> Theme:
    return Theme(key, key.title(), entries, 0, 1, (), 0, score)


def told(day: date, *themes: Theme, entries: int = 9) -> MonthLog:
    return MonthLog(month_of(day).name, entries, themes)


def test_months_of_all_agents_are_one() -> None:
    one = told(date(2026, 1, 5), theme("price", 4, 1.0), theme("storm", 9, 0.5))
    two = told(date(2026, 1, 9), theme("price", 7, 2.0))
    months = list_months([one, told(date(2025, 12, 1)), two])
    assert [month.name for month in months.rows] == ["2026-01", "2025-12"]
    assert months.rows[0].topics == Cut((("Price", 11), ("Storm", 9)), 0)
    assert months.rows[0].entries == 18


def test_conflicts_are_listed_most_severe_first_with_places() -> None:
    def pair(certainty: float, path: str):
        a = Belief("Demand is growing", "", 0.9, "2026-01-01", "B-1", path=path, line=3)
        return find_conflicts([a, Belief("Demand is declining", "", certainty, "2026-02-01", path=path, line=9)])[0]

    found = list_clashes([("main", pair(0.7, "Beliefs.md")), ("ops", pair(0.8, "Beliefs.md"))])
    assert [(clash.agent, clash.severity) for clash in found.rows] == [("ops", 0.8), ("main", 0.7)]
    side = found.rows[1].sides
    assert (side[0].place, side[1].place, side[1].newer) == ("Beliefs.md:3, B-1", "Beliefs.md:9", True)
    settled = [Settled("main", f"{n:016}", ("a", "b"), "a", "", f"2026-01-{n + 1:02}") for n in range(25)]
    assert (list_settled(settled).rows[0].day, list_settled(settled).left) == ("2026-01-25", 5)


def goal(name: str, line: int, **fields) -> Attitude:
    links = {"parent": (fields.pop("parent"),)} if "parent" in fields else {}
    return Attitude("goal", name, f"Goal {name}", links=links, path="Goals.md", line=line, **fields)


def test_goals_are_rows_of_a_tree() -> None:
    goals = [
        goal("G-1", 1, status="active", progress=140.0, deadline="2026-02-20"),
        goal("G-2", 2, parent="G-1", status="completed", deadline="2026-01-01"),
        goal("G-3", 3, parent="G-2"),
    ]
    rows = list_goals([("main", build_tree(goals, [], [], []))], NOW).rows
    assert [(r.depth, r.name, r.state, r.late) for r in rows] == [
        (0, "G-1", "active", True),
        (1, "G-2", "done", False),
        (2, "G-3", "open", False),
    ]
    assert (rows[0].progress, rows[2].progress) == (100.0, None)


def test_every_agent_has_its_share_of_goals() -> None:
    trees = [(f"a{n}", build_tree([goal(f"G-{i}", i) for i in range(100 * n)], [], [], [])) for n in (1, 3)]
    found = list_goals(trees, NOW)
    agents = [row.agent for row in found.rows]
    assert agents.count("a1") >= 60 and agents.count("a3") >= 60
    assert found.total == 400 and len(found.rows) <= 150


def test_dates_that_are_over_or_near() -> None:
    held = [
        ("main", goal("G-1", 1, deadline="2026-03-20")),
        ("main", goal("G-2", 2, deadline="2026-02-01")),
        ("ops", goal("G-3", 3, deadline="2026-02-24")),
        ("ops", goal("G-4", 4, deadline="2026-01-01", status="achieved")),
        ("ops", goal("G-5", 5, deadline="2027-01-01")),
        ("ops", goal("G-6", 6, deadline="ongoing")),
    ]
    rows = list_dates(held, NOW).rows
    assert [(row.name, row.late) for row in rows] == [("G-2", True), ("G-3", False), ("G-1", False)]
    assert rows[0].place == "Goals.md:2"


def test_troubles_are_told_once() -> None:
    assert list_troubles(["main: bad", "main: bad", "ops: worse"]).rows == ("main: bad", "ops: worse")
