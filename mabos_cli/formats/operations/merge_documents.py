"""Merges agent.json, ontologies and what is proposed for them, each by the names that its parts have."""

from collections.abc import Mapping
from operator import eq
from typing import Any

from mabos_cli.core.language.ids import distinct_id
from mabos_cli.core.operations.three_way import Settled, follow_renames, merge_keyed, merge_maps
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json import text
from mabos_cli.formats.knowledge.proposals import ProposalFile, parse_proposals
from mabos_cli.formats.operations.merge_records import Merged, Sides, read_sides

_ABSENT = object()
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
    found = {}
    for key in (*base, *sorted((a.keys() | b.keys()) - base.keys())):
        was, one, other = (each.get(key, _ABSENT) for each in (base, a, b))
        name = f"{place}.{key}".removeprefix(".")
        if isinstance(one, dict) and isinstance(other, dict):
            value: Any = _merge_objects(was if isinstance(was, dict) else {}, one, other, name, notes)
        elif one == other or other == was or (other is _ABSENT and one != was):
            value = one
        elif one == was or one is _ABSENT:
            value = other
        else:
            value, lost = sorted((one, other), key=text.dump_line, reverse=True)
            notes.append(f"{name} was changed on both sides: kept {text.dump_line(value)}, not {text.dump_line(lost)}")
        if value is not _ABSENT:
            found[key] = value
    return found


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
