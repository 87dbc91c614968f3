"""How goals hang together: which is part of which, and what stands behind each, from whichever side a link is written."""

from collections.abc import Sequence
from typing import NamedTuple

from mabos_cli.core.mind.mind import LEVELS, Attitude, Belief

_DEEPEST = 50


class Branch(NamedTuple):
    """A goal with what motivates, serves and supports it, by name, and the goals below it."""

    goal: Attitude
    desires: tuple[str, ...]
    plans: tuple[str, ...]
    beliefs: tuple[str, ...]
    below: tuple["Branch", ...]
    is_root: bool


def build_tree(
    goals: Sequence[Attitude], desires: Sequence[Attitude], plans: Sequence[Attitude], beliefs: Sequence[Belief]
) -> list[Branch]:
    """The goals that are part of no other one here, strategic ones first, each with all below it. Goals that are part of
    each other in a ring, or lie too deep to be drawn, stand at the top, once."""
    known = {goal.id: goal for goal in goals if goal.id}
    below: dict[str, list[Attitude]] = {}
    for goal in goals:
        for parent in [each for each in goal.linked("parent") if each in known][:1]:
            below.setdefault(parent, []).append(goal)
    links = (_behind(desires, "motivates"), _behind(plans, "goal"), _supporting(beliefs))
    seen: set[int] = set()

    def branch(goal: Attitude, depth: int = 0) -> Branch:
        seen.add(goal.line)
        children = below.get(goal.id, ()) if depth < _DEEPEST else ()
        under = tuple(branch(each, depth + 1) for each in children if each.line not in seen)
        desires, plans = (
            tuple(dict.fromkeys((*goal.linked(kind), *links[n].get(goal.id, ()))))
            for n, kind in enumerate(("desire", "requires"))
        )
        return Branch(goal, desires, plans, tuple(links[2].get(goal.id, ())), under, not depth)

    tops = [goal for goal in goals if not any(parent in known for parent in goal.linked("parent"))]
    found = [branch(goal) for goal in sorted(tops, key=_rank)]
    return found + [branch(goal) for goal in goals if goal.line not in seen]


def _rank(goal: Attitude) -> int:
    return LEVELS.index(goal.level) if goal.level in LEVELS else len(LEVELS)


def _behind(attitudes: Sequence[Attitude], link: str) -> dict[str, list[str]]:
    """Names of what leads to a goal, by goal."""
    found: dict[str, list[str]] = {}
    for each in attitudes:
        for goal in each.linked(link):
            found.setdefault(goal, []).append(each.name)
    return found


def _supporting(beliefs: Sequence[Belief]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for belief in beliefs:
        for goal in belief.supports:
            found.setdefault(goal, []).append(belief.id or belief.subject)
    return found
