"""Checkpoint files, the flush prompt, and a checkpoint as a belief."""

import re
import shlex

from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.checkpoint import Checkpoint
from mabos_cli.core.memory.trust import is_outside, trust_by_source, trust_rank
from mabos_cli.formats.markdown.escape import escape_block, indent, newline_of, unescape_block

_SECTIONS = (
    ("Active Decisions", "decisions"),
    ("Key Findings", "findings"),
    ("Changes", "changes"),
    ("Open Questions", "questions"),
    ("Next Steps", "next_steps"),
)
_FOLDER = "memory/checkpoints/"
_TITLES = {"Current Task Context", *(title for title, _ in _SECTIONS)}


def render_checkpoint(checkpoint: Checkpoint, source: str = "") -> str:
    """Returns the checkpoint file; sections without entries are left out. Words of an outside source, as a transcript, are untrusted."""
    origin = f"Source: {one_line(source)}\nTrust: untrusted\n\n" if is_outside(source) else ""
    parts = [
        f"# Session Checkpoint — {checkpoint.at:%Y-%m-%d %H:%M} UTC\n\n{origin}## Current Task Context\n\n"
        f"{escape_block(checkpoint.context)}\n"
    ]
    for title, name in _SECTIONS:
        entries = getattr(checkpoint, name)
        if entries:
            parts.append(f"\n## {title}\n\n" + "".join(f"- {indent(escape_block(entry))}\n" for entry in entries))
    return "".join(parts)


def checkpoint_trust(text: str) -> str:
    """Returns how far a checkpoint is trusted: as it says before its first section, and no more than its source.

    >>> checkpoint_trust("# Session Checkpoint\\n\\nSource: transcript:s1\\n\\n## Current Task Context\\n\\nx\\n")
    'untrusted'
    """
    head = re.split(r"^## ", text, maxsplit=1, flags=re.MULTILINE)[0]
    head_fields = dict(re.findall(r"^(Source|Trust):[ \t]*(.*?)\s*$", head, re.MULTILINE))
    return trust_by_source(head_fields.get("Trust", "agent"), head_fields.get("Source", ""))


def checkpoint_title(text: str) -> str:
    """Returns the first heading of a checkpoint file, without its marks."""
    match = re.search(r"^# (.+)$", text, re.MULTILINE)
    return match[1].strip() if match else "Session Checkpoint"


def checkpoint_context(text: str) -> str:
    """Returns what the agent was doing, by the first section of a checkpoint file."""
    match = re.search(r"^## Current Task Context\n+(.*?)(?=\n## |\Z)", text, re.MULTILINE | re.DOTALL)
    return unescape_block(match[1]).strip() if match else ""


def restore_into_beliefs(beliefs: str, checkpoint: str, source: str, stamp: str) -> str | None:
    """Beliefs.md with the checkpoint as one belief at its end, in place of the one restored before it; None when it is there
    already. Open questions are nothing to believe, and stay in the checkpoint; an untrusted one is an untrusted belief."""
    origin = f"Source: {source}"
    if any(line.strip() == origin for line in beliefs.split("\n")):
        return None
    beliefs = _without_restored(beliefs)
    title = checkpoint_title(checkpoint).replace("Session Checkpoint", "Restored Session").strip()
    trust = checkpoint_trust(checkpoint)
    low = "" if trust_rank(trust) else f"Trust: {trust}\n"
    gap = "" if not beliefs else "\n" if beliefs.endswith("\n") else "\n\n"
    fields = f"Certainty: 0.9\n{origin}\n{low}[updated: {stamp[:10]}]\n"
    added = f"{gap}## {title}\n\n{fields}{_belief_text(checkpoint)}"
    return beliefs + added.replace("\n", newline_of(beliefs))


def _without_restored(beliefs: str) -> str:
    """Returns Beliefs.md without sessions that were restored; their sections were headings of their own once."""
    from mabos_cli.formats.mind.cognitive import parse_cognitive  # late: only what is restored is a belief

    file = parse_cognitive(beliefs)
    gone: set[int] = set()
    is_ours = False
    for heading in file.headings:
        body = range(heading.line, heading.last + 1)
        starts = heading.level == 2 and heading.title.startswith("Restored Session")
        is_below = is_ours and heading.level == 3 and heading.title in _TITLES
        is_ours = is_below or (starts and any(file.lines[n].startswith(f"Source: {_FOLDER}") for n in body))
        gone |= {*body} if is_ours else set()
    if not gone:
        return beliefs
    kept = "\n".join(line for number, line in enumerate(file.lines) if number not in gone)
    return (
        kept if beliefs.endswith("\n") and max(gone) < len(file.lines) - 1 else f"{kept.rstrip()}{newline_of(beliefs)}"
    )


def _belief_text(checkpoint: str) -> str:
    """Returns the sections of a checkpoint as the text of one belief: no line of it is a heading, a field or an entry."""
    from mabos_cli.formats.mind.cognitive_fields import inert_item

    parts = re.split(r"^## +(.*)\n", checkpoint, flags=re.MULTILINE)
    found = []
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        if title.strip() != "Open Questions" and body.strip():
            lines = [re.sub(r"^(\s*)(#+ )", r"\1\\\2", inert_item(line)) for line in body.strip("\n").split("\n")]
            found += ["", f"{inert_item(title.strip())}:", "", *(f"  {line}" if line else "" for line in lines)]
    return "".join(f"{line.rstrip()}\n" for line in found)


def render_flush_prompt(agent: str, day: str, time: str, workspace: str = "") -> str:
    """Returns what an agent is told just before its context is compacted; with the workspace, if it may work somewhere else."""
    about = shlex.join([*(("-w", workspace) if workspace else ()), "--agent", agent])
    return f"""Your context is about to be compacted. Save what must survive, then go on.

1. Durable memories (facts learned, decisions made, lessons): append them to memory/{day}.md, one command each:
   mabos store {about} --type decision --tag TOPIC "what and why"
   Append only; never rewrite the day's log.
2. The state of this session: write memory/checkpoints/{day}-{time}.md with
   mabos checkpoint {about} -c "what you were doing" --decision "..." --finding "..." --question "..." --next "..."
3. If there is nothing to keep, reply with NO_REPLY.
"""
