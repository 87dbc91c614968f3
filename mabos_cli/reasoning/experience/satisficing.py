"""Finds the first option that is good enough on every count, or how far aspirations must drop for one to be."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, choice, cut, figure, is_better, listed, notes, yes_no
from mabos_cli.reasoning.inputs import AgentData, check_known, check_size

_MOST_OPTIONS = 5_000
_SLACK = 1e-12
_NOTHING = 1e-12  # a level below this is 0: shares of it would overflow


class _Miss(NamedTuple):
    """A count on which an option fails: by how much, and by which share of the level; nothing if it is not known how it does."""

    criterion: str
    text: str
    by: float | None
    share: float | None


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the first option that meets all aspirations."""
    options, levels = fields["options"], fields["aspirations"]
    check_size("options", len(options), _MOST_OPTIONS, "options")
    for name, level in levels.items():
        if level["min"] is None and level["max"] is None:
            raise BadValue(f"aspirations.{name}: needs a min or a max", "say from where on it is good enough")
        if None not in level.values() and level["min"] > level["max"]:
            hint = "exchange or change them"
            raise BadValue(f"aspirations.{name}: min {level['min']:g} is above max {level['max']:g}", hint)
    for name, values in options.items():
        check_known(f"options.{name}", values, levels, "count")
    scales = {name: _scale(name, level, options) for name, level in levels.items()}
    misses = {name: _misses(values, levels, scales) for name, values in options.items()}
    needed = {name: _needed(found) for name, found in misses.items()}
    good = [name for name, found in misses.items() if not found]
    detail: dict[str, Any] = {
        "misses": {
            name: [{"count": miss.criterion, "by": miss.by, "share": miss.share} for miss in found]
            for name, found in misses.items()
        },
        "relaxation": needed,
        "looked_at": [*options].index(good[0]) + 1 if good else len(options),
    }
    lines = [f"{name} fails: {'; '.join(miss.text for miss in found)}" for name, found in misses.items() if found]
    if not good:
        return _none(fields, needed, scales, lines, detail)
    chosen, *later = good
    passed = detail["looked_at"] - 1
    mine = _merits(options[chosen], levels)
    better = [name for name in later if is_better(_merits(options[name], levels), mine)]
    met = ", ".join(f"{name} {figure(options[chosen][name])}" for name in levels)
    return Answer(
        choice(chosen, {name: float(not found) for name, found in misses.items()}),
        None,
        f"{chosen} is the first that is good enough, after {passed} of {len(options)} were passed over",
        (*cut(lines[:passed], 10), f"{chosen} meets all: {met}"),
        detail,
        notes(
            (better, f"no worse on any count and better on one, but met later: {listed(better)}"),
            (later and not better, f"good enough as well, but met later: {listed(later)}"),
        ),
    )


def _scale(name: str, level: Mapping[str, Any], options: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Returns what a shortfall is measured by: the level, or, where that is 0, how far options lie apart."""
    values = [option[name] for option in options.values() if name in option]
    spread = max(values) - min(values) if values else 0.0
    return {
        end: next((size for size in (abs(bound), spread) if size > _NOTHING), 1.0)
        for end, bound in level.items()
        if bound is not None
    }


def _misses(values: Mapping[str, float], levels: Mapping[str, Any], scales: Mapping[str, Any]) -> list[_Miss]:
    found = []
    for name, level in levels.items():
        if name not in values:
            found.append(_Miss(name, f"{name} is not known", None, None))
            continue
        value, low, high = values[name], level["min"], level["max"]
        if low is not None and value < low:
            share = (low - value) / scales[name]["min"]
            found.append(_Miss(name, f"{name} {figure(value)} is below {figure(low)}", low - value, share))
        if high is not None and value > high:
            share = (value - high) / scales[name]["max"]
            found.append(_Miss(name, f"{name} {figure(value)} is above {figure(high)}", value - high, share))
    return found


def _needed(misses: list[_Miss]) -> float | None:
    """Returns by which share all levels must drop for an option to be good enough; nothing where it is not known."""
    if any(miss.share is None for miss in misses):
        return None
    return max((miss.share or 0.0 for miss in misses), default=0.0)


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


def _none(
    fields: dict[str, Any],
    needed: Mapping[str, float | None],
    scales: Mapping[str, Any],
    lines: list[str],
    detail: dict[str, Any],
) -> Answer:
    """Returns the option that comes nearest, and how far the levels would have to drop for it."""
    known = {name: share for name, share in needed.items() if share is not None}
    unsure = [name for name, share in needed.items() if share is None]
    caveats = notes((unsure, f"not all is known of {listed(unsure)}, which count as not good enough"))
    conclusion = yes_no(False, "one of the options is good enough")
    if not known:
        return Answer(conclusion, None, "no option is good enough", cut(lines), detail, caveats)
    nearest = min(known, key=lambda name: known[name])
    least = known[nearest]
    detail["nearest"] = {"option": nearest, "share": least, "levels": _dropped(fields, least, scales)}
    lines = [*cut(lines, 9), f"{nearest} comes nearest: all levels would have to drop by {least:.1%}"]
    has_tie = sum(abs(share - least) < _SLACK for share in known.values()) > 1
    caveats += notes((has_tie, "others come as near; the first of them is named"))
    summary = f"no option is good enough; {nearest} would be if all levels dropped by {least:.1%}"
    return Answer(conclusion, None, summary, tuple(lines), detail, caveats)


def _dropped(fields: dict[str, Any], share: float, scales: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the levels after all of them have dropped by a share."""
    found = {}
    for name, level in fields["aspirations"].items():
        low, high = level["min"], level["max"]
        found[name] = {
            "min": None if low is None else low - share * scales[name]["min"],
            "max": None if high is None else high + share * scales[name]["max"],
        }
    return found
