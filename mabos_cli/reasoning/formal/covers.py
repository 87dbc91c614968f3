"""Sets of causes that account for effects: the covers of which no cause can be left out, and their probabilities."""

import math
from collections.abc import Sequence
from operator import mul
from typing import NamedTuple

from mabos_cli.core import BadValue

MOST_NODES, MOST_COVERS, MOST_WEIGHED = 200_000, 5_000, 14


class Cause(NamedTuple):
    """A possible cause: how surely it brings each effect about, what it costs to assume, and how likely it is beforehand."""

    name: str
    strengths: dict[str, float]
    cost: float
    prior: float | None


def minimal_covers(causes: Sequence[Cause], effects: Sequence[str]) -> list[tuple[int, ...]]:
    """Every set of causes that accounts for all effects and from which none can be left out, by number. BadValue if there
    are too many to list.

    >>> minimal_covers([Cause("a", {"x": 1}, 1, None), Cause("b", {"x": 1, "y": 1}, 1, None)], ["x", "y"])
    [(1,)]
    """
    masks = [sum(1 << n for n, effect in enumerate(effects) if effect in cause.strengths) for cause in causes]
    by_effect = [[c for c, mask in enumerate(masks) if mask >> n & 1] for n in range(len(effects))]
    whole = (1 << len(effects)) - 1
    found: dict[tuple[int, ...], None] = {}
    stack: list[tuple[tuple[int, ...], frozenset[int]]] = [((), frozenset())]
    for _ in range(MOST_NODES):
        if not stack:
            return sorted(found, key=lambda cover: (len(cover), cover))
        chosen, barred = stack.pop()
        covered = _union(masks, chosen)
        if any(not masks[c] & ~_union(masks, tuple(o for o in chosen if o != c)) for c in chosen):
            continue  # some cause adds nothing, and never will again
        if covered == whole:
            found[tuple(sorted(chosen))] = None
            if len(found) > MOST_COVERS:
                break
            continue
        # The effect with the fewest causes left decides first; causes tried before are barred, so no set comes twice.
        open_effects = [n for n in range(len(effects)) if not covered >> n & 1]
        options = min(([c for c in by_effect[n] if c not in barred] for n in open_effects), key=len)
        stack += [((*chosen, c), barred | {*options[:n]}) for n, c in enumerate(options)]
    told = f"the limits are {MOST_COVERS:,} explanations and {MOST_NODES:,} tries"
    raise BadValue(f"hypotheses: too many sets explain the observations; {told}", "give fewer hypotheses")


def _union(masks: Sequence[int], chosen: tuple[int, ...]) -> int:
    found = 0
    for c in chosen:
        found |= masks[c]
    return found


def with_certain(causes: Sequence[Cause], chosen: tuple[int, ...]) -> tuple[int, ...]:
    """The causes with those that are there in any case: without them nothing could be."""
    return tuple(n for n, cause in enumerate(causes) if n in chosen or cause.prior == 1)


def log_joint(causes: Sequence[Cause], chosen: tuple[int, ...], effects: Sequence[str], absent: Sequence[str]) -> float:
    """The logarithm of the probability that just these causes are there, bring all effects about, and none that is absent.
    Causes act independently of each other (noisy or); -inf if it cannot be."""
    chances = [(cause.prior or 0.0) if n in chosen else 1 - (cause.prior or 0.0) for n, cause in enumerate(causes)]
    for effect in (*effects, *absent):
        missing = math.prod(1 - causes[c].strengths.get(effect, 0.0) for c in chosen)
        chances.append(missing if effect in absent else 1 - missing)
    return sum(math.log(chance) for chance in chances) if all(chances) else -math.inf


def posterior(causes: Sequence[Cause], effects: Sequence[str], absent: Sequence[str]) -> dict[tuple[int, ...], float]:
    """The probability of each possible set of causes, given what was seen; empty if nothing can have caused it."""
    states: list[tuple[tuple[int, ...], float, tuple[float, ...]]] = [((), 0.0, (1.0,) * len((*effects, *absent)))]
    for n, cause in enumerate(causes):
        prior = cause.prior or 0.0
        stays = [1 - cause.strengths.get(effect, 0.0) for effect in (*effects, *absent)]
        with_it = [
            ((*chosen, n), log + math.log(prior), tuple(map(mul, missing, stays)))
            for chosen, log, missing in (states if prior else ())
        ]
        without = [(chosen, log + math.log1p(-prior), missing) for chosen, log, missing in states if prior < 1]
        states = without + with_it
    logs = {}
    for chosen, log, missing in states:
        chances = [1 - one if n < len(effects) else one for n, one in enumerate(missing)]
        if all(chances):
            logs[chosen] = log + sum(map(math.log, chances))
    top = max(logs.values(), default=0.0)
    weights = {chosen: math.exp(weight - top) for chosen, weight in logs.items()}
    total = math.fsum(weights.values())
    return {chosen: weight / total for chosen, weight in weights.items()}
