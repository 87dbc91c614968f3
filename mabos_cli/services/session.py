"""The workspace and the agent that a call is about, opened when somebody asks."""

from collections.abc import Callable
from functools import partial

from mabos_cli.config import layer
from mabos_cli.core.memory.stores import Relatives
from mabos_cli.errors import InvalidFile
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import is_inside
from mabos_cli.workspace.layout import AgentPaths, WorkspacePaths
from mabos_cli.workspace.locate import find_agent, find_workspace
from mabos_cli.workspace.memory.store import LongTermStore
from mabos_cli.workspace.runtime import now
from mabos_cli.workspace.settings import load_settings

NO_AGENTS = "no agents; make one: mabos agent create ID"


class Session:
    """What a caller names: a workspace, an agent and how long to wait for its lock."""

    def __init__(
        self,
        workspace: str | None = None,
        agent: str | None = None,
        lock_timeout: str | None = None,
        opened: list[Agent] | None = None,
    ) -> None:
        self.workspace = workspace
        self.agent = agent
        self.lock_timeout = lock_timeout
        # The agents that were opened, for what follows a write; nothing follows where there is no list.
        self.opened = opened
        # What the settings of the agents that were opened have to say, for the warnings of the answer.
        self.notices: list[str] = []

    # How doors show that something takes long: by what it is about, a function of done and total. Most do not.
    progress: Callable[[str], Callable[[int, int], None] | None] | None = None

    def open_workspace(self) -> WorkspacePaths:
        """Finds the workspace of this call."""
        return find_workspace(self.workspace)

    def open_agent(self, *, fallback: bool = False) -> Agent:
        """Opens the agent of this call, with its settings."""
        return self.agent_of(find_agent(self.open_workspace(), self.agent), fallback=fallback)

    def agent_of(self, agent: AgentPaths, *, fallback: bool = False) -> Agent:
        """Opens an agent under this call's options; with fallback, settings that cannot be read are the defaults."""
        try:
            settings = load_settings(agent.workspace, agent, {"lock.timeout": self.lock_timeout})
        except InvalidFile:
            if not fallback:
                raise
            settings = layer([])
        floor = settings["memory.related_threshold"]
        self.notices += [notice for notice in settings.warnings if notice not in self.notices]
        home = Agent(agent, settings, now(), partial(_open_relatives, floor), changes=[])
        if self.opened is not None:
            self.opened.append(home)
        return home


def _open_relatives(floor: float, long_term: LongTermStore, writes: bool) -> Relatives:
    """Opens the index of similar items, brought up to date, in its file or, if nothing is to be written, in memory; SQLite is
    loaded only when somebody asks for relatives."""
    from mabos_cli.index.similar import SimilarIndex

    path = long_term.paths.similar
    place = path if is_inside(path, long_term.paths.workspace.root) else None
    return SimilarIndex(place, floor, long_term.sources(), writes=writes)
