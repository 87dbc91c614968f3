"""Keeping cases: merging, reuse, and which ones leave."""

from datetime import UTC, datetime
from math import log

import pytest

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.case import (
    Case,
    Revision,
    Worth,
    choose_leaving,
    merge_cases,
    merge_lessons,
    plan_store,
    revise_case,
    usefulness,
)

NOW = datetime(2026, 3, 1, tzinfo=UTC)
AT = "2026-03-01T00:00:00.000Z"


class Held(tuple[Case, ...]):
    """Cases as a plan sees them."""

    def ids(self):
        return [case.id for case in self]

    def alike(self, key):
        return [case for case in self if case.key == key]

    def worths(self):
        return [Worth(c.id, c.key, c.uses, c.success, c.last_used or c.stored_at) for c in self]


def store(given, *cases, limit=100, used=None):
    return plan_store(given, Held(cases), NOW, AT, limit, used)


def test_usefulness_by_hand():
    assert usefulness(0, True, 0, 1) == 2.0
    assert usefulness(3, True, 0, 1) == pytest.approx((1 + log(4)) * 2)
    assert usefulness(0, False, 0, 1) == pytest.approx(1.6)
    assert usefulness(0, None, 180, 4) == pytest.approx(0.5 * 0.5 * 1.25)
    assert usefulness(0, True, 10_000, 1) == pytest.approx(0.2)  # a tenth is left
    assert usefulness(0, True, -5, 1) == 2.0  # a clock that is ahead adds nothing


def test_a_new_case_gets_an_id_and_a_date():
    changes, told = store([Case("", ("B-1",), actions=("a",))], Case("C-001", ("B-1",), actions=("b",)))
    new = Case("C-002", ("B-1",), actions=("a",), stored_at=AT)
    assert changes == ((new,), (), ()) and told == [(new, "stored")]


def test_the_same_case_is_merged():
    old = Case("C-007", ("B-1",), context="Churn rose", actions=("call",), success=True,
               metrics=(("churn", 0.1), ("days", 3)), lessons="Call", stored_at="2026-01-01")  # fmt: skip
    again = Case(
        "",
        ("B-1",),
        context="churn rose.",
        actions=("Call",),
        success=False,
        metrics=(("churn", 0.2),),
        lessons="Write",
    )
    changes, told = store([again], old)
    merged = told[0][0]
    assert told[0][1] == "merged" and changes.put == (merged,) and not changes.drop
    assert (merged.id, merged.context, merged.stored_at) == ("C-007", "Churn rose", "2026-01-01")
    assert (merged.success, merged.metrics, merged.lessons) == (
        False,
        (("churn", 0.2), ("days", 3)),
        "Call\nWrite",
    )
    assert (merged.uses, merged.last_used, merged.merged) == (1, AT, 1)
    was = (("success", True), ("metrics", (("churn", 0.1), ("days", 3))), ("lessons", "Call"))
    assert merged.revisions == (Revision(AT, "merge", was),)


def test_merging_what_says_nothing_new_only_counts():
    old = Case("C-1", ("B-1",), actions=("call",), success=True, lessons="Call first")
    merged = merge_cases(old, Case("", ("B-1",), actions=("call",), lessons="call"), AT)
    assert merged == old._replace(uses=1, last_used=AT, merged=1)


def test_equal_cases_of_one_batch_become_one():
    cases = [Case("", ("B-1",), actions=("a",), lessons=text) for text in ("one", "two", "three")]
    changes, told = store(cases)
    assert [state for _, state in told] == ["stored", "merged", "merged"]
    assert len(changes.put) == 1 and changes.put[0].lessons == "one\ntwo\nthree" and changes.put[0].merged == 2


def test_lessons_are_kept_unless_one_holds_the_other():
    assert merge_lessons("", "Call") == "Call" and merge_lessons("Call", "") == "Call"
    assert merge_lessons("call", "Call them, then write") == "Call them, then write"
    assert merge_lessons("a" * 5000, "b" * 5000) == "b" * 5000  # the earlier one stays in the revisions


def test_an_adaptation_counts_a_use_of_its_source():
    base = Case("C-001", ("B-1",), actions=("a",), uses=2)
    changes, told = store([Case("", ("B-1",), actions=("b",), adapted_from="C-001")], base, used=base)
    assert [(case.id, case.uses) for case in changes.put] == [("C-001", 3), ("C-002", 0)]
    changes, told = store([base._replace(id="", uses=0)], base, used=base)  # nothing was adapted
    assert [(case.id, case.uses) for case in changes.put] == [("C-001", 3)] and told[0][1] == "merged"


def test_reuse_keeps_the_earlier_outcome():
    old = Case(
        "C-1",
        ("B-1",),
        actions=("a",),
        success=True,
        metrics=(("x", 1), ("y", 2)),
        uses=1,
        last_used="2026-01-01",
    )
    new = revise_case(old, {"success": False, "metrics": (("x", 5),), "actions": ("b",)}, AT)
    assert (new.success, new.metrics, new.actions) == (False, (("x", 5), ("y", 2)), ("b",))
    assert (new.uses, new.last_used) == (2, AT)
    was = (("actions", ("a",)), ("success", True), ("metrics", (("x", 1), ("y", 2))))
    assert new.revisions == (Revision(AT, "reuse", was),)
    again = revise_case(new, {"success": False}, AT)
    assert again == new._replace(uses=3)  # confirmed: nothing to note but the use
    right = revise_case(new, {"success": True}, AT, is_use=False)
    assert (right.uses, right.revisions[-1].by) == (2, "correction")


def worths(*told):
    return [
        Worth(f"C-{n}", (frozenset(key), frozenset()), uses, success, at)
        for n, (key, uses, success, at) in enumerate(told)
    ]


def test_the_least_useful_leaves():
    held = worths(
        ("a", 0, True, "2026-02-01"),
        ("b", 5, True, "2025-01-01"),
        ("c", 0, None, "2026-02-01"),
        ("d", 0, False, "2026-02-01"),
    )
    assert choose_leaving(held, 2, NOW) == ["C-2", "C-1"]
    assert choose_leaving(held, 9, NOW) == ["C-2", "C-1", "C-3", "C-0"]


def test_beyond_the_limit_old_cases_leave_for_new_ones():
    cases = [Case(f"C-00{n}", (f"B-{n}",), actions=("a",), stored_at="2026-02-01", uses=n) for n in range(1, 4)]
    changes, told = store([Case("", ("B-9",), actions=("a",))], *cases, limit=3)
    assert changes.drop == ("C-001",) and told[0][0].id == "C-004"
    assert [(d.id, d.reason) for d in changes.archive] == [("C-001", "least useful of more than 3")]
    changes, _ = store([Case("", ("B-1",), actions=("a",))], *cases, limit=3)  # merged: nothing leaves
    assert changes.drop == ()
    changes, _ = store([Case("", ("B-9",), actions=("a",))], *cases, limit=1)
    assert changes.drop == ("C-001", "C-002", "C-003")
    # What was merged just now stays, though it is worth least.
    given = [Case("", ("B-1",), actions=("a",), lessons="x"), Case("", ("B-9",), actions=("a",))]
    twice = [cases[0]._replace(success=None, stored_at="2020-01-01"), cases[1]]
    changes, told = store(given, *twice, limit=2)
    assert changes.drop == ("C-002",) and [case.id for case, _ in told] == ["C-001", "C-003"]
    with pytest.raises(BadValue, match="2 cases are more than the 1"):
        store([Case("", ("B-8",), actions=("a",)), Case("", ("B-9",), actions=("a",))], limit=1)
