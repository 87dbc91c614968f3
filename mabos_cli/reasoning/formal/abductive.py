"""Finds which explanation accounts best for observations: the likeliest or the fewest hypotheses."""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, Conclusion, choice, cut, figure, listed, names, notes
from mabos_cli.reasoning.inputs import AgentData, check_known
from mabos_cli.reasoning.shape import read_share

Chosen = tuple[int, ...]  # causes, by number


class Cause(NamedTuple):
    """A possible cause: how surely it brings each effect about, and how likely it is beforehand."""

    name: str
    strengths: dict[str, float]
    prior: float | None


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the explanation that is likeliest where all priors are given, else the one with the fewest hypotheses."""
    causes, seen, absent = _read(fields)
    unexplained = [one for one in fields["observations"] if one not in seen]
    covers, shares = minimal_covers(causes, seen), dict[Chosen, float]()
    if all(cause.prior is not None for cause in causes):
        shares = posterior(causes, seen, absent)
        covers = [cover for cover in covers if with_certain(causes, cover) in shares]
        covers.sort(key=lambda cover: -shares[with_certain(causes, cover)])
    else:  # what would surely bring about something that is absent cannot be
        covers = [one for one in covers if not any(causes[c].strengths.get(name) == 1 for c in one for name in absent)]
    if not covers:
        hint = "look for a prior of 0 or 1, or something absent that a hypothesis would surely bring about"
        raise BadValue("hypotheses: no set can have led to just this", hint)
    return _answer(causes, covers, shares, seen, unexplained, absent)


def _answer(
    causes: Sequence[Cause],
    covers: list[Chosen],
    shares: dict[Chosen, float],
    seen: list[str],
    unexplained: list[str],
    absent: list[str],
) -> Answer:
    best = tuple(causes[c].name for c in covers[0])
    sure = math.fsum(share for held, share in shares.items() if {*covers[0]} <= {*held})
    confidence = sure if shares and not unexplained else None
    rows: list[dict[str, Any]] = [{"hypotheses": [causes[c].name for c in cover]} for cover in covers[:50]]
    for row, cover in zip(rows, covers, strict=False):
        row |= {"probability": shares[with_certain(causes, cover)]} if shares else {}
    marginals = {
        cause.name: math.fsum(share for held, share in shares.items() if n in held) for n, cause in enumerate(causes)
    }
    detail = {"explanations": rows, "explanation_count": len(covers), "unexplained": unexplained}
    detail |= {"probabilities": marginals if shares else {}}
    conclusion: Conclusion = choice(best[0], marginals if shares else None) if len(best) == 1 else names(best)
    every = f"{len(seen)} of {len(seen) + len(unexplained)} observations" if unexplained else "all observations"
    how = f", the {'likeliest' if shares else 'leanest'} way"
    how = how if confidence is None else f" and hold{'s' * (len(best) == 1)} with probability {figure(sure)}"
    summary = f"{' and '.join(best)} explain{'s' * (len(best) == 1)} {every}{how}"
    just = [f": probability of just this {figure(row['probability'])}" if shares else "" for row in rows]
    lines = [" and ".join(row["hypotheses"]) + chance for row, chance in zip(rows, just, strict=True)]
    idle = [one for one in absent if not any(one in cause.strengths for cause in causes)]
    has_priors = any(cause.prior is not None for cause in causes)
    rank = [row["probability"] if shares else float(len(row["hypotheses"])) for row in rows[:2]]
    top = max(shares, key=lambda held: shares[held], default=())
    wider = f"{' and '.join(causes[c].name for c in top)} together are likelier still ({figure(shares.get(top, 0.0))})"
    caveats = notes(
        (unexplained, f"no hypothesis explains {listed(unexplained)}: something is missing from the list"),
        (idle, f"no hypothesis would bring about {listed(idle)}, so that it is absent says nothing"),
        (has_priors and not shares, "some hypotheses have no prior, so the fewest are best and priors were not used"),
        (
            len(rank) > 1 and math.isclose(rank[0], rank[1], rel_tol=1e-12),
            "the first two are equally good; the order given decided",
        ),
        (shares and shares[top] > rank[0] * (1 + 1e-9), f"{wider}, but not needed"),
        (shares, "probabilities hold if hypotheses are independent and nothing else can cause the observations"),
    )
    return Answer(conclusion, confidence, summary, cut(lines, 8), detail, caveats)


def _read(fields: dict[str, Any]) -> tuple[list[Cause], list[str], list[str]]:
    """Returns the causes, what was seen and some of them explain, and what is absent."""
    observations, absent = fields["observations"], fields["absent"]
    check_known("observations", observations, observations)
    both = [name for name in absent if name in observations]
    if both:
        raise BadValue(f"absent: {both[0]!r} is among the observations too", "keep it in one of the lists")
    causes = [
        Cause(name, _strengths(row["explains"], f"hypotheses.{name}.explains"), row["prior"])
        for name, row in fields["hypotheses"].items()
    ]
    seen = [one for one in observations if any(one in cause.strengths for cause in causes)]
    if not seen:
        raise BadValue("hypotheses: none explains any observation", "check the names under explains")
    return causes, seen, absent


def _strengths(raw: Any, where: str) -> dict[str, float]:
    """Returns the effects of a cause with how surely it brings them about; those of a list are certain."""
    if isinstance(raw, str):
        raw = [raw]
    if isinstance(raw, list) and raw and all(isinstance(one, str | int | float) for one in raw):
        return {str(one).strip(): 1.0 for one in raw}
    if not isinstance(raw, dict) or not raw:
        raise BadValue(f"{where}: must be a list of observations, or a map with a number from 0 to 1 each", "")
    found = {}
    for name, value in raw.items():
        strength = read_share(value, f"{where}.{name}", "how surely it brings that about")
        if strength:
            found[str(name).strip()] = float(strength)
    return found


def _all_sets(causes: Sequence[Cause]) -> list[Chosen]:
    return [chosen for size in range(len(causes) + 1) for chosen in combinations(range(len(causes)), size)]


def minimal_covers(causes: Sequence[Cause], effects: Sequence[str]) -> list[Chosen]:
    """Returns every set of causes that accounts for all effects and from which none can be left out, the smallest first."""
    needed = {*effects}

    def explain(chosen: Chosen) -> bool:
        return needed <= {effect for c in chosen for effect in causes[c].strengths}

    return [
        chosen
        for chosen in _all_sets(causes)
        if explain(chosen) and not any(explain((*chosen[:n], *chosen[n + 1 :])) for n in range(len(chosen)))
    ]


def posterior(causes: Sequence[Cause], effects: Sequence[str], absent: Sequence[str]) -> dict[Chosen, float]:
    """Returns the probability of each possible set of causes, given what was seen; empty if none can be."""
    logs = {chosen: log_joint(causes, chosen, effects, absent) for chosen in _all_sets(causes)}
    top = max(logs.values())
    weights = {chosen: math.exp(weight - top) for chosen, weight in logs.items() if weight > -math.inf}
    total = math.fsum(weights.values())
    return {chosen: weight / total for chosen, weight in weights.items()}


def with_certain(causes: Sequence[Cause], chosen: Chosen) -> Chosen:
    """Returns the causes with those that are there in any case: without them nothing could be."""
    return tuple(n for n, cause in enumerate(causes) if n in chosen or cause.prior == 1)


def log_joint(causes: Sequence[Cause], chosen: Chosen, effects: Sequence[str], absent: Sequence[str]) -> float:
    """Returns the logarithm of the probability that just these causes are there, bring all effects about, and none that
    is absent. Causes act independently of each other (noisy or); -inf if it cannot be."""
    chances = [(cause.prior or 0.0) if n in chosen else 1 - (cause.prior or 0.0) for n, cause in enumerate(causes)]
    for effect in (*effects, *absent):
        missing = math.prod(1 - causes[c].strengths.get(effect, 0.0) for c in chosen)
        chances.append(missing if effect in absent else 1 - missing)
    return sum(math.log(chance) for chance in chances) if all(chances) else -math.inf
