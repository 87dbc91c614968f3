"""observations.md: what became a memory in the last days, oldest first, for hosts that keep it at the start of a prompt.

A cache of prompts serves what begins as it did before. So lines are only ever added at the end, and the oldest days leave whole,
several at once, when the page has grown too large; only what was forgotten or is no longer trusted is taken out from between.
"""

import re
from collections.abc import Collection, Iterable

from mabos_cli.core.memory.item import MemoryItem, band
from mabos_cli.formats.markdown.escape import inline, seal, without_seal

_HEAD = (
    "# Observations — {}\n\n> What became a memory lately: time (UTC), grade, type, who said it, and its id. Derived from memory; edits "
    "here are set aside.\n"
)
_DAY = re.compile(r"(?m)^## (?=\d{4}-\d\d-\d\d$)")
_ID = re.compile(r"\(([^\s()]+)\)$")
_TEXT = 240  # characters of an entry
_KEPT = 0.75  # of the size, once it was passed


def extend_log(
    text: str,
    agent: str,
    items: Iterable[MemoryItem],
    gone: Collection[str] = (),
    *,
    days: int,
    size: int,
    bands: tuple[float, float],
) -> str:
    """Returns the page with the items that it does not have, and without those that are gone, within so many
    days and characters. Of what is only nice to have, a day takes no more than half of them; what is neither is left out."""
    _, *found = _DAY.split(without_seal(text))
    log = {block[:10]: [line for line in block.split("\n")[1:] if line] for block in found}
    known = {*listed_ids(text)}
    if known.intersection(gone):
        log = {day: [line for line in lines if _id_of(line) not in gone] for day, lines in log.items()}
    for item in sorted(items, key=lambda item: (item.created_at, item.id)):
        grade = band(item.importance, *bands)
        day = max(item.created_at[:10], *log) if log else item.created_at[:10]
        today, entry = log.get(day, []), _entry(item, grade)
        room = size if grade == "must_remember" else size // 2
        if item.id in known or grade == "ignore" or _size({day: [*today, entry]}) + len(_HEAD) > room:
            continue
        known.add(item.id)
        log[day] = [*today, entry]
    while len(log) > days:
        del log[min(log)]
    if _size(log) + len(_HEAD) > size:
        while len(log) > 1 and _size(log) + len(_HEAD) > _KEPT * size:
            del log[min(log)]
    return seal(_HEAD.format(inline(agent)) + "".join(_block(day, lines) for day, lines in log.items() if lines))


def listed_ids(text: str) -> list[str]:
    """Returns the ids of the items on the page, in order."""
    return [found for line in text.split("\n") if line.startswith("- ") and (found := _id_of(line))]


def _block(day: str, lines: list[str]) -> str:
    return f"\n## {day}\n" + "".join(f"{line}\n" for line in lines)


def _size(log: dict[str, list[str]]) -> int:
    return sum(len(_block(day, lines)) for day, lines in log.items())


def _id_of(line: str) -> str:
    match = _ID.search(line)
    return match[1] if match else ""


def _entry(item: MemoryItem, grade: str) -> str:
    who = f", {inline(item.author)}" if item.author else ""
    return f"- {item.created_at[11:16]} {grade} {inline(item.type)}{who}: {inline(item.content, _TEXT)} ({item.id})"
