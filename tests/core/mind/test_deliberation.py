"""What an agent should adopt, reconsider, drop or plan again, and what it leaves alone."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from mabos_cli.core.knowledge.case import Case
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.mind.commitment import Mind
from mabos_cli.core.mind.deliberation import Proposal, Situation, deliberate, find_unsupported
from mabos_cli.core.mind.mind import Attitude, Belief, Step

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
Many = tuple[Attitude, ...]


def goal(name: str = "G-1", title: str = "Open a shop in Lyon", **more: object) -> Attitude:
    links = {key: (more.pop(key),) for key in ("parent", "desire", "excludes", "requires") if key in more}
    return Attitude("goal", name, title, status="active", links=links, path="Goals.md", line=3)._replace(**more)


def intention(name: str = "I-1", of: str = "G-1", plan: str = "", **more: object) -> Attitude:
    links = {"goal": (of,)} | ({"plan": (plan,)} if plan else {})
    made = Attitude("intention", name, "Work on it", status="active", links=links, path="Intentions.md", line=3)
    return made._replace(**more)


def plan(name: str, *steps: str, of: str = "G-1", **more: object) -> Attitude:
    done = tuple(Step(str(n), text.removeprefix("x "), text.startswith("x "), "", n) for n, text in enumerate(steps, 1))
    links = {"goal": (of,)} if of else {}
    return Attitude("plan", name, name, links=links, steps=done, path="Plans.md", line=int(name[-1]))._replace(**more)


def belief(name: str, text: str = "so it is", certainty: float = 0.9, **more: object) -> Belief:
    return Belief("News", text, certainty, "2026-02-01", name, path="Beliefs.md", line=3)._replace(**more)


def situation(goals: Many = (), intentions: Many = (), plans: Many = (), **more: object) -> Situation:
    mind = Mind(goals, more.pop("desires", ()), more.pop("beliefs", ()))
    return Situation(
        mind, intentions, plans, more.pop("commitments", ()), more.pop("strategy", "open-minded"), NOON, **more
    )


def proposals(*given: Many, **more: object) -> list[Proposal]:
    return deliberate(situation(*given, **more)).proposals


def said(*given: Many, **more: object) -> list[tuple[str, str, str]]:
    return [(each.action, each.name, each.reasons[0]) for each in proposals(*given, **more)]


class Facts:
    def __init__(self, *facts: Fact) -> None:
        self.facts = facts

    def all(self) -> Iterator[Fact]:
        return iter(self.facts)

    def where(self, name: str, value: str) -> Iterator[Fact]:
        return (fact for fact in self.facts if getattr(fact, name) == value)


# Options


def test_a_goal_without_an_intention_is_to_be_adopted() -> None:
    assert said((goal(),)) == [("adopt", "G-1", "no intention serves it")]
    assert said((goal(),), (intention(),)) == []
    assert said((goal(status="paused"),)) == []
    assert said((goal(status="achieved"),)) == []
    # By the plan that it follows, or by its title, an intention serves a goal as well.
    assert said((goal(),), (intention(of="", plan="P-1", links={"plan": ("P-1",)}),), (plan("P-1", "a"),)) == []
    assert said((goal(),), (intention(links={}, title="Open a shop in  Lyon"),)) == []


def test_a_goal_whose_parts_are_pursued_needs_no_intention() -> None:
    part = goal("G-2", "Find a place", parent="G-1")
    assert said((goal(), part), (intention(of="G-2"),)) == []
    done = part._replace(status="achieved")
    assert said((goal(), done)) == [("drop", "G-1", "all its parts are achieved: G-2")]


@pytest.mark.parametrize(
    ("state", "action", "reason"),
    [
        ("expired (2026-02-20: deadline)", "re-plan", "I-1 is expired, and nothing else is being done for it"),
        ("stalled", "re-plan", "I-1 is stalled, and nothing else is being done for it"),
        ("completed", "reconsider", "every intention for it is completed"),
    ],
)
def test_a_goal_whose_intention_ended(state: str, action: str, reason: str) -> None:
    assert said((goal(),), (intention(status=state),)) == [(action, "G-1", reason)]


def test_a_goal_whose_intention_is_suspended_waits() -> None:
    found = deliberate(situation((goal(),), (intention(status="suspended (2026-02-01: no staff)"),)))
    assert (found.proposals, [(each.name, why) for each, why in found.held]) == ([], [("G-1", "I-1 is suspended")])


def test_what_is_overdue_is_to_be_reconsidered() -> None:
    late = goal(deadline="2026-02-28")
    assert said((late,), (intention(),)) == [("reconsider", "G-1", "its deadline 2026-02-28 has passed")]
    assert said((goal(deadline="2026-03-01"),), (intention(),)) == []
    promise = Attitude("commitment", "C-1", "Accounts", owner="the bank", status="open", deadline="2026-02-01")
    (found,) = proposals(commitments=(promise,))
    assert (found.action, found.kind, found.becomes) == ("reconsider", "commitment", "given more time")
    assert proposals(commitments=(promise._replace(status="kept"),)) == []


def test_desires_that_no_goal_serves() -> None:
    desire = Attitude("desire", "D-1", "Sleep well at night", status="active", priority=0.9)
    assert said(desires=(desire,)) == [("adopt", "D-1", "no goal serves it")]
    assert said((goal(desire="D-1"),), (intention(),), desires=(desire,)) == []
    assert said((goal(title="Sleep at night"),), (intention(),), desires=(desire,)) == []
    assert said(desires=(desire._replace(status="withdrawn"),)) == []


# Goals that are none any more


@pytest.mark.parametrize(
    ("strategy", "impossible", "unwanted"),
    [
        ("blind", "reconsider", "reconsider"),
        ("single-minded", "drop", "reconsider"),
        ("open-minded", "drop", "drop"),
        ("cautious", "drop", "drop"),
    ],
)
def test_each_strategy_drops_what_it_means(strategy: str, impossible: str, unwanted: str) -> None:
    told = (belief("B-1", "We cannot open a shop in Lyon."),)
    (found,) = proposals((goal(),), beliefs=told, strategy=strategy)
    assert (found.action, found.becomes, "Beliefs.md:3" in found.cites) == (impossible, "impossible", True)
    gone = (Attitude("desire", "D-1", "Grow", status="withdrawn"),)
    (found,) = proposals((goal(desire="D-1"),), desires=gone, strategy=strategy)
    assert (found.action, found.becomes) == (unwanted, "abandoned")
    (found,) = proposals((goal(),), beliefs=(belief("B-1", "G-1 is achieved."),), strategy=strategy)
    assert (found.action, found.becomes) == ("drop", "achieved")


def test_progress_says_that_a_goal_is_achieved() -> None:
    assert said((goal(progress=100.0),), (intention(),)) == [("drop", "G-1", "its progress is 100 %")]


# Support


def test_a_goal_whose_support_is_gone() -> None:
    held = belief("B-1", supports=("G-1",))
    gone = held._replace(status="superseded by B-2 (2026-02-20)")
    assert said((goal(),), (intention(),), beliefs=(held,)) == []
    assert said((goal(),), (intention(),), beliefs=(gone,)) == [
        ("reconsider", "G-1", "B-1, which supports it, is superseded")
    ]
    # What took its place supports the goal too; somebody looked at the goal since; it is weak, but not all there is.
    assert said((goal(),), (intention(),), beliefs=(gone, belief("B-2", supports=("G-1",)))) == []
    assert said((goal(updated="2026-02-25"),), (intention(),), beliefs=(gone,)) == []
    weak = held._replace(certainty=0.3)
    assert said((goal(),), (intention(),), beliefs=(weak,))[0][2] == "B-1, which supports it, is held with 0.3 only"
    assert said((goal(),), (intention(),), beliefs=(weak, belief("B-2", supports=("G-1",)))) == []


def test_beliefs_fall_with_what_they_rest_on() -> None:
    chain = [
        belief("B-1", status="retracted"),
        belief("B-2", rests=("B-1",)),
        belief("B-3", rests=("B-2", "F-9")),
        belief("B-4", rests=("F-1",)),
        belief("B-5", rests=("F-9", "B-5")),
    ]
    assert find_unsupported(chain, {"F-1": "was retracted"}) == {
        "B-2": "rests on B-1, which is retracted",
        "B-4": "rests on F-1, which was retracted",
        "B-3": "rests on B-2, which lost what it rests on",
    }
    supports = chain[1]._replace(supports=("G-1",))
    found = said((goal(),), (intention(),), beliefs=(chain[0], supports))
    assert [each[:2] for each in found] == [("reconsider", "B-2"), ("reconsider", "G-1")]


# The filter


def test_of_two_goals_that_compete_the_weaker_is_reconsidered_or_held() -> None:
    line = {"needs": ("The paint line",)}
    first, other = goal(priority=0.9, **line), goal("G-2", "Repaint the fleet", priority=0.4, needs=("the paint line",))
    both = (intention(), intention("I-2", "G-2"))
    assert said((first, other), both) == [("reconsider", "G-2", "G-1, which goes first, needs the paint line as well")]
    found = deliberate(situation((first, other), both[:1]))
    assert (found.proposals, [each.name for each, _ in found.held]) == ([], ["G-2"])
    # The stronger one is taken up though the weaker one is begun.
    assert [each[:2] for each in said((first, other), both[1:])] == [("reconsider", "G-2"), ("adopt", "G-1")]
    against = (goal(priority=0.2, excludes="G-2"), other._replace(needs=()))
    assert said(against, both) == [("reconsider", "G-1", "G-2, which goes first, excludes it")]


def test_more_than_an_agent_can_do_at_a_time_waits_by_priority_and_deadline() -> None:
    goals = (
        goal("G-1", "One thing"),
        goal("G-2", "Two things", priority=0.9),
        goal("G-3", "More", deadline="2026-04-01"),
    )
    found = deliberate(situation(goals, (intention("I-9", "G-9"),), capacity=3))
    assert [each.name for each in found.proposals] == ["G-2", "G-3"]
    assert [(each.name, why) for each, why in found.held] == [("G-1", "no room: 3 intentions at a time")]


def test_what_was_declined_is_not_proposed_again_until_there_is_another_reason() -> None:
    late = goal(deadline="2026-02-28")
    (first,) = proposals((late,), (intention(),))
    assert proposals((late,), (intention(),), declined=frozenset((first.key,))) == []
    assert (
        len(proposals((late._replace(deadline="2026-02-27"),), (intention(),), declined=frozenset((first.key,)))) == 1
    )


# Means and ends


def test_steps_are_ready_where_facts_and_beliefs_meet_their_preconditions() -> None:
    steps = (
        "x Look",
        "If the bank agrees, sign",
        "Move in (needs: permit granted)",
        "Paint (if walls not wet)",
        "Open",
    )
    facts = Facts(
        Fact("F-1", "permit", "isGranted", "false"),
        Fact("F-2", "permit", "isGranted", "true", valid_until="2026-02-01"),
    )
    told = (belief("B-1", "The bank agrees."), belief("B-2", "The walls are not wet."))
    (found,) = proposals((goal(),), (), (plan("P-1", *steps),), beliefs=told, facts=facts)
    assert found.means
    assert found.means.ready == ("If the bank agrees, sign", "Paint (if walls not wet)", "Open")
    assert found.means.waiting == ("Move in (needs: permit granted): permit granted (against F-1)",)
    (found,) = proposals((goal(),), (), (plan("P-1", "Precondition: the permit is granted", "Move in"),))
    assert found.means and found.means.waiting == ("Move in: the permit is granted (not known)",)


def test_a_plan_of_the_same_words_or_a_case_that_worked_fits_too() -> None:
    playbook = plan("PB-1", "Ask the city", of="", title="Opening a shop", path="Playbooks.md")
    (found,) = proposals((goal(),), (), (playbook, plan("P-9", "x", of="G-9")))
    assert found.means and (found.means.name, found.means.place) == ("PB-1", "Playbooks.md:1")
    worked = Case("CASE-1", context="A shop in Lyon was wanted", actions=("Rent", "Open"), success=True)
    (found,) = proposals((goal(),), (), (), cases=(worked, worked._replace(id="CASE-0", success=False)))
    assert found.means and (found.means.name, found.means.ready) == ("CASE-1", ("Rent", "Open"))
    assert proposals((goal(),), cases=(worked._replace(trust="untrusted"),))[0].means is None


def test_a_better_plan_for_a_goal_that_is_pursued() -> None:
    old, new = plan("P-1", "a", "b", "c"), plan("P-2", "d")
    begun = (intention(plan="P-1"),)
    assert said((goal(),), begun, (old,)) == []
    reason = "P-2 has fewer steps left than P-1, which I-1 follows"
    assert said((goal(),), begun, (old, new)) == [("re-plan", "G-1", reason)]
    assert said((goal(),), begun, (plan("P-1", "x a", "x b", "c"), new)) == []
    cases = (Case("CASE-1", ("B-1",), plan_id="P-2", success=False),)
    assert said((goal(),), begun, (old, new), cases=cases) == []
    assert said(
        (goal(),), begun, (plan("P-1", "a"), plan("P-2", "d", "e")), cases=(cases[0]._replace(success=True),)
    ) == [("re-plan", "G-1", "P-2 worked better before than P-1, which I-1 follows")]
    blocked = plan("P-1", "a (if the bank agrees)")
    told = (belief("B-1", "The bank never agrees."),)
    assert said((goal(),), begun, (blocked, plan("P-2", "d", "e")), beliefs=told) == [
        ("re-plan", "G-1", "P-2 can go on where P-1 cannot, which I-1 follows")
    ]
    assert said((goal(),), (intention(),), (new,)) == [("re-plan", "G-1", "I-1 follows no plan, P-2 fits")]
    # Plans that a goal requires go together: none replaces another.
    assert said((goal(links={"requires": ("P-1", "P-2")}),), begun, (old, new)) == []


def test_what_another_agent_reports_of_a_goal() -> None:
    report = Attitude(
        "goal", "G-7", "Open a shop in Lyon", status="active", owner="cto", path="../cto/Goals.md", line=9
    )
    mine = goal(owner="cto")
    assert said((mine,), reports={"G-1": report}) == []
    assert said((mine,), reports={"G-1": report._replace(status="achieved")}) == [
        ("drop", "G-1", "cto reports G-7 achieved")
    ]
    assert said((mine,), reports={"G-1": report._replace(status="failed")}) == [
        ("reconsider", "G-1", "cto reports G-7 failed")
    ]
