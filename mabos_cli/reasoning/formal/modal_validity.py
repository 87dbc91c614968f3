"""Whether a modal formula holds in all models of a system, decided exactly, with a model against it if it does not.

A type says for each atom and each box within the formula whether it holds in a world. Of all types, those are dropped in which a
box fails and no remaining type that they can see shows why, until none is dropped. What remains is a model that contains every
world of every model of the system, so the formula can be true somewhere if and only if it is true in one of the types."""

from collections.abc import Iterator

from mabos_cli.core import BadValue
from mabos_cli.reasoning.bit_sets import bits
from mabos_cli.reasoning.formal.formula import Formula, negation, parts_of, without_diamonds
from mabos_cli.reasoning.formal.kripke import SYSTEMS, Model, Relation, closed, evaluate

MOST = 14  # atoms and boxes together: types are two to that power


def find_model(formula: Formula, system: str) -> Model | None:
    """A model whose first world fulfils the formula, or None if no model of the system does."""
    types = _Types(without_diamonds(formula), SYSTEMS[system])
    return types.model() if types.alive & types.goal else None


def find_counter_model(formula: Formula, system: str) -> Model | None:
    """A model whose first world does not fulfil the formula, or None if the formula is valid in the system."""
    return find_model(negation(formula), system)


class _Types:
    """The types of a formula as bits of whole numbers: a column has a bit for each type in which its formula holds."""

    def __init__(self, goal: Formula, conditions: tuple[str, ...]) -> None:
        self.conditions = conditions
        self.is_equal = "euclidean" in conditions or {"symmetric", "transitive"} <= {*conditions}
        self.is_mutual = "symmetric" in conditions and not self.is_equal
        parts = parts_of(goal)
        self.atoms = tuple(part.name for part in parts if part.op == "atom")
        boxes = [part for part in parts if part.op == "box"]
        size = len(self.atoms) + len(boxes)
        if size > MOST:
            raise BadValue(
                f"formula: {len(self.atoms)} atoms and {len(boxes)} boxes, more than {MOST} together",
                "leave out premises that do not matter, or give worlds instead of valid_in",
            )
        self.full = (1 << (1 << size)) - 1
        self.columns = [_column(n, self.full) for n in range(size)]
        named = dict(zip((*self.atoms, *boxes), self.columns, strict=True))
        known: dict[Formula, int] = {}
        self.goal = evaluate(goal, self.full, named.__getitem__, lambda box, _: named[box], known)
        # For each modality, the columns of its boxes and of what they hold.
        self.boxes: dict[str, list[tuple[int, int]]] = {}
        for box in boxes:
            self.boxes.setdefault(box.name, []).append((named[box], known[box.parts[0]]))
        self.alive = self.full
        self._drop()

    def _drop(self) -> None:
        """Leave only the types that can be worlds."""
        if "reflexive" in self.conditions:
            for box, body in (pair for pairs in self.boxes.values() for pair in pairs):
                self.alive &= ~box | body
        before = -1
        while before != self.alive:
            before = self.alive
            for modality, pairs in self.boxes.items():
                marks = [column for pair in pairs for column in (pair if self.is_mutual else pair[:1])]
                for group in _split(self.alive, marks):
                    if self._lacks_witness((group & -group).bit_length() - 1, modality):
                        self.alive &= ~group

    def reached(self, one: int, modality: str) -> int:
        """The types that a type can see, given the conditions on the relation."""
        found = self.alive
        for box, body in self.boxes[modality]:
            if box >> one & 1:
                found &= body & box if "transitive" in self.conditions else body
            elif self.is_equal:
                found &= ~box
            if self.is_mutual and not body >> one & 1:
                found &= ~box
        return found

    def _lacks_witness(self, one: int, modality: str) -> bool:
        seen = self.reached(one, modality)
        if not seen and "serial" in self.conditions:
            return True
        return any(not box >> one & 1 and not seen & ~body for box, body in self.boxes[modality])

    def model(self) -> Model:
        """A model of the goal that grows from one type by the witnesses that it needs."""
        # The highest types have the most boxes true, and need the fewest witnesses.
        chosen = [(self.alive & self.goal).bit_length() - 1]
        edges: dict[str, dict[int, int]] = {modality: {} for modality in self.boxes}
        for n, one in enumerate(chosen):
            for modality, seen in edges.items():
                for wanted in self._wanted(one, modality):
                    if not any(wanted >> chosen[other] & 1 for other in bits(seen.get(n, 0))):
                        seen[n] = seen.get(n, 0) | 1 << _find_or_add(chosen, wanted)
        relations = {name: _relation(seen, len(chosen), self.conditions) for name, seen in edges.items()}
        atoms = {
            name: sum(1 << n for n, one in enumerate(chosen) if column >> one & 1)
            for name, column in zip(self.atoms, self.columns, strict=False)
        }
        return Model(tuple(f"w{n}" for n in range(1, len(chosen) + 1)), atoms, relations)

    def _wanted(self, one: int, modality: str) -> Iterator[int]:
        """For each box that fails in a type, the types that may show it; if some world must be in sight, any."""
        seen = self.reached(one, modality)
        for box, body in self.boxes[modality]:
            if not box >> one & 1:
                yield seen & ~body
        if "serial" in self.conditions:
            yield seen


def _column(n: int, full: int) -> int:
    """The bits of all numbers that have bit n set."""
    half = 1 << n
    return full // ((1 << 2 * half) - 1) * (((1 << half) - 1) << half)


def _split(group: int, marks: list[int]) -> Iterator[int]:
    """The parts of a set of types that the columns do not tell apart."""
    if not marks:
        yield group
        return
    for part in (group & marks[0], group & ~marks[0]):
        if part:
            yield from _split(part, marks[1:])


def _find_or_add(chosen: list[int], wanted: int) -> int:
    for n, one in enumerate(chosen):
        if wanted >> one & 1:
            return n
    chosen.append(wanted.bit_length() - 1)
    return len(chosen) - 1


def _relation(seen: dict[int, int], size: int, conditions: tuple[str, ...]) -> Relation:
    """The pairs that are needed and those that the conditions add: all of them are pairs that types allow."""
    return closed(tuple(seen.get(n, 0) for n in range(size)), conditions)
