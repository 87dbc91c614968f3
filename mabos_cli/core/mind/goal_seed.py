"""Seeding a business: the goals, desires, plans and beliefs that a template has for each agent, and which of them are to be added."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from mabos_cli.core.mind.mind import Problem

# Kind: the names of its links, and the kind that each leads to.
LINKS = {
    "goal": {"parent": "goal", "desire": "desire", "requires": "plan"},
    "desire": {"motivates": "goal"},
    "plan": {"goal": "goal"},
    "belief": {"supports": "goal"},
}
Key = tuple[str, str]  # kind and id


class Seed(NamedTuple):
    """An entry of a template: whose it is, its id, title and text, its fields as they stand in a file, and its links."""

    kind: str
    agent: str
    id: str
    title: str
    text: str = ""
    fields: Mapping[str, str] = MappingProxyType({})
    links: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    steps: tuple[str, ...] = ()
    line: int = 0

    @property
    def key(self) -> Key:
        return self.kind, self.id

    def linked(self) -> Iterator[tuple[str, Key]]:
        """Yields the names of its links, each with what it leads to."""
        for name, kind in LINKS[self.kind].items():
            for entry_id in self.links.get(name, ()):
                yield name, (kind, entry_id)


class SeedAgent(NamedTuple):
    """An agent that a template has something for."""

    id: str
    role: str = ""
    name: str = ""
    line: int = 0


class Template(NamedTuple):
    """A business: its agents, and what each of them is given. The path is that of the file it was read from."""

    path: str
    business: str
    agents: tuple[SeedAgent, ...]
    seeds: tuple[Seed, ...]


class Held(NamedTuple):
    """Something that an agent has already."""

    kind: str
    agent: str
    id: str
    title: str
    place: str


class Planned(NamedTuple):
    """What becomes of an entry: `added`, `kept` because it is there, or `left out` because its agent is not there."""

    seed: Seed
    state: str
    there: Held | None = None


class SeedPlan(NamedTuple):
    """What becomes of each entry in the order of the template, the agents that are not there, and what else is to be told."""

    entries: tuple[Planned, ...]
    missing: tuple[SeedAgent, ...]
    notes: tuple[str, ...] = ()

    def added(self) -> dict[tuple[str, str], list[Seed]]:
        """Returns what is to be added, by agent and kind."""
        found: dict[tuple[str, str], list[Seed]] = {}
        for seed, state, _ in self.entries:
            if state == "added":
                found.setdefault((seed.agent, seed.kind), []).append(seed)
        return found


def check_template(template: Template, held: Iterable[Held] = ()) -> list[Problem]:
    """Returns what is wrong with a template, by line: ids and titles that are there twice, links that lead nowhere, and
    goals that are part of themselves. A link may also lead to what agents have already."""
    found: list[tuple[Seed, str]] = []
    ids: dict[Key, int] = {}
    titles: dict[tuple[str, ...], int] = {}
    for seed in template.seeds:
        if ids.setdefault(seed.key, seed.line) != seed.line:
            found.append((seed, f"{seed.id} is also the id of line {ids[seed.key]}"))
        title = (seed.agent, seed.kind, seed.title.casefold())
        if titles.setdefault(title, seed.line) != seed.line:
            found.append((seed, f"{seed.agent} has a {seed.kind} with this title on line {titles[title]}"))
    known = {*ids, *((each.kind, each.id) for each in held)}
    for seed in template.seeds:
        found += [(seed, f"{name}: no {to[0]} {to[1]}") for name, to in seed.linked() if to not in known]
    found += [(seed, f"{seed.id} is a part of itself") for seed in _circling(template.seeds)]
    return sorted(Problem(template.path, seed.line, message) for seed, message in found)


def _circling(seeds: Sequence[Seed]) -> Iterator[Seed]:
    """Yields the goals that are part of themselves, however far up."""
    above = {seed.id: seed.links.get("parent", ()) for seed in seeds if seed.kind == "goal"}
    for seed in seeds:
        seen: set[str] = set()
        wave = {*above.get(seed.id, ())} if seed.kind == "goal" else set()
        while wave - seen:
            seen |= wave
            wave = {parent for goal in wave for parent in above.get(goal, ())}
        if seed.id in seen:
            yield seed


def plan_seed(template: Template, held: Sequence[Held], agents: Collection[str]) -> SeedPlan:
    """Returns what to add. What is there is left as it is: by its id, whoever has it, or else by its title, where its
    own agent has it."""
    by_id = {(each.kind, each.id.casefold()): each for each in reversed(held) if each.id}
    by_title = {(each.agent, each.kind, each.title.casefold()): each for each in reversed(held)}
    there: dict[Key, Held] = {}
    for seed in template.seeds:
        same = by_id.get((seed.kind, seed.id.casefold()))
        same = same or by_title.get((seed.agent, seed.kind, seed.title.casefold()))
        if same:
            there[seed.key] = same
    entries = []
    for seed in template.seeds:
        state = "kept" if seed.key in there else "added" if seed.agent in agents else "left out"
        entries.append(Planned(_relinked(seed, there), state, there.get(seed.key)))
    nameless = [
        f"{each.place} of {each.agent} has no id: links to {entry_id} are left out"
        for (_, entry_id), each in there.items()
        if not each.id
    ]
    missing = tuple(agent for agent in template.agents if agent.id not in agents)
    return SeedPlan(tuple(entries), missing, tuple(nameless))


def _relinked(seed: Seed, there: Mapping[Key, Held]) -> Seed:
    """Returns a seed whose links lead to what is there under another id, and not to what is there without one."""
    links: dict[str, list[str]] = {}
    for name, to in seed.linked():
        entry_id = there[to].id if to in there else to[1]
        links.setdefault(name, []).extend([entry_id] if entry_id else [])
    return seed._replace(links={name: tuple(ids) for name, ids in links.items() if ids})
