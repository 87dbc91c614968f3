"""The files that tell an agent who it is, wherever a host keeps them."""

from mabos_cli.formats.markdown.seal import without_seal
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import read_bytes

# By importance: what does not fit is left out from the end. Hosts keep some of them once for all agents.
PROMPT_FILES = ("Persona.md", "SOUL.md", "IDENTITY.md", "Capabilities.md", "USER.md", "memory/INDEX.md", "AGENTS.md")


def load_prompt_files(agent: Agent) -> dict[str, str]:
    """Texts by name, in order of importance: those of the agent, or else those of the whole workspace."""
    found = {}
    for name in PROMPT_FILES:
        for folder in (agent.paths.root, agent.paths.workspace.root):
            data = read_bytes(folder / name)
            if data is not None:
                found[name] = without_seal(data.decode("utf-8-sig", "replace"))
                break
    return found
