"""What a fair and lasting deal is: room for agreement, the frontier, bargaining solutions, and issues to trade."""

from collections.abc import Mapping
from itertools import product
from math import fsum, prod
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, choice
from mabos_cli.reasoning.input_checks import check_same, check_size
from mabos_cli.reasoning.own import Own
from mabos_cli.reasoning.shape import Shape, map_of, number, optional, record, usual
from mabos_cli.reasoning.social.bargaining import Deal, Fair, find_fair, find_frontier, score_nash
from mabos_cli.reasoning.social.price_bargain import POWER, PRICE, solve_price
from mabos_cli.reasoning.wording import cut, figure

_MOST_DEALS = {2: 20_000}  # by the number of parties
_MOST_OTHERWISE = 2_000
_SCORED = 20
_WORTH = number("a figure on the party's own scale", -1e9, 1e9)
SHAPE: Shape = record(
    "Give a price between two reserves, or parties with the worth of each issue, or parties and options with the worth of each deal.",
    price=optional(PRICE),
    options=optional(
        map_of(
            map_of(_WORTH, "what the deal is worth to each party"),
            "whole deals, each with its worth to every party; instead of worth by issue",
        )
    ),
    parties=usual(
        map_of(
            record(
                "a party",
                batna=_WORTH._replace(about="what the party has without a deal, on the scale of its worths"),
                power=POWER,
                weights=optional(
                    map_of(
                        number("how much the issue matters, on any scale", 0, 1e6),
                        "weight of each issue; if left out, worths are points to add up",
                    )
                ),
                worth=optional(
                    map_of(
                        map_of(_WORTH, "each possible value of the issue"),
                        "of each issue, each possible value with what it is worth to the party",
                    )
                ),
            ),
            "who negotiates",
            least=2,
        )
    ),
)
QUESTIONS = (
    "What does each party do if there is no deal, and what is that worth to it (BATNA)?",
    "Which issues are open, and which values can each take? Or which whole deals are on the table?",
    "How much does each party care about each issue, and about each value of it? Use 0 to 100.",
    "If only a price is open: what is the highest that the buyer pays, and the lowest that the seller takes?",
    "Who is under pressure of time, and who can wait?",
)


Worth = Mapping[str, Mapping[str, float]]  # by issue and value


class Party(NamedTuple):
    """A party with what it can walk away to."""

    name: str
    batna: float
    power: float


def solve(given: dict[str, Any], own: Own) -> Answer:
    """The Nash bargaining solution with the other solutions beside it, or that no deal is better than none for all."""
    if given["price"] is not None:
        if given["parties"] or given["options"]:
            raise BadValue("price: give a price alone, or parties with deals", "not both")
        return solve_price(given["price"])
    if given["parties"] is None:
        raise BadValue("parties: is missing", "who negotiates, with what each has without a deal")
    parties = tuple(Party(name, one["batna"], one["power"]) for name, one in given["parties"].items())
    if not any(party.power for party in parties):
        raise BadValue("parties: somebody must have power above 0", "leave power out to make it equal")
    worths, trades = _read_issues(given["parties"]) if given["options"] is None else _read_options(given)
    return _solve_deals(parties, worths, trades)


def _check_count(count: int, parties: int, field: str) -> None:
    check_size(field, count, _MOST_DEALS.get(parties, _MOST_OTHERWISE), "possible deals", "leave out values or issues")


def _read_options(given: dict[str, Any]) -> tuple[dict[str, tuple[float, ...]], list[str]]:
    parties, options = given["parties"], given["options"]
    _check_count(len(options), len(parties), "options")
    for name, worth in options.items():
        check_same(f"options.{name}", worth, parties, "party")
    return {name: tuple(worth[party] for party in parties) for name, worth in options.items()}, []


def _read_issues(parties: dict[str, Any]) -> tuple[dict[str, tuple[float, ...]], list[str]]:
    first = next(iter(parties))
    issues = parties[first]["worth"]
    if issues is None:
        raise BadValue(
            f"parties.{first}.worth: is missing", "what each value of each issue is worth to the party; or give options"
        )
    _check_count(prod(map(len, issues.values())), len(parties), f"parties.{first}.worth")
    tables = [_read_worth(f"parties.{name}", one, issues) for name, one in parties.items()]
    worths = {}
    for values in product(*issues.values()):
        picked = [*zip(issues, values, strict=True)]
        name = ", ".join(f"{issue} {value}" for issue, value in picked)
        worths[name] = tuple(fsum(table[issue][value] for issue, value in picked) for table in tables)
    return worths, _find_trades([*parties], tables, issues)


def _read_worth(path: str, party: dict[str, Any], issues: Worth) -> Worth:
    """What each value of each issue adds to the worth of a deal."""
    worth, weights = party["worth"] or {}, party["weights"]
    check_same(f"{path}.worth", worth, issues, "issue")
    for issue, values in issues.items():
        check_same(f"{path}.worth.{issue}", worth[issue], values, "value")
    if weights is None:
        return worth
    check_same(f"{path}.weights", weights, issues, "issue")
    total = fsum(weights.values())
    if not total:
        raise BadValue(f"{path}.weights: all are 0", "something must matter")
    return {issue: {value: weights[issue] / total * one for value, one in worth[issue].items()} for issue in issues}


