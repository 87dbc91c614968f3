from contextlib import suppress
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.fakes import (
    NOW,
    ScanRelatives,
    ago,
    live_ids,
    make_item,
    make_memory,
    minter,
    resolvable_ids,
    settle,
)
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.item import STORES, MemoryItem
from mabos_cli.core.memory.stores import (
    Changes,
    Draft,
    Limits,
    is_expired,
    join,
    locate,
    plan_forget,
    plan_revive,
    plan_update,
    qualifies,
    tidy,
)
from mabos_cli.core.memory.storing import plan_store

quick = settings(deadline=None, derandomize=True)
AT = format_time(NOW)
LIMITS = Limits()
ROOMY = Limits(working=1000, short_term=1000, ttl_seconds=1e11)
NATO = (
    "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa "
    "quebec romeo sierra tango uniform victor whiskey xray yankee zulu"
).split()


def say(count):
    """A text of the first words of the spelling alphabet: two of them have a known likeness."""
    return " ".join(NATO[:count])


def again(count):
    """The same text with other punctuation and a filler word."""
    return f"Please, the {say(count)}!"


def store(memory, *drafts, limits=LIMITS, if_new=False):
    """Stores the drafts among everything the memory holds."""
    relatives = ScanRelatives(memory.long_term)
    return plan_store(memory, list(drafts), now=NOW, mint=minter(), limits=limits, relatives=relatives, if_new=if_new)


def draft(content, where="long_term", graded=True, **fields):
    return Draft(MemoryItem("", content, **fields), where, graded)


def reasons(changes):
    return {departure.item.id: departure.reason for departure in changes.archive}


# Who waits for consolidation, and what expires


@pytest.mark.parametrize(
    ("importance", "uses", "where", "expected"),
    [
        (0.6, 0, "short_term", True),
        (0.59, 0, "short_term", False),
        (0.1, 2, "short_term", True),
        (0.1, 1, "short_term", False),
        (0.6, 0, "working", True),
        (0.1, 9, "working", False),
        (1.0, 9, "long_term", False),
    ],
)
def test_qualifies_by_importance_or_by_use_in_short_term(importance, uses, where, expected):
    assert qualifies(make_item(1, importance=importance, access_count=uses), where, LIMITS) is expected


def test_short_term_item_expires_after_its_time_to_live():
    stale = make_item(1, created_at=ago(hours=2, milliseconds=1))
    fresh = make_item(2, created_at=ago(hours=2))
    after = tidy(Changes((), (stale, fresh)), NOW, LIMITS)
    assert after.short_term == (fresh,)
    assert [(d.item, d.store, d.reason, d.at) for d in after.archive] == [(stale, "short_term", "expired", AT)]


@pytest.mark.parametrize("fields", [{"importance": 0.6}, {"access_count": 2}])
def test_expired_candidate_waits_for_consolidation(fields):
    waiting = make_item(1, created_at=ago(days=30), **fields)
    after = tidy(Changes((), (waiting,)), NOW, LIMITS)
    assert after.short_term == (waiting,)
    assert after.archive == ()


def test_working_item_does_not_expire_by_age():
    old = make_item(1, created_at=ago(days=30))
    assert tidy(Changes((old,), ()), NOW, LIMITS).working == (old,)


@pytest.mark.parametrize("where", ["working", "short_term"])
def test_item_past_its_own_date_expires_even_if_it_qualifies(where):
    item = make_item(1, importance=1.0, access_count=9, expires_at=AT)
    later = make_item(2, importance=1.0, expires_at=format_time(NOW + timedelta(milliseconds=1)))
    after = tidy(Changes((), ())._replace(**{where: (item, later)}), NOW, LIMITS)
    assert getattr(after, where) == (later,)
    assert [(d.item.id, d.store, d.reason) for d in after.archive] == [(item.id, where, "expired")]


def test_time_to_live_longer_than_the_calendar_expires_nothing():
    item = make_item(1, created_at=ago(days=3000))
    assert not is_expired(item, "short_term", AT, Limits(ttl_seconds=1e11))


# Capacity


