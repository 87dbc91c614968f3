"""Decides whether and how strongly one thing causes another: what to adjust for, and the effect in the data."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, cut, figure, listed, notes, quantity, yes_no
from mabos_cli.reasoning.causal import causal_graph
from mabos_cli.reasoning.causal.identify import Hedge, Observed, Term, identify, render
from mabos_cli.reasoning.inputs import AgentData, check_known, known_name
from mabos_cli.reasoning.network import Row, parse_rows, state_name

_MOST_SETS = 20


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the effect, if the data show it, or else whether data could show it at all."""
    graph = causal_graph.parse_graph(fields["graph"], fields["hidden"])
    cause, effect = fields["treatment"], fields["outcome"]
    for field in ("treatment", "outcome"):
        known_name(field, fields[field], graph.parents, "variable")
        if fields[field] in graph.hidden:
            raise BadValue(f"{field}: {fields[field]!r} is hidden", "a cause and an effect must be measured")
    if cause == effect:
        raise BadValue("outcome: is the treatment itself", "name two variables")
    sets, are_all = causal_graph.find_back_doors(graph, cause, effect)
    formula = identify(graph, cause, effect)
    estimand = ""
    if not isinstance(formula, Hedge):
        estimand = f"P({effect} | do {cause}) = {render(formula, cause, effect)}"
    reaches = effect in graph.below([cause])
    if not reaches:
        verdict = f"{cause} has no effect on {effect}: no causal path leads there"
    elif sets:
        by = listed(sets[0])
        verdict = f"adjust for {by}" if by else f"nothing confounds {cause} and {effect}: compare as they are"
    elif estimand:
        verdict = f"no measured set closes the back door, but the formula {estimand} gives the effect"
    else:
        differ = "models that agree on everything measured differ in it"
        verdict = f"the effect of {cause} on {effect} is not identifiable: {differ}"
    caveats = notes(
        (True, "All of it holds only if the graph is right; arrows that are left out are the strongest claims."),
        (not are_all, "The graph is large: one set to adjust for is given, others may exist."),
    )
    hedge = formula._asdict() if isinstance(formula, Hedge) else None
    detail: dict[str, Any] = {"is_identified": bool(estimand), "estimand": estimand or None, "hedge": hedge}
    detail |= {"back_door": [list(chosen) for chosen in sets]}
    lines, rows = _graph_lines(sets, formula, estimand), parse_rows(fields["data"])
    if not rows:
        conclusion = yes_no(bool(estimand), f"the effect of {cause} on {effect} can be told from observation")
        return Answer(conclusion, None, verdict, cut(lines), detail, caveats)
    aim, ways = _aim(rows, fields), [*sets[:_MOST_SETS], *([formula] if reaches and estimand and not sets else [])]
    return _measure(
        rows, aim, ways, Answer(yes_no(bool(estimand)), None, verdict, tuple(lines), detail, caveats), reaches
    )


def _graph_lines(sets: Sequence[tuple[str, ...]], formula: Term | Hedge, estimand: str) -> list[str]:
    lines = [f"back door closed by: {listed(chosen) or 'nothing, it is not open'}" for chosen in sets[:3]]
    if len(sets) > 3:
        lines.append(f"... and {len(sets) - 3} more sets")
    if isinstance(formula, Hedge):
        outer, inner = (listed(part) for part in formula)
        lines.append(f"hidden common causes link {outer}, and all of these act on {inner} (a hedge)")
    elif not sets:
        lines.append("no measured set closes the back door")
    return [*lines, *notes((estimand, f"formula: {estimand}"))]


class Aim(NamedTuple):
    """The question to the data: how likely a value of the effect is when the cause has one value or the other."""

    cause: str
    effect: str
    success: str
    settings: tuple[str, str]  # with the treatment, and without


def _aim(rows: Sequence[Row], fields: dict[str, Any]) -> Aim:
    columns = tuple(rows[0][0])
    for field in ("treatment", "outcome"):
        known_name("data", fields[field], columns, "variable")
    cause, effect = fields["treatment"], fields["outcome"]
    values = tuple(dict.fromkeys(cells[cause] for cells, count in rows if count))
    results = tuple(dict.fromkeys(cells[effect] for cells, _ in rows))
    default = ("yes", "no") if {"yes", "no"} <= set(values) else values[:2]
    settings = tuple(map(state_name, fields["compare"] or default))
    if len(settings) != 2 or len(values) < 2:
        raise BadValue("compare: needs two values of the treatment", f"seen: {listed(values)}")
    check_known("compare", settings, values, "value")
    success = state_name(fields["success"] or ("yes" if "yes" in results else results[0]))
    return Aim(cause, effect, known_name("success", success, results, "value"), settings)


