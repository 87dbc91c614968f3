"""Rules over facts: what follows, what must not be, and what is to be done."""

from collections.abc import Callable
from typing import Any, NamedTuple

KINDS = ("inference", "constraint", "policy")
OPERATORS = ("eq", "ne", "gt", "gte", "lt", "lte", "contains")
_SIGNS = {"eq": "=", "ne": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
SEVERITIES = ("info", "warning", "error", "critical")


class Pattern(NamedTuple):
    """A triple with variables (`?x`) in it. With an operator other than eq, the object of a fact is compared with the object
    given here, which is a value, or a variable that another condition binds. Without a predicate, the subject is a variable that
    other conditions bind, and its value is compared."""

    subject: str
    predicate: str
    object: str
    operator: str = "eq"


def pattern_text(pattern: Pattern, shown: Callable[[str], str] = str) -> str:
    """A pattern in words, each term as `shown` tells it.

    >>> pattern_text(Pattern("?x", "revenue", "50000", "gt")), pattern_text(Pattern("?y", "", "5"))
    ('?x revenue > 50000', '?y = 5')
    """
    middle = [pattern.predicate] if pattern.predicate else []
    terms = [shown(term) for term in (pattern.subject, *middle, pattern.object)]
    sign = _SIGNS.get(pattern.operator, pattern.operator)
    if not pattern.predicate or pattern.operator != "eq":
        terms.insert(-1, sign)
    return " ".join(terms)


class Rule(NamedTuple):
    """A rule: when all conditions hold together, an inference rule concludes a fact, a constraint is violated, a policy asks
    for an action. `extra` holds keys of other tools."""

    id: str
    name: str
    type: str
    conditions: tuple[Pattern, ...]
    conclusion: Pattern | None = None
    description: str = ""
    violation_message: str = ""
    severity: str = "warning"
    action: str = ""
    escalate: bool = False
    confidence_factor: float = 0.9
    enabled: bool = True
    domain: str = ""
    created_at: str = ""
    extra: tuple[tuple[str, Any], ...] = ()

    @property
    def label(self) -> str:
        """The id, and the name if it says more."""
        return self.id if self.name in ("", self.id) else f"{self.id} {self.name}"


def is_variable(term: str) -> bool:
    """Whether a term of a pattern stands for anything."""
    return len(term) > 1 and term.startswith("?")
