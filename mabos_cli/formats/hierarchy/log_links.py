"""Links to daily logs, kept working when logs move to the archive."""

import re
from collections.abc import Collection

from mabos_cli.formats.markdown.outline import hidden_lines
from mabos_cli.formats.markdown.seal import is_as_generated, seal, unsealed

_LINK = r"((?<!\\)\]\(<?|^ {{0,3}}\[[^\]]+\]:[ \t]*<?)(\./)?{}(?:archive/\d{{4}}/)?(\d{{4}}-\d\d-\d\d)\.md(?=[)#>\s]|$)"


def relink_logs(text: str, archived: Collection[str], to_memory: str, active: Collection[str] = ()) -> tuple[str, int]:
    """The text with links to archived days leading there, those to active ones to memory/, and how many were changed.

    to_memory is the way to the folder of logs from where the text stands: `memory/` or `../`. A file that is as we
    generated it stays so; one that somebody edited stays recognizable as edited.
    """
    if text and is_as_generated(text):
        new, count = _relink(unsealed(text), archived, to_memory, active)
        return (seal(new), count) if count else (text, 0)
    return _relink(text, archived, to_memory, active)


def _relink(text: str, archived: Collection[str], to_memory: str, active: Collection[str]) -> tuple[str, int]:
    if f"{to_memory}" not in text:
        return text, 0
    link = re.compile(_LINK.format(re.escape(to_memory)))
    count = 0

    def moved(match: re.Match[str]) -> str:
        nonlocal count
        day = match[3]
        if day not in archived and day not in active:
            return match[0]
        folder = f"archive/{day[:4]}/" if day in archived else ""
        new = f"{match[1]}{match[2] or ''}{to_memory}{folder}{day}.md"
        count += new != match[0]
        return new

    lines = text.split("\n")
    hidden = hidden_lines(lines)
    new = [line if number in hidden else link.sub(moved, line) for number, line in enumerate(lines)]
    return "\n".join(new), count
