from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.language.text import asked_words, stems, token_cost
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.search.recall import (
    Candidate,
    Depth,
    Filters,
    Hit,
    TermSearch,
    browse,
    fit_budget,
    gather,
    leaves_open,
    matching,
    merge_hits,
    rank,
    recall,
    spread,
    with_words,
    without_repeated,
)

quick = settings(deadline=None, derandomize=True)
AT = "2026-02-24T14:30:00.000Z"


def memory(name, text, importance=0.5, at=AT, store="long_term", **fields):
    item = MemoryItem(name, text, importance=importance, created_at=at, **fields)
    return Candidate(text, importance, at, item, store)


def passage(text, path="Notes.md", lines=(1, 2), at=""):
    return Candidate(text, 0.5, at, path=path, lines=lines)


def refs(hits):
    return [hit.candidate.ref for hit in hits]


def find(candidates, query, limit=20, depth=0, **options):
    return recall(TermSearch(candidates), query, limit, Depth(depth, **options))


# Filters

ITEM = memory("m", "x", importance=0.5, type="fact", tags=("a", "b"))


@pytest.mark.parametrize(
    ("filters", "admitted"),
    [
        (Filters(), True),
        (Filters(types=("fact", "event")), True),
        (Filters(types=("event",)), False),
        (Filters(stores=("long_term",)), True),
        (Filters(stores=("working", "short_term")), False),
        (Filters(tags=("a",)), True),
        (Filters(tags=("a", "b")), True),
        (Filters(tags=("a", "c")), False),
        (Filters(min_importance=0.5), True),
        (Filters(min_importance=0.51), False),
        (Filters(since=AT), True),
        (Filters(since="2026-02-24T14:30:00.001Z"), False),
        (Filters(until=AT), True),
        (Filters(until="2026-02-24T14:29:59.999Z"), False),
    ],
)
def test_each_filter_admits_and_refuses_items(filters, admitted):
    assert filters.admit(ITEM) is admitted


@pytest.mark.parametrize(
    "filters",
    [
        Filters(types=("fact",)),
        Filters(stores=("working",)),
        Filters(tags=("a",)),
        Filters(min_importance=0.1),
    ],
)
def test_passage_passes_no_filter_on_what_only_items_have(filters):
    assert not filters.admit(passage("x"))
    assert Filters().admit(passage("x"))


def test_undated_passage_lies_in_no_period():
    assert not Filters(since=AT).admit(passage("x"))
    assert not Filters(until=AT).admit(passage("x"))
    assert Filters(since=AT, until=AT).admit(passage("x", at=AT))


# Searching and ranking


def test_importance_is_blended_three_to_seven():
    found = find([memory("low", "budget", 0.0), memory("top", "budget", 1.0)], "budget")
    assert [(hit.candidate.ref, hit.score, hit.relevance) for hit in found] == [
        ("top", 1.0, 1.0),
        ("low", 0.7, 1.0),
    ]


def test_weight_of_importance_is_a_setting():
    search = TermSearch([memory("a", "budget", 0.0), memory("b", "budget", 1.0)], importance_weight=0.5)
    assert [hit.score for hit in search("budget")] == [1.0, 0.5]


def test_score_is_the_blend_of_relevance_and_importance():
    texts = ["budget budget plan", "budget of the year and much else besides", "plan"]
    for hit in find([memory(f"m{n}", text, 0.1 + n / 3) for n, text in enumerate(texts)], "budget plan"):
        assert hit.score == pytest.approx(0.7 * hit.relevance + 0.3 * hit.candidate.importance, abs=2e-4)


def test_more_and_rarer_terms_are_more_relevant():
    common = [memory(f"c{n}", f"budget note{n}") for n in range(8)]
    found = find([*common, memory("rare", "zebra note"), memory("both", "budget zebra")], "budget zebra")
    assert refs(found)[:2] == ["both", "rare"]


