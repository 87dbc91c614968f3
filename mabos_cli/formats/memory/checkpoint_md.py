"""Checkpoint files, the flush prompt, and a checkpoint as a belief."""

import re
import shlex

from mabos_cli.core.memory.checkpoint import Checkpoint
from mabos_cli.formats.markdown.escape import escape_block, indent, newline_of, unescape_block

_SECTIONS = (
    ("Active Decisions", "decisions"),
    ("Key Findings", "findings"),
    ("Open Questions", "questions"),
    ("Next Steps", "next_steps"),
)


def render_checkpoint(checkpoint: Checkpoint) -> str:
    """The checkpoint file; sections without entries are left out."""
    parts = [
        f"# Session Checkpoint — {checkpoint.at:%Y-%m-%d %H:%M} UTC\n\n## Current Task Context\n\n"
        f"{escape_block(checkpoint.context)}\n"
    ]
    for title, name in _SECTIONS:
        entries = getattr(checkpoint, name)
        if entries:
            parts.append(f"\n## {title}\n\n" + "".join(f"- {indent(escape_block(entry))}\n" for entry in entries))
    return "".join(parts)


def checkpoint_title(text: str) -> str:
    """The first heading of a checkpoint file, without its marks."""
    match = re.search(r"^# (.+)$", text, re.MULTILINE)
    return match[1].strip() if match else "Session Checkpoint"


def checkpoint_context(text: str) -> str:
    """What the agent was doing, by the first section of a checkpoint file."""
    match = re.search(r"^## Current Task Context\n+(.*?)(?=\n## |\Z)", text, re.MULTILINE | re.DOTALL)
    return unescape_block(match[1]).strip() if match else ""


def restore_into_beliefs(beliefs: str, checkpoint: str, source: str, stamp: str) -> str | None:
    """Beliefs.md with the checkpoint as a belief at its end, or None when it is there already."""
    origin = f"Source: {source}"
    if any(line.strip() == origin for line in beliefs.split("\n")):
        return None
    title = checkpoint_title(checkpoint).replace("Session Checkpoint", "Restored Session").strip()
    body = re.sub(r"^# .+\n+", "", checkpoint.strip("\n"), count=1)
    body = re.sub(r"^(#+ )", r"#\1", body, flags=re.MULTILINE)
    gap = "" if not beliefs else "\n" if beliefs.endswith("\n") else "\n\n"
    told = f"{gap}## {title}\n\nCertainty: 0.9\n{origin}\n[updated: {stamp[:10]}]\n\n{body}\n"
    return beliefs + told.replace("\n", newline_of(beliefs))


def render_flush_prompt(agent: str, day: str, time: str, workspace: str = "") -> str:
    """What an agent is told just before its context is compacted; with the workspace, if it may work somewhere else."""
    about = shlex.join([*(("-w", workspace) if workspace else ()), "--agent", agent])
    return f"""Your context is about to be compacted. Save what must survive, then go on.

1. Durable memories (facts learned, decisions made, lessons): append them to memory/{day}.md, one command each:
   mabos store {about} --type decision --tag TOPIC "what and why"
   Append only; never rewrite the day's log.
2. The state of this session: write memory/checkpoints/{day}-{time}.md with
   mabos checkpoint {about} -c "what you were doing" --decision "..." --finding "..." --question "..." --next "..."
3. If there is nothing to keep, reply with NO_REPLY.
"""
