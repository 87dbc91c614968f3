"""Learning from a session: observations become drafts of the few memories that are worth keeping. A module of its own: storing
starts without the model and the patterns that it takes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from mabos_cli.core.language.clock import find_time
from mabos_cli.core.memory.judging import Judge
from mabos_cli.core.memory.learning import PERSON, Learned, Turn, is_outside_tool, learn
from mabos_cli.core.memory.observation import Observation
from mabos_cli.core.memory.stores import Draft
from mabos_cli.core.memory.trust import lowest_trust
from mabos_cli.core.memory.upkeep import draft_observation
from mabos_cli.formats.memory.observations import parse_observations
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import read_bytes
from mabos_cli.workspace.layout import template_file

_TALK = ("message", "tool")


@cache
def load_judge() -> Judge:
    """Returns the model that comes with the program."""
    return read_judge(read_bytes(template_file("learning.model")) or b"")


def read_judge(data: bytes) -> Judge:
    """Returns the model of a file: a line of JSON, then rows of a feature's checksum and its weight for each type, a byte each."""
    head, _, rows = data.partition(b"\n")
    model = json.loads(head)
    steps = [model["step"] * n for n in (*range(128), *range(-128, 0))]  # by the byte of a weight
    size = 4 + len(model["types"])
    found = (
        (int.from_bytes(rows[at : at + 4], "little"), rows[at + 4 : at + size]) for at in range(0, len(rows), size)
    )
    weights = {feature: [steps[weight] for weight in row] for feature, row in found}
    return Judge(model["types"], model["floor"], weights, model["classes"])


def draft_observations(
    agent: Agent, name: str, ready: Mapping[str, Observation], store: str
) -> Iterator[tuple[Observation, Draft]]:
    """Yields what becomes of observations of a file: a note, and what says its type or importance, as it is; of a conversation
    what is worth keeping."""
    types, talk = agent.settings.keeping(), dict[str, list[Observation]]()
    for seen in ready.values():
        if seen.kind in _TALK and not seen.type and seen.importance is None:
            talk.setdefault(seen.session, []).append(seen)
        else:
            yield seen, draft_observation(seen, store, types)
    for session, turns in talk.items():
        before = _earlier(agent, name, session, turns[0].id)
        for learned in _learn(agent, before, turns):
            seen = turns[learned.turn - len(before)]
            yield seen, _draft(agent, seen, learned, store)


def _learn(agent: Agent, before: Sequence[Observation], turns: Sequence[Observation]) -> list[Learned]:
    local = agent.settings["harvest.local_tools"].split()

    def turn(seen: Observation) -> Turn:
        moment, is_tool = find_time(seen.at), seen.kind == "tool"
        is_outside = is_tool and is_outside_tool(seen.source, seen.text, local)
        return Turn("tool" if is_tool else seen.author, seen.text, moment.date() if moment else None, is_outside)

    return learn([turn(seen) for seen in (*before, *turns)], load_judge(), len(before))


def _earlier(agent: Agent, name: str, session: str, first: str) -> list[Observation]:
    """Returns what was said before in a session, as far as the same file holds it: harvested already, and context now."""
    if not session:
        return []
    data = read_bytes(agent.paths.observations / name) or b""
    found: list[Observation] = []
    for line in parse_observations(data, name):
        if line.id == first:
            break
        if line.observation and line.observation.session == session:
            found.append(line.observation)
    return found


def _draft(agent: Agent, seen: Observation, learned: Learned, store: str) -> Draft:
    """Returns the draft of what was learned. A person's words are trusted as the setting says, a quoted tool's not at all."""
    trusts = [seen.trust]
    trusts += [agent.settings["harvest.person_trust"]] if seen.author == PERSON else []
    trusts += ["untrusted"] if learned.is_quoted else []
    observation = seen._replace(text=learned.content, type=learned.type, trust=lowest_trust(trusts))
    return draft_observation(observation, store, agent.settings.keeping())
