"""Constraints as people write them, such as `if a = red then b != blue` or `x + y <= 10`: text to a tree."""

import re
from fractions import Fraction
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.arithmetic import TokenReader, read_tokens

_LONGEST, _DEEPEST, _STEEPEST = 2000, 40, 100
_TOKEN = re.compile(
    r"(?P<number>\d+(?:\.\d+)?)|(?P<quoted>'[^']*'|\"[^\"]*\")|(?P<name>[^\W\d]\w*)"
    r"|(?P<sign><->|<=>|->|=>|<=|>=|!=|<>|==|&&|\|\||[-+*/%(){}\[\],<>=!&|≠≤≥∧∨¬→↔−·×])"
)
_SAME = {"==": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">=", "&&": "and", "&": "and", "∧": "and", "||": "or"}
_SAME |= {"|": "or", "∨": "or", "!": "not", "¬": "not", "=>": "->", "→": "->", "<=>": "<->", "↔": "<->"}
_SAME |= {"implies": "->", "iff": "<->", "−": "-", "×": "*", "·": "*", "mod": "%"}
_WORDS = ("and", "or", "not", "if", "then", "else", "in", "is", "true", "false", "implies", "iff", "mod")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
# How many arguments a function takes at least.
FUNCTIONS = {"all_different": 2, "all_equal": 2, "abs": 1, "min": 1, "max": 1, "sum": 1, "count": 1}
_TIGHTNESS = {"<->": 1, "->": 2, "or": 3, "and": 4, "+": 7, "-": 7, "*": 8, "/": 8, "%": 8}


class Node(NamedTuple):
    """A part of an expression: a value, a name, or an operator or function over parts."""

    op: str  # value, name, neg, * / %, a comparison, in, and, or, not, ->, <->, if, or a function; a + b is a sum
    parts: tuple["Node", ...] = ()
    value: Any = None  # of a value; the text of a name


class _Token(NamedTuple):
    kind: str  # number, quoted, name, sign, end
    text: str
    at: int


def parse_expression(text: str, place: str) -> Node:
    """Returns the tree of an expression, its names not yet told apart into variables and values.

    >>> parse_expression("a <= 3", "constraints[1]")[:2]
    ('<=', (Node(op='name', parts=(), value='a'), Node(op='value', parts=(), value=3)))
    """
    if len(text) > _LONGEST:
        raise BadValue(f"{place}: longer than {_LONGEST} characters", "split it into several")
    reader = _Reader(text, _tokens(text, place), place)
    found = reader.read(0, 0)
    if reader.peek().kind != "end":
        raise reader.off("expected an operator")
    return found


def _tokens(text: str, place: str) -> list[_Token]:
    hint = "write for example: a != b, x + y <= 10, all_different(a, b), if a = red then b = 'dark blue'"
    found = []
    for match in read_tokens(_TOKEN, text, place, hint):
        kind, said = match.lastgroup or "", match.group()
        if kind == "sign" or (kind == "name" and said.lower() in _WORDS):
            kind, said = "sign", _SAME.get(said.lower(), said.lower())
        found.append(_Token(kind, said, match.start()))
    return [*found, _Token("end", "", len(text))]


