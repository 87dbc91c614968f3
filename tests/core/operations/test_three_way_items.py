"""Items, facts, rules and cases that both sides changed: known answers, and the same ones with the sides swapped."""

from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.core.knowledge.case import Case, Revision
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.memory.item import TRUSTS, MemoryItem
from mabos_cli.core.operations.three_way import (
    is_only_used,
    merge_cases,
    merge_facts,
    merge_items,
    merge_rules,
    merge_store,
    unite_facts,
)

ITEM = MemoryItem("M-1-0002", "We bill per seat", tags=("billing",), created_at="2026-01-01", accessed_at="2026-01-01")


def test_an_item_takes_the_changes_of_both():
    a = ITEM._replace(importance=0.9, tags=("billing", "sales"), accessed_at="2026-01-05", access_count=3)
    b = ITEM._replace(type="fact", tags=("pricing",), accessed_at="2026-01-03", access_count=2)
    kept, spare = merge_items(ITEM, a, b)
    assert spare == ""
    assert kept == ITEM._replace(
        importance=0.9, type="fact", tags=("pricing", "sales"), accessed_at="2026-01-05", access_count=5
    )


def test_two_texts_are_two_memories_and_the_newer_keeps_the_id():
    a = ITEM._replace(content="We bill per user", accessed_at="2026-01-05", trust="trusted")
    b = ITEM._replace(content="We bill per year", accessed_at="2026-01-03", trust="untrusted")
    kept, spare = merge_items(ITEM, a, b)
    assert (kept.content, spare) == ("We bill per user", "theirs")
    assert kept.trust == "untrusted"  # whoever vouched for one text has not seen the other
    assert merge_items(ITEM, b, a) == (kept, "ours")


def test_of_two_that_drew_the_same_id_the_older_keeps_it():
    younger = ITEM._replace(content="Something else", created_at="2026-01-02")
    assert merge_items(None, younger, ITEM) == (ITEM, "ours")
    assert merge_items(None, ITEM, younger) == (ITEM, "theirs")
    used = ITEM._replace(access_count=4)
    assert merge_items(None, ITEM, used).kept.access_count == 4


def test_a_vouched_text_does_not_lend_its_trust_to_an_edit():
    vouched, edited = ITEM._replace(trust="trusted"), ITEM._replace(content="We bill by the hour")
    assert merge_items(ITEM, vouched, edited).kept._replace(id="") == edited._replace(id="", trust="agent")


_times = st.sampled_from(["2026-01-01", "2026-01-02", "2026-01-03"])
_items = st.builds(
    MemoryItem,
    id=st.just("M-1-0002"),
    content=st.sampled_from("pqr"),
    importance=st.sampled_from([0.2, 0.5, 0.9]),
    trust=st.sampled_from(TRUSTS),
    tags=st.lists(st.sampled_from("xyz"), unique=True).map(tuple),
    created_at=_times,
    accessed_at=_times,
    access_count=st.integers(0, 4),
    extra=st.dictionaries(st.sampled_from("uv"), st.integers(0, 2)).map(lambda found: tuple(sorted(found.items()))),
)


@given(st.none() | _items, _items, _items)
def test_items_do_not_ask_who_is_ours(base, a, b):
    one, other = merge_items(base, a, b), merge_items(base, b, a)
    assert _unordered(one.kept) == _unordered(other.kept)
    assert (one.spare, other.spare) in (("", ""), ("ours", "theirs"), ("theirs", "ours")) or a == b
    texts = {one.kept.content, *([a.content] if one.spare == "ours" else [b.content] if one.spare else [])}
    assert {item.content for item in (a, b) if not base or item.content != base.content} <= texts


def _unordered(item: MemoryItem) -> MemoryItem:
    return item._replace(extra=tuple(sorted(item.extra)))


def test_stores():
    assert merge_store("short_term", "short_term", "working") == "working"
    assert merge_store("working", "short_term", "long_term") == "long_term"
    assert merge_store(None, "working", "short_term") == "short_term"
    assert is_only_used(ITEM, ITEM._replace(access_count=9, accessed_at="2026-02-02"))
    assert not is_only_used(ITEM, ITEM._replace(importance=0.6))


FACT = Fact("F-1-0002", "acme", "owns", "river", 0.5, created_at="2026-01-01", updated_at="2026-01-01")


