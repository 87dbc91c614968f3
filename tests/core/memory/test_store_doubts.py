"""Drafts that may be the same memory as an item: which are asked about, and what an agreed text makes of them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.fakes import NOW, ScanRelatives, make_item, make_memory, minter, resolvable_ids, settle
from mabos_cli.core.memory.item import MemoryItem, Prose, is_worded
from mabos_cli.core.memory.stores import Draft, Limits
from mabos_cli.core.memory.storing import find_doubts, plan_store
from mabos_cli.core.memory.trust import trust_of_item

LIMITS = Limits()
OLD = "The staging database is restored every night at two by the ops team"
NEW = "The staging database is restored every night at two by the ops crew"
BOTH = "The staging database is restored every night at two by the ops team or crew"


def draft(content=NEW, store="long_term", **fields):
    return Draft(MemoryItem("", content, **fields), store)


def doubts(*drafts, items=None):
    long_term = items or [make_item(1, OLD)]
    relatives = ScanRelatives(long_term)
    return find_doubts(make_memory(long_term=long_term), drafts, LIMITS, relatives, trust_of_item)


def reworded(old, new, agreed=None):
    memory = make_memory(long_term=[old])
    agreed = agreed or {(new.item.content, old.id, old.content): Prose(BOTH, "llm:m")}
    relatives = ScanRelatives(memory.long_term)
    changes, [result] = plan_store(
        memory, [new], now=NOW, mint=minter(), limits=LIMITS, relatives=relatives, agreed=agreed
    )
    return memory, changes, result


def test_a_relative_is_asked_about():
    [doubt] = doubts(draft())
    assert doubt.pair == (NEW, make_item(1).id, OLD)


@pytest.mark.parametrize(
    "other",
    [
        draft(OLD + "!"),  # the same: it merges without a question
        draft("The harbour office opens at seven"),
        draft(store="short_term"),
        draft("The staging database is never restored every night at two by the ops team"),
        draft(trust="untrusted"),
        draft(trust="trusted"),
    ],
)
def test_no_question(other):
    assert doubts(other) == []


def test_what_may_have_been_so_before_is_asked_about_and_superseded_if_the_model_says_so():
    old = make_item(1, "Felix is engaged to Marta", type="fact")
    new = draft("Felix is married to Marta", type="fact")
    [doubt] = doubts(new, items=[old])
    assert doubt.item == old
    _, changes, result = reworded(old, new, {doubt.pair: None})
    assert (result.outcome, result.item.supersedes) == ("supersedes", (old.id,))
    assert [(away.reason, away.into) for away in changes.archive] == [("superseded", result.item.id)]


def test_what_words_tell_to_be_newer_is_not_asked_about():
    old = make_item(1, "Dana lives in Berlin", type="fact")
    assert doubts(draft("Dana moved to Lisbon", type="fact"), items=[old]) == []


def test_very_like_texts_with_other_numbers_are_not_one_but_may_be_newer():
    words = "the hard limit for uploads by a single customer on one given day in the new plan is"
    alike = [make_item(1, f"{words} 50 or so in all and then some more")]
    [doubt] = doubts(draft(f"{words} 60 or so in all and then some more"), items=alike)
    assert not doubt.can_be_same


def test_what_a_person_vouched_for_is_not_reworded():
    assert doubts(draft(trust="trusted"), items=[make_item(1, OLD, trust="trusted")]) == []


def test_the_most_alike_of_those_that_may_be_the_same_is_asked_about():
    items = [
        make_item(1, OLD.replace("two", "four"), trust="untrusted"),
        make_item(2, OLD),
        make_item(3, OLD + " now"),
    ]
    assert [doubt.item.id for doubt in doubts(draft(), draft(), items=items)] == [items[1].id] * 2


def test_agreed_text_takes_the_place_of_the_item_and_keeps_all_that_was():
    old = make_item(1, OLD, importance=0.5, tags=("ops",), derived_from=("M-1",), related_to=("M-9",), context="why")
    new = draft(importance=0.7, tags=("ops", "db"), derived_from=("M-2",), related_to=(old.id, "M-8"))
    memory, changes, result = reworded(old, new)
    [item] = settle(memory, changes).long_term
    assert (item.id, item.content, item.importance, item.tags) == (old.id, BOTH, 0.7, ("ops", "db"))
    version, away = changes.archive
    assert (version.item, version.reason) == (old, "updated")
    assert (away.item.content, away.reason, away.into) == (NEW, "merged", old.id)
    assert item.derived_from == ("M-1", "M-2", away.item.id)
    assert item.related_to == ("M-9", "M-8") and item.context == "why"
    assert is_worded(item) and item.extra == (("written_by", "llm:m"),)
    assert (result.store, result.deduplicated, result.reworded) == ("long_term", True, True)
    assert changes.log == () and item.access_count == old.access_count + 1


def test_an_item_that_changed_meanwhile_is_linked():
    old = make_item(1, OLD)
    stale = {(NEW, old.id, OLD + " before"): Prose(BOTH, "llm:m")}
    _, changes, result = reworded(old, draft(), stale)
    assert result.item.related_to == (old.id,) and not result.reworded and changes.archive == ()


def test_two_drafts_for_one_item_merge_once():
    old, memory = make_item(1, OLD), make_memory(long_term=[make_item(1, OLD)])
    other = NEW.replace("crew", "folks")
    agreed = {(text, old.id, OLD): Prose(BOTH, "llm:m") for text in (NEW, other)}
    _, results = plan_store(
        memory,
        [draft(), draft(other)],
        now=NOW,
        mint=minter(),
        limits=LIMITS,
        relatives=ScanRelatives(memory.long_term),
        agreed=agreed,
    )
    assert [r.reworded for r in results] == [True, False]
    assert results[1].item.related_to == (old.id,)


@pytest.mark.parametrize("trusts", [("agent", "untrusted"), ("untrusted", "agent"), ("trusted", "agent")])
def test_one_text_is_not_made_of_two_that_are_trusted_differently(trusts):
    """An untrusted text must not rewrite a trusted one, nor pull it down."""
    old = make_item(1, OLD, trust=trusts[0])
    _, changes, result = reworded(old, draft(trust=trusts[1]))
    assert not result.reworded and changes.archive == ()
    assert (result.item.trust, result.item.related_to) == (trusts[1], (old.id,))
    assert changes.put == (result.item,)


DATES = st.sampled_from(["", "2027-01-01T00:00:00.000Z", "2028-01-01T00:00:00.000Z"])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.tuples(DATES, DATES),
    st.sampled_from(["agent", "untrusted"]),
    st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_nothing_is_lost_and_trust_never_rises(dates, trust, weights):
    old = make_item(1, OLD, expires_at=dates[0], trust=trust, importance=weights[0])
    new = draft(expires_at=dates[1], trust=trust, importance=weights[1])
    memory, changes, result = reworded(old, new)
    assert {old.id, changes.archive[1].item.id} <= resolvable_ids(memory, changes)
    assert (result.item.trust, result.item.importance) == (trust, max(weights))
    assert result.item.expires_at == (max(dates) if all(dates) else "")


@pytest.mark.parametrize("trusts", [("agent", "untrusted"), ("untrusted", "agent")])
def test_what_is_not_trusted_alike_is_linked_even_if_somebody_agreed(trusts):
    _, changes, result = reworded(make_item(1, OLD, trust=trusts[0]), draft(trust=trusts[1]))
    assert not result.reworded and result.item.trust == trusts[1] and changes.archive == ()
