"""Finds which act to choose in an unknown state of the world: six criteria side by side."""

from collections.abc import Mapping
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, best_names, choice, cut, figure, listed, notes
from mabos_cli.reasoning.inputs import AgentData, check_same, sum_to_one
from mabos_cli.reasoning.shape import check_size

Gains = dict[str, dict[str, float]]  # by act and state
MOST_ACTS = 200
MOST_CELLS = 20_000


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the act that the deciding criterion picks, with what all others say."""
    gains = read_gains(fields["payoffs"])
    if len(gains) < 2:
        raise BadValue("payoffs: there is only one act", "a choice needs two; add what happens if nothing is done")
    states = tuple(next(iter(gains.values())))
    shares = None
    if fields["probabilities"] is not None:
        check_same("probabilities", fields["probabilities"], states, "state")
        shares = sum_to_one("probabilities", {state: fields["probabilities"][state] for state in states})
    scores = _score(gains, states, shares, fields["optimism"])
    scale = largest(gains)
    picks = {name: best_names(found, scale=scale) for name, found in scores.items()}
    if fields["criterion"] == "expected" and not shares:
        raise BadValue("criterion: expected needs probabilities", "give probabilities, or take another criterion")
    decider = fields["criterion"] or ("expected" if shares else "majority")
    votes = {act: float(sum(act in found for found in picks.values())) for act in gains}
    deciding = votes if decider == "majority" else scores[decider]
    chosen, *tied = best_names(deciding, scale=0 if decider == "majority" else scale)
    scores["regret"] = {act: -score + 0.0 for act, score in scores["regret"].items()}
    detail = {"decided_by": decider, "criteria": scores, "picks": {name: [*found] for name, found in picks.items()}}
    detail |= {"votes": votes}
    lines = []
    for name, found in picks.items():
        order = sorted(scores[name], key=scores[name].__getitem__, reverse=name != "regret")
        rest = listed([f"{act} {figure(scores[name][act])}" for act in order if act not in found], 3)
        lines.append(f"{name}: {listed(found)} {figure(scores[name][found[0]])}" + (f"; then {rest}" if rest else ""))
    agree = sum(chosen in found for found in picks.values())
    figures = "" if decider == "majority" else f" with {figure(scores[decider][chosen])}"
    return Answer(
        choice(chosen, deciding),
        None,
        f"{chosen} by {decider}{figures}; {agree} of {len(picks)} criteria pick it",
        cut(lines),
        detail,
        notes(
            (tied, f"{chosen} ties with {listed(tied)}; the first in the input is named."),
            (
                shares is None,
                "Without probabilities, Laplace takes all states as equally likely, the rest ignore chances.",
            ),
        ),
    )


def _score(
    gains: Gains, states: tuple[str, ...], shares: dict[str, float] | None, optimism: float
) -> dict[str, dict[str, float]]:
    """Returns by criterion a score for each act, higher is better; regret counts as negative."""
    top = {state: max(row[state] for row in gains.values()) for state in states}
    lowest = {act: min(row.values()) for act, row in gains.items()}
    highest = {act: max(row.values()) for act, row in gains.items()}
    scores = {
        "maximin": lowest,
        "maximax": highest,
        "hurwicz": {act: optimism * highest[act] + (1 - optimism) * lowest[act] for act in gains},
        "laplace": {act: sum(row.values()) / len(states) for act, row in gains.items()},
        "regret": {act: -max(top[state] - row[state] for state in states) for act, row in gains.items()},
    }
    return scores if shares is None else scores | {"expected": expected_gains(gains, shares)}


def read_gains(table: Mapping[str, Mapping[str, float]]) -> Gains:
    """Returns the table, in which every act has a payoff in the states of the first."""
    states = tuple(next(iter(table.values())))
    check_size("payoffs", len(table), MOST_ACTS, "acts")
    check_size("payoffs", len(table) * len(states), MOST_CELLS, "payoffs")
    for act, row in table.items():
        check_same(f"payoffs.{act}", row, states, "state")
    return {act: {state: row[state] + 0.0 for state in states} for act, row in table.items()}


def largest(gains: Gains) -> float:
    """Returns the size of the largest gain or loss, by which rounding is judged."""
    return max(abs(gain) for row in gains.values() for gain in row.values())


def expected_gains(gains: Gains, shares: Mapping[str, float]) -> dict[str, float]:
    """Returns the expected gain of each act."""
    return {act: sum(share * row[state] for state, share in shares.items()) for act, row in gains.items()}
