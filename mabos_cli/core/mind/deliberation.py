"""Deliberation: the options of an agent, the filter that they pass, and what it should adopt, reconsider, drop or plan again."""

import re
from _blake2 import blake2b
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property

from mabos_cli.core.knowledge.case import Case
from mabos_cli.core.knowledge.fact import FactSource
from mabos_cli.core.language.text import fold, one_line, plural
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.mind.commitment import DROPS, Loss, Mind, is_past, lost_goals
from mabos_cli.core.mind.means import ByWords, Known, Means, Ways
from mabos_cli.core.mind.mind import DONE, WAITING, Attitude, Belief, is_active, state_of, status_word, with_goals
from mabos_cli.core.records import NamedTuple

ACTIONS = ("drop", "reconsider", "re-plan", "adopt")
_UNSAID, _HIGH, _NEVER = 0.5, 0.8, "9999"
_HALF = 0.5


class Proposal(NamedTuple):
    """Holds what an agent should do about something in its mind, and why; `becomes` is what adopting it makes of that thing."""

    action: str
    kind: str
    name: str
    title: str
    reasons: tuple[str, ...]
    cites: tuple[str, ...]
    becomes: str
    means: Means | None = None
    intentions: tuple[str, ...] = ()
    rank: tuple[float, str, bool, int] = (0.0, "", False, 0)

    @property
    def key(self) -> str:
        """Returns a name of the proposal that stays as long as its reasons do."""
        text = re.sub(r"\.md:\d+", ".md", "\n".join((self.action, self.kind, self.name, *self.reasons)))  # lines move
        return blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()


class Deliberation(NamedTuple):
    """The proposals, the most pressing first, and the options that did not pass the filter, with why."""

    proposals: list[Proposal]
    held: list[tuple[Attitude, str]]


class Situation(NamedTuple):
    """Holds what is deliberated about. `gone` are facts that beliefs depend on and that no longer hold, each with why; `reports`
    are what other agents made of goals that they were handed, by the goal's name here."""

    mind: Mind
    intentions: Sequence[Attitude]
    plans: Sequence[Attitude]
    commitments: Sequence[Attitude]
    strategy: str
    now: datetime
    floor: float = 0.6
    capacity: int = 7
    facts: FactSource | None = None
    gone: Mapping[str, str] = {}
    cases: Sequence[Case] = ()
    reports: Mapping[str, Attitude] = {}
    declined: frozenset[str] = frozenset()


def deliberate(given: Situation) -> Deliberation:
    """Returns what an agent should do about its mind as it is: nothing is changed."""
    view = _View(given)
    about = [*map(view.about_goal, view.goals), *view.about_desires(), *view.about_commitments(), *view.about_beliefs()]
    found = [each for each in about if each and each.key not in given.declined]
    found.sort(key=lambda each: (ACTIONS.index(each.action), each.rank))
    room = max(0, given.capacity - sum(map(is_active, given.intentions)))
    adopted = [each for each in found if each.action == "adopt"]
    late = {each.key for each in adopted[room:]}
    places = f"{plural(given.capacity, 'intention')} at a time"
    known = {each.name: each for each in (*given.mind.goals, *given.mind.desires)}
    held = [*view.held, *((known[each.name], f"no room: {places}") for each in adopted[room:])]
    return Deliberation([each for each in found if each.key not in late], held)


def find_unsupported(beliefs: Sequence[Belief], gone: Mapping[str, str]) -> dict[str, str]:
    """Returns the beliefs that rest on something that no longer holds, by id or place, with what that is: a fact that was
    retracted, a belief that was superseded, or one that itself lost what it rests on."""
    lost = {**gone, **{b.id: f"is {status_word(b.status)}" for b in beliefs if b.id and not b.is_held}}
    found: dict[str, str] = {}
    left = [belief for belief in beliefs if belief.is_held and belief.rests]
    while more := {b.id or b.place: rest for b in left for rest in b.rests[::-1] if rest in lost and rest != b.id}:
        found |= {name: f"rests on {rest}, which {lost[rest]}" for name, rest in more.items()}
        left = [belief for belief in left if (belief.id or belief.place) not in more]
        lost |= {name: "lost what it rests on" for name in more}
    return found


