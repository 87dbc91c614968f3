"""Deliberation for an agent: what its files propose to adopt, reconsider, drop or plan again, and what taking a proposal writes."""

import re
from collections.abc import Mapping, Sequence

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.item import check_word
from mabos_cli.core.mind.commitment import STRATEGIES, Mind, is_past
from mabos_cli.core.mind.deliberation import Deliberation, Proposal, Situation, deliberate
from mabos_cli.core.mind.mind import Attitude
from mabos_cli.errors import NotFound, UsageFault
from mabos_cli.formats.mind.mind_md import Resolution, proposal_row, render_resolution
from mabos_cli.services.inputs import refuse_secrets
from mabos_cli.services.mind.attitudes import Result, add_attitude, change_status, end_attitude, update_attitude
from mabos_cli.services.mind.beliefs import Revision, gone_facts, revise_belief
from mabos_cli.workspace import mind as mind_files
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.cases import load_cases
from mabos_cli.workspace.knowledge.facts import load_facts
from mabos_cli.workspace.locate import list_agents
from mabos_cli.workspace.transaction import Fresh, Write, transact

# What a cycle takes by itself, by the setting bdi.autonomy; a new deadline is for somebody to set.
TAKEN = {"propose": (), "adopt": ("adopt", "re-plan"), "all": ("adopt", "re-plan", "drop", "reconsider")}
_DECLINED = "declined"


def strategy_of(agent: Agent) -> tuple[str, list[str]]:
    """Returns the commitment strategy that agent.json names, and a warning when it names none that we know."""
    bdi = agent.manifest().get("bdi")
    named = str((bdi.get("commitmentStrategy") if isinstance(bdi, dict) else "") or STRATEGIES[2])
    strategy = named.strip().lower().replace("_", "-").replace(" ", "-")
    if strategy in STRATEGIES:
        return strategy, []
    place = agent.paths.cited(agent.paths.manifest)
    return STRATEGIES[2], [f"{place}: unknown commitmentStrategy {named[:40]!r}; open-minded is assumed"]


def deliberate_now(agent: Agent, ended: Mapping[int, str] | None = None) -> Deliberation:
    """Returns what the files of an agent propose. `ended` are intentions by line with the status that a dry run would give
    them."""
    s = agent.settings
    found = {
        kind: mind_files.load_attitudes(agent, kind)[0]
        for kind in ("goal", "desire", "intention", "plan", "commitment")
    }
    intentions = [each._replace(status=(ended or {}).get(each.line, each.status)) for each in found["intention"]]
    beliefs, facts = mind_files.load_beliefs(agent)[0], load_facts(agent)
    declined = [key for key, each in mind_files.read_resolved(agent).items() if each.keep == _DECLINED]
    return deliberate(
        Situation(
            Mind(found["goal"], found["desire"], beliefs),
            intentions,
            [*found["plan"], *mind_files.load_playbooks(agent)],
            found["commitment"],
            strategy_of(agent)[0],
            agent.now(),
            s["bdi.certainty_floor"],
            s["bdi.capacity"],
            facts,
            gone_facts(agent, beliefs),
            load_cases(agent).cases(),
            find_reports(agent, found["goal"]),
            frozenset(declined),
        )
    )


def find_reports(agent: Agent, goals: Sequence[Attitude]) -> dict[str, Attitude]:
    """Returns what other agents made of the goals that this one handed them, by the goal's name here."""
    others = {goal.owner.strip().casefold() for goal in goals if goal.owner} & {*list_agents(agent.paths.workspace)}
    found = {}
    for other in sorted(others - {agent.id}):
        for goal in mind_files.load_attitudes(neighbour(agent, other), "goal")[0]:
            whose, _, name = goal.delegated.partition(" ")
            if whose.casefold() == agent.id.casefold() and name:
                found[name.strip()] = goal._replace(owner=other, path=f"../{other}/{goal.path}")
    return found


def neighbour(agent: Agent, other: str) -> Agent:
    """Returns another agent of the same workspace, to read its files."""
    return agent._replace(paths=agent.paths.workspace.agent(other))


