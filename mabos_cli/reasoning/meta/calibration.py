"""Whether stated confidence matches what came true: Brier score and its parts, tests, and how to read one's own numbers."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, yes_no
from mabos_cli.reasoning.meta.forecasts import (
    Forecast,
    Group,
    Parts,
    Step,
    find_tail,
    fold,
    group_forecasts,
    mean,
    recalibrate,
    score_brier,
    score_log,
    spiegelhalter,
    split_brier,
)
from mabos_cli.reasoning.own import Own
from mabos_cli.reasoning.shape import (
    Shape,
    anything,
    conform,
    list_of,
    optional,
    probability,
    record,
    text,
    truth,
    usual,
    whole,
)
from mabos_cli.reasoning.shares import wilson
from mabos_cli.reasoning.wording import cut

_SURE = 0.05
_NEAR = 0.1  # a gap that stays within this is close enough to call it calibrated
_FEW = 30
_FORECAST = record(
    "a forecast and its outcome",
    confidence=probability("the probability that was stated"),
    happened=truth("whether it came true"),
    method=optional(text("who or what said so"), ""),
)

SHAPE: Shape = record(
    "Delete forecasts to score the agent's own kept results.",
    forecasts=usual(
        list_of(
            anything("a forecast"),
            "what was stated and what came of it, each as [0.8, yes] or with the fields confidence, happened, method;"
            " the agent's own results if left out",
        )
    ),
    bins=optional(whole("into how many groups forecasts are put when they have many different values", 2, 50), 10),
)
QUESTIONS = (
    "Which statements came with a probability, and which of them are settled by now?",
    "Was the probability written down before the outcome was known?",
    "Are all settled ones in the list, or only those that are remembered?",
)


class Scores(NamedTuple):
    """What the forecasts are worth together. `gap` is mean sureness less the share that was right."""

    brier: float
    base: float
    parts: Parts
    skill: float | None
    log_score: float | None
    z: tuple[float, float] | None
    said: float
    right: float
    gap: float
    gap_range: tuple[float, float]
    tail: float


def solve(given: dict[str, Any], own: Own) -> Answer:
    """Whether stated confidence can be taken at its word, and by how much it is off."""
    forecasts = _read(given["forecasts"], own)
    groups = group_forecasts(forecasts, given["bins"])
    scores = _score(forecasts, groups)
    steps = recalibrate(forecasts)
    verdict = _judge(scores, len(forecasts))
    off = "over" if scores.gap > 0 else "under"
    word = {True: "calibrated", False: f"{off}confident", None: "too early to tell"}[verdict]
    if verdict is False and scores.tail > _SURE:
        word = "not calibrated"
    summary = f"{word}: mean confidence {scores.said:.2f}, right in {scores.right:.2f} of {len(forecasts)}; Brier score {scores.brier:.3f}"
    return Answer(
        yes_no(verdict, "stated confidence matches what came true"),
        None,
        summary,
        _steps(scores, groups, steps),
        _detail(forecasts, scores, groups, steps),
        _caveats(forecasts, scores, given["bins"]),
    )


def _read(given: list[Any] | None, own: Own) -> list[Forecast]:
    if given is None:
        found = [
            Forecast(one.confidence, one.happened, one.method)
            for one in own.past
            if one.confidence is not None and one.happened is not None
        ]
        if not found:
            raise BadValue(
                "forecasts: no past result has both a confidence and a known outcome",
                "give forecasts, or record outcomes with `reason outcome`",
            )
        return found
    found = []
    for n, one in enumerate(given, 1):
        if isinstance(one, list):
            if len(one) != 2:
                raise BadValue(f"forecasts[{n}]: must be two values, not {len(one)}", "[confidence, happened]")
            one = {"confidence": one[0], "happened": one[1]}
        read = conform(_FORECAST, one, {}, f"forecasts[{n}]")
        found.append(Forecast(read["confidence"], read["happened"], read["method"]))
    return found


def _score(forecasts: Sequence[Forecast], groups: Sequence[Group]) -> Scores:
    brier, parts, folded = score_brier(forecasts), split_brier(forecasts, groups), fold(forecasts)
    said, hits = mean([one.said for one in folded]), sum(one.happened for one in folded)
    low, high = wilson(hits, len(folded), 0.95)
    return Scores(
        brier,
        mean([one.happened for one in forecasts]),
        parts,
        1 - brier / parts.uncertainty if parts.uncertainty else None,
        score_log(forecasts),
        spiegelhalter(forecasts),
        said,
        hits / len(folded),
        said - hits / len(folded),
        (said - high, said - low),
        find_tail(folded),
    )


def _judge(scores: Scores, count: int) -> bool | None:
    """No if a test says so; yes if there is enough to tell that the gap is small; open otherwise."""
    if scores.tail < _SURE or (scores.z is not None and scores.z[1] < _SURE):
        return False
    is_narrow = scores.gap_range[0] >= -_NEAR and scores.gap_range[1] <= _NEAR
    return True if count >= _FEW and is_narrow else None


def _steps(scores: Scores, groups: Sequence[Group], steps: Sequence[Step]) -> tuple[str, ...]:
    parts = scores.parts
    lines = [
        f"Brier {scores.brier:.3f} = reliability {parts.reliability:.3f} - resolution {parts.resolution:.3f}"
        f" + uncertainty {parts.uncertainty:.3f}"
        + (f" + within groups {parts.within:.3f}" if abs(parts.within) > 5e-4 else "")
    ]
    if scores.skill is not None:
        lines.append(f"skill against always saying {scores.base:.2f}: {scores.skill:+.2f}")
    lines.append(
        f"gap {scores.gap:+.2f} ({scores.gap_range[0]:+.2f} to {scores.gap_range[1]:+.2f}), p {scores.tail:.2g} if calibrated"
        + (f"; Spiegelhalter z {scores.z[0]:.2f}, p {scores.z[1]:.2g}" if scores.z else "")
    )
    lines += cut([f"said {one.said:.2f}: happened in {one.rate:.2f} of {one.count}" for one in groups], 6)
    moved = [one for one in steps if abs((one.low + one.high) / 2 - one.rate) > 0.02]
    lines += cut([f"read {_range(one)} as {one.rate:.2f}" for one in moved], 3)
    return cut(lines)


def _range(one: Step) -> str:
    return f"{one.low:.2f}" if one.low == one.high else f"{one.low:.2f} to {one.high:.2f}"


def _detail(
    forecasts: Sequence[Forecast], scores: Scores, groups: Sequence[Group], steps: Sequence[Step]
) -> dict[str, Any]:
    methods: dict[str, list[Forecast]] = {}
    for one in forecasts:
        methods.setdefault(one.method, []).append(one)
    return {
        "count": len(forecasts),
        "brier": scores.brier,
        "base_rate": scores.base,
        **scores.parts._asdict(),
        "skill": scores.skill,
        "log_score_bits": scores.log_score,
        "spiegelhalter": {"z": scores.z[0], "p": scores.z[1]} if scores.z else None,
        "mean_confidence": scores.said,
        "share_right": scores.right,
        "gap": scores.gap,
        "gap_interval": [*scores.gap_range],
        "gap_p": scores.tail,
        "groups": [one._asdict() for one in groups],
        "recalibration": [one._asdict() for one in steps],
        "methods": {
            name: {
                "count": len(some),
                "brier": score_brier(some),
                "mean_confidence": mean([one.said for one in fold(some)]),
                "share_right": mean([one.happened for one in fold(some)]),
            }
            for name, some in methods.items()
            if name
        },
    }


def _caveats(forecasts: Sequence[Forecast], scores: Scores, bins: int) -> tuple[str, ...]:
    caveats = []
    if len(forecasts) < _FEW:
        caveats.append(
            f"only {plural(len(forecasts), 'forecast')}: only large errors show; the recalibration follows chance too"
        )
    if scores.skill is None:
        caveats.append("all came out the same way: no skill can be told from that")
    if scores.log_score is None:
        caveats.append(
            "something happened that was called impossible, or did not that was called certain: no log score"
        )
    if len({one.said for one in forecasts}) > bins:
        caveats.append(f"grouped into {bins} bins; the parts of the score depend on them")
    if any(one.said < 0.5 for one in forecasts):
        caveats.append("a statement below 0.5 counts as being sure of the opposite")
    return tuple(caveats)
