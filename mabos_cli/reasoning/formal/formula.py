"""Formulas of propositional and modal logic: text to values and back."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.arithmetic import TokenReader, bits, read_tokens

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
_LONGEST, _DEEPEST, _MOST = 2000, 60, 150
_MEND = "close every parenthesis, give each operator its parts, and write a name as one_word"
_SIGNS = {"!": "not", "~": "not", "¬": "not", "&": "and", "&&": "and", "∧": "and", "|": "or", "||": "or"}
_SIGNS |= {"∨": "or", "->": "implies", "=>": "implies", "→": "implies", "<->": "iff", "<=>": "iff", "↔": "iff"}
_SIGNS |= {"⊤": "true", "⊥": "false"}
_WORDS = ("not", "and", "or", "implies", "iff", "true", "false")
_TIGHTNESS = {"iff": 1, "implies": 2, "or": 3, "and": 4}
_SHOWN = {"iff": "<->", "implies": "->", "or": "|", "and": "&"}
_TOKEN = re.compile(
    r"(?P<box>\[\s*(?P<b>\w*)\s*\]|□)(?:_(?P<bi>\w+))?"
    r"|(?P<diamond><\s*(?P<d>\w*)\s*>|[◇♢])(?:_(?P<di>\w+))?"
    r"|(?P<sign><->|<=>|->|=>|&&|\|\||[!~¬&∧|∨→↔⊤⊥])"
    r"|(?P<bracket>[()])"
    r"|(?P<word>\w+(?:-\w+)*)"
)


class Formula(NamedTuple):
    """An atom, a constant, or an operator over its parts."""

    op: str  # atom, true, false, not, and, or, implies, iff, box, diamond
    name: str = ""  # of an atom; of the modality of a box or diamond, empty if it has none
    parts: tuple["Formula", ...] = ()


class _Token(NamedTuple):
    op: str
    name: str
    at: int


def parse_formula(text: str, place: str = "formula") -> Formula:
    """Returns the formula that a text stands for; BadValue says where it goes wrong.

    >>> render_formula(parse_formula("□(p→q) ∧ ◇_a p"))
    '[](p -> q) & <a>p'
    """
    if len(text) > _LONGEST:
        raise BadValue(f"{place}: longer than {_LONGEST} characters", "name its parts and use fewer of them")
    tokens = _tokens(text, place)
    if sum(token.op not in ("atom", "(", ")") for token in tokens) > _MOST:
        raise BadValue(f"{place}: more than {_MOST} operators", "name its parts and use fewer of them")
    reader = _Reader(text, tokens, place)
    found = reader.read(0, 0)
    if reader.peek().op != "end":
        raise reader.off("expected an operator such as & | ->")
    return found


def _tokens(text: str, place: str) -> list[_Token]:
    hint = "write p, !p, p & q, p | q, p -> q, p <-> q, []p (must), <>p (may), []_a p"
    return [*map(_token, read_tokens(_TOKEN, text, place, hint)), _Token("end", "", len(text))]


def _token(match: re.Match[str]) -> _Token:
    at = match.start()
    if match["box"]:
        return _Token("box", match["bi"] or match["b"] or "", at)
    if match["diamond"]:
        return _Token("diamond", match["di"] or match["d"] or "", at)
    if match["bracket"]:
        return _Token(match["bracket"], "", at)
    said = match["sign"] or match["word"]
    if match["sign"] or said.lower() in _WORDS:
        return _Token(_SIGNS.get(said) or said.lower(), "", at)
    return _Token("atom", said, at)


class _Reader(TokenReader[_Token]):
    """Reads by how tightly operators bind: not and the modalities first, then and, or, implies, iff."""

    def off(self, said: str) -> BadValue:
        return self.fault(said, _MEND)

    def read(self, least: int, depth: int) -> Formula:
        if depth > _DEEPEST:
            raise BadValue(f"{self.place}: nested deeper than {_DEEPEST}", "use fewer parentheses or name parts")
        left = self.read_tight(depth)
        while _TIGHTNESS.get(self.peek().op, 0) > least:
            op = self.take().op
            # An implication binds to the right: p -> q -> r is p -> (q -> r).
            right = self.read(_TIGHTNESS[op] - (op == "implies"), depth + 1)
            left = Formula(op, "", (left, right))
        return left

    def read_tight(self, depth: int) -> Formula:
        token = self.take()
        if depth > _DEEPEST:
            raise BadValue(f"{self.place}: nested deeper than {_DEEPEST}", "use fewer operators")
        if token.op in ("not", "box", "diamond"):
            return Formula(token.op, token.name, (self.read_tight(depth + 1),))
        if token.op in ("atom", "true", "false"):
            return Formula(token.op, token.name)
        if token.op == "(":
            inner = self.read(0, depth + 1)
            if self.peek().op != ")":
                raise self.off("expected )")
            self.take()
            return inner
        self.next -= 1
        raise self.off("expected a statement")


def render_formula(formula: Formula, least: int = 0) -> str:
    """Returns the formula as text, with no more parentheses than it needs."""
    op, parts = formula.op, formula.parts
    if op in ("atom", "true", "false"):
        return formula.name or op
    if op in ("not", "box", "diamond"):
        sign = {"not": "!", "box": f"[{formula.name}]", "diamond": f"<{formula.name}>"}[op]
        return sign + render_formula(parts[0], 5)
    tight = _TIGHTNESS[op]
    left, right = (tight, tight - 1) if op == "implies" else (tight - 1, tight)
    said = f"{render_formula(parts[0], left)} {_SHOWN[op]} {render_formula(parts[1], right)}"
    return f"({said})" if tight <= least else said


def conjunction(parts: tuple[Formula, ...]) -> Formula:
    """Returns all of some formulas together; of none, what is always true; balanced, so that many stay shallow."""
    if len(parts) < 2:
        return parts[0] if parts else Formula("true")
    half = len(parts) // 2
    return Formula("and", "", (conjunction(parts[:half]), conjunction(parts[half:])))


def negation(formula: Formula) -> Formula:
    """Returns what is true where the formula is not; two negations cancel."""
    return formula.parts[0] if formula.op == "not" else Formula("not", "", (formula,))


def without_diamonds(formula: Formula) -> Formula:
    """Returns the same with `not must not` in place of `may`, so that only boxes are left."""
    parts = tuple(without_diamonds(part) for part in formula.parts)
    if formula.op == "diamond":
        return negation(Formula("box", formula.name, (negation(parts[0]),)))
    return negation(parts[0]) if formula.op == "not" else formula._replace(parts=parts)


def parts_of(formula: Formula) -> dict[Formula, None]:
    """Returns every formula within a formula and itself, each once, the inner ones first."""
    found: dict[Formula, None] = {}
    for part in formula.parts:
        found |= parts_of(part)
    return found | {formula: None}


class Model(NamedTuple):
    """Worlds, the atoms that hold in each, and a relation for each modality."""

    worlds: tuple[str, ...]
    atoms: Mapping[str, int]  # the worlds where it holds
    relations: Mapping[str, Relation]

    @property
    def everywhere(self) -> int:
        return (1 << len(self.worlds)) - 1

    def names(self, where: int) -> tuple[str, ...]:
        """Returns the worlds of a set."""
        return tuple(name for n, name in enumerate(self.worlds) if where >> n & 1)


def evaluate(
    formula: Formula,
    full: int,
    atom: Callable[[str], int],
    box: Callable[[Formula, int], int],
    known: dict[Formula, int],
) -> int:
    """Returns the worlds where a formula holds. `box` says it for a box, given where its body holds."""
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
    """Returns the worlds of a model where a formula holds: a box where all worlds in sight fulfil it, a diamond where
    one does."""

    def box(part: Formula, body: int) -> int:
        seen = model.relations[part.name]
        if part.op == "diamond":
            return sum(1 << n for n, sees in enumerate(seen) if sees & body)
        return sum(1 << n for n, sees in enumerate(seen) if not sees & ~body)

    return evaluate(formula, model.everywhere, model.atoms.__getitem__, box, {} if known is None else known)


def closed(relation: Relation, conditions: Iterable[str]) -> Relation:
    """Returns the smallest relation above this one that fulfils the conditions. Serial is none that can be closed
    under: no world says which other one it should see."""
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
    """Returns the first worlds that break a condition, or None: w for no sight of itself or any, (u, v) where only one
    sees the other, (u, v, w) where the pair from u by v to w is missing, or from v to w although u sees both."""
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
