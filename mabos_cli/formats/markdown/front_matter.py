"""Front matter: what stands between two lines of dashes at the start of a file, for tools."""

import re
from collections.abc import Sequence

_KEY = re.compile(r"[\w\"'][^:]*:(?:\s|$)")


def count_head(lines: Sequence[str], is_sure: bool = False) -> int:
    """How many lines the front matter takes. Two rules with prose between them are none, unless it is sure that there is some."""
    if lines[0].rstrip() != "---":
        return 0
    end = next((n for n in range(1, len(lines)) if lines[n].rstrip() in ("---", "...")), 0)
    written = (line for line in lines[1:end] if line.strip() and not line.startswith("#"))
    return end + 1 if end and (is_sure or _KEY.match(next(written, "empty:"))) else 0


def split_head(text: str, is_sure: bool = False) -> tuple[str, str]:
    """The front matter of a file without its lines of dashes, and the rest. Line ends stay as they are.

    >>> split_head("---\\nname: a\\n---\\nText\\n"), split_head("---\\nJust a rule above.\\n---\\n")
    (('name: a\\n', 'Text\\n'), ('', '---\\nJust a rule above.\\n---\\n'))
    """
    lines = text.removeprefix("\ufeff").split("\n")
    count = count_head(lines, is_sure)
    if not count:
        return "", text
    return "".join(f"{line}\n" for line in lines[1 : count - 1]), "\n".join(lines[count:])