def _measure(rows: Sequence[Row], aim: Aim, ways: Sequence[Any], by_graph: Answer, reaches: bool) -> Answer:
    """Returns the effect in the data, by each set to adjust for or by the formula, beside what the graph alone says."""
    crude, verdict = adjust(rows, aim, ()), by_graph.summary
    caveats = [*by_graph.caveats]
    estimates = _estimates(rows, aim, ways, caveats)
    detail = {**by_graph.detail, "compare": list(aim.settings), "success": aim.success, "crude": crude.figures}
    detail["effects"] = [{"by": how, **one.figures} for how, one in estimates]
    what, seen = f"P({aim.effect}={aim.success})", f"as seen {figure(crude.effect, '+')}"
    steps = [f"as seen: {what} {crude.shown(aim)}, difference {figure(crude.effect, '+')}", *by_graph.steps]
    about = f"effect of {aim.cause} on {aim.effect}"
    if not reaches:
        caveats.append("By the graph the effect is 0: what differs comes by chance or from common causes.")
    if not estimates and not reaches:
        conclusion = quantity(0.0, about=about)
        return Answer(conclusion, None, f"{verdict}; {seen}", cut(steps), detail, tuple(caveats))
    if not estimates:
        why = "these data do not give the effect" if by_graph.conclusion.value else verdict
        conclusion = yes_no(False, f"the {about} can be told from these data")
        return Answer(conclusion, None, f"{why}; {seen}", cut(steps), detail, tuple(caveats))
    for by, one in estimates[:4]:
        span = f", 95 % interval {' to '.join(figure(end, '+') for end in one.interval)}" if one.interval else ""
        steps.append(f"{by}: {one.shown(aim)}, effect {figure(one.effect, '+')}{span}")
    how, best = estimates[0]
    if max(one.effect for _, one in estimates) - min(one.effect for _, one in estimates) > 0.05:
        caveats.append("Sets that should agree give different effects: the graph does not fit the data.")
    if crude.effect * best.effect < 0:
        caveats.append("The adjusted effect has the opposite sign of the plain difference (Simpson's paradox).")
    against = f"effect of {aim.cause}={aim.settings[0]} against {aim.settings[1]} on {what}"
    summary = f"{against}: {figure(best.effect, '+')} ({how}), {seen}"
    return Answer(quantity(best.effect, best.interval, about=about), None, summary, cut(steps), detail, tuple(caveats))


class Estimate(NamedTuple):
    """The chance of success with and without the treatment, and the variance of their difference if counts tell it."""

    chances: tuple[float, float]
    variance: float | None = None

    @property
    def effect(self) -> float:
        return self.chances[0] - self.chances[1]

    @property
    def interval(self) -> tuple[float, float] | None:
        """Returns where the effect lies in nineteen of twenty samples."""
        if self.variance is None:
            return None
        reach = 1.96 * math.sqrt(self.variance)
        return max(-1.0, self.effect - reach), min(1.0, self.effect + reach)

    @property
    def figures(self) -> dict[str, Any]:
        interval = list(self.interval) if self.interval else None
        return {"with": self.chances[0], "without": self.chances[1], "effect": self.effect, "interval": interval}

    def shown(self, aim: Aim) -> str:
        first, second = aim.settings
        return f"{figure(self.chances[0])} with {aim.cause}={first}, {figure(self.chances[1])} with {second}"


def _estimates(rows: Sequence[Row], aim: Aim, ways: Sequence[Any], caveats: list[str]) -> list[tuple[str, Estimate]]:
    """Returns the effect by every set that the data cover, or by the formula; what they do not cover is said."""
    done = []
    for way in ways:
        is_set = isinstance(way, tuple) and not isinstance(way, Term)
        how = f"adjusted for {listed(way) or 'nothing'}" if is_set else "by the formula"
        missing = [name for name in way if name not in rows[0][0]] if is_set else []
        if missing:
            caveats.append(f"{how}: the data lack {listed(missing)}.")
            continue
        try:
            done.append((how, adjust(rows, aim, way) if is_set else by_formula(rows, aim, way)))
        except BadValue as error:
            caveats.append(f"{how}: {error.message.removeprefix('data: ')}.")
    return done


def adjust(rows: Sequence[Row], aim: Aim, by: Sequence[str]) -> Estimate:
    """Returns the effect within each stratum of some variables, averaged over the strata as they occur in everybody.
    Without variables it is the plain difference."""
    strata: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        strata[tuple(row[0][name] for name in by)].append(row)
    total = _weight(rows)
    chances, variance = [0.0, 0.0], 0.0
    for key, inside in strata.items():
        share = _weight(inside) / total
        if not share:
            continue
        for side, setting in enumerate(aim.settings):
            treated = [row for row in inside if row[0][aim.cause] == setting]
            count = _weight(treated)
            if not count:
                where = listed([f"{name}={state}" for name, state in zip(by, key, strict=True)])
                among = f" among {where}" if where else ""
                hint = "without them their effect is unknown; leave this group out"
                raise BadValue(f"data: no row has {aim.cause}={setting}{among}", hint)
            hits = _weight(treated, (aim.effect, aim.success))
            chances[side] += share * hits / count
            # All of three or none of three do not make it certain: the rule of succession says how far they do.
            chance = hits / count if 0 < hits < count else (hits + 1) / (count + 2)
            variance += share**2 * chance * (1 - chance) / count
    # Shares say nothing about how many were seen.
    counted = all(count == int(count) for _, count in rows) and total > 1
    return Estimate((chances[0], chances[1]), variance if counted else None)


def by_formula(rows: Sequence[Row], aim: Aim, formula: Term) -> Estimate:
    """Returns the effect by the formula in what was observed."""
    observed = Observed(rows)
    first, second = (observed.value(formula, {aim.cause: one, aim.effect: aim.success}) for one in aim.settings)
    return Estimate((first, second))


def _weight(rows: Sequence[Row], wanted: tuple[str, str] | None = None) -> float:
    """Returns how often rows were seen, or those with a value of a variable."""
    return sum(count for cells, count in rows if wanted is None or cells[wanted[0]] == wanted[1])
