"""Finds the course of action that experience suggests: the prototype a situation is recognized by, and its first action
that works when it is played through."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning import inputs
from mabos_cli.reasoning.answer import Answer, choice, cut, figure, listed, notes, yes_no

_CUES = ("cues", "expectancies")


class _Match(NamedTuple):
    """The fit of a situation to a prototype: the share of its cues, and what does not fit or is not known."""

    name: str
    score: float
    fitting: tuple[str, ...]
    unlike: tuple[str, ...]
    unknown: tuple[str, ...]
    violated: tuple[str, ...]
    to_check: tuple[str, ...]


def solve(fields: dict[str, Any], agent: inputs.AgentData) -> Answer:
    """Returns the first action of the best match that works."""
    for name, row in fields["prototypes"].items():
        inputs.check_known(f"prototypes.{name}.actions", row["actions"], fields["actions"], "action")
    rows = [(f"prototypes.{name}.{part}", row[part]) for name, row in fields["prototypes"].items() for part in _CUES]
    rows += [(f"actions.{name}.needs", row["needs"]) for name, row in fields["actions"].items()]
    for where, expectations in rows:
        for cue, expected in expectations.items():
            _check_expected(expected, f"{where}.{cue}")
    situation = inputs.parse_features(fields["situation"], "situation")
    found = [_match(name, row, situation) for name, row in fields["prototypes"].items()]
    found.sort(key=lambda one: -one.score)
    detail: dict[str, Any] = {
        "matches": [
            {key: [*value] if isinstance(value, tuple) else value for key, value in one._asdict().items()}
            for one in found[:20]
        ]
    }
    lines, best = [], found[0]
    for one in found[:3]:
        doubts = (("unlike", one.unlike), ("not known", one.unknown), ("against what is expected", one.violated))
        more = [f"{word}: {listed(cues)}" for word, cues in doubts if cues]
        lines.append("; ".join([f"{one.name} matches by {figure(one.score)}", *more]))
    if best.score < fields["familiar"]:
        summary = f"not familiar: the nearest, {best.name}, matches by {figure(best.score)} only; look for more cues"
        conclusion = yes_no(None, "the situation is familiar")
        return Answer(conclusion, None, summary, tuple(lines), detail, _doubts(found, fields))
    caveats = _doubts(found, fields)
    runs, taken = [], None
    for one in found:
        if one.score < fields["familiar"] or taken:
            break
        for action in fields["prototypes"][one.name]["actions"]:
            why = _play(action, situation, fields)
            runs.append({"prototype": one.name, "action": action, "rejected": why})
            lines.append(f"{action}: {'; '.join(why) if why else 'works'}")
            if not why:
                taken = (one, action)
                break
    detail["simulations"] = runs
    if taken is None:
        summary = f"recognized as {best.name}, but no known action works; the goals must give way"
        about = "a known course of action works here"
        return Answer(yes_no(False, about), None, summary, cut(lines), detail, caveats)
    match, action = taken
    if match is not best:
        caveats += (f"no action for {best.name} works; this one belongs to {match.name}, which fits less",)
    detail["prototype"] = match.name
    rejected = len(runs) - 1
    summary = f"{action}: {match.name} is recognized ({figure(match.score)})"
    summary += f", {rejected} rejected before" if rejected else ""
    return Answer(choice(action), None, summary, cut(lines), detail, caveats)


def _check_expected(expected: Any, where: str) -> None:
    if not isinstance(expected, dict):
        inputs.parse_feature(expected, where)
        return
    ends = [inputs.parse_feature(expected[name], where) for name in ("min", "max") if name in expected]
    if not ends or len(ends) < len(expected) or any(isinstance(end, str | None) for end in ends):
        hint = "give a number, a word or a range"
        raise BadValue(f"{where}: must be {{min: ..., max: ...}} with numbers", hint)


def _fits(expected: Any, value: inputs.Feature) -> bool:
    if not isinstance(expected, dict):
        return inputs.parse_feature(expected, "") == value
    if isinstance(value, str):
        return False
    low, high = (inputs.parse_feature(expected.get(name), "") for name in ("min", "max"))
    assert not isinstance(low, str) and not isinstance(high, str)
    return (low is None or value >= low) and (high is None or value <= high)


def _shown(expected: Any) -> str:
    if not isinstance(expected, dict):
        return str(expected)
    return " and ".join(f"at {'least' if end == 'min' else 'most'} {value}" for end, value in expected.items())


def _match(name: str, row: dict[str, Any], situation: Mapping[str, inputs.Feature]) -> _Match:
    known = {cue: _fits(expected, situation[cue]) for cue, expected in row["cues"].items() if cue in situation}
    score = sum(known.values()) / len(row["cues"])
    violated = tuple(
        f"{cue} is {inputs.feature_text(situation[cue])}, not {_shown(expected)}"
        for cue, expected in row["expectancies"].items()
        if cue in situation and not _fits(expected, situation[cue])
    )
    return _Match(
        name,
        score,
        tuple(cue for cue, fits in known.items() if fits),
        tuple(cue for cue, fits in known.items() if not fits),
        tuple(cue for cue in row["cues"] if cue not in known),
        violated,
        tuple(cue for cue in row["expectancies"] if cue not in situation),
    )


def _doubts(found: list[_Match], fields: dict[str, Any]) -> tuple[str, ...]:
    """Returns what speaks against the best match: violated expectancies, what is not known, and a tie."""
    best, *others = found
    known = {cue for row in fields["prototypes"].values() for cue in (*row["cues"], *row["expectancies"])}
    known |= {cue for row in fields["actions"].values() for cue in row["needs"]}
    unused = [cue for cue in fields["situation"] if cue not in known]
    next_one = f"; it may be {others[0].name} ({figure(others[0].score)})" if others else ""
    return notes(
        (best.violated, f"look again: {listed(best.violated)}{next_one}"),
        (best.to_check, f"still to check, if it is {best.name}: {listed(best.to_check)}"),
        (others and abs(others[0].score - best.score) < 1e-12, "another one matches as well; the first given is taken"),
        (unused, f"nothing known speaks of {listed(unused)}"),
    )


def _play(action: str, situation: Mapping[str, inputs.Feature], fields: dict[str, Any]) -> list[str]:
    """Returns why an action does not work here; nothing if it does."""
    row = fields["actions"][action]
    why = []
    for cue, expected in row["needs"].items():
        if cue not in situation:
            why.append(f"needs {cue} {_shown(expected)}, which is not known")
        elif not _fits(expected, situation[cue]):
            why.append(f"needs {cue} {_shown(expected)}, and it is {inputs.feature_text(situation[cue])}")
    return why
