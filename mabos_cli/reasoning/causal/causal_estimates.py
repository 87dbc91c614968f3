"""Effects from rows of counts: what was seen, what remains after adjustment, and the bounds if nothing can be adjusted."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.network_input import Row
from mabos_cli.reasoning.wording import listed


class Aim(NamedTuple):
    """What is asked of the data: how likely a value of the effect is when the cause has one value or the other."""

    cause: str
    effect: str
    success: str
    settings: tuple[str, str]  # with the treatment, and without


class Estimate(NamedTuple):
    """The chance of success with and without the treatment, and the variance of their difference if counts tell it."""

    chances: tuple[float, float]
    variance: float | None = None

    @property
    def effect(self) -> float:
        return self.chances[0] - self.chances[1]

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the effect lies in nineteen of twenty samples."""
        if self.variance is None:
            return None
        reach = 1.96 * math.sqrt(self.variance)
        return max(-1.0, self.effect - reach), min(1.0, self.effect + reach)


def adjust(rows: Sequence[Row], aim: Aim, by: Sequence[str]) -> Estimate:
    """The effect within each stratum of some variables, averaged over the strata as they occur in everybody. Without variables
    it is the plain difference."""
    strata: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        strata[tuple(row[0][name] for name in by)].append(row)
    total = _weight(rows)
    chances, variance = [0.0, 0.0], 0.0
    for key, inside in strata.items():
        share = _weight(inside) / total
        if not share:
            continue
        for side, setting in enumerate(aim.settings):
            treated = [row for row in inside if row[0][aim.cause] == setting]
            count = _weight(treated)
            if not count:
                where = listed([f"{name}={state}" for name, state in zip(by, key, strict=True)])
                among = f" among {where}" if where else ""
                raise BadValue(
                    f"data: no row has {aim.cause}={setting}{among}",
                    "without them their effect is unknown; leave this group out",
                )
            hits = _weight(treated, (aim.effect, aim.success))
            chances[side] += share * hits / count
            # All of three or none of three do not make it certain: the rule of succession says how far they do.
            chance = hits / count if 0 < hits < count else (hits + 1) / (count + 2)
            variance += share**2 * chance * (1 - chance) / count
    # Shares say nothing about how many were seen.
    counted = all(count == int(count) for _, count in rows) and total > 1
    return Estimate((chances[0], chances[1]), variance if counted else None)


def through(rows: Sequence[Row], aim: Aim, mediators: Sequence[str]) -> Estimate:
    """The effect by the front door: how the cause moves the mediators, times what they do whatever the cause was."""
    total = _weight(rows)
    groups: dict[tuple[str, ...], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    causes: dict[str, float] = defaultdict(float)
    for row in rows:
        groups[tuple(row[0][name] for name in mediators)][row[0][aim.cause]].append(row)
        causes[row[0][aim.cause]] += row[1]
    chances = [0.0, 0.0]
    for key, by_cause in groups.items():
        if not sum(_weight(inside) for inside in by_cause.values()):
            continue
        done = 0.0
        for cause, count in causes.items():
            inside = by_cause.get(cause, [])
            if count and not _weight(inside):
                where = listed([f"{name}={state}" for name, state in zip(mediators, key, strict=True)])
                raise BadValue(
                    f"data: no row has {aim.cause}={cause} among {where}", "the front door needs every combination"
                )
            if count:
                done += count / total * _weight(inside, (aim.effect, aim.success)) / _weight(inside)
        for side, setting in enumerate(aim.settings):
            chances[side] += done * _weight(by_cause.get(setting, [])) / causes[setting]
    return Estimate((chances[0], chances[1]))


def bounds(rows: Sequence[Row], aim: Aim) -> tuple[float, float]:
    """Between which values the effect must lie whatever confounds it: the untested half of each side may have gone either way."""
    total = _weight(rows)
    lows, highs = [], []
    for setting in aim.settings:
        treated = [row for row in rows if row[0][aim.cause] == setting]
        hit = _weight(treated, (aim.effect, aim.success)) / total
        lows.append(hit)
        highs.append(hit + 1 - _weight(treated) / total)
    return lows[0] - highs[1], highs[0] - lows[1]


def ratio_by(rows: Sequence[Row], aim: Aim, instrument: str) -> float | None:
    """The effect on those whom the instrument moves: its effect on the outcome over its effect on the treatment."""
    states = tuple(dict.fromkeys(cells[instrument] for cells, _ in rows))
    if len(states) != 2 or any(cells[aim.cause] not in aim.settings for cells, _ in rows):
        return None
    moved = []
    for name, value in ((aim.effect, aim.success), (aim.cause, aim.settings[0])):
        sides = [[row for row in rows if row[0][instrument] == state] for state in states]
        if not all(map(_weight, sides)):
            return None
        first, second = (_weight(side, (name, value)) / _weight(side) for side in sides)
        moved.append(first - second)
    return moved[0] / moved[1] if abs(moved[1]) > 1e-9 else None


def _weight(rows: Sequence[Row], wanted: tuple[str, str] | None = None) -> float:
    """How often rows were seen, or those with a value of a variable."""
    return sum(count for cells, count in rows if wanted is None or cells[wanted[0]] == wanted[1])
