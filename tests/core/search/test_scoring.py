"""The scorer: each preset by hand-computed examples, and what holds for any candidates."""

from datetime import UTC, datetime, timedelta
from math import log1p

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.search.scoring import (
    ASKING,
    DATED,
    FAR,
    MEANING,
    NAMED,
    NEAR,
    SESSION,
    WORDS,
    Ring,
    Scored,
    Signals,
    Weighing,
    blend,
    diversify,
    fade,
    score,
    share_lanes,
    shares,
)

quick = settings(deadline=None, derandomize=True)
NOW = datetime(2026, 2, 24, tzinfo=UTC)
PRESETS = ("default", "seed", "balanced", "rrf")


def ago(days):
    return format_time(NOW - timedelta(days=days))


def refs(scored):
    return [s.ref for s in scored]


def scores(candidates, preset="default", rings=None, **how):
    found = score(candidates, Weighing(preset, now=NOW, **how), 100, rings)
    return {s.ref: s.score for s in found}


# Questions about many things, and rules


def test_where_many_things_are_asked_for_sessions_and_questions_count_alike():
    turns = [
        Signals("a", 0.9, session="s"),
        Signals("b", 0.8, session="s"),
        Signals("c", 0.81, session="t", asking=1.0),
    ]
    assert refs(score(turns, Weighing(importance=0.0), 3)) == ["a", "b", "c"]
    assert refs(score(turns, Weighing(importance=0.0, is_many=True), 3)) == ["a", "c", "b"]


def test_a_rule_counts_as_near_as_its_meaning_is():
    turns = [Signals("a", 0.5, 0.5), Signals("b", 0.4, 0.5, rules=True), Signals("c", 0.4, 0.0, rules=True)]
    assert refs(score(turns, Weighing(importance=0.0), 3)) == ["b", "a", "c"]


# Shares and lanes

numbers = st.floats(0, 1000, allow_subnormal=False)


@quick
@given(st.lists(numbers, max_size=12), st.booleans())
def test_shares_lie_between_nothing_and_the_best_and_keep_the_order(values, from_least):
    found = shares(values, min(values, default=0.0) if from_least else 0.0)
    assert len(found) == len(values)
    assert all(0 <= share <= 1 for share in found)
    assert not values or max(found) == pytest.approx(1)
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [found[n] for n in order] == sorted(found)


def test_shares_of_equals_are_whole():
    assert shares([0.0, 0.0]) == [1.0, 1.0]
    assert shares([3.0], 3.0) == [1.0]
    assert shares([]) == []


lanes = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.001, 50), max_size=8)
cosines = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-1, 1), max_size=8)


@quick
@given(lanes, cosines)
def test_both_lanes_share_one_scale(lexical, cosine):
    found = share_lanes(lexical, cosine)
    assert set(found) == set(lexical) | set(cosine)
    for key, (word, meaning) in found.items():
        assert 0 <= word <= 1
        assert (word == 0) == (key not in lexical)
        assert meaning is None if not cosine else 0 <= meaning <= 1
        assert 0 <= blend(word, meaning) <= 1
    for one in lexical:
        for two in lexical:
            assert (found[one][0] <= found[two][0]) or lexical[one] > lexical[two]


def test_without_vectors_words_count_alone():
    assert share_lanes({"a": 4.0, "b": 1.0}, {}) == {"a": (1.0, None), "b": (0.25, None)}
    assert blend(0.25, None) == 0.25
    assert blend(0.2, 0.6) == pytest.approx(WORDS * 0.2 + MEANING * 0.6)


# The default


def test_default_is_seven_parts_relevance_and_three_importance():
    found = score(
        [
            Signals("a", 1.0, 0.5, importance=0.2),  # own .75
            Signals("b", 0.4, 0.2, importance=1.0),  # own .3
        ],
        Weighing(now=NOW),
        10,
    )
    assert [(s.ref, s.score, s.relevance) for s in found] == [("a", 0.76, 1.0), ("b", 0.58, 0.4)]
    assert dict(found[1].parts) == {"lexical": 0.4, "semantic": 0.2, "relevance": 0.4, "importance": 1.0}


def test_weight_of_importance_can_be_set():
    both = [Signals("a", 1.0, importance=0.0), Signals("b", 0.5, importance=1.0)]
    assert scores(both, importance=0.0) == {"a": 1.0, "b": 0.5}
    assert scores(both, importance=1.0) == {"a": 0.0, "b": 1.0}


