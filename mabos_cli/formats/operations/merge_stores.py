"""memory-store.json and its pages, merged by items. Lines that one side alone changed are not decoded."""

from collections import Counter

from mabos_cli.core.language.text import plural
from mabos_cli.core.operations.three_way import Settled, Spare, Union, merge_count, merge_keyed
from mabos_cli.core.operations.three_way_records import is_only_used, merge_items, merge_store
from mabos_cli.errors import Conflict, InvalidFile
from mabos_cli.formats.memory.items import (
    StoreFile,
    line_id,
    parse_item,
    parse_store,
    render_item,
    render_page,
    render_store,
)
from mabos_cli.formats.operations.merge_sides import (
    Merged,
    Sides,
    age_of_id,
    free_id,
    latest_id,
    merge_extras,
    read_sides,
)

Held = tuple[str, bytes]  # the store and the line of an item


def merge_stores(path: str, sides: Sides, *, is_page: bool = False) -> Merged:
    """The memories of both sides. How many fit into the recent stores is left to the next write."""
    files = read_sides(parse_store, StoreFile, path, sides)
    ours, theirs = files[1:]
    notes: list[str] = []
    records = [_records(file, path) for file in files]
    split = _split_side(path, files)
    if split:  # its long-term items are on pages, which are not seen from here: they count as they were
        there = {own: held for own, held in records[0].items() if held[0] == "long_term"}
        records[split] = there | records[split]
        gone = sorted(there.keys() - records[3 - split].keys(), key=age_of_id)
        notes += [f"{own} was removed on the side that has no pages, and is still on a page" for own in gone]
        records[3 - split] |= {own: there[own] for own in gone}
    union = merge_keyed(*records, _settle_item, _is_untouched, age_of_id)
    kept = _place_items(union, notes, {*records[1], *records[2]}, records)
    if split:
        kept = {own: held for own, held in kept.items() if not _is_on_page(records[0].get(own), held)}
        strays = sum(held[0] == "long_term" for held in kept.values())
        notes += [f"one side has pages now: the next write files {plural(strays, 'item')} there"] if strays else []
    merged = StoreFile(
        *(tuple(parse_item(line, path) for at, line in kept.values() if at == s) for s in ("working", "short_term")),
        [line for at, line in kept.values() if at == "long_term"],
        max(ours.version, theirs.version) + 1,
        latest_id((ours.last_id, theirs.last_id, *kept)) if ours.last_id or theirs.last_id else "",
        _page_counts(*(file.pages for file in files)),
        merge_extras(files),
    )
    return Merged(render_page(merged.long_term) if is_page else render_store(merged), tuple(notes))


def _records(file: StoreFile, path: str) -> dict[str, Held]:
    """The items of a file by id; InvalidFile when two have one, for then one would be lost."""
    recent = [(s, item) for s in ("working", "short_term") for item in getattr(file, s)]
    pairs = [(item.id, (s, render_item(item))) for s, item in recent]
    pairs += [(line_id(line), ("long_term", line)) for line in file.long_term]
    found = dict(pairs)
    if len(found) < len(pairs):
        twin = next(own for own, count in Counter(own for own, _ in pairs).items() if count > 1)
        raise InvalidFile(f"{path}: {twin} is there twice", "give one of the two another id, then merge again")
    return found


def _split_side(path: str, files: list[StoreFile]) -> int:
    """Which side, 1 or 2, split its store into pages since the base; 0 when none did."""
    before, ours, theirs = (bool(file.pages) for file in files)
    if not before and ours and theirs and files[0].long_term:
        raise Conflict(
            f"{path}: both sides split their memory into pages since they parted",
            "take one side's memory-store.json and memory-store/, and import what the other added: store --batch",
        )
    return 0 if before or ours == theirs else 1 if ours else 2


def _is_on_page(was: Held | None, held: Held) -> bool:
    """Whether a long-term item is on a page of the side that has pages, as it was but for uses."""
    return was is not None and was[0] == held[0] == "long_term" and _is_untouched(was, held)


def _page_counts(base: dict[str, int], ours: dict[str, int], theirs: dict[str, int]) -> dict[str, int]:
    """How many items the pages hold, as far as that can be told without them; doctor counts."""
    names = sorted({*ours, *theirs})
    return {n: merge_count(base.get(n, 0), ours.get(n, 0), theirs.get(n, 0)) for n in names}


def _settle_item(base: Held | None, a: Held, b: Held) -> Settled:
    was = parse_item(base[1], "base") if base else None
    settled = merge_items(was, parse_item(a[1], "ours"), parse_item(b[1], "theirs"))
    store = merge_store(base[0] if base else None, a[0], b[0])
    return Settled((store, render_item(settled.kept)), settled.spare)


def _is_untouched(was: Held, now: Held) -> bool:
    """Whether nobody did anything about an item but use it, or make room in working memory."""
    if was[0] != now[0] and now[0] == "long_term":
        return False
    return was[1] == now[1] or is_only_used(parse_item(was[1], "base"), parse_item(now[1], "now"))


def _place_items(union: Union, notes: list[str], taken: set[str], records: list[dict[str, Held]]) -> dict[str, Held]:
    """The items, with those that lost their id under new ones: other versions are linked with the one that is kept."""
    kept = dict(union.kept)
    for spare in union.spares:
        store, line = spare.record
        item, own = parse_item(line, "merge"), free_id(spare.id, line, taken)
        if spare.has_base:
            item = item._replace(related_to=tuple(dict.fromkeys((*item.related_to, spare.id))))
            first = parse_item(kept[spare.id][1], "merge")
            first = first._replace(related_to=tuple(dict.fromkeys((*first.related_to, own))))
            kept[spare.id] = (kept[spare.id][0], render_item(first))
            notes.append(f"{spare.id} was edited on both sides: the older text is {own}")
        else:
            notes.append(f"{spare.id} was given to two memories: the younger one is {own}")
            _repoint_items(kept, spare, own, records)
        kept[own] = (store, render_item(item._replace(id=own)))
    return kept


def _repoint_items(kept: dict[str, Held], spare: Spare, own: str, records: list[dict[str, Held]]) -> None:
    """Points what one side alone added, and means its item by an id, to the item's new id."""
    mine, others = records[1 if spare.is_ours else 2], records[2 if spare.is_ours else 1]
    mark = f'"{spare.id}"'.encode()
    for name, (store, line) in kept.items():
        if name == spare.id or mark not in line or name not in mine or name in others:
            continue
        item = parse_item(line, "merge")
        links = {
            n: tuple(own if i == spare.id else i for i in getattr(item, n)) for n in ("derived_from", "related_to")
        }
        kept[name] = (store, render_item(item._replace(**links)))
