"""Where a session stands, by the end of its talk."""

import pytest

from mabos_cli.core.memory.checkpoint import Standing, sum_up


def test_the_latest_of_each_counts() -> None:
    turns = [
        ("assistant", "Second answer."),
        ("user", "Second question?"),
        ("assistant", "First."),
        ("user", "First?"),
    ]
    assert sum_up(turns) == Standing("Second question?", "Second answer.")
    assert sum_up([]) == Standing()


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Fine. We decided to keep Stripe. Next?", ("We decided to keep Stripe.",)),
        ("- Decision: read from the replica\n- more", ("Decision: read from the replica",)),
        ("Let's go with plan B!", ("Let's go with plan B!",)),
        ("We'll use SQLite", ("We'll use SQLite",)),
        ("Have we decided yet? Who decides?", ()),
        ("The undecided: nobody", ()),
        ("Lets see what we will do", ()),
    ],
)
def test_what_reads_as_a_decision(text: str, expected: tuple[str, ...]) -> None:
    assert sum_up([("user", text)]).decisions == expected


def test_decisions_are_few_short_and_in_order() -> None:
    turns = [("user", f"We agreed on point {n}. We agreed on point {n}.") for n in range(9)]
    found = sum_up(turns).decisions
    assert found == tuple(f"We agreed on point {n}." for n in (4, 3, 2, 1, 0))
    assert all(len(line) <= 240 for line in sum_up([("user", "We decided " + "very " * 500)]).decisions)
