import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.reasoning.social.negotiation import Deal, find_fair, find_frontier
from reasoning.solving import example, refused, solve

quick = settings(max_examples=60, deadline=None, derandomize=True)


def options(*gains, batna=(0, 0)):
    names = "abcdefghij"
    return {
        "options": {names[n]: {"us": one[0], "them": one[1]} for n, one in enumerate(gains)},
        "parties": {"us": {"batna": batna[0]}, "them": {"batna": batna[1]}},
    }


def picked(answer):
    return [one["deal"] for one in answer.detail["solutions"].values()]


def test_each_rule_picks_by_its_own_formula() -> None:
    """Deals chosen so that Nash, Kalai and Smorodinsky, egalitarian and utilitarian all differ."""
    answer = solve("negotiation", options((100, 24), (70, 35), (60, 40), (41, 41), (10, 120), (160, 1)))
    # products 2400, 2450, 2400, 1681, 1200, 160; least shares of the ideal (160, 120) .2, .29, .33, .26, .06, .01
    assert picked(answer) == ["b", "c", "d", "f"]
    assert answer.conclusion.value == "b"
    assert math.isclose(dict(answer.conclusion.scores)["b"], math.sqrt(2450))
    assert any("do not agree" in caveat for caveat in answer.caveats)


def test_the_disagreement_point_moves_the_solution() -> None:
    """Nash 1950: the product is over gains, not over utilities."""
    deals = ((10, 4), (7, 6), (5, 9))
    assert solve("negotiation", options(*deals)).conclusion.value == "c"  # 40, 42, 45
    assert solve("negotiation", options(*deals, batna=(4.5, 0))).conclusion.value == "a"  # 22, 15, 4.5


def test_nash_is_free_of_scale_and_kalai_too() -> None:
    """Both are invariant to positive affine changes of a party's utility; the egalitarian one is not."""
    plain = solve("negotiation", options((9, 1), (6, 5), (2, 8)))
    scaled = solve("negotiation", options((93, 1), (63, 5), (23, 8), batna=(3, 0)))
    assert picked(plain)[:2] == picked(scaled)[:2] == ["b", "b"]


def test_nash_nineteen_fifty() -> None:
    """Nash 1950, The Bargaining Problem, section 5: Bill gives book, whip, ball and bat; Jack gives pen, toy and knife."""
    bill = {"book": (2, 4), "whip": (2, 2), "ball": (2, 1), "bat": (2, 2), "box": (4, 1)}
    jack = {"pen": (10, 1), "toy": (4, 1), "knife": (6, 2), "hat": (2, 2)}
    worth = {
        who: {name: {"keep": 0, "give": sign * goods[name][n]} for goods, sign in sides for name in goods}
        for n, (who, sides) in enumerate((("Bill", ((bill, -1), (jack, 1))), ("Jack", ((bill, 1), (jack, -1)))))
    }
    parties = {who: {"batna": 0, "worth": worth[who]} for who in worth}
    answer = solve("negotiation", {"parties": parties})
    given_away = [part.split()[0] for part in answer.conclusion.value.split(", ") if part.endswith("give")]
    assert given_away == ["book", "whip", "ball", "bat", "pen", "toy", "knife"]
    assert answer.detail["solutions"]["nash"]["gain"] == {"Bill": 12, "Jack": 5}


def test_points_add_up() -> None:
    worth = {"price": {"low": 75, "high": 0}, "speed": {"slow": 0, "fast": 25}}
    other = {"price": {"low": 0, "high": 25}, "speed": {"slow": 75, "fast": 0}}
    raw = {"parties": {"us": {"batna": 20, "worth": worth}, "them": {"batna": 20, "worth": other}}}
    answer = solve("negotiation", raw)
    assert answer.conclusion.value == "price low, speed slow"
    assert answer.detail["solutions"]["nash"]["worth"] == {"us": 75, "them": 75}


