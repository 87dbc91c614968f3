"""Merges the files that two branches changed: memories, facts, rules, cases and proposals by their ids.

An id that both sides gave to different things stays with the older one. The other gets an id that follows from what it says, so that
every clone and every merge chooses the same.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from operator import attrgetter, eq
from typing import Any, NamedTuple
from zlib import crc32

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.language.ids import distinct_id, parse_id
from mabos_cli.core.language.spans import EMPTY, find_span, meet
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.operations import three_way
from mabos_cli.core.operations.three_way import Settled, Spare
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json import text
from mabos_cli.formats.knowledge.cases import CaseFile, case_from_dict, case_to_dict, parse_cases
from mabos_cli.formats.knowledge.facts import (
    FactFile,
    parse_fact,
    parse_facts,
    render_fact,
    render_fact_page,
    render_facts,
)
from mabos_cli.formats.knowledge.proposals import ProposalFile, parse_proposals
from mabos_cli.formats.knowledge.rules import RuleFile, parse_rules, render_rules, rule_from_dict
from mabos_cli.formats.memory import items

_NUMBERED = re.compile(r"[A-Z]+-(\d{1,18})(?:-[a-z]{3})?")
# New ids by old ones, in the base, ours and theirs.
Renames = tuple[dict[str, str], dict[str, str], dict[str, str]]
Sides = tuple[bytes, bytes, bytes]  # the file before, ours, theirs; nothing where there was none
Stored = tuple[str, bytes]  # the store and the line of an item


class Merged(NamedTuple):
    """The merged file, notes for a person, and new ids of records by their old ones."""

    data: bytes
    notes: tuple[str, ...] = ()
    renames: Renames = ({}, {}, {})


class _Kind(NamedTuple):
    """How the records of a file are merged: their name, how one is decoded and encoded, what it is about, what becomes of one that
    both sides changed, how it gets another id, and how its line names another record by its new id.

    Two records with one id that are not about the same are two things.
    """

    name: str
    decode: Callable[[Any], Any]
    encode: Callable[[Any], Any]
    about: Callable[[Any], Any]
    settle: Callable[[Any, Any, Any], Settled]
    with_id: Callable[[Any, str], Any]
    repoint: Callable[[Any, str, str], Any] = lambda record, old, new: record
    is_same: Callable[[Any, Any], bool] = eq  # whether a change does not count if the other side removed the record


class _Table(NamedTuple):
    """Merged records by id, the three versions they come from, the records that lost their id with the new one, and notes."""

    kept: dict[str, Any]
    versions: list[dict[str, Any]]
    moved: list[tuple[Spare, str]]
    notes: list[str]


def _merge_table(kind: _Kind, sides: list[dict[str, Any]]) -> _Table:
    """Merges records by their ids. A record that one side added names the record that had the id on that side."""

    def about(record: Any) -> Any:
        return kind.about(kind.decode(record))

    def settle(base: Any, a: Any, b: Any) -> Settled:
        settled = kind.settle(kind.decode(base) if base else None, kind.decode(a), kind.decode(b))
        return settled._replace(kept=kind.encode(settled.kept))

    versions = three_way.follow_renames(sides, about, lambda name, record: _other_id(name, about(record)))
    base, ours, theirs = versions
    union = three_way.merge_keyed(base, ours, theirs, settle, kind.is_same, _age_of_id)
    table, taken = _Table(dict(union.kept), versions, [], []), {*ours, *theirs}
    for spare in sorted(union.spares, key=lambda spare: _age_of_id(spare.id)):
        new_id = _other_id(spare.id, about(spare.record), taken)
        taken.add(new_id)
        if spare.has_base:
            table.notes.append(f"{spare.id} was changed on both sides: the other version is {new_id}")
        else:
            table.notes.append(f"{spare.id} was given to two {kind.name}: the younger one is {new_id}")
            mine, others = (ours, theirs) if spare.is_ours else (theirs, ours)
            for name in mine.keys() - others.keys() & table.kept.keys():
                table.kept[name] = kind.repoint(table.kept[name], spare.id, new_id)
        table.kept[new_id] = kind.encode(kind.with_id(kind.decode(spare.record), new_id))
        table.moved.append((spare, new_id))
    return table


def _age_of_id(record_id: str) -> tuple[int, int, str]:
    """Returns a key that sorts ids in the order in which they were given out; those of other tools come last."""
    numbered = _NUMBERED.fullmatch(record_id)
    ms, draw = parse_id(record_id) or (int(numbered[1]) if numbered else 1 << 60, 0)
    return ms, draw, record_id


def _other_id(record_id: str, about: Any, taken: Collection[str] = ()) -> str:
    """Returns the unused id that a record gets when its own is another's."""
    minted, draw = parse_id(record_id), crc32(str(about).encode("utf-8", "surrogatepass"))
    while True:
        made = f"{record_id[0]}-{minted[0]}-{2 * draw % 0x10000:04x}" if minted else distinct_id(record_id, str(about))
        if made not in taken:
            return made
        draw, about = draw + 1, f"{about}+"


