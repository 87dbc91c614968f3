"""Expressions as people write them, `if(units > stock, stock, units) * price`: text to a tree, and a tree to a function. Only what
the grammar names can run."""

import math
import operator
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import figure
from mabos_cli.reasoning.inputs import known_name

MOST_CHARACTERS = 2000
_DEEPEST, _STEEPEST = 30, 100
_LARGEST = 1e100  # results are squared and added up
_TOKEN = re.compile(
    r"(?P<number>(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3}(?!\d))?%?)|(?P<quoted>'[^']*'|\"[^\"]*\")"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<sign><->|<=>|->|=>|<=|>=|!=|<>|==|\*\*|&&|\|\||[-+*/^%(){}\[\],<>=!&|≠≤≥∧∨¬→↔−·×])"
)
SAME_SIGN = {"&&": "and", "&": "and", "∧": "and", "||": "or", "|": "or", "∨": "or", "!": "not", "¬": "not"}
SAME_SIGN |= {"=>": "->", "→": "->", "implies": "->", "<=>": "<->", "↔": "<->", "iff": "<->"}
_SAME = SAME_SIGN | {"==": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">=", "**": "^"}
_SAME |= {"−": "-", "×": "*", "·": "*", "mod": "%"}
_WORDS = ("and", "or", "not", "if", "then", "else", "in", "is", "true", "false", "implies", "iff", "mod")
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TIGHTNESS = {"<->": 1, "->": 2, "or": 3, "and": 4, "+": 7, "-": 7, "*": 8, "/": 8, "%": 8, "^": 9}
_COMPARED = 6
Values = Mapping[Any, Any]  # numbers, or texts that can only be compared
Run = Callable[[Any], Any]


class Node(NamedTuple):
    """A part of an expression: a value, a name, or an operator or function over parts."""

    op: str  # value, name, neg, sum, * / % ^, a comparison, in, and, or, not, ->, <->, if, or a function
    parts: tuple["Node", ...] = ()
    value: Any = None  # of a value; the text of a name


class Token(NamedTuple):
    kind: str  # number, quoted, name, sign, end
    text: str
    at: int


def read_tokens(pattern: re.Pattern[str], text: str, place: str, hint: str) -> Iterator[re.Match[str]]:
    """Yields the tokens of a text, without the blanks between them; BadValue names what is none.

    >>> [token.group() for token in read_tokens(re.compile(r"\\d+|[+*]"), "12 + 3*4", "formula", "")]
    ['12', '+', '3', '*', '4']
    """
    if len(text) > MOST_CHARACTERS:
        raise BadValue(f"{place}: a formula has at most {MOST_CHARACTERS} characters", "split it into several")
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        match = pattern.match(text, at)
        if not match:
            raise BadValue(f"{place}: cannot read {text[at : at + 20]!r}", hint or f"in: {text[:80]}")
        yield match
        at = match.end()


def parse_expression(text: str, place: str, hint: str = "") -> Node:
    """Returns the tree of an expression."""
    tokens = []
    for match in read_tokens(_TOKEN, text, place, hint):
        kind, word = match.lastgroup or "", match.group()
        if kind == "sign" or (kind == "name" and word.lower() in _WORDS):
            kind, word = "sign", _SAME.get(word.lower(), word.lower())
        tokens.append(Token(kind, word, match.start()))
    return Reader(text, tokens, place).read_all()