def test_only_what_shares_a_term_is_found():
    found = find([memory("hit", "The budgets"), memory("miss", "weather")], "budget")
    assert refs(found) == ["hit"]
    assert with_words(found[0], "budget").matched == ("budgets",)


def test_tags_author_and_id_are_searched_too():
    candidates = [
        memory("M-17-abcd", "x"),
        memory("m2", "x", tags=("pricing",)),
        memory("m3", "x", author="Marta"),
    ]
    assert refs(find(candidates, "pricing")) == ["m2"]
    assert refs(find(candidates, "marta")) == ["m3"]
    assert refs(find(candidates, "abcd")) == ["M-17-abcd"]


def test_passages_are_found_and_cited_by_lines():
    assert refs(find([passage("the budget", lines=(3, 5))], "budget")) == ["Notes.md:3-5"]


def test_search_over_nothing_finds_nothing():
    assert find([], "budget") == []
    assert find([memory("m", "x")], "") == []


hits = st.lists(
    st.builds(
        lambda name, at, score: Hit(memory(f"m{name}", "x", at=at), score),
        st.integers(0, 1000),
        st.sampled_from(("", "2026-01-01", "2026-02-01")),
        st.sampled_from((0.1, 0.5, 0.9)),
    ),
    max_size=15,
    unique_by=lambda hit: hit.candidate.ref,
)


@quick
@given(hits, st.randoms(use_true_random=False))
def test_ranking_does_not_depend_on_the_order_of_arrival(found, random):
    shuffled = list(found)
    random.shuffle(shuffled)
    assert rank(shuffled) == rank(found)


def test_ties_go_to_the_newer_and_then_by_reference():
    tied = [Hit(memory(name, "x", at=at), 0.5) for name, at in (("b", "2026-01"), ("c", "2026-02"), ("a", "2026-01"))]
    assert refs(rank([*tied, Hit(memory("z", "x", at="2020"), 0.6)])) == ["z", "c", "a", "b"]


@quick
@given(
    st.lists(st.lists(st.sampled_from(["budget", "plan", "zebra", "note"]), min_size=1, max_size=5), max_size=10),
    st.integers(0, 99),
)
def test_search_does_not_depend_on_the_order_of_candidates(texts, seed):
    candidates = [memory(f"m{n}", " ".join(words), n % 3 / 2) for n, words in enumerate(texts)]
    shuffled = list(candidates)
    Random(seed).shuffle(shuffled)
    assert find(candidates, "budget plan", depth=2) == find(shuffled, "budget plan", depth=2)


def test_browsing_shows_items_by_importance_and_age():
    candidates = [
        memory("old", "x", 0.5, at="2026-01-01"),
        memory("new", "x", 0.5, at="2026-02-01"),
        memory("top", "x", 0.9, at="2025-01-01"),
        passage("x"),
    ]
    assert refs(browse(candidates)) == ["top", "new", "old"]


# Depth

HOP_A = memory("A", "The Orion launch depends on vendor Quillfeather")
HOP_B = memory("B", "Quillfeather invoices are approved by Marta")
NOISE = [memory(f"N{n}", f"weather report number{n}") for n in range(5)]


def test_second_hop_is_found_at_depth_one_through_a_rare_word():
    direct = find([HOP_A, HOP_B, *NOISE], "Orion launch")
    deeper = find([HOP_A, HOP_B, *NOISE], "Orion launch", depth=1)
    assert refs(direct) == ["A"]
    assert [(h.candidate.ref, h.depth, h.via) for h in deeper] == [("A", 0, ()), ("B", 1, ("quillfeather",))]


def test_tag_of_a_hit_leads_to_the_second_hop():
    first = memory("A", "The Orion launch", tags=("quillfeather",))
    assert refs(find([first, HOP_B], "Orion", depth=1)) == ["A", "B"]


def test_short_words_and_stop_words_lead_nowhere():
    candidates = [memory("A", "Orion was from the red sea"), memory("B", "He was from the red sea")]
    assert refs(find(candidates, "Orion", depth=3)) == ["A"]


