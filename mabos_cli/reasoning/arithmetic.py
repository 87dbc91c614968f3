"""Formulas as people write them, `if(units > stock, stock, units) * price`, read into something that can be computed. Only what
the grammar names can run: arithmetic, comparisons, and / or / not, and a few functions."""

import math
import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from mabos_cli.core import BadValue
from mabos_cli.reasoning.inputs import known_name

MOST_CHARACTERS = 2000
_DEEPEST = 30
_LARGEST = 1e100  # results are squared and added up
_TOKEN = re.compile(
    r"(?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?%?)|(?P<name>[^\W\d]\w*)"
    r"|(?P<text>'[^']*'|\"[^\"]*\")|(?P<sign><=|>=|==|!=|\*\*|[-+*/^(),<>=])"
)
_COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}
# How many arguments each takes; None is one or more.
_FUNCTIONS: dict[str, tuple[Callable[..., float], int | None]] = {
    "min": (min, None),
    "max": (max, None),
    "abs": (abs, 1),
    "exp": (math.exp, 1),
    "log": (math.log, 1),
    "sqrt": (math.sqrt, 1),
    "floor": (math.floor, 1),
    "ceil": (math.ceil, 1),
    # Half goes up, as people round; round() would take it to the even side.
    "round": (lambda amount: math.copysign(math.floor(abs(amount) + 0.5), amount), 1),
}
RESERVED = (*_FUNCTIONS, "if", "and", "or", "not")
Values = Mapping[str, Any]  # numbers, or texts that can only be compared
Run = Callable[[Values], Any]


class Formula(NamedTuple):
    """A formula that can be computed. Truth is 1 and 0."""

    said: str
    uses: tuple[str, ...]
    size: int  # tokens, what one run costs
    run: Run

    def value(self, values: Values, path: str) -> Any:
        """Returns what the formula gives; BadValue says why it gives nothing."""
        try:
            found = self.run(values)
        except ZeroDivisionError:
            raise _failed(path, self, values, "divides by 0") from None
        except (ValueError, OverflowError):
            raise _failed(path, self, values, "has no value, as log(0) or sqrt(-1) has none") from None
        except TypeError:
            raise _failed(path, self, values, "computes with a text") from None
        if not isinstance(found, str) and not abs(found) <= _LARGEST:
            raise _failed(path, self, values, "is too large")
        return found


def _failed(path: str, formula: Formula, values: Values, why: str) -> BadValue:
    at = ", ".join(f"{name}={values[name]:.4g}" for name in formula.uses[:4] if isinstance(values[name], float | int))
    return BadValue(f"{path}: {formula.said[:60]!r} {why}" + (f" at {at}" if at else ""), "guard it with if() or max()")


def parse_formula(raw: str, names: Collection[str], path: str) -> Formula:
    """Returns the formula in a text over some names; BadValue says what is off.

    >>> parse_formula("2 ^ x - 1", ["x"], "f").value({"x": 3}, "f")
    7.0
    """
    if len(raw) > MOST_CHARACTERS:
        raise BadValue(f"{path}: a formula has at most {MOST_CHARACTERS} characters", "split it into several")
    tokens = [(match.lastgroup or "", match.group()) for match in read_tokens(_TOKEN, raw, path, f"in: {raw[:80]}")]
    reader = _Reader(tokens, names, path, raw)
    run = reader.read_or()
    if reader.peek():
        raise reader.off(f"{reader.peek()!r} is not expected there")
    return Formula(raw, tuple(reader.uses), len(reader.tokens), run)


def check_names(names: Collection[str], path: str) -> None:
    """Raises BadValue unless formulas can use all names."""
    for name in names:
        if not re.fullmatch(r"[^\W\d]\w*", name) or name in RESERVED:
            raise BadValue(f"{path}: {name!r} cannot be used in a formula", "use letters, digits and _ in names")


