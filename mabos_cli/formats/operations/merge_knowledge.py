"""facts.json, facts-derived.json, rules.json and cases.json, merged by ids. Rules and cases are numbered: two sides give the same
number to different things, and one of them gets another."""

import re
from collections.abc import Iterable
from functools import partial
from typing import Any

from mabos_cli.core.operations.three_way import Settled, merge_keyed, merge_maps
from mabos_cli.core.operations.three_way_records import merge_cases, merge_facts, merge_rules, unite_facts
from mabos_cli.formats.knowledge.cases import CaseFile, case_from_dict, case_to_dict, parse_cases
from mabos_cli.formats.knowledge.facts import FactFile, parse_fact, parse_facts, render_fact, render_facts
from mabos_cli.formats.knowledge.rules import RuleFile, parse_rules, render_rules, rule_from_dict
from mabos_cli.formats.memory.items import line_id
from mabos_cli.formats.operations.merge_sides import (
    Merged,
    Sides,
    age_of_id,
    free_id,
    latest_id,
    merge_extras,
    read_sides,
)

_NUMBERED = re.compile(r"([RC])-(\d{1,18})")


def merge_fact_files(path: str, sides: Sides) -> Merged:
    """The facts of both sides; those that say the same are one."""
    files = read_sides(parse_facts, FactFile, path, sides)
    records = [{line_id(line): line for line in file.lines} for file in files]
    union = merge_keyed(*records, _settle_fact, lambda was, now: was == now, age_of_id)
    kept, taken, notes = dict(union.kept), {*records[1], *records[2]}, []
    for spare in union.spares:
        own = free_id(spare.id, spare.record, taken)
        kept[own] = render_fact(parse_fact(spare.record, path)._replace(id=own))
        notes.append(f"{spare.id} was given to two facts: the other one is {own}")
    _unite_added(kept, records, path)
    ours, theirs = files[1:]
    newest = latest_id((ours.last_id, theirs.last_id, *kept)) if ours.last_id or theirs.last_id else ""
    version = max(ours.version, theirs.version) + 1
    merged = FactFile(list(kept.values()), version, newest, merge_extras(files), path)
    return Merged(render_facts(merged), tuple(notes))


def _settle_fact(base: bytes | None, a: bytes, b: bytes) -> Settled:
    was = parse_fact(base, "base") if base else None
    settled = merge_facts(was, parse_fact(a, "ours"), parse_fact(b, "theirs"))
    return Settled(render_fact(settled.kept), settled.spare)


def _unite_added(kept: dict[str, bytes], records: list[dict[str, bytes]], path: str) -> None:
    """Makes one fact of two that say the same, one added on each side."""
    base, ours, theirs = records
    added = [own for own in kept if own not in base]
    said = {parse_fact(kept[own], path).triple: own for own in added if own in ours and own not in theirs}
    for own in [own for own in added if own in theirs and own not in ours]:
        fact = parse_fact(kept[own], path)
        twin = said.get(fact.triple) if said else None
        if twin:
            one = unite_facts(parse_fact(kept[twin], path), fact)
            del kept[twin if one.id == own else own]
            kept[one.id] = render_fact(one)


def _last_number(ids: Iterable[str]) -> int:
    return max((int(found[2]) for own in ids if (found := _NUMBERED.fullmatch(own))), default=0)


def _numbered_age(own: str) -> tuple[int, str]:
    found = _NUMBERED.fullmatch(own)
    return int(found[2]) if found else 1 << 60, own


def merge_rule_files(path: str, sides: Sides) -> Merged:
    """The rules of both sides. Of one that says two things now, the other version is kept disabled."""
    files = read_sides(parse_rules, RuleFile, path, sides)
    _, ours, theirs = files
    union = merge_keyed(*(file.raw for file in files), merge_rules, lambda was, now: was == now, _numbered_age)
    kept, notes = dict(union.kept), []
    last = _last_number((ours.last_id, theirs.last_id, *ours.raw, *theirs.raw))
    for spare in sorted(union.spares, key=lambda each: _numbered_age(each.id)):
        last += 1
        own, rule = f"R-{last:03d}", dict(spare.record)
        if spare.has_base:
            rule["enabled"] = False  # two versions of a rule must not both conclude
            notes.append(f"{spare.id} was changed on both sides: the other version is {own}, disabled")
        else:
            notes.append(f"{spare.id} was given to two rules: the younger one is {own}")
        kept[own] = rule | {"id": own} | ({"name": own} if rule.get("name") == spare.id else {})
    merged = RuleFile((), max(ours.version, theirs.version) + 1, "", merge_extras(files))
    merged.rules = tuple(rule_from_dict(raw, path) for raw in kept.values())
    merged.raw = kept
    merged.last_id = f"R-{last:03d}" if last > _last_number(kept) else ""
    return Merged(render_rules(merged), tuple(notes))


def merge_case_files(path: str, sides: Sides) -> Merged:
    """The cases of both sides. What a case was adapted from follows a new number."""
    files = read_sides(parse_cases, CaseFile, path, sides)
    records = [{entry["case_id"]: entry for entry in file.entries} for file in files]
    union = merge_keyed(*records, partial(_settle_case, path), lambda was, now: was == now, _numbered_age)
    kept, notes = dict(union.kept), []
    last = _last_number((*records[1], *records[2]))
    for spare in sorted(union.spares, key=lambda each: _numbered_age(each.id)):
        last += 1
        own = f"C-{last:03d}"
        notes.append(f"{spare.id} was given to two cases: the younger one is {own}")
        mine, others = records[1 if spare.is_ours else 2], records[2 if spare.is_ours else 1]
        for name, entry in kept.items():
            if entry.get("adapted_from") == spare.id and name in mine and name not in others:
                kept[name] = entry | {"adapted_from": own}
        kept[own] = spare.record | {"case_id": own}
    others = next((file.others for file in files[1:] if file.others is not None), None)
    if others is not None:
        told = [file.others or {} for file in files]
        others = merge_maps(*told, max(told[1:], key=repr))
    return Merged(CaseFile(list(kept.values()), others, path).changed((), ()).data, tuple(notes))


def _settle_case(path: str, base: dict[str, Any] | None, a: dict[str, Any], b: dict[str, Any]) -> Settled:
    was = case_from_dict(base, f"{path} (base)") if base else None
    settled = merge_cases(was, case_from_dict(a, f"{path} (ours)"), case_from_dict(b, f"{path} (theirs)"))
    return Settled(case_to_dict(settled.kept), settled.spare)
