from datetime import date, timedelta

from mabos_cli.core.hierarchy.log_event import LogEvent
from mabos_cli.core.hierarchy.log_taking import (
    RECURRING,
    SECTIONS,
    LogDay,
    Rules,
    days_around,
    digest_of,
    find_candidates,
    find_recurring,
    is_past,
    key_of,
    mark_of,
    plan_taking,
    section_of,
)
from mabos_cli.core.memory.item import TYPES

TODAY = date(2026, 2, 24)
RULES = Rules(TODAY, 7 * 86400)
ID, OTHER = "M-1700000000001-00aa", "M-1700000000002-00aa"


def event(text="We ship", day="2026-02-10", line=3, **fields):
    return LogEvent(day, line, text, **fields)


def candidates(*events, recurring=(), rules=RULES):
    return find_candidates([(e, f"memory/{e.day}.md") for e in events], recurring, rules)


def days(*events, **how):
    found = {}
    for e in events:
        found.setdefault(e.day, []).append(e)
    return [LogDay(day, "d", len(found[day]), candidates(*found[day], **how)) for day in sorted(found)]


def plan(*events, keys=(), marks=(), ids=(), texts=(), **how):
    return plan_taking(days(*events, **how), 0.6, keys=keys, marks=marks, ids=ids, texts=texts)


def texts_of(taking):
    return [c.event.text for c in taking.taken]


def test_a_day_is_past_when_it_is_more_than_the_span_before_today():
    week = 7 * 86400
    assert [is_past(TODAY - timedelta(days=n), TODAY, week) for n in (0, 7, 8)] == [False, False, True]
    assert [is_past(TODAY - timedelta(days=n), TODAY, 0) for n in (-1, 0, 1)] == [False, False, True]


def test_key_is_the_item_or_made_of_day_and_text_and_not_of_the_line():
    assert key_of(event(id=ID)) == ID
    assert key_of(event(line=3)) == key_of(event(line=9)) == key_of(event("we  SHIP"))
    assert key_of(event()).startswith("log-") and len(key_of(event())) == 16
    assert len({key_of(event()), key_of(event(day="2026-02-11")), key_of(event("We ship it"))}) == 3
    assert key_of(event(id="my-note")) == key_of(event())


def test_digest_stays_when_parts_move_and_changes_with_any_byte():
    assert digest_of(["a\n", "b\n"]) == digest_of(["a\nb\n"])
    assert digest_of(["a\n"]) != digest_of(["a"])


def test_every_kind_has_its_section():
    assert {kind: section_of(kind) for kind in (*TYPES, "note", "foreign")} == {
        "event": "Events and Outcomes",
        "decision": "Important Decisions",
        "outcome": "Events and Outcomes",
        "lesson": "Learned Patterns",
        "fact": "Facts",
        "observation": "Events and Outcomes",
        "preference": "User Preferences",
        "instruction": "Standing Instructions",
        "project": "Project Context",
        "person": "Relationships & Contacts",
        "insight": "Learned Patterns",
        "plan": "Project Context",
        "note": "Events and Outcomes",
        "foreign": "Events and Outcomes",
    }
    assert section_of("note", recurring=True) == RECURRING
    assert section_of("decision", recurring=True) == "Important Decisions"
    assert {section_of(kind) for kind in TYPES} | {RECURRING} == {*SECTIONS}


def test_recorded_importance_wins_over_the_grade():
    low, high = event(kind="decision", importance=0.3), event("Coffee is out", importance=0.9)
    assert [(c.event, c.importance) for c in candidates(low, high)] == [(high, 0.9)]


def test_grade_does_not_fade_with_age():
    assert [c.importance for c in candidates(event(kind="decision"), event(kind="decision", day="2021-09-01"))] == [
        0.8,
        0.8,
    ]
    assert not candidates(event(kind="note"))
    assert candidates(event(kind="note"), rules=RULES._replace(weights={**RULES.weights, "base": 0.6}))