class _Reader(TokenReader[_Token]):
    """Reads by how tightly operators bind: arithmetic, comparisons, not, and, or, ->, <->."""

    steep = 0

    def off(self, said: str) -> BadValue:
        return self.fault(said, f"in: {self.text[:80]}")

    def sees(self, *signs: str) -> bool:
        return self.peek().kind == "sign" and self.peek().text in signs

    def accept(self, sign: str) -> bool:
        if self.sees(sign):
            self.next += 1
            return True
        return False

    def expect(self, sign: str) -> None:
        if not self.accept(sign):
            raise self.off(f"expected {sign}")

    def read(self, least: int, depth: int) -> Node:
        """Returns an expression whose operators bind tighter than `least`."""
        if depth > _DEEPEST:
            raise BadValue(f"{self.place}: nested deeper than {_DEEPEST}", "split it into several")
        left = self.read_part(depth)
        while True:
            sign = self.peek().text if self.peek().kind == "sign" else ""
            if least < 6 and (sign in COMPARISONS or sign in ("in", "is") or self._sees_not_in()):
                left = self.read_comparison(left, depth)
            elif _TIGHTNESS.get(sign, 0) > least:
                self.take()
                right = self.read(_TIGHTNESS[sign] - (sign == "->"), depth + 1)
                left = self.join(sign, left, right)
            else:
                return left

    def join(self, sign: str, left: Node, right: Node) -> Node:
        """Joins two sides. Long sums and lists of conditions become one flat node."""
        if sign in ("+", "-"):
            sign, right = "sum", right if sign == "+" else Node("neg", (right,))
        if sign in ("sum", "and", "or"):
            return Node(sign, (*left.parts, right) if left.op == sign else (left, right))
        self.steep += 1
        if self.steep > _STEEPEST:
            raise BadValue(f"{self.place}: more than {_STEEPEST} of * / % -> <->", "split it into several")
        return Node(sign, (left, right))

    def _sees_not_in(self) -> bool:
        return self.sees("not") and self.tokens[self.next + 1].text == "in"

    def read_comparison(self, left: Node, depth: int) -> Node:
        """Reads comparisons: `a < b <= c` means both; `x in {1, 2}` means one of the values."""
        steps: list[Node] = []
        while True:
            if self._sees_not_in():
                self.take()
                steps.append(Node("not", (self.read_members(left, depth),)))
                break
            if self.sees("in"):
                steps.append(self.read_members(left, depth))
                break
            if not self.sees(*COMPARISONS, "is"):
                break
            sign = self.take().text
            if sign == "is":
                sign = "!=" if self.accept("not") else "="
            right = self.read(6, depth + 1)
            steps.append(Node(sign, (left, right)))
            left = right
        return steps[0] if len(steps) == 1 else Node("and", tuple(steps))

    def read_members(self, left: Node, depth: int) -> Node:
        self.expect("in")
        closing = {"{": "}", "[": "]", "(": ")"}.get(self.peek().text)
        if self.peek().kind != "sign" or closing is None:
            raise self.off("expected { and values")
        self.take()
        return Node("in", (left, *self.read_list(closing, depth)))

    def read_list(self, closing: str, depth: int) -> list[Node]:
        found: list[Node] = []
        while not self.accept(closing):
            if found:
                self.expect(",")
            found.append(self.read(0, depth + 1))
        return found

    def read_part(self, depth: int) -> Node:
        token = self.take()
        if token.kind == "number":
            return Node("value", value=Fraction(token.text) if "." in token.text else int(token.text))
        if token.kind == "quoted":
            return Node("value", value=token.text[1:-1])
        if token.kind == "name":
            return self.read_call(token.text, depth) if self.sees("(") else Node("name", value=token.text)
        if token.text in ("true", "false"):
            return Node("value", value=token.text == "true")
        if token.text == "-":
            return Node("neg", (self.read(8, depth + 1),))
        if token.text == "not":
            return Node("not", (self.read(5, depth + 1),))
        if token.text == "if":
            return self.read_if(depth)
        if token.text == "(" and token.kind == "sign":
            inner = self.read(0, depth + 1)
            self.expect(")")
            return inner
        self.next -= 1
        raise self.off("expected a variable or a value")

    def read_if(self, depth: int) -> Node:
        """Reads a condition: `if c then a` is an implication; with `else b` it is a where c holds and b elsewhere."""
        condition = self.read(0, depth + 1)
        self.expect("then")
        then = self.read(0, depth + 1)
        if not self.accept("else"):
            return Node("->", (condition, then))
        return Node("if", (condition, then, self.read(0, depth + 1)))

    def read_call(self, name: str, depth: int) -> Node:
        least = FUNCTIONS.get(name.lower())
        if least is None:
            raise BadValue(f"{self.place}: unknown function {name!r}", f"known: {', '.join(FUNCTIONS)}")
        self.take()
        parts = self.read_list(")", depth)
        if len(parts) < least or (name.lower() == "abs" and len(parts) > 1):
            raise BadValue(f"{self.place}: {name} takes {least} {'or more ' if name != 'abs' else ''}values", "")
        return Node(name.lower(), tuple(parts))
