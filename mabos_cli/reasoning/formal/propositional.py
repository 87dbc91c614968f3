"""Whether propositional formulas can all be true, with the truth values that make them so."""

from collections.abc import Iterable, Iterator

from mabos_cli.core import BadValue
from mabos_cli.reasoning.formal.formula import Formula

MOST_WORK = 1_000_000
Clause = tuple[int, ...]


class WorkSpent(Exception):
    """No answer within the work that was allowed."""


class Decider:
    """Finds models, of several sets of formulas after one another, with so much work in all."""

    def __init__(self, work: int = MOST_WORK) -> None:
        self.work = work

    def find_model(self, formulas: Iterable[Formula]) -> dict[str, bool] | None:
        """Truth values of all atoms that make all formulas true, or None if there are none.

        >>> Decider().find_model([Formula("atom", "p"), Formula("not", "", (Formula("atom", "q"),))])
        {'p': True, 'q': False}
        """
        clauses = _Clauses()
        for formula in formulas:
            clauses.all.append((clauses.literal(formula),))
        values = self._search(clauses.all, clauses.count)
        return None if values is None else {name: values[number] for name, number in clauses.atoms.items()}

    def _search(self, clauses: list[Clause], count: int) -> dict[int, bool] | None:
        """Values by number that make every clause true (DPLL): what must be is set, then the first open variable is tried."""
        uses: dict[int, list[Clause]] = {}
        for clause in clauses:
            for literal in clause:
                uses.setdefault(literal, []).append(clause)
        values: dict[int, bool] = {}
        trail: list[int] = []
        choices: list[tuple[int, int]] = []  # how long the trail was, and the literal tried
        pending = [clause[0] for clause in clauses if len(clause) == 1]
        self.work -= len(clauses)
        while self.work > 0:
            if self._propagate(pending, values, trail, uses):
                free = next((number for number in range(1, count + 1) if number not in values), None)
                if free is None:
                    return values
                choices.append((len(trail), free))
                pending = [free]
                continue
            if not choices:
                return None
            size, literal = choices.pop()
            for undone in trail[size:]:
                del values[abs(undone)]
            del trail[size:]
            # The other value now follows from the choices before it, so it is no choice of its own.
            pending = [-literal]
        raise WorkSpent

    def _propagate(
        self, pending: list[int], values: dict[int, bool], trail: list[int], uses: dict[int, list[Clause]]
    ) -> bool:
        """Sets what must be, as long as something must; whether no clause is broken."""
        while pending:
            literal = pending.pop()
            now = values.get(abs(literal))
            if now is not None:
                if now != (literal > 0):
                    return False
                continue
            values[abs(literal)] = literal > 0
            trail.append(literal)
            self.work -= 1 + len(uses.get(-literal, ()))
            for clause in uses.get(-literal, ()):
                fit = [one for one in clause if values.get(abs(one), one > 0) == (one > 0)]
                if not fit:
                    return False
                if len(fit) == 1 and abs(fit[0]) not in values:
                    pending.append(fit[0])
        return True


class _Clauses:
    """Formulas as clauses over numbered variables, one for every part (Tseitin), so that the clauses stay short."""

    def __init__(self) -> None:
        self.all: list[Clause] = []
        self.atoms: dict[str, int] = {}
        self.known: dict[int, int] = {}
        self.count = 0

    def literal(self, formula: Formula) -> int:
        """The literal that is true just if the formula is. No recursion: `p & p & ...` is nested as deep as it is long."""
        for part in _inner_first(formula):
            if id(part) not in self.known:
                self.known[id(part)] = self._define(part, [self.known[id(one)] for one in part.parts])
        return self.known[id(formula)]

    def _define(self, formula: Formula, parts: list[int]) -> int:
        op = formula.op
        if op == "atom":
            if formula.name not in self.atoms:
                self.atoms[formula.name] = self._new()
            return self.atoms[formula.name]
        if op == "not":
            return -parts[0]
        if op == "and":
            return -self._any(-parts[0], -parts[1])
        if op in ("or", "implies"):
            return self._any(parts[0] if op == "or" else -parts[0], parts[1])
        if op == "iff":
            both, neither = -self._any(-parts[0], -parts[1]), -self._any(parts[0], parts[1])
            return self._any(both, neither)
        if op not in ("true", "false"):
            raise BadValue("premises: must and may are for modal reasoning", "leave out [] and <>")
        new = self._new()
        self.all.append((new if op == "true" else -new,))
        return new

    def _new(self) -> int:
        self.count += 1
        return self.count

    def _any(self, a: int, b: int) -> int:
        new = self._new()
        self.all += [(-new, a, b), (new, -a), (new, -b)]
        return new


def _inner_first(formula: Formula) -> Iterator[Formula]:
    stack = [(formula, False)]
    while stack:
        one, is_ready = stack.pop()
        if is_ready:
            yield one
        else:
            stack.append((one, True))
            stack += [(part, False) for part in reversed(one.parts)]
