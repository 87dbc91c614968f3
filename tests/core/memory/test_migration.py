from datetime import date

import pytest

from mabos_cli.core.hierarchy.log_event import HEADINGS
from mabos_cli.core.language.secrets import redact
from mabos_cli.core.memory.migration import (
    Note,
    draft_note,
    find_date,
    importance_of,
    join_notes,
    key_of,
    subject_of,
    type_of,
)

TODAY = date(2026, 2, 24)


def drafted(text: str, *titles: str, path: str = "MEMORY.md", marks: tuple = (), box: str = ""):
    return draft_note(Note(3, 5, text, titles, marks, box), path, TODAY, redact)


def item(text: str, *titles: str, **more):
    return drafted(text, *titles, **more).draft.item


@pytest.mark.parametrize(
    ("text", "titles", "kind"),
    [
        ("Decision: keep Stripe", ("Lessons",), "decision"),
        ("We decided to wait for the audit", ("Projects", "Website"), "decision"),
        ("**lesson** (0.70): test restores", ("Facts",), "lesson"),
        ("Never deploy on a Friday, whoever asks", ("Projects", "Website"), "instruction"),
        ("Bob never replies on Mondays or Tuesdays", ("People",), "person"),
        (
            "Answers are short and come without a greeting",
            ("User Preferences", "Communication"),
            "preference",
        ),
        (
            "Python follows PEP 8 with type hints everywhere",
            ("Project Context", "Code Conventions"),
            "instruction",
        ),
        ("Moved from MySQL to Postgres for the reports", ("Important Decisions", "2025-01-15"), "decision"),
        ("Coding sessions are usually in the afternoon", ("Learned Patterns", "Workflows"), "lesson"),
        ("John is the manager and reads mail in the evening", ("Relationships & Contacts",), "person"),
        ("Complete the documentation of the importer", ("Notes for Tomorrow",), "plan"),
        ("Parcels up to 3 kg cost 7.90 EUR", ("Reference", "Shipping classes"), "fact"),
        ("She prefers the aisle seat in the quiet coach", ("Misc",), "preference"),
        ("It turns out that the cache was never warm", (), "lesson"),
        ("Shipped the importer to all customers", (), "outcome"),
        ("The office is in Uppsala, near the station", (), "fact"),
    ],
)
def test_type_is_the_first_that_holds(text: str, titles: tuple[str, ...], kind: str) -> None:
    assert type_of(Note(1, 1, text, titles), "MEMORY.md", TODAY, daily=False) == kind


def test_nearest_heading_counts_before_the_file_and_the_file_before_words() -> None:
    note = Note(1, 1, "Ada prefers tea in the afternoon", ("Ada",))
    assert type_of(note, "memory/people.md", TODAY, daily=False) == "person"
    assert type_of(note._replace(titles=("Lessons", "Ada")), "memory/people.md", TODAY, daily=False) == "lesson"
    assert type_of(note, "memory/misc.md", TODAY, daily=False) == "preference"


@pytest.mark.parametrize(
    ("text", "titles", "path", "kind"),
    [
        ("Each one has an id and a cause", ("Event format",), "memory/design.md", "fact"),
        ("Replacing the tax service", ("Non-goals",), "memory/design.md", "fact"),
        ("2026-03-30 term sheets wanted", ("Timeline",), "MEMORY.md", "plan"),
        ("2026-02-03 first calls with all of them", ("Timeline",), "MEMORY.md", "event"),
        ("Plumber: do not call the one from Sintra", ("House",), "MEMORY.md", "instruction"),
        ("**Findings**: two open alerts", ("08:45 - Handover",), "memory/2026-02-16.md", "observation"),
        ("**Follow-up**: send the estimate", ("08:45 - Handover",), "memory/2026-02-16.md", "plan"),
        ("Acknowledge within five minutes", ("When paged",), "memory/runbook.md", "instruction"),
        ("Replaces the nightly batch by events", ("Projects", "Ledger"), "MEMORY.md", "fact"),
        ("Knut reads everything within a week", ("People", "Advisers"), "MEMORY.md", "person"),
    ],
)
def test_type_by_heads_of_headings_labels_and_dates(text: str, titles: tuple[str, ...], path: str, kind: str) -> None:
    assert type_of(Note(1, 1, text, titles), path, TODAY, daily="2026" in path) == kind


def joined(*texts: str, titles: tuple[str, ...], path: str = "MEMORY.md", **more) -> list[Note]:
    return list(join_notes([Note(n, n, text, titles, **more) for n, text in enumerate(texts, 1)], path, 200))


def test_reason_stays_with_its_decision_and_other_decisions_stay_apart() -> None:
    kafka = ("Kafka stays", "Rationale: two regions run it", "Because nobody knows Pulsar", "Tabs, not spaces")
    assert [note.text.count("\n") for note in joined(*kafka, titles=("Decisions", "Small ones"))] == [2, 0]
    [whole] = joined(*kafka, titles=("Decisions", "2026-02-11: Tools"))
    assert (whole.first, whole.last) == (1, 4)
    assert item(whole.text, *whole.titles).content.startswith("Tools: Kafka stays\n- Rationale: two regions run it\n")


