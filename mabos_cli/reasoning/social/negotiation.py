"""Finds what a fair and lasting deal is: room for agreement, frontier, bargaining solutions, and issues to trade."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import fsum, prod
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, choice, cut, figure, find_front, notes
from mabos_cli.reasoning.inputs import AgentData, check_same
from mabos_cli.reasoning.shape import check_size

_MOST_DEALS = {True: 20_000, False: 2_000}  # by whether there are just two parties
_SCORED = 20


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the Nash bargaining solution beside the others, or that no deal suits all."""
    floor = {name: one["batna"] for name, one in fields["parties"].items()}
    worths = _read_issues(fields["parties"]) if fields["options"] is None else _read_options(fields)
    deals = [Deal(name, tuple(u - d for u, d in zip(us, floor.values(), strict=True))) for name, us in worths.items()]
    room = [deal for deal in deals if min(deal.gains) >= 0]
    if not room:
        return _answer_no_deal(floor, deals)
    frontier = find_frontier(room)
    fair = find_fair(frontier)
    best, *ties = fair["nash"]

    def gained(deal: Deal) -> str:
        return ", ".join(f"{who} {figure(gain)}" for who, gain in zip(floor, deal.gains, strict=True))

    def shown(deal: Deal) -> dict[str, Any]:
        worth, gain = (dict(zip(floor, each, strict=True)) for each in (worths[deal.name], deal.gains))
        return {"deal": deal.name, "worth": worth, "gain": gain}

    detail = {
        "batna": floor,
        "deals": len(deals),
        "acceptable": len(room),
        "frontier": [shown(deal) for deal in frontier],
        "solutions": {
            rule: shown(picked[0]) | {"ties": [tie.name for tie in picked[1:]]} for rule, picked in fair.items()
        },
    }
    counts = f"{len(room)} of {len(deals)} deals are no worse than walking away for anybody"
    steps = [f"{counts}; {len(frontier)} of them on the frontier"]
    steps += [f"{rule}: {picked[0].name} ({gained(picked[0])})" for rule, picked in fair.items()]
    summary = f"{best.name}: gains over no deal {gained(best)}"
    scores = dict(sorted(score_nash(frontier).items(), key=lambda one: -one[1])[:_SCORED])
    others = [rule for rule, picked in fair.items() if picked[0].gains != best.gains]
    stuck = [who for n, who in enumerate(floor) if max(deal.gains[n] for deal in room) == 0]
    across = "egalitarian and utilitarian compare gains across parties: they need a common scale"
    caveats = notes(
        (ties, f"as good by the Nash product: {'; '.join(tie.name for tie in ties[:3])}"),
        (others, f"the rules do not agree: {', '.join(others)} would pick another deal"),
        (stuck, f"no deal gives {', '.join(stuck)} more than walking away: expect no eagerness there"),
        (not stuck and min(best.gains) == 0, "no deal gives everybody more than walking away"),
        ({"egalitarian", "utilitarian"} & {*others}, across),
    )
    return Answer(choice(best.name, scores, "the deal to agree on"), None, summary, cut(steps), detail, caveats)


def _read_options(fields: dict[str, Any]) -> dict[str, tuple[float, ...]]:
    parties, options = fields["parties"], fields["options"]
    check_size("options", len(options), _MOST_DEALS[len(parties) == 2], "possible deals", "leave out some")
    for name, worth in options.items():
        check_same(f"options.{name}", worth, parties, "party")
    return {name: tuple(worth[party] for party in parties) for name, worth in options.items()}


def _read_issues(parties: dict[str, Any]) -> dict[str, tuple[float, ...]]:
    first = next(iter(parties))
    issues = parties[first]["worth"]
    if issues is None:
        hint = "what each value of each issue is worth to the party; or give options"
        raise BadValue(f"parties.{first}.worth: is missing", hint)
    count, hint = prod(map(len, issues.values())), "leave out values or issues"
    check_size(f"parties.{first}.worth", count, _MOST_DEALS[len(parties) == 2], "possible deals", hint)
    tables = []
    for name, one in parties.items():
        check_same(f"parties.{name}.worth", one["worth"] or {}, issues, "issue")
        for issue, values in issues.items():
            check_same(f"parties.{name}.worth.{issue}", one["worth"][issue], values, "value")
        tables.append(one["worth"])
    worths = {}
    for values in product(*issues.values()):
        picked = [*zip(issues, values, strict=True)]
        name = ", ".join(f"{issue} {value}" for issue, value in picked)
        worths[name] = tuple(fsum(table[issue][value] for issue, value in picked) for table in tables)
    return worths


class Deal(NamedTuple):
    """A possible deal and what each party gains by it over walking away."""

    name: str
    gains: tuple[float, ...]


def _answer_no_deal(floor: Mapping[str, float], deals: list[Deal]) -> Answer:
    nearest = max(deals, key=lambda deal: sum(min(gain, 0.0) for gain in deal.gains))
    lacks = {who: -gain for who, gain in zip(floor, nearest.gains, strict=True) if gain < 0}
    short = ", ".join(f"{who} lacks {figure(amount)}" for who, amount in lacks.items())
    detail = {"batna": dict(floor), "deals": len(deals), "acceptable": 0}
    detail |= {"nearest": {"deal": nearest.name, "lacking": lacks}}
    return Answer(
        choice("no deal", about="the deal to agree on"),
        None,
        f"no deal: none of {len(deals)} beats walking away for all; nearest is {nearest.name} ({short})",
        (f"nearest: {nearest.name}, {short}",),
        detail,
        ("add an issue or a value that makes up for what is lacking, or walk away",),
    )


def find_frontier(deals: Sequence[Deal]) -> list[Deal]:
    """Returns the deals that no other one improves for one party at no cost to the rest, in their order."""
    kept = find_front(deal.gains for deal in deals)
    return [deal for deal in deals if deal.gains in kept]


def score_nash(frontier: Sequence[Deal]) -> dict[str, float]:
    """Returns the geometric mean of the gains by each deal. Who cannot gain by any deal is left out."""
    able = _able(frontier)
    return {deal.name: math.prod(deal.gains[n] for n in able) ** (1 / len(deal.gains)) for deal in frontier}


def _able(frontier: Sequence[Deal]) -> list[int]:
    """Returns the parties that some deal gives more than walking away."""
    return [n for n in range(len(frontier[0].gains)) if any(deal.gains[n] > 0 for deal in frontier)]


def find_fair(frontier: Sequence[Deal]) -> dict[str, list[Deal]]:
    """Returns the deal that each rule picks from the frontier, and behind it those that are as good by it. Scores are compared part
    by part, so the worst off counts first; those that differ by rounding only are equal."""
    ideal = {n: max(deal.gains[n] for deal in frontier) for n in _able(frontier)}
    products = score_nash(frontier)
    rules: dict[str, Callable[[Deal], tuple[float, ...]]] = {
        "nash": lambda deal: (products[deal.name],),
        "kalai-smorodinsky": lambda deal: tuple(sorted(deal.gains[n] / most for n, most in ideal.items())) or (0.0,),
        "egalitarian": lambda deal: tuple(sorted(deal.gains)),
        "utilitarian": lambda deal: (math.fsum(deal.gains),),
    }
    found = {}
    for rule, score in rules.items():
        scores = [tuple(float(f"{part:.9g}") for part in score(deal)) for deal in frontier]
        best = max(scores)
        found[rule] = [deal for deal, one in zip(frontier, scores, strict=True) if one == best]
    return found
