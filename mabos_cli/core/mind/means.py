"""Means and ends: the plans, playbooks and cases that lead to a goal, and the steps whose preconditions hold by what is known."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property
from typing import Generic, TypeVar

from mabos_cli.core.knowledge.case import Case
from mabos_cli.core.knowledge.fact import FactSource, holds_at
from mabos_cli.core.language.text import plural, terms
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.mind.commitment import DENIED
from mabos_cli.core.mind.mind import FAILED, GONE, Attitude, Belief, Step, status_word
from mabos_cli.core.records import NamedTuple

# What must hold before a step is taken: in brackets, or before the comma of a sentence; or a line that holds for the plan.
_WORDS = r"if|only if|when|once|after|needs?|requires?|preconditions?"
_BEFORE = re.compile(
    rf"[(\[]\s*(?:{_WORDS})\b\s*:?\s*([^()\[\]]+)[)\]]|^(?:if|when|once)\s+([^,:]+)[,:]", re.IGNORECASE
)
_FOR_ALL = re.compile(r"(?:preconditions?|requires|needs)\s*:\s*(.+)", re.IGNORECASE)
Value = TypeVar("Value")


class Means(NamedTuple):
    """A way to a goal: a plan, a playbook or what worked in a case. The steps that can be taken now, those that wait with what for,
    how many of these something speaks against, and how often it worked rather than failed."""

    name: str
    place: str
    ready: tuple[str, ...]
    waiting: tuple[str, ...]
    denied: int = 0
    record: int = 0
    is_plan: bool = True

    @property
    def worth(self) -> tuple[bool, int, int]:
        """Returns what a better one has more of: no step that cannot be taken, a better record, fewer steps left."""
        return not self.denied, self.record, -len(self.ready) - len(self.waiting)

    def __str__(self) -> str:
        left = len(self.ready) + len(self.waiting)
        record = f", {'worked' if self.record > 0 else 'failed'} before" if self.record else ""
        return f"{self.name} ({self.place}): {len(self.ready)} of {plural(left, 'open step')} can be taken now{record}"


class Known:
    """Holds what facts and beliefs say, found by its words."""

    def __init__(self, beliefs: Iterable[Belief], facts: FactSource | None, now: datetime, floor: float) -> None:
        self.beliefs, self.facts, self.now, self.floor = beliefs, facts, now, floor
        self._by_term: dict[str, set[int]] = {}

    @cached_property
    def _statements(self) -> list[tuple[bool, str]]:
        """Returns whether each known statement is a denial, with its citation; indexes its words in `_by_term`."""
        statements = [(b.statement, b.id or b.place, b.certainty, b.trust) for b in self.beliefs if b.is_held]
        for fact in (fact for fact in (self.facts.all() if self.facts else ()) if holds_at(fact, self.now)):
            sentence = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", " ".join(fact.triple))
            denied = fact.object.casefold() in ("no", "false", "0")
            statements.append((f"not {sentence}" if denied else sentence, fact.id, fact.confidence, fact.trust))
        sure = [
            (text, cite) for text, cite, certainty, trust in statements if certainty > self.floor and trust_rank(trust)
        ]
        for number, (text, _) in enumerate(sure):
            for term in terms(text):
                self._by_term.setdefault(term, set()).add(number)
        return [(bool(DENIED.search(text)), cite) for text, cite in sure]

    def judge(self, condition: str) -> tuple[bool | None, str]:
        """Returns whether a condition holds by known statements, None where none is about it, and the citation."""
        wanted, denied = terms(DENIED.sub(" ", condition)), bool(DENIED.search(condition))
        statements = self._statements
        places = sorted((self._by_term.get(term, set()) for term in wanted), key=len)
        found = [statements[number] for number in sorted(set.intersection(*places))] if places else []
        judged = [(is_denied == denied, cite) for is_denied, cite in found]
        return next((each for each in judged if each[0]), judged[0] if judged else (None, ""))


class ByWords(Generic[Value]):
    """Finds texts that have most words of another one, and at least two of them.

    >>> near = ByWords([("A large customer wants to leave", 1), ("Hire two", 2)])
    >>> near.find("Win back a large customer"), near.find("Hire")
    ([1], [])
    """

    def __init__(self, pairs: Iterable[tuple[str, Value]]) -> None:
        self.values: list[Value] = []
        self.by_term: dict[str, list[int]] = {}
        for text, value in pairs:
            for term in terms(text):
                self.by_term.setdefault(term, []).append(len(self.values))
            self.values.append(value)

    def find(self, wanted: str) -> list[Value]:
        words = terms(wanted)
        shared = Counter(place for word in words for place in self.by_term.get(word, ()))
        return [self.values[place] for place, count in sorted(shared.items()) if count >= max(2, len(words) / 2)]


class Ways:
    """The plans and cases of an agent, by the goals that they lead to."""

    def __init__(self, plans: Sequence[Attitude], cases: Sequence[Case], known: Known) -> None:
        self.plans, self.cases, self.known = plans, cases, known
        self.by_goal: dict[str, list[Attitude]] = {}
        for plan in plans:
            for goal in plan.linked("goal"):
                self.by_goal.setdefault(goal, []).append(plan)
        self.by_id = {plan.id: plan for plan in plans if plan.id}
        self.records: Counter[str] = Counter()
        for case in cases:
            if case.plan_id and case.is_trusted and case.success is not None:
                self.records[case.plan_id] += 1 if case.success else -1

    @cached_property
    def _free(self) -> ByWords[Attitude]:
        return ByWords([(plan.title, plan) for plan in self.plans if not plan.linked("goal")])

    @cached_property
    def _worked(self) -> ByWords[Case]:
        usable = [case for case in self.cases if case.success and case.is_trusted and not case.plan_id and case.actions]
        return ByWords([(f"{case.context} {' '.join(case.actions)}", case) for case in usable])

    def to(self, goal: Attitude) -> list[Means]:
        """Returns the ways to a goal, the best first: plans for it, else plans and playbooks of its words, and cases that
        went well."""
        required = [self.by_id[name] for name in goal.linked("requires") if name in self.by_id]
        plans = {(plan.path, plan.line): plan for plan in (*required, *self.by_goal.get(goal.name, ()))}.values()
        usable = [
            plan for plan in plans or self._free.find(goal.title) if status_word(plan.status) not in GONE | FAILED
        ]
        found = [self._means_of(plan) for plan in usable]
        if not plans:
            wanted = {*goal.linked("desire")}
            near = [*self._worked.find(goal.title), *(case for case in self._worked.values if wanted & {*case.desires})]
            cases = {case.id: case for case in near}.values()
            found += [Means(case.id, "cases.json", case.actions, (), 0, 1, False) for case in cases]
        open_ones = [each for each in found if each.ready or each.waiting]
        return sorted(open_ones, key=lambda each: (each.worth, each.name), reverse=True)

    def _means_of(self, plan: Attitude) -> Means:
        """Returns a plan with the open steps whose preconditions hold, and those that wait for theirs."""
        general = [match[1] for step in plan.steps if (match := _FOR_ALL.fullmatch(step.text))]
        ready, waiting, denied = [], [], 0
        for step in (step for step in plan.steps if not step.done and not _FOR_ALL.fullmatch(step.text)):
            judged = [(text.strip(), *self.known.judge(text)) for text in (*general, *_conditions(step))]
            unmet = [(text, holds, cite) for text, holds, cite in judged if not holds]
            denied += any(holds is False for _, holds, _ in unmet)
            if unmet:
                waits = [f"{text} ({f'against {cite}' if cite else 'not known'})" for text, _, cite in unmet]
                waiting.append(f"{step.text}: {', '.join(waits)}")
            else:
                ready.append(step.text)
        return Means(plan.name, plan.place, tuple(ready), tuple(waiting), denied, self.records[plan.id])


def _conditions(step: Step) -> list[str]:
    """Returns what must hold before a step is taken.

    >>> _conditions(Step("1", "Sign the lease (needs: permit granted)", None, "", 1))
    ['permit granted']
    """
    return [next(filter(None, match)) for match in _BEFORE.findall(step.text)]
