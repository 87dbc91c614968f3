"""Finds the first option that is good enough on every count, or how far aspirations must drop for one to be."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, choice, cut, is_better, listed, yes_no
from mabos_cli.reasoning.inputs import LARGEST, AgentData, check_known, check_size
from mabos_cli.reasoning.shape import Shape, map_of, number, optional, record

_LEVEL = record(
    "what is good enough on one count",
    min=optional(number("at least this", -LARGEST, LARGEST)),
    max=optional(number("at most this", -LARGEST, LARGEST)),
)
_ADJUST = record(
    "how aspirations drop when nothing meets them",
    step=number("by which share of each level, round by round", 0.001, 1),
    rounds=optional(number("how often at most", 1, 1000), 20),
)
SHAPE: Shape = record(
    "",
    options=map_of(map_of(number("how it does", -LARGEST, LARGEST), "its counts", least=0), "the options, in the order met"),
    aspirations=map_of(_LEVEL, "for each count that matters what is good enough"),
    adjust=optional(_ADJUST),
)  # fmt: skip
QUESTIONS: tuple[str, ...] = (
    "On which counts must an option be good enough, and from which level on is it?",
    "In which order do the options come up, or are they looked at?",
    "How does each option do on each count?",
    "If none is good enough, by how much may the levels drop?",
)
_MOST_OPTIONS = 5_000
_SLACK = 1e-12
_NOTHING = 1e-12  # a level below this is 0: shares of it would overflow


class _Miss(NamedTuple):
    """Where an option fails: by how much, and by which share of the level; nothing if it is not known how it does."""

    criterion: str
    text: str
    by: float | None
    share: float | None


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the first option that meets all aspirations."""
    options, levels = fields["options"], fields["aspirations"]
    check_size("options", len(options), _MOST_OPTIONS, "options")
    _check_levels(levels)
    for name, values in options.items():
        check_known(f"options.{name}", values, levels, "count")
    spreads = {name: _spread(name, options) for name in levels}
    misses = {name: _misses(values, levels, spreads) for name, values in options.items()}
    needed = {name: _needed(found) for name, found in misses.items()}
    detail: dict[str, Any] = {
        "misses": {
            name: [{"count": m.criterion, "by": m.by, "share": m.share} for m in found] for name, found in misses.items()
        },
        "relaxation": needed,
    }  # fmt: skip
    chosen = next((name for name, found in misses.items() if not found), None)
    if chosen is not None:
        return _found(chosen, options, levels, misses, detail)
    return _none(fields, misses, needed, spreads, detail)


def _check_levels(levels: Mapping[str, Mapping[str, float | None]]) -> None:
    for name, level in levels.items():
        low, high = level["min"], level["max"]
        if low is None and high is None:
            raise BadValue(f"aspirations.{name}: needs a min or a max", "say from where on it is good enough")
        if low is not None and high is not None and low > high:
            raise BadValue(f"aspirations.{name}: min {low:g} is above max {high:g}", "exchange or change them")


def _spread(name: str, options: Mapping[str, Mapping[str, float]]) -> float:
    values = [option[name] for option in options.values() if name in option]
    return max(values) - min(values) if values else 0.0


def _scale(level: float, spread: float) -> float:
    """Returns what a shortfall is measured by: the level, or, where that is 0, how far options lie apart."""
    return next((size for size in (abs(level), spread) if size > _NOTHING), 1.0)


def _misses(values: Mapping[str, float], levels: Mapping[str, Any], spreads: Mapping[str, float]) -> list[_Miss]:
    found = []
    for name, level in levels.items():
        if name not in values:
            found.append(_Miss(name, f"{name} is not known", None, None))
            continue
        value, low, high = values[name], level["min"], level["max"]
        if low is not None and value < low:
            share = (low - value) / _scale(low, spreads[name])
            found.append(_Miss(name, f"{name} {value:,.6g} is below {low:,.6g}", low - value, share))
        if high is not None and value > high:
            share = (value - high) / _scale(high, spreads[name])
            found.append(_Miss(name, f"{name} {value:,.6g} is above {high:,.6g}", value - high, share))
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


def _failing(misses: Mapping[str, list[_Miss]], until: str | None) -> list[str]:
    lines = []
    for name, found in misses.items():
        if name == until:
            break
        lines.append(f"{name} fails: {'; '.join(miss.text for miss in found)}")
    return lines


