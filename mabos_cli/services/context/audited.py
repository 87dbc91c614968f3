"""What an audit looks at: the files of an agent that cost tokens, by category."""

import re
from collections.abc import Iterator

from mabos_cli.core.context.audit import Source
from mabos_cli.core.context.texts import Count
from mabos_cli.formats.context.prompt_md import split_sections
from mabos_cli.formats.markdown.escape import without_seal
from mabos_cli.formats.memory.memory_md import find_statements
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import list_names, read_bytes
from mabos_cli.workspace.layout import DAY

# What commands read when they need it; the persona is among the files of the prompt.
_COGNITIVE = (
    "Beliefs.md",
    "Desires.md",
    "Goals.md",
    "Intentions.md",
    "Plans.md",
    "Commitments.md",
    "Learnings.md",
    "Memory.md",
    "Knowledge.md",
    "Playbooks.md",
)


def load_audited(agent: Agent, count: Count) -> list[Source]:
    """The sources of an agent in the order in which they stand before it, those that are loaded when needed last."""
    prompt = load_prompt_files(agent)
    index = agent.paths.relative(agent.paths.index_md)
    found = [(name, text, "index" if name == index else "system_prompt") for name, text in prompt.items()]
    others = [(agent.paths.memory_md, "memory_md")]
    others += [(path, "domains") for path in sorted(agent.paths.domains.rglob("*.md"))]
    others += [(agent.paths.root / name, "cognitive") for name in _COGNITIVE]
    for path, category in others:
        data = read_bytes(path)
        if data:
            found.append((agent.paths.relative(path), _text(data), category))
    return [
        Source(name, category, count(text), tuple(find_statements(text)))
        for name, text, category in found
        if text.strip()
    ]


def memory_md_sections(agent: Agent, count: Count) -> list[tuple[str, int]]:
    """The sections of MEMORY.md with their tokens."""
    text = _text(read_bytes(agent.paths.memory_md) or b"")
    return [(section.name, count(section.text)) for section in split_sections("MEMORY.md", text)]


def count_logs(agent: Agent, count: Count) -> tuple[int, int]:
    """How many daily logs there are, and their tokens."""
    sizes = [count(text) for text in _logs(agent)]
    return len(sizes), sum(sizes)


def _logs(agent: Agent) -> Iterator[str]:
    for name in list_names(agent.paths.memory):
        if re.fullmatch(rf"{DAY}\.md", name):
            yield _text(read_bytes(agent.paths.memory / name) or b"")


def _text(data: bytes) -> str:
    return without_seal(data.decode("utf-8-sig", "replace"))


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
