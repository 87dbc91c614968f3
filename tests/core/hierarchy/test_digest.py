from collections import Counter
from datetime import date, timedelta

from formats.periods import DAY, cut, event, sum_up
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.hierarchy.summary import Stretch, digest_day, digest_segment, find_chores, find_pairs, rhythm_of
from mabos_cli.core.language.periods import period_of

quick = settings(max_examples=30, deadline=None, derandomize=True)


def texts(lines):
    return [line.text for line in lines]


def test_a_day_shows_its_most_important_lines_first():
    told = [event("low", importance=0.2), event("high", importance=0.9), event("mid", importance=0.5)]
    day = digest_day(DAY, "x", told)
    assert (day.entries, texts(day.lines)) == (3, ["high", "mid", "low"])
    assert texts(digest_day(DAY, "x", [event(f"n{n}")._replace(line=n) for n in range(9)]).lines) == [
        f"n{n}" for n in range(3)
    ]


def test_decisions_outcomes_and_lessons_come_first():
    told = [event(f"plain {n}", importance=1.0, kind="fact") for n in range(9)]
    told += [
        event(f"{kind} {n}", importance=0.7, kind=kind) for kind in ("decision", "outcome", "lesson") for n in (1, 2)
    ]
    told += [event(f"decided {n}", importance=0.1, kind="decision") for n in range(99)]
    lines = digest_day(DAY, "x", told).lines
    assert [line.kind for line in lines[:6]] == ["decision", "decision", "outcome", "outcome", "lesson", "lesson"]
    assert (len(lines), [line.kind for line in lines[-3:]]) == (15, ["fact"] * 3), "and what is many is bounded"


def test_the_same_words_stand_once():
    day = digest_day(DAY, "x", [event("We  ship"), event("we ship"), event("We ship.")])
    assert day.entries == 3 and sorted(texts(day.lines)) == ["We ship.", "we ship"]


def test_a_group_beside_its_members_counts_for_nothing():
    parts = [event("Berths are full", kind="decision", tags=("berth",)), event("Prices rise")]
    whole = event(
        "[Consolidated from 2 memories] Berths are full | Prices rise", kind="decision", source="consolidation"
    )
    beside = digest_segment("2026-W09", "2026-02", [(DAY, "x", [*parts, whole])])
    assert beside == digest_segment("2026-W09", "2026-02", [(DAY, "x", parts)])
    assert beside.entries == 2 and beside.kinds == {"decision": 1, "note": 1}


def test_everyday_lines_are_no_key_lines_however_often_they_come():
    shifts = {
        f"2026-02-{n:02d}": [event(f"Anna takes the shift of week {n}", kind="decision", importance=0.6)]
        for n in range(2, 7)
    }
    shifts["2026-02-03"] += [event("We leave Kolin Mills", kind="decision", importance=0.6)]
    assert texts(sum_up("2026-02", shifts).decisions) == ["We leave Kolin Mills"]
    grave = {day: [e._replace(importance=0.9) for e in told] for day, told in shifts.items()}
    assert len(sum_up("2026-02", grave).decisions) == 6, "what is important is never everyday"


def test_lines_are_whole_sentences():
    text = "Petr becomes shift lead. " + "Anna keeps the training of new bakers. " * 12
    [line] = digest_day(DAY, "x", [event(text)]).lines
    assert line.text.endswith("new bakers.") and 200 < len(line.text) <= 280


def test_headings_of_a_day_are_few_and_short():
    told = [event(heading=f"Heading {n} {'x' * 80}") for n in range(9)] + [event(heading=" ")]
    headings = digest_day(DAY, "x", told).headings
    assert len(headings) == 6 and all(len(heading) <= 40 for heading in headings)


def test_lines_are_one_line_of_bounded_length():
    [line] = digest_day(DAY, "x", [event("a\n\n## b\r\x1b[31m " + "w" * 10_000)]).lines
    assert len(line.text) <= 300 and line.text.isprintable()


def test_a_segment_without_events_is_empty():
    segment = digest_segment("2026-W09", "2026-02", [(DAY, "x", [])])
    assert (segment.entries, segment.kinds, segment.topics) == (0, {}, {})
    assert Stretch((segment,)).days == [] and Stretch((segment,)).extent == (0, 0, 0)
    assert Stretch(()).extent == (0, 0, 0) and Stretch(()).kinds == Counter()


def test_a_week_across_months_counts_in_both_and_each_day_once():
    days = {f"2026-{mark}": [event(mark), event("x")] for mark in ("02-27", "02-28", "03-01", "03-02")}
    assert [(s.week, s.month, s.entries) for s in cut(days)] == [
        ("2026-W09", "2026-02", 4),
        ("2026-W09", "2026-03", 2),
        ("2026-W10", "2026-03", 2),
    ]
    assert sum_up("2026-W09", days).extent == (3, 6, 1)
    february, march, quarter = (sum_up(name, days) for name in ("2026-02", "2026-03", "2026-Q1"))
    assert (february.extent, march.extent, quarter.extent) == ((2, 4, 1), (2, 4, 2), (4, 8, 2))
    assert [part.name for part in march.parts] == ["2026-W09", "2026-W10"]
    assert [part.extent.days for part in march.parts] == [1, 1]
    assert [part.name for part in quarter.parts] == ["2026-02", "2026-03"]


