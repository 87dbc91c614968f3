"""Copies the goals of a business, and what belongs to them, from a template into the files of its agents."""

from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.mind.attitudes import KINDS, find_entry, goal_group
from mabos_cli.formats.mind.cognitive import parse_cognitive
from mabos_cli.formats.mind.goal_seed import LINKS, Key, Seed, SeedAgent, Template, parse_template, seed_draft
from mabos_cli.formats.mind.mind_edit import add_entry
from mabos_cli.services.inputs import Session, parse_ahead, read_given
from mabos_cli.services.mind.attitudes import find_added
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.locate import check_agent_id, create_agent, find_agent, list_agents
from mabos_cli.workspace.mind import edit_mind, load_attitudes, load_beliefs
from mabos_cli.workspace.runtime import now
from mabos_cli.workspace.transaction import write_receipt

_SHIPPED = Path(__file__).resolve().parents[2] / "templates" / "business-goals.yaml"
# Of an entry by kind and id in the template: its id and title, and where it stands.
Places = dict[Key, tuple[str, str, str]]


class Seeded(NamedTuple):
    """Holds the result of seeding: the entries as JSON, the agents that were created and those that are missing; and warnings."""

    template: str
    business: str
    rows: list[dict[str, Any]]
    created: list[str]
    missing: list[str]
    warnings: list[str]


def seed_business(call: Session, file: str, *, create_agents: bool, dry_run: bool) -> Seeded:
    """Writes the entries of a template, the shipped one if no file is named, into the files of its agents.

    What an agent has already, by id or by title, is left as it is; links lead to it.
    """
    workspace, template, known = call.open_workspace(), _read(file), list_agents(call.open_workspace())
    missing = [agent for agent in template.agents if agent.id not in known]
    made = _check_ids(template, missing) if create_agents else []
    homes = {a.id: call.agent_of(find_agent(workspace, a.id)) for a in template.agents if a.id in known}
    held = {name: _held_by(home) for name, home in homes.items()}
    _check_links(template, {(kind, entry_id) for entries in held.values() for kind, entry_id, _, _ in entries})
    there = {seed.key: place for seed in template.seeds if (place := _find_place(seed, held.get(seed.agent, [])))}
    warnings: list[str] = []
    for agent in missing:
        if agent.id in made and not dry_run:
            homes[agent.id] = _make_agent(call, workspace, agent)
        elif agent.id not in made:
            left = sum(seed.agent == agent.id for seed in template.seeds)
            warnings.append(f"no agent {agent.id}: {left} of its entries left out; --create-agents creates it")
    rows: list[dict[str, Any]] = []
    for (name, kind), group in groupby(template.seeds, key=lambda seed: (seed.agent, seed.kind)):
        seeds = list(group)
        new = [_relink(seed, there) for seed in seeds if seed.key not in there]
        places: Places = {}
        if new and name in homes and not dry_run:
            places, troubles = _add(homes[name], kind, new)
            warnings += [f"{name}: {trouble}" for trouble in troubles]
        state = "added" if name in homes or name in made else "left out"
        rows += [_row(seed, state, there.get(seed.key), places.get(seed.key), dry_run) for seed in seeds]
    return Seeded(template.path, template.business, rows, made, [agent.id for agent in missing], warnings)


def _read(file: str) -> Template:
    """Returns the template that is meant, with deadlines counted from now."""
    moment = now()

    def day_of(text: str) -> str:
        return format_time(parse_ahead(text, moment))[:10] if text else ""

    if not file:
        return parse_template(read_given(str(_SHIPPED)), _SHIPPED.name, day_of)
    return parse_template(read_given(file), "standard input" if file == "-" else file, day_of)


def _held_by(agent: Agent) -> list[tuple[str, str, str, str]]:
    """Returns kind, id, title and place of what an agent has already."""
    found = [("belief", b.id, b.subject, b.place) for b in load_beliefs(agent)[0]]
    for kind in LINKS:
        found += [(kind, a.id, a.title, a.place) for a in load_attitudes(agent, kind)[0]] if kind != "belief" else []
    return found


def _find_place(seed: Seed, held: list[tuple[str, str, str, str]]) -> tuple[str, str, str] | None:
    """Returns the id, title and place of what its agent has in place of a seed: by its id, or else by its title."""
    mine = [each for each in held if each[0] == seed.kind]
    same = [each for each in mine if each[1].casefold() == seed.id.casefold()]
    same += [each for each in mine if each[2].casefold() == seed.title.casefold()]
    return same[0][1:] if same else None


def _check_links(template: Template, held: set[Key]) -> None:
    """Raises InvalidFile for a link that leads to nothing, in the template or in the files of its agents."""
    known = {seed.key for seed in template.seeds} | held
    for seed in template.seeds:
        for name, kind in LINKS[seed.kind].items():
            lost = [entry_id for entry_id in seed.links[name] if (kind, entry_id) not in known]
            if lost:
                where = f"{template.path}:{seed.line}: {name}"
                raise InvalidFile(f"{where}: no {kind} {lost[0]}", "nothing was written; mend the template")


def _relink(seed: Seed, there: Places) -> Seed:
    """Returns a seed whose links lead to what is there under another id, and not to what is there without one."""
    links = {}
    for name, kind in LINKS[seed.kind].items():
        ids = [there[kind, each][0] if (kind, each) in there else each for each in seed.links[name]]
        links[name] = tuple(filter(None, ids))
    return seed._replace(links=links)


def _check_ids(template: Template, missing: list[SeedAgent]) -> list[str]:
    """Returns the ids of agents that are not there; InvalidFile when one of them cannot be made, before any is."""
    for agent in missing:
        try:
            check_agent_id(agent.id)
        except BadValue as error:
            raise InvalidFile(f"{template.path}:{agent.line}: {error.message}", error.hint) from None
    return [agent.id for agent in missing]


def _make_agent(call: Session, workspace: WorkspacePaths, agent: SeedAgent) -> Agent:
    files = create_agent(workspace, agent.id, agent.role, agent.name)
    home = call.agent_of(workspace.agent(agent.id))
    write_receipt(home, "agent create", {"files": len(files)}, part="agent")
    return home


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
        places.update({s.key: (found[s.key][0], s.title, f"{name}:{found[s.key][1]}") for s in added})
        return new if added else old

    ids = lambda: [place[0] for place in places.values() if place[0]]  # noqa: E731
    warnings = edit_mind(agent, "goal seed", kind, edit, ids)[1]
    return places, warnings


def _row(
    seed: Seed, state: str, there: tuple[str, str, str] | None, place: tuple[str, str, str] | None, dry_run: bool
) -> dict[str, Any]:
    """Returns the outcome for an entry, as JSON."""
    row = {"agent": seed.agent, "kind": seed.kind, "id": seed.id, "title": seed.title, "state": state, "place": None}
    if there:
        row |= {"state": "kept", "id": there[0] or None, "title": there[1], "place": there[2]}
        is_same = (there[0], there[1].casefold()) == (seed.id, seed.title.casefold())
        return row if is_same else row | {"for": seed.id}
    if place:
        return row | {"id": place[0] or None, "place": place[2]}
    # Somebody else was faster.
    return row | {"state": "kept"} if state == "added" and not dry_run else row
