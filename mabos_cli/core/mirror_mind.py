"""The mind of an agent as records for the knowledge graph: beliefs, desires, goals, plans with steps, intentions, and how they
are linked."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from mabos_cli.core.clock import find_time
from mabos_cli.core.mind import DONE, GONE, Attitude, Belief, Step, is_active, status_word
from mabos_cli.core.mirror import Links, Record, end_of, make_record, owned_by_agent, uid_of

STALLED = frozenset(("stalled", "blocked", "stuck", "behind", "late", "overdue", "delayed"))
_OVER = GONE | {"expired"}
_AFTER = r"\b(?:depends on|blocked by|waits for|after|once|needs)\s+(?:steps?\s+)?"
Elsewhere = Mapping[tuple[str, str], str]
# Relation: who speaks for it, in which role; the role and the type of the others.
_SPEAKERS = {
    "belief_supports_goal": ("belief", "supporter", "supported", "goal"),
    "desire_motivates_goal": ("desire", "motivator", "motivated", "goal"),
    "goal_requires_plan": ("goal", "requirer", "required", "plan"),
    "goal_part_of_goal": ("goal", "part", "whole", "goal"),
    "intention_pursues_goal": ("intention", "pursuer", "pursued", "goal"),
    "intention_follows_plan": ("intention", "follower", "followed", "plan"),
}


class AgentMind(NamedTuple):
    """What an agent holds true, wants and does."""

    agent: str
    beliefs: Sequence[Belief] = ()
    desires: Sequence[Attitude] = ()
    goals: Sequence[Attitude] = ()
    plans: Sequence[Attitude] = ()
    intentions: Sequence[Attitude] = ()


def mind_records(mind: AgentMind, elsewhere: Elsewhere = MappingProxyType({})) -> list[Record]:
    """The beliefs, desires, goals, plans with their steps, and intentions of an agent. A link counts from whichever side it is
    written, and only when both ends are there; `elsewhere` has the keys of what other agents hold, by type and id."""
    kinds = {"belief": mind.beliefs, "desire": mind.desires, "goal": mind.goals, "plan": mind.plans}
    kinds["intention"] = mind.intentions
    known = {**elsewhere, **_known(mind.agent, kinds)}
    links = _Gathered(known)
    for belief in mind.beliefs:
        links.add("belief_supports_goal", _key(mind.agent, belief), belief.supports)
    for desire in mind.desires:
        links.add("desire_motivates_goal", _key(mind.agent, desire), desire.linked("motivates"))
    for goal in mind.goals:
        own = _key(mind.agent, goal)
        links.add("goal_part_of_goal", own, goal.linked("parent"))
        links.add("goal_requires_plan", own, goal.linked("requires"))
        links.add_back("desire_motivates_goal", own, goal.linked("desire"))
    for plan in mind.plans:
        links.add_back("goal_requires_plan", _key(mind.agent, plan), plan.linked("goal"))
    for intention in mind.intentions:
        links.add("intention_pursues_goal", _key(mind.agent, intention), intention.linked("goal"))
        links.add("intention_follows_plan", _key(mind.agent, intention), intention.linked("plan"))
    found: dict[tuple[str, str], Record] = {}
    for kind, held in kinds.items():
        for each in held:
            uid = _key(mind.agent, each)
            told = _belief(each) if isinstance(each, Belief) else _attitude(each)
            record = make_record(kind, uid, told, (*owned_by_agent(mind.agent), *links.of(kind, uid)))
            if found.setdefault((kind, uid), record) is record and not isinstance(each, Belief):
                found |= {(step.type, step.uid): step for step in _steps(mind.agent, uid, each.steps)}
    return list(found.values())


def world_records(minds: Sequence[AgentMind]) -> list[Record]:
    """The records of the minds of all agents, linked with each other where one names what another holds."""
    elsewhere = shared_ids(minds)
    return [record for mind in minds for record in mind_records(mind, elsewhere)]


def shared_ids(minds: Iterable[AgentMind]) -> dict[tuple[str, str], str]:
    """The keys of what agents hold, by type and id, where only one of them has something of this name: so an agent can name a
    goal of another."""
    found: dict[tuple[str, str], set[str]] = {}
    for mind in minds:
        kinds = {"desire": mind.desires, "goal": mind.goals, "plan": mind.plans}
        for at, uid in _known(mind.agent, kinds).items():
            found.setdefault(at, set()).add(uid)
    return {at: next(iter(uids)) for at, uids in found.items() if len(uids) == 1}


def state_of(attitude: Attitude) -> str:
    """How things stand, in one of five words: done, gone, stalled, active, open."""
    word = status_word(attitude.status)
    for state, words in (("done", DONE), ("gone", _OVER), ("stalled", STALLED)):
        if word in words:
            return state
    return "active" if is_active(attitude) else "open"


def _key(agent: str, held: Belief | Attitude) -> str:
    """The key of a belief or attitude. One without an id is known by what it says."""
    if held.id:
        return uid_of(agent, held.id)
    title = held.subject if isinstance(held, Belief) else held.title
    digest = hashlib.sha256("\0".join((title, held.text)).encode("utf-8", "replace")).hexdigest()[:12]
    return uid_of(agent, f"{'belief' if isinstance(held, Belief) else held.kind}-{digest}")


def _known(agent: str, kinds: Mapping[str, Sequence[Any]]) -> dict[tuple[str, str], str]:
    return {
        (kind, each.id): uid_of(agent, each.id) for kind, held in kinds.items() for each in held if each.id
    }


class _Gathered:
    """Links as they are found, from both sides, kept on the side that speaks for the relation."""

    def __init__(self, known: Elsewhere) -> None:
        self._known = known
        self._found: dict[tuple[str, str], dict[str, None]] = {}

    def add(self, relation: str, own: str, ids: Iterable[str]) -> None:
        """Links from the side that speaks for the relation."""
        for uid in self._uids(_SPEAKERS[relation][3], ids):
            if uid != own:
                self._found.setdefault((relation, own), {})[uid] = None

    def add_back(self, relation: str, own: str, ids: Iterable[str]) -> None:
        """Links from the other side."""
        for uid in self._uids(_SPEAKERS[relation][0], ids):
            self._found.setdefault((relation, uid), {})[own] = None

    def of(self, kind: str, uid: str) -> Iterator[Links]:
        """All that a record speaks for."""
        for relation, (speaker, own, other, far) in _SPEAKERS.items():
            if speaker == kind:
                yield Links(relation, own, other, far, tuple(sorted(self._found.get((relation, uid), ()))))

    def _uids(self, kind: str, ids: Iterable[str]) -> Iterator[str]:
        return (self._known[kind, own] for own in ids if (kind, own) in self._known)


def _belief(belief: Belief) -> dict[str, Any]:
    return {
        "name": belief.subject,
        "content": belief.text,
        "certainty": float(belief.certainty),
        "source": belief.source,
        "status": belief.status,
        "updated_at": find_time(belief.updated),
    }


def _attitude(each: Attitude) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": each.title,
        "content": each.text,
        "status": each.status,
        "state": state_of(each),
        "priority": each.priority,
        "deadline": each.deadline,
        "due_at": end_of(each.deadline),
        "updated_at": find_time(each.updated),
        "owner": each.owner,
    }
    if each.kind != "desire":
        told["progress"] = each.progress
    if each.kind == "goal":
        told["hierarchy_level"] = each.level
    if each.kind == "plan":
        told |= {"step_count": len(each.steps), "steps_done": sum(bool(step.done) for step in each.steps)}
    return told


def _steps(agent: str, plan: str, steps: Sequence[Step]) -> Iterator[Record]:
    """The steps of a plan, known by their names there, or else by their numbers."""
    names: dict[str, int] = {}
    for number, step in enumerate(steps, 1):
        name = step.name if step.name and step.name not in names else f"#{number}"
        names[name] = number
    for name, number in names.items():
        step = steps[number - 1]
        told = {
            "name": name,
            "content": step.text,
            "step_number": number,
            "status": step.status,
            "is_done": step.done,
        }
        waits = tuple(f"{plan}/{other}" for other in _waits_for(step.text, names) if other != name)
        links = (
            Links("plan_contains_step", "contained", "container", "plan", (plan,)),
            Links("step_depends_on", "dependent", "dependency", "plan_step", waits),
        )
        yield make_record("plan_step", f"{plan}/{name}", told, (*owned_by_agent(agent), *links))


def _waits_for(text: str, names: Iterable[str]) -> list[str]:
    """The steps that a step is said to come behind. That one stands above another says nothing, and a bare number is a step
    only behind the word.

    >>> _waits_for("Ship, after S-1 and S-2", ("S-1", "S-2", "S-3")), _waits_for("Ask again after 2 weeks", ("1", "2"))
    (['S-1', 'S-2'], [])
    >>> _waits_for("Ship (depends on step 1)", ("1", "2"))
    ['1']
    """
    if not re.search(_AFTER, text, re.IGNORECASE):
        return []
    one = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    item = rf"(?<![\w-])(?:{one})(?![\w-])"
    found: dict[str, None] = {}
    for match in re.finditer(
        rf"{_AFTER}({item}(?:\s*(?:,|and|&|,\s*and)\s*(?:step\s+)?{item})*)", text, re.IGNORECASE
    ):
        worded = "step" in match[0][: match.start(1) - match.start()].casefold()
        for name in re.findall(item, match[1]):
            if worded or not name.isdigit():
                found[name] = None
    return list(found)
