"""Finds what will happen if we set something ourselves: the do-operator on a discrete network, beside plain
observation."""

from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, best_names, cut, distribution, figure, listed, notes
from mabos_cli.reasoning.inputs import AgentData, known_name
from mabos_cli.reasoning.network import (
    Evidence,
    Network,
    check_states,
    find_marginal,
    marginal,
    parse_network,
    parse_rows,
    reach,
    set_variables,
    state_name,
)


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the distribution of the outcome once we have acted."""
    network = parse_network(fields["network"], parse_rows(fields["data"]))
    do, seen = (check_states(field, fields[field], network.states) for field in ("do", "observed"))
    outcome = known_name("outcome", fields["outcome"], network.states, "variable")
    _check_roles("do", do, seen, outcome)
    states = network.states[outcome]
    value = known_name("value", state_name(fields["value"] or states[0]), states, "value")
    after, _ = marginal(set_variables(network, do), outcome, seen, "observed")
    other = _other(network, fields, do, seen)
    _check_roles("compare", other, seen, outcome)
    without, _ = marginal(set_variables(network, other), outcome, seen, "compare")
    # The distributions among those who have these values by themselves, if anybody has.
    seen_same, seen_other = (find_marginal(network, outcome, {**setting, **seen}) for setting in (do, other))
    effect = after[value] - without[value]
    plain = seen_same[0][value] - seen_other[0][value] if seen_same and seen_other else None
    detail = {
        "do": after,
        "compared_with": other,
        "do_compared": without,
        "effect": effect,
        "seen": seen_same[0] if seen_same else None,
        "seen_compared": seen_other[0] if seen_other else None,
        "seen_difference": plain,
    }
    best, *tied = best_names(after)
    acted, against = _assigned(do), _assigned(other) or "nothing set"
    lines = [f"cut the arrows into {listed(tuple(do))}, set {acted}"]
    for what, shares in (("after it", after), (f"with {against}", without)):
        lines.append(f"{what}: {', '.join(f'{state} {figure(share)}' for state, share in list(shares.items())[:6])}")
    lines.append(f"effect on P({outcome}={value}): {figure(effect, '+')}")
    if seen_same and seen_other and plain is not None:
        figures = f"{figure(seen_same[0][value])} against {figure(seen_other[0][value])}"
        lines.append(f"merely seen: {figures}, difference {figure(plain, '+')}")
    later = [name for name in seen if not do.keys().isdisjoint(reach(network.parents, network.parents[name]))]
    is_opposite = plain is not None and effect * plain < 0
    caveats = notes(
        (True, "Holds if the arrows are causes and no common cause is missing."),
        (tied, f"{best} and {listed(tied)} are equally likely."),
        (is_opposite, "Seeing and setting point in opposite directions (Simpson's paradox)."),
        (
            plain is not None and abs(plain - effect) > 1e-9 and not is_opposite,
            "Part of the difference that is seen comes from common causes.",
        ),
        (later, f"{listed(later)} follows from what is set: it counts as seen after the action."),
    )
    chance = (
        f"P({outcome}={value} | do {acted}) = {figure(after[value])}, against {figure(without[value])} with {against}"
    )
    conclusion, summary = distribution(after, about=f"{outcome} if we set {acted}"), f"{chance}: {figure(effect, '+')}"
    return Answer(conclusion, min(1.0, after[best]), summary, cut(lines), detail, caveats)


def _check_roles(field: str, do: Evidence, seen: Evidence, outcome: str) -> None:
    for name in do:
        if name == outcome:
            raise BadValue(f"{field}: {name!r} is the outcome itself", "set a cause of it")
        if name in seen:
            raise BadValue(f"observed: {name!r} is set already", "a variable is set or seen, not both")


def _other(network: Network, fields: dict[str, Any], do: dict[str, str], seen: Evidence) -> dict[str, str]:
    """Returns what the action is compared with: what was asked for; or else the other of two values, if what was seen
    can happen with it, or doing nothing."""
    if fields["compare"] is not None:
        return check_states("compare", fields["compare"], network.states)
    ((name, value), *more) = do.items()
    states = network.states[name]
    if more or len(states) != 2:
        return {}
    other = {name: states[0] if states[1] == value else states[1]}
    return other if find_marginal(set_variables(network, other), fields["outcome"], seen) else {}


def _assigned(settings: Evidence) -> str:
    return listed([f"{name}={value}" for name, value in settings.items()])