def _read_sides(parse: Callable[[bytes, str], Any], empty: Callable[[], Any], path: str, sides: Sides) -> list[Any]:
    """Parses the three files. Git gives an empty base where there is none; a side that is empty is malformed."""
    base = parse(sides[0], f"{path} (base)") if sides[0] else empty()
    return [base, parse(sides[1], f"{path} (ours)"), parse(sides[2], f"{path} (theirs)")]


def _latest_id(files: list[Any], ids: Iterable[str]) -> str:
    """Returns the id that was given out last, where the files keep it; those of other tools do not count."""
    known = [file.last_id for file in files[1:]]
    return max(filter(parse_id, (*known, *ids)), key=_age_of_id, default="") if any(known) else ""


def _merge_extras(files: list[Any]) -> dict[str, Any]:
    """Merges the keys of other tools, at the top of a file."""
    base, a, b = files
    newer = max(a, b, key=lambda file: (getattr(file, "version", 0), repr(file.extra)))
    return three_way.merge_maps(base.extra, a.extra, b.extra, newer.extra)


def _page_counts(files: list[Any]) -> dict[str, int]:
    """Returns how many records the pages hold, as far as that is known without reading them; doctor counts."""
    base, ours, theirs = (file.pages for file in files)
    names = sorted({*ours, *theirs})
    return {n: three_way.merge_count(base.get(n, 0), ours.get(n, 0), theirs.get(n, 0)) for n in names}


# Facts: lines of JSON.


def merge_fact_files(path: str, sides: Sides, *, is_page: bool = False) -> Merged:
    """Merges the facts of both sides; those that say the same are one."""
    files = _read_sides(parse_facts, FactFile, path, sides)
    read = [{items.line_id(line): line for line in file.lines} for file in files]
    before, one, other = (bool(file.pages) for file in files)
    split = 0 if before or one == other else 1 if one else 2
    if split:  # its facts are on pages, which are merged separately: they count as unchanged
        read[split] = read[0] | read[split]
    kept, versions, _, notes = _merge_table(_FACTS, read)
    _unite_added(kept, versions)
    if split:
        gone = sorted(read[0].keys() - kept.keys(), key=_age_of_id)
        notes += [f"{fact_id} was removed on the side that has no pages, and is still on a page" for fact_id in gone]
        kept = {fact_id: line for fact_id, line in kept.items() if read[0].get(fact_id) != line}
        notes += [f"one side has pages now: the next write files {plural(len(kept), 'fact')} there"] if kept else []
    if one and other and not before and read[0]:
        notes.append("both sides split their facts into pages: facts that only one side has removed since are back")
    version = max(file.version for file in files[1:]) + 1
    merged = FactFile(list(kept.values()), version, _latest_id(files, kept), _merge_extras(files), path)
    merged.pages = _page_counts(files)
    return Merged(render_fact_page(merged) if is_page else render_facts(merged), tuple(notes))


def _read_fact(line: bytes) -> Fact:
    return parse_fact(line, "merge")


def _with_id(record: Any, new_id: str) -> Any:
    return record._replace(id=new_id)


_FACTS = _Kind("facts", _read_fact, render_fact, attrgetter("triple"), three_way.merge_facts, _with_id)


def _unite_added(kept: dict[str, bytes], versions: list[dict[str, bytes]]) -> None:
    """Unites facts with the same triple, one added on each side."""
    base, ours, theirs = (version.keys() for version in versions)
    mine, others = (
        [_read_fact(kept[name]) for name in kept if name in added]
        for added in (ours - theirs - base, theirs - ours - base)
    )
    by_triple = {fact.triple: fact for fact in mine}
    for fact in others if by_triple else ():
        twin = by_triple.get(fact.triple)
        if twin and meet(find_span(*twin[7:9]), find_span(*fact[7:9])) is not EMPTY:
            one = three_way.unite_facts(twin, fact)
            del kept[twin.id if one.id == fact.id else fact.id]
            kept[one.id] = render_fact(one)


