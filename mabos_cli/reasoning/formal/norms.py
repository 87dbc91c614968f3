"""Norms in force: which defeat which, what an action's status is, and what was violated."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import NamedTuple

OBLIGATORY, FORBIDDEN, PERMITTED, OPTIONAL = "obligatory", "forbidden", "permitted", "optional"
CONFLICT, UNREGULATED = "conflict", "unregulated"
# What each says of leaving the action undone.
DENIED = {OBLIGATORY: FORBIDDEN, FORBIDDEN: OBLIGATORY, PERMITTED: OPTIONAL, OPTIONAL: PERMITTED}
# Which cannot stand together over one action. What is obligatory is permitted as well, so those two can.
_CLASHES = ({OBLIGATORY, FORBIDDEN}, {PERMITTED, FORBIDDEN}, {OPTIONAL, OBLIGATORY})


class Norm(NamedTuple):
    """A norm that applies: what it says of an action, under which conditions, and which norm's violation calls for it.
    `optional` means that the action may be left undone."""

    id: str
    modality: str
    action: str
    conditions: frozenset[str] = frozenset()
    priority: float = 0.0
    deadline: datetime | None = None
    after: str = ""
    bindings: tuple[tuple[str, str], ...] = ()  # what its variables stand for


class Clash(NamedTuple):
    """Two norms that cannot both be followed; the winner and why, or none."""

    one: Norm
    two: Norm
    winner: Norm | None
    why: str


class Done(NamedTuple):
    """What was done, what can no longer be done, and the time."""

    done: Collection[str]
    undone: Collection[str]
    now: datetime | None


class Ruling(NamedTuple):
    """The norms that stand, the clashes among all, and the violations with a reason each."""

    standing: tuple[Norm, ...]
    clashes: tuple[Clash, ...]
    violations: tuple[tuple[Norm, str], ...]


def rule_on(
    norms: Sequence[Norm], exclusive: Sequence[frozenset[str]], state: Done, levels: Mapping[str, int]
) -> Ruling:
    """What stands when norms that repair a violation join level by level. A violation stays one, whatever its repair says."""
    clashes = [_judge(one, two) for one, two in combinations(norms, 2) if _do_clash(one, two, exclusive)]
    violations: dict[Norm, str] = {}
    standing: tuple[Norm, ...] = ()
    for level in range(max(levels.values(), default=0) + 1):
        known = [norm for norm in norms if levels[norm.id] <= level and _is_called(norm, violations)]
        standing = _resolve(known, clashes)
        for norm in standing:
            why = find_violation(norm, state)
            if levels[norm.id] == level and why:
                violations[norm] = why
    called = {*known}
    met = tuple(clash for clash in clashes if clash.one in called and clash.two in called)
    return Ruling(standing, met, tuple(violations.items()))


def _is_called(norm: Norm, violations: Iterable[Norm]) -> bool:
    """Whether a norm needs no violation, or that of the norm it follows is there, of the same things."""
    if not norm.after:
        return True
    mine = dict(norm.bindings)
    return any(
        one.id == norm.after and all(mine.get(name, value) == value for name, value in one.bindings)
        for one in violations
    )


def _resolve(norms: Sequence[Norm], clashes: Sequence[Clash]) -> tuple[Norm, ...]:
    """The norms that no standing norm defeats. Who defeats whom is an order, so a norm's fate depends on stronger ones only."""
    beaten_by: dict[Norm, list[Norm]] = {}
    for clash in clashes:
        if clash.winner is not None:
            loser = clash.two if clash.winner is clash.one else clash.one
            beaten_by.setdefault(loser, []).append(clash.winner)
    stands: dict[Norm, bool] = {}
    for norm in sorted(norms, key=lambda norm: (-norm.priority, -len(norm.conditions))):
        stands[norm] = not any(stands.get(stronger) for stronger in beaten_by.get(norm, ()))
    return tuple(norm for norm in norms if stands[norm])


def _do_clash(one: Norm, two: Norm, exclusive: Sequence[frozenset[str]]) -> bool:
    if one.action == two.action:
        return {one.modality, two.modality} in _CLASHES
    both = one.modality == two.modality == OBLIGATORY
    return both and any(one.action in group and two.action in group for group in exclusive)


def _judge(one: Norm, two: Norm) -> Clash:
    """The higher priority wins, then the norm with all conditions of the other and more."""
    if one.priority != two.priority:
        winner = one if one.priority > two.priority else two
        return Clash(one, two, winner, f"priority {winner.priority:g}")
    if one.conditions != two.conditions and (one.conditions <= two.conditions or two.conditions <= one.conditions):
        return Clash(one, two, one if one.conditions > two.conditions else two, "more specific")
    return Clash(one, two, None, "equal priority, and neither is more specific")


def find_violation(norm: Norm, state: Done) -> str:
    """How a norm that stands was violated; empty if it was not."""
    if norm.modality == FORBIDDEN and norm.action in state.done:
        return "done although forbidden"
    if norm.modality != OBLIGATORY or norm.action in state.done:
        return ""
    if norm.action in state.undone:
        return "not done"
    is_late = norm.deadline is not None and state.now is not None and state.now > norm.deadline
    return f"not done by {norm.deadline:%Y-%m-%d %H:%M}" if is_late else ""


def status_of(action: str, ruling: Ruling, is_denied: bool = False) -> str:
    """What the norms that stand say of an action, or of leaving it undone."""
    told = {norm.modality for norm in ruling.standing if norm.action == action}
    told = {DENIED[one] for one in told} if is_denied else told
    open_clashes = [clash for clash in open_conflicts(ruling) if action in (clash.one.action, clash.two.action)]
    if open_clashes:
        return CONFLICT
    return next((one for one in (OBLIGATORY, FORBIDDEN, PERMITTED, OPTIONAL) if one in told), UNREGULATED)


def open_conflicts(ruling: Ruling) -> list[Clash]:
    """The clashes that nothing resolves, between norms that both stand."""
    standing = {*ruling.standing}
    return [c for c in ruling.clashes if c.winner is None and c.one in standing and c.two in standing]


def find_levels(after: Mapping[str, str]) -> dict[str, int] | tuple[str, ...]:
    """How many violations must come before each norm; or the norms that wait for each other in a ring."""
    levels: dict[str, int] = {}
    for name in after:
        path: list[str] = []
        while name not in levels and after[name]:
            if name in path:
                return (*path[path.index(name) :], name)
            path.append(name)
            name = after[name]
        base = levels.setdefault(name, 0)
        for n, one in enumerate(reversed(path), 1):
            levels[one] = base + n
    return levels


def actions_of(norms: Iterable[Norm]) -> tuple[str, ...]:
    """The actions that norms speak of, in order."""
    return tuple(dict.fromkeys(norm.action for norm in norms))
