"""Decides how git merges the files of a workspace: lines of .gitattributes, the kind of a file by its path. Merges proposals.

Merged files are as our codecs write them, and say the same whichever side is ours.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from operator import eq
from typing import Any

from mabos_cli.core.language.ids import distinct_id
from mabos_cli.core.operations.three_way import Settled, follow_renames, merge_keyed, merge_maps
from mabos_cli.formats.json import text
from mabos_cli.formats.knowledge.proposals import ProposalFile, parse_proposals
from mabos_cli.formats.operations.merge_records import Merged, Renames, Sides, read_sides

_TIMES = ("merged_at", "rejected_at", "proposed_at")


def merge_proposals(path: str, sides: Sides) -> Merged:
    """Merges the proposals of both sides by their ids; of two that got one id the younger gets letters behind it."""
    base, ours, theirs = read_sides(lambda data, name: parse_proposals(data, name, "x"), ProposalFile, path, sides)
    records = follow_renames([file.raw for file in (base, ours, theirs)], _node_of, _proposal_id)
    union = merge_keyed(records[0], records[1], records[2], _settle_proposal, eq, lambda name: (len(name), name))
    kept, notes = dict(union.kept), []
    for spare in union.spares:
        new_id = _proposal_id(spare.id, spare.record)
        kept[new_id] = spare.record | {"id": new_id}
        notes.append(f"{spare.id} was given to two proposals: the younger one is {new_id}")
    lines = [text.dump_line(record).encode("utf-8") for record in kept.values()]
    if ours.is_list and theirs.is_list:
        return Merged(text.render_list(lines), tuple(notes))
    extra = merge_maps(base.extra, ours.extra, theirs.extra, max(ours.extra, theirs.extra, key=repr))
    others = [text.render_value(key, value) for key, value in extra.items()]
    return Merged(text.render_document([text.render_array("proposals", lines), *others]), tuple(notes))


def _node_of(proposal: Mapping[str, Any]) -> str:
    return str(proposal.get("node_id", ""))


def _proposal_id(proposal_id: str, proposal: Mapping[str, Any]) -> str:
    return distinct_id(proposal_id, _node_of(proposal))


def _settle_proposal(base: dict[str, Any] | None, a: dict[str, Any], b: dict[str, Any]) -> Settled:
    """Merges a proposal that both sides changed: what became of it last counts."""
    older, newer = sorted((a, b), key=lambda each: (max(str(each.get(name, "")) for name in _TIMES), repr(each)))
    if base is None and a.get("node_id") != b.get("node_id"):
        return Settled(older, "ours" if newer is a else "theirs")
    return Settled(merge_maps(base or {}, a, b, newer))


DRIVER = "mabos"
_BEGIN, _END = "# >>> mabos: written by mabos git install", "# <<< mabos"
_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_MEMORY = "agents/*/memory"
_MIND = (
    *("Persona", "Capabilities", "Beliefs", "Desires", "Goals", "Intentions", "Plans", "Commitments", "Learnings"),
    *("Memory", "Knowledge", "Playbooks", "MEMORY"),
)
# Pattern and kind, a later row wins. JSON lines need no driver: git itself keeps the lines of both sides, in every clone.
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
    """Returns the kind of a file, by its path from wherever the repository begins; empty when it is none of ours.

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
    """Adds our lines to .gitattributes, behind what people wrote there, unless they are there already."""
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
    """Returns whether some file is to be merged by our driver."""
    return bool(re.search(rf"(?m)^[^#\n]*\smerge={DRIVER}\b", text))


def merge_file(kind: str, path: str, sides: Sides, renames: Renames | None = None) -> Merged | None:
    """Returns the file of a kind as both sides have it; None when it is text that only people can merge.

    `renames` has the ids that things in other files get, by side. InvalidFile when one of the three is malformed.
    """
    # Loaded here: who asks only for the kind of a file needs no codec.
    from mabos_cli.formats.operations import merge_minds as minds
    from mabos_cli.formats.operations import merge_records as records

    merges: dict[str, Callable[[str, Sides], Merged | None]] = {
        "store": records.merge_stores,
        "page": partial(records.merge_stores, is_page=True),
        "facts": records.merge_fact_files,
        "fact page": partial(records.merge_fact_files, is_page=True),
        "rules": records.merge_rule_files,
        "cases": records.merge_case_files,
        "log": records.merge_logs,
        "derived": records.merge_derived,
        "mind": minds.merge_minds,
        "checkpoint": minds.merge_checkpoints,
        "proposals": merge_proposals,
    }
    if kind in ("cases", "log") and renames:
        sides = minds.rename_sides(sides, renames, *([records.ENTRIES] if kind == "log" else []))
    if kind == "mind" and renames:
        return minds.merge_minds(path, sides, renames)
    return merges[kind](path, sides) if kind in merges else None
