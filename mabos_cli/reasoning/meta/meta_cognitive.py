"""Finds what is known, assumed and missing, and whether more thought pays: losses and checks."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.case import KeptResult
from mabos_cli.reasoning.answer import Answer, choice, cut, figure, listed, notes
from mabos_cli.reasoning.inputs import AgentData

_MOST_EXACT = 15  # the most valuable checks, whose every combination is tried against the deadline


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns whether to proceed or which check to make first, by expected gain within the time that is left."""
    claims = {name: _weigh(name, one, fields["cost_per_hour"]) for name, one in fields["claims"].items()}
    left, hours = (
        fields["hours_left"],
        {name: one["check"]["hours"] for name, one in fields["claims"].items() if one["check"]},
    )
    nets = {name: claims[name]["check_net"] for name in hours}
    paying = sorted((name for name, net in nets.items() if net > 0), key=lambda name: -nets[name])
    chosen = _choose_checks(paying, nets, hours, left)
    detail = {
        "claims": claims,
        "expected_loss": math.fsum(one["expected_loss"] for one in claims.values()),
        "checks": chosen,
        "checks_net": math.fsum(nets[name] for name in chosen),
        "hours": math.fsum(hours[name] for name in chosen),
        "hours_left": left,
    }
    first = f"check {chosen[0]}" if chosen else "proceed"
    why = "no check that pays fits into the time left" if paying else "no check is worth its cost"
    summary = f"{first} first: worth {figure(nets[chosen[0]])} after its cost" if chosen else f"{first}: {why}"
    summary = summary if hours else f"{first}: no check is given"
    worst = max(claims, key=lambda name: claims[name]["expected_loss"])
    if claims[worst]["expected_loss"]:
        summary += f"; largest expected loss {figure(claims[worst]['expected_loss'])} ({worst})"
    scores = {"proceed": 0.0} | {f"check {name}": net for name, net in nets.items()}
    conclusion = choice(first, scores, "whether to think more before deciding")
    guessed = [name for name, one in claims.items() if not one["stated"]]
    left_out = [name for name in claims if name in paying and name not in chosen]
    caveats = notes(
        (guessed, f"no confidence given, even chances assumed: {listed(guessed)}"),
        (left_out, f"would pay, but not within {figure(left or 0)} hours: {listed(left_out)}"),
        (chosen, "a check is taken to save the whole loss if it finds the claim false"),
        (
            chosen and sum(abs(nets[name] - nets[chosen[0]]) < 1e-9 for name in chosen) > 1,
            "several checks are worth the same; the first named comes first",
        ),
    )
    caveats += _own_record(agent.take("past"))
    return Answer(conclusion, None, summary, _steps(fields, claims, chosen), detail, caveats)


def _weigh(name: str, one: Mapping[str, Any], cost_per_hour: float) -> dict[str, Any]:
    """Returns what it costs to be wrong about a claim, and what a check is expected to save less what it costs."""
    confidence, status, check = one["confidence"], one["status"], one["check"]
    if confidence is None and status == "assumed":
        raise BadValue(f"claims.{name}.confidence: is missing", "how likely the assumption is true, 0 to 1")
    # Known means taken as certain. Of the unknown nothing is known: even chances, which the caveats say.
    sure = confidence if confidence is not None else 1.0 if status == "known" else 0.5
    loss = (1 - sure) * one["impact"]
    net = check["finds"] * loss - (check["cost"] + check["hours"] * cost_per_hour) if check else None
    is_stated = confidence is not None or status == "known"
    return {"status": status, "confidence": sure, "stated": is_stated, "expected_loss": loss, "check_net": net}


def _choose_checks(
    paying: Sequence[str], nets: Mapping[str, float], hours: Mapping[str, float], left: float | None
) -> list[str]:
    """Returns the checks with the largest gain together within the time, the most valuable first."""
    if left is None or math.fsum(hours[name] for name in paying) <= left:
        return [*paying]
    few = paying[:_MOST_EXACT]
    sets = (some for size in range(len(few) + 1) for some in combinations(few, size))
    fitting = (some for some in sets if math.fsum(hours[name] for name in some) <= left)
    return [*max(fitting, key=lambda some: math.fsum(nets[name] for name in some))]


def _steps(fields: dict[str, Any], claims: Mapping[str, Any], chosen: Sequence[str]) -> tuple[str, ...]:
    lines = []
    for status in ("known", "assumed", "unknown"):
        members = [name for name, one in claims.items() if one["status"] == status]
        lines += [f"{status}: {listed(members)}"] if members else []
    for name, one in sorted(claims.items(), key=lambda pair: -pair[1]["expected_loss"])[:3]:
        doubt, loss = f"{1 - one['confidence']:.2f}", one["expected_loss"]
        impact = figure(fields["claims"][name]["impact"])
        lines += [f"expected loss by {name}: {doubt} of {impact} is {figure(loss)}"] if loss else []
    for name in chosen[:3]:
        check = fields["claims"][name]["check"]
        saves, price = (
            check["finds"] * claims[name]["expected_loss"],
            check["cost"] + check["hours"] * fields["cost_per_hour"],
        )
        lines.append(f"check {name}: saves {figure(saves)}, costs {figure(price)}, {figure(check['hours'])} hours")
    return cut(lines)


def _own_record(past: Sequence[KeptResult]) -> tuple[str, ...]:
    rated = [one for one in past if one.happened is not None and one.confidence is not None]
    stated = math.fsum(one.confidence or 0 for one in rated) / max(1, len(rated))
    right = sum(one.happened is True for one in rated)
    return notes((len(rated) > 4, f"own record: stated {stated:.2f} on average, right in {right} of {len(rated)}"))
