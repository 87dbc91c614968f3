"""Storing and trust: who says something less reliably changes nothing, who says it more reliably is heard."""

import pytest

from core.fakes import NOW, ScanRelatives, make_item, make_memory, minter
from mabos_cli.core.memory.stores import Draft, Limits, plan_revive, plan_update
from mabos_cli.core.memory.storing import plan_store

TEXT = "The staging database is restored every night at two"
AGAIN = "The staging database is restored every night at two!"


def say(content, trust="agent", store="long_term", **fields):
    item = make_item(0, content, trust=trust, created_at="", **fields)._replace(id="")
    return Draft(item, store)


def store(known, *drafts, recent=(), **options):
    return plan_store(
        make_memory((), recent, known),
        list(drafts),
        now=NOW,
        mint=minter(),
        limits=Limits(),
        relatives=ScanRelatives(known),
        **options,
    )


def test_a_less_trusted_repetition_changes_nothing_but_the_count():
    twin = make_item(1, TEXT, trust="trusted", tags=("db",), importance=0.4)
    draft = say(AGAIN, "untrusted", importance=0.95, tags=("evil",), context="because")
    changes, [done] = store([twin], draft)
    [put] = changes.put
    assert put == twin._replace(access_count=twin.access_count + 1, accessed_at=put.accessed_at)
    assert done.deduplicated and done.item.id == twin.id
    [away] = changes.archive
    assert (away.reason, away.into, away.item.trust, away.item.content) == (
        "merged",
        twin.id,
        "untrusted",
        AGAIN,
    )


def test_an_equally_trusted_repetition_strengthens_as_ever():
    twin = make_item(1, TEXT, tags=("db",), importance=0.4)
    [put] = store([twin], say(AGAIN, importance=0.9, tags=("backup",)))[0].put
    assert (put.importance, put.tags, put.trust) == (0.9, ("db", "backup"), "agent")


@pytest.mark.parametrize("low, high", [("untrusted", "agent"), ("untrusted", "trusted"), ("agent", "trusted")])
def test_a_more_trusted_text_does_not_vanish_behind_its_twin(low: str, high: str):
    twin = make_item(1, TEXT, trust=low)
    changes, [done] = store([twin], say(AGAIN, high))
    assert not done.deduplicated and changes.archive == ()
    [put] = changes.put
    assert (put.content, put.trust, put.related_to) == (AGAIN, high, (twin.id,))


def test_among_twins_one_that_is_trusted_enough_is_merged_with():
    planted, own = make_item(1, TEXT, trust="untrusted"), make_item(2, TEXT)
    _, [done] = store([planted, own], say(TEXT))
    assert (done.item.id, done.deduplicated) == (own.id, True)


@pytest.mark.parametrize("where", ["long_term", "short_term"])
@pytest.mark.parametrize(
    "known, given, is_new",
    [("untrusted", "agent", True), ("agent", "agent", False), ("trusted", "untrusted", False)],
)
def test_only_what_is_trusted_enough_is_known(where: str, known: str, given: str, is_new: bool):
    twin = make_item(1, TEXT, trust=known, importance=0.9)
    long_term, recent = ([twin], []) if where == "long_term" else ([], [twin])
    _, [done] = store(long_term, say(AGAIN, given, "short_term"), recent=recent, if_new=True)
    assert (done.stored, done.deduplicated) == (is_new, not is_new)


def test_a_draft_is_trusted_no_more_than_its_lineage_and_so_is_a_twin():
    low = make_item(1, TEXT, trust="trusted", derived_from=("O-1-0000",))
    trust_of = lambda item: "untrusted" if item.derived_from else item.trust  # noqa: E731
    changes, _ = store([], say("one", "trusted", derived_from=("O-1-0000",)), trust_of=trust_of)
    assert changes.put[0].trust == changes.log[0].trust == "untrusted"
    _, [done] = store([low], say(AGAIN), trust_of=trust_of)
    assert not done.deduplicated


def test_an_edit_and_a_return_are_trusted_no_more_than_is_said_of_them():
    item = make_item(1, "old", trust="trusted")
    memory = make_memory((), (), [item])
    low = lambda item: "untrusted"  # noqa: E731
    assert plan_update(memory, item.id, {"content": "new"}, now=NOW, trust_of=low)[1].trust == "untrusted"
    assert plan_update(memory, item.id, {"importance": 0.9}, now=NOW, trust_of=low)[1].trust == "trusted"
    assert plan_revive(make_memory(), item, "long_term", now=NOW, trust_of=low)[1][0].trust == "untrusted"