class _Reader:
    """Reads by precedence: or, and, not, comparison, sum, product, sign, power. Chains are kept flat, so that only brackets
    nest."""

    def __init__(self, tokens: list[tuple[str, str]], names: Collection[str], path: str, said: str) -> None:
        self.tokens, self.names, self.path, self.said = tokens, names, path, said
        self.at = self.depth = 0
        self.uses: dict[str, None] = {}

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self, *wanted: str) -> str:
        """Returns the next token if it is one of these, else nothing."""
        found = self.peek()
        if found in wanted and self.tokens[self.at][0] != "text":
            self.at += 1
            return found
        return ""

    def off(self, why: str) -> BadValue:
        return BadValue(f"{self.path}: {why}", f"in: {self.said[:80]}")

    def read_or(self) -> Run:
        parts = [self.read_and()]
        while self.take("or"):
            parts.append(self.read_and())
        return parts[0] if len(parts) == 1 else lambda v: float(any(part(v) for part in parts))

    def read_and(self) -> Run:
        parts = [self.read_not()]
        while self.take("and"):
            parts.append(self.read_not())
        return parts[0] if len(parts) == 1 else lambda v: float(all(part(v) for part in parts))

    def read_not(self) -> Run:
        turned = False
        while self.take("not"):
            turned = not turned
        part = self.read_comparison()
        return (lambda v: float(not part(v))) if turned else part

    def read_comparison(self) -> Run:
        left = self.read_sum()
        sign = self.take(*_COMPARE)
        if not sign:
            return left
        right, compare = self.read_sum(), _COMPARE[sign]
        if self.peek() in _COMPARE:
            raise self.off("one comparison at a time; join two with and")
        return lambda v: float(compare(left(v), right(v)))

    def read_sum(self) -> Run:
        return self._read_chain(self.read_product, {"+": operator.add, "-": operator.sub})

    def read_product(self) -> Run:
        return self._read_chain(self.read_sign, {"*": operator.mul, "/": operator.truediv})

    def _read_chain(self, read: Callable[[], Run], signs: Mapping[str, Callable[[Any, Any], Any]]) -> Run:
        first, rest = read(), []
        while sign := self.take(*signs):
            rest.append((signs[sign], read()))
        return _chain(first, rest)

    def read_sign(self) -> Run:
        minus = False
        while sign := self.take("-", "+"):
            minus ^= sign == "-"
        part = self.read_power()
        return (lambda v: -part(v)) if minus else part

    def read_power(self) -> Run:
        base = self.read_atom()
        if not self.take("^", "**"):
            return base
        self._deeper()
        power = self.read_sign()
        self.depth -= 1
        # math.pow, for ** would leave the real numbers.
        return lambda v: math.pow(base(v), power(v))

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.off(f"nests deeper than {_DEEPEST} levels")

    def read_atom(self) -> Run:
        if self.at >= len(self.tokens):
            raise self.off("ends too early")
        kind, said = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            amount = float(said.rstrip("%").replace("_", "")) / (100 if said.endswith("%") else 1)
            return lambda v: amount
        if kind == "text":
            return lambda v: said[1:-1]
        if kind == "name" and self.take("("):
            return self._call(said)
        if kind == "name" and said not in RESERVED:
            known_name(self.path, said, self.names)
            self.uses[said] = None
            return operator.itemgetter(said)
        if said == "(":
            return self._inside()[0]
        raise self.off(f"{said!r} is not expected there")

    def _inside(self, most: int = 1) -> list[Run]:
        """Returns what stands between brackets."""
        self._deeper()
        parts = [self.read_or()]
        while len(parts) < most and self.take(","):
            parts.append(self.read_or())
        if not self.take(")"):
            raise self.off("a bracket is not closed" if not self.peek() else f"{self.peek()!r} is not expected there")
        self.depth -= 1
        return parts

    def _call(self, name: str) -> Run:
        known_name(self.path, name, ("if", *_FUNCTIONS), "function")
        parts = self._inside(100)
        if name == "if":
            if len(parts) != 3:
                raise self.off("if needs a condition and two values")
            test, then, other = parts
            return lambda v: then(v) if test(v) else other(v)
        function, count = _FUNCTIONS[name]
        if count is not None and len(parts) != count:
            raise self.off(f"{name} takes {count} value, not {len(parts)}")
        if count == 1:
            only = parts[0]
            return lambda v: float(function(only(v)))
        return lambda v: function([part(v) for part in parts])


def _chain(first: Run, rest: list[tuple[Callable[[Any, Any], Any], Run]]) -> Run:
    if not rest:
        return first
    if len(rest) == 1:
        ((apply, second),) = rest
        return lambda v: apply(first(v), second(v))

    def run(values: Values) -> Any:
        found = first(values)
        for step, part in rest:
            found = step(found, part(values))
        return found

    return run


def read_tokens(pattern: re.Pattern[str], text: str, place: str, hint: str) -> Iterator[re.Match[str]]:
    """Yields the tokens of a text one after the other, blanks between them passed over; BadValue names what is none.

    >>> [token.group() for token in read_tokens(re.compile(r"\\d+|[+*]"), "12 + 3*4", "formula", "")]
    ['12', '+', '3', '*', '4']
    """
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        match = pattern.match(text, at)
        if not match:
            raise BadValue(f"{place}: cannot read {text[at : at + 20]!r}", hint)
        yield match
        at = match.end()


class Placed(Protocol):
    """Something that stands at a place in a text."""

    @property
    def at(self) -> int: ...


Token = TypeVar("Token", bound=Placed)


class TokenReader(Generic[Token]):
    """Tokens that are looked at and taken in order; the last one stands for the end of the text."""

    def __init__(self, text: str, tokens: Sequence[Token], place: str) -> None:
        self.text, self.tokens, self.place = text, tokens, place
        self.next = 0

    def peek(self) -> Token:
        return self.tokens[self.next]

    def take(self) -> Token:
        self.next += 1
        return self.tokens[self.next - 1]

    def fault(self, said: str, hint: str) -> BadValue:
        """Returns what is wrong at the token that comes next."""
        at = self.peek().at
        where = f"at {self.text[at : at + 20]!r}" if at < len(self.text) else "at its end"
        return BadValue(f"{self.place}: {said} {where}", hint)


def bits(members: int) -> Iterator[int]:
    """Yields the numbers in a set, in order.

    >>> [*bits(0b1101)]
    [0, 2, 3]
    """
    while members:
        low = members & -members
        yield low.bit_length() - 1
        members ^= low
