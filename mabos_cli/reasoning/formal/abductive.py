"""Finds which explanation accounts best for observations: the leanest or likeliest hypotheses, or rules."""

import math
from collections.abc import Sequence
from functools import reduce
from itertools import combinations
from operator import or_
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.explaining import abduce
from mabos_cli.core.knowledge.rule import is_variable, pattern_text
from mabos_cli.reasoning.answer import Answer, Conclusion, choice, cut, figure, listed, names, notes
from mabos_cli.reasoning.inputs import AgentData, check_known, known_facts, known_rules
from mabos_cli.reasoning.shape import read_share

MOST_NODES, MOST_COVERS, MOST_WEIGHED = 200_000, 5_000, 12


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the best explanation."""
    by_hypotheses = fields["hypotheses"] is not None
    if by_hypotheses == (fields["observation"] is not None):
        raise BadValue("hypotheses: give hypotheses with observations, or one observation for rules", "")
    if not by_hypotheses:
        return _by_rules(fields, agent)
    if fields["observations"] is None:
        raise BadValue("observations: is missing", "list what is to be explained")
    return _by_hypotheses(fields)


class Cause(NamedTuple):
    """A possible cause: how surely it brings each effect about, and how likely it is beforehand."""

    name: str
    strengths: dict[str, float]
    prior: float | None


def posterior(causes: Sequence[Cause], effects: Sequence[str], absent: Sequence[str]) -> dict[tuple[int, ...], float]:
    """Returns the probability of each possible set of causes, given what was seen; empty if none can be."""
    every = (chosen for size in range(len(causes) + 1) for chosen in combinations(range(len(causes)), size))
    logs = {chosen: log_joint(causes, chosen, effects, absent) for chosen in every}
    top = max(logs.values())
    weights = {chosen: math.exp(weight - top) for chosen, weight in logs.items() if weight > -math.inf}
    total = math.fsum(weights.values())
    return {chosen: weight / total for chosen, weight in weights.items()}


class _Explained(NamedTuple):
    """The covers of what can be explained, the best first."""

    causes: list[Cause]
    seen: list[str]
    unexplained: list[str]
    absent: list[str]
    covers: list[tuple[int, ...]]
    weights: list[float] | None  # logarithms, of the same covers, if priors are known
    posterior: dict[tuple[int, ...], float]


def _by_hypotheses(fields: dict[str, Any]) -> Answer:
    found = _explain(fields)
    if not found.seen:
        raise BadValue("hypotheses: none explains any observation", "check the names under explains")
    if not found.covers or (found.weights and found.weights[0] == -math.inf):
        hint = "look for a prior of 0 or 1, or something absent that a hypothesis would surely bring about"
        raise BadValue("hypotheses: no set can have led to just this", hint)
    best = tuple(found.causes[c].name for c in found.covers[0])
    chosen = {*found.covers[0]}
    sure = math.fsum(share for held, share in found.posterior.items() if chosen <= {*held})
    confidence = sure if found.posterior and not found.unexplained else None
    marginals = {
        cause.name: math.fsum(share for chosen, share in found.posterior.items() if n in chosen)
        for n, cause in enumerate(found.causes)
    }
    scores = marginals if found.posterior else None
    conclusion: Conclusion = choice(best[0], scores) if len(best) == 1 else names(best)
    how = "likeliest" if found.weights else "leanest"
    count = len(found.seen)
    every = f"{count} of {count + len(found.unexplained)} observations" if found.unexplained else "all observations"
    summary = f"{' and '.join(best)} explain{'s' * (len(best) == 1)} {every}"
    summary += (
        f", the {how} way"
        if confidence is None
        else f" and hold{'s' * (len(best) == 1)} with probability {figure(sure)}"
    )
    detail = {
        "explanations": [_row(found, n) for n in range(min(50, len(found.covers)))],
        "explanation_count": len(found.covers),
        "unexplained": found.unexplained,
        "probabilities": marginals if found.posterior else {},
    }
    lines = []
    for n in range(len(found.covers)):
        row = _row(found, n)
        line = " and ".join(row["hypotheses"])
        if "probability" in row:
            line += f": probability of just this {figure(row['probability'])}"
        elif found.weights and n and found.weights[n] > -math.inf:
            line += f": {figure(math.exp(found.weights[n] - found.weights[0]))} times as likely as the first"
        lines.append(line)
    return Answer(conclusion, confidence, summary, cut(lines, 8), detail, _caveats(found))


def _explain(fields: dict[str, Any]) -> _Explained:
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
    covers = minimal_covers(causes, seen) if seen else []
    unexplained = [one for one in observations if one not in seen]
    if any(cause.prior is None for cause in causes):
        # What would surely bring about something that is absent cannot be.
        covers = [
            cover for cover in covers
            if not any(causes[c].strengths.get(effect) == 1 for c in cover for effect in absent)
        ]  # fmt: skip
        covers.sort(key=lambda cover: (len(cover), cover))
        return _Explained(causes, seen, unexplained, absent, covers, None, {})
    weights = {cover: log_joint(causes, with_certain(causes, cover), seen, absent) for cover in covers}
    covers.sort(key=lambda cover: (-weights[cover], len(cover), cover))
    shares = posterior(causes, seen, absent) if len(causes) <= MOST_WEIGHED and covers else {}
    return _Explained(causes, seen, unexplained, absent, covers, [weights[cover] for cover in covers], shares)


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


def _row(found: _Explained, n: int) -> dict[str, Any]:
    cover = found.covers[n]
    row: dict[str, Any] = {"hypotheses": [found.causes[c].name for c in cover]}
    if found.posterior:
        row["probability"] = found.posterior.get(with_certain(found.causes, cover), 0.0)
    return row


def _caveats(found: _Explained) -> tuple[str, ...]:
    idle = [one for one in found.absent if not any(one in cause.strengths for cause in found.causes)]
    has_priors = any(cause.prior is not None for cause in found.causes)
    rank = found.weights or [*map(len, found.covers)]
    caveats = notes(
        (found.unexplained, f"no hypothesis explains {listed(found.unexplained)}: something is missing from the list"),
        (idle, f"no hypothesis would bring about {listed(idle)}, so that it is absent says nothing"),
        (
            has_priors and not found.weights,
            "some hypotheses have no prior, so the fewest are best and priors were not used",
        ),
        (
            found.weights and not found.posterior,
            f"with more than {MOST_WEIGHED} hypotheses only relative likelihoods are computed",
        ),
        (
            len(rank) > 1 and math.isclose(rank[0], rank[1], rel_tol=1e-12),
            "the first two are equally good; the order given decided",
        ),
    )
    if not found.posterior:
        return caveats
    top = max(found.posterior, key=lambda chosen: found.posterior[chosen])
    best = found.posterior[with_certain(found.causes, found.covers[0])]
    wider = " and ".join(found.causes[c].name for c in top)
    return caveats + notes(
        (
            found.posterior[top] > best * (1 + 1e-9),
            f"{wider} together are likelier still ({figure(found.posterior[top])}), but not needed",
        ),
        (True, "probabilities hold if hypotheses are independent and nothing else can cause the observations"),
    )


def _by_rules(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns what rules say would explain an observation, by how much of it is known already."""
    wanted = fields["observation"]
    if not wanted.predicate or is_variable(wanted.predicate) or wanted.operator != "eq":
        raise BadValue("observation: must be `subject predicate object`", "compare nothing, and name the predicate")
    facts, caveats = known_facts(fields, agent)
    found = abduce(wanted[:3], facts, known_rules(fields, agent))
    caveats += tuple(f"{one.rule_id} was not run: {one.reason}" for one in found.problems)
    about = pattern_text(wanted)
    if found.known:
        caveats += (f"it is a known fact already: {listed([fact.id for fact in found.known])}",)
    if not found.hypotheses:
        return Answer(names((), about), None, f"no rule concludes {about}", (), {"explanations": []}, caveats)
    best = found.hypotheses[0]
    assumed = tuple(pattern_text(one) for one in best.assumptions)
    summary = f"{about} by {best.rule.label}" + (f", if {listed(assumed)}" if assumed else ", from known facts alone")
    rows: list[dict[str, Any]] = [
        {"rule": one.rule.label, "score": one.score, "supported": one.supported, "total": one.total}
        | {"supports": [fact.id for fact in one.supports], "assumptions": [*map(pattern_text, one.assumptions)]}
        for one in found.hypotheses[:50]
    ]
    lines = [
        f"{figure(row['score'])} {row['rule']}: {row['supported']} of {row['total']} known"
        + (f"; to assume: {listed(row['assumptions'])}" if row["assumptions"] else "")
        for row in rows
    ]
    if len(found.hypotheses) > 1 and math.isclose(best.score, found.hypotheses[1].score):
        caveats += ("the first two score the same; fewer assumptions, then the rule's id decided",)
    caveats += ("scores are the share of conditions that are known, times the rule's factor: not probabilities",)
    return Answer(names(assumed, about), None, summary, cut(lines, 8), {"explanations": rows}, caveats)


