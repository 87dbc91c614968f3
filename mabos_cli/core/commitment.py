"""Which intentions an agent should give up, by how it is committed: what passed, what stands still, what lost its goal."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from mabos_cli.core.clock import find_time
from mabos_cli.core.mind import DONE, GONE, Attitude, Belief, is_active, status_word

# How long an intention may go without an update, in days, is a setting; which goals are given up is what the words mean:
# a blind agent holds on until it has what it wants, a single-minded one also gives up what cannot be had, the others
# also what is no longer wanted.
STRATEGIES = ("blind", "single-minded", "open-minded", "cautious")
_IMPOSSIBLE = re.compile(
    r"\b(?:impossible|unreachable|unattainable|unachievable|infeasible|unfeasible|out of reach|no longer possible|"
    r"not (?:possible|feasible|achievable|reachable|attainable)|"
    r"(?:cannot|can't|can not|will never|won't|will not) (?:be |ever be )?(?:reached?|achieved?|met|attained?|done|succeed|happen))\b",
    re.IGNORECASE,
)
_ACHIEVED = re.compile(r"\b(?:is|was|has been) (?:achieved|reached|met|completed|done)\b", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:not|no longer|never|hardly|isn't|wasn't|nothing is)\s+(?:yet\s+|at all\s+)?$", re.IGNORECASE
)


class Verdict(NamedTuple):
    """What becomes of an intention, and why."""

    intention: Attitude
    status: str
    reason: str


class Mind(NamedTuple):
    """What an intention is judged by."""

    goals: Sequence[Attitude]
    desires: Sequence[Attitude]
    beliefs: Sequence[Belief]


def judge_intentions(
    intentions: Sequence[Attitude],
    mind: Mind,
    strategy: str,
    stall_days: float | None,
    now: datetime,
    floor: float,
) -> list[Verdict]:
    """The intentions to give up, in order. stall_days None means that nothing ever stands still for too long."""
    lost = lost_goals(mind, strategy, floor)
    found = []
    for each in intentions:
        if not is_active(each):
            continue
        gone = [(goal, lost[goal]) for goal in each.linked("goal") if goal in lost]
        if gone and len(gone) == len(each.linked("goal")):
            found.append(Verdict(each, "dropped", f"{gone[0][0]} {gone[0][1]}"))
        elif is_past(each.deadline, now):
            found.append(Verdict(each, "expired", f"deadline {each.deadline}"))
        elif stall_days is not None and is_older(each.updated, now, stall_days):
            found.append(Verdict(each, "stalled", f"no update since {each.updated[:10]}"))
    return found


def lost_goals(mind: Mind, strategy: str, floor: float) -> dict[str, str]:
    """The goals that are no reason to act any more under a strategy, with what became of them."""
    sure = [belief for belief in mind.beliefs if belief.certainty > floor]
    desires = {desire.id: desire for desire in mind.desires if desire.id}
    lost: dict[str, str] = {}
    for goal in (goal for goal in mind.goals if goal.id):
        word = status_word(goal.status)
        if word in DONE:
            lost[goal.id] = "is achieved"
        elif word in GONE and strategy in ("open-minded", "cautious"):
            lost[goal.id] = f"is {word}"
        elif strategy in ("open-minded", "cautious") and (unwanted := _unwanted(goal, desires)):
            lost[goal.id] = f"is no longer desired: {unwanted}"
    for goal_id, told in _believed(sure, [goal.id for goal in mind.goals if goal.id]).items():
        if told.startswith("is achieved") or strategy != "blind":
            lost.setdefault(goal_id, told)
    return lost


def _unwanted(goal: Attitude, desires: Mapping[str, Attitude]) -> str:
    """Why nobody wants a goal: every desire behind it is gone. A desire of another file says nothing."""
    behind = [desires[d] for d in goal.linked("desire") if d in desires]
    behind += [desire for desire in desires.values() if goal.id in desire.linked("motivates")]
    if not behind or any(status_word(desire.status) not in GONE for desire in behind):
        return ""
    return f"{behind[0].id} is {status_word(behind[0].status)}"


def _believed(beliefs: Sequence[Belief], goals: Sequence[str]) -> dict[str, str]:
    """What beliefs say of goals that they name: that they are impossible, or achieved."""
    named = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, goals))})(?![\w-])")
    found: dict[str, str] = {}
    for belief in beliefs if goals else ():
        sentences = re.split(r"(?<=[.!?])\s+", belief.text)
        if named.search(belief.subject):
            sentences = [
                belief.subject,
                *(f"{belief.subject}: {sentence}" for sentence in sentences if sentence),
            ]
        for sentence in sentences:
            for goal in named.findall(sentence):
                if _says(sentence, _ACHIEVED):
                    found.setdefault(goal, "is achieved")
                elif _says(sentence, _IMPOSSIBLE):
                    found.setdefault(goal, f"is believed impossible, {belief.id or belief.place}")
    return found


def _says(sentence: str, pattern: re.Pattern[str]) -> bool:
    """Whether a sentence claims something, rather than asks or denies it."""
    match = pattern.search(sentence)
    return bool(match) and "?" not in sentence and not _DENIED.search(sentence[: match.start()])


def is_past(text: str, now: datetime) -> bool:
    """Whether a deadline is over: a day is over when it ends."""
    moment = find_time(text)
    if moment is None:
        return False
    return moment + timedelta(days=1) <= now if len(text.strip()) == 10 else moment < now


def is_older(text: str, now: datetime, days: float) -> bool:
    """Whether a date lies more than so many whole days back."""
    moment = find_time(text)
    return moment is not None and (now.date() - moment.date()).days > days
