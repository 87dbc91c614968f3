"""Rules in words over fuzzy terms, such as `if service is very poor or food is not fresh then tip is low`."""

import math
import re
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.input_checks import known_name, unknown_name

_DEEPEST = 30
_WEIGHT = re.compile(r"\s+(?:with\s+)?weight\s+(?P<weight>[\d.]+%?)\s*$", re.IGNORECASE)
HEDGES: dict[str, Callable[[float], float]] = {
    "not": lambda degree: 1 - degree,
    "very": lambda degree: degree**2,
    "extremely": lambda degree: degree**3,
    "somewhat": math.sqrt,
    "slightly": lambda degree: degree ** (1 / 3),
}
_WORDS = ("and", "or", "not", "is", "if", "then")


class Condition(NamedTuple):
    """A term of an input, or conditions joined by and, or, not."""

    op: str  # is, and, or, not
    parts: tuple["Condition", ...] = ()
    name: str = ""
    term: str = ""
    hedges: tuple[str, ...] = ()

    def degree(self, degrees: Mapping[str, Mapping[str, float]], both: str, either: str) -> float:
        """How far the condition holds. `both` is min or product, `either` is max or sum."""
        if self.op == "is":
            found = degrees[self.name][self.term]
            for hedge in reversed(self.hedges):
                found = HEDGES[hedge](found)
            return found
        parts = [part.degree(degrees, both, either) for part in self.parts]
        if self.op == "not":
            return 1 - parts[0]
        if self.op == "and":
            return min(parts) if both == "min" else math.prod(parts)
        return max(parts) if either == "max" else 1 - math.prod(1 - part for part in parts)


class FuzzyRule(NamedTuple):
    """A condition and the term of the result that it speaks for."""

    said: str
    condition: Condition
    term: str
    weight: float


Terms = Mapping[str, Collection[str]]


def parse_rule(said: str, place: str, inputs: Terms, output: str, terms: Collection[str]) -> FuzzyRule:
    """The rule that a sentence states."""
    weight = 1.0
    match = _WEIGHT.search(said)
    text = said[: match.start()] if match else said
    if match:
        weight = _weight(match["weight"], place)
    halves = re.split(r"\bthen\b", text, flags=re.IGNORECASE)
    if len(halves) != 2 or not re.match(r"\s*if\b", halves[0], re.IGNORECASE):
        raise BadValue(
            f"{place}: must read: if ... then ...", f"for example: if a is high then {output} is {next(iter(terms))}"
        )
    reader = _Reader(re.sub(r"^\s*if\b", "", halves[0], flags=re.IGNORECASE), place, inputs)
    condition = reader.read_or(0)
    if reader.rest():
        raise BadValue(f"{place}: expected and, or, then at {reader.rest()[:30]!r}", "")
    name, is_there, term = re.sub(r"\s+", " ", halves[1].strip()).partition(" is ")
    if not is_there:
        raise BadValue(f"{place}: must end with: then {output} is ...", f"terms: {', '.join(terms)}")
    known_name(place, name, (output,), "result")
    return FuzzyRule(said, condition, known_name(place, term, terms, f"term of {output}"), weight)


def _weight(said: str, place: str) -> float:
    try:
        found = float(said.rstrip("%")) / (100 if said.endswith("%") else 1)
    except ValueError:
        found = -1.0
    if not 0 < found <= 1:
        raise BadValue(f"{place}: the weight must be above 0 and at most 1, not {said}", "")
    return found


class _Reader:
    """Reads conditions: not before and, and before or."""

    def __init__(self, text: str, place: str, inputs: Terms) -> None:
        self.text, self.place, self.inputs = text, place, inputs
        self.at = 0

    def rest(self) -> str:
        return self.text[self.at :].strip()

    def accept(self, word: str) -> bool:
        """Whether a word comes next; it is then taken. Names of several words may have blanks of any width between them."""
        pattern = r"\s*" + r"\s+".join(map(re.escape, word.split())) + (r"(?!\w)" if word[-1].isalnum() else "")
        match = re.compile(pattern, re.IGNORECASE if word in (*_WORDS, *HEDGES) else 0).match(self.text, self.at)
        if match:
            self.at = match.end()
        return bool(match)

    def read_or(self, depth: int) -> Condition:
        if depth > _DEEPEST:
            raise BadValue(f"{self.place}: nested deeper than {_DEEPEST}", "split the rule")
        parts = [self.read_and(depth)]
        while self.accept("or"):
            parts.append(self.read_and(depth))
        return parts[0] if len(parts) == 1 else Condition("or", tuple(parts))

    def read_and(self, depth: int) -> Condition:
        parts = [self.read_one(depth)]
        while self.accept("and"):
            parts.append(self.read_one(depth))
        return parts[0] if len(parts) == 1 else Condition("and", tuple(parts))

    def read_one(self, depth: int) -> Condition:
        if depth > _DEEPEST:
            raise BadValue(f"{self.place}: nested deeper than {_DEEPEST}", "split the rule")
        if self.accept("not"):
            return Condition("not", (self.read_one(depth + 1),))
        if self.accept("("):
            inner = self.read_or(depth + 1)
            if not self.accept(")"):
                raise BadValue(f"{self.place}: a ) is missing", "")
            return inner
        name = self._find(self.inputs)
        if name is None:
            raise self._unknown(self.inputs, "input")
        if not self.accept("is"):
            raise BadValue(f"{self.place}: expected `is` after {name}", "write for example: service is poor")
        hedges: list[str] = []
        # A term that begins like a hedge, such as `very high`, is a term.
        while (term := self._find(self.inputs[name])) is None:
            hedge = self._find(HEDGES)
            if hedge is None:
                raise self._unknown(self.inputs[name], f"term of {name}")
            hedges.append(hedge)
        return Condition("is", name=name, term=term, hedges=tuple(hedges))

    def _find(self, known: Collection[str]) -> str | None:
        """The longest name that comes next; it is then taken."""
        return next((name for name in sorted(known, key=len, reverse=True) if self.accept(name)), None)

    def _unknown(self, known: Collection[str], noun: str) -> BadValue:
        if not self.rest():
            return BadValue(f"{self.place}: ends where a {noun} should be", f"known: {', '.join(known)}")
        said = self.rest().split()[0].strip("()")
        if said in known:
            return BadValue(f"{self.place}: cannot read {self.rest()[:30]!r}", f"known: {', '.join(known)}")
        return unknown_name(self.place, said, known, noun)