def test_full_working_memory_demotes_the_least_recently_accessed():
    items = [make_item(n, accessed_at=ago(minutes=n)) for n in range(9)]
    after = tidy(Changes(tuple(items), ()), NOW, LIMITS)
    assert after.working == tuple(items[:7])
    assert set(after.short_term) == set(items[7:])
    assert after.archive == ()


def test_item_never_accessed_counts_from_its_creation():
    used = make_item(1, created_at=ago(minutes=50), accessed_at=ago(minutes=1))
    unused = make_item(2, created_at=ago(minutes=40))
    assert tidy(Changes((used, unused), ()), NOW, Limits(working=1)).working == (used,)


def test_full_short_term_memory_archives_the_least_important():
    items = [make_item(n, importance=n / 10, created_at=ago(minutes=9 * n)) for n in (5, 1, 4, 2, 3)]
    after = tidy(Changes((), tuple(items)), NOW, Limits(short_term=3))
    assert after.short_term == (items[0], items[2], items[4])
    assert reasons(after) == {items[1].id: "evicted", items[3].id: "evicted"}


def test_among_equally_important_the_oldest_goes():
    older, newer = make_item(1, created_at=ago(minutes=9)), make_item(2, created_at=ago(minutes=8))
    assert tidy(Changes((), (newer, older)), NOW, Limits(short_term=1)).short_term == (newer,)


def test_demoted_item_takes_part_in_the_capacity_of_short_term():
    weak = make_item(1, importance=0.1, accessed_at=ago(minutes=30))
    strong = make_item(2, importance=0.9, accessed_at=ago(minutes=1))
    other = make_item(3, importance=0.5)
    after = tidy(Changes((weak, strong), (other,)), NOW, Limits(working=1, short_term=1))
    assert (after.working, after.short_term) == ((strong,), (other,))
    assert reasons(after) == {weak.id: "evicted"}


def forget(memory, item_id, reason=""):
    store, item = locate(memory, item_id)
    return plan_forget(memory, item, store, reason, now=NOW)


def test_tidy_keeps_what_was_planned_already():
    gone, kept = make_item(1), make_item(2)
    planned = forget(make_memory([gone, kept]), gone.id)
    after = tidy(planned, NOW, LIMITS)
    assert after == planned


def decode_item(number, code):
    """An item with everything that decides about expiry, demotion and eviction, drawn from one number."""

    def pick(*choices):
        nonlocal code
        code, position = divmod(code, len(choices))
        return choices[position]

    fields = {
        "importance": pick(0.3, 0.1, 0.59, 0.6, 0.9),
        "access_count": pick(0, 1, 2, 3),
        "created_at": pick(*(ago(minutes=m) for m in (0, 10, 60, 119, 120, 121, 240))),
        "accessed_at": pick("", ago(minutes=5), ago(minutes=50)),
        "expires_at": pick("", "", ago(minutes=1), format_time(NOW + timedelta(hours=1))),
    }
    return make_item(number, decode_text(code), **fields)


def decode_text(code):
    """A text of few words out of few, so that many are alike; some have numbers and negations."""
    chosen = [word for n, word in enumerate((*NATO[:6], "not", "5", "50")) if code >> n & 1]
    return " ".join(chosen) or "zulu"


def items_from(start, most):
    codes = st.lists(st.integers(0, 5 * 4 * 7 * 3 * 4 * 512 - 1), max_size=most)
    return codes.map(lambda found: [decode_item(start + n, code) for n, code in enumerate(found)])


memories = st.builds(make_memory, items_from(0, 8), items_from(100, 8), items_from(200, 4))
drafts = st.builds(draft, st.integers(0, 511).map(decode_text), st.sampled_from(STORES), st.booleans())
small = Limits(working=2, short_term=3)


@quick
@given(memories)
def test_tidy_loses_no_id_and_respects_every_limit(memory):
    after = tidy(Changes(memory.working, memory.short_term), NOW, small)
    assert resolvable_ids(memory, after) == set(live_ids(memory))
    assert len(after.working) <= small.working
    assert len(after.short_term) <= small.short_term
    everywhere = [i.id for i in (*after.working, *after.short_term)] + [d.item.id for d in after.archive]
    assert len(everywhere) == len(set(everywhere))


@quick
@given(memories)
def test_tidy_twice_changes_nothing_more(memory):
    once = tidy(Changes(memory.working, memory.short_term), NOW, small)
    assert tidy(once, NOW, small) == once


