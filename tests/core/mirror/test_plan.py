"""What a mirror still lacks, by files and ledger."""

from mabos_cli.core.mirror.records import (
    Entry,
    Todo,
    compare_found,
    count_standing,
    count_states,
    last_failure,
    plan_sync,
)

A, B, C = ("goal", "main/1"), ("plan", "main/1"), ("goal", "main/2")


def known(**states: str) -> dict:
    """Entries of A, B and C, each with hash x."""
    keys = {"a": A, "b": B, "c": C}
    return {keys[name]: Entry(*keys[name], state, "x") for name, state in states.items()}


def test_what_is_written_as_it_is_needs_nothing() -> None:
    assert plan_sync({A: "x", B: "x"}, known(a="ok", b="ok")) == Todo()


def test_new_and_changed_records_are_written_and_others_deleted() -> None:
    assert plan_sync({A: "y", B: "x"}, known(a="ok", c="ok")) == Todo((A, B), (C,))


def test_what_is_queued_is_written_even_as_it_is() -> None:
    assert plan_sync({A: "x"}, known(a="queued")) == Todo((A,))


def test_what_was_refused_waits_for_a_change_unless_it_is_tried_again() -> None:
    assert plan_sync({A: "x"}, known(a="failed"), again=False) == Todo()
    assert plan_sync({A: "y"}, known(a="failed"), again=False) == Todo((A,))
    assert plan_sync({A: "x"}, known(a="failed")) == Todo((A,))


def test_what_is_gone_is_not_deleted_twice_and_comes_back_when_wanted() -> None:
    assert plan_sync({}, known(a="gone", b="queued", c="failed")) == Todo((), (B, C))
    assert plan_sync({A: "x"}, known(a="gone")) == Todo((A,))


def test_a_ledger_is_put_right_by_what_the_mirror_holds() -> None:
    """A was wiped from the mirror, B is there although it should be gone, C is as the ledger says, and one more is unknown."""
    more = ("belief", "main/9")
    right = compare_found(known(a="ok", b="gone", c="ok"), {B, C, more})
    assert right == known(c="ok") | {key: Entry(*key, "queued") for key in (A, B, more)}
    assert plan_sync({A: "x", C: "x"}, right) == Todo((A,), (B, more))


def test_what_was_deleted_and_not_noted_is_deleted_again_and_noted() -> None:
    assert plan_sync({}, compare_found(known(a="ok", b="gone"), set())) == Todo((), (A,))


def test_what_was_refused_stays_refused_whatever_is_there() -> None:
    assert compare_found(known(a="failed"), set()) == known(a="failed")


def test_states_are_counted_by_the_ledger_and_by_the_files() -> None:
    entries = known(a="ok", b="failed", c="ok")
    assert count_states(entries) == {"ok": 2, "queued": 0, "failed": 1}
    assert count_standing({A: "y", B: "x"}, entries) == {"ok": 0, "queued": 2, "failed": 1}
    assert count_standing({}, {}) == {"ok": 0, "queued": 0, "failed": 0}


def test_the_last_failure_is_the_latest() -> None:
    first, last = (Entry("belief", f"main/{n}", "failed", error=str(n), at=f"2026-02-0{n}") for n in (1, 2))
    assert last_failure({last.key: last, first.key: first, C: Entry(*C, "ok", at="2026-03-01")}) == last
    assert last_failure({}) is None
