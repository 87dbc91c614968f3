"""The mind of an agent as records for the knowledge graph: beliefs, desires, goals, plans with steps, intentions, and how they
are linked."""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

from mabos_cli.core.language.clock import end_of, find_time
from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mind.mind import Attitude, Belief, Step, state_of
from mabos_cli.core.mirror.records import Links, Record, derived_links, make_record, owned_by_agent, record_of, uid_of

_AFTER = r"\b(?:depends on|blocked by|waits for|after|once|needs)\s+(?:steps?\s+)?"
Elsewhere = Mapping[tuple[str, str], str]  # type and id: key
# Relation: who speaks for it, in which role; the role and the type of the others.
_SPEAKERS = {
    "belief_supports_goal": ("belief", "supporter", "supported", "goal"),
    "desire_motivates_goal": ("desire", "motivator", "motivated", "goal"),
    "goal_requires_plan": ("goal", "requirer", "required", "plan"),
    "goal_part_of_goal": ("goal", "part", "whole", "goal"),
    "intention_pursues_goal": ("intention", "pursuer", "pursued", "goal"),
    "intention_follows_plan": ("intention", "follower", "followed", "plan"),
}


# Kind: the names of its links in the files, the relation of each, and whether the other side speaks for that.
_WRITTEN = {
    "desire": (("motivates", "desire_motivates_goal", False),),
    "goal": (
        ("parent", "goal_part_of_goal", False),
        ("requires", "goal_requires_plan", False),
        ("desire", "desire_motivates_goal", True),
    ),
    "plan": (("goal", "goal_requires_plan", True),),
    "intention": (("goal", "intention_pursues_goal", False), ("plan", "intention_follows_plan", False)),
    "commitment": (),
}


class AgentMind(NamedTuple):
    """Holds what an agent holds true, wants and does."""

    agent: str
    beliefs: Sequence[Belief] = ()
    desires: Sequence[Attitude] = ()
    goals: Sequence[Attitude] = ()
    plans: Sequence[Attitude] = ()
    intentions: Sequence[Attitude] = ()
    commitments: Sequence[Attitude] = ()


def mind_records(mind: AgentMind, others: Sequence[AgentMind] = (), facts: Collection[str] = ()) -> list[Record]:
    """Returns the beliefs, desires, goals, plans with their steps, intentions and tasks of an agent. A link counts from whichever
    side it is written, also by another agent, and only when both ends are there; beliefs may rest on these facts, by id."""
    return _records(mind, _gather((mind, *others)), facts)


def linked_records(minds: Sequence[AgentMind]) -> list[Record]:
    """Returns the records of the minds of all agents, linked with each other where one names what another holds."""
    links = _gather(minds)
    return [record for mind in minds for record in _records(mind, links)]


def _gather(minds: Sequence[AgentMind]) -> "_Gathered":
    """Returns the links of some minds, as the files have them from either side. An id refers to the mind's own entry, else to the
    only other mind that has it."""
    elsewhere, links = shared_ids(minds), _Gathered()
    for mind in minds:
        known = {**elsewhere, **_known(mind.agent, _kinds(mind))}
        for belief in mind.beliefs:
            links.add("belief_supports_goal", _key(mind.agent, belief), belief.supports, known, False)
        for each in (*mind.desires, *mind.goals, *mind.plans, *mind.intentions, *mind.commitments):
            for name, relation, is_back in _WRITTEN[each.kind]:
                links.add(relation, _key(mind.agent, each), each.linked(name), known, is_back)
    return links


def _kinds(mind: AgentMind) -> dict[str, Sequence[Any]]:
    kinds: dict[str, Sequence[Any]] = {"belief": mind.beliefs, "desire": mind.desires, "goal": mind.goals}
    return kinds | {"plan": mind.plans, "intention": mind.intentions, "task": mind.commitments}


def _records(mind: AgentMind, links: "_Gathered", facts: Collection[str] = ()) -> list[Record]:
    found: dict[tuple[str, str], Record] = {}
    grounds = {"belief": {each.id for each in mind.beliefs}, "spo_fact": facts}
    for kind, held in _kinds(mind).items():
        for each in held:
            uid, own = _key(mind.agent, each), [*links.of(kind, _key(mind.agent, each))]
            if isinstance(each, Belief):  # it rests on what exists
                for ground, ids in grounds.items():
                    rests = (one for one in each.rests if one in ids and one != each.id)
                    own.append(derived_links(mind.agent, ground, rests))
            computed = {} if isinstance(each, Belief) else _computed(each)
            record = record_of(kind, mind.agent, each, tuple(own), uid, **computed)
            if found.setdefault((kind, uid), record) is record and not isinstance(each, Belief):
                found |= {(step.type, step.uid): step for step in _steps(mind.agent, uid, each.steps)}
    return list(found.values())