@quick
@given(memories, st.lists(drafts, max_size=6), st.booleans())
def test_storing_loses_no_id_old_or_new(memory, wanted, if_new):
    changes, results = store(memory, *wanted, limits=small, if_new=if_new)
    assert len(results) == len(wanted)
    assert set(live_ids(memory)) | {r.item.id for r in results} <= resolvable_ids(memory, changes)


@quick
@given(memories, st.lists(drafts, max_size=6))
def test_every_content_given_is_kept_somewhere(memory, wanted):
    changes, _ = store(memory, *wanted, limits=small)
    after = settle(memory, changes)
    live = (*after.working, *after.short_term, *after.long_term)
    kept = {i.content for i in live} | {d.item.content for d in changes.archive}
    assert {d.item.content for d in wanted} <= kept


# Storing


@pytest.mark.parametrize("where", STORES)
def test_stored_item_gets_an_id_and_the_time_and_is_logged(where):
    memory = make_memory()
    changes, [stored] = store(memory, draft("alpha bravo", where, importance=0.4))
    assert stored.item.id == "M-1800000000000-0000"
    assert (stored.item.created_at, stored.item.accessed_at) == (AT, AT)
    assert (stored.store, stored.stored, stored.deduplicated, stored.graded) == (where, True, False, False)
    assert changes.log == (stored.item,)
    assert locate(settle(memory, changes), stored.item.id) == (where, stored.item)


def test_given_id_and_time_are_kept():
    given = Draft(MemoryItem("M-1-0001", "alpha", created_at=ago(minutes=3)), "working")
    _, [stored] = store(make_memory(), given)
    assert (stored.item.id, stored.item.created_at) == ("M-1-0001", ago(minutes=3))


def test_ungraded_draft_is_graded_by_the_heuristic():
    _, [stored] = store(make_memory(), draft("We ship", "short_term", graded=False, type="decision"))
    assert (stored.item.importance, stored.graded) == (0.8, True)


def test_given_importance_is_never_overwritten():
    _, [stored] = store(make_memory(), draft("important: remember", "short_term", importance=0.05))
    assert stored.item.importance == 0.05


def test_memory_like_a_recent_one_counts_as_recurring():
    memory = make_memory(short_term=[make_item(1, say(10))])
    _, [stored] = store(memory, draft(say(7), "short_term", graded=False))
    _, [other] = store(memory, draft(say(6), "short_term", graded=False))
    assert (stored.item.importance, other.item.importance) == (0.65, 0.5)


def test_tag_recurring_counts_as_recurring():
    _, [stored] = store(make_memory(), draft("alpha", "working", graded=False, tags=("recurring",)))
    assert stored.item.importance == 0.65


def test_what_is_old_is_graded_as_what_is_new():
    old = draft("alpha", "long_term", graded=False, observed_at=ago(days=900), type="decision")
    _, [stored] = store(make_memory(), old)
    assert stored.item.importance == 0.8


def test_full_stores_overflow_when_something_is_stored():
    memory = make_memory(working=[make_item(n, accessed_at=ago(minutes=n + 1)) for n in range(7)])
    changes, [stored] = store(memory, draft("alpha", "working"))
    assert changes.working == (*memory.working[:6], stored.item)
    assert changes.short_term == (memory.working[6],)


# Storing only what is new


@pytest.mark.parametrize("where", STORES)
def test_if_new_returns_what_is_there_instead_of_storing(where):
    twin = make_item(1, say(10))
    memory = make_memory(**{where: [twin]})
    changes, [result] = store(memory, draft(again(10), "short_term"), if_new=True)
    assert (result.item, result.store, result.stored, result.deduplicated) == (twin, where, False, True)
    assert (changes.put, changes.log, changes.archive) == ((), (), ())


@pytest.mark.parametrize("where", STORES)
def test_if_new_stores_whatever_says_more(where):
    memory = make_memory(**{where: [make_item(1, say(10))]})
    changes, [result] = store(memory, draft(say(11), "short_term"), if_new=True)
    assert result.stored and not result.deduplicated
    assert result.item in changes.short_term