def test_author_who_is_named_adds_a_fixed_part():
    found = score(
        [Signals("a", 0.8, 0.8, importance=0.5), Signals("b", 0.8, 0.8, importance=0.5, named=True)],
        Weighing(importance=0.0),
        10,
    )
    assert [(s.ref, s.score) for s in found] == [("b", 1.0), ("a", round(0.8 / (0.8 + NAMED), 4))]
    assert dict(found[0].parts)["author"] == NAMED
    assert "author" not in dict(found[1].parts)


def test_neighbours_give_by_two_rings():
    """a says it; b stands beside it, c one further on, d is a stranger."""
    candidates = [Signals(name, 1.0 if name == "a" else 0.0, importance=0) for name in "abcd"]
    rings = {"a": Ring(("b",), ("c",))}
    assert scores(candidates, rings=rings, importance=0.0) == {"a": 1.0, "b": NEAR, "c": FAR, "d": 0.0}


def test_of_several_neighbours_the_best_counts():
    """b has a (1.0) and c (.5) beside it: only a gives to it. a gets a share of b's .5; c too."""
    candidates = [Signals("a", 1.0), Signals("b", 0.5), Signals("c", 0.5)]
    rings = {"a": Ring(("b",), ("c",)), "b": Ring(("a", "c")), "c": Ring(("b",), ("a",))}
    raw = {"a": 1 + NEAR * 0.5 + FAR * 0.5, "b": 0.5 + NEAR * 1.0, "c": 0.5 + NEAR * 0.5 + FAR * 1.0}
    expected = {ref: round(value / max(raw.values()), 4) for ref, value in raw.items()}
    assert scores(candidates, rings=rings, importance=0.0) == expected


def test_long_texts_give_less_to_their_neighbours():
    candidates = [Signals("a", 1.0, size=1600), Signals("b", 0.0, size=100)]
    assert scores(candidates, rings={"a": Ring(("b",))}, importance=0.0) == {"a": 1.0, "b": NEAR / 2}


def test_neighbours_that_are_no_candidates_are_passed_over():
    rings = {"a": Ring(("gone",), ("away",))}
    assert scores([Signals("a", 1.0)], rings=rings) == scores([Signals("a", 1.0)])


def test_parts_say_what_a_neighbour_gave():
    found = score([Signals("a", 1.0), Signals("b", 0.2)], Weighing(), 10, {"a": Ring(("b",))})
    assert dict(found[1].parts)["neighbour"] == NEAR


def test_the_rest_of_a_session_gives_the_mean_of_its_best_three():
    """Five turns of one session, and one of another that is alone in it."""
    turns = [Signals(f"t{n}", value, session="s") for n, value in enumerate((1.0, 0.8, 0.6, 0.4, 0.2))]
    found = score([*turns, Signals("x", 0.9, session="o")], Weighing(), 10)
    given = {one.ref: dict(one.parts).get("session", 0.0) for one in found}
    assert given["t0"] == round(SESSION * (0.8 + 0.6 + 0.4) / 3, 4)
    assert given["t4"] == round(SESSION * (1.0 + 0.8 + 0.6) / 3, 4)
    assert given["x"] == 0.0


def test_the_time_that_is_asked_about_counts_for_a_turn_and_asking_against_it():
    found = score([Signals("a", 0.5, dated=True), Signals("b", 0.5, asking=1.0), Signals("c", 0.5)], Weighing(), 10)
    assert refs(found) == ["a", "c", "b"]
    assert dict(found[0].parts)["date"] == DATED
    assert dict(found[2].parts)["question"] == ASKING


# The other presets


def test_seed_is_seven_parts_meaning_and_three_words():
    candidates = [Signals("a", 1.0, 0.0, importance=0), Signals("b", 0.0, 1.0), Signals("c", 0.5, 0.5)]
    assert scores(candidates, "seed") == {"a": 0.3, "b": 0.7, "c": 0.5}


def test_seed_without_vectors_is_the_words_alone():
    assert scores([Signals("a", 1.0), Signals("b", 0.4)], "seed") == {"a": 1.0, "b": 0.4}


def test_balanced_weighs_five_signals():
    candidates = [
        Signals("all", 1.0, 1.0, 1.0, ago(0), 9),
        Signals("semantic", 0.0, 1.0, 0.0, ago(10_000)),
        Signals("lexical", 1.0, 0.0, 0.0, ago(10_000)),
        Signals("recency", 0.0, 0.0, 0.0, ago(7)),
        Signals("importance", 0.0, 0.0, 1.0, ago(10_000)),
        Signals("access", 0.0, 0.0, 0.0, ago(10_000), 3),
    ]
    assert scores(candidates, "balanced") == {
        "all": 1.0,
        "semantic": 0.3,
        "lexical": 0.2,
        "recency": 0.1,  # half of .2 after seven days
        "importance": 0.15,
        "access": round(0.15 * log1p(3) / log1p(9), 4),
    }


