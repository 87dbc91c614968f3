from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.hierarchy.log_event import LogEvent
from mabos_cli.core.hierarchy.themes import (
    Counts,
    Extent,
    PartTopics,
    Past,
    Theme,
    Topic,
    add_counts,
    choose_themes,
    count_topics,
    find_steady,
    find_trend,
    merge_topics,
    rank_topics,
)

quick = settings(max_examples=50, deadline=None, derandomize=True)
words = st.lists(st.sampled_from("berth Berth price tide Tables storm the 2026".split()), max_size=4).map(" ".join)
tags = st.lists(st.sampled_from(("berth-price", "storm", "#tide")), max_size=2).map(tuple)
events = st.builds(LogEvent, st.just("2026-02-24"), st.just(3), words, tags=tags)


def week(name, *events, day=0):
    """The topics of a week that has events on one day."""
    return PartTopics(name, count_topics([(day, list(events))]))


def theme(key="pricing", entries=8, named=0, places=("W1", "W2"), days=4, **more):
    share = tuple((place, entries // len(places)) for place in places)
    return Theme(key, key, entries, named, days, share, **more)


def past(*themes, days=20, entries=100, weeks=4):
    return Past({t.key: t for t in themes}, Extent(days, entries, weeks))


def counted(total, days=10, **entries):
    """What a period said, as it is compared."""
    return Counts(({key: Topic(key, count, 0, 1) for key, count in entries.items()},), total, 0, days)


def keys(themes):
    return [t.key for t in themes]


@quick
@given(st.lists(st.tuples(st.sampled_from(("W1", "W2", "W3")), st.lists(events, max_size=4)), max_size=5))
def test_merged_topics_add_up(parts):
    spoken = [week(name, *told) for name, told in parts]
    merged = merge_topics(spoken)
    for key, found in merged.items():
        assert sum(count for _, count in found.places) == found.entries >= found.named
        assert found.entries == sum(s.topics[key].entries for s in spoken if key in s.topics)
        assert len(dict(found.places)) == len(found.places)
    counts = add_counts(Counts((s.topics,), 3, 1, 2) for s in spoken)
    assert {key: counts.of(key) for key in merged} == {key: found.entries for key, found in merged.items()}
    assert (counts.of("absent"), counts.total, counts.decisions) == (0, 3 * len(spoken), len(spoken))
    assert set(merge_topics(spoken, 2)) <= set(merged)


def test_a_theme_recurs_across_weeks():
    once = theme("storm", 9, 9, places=("W1",))
    often = theme("price", 6, 6)
    assert keys(rank_topics(past(once, often), [])) == ["price"]
    assert keys(rank_topics(past(once, weeks=1), [])) == ["storm"]


def test_what_is_said_twice_is_no_theme_unless_it_is_named():
    assert rank_topics(past(theme("price", 2, 0)), []) == []
    assert keys(rank_topics(past(theme("price", 2, 2)), [])) == ["price"]


def test_everyday_work_comes_behind_what_sets_a_period_apart():
    daily = theme("backup", 40, 40, places=("W1", "W2", "W3", "W4"), days=20)
    special = theme("fair", 12, 12, places=("W1", "W2"), days=6)
    assert keys(rank_topics(past(daily, special), [])) == ["fair", "backup"]
    assert keys(find_steady(past(daily, special), [special], 8)) == ["backup"]
    assert find_steady(past(daily, special), [daily, special], 8) == []


def test_what_is_new_comes_before_what_was_there_all_along():
    old, new = theme("office", 12, 12), theme("audit", 12, 12)
    history = [counted(100, office=12)] * 3
    ranked = rank_topics(past(old, new), history)
    assert keys(ranked) == ["audit", "office"]
    assert [t.before for t in ranked] == [0, 12]


def test_a_part_of_a_phrase_is_not_told_apart_from_it():
    phrase, word = theme("berth price", 10), theme("berth", 11)
    assert len(rank_topics(past(phrase, word), [])) == 1
    named = theme("berth price", 4, 4), theme("berth", 11, 11)
    assert len(rank_topics(past(*named), [])) == 2, "somebody gave both a name"


def test_phrases_keep_places_among_tags():
    tags = [theme(f"tag{n}", 20, 20, score=9.0 - n) for n in range(10)]
    phrases = [theme(f"some phrase{n}", 6, score=0.5) for n in range(10)]
    chosen = choose_themes([*tags, *phrases], [], 6)
    assert keys(chosen) == ["tag0", "tag1", "tag2", "some phrase0", "some phrase1", "some phrase2"]
    assert keys(choose_themes(tags, [], 6)) == [f"tag{n}" for n in range(6)]
    assert keys(choose_themes(phrases[:2], [], 6)) == ["some phrase0", "some phrase1"]
    assert choose_themes([], tags, 6) == []


def test_a_theme_of_the_period_before_that_goes_on_keeps_a_place():
    ranked = [theme(f"tag{n}", 20, 20) for n in range(20)]
    chosen = choose_themes(ranked, [theme("tag19"), theme("gone"), theme("tag18")], 10)
    assert len(chosen) == 10 and keys(chosen)[-2:] == ["tag19", "tag18"]


def test_the_trend_says_what_came_grew_shrank_and_went():
    now = [theme("new", 5), theme("up", 12, before=4), theme("same", 6, before=6)]
    known = [theme("same", 6), theme("down", 20), theme("gone", 7)]
    trend = find_trend(now, counted(100, new=5, up=12, same=6, down=5), known, counted(100))
    assert [keys(found) for found in trend] == [["new"], ["up"], ["down"], ["gone"]]
    assert [(t.entries, t.before) for t in (*trend.down, *trend.gone)] == [(5, 20), (0, 7)]


def test_the_trend_compares_as_many_days():
    """Twelve days of a quarter are no decline, and five entries where there were seventeen no rise."""
    known = [theme("steady", 60), theme("customer", 17), theme("rare", 4), theme("gone", 40)]
    now = [theme("steady", 12, before=60), theme("customer", 5, before=17), theme("audit", 6, before=6)]
    trend = find_trend(now, counted(90, 12, steady=12, customer=5, audit=6), known, counted(480, 60))
    assert [keys(found) for found in trend] == [[], ["audit"], [], ["gone"]], "rare may only not have come yet"
    assert [(t.entries, round(t.before, 1)) for t in trend.up] == [(6, 1.2)]
    assert not any(find_trend([], counted(0, 0), [], counted(0, 0)))
