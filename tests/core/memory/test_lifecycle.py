from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.fakes import NOW, ago, live_ids, make_item, make_memory, settle
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.item import TRUSTS, TYPES, Keeping
from mabos_cli.core.memory.stores import Changes, Limits, join, plan_revive
from mabos_cli.core.memory.upkeep import Rules, count_leaving, plan_lifecycle, tier_of

quick = settings(deadline=None, derandomize=True)
DAY = 86_400


def run(memory, rules=None, now=NOW, limits=None, is_confirmed=True):
    return plan_lifecycle(memory, rules or Rules(), now=now, limits=limits or Limits(), is_confirmed=is_confirmed)


def old(number, used, **fields):
    """An item that was made long ago; `used` is when it was last used."""
    return make_item(number, **({"created_at": ago(days=400), "accessed_at": used} | fields))


def gone(plan):
    return [(away.departure.item, away.departure.reason) for away in plan.leaving]


def reasons(*items, **options):
    """What becomes of long-term items: the reason why each goes, or nothing."""
    found = dict(gone(run(make_memory([], [], items), **options)))
    return [found.get(item, "") for item in items]


# Who goes for being unused


@pytest.mark.parametrize(("importance", "days"), [(0.0, 30), (0.5, 30), (0.79, 30), (0.8, 90), (0.94, 90)])
def test_an_item_goes_when_more_than_the_days_of_its_tier_have_passed(importance, days):
    items = [
        old(1, ago(days=days), importance=importance),
        old(2, ago(days=days, milliseconds=1), importance=importance),
        old(3, ago(days=days - 1), importance=importance),
    ]
    assert reasons(*items) == ["", f"unused: {days} days", ""]


@pytest.mark.parametrize("trust", TRUSTS)
def test_a_critical_item_never_goes_for_being_unused(trust):
    items = [old(n, ago(days=9000), importance=level, trust=trust) for n, level in enumerate((0.95, 1.0))]
    plan = run(make_memory([], [], items))
    assert (plan.leaving, plan.fading) == ((), 0)


@pytest.mark.parametrize("trust", TRUSTS)
def test_trust_buys_no_time(trust):
    items = [old(1, ago(days=29), trust=trust), old(2, ago(days=31), trust=trust)]
    assert reasons(*items) == ["", "unused: 31 days"]


def test_being_used_often_buys_no_time_and_no_trust():
    item = old(1, ago(days=31), access_count=500, trust="untrusted")
    [away] = run(make_memory([], [], [item])).leaving
    assert away.departure.item == item
    assert away.trust == "untrusted"


def test_the_tiers_are_the_points_of_the_priorities():
    levels = (1.0, 0.95, 0.9499, 0.8, 0.7999, 0.0)
    assert [tier_of(make_item(1, importance=level)) for level in levels] == (
        ["critical", "critical", "high", "high", "other", "other"]
    )


def test_the_times_are_settings():
    items = [old(1, ago(hours=3)), old(2, ago(hours=3), importance=0.9), old(3, ago(days=3), importance=0.9)]
    rules = Rules(high=2 * DAY, types={"observation": Keeping("short_term", 2 * 3600)})
    assert reasons(*items, rules=rules) == ["unused: 0 days", "", "unused: 3 days"]


@pytest.mark.parametrize("kind", TYPES)
def test_the_type_decides_unless_the_importance_does(kind):
    never = kind in ("instruction", "preference", "person", "decision")
    items = [old(n, ago(days=d), type=kind, importance=i) for n, d, i in ((1, 31, 0.5), (2, 91, 0.8), (3, 9000, 0.95))]
    assert reasons(*items) == (["", "", ""] if never else ["unused: 31 days", "unused: 91 days", ""])


def test_a_type_that_nobody_knows_goes_as_observations_do():
    assert reasons(old(1, ago(days=31), type="reminder"), old(2, ago(days=29), type="reminder")) == [
        "unused: 31 days",
        "",
    ]


def test_times_beyond_the_calendar_mean_never():
    plan = run(
        make_memory([], [], [old(1, ago(days=9000))]), Rules(9e11, types={"observation": Keeping("long_term", 9e11)})
    )
    assert (plan.leaving, plan.fading) == ((), 0)


def test_one_day_is_written_as_one_day():
    assert reasons(old(1, ago(days=1, hours=5)), rules=Rules(types={"observation": Keeping("long_term", DAY)})) == [
        "unused: 1 day"
    ]


