"""What a question is about, in facts and goals."""

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.graph import find_asked
from mabos_cli.core.knowledge.rule import Pattern, Rule

FACTS = [
    Fact("F-1", "acme", "locatedIn", "US"),
    Fact("F-2", "acme", "hasRevenue", "50000"),
    Fact("F-3", "zenith", "ownedBy", "acme"),
    Fact("F-4", "bolt", "locatedIn", "EU"),
]
TAXED = Rule("R-1", "tax", "inference", (Pattern("?x", "locatedIn", "US"),), Pattern("?x", "isTaxable", "true"))


def test_facts_with_most_of_the_words_come_first() -> None:
    found, goals = find_asked("What revenue has Acme?", FACTS, [TAXED], 4)
    assert [fact.id for fact in found] == ["F-2", "F-1", "F-3"] and goals == []


def test_a_predicate_that_is_named_in_another_form_is_a_goal() -> None:
    assert find_asked("Why is Acme taxed?", FACTS, [TAXED], 4)[1] == [("acme", "isTaxable", "*")]
    assert find_asked("Why is Acme taxed?", FACTS, [TAXED], 0)[1] == []


def test_a_question_about_nothing_known_finds_nothing() -> None:
    assert find_asked("Who wrote Faust?", FACTS, [TAXED], 4) == ([], [])