def _found(
    chosen: str, options: Mapping[str, Any], levels: Mapping[str, Any], misses: Mapping[str, list[_Miss]],
    detail: dict[str, Any],
) -> Answer:  # fmt: skip
    names = [*options]
    at = names.index(chosen)
    detail["looked_at"] = at + 1
    later = [name for name in names[at + 1 :] if not misses[name]]
    caveats = []
    better = [
        name for name in later
        if is_better(_merits(options[name], levels), _merits(options[chosen], levels))
    ]  # fmt: skip
    if better:
        caveats.append(f"no worse on any count and better on one, but met later: {listed(better)}")
    elif later:
        caveats.append(f"good enough as well, but met later: {listed(later)}")
    met = ", ".join(f"{name} {options[chosen][name]:,.6g}" for name in levels)
    lines = [*cut(_failing(misses, chosen), 10), f"{chosen} meets all: {met}"]
    summary = f"{chosen} is the first that is good enough, after {at} of {len(names)} were passed over"
    scores = {name: float(not found) for name, found in misses.items()}
    return Answer(choice(chosen, scores), None, summary, tuple(lines), detail, tuple(caveats))


def _none(
    fields: dict[str, Any], misses: Mapping[str, list[_Miss]], needed: Mapping[str, float | None],
    spreads: Mapping[str, float], detail: dict[str, Any],
) -> Answer:  # fmt: skip
    detail["looked_at"] = len(misses)
    lines = [*cut(_failing(misses, None), 9)]
    known = {name: share for name, share in needed.items() if share is not None}
    unsure = [name for name, share in needed.items() if share is None]
    caveats = [f"not all is known of {listed(unsure)}, which count as not good enough"] if unsure else []
    about = "one of the options is good enough"
    if not known:
        return Answer(yes_no(False, about), None, "no option is good enough", tuple(lines), detail, tuple(caveats))
    nearest = min(known, key=lambda name: known[name])
    detail["nearest"] = {
        "option": nearest,
        "share": known[nearest],
        "levels": _dropped(fields, known[nearest], spreads),
    }
    lines.append(f"{nearest} comes nearest: all levels would have to drop by {known[nearest]:.1%}")
    if sum(abs(share - known[nearest]) < _SLACK for share in known.values()) > 1:
        caveats.append("others come as near; the first of them is named")
    if fields["adjust"] is None:
        summary = f"no option is good enough; {nearest} would be if all levels dropped by {known[nearest]:.1%}"
        return Answer(yes_no(False, about), None, summary, tuple(lines), detail, tuple(caveats))
    return _adjusted(fields, known, spreads, lines, detail, caveats)


def _dropped(fields: dict[str, Any], share: float, spreads: Mapping[str, float]) -> dict[str, Any]:
    """Returns the levels after all of them have dropped by a share."""
    found = {}
    for name, level in fields["aspirations"].items():
        low, high = level["min"], level["max"]
        found[name] = {
            "min": None if low is None else low - share * _scale(low, spreads[name]),
            "max": None if high is None else high + share * _scale(high, spreads[name]),
        }
    return found


def _adjusted(
    fields: dict[str, Any], known: dict[str, float], spreads: Mapping[str, float], lines: list[str],
    detail: dict[str, Any], caveats: list[str],
) -> Answer:  # fmt: skip
    """Finds the first option that is good enough once the levels have dropped, step by step, as far as they must."""
    step, rounds = fields["adjust"]["step"], int(fields["adjust"]["rounds"])
    for n in range(1, rounds + 1):
        chosen = next((name for name, share in known.items() if share <= n * step + _SLACK), None)
        if chosen is not None:
            detail["adjusted"] = {"rounds": n, "share": n * step, "levels": _dropped(fields, n * step, spreads)}
            lines.append(f"after {plural(n, 'step')} of {step:.3g}, {chosen} is the first that is good enough")
            summary = f"{chosen}, after all levels dropped by {n * step:.1%}: nothing met them as they were"
            scores = {name: -share for name, share in known.items()}
            return Answer(choice(chosen, scores), None, summary, tuple(lines), detail, tuple(caveats))
    summary = f"no option is good enough, even after all levels dropped by {rounds * step:.1%}"
    about = "one of the options is good enough"
    return Answer(yes_no(False, about), None, summary, tuple(lines), detail, tuple(caveats))
