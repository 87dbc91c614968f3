"""Merges the files that two branches changed: memories, facts, rules and cases by their ids, logs by entries.

Rules and cases are numbered: two sides give the same number to different things, and one of them gets another.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import partial
from operator import eq
from typing import Any, NamedTuple
from zlib import crc32

from mabos_cli.core.language.ids import distinct_id, parse_id
from mabos_cli.core.language.spans import EMPTY, find_span, meet
from mabos_cli.core.language.text import plural
from mabos_cli.core.operations import three_way
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.knowledge.cases import CaseFile, case_from_dict, case_to_dict, parse_cases
from mabos_cli.formats.knowledge.facts import (
    FactFile,
    parse_fact,
    parse_facts,
    render_fact,
    render_fact_page,
    render_facts,
)
from mabos_cli.formats.knowledge.rules import RuleFile, parse_rules, render_rules, rule_from_dict
from mabos_cli.formats.markdown.escape import is_as_generated
from mabos_cli.formats.memory import items

_ENTRY_ID = re.compile(r"\^(M-\d{1,16}-[0-9a-f]{4})\s*\Z")
ENTRIES = r"(?m)^(?=## )"  # where the entries of a log begin
_NUMBERED = re.compile(r"([RC])-(\d{1,18})(?:-[a-z]{3})?")
Held = tuple[str, bytes]  # the store and the line of an item
# New ids by old ones, in the base, ours and theirs.
Renames = tuple[dict[str, str], dict[str, str], dict[str, str]]
Sides = tuple[bytes, bytes, bytes]  # the file before, ours, theirs; nothing where there was none


class Merged(NamedTuple):
    """The merged file, what somebody should know about it, and the ids that new things of each side got instead of theirs."""

    data: bytes
    notes: tuple[str, ...] = ()
    renames: Renames = ({}, {}, {})


def read_sides(parse: Callable[[bytes, str], Any], empty: Callable[[], Any], path: str, sides: Sides) -> list[Any]:
    """Parses the three files. Git gives an empty base where there is none; a side that is empty is malformed."""
    base = parse(sides[0], f"{path} (base)") if sides[0] else empty()
    return [base, parse(sides[1], f"{path} (ours)"), parse(sides[2], f"{path} (theirs)")]


def age_of_id(record_id: str) -> tuple[tuple[int, int], str]:
    """Returns a key that sorts ids in the order in which they were given out; those of other tools come last."""
    return parse_id(record_id) or (1 << 60, 0), record_id


def latest_id(ids: Iterable[str]) -> str:
    """Returns the id that was given out last; those of other tools do not count."""
    return max(
        (record_id for record_id in ids if parse_id(record_id)),
        key=lambda record_id: parse_id(record_id) or (0, 0),
        default="",
    )


def free_id(record_id: str, text: bytes, taken: set[str]) -> str:
    """Returns an unused id derived from what a record says, so that every clone and every merge chooses the same."""
    ms, draw, number = parse_id(record_id), crc32(text), 1
    while True:
        made = f"{record_id[0]}-{ms[0]}-{2 * draw % 0x10000:04x}" if ms else f"{record_id}-{number + 1}"
        if made not in taken:
            taken.add(made)
            return made
        draw, number = draw + 1, number + 1


def _other_id(record_id: str, text: Hashable) -> str:
    """Returns the id that a record gets when its own is another's: what free_id tries first."""
    return free_id(record_id, _as_bytes(text), set())


def _as_bytes(text: Hashable) -> bytes:
    return str(text).encode("utf-8", "surrogatepass")


def merge_extras(files: list[Any]) -> dict[str, Any]:
    """Merges the keys of other tools, at the top of a file."""
    base, a, b = files
    newer = max(a, b, key=lambda file: (file.version, repr(file.extra)))
    return three_way.merge_maps(base.extra, a.extra, b.extra, newer.extra)