class Reader:
    """Reads by how tightly operators bind: arithmetic, comparisons, not, and, or, ->, <->."""

    def __init__(self, text: str, tokens: list[Token], place: str) -> None:
        self.text, self.place = text, place
        self.tokens = [*tokens, Token("end", "", len(text))]
        self.next = self.steep = 0

    def peek(self) -> Token:
        return self.tokens[self.next]

    def fault(self, wrong: str) -> BadValue:
        """Returns the error at the token that comes next."""
        at = self.peek().at
        where = f"at {self.text[at : at + 20]!r}" if at < len(self.text) else "at its end"
        return BadValue(f"{self.place}: {wrong} {where}", f"in: {self.text[:80]}")

    def sees(self, *signs: str) -> bool:
        return self.peek().kind == "sign" and self.peek().text in signs

    def accept(self, *signs: str) -> str:
        """Returns the next sign and passes it if it is one of these, else an empty text."""
        if not self.sees(*signs):
            return ""
        self.next += 1
        return self.tokens[self.next - 1].text

    def expect(self, sign: str) -> None:
        if not self.accept(sign):
            raise self.fault(f"expected {sign}")

    def read_all(self) -> Node:
        found = self.read(0, 0)
        if self.peek().kind != "end":
            raise self.fault("expected an operator")
        return found

    def read(self, least: int, depth: int) -> Node:
        """Returns an expression whose operators bind tighter than `least`."""
        if depth > _DEEPEST:
            raise BadValue(f"{self.place}: nests deeper than {_DEEPEST} levels", "split it into several")
        return self.read_on(self.read_part(depth), least, depth)

    def read_on(self, left: Node, least: int, depth: int) -> Node:
        """Returns the expression that begins with `left`."""
        while True:
            sign = self.peek().text if self.peek().kind == "sign" else ""
            is_not_in = sign == "not" and self.tokens[self.next + 1].text == "in"
            if least < _COMPARED and (is_not_in or sign in (*COMPARISONS, "in", "is")):
                left = self.read_comparison(left, depth)
            elif _TIGHTNESS.get(sign, 0) > least:
                self.next += 1
                right = self.read(_TIGHTNESS[sign] - (sign in ("->", "^")), depth + 1)
                left = self.join(sign, left, right)
            else:
                return left

    def join(self, sign: str, left: Node, right: Node) -> Node:
        """Joins two sides. Long sums, products and lists of conditions become one flat node."""
        if sign in ("+", "-"):
            sign, right = "sum", right if sign == "+" else Node("neg", (right,))
        if sign in ("sum", "*", "and", "or"):
            return Node(sign, (*left.parts, right) if left.op == sign else (left, right))
        self.steep += 1
        if self.steep > _STEEPEST:
            raise BadValue(f"{self.place}: more than {_STEEPEST} of / % ^ -> <->", "split it into several")
        return Node(sign, (left, right))

    def read_comparison(self, left: Node, depth: int) -> Node:
        """Reads comparisons: `a < b <= c` means both; `x in {1, 2}` means one of the values."""
        steps: list[Node] = []
        while sign := self.accept(*COMPARISONS, "is", "in", "not"):
            if sign in ("in", "not"):
                if sign == "not":
                    self.expect("in")
                members = Node("in", (left, *self.read_members(depth)))
                steps.append(members if sign == "in" else Node("not", (members,)))
                break
            if sign == "is":
                sign = "!=" if self.accept("not") else "="
            right = self.read(_COMPARED, depth + 1)
            steps.append(Node(sign, (left, right)))
            left = right
        return steps[0] if len(steps) == 1 else Node("and", tuple(steps))

    def read_members(self, depth: int) -> list[Node]:
        opening = self.accept("{", "[", "(")
        if not opening:
            raise self.fault("expected { and values")
        return self.read_list({"{": "}", "[": "]", "(": ")"}[opening], depth)

    def read_list(self, closing: str, depth: int) -> list[Node]:
        found: list[Node] = []
        while not self.accept(closing):
            if found:
                self.expect(",")
            found.append(self.read(0, depth + 1))
        return found

    def read_part(self, depth: int) -> Node:
        """Returns a value, a name, a call, something in brackets, or one of these with a sign before it."""
        token = self.peek()
        if token.kind == "end":
            raise BadValue(f"{self.place}: ends too early", f"in: {self.text[:80]}")
        self.next += 1
        if token.kind == "number":
            return Node("value", value=_number(token.text))
        if token.kind == "quoted":
            return Node("value", value=token.text[1:-1])
        if token.kind == "name":
            return self.read_call(token.text, depth) if self.accept("(") else Node("name", value=token.text)
        if token.text in ("true", "false"):
            return Node("value", value=token.text == "true")
        if token.text in ("-", "+", "not"):  # of several signs or negations, two cancel each other
            group, op, least = (("not",), "not", 5) if token.text == "not" else (("-", "+"), "neg", 8)
            is_turned = token.text != "+"
            while more := self.accept(*group):
                is_turned ^= more != "+"
            inner = self.read(least, depth + 1)
            return Node(op, (inner,)) if is_turned else inner
        if token.text == "if":
            return self.read_if(depth)
        if token.text == "(":
            inner = self.read(0, depth + 1)
            self.expect(")")
            return inner
        self.next -= 1
        raise self.fault("expected a name or a value")

    def read_if(self, depth: int) -> Node:
        """Reads `if(c, a, b)`, `if c then a else b`, and `if c then a`, which is an implication."""
        if self.accept("("):
            condition = self.read(0, depth + 1)
            if self.accept(","):
                parts = (condition, *self.read_list(")", depth))
                if len(parts) != 3:
                    raise self.fault("if needs a condition and two values")
                return Node("if", parts)
            self.expect(")")
            condition = self.read_on(condition, 0, depth + 1)
        else:
            condition = self.read(0, depth + 1)
        self.expect("then")
        then = self.read(0, depth + 1)
        if not self.accept("else"):
            return Node("->", (condition, then))
        return Node("if", (condition, then, self.read(0, depth + 1)))

    def read_call(self, name: str, depth: int) -> Node:
        known_name(self.place, name.lower(), _FUNCTIONS, "function")
        parts = self.read_list(")", depth)
        _, is_single = _FUNCTIONS[name.lower()]
        if not parts or (is_single and len(parts) > 1):
            wanted = "1 value" if is_single else "1 or more values"
            raise BadValue(f"{self.place}: {name} takes {wanted}, not {len(parts)}", f"in: {self.text[:80]}")
        return Node(name.lower(), tuple(parts))


