"""Norms as they are written, applied to a situation: one norm for each way in which its conditions hold."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.explaining import fill_pattern
from mabos_cli.core.knowledge.joins import FactIndex, JoinLimit, fill, match
from mabos_cli.core.knowledge.rule import Pattern, Rule, check_rule, pattern_text, usable_rules
from mabos_cli.core.language.clock import find_time
from mabos_cli.reasoning.formal.norms import DENIED, OBLIGATORY, Norm
from mabos_cli.reasoning.input_checks import check_size

MOST_APPLYING = 1000
_NOT = re.compile(r"^not\s+", re.IGNORECASE)
Bindings = tuple[tuple[str, str], ...]


class World(NamedTuple):
    """What norms are applied to: flags that hold or do not, and facts."""

    context: Mapping[str, bool]
    index: FactIndex


def policy_norms(rules: Iterable[Rule]) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Policies as obligations, and what keeps others from being used."""
    usable, problems = usable_rules(rules, "policy")
    empty = {"if": [], "unless": [], "except_where": [], "priority": 0.0, "deadline": None, "after": ""}
    rows = [
        {"id": rule.id, "modality": OBLIGATORY, "action": rule.action, "where": [*rule.conditions], **empty}
        for rule in usable
    ]
    return rows, tuple(f"{one.rule_id} was not used: {one.reason}" for one in problems)


def flag_name(flag: str) -> str:
    """The flag without its denial."""
    return _NOT.sub("", flag)


def _holds(flag: str, context: Mapping[str, bool]) -> bool:
    return context.get(flag_name(flag), False) != bool(_NOT.match(flag))


def apply_norm(row: Mapping[str, Any], where: str, world: World) -> list[Norm]:
    """The norm for each way in which its conditions hold and no exception does."""
    deadline = _deadline(row["deadline"], where)
    if not all(_holds(flag, world.context) for flag in row["if"]):
        return []
    if any(_holds(flag, world.context) for flag in row["unless"]):
        return []
    ways = _ways(row["where"], f"{where}.where", world) if row["where"] else [()]
    check_size(f"{where}.where", len(ways), MOST_APPLYING, "matches")
    exceptions = _ways(row["except_where"], f"{where}.except_where", world) if row["except_where"] else []
    found = []
    for bindings in ways:
        values = dict(bindings)
        if any(all(values.get(name, value) == value for name, value in one) for one in exceptions):
            continue
        filled = (pattern_text(fill_pattern(one, values)) for one in row["where"])
        modality, action = plain_norm(row["modality"], fill(row["action"], bindings))
        conditions = frozenset((*row["if"], *filled))
        found.append(Norm(row["id"], modality, action, conditions, row["priority"], deadline, row["after"], bindings))
    return found


def _ways(conditions: Sequence[Pattern], where: str, world: World) -> list[Bindings]:
    problems = check_rule(Rule(where, where, "constraint", tuple(conditions)))
    if problems:
        raise BadValue(f"{where}: {problems[0]}", "write: ?x isA contractor")
    try:
        return [*dict.fromkeys(one.bindings for one in match(tuple(conditions), world.index))]
    except JoinLimit:
        raise BadValue(f"{where}: joins facts in too many ways", "use fewer conditions or facts") from None


def plain_norm(modality: str, action: str) -> tuple[str, str]:
    """The same of the action itself: to be obliged not to do it is to be forbidden to."""
    while denied := _NOT.match(action):
        modality, action = DENIED[modality], action[denied.end() :]
    return modality, action


def _deadline(said: str | None, where: str) -> datetime | None:
    """The last moment; a day is there to its end."""
    if said is None:
        return None
    found = find_time(said)
    if found is None:
        hint = "write 2026-03-31 or 2026-03-31T17:00:00Z"
        raise BadValue(f"{where}.deadline: {said[:40]!r} is no date", hint)
    return found + timedelta(days=1, microseconds=-1) if len(said) <= 10 else found
