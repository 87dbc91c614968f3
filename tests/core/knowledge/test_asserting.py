"""Asserting and retracting as plans."""

import pytest

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.asserting import plan_assert
from mabos_cli.core.knowledge.fact import Fact, Query, check_fact, plan_retract, select_facts

NOW = "2026-02-24T14:30:00.000Z"


def assert_all(*given, known=(), keep=()):
    ids = iter(f"F-{n}" for n in range(1, 99))
    find = lambda triple: [fact for fact in known if fact.triple == triple]  # noqa: E731
    return plan_assert(given, find, lambda: next(ids), NOW, keep)


def said(subject="acme", predicate="owns", obj="shop", **fields):
    return Fact("", subject, predicate, obj, **fields)


def test_facts_are_the_same_when_their_triples_are_not_when_their_texts_are():
    changes, told = assert_all(said("a b", "c", "d"), said("a", "b c", "d"), said("a", "b", "c d"))
    assert [state for _, state in told] == ["added"] * 3 and len(changes.put) == 3


def test_the_last_word_counts_and_the_first_version_is_archived():
    known = Fact("F-9", "acme", "owns", "shop", 0.5, extra=(("note", 1),), created_at="x")
    more = said(confidence=0.7, extra=(("tag", 2),))
    changes, told = assert_all(said(confidence=0.6), more, more, known=[known])
    assert [state for _, state in told] == ["updated", "updated", "unchanged"]
    assert [(d.fact, d.reason, d.into) for d in changes.archive] == [(known, "updated", "F-9")]
    (new,) = changes.put
    assert (new.id, new.confidence, new.created_at) == ("F-9", 0.7, "x")
    assert dict(new.extra) == {"note": 1, "tag": 2}


def test_what_nobody_gave_stays():
    known = Fact("F-9", "acme", "owns", "shop", 0.5, "crm", "trusted")
    changes, told = assert_all(said(), known=[known], keep=("confidence", "source", "trust"))
    assert told == [(known, "unchanged")] and not changes.put
    changes, _ = assert_all(said(confidence=0.9), known=[known], keep=("source", "trust"))
    assert changes.put[0][4:7] == (0.9, "crm", "trusted")
    changes, _ = assert_all(said(), keep=("confidence", "source", "trust"))
    assert changes.put[0][4:7] == (1.0, "manual", "agent")


def test_what_was_derived_in_a_foreign_file_is_asserted_from_now_on():
    known = Fact("F-9", "acme", "owns", "shop", 0.5, rule_id="R-001", derived_from=("F-1",))
    changes, _ = assert_all(said(confidence=0.5), known=[known])
    assert not changes.put[0].is_derived and not changes.put[0].derived_from


def test_times_stay_unless_new_ones_are_given_and_must_fit_together():
    known = Fact("F-9", "acme", "owns", "shop", valid_from="2026-03-01")
    changes, _ = assert_all(said(valid_until="2026-03-01"), known=[known])
    assert (changes.put[0].valid_from, changes.put[0].valid_until) == ("2026-03-01", "2026-03-01")
    with pytest.raises(BadValue, match="before it begins"):
        assert_all(said(valid_until="2026-02-28"), known=[known])


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"subject": " \n "}, "the subject is empty"),
        ({"predicate": ""}, "the predicate is empty"),
        ({"obj": "a\x00b"}, "bad object"),
        ({"obj": "x" * 2001}, "bad object"),
        ({"obj": "?x"}, "no variables"),
        ({"confidence": 1.0001}, "outside 0..1"),
        ({"confidence": float("nan")}, "outside 0..1"),
        ({"valid_from": "soon"}, "not a date"),
        ({"trust": "high"}, "trust"),
        ({"source": "a\nb"}, "bad source"),
    ],
)
def test_what_makes_no_sense_is_refused(fields, told):
    with pytest.raises(BadValue, match=told):
        check_fact(said(**fields))


def test_retracting_keeps_what_is_gone():
    fact = Fact("F-1", "a", "b", "c")
    changes = plan_retract([fact], "", NOW)
    assert changes.drop == ("F-1",) and changes.archive[0].reason == "retracted" and changes.derived is None