def _number(text: str) -> int | Fraction:
    found = Fraction(text.rstrip("%").replace("_", "").rstrip(".")) / (100 if text.endswith("%") else 1)
    return int(found) if found.denominator == 1 else found


def _truth(value: Any) -> bool:
    if isinstance(value, str):
        raise TypeError
    return bool(value)


def _product(values: list[Any]) -> Any:
    found = math.prod(values)
    if isinstance(found, str):  # Python repeats a text that is multiplied
        raise TypeError
    return found


def _divide(a: Any, b: Any) -> Any:
    return a / b if isinstance(a, float) or isinstance(b, float) else a * Fraction(1, b)


def _round(amount: float) -> float:
    """Rounds a half up, as people do; round() would take it to the even side."""
    return math.copysign(math.floor(abs(amount) + 0.5), amount)


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    **COMPARISONS,
    "/": _divide,
    "%": operator.mod,
    "^": math.pow,  # ** would leave the real numbers
}
# Functions over all their values, and whether they take just one.
_FUNCTIONS: dict[str, tuple[Callable[[list[Any]], Any], bool]] = {
    "sum": (sum, False),
    "min": (min, False),
    "max": (max, False),
    "count": (lambda values: sum(map(_truth, values)), False),
    "all_different": (lambda values: len({*values}) == len(values), False),
    "all_equal": (lambda values: len({*values}) == 1, False),
    "abs": (lambda values: abs(values[0]), True),
    "exp": (lambda values: math.exp(values[0]), True),
    "log": (lambda values: math.log(values[0]), True),
    "sqrt": (lambda values: math.sqrt(values[0]), True),
    "floor": (lambda values: math.floor(values[0]), True),
    "ceil": (lambda values: math.ceil(values[0]), True),
    "round": (lambda values: _round(values[0]), True),
}
_OPERATORS: dict[str, Callable[[list[Any]], Any]] = {
    "neg": lambda values: -values[0],
    "*": _product,
    "not": lambda values: not _truth(values[0]),
    "<->": lambda values: _truth(values[0]) == _truth(values[1]),
    "in": lambda values: values[0] in values[1:],
}