def test_number_of_new_terms_is_limited_to_the_rarest():
    candidates = [HOP_A, HOP_B, *(memory(f"V{n}", "vendor depends launch") for n in range(4))]
    found = find(candidates, "Orion", depth=1, terms=1)
    assert refs(found) == ["A", "B"]


def test_number_of_followed_hits_is_limited():
    candidates = [
        memory("A1", "orion orion alphaword", 1.0),
        memory("A2", "orion betaword filler filler filler filler", 0.1),
        memory("B1", "alphaword target"),
        memory("B2", "betaword target"),
    ]
    assert refs(find(candidates, "orion", depth=1, hits=1)) == ["A1", "A2", "B1"]
    assert set(refs(find(candidates, "orion", depth=1, hits=2))) == {"A1", "A2", "B1", "B2"}


def chain(length):
    """Items of which each shares one word with the next and none with any other."""
    links = [f"linkword{chr(97 + n) * 3}" for n in range(length + 1)]
    return [memory(f"C{n}", f"{links[n]} {links[n + 1]}") for n in range(length)], links[0]


@pytest.mark.parametrize(("depth", "reached"), [(0, 0), (1, 1), (2, 2), (3, 3), (4, 3), (99, 3), (-1, 0)])
def test_depth_is_clamped_to_three(depth, reached):
    candidates, query = chain(7)
    found = find(candidates, query, depth=depth)
    assert [(h.candidate.ref, h.depth) for h in found] == [(f"C{n}", n) for n in range(reached + 1)]


def test_each_deeper_find_names_the_terms_that_led_to_it():
    candidates, query = chain(4)
    assert [hit.via for hit in find(candidates, query, depth=3)[1:]] == [
        ("linkwordbbb",),
        ("linkwordccc",),
        ("linkwordddd",),
    ]


def crowd(direct, deeper):
    """Many direct hits, of which the strongest leads to many deeper ones."""
    first = memory("D00", "orion quillfeather", 1.0)
    others = [memory(f"D{n:02d}", "orion " + "red " * n, 0.5) for n in range(1, direct)]
    return [first, *others, *(memory(f"X{n:02d}", f"quillfeather {chr(97 + n) * 4}", 1.0) for n in range(deeper))]


def test_deeper_finds_get_their_reserved_places_and_no_more():
    candidates = crowd(15, 15)
    direct = refs(find(candidates, "orion", limit=10))
    deeper = find(candidates, "orion", depth=1, limit=10)
    assert refs(deeper)[:7] == direct[:7]
    assert [hit.depth for hit in deeper] == [0] * 7 + [1] * 3


def test_reserved_places_that_nobody_needs_stay_with_direct_hits():
    found = find(crowd(15, 1), "orion", depth=1, limit=10)
    assert [hit.depth for hit in found] == [0] * 9 + [1]


def test_free_places_are_filled_with_deeper_finds():
    found = find(crowd(2, 15), "orion", depth=1, limit=10)
    assert [hit.depth for hit in found] == [0] * 2 + [1] * 8


@quick
@given(st.integers(1, 14), st.integers(0, 14), st.integers(0, 25), st.integers(0, 3))
def test_strongest_direct_hits_always_stay_first(direct, deeper, limit, depth):
    candidates = crowd(direct, deeper)
    plain = refs(find(candidates, "orion", limit=limit))
    found = find(candidates, "orion", depth=depth, limit=limit)
    kept = [ref for ref, hit in zip(refs(found), found, strict=True) if hit.depth == 0]
    assert len(found) <= limit
    assert kept == plain[: len(kept)]
    assert len(kept) >= min(len(plain), limit - round(0.3 * limit))
    assert len(set(refs(found))) == len(found)


class Listening(TermSearch):
    """A search that remembers what it was asked."""

    def __init__(self, candidates):
        super().__init__(candidates)
        self.asked = []

    def follow(self, question, asked):
        self.asked.append(list(asked))
        return super().follow(question, asked)