def test_if_new_compares_within_a_batch():
    changes, results = store(
        make_memory(),
        *(draft(say(10), where) for where in ("working", "long_term", "short_term")),
        if_new=True,
    )
    assert [r.stored for r in results] == [True, False, False]
    assert len(changes.log) == 1


def test_if_new_compares_within_a_large_batch_to_its_end():
    words = [f"{a}{b}{c}" for a in NATO for b in NATO[:7] for c in NATO[:7]]
    batch = [draft(words[n], "short_term") for n in range(1100)]
    _, results = store(make_memory(), *batch, batch[-1], if_new=True)
    assert [r.stored for r in results] == [True] * 1100 + [False]


@pytest.mark.parametrize("where", STORES)
@pytest.mark.parametrize("other", ["limit 500", "not limit 50"])
def test_if_new_stores_what_differs_by_a_number_or_a_negation(where, other):
    memory = make_memory(**{where: [make_item(1, f"{say(20)} limit 50")]})
    _, [result] = store(memory, draft(f"{say(20)} {other}", "short_term"), if_new=True)
    assert result.stored


@pytest.mark.parametrize("where", STORES)
def test_if_new_stores_text_without_words_that_is_not_there(where):
    memory = make_memory(**{where: [make_item(1, "🎉")]})
    _, [result] = store(memory, draft("🚨🚨", "short_term"), if_new=True)
    assert result.stored


def test_texts_without_words_are_not_merged():
    changes, [result] = store(make_memory(long_term=[make_item(1, "🎉")]), draft("🚨🚨"))
    assert not result.deduplicated
    assert changes.put == (result.item,)


# Near duplicates and relatives in long-term memory


def test_near_duplicate_strengthens_the_item_that_is_there():
    twin = make_item(1, say(10), importance=0.4, tags=("a", "b"), access_count=1)
    changes, [result] = store(
        make_memory(long_term=[twin]), draft(again(10), importance=0.7, tags=("b", "c"), context="why")
    )
    merged = twin._replace(importance=0.7, tags=("a", "b", "c"), context="why", access_count=2, accessed_at=AT)
    assert (result.item, result.deduplicated, result.stored) == (merged, True, True)
    assert changes.put == (merged,)
    assert changes.log == ()


def test_other_wording_of_a_near_duplicate_is_kept_in_the_archive():
    twin = make_item(1, say(10))
    changes, _ = store(make_memory(long_term=[twin]), draft(again(10), context="why"))
    [departure] = changes.archive
    assert (departure.reason, departure.into, departure.store) == ("merged", twin.id, "long_term")
    assert (departure.item.content, departure.item.context) == (again(10), "why")
    assert departure.item.id not in ("", twin.id)


def test_merging_never_lowers_importance():
    twin = make_item(1, say(10), importance=0.9)
    _, [result] = store(make_memory(long_term=[twin]), draft(say(10), importance=0.1))
    assert result.item.importance == 0.9


def test_exact_repetition_needs_no_archive_record():
    changes, [result] = store(make_memory(long_term=[make_item(1, say(10))]), draft(say(10)))
    assert result.deduplicated
    assert changes.archive == ()


def test_what_an_exact_repetition_says_about_itself_is_kept():
    twin = make_item(1, say(10))
    changes, _ = store(make_memory(long_term=[twin]), draft(say(10), context="a new reason"))
    kept = [*changes.put, *(d.item for d in changes.archive)]
    assert any(item.context == "a new reason" for item in kept)


def test_repetition_with_an_id_of_its_own_stays_resolvable():
    repeated = Draft(MemoryItem("M-1-0001", say(10)), "long_term")
    changes, _ = store(make_memory(long_term=[make_item(1, say(10))]), repeated)
    assert [d.item.id for d in changes.archive] == ["M-1-0001"]


def test_repetitions_within_a_batch_merge_into_the_first():
    changes, results = store(make_memory(), draft(say(10)), draft(say(10)), draft(again(10)))
    assert len({r.item.id for r in results}) == 1
    assert [i.access_count for i in changes.put] == [2]
    assert [d.item.content for d in changes.archive] == [again(10)]