def test_balanced_without_vectors_gives_their_weight_to_the_words():
    assert scores([Signals("a", 1.0, importance=0.0, at=ago(14))], "balanced") == {"a": 0.55}  # .5 + .2/4


def test_rrf_counts_ranks_with_sixty():
    candidates = [Signals("a", 0.9, 0.1), Signals("b", 0.5, 0.9), Signals("c", 0.0, 0.5)]
    # words: a, b; meaning: b, c, a; the best possible, 1/61 in each lane, is 1
    expected = {
        "a": (61 / 61 + 61 / 63) / 2,
        "b": (61 / 62 + 61 / 61) / 2,
        "c": (61 / 62) / 2,
    }
    assert scores(candidates, "rrf") == {ref: round(value, 4) for ref, value in expected.items()}


def test_rrf_without_vectors_is_the_rank_of_the_words():
    assert scores([Signals("a", 0.9), Signals("b", 0.5)], "rrf") == {"a": 1.0, "b": round(61 / 62, 4)}


def test_only_the_default_looks_at_neighbours_and_authors():
    plain = [Signals("a", 1.0, 0.4), Signals("b", 0.3, 0.6)]
    named = [plain[0], plain[1]._replace(named=True)]
    for preset in PRESETS[1:]:
        assert scores(plain, preset, {"a": Ring(("b",))}) == scores(named, preset)


# Age


@pytest.mark.parametrize(("days", "left"), [(0, 1.0), (30, 0.5), (60, 0.25), (15, 0.7071), (-5, 1.0)])
def test_decay_halves_every_thirty_days(days, left):
    span = 30 * 86400.0
    assert round(fade(ago(days), NOW, span), 4) == left
    found = score([Signals("a", 1.0, importance=1.0, at=ago(days))], Weighing(now=NOW, half_life=span), 10)
    assert found[0].score == left
    assert dict(found[0].parts)["decay"] == left


@pytest.mark.parametrize("at", ["", "someday", "2026-13-77", "\ud800"])
def test_what_has_no_date_keeps_half(at):
    assert fade(at, NOW, 86400) == 0.5


def test_without_a_half_life_age_does_not_count():
    assert "decay" not in dict(score([Signals("a", 1.0, at=ago(900))], Weighing(now=NOW), 10)[0].parts)


# Exact matches, ties, order


@pytest.mark.parametrize("preset", PRESETS)
def test_exact_matches_come_before_all_others(preset):
    candidates = [
        Signals("near", 0.9, 1.0, 1.0, ago(0), 50),
        Signals("exact", 0.1, 0.0, 0.0, ago(400), exact=True),
    ]
    found = score(candidates, Weighing(preset, importance=0.1, now=NOW), 10)
    assert refs(found) == ["exact", "near"]
    assert dict(found[0].parts)["exact"] == 1.0


@pytest.mark.parametrize("preset", PRESETS)
def test_even_an_old_exact_match_that_decayed_comes_before_the_best_of_the_others(preset):
    best = Signals("near", 1.0, 1.0, 1.0, ago(0), 50)
    old = Signals("exact", 0.9, 0.9, 0.5, ago(4000), exact=True)
    assert refs(score([best, old], Weighing(preset, now=NOW, half_life=2_592_000.0), 10)) == ["exact", "near"]


@pytest.mark.parametrize("preset", PRESETS)
def test_even_the_weakest_exact_match_comes_before_the_best_of_the_others(preset):
    best = Signals("a-near", 1.0, 1.0, 1.0, ago(0), 50)
    weakest = Signals("b-exact", 0.0, 0.0, 0.0, ago(4000), exact=True)
    assert refs(score([best, weakest], Weighing(preset, now=NOW), 10)) == ["b-exact", "a-near"]
    assert refs(score([best, weakest], Weighing(preset, now=NOW), 1)) == ["b-exact"]


def test_ties_go_to_the_newer_and_then_by_reference():
    tied = [Signals(ref, 1.0, at=at) for ref, at in (("b", ago(2)), ("c", ago(1)), ("a", ago(2)))]
    assert refs(score(tied, Weighing(now=NOW), 10)) == ["c", "a", "b"]
    assert refs(score(tied, Weighing(now=NOW), 2)) == ["c", "a"]


