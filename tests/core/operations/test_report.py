"""What a report shows: counted right, in order, and safe to read."""

from datetime import UTC, date, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.hierarchy.themes import Theme
from mabos_cli.core.language.periods import month_of
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.operations import report
from mabos_cli.core.operations.report import Held, MonthLog, Tally, join_months, shown

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
    assert view.by_agent == {"main": (1, 0, 1, 0), "ops": (0, 0, 1, 1)}
    assert view.bands == {"critical": 1, "high": 0, "medium": 1, "low": 1}
    assert view.trusts == {"trusted": 1, "agent": 1, "untrusted": 1}
    counts = {week.name: week.counts for week in view.weeks if any(week.counts)}
    assert counts == {"2026-W07": (2, 0, 0, 0), "2026-W08": (0, 2, 0, 0)}
    assert len(view.weeks) == 12 and view.weeks[-1].first == date(2026, 2, 16)
    assert [held.item.id for held in view.items] == ["M-2-0000", "M-1-0000", "M-3-0000"]


def test_what_is_dated_elsewhere_is_in_no_week() -> None:
    days = ("2026-02-20", "2020-01-01", "9999-12-31", "", "soon", "2026-13-45")
    view = tally(*(Held("main", "long_term", item(n, day), "agent") for n, day in enumerate(days))).view()
    assert len(view.weeks) == 53 and sum(sum(week.counts) for week in view.weeks) == 1
    oldest = tally(Held("main", "working", item(1, "0001-01-02"), "agent")).view()
    assert [sum(week.counts) for week in oldest.weeks] == [1]


def test_of_too_many_items_the_most_important_are_kept(monkeypatch) -> None:
    monkeypatch.setattr(report, "MOST", 40)
    many = [item(n, importance=(n * 37 % 1000) / 1000) for n in range(3000)]
    view = tally(*(Held("main", "long_term", each, "agent") for each in many)).view()
    assert {held.item.importance for held in view.items} == {n / 1000 for n in range(986, 1000)}
    assert len(view.items) == 40 and view.live == 3000


def test_types_of_other_tools_are_a_class_of_their_own() -> None:
    view = tally(*(Held("main", "working", item(n, type=f"kind-{n:03}"), "agent") for n in range(100))).view()
    assert sum(week.counts[3] for week in view.weeks) == 100


def theme(key: str, entries: int, score: float) -> Theme:
    return Theme(key, key.title(), entries, 0, 1, (), 0, score)


def told(day: date, *themes: Theme, entries: int = 9) -> MonthLog:
    return MonthLog(month_of(day).name, entries, themes)


def test_months_of_all_agents_are_one() -> None:
    one = told(date(2026, 1, 5), theme("price", 4, 1.0), theme("storm", 9, 0.5))
    two = told(date(2026, 1, 9), theme("price", 7, 2.0))
    months = join_months([one, told(date(2025, 12, 1)), two])
    assert [month.name for month in months] == ["2026-01", "2025-12"]
    assert [(theme.shown, theme.entries) for theme in months[0].themes] == [("Price", 11), ("Storm", 9)]
    assert months[0].entries == 18