def test_notes_that_are_too_long_together_stay_apart() -> None:
    assert len(joined("x" * 150, f"Because {'y' * 50}", titles=("Decisions",))) == 2


def test_steps_stay_in_order_and_rules_stay_apart() -> None:
    steps = ("Merge", "Wait for the build", "Promote")
    [one] = joined(*steps, titles=("How to deploy",), is_step=True)
    assert draft_note(one, "MEMORY.md", TODAY, redact).draft.item.content == (
        "How to deploy: Merge\n- Wait for the build\n- Promote"
    )
    assert len(joined(*steps, titles=("Rules",), is_step=True)) == 3


def test_first_note_below_the_name_of_a_project_is_the_project_with_its_properties() -> None:
    lead, repo, more = joined(
        "Pays out shops", "Status: live", "Two people know it", "It was slow", titles=("Projects", "Payout")
    )[:3]
    drafts = [draft_note(note, "MEMORY.md", TODAY, redact).draft.item for note in (lead, repo)]
    assert [(draft.type, draft.tags) for draft in drafts] == [("project", ("payout",)), ("fact", ("payout",))]
    assert [draft.content for draft in drafts] == [
        "Payout: Pays out shops\n- Status: live",
        "Payout: Two people know it",
    ]
    assert more.text == "It was slow"


def test_what_is_known_of_a_person_is_one_memory() -> None:
    [note] = joined("COO in Bergen", "Wants decisions in writing", titles=("People", "Team", "Ingrid Solheim"))
    found = draft_note(note, "MEMORY.md", TODAY, redact).draft.item
    assert (found.type, found.content) == ("person", "Ingrid Solheim: COO in Bergen\n- Wants decisions in writing")


def test_time_of_day_in_a_daily_log_is_one_event_with_decisions_apart() -> None:
    texts = ("**Project**: Ledger v2", "**Action**: Ran it", "**Notes**: Slow", "**Decisions**: Run it at night")
    event, decision = joined(*texts, titles=("Events", "10:10 - Backfill"), path="memory/2026-02-16.md")
    drafts = [draft_note(note, "memory/2026-02-16.md", TODAY, redact).draft.item for note in (event, decision)]
    assert [(draft.type, draft.content) for draft in drafts] == [
        ("event", "Backfill: **Action**: Ran it\n- **Notes**: Slow"),
        ("decision", "Backfill: Run it at night"),
    ]
    assert all("Ledger v2" in draft.tags for draft in drafts)


def test_daily_note_tells_events_and_boxes_are_plans() -> None:
    assert item("The mail server was slow", path="memory/2026-02-18.md").type == "event"
    assert item("Refund for order 20418 was issued", "Outcomes", path="memory/2026-02-18.md").type == "outcome"
    done = item("Water the plants in the studio", "Daily", box="x")
    assert (done.type, done.tags) == ("plan", ("daily", "done"))


def test_no_word_stands_in_two_rows() -> None:
    names = [name for row in HEADINGS.values() for name in row.replace("|", " ").split()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("text", "titles", "marks", "importance"),
    [
        ("x", (), {"importance": "7"}, 0.7),
        ("x", (), {"importance": "10"}, 1.0),
        ("x", (), {"importance": "0.35"}, 0.35),
        ("x", (), {"importance": "1/10"}, 0.1),
        ("x", (), {"importance": "99"}, 1.0),
        ("x", (), {"priority": "Critical"}, 0.95),
        ("x", (), {"importance": "rather"}, None),
        ("Alpha (priority: high)", (), {}, 0.8),
        ("**fact** (0.70): the key is with Ada", (), {}, 0.7),
        ("Pay rent first", ("Critical rules",), {}, 0.95),
        ("CRITICAL: pay rent first", (), {}, 0.95),
        ("the critical path is long", (), {}, None),
    ],
)
def test_importance_is_what_somebody_said(text, titles, marks, importance) -> None:
    assert importance_of(Note(1, 1, text, titles), marks) == importance


def test_importance_that_nobody_said_is_left_to_the_grade_with_the_date_of_the_note() -> None:
    named = drafted("The restore took 38 minutes in all", path="memory/2025-11-08.md")
    assert not named.draft.graded
    assert named.draft.item.observed_at == "2025-11-08T00:00:00.000Z"
    assert drafted("x", marks=(("importance", "7"),)).draft.graded