# What the last use is


def test_the_last_use_is_the_access_or_else_when_it_was_made_or_observed():
    late, early = ago(days=2), ago(days=40)
    items = [
        make_item(1, accessed_at=late, created_at=early, observed_at=early),
        make_item(2, accessed_at=early, created_at=late, observed_at=late),
        make_item(3, accessed_at="", created_at=late, observed_at=early),
        make_item(4, accessed_at="", created_at=early, observed_at=late),
        make_item(5, accessed_at="", created_at="", observed_at=early),
        make_item(6, accessed_at="", created_at="", observed_at=late),
    ]
    assert [bool(reason) for reason in reasons(*items)] == [False, True, False, True, True, False]


@pytest.mark.parametrize("stamp", ["", "never", "0000-00-00T00:00:00.000Z", "2020-02-31T00:00:00.000Z"])
def test_what_names_no_moment_is_never_unused(stamp):
    plan = run(make_memory([], [], [make_item(1, accessed_at=stamp, created_at="", observed_at="")]))
    assert (plan.leaving, plan.fading) == ((), 0)


def test_an_unreadable_last_use_is_not_replaced_by_an_old_date():
    """A use could never be noted on it: it would go again right after being revived."""
    assert reasons(make_item(1, accessed_at="yesterday", created_at=ago(days=400))) == [""]


@pytest.mark.parametrize(
    ("stamp", "goes"),
    [
        ("2026-01-25T14:30:00Z", False),
        ("2026-01-25T14:29:59Z", True),
        ("2026-01-25T23:30:00+09:00", False),
        ("2026-01-25T14:30:00+09:00", True),
        ("2026-01-25T06:00:00-09:00", False),
        ("2026-01-25", True),
        ("2026-01-26", False),
        ("2026-01-25T14:30:00.000000Z", False),
        ("9999-12-31T23:59:59-09:00", False),
    ],
)
def test_times_of_other_tools_are_understood(stamp, goes):
    assert bool(reasons(make_item(1, accessed_at=stamp))[0]) == goes


def test_a_use_in_the_future_is_recent():
    assert reasons(old(1, ago(days=-400))) == [""]


# Who goes because its date has passed


def test_an_item_of_any_store_and_tier_goes_when_its_date_has_passed():
    def dated(number, **fields):
        return make_item(number, expires_at=ago(minutes=1), **fields)

    memory = make_memory([dated(1)], [dated(2, importance=1.0)], [dated(3), dated(4, importance=1.0)])
    plan = run(memory)
    assert [(a.departure.item.id, a.departure.store, a.departure.reason, a.cause) for a in plan.leaving] == [
        (make_item(1).id, "working", "expired", "expired"),
        (make_item(2).id, "short_term", "expired", "expired"),
        (make_item(3).id, "long_term", "expired", "expired"),
        (make_item(4).id, "long_term", "expired", "expired"),
    ]
    assert plan.changes.working == plan.changes.short_term == ()
    assert plan.changes.drop == (make_item(3).id, make_item(4).id)
    assert plan.tidied == 0


def test_a_date_is_past_from_its_very_moment_on():
    items = [make_item(1, expires_at=format_time(NOW)), make_item(2, expires_at=ago(milliseconds=-1))]
    assert reasons(*items) == ["expired", ""]


@pytest.mark.parametrize(
    ("stamp", "goes"),
    [
        ("2026-02-24T23:00:00+09:00", True),
        ("2026-02-24T14:00:00-09:00", False),
        ("2026-02-24T14:30:00Z", True),
        ("2026-02-24", True),
        ("some day", False),
        ("2026-02-31T00:00:00Z", False),
    ],
)
def test_dates_of_other_tools_are_understood(stamp, goes):
    assert reasons(make_item(1, expires_at=stamp)) == ["expired" if goes else ""]


def test_expired_and_unused_counts_as_expired_with_the_days_since_its_use():
    [away] = run(make_memory([], [], [old(1, ago(days=50), expires_at=ago(days=1))])).leaving
    assert (away.departure.reason, away.cause, away.days) == ("expired", "expired", 50)


def test_an_expired_item_without_any_time_has_no_days():
    [away] = run(make_memory([], [], [make_item(1, created_at="", expires_at=ago(days=1))])).leaving
    assert away.days is None


# The other stores


