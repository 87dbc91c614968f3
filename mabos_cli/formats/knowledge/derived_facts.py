"""facts-derived.json made anew: what is unchanged keeps its line, so that a second run leaves no diff."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.formats.knowledge.fact_line import render_fact
from mabos_cli.formats.knowledge.facts import FactFile


class Derived(NamedTuple):
    """What a run of the rules changes on disk."""

    added: int
    changed: int
    removed: int


class Renewed(NamedTuple):
    """The file as it is to be, what differs, the subjects that this is about, and whether anything is to be written."""

    file: FactFile
    done: Derived
    subjects: set[str]
    is_new: bool


def renew_derived(old: FactFile, facts: Sequence[Fact], mark: dict[str, Any], now: str) -> Renewed:
    """The file with the facts that follow now, in place of those that followed before. What no longer follows is dropped: it can
    be derived again, and its id with it."""
    known = {fact.id: (fact, line) for fact, line in zip(old.facts(), old.lines, strict=True)}
    lines, subjects, changed, added = [], set(), 0, 0
    for fact in sorted(facts, key=lambda each: each.triple):
        before, line = known.pop(fact.id, (None, b""))
        if before and fact[:11] == before[:11] and not before.extra:  # all but the times at which it was written
            lines.append(line)
            continue
        changed, added = changed + bool(before), added + (not before)
        subjects.add(fact.subject)
        born = before.created_at if before else now
        lines.append(render_fact(fact._replace(created_at=born, updated_at=now)))
    subjects |= {fact.subject for fact, _ in known.values()}
    new = FactFile(lines, old.version, "", dict(old.extra) | mark, old.path)
    is_new = lines != old.lines or new.extra != old.extra
    new.version += is_new
    return Renewed(new, Derived(added, changed, len(known)), subjects, is_new)
