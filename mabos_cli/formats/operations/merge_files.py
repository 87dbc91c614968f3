"""Files that two branches changed, merged by what they hold. What comes out is as our codecs write it, and says the same whichever
side is ours."""

import re
from collections.abc import Callable
from functools import partial

from mabos_cli.core.language.ids import parse_id
from mabos_cli.core.operations.three_way import merge_runs
from mabos_cli.formats.markdown.seal import is_as_generated
from mabos_cli.formats.operations.merge_knowledge import merge_case_files, merge_fact_files, merge_rule_files
from mabos_cli.formats.operations.merge_sides import Merged, Sides
from mabos_cli.formats.operations.merge_stores import merge_stores

_ENTRY_ID = re.compile(r"\^(M-\d{1,16}-[0-9a-f]{4})\s*\Z")


def merge_file(kind: str, path: str, sides: Sides) -> Merged | None:
    """The file of a kind as both sides have it; None when it is text that only people can merge. InvalidFile when one of the three
    is malformed."""
    return _MERGES[kind](path, sides) if kind in _MERGES else None


def merge_logs(path: str, sides: Sides) -> Merged:
    """Entries of both sides, whole, in the order of their ids; what people wrote between them stays behind what it follows."""
    blocks = [_blocks(data.decode("utf-8", "surrogateescape")) for data in sides]
    merged = merge_runs(*blocks, _entry_time)
    return Merged(("\n\n".join(merged) + "\n" if merged else "").encode("utf-8", "surrogateescape"))


def _blocks(text: str) -> list[str]:
    """A log cut before each heading of an entry."""
    return [part for each in re.split(r"(?m)^(?=## )", text) if (part := each.strip("\n"))]


def _entry_time(block: str) -> tuple[int, int] | None:
    named = _ENTRY_ID.search(block)
    return parse_id(named[1]) if named else None


def merge_derived(path: str, sides: Sides) -> Merged | None:
    """Of two derived files the one that a person edited, so that the next run sets it aside, else ours; None when both were edited.
    What it stands for is merged elsewhere, and it is made anew from that."""
    edited = [data for data in sides[1:] if not is_as_generated(data.decode("utf-8", "replace"))]
    return None if len(edited) == 2 else Merged(edited[0] if edited else sides[1])


_MERGES: dict[str, Callable[[str, Sides], Merged | None]] = {
    "store": merge_stores,
    "page": partial(merge_stores, is_page=True),
    "facts": merge_fact_files,
    "rules": merge_rule_files,
    "cases": merge_case_files,
    "log": merge_logs,
    "derived": merge_derived,
}
