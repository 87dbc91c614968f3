"""Cases: a situation that an agent was in, what it did, and the outcome."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from heapq import nsmallest
from math import log
from typing import Any, Protocol

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import DAY, find_time
from mabos_cli.core.language.text import fold
from mabos_cli.core.memory.item import TRUSTS, check_choice, check_word
from mabos_cli.core.memory.trust import bound_by_source, lowest_trust, trust_rank
from mabos_cli.core.records import NamedTuple

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
    open. Times are ISO-8601 text as on disk. `source` is empty for the agent's own experience. `extra` holds keys of other tools;
    under the name of a part (situation, solution, outcome) those of that part."""

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
    source: str = ""
    trust: str = "agent"

    @property
    def key(self) -> Key:
        return frozenset(self.beliefs), frozenset(self.desires)

    @property
    def word(self) -> str:
        """Returns how it went, in a word that can be seen, and whether it is untrusted."""
        return _WORDS[self.success] + ("" if self.is_trusted else ", untrusted")

    @property
    def is_trusted(self) -> bool:
        return trust_rank(self.trust) > 0


def is_same_case(a: Case, b: Case) -> bool:
    """Returns whether two cases are the same: equal situation and solution, whatever the outcome.

    >>> is_same_case(Case("", ("B-1", "B-2"), context="Churn  rose."), Case("", ("B-2", "B-1"), context="churn rose"))
    True
    """
    compared = [
        (case.key, folded(case.context), case.plan_id.casefold(), tuple(map(folded, case.actions))) for case in (a, b)
    ]
    return compared[0] == compared[1]


def folded(text: str) -> str:
    """Returns a text without what does not matter for what it says: case, spacing, the stop at its end."""
    return fold(text).rstrip(".! ")


def check_texts(case: Case) -> Case:
    """Returns the case with its texts in order, without the blanks around them; BadValue if a file cannot hold one."""

    def checked(text: str, what: str) -> str:
        if len(text) > _LONGEST or "\0" in text:
            raise BadValue(f"bad {what}", f"text of at most {_LONGEST:,} characters")
        return text.strip()

    return case._replace(
        context=checked(case.context, "context"),
        plan_id=check_word(case.plan_id, "plan"),
        actions=tuple(text for each in case.actions if (text := checked(each, "action"))),
        lessons=checked(case.lessons, "lessons"),
    )


def check_case(case: Case) -> Case:
    """Returns the case with features and texts in order, BadValue if it makes no sense."""
    features = []
    for given, what in ((case.beliefs, "belief"), (case.desires, "desire")):  # in the order given, each once
        features.append(tuple(dict.fromkeys(word for each in given if (word := check_word(each, what)))))
        if len(features[-1]) > _MOST:
            raise BadValue(f"more than {_MOST} {what}s", "give those that matter")
    made = check_texts(case._replace(beliefs=features[0], desires=features[1]))
    for name, value in made.metrics:
        if not check_word(name, "metric") or not math.isfinite(value):
            raise BadValue(f"bad metric {name[:40]!r}: {value}", "a name and a number, as in churn=0.04")
    if not (made.beliefs or made.desires or made.context):
        raise BadValue("the situation is empty", "give --belief, --desire, --context, or --from-mind")
    if not (made.plan_id or made.actions):
        raise BadValue("the solution is empty", "say what was done: --plan, --action")
    check_choice(made.trust, TRUSTS, "trust")
    return bound_by_source(made._replace(source=check_word(made.source, "source")))


def adapt_case(base: Case, given: Case) -> Case:
    """Returns a case made from another: what is not given is taken from there, except the outcome. It is trusted no more than the other is."""
    parts = ("beliefs", "desires", "context", "plan_id", "actions")
    taken = {name: getattr(base, name) for name in parts if not getattr(given, name)}
    return given._replace(**taken, adapted_from=base.id, trust=lowest_trust((base.trust, given.trust)))