@pytest.mark.parametrize(("there", "linked"), [(9, True), (7, True), (6, False)])
def test_relative_is_linked_from_the_related_threshold_up(there, linked):
    relative = make_item(1, say(there))
    changes, [result] = store(make_memory(long_term=[relative]), draft(say(10)))
    assert not result.deduplicated
    assert result.item.related_to == ((relative.id,) if linked else ())
    assert changes.put == (result.item,)


def test_links_that_were_given_come_first_and_once():
    relative = make_item(1, say(8))
    _, [result] = store(make_memory(long_term=[relative]), draft(say(10), related_to=("mem-x", relative.id, "mem-y")))
    assert result.item.related_to == ("mem-x", relative.id, "mem-y")


@pytest.mark.parametrize(
    ("there", "new"),
    [
        (f"{say(20)} limit 50", f"{say(20)} limit 500"),
        (f"{say(20)} run", f"{say(20)} not run"),
        (f"{say(20)} run", f"{say(20)} without run"),
        (f"{say(20)} is safe", f"{say(20)} isn't safe"),
    ],
)
def test_other_number_or_negation_is_linked_or_newer_and_never_merged(there, new):
    twin = make_item(1, there)
    changes, [result] = store(make_memory(long_term=[twin]), draft(new))
    assert not result.deduplicated
    assert (*result.item.related_to, *result.item.supersedes) == (twin.id,)
    assert result.item.content == new
    assert [(away.reason, away.into) for away in changes.archive] == [
        ("superseded", result.item.id) for _ in result.item.supersedes
    ]


@pytest.mark.parametrize(
    ("there", "new"),
    [
        ("the version is 1.2", "the version is 2.1"),
        ("the balance is 5 euros", "the balance is -5 euros"),
        ("open from 10:30 to 18:00", "open from 18:00 to 10:30"),
        ("Dana prefers email over Slack", "Dana prefers Slack over email"),
        ("Miriam reports to Oskar", "Oskar reports to Miriam"),
    ],
)
def test_the_same_words_in_another_order_are_another_claim(there, new):
    _, [result] = store(make_memory(long_term=[make_item(1, there)]), draft(new))
    assert not result.deduplicated


@pytest.mark.parametrize("where", STORES)
def test_newer_value_takes_the_place_of_the_older_one(where):
    old = make_item(1, "Dana lives in Berlin", type="fact", tags=("dana",), importance=0.9)
    memory = make_memory(**{where: [old]})
    changes, [result] = store(memory, draft("Dana moved to Lisbon", "short_term")._replace(graded=False))
    item = result.item
    assert (result.outcome, result.replaced, item.supersedes) == ("supersedes", (old,), (old.id,))
    # It goes where the older one was, at least, with its type, tags and importance.
    assert result.store == ("long_term" if where == "long_term" else "short_term")
    assert (item.type, item.tags, item.importance) == ("fact", ("dana",), 0.9)
    [away] = changes.archive
    assert (away.reason, away.into, away.store) == ("superseded", item.id, where)
    assert away.item == old._replace(superseded_by=item.id)
    assert [*live_ids(settle(memory, changes))] == [item.id]


def test_newer_value_within_a_batch_takes_the_place_of_the_one_before():
    texts = ("The limit is 5 EUR", "The limit is 7 EUR", "The limit is 9 EUR")
    changes, results = store(make_memory(), *(draft(text, type="fact") for text in texts))
    assert [r.outcome for r in results] == ["new", "supersedes", "supersedes"]
    assert [item.content for item in changes.put] == [texts[2]]
    assert [(d.item.content, d.into) for d in changes.archive] == [
        (texts[0], results[1].item.id),
        (texts[1], results[2].item.id),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "event"}, {}),
        ({}, {"type": "outcome"}),
        ({"trust": "trusted"}, {"trust": "agent"}),
        ({"trust": "agent"}, {"trust": "untrusted"}),
        ({"observed_at": "2026-02-20T00:00:00.000Z"}, {"observed_at": "2026-02-01T00:00:00.000Z"}),
    ],
)
def test_happenings_lesser_trust_and_earlier_reports_take_no_place(old, new):
    there = make_item(1, "Dana lives in Berlin", **{"type": "fact", **old})
    changes, [result] = store(make_memory(long_term=[there]), draft("Dana moved to Lisbon", **{"type": "fact", **new}))
    assert (result.outcome, changes.archive, changes.drop) == ("new", (), ())


