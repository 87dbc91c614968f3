"""Finds values that meet all constraints, or the constraints that clash."""

import re
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, choice, cut, figure, listed, names, notes, yes_no
from mabos_cli.reasoning.expression import COMPARISONS, Node, check_names, parse_expression
from mabos_cli.reasoning.formal.constraint_search import MOST_CHECKS, Constraint, GaveUp, Search, make_constraint
from mabos_cli.reasoning.inputs import AgentData, known_name
from mabos_cli.reasoning.shape import check_size

MOST_VALUES = 10_000
_CONDITIONS = (*COMPARISONS, "in", "and", "or", "not", "->", "<->", "if", "all_different", "all_equal")
_RANGE = re.compile(r"(-?\d{1,9})\s*(?:\.\.+|…|to)\s*(-?\d{1,9})")
_MOST_COUNTED = 10_000
_HINT = "write for example: a != b, x + y <= 10, all_different(a, b), if a = red then b = 'dark blue'"


class _Problem(NamedTuple):
    """The problem as numbers, with what the user wrote for each part."""

    names: tuple[str, ...]
    domains: tuple[tuple[Any, ...], ...]
    constraints: tuple[Constraint, ...]
    written: tuple[str, ...]  # by owner


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns a solution, or a smallest set of constraints that no values meet."""
    asked = _read(fields)
    if fields["ask"]:
        known_name("ask", fields["ask"], asked.names, "variable")
    try:
        found, is_complete = _collect(Search(asked.domains, asked.constraints), _MOST_COUNTED)
        return _all(asked, fields, found, is_complete) if found else _clash(asked)
    except GaveUp:
        hint = "narrow the domains, add constraints that tell equal solutions apart, or split the problem"
        raise BadValue(f"constraints: no result after {MOST_CHECKS:,} checks", hint) from None


def _all(asked: _Problem, fields: dict[str, Any], found: list[tuple[Any, ...]], is_complete: bool) -> Answer:
    """Returns the first solution, how many there are, and what is the same in all of them."""
    first, listing = found[0], found[: fields["show"]]
    same = {n: first[n] for n in range(len(first)) if all(one[n] == first[n] for one in found)}
    steps = [listed(_assigned(asked, one), 16) for one in listing]
    if len(found) > fields["show"]:
        steps.append(f"... and {len(found) - fields['show']:,} more")
    caveats = notes(
        (not is_complete, "not all solutions were counted: the search stops at a limit"),
        (is_complete and len(found) > 1, f"{len(found):,} solutions meet the constraints; the first is given"),
    )
    if is_complete and len(found) > 1 and 0 < len(same) < len(first):
        fixed = [f"{asked.names[n]}={_shown(value)}" for n, value in same.items()]
        steps.append(f"the same in all solutions: {listed(fixed, 12)}")
    plain = [{name: _plain(value) for name, value in zip(asked.names, one, strict=True)} for one in listing]
    detail = {
        "satisfiable": True,
        "solution": plain[0],
        "solutions": plain,
        "count": len(found),
        "count_is_complete": is_complete,
        "same_in_all": {asked.names[n]: _plain(value) for n, value in same.items()} if is_complete else {},
    }
    many = f"{'' if is_complete else 'at least '}{len(found):,}"
    which = "the only solution" if is_complete and len(found) == 1 else f"a solution, of {many}"
    assigned, ask = _assigned(asked, first), fields["ask"]
    conclusion = choice(_shown(first[asked.names.index(ask)]), about=ask) if ask else names(assigned)
    return Answer(conclusion, None, f"{which}: {listed(assigned, 16)}", cut(steps, fields["show"] + 2), detail, caveats)


def _collect(search: Search, most: int) -> tuple[list[tuple[Any, ...]], bool]:
    """Returns the solutions up to a number, and whether these are all. GaveUp if not even one was found in time."""
    found: list[tuple[Any, ...]] = []
    try:
        for one in search.solutions():
            if len(found) == most:
                return found, False
            if not found:
                search.most = min(search.most, search.checks + MOST_CHECKS // 3)
            found.append(one)
    except GaveUp:
        if not found:
            raise
        return found, False
    return found, True


def _clash(asked: _Problem) -> Answer:
    """Returns a set of constraints that cannot hold together, though any of them could be left out: those are dropped
    one by one without which there is still no solution."""
    kept, is_minimal, spent = set(range(len(asked.written))), True, 0
    for owner in range(len(asked.written)):
        rest = [one for one in asked.constraints if one.owner in kept - {owner}]
        search = Search(asked.domains, rest, MOST_CHECKS // 10)
        try:
            if spent > MOST_CHECKS:
                raise GaveUp
            if next(search.solutions(), None) is None:
                kept.discard(owner)
        except GaveUp:
            is_minimal = False
        spent += search.checks
    clash = [asked.written[owner] for owner in sorted(kept)]
    caveats = () if is_minimal else ("the clash may be smaller: some trials took too long",)
    steps = ["these cannot all hold:", *clash, "without any one of them, the others can"]
    detail = {"satisfiable": False, "conflict": clash, "is_minimal": is_minimal}
    summary = f"no values meet all constraints: {len(clash)} of {len(asked.written)} clash: {listed(clash, 4)}"
    return Answer(yes_no(False, "all constraints can be met"), None, summary, cut(steps), detail, caveats)


def _assigned(asked: _Problem, found: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(f"{name}={_shown(value)}" for name, value in zip(asked.names, found, strict=True))


def _plain(value: Any) -> Any:
    return (int(value) if value.denominator == 1 else float(value)) if isinstance(value, Fraction) else value


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return figure(float(value)) if isinstance(value, Fraction) and value.denominator > 1 else str(value)


def _read(fields: dict[str, Any]) -> _Problem:
    """Returns the problem that the input states."""
    check_names(fields["variables"], "variables")
    values = {name: read_domain(f"variables.{name}", raw) for name, raw in fields["variables"].items()}
    texts = {one for domain in values.values() for one in domain if isinstance(one, str)}
    numbers = {name: n for n, name in enumerate(values)}
    domains = tuple(values.values())

    def read(raw: str, place: str) -> Node:
        return _resolve(parse_expression(raw, place, _HINT), place, numbers, texts)

    constraints: list[Constraint] = []
    for n, raw in enumerate(fields["constraints"], 1):
        constraints += _constraints(n - 1, read(raw, f"constraints[{n}]"), f"constraints[{n}]", domains)
    return _Problem(tuple(values), domains, tuple(constraints), tuple(fields["constraints"]))


def _resolve(node: Node, place: str, numbers: Mapping[str, int], texts: set[str]) -> Node:
    """Returns the tree with each name as the number of a variable or, if there is none, as a value of some domain."""
    if node.op != "name":
        return node._replace(parts=tuple(_resolve(part, place, numbers, texts) for part in node.parts))
    if node.value in numbers:
        return Node("name", value=numbers[node.value])
    known_name(place, node.value, (*numbers, *sorted(texts)), "variable or value")
    return Node("value", value=node.value)


def _constraints(owner: int, node: Node, place: str, domains: tuple[tuple[Any, ...], ...]) -> list[Constraint]:
    """Returns the constraints of a condition: parts that must all hold stand apart, which prunes more."""
    if node.op == "and":
        return [one for part in node.parts for one in _constraints(owner, part, place, domains)]
    if node.op == "all_different":
        pairs = [make_constraint(owner, Node("!=", pair), place) for pair in combinations(node.parts, 2)]
        are_names = all(part.op == "name" for part in node.parts)
        return pairs + ([make_constraint(owner, node, place, are_counted=True)] if are_names else [])
    # A variable that is true or false is a condition by itself.
    is_flag = node.op == "name" and all(isinstance(value, bool) for value in domains[node.value])
    if node.op not in _CONDITIONS and not is_flag and not isinstance(node.value, bool):
        raise BadValue(f"{place}: is no condition", "compare it with something: =, !=, <, <=, >, >=")
    return [make_constraint(owner, node, place)]


def read_domain(place: str, raw: Any) -> tuple[Any, ...]:
    """Returns the values of a variable, from a list or a range.

    >>> read_domain("variables.x", "1..3")
    (1, 2, 3)
    """
    if isinstance(raw, str):
        match = _RANGE.fullmatch(raw.strip())
        if not match:
            raise BadValue(f"{place}: {raw[:40]!r} is no range", "give [a, b, c] or 1..9")
        low, high = int(match[1]), int(match[2])
        check_size(place, high - low + 1, MOST_VALUES, "values")
        if high < low:
            raise BadValue(f"{place}: {raw} is empty", "the lower end comes first")
        return tuple(range(low, high + 1))
    if not isinstance(raw, list) or not raw:
        raise BadValue(f"{place}: must be a list of values or a range", "give [a, b, c] or 1..9")
    check_size(place, len(raw), MOST_VALUES, "values")
    found = tuple(_value(place, one) for one in raw)
    if len({*found}) < len(found):
        raise BadValue(f"{place}: a value occurs twice", "give each value once")
    return found


def _value(place: str, raw: Any) -> Any:
    """Returns a value with which one can calculate exactly."""
    if isinstance(raw, float):
        return Fraction(str(raw))
    if isinstance(raw, int) or (isinstance(raw, str) and raw.strip()):
        return raw.strip() if isinstance(raw, str) else raw
    raise BadValue(f"{place}: a value must be a number, a text, true or false", "")
