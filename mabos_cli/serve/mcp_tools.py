"""All tools of the MCP door, and which of them a server offers."""

from collections.abc import Sequence
from difflib import get_close_matches

from mabos_cli.errors import UsageFault
from mabos_cli.serve.tool import Tool
from mabos_cli.serve.tools_context import TOOLS as CONTEXT
from mabos_cli.serve.tools_knowledge import TOOLS as KNOWLEDGE
from mabos_cli.serve.tools_memory import TOOLS as MEMORY
from mabos_cli.serve.tools_mind import TOOLS as MIND
from mabos_cli.serve.tools_thought import TOOLS as THOUGHT

TOOLS = {tool.name: tool for tool in (*MEMORY, *CONTEXT, *MIND, *KNOWLEDGE, *THOUGHT)}
FAMILIES = tuple(dict.fromkeys(tool.family for tool in TOOLS.values()))


def choose_tools(wanted: Sequence[str], *, read_only: bool) -> tuple[Tool, ...]:
    """The tools of some families, or some by name; all when none is named. Read-only leaves out what writes."""
    for word in wanted:
        if word not in FAMILIES and word not in TOOLS:
            close = get_close_matches(word, [*FAMILIES, *TOOLS], n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            raise UsageFault(f"no tools {word[:60]!r}", f"{hint}families: {', '.join(FAMILIES)}")
    found = [tool for tool in TOOLS.values() if not wanted or {tool.family, tool.name} & {*wanted}]
    return tuple(tool for tool in found if tool.effect.reads or not read_only)