def merge_fact_files(path: str, sides: Sides, *, is_page: bool = False) -> Merged:
    """Merges the facts of both sides; those that say the same are one."""
    files = read_sides(parse_facts, FactFile, path, sides)
    read = [{items.line_id(line): line for line in file.lines} for file in files]
    before, one, other = (bool(file.pages) for file in files)
    split = 0 if before or one == other else 1 if one else 2
    if split:  # its facts are on pages, which are not seen from here: they count as they were
        read[split] = read[0] | read[split]
    records = three_way.follow_renames(
        read,
        _triple_of,
        lambda record_id, line: _other_id(record_id, _triple_of(line)),
    )
    union = three_way.merge_keyed(records[0], records[1], records[2], _settle_fact, eq, age_of_id)
    kept, taken, notes = dict(union.kept), {*records[1], *records[2]}, []
    for spare in union.spares:
        record_id = free_id(spare.id, _as_bytes(_triple_of(spare.record)), taken)
        kept[record_id] = render_fact(parse_fact(spare.record, path)._replace(id=record_id))
        notes.append(f"{spare.id} was given to two facts: the other one is {record_id}")
    _unite_added(kept, records, path)
    if split:
        gone = sorted(read[0].keys() - kept.keys(), key=age_of_id)
        notes += [f"{fact_id} was removed on the side that has no pages, and is still on a page" for fact_id in gone]
        kept = {fact_id: line for fact_id, line in kept.items() if read[0].get(fact_id) != line}
        notes += [f"one side has pages now: the next write files {plural(len(kept), 'fact')} there"] if kept else []
    if one and other and not before and read[0]:
        notes.append("both sides split their facts into pages: facts that only one side has removed since are back")
    ours, theirs = files[1:]
    newest = latest_id((ours.last_id, theirs.last_id, *kept)) if ours.last_id or theirs.last_id else ""
    version = max(ours.version, theirs.version) + 1
    merged = FactFile(list(kept.values()), version, newest, merge_extras(files), path)
    merged.pages = _page_counts(*(file.pages for file in files))
    return Merged(render_fact_page(merged) if is_page else render_facts(merged), tuple(notes))


def _triple_of(line: bytes) -> tuple[str, ...]:
    return parse_fact(line, "merge").triple


def _settle_fact(base: bytes | None, a: bytes, b: bytes) -> three_way.Settled:
    was = parse_fact(base, "base") if base else None
    settled = three_way.merge_facts(was, parse_fact(a, "ours"), parse_fact(b, "theirs"))
    return three_way.Settled(render_fact(settled.kept), settled.spare)


def _unite_added(kept: dict[str, bytes], records: list[dict[str, bytes]], path: str) -> None:
    """Makes one fact of two that say the same, one added on each side."""
    base, ours, theirs = records
    added = [record_id for record_id in kept if record_id not in base]
    by_triple = {
        parse_fact(kept[record_id], path).triple: record_id
        for record_id in added
        if record_id in ours and record_id not in theirs
    }
    for record_id in [record_id for record_id in added if record_id in theirs and record_id not in ours]:
        fact = parse_fact(kept[record_id], path)
        twin = by_triple.get(fact.triple) if by_triple else None
        if twin and meet(find_span(*parse_fact(kept[twin], path)[7:9]), find_span(*fact[7:9])) is not EMPTY:
            one = three_way.unite_facts(parse_fact(kept[twin], path), fact)
            del kept[twin if one.id == record_id else record_id]
            kept[one.id] = render_fact(one)


def _last_number(ids: Iterable[str]) -> int:
    return max((int(found[2]) for record_id in ids if (found := _NUMBERED.fullmatch(record_id))), default=0)


def _numbered_age(record_id: str) -> tuple[int, str]:
    found = _NUMBERED.fullmatch(record_id)
    return int(found[2]) if found else 1 << 60, record_id


def merge_rule_files(path: str, sides: Sides) -> Merged:
    """Merges the rules of both sides. Of one that says two things now, the other version is kept disabled."""
    files = read_sides(parse_rules, RuleFile, path, sides)
    ours, theirs = files[1:]
    records = three_way.follow_renames([file.raw for file in files], three_way.rule_body, _rule_id)
    union = three_way.merge_keyed(records[0], records[1], records[2], three_way.merge_rules, eq, _numbered_age)
    kept, notes = dict(union.kept), []
    last = _last_number((ours.last_id, theirs.last_id, *ours.raw, *theirs.raw))
    for spare in sorted(union.spares, key=lambda each: _numbered_age(each.id)):
        record_id, rule = _rule_id(spare.id, spare.record), dict(spare.record)
        if spare.has_base:
            rule["enabled"] = False  # two versions of a rule must not both conclude
            notes.append(f"{spare.id} was changed on both sides: the other version is {record_id}, disabled")
        else:
            notes.append(f"{spare.id} was given to two rules: the younger one is {record_id}")
        kept[record_id] = rule | {"id": record_id} | ({"name": record_id} if rule.get("name") == spare.id else {})
    merged = RuleFile((), max(ours.version, theirs.version) + 1, "", merge_extras(files))
    merged.rules = tuple(rule_from_dict(raw, path) for raw in kept.values())
    merged.raw = kept
    merged.last_id = f"R-{last:03d}" if last > _last_number(kept) else ""
    return Merged(render_rules(merged), tuple(notes))


def _rule_id(record_id: str, rule: Mapping[str, Any]) -> str:
    return distinct_id(record_id, three_way.rule_body(rule))