def test_no_room_for_agreement() -> None:
    answer = solve("negotiation", options((5, 1), (2, 2), batna=(3, 3)))
    assert answer.conclusion.value == "no deal"
    assert answer.detail["nearest"] == {"deal": "a", "lacking": {"them": 2}}


def test_who_cannot_gain_does_not_hide_the_rest() -> None:
    answer = solve("negotiation", options((0, 3), (0, 7), (0, 5)))
    assert answer.conclusion.value == "b"
    assert any("no deal gives us more" in caveat for caveat in answer.caveats)


def test_ties_are_said() -> None:
    answer = solve("negotiation", options((2, 3), (3, 2)))
    assert answer.conclusion.value == "a"
    assert "as good by the Nash product: b" in answer.caveats


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("parties: {a: {batna: 1}, b: {batna: 1}}", "parties.a.worth: is missing"),
        ("options: {x: {a: 1, b: 2}}", "parties: is missing"),
        ("options: {x: {a: 1}}\nparties: {a: {batna: 1}, b: {batna: 1}}", "options.x: b is missing"),
        (
            "options: {x: {a: 1, c: 1}}\nparties: {a: {batna: 1}, b: {batna: 1}}",
            "options.x: unknown party 'c'",
        ),
        ("parties: {a: {batna: 1, worth: {p: {x: 1}}}, b: {batna: 1}}", "parties.b.worth: p is missing"),
        (
            "parties: {a: {batna: 1, worth: {p: {x: 1, z: 2}}}, b: {batna: 1, worth: {p: {x: 1}}}}",
            "parties.b.worth.p: z is missing",
        ),
        (
            f"parties: {{a: {{batna: 1, worth: { {name: {'x': 1, 'y': 2} for name in 'abcdefghijklmno'} }}}, b: {{batna: 1}}}}",
            "parties.a.worth: 32,768 possible deals are too many",
        ),
    ],
)
def test_refusals(said: str, message: str) -> None:
    assert refused("negotiation", said).startswith(message)


gains = st.integers(2, 3).flatmap(
    lambda n: st.lists(st.tuples(*[st.integers(0, 6).map(float)] * n), min_size=1, max_size=10)
)


@quick
@given(gains)
def test_frontier_and_rules_against_brute_force(found) -> None:
    deals = [Deal(str(n), one) for n, one in enumerate(found)]
    frontier = find_frontier(deals)
    assert [deal.name for deal in frontier] == [
        deal.name
        for deal in deals
        if not any(
            other.gains != deal.gains and all(x >= y for x, y in zip(other.gains, deal.gains, strict=True))
            for other in deals
        )
    ]
    nash, _, equal, total = (picked[0] for picked in find_fair(frontier).values())
    assert sum(total.gains) == max(map(sum, found))
    assert min(equal.gains) == max(map(min, found))
    if max(map(math.prod, found)) > 0:
        assert math.prod(nash.gains) == max(map(math.prod, found))


def test_the_example_runs() -> None:
    raw = example("negotiation")
    answer = solve("negotiation", raw)
    us, atlas = raw["parties"]["us"], raw["parties"]["Atlas"]

    def gain(party, values):
        picked = zip(us["worth"], values, strict=True)
        return sum(party["worth"][i][v] for i, v in picked) - party["batna"]

    best = max(
        (values for values in product(*us["worth"].values()) if gain(us, values) > 0 and gain(atlas, values) > 0),
        key=lambda values: gain(us, values) * gain(atlas, values),
    )
    assert answer.conclusion.value == ", ".join(f"{i} {v}" for i, v in zip(us["worth"], best, strict=True))


def test_who_cannot_gain_does_not_level_the_scores():
    parties = {"a": {"batna": 0}, "b": {"batna": 5}}
    answer = solve("negotiation", {"parties": parties, "options": {"x": {"a": 4, "b": 5}, "y": {"a": 9, "b": 5}}})
    assert answer.conclusion.value == "y" and dict(answer.conclusion.scores) == {"y": 3.0}
