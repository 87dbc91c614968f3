"""Conditions compiled to Python code that joins facts, one loop for each condition.

The code holds only names made here (f0, v1, k2); terms of rules and facts reach it as values, never as text.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from mabos_cli.core.knowledge.relations import FactIndex, Relation, Row
from mabos_cli.core.knowledge.rule import Pattern, all_bound, is_assignment, is_open, is_variable
from mabos_cli.core.language.spans import (
    ALWAYS,
    EMPTY,
    Span,
    cut_points,
    holds_within,
    meet,
    subtract,
)
from mabos_cli.core.language.terms import aggregate, compare_terms, during, is_expression, names_in, uses_today, worker
from mabos_cli.core.language.values import compare, find_value

Run = Callable[[Any, int], int]
MOST_JOINS, MOST_MATCHES = 5_000_000, 200_000


class JoinLimit(ValueError):
    """A join tries more combinations than it may."""


class _Known(dict[str, bool]):
    """Decides whether an object meets a comparison with a value, once for each object."""

    def __init__(self, operator: str, given: str) -> None:
        self.operator, self.given = operator, given

    def __missing__(self, term: str) -> bool:
        self[term] = found = compare(self.operator, term, self.given)
        return found


class Join:
    """The code of one join in the making. `weighed`: whether it tracks confidence and depth. `given` are variables that have a
    value from the start."""

    def __init__(self, conditions: Sequence[Pattern], index: FactIndex, *, weighed: bool, given: Sequence[str] = ()):
        self.conditions, self.index, self.weighed = conditions, index, weighed
        self.timed = index.are_timed(conditions)
        self.names: dict[str, Any] = {
            "none": (),
            "meet": meet,
            "EMPTY": EMPTY,
            "JoinLimit": JoinLimit,
            "find": index.find,
        }
        self.names |= {"subtract": subtract, "compare": compare_terms}
        self.bound: dict[str, str] = {name: f"v{n}" for n, name in enumerate(given)}
        self.given = tuple(given)
        self.lines: list[str] = []
        self.depth = 2
        self.waiting = [n for n, condition in enumerate(conditions) if not condition.is_positive]
        self.last = -1
        self._steps = 0

    def compile(self, first: int, emit: Callable[["Join"], list[str]], found: Any, most: int, room: int) -> Run:
        """Returns a function that joins a batch of rows for the first condition with the rest, and counts what it tries:
        JoinLimit when that is more than `most`, or when `found` holds more than `room`. Without a first condition (-1), the batch
        is the values of the variables that were given."""

        def ease(condition: Pattern) -> float:
            """Returns how far a condition is narrowed down: a known object helps a little less than a known subject."""
            known = [self._is_known(term) for term in condition[:3]]
            obj = 1.9 * known[2] if condition.operator == "eq" else 0.1
            return 2.0 * known[0] + obj + known[1]

        self.names |= {"most": most, "found": found, "room": room}
        left = [n for n, condition in enumerate(self.conditions) if condition.is_positive and n != first]
        if first < 0:
            self.lines.append("    for _ in (0,):")
            self.add("".join(f"{name}, " for name in self.bound.values()) + "= batch" if self.given else "pass")
            self._add_ready(left)
        else:
            self.depth = 1
            self._open(first, "batch")
        while True:
            self._add_ready(left)
            if not left:
                break
            best = max(left, key=lambda n: (ease(self.conditions[n]), -n))
            left.remove(best)
            self._open(best, "")
        for line in emit(self):
            self.add(line)
        source = "def run(batch, n):\n" + "\n".join(self.lines) + "\n    return n\n"
        exec(compile(source, "<join>", "exec"), self.names)
        run: Run = self.names["run"]
        return run

    def add(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def term(self, term: str) -> str:
        """Returns the name that stands for a term in the code."""
        return self.bound[term] if is_variable(term) else self.value(term)

    def value(self, value: Any) -> str:
        """Returns a name for a value."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def variables(self) -> list[str]:
        """Returns the variables of the conditions that have a value, in the order in which they got it."""
        return [name for name in self.bound if not name.startswith("?#")]

    def supports(self) -> str:
        """Returns the rows that were joined, in the order of the conditions."""
        parts = (f"*f{n}, " if c.is_aggregate else f"f{n}, " for n, c in enumerate(self.conditions))
        kept = (part for part, c in zip(parts, self.conditions, strict=True) if c.is_positive or c.is_aggregate)
        return "(" + "".join(kept) + ")"

    def state(self, letter: str) -> str:
        """Returns the name of the confidence (c), the depth (d) or the time (t) of what is joined so far."""
        none = {"c": "1.0", "d": "0", "t": "None"}[letter]
        return f"{letter}{self.last}" if self.last >= 0 and (letter != "t" or self.timed) else none

    def _add_ready(self, left: list[int]) -> None:
        """Adds what the values so far are enough for: comparisons at once, negations and counts behind all loops over facts."""
        ready = True
        while ready:
            ready = False
            for at in self.waiting:
                condition = self.conditions[at]
                if condition.inner:
                    ready = not left and self._outer(condition) <= self.bound.keys()
                    add = self._add_count if condition.is_aggregate else self._add_negation
                else:
                    others = names_in(condition.object)
                    rest = all_bound(each for n, each in enumerate(self.conditions) if n != at)
                    to_assign = is_assignment(condition, rest | self.bound.keys())
                    needed = others if to_assign else (*names_in(condition.subject), *others)
                    ready = all(name in self.bound for name in needed)
                    add = self._add_value if to_assign else self._add_comparison
                if ready:
                    self.waiting.remove(at)
                    add(at, condition)
                    break

    def _outer(self, condition: Pattern) -> set[str]:
        """Returns the variables that what is negated or counted shares with the other conditions."""
        names = {name for each in condition.inner for term in each[:3] for name in names_in(term)}
        others = {name for each in self.conditions if each is not condition for name in all_bound((each,))}
        others |= all_bound(each for each in self.conditions if each is not condition)
        return names & (others | {*self.given})

    def _call(self, function: Any, names: Iterable[str]) -> str:
        return f"{self.value(function)}({', '.join(self.bound[name] for name in names)})"

    def _add_comparison(self, at: int, condition: Pattern) -> None:
        subject, _, obj, operator = condition[:4]
        if uses_today(subject, obj):
            names = tuple(dict.fromkeys((*names_in(subject), *names_in(obj))))
            when = lambda *values: during(operator, subject, obj, dict(zip(names, values, strict=True)))  # noqa: E731
            self.add(f"for s{at} in {self._call(when, names)}:")
            self.depth += 1
            self._step(None, f"s{at}")
            return
        left, right = (
            self._call(worker(term)[1], names_in(term)) if is_expression(term) else self.term(term)
            for term in (subject, obj)
        )
        if is_expression(subject) or is_variable(obj) or is_expression(obj):
            self.add(f"if not compare({self.value(operator)}, {left}, {right}): continue")
        else:
            self.add(f"if not {self.value(_Known(operator, obj))}[{left}]: continue")

    def _add_value(self, at: int, condition: Pattern) -> None:
        """Gives a variable the value that is worked out for it."""
        names, work = worker(condition.object)
        name = f"v{len(self.bound)}"
        self.add(f"{name} = {self._call(work, names)}")
        self.add(f"if {name} is None: continue")
        self.bound[condition.subject] = name

    def _add_negation(self, at: int, condition: Pattern) -> None:
        outer = tuple(sorted(self._outer(condition)))
        call = self._call(_inner(condition.inner, self.index, outer), outer)
        if not self.index.are_timed(condition.inner):
            self.add(f"if {call}: continue")
            return
        self.add(f"for s{at} in subtract({self.state('t')}, [found[3] for found in {call}]):")
        self.depth += 1
        self._step(None, f"s{at}")

    def _add_count(self, at: int, condition: Pattern) -> None:
        outer = tuple(sorted(self._outer(condition)))
        count = partial(_count, condition, _inner(condition.inner, self.index, outer), outer, {})
        self.add(f"for g{at} in {self._call(count, outer)}:")
        self.depth += 1
        self.add(f"f{at} = g{at}[4]")
        if condition.subject in self.bound:
            self.add(f"if not compare('eq', g{at}[0], {self.bound[condition.subject]}): continue")
        else:
            self.bound[condition.subject] = name = f"v{len(self.bound)}"
            self.add(f"{name} = g{at}[0]")
        self._step((f"g{at}[1]", f"g{at}[2]"), f"g{at}[3]")

    def _open(self, at: int, batch: str) -> None:
        """A loop over the rows that one condition can match, or the single row."""
        subject, predicate, obj, operator = self.conditions[at][:4]
        is_wild = is_variable(predicate)
        know_subject, know_predicate = self._is_known(subject), self._is_known(predicate)
        know_object = operator == "eq" and self._is_known(obj) and not _is_value(obj)
        row = f"f{at}"
        if batch:
            know_subject = know_object = know_predicate = False
            self._loop(row, batch)
        elif is_wild and know_predicate:
            ends = (
                self.term(term) if known else "None" for term, known in ((subject, know_subject), (obj, know_object))
            )
            self._loop(row, f"find({self.term(predicate)}, {', '.join(ends)})")
        else:
            relation = self.index.everything() if is_wild else self.index.relation(predicate)
            self._look_up(row, relation, subject if know_subject else None, obj if know_object else None)
        if not know_subject:
            self._take(subject, f"{row}[0]")
        if not know_object:
            self._take_object(obj, operator, f"{row}[1]", at)
        if is_wild and not know_predicate:
            self._take(predicate, f"{row}[7]")
        self._step((f"{row}[2]", f"{row}[3]"), f"{row}[4]")

    def _look_up(self, row: str, relation: Relation, subject: str | None, obj: str | None) -> None:
        """Loops over the rows with a subject and an object, or takes the one row."""
        if subject is not None and obj is not None:
            get = self.value(relation.index("both").get)
            if relation.is_timed:
                self._loop(row, f"{get}(({self.term(subject)}, {self.term(obj)}), none)")
                return
            self.add(f"{row} = {get}(({self.term(subject)}, {self.term(obj)}))")
            self.add(f"if {row} is None: continue")
        elif subject is not None:
            self._loop(row, f"{self.value(relation.index('subject').get)}({self.term(subject)}, none)")
        elif obj is not None:
            self._loop(row, f"{self.value(relation.index('object').get)}({self.term(obj)}, none)")
        else:
            self._loop(row, self.value(relation.rows))

    def _loop(self, row: str, rows: str) -> None:
        self.add(f"g{row} = {rows}")
        self.add(f"n += len(g{row})")
        self.add("if n > most or len(found) > room: raise JoinLimit")
        self.add(f"for {row} in g{row}:")
        self.depth += 1

    def _is_known(self, term: str) -> bool:
        return not is_open(term) and (not is_variable(term) or term in self.bound)

    def _take(self, term: str, place: str) -> None:
        """Binds a variable to a place of a row, or checks that what is there is right."""
        if is_open(term):
            return
        if is_variable(term) and term not in self.bound:
            self.bound[term] = name = f"v{len(self.bound)}"
            self.add(f"{name} = {place}")
        else:
            self.add(f"if {place} != {self.term(term)}: continue")

    def _take_object(self, obj: str, operator: str, place: str, at: int) -> None:
        if is_open(obj) or (operator == "eq" and (is_variable(obj) or not _is_value(obj))):
            self._take(obj, place)
        elif is_variable(obj):  # compared once it has a value, as if it were written behind
            hidden = f"?#{at}"
            self.bound[hidden] = name = f"v{len(self.bound)}"
            self.add(f"{name} = {place}")
            self.conditions = (*self.conditions, Pattern(hidden, "", obj, operator))
            self.waiting.append(len(self.conditions) - 1)
        else:
            self.add(f"if not {self.value(_Known(operator, obj))}[{place}]: continue")

    def _step(self, weight: tuple[str, str] | None, span: str) -> None:
        """Takes over the least confidence, the greatest depth and the common time of what is joined so far."""
        before = {letter: self.state(letter) for letter in "cdt"}
        is_first, self.last, self._steps = self.last < 0, self._steps, self._steps + 1
        at = self.last
        if self.weighed:
            for letter, sign, place in (("c", "<", 0), ("d", ">", 1)):
                new = weight[place] if weight else before[letter]
                self.add(f"{letter}{at} = {new}")
                if weight and not is_first:
                    self.add(f"if {before[letter]} {sign} {letter}{at}: {letter}{at} = {before[letter]}")
        if self.timed:
            self.add(f"t{at} = {span}" if is_first else f"t{at} = meet({before['t']}, {span})")
            self.add(f"if t{at} is EMPTY: continue")


