"""A report of one agent or of all in a workspace, as values: everything that the page shows, cut to size."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from mabos_cli.core.operations.report_cut import Cut, cut, shown
from mabos_cli.core.operations.report_graph import Picture
from mabos_cli.core.operations.report_memory import MemoryView
from mabos_cli.core.operations.report_mind import Clash, Dated, GoalRow, Settled
from mabos_cli.core.operations.report_time import Month, Span

_RECEIPTS, _TROUBLES = 25, 40


class Upkeep(NamedTuple):
    """What waits to be done for an agent, by name, and how its index is."""

    agent: str
    due: tuple[tuple[str, int], ...]
    index: str


class Receipt(NamedTuple):
    """A write: when, for whom, by which command, what it counted, and how long it took."""

    at: str
    agent: str
    command: str
    counts: str
    ms: int


class Report(NamedTuple):
    """All that a report shows: whose it is, its moment, the agents, and the sections in their order."""

    name: str
    at: str
    agents: tuple[str, ...]
    memory: MemoryView
    months: Cut[Month]
    spans: Cut[Span]
    clashes: Cut[Clash]
    settled: Cut[Settled]
    goals: Cut[GoalRow]
    picture: Picture
    facts: int
    lapsed: int
    dates: Cut[Dated]
    upkeep: Cut[Upkeep]
    receipts: Cut[Receipt]
    troubles: Cut[str]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show but the agents, and nothing that could not be read."""
        lists = self.spans, self.clashes, self.settled, self.goals, self.dates, self.troubles
        return not any((self.memory.live, self.memory.archived, self.facts, *(each.total for each in lists)))


def list_receipts(records: Iterable[Mapping[str, Any]]) -> Cut[Receipt]:
    """Receipts as other tools may have written them, the latest first."""
    rows = [record for record in records if isinstance(record.get("at"), str)]
    return cut((_receipt(row) for row in sorted(rows, key=lambda row: row["at"], reverse=True)), _RECEIPTS)


def _receipt(record: Mapping[str, Any]) -> Receipt:
    found, ms = record.get("counts"), record.get("ms")
    counts = list(found.items())[:6] if isinstance(found, dict) else []
    told = ", ".join(f"{shown(str(name), 40)} {shown(str(count), 20)}" for name, count in counts)
    text = [shown(str(record.get(name, "")), width) for name, width in (("agent", 64), ("command", 60))]
    return Receipt(shown(record["at"][:16], 16), *text, told, ms if isinstance(ms, int) else 0)


def list_troubles(troubles: Iterable[str]) -> Cut[str]:
    """What could not be read, each once."""
    return cut((shown(trouble, 240) for trouble in dict.fromkeys(troubles)), _TROUBLES)
