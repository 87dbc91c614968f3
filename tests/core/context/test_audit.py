"""An audit: what says the same, what is not used, and what is advised, dearest first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.core.context.audit import (
    Advice,
    Source,
    Stale,
    advise_on_duplicates,
    advise_on_files,
    advise_on_index,
    advise_on_sections,
    advise_on_stale,
    find_duplicates,
    find_stale,
    rank_advice,
    sameness,
)
from mabos_cli.core.language.similar import likeness, word_set
from mabos_cli.core.memory.item import MemoryItem

BILLING = "We bill per seat because finance teams need a fixed number"


def source(name: str, category: str, *texts: str) -> Source:
    return Source(name, category, 10, tuple(enumerate(texts, 1)))


def refs(*sources: Source) -> list[tuple[str, str]]:
    return [(pair.kept.ref, pair.extra.ref) for pair in find_duplicates(sources)]


def test_a_copy_goes_from_memory_md() -> None:
    persona, memory = (
        source("Persona.md", "system_prompt", BILLING),
        source("MEMORY.md", "memory_md", "Other.", BILLING + "!"),
    )
    assert refs(persona, memory) == [("Persona.md:1", "MEMORY.md:2")]
    beliefs = source("Beliefs.md", "cognitive", BILLING)
    assert refs(memory, beliefs) == [("Beliefs.md:1", "MEMORY.md:2")]


def test_within_a_source_the_later_one_goes() -> None:
    assert refs(source("MEMORY.md", "memory_md", BILLING, "x", BILLING)) == [("MEMORY.md:1", "MEMORY.md:3")]


def test_derived_files_are_never_edited_and_repeat_by_design() -> None:
    domain, index = (
        source("memory/domains/facts.md", "domains", BILLING),
        source("memory/INDEX.md", "index", BILLING),
    )
    persona = source("Persona.md", "system_prompt", BILLING)
    assert refs(index, domain) == []
    assert refs(persona, domain) == [("memory/domains/facts.md:1", "Persona.md:1")]
    assert refs(index, persona) == [("memory/INDEX.md:1", "Persona.md:1")]


def test_another_number_or_a_negation_is_no_copy() -> None:
    assert refs(source("a", "memory_md", "The limit for all of us is 50", "The limit for all of us is 60")) == []
    assert refs(source("a", "memory_md", "We do ship on a Friday here", "We do not ship on a Friday here")) == []


@pytest.mark.parametrize(
    ("a", "b", "is_same"),
    [
        ("Never send external messages without asking first", "Always ask before sending external messages", True),
        (
            "Customers get an answer in their language within a day",
            "Answer customers within a day, in the language they use",
            True,
        ),
        ("Ingrid has to approve invoices above 500 EUR", "Invoices above 500 EUR must be approved by Ingrid", True),
        ("Ingrid has to approve invoices above 500 EUR", "Invoices above 900 EUR must be approved by Ingrid", False),
        ("Dana prefers email over Slack for updates", "Dana prefers Slack over email for updates", False),
        ("We use Postgres for billing data in production", "We use MySQL for billing data in production", False),
        ("We deploy billing services on Friday evenings", "We never deploy billing services on Friday", False),
    ],
)
def test_paraphrases_are_seen_and_other_claims_are_none(a: str, b: str, is_same: bool) -> None:
    assert bool(refs(source("Persona.md", "system_prompt", a), source("MEMORY.md", "memory_md", b))) is is_same


def test_copy_of_a_skill_goes_wherever_it_stands() -> None:
    skill = Source("skill bill", "skills", 9, ((0, BILLING),))
    assert refs(source("Persona.md", "system_prompt", BILLING), skill) == [("skill bill", "Persona.md:1")]
    pairs = find_duplicates([source("memory/domains/facts.md", "domains", BILLING), skill])
    assert advise_on_duplicates(pairs, len)[0].description == (
        f"forget the item of memory/domains/facts.md:1, which repeats skill bill: {BILLING}: mabos forget ID"
    )


def test_few_words_are_no_copy() -> None:
    assert refs(source("a", "memory_md", "Owner of it: Ann", "Owner of it: Ann")) == []


def test_a_skill_is_cited_by_its_name() -> None:
    skill = Source("skill pdf", "skills", 9, ((0, BILLING),))
    assert refs(skill, source("MEMORY.md", "memory_md", BILLING)) == [("skill pdf", "MEMORY.md:1")]


def test_what_nobody_used() -> None:
    items = [
        MemoryItem("1", "x" * 8, "fact"),
        MemoryItem("2", "x" * 8, "fact", 0.9),
        MemoryItem("3", "x" * 8, "event"),
        MemoryItem("4", "x" * 8, "lesson"),
    ]
    found = find_stale(items, len)
    assert found == [Stale("facts", 2, 16, 1), Stale("lessons", 1, 8, 0)]
    advice = advise_on_stale(found)
    assert [(each.savings, each.risk) for each in advice] == [(16, "medium"), (8, "low")]
    assert advice[0].description == "archive what is unused in domain facts, 2 items: mabos lifecycle run --yes"


def test_advice() -> None:
    pairs = find_duplicates([source("MEMORY.md", "memory_md", BILLING, BILLING, BILLING + " that holds")])
    advice = advise_on_duplicates(pairs, len)
    assert [(each.savings, each.risk) for each in advice] == [(58, "low"), (69, "medium")]
    assert advice[0].description == f"remove MEMORY.md:2, which repeats MEMORY.md:1: {BILLING}"
    assert advise_on_sections([("MEMORY.md › A", 399), ("MEMORY.md › B", 400)], (9, 399), 400) == [
        Advice("move_to_items", "move MEMORY.md › B into items: mabos migrate MEMORY.md", 400, "medium")
    ]
    told = "remove 9 entries from MEMORY.md by hand, which are items now and found by recall"
    assert advise_on_sections([], (9, 400), 400) == [Advice("remove_migrated", told, 400, "medium")]
    files = [
        Source("AGENTS.md", "system_prompt", 5000),
        Source("d.md", "domains", 9000),
        Source("Plans.md", "cognitive", 4000),
    ]
    assert advise_on_files(files, 4000) == [
        Advice("split_file", "split AGENTS.md (5,000 tokens) by topic", 1000, "medium")
    ]
    assert advise_on_index(False, True) == []
    assert advise_on_index(True, True)[0].description == "write memory/INDEX.md: mabos materialize"


def test_the_dearest_comes_first_and_then_the_safest() -> None:
    given = [Advice("a", "x", 5, "high"), Advice("a", "y", 9, "high"), Advice("a", "z", 5, "low")]
    assert [each.description for each in rank_advice(given)] == ["y", "z", "x"]


statements = st.lists(st.lists(st.sampled_from("bcdefghj"), min_size=1, max_size=8).map(" ".join), max_size=12)


@given(statements)
def test_it_finds_what_comparing_all_would_find(texts: list[str]) -> None:
    found = {pair.extra.line for pair in find_duplicates([source("a", "memory_md", *texts)])}
    long = [len(word_set(text)) >= 5 for text in texts]
    expected = {
        n + 1
        for n, text in enumerate(texts)
        if long[n]
        and any(
            long[m] and sameness(texts[m], text) and likeness(*map(word_set, (texts[m], text))) >= 0.5 for m in range(n)
        )
    }
    assert found == expected
