"""Which deal is fair, by the solutions of bargaining theory, over a list of possible deals; and how a surplus is split."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

_SAME = 1e-9


class Deal(NamedTuple):
    """A possible deal and what each party gains by it over walking away."""

    name: str
    gains: tuple[float, ...]


class Fair(NamedTuple):
    """A rule, the deal it picks, the figure it goes by, and deals that are as good by it."""

    rule: str
    deal: Deal
    figure: float
    ties: tuple[Deal, ...]


def find_frontier(deals: Sequence[Deal]) -> list[Deal]:
    """The deals that no other one improves for one party at no cost to the rest, in their order."""
    front: list[tuple[float, ...]] = []
    for gains in sorted({deal.gains for deal in deals}, reverse=True):
        # With two parties the last of the front is the one that gives most to the second.
        rivals = front[-1:] if len(gains) == 2 else front
        if not any(all(a >= b for a, b in zip(rival, gains, strict=True)) for rival in rivals):
            front.append(gains)
    kept = {*front}
    return [deal for deal in deals if deal.gains in kept]


def score_nash(frontier: Sequence[Deal], powers: Sequence[float]) -> dict[str, float]:
    """The Nash product of each deal, with powers as shares. Who cannot gain by any deal would make all of them 0, and is left out.

    >>> score_nash([Deal("a", (4.0, 0.0)), Deal("b", (9.0, 0.0))], [1, 1])
    {'a': 2.0, 'b': 3.0}
    """
    able, total = _able(frontier), sum(powers)
    return {deal.name: math.prod(deal.gains[n] ** (powers[n] / total) for n in able) for deal in frontier}


def _able(frontier: Sequence[Deal]) -> list[int]:
    """The parties that some deal gives more than walking away."""
    return [n for n in range(len(frontier[0].gains)) if any(deal.gains[n] > 0 for deal in frontier)]


def find_fair(frontier: Sequence[Deal], powers: Sequence[float]) -> tuple[Fair, ...]:
    """The deal that each rule picks from the frontier: Nash, Kalai and Smorodinsky, egalitarian, utilitarian."""
    ideal = {n: max(deal.gains[n] for deal in frontier) for n in _able(frontier)}
    products = score_nash(frontier, powers)

    def kalai(deal: Deal) -> tuple[float, ...]:
        return tuple(sorted(deal.gains[n] / most for n, most in ideal.items())) or (0.0,)

    return (
        _pick("nash", frontier, lambda deal: (products[deal.name],)),
        _pick("kalai-smorodinsky", frontier, kalai),
        _pick("egalitarian", frontier, lambda deal: tuple(sorted(deal.gains))),
        _pick("utilitarian", frontier, lambda deal: (math.fsum(deal.gains),)),
    )


def _pick(rule: str, frontier: Sequence[Deal], score: Callable[[Deal], tuple[float, ...]]) -> Fair:
    """The first deal with the best score. Scores are compared part by part, so that the worst off counts first."""
    scored = [(score(deal), deal) for deal in frontier]
    best, chosen = scored[0]
    for one, deal in scored[1:]:
        if _is_above(one, best):
            best, chosen = one, deal
    ties = [deal for one, deal in scored if not _is_above(best, one) and deal is not chosen]
    return Fair(rule, chosen, best[0], tuple(ties))


def _is_above(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    for a, b in zip(one, other, strict=True):
        if abs(a - b) > _SAME * max(1.0, abs(a), abs(b)):
            return a > b
    return False


def split_alternating(first: float, second: float) -> float:
    """The share of the one who offers first when offers alternate without end and a round shrinks the surplus to
    these parts of its worth for each (Rubinstein 1982).

    >>> split_alternating(0.5, 0.5)
    0.6666666666666666
    """
    return 0.5 if first == second == 1 else (1 - second) / (1 - first * second)