unit = st.sampled_from((0.0, 0.1, 0.25, 0.5, 0.9, 1.0))
signals = st.lists(
    st.builds(
        Signals,
        ref=st.integers(0, 999).map("m{:03d}".format),
        lexical=unit,
        semantic=unit,
        importance=unit,
        at=st.sampled_from(("", ago(0), ago(1), ago(90))),
        access=st.integers(0, 3),
        named=st.booleans(),
        exact=st.booleans(),
        size=st.sampled_from((0, 100, 5000)),
        session=st.sampled_from(("", "s", "t")),
        dated=st.booleans(),
        asking=unit,
    ),
    max_size=12,
    unique_by=lambda s: s.ref,
)
weighings = st.builds(Weighing, st.sampled_from(PRESETS), unit, st.just(NOW), st.sampled_from((0.0, 2_592_000.0)))


def ringed(candidates):
    """Each candidate stands beside the next two."""
    names = [c.ref for c in candidates]
    return {ref: Ring((*names[n + 1 : n + 2],), (*names[n + 2 : n + 3],)) for n, ref in enumerate(names)}


@quick
@given(signals, weighings, st.integers(0, 14), st.randoms(use_true_random=False))
def test_order_does_not_depend_on_the_order_of_arrival(candidates, how, count, random):
    shuffled = list(candidates)
    random.shuffle(shuffled)
    rings = ringed(candidates)
    assert score(candidates, how, count, rings) == score(shuffled, how, count, rings)


@quick
@given(signals, weighings, st.integers(0, 14))
def test_scores_are_whole_and_in_order(candidates, how, count):
    found = score(candidates, how, count, ringed(candidates))
    assert len(found) == min(count, len(candidates)) == len({*refs(found)})
    assert [s.score for s in found] == sorted((s.score for s in found), reverse=True)
    exact = {c.ref for c in candidates if c.exact}
    assert all(0 <= s.score - (s.ref in exact) <= 1 for s in found)
    assert all(0 <= s.relevance <= 1 for s in found)


@quick
@given(signals, weighings, st.integers(1, 14))
def test_a_shorter_answer_is_the_start_of_a_longer_one(candidates, how, count):
    whole = score(candidates, how, len(candidates))
    assert score(candidates, how, count) == whole[:count]


def test_nothing_is_scored_without_trouble():
    for preset in PRESETS:
        assert score([], Weighing(preset, now=NOW), 10) == []


# Diversity

DECK = [Scored("a", 1.0, 1.0, ()), Scored("b", 0.95, 0.95, ()), Scored("c", 0.7, 0.7, ())]
SAID = {"a": frozenset("xyz"), "b": frozenset("xyz"), "c": frozenset("uvw")}


def test_diversity_prefers_what_is_unlike():
    # after a: b gives .7 * .95 - .3 * 1 = .365, c gives .7 * .7 = .49
    assert refs(diversify(DECK, SAID, 0.7, 3)) == ["a", "c", "b"]
    assert refs(diversify(DECK, SAID, 0.7, 2)) == ["a", "c"]


def test_likeness_is_the_share_of_common_words():
    # after a: b shares one word of five, .7 * .95 - .3 * .2 = .605, and stays ahead of c
    said = SAID | {"b": frozenset("xmn")}
    assert refs(diversify(DECK, said, 0.7, 3)) == ["a", "b", "c"]


def test_texts_without_words_are_not_alike():
    assert refs(diversify(DECK, dict.fromkeys("abc", frozenset()), 0.7, 3)) == ["a", "b", "c"]


decks = st.lists(st.tuples(unit, st.frozensets(st.sampled_from("uvwxyz"), max_size=4)), max_size=10).map(
    lambda rows: (
        [Scored(f"m{n}", value, value, ()) for n, (value, _) in enumerate(sorted(rows, key=lambda r: -r[0]))],
        {f"m{n}": said for n, (_, said) in enumerate(sorted(rows, key=lambda r: -r[0]))},
    )
)


@quick
@given(decks, unit, st.integers(0, 12))
def test_diversity_never_loses_or_doubles(deck, weight, count):
    scored, said = deck
    found = diversify(scored, said, weight, count)
    assert len(found) == min(count, len(scored)) == len({*refs(found)})
    assert {*found} <= {*scored}
    assert found[:1] == scored[: min(count, 1)] or weight == 0


@quick
@given(decks)
def test_diversity_of_one_changes_nothing(deck):
    scored, said = deck
    assert diversify(scored, said, 1.0, len(scored)) == scored


@pytest.mark.parametrize("preset", ["default", "seed", "balanced", "rrf"])
def test_what_was_only_said_comes_behind_a_memory_that_is_as_good(preset: str):
    turn, memory = Signals("turn", 1.0, 1.0, evidence=True), Signals("memory", 0.9, 0.9)
    found = score([turn, memory], Weighing(preset), 10)
    assert [each.ref for each in found] == ["memory", "turn"] and dict(found[1].parts)["evidence"] < 1
