"""Which intentions are given up: by deadline, by standing still, by the loss of their goal, under each strategy."""

from datetime import UTC, datetime

import pytest

from mabos_cli.core.mind.commitment import (
    STRATEGIES,
    Mind,
    find_behind,
    is_older,
    is_past,
    judge_intentions,
    lost_goals,
)
from mabos_cli.core.mind.mind import Attitude, Belief

NOON = datetime(2026, 2, 24, 12, tzinfo=UTC)
PATIENCE = {"blind": None, "single-minded": None, "open-minded": 7, "cautious": 3}


def intention(**fields: object) -> Attitude:
    goals = fields.pop("goals", ())
    return Attitude("intention", "I-1", "do it", links={"goal": tuple(goals)}, **{"status": "active"} | fields)


def goal(own: str = "G-1", status: str = "active", *desires: str) -> Attitude:
    return Attitude("goal", own, "a goal", status=status, links={"desire": desires} if desires else {})


def desire(own: str, status: str, *motivates: str) -> Attitude:
    return Attitude("desire", own, "a wish", status=status, links={"motivates": motivates})


def belief(text: str, certainty: float = 0.9, subject: str = "News") -> Belief:
    return Belief(subject, text, certainty, path="Beliefs.md", line=3)


def verdict(each: Attitude, strategy: str, mind: Mind = Mind((), (), ()), now: datetime = NOON) -> tuple[str, str]:
    found = judge_intentions([each], mind, strategy, PATIENCE[strategy], now, 0.6)
    return (found[0].status, found[0].reason) if found else ("", "")


# Deadlines


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_passed_deadline_ends_an_intention_whatever_the_strategy(strategy: str) -> None:
    each = intention(deadline="2026-02-23", updated="2026-02-24")
    assert verdict(each, strategy) == ("expired", "deadline 2026-02-23")


@pytest.mark.parametrize(
    ("deadline", "now", "over"),
    [
        ("2026-02-24", datetime(2026, 2, 24, 23, 59, 59, tzinfo=UTC), False),
        ("2026-02-24", datetime(2026, 2, 25, tzinfo=UTC), True),
        (" 2026-02-24 ", datetime(2026, 2, 24, 23, tzinfo=UTC), False),
        ("20260224", NOON, False),
        ("20260223", NOON, True),
        ("2026-02-24T11:59:59Z", NOON, True),
        ("2026-02-24T12:00:00Z", NOON, False),
        ("2026-02-24 11:00", NOON, True),
        ("2026-02-24T12:30:00+01:00", NOON, True),
        ("2026-02-24T11:30:00-01:00", NOON, False),
        ("", NOON, False),
        ("someday", NOON, False),
        ("2026-02-30", NOON, False),
        ("0001-01-01T00:00:00+14:00", NOON, False),
        ("9999-12-31", NOON, False),
    ],
)
def test_a_day_is_over_when_it_ends_and_a_time_when_it_has_passed(deadline: str, now: datetime, over: bool) -> None:
    assert is_past(deadline, now) is over


# Standing still


@pytest.mark.parametrize(
    ("strategy", "updated", "stalled"),
    [
        ("open-minded", "2026-02-17", False),
        ("open-minded", "2026-02-16", True),
        ("cautious", "2026-02-21", False),
        ("cautious", "2026-02-20", True),
        ("cautious", "2026-02-20T23:59:59Z", True),
        ("cautious", "2026-02-20T23:30:00-01:00", False),
        ("single-minded", "2001-01-01", False),
        ("blind", "2001-01-01", False),
        ("cautious", "2027-01-01", False),
        ("cautious", "", False),
        ("cautious", "last week", False),
    ],
)
def test_an_intention_stands_still_after_whole_days(strategy: str, updated: str, stalled: bool) -> None:
    expected = ("stalled", f"no update since {updated[:10]}") if stalled else ("", "")
    assert verdict(intention(updated=updated), strategy) == expected


@pytest.mark.parametrize("hour", [0, 23])
def test_the_time_of_day_of_the_cycle_does_not_matter(hour: int) -> None:
    now = datetime(2026, 2, 24, hour, 59, tzinfo=UTC)
    assert not is_older("2026-02-17", now, 7)
    assert is_older("2026-02-16", now, 7)


