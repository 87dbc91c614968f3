"""Finds what is known, assumed and missing, and whether more thought pays: losses and checks."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.case import KeptResult
from mabos_cli.reasoning.answer import Answer, choice, cut, figure, listed, notes
from mabos_cli.reasoning.inputs import AgentData

_MOST_EXACT = 15  # the most valuable checks, whose every combination is tried against the deadline


class Claim(NamedTuple):
    """A claim with what it costs to be wrong about it and what a check would bring."""

    name: str
    status: str
    confidence: float
    is_stated: bool  # whether somebody gave the confidence
    impact: float
    hours: float | None  # None: there is no check
    price: float
    finds: float

    @property
    def check_hours(self) -> float:
        """Returns the hours that the check takes, 0 where there is none."""
        return self.hours or 0.0

    @property
    def loss(self) -> float:
        """Returns the expected loss."""
        return (1 - self.confidence) * self.impact

    @property
    def net(self) -> float:
        """Returns what a check is expected to save, less what it costs."""
        return self.finds * self.loss - self.price


Claims = Sequence[Claim]


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns whether to proceed or which check to make first, by expected gain within the time that is left."""
    claims = [_read_claim(name, one, fields["cost_per_hour"]) for name, one in fields["claims"].items()]
    paying = [one for one in claims if one.hours is not None and one.net > 0]
    chosen = _choose_checks(paying, fields["hours_left"])
    detail = {
        "claims": {
            one.name: {
                "status": one.status,
                "confidence": one.confidence,
                "stated": one.is_stated,
                "expected_loss": one.loss,
                "check_net": one.net if one.hours is not None else None,
            }
            for one in claims
        },
        "expected_loss": math.fsum(one.loss for one in claims),
        "checks": [one.name for one in chosen],
        "checks_net": math.fsum(one.net for one in chosen),
        "hours": math.fsum(one.check_hours for one in chosen),
        "hours_left": fields["hours_left"],
    }
    caveats = _caveats(claims, paying, chosen, fields["hours_left"], agent.take("past"))
    first = f"check {chosen[0].name}" if chosen else "proceed"
    scores = {"proceed": 0.0} | {f"check {one.name}": one.net for one in claims if one.hours is not None}
    conclusion = choice(first, scores, "whether to think more before deciding")
    worst = max(claims, key=lambda one: one.loss)
    summary = f"{first}" + (
        f" first: worth {figure(chosen[0].net)} after its cost" if chosen else _why_proceed(claims, paying)
    )
    if worst.loss:
        summary += f"; largest expected loss {figure(worst.loss)} ({worst.name})"
    return Answer(conclusion, None, summary, _steps(claims, chosen), detail, caveats)


def _read_claim(name: str, one: Mapping[str, Any], cost_per_hour: float) -> Claim:
    confidence, status = one["confidence"], one["status"]
    if confidence is None and status == "assumed":
        raise BadValue(f"claims.{name}.confidence: is missing", "how likely the assumption is true, 0 to 1")
    # Known means taken as certain. Of the unknown nothing is known: even chances, which the caveats say.
    stated = confidence if confidence is not None else 1.0 if status == "known" else 0.5
    check = one["check"]
    hours = None if check is None else check["hours"]
    price = 0.0 if check is None else check["cost"] + check["hours"] * cost_per_hour
    is_stated = confidence is not None or status == "known"
    finds = 0.0 if check is None else check["finds"]
    return Claim(name, status, stated, is_stated, one["impact"], hours, price, finds)


def _choose_checks(paying: Sequence[Claim], hours_left: float | None) -> list[Claim]:
    """Returns the checks with the largest gain together within the time, the most valuable first."""
    ordered = sorted(paying, key=lambda one: -one.net)
    if hours_left is None or math.fsum(one.check_hours for one in ordered) <= hours_left:
        return ordered
    few = ordered[:_MOST_EXACT]
    fitting = (
        some
        for size in range(len(few) + 1)
        for some in combinations(few, size)
        if math.fsum(one.check_hours for one in some) <= hours_left
    )
    return [*max(fitting, key=lambda some: math.fsum(one.net for one in some))]


def _why_proceed(claims: Sequence[Claim], paying: Sequence[Claim]) -> str:
    if paying:
        return ": no check that pays fits into the time left"
    if any(one.hours is not None for one in claims):
        return ": no check is worth its cost"
    return ": no check is given"


def _steps(claims: Claims, chosen: Claims) -> tuple[str, ...]:
    groups = {
        status: [one.name for one in claims if one.status == status] for status in ("known", "assumed", "unknown")
    }
    lines = [f"{status}: {listed(members)}" for status, members in groups.items() if members]
    for one in sorted(claims, key=lambda one: -one.loss)[:3]:
        if one.loss:
            lines.append(
                f"expected loss by {one.name}: {1 - one.confidence:.2f} of {figure(one.impact)} is {figure(one.loss)}"
            )
    lines += [
        f"check {one.name}: saves {figure(one.finds * one.loss)}, costs {figure(one.price)}, {figure(one.check_hours)} hours"
        for one in chosen[:3]
    ]
    return cut(lines)


def _caveats(
    claims: Claims, paying: Claims, chosen: Claims, hours_left: float | None, past: Sequence[KeptResult]
) -> tuple[str, ...]:
    guessed = [one.name for one in claims if not one.is_stated]
    left_out = [one.name for one in paying if one not in chosen]
    has_tie = chosen and sum(abs(one.net - chosen[0].net) < 1e-9 for one in chosen) > 1
    caveats = notes(
        (guessed, f"no confidence given, even chances assumed: {listed(guessed)}"),
        (left_out, f"would pay, but not within {figure(hours_left or 0)} hours: {listed(left_out)}"),
        (chosen, "a check is taken to save the whole loss if it finds the claim false"),
        (has_tie, "several checks are worth the same; the first named comes first"),
    )
    rated = [one for one in past if one.happened is not None and one.confidence is not None]
    if len(rated) < 5:
        return caveats
    stated = math.fsum(one.confidence or 0 for one in rated) / len(rated)
    right = sum(one.happened is True for one in rated)
    return (*caveats, f"own record: stated {stated:.2f} on average, right in {right} of {len(rated)}")