spread = st.dictionaries(
    st.integers(0, 200).map(lambda n: str(date(2025, 10, 1) + timedelta(days=n))),
    st.lists(st.sampled_from("alpha beta gamma".split()).map(event), max_size=3),
    max_size=25,
)


@quick
@given(spread)
def test_every_level_counts_every_event_once(days):
    total = sum(map(len, days.values()))
    for level in ("weekly", "monthly", "quarterly"):
        names = {period_of(level, date.fromisoformat(day)).name for day in days}
        summaries = [sum_up(name, days) for name in names]
        assert sum(s.extent.entries for s in summaries) == total
        assert sum(s.kinds.total() for s in summaries) == total
        for summary in (s for s in summaries if s.parts):
            assert sum(part.extent.entries for part in summary.parts) == summary.extent.entries
            assert [d.day for part in summary.parts for d in part.days] == [d.day for d in summary.days]


@quick
@given(spread, st.randoms(use_true_random=False))
def test_a_summary_does_not_depend_on_the_order_of_files(days, random):
    mixed = {day: days[day] for day in random.sample(sorted(days), len(days))}
    names = ("2025-12", "2025-11", "2025-10"), ("2026-Q1", "2025-Q4")
    assert all(sum_up(name, days, *rest) == sum_up(name, mixed, *rest) for name, *rest in names)


def test_key_decisions_come_by_importance_and_trifles_do_not():
    grades = (0.39, 0.5, 0.9, 0.7, 0.6)
    told = [event(f"decision {g}", kind="decision", importance=g) for g in grades]
    summary = sum_up("2026-02", {DAY: told, "2026-02-25": [event("decision 0.9", kind="decision")]})
    assert texts(summary.decisions) == ["decision 0.9", "decision 0.7", "decision 0.6"], (
        "far below the best is a trifle"
    )
    assert summary.decisions[0].day == DAY, "the same words stand once, where they weigh most"


def test_milestones_are_no_decisions():
    told = [
        event("we launch", kind="decision", importance=0.9),
        event("signed", kind="outcome", importance=0.9),
    ]
    assert texts(sum_up("2026-02", {DAY: told}).milestones) == ["signed"]


def test_chores_recur_in_weeks_and_have_a_rhythm():
    mondays = {str(date(2026, 2, 2) + timedelta(days=7 * n)): [event(f"Standup at {n}")] for n in range(4)}
    [pattern] = find_chores(cut(mondays), 4)
    assert pattern[1:] == (4, "Mondays") and pattern.text.startswith("Standup")
    twice = {day: mondays[day] for day in sorted(mondays)[:2]}
    assert find_chores(cut(twice), 4) == [], "twice is no habit"
    week = {f"2026-02-{n:02d}": [event("Standup at 9")] for n in range(2, 7)}
    assert find_chores(cut(week), 4) == [], "nor is one week"


def test_rhythm_needs_one_weekday_and_three_weeks():
    assert [rhythm_of(1 << n, 3) for n in (0, 6)] == ["Mondays", "Sundays"]
    assert rhythm_of(1, 2) == rhythm_of(0b11, 9) == rhythm_of(0, 3) == ""


def test_tags_that_go_together_are_a_pattern():
    days = {f"2026-02-{n:02d}": [*([event(tags=("b", "a", "a"))] * 2), event(), event()] for n in (3, 10, 17)}
    assert find_pairs(cut(days), 3) == [("a with b", 6, "")]
    everywhere = {day: [e._replace(tags=(*e.tags, "work")) for e in told] for day, told in days.items()}
    assert find_pairs(cut(everywhere), 3) == [("a with b", 6, "")], "what everything carries goes with nothing"
    assert find_pairs(cut({DAY: days["2026-02-03"] * 9}), 3) == [], "one week is not enough"


def test_a_theme_has_its_places_and_the_trend_what_changed():
    days = {f"2026-01-{n:02d}": [event("x", tags=("audit",))] * 3 for n in (6, 13, 20)}
    days |= {f"2026-02-{n:02d}": [event("y", tags=("fair",))] * 3 for n in (3, 10, 17)}
    summary = sum_up("2026-02", days, "2026-01")
    [theme] = summary.themes
    assert (theme.shown, theme.entries, theme.named) == ("fair", 9, 9)
    assert theme.places == (("2026-W06", 3), ("2026-W07", 3), ("2026-W08", 3))
    assert summary.before.name == "2026-01"
    assert [[t.shown for t in found] for found in summary.before.trend] == [["fair"], [], [], ["audit"]]
    quarter = sum_up("2026-Q1", days)
    assert {t.shown: t.places for t in quarter.themes} == {
        "audit": (("2026-01", 9),),
        "fair": (("2026-02", 9),),
    }
    assert quarter.before is None
