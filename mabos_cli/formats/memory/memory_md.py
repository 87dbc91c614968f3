"""MEMORY.md: curated long-term memory. Consolidation adds dated sections; everything else belongs to people."""

import re

from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.formats.markdown.escape import escape_behind, indent, inline

# A block id of ours stands behind a blank; one that is only mentioned is escaped by a backslash.
_BLOCK_ID = r"(?m)(?<= )\^(\S+)\s*$"
_HEADING = r"(?m)^##? .*$"


def render_memory_header(agent: str) -> str:
    """The first line of a new MEMORY.md."""
    return f"# MEMORY.md - Long-Term Memory ({agent})\n"


def find_block_ids(text: str) -> set[str]:
    """The block ids that stand at the ends of lines."""
    return set(re.findall(_BLOCK_ID, text))


def add_consolidated(text: str, items: tuple[MemoryItem, ...], day: str) -> str:
    """MEMORY.md with the items under `## Consolidated (DATE)`: the last section if it is of that day, a new one otherwise."""
    there = find_block_ids(text)
    fresh = [item for item in items if item.id not in there]
    if not fresh:
        return text
    heading = f"## Consolidated ({day})"
    sections = re.findall(_HEADING, text)
    body = text if not text or text.endswith("\n") else text + "\n"
    if not sections or sections[-1].rstrip() != heading:
        body += f"\n{heading}\n\n"
    return body + "".join(_bullet(item) for item in fresh)


def _bullet(item: MemoryItem) -> str:
    tags = f" [{inline(', '.join(item.tags))}]" if item.tags else ""
    content = indent(escape_behind(item.content))
    return f"- **{inline(item.type)}** ({item.importance:.2f}): {content}{tags} ^{item.id}\n"