def parse_metric(text: str) -> tuple[str, float]:
    """Returns a name and a number from `name=number`.

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
    """Returns metrics on a line, each with all of its digits.

    >>> render_metrics((("revenue", 12345678), ("churn", 0.1 + 0.2)))
    'revenue 12345678, churn 0.3'
    """
    return ", ".join(f"{name} {render_number(value)}" for name, value in metrics)


def render_number(value: float) -> str:
    """Returns a number with all of its digits, and none that only binary arithmetic put there."""
    return str(value) if type(value) is int else f"{value:.15g}"


NOTED = ("context", "plan_id", "actions", "success", "metrics", "lessons")  # what revisions tell the earlier values of
HALF_LIFE = 180  # days in which a case loses half of what it is worth, unless it is used
_STALEST = 0.1
_OUTCOMES = {True: 1.0, False: 0.8, None: 0.5}  # a failure warns; what came of an open one nobody knows
_MOST_LESSONS = 8_000


class CaseDeparture(NamedTuple):
    """A case that left, as it is in the file."""

    id: str
    reason: str
    at: str
    case: Case | None = None


class CaseChanges(NamedTuple):
    """Holds what a command wants written: cases to add or to replace by id, ids to drop, and what goes to the archive first."""

    put: tuple[Case, ...] = ()
    drop: tuple[str, ...] = ()
    archive: tuple[CaseDeparture, ...] = ()


class Worth(NamedTuple):
    """Holds what the usefulness of a case depends on."""

    id: str
    key: Key
    uses: int
    success: bool | None
    at: str


class CaseSource(Protocol):
    """The cases of an agent, decoded only as far as somebody asks."""

    def ids(self) -> Collection[str]: ...

    def alike(self, key: Key) -> Iterable[Case]: ...

    def worths(self) -> Iterable[Worth]: ...


class CaseIds:
    """Gives the id that is wished for if nobody has or had it, else the next number."""

    def __init__(self, ids: Collection[str]) -> None:
        self._ids = {*ids}
        numbers = {number for case_id in ids if (number := number_of(case_id)) is not None}
        self._had = self.last = max(numbers, default=0)  # numbers up to this one may have been given and forgotten
        self._numbers = numbers

    def new_id(self, wished: str) -> str:
        """Returns an id that was never given before."""
        number = number_of(wished)
        is_ours = number is not None and (number <= self._had or number in self._numbers)
        if not wished or wished in self._ids or is_ours:
            number = self.last + 1
            wished = f"C-{number:03d}"
        self._ids.add(wished)
        if number is not None:
            self._numbers.add(number)
            self.last = max(self.last, number)
        return wished


def number_of(case_id: str) -> int | None:
    """Returns the number of an id of ours, None for another one.

    >>> number_of("C-007"), number_of("deal 9")
    (7, None)
    """
    match = re.fullmatch(r"C-(\d{1,17})", case_id)
    return int(match[1]) if match else None


def usefulness(uses: int, success: bool | None, age: float, alike: int) -> float:
    """Returns what a case is worth: (1 + ln(1 + uses)) x outcome x freshness x rarity.

    The outcome counts 1 for success, .8 for failure, .5 while it is open. Freshness halves every 180 days since the last use,
    down to a tenth. Rarity is 1 + 1/n among n cases of the same beliefs and desires: the only one of its kind counts double.

    >>> usefulness(0, True, 0, 1), usefulness(0, False, 180, 2)
    (2.0, 0.6000000000000001)
    """
    fresh: float = max(_STALEST, 0.5 ** (max(0.0, age) / HALF_LIFE))
    return (1 + log(1 + uses)) * _OUTCOMES[success] * fresh * (1 + 1 / max(1, alike))


def choose_leaving(worths: Iterable[Worth], count: int, now: datetime) -> list[str]:
    """Returns the ids of the least useful cases, as many as must leave."""
    held = list(worths)
    alike = Counter(worth.key for worth in held)

    def value(worth: Worth) -> float:
        at = find_time(worth.at)
        age = (now - at).total_seconds() / DAY if at else HALF_LIFE * 10
        return usefulness(worth.uses, worth.success, age, alike[worth.key])

    return [worth.id for worth in nsmallest(count, held, key=lambda worth: (value(worth), worth.at, worth.id))]


def plan_store(
    given: Sequence[Case], held: CaseSource, now: datetime, stamp: str, limit: int, used: Case | None = None
) -> tuple[CaseChanges, list[tuple[Case, str]]]:
    """Adds cases, or merges those that are known; beyond the limit the least useful leave. Also returns the outcome for each: stored, or
    merged. `used` is the case that they were made from, which counts a use."""
    put: dict[str, Case] = {used.id: count_use(used, stamp)} if used else {}
    ids = CaseIds(held.ids())
    new: dict[Key, list[Case]] = {}
    archive: list[CaseDeparture] = []
    outcomes: list[tuple[str, str]] = []
    for case in given:
        known = [*(put.get(c.id, c) for c in held.alike(case.key)), *(put[c.id] for c in new.get(case.key, ()))]
        # What is trusted less must not rewrite a case, nor make one vanish that is trusted more.
        alike = (other for other in known if trust_rank(other.trust) == trust_rank(case.trust))
        twin = next((other for other in alike if is_same_case(other, case)), None)
        if twin is None:
            made = case._replace(id=ids.new_id(case.id), stored_at=case.stored_at or stamp)
            new.setdefault(case.key, []).append(made)
        else:
            # The case that this one was made from counted its use above.
            before = twin._replace(uses=twin.uses - 1) if used and twin.id == used.id else twin
            made = merge_cases(before, case, stamp)
        put[made.id] = made
        outcomes.append((made.id, "merged" if twin else "stored"))
    added = {case.id for cases in new.values() for case in cases}
    if len(added) > limit:
        raise BadValue(f"{len(added):,} cases are more than the {limit:,} that are kept", "raise cbr.max_cases")
    over = len(held.ids()) + len(added) - limit
    gone: list[str] = []
    if over > 0:
        # The highest number stays, whatever it is worth: the next id goes by it, and none is given twice.
        old = [w for w in held.worths() if w.id not in put and number_of(w.id) != ids.last]
        gone = choose_leaving(old, over, now)
        archive += [CaseDeparture(case_id, f"least useful of more than {limit}", stamp) for case_id in gone]
    changes = CaseChanges(tuple(put.values()), tuple(gone), tuple(archive))
    return changes, [(put[case_id], state) for case_id, state in outcomes]


def merge_cases(old: Case, new: Case, at: str) -> Case:
    """Returns a case that happened again: the latest outcome counts, lessons of both are kept, and the earlier values stay
    known."""
    found = old._replace(
        success=old.success if new.success is None else new.success,
        metrics=tuple((dict(old.metrics) | dict(new.metrics)).items()),
        lessons=merge_lessons(old.lessons, new.lessons),
        merged=old.merged + 1,
    )
    return count_use(note_revision(old, found, at, "merge"), at)


def merge_lessons(old: str, new: str) -> str:
    """Returns both lessons, or the one that holds the other.

    >>> merge_lessons("Call first", "call first."), merge_lessons("Call", "Write")
    ('Call first', 'Call\\nWrite')
    """
    if folded(new) in folded(old):
        return old
    if folded(old) in folded(new) or len(old) + len(new) > _MOST_LESSONS:
        return new
    return f"{old}\n{new}"


def count_use(case: Case, at: str) -> Case:
    """Returns the case after one more use."""
    return case._replace(uses=case.uses + 1, last_used=max(case.last_used, at))


def revise_case(old: Case, changes: Mapping[str, Any], at: str, *, is_use: bool = True) -> Case:
    """Returns the case after a reuse, or a correction: new values, with the earlier ones in its revisions."""
    values = dict(changes)
    if "metrics" in values:
        values["metrics"] = tuple((dict(old.metrics) | dict(values["metrics"])).items())
    new = note_revision(old, old._replace(**values), at, "reuse" if is_use else "correction")
    return count_use(new, at) if is_use else new


def note_revision(old: Case, new: Case, at: str, by: str) -> Case:
    """Returns the new case with the earlier values of what it changes; nothing is noted when nothing changed."""
    was = tuple((name, getattr(old, name)) for name in NOTED if getattr(old, name) != getattr(new, name))
    return new._replace(revisions=(*old.revisions, Revision(at, by, was))) if was else new


class KeptResult(NamedTuple):
    """A result of reasoning that the agent keeps: which method concluded it, how sure it was, and what came of it."""

    id: str
    method: str
    problem: str
    confidence: float | None
    happened: bool | None  # whether the conclusion turned out right; None as long as nobody knows
    at: str
    classification: tuple[tuple[str, str], ...] = ()
    lesson: str = ""