def test_empty_first_pass_ends_the_recall():
    search = Listening([HOP_A])
    assert recall(search, "nowhere budget", 10, Depth(3)) == []
    assert search.asked == [["nowhere", "budget"]]


def test_a_pass_asks_for_what_the_hit_leaves_open_and_for_its_own_words():
    search = Listening([HOP_A, HOP_B])
    recall(search, "Orion launch approval", 10, Depth(2))
    first, second, *_ = search.asked
    assert first == ["orion", "launch", "approval"]
    assert second[0] == "approval" and "orion" not in second and "quillfeather" in second


def test_when_a_hit_leaves_nothing_open_the_question_is_kept():
    search = Listening([HOP_A, HOP_B])
    recall(search, "Orion launch", 10, Depth(1))
    assert search.asked[1][:2] == ["orion", "launch"]


def test_terms_are_shown_as_the_words_of_the_hit():
    found = find([memory("A", "Pricing of policies"), memory("B", "The policy", tags=("priced",))], "prices policy")
    assert {(h.candidate.ref, with_words(h, "prices policy").matched) for h in found} == {
        ("A", ("pricing", "policies")),
        ("B", ("priced", "policy")),
    }


@quick
@given(st.text(max_size=60), st.text(max_size=30))
def test_matching_words_stand_in_the_candidate_and_mean_what_was_asked(text, question):
    candidate = memory("m", text)
    asked = {term for word in asked_words(question) for term in stems(word)}
    for word in matching(asked_words(question), candidate):
        assert set(stems(word)) & asked and word in [*stems(word), word]


# Budget


@quick
@given(st.lists(st.text(max_size=80), max_size=12), st.integers(1, 60), st.integers(1, 6))
def test_budget_is_never_exceeded_and_used_in_order(texts, budget, per_token):
    found = [Hit(memory(f"m{n}", text), 0.5) for n, text in enumerate(texts)]
    kept = fit_budget(found, budget, per_token)
    cost = {hit: token_cost(hit.candidate.text, per_token) for hit in found}
    assert sum(cost[hit] for hit in kept) <= budget
    assert kept == [hit for hit in found if hit in kept]
    left = budget - sum(cost[hit] for hit in kept)
    assert all(cost[hit] > left for hit in found if hit not in kept)


def test_hit_that_does_not_fit_is_passed_over():
    found = [Hit(memory(name, "x" * size), 0.5) for name, size in (("a", 8), ("big", 400), ("c", 8))]
    assert refs(fit_budget(found, 4)) == ["a", "c"]


def test_no_budget_keeps_everything():
    found = [Hit(memory("a", "x" * 1000), 0.5)]
    assert fit_budget(found, 0) == found


def test_two_lists_of_hits_become_one_by_score_and_each_keeps_its_order():
    def hits(name, *scores):
        return [Hit(memory(f"{name}{n}", "text"), score, score) for n, score in enumerate(scores)]

    def named(found):
        return [hit.candidate.ref for hit in found]

    ours, theirs = hits("a", 0.9, 0.5), hits("b", 0.7, 0.1)
    assert named(merge_hits(ours, theirs)) == ["a0", "b0", "a1", "b1"]
    assert named(merge_hits(ours, theirs, loss=0.5)) == ["b0", "a0", "a1", "b1"]
    assert named(merge_hits([], theirs)) == ["b0", "b1"]


def test_a_summary_that_only_tells_a_memory_again_is_left_out() -> None:
    item = Candidate("Ada owns billing", 0.5, "", MemoryItem("M-1-0001", "Ada owns billing", "fact", 0.5))
    week = Candidate("## Tuesday - fact 0.50: Ada owns billing", 0, "", path="memory/weekly/2026-W09.md")
    more = week._replace(text="## Tuesday - fact 0.50: Ada owns billing - The bank pays", lines=(9, 12))
    note = week._replace(path="memory/notes.md")
    hits = [Hit(one, 1.0) for one in (week, item, more, note)]
    left = [hit.candidate for hit in without_repeated(hits, ["who", "owns", "billing", "bank"])]
    assert left == [item, more, note]  # the bank is asked for as well, and a note is somebody's own
    assert [hit.candidate for hit in without_repeated([hits[0], hits[3]], ["billing"])] == [note]


