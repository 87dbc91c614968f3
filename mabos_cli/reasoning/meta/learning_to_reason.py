"""Finds what past results teach about which method works for what: success rates with intervals, and what to prefer."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.case import KeptResult
from mabos_cli.reasoning.answer import Answer, cut, listed, notes, ranking, wilson
from mabos_cli.reasoning.catalog import METHODS
from mabos_cli.reasoning.inputs import AgentData, known_name

LEVEL = 0.9  # of the intervals
# A method is taken to be as good as all together until about so many results of its own say otherwise.
PRIOR_CASES = 4.0


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the methods by the rate of success that they can be trusted to exceed."""
    past = read_episodes(fields["episodes"], agent)
    if not past:
        hint = "give episodes, or record outcomes with `reason outcome`"
        raise BadValue("episodes: no result has a known outcome", hint)
    records = learned_scores(past)
    lows = {name: one.low for name, one in records.items()}
    order = sorted(records, key=lambda name: -lows[name])
    least = fields["least"]
    enough = [name for name in order if records[name].total >= least]
    factors = find_factors(records)
    detail = {
        "results": len(past),
        "methods": {name: describe(one) for name, one in records.items()},
        "factors": factors,
        "enough": enough,
    }
    top = records[order[0]]
    summary = f"{order[0]}: right in {top.right} of {top.total}, rate above {top.low:.2f} with 95 %"
    conclusion = ranking(tuple(order), lows, "methods by the rate that they exceed with 95 %")
    steps = [
        f"{name}: {one.right} of {one.total}, rate {one.mean:.2f} ({one.low:.2f} to {one.high:.2f}), fit times {factors[name]:.2f}"
        for name, one in ((name, records[name]) for name in order)
    ]
    few = [name for name in order if name not in enough]
    ties = [name for name in order if records[name] == top]
    caveats = notes(
        (True, f"rates by the rule of succession, with {LEVEL:.0%} intervals by Wilson"),
        (few, f"fewer than {least} results: {listed(few)}"),
        (not enough, f"not enough results to prefer any method: {len(past)} in all"),
        (len(ties) > 1, f"the same record: {listed(ties)}"),
    )
    return Answer(conclusion, None, summary, cut(steps), detail, caveats)


class Record(NamedTuple):
    """The record of a method: how often it was right, and its rate: the rule of succession, and Wilson's interval."""

    right: int
    total: int

    @property
    def mean(self) -> float:
        """Returns the expected rate."""
        return (self.right + 1) / (self.total + 2)

    @property
    def low(self) -> float:
        """Returns what the rate exceeds with a probability of 0.95."""
        return wilson(self.right, self.total, LEVEL)[0] if self.total else 0.0

    @property
    def high(self) -> float:
        """Returns what the rate stays below with a probability of 0.95."""
        return wilson(self.right, self.total, LEVEL)[1] if self.total else 1.0


Records = Mapping[str, Record]


def read_episodes(rows: list[dict[str, Any]] | None, agent: AgentData) -> tuple[KeptResult, ...]:
    """Returns the results whose outcome is known: those of the input, or else the agent's own."""
    if rows is None:
        return tuple(one for one in agent.take("past") if one.happened is not None)
    found = []
    for n, one in enumerate(rows, 1):
        known_name(f"episodes[{n}].method", one["method"], METHODS, "method")
        found.append(KeptResult(f"episodes[{n}]", one["method"], "", None, one["right"], ""))
    return tuple(found)


def learned_scores(past: Iterable[KeptResult]) -> dict[str, Record]:
    """Returns the record of each method that has a result with a known outcome, in the order of the catalogue."""
    known = [one for one in past if one.happened is not None]
    right, total = Counter(one.method for one in known if one.happened), Counter(one.method for one in known)
    names = [*(name for name in METHODS if name in total), *sorted(total.keys() - METHODS.keys())]
    return {name: Record(right[name], total[name]) for name in names}


def find_factors(records: Mapping[str, Record]) -> dict[str, float]:
    """Returns what to multiply the fit of each method by: its rate over that of all, near 1 while it has few results."""
    right, total = sum(one.right for one in records.values()), sum(one.total for one in records.values())
    if not right:
        return {name: PRIOR_CASES / (one.total + PRIOR_CASES) for name, one in records.items()}
    base = right / total
    return {name: (one.right + PRIOR_CASES * base) / (one.total + PRIOR_CASES) / base for name, one in records.items()}


def describe(one: Record) -> dict[str, Any]:
    """Returns a record as JSON values."""
    return {"right": one.right, "total": one.total, "mean": one.mean, "low": one.low, "high": one.high}