def test_working_and_short_term_items_are_never_unused():
    working, short = old(1, ago(days=400)), old(2, ago(days=400), importance=0.7)
    plan = run(make_memory([working], [short]))
    assert (plan.leaving, plan.fading, plan.live) == ((), 0, 2)
    assert plan.changes == Changes((working,), (short,))


def test_short_term_memory_is_tidied_without_being_counted():
    stale, full = make_item(1, created_at=ago(hours=3)), [make_item(n) for n in (2, 3, 4)]
    plan = run(make_memory([], [stale, *full]), limits=Limits(short_term=2))
    assert (plan.leaving, plan.tidied, plan.live) == ((), 2, 4)
    assert [d.reason for d in plan.changes.archive] == ["expired", "evicted"]
    assert plan.changes.tally == (("tidied", 2),)


def test_nothing_to_do_changes_nothing():
    memory = make_memory([make_item(1)], [make_item(2)], [make_item(3)])
    assert run(memory).changes == Changes(memory.working, memory.short_term)


# Fading


def test_an_item_fades_in_the_last_days_before_it_would_go():
    def fading(days, **fields):
        return run(make_memory([], [], [old(1, ago(days=days), **fields)])).fading

    assert [fading(days) for days in (22, 23, 23.1, 29, 30)] == [0, 0, 1, 1, 1]
    assert [fading(days, importance=0.8) for days in (30, 83, 83.1, 90)] == [0, 0, 1, 1]
    assert [fading(days, importance=0.95) for days in (23.1, 83.1)] == [0, 0]


def test_what_goes_or_expires_does_not_fade():
    items = [old(1, ago(days=31)), old(2, ago(days=25), expires_at=ago(hours=1))]
    plan = run(make_memory([], [], items))
    assert (len(plan.leaving), plan.fading) == (2, 0)


def test_the_notice_is_a_setting_and_may_be_longer_than_the_time():
    items = [old(1, ago(days=20)), old(2, ago(seconds=0)), old(3, ago(days=29, hours=23))]
    memory = make_memory([], [], items)
    assert [run(memory, Rules(notice=days * DAY)).fading for days in (0, 1, 15, 31, 9_000_000)] == ([0, 1, 2, 3, 3])


@pytest.mark.parametrize("days", [0, 6, 7])
def test_what_fades_is_what_goes_within_the_notice(days):
    memory = make_memory([], [], [old(n, ago(days=n)) for n in range(40)])
    later = run(memory, now=NOW + timedelta(days=days))
    now = run(memory, Rules(notice=days * DAY))
    assert now.fading == len(later.leaving) - len(now.leaving)


# The fuse


def left(memory, **rules):
    """How many go, and how many are held back."""
    plan = run(memory, Rules(**rules), is_confirmed=False)
    return len(plan.leaving), plan.held


@pytest.mark.parametrize(
    ("going", "staying", "expected"), [(1, 3, (1, 0)), (2, 5, (1, 1)), (10, 30, (10, 0)), (3, 0, (1, 2))]
)
def test_a_run_takes_a_share_of_all_live_items_and_one_at_least(going, staying, expected):
    items = [old(n, ago(days=31)) for n in range(going)]
    rest = [make_item(100 + n) for n in range(staying)]
    assert left(make_memory([], [], [*items, *rest])) == expected
    assert left(make_memory(rest[:2], rest[2:], items)) == expected


def test_what_was_unused_for_longest_goes_first_and_the_rest_in_later_runs():
    memory, order = make_memory([], [], [old(n, ago(days=31 + n)) for n in range(4)]), []
    while memory.long_term:
        plan = run(memory, is_confirmed=False)
        order += [away.departure.item.id for away in plan.leaving]
        memory = settle(memory, plan.changes)
    assert order == [make_item(n).id for n in (3, 2, 1, 0)]


def test_what_is_past_its_own_date_is_never_held_back():
    dated = [make_item(n, expires_at=ago(days=1)) for n in range(5)]
    assert left(make_memory([], [], [*dated, old(9, ago(days=31))]), fuse=0) == (5, 1)


@pytest.mark.parametrize("percent", range(0, 101, 7))
def test_just_as_many_as_the_fuse_allows_may_go(percent):
    memory = make_memory([], [], [old(n, ago(days=31 if n < percent else 1)) for n in range(100)])
    assert left(memory, fuse=percent / 100) == (percent, 0)
    assert percent < 2 or left(memory, fuse=(percent - 1) / 100) == (percent - 1, 1)


# What is counted