def test_notes_that_became_memories_are_not_told_again() -> None:
    fields = {"source": "migrate:MEMORY.md", "context": "MEMORY.md:5-6 · Rules"}
    rule = Candidate(
        "Never guess numbers", 0.5, "", MemoryItem("M-1-0001", "Never guess numbers", "instruction", **fields)
    )
    notes = [passage("- Never guess numbers\n- Ask Ingrid", "MEMORY.md", lines) for lines in ((4, 7), (7, 9))]
    hits = [Hit(one, 1.0) for one in (notes[0], rule, notes[1]._replace(text="Numbers come from Ingrid"))]
    assert refs(without_repeated(hits, ["guess", "numbers"])) == ["M-1-0001", "MEMORY.md:7-9"]
    assert refs(without_repeated(hits, ["numbers", "ingrid"])) == ["MEMORY.md:4-7", "M-1-0001", "MEMORY.md:7-9"]


def test_one_text_is_told_once_through_log_memory_md_and_summaries() -> None:
    text = "Harbor moves the crane to the north quay in May"
    places = ("memory/quarterly/2026-Q1.md", "memory/weekly/2026-W09.md", "MEMORY.md", "memory/2026-02-24.md")
    hits = [Hit(passage(f"## Tuesday\n- {text} and so on", path), 1.0) for path in places]
    assert refs(without_repeated(hits, ["crane", "quay"])) == ["memory/2026-02-24.md:1-2"]
    assert refs(without_repeated(hits[:2], ["crane", "quay"])) == ["memory/weekly/2026-W09.md:1-2"]


# Many things


def told(name, text, at="", session="", relevance=1.0):
    item = memory(name, text).item._replace(session=session)
    return Hit(Candidate(text, 0.5, at, item), relevance, relevance)


def test_deep_places_are_not_filled_with_the_same_again():
    candidates = [
        memory("A", "orion quillfeather", 1.0),
        *(memory(f"X{n}", "quillfeather marsh reed", 1.0) for n in range(5)),
    ]
    assert len(find(candidates, "orion", depth=1, limit=10)) == 2


def test_auto_depth_follows_only_what_is_left_open():
    candidates = [memory("A", "orion quillfeather"), memory("B", "quillfeather marsh")]

    def auto(question):
        return refs(recall(TermSearch(candidates), question, 10, Depth(2, if_open=True)))

    assert auto("orion zebra") == ["A", "B"]
    assert auto("orion") == ["A"]


def test_a_conversation_leaves_nothing_open():
    assert leaves_open("orion zebra", [told("A", "orion")])
    assert not leaves_open("orion zebra", [told("A", "orion", session="s")])


def test_many_things_are_spread_over_sessions():
    hits = [
        *(told(f"A{n}", f"boat {n}", session="s", relevance=0.9) for n in range(4)),
        told("B", "port", session="t", relevance=0.89),
    ]
    assert "B" not in refs(hits[:4])
    assert "B" in refs(spread(hits, 4))


def test_all_about_a_thing_is_told_once_and_in_the_order_of_time():
    hits = [
        told("late", "Ada sold the blue boat", "2026-03-01", "s"),
        told("twice", "Ada sold the blue boat", "2026-04-01", "u", 0.9),
        told("early", "Ada bought a boat in Husum", "2026-01-01", "t", 0.8),
        told("weak", "Rent is due", "2026-02-01", "v", 0.1),
        told("undated", "Ada likes sailing", "", "w", 0.7),
    ]
    assert refs(gather(hits, 10)) == ["early", "late", "undated"]
    assert refs(gather(hits, 2)) == ["early", "late"]
    assert gather([], 5) == []