def find_proposal(agent: Agent, name: str) -> Proposal:
    """Returns the proposal with a key, or about something with a name, or with these words in it."""
    wanted = name.strip().casefold()
    found = deliberate_now(agent).proposals
    named = [p for p in found if wanted in (p.key, p.name.casefold(), p.title.casefold())]
    named = named or [
        p for p in found if len(wanted) >= 4 and (p.key.startswith(wanted) or wanted in p.title.casefold())
    ]
    keys = dict.fromkeys(p.key for p in named)  # what a file has twice is proposed twice
    if len(keys) > 1:
        raise UsageFault(f"{name} could be {len(keys)} proposals", f"one of: {', '.join(keys)}")
    if not named:
        raise NotFound(f"no proposal {name!r} for agent {agent.id}", "mabos bdi deliberate lists them")
    return named[0]


def adopt_proposal(agent: Agent, each: Proposal, deadline: str = "", reason: str = "") -> Result:
    """Takes a proposal: writes what it comes to into the files that it is about."""
    why = check_word(reason, "reason", 2000) or one_line(each.reasons[0], 200)
    if each.becomes == "given more time":
        if not deadline:
            end = "goal close" if each.kind == "goal" else "commitment complete or break"
            raise BadValue(f"{each.name} needs a new deadline", f"--deadline DATE; or mabos {end} {each.name}")
        return _taken(each, update_attitude(agent, each.kind, each.name, {"deadline": deadline}, why))
    if each.kind == "belief":
        return _taken(each, revise_belief(agent, each.name, Revision(status="retracted", reason=why)))
    if each.kind == "desire":
        fields = {"type": "tactical", "priority": "", "status": "active", "deadline": deadline, "desire": [each.name]}
        return _taken(each, add_attitude(agent, "goal", each.title, fields | {"parent": [], "requires": []}))
    if each.becomes == "active":
        return _taken(each, _pursue(agent, each, deadline))
    if each.becomes == "suspended":
        done = change_status(agent, "goal", each.name, "suspended", why)
        others = [change_status(agent, "intention", name, "suspended", why) for name in each.intentions]
        return _taken(each, done, *others)
    return _taken(each, end_attitude(agent, "goal", "close", each.name, why, each.becomes))


def _pursue(agent: Agent, each: Proposal, deadline: str) -> Result:
    """Adds an intention for a goal, by the plan or the case that fits; one that is active follows that plan from now on."""
    means = each.means
    plan = [means.name] if means and means.is_plan and re.fullmatch(r"[A-Z]+-\S*\d\S*", means.name) else []
    if each.intentions and plan:
        return update_attitude(agent, "intention", each.intentions[0], {"plan": plan}, each.reasons[0])
    goal = next(goal for goal in mind_files.load_attitudes(agent, "goal")[0] if goal.name == each.name)
    ahead = deadline or ("" if is_past(goal.deadline, agent.now()) else goal.deadline[:10])
    steps = "; ".join((*means.ready, *means.waiting)) if means and not plan else ""
    text = f"As in {means.name} ({means.place}): {steps}" if means and steps else None
    fields = {"status": "active", "goal": [goal.id] if goal.id else [], "plan": plan, "deadline": ahead}
    return add_attitude(agent, "intention", goal.title, fields, text=text)


def _taken(each: Proposal, *done: Result) -> Result:
    lines = [
        f"{each.action} {each.name}: {each.reasons[0]}",
        *(f"  {line}" for result in done for line in result.lines),
    ]
    return Result({"proposal": proposal_row(each), "done": [result.data for result in done]}, lines, done[0].warnings)


def decline_proposal(agent: Agent, each: Proposal, reason: str) -> Result:
    """Notes that a proposal is not wanted: it does not come back as long as its reasons are the same."""
    reason = check_word(reason, "reason", 2000)
    refuse_secrets(agent.settings, reason=reason)
    decision = Resolution(each.key, _DECLINED, each.name, each.action, reason, format_time(agent.now()))

    def planned(fresh: Fresh) -> tuple[Write, None]:
        line = (agent.paths.conflict_ledger, render_resolution(decision))
        return Write(lines=[line], part="mind", ids=[each.name], counts={"declined": 1}), None

    warnings = transact(agent, "bdi deliberate", planned)[1]
    return Result({"proposal": proposal_row(each), "declined": True}, [f"declined {each.action} {each.name}"], warnings)


def take_by_itself(agent: Agent, found: Deliberation) -> list[Result]:
    """Takes the proposals that the setting leaves to the agent, and returns what came of them."""
    allowed = TAKEN[agent.settings["bdi.autonomy"]]
    free = [each for each in found.proposals if each.action in allowed and each.becomes != "given more time"]
    return [adopt_proposal(agent, each) for each in free]
