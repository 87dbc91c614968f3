"""The cognitive files of an agent: read as they are, edited under its lock and never over what a person saved meanwhile."""

import re
from collections.abc import Callable
from functools import lru_cache

from mabos_cli.core.mind.mind import Attitude, Belief, Problem
from mabos_cli.errors import MabosError
from mabos_cli.formats.mind.attitudes import KINDS, parse_attitudes, parse_beliefs, parse_plans
from mabos_cli.formats.mind.mind_md import render_mind
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.derived import write_derived
from mabos_cli.workspace.files import read_saved
from mabos_cli.workspace.memory.logs import plan_edit
from mabos_cli.workspace.transaction import Fresh, Write, transact

_MATERIALIZED = ("belief", "desire", "goal")


def read_mind(agent: Agent, kind: str) -> str:
    """The text of the file of a kind; empty when there is none. Bytes that are not UTF-8 pass through."""
    return (read_saved(agent.paths.root / KINDS[kind].file) or b"").decode("utf-8", "surrogateescape")


def load_beliefs(agent: Agent) -> tuple[list[Belief], list[Problem]]:
    """What an agent holds true, and what in its file makes no sense."""
    return parse_belief_text(read_mind(agent, "belief"))


def parse_belief_text(text: str) -> tuple[list[Belief], list[Problem]]:
    """The beliefs in the text of Beliefs.md, and what in it makes no sense."""
    name = KINDS["belief"].file
    beliefs, problems = _parse_once(_clean(text), name)
    return [*beliefs], [*_odd_bytes(text, name), *problems]


@lru_cache(maxsize=2)  # a cycle loads the same beliefs again for mabos-beliefs.md
def _parse_once(text: str, name: str) -> tuple[list[Belief], list[Problem]]:
    return parse_beliefs(text, name)


def load_attitudes(agent: Agent, kind: str) -> tuple[list[Attitude], list[Problem]]:
    """The desires, goals, ... of an agent, and what in their file makes no sense."""
    text, name = read_mind(agent, kind), KINDS[kind].file
    told = _clean(text)
    found, problems = parse_plans(told, name) if kind == "plan" else parse_attitudes(told, kind, name)
    return found, [*_odd_bytes(text, name), *problems]


def _clean(text: str) -> str:
    """A text as values that can be shown: bytes that are not UTF-8 are drawn. The file itself keeps them."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _odd_bytes(text: str, name: str) -> list[Problem]:
    """That a file is not UTF-8, with the first line that is not; such bytes are kept as they are."""
    odd = re.search("[\udc80-\udcff]", text)
    return [Problem(name, text.count("\n", 0, odd.start()) + 1, "not valid UTF-8")] if odd else []


def edit_mind(
    agent: Agent, command: str, kind: str, edit: Callable[[str], str], ids: Callable[[], list[str]]
) -> tuple[bool, list[str]]:
    """Rewrites the file of a kind by a function of its text, under the agent's lock: whether it changed, and warnings. The
    ids are those of the entries that it is about, known when the edit was made."""
    name = KINDS[kind].file

    def planned(fresh: Fresh) -> tuple[Write | None, bool]:
        file = plan_edit(agent.paths.root / name, edit)
        if file is None:
            return None, False
        follow = (lambda: refresh_mind(agent)[1]) if kind in _MATERIALIZED else None
        return Write([file], follow=follow, part="mind", ids=ids(), counts={name: 1}), True

    return transact(agent, command, planned)


def refresh_mind(agent: Agent) -> tuple[list[str], list[str]]:
    """As materialize_mind, behind an edit that is done: trouble with what is derived is only a warning."""
    try:
        return materialize_mind(agent)
    except MabosError as error:
        return [], [f"derived files are behind: {error.message}"]


def materialize_mind(agent: Agent) -> tuple[list[str], list[str]]:
    """Writes mabos-beliefs.md if it is not as it should be: its name then, and warnings. Under the agent's lock."""
    beliefs = load_beliefs(agent)[0]
    desires, goals = (load_attitudes(agent, kind)[0] for kind in ("desire", "goal"))
    if not (beliefs or desires or goals or agent.paths.beliefs_md.exists()):
        return [], []
    written, warnings = write_derived(agent, agent.paths.beliefs_md, render_mind(agent.id, beliefs, desires, goals))
    return ([agent.paths.relative(agent.paths.beliefs_md)] if written else []), warnings
