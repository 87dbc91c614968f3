"""A business with goals and what belongs to them, from a template into the files of its agents."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.mind.goal_seed import LINKS, Held, Planned, Seed, SeedPlan, Template, check_template, plan_seed
from mabos_cli.errors import InvalidFile, MabosError
from mabos_cli.formats.mind.attitudes import KINDS, find_entry, goal_group
from mabos_cli.formats.mind.cognitive import parse_cognitive
from mabos_cli.formats.mind.goal_seed import parse_template, seed_draft
from mabos_cli.formats.mind.mind_edit import add_entry
from mabos_cli.services.inputs import parse_ahead, read_given
from mabos_cli.services.mind.attitudes import find_added
from mabos_cli.services.session import Session
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.create import create_agent
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.locate import check_agent_id, find_agent, list_agents
from mabos_cli.workspace.mind import edit_mind, load_attitudes, load_beliefs
from mabos_cli.workspace.runtime import now
from mabos_cli.workspace.transaction import write_receipt

_SHIPPED = Path(__file__).resolve().parents[2] / "templates" / "business-goals.yaml"
# Of a seed by kind and id: the id that it got, and where it stands.
Places = dict[tuple[str, str], tuple[str, str]]


class Seeded(NamedTuple):
    """What became of a template: its entries as JSON, the agents that were created and those that are missing; and warnings."""

    template: str
    business: str
    rows: list[dict[str, Any]]
    created: list[str]
    missing: list[str]
    warnings: list[str]


def seed_business(call: Session, file: str, *, create_agents: bool, dry_run: bool) -> Seeded:
    """Writes what a template has, our own if no file is named, into the files of its agents; what is there is left as it is."""
    workspace = call.open_workspace()
    template = _read(file)
    agents = list_agents(workspace)
    held, warnings = _held(call, workspace, agents, {agent.id for agent in template.agents})
    problems = check_template(template, held)
    if problems:
        raise InvalidFile(str(problems[0]), "nothing was written; mend the template")
    made = _agents_to_make(template, agents) if create_agents else []
    plan = plan_seed(template, held, [*agents, *made])
    places: Places = {}
    if not dry_run:
        _make_agents(call, workspace, template, made)
        places, troubles = _write(call, workspace, plan)
        warnings += troubles
    for agent in plan.missing:
        left = sum(each.seed.agent == agent.id and each.state == "left out" for each in plan.entries)
        if left:
            warnings.append(f"no agent {agent.id}: {left} of its entries left out; --create-agents makes it")
    rows = [_row(each, places, dry_run) for each in plan.entries]
    missing = [agent.id for agent in plan.missing]
    return Seeded(template.path, template.business, rows, made, missing, [*warnings, *plan.notes])


def _read(file: str) -> Template:
    """Returns the template that is meant, with deadlines counted from now."""
    moment = now()

    def day_of(text: str) -> str:
        return format_time(parse_ahead(text, moment))[:10] if text else ""

    if not file:
        return parse_template(read_given(str(_SHIPPED)), _SHIPPED.name, day_of)
    return parse_template(read_given(file), "standard input" if file == "-" else file, day_of)


def _held(
    call: Session, workspace: WorkspacePaths, agents: Iterable[str], wanted: set[str]
) -> tuple[list[Held], list[str]]:
    """Returns what agents have already. One that cannot be read is an error where something is to be written, else a
    warning."""
    found: list[Held] = []
    warnings: list[str] = []
    for agent in agents:
        try:
            found += _held_by(call.agent_of(find_agent(workspace, agent)))
        except MabosError as error:
            if agent in wanted:
                raise
            warnings.append(f"{agent}: {error.message}")
    return found, warnings


def _held_by(agent: Agent) -> list[Held]:
    found = [Held("belief", agent.id, b.id, b.subject, b.place) for b in load_beliefs(agent)[0]]
    kinds = [kind for kind in LINKS if kind != "belief"]
    attitudes = [each for kind in kinds for each in load_attitudes(agent, kind)[0]]
    return found + [Held(each.kind, agent.id, each.id, each.title, each.place) for each in attitudes]


def _agents_to_make(template: Template, agents: Iterable[str]) -> list[str]:
    """Returns the ids of agents that are not there; InvalidFile when one of them cannot be made, before any is."""
    missing = [agent for agent in template.agents if agent.id not in agents]
    for agent in missing:
        try:
            check_agent_id(agent.id)
        except BadValue as error:
            raise InvalidFile(f"{template.path}:{agent.line}: {error.message}", error.hint) from None
    return [agent.id for agent in missing]


def _make_agents(call: Session, workspace: WorkspacePaths, template: Template, made: Iterable[str]) -> None:
    for agent in [each for each in template.agents if each.id in made]:
        files = create_agent(workspace, agent.id, agent.role, agent.name)
        write_receipt(call.agent_of(workspace.agent(agent.id)), "agent create", {"files": len(files)}, part="agent")


def _write(call: Session, workspace: WorkspacePaths, plan: SeedPlan) -> tuple[Places, list[str]]:
    """Writes what is to be added, each file once: where everything stands, and warnings."""
    places: Places = {}
    warnings: list[str] = []
    opened: dict[str, Agent] = {}
    for (agent, kind), seeds in plan.added().items():
        home = opened.setdefault(agent, call.agent_of(find_agent(workspace, agent)))
        written, troubles = _add(home, kind, seeds)
        places |= written
        warnings += [f"{agent}: {trouble}" for trouble in troubles]
    return places, warnings


def _add(agent: Agent, kind: str, seeds: list[Seed]) -> tuple[Places, list[str]]:
    day, name = format_time(agent.now())[:10], KINDS[kind].file
    places: Places = {}

    def edit(old: str) -> str:
        new, added = old or f"# {name.removesuffix('.md')}\n", []
        for seed in seeds:
            file = parse_cognitive(new)
            # Somebody may have added it since it was looked for.
            if find_entry(file, kind, seed.id) or find_entry(file, kind, seed.title):
                continue
            group = goal_group(new, seed.fields["type"]) if kind == "goal" else ""
            new = add_entry(new, seed_draft(seed, day), day, group)[0]
            added.append(seed)
        found = {seed.key: find_added(new, kind, seed.id, seed.title) for seed in added}
        places.clear()
        places.update({key: (entry_id, f"{name}:{line}") for key, (entry_id, line) in found.items()})
        return new if added else old

    ids = lambda: [entry_id for entry_id, _ in places.values() if entry_id]  # noqa: E731
    warnings = edit_mind(agent, "goal seed", kind, edit, ids)[1]
    return places, warnings


def _row(each: Planned, places: Places, dry_run: bool) -> dict[str, Any]:
    """Returns what became of an entry, as JSON."""
    seed, state, there = each
    row: dict[str, Any] = {"agent": seed.agent, "kind": seed.kind, "id": seed.id, "title": seed.title, "state": state}
    if there:
        row |= {"agent": there.agent, "id": there.id or None, "title": there.title, "place": there.place}
        is_same = (there.id, there.title.casefold()) == (seed.id, seed.title.casefold())
        return row if is_same else row | {"for": seed.id}
    entry_id, place = places.get(seed.key, (seed.id, ""))
    if state == "added" and not place and not dry_run:
        row["state"] = "kept"  # somebody else was faster
    return row | {"id": entry_id or None, "place": place or None}
