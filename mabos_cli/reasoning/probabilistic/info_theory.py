"""Finds which question is worth asking first: expected information in bits, and with payoffs its worth in money."""

import math
from collections.abc import Iterable
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, best_names, choice, cut, figure, listed, notes
from mabos_cli.reasoning.inputs import AgentData, check_known, check_same, sum_to_one
from mabos_cli.reasoning.probabilistic.decision_theory import Gains, expected_gains, largest, read_gains
from mabos_cli.reasoning.shape import check_size, read_share

MOST_CELLS = 100_000
NOTHING = "ask nothing"


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the question to ask first: the one with the highest net value, or without payoffs the most bits."""
    states = sum_to_one("states", fields["states"])
    size = sum(len(one["answers"]) for one in fields["questions"].values()) * len(states)
    check_size("questions", size, MOST_CELLS, "answers times states")
    if NOTHING in fields["questions"]:
        raise BadValue(f"questions: {NOTHING!r} cannot be a question", "that answer is always weighed")
    gains = None
    if fields["payoffs"]:
        gains = read_gains(fields["payoffs"])
        check_same("payoffs", next(iter(gains.values())), states, "state")
    asked = {name: _ask(one, states, gains, f"questions.{name}") for name, one in fields["questions"].items()}
    return _decide(states, asked, gains) if gains else _inform(entropy(states.values()), asked)


def entropy(shares: Iterable[float]) -> float:
    """Returns the entropy in bits."""
    return -sum(share * math.log2(share) for share in shares if share > 0) + 0.0


def _ask(question: dict[str, Any], states: dict[str, float], gains: Gains | None, path: str) -> dict[str, Any]:
    """Returns the worth of a question: its answers with their chances and what each tells, the bits, and with payoffs the value in
    money (`evsi`), what is left of it after the cost, and the best act after each answer."""
    rows = {
        answer: _likelihoods(raw, states, f"{path}.answers.{answer}") for answer, raw in question["answers"].items()
    }
    for state in states:
        total = sum(row[state] for row in rows.values())
        if abs(total - 1) > 1e-6:
            wrong = f"{path}.answers: probabilities of the answers in state {state!r} must sum to 1, not {total:.6g}"
            raise BadValue(wrong, "every state gives some answer")
    chances = {answer: sum(states[s] * row[s] for s in states) for answer, row in rows.items()}
    posteriors = {
        answer: {s: states[s] * row[s] / chances[answer] for s in states}
        for answer, row in rows.items()
        if chances[answer] > 0
    }
    start = entropy(states.values())
    left = sum(chances[answer] * entropy(row.values()) for answer, row in posteriors.items())
    gain = max(0.0, start - left)  # never below 0 but by rounding
    found = {
        "answers": chances,
        "posteriors": posteriors,
        "information": gain,
        "entropy_left": max(0.0, start - gain),
        "answer_entropy": entropy(chances.values()),
        "cost": question["cost"],
    }
    if gains is None:
        return found
    now = max(expected_gains(gains, states).values())
    after = {answer: expected_gains(gains, row) for answer, row in posteriors.items()}
    value = max(0.0, sum(chances[answer] * max(acts.values()) for answer, acts in after.items()) - now)
    best = {answer: best_names(acts, scale=largest(gains))[0] for answer, acts in after.items()}
    return found | {"evsi": value, "net": value - question["cost"], "acts": best}


def _likelihoods(raw: Any, states: dict[str, float], path: str) -> dict[str, float]:
    if isinstance(raw, list):
        fields = [str(one).lower() if isinstance(one, bool) else str(one) for one in raw]
        check_known(path, fields, states, "state")
        return {state: float(state in fields) for state in states}
    if not isinstance(raw, dict):
        raise BadValue(f"{path}: must be a list of states, or a probability per state", f"states: {', '.join(states)}")
    check_same(path, raw, states, "state")
    return {state: read_share(raw[state], f"{path}.{state}") for state in states}


def _inform(start: float, asked: dict[str, Any]) -> Answer:
    """Returns the question that leaves the least doubt, the cheaper one of equals."""
    gains = {name: one["information"] for name, one in asked.items()}
    top = best_names(gains, scale=1)
    best = min(top, key=lambda name: asked[name]["cost"])
    tied = [name for name in top if name != best and asked[name]["cost"] == asked[best]["cost"]]
    has_cost = any(one["cost"] for one in asked.values())
    return Answer(
        choice(best, gains),
        None,
        f"ask {best} first: {figure(gains[best])} of {figure(start)} bits",
        cut([f"doubt now: {figure(start)} bits", *(_step(name, asked[name]) for name in _order(gains))]),
        {"entropy": start, "questions": asked},
        notes(
            (tied, f"{best} is as good as {listed(tied)}; the first in the input is named."),
            (has_cost, "Costs cannot be weighed against bits; give payoffs to find out whether asking pays."),
            (gains[best] <= 1e-12, "No question tells anything about the states."),
        ),
    )


def _decide(states: dict[str, float], asked: dict[str, Any], gains: Gains) -> Answer:
    """Returns the question that adds most to the decision after its cost, or none."""
    now = expected_gains(gains, states)
    act = best_names(now, scale=largest(gains))[0]
    perfect = sum(share * max(row[state] for row in gains.values()) for state, share in states.items()) - now[act]
    net = {name: one["net"] for name, one in asked.items()} | {NOTHING: 0.0}
    best, *tied = best_names(net, scale=largest(gains))
    if NOTHING in tied:
        # What merely pays for itself is not worth the wait.
        tied, best = [name for name in (best, *tied) if name != NOTHING], NOTHING
    caveats = [f"{best} is as good as {listed(tied)}."] if tied else []
    caveats.append("Values hold for one question; two together may be worth more or less than their sum.")
    value = max(0.0, perfect)
    head = f"now: {act} with {figure(now[act])}; knowing the state for certain would add {figure(value)}"
    summary = f"no question is worth its cost; choose {act} now with {figure(now[act])}"
    if best != NOTHING:
        adds, cost = figure(asked[best]["evsi"]), figure(asked[best]["cost"])
        summary = f"ask {best}: adds {adds} for {cost}, net {figure(net[best])}"
    detail = {
        "entropy": entropy(states.values()),
        "questions": asked,
        "expected_now": now,
        "act_now": act,
        "evpi": value,
    }
    lines = [head, *(_step(name, asked[name]) for name in _order(net) if name != NOTHING)]
    return Answer(choice(best, net), None, summary, cut(lines), detail, tuple(caveats))


def _order(scores: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda name: -scores[name])


def _step(name: str, one: dict[str, Any]) -> str:
    bits = f"{name}: {figure(one['information'])} bits"
    if "evsi" not in one:
        return bits + f" ({', '.join(f'{a} {figure(p)}' for a, p in list(one['answers'].items())[:4])})"
    then = ", ".join(f"{answer} -> {act}" for answer, act in list(one["acts"].items())[:4])
    return f"{bits}, worth {figure(one['evsi'])} for {figure(one['cost'])}, net {figure(one['net'])}; {then}"