def shared_ids(minds: Iterable[AgentMind]) -> dict[tuple[str, str], str]:
    """Returns the keys of what agents hold, by type and id, where only one of them has something of this name: so an agent can
    name a goal of another."""
    found: dict[tuple[str, str], set[str]] = {}
    for mind in minds:
        kinds = {"desire": mind.desires, "goal": mind.goals, "plan": mind.plans}
        for at, uid in _known(mind.agent, kinds).items():
            found.setdefault(at, set()).add(uid)
    return {at: next(iter(uids)) for at, uids in found.items() if len(uids) == 1}


def _key(agent: str, held: Belief | Attitude) -> str:
    """Returns the key of a belief or attitude. One without an id is known by what it says."""
    if held.id:
        return uid_of(agent, held.id)
    title = held.subject if isinstance(held, Belief) else held.title
    digest = hashlib.sha256("\0".join((title, held.text)).encode("utf-8", "replace")).hexdigest()[:12]
    return uid_of(agent, f"{'belief' if isinstance(held, Belief) else held.kind}-{digest}")


def _known(agent: str, kinds: Mapping[str, Sequence[Any]]) -> dict[tuple[str, str], str]:
    return {(kind, each.id): uid_of(agent, each.id) for kind, held in kinds.items() for each in held if each.id}


def conflict_records(agent: str, conflicts: Iterable[Conflict], settled: Mapping[str, tuple[str, str]]) -> list[Record]:
    """Returns the conflicts among the beliefs of an agent. Those that somebody settled are given by key, with why and when."""
    found = []
    for each in conflicts:
        fields = {"name": each.subject, "content": each.reason, "classification": each.kind, "certainty": each.severity}
        fields["status"] = "resolved" if each.key in settled else "open"
        why, at = settled.get(each.key, ("", ""))
        fields |= {"rationale": why, "decided_at": find_time(at)}
        sides = tuple(sorted({_key(agent, each.a), _key(agent, each.b)}))
        between = Links("conflict_between", "dispute", "party", "belief", sides)
        found.append(make_record("conflict", uid_of(agent, each.key), fields, (*owned_by_agent(agent), between)))
    return found


class _Gathered:
    """Links as they are found, from both sides, kept on the side that speaks for the relation."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], set[str]] = {}

    def add(self, relation: str, key: str, ids: Iterable[str], known: Elsewhere, is_back: bool) -> None:
        """Links with those of some ids that are known, from the side that speaks for the relation or from the other one."""
        kind = _SPEAKERS[relation][0 if is_back else 3]
        for uid in (known[kind, each] for each in ids if (kind, each) in known):
            speaker, other = (uid, key) if is_back else (key, uid)
            if (kind, uid) != (_SPEAKERS[relation][3 if is_back else 0], key):  # nothing is linked with itself
                self._found.setdefault((relation, speaker), set()).add(other)

    def of(self, kind: str, uid: str) -> Iterator[Links]:
        """Yields all that a record speaks for."""
        for relation, (speaker, role, other, far) in _SPEAKERS.items():
            if speaker == kind:
                yield Links(relation, role, other, far, tuple(sorted(self._found.get((relation, uid), ()))))


def _computed(each: Attitude) -> dict[str, Any]:
    """Returns the computed attributes of an attitude; the rest of its record comes from its fields."""
    fields: dict[str, Any] = {"state": state_of(each), "due_at": end_of(each.deadline)}
    if each.kind == "commitment":
        fields |= {"assignee": each.owner, "owner": None}
    if each.kind == "plan":
        fields |= {"step_count": len(each.steps), "steps_done": sum(bool(step.done) for step in each.steps)}
    return fields


def _steps(agent: str, plan: str, steps: Sequence[Step]) -> Iterator[Record]:
    """Yields the steps of a plan, known by their names there, or else by their numbers."""
    names: dict[str, int] = {}
    for number, step in enumerate(steps, 1):
        name = step.name if step.name and step.name not in names else f"#{number}"
        names[name] = number
    for name, number in names.items():
        step = steps[number - 1]
        row = {"name": name, "content": step.text, "step_number": number, "status": step.status, "is_done": step.done}
        waits = tuple(f"{plan}/{other}" for other in _waits_for(step.text, names) if other != name)
        links = (
            Links("plan_contains_step", "contained", "container", "plan", (plan,)),
            Links("step_depends_on", "dependent", "dependency", "plan_step", waits),
        )
        yield make_record("plan_step", f"{plan}/{name}", row, (*owned_by_agent(agent), *links))


def _waits_for(text: str, names: Iterable[str]) -> list[str]:
    """Returns the steps that a step is said to come behind. That one stands above another says nothing, and a bare number is a
    step only behind the word.

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
    for match in re.finditer(rf"{_AFTER}({item}(?:\s*(?:,|and|&|,\s*and)\s*(?:step\s+)?{item})*)", text, re.IGNORECASE):
        worded = "step" in match[0][: match.start(1) - match.start()].casefold()
        for name in re.findall(item, match[1]):
            if worded or not name.isdigit():
                found[name] = None
    return list(found)