def test_patience_can_be_less_than_a_day() -> None:
    assert not is_older("2026-02-24", NOON, 0.5)
    assert is_older("2026-02-23", NOON, 0.5)


def test_a_deadline_counts_before_standing_still() -> None:
    each = intention(deadline="2026-02-01", updated="2026-01-01")
    assert verdict(each, "cautious")[0] == "expired"


@pytest.mark.parametrize(
    "status", ["completed", "Dropped (2026-02-01: x)", "stalled", "expired", "paused", "dormant", "planned"]
)
def test_what_is_not_active_is_left_alone(status: str) -> None:
    each = intention(status=status, deadline="2026-01-01", updated="2026-01-01", goals=["G-1"])
    assert verdict(each, "cautious", Mind([goal(status="achieved")], (), ())) == ("", "")


@pytest.mark.parametrize("status", ["active", "Active", "**active**", "executing", "in progress", ""])
def test_all_words_for_active_count_and_dates_without_a_status_too(status: str) -> None:
    assert verdict(intention(status=status, deadline="2026-02-01"), "blind")[0] == "expired"


def test_without_status_and_dates_nothing_is_known() -> None:
    each = intention(status="", goals=["G-1"])
    assert verdict(each, "cautious", Mind([goal(status="achieved")], (), ())) == ("", "")


# Goals that are gone


@pytest.mark.parametrize(
    ("mind", "givers", "reason"),
    [
        (Mind([goal(status="achieved")], (), ()), STRATEGIES, "G-1 is achieved"),
        (Mind([goal(status="Done (2026-02-20)")], (), ()), STRATEGIES, "G-1 is achieved"),
        (Mind([goal()], (), [belief("G-1 is achieved.")]), STRATEGIES, "G-1 is achieved"),
        (
            Mind([goal()], (), [belief("G-1 is impossible.")]),
            STRATEGIES[1:],
            "G-1 is believed impossible, Beliefs.md:3",
        ),
        (Mind([goal(status="abandoned")], (), ()), STRATEGIES[2:], "G-1 is abandoned"),
        (
            Mind([goal("G-1", "active", "D-1")], [desire("D-1", "withdrawn")], ()),
            STRATEGIES[2:],
            "G-1 is no longer desired: D-1 is withdrawn",
        ),
        (
            Mind([goal()], [desire("D-1", "dropped", "G-1")], ()),
            STRATEGIES[2:],
            "G-1 is no longer desired: D-1 is dropped",
        ),
    ],
)
def test_who_gives_up_an_intention_without_a_goal(mind: Mind, givers: tuple[str, ...], reason: str) -> None:
    each = intention(goals=["G-1"], updated="2026-02-24")
    for strategy in STRATEGIES:
        expected = ("dropped", reason) if strategy in givers else ("", "")
        assert verdict(each, strategy, mind) == expected, strategy


def test_a_lost_goal_counts_before_a_deadline() -> None:
    each = intention(goals=["G-1"], deadline="2026-01-01")
    assert verdict(each, "blind", Mind([goal(status="achieved")], (), ()))[0] == "dropped"


def test_an_intention_for_several_goals_lives_as_long_as_one_of_them() -> None:
    each = intention(goals=["G-1", "G-2"], updated="2026-02-24")
    goals = [goal("G-1", "achieved"), goal("G-2")]
    assert verdict(each, "cautious", Mind(goals, (), ())) == ("", "")
    gone = Mind([goal("G-1", "achieved"), goal("G-2", "abandoned")], (), ())
    assert verdict(each, "cautious", gone) == ("dropped", "G-1 is achieved")
    # A goal that is not in the file may be another agent's.
    assert verdict(each, "cautious", Mind([goal("G-1", "achieved")], (), ())) == ("", "")


def test_a_goal_is_wanted_as_long_as_one_desire_behind_it_is() -> None:
    desires = [desire("D-1", "withdrawn"), desire("D-2", "dormant", "G-1")]
    assert lost_goals(Mind([goal("G-1", "active", "D-1")], desires, ()), "cautious", 0.6) == {}
    unknown = Mind([goal("G-1", "active", "D-9")], desires[:1], ())
    assert lost_goals(unknown, "cautious", 0.6) == {}