# Rules, cases and proposals: objects of JSON.


def merge_rule_files(path: str, sides: Sides) -> Merged:
    """Merges the rules of both sides. Of one that says two things now, the other version is kept disabled."""
    files = _read_sides(parse_rules, RuleFile, path, sides)
    kept, _, moved, notes = _merge_table(_RULES, [file.raw for file in files])
    for number, (spare, new_id) in enumerate(moved):
        if spare.has_base:  # two versions of a rule must not both conclude
            kept[new_id]["enabled"] = False
            notes[number] += ", disabled"
        if spare.record.get("name") == spare.id:
            kept[new_id]["name"] = new_id
    merged = RuleFile((), max(file.version for file in files[1:]) + 1, "", _merge_extras(files))
    merged.rules = tuple(rule_from_dict(raw, path) for raw in kept.values())
    merged.raw = kept
    ids = [name for file in files[1:] for name in (file.last_id, *file.raw)]
    last = max((int(found[1]) for name in ids if (found := _NUMBERED.fullmatch(name))), default=0)
    if not any(_age_of_id(name)[0] == last for name in kept):
        merged.last_id = f"R-{last:03d}" if last else ""
    return Merged(render_rules(merged), tuple(notes))


_RULES = _Kind(
    "rules", dict, dict, three_way.rule_body, three_way.merge_rules, lambda rule, new_id: rule | {"id": new_id}
)


def merge_case_files(path: str, sides: Sides) -> Merged:
    """Merges the cases of both sides. What a case was adapted from follows a new number."""
    files = _read_sides(parse_cases, CaseFile, path, sides)
    table = _merge_table(_CASES, [{entry["case_id"]: entry for entry in file.entries} for file in files])
    extra: dict[str, Any] | None = None
    if any(file.others is not None for file in files[1:]):
        base, ours, theirs = (file.others or {} for file in files)
        extra = three_way.merge_maps(base, ours, theirs, max(ours, theirs, key=repr))
    return Merged(CaseFile(list(table.kept.values()), extra, path).changed((), ()).data, tuple(table.notes))


_CASES = _Kind(
    "cases",
    lambda entry: case_from_dict(entry, "merge"),
    case_to_dict,
    lambda case: repr((case.beliefs, case.desires, case.context, case.plan_id, case.actions)),
    three_way.merge_cases,
    _with_id,
    lambda entry, old, new: entry | {"adapted_from": new} if entry.get("adapted_from") == old else entry,
)


def merge_proposals(path: str, sides: Sides) -> Merged:
    """Merges the proposals of both sides."""
    files = _read_sides(lambda data, name: parse_proposals(data, name, "x"), ProposalFile, path, sides)
    table = _merge_table(_PROPOSALS, [file.raw for file in files])
    lines = [text.dump_line(record).encode("utf-8") for record in table.kept.values()]
    if all(file.is_list for file in files[1:]):
        return Merged(text.render_list(lines), tuple(table.notes))
    others = [text.render_value(key, value) for key, value in _merge_extras(files).items()]
    return Merged(text.render_document([text.render_array("proposals", lines), *others]), tuple(table.notes))


def _node_of(proposal: dict[str, Any]) -> str:
    return str(proposal.get("node_id", ""))


def _settle_proposal(base: dict[str, Any] | None, a: dict[str, Any], b: dict[str, Any]) -> Settled:
    """Merges a proposal that both sides changed: what became of it last counts."""
    if base is None and _node_of(a) != _node_of(b):
        return three_way.keep_older(a, b, _last_change)
    return Settled(three_way.merge_maps(base or {}, a, b, max(a, b, key=lambda each: (_last_change(each), repr(each)))))


def _last_change(proposal: Mapping[str, Any]) -> str:
    return max(str(proposal.get(name, "")) for name in ("merged_at", "rejected_at", "proposed_at"))


_PROPOSALS = _Kind(
    "proposals", dict, dict, _node_of, _settle_proposal, lambda proposal, new_id: proposal | {"id": new_id}
)


# Memories: each the name of its store with a line of JSON.