def merge_case_files(path: str, sides: Sides) -> Merged:
    """Merges the cases of both sides. What a case was adapted from follows a new number."""
    files = read_sides(parse_cases, CaseFile, path, sides)
    records = three_way.follow_renames(
        [{entry["case_id"]: entry for entry in file.entries} for file in files], _situation_of, _case_id
    )
    union = three_way.merge_keyed(records[0], records[1], records[2], partial(_settle_case, path), eq, _numbered_age)
    kept, notes = dict(union.kept), []
    for spare in sorted(union.spares, key=lambda each: _numbered_age(each.id)):
        record_id = _case_id(spare.id, spare.record)
        notes.append(f"{spare.id} was given to two cases: the younger one is {record_id}")
        mine, others = records[1 if spare.is_ours else 2], records[2 if spare.is_ours else 1]
        for name, entry in kept.items():
            if entry.get("adapted_from") == spare.id and name in mine and name not in others:
                kept[name] = entry | {"adapted_from": record_id}
        kept[record_id] = spare.record | {"case_id": record_id}
    extra: dict[str, Any] | None = None
    if any(file.others is not None for file in files[1:]):
        base, ours, theirs = (file.others or {} for file in files)
        extra = three_way.merge_maps(base, ours, theirs, max(ours, theirs, key=repr))
    return Merged(CaseFile(list(kept.values()), extra, path).changed((), ()).data, tuple(notes))


def _situation_of(entry: Mapping[str, Any]) -> str:
    case = case_from_dict(dict(entry), "merge")
    return repr((case.beliefs, case.desires, case.context, case.plan_id, case.actions))


def _case_id(record_id: str, entry: Mapping[str, Any]) -> str:
    return distinct_id(record_id, _situation_of(entry))


def _settle_case(path: str, base: dict[str, Any] | None, a: dict[str, Any], b: dict[str, Any]) -> three_way.Settled:
    was = case_from_dict(base, f"{path} (base)") if base else None
    settled = three_way.merge_cases(was, case_from_dict(a, f"{path} (ours)"), case_from_dict(b, f"{path} (theirs)"))
    return three_way.Settled(case_to_dict(settled.kept), settled.spare)


def merge_stores(path: str, sides: Sides, *, is_page: bool = False) -> Merged:
    """Merges the memories of both sides. How many fit into the recent stores is left to the next write."""
    files = read_sides(items.parse_store, items.StoreFile, path, sides)
    ours, theirs = files[1:]
    notes: list[str] = []
    records = [_records(file, path) for file in files]
    notes += _gone_from_pages(files, records)
    records = three_way.follow_renames(
        records, _content_of, lambda record_id, held: _other_id(record_id, _content_of(held))
    )
    union = three_way.merge_keyed(records[0], records[1], records[2], _settle_item, _is_untouched, age_of_id)
    renames: Renames = ({}, {}, {})
    kept = _place_items(union, notes, {*records[1], *records[2]}, records, renames)
    merged = items.StoreFile(
        working=tuple(items.parse_item(line, path) for at, line in kept.values() if at == "working"),
        short_term=tuple(items.parse_item(line, path) for at, line in kept.values() if at == "short_term"),
        long_term=[line for at, line in kept.values() if at == "long_term"],
        version=max(ours.version, theirs.version) + 1,
        last_id=latest_id((ours.last_id, theirs.last_id, *kept)) if ours.last_id or theirs.last_id else "",
        pages=_page_counts(*(file.pages for file in files)),
        extra=merge_extras(files),
    )
    return Merged(items.render_page(merged.long_term) if is_page else items.render_store(merged), tuple(notes), renames)


def find_item_renames(path: str, sides: Sides) -> Renames:
    """Returns the ids that memories get which both sides gave to different ones."""
    return merge_stores(path, sides).renames if sides[1] and sides[2] else ({}, {}, {})


def _records(file: items.StoreFile, path: str) -> dict[str, Held]:
    """Returns the items of a file by id; InvalidFile when two have one, for then one would be lost."""
    recent = [(s, item) for s in ("working", "short_term") for item in getattr(file, s)]
    pairs = [(item.id, (s, items.render_item(item))) for s, item in recent]
    pairs += [(items.line_id(line), ("long_term", line)) for line in file.long_term]
    found = dict(pairs)
    if len(found) < len(pairs):
        twin = next(record_id for record_id, count in Counter(record_id for record_id, _ in pairs).items() if count > 1)
        raise InvalidFile(f"{path}: {twin} occurs twice", "give one of the two another id, then merge again")
    return found


