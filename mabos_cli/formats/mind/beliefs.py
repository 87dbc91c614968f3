"""Beliefs.md as beliefs, and what is wrong with it."""

import re

from mabos_cli.core.language.periods import find_day
from mabos_cli.core.mind.mind import Belief, Problem, parse_level
from mabos_cli.formats.mind.attitudes import KINDS, note_id, split_id
from mabos_cli.formats.mind.cognitive import parse_cognitive
from mabos_cli.formats.mind.mind_edit import Draft

_WORDS = {"certain": 1.0, "very high": 0.95, "high": 0.85, "medium": 0.6, "moderate": 0.6, "low": 0.3, "very low": 0.1}
_UNSAID = 0.5


def parse_beliefs(text: str, path: str) -> tuple[list[Belief], list[Problem]]:
    """The beliefs of a file in order, and what in it makes no sense; one bad value does not hide the others."""
    beliefs: list[Belief] = []
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    for entry in parse_cognitive(text).entries:
        line = entry.first + 1
        certainty, trouble = parse_level(entry.get("certainty"), _WORDS, "certainty")
        problems += [Problem(path, line, trouble)] if trouble else []
        updated = entry.get("updated")
        if updated and not find_day(updated[:10]):
            problems.append(Problem(path, line, f"{updated[:40]!r} is no date"))
        own, subject = split_id(entry, KINDS["belief"].prefix)
        problems += [Problem(path, line, told) for told in note_id(seen, own, line)]
        supports = tuple(part for part in re.split(r"[,;\s]+(?:and\s+)?", entry.get("supports")) if part)
        sure = _UNSAID if certainty is None else certainty
        told = (sure, updated, own, entry.get("source"), supports)
        beliefs.append(Belief(subject, entry.text, *told, path, line, entry.get("status")))
    return beliefs, problems


def belief_draft(belief: Belief) -> Draft:
    """A belief as an entry to be written."""
    fields = {
        "certainty": f"{belief.certainty:g}",
        "source": belief.source,
        "supports": ", ".join(belief.supports),
        "updated": belief.updated,
    }
    return Draft("belief", belief.id, belief.subject, belief.text, fields)
