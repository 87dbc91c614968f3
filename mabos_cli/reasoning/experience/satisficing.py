"""Finds the first option that is good enough on every count."""

from collections.abc import Mapping
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, choice, cut, figure, is_better, listed, notes, yes_no
from mabos_cli.reasoning.inputs import AgentData, check_known


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the first option that meets all aspirations."""
    options, levels = fields["options"], fields["aspirations"]
    for name, level in levels.items():
        if level["min"] is None and level["max"] is None:
            raise BadValue(f"aspirations.{name}: needs a min or a max", "say from where on it is good enough")
        if None not in level.values() and level["min"] > level["max"]:
            hint = "exchange or change them"
            raise BadValue(f"aspirations.{name}: min {level['min']:g} is above max {level['max']:g}", hint)
    for name, values in options.items():
        check_known(f"options.{name}", values, levels, "count")
    misses = {name: _misses(values, levels) for name, values in options.items()}
    good = [name for name, found in misses.items() if not found]
    passed = [*options].index(good[0]) if good else len(options)
    detail = {"misses": misses, "looked_at": passed + bool(good)}
    lines = [f"{name} fails: {'; '.join(misses[name])}" for name in [*options][:passed]]
    if not good:
        conclusion = yes_no(False, "one of the options is good enough")
        return Answer(conclusion, None, "no option is good enough", cut(lines), detail)
    chosen, *later = good
    mine = _merits(options[chosen], levels)
    better = [name for name in later if is_better(_merits(options[name], levels), mine)]
    met = ", ".join(f"{name} {figure(options[chosen][name])}" for name in levels)
    return Answer(
        choice(chosen, {name: float(not found) for name, found in misses.items()}),
        None,
        f"{chosen} is the first that is good enough, after {passed} of {len(options)} were passed over",
        (*cut(lines, 10), f"{chosen} meets all: {met}"),
        detail,
        notes(
            (better, f"no worse on any count and better on one, but met later: {listed(better)}"),
            (later and not better, f"good enough as well, but met later: {listed(later)}"),
        ),
    )


def _misses(values: Mapping[str, float], levels: Mapping[str, Any]) -> list[str]:
    """Returns the counts on which an option fails, in words; what is not known is not good enough."""
    found = []
    for name, level in levels.items():
        if name not in values:
            found.append(f"{name} is not known")
        elif level["min"] is not None and values[name] < level["min"]:
            found.append(f"{name} {figure(values[name])} is below {figure(level['min'])}")
        elif level["max"] is not None and values[name] > level["max"]:
            found.append(f"{name} {figure(values[name])} is above {figure(level['max'])}")
    return found


def _merits(values: Mapping[str, float], levels: Mapping[str, Any]) -> tuple[float, ...]:
    """Returns for each count a figure of which more is better; within a band all is alike."""
    found = []
    for name, level in levels.items():
        low, high = level["min"], level["max"]
        if low is not None and high is not None:
            found.append(-max(low - values[name], values[name] - high, 0.0))
        else:
            found.append(values[name] if high is None else -values[name])
    return tuple(found)