def minimal_covers(causes: Sequence[Cause], effects: Sequence[str]) -> list[tuple[int, ...]]:
    """Returns every set of causes that accounts for all effects and from which none can be left out, by number.
    BadValue if there are too many to list."""
    masks = [sum(1 << n for n, effect in enumerate(effects) if effect in cause.strengths) for cause in causes]
    by_effect = [[c for c, mask in enumerate(masks) if mask >> n & 1] for n in range(len(effects))]
    whole = (1 << len(effects)) - 1
    found: dict[tuple[int, ...], None] = {}
    stack: list[tuple[tuple[int, ...], frozenset[int]]] = [((), frozenset())]
    for _ in range(MOST_NODES):
        if not stack:
            return sorted(found, key=lambda cover: (len(cover), cover))
        chosen, barred = stack.pop()
        covered = reduce(or_, (masks[c] for c in chosen), 0)
        if any(not masks[c] & ~reduce(or_, (masks[o] for o in chosen if o != c), 0) for c in chosen):
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
    limits = f"the limits are {MOST_COVERS:,} explanations and {MOST_NODES:,} tries"
    raise BadValue(f"hypotheses: too many sets explain the observations; {limits}", "give fewer hypotheses")


def with_certain(causes: Sequence[Cause], chosen: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the causes with those that are there in any case: without them nothing could be."""
    return tuple(n for n, cause in enumerate(causes) if n in chosen or cause.prior == 1)


def log_joint(causes: Sequence[Cause], chosen: tuple[int, ...], effects: Sequence[str], absent: Sequence[str]) -> float:
    """Returns the logarithm of the probability that just these causes are there, bring all effects about, and none that
    is absent. Causes act independently of each other (noisy or); -inf if it cannot be."""
    chances = [(cause.prior or 0.0) if n in chosen else 1 - (cause.prior or 0.0) for n, cause in enumerate(causes)]
    for effect in (*effects, *absent):
        missing = math.prod(1 - causes[c].strengths.get(effect, 0.0) for c in chosen)
        chances.append(missing if effect in absent else 1 - missing)
    return sum(math.log(chance) for chance in chances) if all(chances) else -math.inf