def _is_value(term: str) -> bool:
    """Returns whether a term is equal to others that are written differently."""
    return not is_variable(term) and find_value(term) is not None


def _inner(conditions: tuple[Pattern, ...], index: FactIndex, given: tuple[str, ...]) -> Callable[..., Any]:
    """Returns a function from values of the variables that are given to all ways in which conditions hold: the values of their
    other variables, confidence, depth, time and rows."""
    key = conditions, given
    if key in index.looked_up:
        return index.looked_up[key]  # type: ignore[no-any-return]
    found: list[Any] = []
    names: list[str] = []

    def emit(join: Join) -> list[str]:
        names.extend(name for name in join.variables() if name not in given)
        values = "".join(f"{join.bound[name]}, " for name in names)
        return [
            f"found.append((({values}), {join.state('c')}, {join.state('d')}, {join.state('t')}, {join.supports()}))"
        ]

    run = Join(conditions, index, weighed=True, given=given).compile(-1, emit, found, MOST_JOINS, MOST_MATCHES)
    known: dict[tuple[str, ...], list[Any]] = {}

    def look(*values: str) -> list[Any]:
        if values not in known:
            found.clear()
            run(values, 0)
            known[values] = list(found)
        return known[values]

    look.names = names  # type: ignore[attr-defined]
    index.looked_up[key] = look
    return look