@pytest.mark.parametrize(
    ("pattern", "found"),
    [("*", 4), ("a*", 3), ("*c", 2), ("a*c", 2), ("abc", 1), ("a*b*c", 2), ("a.c", 0), ("**", 4), ("ab*bc", 1), ("", 0)],
)  # fmt: skip
def test_patterns(pattern, found):
    facts = [Fact("F-1", subject, "p", "o") for subject in ("abc", "abbc", "a\nb", "x")]
    assert len(list(select_facts(facts, Query(pattern)))) == found


def test_a_pattern_of_many_stars_takes_no_time():
    facts = [Fact("F-1", "a" * 2000, "p", "o")]
    assert not list(select_facts(facts, Query("*a" * 40 + "*b")))


def stretch(start, end, own="F-9", sure=1.0):
    return Fact(own, "acme", "owns", "shop", sure, valid_from=start, valid_until=end)


@pytest.mark.parametrize(
    ("known", "given", "state", "left"),
    [
        # A stretch of its own, beside those that are known.
        ([("2020-01-01", "2021-12-31")], ("2024-01-01", ""), "added", [("2020-01-01", "2021-12-31"), ("2024-01-01", "")]),
        ([("2024-01-01", "")], ("2020-01-01", "2021-12-31"), "added", [("2020-01-01", "2021-12-31"), ("2024-01-01", "")]),
        # What follows on it, or overlaps, is one stretch.
        ([("2020-01-01", "2021-12-31")], ("2022-01-01", "2022-06-30"), "extended", [("2020-01-01", "2022-06-30")]),
        ([("2020-01-01", "2021-12-31"), ("2024-01-01", "")], ("2021-06-01", "2024-03-01"), "extended", [("2020-01-01", "")]),
        ([("2020-01-01", "2021-12-31")], ("2020-03-01", "2020-04-01"), "unchanged", [("2020-01-01", "2021-12-31")]),
        # One bound is set or cleared.
        ([("2020-01-01", "2021-12-31")], ("", "2022-12-31"), "extended", [("2020-01-01", "2022-12-31")]),
        ([("2020-01-01", "")], ("", "2021-12-31"), "updated", [("2020-01-01", "2021-12-31")]),
        ([("2020-01-01", "2021-12-31")], ("", "none"), "extended", [("2020-01-01", "")]),
        ([("2020-01-01", "2021-12-31")], ("none", "none"), "extended", [("", "")]),
        ([("2020-01-01", "2021-12-31"), ("2024-01-01", "2025-01-01")], ("", "none"), "extended", [("2020-01-01", "2021-12-31"), ("2024-01-01", "")]),
        ([("", "")], ("2020-01-01", "2021-12-31"), "updated", [("2020-01-01", "2021-12-31")]),
        ([("2020-01-01", "2021-12-31")], ("2019-01-01", ""), "extended", [("2019-01-01", "2021-12-31")]),
    ],
)  # fmt: skip
def test_a_triple_holds_for_several_stretches(known, given, state, left):
    held = [stretch(*each, own=f"F-{90 + n}") for n, each in enumerate(known)]
    changes, told = assert_all(stretch(*given, own=""), known=held)
    now = {fact.id: fact for fact in (*held, *changes.put) if fact.id not in changes.drop}
    assert told[0][1] == state
    assert sorted((fact.valid_from, fact.valid_until) for fact in now.values()) == left


def test_another_confidence_splits_what_is_known():
    known = stretch("2020-01-01", "2025-12-31", sure=0.9)
    changes, told = assert_all(stretch("2022-01-01", "2022-12-31", own="", sure=0.4), known=[known])
    assert told[0][1] == "split" and [departure.fact for departure in changes.archive] == [known]
    assert sorted((fact.valid_from, fact.valid_until, fact.confidence) for fact in changes.put) == [
        ("2020-01-01", "2021-12-31", 0.9),
        ("2022-01-01", "2022-12-31", 0.4),
        ("2023-01-01", "2025-12-31", 0.9),
    ]
    assert len({fact.id for fact in changes.put}) == 3