def test_an_id_that_two_goals_have_is_lost_when_both_are() -> None:
    assert lost_goals(Mind([goal(status="achieved"), goal()], (), ()), "cautious", 0.6) == {}
    both = Mind([goal(status="achieved"), goal(status="done")], (), ())
    assert [*lost_goals(both, "cautious", 0.6)] == ["G-1"]


def test_without_goals_beliefs_say_nothing() -> None:
    assert lost_goals(Mind((), (), [belief("G-1 is impossible.")]), "cautious", 0.6) == {}


# What beliefs say of goals


def believed(text: str, subject: str = "News", certainty: float = 0.9) -> list[str]:
    """The goals that a belief takes away from a single-minded agent."""
    goals = [goal("G-1"), goal("G-2"), goal("G-10")]
    return sorted(lost_goals(Mind(goals, (), [belief(text, certainty, subject)]), "single-minded", 0.6))


@pytest.mark.parametrize(
    "text",
    [
        "G-1 is impossible.",
        "By now G-1 is out of reach.",
        "G-1 is no longer possible.",
        "G-1 is not feasible this year.",
        "G-1 cannot be reached.",
        "G-1 can't be met.",
        "G-1 will not happen.",
        "We cannot reach G-1.",
        "It is impossible to attain G-1.",
        "The launch (G-1) is impossible by May.",
        "The weather is fine. G-1 is impossible. So what.",
        "G-1 is achieved.",
        "G-1 was finally reached.",
        "G-1 has been met",
        "G-1 is impossible because G-2 failed.",
        "G-2 is on track, but G-1 is impossible.",
        "G-1 is impossible while G-2 goes on.",
        "Nobody has time; G-1 is impossible.",
    ],
)
def test_a_claim_takes_the_goal_that_it_is_about(text: str) -> None:
    assert believed(text) == ["G-1"]


@pytest.mark.parametrize(
    "text",
    [
        "G-1 is not impossible.",
        "G-1 is by no means impossible.",
        "G-1 isn't out of reach.",
        "G-1 is no longer impossible.",
        "It is not true that G-1 is impossible.",
        "Nobody thinks that G-1 is impossible.",
        "It is wrong that G-1 is achieved.",
        "G-1 is not yet achieved.",
        "G-1 is almost achieved.",
        "Is G-1 impossible?",
        "Who says that G-1 is achieved?",
        "If G-1 is impossible we stop.",
        "We hire once G-1 is achieved.",
        "G-1 is impossible without a second cell.",
        "G-1 might be impossible.",
        "Half of G-1 is done.",
        "The first plan for G-1 is impossible.",
        "The vendor for G-1 cannot be reached.",
        "G-1 was met with silence.",
        "G-1 goes on. The move to Kiel is impossible.",
        "G-1 goes on, but the move to Kiel is impossible.",
        "G-11 is impossible.",
        "XG-1 is impossible, G-1-a is impossible.",
    ],
)
def test_denials_questions_conditions_and_other_things_are_no_claims(text: str) -> None:
    assert believed(text) == []


def test_claims_about_several_goals() -> None:
    assert believed("G-1 and G-2 are impossible.") == ["G-1", "G-2"]
    assert believed("G-1, G-2 and G-10 are achieved.") == ["G-1", "G-10", "G-2"]
    assert believed("G-1 is impossible. G-2 is achieved.") == ["G-1", "G-2"]
    assert believed("G-10 is impossible.") == ["G-10"]


def test_a_subject_may_name_the_goal() -> None:
    assert believed("", "G-1 is impossible") == ["G-1"]
    assert believed("It cannot be reached.", "G-1") == ["G-1"]
    assert believed("G-2 is impossible.", "G-1") == ["G-2"]
    assert believed("It is not impossible.", "G-1") == []
    assert believed("The maker says so.", "Is G-1 impossible?") == []


def test_a_belief_must_be_held_firmly() -> None:
    assert believed("G-1 is impossible.", certainty=0.6) == []
    assert believed("G-1 is impossible.", certainty=0.61) == ["G-1"]


def test_the_id_of_a_belief_is_told_rather_than_its_place() -> None:
    told = belief("G-1 is impossible.")._replace(id="B-7")
    lost = lost_goals(Mind([goal()], (), [told]), "cautious", 0.6)["G-1"]
    assert (lost.kind, lost.reason) == ("impossible", "is believed impossible, B-7")