def test_reviving_what_was_superseded_leaves_both_related():
    old = make_item(1, "Dana lives in Berlin", type="fact")
    memory = make_memory(long_term=[old])
    changes, [result] = store(memory, draft("Dana moved to Lisbon", type="fact"))
    after = settle(memory, changes)
    changes, (alive, _) = plan_revive(after, changes.archive[0].item, "long_term", now=NOW)
    newer = settle(after, changes).long_term.find(result.item.id)
    assert (alive.superseded_by, newer.supersedes, newer.related_to) == ("", (), (old.id,))


def test_recent_stores_never_merge():
    memory = make_memory(short_term=[make_item(1, say(10))], long_term=[make_item(2, say(10))])
    changes, [result] = store(memory, draft(say(10), "short_term"))
    assert not result.deduplicated
    assert changes.short_term == (*memory.short_term, result.item)


# Editing, forgetting, reviving


def three_stores():
    return make_memory(
        [make_item(1), make_item(2), make_item(3)],
        [make_item(11), make_item(12)],
        [make_item(21), make_item(22)],
    )


def test_update_replaces_in_place_and_archives_the_version_before():
    memory = three_stores()
    changes, edited, where = plan_update(memory, memory.working[1].id, {"content": "new"}, now=NOW)
    assert where == "working"
    assert changes.working == (memory.working[0], edited, memory.working[2])
    assert (changes.put, changes.drop) == ((), ())
    assert [(d.item, d.store, d.reason, d.at) for d in changes.archive] == [
        (memory.working[1], "working", "updated", AT)
    ]


def test_update_in_long_term_is_put():
    memory = three_stores()
    item = memory.long_term.find(make_item(21).id)
    changes, edited, where = plan_update(memory, item.id, {"importance": 0.9}, now=NOW)
    assert where == "long_term"
    assert (changes.put, changes.drop) == ((edited,), ())
    assert edited == item._replace(importance=0.9, accessed_at=format_time(NOW))  # an edit is a use


def test_update_that_changes_nothing_writes_nothing():
    memory = three_stores()
    item = memory.working[0]
    changes, same, where = plan_update(memory, item.id, {"content": item.content}, now=NOW)
    assert changes == Changes(memory.working, memory.short_term)
    assert (same, where) == (item, "working")


def test_update_can_leave_the_version_before_unrecorded():
    memory = three_stores()
    changes, _, _ = plan_update(memory, memory.working[0].id, {"access_count": 1}, now=NOW, keep_version=False)
    assert changes.archive == ()
    assert changes.working[0].access_count == 1


@pytest.mark.parametrize("target", STORES)
@pytest.mark.parametrize("number", [2, 12, 22])
def test_update_can_move_an_item_to_any_store(number, target):
    memory, item_id = three_stores(), make_item(number).id
    changes, edited, where = plan_update(memory, item_id, {"context": "moved"}, now=NOW, store=target)
    after = settle(memory, changes)
    assert where == target
    assert locate(after, item_id) == (target, edited)
    assert sorted(live_ids(after)) == sorted(live_ids(memory))


def test_moving_alone_archives_no_version():
    memory = three_stores()
    changes, _, _ = plan_update(memory, make_item(22).id, {}, now=NOW, store="working")
    assert changes.archive == ()
    assert changes.drop == (make_item(22).id,)


@pytest.mark.parametrize(("number", "where"), [(2, "working"), (12, "short_term"), (22, "long_term")])
def test_forget_moves_the_item_to_the_archive_with_the_reason(number, where):
    memory, item_id = three_stores(), make_item(number).id
    changes, item = forget(memory, item_id, "superseded"), locate(memory, item_id)[1]
    assert [(d.item, d.store, d.reason, d.at) for d in changes.archive] == [(item, where, "forgotten: superseded", AT)]
    assert sorted(live_ids(settle(memory, changes))) == sorted(set(live_ids(memory)) - {item_id})


def test_forget_without_a_reason_says_only_that():
    assert forget(three_stores(), make_item(1).id).archive[0].reason == "forgotten"


