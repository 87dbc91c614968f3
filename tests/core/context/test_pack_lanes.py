"""Candidates of a pack: lanes, facts on pages, and the question that a long request comes to."""

from datetime import UTC, datetime

from mabos_cli.core.context.candidates import (
    entry_of,
    fact_entries,
    focus,
    fresh_since,
    is_fact_page,
    wanted_hits,
)
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.search.prompt import is_unheard_of
from mabos_cli.core.search.recall import Candidate, Hit

NOW = datetime(2026, 2, 24, 14, 30, tzinfo=UTC)
SINCE = fresh_since(NOW, 3600)


def lane_of(candidate: Candidate, checkpoint: str = "") -> str:
    return entry_of(Hit(candidate, 0.5), SINCE, checkpoint).lane


def test_recent_and_working_items_are_hot_others_warm_and_files_cold() -> None:
    assert SINCE == "2026-02-24T13:30:00.000Z"
    old, new = (MemoryItem("M-1", "x", created_at=f"2026-02-24T{at}:30:00.000Z") for at in (12, 14))
    assert lane_of(Candidate("x", 0.5, "", old, "long_term")) == "warm"
    assert lane_of(Candidate("x", 0.5, "", old, "working")) == "hot"
    assert lane_of(Candidate("x", 0.5, "2020-01-01T00:00:00.000Z", new, "long_term")) == "hot"
    assert lane_of(Candidate("x", 0.5, "", path="a.md")) == "cold"
    assert lane_of(Candidate("x", 0.5, "", path="a.md"), "a.md") == "hot"
    assert lane_of(Candidate("x", 0.5, "", path="a.md", agent="cfo"), "a.md") == "cold"


def test_only_live_items_of_the_agent_count_as_used() -> None:
    item = MemoryItem("M-1", "x")
    used = [
        entry_of(Hit(Candidate("x", 0.5, "", item, **more), 0.5), SINCE).use
        for more in ({}, {"archived": "expired"}, {"agent": "cfo"})
    ]
    assert used == ["M-1", "", ""]


def test_facts_take_the_place_of_the_passage_that_lists_them() -> None:
    facts = {
        "F-1": Fact("F-1", "acme", "ceo", "Ann", 0.9, trust="trusted"),
        "F-2": Fact("F-2", "acme", "office", "Lenz", valid_until="2026-12-31"),
        "F-3": Fact("F-3", "acme", "ceo", "Bob", valid_until="2025-12-31"),
    }
    text = "## acme\n\n- acme ceo Ann (0.90, x, untrusted; F-1)\n- acme office Lenz (1.00; F-2)\n- b (1.00; F-3)\n- c (1.00; F-4)"
    page = Candidate(text, 0.5, "", path="memory/mabos-facts.md", lines=(3, 8))
    assert is_fact_page(page) and not is_fact_page(page._replace(agent="cfo"))
    found = [*fact_entries([Hit(page, 0.8)], "who is the ceo of acme", facts.get, NOW)]
    assert [(e.ref, e.text, e.trust, e.score) for e in found] == [
        ("F-1", "acme ceo Ann (0.90)", "trusted", 0.8),
        ("F-2", "acme office Lenz (1.00, until 2026-12-31)", "agent", 0.4),
    ]


def test_a_short_request_is_its_own_question_and_a_long_one_its_rare_words_and_codes() -> None:
    def never(words: object) -> dict[str, int]:
        raise AssertionError

    assert focus("What is it?", never) == "What is it?"
    letters = [f"{a}{b}" for a in "bcdfghjklm" for b in "bcdfghjklm"]
    held = {f"common{x}": 500 for x in letters} | {"zebra": 2, "lenz": 7}
    request = " ".join(f"common{x} unknown{x}" for x in letters) + " Zebra src/app.py in Lenz"
    question = focus(request, lambda words: {word: held[word] for word in words if word in held})
    asked = question.split()
    assert {"Zebra", "Lenz", "src/app.py"} <= {*asked} and not any("unknown" in word for word in asked)
    assert asked.index("commonbb") < asked.index("Zebra"), "words stay in their order"


def test_a_search_is_bounded() -> None:
    assert [wanted_hits(*given) for given in ((50, 0), (1200, 0), (50_000, 0), (1200, 30), (1200, 1))] == [
        20, 60, 400, 90, 20,
    ]  # fmt: skip


def test_everything_is_recent_when_the_span_is_longer_than_the_calendar():
    assert fresh_since(NOW, 9e11) == "0001-01-01T00:00:00.000Z"


def test_a_name_that_a_large_memory_never_heard_of_is_what_a_question_is_about() -> None:
    held, text = {"level": 60, "disks": 20, "etcd": 30}, "The level of wear of the disks of etcd"
    assert is_unheard_of("Which RAID level suits the disks of etcd?", held, 5000, [text])
    assert not is_unheard_of("Which raid level suits the disks of etcd?", held, 5000, [text]), "no name"
    assert not is_unheard_of("Which RAID level suits the disks of etcd?", held | {"raid": 1}, 5000, [text])
    assert not is_unheard_of("Which RAID level suits the disks of etcd?", held, 500, [text]), "a small memory"
