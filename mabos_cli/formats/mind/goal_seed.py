"""Templates of a business as people write them, in YAML, and their entries as cognitive files have them."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.item import PRIORITIES, check_word
from mabos_cli.core.mind.mind import LEVELS, parse_level
from mabos_cli.formats.knowledge.reason_input import Source, cited, parse_source
from mabos_cli.formats.markdown.escape import escape_block
from mabos_cli.formats.mind.attitudes import KINDS
from mabos_cli.formats.mind.cognitive_fields import ID
from mabos_cli.formats.mind.mind_edit import Draft
from mabos_cli.reasoning.shape import conform, parse_shape

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
    text: str
    fields: Mapping[str, str]
    links: Mapping[str, tuple[str, ...]]
    steps: tuple[str, ...]
    line: int

    @property
    def key(self) -> Key:
        return self.kind, self.id


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


_LONGEST_TITLE = 300


def _ids(about: str) -> list[str]:
    return [f"optional list = [] | {about}", "text | an id"]


def _entries(about: str, **fields: Any) -> list[Any]:
    common = {"id": "text | an id that nothing else of its kind has in the business", "title": "text | one line"}
    more = {"text": "optional text = '' | what else is to be said"}
    return [f"optional list 0+ = [] | {about}", "record", common | more | fields]


_PRIORITY = "optional text = '' | 0 to 1, or critical, high, medium, low"
_AGENT = {
    "role": "optional text = '' | what the agent is for",
    "name": "optional text = '' | what people call it",
    "goals": _entries(
        "its goals",
        level=f"text {'/'.join(LEVELS)} | how far it reaches",
        priority=_PRIORITY,
        deadline="optional text = '' | a date, or 90d from now",
        parent="optional text = '' | the goal that it is a part of",
        desire=_ids("the desires behind it"),
        requires=_ids("the plans that it requires"),
    ),
    "desires": _entries("what it wants", priority=_PRIORITY, motivates=_ids("the goals that it motivates")),
    "plans": _entries(
        "its plans",
        goal=_ids("the goals that it serves"),
        steps=["optional list 0+ = [] | its steps", "text | what is to be done"],
    ),
    "beliefs": _entries(
        "what it holds true",
        certainty="optional probability = 0.8 | how sure it is",
        source="optional text = '' | where it comes from",
        supports=_ids("the goals that it supports"),
    ),
}
_SHAPE = parse_shape(
    [
        "record | a business",
        {
            "business": "optional text = '' | what the business is",
            "agents": ["map | the agents, each by its id", "record | an agent", _AGENT],
        },
    ]
)


def parse_template(content: str, path: str, day_of: Callable[[str], str]) -> Template:
    """Returns the business in a template; InvalidFile cites the line that is off. `day_of` turns a deadline into a
    date."""
    source = parse_source(content, path)
    try:
        found = conform(_SHAPE, source.value, {})
        seeds = [seed for agent, entries in found["agents"].items() for seed in _seeds(source, agent, entries, day_of)]
        agents = [
            SeedAgent(
                agent,
                _line(entries["role"], f"agents.{agent}.role"),
                _line(entries["name"], f"agents.{agent}.name"),
                source.line_of(f"agents.{agent}"),
            )
            for agent, entries in found["agents"].items()
        ]
    except BadValue as error:
        raise cited(error, source) from None
    return Template(path, one_line(found["business"]), tuple(agents), tuple(seeds))


def _seeds(source: Source, agent: str, entries: Mapping[str, Any], day_of: Callable[[str], str]) -> Iterator[Seed]:
    for kind in LINKS:
        for number, entry in enumerate(entries[f"{kind}s"], 1):
            path = f"agents.{agent}.{kind}s[{number}]"
            yield Seed(
                kind,
                agent,
                _id(kind, entry["id"], f"{path}.id"),
                _line(entry["title"], f"{path}.title", _LONGEST_TITLE),
                entry["text"],
                _fields(kind, entry, path, day_of),
                {name: _linked(to, entry[name], f"{path}.{name}") for name, to in LINKS[kind].items()},
                tuple(_line(step, f"{path}.steps[{n}]") for n, step in enumerate(entry.get("steps", ()), 1)),
                source.line_of(path),
            )


def _fields(kind: str, entry: Mapping[str, Any], path: str, day_of: Callable[[str], str]) -> dict[str, str]:
    """Returns the fields of an entry as they stand in a file, but for its links."""
    if kind == "plan":
        return {}
    if kind == "belief":
        return {"certainty": f"{entry['certainty']:g}", "source": _line(entry["source"], f"{path}.source")}
    priority = entry["priority"].lower()
    trouble = parse_level(priority, PRIORITIES, "priority")[1]
    if trouble:
        raise BadValue(f"{path}.priority: {trouble}", "0 to 1, or critical, high, medium, low")
    if kind == "desire":
        return {"priority": priority, "status": "active"}
    try:
        deadline = day_of(entry["deadline"])
    except BadValue as error:
        raise BadValue(f"{path}.deadline: {error.message}", error.hint) from None
    return {"type": entry["level"], "priority": priority, "status": "active", "deadline": deadline}


def _line(value: str, path: str, limit: int = 200) -> str:
    try:
        return check_word(value, path.rpartition(".")[2], limit)
    except BadValue as error:
        raise BadValue(f"{path}: {error.message}", error.hint) from None


def _linked(kind: str, ids: list[str] | str, path: str) -> tuple[str, ...]:
    """Returns the ids of a link, of which some have one and others many."""
    if isinstance(ids, str):
        return (_id(kind, ids, path),) if ids else ()
    return tuple(dict.fromkeys(_id(kind, entry_id, f"{path}[{n}]") for n, entry_id in enumerate(ids, 1)))


def _id(kind: str, value: str, path: str) -> str:
    """Returns an id that the files tell from other words, wherever it stands."""
    prefix = KINDS[kind].prefix
    if not ID.fullmatch(value) or not re.fullmatch(rf"{prefix}[A-Z]?-[A-Za-z0-9-]*", value):
        raise BadValue(f"{path}: {value[:40]!r} is no id of a {kind}", f"as in {prefix}-001 or {prefix}-CEO-1")
    return value


def seed_draft(seed: Seed, day: str) -> Draft:
    """Returns an entry of a template as one to be written on a day."""
    links = {name: ", ".join(ids) for name, ids in seed.links.items()}
    dated = {"updated": day} if seed.kind == "belief" else {}
    steps = tuple(f"{n}. [ ] {one_line(escape_block(step))}" for n, step in enumerate(seed.steps, 1))
    return Draft(seed.kind, seed.id, seed.title, seed.text, {**seed.fields, **links, **dated}, steps)