def test_the_later_word_about_a_fact_counts_then_the_more_certain():
    a = FACT._replace(confidence=0.9, updated_at="2026-01-05")
    b = FACT._replace(confidence=0.7, valid_until="2026-06-01", updated_at="2026-01-03")
    kept = FACT._replace(confidence=0.9, valid_until="2026-06-01", updated_at="2026-01-05")
    assert merge_facts(FACT, a, b) == merge_facts(FACT, b, a) == (kept, "")
    same_time = b._replace(updated_at="2026-01-05")
    assert merge_facts(FACT, a, same_time).kept.confidence == 0.9


def test_two_facts_that_say_the_same_are_one():
    a = FACT._replace(confidence=0.6, trust="trusted", valid_from="2026-01-01")
    b = FACT._replace(id="F-2-0004", confidence=0.9, created_at="2026-01-02", updated_at="2026-01-02")
    one = unite_facts(a, b)
    assert one == unite_facts(b, a)
    assert (one.id, one.confidence, one.trust, one.valid_from) == ("F-1-0002", 0.9, "agent", "2026-01-01")
    assert dict(one.extra) == {"same_as": ["F-2-0004"]}
    third = FACT._replace(id="F-3-0006", created_at="2026-01-03", updated_at="2026-01-03")
    assert dict(unite_facts(one, third).extra) == {"same_as": ["F-2-0004", "F-3-0006"]}


def test_a_fact_with_another_triple_under_the_same_id_is_another_fact():
    other = FACT._replace(object="lake", created_at="2026-01-02")
    assert merge_facts(None, other, FACT) == (FACT, "ours")


RULE = {
    "id": "R-001",
    "name": "n",
    "type": "inference",
    "conditions": [{"subject": "?x"}],
    "confidence_factor": 0.9,
}


def test_rules():
    a, b = (
        RULE | {"enabled": False, "confidence_factor": 0.7},
        RULE | {"name": "better", "confidence_factor": 0.8},
    )
    merged = RULE | {"enabled": False, "name": "better", "confidence_factor": 0.7}
    assert merge_rules(RULE, a, b).kept == merge_rules(RULE, b, a).kept == merged
    said = [RULE | {"conditions": [{"subject": name}]} for name in ("?y", "?z")]
    assert merge_rules(RULE, *said) == (said[0], "theirs")
    assert merge_rules(RULE, *said[::-1]) == (said[0], "ours")
    older, younger = RULE | {"created_at": "2026-01-01"}, said[0] | {"created_at": "2026-01-02"}
    assert merge_rules(None, younger, older) == (older, "ours")


CASE = Case("C-001", ("B-1",), context="churn", actions=("call",), stored_at="2026-01-01", uses=1)


def test_a_case_counts_all_uses_and_keeps_what_lost():
    a = CASE._replace(uses=3, success=True, lessons="Call first", context="churn rose", last_used="2026-01-05")
    b = CASE._replace(
        uses=2, lessons="Write first", context="churn fell", metrics=(("churn", 0.1),), last_used="2026-01-03"
    )
    kept = merge_cases(CASE, a, b).kept
    assert kept == merge_cases(CASE, b, a).kept
    assert (kept.uses, kept.success, kept.lessons) == (4, True, "Write first\nCall first")
    assert (kept.context, kept.metrics, kept.last_used) == ("churn rose", (("churn", 0.1),), "2026-01-05")
    assert kept.revisions == (Revision("2026-01-05", "merge", (("context", "churn fell"),)),)


def test_a_metric_that_both_measured_keeps_the_other_value_among_the_revisions():
    a, b = (CASE._replace(metrics=(("churn", value),), last_used=f"2026-01-0{n}") for n, value in ((5, 0.1), (3, 0.2)))
    kept = merge_cases(CASE, a, b).kept
    assert kept.metrics == (("churn", 0.1),)
    assert kept.revisions[0].was == (("metrics", (("churn", 0.2),)),)


def test_of_two_cases_with_one_number_the_older_keeps_it():
    younger = Case("C-001", ("B-2",), context="growth", actions=("hire",), stored_at="2026-01-02")
    assert merge_cases(None, younger, CASE) == (CASE, "ours")
    again = CASE._replace(uses=4)
    assert merge_cases(None, CASE, again) == (again, "")
