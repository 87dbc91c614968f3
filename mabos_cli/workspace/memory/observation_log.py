"""observations.md: what became a memory in the last days, oldest first, for hosts that keep it at the start of a prompt.

It is made when somebody asks for it, and from then on kept by every write of memory. A cache of prompts serves what begins as it did
before. So lines are only ever added at the end, and the oldest days leave whole, several at once, when the page has grown too large;
only what was forgotten or is no longer trusted is taken out from between.
"""

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from mabos_cli.core.language.clock import DAY, earlier, format_time
from mabos_cli.core.memory.item import STORES, MemoryItem, band
from mabos_cli.core.memory.stores import Changes, Memory, locate
from mabos_cli.core.memory.trust import is_untrusted, trust_rank
from mabos_cli.formats.markdown.escape import inline, seal, without_seal
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.derived import DerivedFiles
from mabos_cli.workspace.files import read_bytes
from mabos_cli.workspace.memory.trust_log import Judge

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


def extend_observations(agent: Agent, memory: Memory, new: Iterable[MemoryItem], gone: Iterable[str]) -> str:
    """Returns observations.md with what is new and may be shown, and without what is gone."""
    settings, text, judge = agent.settings, _text_of(agent.paths.observations_md), Judge(agent.paths, memory)
    return extend_log(
        text,
        agent.id,
        [item for item in new if trust_rank(judge(item))],
        frozenset(gone),
        days=settings["context.observation_days"],
        size=settings["context.observation_tokens"] * settings["text.chars_per_token"],
        bands=(settings["grade.must_remember"], settings["grade.nice_to_have"]),
    )


def survey_observations(agent: Agent, memory: Memory) -> str:
    """Returns observations.md with everything that belongs there: the items of the last days, live ones."""
    since = format_time(earlier(agent.now(), agent.settings["context.observation_days"] * DAY))
    recent = (item for store in STORES for item in getattr(memory, store) if item.created_at >= since)
    judge, gone = Judge(agent.paths, memory), set()
    for item_id in listed_ids(_text_of(agent.paths.observations_md)):
        left = [] if locate(memory, item_id) else agent.departures(item_id)
        item = judge.find(item_id)
        if item is None or not trust_rank(judge(item)) or (left and left[-1].reason.startswith("forgotten")):
            gone.add(item_id)
    return extend_observations(agent, memory, recent, gone)


def materialize_observations(agent: Agent, memory: Memory, changes: Changes | None = None) -> DerivedFiles:
    """Writes observations.md where somebody made one: with what a change added and without what it took away, or with
    everything that belongs there."""
    files, path = DerivedFiles(agent), agent.paths.observations_md
    if path.exists():
        if changes:
            gone = [away.item.id for away in changes.archive if away.reason.startswith("forgotten")]
            gone += [item.id for item in (*changes.put, *changes.short_term, *changes.working) if is_untrusted(item)]
            files.write(path, extend_observations(agent, memory, changes.log, gone))
        else:
            files.write(path, survey_observations(agent, memory))
    return files


def _text_of(path: Path) -> str:
    return (read_bytes(path) or b"").decode("utf-8", "replace")
