"""Finds what normally holds unless something speaks against it: extensions of a default theory, and what all share."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, cut, listed, names, notes, yes_no
from mabos_cli.reasoning.inputs import AgentData, check_known, known_facts
from mabos_cli.reasoning.shape import check_size

Literal = tuple[str, bool]  # an atom, and whether it holds
MOST_NODES, _MOST_WORK = 10_000, 1_500_000
_NOT = re.compile(r"(?:not\s+|[-~!¬]\s*)", re.IGNORECASE)
_MOST_STRICT, _SHOWN = 2000, 50
Literals = frozenset[Literal]


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns whether the statement asked about holds, or all that does."""
    check_size("strict", len(fields["strict"]), _MOST_STRICT, "strict rules")
    strict = [
        Strict(_literals(row["if"], f"strict[{n}].if"), _literal(row["then"], f"strict[{n}].then"))
        for n, row in enumerate(fields["strict"], 1)
    ]
    defaults = [_default(row, n) for n, row in enumerate(fields["defaults"], 1)]
    check_known("defaults", [one.name for one in defaults], [one.name for one in defaults])
    query = _literal(fields["query"], "query") if fields["query"] else None
    start, caveats = _facts(fields, agent, strict, defaults)
    clash = find_clash(Closure(strict).close(start))
    if clash is not None:
        raise BadValue(f"facts: {clash!r} both holds and does not hold", "mend the facts or the strict rules first")
    return _answer(query, find_extensions(start, strict, defaults), defaults, strict, caveats)


def _literal(raw: str, where: str) -> Literal:
    holds, rest = True, " ".join(raw.split())
    while match := _NOT.match(rest):
        holds, rest = not holds, rest[match.end() :]
    if not rest:
        raise BadValue(f"{where}: denies nothing", "write: not, and a statement")
    return rest, holds


def _literals(raw: list[str], where: str) -> Literals:
    return frozenset(_literal(one, f"{where}[{n}]") for n, one in enumerate(raw, 1))


class Default(NamedTuple):
    """A rule with exceptions: where all of `when` hold and nothing speaks against any of `assuming`, `then` holds."""

    name: str
    when: Literals
    assuming: Literals
    then: Literal


def _default(row: dict[str, Any], n: int) -> Default:
    """Returns the default of a row. Its conclusion is assumed too, so that it never goes against what is known."""
    where = f"defaults[{n}]"
    then = _literal(row["then"], f"{where}.then")
    unless = {opposite(one) for one in _literals(row["unless"], f"{where}.unless")}
    assuming = frozenset(unless | {then})
    clash = find_clash(assuming)
    if clash is not None:
        raise BadValue(f"{where}: assumes {clash!r} and its denial, so it never applies", "check unless")
    when = _literals(row["if"], f"{where}.if")
    name = row["name"] or f"{' and '.join(row['if']) or 'normally'}: {row['then']}"
    return Default(name, when, assuming, then)


class Strict(NamedTuple):
    """A rule without exceptions: where all of `when` hold, so does `then`."""

    when: Literals
    then: Literal


def _facts(
    fields: dict[str, Any], agent: AgentData, strict: list[Strict], defaults: list[Default]
) -> tuple[Literals, tuple[str, ...]]:
    """Returns what holds: the input's statements, or those of the agent's facts that some rule speaks about."""
    if fields["facts"] is not None:
        return _literals(fields["facts"], "facts"), ()
    rules = [*strict, *(Strict(one.when, one.then) for one in defaults)]
    used = {atom for rule in rules for atom, _ in (*rule.when, rule.then)}
    used |= {atom for one in defaults for atom, _ in one.assuming}
    facts, caveats = known_facts(fields, agent)
    stated = {" ".join(" ".join(fact.triple).split()) for fact in facts}
    known = frozenset((atom, True) for atom in stated & used)
    return known, (*caveats, f"{len(known)} of your own facts bear on the rules") if agent.take("facts") else caveats


def _shown(literal: Literal) -> str:
    return literal[0] if literal[1] else f"not {literal[0]}"


def _sorted(literals: Literals) -> list[str]:
    return [_shown(one) for one in sorted(literals, key=lambda one: (one[0], not one[1]))]


class Extension(NamedTuple):
    """A set of statements that hold together, and by which defaults (their numbers)."""

    literals: Literals
    applied: frozenset[int]