class _View:
    """A situation with what belongs together in it."""

    def __init__(self, given: Situation) -> None:
        self.given, self.now = given, given.now
        self.held: list[tuple[Attitude, str]] = []
        self.lost = lost_goals(given.mind, "cautious", given.floor)
        self.unsupported = find_unsupported(given.mind.beliefs, given.gone)
        self.goals = [goal for goal in given.mind.goals if not _is_over(goal) and not _waits(goal)]
        self.pursued: dict[str, list[Attitude]] = {}
        self.past: dict[str, list[Attitude]] = {}
        titled = {fold(goal.title): goal.name for goal in given.mind.goals}
        plans = with_goals(given.plans, given.mind.goals)
        served = {plan.id: plan.linked("goal") for plan in plans if plan.id}
        for each in with_goals(given.intentions, given.mind.goals):
            linked = each.linked("goal") or [goal for plan in each.linked("plan") for goal in served.get(plan, ())]
            for name in linked or [titled[title] for title in [fold(each.title)] if title in titled]:
                (self.pursued if is_active(each) else self.past).setdefault(name, []).append(each)
        self.parts: dict[str, list[Attitude]] = {}
        for goal in given.mind.goals:
            for parent in goal.linked("parent"):
                self.parts.setdefault(parent, []).append(goal)
        self.rivals = self._find_rivals()
        self.ways = Ways(plans, given.cases, Known(given.mind.beliefs, given.facts, given.now, given.floor))

    @cached_property
    def support(self) -> dict[str, list[Belief]]:
        """Returns the beliefs that support each goal."""
        found: dict[str, list[Belief]] = {}
        for belief in self.given.mind.beliefs:
            for goal in belief.supports:
                found.setdefault(goal, []).append(belief)
        return found

    def rank(self, each: Attitude) -> tuple[float, str, bool, int]:
        """Returns what decides between two: priority, deadline, what is begun already, the order of the file."""
        priority = _UNSAID if each.priority is None else each.priority
        return -priority, each.deadline or _NEVER, each.name not in self.pursued, each.line

    # Goals

    def about_goal(self, goal: Attitude) -> Proposal | None:
        """Returns the one thing to be done about a goal: the most pressing that nobody declined."""
        options = (each for each in self._options(goal) if each and each.key not in self.given.declined)
        return next(options, None)

    def _options(self, goal: Attitude) -> Iterator[Proposal | None]:
        """Yields what could be done about a goal, the most pressing first, each for all reasons that there are for it."""
        ended = self._ended(goal)
        if ended:
            action = "drop" if ended.kind in DROPS[self.given.strategy] else "reconsider"
            holds = "" if action == "drop" else f"; {self.given.strategy} commitment holds on to it"
            becomes = "abandoned" if ended.kind == "unwanted" else ended.kind
            yield self._propose(action, goal, [ended.reason + holds], [ended.cite], becomes)
            return
        doubts = [*self._doubts(goal)]
        if doubts:
            reasons, cites = [why for why, _ in doubts], [cite for _, cite in doubts]
            yield self._propose("reconsider", goal, reasons, cites, self._settled_by(goal))
        if goal.name in self.pursued:
            yield self._better(goal)
        # What was handed to another agent, or has parts that are open, needs no intention itself.
        elif goal.name not in self.given.reports and all(map(_is_over, self.parts.get(goal.name, ()))):
            yield self._unpursued(goal)

    def _propose(
        self,
        action: str,
        goal: Attitude,
        reasons: Sequence[str],
        cites: Sequence[str],
        becomes: str,
        means: Means | None = None,
    ) -> Proposal:
        active = tuple(each.name for each in self.pursued.get(goal.name, ()))
        where = tuple(dict.fromkeys((goal.place, *filter(None, cites), *((means.place,) if means else ()))))
        kind, title = goal.kind, one_line(goal.title, 90)
        return Proposal(action, kind, goal.name, title, tuple(reasons), where, becomes, means, active, self.rank(goal))

    def _ended(self, goal: Attitude) -> Loss | None:
        """Returns why a goal that is still open should be none any more."""
        report, parts = self.given.reports.get(goal.name), self.parts.get(goal.name, ())
        if goal.name in self.lost:
            return self.lost[goal.name]
        if report and state_of(report) == "done":
            return Loss("achieved", f"{report.owner} reports {report.name} {status_word(report.status)}", report.place)
        if goal.progress is not None and goal.progress >= 100:
            return Loss("achieved", f"its progress is {goal.progress:g} %", goal.place)
        if parts and all(state_of(part) == "done" for part in parts):
            return Loss(
                "achieved", f"all its parts are achieved: {', '.join(part.name for part in parts)}", parts[0].place
            )
        return None

    def _doubts(self, goal: Attitude) -> Iterator[tuple[str, str]]:
        """Yields the reasons to reconsider a goal, each with its place."""
        if is_past(goal.deadline, self.now):
            yield f"its deadline {goal.deadline[:10]} has passed", goal.place
        report = self.given.reports.get(goal.name)
        if report and state_of(report) in ("gone", "stalled"):
            yield f"{report.owner} reports {report.name} {status_word(report.status)}", report.place
        for belief, why in self._lost_support(goal):
            yield f"{belief.id or belief.subject}, which supports it, {why}", belief.place
        for rival, why in self.rivals.get(goal.name, ()):
            if goal.name in self.pursued:
                yield f"{rival.name}, which goes first, {why}", rival.place
        ended = [status_word(each.status) for each in self.past.get(goal.name, ())]
        if goal.name not in self.pursued and ended and all(word in DONE for word in ended):
            yield "every intention for it is completed", self.past[goal.name][-1].place

    def _lost_support(self, goal: Attitude) -> Iterator[tuple[Belief, str]]:
        """Yields the beliefs behind a goal that no longer hold, unless somebody looked at the goal since, or what took their
        place supports it as well."""
        mine = self.support.get(goal.id, [])
        firm = [b for b in mine if b.is_held and b.certainty >= _HALF and (b.id or b.place) not in self.unsupported]
        for belief in mine:
            if not belief.is_held and not (goal.updated and goal.updated >= belief.updated):
                by = re.search(r" by (\S+)", belief.status)
                if not (by and by[1] in {each.id for each in firm}):
                    yield belief, f"is {status_word(belief.status)}"
            elif (belief.id or belief.place) in self.unsupported:
                yield belief, self.unsupported[belief.id or belief.place]
            elif belief.certainty < _HALF and not firm and trust_rank(belief.trust):
                yield belief, f"is held with {belief.certainty:g} only"

    def _settled_by(self, goal: Attitude) -> str:
        """Returns what adopting a proposal to reconsider a goal makes of it."""
        if is_past(goal.deadline, self.now):
            return "given more time"
        return "achieved" if goal.name not in self.pursued and self.past.get(goal.name) else "suspended"

    def _find_rivals(self) -> dict[str, list[tuple[Attitude, str]]]:
        """Returns the goals that go before others which they exclude, or with which they share a resource, by the weaker one."""
        live = {goal.name: goal for goal in self.goals if goal.name not in self.lost}
        takers: dict[str, list[Attitude]] = {}
        for goal in live.values():
            needs = [*goal.needs, *(need for each in self.pursued.get(goal.name, ()) for need in each.needs)]
            for need in dict.fromkeys(map(fold, needs)):
                takers.setdefault(need, []).append(goal)
        pairs = [
            (goal, live[name], "excludes it")
            for goal in live.values()
            for name in goal.linked("excludes")
            if name in live
        ]
        for need, goals in takers.items():
            first = min(goals, key=self.rank)
            pairs += [(first, goal, f"needs {need} as well") for goal in goals if goal is not first]
        found: dict[str, list[tuple[Attitude, str]]] = {}
        for one, other, why in pairs:
            first, weaker = sorted((one, other), key=self.rank)
            rivals = found.setdefault(weaker.name, [])
            rivals += [] if any(first is known for known, _ in rivals) else [(first, why)]
        return found

    def _unpursued(self, goal: Attitude) -> Proposal | None:
        """Returns what to do about a goal that nothing is being done for."""
        rivals = self.rivals.get(goal.name, ())
        if rivals:
            self.held.append((goal, f"{rivals[0][0].name}, which goes first, {rivals[0][1]}"))
            return None
        means, ended = next(iter(self.ways.to(goal)), None), self.past.get(goal.name, [])
        if any(_waits(each) for each in ended):
            self.held.append((goal, f"{ended[-1].name} is {status_word(ended[-1].status)}"))
            return None
        if ended:
            why = f"{ended[-1].name} is {status_word(ended[-1].status)}, and nothing else is being done for it"
            return self._propose("re-plan", goal, [why], [ended[-1].place], "active", means)
        return self._propose("adopt", goal, ["no intention serves it"], [], "active", means)

    def _better(self, goal: Attitude) -> Proposal | None:
        """Returns the proposal to follow another plan for a goal, where one is better than that of its intention."""
        active = self.pursued[goal.name]
        followed = {plan for each in active for plan in each.linked("plan")}
        ways = self.ways.to(goal)
        # Plans that a goal requires go together: none of them takes the place of another.
        fixed = {*goal.linked("requires")} if followed & {*goal.linked("requires")} else set()
        found = [each for each in ways if each.name not in followed | fixed]
        current = [each for each in ways if each.name in followed]
        if not found or (followed and not current):
            return None
        best = found[0]
        if not followed:
            return self._propose(
                "re-plan", goal, [f"{active[0].name} follows no plan, {best.name} fits"], [], "active", best
            )
        if best.worth <= current[0].worth:
            return None
        ahead = next(n for n, (a, b) in enumerate(zip(best.worth, current[0].worth, strict=True)) if a != b)
        why = ("can go on where {1} cannot", "worked better before than {1}", "has fewer steps left than {1}")[ahead]
        reason = f"{best.name} {why.format('', current[0].name)}, which {active[0].name} follows"
        return self._propose("re-plan", goal, [reason], [current[0].place], "active", best)

    # Desires, commitments and beliefs

    def about_desires(self) -> Iterator[Proposal]:
        """Yields the desires that nobody made a goal of. Where goals and desires never name each other that says little: only
        those of high priority count then."""
        named = {desire for goal in self.given.mind.goals for desire in goal.linked("desire")}
        titles = ByWords([(goal.title, goal.name) for goal in self.given.mind.goals])
        is_linked = bool(named) or any(desire.linked("motivates", "serves") for desire in self.given.mind.desires)
        for desire in self.given.mind.desires:
            wanted = state_of(desire) in ("open", "active") and not _waits(desire)
            if not wanted or desire.id in named or desire.linked("motivates", "serves"):
                continue
            if titles.find(desire.title):
                continue
            if is_linked or -self.rank(desire)[0] >= _HIGH:
                yield self._propose("adopt", desire, ["no goal serves it"], [], "a goal")

    def about_commitments(self) -> Iterator[Proposal]:
        """Yields the promises that are overdue."""
        for each in self.given.commitments:
            if not _is_over(each) and is_past(each.deadline, self.now):
                whom = f", promised to {each.owner}," if each.owner else ""
                yield self._propose(
                    "reconsider", each, [f"its deadline{whom} {each.deadline[:10]} has passed"], [], "given more time"
                )

    def about_beliefs(self) -> Iterator[Proposal]:
        """Yields the beliefs that rest on what holds no more."""
        for belief in self.given.mind.beliefs:
            name = belief.id or belief.place
            if name in self.unsupported:
                why = (self.unsupported[name],)
                title = one_line(belief.statement, 90)
                yield Proposal(
                    "reconsider",
                    "belief",
                    name,
                    title,
                    why,
                    (belief.place,),
                    "retracted",
                    rank=(-belief.certainty, "", False, belief.line),
                )


def _is_over(each: Attitude) -> bool:
    return state_of(each) in ("done", "gone")


def _waits(each: Attitude) -> bool:
    return status_word(each.status) in WAITING
