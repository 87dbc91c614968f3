"""Possible worlds: which ones see which, what is true where, and the conditions that make a relation one of knowledge, time or duty.

A set of worlds is a whole number with a bit for each."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from mabos_cli.reasoning.bit_sets import bits
from mabos_cli.reasoning.formal.formula import Formula

Relation = tuple[int, ...]  # for each world, the worlds that it sees
CONDITIONS = ("reflexive", "serial", "symmetric", "transitive", "euclidean")
SYSTEMS = {
    "K": (),
    "D": ("serial",),
    "T": ("reflexive",),
    "KB": ("symmetric",),
    "B": ("reflexive", "symmetric"),
    "K4": ("transitive",),
    "D4": ("serial", "transitive"),
    "S4": ("reflexive", "transitive"),
    "K45": ("transitive", "euclidean"),
    "KD45": ("serial", "transitive", "euclidean"),
    "S5": ("reflexive", "symmetric", "transitive"),
}


class Model(NamedTuple):
    """Worlds, the atoms that hold in each, and a relation for each modality."""

    worlds: tuple[str, ...]
    atoms: Mapping[str, int]  # the worlds where it holds
    relations: Mapping[str, Relation]

    @property
    def everywhere(self) -> int:
        return (1 << len(self.worlds)) - 1

    def names(self, where: int) -> tuple[str, ...]:
        """The worlds of a set."""
        return tuple(name for n, name in enumerate(self.worlds) if where >> n & 1)


def evaluate(
    formula: Formula,
    full: int,
    atom: Callable[[str], int],
    box: Callable[[Formula, int], int],
    known: dict[Formula, int],
) -> int:
    """The worlds where a formula holds. `box` says it for a box, given where its body holds."""
    if formula in known:
        return known[formula]
    sides = [evaluate(part, full, atom, box, known) for part in formula.parts]
    if formula.op in ("box", "diamond"):
        where = box(formula, sides[0])
    else:
        where = atom(formula.name) if formula.op == "atom" else _combine(formula.op, full, sides)
    known[formula] = where
    return where


def _combine(op: str, full: int, sides: list[int]) -> int:
    if op in ("true", "false"):
        return full if op == "true" else 0
    if op == "not":
        return full & ~sides[0]
    left, right = sides
    if op == "and":
        return left & right
    if op == "or":
        return left | right
    return (full & ~left) | right if op == "implies" else full & ~(left ^ right)


def where_true(model: Model, formula: Formula, known: dict[Formula, int] | None = None) -> int:
    """The worlds of a model where a formula holds: a box where all worlds in sight fulfil its body, a diamond where one does."""

    def box(part: Formula, body: int) -> int:
        seen = model.relations[part.name]
        if part.op == "diamond":
            return sum(1 << n for n, sees in enumerate(seen) if sees & body)
        return sum(1 << n for n, sees in enumerate(seen) if not sees & ~body)

    return evaluate(formula, model.everywhere, model.atoms.__getitem__, box, {} if known is None else known)


def closed(relation: Relation, conditions: Iterable[str]) -> Relation:
    """The smallest relation above this one that fulfils the conditions. Serial is none that can be closed under: no world
    says which other one it should see."""
    wanted, seen = {*conditions}, list(relation)
    if "reflexive" in wanted:
        seen = [sees | 1 << n for n, sees in enumerate(seen)]
    while True:
        before = tuple(seen)
        if "symmetric" in wanted:
            for n in range(len(seen)):
                for other in bits(seen[n]):
                    seen[other] |= 1 << n
        if "transitive" in wanted:
            for middle in range(len(seen)):
                seen = [sees | seen[middle] if sees >> middle & 1 else sees for sees in seen]
        if "euclidean" in wanted:
            for n in range(len(seen)):
                for other in bits(seen[n]):
                    seen[other] |= seen[n]
        if tuple(seen) == before:
            return before


def find_flaw(relation: Relation, condition: str) -> tuple[int, ...] | None:
    """The first worlds that break a condition, or None: w for no sight of itself or of any, (u, v) where only one sees the
    other, (u, v, w) where the pair from u by v to w is missing, or from v to w although u sees both."""
    for n, sees in enumerate(relation):
        if (condition == "reflexive" and not sees >> n & 1) or (condition == "serial" and not sees):
            return (n,)
        for other in bits(sees):
            if condition == "symmetric" and not relation[other] >> n & 1:
                return (n, other)
            lacking = relation[other] & ~sees if condition == "transitive" else sees & ~relation[other]
            if condition in ("transitive", "euclidean") and lacking:
                return (n, other, next(iter(bits(lacking))))
    return None