def _find_trades(parties: list[str], tables: list[Worth], issues: Worth) -> list[str]:
    """For each two parties, the issues whose stakes differ most: each gives way where it costs least."""
    stakes = []
    for table in tables:
        spread = {issue: max(worth.values()) - min(worth.values()) for issue, worth in table.items()}
        total = fsum(spread.values())
        stakes.append({issue: one / total if total else 0.0 for issue, one in spread.items()})
    lines = []
    for a in range(len(parties)):
        for b in range(a + 1, len(parties)):
            gap = {issue: stakes[a][issue] - stakes[b][issue] for issue in issues}
            for_a, for_b = max(gap, key=lambda issue: gap[issue]), min(gap, key=lambda issue: gap[issue])
            if gap[for_a] > 0.05 and gap[for_b] < -0.05:
                lines.append(
                    f"trade: {parties[a]} gives way on {for_b} ({stakes[a][for_b]:.0%} of its stake, {stakes[b][for_b]:.0%} of"
                    f" {parties[b]}'s), {parties[b]} on {for_a} ({stakes[b][for_a]:.0%} against {stakes[a][for_a]:.0%})"
                )
    for issue in issues:
        wanted = {_favourite(table[issue]) for table in tables}
        if len(wanted) == 1 and len(issues[issue]) > 1:
            lines.append(f"no conflict on {issue}: all want {wanted.pop()}")
    return lines


def _favourite(worth: Mapping[str, float]) -> str:
    return max(worth, key=lambda value: worth[value])


def _solve_deals(parties: tuple[Party, ...], worths: dict[str, tuple[float, ...]], trades: list[str]) -> Answer:
    floor = [party.batna for party in parties]
    deals = [Deal(name, tuple(u - d for u, d in zip(us, floor, strict=True))) for name, us in worths.items()]
    room = [deal for deal in deals if min(deal.gains) >= 0]
    if not room:
        return _tell_no_deal(parties, deals, worths, trades)
    frontier = find_frontier(room)
    fair = find_fair(frontier, [party.power for party in parties])
    best = fair[0]
    steps = [
        f"{len(room)} of {len(deals)} deals are no worse than walking away for anybody; {len(frontier)} of them on the frontier"
    ]
    steps += [f"{one.rule}: {one.deal.name} ({_gained(parties, one.deal)})" for one in fair]
    summary = f"{best.deal.name}: gains over no deal {_gained(parties, best.deal)}"
    return Answer(
        choice(best.deal.name, _scores(frontier, parties), "the deal to agree on"),
        None,
        summary,
        cut(steps + trades),
        _detail(parties, worths, room, frontier, fair, trades),
        _caveats(parties, best, fair, room),
    )


def _gained(parties: tuple[Party, ...], deal: Deal) -> str:
    return ", ".join(f"{who.name} {figure(gain)}" for who, gain in zip(parties, deal.gains, strict=True))


def _scores(frontier: list[Deal], parties: tuple[Party, ...]) -> dict[str, float]:
    """The Nash products of the deals on the frontier, the best ones only."""
    scores = score_nash(frontier, [party.power for party in parties])
    return dict(sorted(scores.items(), key=lambda one: -one[1])[:_SCORED])


def _detail(
    parties: tuple[Party, ...],
    worths: dict[str, tuple[float, ...]],
    room: list[Deal],
    frontier: list[Deal],
    fair: tuple[Fair, ...],
    trades: list[str],
) -> dict[str, Any]:
    def shown(deal: Deal) -> dict[str, Any]:
        named = [party.name for party in parties]
        return {
            "deal": deal.name,
            "worth": dict(zip(named, worths[deal.name], strict=True)),
            "gain": dict(zip(named, deal.gains, strict=True)),
        }

    return {
        "batna": {party.name: party.batna for party in parties},
        "deals": len(worths),
        "acceptable": len(room),
        "frontier": [shown(deal) for deal in frontier],
        "solutions": {one.rule: shown(one.deal) | {"ties": [tie.name for tie in one.ties]} for one in fair},
        "trades": trades,
    }


def _caveats(parties: tuple[Party, ...], best: Fair, fair: tuple[Fair, ...], room: list[Deal]) -> tuple[str, ...]:
    caveats = []
    if best.ties:
        caveats.append(f"as good by the Nash product: {'; '.join(tie.name for tie in best.ties[:3])}")
    others = [one.rule for one in fair if one.deal.gains != best.deal.gains]
    if others:
        caveats.append(f"the rules do not agree: {', '.join(others)} would pick another deal")
    stuck = [who.name for n, who in enumerate(parties) if max(deal.gains[n] for deal in room) == 0]
    if stuck:
        caveats.append(f"no deal gives {', '.join(stuck)} more than walking away: expect no eagerness there")
    elif min(best.deal.gains) == 0:
        caveats.append("no deal gives everybody more than walking away")
    if any(one.rule in ("egalitarian", "utilitarian") for one in fair if one.deal.gains != best.deal.gains):
        caveats.append("egalitarian and utilitarian compare gains across parties: they need a common scale")
    return tuple(caveats)


def _tell_no_deal(
    parties: tuple[Party, ...], deals: list[Deal], worths: dict[str, tuple[float, ...]], trades: list[str]
) -> Answer:
    nearest = max(deals, key=lambda deal: sum(min(gain, 0.0) for gain in deal.gains))
    lacks = {who.name: -gain for who, gain in zip(parties, nearest.gains, strict=True) if gain < 0}
    said = ", ".join(f"{who} lacks {figure(short)}" for who, short in lacks.items())
    detail = {
        "batna": {party.name: party.batna for party in parties},
        "deals": len(worths),
        "acceptable": 0,
        "nearest": {"deal": nearest.name, "lacking": lacks},
        "trades": trades,
    }
    return Answer(
        choice("no deal", about="the deal to agree on"),
        None,
        f"no deal: none of {len(deals)} beats walking away for all; nearest is {nearest.name} ({said})",
        cut([f"nearest: {nearest.name}, {said}", *trades]),
        detail,
        ("add an issue or a value that makes up for what is lacking, or walk away",),
    )
