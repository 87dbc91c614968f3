"""Shows how evidence changes what to believe: hypotheses updated piece by piece, or a network asked exactly."""

from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, best_names, cut, distribution, figure, listed, notes
from mabos_cli.reasoning.inputs import AgentData, check_same, known_name, sum_to_one
from mabos_cli.reasoning.network import check_states, marginal, parse_network, parse_rows


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the posterior of the hypotheses, or of the first variable asked for."""
    if (fields["hypotheses"] is None) == (fields["network"] is None):
        raise BadValue("hypotheses: give either hypotheses with evidence, or a network", "not both, not neither")
    return _solve_network(fields) if fields["network"] else _solve_hypotheses(fields)


def _solve_hypotheses(fields: dict[str, Any]) -> Answer:
    if not fields["evidence"]:
        raise BadValue("evidence: is missing", "give at least one piece of evidence with its likelihoods")
    priors = sum_to_one("hypotheses", fields["hypotheses"])
    updates: list[dict[str, Any]] = []
    posterior = priors
    for at, piece in enumerate(fields["evidence"], 1):
        updates.append(_update(posterior, piece, f"evidence[{at}]"))
        posterior = updates[-1]["posterior"]
    best, *tied = best_names(posterior)
    others = {name: share for name, share in posterior.items() if name != best}
    rival = max(others, key=others.__getitem__)
    detail = {"priors": priors, "posterior": posterior, "updates": updates}
    return Answer(
        distribution(posterior),
        min(1.0, posterior[best]),
        f"{best}: {figure(posterior[best])}, before {figure(priors[best])}; next is {rival} with {figure(posterior[rival])}",
        cut([_step(update) for update in updates]),
        detail,
        notes(
            (len(updates) > 1, "Pieces of evidence count as independent given the hypothesis."),
            (tied, f"{best} and {listed(tied)} are equally likely."),
            (posterior[best] == 1, "A likelihood or prior of 0 rules hypotheses out for good."),
        ),
    )


def _update(before: dict[str, float], piece: dict[str, Any], path: str) -> dict[str, Any]:
    """Applies Bayes' rule once: how probable a piece of evidence was beforehand, how it tells the hypotheses apart, and what they are
    then. Absent evidence has the likelihoods of its opposite."""
    check_same(f"{path}.likelihoods", piece["likelihoods"], before, "hypothesis")
    likelihoods = {name: piece["likelihoods"][name] for name in before}
    chance = sum(before[name] * likelihoods[name] for name in before)
    if piece["marginal"] is not None and abs(piece["marginal"] - chance) > max(1e-6, 0.005 * chance):
        raise BadValue(
            f"{path}.marginal: is {piece['marginal']:.6g}, but the priors and likelihoods make it {chance:.6g}",
            "one of the figures is wrong; leave marginal out if it is not known apart",
        )
    if not piece["observed"]:
        likelihoods = {name: 1 - share for name, share in likelihoods.items()}
        chance = sum(before[name] * likelihoods[name] for name in before)
    if chance <= 0:
        hint = "a likelihood of 0 means impossible; use a small number, or add the hypothesis that explains it"
        raise BadValue(f"{path}: {piece['name']} cannot happen under any hypothesis that is left", hint)
    posterior = {name: before[name] * likelihoods[name] / chance for name in before}
    name = piece["name"] if piece["observed"] else f"no {piece['name']}"
    return {"evidence": name, "probability": chance, "likelihoods": likelihoods, "posterior": posterior}


def _step(update: dict[str, Any]) -> str:
    shares = sorted(update["posterior"].items(), key=lambda pair: -pair[1])[:3]
    shown = ", ".join(f"{name} {figure(share)}" for name, share in shares)
    return f"{update['evidence']} (expected with {figure(update['probability'])}): {shown}"


def _solve_network(fields: dict[str, Any]) -> Answer:
    if fields["evidence"]:
        raise BadValue("evidence: belongs to hypotheses", "write what was seen in a network under observed")
    if not fields["query"]:
        raise BadValue("query: is missing", "name the variables to ask for")
    network = parse_network(fields["network"], parse_rows(fields["data"]))
    seen = check_states("observed", fields["observed"], network.states)
    for name in fields["query"]:
        known_name("query", name, network.states, "variable")
    found = {name: marginal(network, name, seen, "observed") for name in fields["query"]}
    before = {name: marginal(network, name, {}, "network")[0] for name in found}
    first = fields["query"][0]
    shares = found[first][0]
    best, *tied = best_names(shares)
    evidence = ", ".join(f"{name}={state}" for name, state in seen.items()) or "no evidence"
    steps = [f"{plural(len(network.states), 'variable')}, exact by variable elimination"]
    steps += [f"P(evidence) = {figure(found[first][1])}"] if seen else []
    for name, (after, _) in found.items():
        moved = ", ".join(f"{state} {figure(before[name][state])} -> {figure(after[state])}" for state in after)
        steps.append(f"{name}: {moved}")
    return Answer(
        distribution(shares, about=first),
        min(1.0, shares[best]),
        f"P({first}={best} | {evidence}) = {figure(shares[best])}, before {figure(before[first][best])}",
        cut(steps),
        {
            "posterior": {name: share for name, (share, _) in found.items()},
            "prior": before,
            "evidence_probability": found[first][1],
        },
        notes((tied, f"{best} and {listed(tied)} are equally likely.")),
    )
