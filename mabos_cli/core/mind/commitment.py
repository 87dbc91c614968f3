"""Chooses the intentions that an agent should give up, by its commitment strategy: overdue, stalled, or without their goal."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from mabos_cli.core.language.clock import end_of, find_time
from mabos_cli.core.language.text import fold, terms
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.mind.mind import (
    DONE,
    FAILED,
    GONE,
    LEVELS,
    Attitude,
    Belief,
    is_active,
    state_of,
    status_word,
    with_goals,
)
from mabos_cli.core.records import NamedTuple

# How long an intention may go without an update, in days, is a setting; which goals are given up is what the words mean:
# a blind agent holds on until it has what it wants, a single-minded one also gives up what cannot be had, the others
# also what is no longer wanted.
DROPS = {
    "blind": ("achieved",),
    "single-minded": ("achieved", "impossible"),
    "open-minded": ("achieved", "impossible", "unwanted"),
    "cautious": ("achieved", "impossible", "unwanted"),
}
STRATEGIES = tuple(DROPS)
# Days in which a goal of each level is planned to be reached, and by what share it may lag.
_HORIZONS, _SLACK = {"strategic": 365, "tactical": 90, "operational": 30}, 0.1
_NOTHING = re.compile(r"(?!)")
_IMPOSSIBLE = re.compile(
    r"\b(?:impossible|unreachable|unattainable|unachievable|infeasible|unfeasible|out of reach|no longer possible|"
    r"not (?:possible|feasible|achievable|reachable|attainable)|(?:cannot|can't|can not|will never|won't|will not) "
    r"(?:be |ever be )?(?:reach(?:ed)?|achieved?|met|attain(?:ed)?|done|succeed|happen))\b",
    re.IGNORECASE,
)
_UNABLE = re.compile(
    r"\b(?:cannot|can't|can not|can no longer|(?:am|is|are) unable to|will never|won't be able to)\s", re.IGNORECASE
)
_ACHIEVED = re.compile(
    r"\b(?:is|are|was|were|has been|have been) (?:now |already |fully |finally )?"
    r"(?:achieved|reached|met|completed|done)\b(?! with\b)",
    re.IGNORECASE,
)
# A word that turns a claim around, wherever it stands before it; and words after which it holds only under conditions.
DENIED = re.compile(
    r"(?:\b(?:not|no longer|never|hardly|nobody|no one|nothing|no means|far from|wrong|false|untrue)|n't)\b",
    re.IGNORECASE,
)
_DEPENDS = re.compile(
    r"\b(?:(?i:if|when|once|until|till|unless|without|whether|before|as soon as|assuming|provided)|may|might|could|would)\b"
)
_CLAUSES = re.compile(r";|\b(?:but|while|whereas|although|though|because|since)\b", re.IGNORECASE)
# Half of a goal, or a plan for it, is not the goal.
_PART_OF = re.compile(r"\b(?:of|for|from|under|towards?|behind|than)\s+(?:goals?\s+)?$", re.IGNORECASE)


class Verdict(NamedTuple):
    """Holds what becomes of an intention, and why."""

    intention: Attitude
    status: str
    reason: str


class Mind(NamedTuple):
    """Holds what an intention is judged by."""

    goals: Sequence[Attitude]
    desires: Sequence[Attitude]
    beliefs: Sequence[Belief]


class Loss(NamedTuple):
    """Why a goal is no reason to act any more: it is achieved, impossible or unwanted, by a reason and where that is said."""

    kind: str
    reason: str
    cite: str


def judge_intentions(
    intentions: Sequence[Attitude], mind: Mind, strategy: str, stall_days: float | None, now: datetime, floor: float
) -> list[Verdict]:
    """Returns the intentions to give up, in order. stall_days None means that nothing ever stands still for too
    long."""
    lost = lost_goals(mind, strategy, floor)
    found = []
    for each in with_goals(intentions, mind.goals):
        if not is_active(each):
            continue
        gone = [(goal, lost[goal].reason) for goal in each.linked("goal") if goal in lost]
        if gone and len(gone) == len(each.linked("goal")):
            found.append(Verdict(each, "dropped", f"{gone[0][0]} {gone[0][1]}"))
        elif is_past(each.deadline, now):
            found.append(Verdict(each, "expired", f"deadline {each.deadline}"))
        elif stall_days is not None and is_older(each.updated, now, stall_days):
            found.append(Verdict(each, "stalled", f"no update since {each.updated[:10]}"))
    return found


def lost_goals(mind: Mind, strategy: str, floor: float) -> dict[str, Loss]:
    """Returns the goals that are no longer a reason to act under a strategy, by id or else title, each with why."""
    sure = [
        belief for belief in mind.beliefs if belief.is_held and belief.certainty > floor and trust_rank(belief.trust)
    ]
    behind = _motives(mind)
    lost: dict[str, Loss] = {}
    pursued = set()
    for goal in mind.goals:
        loss = _find_loss(goal, behind.get(goal.id, ()))
        if loss and loss.kind in DROPS[strategy]:
            lost[goal.name] = loss
        else:
            pursued.add(goal.name)
    # An id that two goals have says nothing as long as one of them is pursued.
    lost = {goal: loss for goal, loss in lost.items() if goal not in pursued}
    for name, loss in _believed(sure, mind.goals):
        if loss.kind in DROPS[strategy]:
            lost.setdefault(name, loss)
    return lost


def _find_loss(goal: Attitude, desires: Sequence[Attitude]) -> Loss | None:
    """Returns why a goal is lost by its status, or by that of the desires behind it; None when it is not."""
    word = status_word(goal.status)
    if word in DONE:
        return Loss("achieved", "is achieved", goal.place)
    if word in FAILED:
        return Loss("impossible", f"is marked {word}", goal.place)
    if word in GONE:
        return Loss("unwanted", f"is {word}", goal.place)
    if not desires or any(status_word(desire.status) not in GONE for desire in desires):
        return None
    why = f"is no longer desired: {desires[0].id} is {status_word(desires[0].status)}"
    return Loss("unwanted", why, desires[0].place)


def _motives(mind: Mind) -> dict[str, list[Attitude]]:
    """Returns the desires behind each goal, by its id: those that it names, then those that name it. One of another
    file says nothing."""
    desires = {desire.id: desire for desire in mind.desires if desire.id}
    found: dict[str, list[Attitude]] = {}
    for goal in (goal for goal in mind.goals if goal.id):
        found.setdefault(goal.id, []).extend(desires[linked] for linked in goal.linked("desire") if linked in desires)
    for desire in desires.values():
        for linked in desire.linked("motivates"):
            found.setdefault(linked, []).append(desire)
    return found


class _Names:
    """Finds the goals that a text names: by id, by title, or by what a title is about."""

    def __init__(self, goals: Sequence[Attitude]) -> None:
        self.words = {goal.name: frozenset(terms(goal.title)) for goal in goals}
        titled = {fold(goal.title): goal.name for goal in goals if len(self.words[goal.name]) > 1}
        self.named = titled | {goal.id.casefold(): goal.id for goal in goals if goal.id}
        ids = [re.escape(goal.id) for goal in goals if goal.id]
        titles = [f"(?i:{re.escape(title).replace(chr(92) + ' ', chr(92) + 's+')})" for title in titled]
        self.one = re.compile(rf"(?<![\w-])(?:{'|'.join((*ids, *titles))})(?![\w-])") if ids or titles else _NOTHING
        self.run = re.compile(rf"{self.one.pattern}(?:(?:\s*[,/&]\s*|\s+)(?:and\s+|or\s+)?{self.one.pattern})*")
        self.by_word: dict[str, list[str]] = {}
        for name, found in self.words.items():
            for word in found if len(found) > 1 else ():
                self.by_word.setdefault(word, []).append(name)

    def in_run(self, text: str) -> list[str]:
        return [self.named[fold(found)] for found in self.one.findall(text)]

    def about(self, text: str, spare: int, least: float = 1.0) -> list[str]:
        """Returns the goals that a text is about: all their words or a share of them, with few others between, and not only
        a part of such a goal."""
        found = frozenset(terms(text))
        near = dict.fromkeys(name for word in found for name in self.by_word.get(word, ()))
        return [
            name
            for name in near
            if len(found & self.words[name]) >= max(2, least * len(self.words[name]))
            and len(found - self.words[name]) <= spare
            and not _PART_OF.search(text[: self._start(text, name)])
        ]

    def _start(self, text: str, name: str) -> int:
        """Returns where the first word of a goal stands in a text."""
        stands = (word.start() for word in re.finditer(r"[^\W_]+", text) if self.words[name] & {*terms(word[0])})
        return next(stands, 0)


def _believed(beliefs: Sequence[Belief], goals: Sequence[Attitude]) -> Iterator[tuple[str, Loss]]:
    """Yields what beliefs say of goals that they name: that they are impossible, or achieved."""
    claiming = [
        b for b in beliefs if any(each.search(f"{b.subject}: {b.text}") for each in (_IMPOSSIBLE, _UNABLE, _ACHIEVED))
    ]
    names = _Names(goals) if claiming else None
    for belief in claiming if names else ():
        assert names
        named = names.run.search(belief.subject) or next(iter(names.about(belief.subject, 0, 0.5)), "")
        sentences = re.split(r"(?<=[.!?])\s+", belief.text)
        if named:
            subject = belief.subject if not isinstance(named, str) else named
            sentences = [belief.subject, *(f"{subject}: {sentence}" for sentence in sentences if sentence)]
        for sentence in sentences if belief.text else [belief.subject]:
            for name in _claimed(sentence, names, _ACHIEVED):
                yield name, Loss("achieved", "is achieved", belief.place)
            for name in _claimed(sentence, names, _IMPOSSIBLE) or _unable(sentence, names):
                yield name, Loss("impossible", f"is believed impossible, {belief.id or belief.place}", belief.place)


def _claimed(sentence: str, names: _Names, claim: re.Pattern[str]) -> list[str]:
    """Returns the goals that a sentence makes a claim about, rather than asks, denies or makes depend on something:
    those before the claim, or else the first ones behind it, as in "we cannot reach G-001"."""
    if "?" in sentence or _DEPENDS.search(sentence):
        return []
    found = []
    for clause in _CLAUSES.split(sentence):
        runs, match = list(names.run.finditer(clause)), claim.search(clause)
        if not match or DENIED.search(clause[: match.start()]):
            continue
        if not runs:  # in other forms of its words, as "winning Pagel is out of reach"
            found += names.about(clause[: match.start()], 0) if claim is _IMPOSSIBLE else []
            continue
        run = next((run for run in reversed(runs) if run.end() <= match.start()), runs[0])
        found += [] if _PART_OF.search(clause[: run.start()]) else names.in_run(run[0])
    return found


def _unable(sentence: str, names: _Names) -> list[str]:
    """Returns the goals that a sentence says nobody can reach, in their words: "we cannot open a shop in Lyon"."""
    if "?" in sentence or _DEPENDS.search(sentence):
        return []
    clauses = [(clause, match) for clause in _CLAUSES.split(sentence) if (match := _UNABLE.search(clause))]
    kept = [clause[match.end() :] for clause, match in clauses if not DENIED.search(clause[: match.start()])]
    return [name for text in kept for name in names.about(text, 1)]


def find_behind(goals: Sequence[Attitude], now: datetime) -> dict[str, str]:
    """Returns the open goals that are behind, by name, with why: late or marked so, or done to a lesser share than of the time in
    which a goal of its level is planned; and those with a part that is behind."""
    live = [goal for goal in goals if state_of(goal) not in ("done", "gone")]
    found = {goal.name: why for goal in live if (why := _why_behind(goal, now))}
    for _ in LEVELS:  # parts of parts
        late = {parent: goal for goal in live if goal.name in found for parent in goal.linked("parent")}
        for goal in live:
            if goal.name in late:
                found.setdefault(goal.name, f"its part {late[goal.name].name} is behind: {found[late[goal.name].name]}")
    return found


def _why_behind(goal: Attitude, now: datetime) -> str:
    if is_past(goal.deadline, now):
        return f"its deadline {goal.deadline[:10]} has passed"
    if state_of(goal) == "stalled":
        return f"it is {status_word(goal.status)}"
    end, days = find_time(goal.deadline), _HORIZONS.get(goal.level)
    if end is None or days is None or goal.progress is None:
        return ""
    over = 1 - (end.date() - now.date()).days / days
    if goal.progress / 100 >= over - _SLACK:
        return ""
    return f"{goal.progress:g} % done, {over * 100:.0f} % of the {days} days before its deadline over"


def is_past(text: str, now: datetime) -> bool:
    """Returns whether a deadline is over: a day when it ends, a moment when it is behind."""
    end = end_of(text)
    return end is not None and (end < now if end == find_time(text) else end <= now)


def is_older(text: str, now: datetime, days: float) -> bool:
    """Returns whether a date lies more than so many whole days back."""
    moment = find_time(text)
    return moment is not None and (now.date() - moment.date()).days > days
