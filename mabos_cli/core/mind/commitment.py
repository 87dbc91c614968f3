"""Which intentions an agent should give up, by how it is committed: what passed, what stands still, what lost its goal."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from mabos_cli.core.language.clock import end_of, find_time
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.mind.mind import DONE, GONE, Attitude, Belief, is_active, status_word

# How long an intention may go without an update, in days, is a setting; which goals are given up is what the words mean:
# a blind agent holds on until it has what it wants, a single-minded one also gives up what cannot be had, the others
# also what is no longer wanted.
STRATEGIES = ("blind", "single-minded", "open-minded", "cautious")
_IMPOSSIBLE = re.compile(
    r"\b(?:impossible|unreachable|unattainable|unachievable|infeasible|unfeasible|out of reach|no longer possible|"
    r"not (?:possible|feasible|achievable|reachable|attainable)|(?:cannot|can't|can not|will never|won't|will not) "
    r"(?:be |ever be )?(?:reach(?:ed)?|achieved?|met|attain(?:ed)?|done|succeed|happen))\b",
    re.IGNORECASE,
)
_ACHIEVED = re.compile(
    r"\b(?:is|are|was|were|has been|have been) (?:now |already |fully |finally )?"
    r"(?:achieved|reached|met|completed|done)\b(?! with\b)",
    re.IGNORECASE,
)
# A word that turns a claim around, wherever it stands before it; and words after which it holds only under conditions.
_DENIED = re.compile(
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
    intentions: Sequence[Attitude], mind: Mind, strategy: str, stall_days: float | None, now: datetime, floor: float
) -> list[Verdict]:
    """Returns the intentions to give up, in order. stall_days None means that nothing ever stands still for too
    long."""
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
    """Returns the goals that are no reason to act any more under a strategy, with what became of them."""
    sure = [belief for belief in mind.beliefs if belief.certainty > floor and trust_rank(belief.trust)]
    behind = _motives(mind)
    lost: dict[str, str] = {}
    pursued = set()
    for goal in (goal for goal in mind.goals if goal.id):
        why = _why_lost(goal, strategy, behind.get(goal.id, ()))
        lost |= {goal.id: why} if why else {}
        pursued |= set() if why else {goal.id}
    # An id that two goals have says nothing as long as one of them is pursued.
    lost = {goal: why for goal, why in lost.items() if goal not in pursued}
    for goal_id, reason in _believed(sure, [goal.id for goal in mind.goals if goal.id]).items():
        if reason.startswith("is achieved") or strategy != "blind":
            lost.setdefault(goal_id, reason)
    return lost


def _why_lost(goal: Attitude, strategy: str, desires: Sequence[Attitude]) -> str:
    """Returns what its own status, or that of the desires behind it, says against a goal; empty when nothing does."""
    word = status_word(goal.status)
    if word in DONE:
        return "is achieved"
    if strategy not in ("open-minded", "cautious"):
        return ""
    unwanted = _unwanted(desires)
    return f"is {word}" if word in GONE else f"is no longer desired: {unwanted}" if unwanted else ""


def _motives(mind: Mind) -> dict[str, list[Attitude]]:
    """Returns the desires behind each goal, by its id: those that it names, then those that name it. One of another
    file says nothing."""
    desires = {desire.id: desire for desire in mind.desires if desire.id}
    found: dict[str, list[Attitude]] = {}
    for goal in mind.goals:
        found.setdefault(goal.id, []).extend(desires[linked] for linked in goal.linked("desire") if linked in desires)
    for desire in desires.values():
        for linked in desire.linked("motivates"):
            found.setdefault(linked, []).append(desire)
    return found


def _unwanted(desires: Sequence[Attitude]) -> str:
    """Returns why nobody wants a goal: every desire behind it is gone."""
    if not desires or any(status_word(desire.status) not in GONE for desire in desires):
        return ""
    return f"{desires[0].id} is {status_word(desires[0].status)}"


def _believed(beliefs: Sequence[Belief], goals: Sequence[str]) -> dict[str, str]:
    """Returns what beliefs say of goals that they name: that they are impossible, or achieved."""
    one = rf"(?<![\w-])(?:{'|'.join(map(re.escape, goals))})(?![\w-])"
    named = re.compile(rf"{one}(?:(?:\s*[,/&]\s*|\s+)(?:and\s+|or\s+)?{one})*")
    found: dict[str, str] = {}
    for belief in beliefs if goals else ():
        sentences = re.split(r"(?<=[.!?])\s+", belief.text)
        if named.search(belief.subject):
            sentences = [belief.subject, *(f"{belief.subject}: {sentence}" for sentence in sentences if sentence)]
        for sentence in sentences:
            for run in _claimed(sentence, named, _ACHIEVED):
                found |= {goal: "is achieved" for goal in re.findall(one, run) if goal not in found}
            for run in _claimed(sentence, named, _IMPOSSIBLE):
                reason = f"is believed impossible, {belief.id or belief.place}"
                found |= {goal: reason for goal in re.findall(one, run) if goal not in found}
    return found


def _claimed(sentence: str, named: re.Pattern[str], claim: re.Pattern[str]) -> list[str]:
    """Returns the names of what a sentence makes a claim about, rather than asks, denies or makes depend on something:
    those before the claim, or else the first ones behind it, as in "we cannot reach G-001"."""
    if "?" in sentence or _DEPENDS.search(sentence):
        return []
    found = []
    for clause in _CLAUSES.split(sentence):
        runs, match = list(named.finditer(clause)), claim.search(clause)
        if not runs or not match or _DENIED.search(clause[: match.start()]):
            continue
        run = next((run for run in reversed(runs) if run.end() <= match.start()), runs[0])
        found += [] if _PART_OF.search(clause[: run.start()]) else [run[0]]
    return found


def is_past(text: str, now: datetime) -> bool:
    """Returns whether a deadline is over: a day when it ends, a moment when it is behind."""
    end = end_of(text)
    return end is not None and (end < now if end == find_time(text) else end <= now)


def is_older(text: str, now: datetime, days: float) -> bool:
    """Returns whether a date lies more than so many whole days back."""
    moment = find_time(text)
    return moment is not None and (now.date() - moment.date()).days > days
