"""What past results teach about which method works for what: success rates with intervals, and what to prefer next."""

from collections.abc import Mapping
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, ranking
from mabos_cli.reasoning.meta.method_record import (
    EPISODES,
    LEVEL,
    Record,
    chance_of_best,
    describe,
    find_factors,
    learned_scores,
    read_episodes,
    scores_by_aspect,
)
from mabos_cli.reasoning.own import Own
from mabos_cli.reasoning.shape import Shape, optional, record, usual, whole
from mabos_cli.reasoning.wording import cut, listed

SHAPE: Shape = record(
    "Delete episodes to learn from the agent's own kept results.",
    episodes=usual(EPISODES),
    least=optional(whole("how many results a method needs before its rate is relied on", 1, 10_000), 5),
)
QUESTIONS = (
    "Which methods were used on which problems, and did their conclusions turn out right?",
    "What kind of problem was each: uncertainty, complexity, domain, data, stakes?",
    "Are the outcomes known of all results, or only of those that were noticed?",
)


def solve(given: dict[str, Any], own: Own) -> Answer:
    """Methods by the rate of success that they can be trusted to exceed."""
    past = read_episodes(given["episodes"], own)
    if not past:
        raise BadValue(
            "episodes: no result has a known outcome", "give episodes, or record outcomes with `reason outcome`"
        )
    records = learned_scores(past)
    lows = {name: one.low for name, one in records.items()}
    order = sorted(records, key=lambda name: -lows[name])
    by_aspect = scores_by_aspect(past)
    least = given["least"]
    enough = [name for name in order if records[name].total >= least]
    detail = {
        "results": len(past),
        "methods": {name: describe(one) for name, one in records.items()},
        "factors": find_factors(records),
        "aspects": {kind: {name: describe(one) for name, one in found.items()} for kind, found in by_aspect.items()},
        "enough": enough,
        "explore": _find_explore(records, order[0]),
    }
    best = chance_of_best(records, order[0]) if len(order) > 1 else None
    top = records[order[0]]
    summary = f"{order[0]}: right in {top.right} of {top.total}, rate above {top.low:.2f} with 95 %"
    summary += f"; the best of {len(order)} with probability {best:.2f}" if best is not None else ""
    conclusion = ranking(tuple(order), lows, "methods by the rate that they exceed with 95 %")
    return Answer(
        conclusion,
        best,
        summary,
        _steps(records, order, by_aspect, detail, least),
        detail,
        _caveats(records, order, enough, least, len(past)),
    )


def _find_explore(records: Mapping[str, Record], best: str) -> str | None:
    """The method that might still be better than the best one, by the upper end of its interval."""
    highs = {name: one.high for name, one in records.items() if name != best}
    rival = max(highs, key=lambda name: highs[name], default=None)
    return rival if rival is not None and highs[rival] > records[best].mean else None


def _steps(
    records: Mapping[str, Record],
    order: list[str],
    by_aspect: Mapping[str, Mapping[str, Record]],
    detail: Mapping[str, Any],
    least: int,
) -> tuple[str, ...]:
    lines = [
        f"{name}: {one.right} of {one.total}, rate {one.mean:.2f} ({one.low:.2f} to {one.high:.2f}),"
        f" fit times {detail['factors'][name]:.2f}"
        for name, one in ((name, records[name]) for name in order[:6])
    ]
    if len(order) > 6:
        lines.append(f"... and {len(order) - 6} more methods")
    for kind, found in by_aspect.items():
        sure = {name: one.low for name, one in found.items() if one.total >= least}
        if sure:
            top = max(sure, key=lambda name: sure[name])
            lines.append(f"{kind}: {top}, {found[top].right} of {found[top].total}")
    if detail["explore"]:
        name = detail["explore"]
        lines.append(f"try more: {name}, which could be as good as {records[name].high:.2f}")
    return cut(lines)


def _caveats(
    records: Mapping[str, Record], order: list[str], enough: list[str], least: int, count: int
) -> tuple[str, ...]:
    caveats = [f"rates are means and {LEVEL:.0%} intervals of a beta distribution from an even start"]
    few = [name for name in order if name not in enough]
    if few:
        caveats.append(f"fewer than {least} results: {listed(few)}")
    if not enough:
        caveats.append(f"not enough results to prefer any method: {count} in all")
    ties = [name for name in order if records[name] == records[order[0]]]
    if len(ties) > 1:
        caveats.append(f"the same record: {listed(ties)}")
    return tuple(caveats)