Row = dict[str, Any]


class RecordGraph:
    """Records by type and key, and who is linked with whom from both sides."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._held = {(each.type, each.uid): each for each in records}
        self._back: dict[tuple[str, str], list[str]] = {}
        for each in self._held.values():
            for links in each.links:
                for uid in links.uids:
                    self._back.setdefault((links.relation, uid), []).append(each.uid)

    def all(self, kind: str) -> list[Record]:
        """Returns the records of a type, by key."""
        return sorted((each for (name, _), each in self._held.items() if name == kind), key=attrgetter("uid"))

    def get(self, kind: str, uids: Iterable[str]) -> list[Record]:
        """Returns those of some records that are there, each once, by key."""
        return [self._held[kind, uid] for uid in sorted({*uids}) if (kind, uid) in self._held]

    def linking(self, relation: str, uid: str) -> list[str]:
        """Returns the keys of those that link themselves with one by a relation."""
        return self._back.get((relation, uid), [])


def belief_chains(graph: RecordGraph, agent: str) -> list[Row]:
    """Returns the beliefs of an agent with the goals that they support, the plans for these, and the intentions under way for
    either."""
    mine = [each.uid for each in graph.all("belief") if _agent(each) == agent]
    rows = []
    for row in conflict_impact(graph, mine):
        (belief,) = graph.get("belief", [row["belief"]])
        named = {"belief": belief.uid, "belief_name": belief.get("name"), "certainty": belief.get("certainty")}
        rows.append(named | row)
    return rows


def goals_behind(graph: RecordGraph, now: datetime, level: str = "") -> list[Row]:
    """Returns goals of all agents that are stalled, or whose day is over while they are neither done nor given up nor at 100
    %."""
    columns = {"name": "name", "level": "hierarchy_level"}
    columns |= {name: name for name in ("state", "status", "progress", "deadline")}
    rows = []
    for goal in graph.all("goal"):
        state, due, progress = goal.get("state"), goal.get("due_at"), goal.get("progress")
        is_late = (
            state in ("active", "open") and due is not None and due <= now and (progress is None or progress < 100)
        )
        if (state == "stalled" or is_late) and level in ("", goal.get("hierarchy_level")):
            row = {"agent": _agent(goal), "goal": goal.uid}
            rows.append(row | {name: goal.get(attribute) for name, attribute in columns.items()})
    return rows


def conflict_impact(graph: RecordGraph, beliefs: Sequence[str]) -> list[Row]:
    """Returns what depends on some beliefs, given by their keys: goals, the plans for them, and the intentions under way for
    either."""
    return [
        {"belief": belief.uid, **_pursuit(graph, goal)}
        for belief in graph.get("belief", beliefs)
        for goal in graph.get("goal", belief.linked("belief_supports_goal"))
    ]


def _agent(record: Record) -> str:
    return next(iter(record.linked("agent_owns")), "")


def _pursuit(graph: RecordGraph, goal: Record) -> Row:
    """Returns a goal, the plans for it, and the intentions under way for either."""
    plans = goal.linked("goal_requires_plan")
    keys = {uid for plan in plans for uid in graph.linking("intention_follows_plan", plan)}
    keys |= {*graph.linking("intention_pursues_goal", goal.uid)}
    row = {"goal": goal.uid, "goal_name": goal.get("name"), "goal_status": goal.get("status")}
    for kind, uids in (("plan", plans), ("intention", keys)):
        row[f"{kind}s"] = [
            {kind: each.uid, "name": each.get("name"), "status": each.get("status")} for each in graph.get(kind, uids)
        ]
    return row
