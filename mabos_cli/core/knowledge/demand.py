"""Tells what a goal asks for: the conclusions that a proof of it may need, so that nothing else is derived on the way.

The rules are written so that each works only when it is asked, and asks for what it needs in turn (known as magic sets). Chained
over bare triples, they yield the questions; confidence and time are left to the chain that answers them.
"""

from collections.abc import Callable, Iterable, Sequence

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.forward import Limits, run_chain
from mabos_cli.core.knowledge.rule import Pattern, Rule, is_open, is_variable, needs_of, reach
from mabos_cli.core.language.terms import uses_today
from mabos_cli.core.language.values import find_value

Wanted = Callable[[str, str, str], bool]
Question = tuple[str, bool, bool]  # a predicate, and whether subject and object are known
_ANY = "-"


def find_wanted(
    goal: tuple[str | None, str, str | None], facts: Iterable[Fact], rules: Sequence[Rule], most_joins: int
) -> tuple[Wanted | None, bool]:
    """Returns a function from a triple to whether a proof of a goal may need it, None if it may need anything; and whether the
    search was given up early."""
    is_wild = any(is_variable(c.predicate) for rule in rules for c in (*rule.conditions, rule.concluded))
    is_counted = any(condition.is_aggregate for rule in rules for condition in rule.conditions)
    if is_wild or is_counted or (goal[0] is None and goal[2] is None):
        return None, False
    whole = _needed_whole(rules)
    first: Question = (goal[1], goal[0] is not None, goal[2] is not None)
    asking, questions = _rewrite(first, [rule for rule in rules if rule.concluded.predicate not in whole])
    given = [Fact(f"F-{n}", *fact[1:4]) for n, fact in enumerate({fact[1:4]: fact for fact in facts}.values())]
    kept = [rule._replace(confidence_factor=1.0) for rule in rules if rule.concluded.predicate in whole]
    seed = Fact("F", goal[0] or _ANY, _name(first), goal[2] or _ANY)
    chain = run_chain([*given, seed], [*asking, *kept], Limits(max_facts=10_000_000, max_joins=most_joins))
    asked: dict[str, list[tuple[Question, set[tuple[str, str]]]]] = {}
    for question in questions:
        pairs = {row[:2] for row in chain.index.relation(_name(question)).rows}
        asked.setdefault(question[0], []).append((question, pairs))

    def wanted(subject: str, predicate: str, obj: str) -> bool:
        if predicate in whole:
            return True
        return any(
            (subject if by_subject else _ANY, obj if by_object else _ANY) in pairs
            for (_, by_subject, by_object), pairs in asked.get(predicate, ())
        )

    return wanted, bool(chain.stopped)


def _needed_whole(rules: Sequence[Rule]) -> set[str]:
    """Returns the predicates that are negated, and all on which they depend: what is missing of them would count."""
    closed = {name for rule in rules for name in needs_of(rule).closed}
    return reach(closed, [({rule.concluded.predicate}, needs_of(rule).all) for rule in rules])


def _name(question: Question) -> str:
    return f"\0{question[0]}\0{question[1]:d}{question[2]:d}"


def _ask(question: Question, subject: str, obj: str) -> Pattern:
    """Returns the triple that stands for a question about a subject and an object."""
    return Pattern(subject if question[1] else _ANY, _name(question), obj if question[2] else _ANY)


def _rewrite(first: Question, rules: Sequence[Rule]) -> tuple[list[Rule], list[Question]]:
    """Returns rules that ask and answer, beginning with one question, and all questions."""
    heads = {rule.concluded.predicate for rule in rules}
    questions, found = [first], dict[tuple[tuple[Pattern, ...], Pattern], None]()
    for question in questions:
        for rule in rules:
            if rule.concluded.predicate != question[0]:
                continue
            start = _ask(question, rule.concluded.subject, rule.concluded.object)
            bound = {term for term in (start.subject, start.object) if is_variable(term)}
            before, left = [start], [condition for condition in rule.conditions if condition.is_positive]
            while left:
                at = max(left, key=lambda each: sum(_known(each, bound)))
                left.remove(at)
                if at.predicate in heads:
                    asked: Question = (at.predicate, *_known(at, bound))
                    questions += [] if asked in questions else [asked]
                    found[tuple(before), _ask(asked, at.subject, at.object)] = None
                before.append(at)
                bound |= {term for term in (at.subject, at.object) if is_variable(term)}
            tests = [
                c for c in rule.conditions if not c.predicate and not c.inner and not uses_today(c.subject, c.object)
            ]
            found[(start, *(c for c in rule.conditions if c.is_positive), *tests), rule.concluded] = None
    made = [(conditions, conclusion) for conditions, conclusion in found if conclusion not in conditions]
    return [Rule(f"R-{n:06}", "", "inference", *each, confidence_factor=1.0) for n, each in enumerate(made)], questions


def _known(condition: Pattern, bound: set[str]) -> tuple[bool, bool]:
    """Returns whether the subject and the object of a condition are known."""
    subject, obj = (
        not is_open(term) and (term in bound if is_variable(term) else True)
        for term in (condition.subject, condition.object)
    )
    by_value = not is_variable(condition.object) and find_value(condition.object) is not None
    return subject, obj and condition.operator == "eq" and not by_value
