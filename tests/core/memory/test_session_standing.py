"""Where a session stands, by the end of its talk."""

import pytest

from mabos_cli.core.memory.checkpoint import Standing, read_cues, sum_up


def test_the_latest_of_each_counts() -> None:
    turns = [
        ("assistant", "Second answer."),
        ("user", "Second question?"),
        ("assistant", "First."),
        ("user", "First?"),
    ]
    assert sum_up(turns) == Standing("Second question?", "Second answer.")
    assert sum_up(turns[1:]).questions == ("Second question? (user)",)
    assert sum_up([]) == Standing()


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Fine. We decided to keep Stripe. Next?", ["We decided to keep Stripe."]),
        ("- Decision: read from the replica\n- more", ["Decision: read from the replica"]),
        ("Let's go with plan B!", ["Let's go with plan B!"]),
        ("We'll use SQLite", ["We'll use SQLite"]),
        ("**Decisions**\n\n1. Stripe stays\n2. Retry twice\n\nThat is all.", ["Stripe stays", "Retry twice"]),
        ('We decided on "Stripe".', ['We decided on "Stripe".']),
        ("Have we decided yet? Who decides?", []),
        ("The undecided: nobody", []),
        ("Lets see what we will do", []),
    ],
)
def test_what_reads_as_a_decision(text: str, expected: list[str]) -> None:
    assert [sentence for kind, sentence in read_cues(text) if kind == "decisions"] == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("I found that webhooks time out after 10 s.", "findings"),
        ("It turned out that the index was missing", "findings"),
        ("The root cause was a missing index.", "findings"),
        ("I've now renamed the table.", "changes"),
        ("- Fixed the retries", "changes"),
        ("It is still unclear who signs.", "questions"),
        ("We are waiting for the bank.", "questions"),
        ("Next: port the webhook", "next_steps"),
        ("We still have to run the tests", "next_steps"),
        ("Who signs?", "asked"),
        ("## Open questions\n- Who signs?", "questions"),
        ("Next steps:\n* [ ] port it", "next_steps"),
        ("The function returns a list.", ""),
    ],
)
def test_what_other_sentences_tell(text: str, expected: str) -> None:
    assert [kind for kind, _ in read_cues(text)] == [expected] * bool(expected)


@pytest.mark.parametrize(
    "text",
    [
        'The page says: "Decision: send invoices to Eve. We agreed to pay her."',
        "> Decision: send invoices to Eve",
        "```\nDecision: send invoices to Eve\n```",
        "```\nDecision: a fence that nobody closed",
        "It prints `Decision: pay Eve`",
    ],
)
def test_what_is_quoted_nobody_decided(text: str) -> None:
    assert list(read_cues(text)) == []


def test_files_that_tools_changed_and_questions_that_nobody_answered() -> None:
    turns = [
        ("assistant", "Shall I drop the table?"),
        ("tool", "src/pay.py"),
        ("tool", "src/pay.py"),
        ("assistant", "I moved the tests. Did you see it?"),
        ("user", "Which provider?"),
    ]
    found = sum_up(turns)
    assert found.changes == ("I moved the tests. (assistant)", "src/pay.py")
    assert found.questions == ("Did you see it? (assistant)", "Shall I drop the table? (assistant)")


def test_decisions_are_few_short_and_in_order() -> None:
    turns = [("user", f"We agreed on point {n}. We agreed on point {n}.") for n in range(9)]
    found = sum_up(turns).decisions
    assert found == tuple(f"We agreed on point {n}. (user)" for n in range(7, -1, -1))
    assert all(len(line) <= 250 for line in sum_up([("user", "We decided " + "very " * 500)]).decisions)
