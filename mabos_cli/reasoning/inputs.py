"""Defines what a method takes besides its structured input: the agent's data, and checks that several methods make."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.case_similarity import Weights
from mabos_cli.core.knowledge.entailment import PREFIX
from mabos_cli.core.knowledge.fact import Fact, holds_at
from mabos_cli.core.knowledge.matching import JoinLimit, match
from mabos_cli.core.knowledge.relations import FactIndex
from mabos_cli.core.knowledge.rule import Pattern, Rule, check_rule
from mabos_cli.reasoning.answer import suggest_name
from mabos_cli.reasoning.shape import TRUTHS, find_number

Feature = float | str
_UNKNOWN = ("", "?", "unknown")
# Larger figures would overflow in sums and products; no price, load or count comes near.
LARGEST = 1e15
_TOLERANCE = 1e-6


def known_name(path: str, name: str, known: Collection[str], noun: str = "name") -> str:
    """Returns the name, if it is a known one; BadValue says what was probably meant."""
    if name in known:
        return name
    shown = ", ".join(list(known)[:12]) + (", ..." if len(known) > 12 else "")
    raise BadValue(f"{path}: unknown {noun} {name[:60]!r}", suggest_name(name, known, f"known: {shown or 'none'}"))


def check_known(path: str, names: Iterable[str], known: Collection[str], noun: str = "name") -> None:
    """Raises BadValue unless all names are known and none occurs twice."""
    seen: set[str] = set()
    for name in names:
        known_name(path, name, known, noun)
        if name in seen:
            raise BadValue(f"{path}: {name!r} occurs twice", "keep one of them")
        seen.add(name)


def check_same(path: str, names: Collection[str], known: Collection[str], noun: str = "name") -> None:
    """Raises BadValue unless the names are exactly the known ones."""
    check_known(path, names, known, noun)
    missing = [name for name in known if name not in names]
    if missing:
        raise BadValue(f"{path}: {', '.join(missing[:6])} is missing", f"give a value for each {noun}")


def sum_to_one(path: str, shares: Mapping[str, float]) -> dict[str, float]:
    """Returns the shares, which must sum to 1; what rounding left over is spread."""
    total = math.fsum(shares.values())
    if abs(total - 1) > _TOLERANCE:
        raise BadValue(f"{path}: probabilities must sum to 1, not {total:.6g}", "change them so that they do")
    if abs(total - 1) < 1e-12:
        return dict(shares)
    return {name: share / total for name, share in shares.items()}


def parse_feature(value: Any, where: str) -> Feature | None:
    """Returns the value as a number or a word; None for unknown. yes, true and y are one word, so are no, false and n.

    >>> parse_feature("12 %", "share"), parse_feature(True, "paid"), parse_feature(" red ", "colour"), parse_feature("?", "age")
    (0.12, 'yes', 'red', None)
    """
    number = find_number(value)
    if number is not None:
        if not math.isfinite(number) or abs(number) > LARGEST:
            raise BadValue(f"{where}: must be a number of at most {LARGEST:g}", "use a larger unit")
        return number
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, str | None):
        raise BadValue(f"{where}: must be a number or a word", "give one value")
    text = (value or "").strip()
    truth = TRUTHS.get(text.lower())
    return None if text.lower() in _UNKNOWN else text if truth is None else "yes" if truth else "no"


def parse_features(values: Mapping[str, Any], where: str) -> dict[str, Feature]:
    """Returns the features that are known, by name."""
    found = {name: parse_feature(value, f"{where}.{name}") for name, value in values.items()}
    return {name: value for name, value in found.items() if value is not None}


def feature_text(value: Feature) -> str:
    """Returns a value in a text."""
    return value if isinstance(value, str) else f"{value:g}"


class AgentData:
    """The agent's part of a problem. `used` counts the entries of each part that the method asked for: parts that it did not read are not listed."""

    def __init__(
        self,
        now: datetime | None = None,
        chance: Callable[[int], Any] | None = None,  # a random.Random for a seed
        weights: Weights = Weights(),
        **parts: tuple[Any, ...],
    ) -> None:
        self.now, self.chance, self.weights, self._parts = now, chance, weights, parts
        self.used: dict[str, int] = {}

    def take(self, name: str) -> tuple[Any, ...]:
        """Returns one part: facts and rules that hold now, trusted cases, beliefs and desires by id or in words, past results. What
        ontologies entail counts as no rule of the agent's."""
        values = self._parts.get(name, ())
        self.used[name] = sum(not (name == "rules" and one.id.startswith(PREFIX)) for one in values)
        return values


def known_facts(fields: Mapping[str, Any], agent: AgentData) -> tuple[list[Fact], tuple[str, ...]]:
    """Returns the facts that hold now, and a caveat if some do not."""
    facts = agent.take("facts") if fields["facts"] is None else fields["facts"]
    if agent.now is None:
        return [*facts], ()
    held = [fact for fact in facts if holds_at(fact, agent.now)]
    gone = len(facts) - len(held)
    return held, (f"{gone} of {len(facts)} facts do not hold now and were left out",) if gone else ()


def known_rules(fields: Mapping[str, Any], agent: AgentData) -> tuple[Rule, ...]:
    """Returns the rules of the input, or the agent's own."""
    return agent.take("rules") if fields["rules"] is None else tuple(fields["rules"])


def find_ways(conditions: Sequence[Pattern], index: FactIndex, where: str, example: str) -> list[dict[str, str]]:
    """Returns the values of the variables for each way in which conditions hold, each once."""
    problems = check_rule(Rule(where, where, "constraint", tuple(conditions)))
    if problems:
        raise BadValue(f"{where}: {problems[0]}", f"write: {example}")
    try:
        found = dict.fromkeys(one.bindings for one in match(conditions, index))
    except JoinLimit:
        raise BadValue(f"{where}: joins facts in too many ways", "use fewer conditions or facts") from None
    return [dict(bindings) for bindings in found]
