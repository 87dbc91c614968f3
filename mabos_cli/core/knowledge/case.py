"""Cases: what an agent was in, what it did about it, and what came of it."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import fold
from mabos_cli.core.memory.item import check_word

# The beliefs and the desires of a situation.
Key = tuple[frozenset[str], frozenset[str]]
_LONGEST, _MOST = 20_000, 1_000
_WORDS = {True: "worked", False: "FAILED", None: "open"}


class Revision(NamedTuple):
    """A change of a case: when, by what, and the earlier values of the fields that changed. `extra` holds keys of other tools."""

    at: str
    by: str
    was: tuple[tuple[str, Any], ...]
    extra: tuple[tuple[str, Any], ...] = ()


class Case(NamedTuple):
    """A case. Features of the situation are ids of beliefs and desires, or free words; `success` is None while the outcome is
    open. Times are ISO-8601 text as on disk. `extra` holds keys of other tools; under the name of a part (situation, solution,
    outcome) those of that part."""

    id: str
    beliefs: tuple[str, ...] = ()
    desires: tuple[str, ...] = ()
    context: str = ""
    plan_id: str = ""
    actions: tuple[str, ...] = ()
    success: bool | None = None
    metrics: tuple[tuple[str, float], ...] = ()
    lessons: str = ""
    stored_at: str = ""
    uses: int = 0
    last_used: str = ""
    merged: int = 0
    adapted_from: str = ""
    revisions: tuple[Revision, ...] = ()
    extra: tuple[tuple[str, Any], ...] = ()

    @property
    def key(self) -> Key:
        return frozenset(self.beliefs), frozenset(self.desires)

    @property
    def word(self) -> str:
        """How it went, in a word that can be seen."""
        return _WORDS[self.success]


def is_same_case(a: Case, b: Case) -> bool:
    """Whether two cases tell of the same thing: equal situation and solution, whatever came of it.

    >>> is_same_case(Case("", ("B-1", "B-2"), context="Churn  rose."), Case("", ("B-2", "B-1"), context="churn rose"))
    True
    """
    said = [
        (case.key, folded(case.context), case.plan_id.casefold(), tuple(map(folded, case.actions))) for case in (a, b)
    ]
    return said[0] == said[1]


def folded(text: str) -> str:
    """A text without what does not matter for what it says: case, spacing, the stop at its end."""
    return fold(text).rstrip(".! ")


def check_case(case: Case) -> Case:
    """The case with its texts in order, BadValue if it makes no sense."""
    made = case._replace(
        beliefs=check_features(case.beliefs, "belief"),
        desires=check_features(case.desires, "desire"),
        context=check_text(case.context, "context"),
        plan_id=check_word(case.plan_id, "plan"),
        actions=tuple(text for each in case.actions if (text := check_text(each, "action"))),
        lessons=check_text(case.lessons, "lessons"),
    )
    for name, value in made.metrics:
        if not check_word(name, "metric") or not math.isfinite(value):
            raise BadValue(f"bad metric {name[:40]!r}: {value}", "a name and a number, as in churn=0.04")
    if not (made.beliefs or made.desires or made.context):
        raise BadValue("the situation is empty", "give --belief, --desire, --context, or --from-mind")
    if not (made.plan_id or made.actions):
        raise BadValue("the solution is empty", "say what was done: --plan, --action")
    return made


def check_features(given: Sequence[str], what: str) -> tuple[str, ...]:
    """Features in the order in which they are given, each once."""
    kept = tuple(dict.fromkeys(word for each in given if (word := check_word(each, what))))
    if len(kept) > _MOST:
        raise BadValue(f"more than {_MOST} {what}s", "give those that matter")
    return kept


def check_text(text: str, what: str) -> str:
    """A text that a file can hold, without the blanks around it."""
    if len(text) > _LONGEST or "\0" in text:
        raise BadValue(f"bad {what}", f"text of at most {_LONGEST:,} characters")
    return text.strip()


def adapt_case(base: Case, given: Case) -> Case:
    """A case made from another: what is not given is taken from there, but for what came of it."""
    parts = ("beliefs", "desires", "context", "plan_id", "actions")
    taken = {name: getattr(base, name) for name in parts if not getattr(given, name)}
    return given._replace(**taken, adapted_from=base.id)


def parse_metric(text: str) -> tuple[str, float]:
    """A name and a number from `name=number`.

    >>> parse_metric("churn = 0.04")
    ('churn', 0.04)
    """
    name, equals, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not equals or not check_word(name, "metric") or not math.isfinite(number):
        raise BadValue(f"cannot read {text[:40]!r} as a metric", "name=number, as in churn=0.04")
    is_whole = re.fullmatch(r"\s*[+-]?\d+\s*", value)  # which a float would round
    return check_word(name, "metric"), int(value) if is_whole else number


def render_metrics(metrics: Iterable[tuple[str, float]]) -> str:
    """Metrics on a line, each with all of its digits.

    >>> render_metrics((("revenue", 12345678), ("churn", 0.1 + 0.2)))
    'revenue 12345678, churn 0.3'
    """
    return ", ".join(f"{name} {render_number(value)}" for name, value in metrics)


def render_number(value: float) -> str:
    """A number with all of its digits, and none that only binary arithmetic put there."""
    return str(value) if type(value) is int else f"{value:.15g}"