def test_what_is_told_on_three_days_of_thirty_recurs():
    def told(*ordinals):
        return find_recurring({f"2026-01-{n:02d}": [event(f"Backup took {n} minutes")] for n in ordinals}, 3)

    assert told(1, 2) == {}
    assert told(1, 2, 2, 3) == {"2026-01-03": {"backup took minutes"}}
    assert [*told(1, 15, 30)] == ["2026-01-30"]
    assert told(1, 15, 31) == {}
    assert find_recurring({f"2026-01-{n:02d}": [event("12 34")] for n in (1, 2, 3)}, 3) == {}


def test_recurring_note_is_graded_up_and_taken_once_though_its_numbers_differ():
    told = [event(f"Backup took {n} minutes", day=f"2026-02-{n:02d}") for n in (10, 11, 12)]
    assert plan(*told).taken == ()
    taking = plan(*told, recurring={"backup took minutes"})
    assert [(c.event.text, c.section) for c in taking.taken] == [("Backup took 10 minutes", RECURRING)]
    assert taking.known == 2
    later = event("Backup took 50 minutes", day="2026-02-13")
    marks = [mark for line in taking.days for mark in line.marks]
    assert plan(later, recurring={"backup took minutes"}, marks=marks).taken == ()


def test_days_around_are_those_of_the_window_before_each_fresh_day():
    day = [TODAY - timedelta(days=n) for n in range(100)]
    assert days_around(day, {day[0]}) == day[29::-1]
    assert days_around(day, {day[40], day[50]}) == day[79:39:-1]
    assert days_around(day, set()) == []


def test_event_is_taken_once_however_it_comes_back():
    first = plan(event(kind="decision"), event("Other", kind="decision"))
    assert texts_of(first) == ["We ship", "Other"]
    keys = [key for line in first.days for key in line.taken]
    marks = [mark for line in first.days for mark in line.marks]
    moved = event(kind="decision", line=40)
    assert plan(moved, keys=keys).taken == ()
    repeated = event("WE  ship", kind="decision", day="2026-02-14")
    again = plan(repeated, keys=keys, marks=marks)
    assert again.taken == () and again.known == 1
    assert again.days[0].known == (key_of(repeated),)
    assert texts_of(plan(repeated, keys=keys)) == ["WE  ship"]


def test_identical_texts_of_one_run_count_as_one():
    same = [event(kind="decision", line=n, day=day) for n in (1, 2) for day in ("2026-02-10", "2026-02-11")]
    taking = plan(*same)
    assert len(taking.taken) == 1 and taking.known == 3
    assert [(len(line.taken), len(line.known)) for line in taking.days] == [(1, 0), (0, 1)]


def test_what_memory_holds_is_known_by_id_or_by_text():
    item = event(kind="decision", id=ID)
    assert texts_of(plan(item)) == ["We ship"]
    for known in ({"ids": {ID}}, {"texts": {"we ship"}}):
        taking = plan(item, **known)
        assert (taking.taken, taking.known) == ((), 1)
        assert (taking.days[0].taken, taking.days[0].known) == ((), (ID,))


def test_what_consolidation_wrote_is_known_and_so_are_its_parts():
    whole = event("[Consolidated from 2 memories] We ship | We wait", "2026-02-11", importance=0.8, id=OTHER)
    parts = [event(text, importance=0.8) for text in ("We ship", "We wait", "We go")]
    assert texts_of(plan(*parts, whole._replace(source="consolidation"))) == ["We go"]
    assert len(plan(*parts, whole).taken) == 4


def test_settled_candidate_and_its_repetitions_are_not_taken():
    [day] = days(event(kind="decision", id=ID), event(kind="decision", line=9))
    settled = day._replace(candidates=tuple(c._replace(settled=c.key == ID) for c in day.candidates))
    taking = plan_taking([settled], 0.6, keys=(), marks=(), ids=(), texts=())
    assert taking.taken == () and taking.known == 2


def test_day_without_anything_is_remembered_too():
    [line] = plan(event("Coffee is out")).days
    assert (line.day, line.taken, line.known, line.marks) == ("2026-02-10", (), (), ())


def test_marks_do_not_tell_the_text():
    assert len(mark_of("We ship")) == 12
    assert mark_of("We\nship ") == mark_of("we ship") != mark_of("we ship it")