def test_the_tally_counts_by_cause_tier_and_trust():
    items = [
        old(1, ago(days=31)),
        old(2, ago(days=31)),
        old(3, ago(days=91), importance=0.8, trust="untrusted"),
        make_item(4, importance=1.0, trust="trusted", expires_at=ago(days=1)),
        old(5, ago(days=31), trust="hearsay"),
    ]
    plan = run(make_memory([], [make_item(6, created_at=ago(hours=3))], items))
    assert plan.changes.tally == (
        ("expired/critical/trusted", 1),
        ("unused/high/untrusted", 1),
        ("unused/other/agent", 2),
        ("unused/other/untrusted", 1),
        ("tidied", 1),
    )
    assert sum(count for _, count in plan.changes.tally) == len(plan.changes.archive)
    assert sum(count for _, count in count_leaving(plan.leaving)) == len(plan.leaving) == 5


def test_a_tally_survives_being_joined_to_other_changes():
    plan = run(make_memory([], [], [old(1, ago(days=31))]))
    assert join(Changes((), ()), plan.changes).tally == (("unused/other/agent", 1),)


# Afterwards


def test_a_revived_item_stays_until_it_is_unused_again():
    item = old(1, ago(days=31), expires_at=ago(days=1))
    memory = make_memory([], [], [item])
    after = settle(memory, run(memory).changes)
    back = settle(after, plan_revive(after, item, "long_term", now=NOW)[0])
    assert run(back).leaving == ()
    assert run(back, now=NOW + timedelta(days=30)).leaving == ()
    assert len(run(back, now=NOW + timedelta(days=30, seconds=1)).leaving) == 1


STAMPS = st.one_of(
    st.integers(-5, 400).map(lambda days: ago(days=days)),
    st.sampled_from(["", "never", "2026-01-25", "2026-01-25T14:30:00+09:00", "2020-02-31T00:00:00.000Z"]),
)


@st.composite
def item_lists(draw, first):
    """Items with everything that decides about their stay."""
    return [
        make_item(
            first + n,
            importance=draw(st.sampled_from([0.0, 0.5, 0.79, 0.8, 0.9, 0.95, 1.0])),
            trust=draw(st.sampled_from([*TRUSTS, "", "odd"])),
            created_at=draw(STAMPS),
            accessed_at=draw(STAMPS),
            expires_at=draw(st.one_of(st.just(""), STAMPS)),
        )
        for n in range(draw(st.integers(0, 8)))
    ]


@quick
@given(item_lists(0), item_lists(100), item_lists(200))
def test_no_item_is_lost_and_a_second_run_changes_nothing(working, short_term, long_term):
    memory = make_memory(working, short_term, long_term)
    plan = run(memory)
    after = settle(memory, plan.changes)
    archived = [departure.item.id for departure in plan.changes.archive]
    assert sorted(live_ids(memory)) == sorted([*live_ids(after), *archived])
    assert plan.live == len(live_ids(memory))
    for departure in plan.changes.archive:
        assert departure.item in (*working, *short_term, *long_term)
    for away in plan.leaving:
        assert away.cause == "expired" or away.tier != "critical"
        assert away.cause == "expired" or away.departure.store == "long_term"
    again = run(after)
    assert again.changes == Changes(after.working, after.short_term)
    assert (again.leaving, again.fading, again.tidied) == ((), plan.fading, 0)


@quick
@given(item_lists(200), st.integers(0, 60), st.integers(0, 60))
def test_what_stays_later_stays_sooner(long_term, one, two):
    memory, (sooner, later) = make_memory([], [], long_term), sorted((one, two))
    first = {a.departure.item.id for a in run(memory, now=NOW + timedelta(days=sooner)).leaving}
    then = {a.departure.item.id for a in run(memory, now=NOW + timedelta(days=later)).leaving}
    assert first <= then


def test_twenty_thousand_items_take_one_pass():
    """As an iterator that can be read only once, and knows no ids."""

    class Stream:
        def __iter__(self):
            yield from items
            items.clear()

        def __len__(self):
            return 20_000

    items = [old(n, ago(days=n % 60)) for n in range(20_000)]
    plan = run(make_memory()._replace(long_term=Stream()))
    assert plan.live == 20_000
    assert len(plan.leaving) == sum(n % 60 > 30 for n in range(20_000))
    assert len(plan.changes.drop) == len(plan.changes.archive) == len(plan.leaving)
