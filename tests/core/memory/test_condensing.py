from pathlib import Path

import pytest

from mabos_cli.core.language.similar import numbers_of
from mabos_cli.core.memory.condensing import join_contents
from mabos_cli.core.memory.item import MemoryItem

GROUPS = Path(__file__).parents[3] / "fixtures/story/groups.txt"


def memories(*lines):
    """Memories as lines of the fixture: type importance: text."""
    fields = [line.partition(": ") for line in lines]
    return [
        MemoryItem(f"M-{n}", text, head.split()[0], float(head.split()[1])) for n, (head, _, text) in enumerate(fields)
    ]


def test_few_memories_stand_whole_the_most_important_first():
    few = memories("event 0.6: Acme asked", "decision 0.8: Acme pays", "event 0.7: Acme called")
    assert join_contents(few) == "Acme pays | Acme called | Acme asked"
    assert join_contents(memories("event 0.6: Acme asked", "event 0.7: acme  asked")) == "acme  asked"


@pytest.mark.parametrize("block", GROUPS.read_text("utf-8").partition("\n")[2].strip().split("\n\n"))
def test_a_group_keeps_decisions_numbers_and_names_in_half_of_its_text(block):
    group = memories(*block.split("\n"))
    text = join_contents(group)
    assert len(text) <= 0.5 * sum(len(item.content) for item in group)
    assert text.startswith(max(group, key=lambda item: item.importance).content.split(". ")[0])
    assert all(item.content in text for item in group if item.type == "decision")
    assert set().union(*(numbers_of(item.content) for item in group)) <= numbers_of(text)
    told = " ".join(item.content for item in group)
    names = ("Priya Nair", "Postgres", "Acme", "Joanna", "SAML", "Lucia", "Omar", "Sunday")
    assert [name for name in names if name in told and name not in text] == []
    assert all(part.endswith(".") for part in text.split(" | "))


def test_sentences_that_differ_in_a_number_or_a_name_are_one():
    told = [
        f"event 0.6: {name} took {n} minutes." for name, n in (("Oven One", 20), ("Oven One", 25), ("Oven Two", 31))
    ]
    assert (
        join_contents(memories(*told, "event 0.7: Rent is due."))
        == "Rent is due. | Oven One took 20 and 25 minutes (Oven Two 31)."
    )
    rose = memories(*(f"event 0.6: It rose from {n} to {n + 1}." for n in range(1, 5)))
    assert numbers_of(join_contents(rose)) == {"1", "2", "3", "4", "5"}, "two numbers are no series"


def test_decisions_and_numbers_win_over_the_half():
    group = memories(*(f"decision 0.7: We chose plan {n} for harbour {n}" for n in range(5)))
    assert all(item.content in join_contents(group) for item in group)