def _answer(
    query: Literal | None,
    found: list[Extension],
    defaults: list[Default],
    strict: list[Strict],
    caveats: tuple[str, ...],
) -> Answer:
    about, count = _shown(query) if query else "", len(found)
    everywhere = frozenset.intersection(*(one.literals for one in found)) if found else frozenset()
    rows = [
        {"holds": _sorted(one.literals), "defaults": [defaults[n].name for n in sorted(one.applied)]} for one in found
    ]
    detail: dict[str, Any] = {"extensions": rows[:_SHOWN], "extension_count": count, "in_all": _sorted(everywhere)}
    detail |= {"in_some": _sorted(frozenset().union(*(one.literals for one in found)))}
    if not found:
        summary = "there is no extension: some default undoes what it rests on"
        verdict = yes_no(None, about) if query else names(())
        return Answer(verdict, None, summary, (), detail, caveats)
    lines = cut(
        [
            f"{n}. {listed(row['holds'], 12)} by {listed(row['defaults']) or 'no default'}"
            for n, row in enumerate(rows, 1)
        ]
    )
    forward = "strict rules are used forward only: from what they conclude nothing follows backward"
    caveats, ways = caveats + notes((strict, forward)), plural(count, "extension")
    if query is None:
        summary = f"{ways}; in all of them: {listed(detail['in_all'], 12) or 'nothing'}"
        return Answer(names(tuple(detail["in_all"])), None, summary, lines, detail, caveats)
    holding, denied = (sum(one in each.literals for each in found) for one in (query, opposite(query)))
    detail |= {"holds_in": holding, "denied_in": denied}
    value = True if holding == count else False if denied == count else None
    summary = f"{about}: {'holds' if value else 'does not hold' if value is False else 'open'}; "
    summary += f"in {holding} of {ways}" + (f", denied in {denied}" if denied else "")
    return Answer(yes_no(value, about), None, summary, lines, detail, caveats)


def opposite(literal: Literal) -> Literal:
    """Returns what denies a literal."""
    return literal[0], not literal[1]


class Closure:
    """Strict rules, indexed for closing many sets of literals under them. They are used forward only."""

    def __init__(self, rules: Sequence[Strict]) -> None:
        self.rules = rules
        self.sizes = [len(rule.when) for rule in rules]
        self.waiting: dict[Literal, list[int]] = {}
        for n, rule in enumerate(rules):
            for literal in rule.when:
                self.waiting.setdefault(literal, []).append(n)

    def close(self, literals: Iterable[Literal], without: Collection[int] = ()) -> Literals:
        """Returns the literals with all that follows by the rules, some of them left out by number."""
        missing = [*self.sizes]
        for n in without:
            missing[n] = -1
        found = {*literals, *(self.rules[n].then for n, size in enumerate(missing) if size == 0)}
        queue = [*found]
        while queue:
            for n in self.waiting.get(queue.pop(), ()):
                missing[n] -= 1
                if missing[n] == 0 and self.rules[n].then not in found:
                    found.add(self.rules[n].then)
                    queue.append(self.rules[n].then)
        return frozenset(found)


def find_clash(literals: Literals) -> str | None:
    """Returns an atom that holds and does not hold, if there is one; the first by name."""
    return min((atom for atom, holds in literals if holds and (atom, False) in literals), default=None)


def find_extensions(start: Literals, strict: Sequence[Strict], defaults: Sequence[Default]) -> list[Extension]:
    """Returns every extension of consistent facts. BadValue if there are too many ways to try.

    Defaults that are open are taken up one after the other, and each is either used, or refused for good; a refusal must be
    borne out in the end by something that speaks against the default, and is given up as soon as nothing can.
    """
    found: list[Extension] = []
    most = min(MOST_NODES, _MOST_WORK // (1 + len(strict) + len(defaults)))
    rules = Closure(strict)
    # What could follow at best: defaults as if nothing could ever speak against them.
    hopes = Closure([*(Strict(one.when, one.then) for one in defaults), *strict])
    stack = [(rules.close(start), frozenset[int](), frozenset[int]())]
    for _ in range(most):
        if not stack:
            return found
        literals, applied, refused = stack.pop()
        if find_clash(literals) is not None or any(_is_blocked(defaults[n], literals) for n in applied):
            continue
        unborne = [n for n in refused if not _is_blocked(defaults[n], literals)]
        if unborne:
            reachable = hopes.close(literals, refused)
            if not all(_is_blocked(defaults[n], reachable) for n in unborne):
                continue
        number = next(_active(literals, applied | refused, defaults), None)
        if number is not None:
            stack.append((literals, applied, refused | {number}))
            stack.append((rules.close(literals | {defaults[number].then}), applied | {number}, refused))
        elif not unborne:
            found.append(Extension(literals, applied))
    raise BadValue(f"defaults: more than {most:,} combinations to try", "give fewer defaults that oppose each other")


def _is_blocked(default: Default, literals: Literals) -> bool:
    return any(opposite(literal) in literals for literal in default.assuming)


def _active(literals: Literals, done: frozenset[int], defaults: Sequence[Default]) -> Iterator[int]:
    """Yields the defaults that could be used now."""
    for n, default in enumerate(defaults):
        if n not in done and default.when <= literals and not _is_blocked(default, literals):
            yield n
