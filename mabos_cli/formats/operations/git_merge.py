"""Decides how git merges the files of a workspace: lines of .gitattributes, the kind of a file by its path.

Merged files are as our codecs write them, and say the same whichever side is ours.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mabos_cli.formats.operations.merge_records import Merged, Renames, Sides

DRIVER = "mabos"
_BEGIN, _END = "# >>> mabos: written by mabos git install", "# <<< mabos"
_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_MEMORY = "agents/*/memory"
_MIND = (
    *("Persona", "Capabilities", "Beliefs", "Desires", "Goals", "Intentions", "Plans", "Commitments", "Learnings"),
    *("Memory", "Knowledge", "Playbooks", "MEMORY"),
)
# Pattern and kind; a later row wins. JSON lines need no driver: git's own union merge keeps the lines of both sides.
_RULES = (
    ("agents/*/memory-store.json", "store"),
    ("agents/*/memory-store/*.json", "page"),
    ("agents/*/facts.json", "facts"),
    ("agents/*/facts-derived.json", "facts"),
    ("agents/*/facts/*.json", "fact page"),
    ("agents/*/facts-derived/*.json", "fact page"),
    ("agents/*/rules.json", "rules"),
    ("agents/*/cases.json", "cases"),
    (f"{_MEMORY}/{_DAY}.md", "log"),
    (f"{_MEMORY}/undated.md", "log"),
    (f"{_MEMORY}/archive/[0-9][0-9][0-9][0-9]/*.md", "log"),
    (f"{_MEMORY}/INDEX.md", "derived"),
    (f"{_MEMORY}/observations.md", "derived"),
    (f"{_MEMORY}/domains/**", "derived"),
    (f"{_MEMORY}/mabos-*.md", "derived"),
    (f"{_MEMORY}/mabos-*/*.md", "derived"),
    (f"{_MEMORY}/bdi-conflicts/*.md", "derived"),
    (f"{_MEMORY}/weekly/*.md", "derived"),
    (f"{_MEMORY}/monthly/*.md", "derived"),
    (f"{_MEMORY}/quarterly/*.md", "derived"),
    *((f"agents/*/{name}.md", "mind") for name in _MIND),
    (f"{_MEMORY}/checkpoints/*.md", "checkpoint"),
    ("ontologies/proposals/*-proposals.json", "proposals"),
    ("agents/**/*.jsonl", "union"),
)


def kind_of(path: str) -> str:
    """Returns the kind of a file, by its path in a repository; empty if it has none.

    >>> kind_of("team/agents/cfo/memory-store.json"), kind_of("agents/cfo/memory/2026-02-24.md"), kind_of("notes.md")
    ('store', 'log', '')
    """
    found = (kind for pattern, kind in reversed(_RULES) if re.search(f"(?:^|/){_expression(pattern)}$", path))
    return next(found, "")


def _expression(pattern: str) -> str:
    """Translates a pattern of .gitattributes into a regular expression."""
    parts = re.split(r"(\*\*/|\*\*|\*|\[0-9\])", pattern)
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "[0-9]": "[0-9]"}
    return "".join(known.get(part, re.escape(part)) for part in parts)


def add_rules(text: str) -> str:
    """Adds our lines to the end of .gitattributes, unless they are there already."""
    rows = (f"{pattern} merge={'union' if kind == 'union' else DRIVER}" for pattern, kind in _RULES)
    block = "\n".join((_BEGIN, *rows, _END)) + "\n"
    if block in text:
        return text
    others = remove_rules(text)
    return others + ("\n" if others and not others.endswith("\n") else "") + block


def remove_rules(text: str) -> str:
    """Removes our lines from .gitattributes."""
    return re.sub(rf"(?ms)^{re.escape(_BEGIN)}$.*?^{re.escape(_END)}$\n?", "", text)


def names_driver(text: str) -> bool:
    """Returns whether a .gitattributes names our merge driver."""
    return bool(re.search(rf"(?m)^[^#\n]*\smerge={DRIVER}\b", text))


def merge_file(kind: str, path: str, sides: "Sides", renames: "Renames | None" = None) -> "Merged | None":
    """Merges three versions of a file of some kind; returns None for text that has to be merged by git or a person.

    `renames` has new ids of entries in other files, by side. InvalidFile if one of the three versions is malformed.
    """
    # Imported here: the kind of a file is often asked for without a merge.
    from mabos_cli.formats.operations import merge_minds as minds
    from mabos_cli.formats.operations import merge_records as records

    merges: dict[str, Callable[[str, Sides], Merged | None]] = {
        "store": records.merge_stores,
        "page": partial(records.merge_stores, is_page=True),
        "facts": records.merge_fact_files,
        "fact page": partial(records.merge_fact_files, is_page=True),
        "rules": records.merge_rule_files,
        "cases": records.merge_case_files,
        "log": minds.merge_logs,
        "derived": minds.merge_derived,
        "mind": minds.merge_minds,
        "checkpoint": minds.merge_checkpoints,
        "proposals": records.merge_proposals,
    }
    if kind in ("cases", "log") and renames:
        sides = minds.rename_sides(sides, renames, *([minds.ENTRIES] if kind == "log" else []))
    if kind == "mind" and renames:
        return minds.merge_minds(path, sides, renames)
    return merges[kind](path, sides) if kind in merges else None
