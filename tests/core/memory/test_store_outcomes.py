"""What a repetition leaves behind in the item that it is merged into, and what a store says became of a draft."""

import pytest

from core.fakes import NOW, ScanRelatives, make_item, make_memory, minter
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.stores import Draft, Limits
from mabos_cli.core.memory.storing import plan_store

TEXT = "alpha bravo charlie delta echo foxtrot golf hotel india juliett"
EARLY, LATE = "2026-03-01T00:00:00.000Z", "2026-04-01T00:00:00.000Z"


def store(there, *drafts, if_new=False):
    memory = make_memory(long_term=there)
    how = {"now": NOW, "mint": minter(), "limits": Limits(), "relatives": ScanRelatives(memory.long_term)}
    return plan_store(memory, list(drafts), if_new=if_new, **how)


def draft(content=TEXT, **fields):
    return Draft(MemoryItem("", content, **fields), "long_term")


def test_merge_joins_links_and_takes_a_context_over():
    twin = make_item(1, TEXT, related_to=("mem-a",))
    changes, [result] = store([twin], draft(related_to=("mem-b", twin.id), context="why"))
    assert result.item.related_to == ("mem-a", "mem-b")
    assert result.item.context == "why"
    assert [d.into for d in changes.archive] == [twin.id]


def test_merge_keeps_both_contexts_one_of_them_in_the_archive():
    changes, [result] = store([make_item(1, TEXT, context="first")], draft(context="second"))
    assert result.item.context == "first"
    assert [d.item.context for d in changes.archive] == ["second"]


@pytest.mark.parametrize(
    ("there", "new", "kept", "archived"),
    [
        (EARLY, LATE, LATE, 0),
        (LATE, EARLY, LATE, 1),
        (EARLY, "", "", 0),
        ("", EARLY, "", 1),
        (EARLY, EARLY, EARLY, 0),
    ],
)
def test_nothing_expires_sooner_for_being_said_again(there, new, kept, archived):
    changes, [result] = store([make_item(1, TEXT, expires_at=there)], draft(expires_at=new))
    assert result.item.expires_at == kept
    assert len(changes.archive) == archived


def test_less_trusted_repetition_changes_nothing_of_that():
    twin = make_item(1, TEXT, trust="trusted", expires_at=EARLY)
    changes, [result] = store([twin], draft(trust="untrusted", related_to=("mem-b",), context="mine"))
    assert (result.item.related_to, result.item.context, result.item.expires_at) == ((), "", EARLY)
    assert [d.item.context for d in changes.archive] == ["mine"]


def test_outcomes():
    there = [make_item(1, TEXT)]
    assert store(there, draft())[1][0].outcome == "merged"
    assert store(there, draft(), if_new=True)[1][0].outcome == "known"
    assert store(there, draft("something else entirely"))[1][0].outcome == "new"
    [linked] = store(there, draft(f"{TEXT} kilo lima", related_to=("mem-b",)))[1]
    assert (linked.outcome, linked.linked, linked.item.related_to) == (
        "linked",
        (there[0].id,),
        ("mem-b", there[0].id),
    )


def test_what_is_trusted_less_is_no_twin():
    planted = make_item(1, TEXT, trust="untrusted")
    changes, [result] = store([planted], draft())
    assert not result.deduplicated
    assert changes.put == (result.item,)
    assert result.linked == (planted.id,)


def test_less_trusted_repetition_raises_neither_importance_nor_tags():
    twin = make_item(1, TEXT, importance=0.3, tags=("a",))
    _, [result] = store([twin], draft(trust="untrusted", importance=1.0, tags=("b",)))
    assert result.deduplicated
    assert (result.item.importance, result.item.tags, result.item.access_count) == (0.3, ("a",), 1)


def test_draft_is_trusted_no_more_than_what_it_derives_from():
    memory = make_memory()
    made = draft(trust="trusted", derived_from=("O-1",))
    how = {"now": NOW, "mint": minter(), "limits": Limits(), "trust_of": lambda item: "untrusted"}
    changes, [result] = plan_store(memory, [made], **how)
    assert result.item.trust == "untrusted"
    assert changes.put == (result.item,)
