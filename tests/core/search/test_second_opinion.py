"""Other words and another order: what a model may add to a recall, and what it cannot take away."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from core.fakes import make_item
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.search.recall import Candidate, Depth, Hit, candidate_of, recall
from mabos_cli.core.search.second_opinion import WiderSearch, newer_first, reorder


def hit(number: int, score: float) -> Hit:
    return Hit(Candidate(f"text {number}", 0.5, "", make_item(number)), score, score)


class Answers:
    """A search that knows what to say."""

    def __init__(self, **answers: Sequence[Hit]) -> None:
        self.answers, self.followed = answers, 0

    def __call__(self, question: str) -> list[Hit]:
        return list(self.answers.get(question, ()))

    def follow(self, question: str, asked: Sequence[str]) -> list[Hit]:
        self.followed += 1
        return []

    def holders(self, asked: Sequence[str]) -> dict[str, int]:
        return dict.fromkeys(asked, 1)


def scores(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    return [(h.candidate.text, h.score) for h in hits]


def test_finds_of_other_words_join_those_of_the_question() -> None:
    search = Answers(q=[hit(1, 0.9), hit(2, 0.4)], v=[hit(3, 1.0), hit(2, 0.6), hit(1, 1.0)])
    found = WiderSearch(search, ["v", "unknown"], 10)("q")
    assert scores(found) == [("text 1", 0.9), ("text 3", 0.8), ("text 2", 0.48)]
    assert [h.via for h in found] == [(), ("v",), ("v",)]
    assert ("expansion", 0.8) in found[1].parts


def test_without_variations_nothing_changes() -> None:
    own = [hit(1, 0.9), hit(2, 0.4)]
    assert WiderSearch(Answers(q=own), [], 10)("q") == own


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=12),
    st.lists(st.floats(0, 1), max_size=12),
    st.integers(1, 12),
)
def test_silly_variations_cannot_push_out_the_best_hits(own: list[float], other: list[float], limit: int) -> None:
    """Six of ten places stay with the hits of the question itself, with at least the scores they had."""
    mine = [hit(n, score) for n, score in enumerate(sorted(own, reverse=True))]
    theirs = [hit(100 + n, score) for n, score in enumerate(other)]
    found = {h.candidate.ref: h.score for h in WiderSearch(Answers(q=mine, v=theirs), ["v"], limit)("q")}
    assert len(found) == min(limit, len(mine[:limit]) + len(theirs[:limit]))
    for kept in mine[: limit - round(limit * 0.4)]:
        assert found[kept.candidate.ref] == kept.score


def test_depth_goes_on_from_what_other_words_found() -> None:
    search = Answers(q=[], v=[hit(1, 1.0)])
    assert recall(WiderSearch(search, ["v"], 5), "q", 5, Depth(1))[0].candidate.text == "text 1"
    assert search.followed == 1


def order_of(hits: Sequence[Hit]) -> list[int]:
    return [int(h.candidate.text.split()[1]) for h in hits]


def test_order_is_half_the_models() -> None:
    hits = [hit(n, 1 - n / 10) for n in range(4)]
    assert order_of(reorder(hits, [2, 3, 1, 0])) == [2, 0, 1, 3]
    assert order_of(reorder(hits, [2, 0, 1, 3])) == [0, 2, 1, 3]
    assert order_of(reorder(hits, [3, 2, 1, 0])) == [0, 3, 1, 2]
    assert order_of(reorder(hits, [3])) == [0, 3, 1, 2]
    assert reorder(hits, [0])[0].score == 1.0


@given(st.integers(1, 20).flatmap(lambda n: st.tuples(st.just(n), st.permutations(range(n)))), st.integers(0, 20))
def test_no_order_drops_a_strong_hit(drawn: tuple[int, list[int]], named: int) -> None:
    """Nothing is lost, the first stays among the first two, the n-th among the first 4n - 1."""
    count, order = drawn
    found = order_of(reorder([hit(n, 0.5) for n in range(count)], order[:named]))
    assert sorted(found) == list(range(count))
    assert found.index(0) < 2
    assert all(found.index(n) < 4 * (n + 1) - 1 for n in range(count))


def test_the_newer_of_two_statements_leads_and_the_older_names_it() -> None:
    texts = ("Dana likes jazz", "Dana lives in Berlin", "We sell in Spain", "Dana moved to Lisbon")
    items = [MemoryItem(f"M-{n}-0000", text, "fact", created_at=f"2026-01-0{n + 1}") for n, text in enumerate(texts)]
    hits = [Hit(candidate_of(item, "long_term"), 0.9 - n / 10) for n, item in enumerate(items)]
    found = newer_first(hits)
    assert [hit.candidate.ref for hit in found] == ["M-0-0000", "M-3-0000", "M-1-0000", "M-2-0000"]
    assert [hit.candidate.newer for hit in found] == ["", "", "M-3-0000", ""]
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


def test_what_is_trusted_less_or_archived_outdates_nothing() -> None:
    old = MemoryItem("M-1-0000", "Dana lives in Berlin", "fact", created_at="2026-01-01")
    new = MemoryItem("M-2-0000", "Dana moved to Lisbon", "fact", trust="untrusted", created_at="2026-01-02")
    for other in (candidate_of(new, "long_term"), candidate_of(new._replace(trust="agent"), "long_term", "forgotten")):
        hits = [Hit(candidate_of(old, "long_term"), 0.9), Hit(other, 0.8)]
        assert newer_first(hits) == hits
