"""observations.md on disk: made when somebody asks for it, and from then on kept by every write of memory."""

from collections.abc import Iterable
from pathlib import Path

from mabos_cli.core.language.clock import DAY, earlier, format_time
from mabos_cli.core.memory.item import STORES, MemoryItem
from mabos_cli.core.memory.stores import Changes, Memory, locate
from mabos_cli.core.memory.trust import is_untrusted, trust_rank
from mabos_cli.formats.memory.observation_log import extend_log, listed_ids
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.derived import DerivedFiles
from mabos_cli.workspace.files import read_bytes
from mabos_cli.workspace.memory.trust_log import Judge


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
