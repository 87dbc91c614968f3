"""Extensions of default theories over literals: every way to add as many defaults as go together (Reiter)."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from mabos_cli.core import BadValue

MOST_NODES, _MOST_WORK = 10_000, 1_500_000
Literal = tuple[str, bool]  # an atom, and whether it holds
Literals = frozenset[Literal]


class Strict(NamedTuple):
    """A rule without exceptions: where all of `when` hold, so does `then`."""

    when: Literals
    then: Literal


class Default(NamedTuple):
    """A rule with exceptions: where all of `when` hold and nothing speaks against any of `assuming`, `then` holds."""

    name: str
    when: Literals
    assuming: Literals
    then: Literal
    priority: float


class Extension(NamedTuple):
    """What holds, and by which defaults (their numbers)."""

    literals: Literals
    applied: frozenset[int]


def opposite(literal: Literal) -> Literal:
    """What denies a literal."""
    return literal[0], not literal[1]


class Closure:
    """Strict rules, indexed for closing many sets of literals under them. They are used forward only."""

    def __init__(self, rules: Sequence[Strict]) -> None:
        self.rules = rules
        self.sizes = [len(rule.when) for rule in rules]
        self.waiting: dict[Literal, list[int]] = {}
        for n, rule in enumerate(rules):
            for literal in rule.when:
                self.waiting.setdefault(literal, []).append(n)

    def close(self, literals: Iterable[Literal], without: Collection[int] = ()) -> Literals:
        """The literals with all that follows by the rules, some of them left out by number."""
        missing = [*self.sizes]
        for n in without:
            missing[n] = -1
        found = {*literals, *(self.rules[n].then for n, size in enumerate(missing) if size == 0)}
        queue = [*found]
        while queue:
            for n in self.waiting.get(queue.pop(), ()):
                missing[n] -= 1
                if missing[n] == 0 and self.rules[n].then not in found:
                    found.add(self.rules[n].then)
                    queue.append(self.rules[n].then)
        return frozenset(found)


def close(literals: Iterable[Literal], strict: Sequence[Strict]) -> Literals:
    """The literals with all that follows by strict rules."""
    return Closure(strict).close(literals)


def find_clash(literals: Literals) -> str | None:
    """An atom that holds and does not hold, if there is one; the first by name."""
    return min((atom for atom, holds in literals if holds and (atom, False) in literals), default=None)


def find_extensions(start: Literals, strict: Sequence[Strict], defaults: Sequence[Default]) -> list[Extension]:
    """Every extension of consistent facts. BadValue if there are too many ways to try.

    Defaults that are open are taken up one after the other, and each is either used, or refused for good; a refusal must be
    borne out in the end by something that speaks against the default, and is given up as soon as nothing can.
    """
    found = []
    most = min(MOST_NODES, _MOST_WORK // (1 + len(strict) + len(defaults)))
    rules = Closure(strict)
    # What could follow at best: defaults as if nothing could ever speak against them.
    hopes = Closure([*(Strict(one.when, one.then) for one in defaults), *strict])
    stack = [(rules.close(start), frozenset[int](), frozenset[int]())]
    for _ in range(most):
        if not stack:
            return found
        literals, applied, refused = stack.pop()
        if find_clash(literals) is not None or any(_is_blocked(defaults[n], literals) for n in applied):
            continue
        unborne = [n for n in refused if not _is_blocked(defaults[n], literals)]
        if unborne:
            reachable = hopes.close(literals, refused)
            if not all(_is_blocked(defaults[n], reachable) for n in unborne):
                continue
        number = next(_active(literals, applied | refused, defaults), None)
        if number is not None:
            stack.append((literals, applied, refused | {number}))
            stack.append((rules.close(literals | {defaults[number].then}), applied | {number}, refused))
        elif not unborne:
            found.append(Extension(literals, applied))
    raise BadValue(f"defaults: more than {most:,} combinations to try", "give fewer defaults that oppose each other")


def _is_blocked(default: Default, literals: Literals) -> bool:
    return any(opposite(literal) in literals for literal in default.assuming)


def _active(literals: Literals, done: frozenset[int], defaults: Sequence[Default]) -> Iterator[int]:
    """The defaults that could be used now."""
    for n, default in enumerate(defaults):
        if n not in done and default.when <= literals and not _is_blocked(default, literals):
            yield n


def is_preferred(extension: Extension, start: Literals, strict: Sequence[Strict], defaults: Sequence[Default]) -> bool:
    """Whether an extension comes about by always using a default of the highest priority among those that could be used
    (Brewka; Baader and Hollunder)."""
    rules = Closure(strict)
    seen: set[frozenset[int]] = set()
    stack: list[tuple[Literals, frozenset[int]]] = [(rules.close(start), frozenset())]
    while stack:
        literals, applied = stack.pop()
        active = [*_active(literals, applied, defaults)]
        if not active:
            return True
        top = max(defaults[n].priority for n in active)
        for n in active:
            more = applied | {n}
            if defaults[n].priority == top and n in extension.applied and more not in seen:
                seen.add(more)
                if len(seen) > MOST_NODES:
                    raise BadValue(f"defaults: more than {MOST_NODES:,} orders to try", "give fewer priorities")
                stack.append((rules.close(literals | {defaults[n].then}), more))
    return False