def merge_stores(path: str, sides: Sides, *, is_page: bool = False) -> Merged:
    """Merges the memories of both sides. How many fit into the recent stores is left to the next write."""
    files = _read_sides(items.parse_store, items.StoreFile, path, sides)
    read = [_read_items(file, path) for file in files]
    table = _merge_table(_ITEMS, read)
    renames: Renames = ({}, {}, {})
    for spare, new_id in table.moved:
        if spare.has_base:  # the two versions name each other
            table.kept[spare.id] = _related(table.kept[spare.id], new_id)
            table.kept[new_id] = _related(table.kept[new_id], spare.id)
        else:
            renames[1 if spare.is_ours else 2][spare.id] = new_id
    stores: dict[str, list[bytes]] = {"working": [], "short_term": [], "long_term": []}
    for at, line in table.kept.values():
        stores[at].append(line)
    merged = items.StoreFile(
        working=tuple(map(_read_item, stores["working"])),
        short_term=tuple(map(_read_item, stores["short_term"])),
        long_term=stores["long_term"],
        version=max(file.version for file in files[1:]) + 1,
        last_id=_latest_id(files, table.kept),
        pages=_page_counts(files),
        extra=_merge_extras(files),
    )
    notes = (*_gone_from_pages(files, read), *table.notes)
    return Merged(items.render_page(merged.long_term) if is_page else items.render_store(merged), notes, renames)


def find_item_renames(path: str, sides: Sides) -> Renames:
    """Returns the ids that memories get which both sides gave to different ones."""
    return merge_stores(path, sides).renames if sides[1] and sides[2] else ({}, {}, {})


def _read_items(file: items.StoreFile, path: str) -> dict[str, Stored]:
    """Returns the items of a file by id; InvalidFile when two have one, for then one would be lost."""
    recent = [(s, item) for s in ("working", "short_term") for item in getattr(file, s)]
    pairs = [(item.id, (s, items.render_item(item))) for s, item in recent]
    pairs += [(items.line_id(line), ("long_term", line)) for line in file.long_term]
    found = dict(pairs)
    if len(found) < len(pairs):
        twin = next(record_id for record_id, count in Counter(record_id for record_id, _ in pairs).items() if count > 1)
        raise InvalidFile(f"{path}: {twin} occurs twice", "give one of the two another id, then merge again")
    return found


def _gone_from_pages(files: list[items.StoreFile], versions: list[dict[str, Stored]]) -> Iterator[str]:
    """Yields notes about items that one side removed and the other moved to a page: pages are merged separately."""
    if sum(file.pages != files[0].pages for file in files[1:]) == 1:
        both = versions[0].keys() - versions[1].keys() - versions[2].keys()
        for name in sorted(both, key=_age_of_id):
            yield f"{name} was removed on one side and is on a page of the other: mabos forget {name} removes it"


def _read_item(line: bytes) -> MemoryItem:
    return items.parse_item(line, "merge")


def _settle_item(base: tuple[str, MemoryItem] | None, a: tuple[str, MemoryItem], b: tuple[str, MemoryItem]) -> Settled:
    settled = three_way.merge_items(base[1] if base else None, a[1], b[1])
    return settled._replace(kept=(three_way.merge_store(base[0] if base else None, a[0], b[0]), settled.kept))


def _is_untouched(was: Stored, now: Stored) -> bool:
    """Returns whether an item was at most used, or moved to make room in working memory."""
    if was[0] != now[0] and now[0] == "long_term":
        return False
    return was[1] == now[1] or three_way.is_only_used(_read_item(was[1]), _read_item(now[1]))


def _related(stored: Stored, other: str) -> Stored:
    """Returns an item that names another one as related."""
    item = _read_item(stored[1])
    return stored[0], items.render_item(item._replace(related_to=tuple(dict.fromkeys((*item.related_to, other)))))


_ITEMS = _Kind(
    "memories",
    lambda stored: (stored[0], _read_item(stored[1])),
    lambda held: (held[0], items.render_item(held[1])),
    lambda held: held[1].content,
    _settle_item,
    lambda held, new_id: (held[0], _with_id(held[1], new_id)),
    # An id as a JSON string of its own: within a content its quotes would be escaped.
    lambda stored, old, new: (stored[0], stored[1].replace(b'"%s"' % old.encode(), b'"%s"' % new.encode())),
    _is_untouched,
)
