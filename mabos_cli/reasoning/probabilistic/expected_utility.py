"""Finds which option has the highest expected utility: certainty equivalents and risk premiums."""

import math
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, best_names, choice, cut, figure, listed
from mabos_cli.reasoning.inputs import AgentData, sum_to_one
from mabos_cli.reasoning.shape import check_size, find_worksheet

Lottery = tuple[tuple[float, float], ...]  # amounts, rising, with their probabilities
MOST_OUTCOMES = 1000


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the option with the highest certainty equivalent, which is the one with the highest expected utility."""
    check_size("options", sum(map(len, fields["options"].values())), MOST_OUTCOMES, "outcomes")
    lotteries = {name: _read(found, f"options.{name}") for name, found in fields["options"].items()}
    utility, aversion = _attitude(fields, lotteries)
    base = fields["wealth"] if aversion else 0.0  # what one has before changes nothing for who looks at the mean only
    moved = {name: tuple((x + base, p) for x, p in lottery) for name, lottery in lotteries.items()}
    sure = {name: worth(lottery, aversion) - base for name, lottery in moved.items()}
    best, *tied = best_names(sure, scale=max(abs(x) + base for lot in lotteries.values() for x, _ in lot))
    order = sorted(sure, key=lambda name: -sure[name])
    detail: dict[str, Any] = {
        "utility": utility,
        "options": {
            name: {
                "certainty_equivalent": sure[name],
                "mean": mean(lottery),
                "risk_premium": mean(lottery) - sure[name],
                "loss_probability": sum(share for amount, share in lottery if amount < 0),
            }
            for name, lottery in lotteries.items()
        },
    }
    lines = []
    for name in order:
        figures = (figure(detail["options"][name][key]) for key in ("certainty_equivalent", "mean", "risk_premium"))
        worths = "{}: worth {} for certain, mean {}, risk premium {}".format(name, *figures)
        lines.append(f"{worths}, P(loss) {figure(detail['options'][name]['loss_probability'])}")
    caveats = [f"{best} is worth as much as {listed(tied)}; the first in the input is named."] if tied else []
    if utility == "linear":
        caveats.append("Linear utility ignores risk; give utility and aversion if losses hurt more than gains please.")
    means = {name: mean(lottery) for name, lottery in lotteries.items()}
    if best not in best_names(means):
        caveats.append(f"{best_names(means)[0]} has the higher mean; the attitude to risk turns the choice.")
    return Answer(
        choice(best, sure),
        None,
        f"{best} is worth {figure(sure[best])} for certain ({utility}), its mean is {figure(means[best])}",
        cut(lines),
        detail,
        tuple(caveats),
    )


def _read(outcomes: list[dict[str, float]], path: str) -> Lottery:
    """Returns the lottery with equal amounts added up and impossible ones left out, rising."""
    shares = sum_to_one(path, {str(n): outcome["p"] for n, outcome in enumerate(outcomes)})
    found: dict[float, float] = {}
    for outcome, share in zip(outcomes, shares.values(), strict=True):
        if share:
            found[outcome["gain"]] = found.get(outcome["gain"], 0.0) + share
    return tuple(sorted(found.items()))


def _attitude(fields: dict[str, Any], lotteries: dict[str, Lottery]) -> tuple[str, float]:
    """Returns the attitude to risk by its name, and the relative aversion to it."""
    kind, aversion = fields["utility"], fields["aversion"]
    if kind == "crra" and aversion is None:
        about = find_worksheet("expected-utility").shape.field("aversion").about
        raise BadValue("aversion: is missing", f"crra needs it; {about}")
    aversion = {"linear": 0.0, "log": 1.0}.get(kind, aversion)
    for name, lottery in lotteries.items() if kind != "linear" else ():
        left = lottery[0][0] + fields["wealth"]
        if left < 0 or (left == 0 and aversion >= 1):
            hint = "give the wealth that the losses come out of"
            raise BadValue(f"options.{name}: leaves {left:g} of the wealth, and {kind} needs more than 0", hint)
    return "linear" if kind == "linear" else "log" if abs(aversion - 1) < 1e-9 else f"CRRA {aversion:g}", aversion


def worth(lottery: Lottery, aversion: float) -> float:
    """Returns the certain amount that is worth as much as a lottery, for a constant relative aversion g to risk: u(w) = w^(1-g) /
    (1-g), log w at g = 1, and w itself at g = 0."""
    if not aversion:
        return mean(lottery)
    if abs(aversion - 1) < 1e-9:
        return math.exp(sum(share * math.log(w) for w, share in lottery))
    power = 1 - aversion
    unit = lottery[0][0] if power < 0 else lottery[-1][0]
    if unit == 0:
        return 0.0
    return float(unit * sum(share * (w / unit) ** power for w, share in lottery) ** (1 / power))


def mean(lottery: Lottery) -> float:
    """Returns the expected amount."""
    return sum(amount * share for amount, share in lottery)