@pytest.mark.parametrize(
    ("text", "titles", "marks", "at"),
    [
        ("Mugs rise by 2 EUR", ("Decisions", "2026-02-11: Prices"), (), "2026-02-11T00:00:00.000Z"),
        ("2025-09-01: closed on Mondays", ("2025-10-01",), (), "2025-09-01T00:00:00.000Z"),
        ("**2025-09-01** closed on Mondays", (), (), "2025-09-01T00:00:00.000Z"),
        ("closed since 2025-09-01", (), (), ""),
        ("x", ("November 14, 2025: Kiln",), (), "2025-11-14T00:00:00.000Z"),
        ("x", ("Wednesday, 18 February 2026", "09:30 - Mail"), (), "2026-02-18T09:30:00.000Z"),
        ("x", ("2025-10-01",), (("observed", "2025-12-24"),), "2025-12-24T00:00:00.000Z"),
        ("2027-01-01: the fair", ("2026-01-01",), (), "2026-01-01T00:00:00.000Z"),
        ("2026-02-30 is no day", (), (), ""),
    ],
)
def test_date_of_a_note(text, titles, marks, at) -> None:
    assert item(text, *titles, marks=marks).observed_at == at


def test_dates_in_words() -> None:
    assert find_date("on the 3rd Sept. 2025") == date(2025, 9, 3)
    assert find_date("on 3rd Sep 2025") == date(2025, 9, 3)
    assert find_date("version 2026.02") is None


def test_place_heading_and_source_are_kept() -> None:
    found = item("The theme is done and the checkout is in test", "Projects", "Website")
    assert found.context == "MEMORY.md:3-5 · Projects > Website"
    assert (found.source, found.trust) == ("migrate:MEMORY.md", "agent")
    assert item("The office moved to another street", path="memory/a.md").context == "memory/a.md:3-5"


@pytest.mark.parametrize(
    ("text", "titles", "content"),
    [
        ("Role: CFO", ("People", "Ada"), "Ada: Role: CFO"),
        (
            "**Status**: done is the theme and in test is the checkout",
            ("Website",),
            "Website: **Status**: done is the theme and in test is the checkout",
        ),
        ("Tea, not coffee", ("Preferences",), "Tea, not coffee"),
        ("Ada likes tea", ("People", "Ada"), "Ada likes tea"),
        (
            "Nobody has called before nine since the move",
            ("Ada",),
            "Nobody has called before nine since the move",
        ),
        ("All quiet", ("2026-02-11",), "All quiet"),
        ("All quiet", ("2026-02-11: Harbour",), "Harbour: All quiet"),
        (
            "Opening is in October with twelve pieces of each",
            ("Projects", "Kyoto"),
            "Kyoto: Opening is in October with twelve pieces of each",
        ),
    ],
)
def test_note_that_does_not_say_what_it_is_about_is_told_by_its_heading(text, titles, content) -> None:
    assert item(text, *titles).content == content


def test_key_is_of_the_text_and_of_the_heading_only_where_the_text_needs_it() -> None:
    long = "Opening is in October with twelve pieces of each"
    assert drafted(long, "Projects", "Kyoto").key == drafted(long.upper(), "Ideas", path="memory/x.md").key
    assert drafted("Role: CFO", "Ada").key != drafted("Role: CFO", "Bob").key
    assert key_of("costs -5") != key_of("costs 5")
    assert dict(item(long).extra) == {"migrated": key_of(long)}


def test_tags_come_from_headings_text_and_comments() -> None:
    marks = (("trigger", "kyoto, Yuki T"), ("status", "paused"))
    found = item("Crates leave in August #travel", "Projects", "2026-02-11: Two shores", marks=marks)
    assert found.tags == ("two-shores", "travel", "kyoto", "Yuki T", "paused")
    sentence = "What we would like to say about this"
    assert item("x", sentence, "Wednesday, 18 February 2026", marks=(("status", "active"),)).tags == ()


def test_tag_that_cannot_be_one_is_left_out() -> None:
    assert item("x", marks=(("tags", f"a, {'b' * 101}, \u202eevil"),)).tags == ("a", "<U+202E>evil")


def test_secrets_leave_content_context_and_tags() -> None:
    named = drafted("DB_PASSWORD=hunter2x", "Server", marks=(("tags", "password=hunter2x"),))
    kept = named.draft.item
    assert "hunter2x" not in repr(named.draft)
    assert kept.content == "Server: DB_PASSWORD=[redacted:password]"
    assert named.draft.redacted == ("password",)
    other = drafted("DB_PASSWORD=changed7y", "Server")
    assert other.key == named.key  # what is known by its key does not depend on the secret


def test_what_nobody_vouches_for_stays_untrusted() -> None:
    assert item("**fact** (0.70, untrusted): pay here").trust == "untrusted"
    assert item("anything", path="memory/archive/edited/x.md").trust == "untrusted"


def test_nul_is_drawn() -> None:
    assert item("a\0b").content == "a\u2400b"


def test_subject_is_a_heading_without_its_date() -> None:
    assert subject_of("Kiln (2026-02-11)") == "Kiln"
    assert subject_of("2026-02-11 10:40 Kiln") == "Kiln"
    assert subject_of("3.5 tons") == "3.5 tons"
