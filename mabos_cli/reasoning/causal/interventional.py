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
    seen_same, seen_other = _seen(network, outcome, do | seen), _seen(network, outcome, other | seen)
    effect = after[value] - without[value]
    plain = None if seen_same is None or seen_other is None else seen_same[value] - seen_other[value]
    detail = {
        "do": after,
        "compared_with": other,
        "do_compared": without,
        "effect": effect,
        "seen": seen_same,
        "seen_compared": seen_other,
        "seen_difference": plain,
    }
    best, *tied = best_names(after)
    return Answer(
        distribution(after, about=f"{outcome} if we set {_assigned(do)}"),
        min(1.0, after[best]),
        f"P({outcome}={value} | do {_assigned(do)}) = {figure(after[value])}, against {figure(without[value])} with {_assigned(other) or 'nothing set'}: {figure(effect, '+')}",
        cut(_steps(outcome, value, do, other, detail)),
        detail,
        _caveats(network, do, seen, tied, best, effect, plain),
    )


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


def _seen(network: Network, outcome: str, evidence: Evidence) -> dict[str, float] | None:
    """Returns the distribution among those who have these values by themselves, None if nobody has."""
    found = find_marginal(network, outcome, evidence)
    return found[0] if found else None


def _steps(outcome: str, value: str, do: Evidence, other: Evidence, detail: dict[str, Any]) -> list[str]:
    lines = [
        f"cut the arrows into {listed(tuple(do))}, set {_assigned(do)}",
        f"after it: {_shares(detail['do'])}",
        f"with {_assigned(other) or 'nothing set'}: {_shares(detail['do_compared'])}",
        f"effect on P({outcome}={value}): {figure(detail['effect'], '+')}",
    ]
    if detail["seen_difference"] is not None:
        seen, compared = detail["seen"][value], detail["seen_compared"][value]
        lines.append(
            f"merely seen: {figure(seen)} against {figure(compared)}, difference {figure(detail['seen_difference'], '+')}"
        )
    return lines


def _caveats(
    network: Network, do: Evidence, seen: Evidence, tied: list[str], best: str, effect: float, plain: float | None
) -> tuple[str, ...]:
    later = [name for name in seen if not do.keys().isdisjoint(reach(network.parents, network.parents[name]))]
    is_opposite = plain is not None and effect * plain < 0
    is_confounded = plain is not None and abs(plain - effect) > 1e-9
    return notes(
        (True, "Holds if the arrows are causes and no common cause is missing."),
        (tied, f"{best} and {listed(tied)} are equally likely."),
        (is_opposite, "Seeing and setting point in opposite directions (Simpson's paradox)."),
        (is_confounded and not is_opposite, "Part of the difference that is seen comes from common causes."),
        (later, f"{listed(later)} follows from what is set: it counts as seen after the action."),
    )


def _shares(found: dict[str, float]) -> str:
    return ", ".join(f"{state} {figure(share)}" for state, share in list(found.items())[:6])


def _assigned(settings: Evidence) -> str:
    return listed([f"{name}={value}" for name, value in settings.items()])