def _gone_from_pages(files: list[items.StoreFile], records: list[dict[str, Held]]) -> Iterator[str]:
    """Says which items one side removed that the other moved to a page: pages are not seen from here."""
    moved = [side for side in (1, 2) if files[side].pages != files[0].pages]
    if len(moved) == 1:
        both = records[0].keys() - records[1].keys() - records[2].keys()
        for record_id in sorted(both, key=age_of_id):
            yield f"{record_id} was removed on one side and is on a page of the other: mabos forget {record_id} removes it"


def _page_counts(base: dict[str, int], ours: dict[str, int], theirs: dict[str, int]) -> dict[str, int]:
    """Returns how many items the pages hold, as far as that can be told without them; doctor counts."""
    names = sorted({*ours, *theirs})
    return {n: three_way.merge_count(base.get(n, 0), ours.get(n, 0), theirs.get(n, 0)) for n in names}


def _content_of(held: Held) -> str:
    return items.parse_item(held[1], "merge").content


def _settle_item(base: Held | None, a: Held, b: Held) -> three_way.Settled:
    was = items.parse_item(base[1], "base") if base else None
    settled = three_way.merge_items(was, items.parse_item(a[1], "ours"), items.parse_item(b[1], "theirs"))
    store = three_way.merge_store(base[0] if base else None, a[0], b[0])
    return three_way.Settled((store, items.render_item(settled.kept)), settled.spare)


def _is_untouched(was: Held, now: Held) -> bool:
    """Returns whether nobody did anything about an item but use it, or make room in working memory."""
    if was[0] != now[0] and now[0] == "long_term":
        return False
    return was[1] == now[1] or three_way.is_only_used(items.parse_item(was[1], "base"), items.parse_item(now[1], "now"))


def _place_items(
    union: three_way.Union, notes: list[str], taken: set[str], records: list[dict[str, Held]], renames: Renames
) -> dict[str, Held]:
    """Gives new ids to items that lost theirs: other versions are linked with the one that is kept."""
    kept = dict(union.kept)
    for spare in union.spares:
        store, line = spare.record
        item = items.parse_item(line, "merge")
        record_id = free_id(spare.id, _as_bytes(item.content), taken)
        if spare.has_base:
            item = item._replace(related_to=tuple(dict.fromkeys((*item.related_to, spare.id))))
            first = items.parse_item(kept[spare.id][1], "merge")
            first = first._replace(related_to=tuple(dict.fromkeys((*first.related_to, record_id))))
            kept[spare.id] = (kept[spare.id][0], items.render_item(first))
            notes.append(f"{spare.id} was edited on both sides: the older text is {record_id}")
        else:
            notes.append(f"{spare.id} was given to two memories: the younger one is {record_id}")
            renames[1 if spare.is_ours else 2][spare.id] = record_id
            _repoint_items(kept, spare, record_id, records)
        kept[record_id] = (store, items.render_item(item._replace(id=record_id)))
    return kept


def _repoint_items(
    kept: dict[str, Held], spare: three_way.Spare, record_id: str, records: list[dict[str, Held]]
) -> None:
    """Points what one side alone added, and means its item by an id, to the item's new id."""
    mine, others = records[1 if spare.is_ours else 2], records[2 if spare.is_ours else 1]
    mark = f'"{spare.id}"'.encode()

    def repoint(ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(record_id if each == spare.id else each for each in ids)

    for name, (store, line) in kept.items():
        if name == spare.id or mark not in line or name not in mine or name in others:
            continue
        item = items.parse_item(line, "merge")
        item = item._replace(
            derived_from=repoint(item.derived_from),
            related_to=repoint(item.related_to),
            supersedes=repoint(item.supersedes),
        )
        kept[name] = (store, items.render_item(item))


def merge_logs(path: str, sides: Sides) -> Merged:
    """Merges daily logs: whole entries of both sides in the order of their ids; text stays behind its entry."""
    base, ours, theirs = (_blocks(data.decode("utf-8", "surrogateescape")) for data in sides)
    merged = three_way.merge_runs(base, ours, theirs, _entry_time)
    return Merged(("\n\n".join(merged) + "\n" if merged else "").encode("utf-8", "surrogateescape"))


def _blocks(text: str) -> list[str]:
    """Splits a log before each heading of an entry."""
    return [part for each in re.split(ENTRIES, text) if (part := each.strip("\n"))]


def _entry_time(block: str) -> tuple[int, int] | None:
    named = _ENTRY_ID.search(block)
    return parse_id(named[1]) if named else None


def merge_derived(path: str, sides: Sides) -> Merged | None:
    """Returns the derived file that a person edited, which the next run sets aside, else ours; None for two.

    What it stands for is merged elsewhere, and it is rebuilt from that.
    """
    edited = [data for data in sides[1:] if not is_as_generated(data.decode("utf-8", "replace"))]
    return None if len(edited) == 2 else Merged(edited[0] if edited else sides[1])
