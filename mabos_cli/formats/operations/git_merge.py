"""Decides how git merges the files of a workspace: lines of .gitattributes, the kind of a file by its path. Merges agent.json and ontologies.

Merged files are as our codecs write them, and say the same whichever side is ours.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from operator import eq
from typing import TYPE_CHECKING, Any

from mabos_cli.core.language.ids import distinct_id
from mabos_cli.core.operations.three_way import Settled, follow_renames, merge_keyed, merge_keys, merge_maps
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json import text
from mabos_cli.formats.knowledge.proposals import ProposalFile, parse_proposals
from mabos_cli.formats.operations.merge_records import Merged, Sides, read_sides

_TIMES = ("merged_at", "rejected_at", "proposed_at")


def merge_manifests(path: str, sides: Sides) -> Merged:
    """Merges agent.json key by key, to any depth."""
    base, ours, theirs = read_sides(_parse_object, dict, path, sides)
    notes: list[str] = []
    merged = _merge_objects(base, ours, theirs, "", notes)
    return Merged(text.dump_document(merged).encode("utf-8"), tuple(notes))


def _parse_object(data: bytes, path: str) -> dict[str, Any]:
    found = text.parse_json(data, path)
    if not isinstance(found, dict):
        raise InvalidFile(f"{path}:1: must be an object", "repair the file or restore it from git")
    return found


def _merge_objects(
    base: Mapping[str, Any], a: Mapping[str, Any], b: Mapping[str, Any], place: str, notes: list[str]
) -> dict[str, Any]:
    """Merges two objects. Nothing says which of two values is newer: the one that sorts last is kept, and noted."""

    def settle(key: str, was: Any, one: Any, other: Any) -> Any:
        name = f"{place}.{key}".removeprefix(".")
        if isinstance(one, dict) and isinstance(other, dict):
            return _merge_objects(was if isinstance(was, dict) else {}, one, other, name, notes)
        kept, lost = sorted((one, other), key=text.dump_line, reverse=True)
        notes.append(f"{name} was changed on both sides: kept {text.dump_line(kept)}, not {text.dump_line(lost)}")
        return kept

    return merge_keys((*base, *sorted((a.keys() | b.keys()) - base.keys())), base, a, b, settle, is_deep=True)


def merge_ontologies(path: str, sides: Sides) -> Merged | None:
    """Merges the nodes of an ontology by their ids; None for a file that does not have a line for each node."""
    notes: list[str] = []
    split = [_split_graph(data, path) for data in sides]
    if not all(split[1:]) or (sides[0] and not split[0]):
        return None
    rests, graphs = zip(*(each or (b"{}", {}) for each in split), strict=True)

    def settle(base: Any, a: Any, b: Any) -> Settled:
        return Settled(_merge_objects(base or {}, a, b, str(a.get("@id", "")), notes))

    union = merge_keyed(graphs[0], graphs[1], graphs[2], settle, eq, str)
    lines = [text.dump_line(node).encode("utf-8") for node in union.kept.values()]
    if rests[1] == rests[2]:  # laid out as it was
        return Merged(
            rests[1].replace(text.render_array("@graph", []), text.render_array("@graph", lines), 1), tuple(notes)
        )
    heads = [_parse_object(rest, path) for rest in rests]
    head = _merge_objects(heads[0], heads[1], heads[2], "", notes)
    parts = [
        text.render_array(key, lines) if key == "@graph" else text.render_value(key, value)
        for key, value in head.items()
    ]
    return Merged(text.render_document(parts), tuple(notes))


def _split_graph(data: bytes, path: str) -> tuple[bytes, dict[str, Any]] | None:
    """Returns a document without its nodes, and those by id; None when its layout is not ours, or ids repeat."""
    found = text.find_block(data, "@graph", lambda block: all(line[4:5] == b"{" for line in block.split(b"\n")))
    if found is None:
        return None
    nodes = [text.parse_json(line, path) for line in text.split_block(found[1])]
    by_id = {str(node.get("@id", "")): node for node in nodes if isinstance(node, dict)}
    return (found[0], by_id) if len(by_id) == len(nodes) else None


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
    extra = _merge_objects(base.extra, ours.extra, theirs.extra, "", notes)
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
    ("agents/*/agent.json", "manifest"),
    ("ontologies/*.jsonld", "ontology"),
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


def merge_file(kind: str, path: str, sides: "Sides", renames: "Renames | None" = None) -> "Merged | None":
    """Returns the file of a kind as both sides have it; None when it is text that only people can merge.

    `renames` has the ids that things in other files get, by side. InvalidFile when one of the three is malformed.
    """
    # Loaded here: who asks only for the kind of a file needs no codec.
    from mabos_cli.formats.operations import git_merge as documents
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
        "manifest": documents.merge_manifests,
        "ontology": documents.merge_ontologies,
        "proposals": documents.merge_proposals,
    }
    if kind in ("cases", "log") and renames:
        sides = minds.rename_sides(sides, renames, *([records.ENTRIES] if kind == "log" else []))
    if kind == "mind" and renames:
        return minds.merge_minds(path, sides, renames)
    return merges[kind](path, sides) if kind in merges else None