def build(node: Node, is_exact: bool = True) -> Run:
    """Returns the function from the values of the names to the value of an expression; exact, or with floats."""
    op = node.op
    if op == "value":
        constant = node.value if is_exact or isinstance(node.value, str | bool) else float(node.value)
        return lambda values: constant
    if op == "name":
        return operator.itemgetter(node.value)
    parts = [build(part, is_exact) for part in node.parts]
    if op in ("and", "or"):
        join = all if op == "and" else any
        return lambda values: join(_truth(part(values)) for part in parts)
    if op in _BINARY:
        (a, b), apply = parts, _BINARY[op]
        return lambda values: apply(a(values), b(values))
    if op == "->":
        a, b = parts
        return lambda values: not _truth(a(values)) or _truth(b(values))
    if op == "if":
        test, then, other = parts
        return lambda values: then(values) if _truth(test(values)) else other(values)
    function = _OPERATORS[op] if op in _OPERATORS else _FUNCTIONS[op][0]
    return lambda values: function([part(values) for part in parts])


def names_of(node: Node) -> dict[Any, None]:
    """Returns the names in an expression, in the order in which they come."""
    return {one.value: None for one in each_part(node) if one.op == "name"}


def operators_of(node: Node) -> dict[str, None]:
    """Returns the operators and functions in an expression."""
    return {one.op: None for one in each_part(node)}


def each_part(node: Node) -> Iterator[Node]:
    """Yields an expression and all that it is made of."""
    yield node
    for part in node.parts:
        yield from each_part(part)


class Formula(NamedTuple):
    """A formula that can be computed with floats. Truth is 1 and 0."""

    text: str
    uses: tuple[str, ...]
    size: int  # parts, which is what one run costs
    run: Run

    def value(self, values: Values, path: str) -> Any:
        """Returns what the formula gives; BadValue says why it gives nothing."""
        try:
            found = self.run(values)
        except ZeroDivisionError:
            raise self._failed(path, values, "divides by 0") from None
        except (ValueError, OverflowError):
            raise self._failed(path, values, "has no value, as log(0) or sqrt(-1) has none") from None
        except TypeError:
            raise self._failed(path, values, "computes with a text") from None
        if isinstance(found, str):
            return found
        if not abs(found) <= _LARGEST:
            raise self._failed(path, values, "is too large")
        return float(found)

    def _failed(self, path: str, values: Values, why: str) -> BadValue:
        known = [name for name in self.uses[:4] if isinstance(values[name], float | int)]
        at = ", ".join(f"{name}={figure(values[name])}" for name in known)
        where = f" at {at}" if at else ""
        return BadValue(f"{path}: {self.text[:60]!r} {why}{where}", "guard it with if() or max()")


def parse_formula(raw: str, names: Collection[str], path: str) -> Formula:
    """Returns the formula in a text over some names."""
    tree = parse_expression(raw, path)
    uses = tuple(names_of(tree))
    for name in uses:
        known_name(path, name, names)
    try:
        return Formula(raw, uses, len([*each_part(tree)]), build(tree, is_exact=False))
    except OverflowError:
        raise BadValue(f"{path}: {raw[:60]!r} is too large", "use a larger unit") from None


def check_names(names: Collection[str], path: str) -> None:
    """Raises BadValue unless formulas can use all names."""
    for name in names:
        if not re.fullmatch(r"[^\W\d]\w*", name) or name.lower() in _WORDS:
            raise BadValue(f"{path}: {name!r} cannot be used in a formula", "use letters, digits and _ in names")