def _count(
    condition: Pattern, inner: Callable[..., Any], outer: tuple[str, ...], known: dict[Any, Any], *values: str
) -> list[tuple[str, float, int, Span | None, tuple[Row, ...]]]:
    """Returns what an aggregate is for some values, for each stretch of time: with confidence, depth and the rows behind it."""
    if values in known:
        return known[values]  # type: ignore[no-any-return]
    matches = inner(*values)
    names: list[str] = inner.names  # type: ignore[attr-defined]
    counted = condition.object
    found: list[Any] = []
    is_timed = any(each[3] is not None for each in matches)
    for low, high in cut_points([each[3] for each in matches]) if is_timed else [(0, 0)]:
        present = [each for each in matches if not is_timed or holds_within(each[3], low)]
        if counted in outer:
            texts = [values[outer.index(counted)]] * bool(present)
        elif condition.operator == "count":
            texts = list({each[0][names.index(counted)] for each in present})
        else:
            texts = [row[names.index(counted)] for row in {each[0] for each in present}]
        total = aggregate(condition.operator, texts)
        sure, depth = min((m[1] for m in present), default=1.0), max((m[2] for m in present), default=0)
        rows = _in_order(row for each in present for row in each[4])
        span = subtract((low, high), ())[0] if is_timed else None
        last = found[-1] if found else None
        if last and last[:3] == (total, sure, depth) and last[3][1] == low:
            found[-1] = (total, sure, depth, subtract((last[3][0], high), ())[0], _in_order((*last[4], *rows)))
        elif total is not None:
            found.append((total, sure, depth, span, rows))
    known[values] = found
    return found


def _in_order(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Returns rows, each once, in an order that does not depend on the one given."""
    found = {id(row): row for row in rows}.values()
    return tuple(sorted(found, key=lambda row: (row[7], row[:2], row[4] or ALWAYS)))