def test_what_was_archived_before_is_forgotten_by_a_record_alone():
    memory, gone = three_stores(), make_item(99)
    changes = plan_forget(memory, gone, "short_term", "", now=NOW)
    assert [(d.item, d.store, d.reason) for d in changes.archive] == [(gone, "short_term", "forgotten")]
    assert live_ids(settle(memory, changes)) == live_ids(memory)


def test_what_is_not_live_cannot_be_updated():
    assert plan_update(three_stores(), "M-1-ffff", {"content": "x"}, now=NOW) is None
    assert locate(three_stores(), "M-1-ffff") is None


@pytest.mark.parametrize("where", STORES)
def test_revived_item_is_live_again_and_no_longer_expires(where):
    memory = three_stores()
    gone = make_item(99, expires_at=ago(hours=1), accessed_at=ago(days=9), access_count=4)
    changes, _ = plan_revive(memory, gone, where, now=NOW, limits=ROOMY)
    after = settle(memory, changes)
    assert locate(after, gone.id) == (where, gone._replace(expires_at="", accessed_at=AT))
    assert sorted(live_ids(after)) == sorted([*live_ids(memory), gone.id])


@pytest.mark.parametrize("number", [1, 11, 21])
def test_live_item_cannot_be_revived(number):
    with pytest.raises(BadValue, match="not archived"):
        plan_revive(three_stores(), make_item(number), "working", now=NOW)


def test_item_whose_short_term_life_is_over_is_revived_in_long_term_and_stays():
    memory, gone = make_memory(), make_item(99, created_at=ago(days=3))
    changes, (_, where) = plan_revive(memory, gone, "short_term", now=NOW)
    after = settle(memory, changes)
    later = settle(after, tidy(Changes(after.working, after.short_term), NOW + timedelta(seconds=1), LIMITS))
    assert (where, live_ids(later)) == ("long_term", [gone.id])


@quick
@given(memories, st.data())
def test_editing_and_forgetting_lose_no_id(memory, data):
    ids = live_ids(memory)
    if not ids:
        return
    chosen, target = data.draw(st.sampled_from(ids)), data.draw(st.sampled_from(STORES))
    edit, _, _ = plan_update(memory, chosen, {"content": "edited"}, now=NOW, store=target, limits=ROOMY)
    away, item = forget(memory, chosen), locate(memory, chosen)[1]
    forgotten = settle(memory, away)
    revive, _ = plan_revive(forgotten, item, target, now=NOW, limits=ROOMY)
    assert resolvable_ids(memory, edit) == resolvable_ids(memory, away) == set(ids)
    for base, changes in ((memory, edit), (forgotten, revive)):
        expired = {departure.item.id for departure in changes.archive if departure.reason == "expired"}
        assert {*live_ids(settle(base, changes)), *expired} == set(ids)


# Two changes as one


@quick
@given(memories, st.lists(drafts, max_size=4), st.lists(drafts, max_size=4), st.data())
def test_joined_changes_have_the_outcome_of_one_after_the_other(memory, one, two, data):
    first, _ = store(memory, *one, limits=small)
    between = settle(memory, first)
    ids = live_ids(between)
    steps = [store(between, *(d._replace(item=d.item._replace(id=f"M-9-{n:04x}")) for n, d in enumerate(two)))[0]]
    if ids:
        chosen = data.draw(st.sampled_from(ids))
        steps.append(forget(between, chosen))
        target = data.draw(st.sampled_from(STORES))
        with suppress(BadValue):  # too old to be moved there
            steps.append(plan_update(between, chosen, {"context": "x"}, now=NOW, store=target)[0])
    for then in steps:
        apart, joined = settle(between, then), settle(memory, join(first, then))
        assert (apart.working, apart.short_term) == (joined.working, joined.short_term)
        assert apart.long_term.items == joined.long_term.items
        assert join(first, then).archive == (*first.archive, *then.archive)
        assert join(first, then).log == (*first.log, *then.log)


def test_item_forgotten_and_then_revived_outlives_the_join():
    memory = three_stores()
    first, item = forget(memory, make_item(21).id), locate(memory, make_item(21).id)[1]
    then, _ = plan_revive(settle(memory, first), item, "long_term", now=NOW)
    assert make_item(21).id in live_ids(settle(memory, join(first, then)))
