"""Abduction: what would explain an observation, ranked by how much of it is already known."""

from collections.abc import Iterable
from typing import NamedTuple

from mabos_cli.core.knowledge.backward import goal_from
from mabos_cli.core.knowledge.explaining import Explanation, explain_goal
from mabos_cli.core.knowledge.fact import Fact, Triple
from mabos_cli.core.knowledge.rule import Rule
from mabos_cli.core.knowledge.rule_check import Problem, usable_rules


class Abduction(NamedTuple):
    """Hypotheses for an observation, the best first; `known` are facts that already say it."""

    observation: Triple
    known: tuple[Fact, ...]
    hypotheses: tuple[Explanation, ...]
    problems: tuple[Problem, ...]


def abduce(
    observation: Triple, facts: Iterable[Fact], rules: Iterable[Rule], depth: int = 3, each: int = 5
) -> Abduction:
    """The rules that would conclude an observation, each with what supports it and what must be assumed, to a depth of rules
    that lead to one another; at most `each` ways for a rule. In the observation `*` and ?variables stand for anything."""
    usable, problems = usable_rules(rules, "inference")
    facts = list(facts)
    goal = goal_from(observation)
    known = tuple(fact for fact in facts if all(w in (None, h) for w, h in zip(goal, fact.triple, strict=True)))
    asserted = [fact for fact in facts if not fact.is_derived]
    hypotheses = explain_goal(goal, asserted, usable, max(1, depth), nearest=False, each=each)
    return Abduction(observation, known, hypotheses, tuple(problems))
