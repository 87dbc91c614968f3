"""Evidence against what is about to be packed."""

import pytest

from mabos_cli.core.context.candidates import (
    Against,
    Entry,
    add_concerns,
    find_against,
    has_rival_facts,
    mark_rivals,
    named_things,
)
from mabos_cli.core.knowledge.fact import Fact


def items(*texts: str) -> list[Entry]:
    return [Entry(f"M-{n}", text) for n, text in enumerate(texts)]


def facts(*told: tuple[str, str, str]) -> list[Entry]:
    made = [Fact(f"F-{n}", *triple) for n, triple in enumerate(told)]
    return [Entry(fact.id, " ".join(fact.triple), "fact", fact=fact) for fact in made]


def test_the_strongest_one_speaks_against_a_better_one() -> None:
    ranked = items(
        "Market demand is growing",
        "The office is in Lenz",
        "Market demand is declining",
        "Market demand is shrinking",
    )
    assert find_against(ranked) == Against("M-2", "M-0", "growing against declining")


def test_one_sentence_of_several_is_enough() -> None:
    one = "We met in Lenz and ate fish. Market demand is growing. Ann paid for lunch and left by train."
    two = "The report of Bob covers rents, roads and bridges. Market demand is declining. It has ten pages."
    assert find_against(items(one, two)) == Against("M-1", "M-0", "growing against declining")


@pytest.mark.parametrize(
    "texts",
    [
        ("The office is in Berlin.", "The office is in Munich."),
        ("The server is online", "The server is offline"),
        ("We met Ann. The office is in Berlin.", "The office is in Munich."),
        ("# Price\n\nThe seat price is 49 dollars.", "# Price\n\nThe seat price is 59 dollars."),
    ],
)
def test_a_subject_of_one_word_is_enough(texts: tuple[str, ...]) -> None:
    found = find_against(items(*texts))
    assert found and (found.ref, found.against) == ("M-1", "M-0")


@pytest.mark.parametrize(
    "texts",
    [
        ("# Website\n\nThe project is on time.", "# App\n\nThe project is late."),
        ("# Ann\n\nShe works in sales. She is on leave.", "# Bob\n\nHe works in sales. He is not on leave."),
        ("Acme is a customer. It pays monthly.", "Bolt is a customer. It does not pay monthly."),
    ],
)
def test_sentences_about_what_another_sentence_names_do_not_contradict(texts: tuple[str, ...]) -> None:
    assert find_against(items(*texts)) is None


def test_the_less_trusted_speaks_against_the_more_trusted() -> None:
    one, two = items("Market demand is growing", "Market demand is declining")
    found = find_against([one, two._replace(trust="trusted")])
    assert found and (found.ref, found.against) == ("M-0", "M-1")


@pytest.mark.parametrize(
    "texts",
    [
        ("Market demand is growing", "Market demand is growing fast"),
        ("Seat price is 49 dollars", "Room price is 59 dollars"),
        ("Demand in Lenz is growing", "Rent in Kolm is declining"),
        ("apples", "pears"),
        (),
    ],
)
def test_other_subjects_and_restatements_do_not_contradict(texts: tuple[str, ...]) -> None:
    assert find_against(items(*texts)) is None


def test_only_the_best_few_are_compared() -> None:
    filler = [f"Sentence {chr(97 + n) * 4} about {chr(98 + n) * 5}" for n in range(12)]
    assert find_against(items("Market demand is growing", *filler, "Market demand is declining")) is None


def test_facts_contradict_where_a_predicate_has_one_value() -> None:
    ranked = facts(
        ("acme", "ceo", "Ann"), ("acme", "office", "Lenz"), ("acme", "ceo", "Bob"), ("acme", "office", "Kolm")
    )
    assert find_against(ranked, frozenset({"ceo"})) == Against("F-2", "F-0", "ceo has one value at a time")
    assert find_against(ranked) is None and has_rival_facts(ranked)


def test_facts_of_different_times_or_subjects_do_not() -> None:
    one, two = facts(("acme corp", "ceo", "Ann"), ("acme corp", "ceo", "Bob"))
    past = one._replace(fact=one.fact._replace(valid_until="2025-01-01"))
    now = two._replace(fact=two.fact._replace(valid_from="2025-02-01"))
    assert find_against([past, now], frozenset({"ceo"})) is None
    others = facts(("acme", "ceo", "Ann"), ("zeta", "ceo", "Bob"))
    assert find_against(others, frozenset({"ceo"})) is None and not has_rival_facts(others)


def test_a_rumour_never_stands_above_a_surer_fact_unmarked() -> None:
    told = [("bob, boss of acme", 0.4, 0.9), ("ann", 1.0, 0.5), ("eve", 0.3, 0.6)]
    entries = []
    for n, (value, sure, score) in enumerate(told):
        fact = Fact(f"F-{n}", "acme", "hasCEO", value, sure)
        entries.append(Entry(fact.id, " ".join(fact.triple), "fact", importance=sure, score=score, fact=fact))
    marked = mark_rivals(entries, frozenset({"hasCEO"}))
    assert max(marked, key=lambda entry: entry.score).ref == "F-1"
    assert [entry.text.endswith("[against F-1, 1.00]") for entry in marked] == [True, False, True]
    assert mark_rivals(entries, frozenset()) == entries


def test_what_decides_or_blocks_is_marked_and_brought_along() -> None:
    entries = facts(("move", "blockedBy", "audit"), ("move", "owner", "Ann"))
    near = [*(entry.fact for entry in entries if entry.fact), Fact("F-9", "audit", "status", "stalled")]
    assert named_things(entries, "When may the move start?") == ["move"]
    found = add_concerns([entry._replace(score=0.5) for entry in entries], ["move"], near)
    assert [(entry.ref, entry.text.split(":")[0]) for entry in found] == [
        ("F-0", "blocked"), ("F-1", "move owner Ann"), ("F-9", "blocked"),
    ]  # fmt: skip
    assert found[2].score < 0.5
