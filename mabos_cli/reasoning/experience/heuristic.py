"""Finds which option is better by the first cue that tells them apart (take-the-best)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning import inputs
from mabos_cli.reasoning.answer import Answer, choice, cut, figure, listed, notes
from mabos_cli.reasoning.shape import check_size

Profile = Mapping[str, inputs.Feature]
POSITIVE, NEGATIVE = "yes", "no"
_MOST_CUES = 50


class Cue(NamedTuple):
    """A cue, how often it is right where it tells things apart, and which side of it is better."""

    name: str
    validity: float | None = None
    is_higher_better: bool = True


def solve(fields: dict[str, Any], agent: inputs.AgentData) -> Answer:
    """Returns the option that take-the-best chooses: cue by cue, what another option beats is dropped, until one is left."""
    rows = fields["options"].items()
    options: dict[str, Profile] = {name: inputs.parse_features(values, f"options.{name}") for name, values in rows}
    caveats: list[str] = []
    cues = _cues(fields, options, caveats)
    if not cues:
        raise BadValue("options: have no cues", "give each option some cues")
    left, rounds, lines, deciding = tuple(options), [], [], []
    for cue in cues:
        if len(left) == 1:
            break
        kept = tuple(name for name in left if not any(prefer(cue, options[other], options[name]) > 0 for other in left))
        deciding += [cue] if kept != left else []
        lines.append(_line(cue, left, kept, options))
        rounds.append((cue.name, kept))
        left = kept
    detail = {
        "cues": [
            {"name": cue.name, "validity": cue.validity, "better": "higher" if cue.is_higher_better else "lower"}
            for cue in cues
        ],
        "rounds": [{"cue": cue, "left": list(kept)} for cue, kept in rounds],
    }
    if len(left) > 1:
        caveats.append(f"no cue tells {listed(left)} apart; the first is taken, which is a guess")
    sure = deciding[0].validity if len(options) == 2 and len(left) == 1 else None
    summary = f"{left[0]}, by {deciding[-1].name}" if len(left) == 1 else f"{listed(left)} are tied"
    summary += f" (right with {figure(sure)})" if sure is not None else ""
    scores = {name: float(sum(name in kept for _, kept in rounds)) for name in options}
    return Answer(choice(left[0], scores), sure, summary, cut(lines), detail, tuple(caveats))


def _cues(fields: dict[str, Any], options: Mapping[str, Profile], caveats: list[str]) -> list[Cue]:
    """Returns the cues, the most valid first."""
    seen = list(dict.fromkeys(name for profile in options.values() for name in profile))
    rows = fields["cues"] or {name: {"validity": None, "better": None} for name in seen}
    check_size("cues", len(rows), _MOST_CUES, "cues")
    for option, profile in options.items():
        inputs.check_known(f"options.{option}", profile, rows, "cue")
    for name in rows:
        values = [profile[name] for profile in options.values() if name in profile]
        words = [value for value in values if isinstance(value, str)]
        odd = next((value for value in words if value not in (POSITIVE, NEGATIVE)), None)
        if odd is not None:
            raise BadValue(f"options: {name} is {odd[:40]!r}", "write yes, no, unknown or a number")
        if words and len(words) < len(values):
            raise BadValue(f"options: {name} is yes or no for some, and a number for others", "use one of them")
    cues = [Cue(name, row["validity"], row["better"] != "lower") for name, row in rows.items()]
    unknown = [cue.name for cue in cues if cue.validity is None]
    doubtful = [cue.name for cue in cues if cue.validity is not None and cue.validity < 0.5]
    caveats += notes(
        (len(unknown) == len(cues), "no validities were given, so cues are taken in the order given"),
        (0 < len(unknown) < len(cues), f"of unknown validity, and therefore last: {listed(unknown)}"),
        (doubtful, f"wrong more often than right, so better the other way round: {listed(doubtful)}"),
    )
    return sorted(cues, key=lambda cue: (cue.validity is None, -(cue.validity or 0.0)))


def _line(cue: Cue, before: Sequence[str], after: Sequence[str], options: Mapping[str, Profile]) -> str:
    valid = f" (validity {figure(cue.validity)})" if cue.validity is not None else ""
    if after == before:
        return f"{cue.name}{valid}: does not tell them apart"
    values = ((name, options[name].get(cue.name, "?")) for name in before)
    shown = listed([f"{name} {inputs.feature_text(value)}" for name, value in values])
    return f"{cue.name}{valid}: {shown}; left: {listed(after)}"


def prefer(cue: Cue, one: Profile, two: Profile) -> int:
    """Returns 1 if a cue speaks for the first, -1 for the second, 0 if it does not tell them apart. Of yes-or-no cues a
    yes counts against a no and against what is not known, but a no does not count against what is not known."""
    a, b = one.get(cue.name), two.get(cue.name)
    if isinstance(a, float | int) and isinstance(b, float | int):
        found = (a > b) - (b > a)
        return found if cue.is_higher_better else -found
    good = POSITIVE if cue.is_higher_better else NEGATIVE
    return (a == good) - (b == good)