SHOP = Attitude("goal", "G-1", "Open a shop in Lyon", status="active")


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("Open a shop in Lyon", "is impossible: the city refuses"),
        ("News", "Open a shop in Lyon is no longer possible."),
        ("News", "Opening the shop in Lyon is out of reach."),
        ("News", "We cannot open a shop in Lyon this year."),
        ("News", "The city said no. We can no longer open a shop in Lyon."),
        ("Shop in Lyon", "It is infeasible."),
        ("Opening a shop in Lyon is impossible", ""),
    ],
)
def test_a_goal_may_be_named_by_title_or_by_its_subject(subject: str, text: str) -> None:
    mind = Mind([SHOP], (), [belief(text, 0.9, subject)])
    assert lost_goals(mind, "single-minded", 0.6)["G-1"].kind == "impossible"
    assert lost_goals(mind, "blind", 0.6) == {}


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("Shop in Kiel", "It is impossible."),
        ("News", "We cannot open on Sundays in Lyon."),
        ("News", "The first plan for opening a shop in Lyon is impossible."),
        ("News", "Opening a shop in Lyon is not impossible."),
        ("News", "We cannot open a shop in Lyon unless the bank agrees."),
        ("Lyon", "Parking is impossible."),
        ("News", "Half of opening a shop in Lyon is done."),
    ],
)
def test_what_is_about_something_else_names_no_goal(subject: str, text: str) -> None:
    assert lost_goals(Mind([SHOP], (), [belief(text, 0.9, subject)]), "cautious", 0.6) == {}


@pytest.mark.parametrize("word", ["impossible", "failed", "Infeasible (2026-02-01: no permit)"])
def test_a_goal_that_is_marked_impossible_is_dropped_by_all_but_the_blind(word: str) -> None:
    mind = Mind([SHOP._replace(status=word)], (), ())
    assert {name: [*lost_goals(mind, name, 0.6)] for name in STRATEGIES} == {
        "blind": [],
        "single-minded": ["G-1"],
        "open-minded": ["G-1"],
        "cautious": ["G-1"],
    }


def test_a_superseded_belief_says_nothing_of_goals() -> None:
    told = belief("G-1 is impossible.")._replace(status="superseded by B-2 (2026-02-01)")
    assert lost_goals(Mind([goal()], (), [told]), "cautious", 0.6) == {}


def test_verdicts_come_in_the_order_of_the_file() -> None:
    each = [intention(deadline="2026-01-01")._replace(id=f"I-{n}") for n in (3, 1, 2)]
    found = judge_intentions(each, Mind((), (), ()), "blind", None, NOON, 0.6)
    assert [v.intention.id for v in found] == ["I-3", "I-1", "I-2"]


# What is behind


@pytest.mark.parametrize(
    ("level", "progress", "deadline", "why"),
    [
        ("strategic", 40.0, "2026-08-24", "40 % done, 50 % of the 365 days before its deadline over"),
        ("strategic", 45.0, "2026-08-24", ""),
        ("strategic", 0.0, "2027-03-01", ""),
        ("tactical", 40.0, "2026-03-10", "40 % done, 84 % of the 90 days before its deadline over"),
        ("operational", 90.0, "2026-02-23", "its deadline 2026-02-23 has passed"),
        ("strategic", None, "2026-02-28", ""),
        ("", 0.0, "2026-02-28", ""),
    ],
)
def test_a_goal_is_behind_when_less_is_done_than_should_be(
    level: str, progress: float, deadline: str, why: str
) -> None:
    each = goal()._replace(level=level, progress=progress, deadline=deadline)
    assert find_behind([each], NOON).get("G-1", "") == why
    assert find_behind([each._replace(status="achieved")], NOON) == {}


def test_a_goal_with_a_part_that_is_behind_is_behind() -> None:
    goals = [goal("G-1"), goal("G-2")._replace(links={"parent": ("G-1",)}), goal("G-3", "blocked")]
    goals[2] = goals[2]._replace(links={"parent": ("G-2",)})
    assert find_behind(goals, NOON) == {
        "G-3": "it is blocked",
        "G-2": "its part G-3 is behind: it is blocked",
        "G-1": "its part G-2 is behind: its part G-3 is behind: it is blocked",
    }
