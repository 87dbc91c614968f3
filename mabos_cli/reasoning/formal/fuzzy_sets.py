"""Fuzzy sets: how far a number belongs to a term, and the centre of what rules leave of the terms of a result."""

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.inputs import LARGEST, known_name, unknown_name

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
Terms = Mapping[str, Collection[str]]
SAMPLES = 400  # straight pieces that stand for a bell curve
_COUNTS = {"triangle": 3, "trapezoid": 4, "gaussian": 2, "left": 2, "right": 2, "value": 1}
_SAME = {"tri": "triangle", "trimf": "triangle", "trap": "trapezoid", "trapmf": "trapezoid"}
_SAME |= {"gauss": "gaussian", "gaussmf": "gaussian", "below": "left", "above": "right"}
_HINT = (
    "write triangle 0 5 10, trapezoid 0 1 3 5, gaussian CENTRE WIDTH, left 2 4 (full up to 2), right 6 8 (full from 8)"
)
Line = list[tuple[float, float]]  # corners from left to right; two at one place are a jump


class FuzzySet(NamedTuple):
    """A term as a function from numbers to degrees from 0 to 1."""

    form: str  # triangle, trapezoid, gaussian, left, right, value
    at: tuple[float, ...]

    def degree(self, x: float) -> float:
        """Returns how far a number belongs to the set."""
        if self.form == "gaussian":
            off = (x - self.at[0]) / self.at[1]
            return math.exp(-off * off / 2)  # a power would overflow far off
        a, b, c, d = self._corners()
        if x < b:
            return 0.0 if x <= a else (x - a) / (b - a)
        if x > c:
            return 0.0 if x >= d else (d - x) / (d - c)
        return 1.0

    def _corners(self) -> tuple[float, float, float, float]:
        """Returns the set as a trapezoid."""
        at = self.at
        if self.form == "left":
            return -math.inf, -math.inf, at[0], at[1]
        if self.form == "right":
            return at[0], at[1], math.inf, math.inf
        if self.form == "trapezoid":
            return at[0], at[1], at[2], at[3]
        return at[0], at[len(at) // 2], at[len(at) // 2], at[-1]

    def line(self, low: float, high: float) -> Line:
        """Returns the set over a range as straight pieces."""
        if self.form == "gaussian":
            xs = [low + (high - low) * n / SAMPLES for n in range(SAMPLES + 1)]
            return [(x, self.degree(x)) for x in xs]
        a, b, c, d = self._corners()
        inner = [x for x in (a, b, c, d) if low < x < high]
        found: Line = [(low, 1.0 if b <= low <= c else self.degree(low))]
        for x in sorted({*inner}):
            if x == a == b:
                found.append((x, 0.0))
            found.append((x, 1.0 if b <= x <= c else 0.0))
            if x == c == d:
                found.append((x, 0.0))
        return [*found, (high, 1.0 if b <= high <= c else self.degree(high))]

    def ends(self) -> tuple[float, ...]:
        """Returns the numbers that a range should contain, if the form has them."""
        return () if self.form == "gaussian" else self.at


def parse_set(raw: Any, place: str) -> FuzzySet:
    """Returns a set from words and numbers, or from 3 or 4 corners.

    >>> parse_set("left 2 4", "").degree(3), parse_set([0, 5, 10], "").degree(4)
    (0.5, 0.8)
    """
    parts = raw.replace(",", " ").split() if isinstance(raw, str) else raw if isinstance(raw, list) else [raw]
    form = ""
    if parts and isinstance(parts[0], str) and re.fullmatch(r"[a-z]+", parts[0].lower()):
        form, parts = _SAME.get(parts[0].lower(), parts[0].lower()), parts[1:]
    numbers = tuple(_number(part, place) for part in parts)
    form = form or {1: "value", 3: "triangle", 4: "trapezoid"}.get(len(numbers), "")
    if form not in _COUNTS:
        raise BadValue(f"{place}: {str(raw)[:40]!r} is no fuzzy set", _HINT)
    if len(numbers) != _COUNTS[form]:
        raise BadValue(f"{place}: {form} takes {_COUNTS[form]} numbers, not {len(numbers)}", _HINT)
    if form == "gaussian":
        if numbers[1] <= 0:
            raise BadValue(f"{place}: the width of a gaussian must be above 0", _HINT)
    elif any(b < a for a, b in pairwise(numbers)):
        raise BadValue(f"{place}: the numbers must rise", "give the corners from left to right")
    elif form in ("triangle", "trapezoid") and numbers[0] == numbers[-1]:
        raise BadValue(f"{place}: the set is a single point", "give corners that lie apart")
    return FuzzySet(form, numbers)


def _number(raw: Any, place: str) -> float:
    try:
        found = float(raw)
    except (TypeError, ValueError):
        found = math.nan
    if isinstance(raw, bool) or not abs(found) <= LARGEST:
        raise BadValue(f"{place}: {str(raw)[:40]!r} is no number", _HINT)
    return found


def shrink(line: Line, level: float, how: str) -> Line:
    """Returns what a rule leaves of a set: cut off at a level, or scaled down to it."""
    if how == "product":
        return [(x, y * level) for x, y in line]
    found: Line = []
    for (x0, y0), (x1, y1) in pairwise(line):
        found.append((x0, min(y0, level)))
        if (y0 - level) * (y1 - level) < 0:
            found.append((x0 + (x1 - x0) * (level - y0) / (y1 - y0), level))
    return [*found, (line[-1][0], min(line[-1][1], level))]


class Outline(NamedTuple):
    """Straight pieces, each from (x0, y0) to (x1, y1), that lie above all lines."""

    pieces: tuple[tuple[float, float, float, float], ...]

    @property
    def area(self) -> float:
        return math.fsum((x1 - x0) * (y0 + y1) / 2 for x0, y0, x1, y1 in self.pieces)

    def centroid(self) -> float:
        """Returns the centre of the area, by exact integration of the pieces."""
        moment = math.fsum((x1 - x0) * (x0 * (2 * y0 + y1) + x1 * (y0 + 2 * y1)) / 6 for x0, y0, x1, y1 in self.pieces)
        return moment / self.area

    def bisector(self) -> float:
        """Returns where a vertical line cuts the area in half."""
        left = self.area / 2
        for x0, y0, x1, y1 in self.pieces:
            area = (x1 - x0) * (y0 + y1) / 2
            if area < left:
                left -= area
                continue
            rise = (y1 - y0) / (x1 - x0)
            # y0 t + rise t^2 / 2 = left, in the form that does not lose digits when the rise is small.
            root = math.sqrt(max(0.0, y0 * y0 + 2 * rise * left))
            return x0 + (2 * left / (y0 + root) if y0 + root else 0.0)
        return self.pieces[-1][2]

    def middle_of_top(self) -> float:
        """Returns the middle of the places where the outline is highest."""
        top = max(max(y0, y1) for _, y0, _, y1 in self.pieces)
        slack = 1e-9 * top
        flat = [(x0, x1) for x0, y0, x1, y1 in self.pieces if min(y0, y1) >= top - slack]
        if flat:
            width = math.fsum(x1 - x0 for x0, x1 in flat)
            return math.fsum((x1 - x0) * (x0 + x1) / 2 for x0, x1 in flat) / width
        peaks = {x for x0, y0, x1, y1 in self.pieces for x, y in ((x0, y0), (x1, y1)) if y >= top - slack}
        return math.fsum(peaks) / len(peaks)


def outline(lines: Sequence[Line]) -> Outline:
    """Returns the highest of some lines at each place, all over the same range."""
    places = sorted({x for line in lines for x, _ in line})
    spans = [_Spans(line) for line in lines]
    pieces = []
    for x0, x1 in pairwise(places):
        straight = {span.between(x0, x1) for span in spans}
        cuts = {x0, x1}
        for one in straight:
            for other in straight:
                before, after = one[0] - other[0], one[1] - other[1]
                if before * after < 0:
                    cuts.add(x0 + (x1 - x0) * before / (before - after))
        for a, b in pairwise(sorted(cuts)):
            ends = [max(y0 + (y1 - y0) * (x - x0) / (x1 - x0) for y0, y1 in straight) for x in (a, b)]
            pieces.append((a, ends[0], b, ends[1]))
    return Outline(tuple(pieces))


class _Spans:
    """A line that is asked for its heights from left to right."""

    def __init__(self, line: Line) -> None:
        self.pieces = [(a, b) for a, b in pairwise(line) if a[0] < b[0]]
        self.next = 0

    def between(self, x0: float, x1: float) -> tuple[float, float]:
        """Returns the heights just after x0 and just before x1, between which the line is straight."""
        while self.pieces[self.next][1][0] <= x0:
            self.next += 1
        (a, ya), (b, yb) = self.pieces[self.next]
        rise = (yb - ya) / (b - a)
        return ya + rise * (x0 - a), ya + rise * (x1 - a)


class Condition(NamedTuple):
    """A term of an input, or conditions joined by and, or, not."""

    op: str  # is, and, or, not
    parts: tuple["Condition", ...] = ()
    name: str = ""
    term: str = ""
    hedges: tuple[str, ...] = ()

    def degree(self, degrees: Mapping[str, Mapping[str, float]], both: str, either: str) -> float:
        """Returns how far the condition holds. `both` is min or product, `either` is max or sum."""
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


def parse_rule(raw: str, place: str, inputs: Terms, output: str, terms: Collection[str]) -> FuzzyRule:
    """Returns the rule that a sentence states."""
    weight = 1.0
    match = _WEIGHT.search(raw)
    text = raw[: match.start()] if match else raw
    if match:
        weight = _weight(match["weight"], place)
    halves = re.split(r"\bthen\b", text, flags=re.IGNORECASE)
    if len(halves) != 2 or not re.match(r"\s*if\b", halves[0], re.IGNORECASE):
        hint = f"for example: if a is high then {output} is {next(iter(terms))}"
        raise BadValue(f"{place}: must read: if ... then ...", hint)
    reader = _Reader(re.sub(r"^\s*if\b", "", halves[0], flags=re.IGNORECASE), place, inputs)
    condition = reader.read_or(0)
    if reader.rest():
        raise BadValue(f"{place}: expected and, or, then at {reader.rest()[:30]!r}", "")
    name, is_there, term = re.sub(r"\s+", " ", halves[1].strip()).partition(" is ")
    if not is_there:
        raise BadValue(f"{place}: must end with: then {output} is ...", f"terms: {', '.join(terms)}")
    known_name(place, name, (output,), "result")
    return FuzzyRule(raw, condition, known_name(place, term, terms, f"term of {output}"), weight)


def _weight(raw: str, place: str) -> float:
    try:
        found = float(raw.rstrip("%")) / (100 if raw.endswith("%") else 1)
    except ValueError:
        found = -1.0
    if not 0 < found <= 1:
        raise BadValue(f"{place}: the weight must be above 0 and at most 1, not {raw}", "")
    return found


class _Reader:
    """Reads conditions: not before and, and before or."""

    def __init__(self, text: str, place: str, inputs: Terms) -> None:
        self.text, self.place, self.inputs = text, place, inputs
        self.at = 0

    def rest(self) -> str:
        return self.text[self.at :].strip()

    def accept(self, word: str) -> bool:
        """Returns whether a word comes next; it is then taken. Any width of blanks may stand between words."""
        pattern = r"\s*" + r"\s+".join(map(re.escape, word.split())) + (r"(?!\w)" if word[-1].isalnum() else "")
        match = re.compile(pattern, re.IGNORECASE if word in (*_WORDS, *HEDGES) else 0).match(self.text, self.at)
        if match:
            self.at = match.end()
        return bool(match)

    def read_or(self, depth: int) -> Condition:
        if depth > _DEEPEST:
            raise BadValue(f"{self.place}: nested deeper than {_DEEPEST}", "split the rule")
        return self._read_joined("or", lambda: self._read_joined("and", lambda: self.read_one(depth)))

    def _read_joined(self, word: str, read: Callable[[], Condition]) -> Condition:
        parts = [read()]
        while self.accept(word):
            parts.append(read())
        return parts[0] if len(parts) == 1 else Condition(word, tuple(parts))

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
        """Returns the longest name that comes next; it is then taken."""
        return next((name for name in sorted(known, key=len, reverse=True) if self.accept(name)), None)

    def _unknown(self, known: Collection[str], noun: str) -> BadValue:
        if not self.rest():
            return BadValue(f"{self.place}: ends where a {noun} should be", f"known: {', '.join(known)}")
        said = self.rest().split()[0].strip("()")
        if said in known:
            return BadValue(f"{self.place}: cannot read {self.rest()[:30]!r}", f"known: {', '.join(known)}")
        return unknown_name(self.place, said, known, noun)
