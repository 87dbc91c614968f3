"""What drill looks at: summaries and logs of an agent, with every byte that is read counted, and the search over them."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from mabos_cli.commands.agent_search import Way, open_search
from mabos_cli.commands.call import Call
from mabos_cli.core import BadValue
from mabos_cli.core.drill import Trace
from mabos_cli.core.log_event import LogEvent
from mabos_cli.core.periods import LEVELS, Period, find_day, parse_period
from mabos_cli.core.recall import Filters, Hit
from mabos_cli.formats.daily_log import parse_events
from mabos_cli.workspace.files import list_names, read_bytes
from mabos_cli.workspace.home import AgentHome
from mabos_cli.workspace.log_files import find_logs

_HITS = 30  # finds that a question is answered with on the way down


class HierarchyWorld:
    """The World of core.drill over real files. Everything is read once; without an index the search reads every log."""

    def __init__(self, call: Call, home: AgentHome) -> None:
        self.home = home
        self.logs = find_logs(home.paths)
        self.days = [date.fromisoformat(day) for day in self.logs]
        self.search = open_search(call, home, Way(Filters(), archived=True, limit=_HITS))
        self.read_from: dict[str, int] = {}  # bytes by file
        self.found: dict[str, int] = {}  # bytes of texts that the index gave
        self._texts: dict[str, str] = {}
        if not self.search.has_index:
            for path in self._all_files():
                self._load(path)

    def read(self, period: Period) -> str:
        """The summary of a period, or the log of a day; empty when there is none."""
        if period.name not in self._texts:
            self._texts[period.name] = "\n".join(self._load(path) for path in self.files_of(period))
        return self._texts[period.name]

    def files_of(self, period: Period) -> list[Path]:
        """The files that tell of a period; a day may have two."""
        if period.level == "daily":
            return [log.path for log in self.logs.get(period.name, ())]
        return [self.home.paths.summary(period.level, period.name)]

    def _load(self, path: Path) -> str:
        data = read_bytes(path)
        if data is not None:
            self.read_from[self.home.paths.relative(path)] = len(data)
        return (data or b"").decode("utf-8", "replace")

    def events(self, day: Period) -> list[LogEvent]:
        """All that the log of a day tells."""
        return parse_events(self.read(day), day.name)

    def ask(self, question: str) -> list[Trace]:
        """What the question finds, as far as it belongs to a day or a summary."""
        return self._traces(self.search(question))

    def follow(self, question: str, asked: Sequence[str]) -> list[Trace]:
        """What some words find."""
        return self._traces(self.search.follow(question, asked))

    def holders(self, asked: Sequence[str]) -> Mapping[str, int]:
        """How many passages hold each word."""
        return self.search.holders(asked)

    def _traces(self, hits: list[Hit]) -> list[Trace]:
        self.found |= {hit.candidate.ref: len(hit.candidate.text.encode("utf-8", "replace")) for hit in hits}
        return [trace for hit in hits if (trace := trace_of(hit))]

    def _all_files(self) -> list[Path]:
        paths = [log.path for logs in self.logs.values() for log in logs]
        for level in LEVELS[:-1]:
            folder = self.home.paths.summary(level, "x").parent
            paths += [folder / name for name in list_names(folder) if name.endswith(".md")]
        return paths

    def whole(self) -> tuple[int, int]:
        """How many files there are on all levels, and how many bytes."""
        paths = self._all_files()
        return len(paths), sum(path.stat().st_size for path in paths)


def trace_of(hit: Hit) -> Trace | None:
    """Where a hit leads: to the day of an item or a log, or to the period of a summary; nowhere for other files."""
    candidate = hit.candidate
    if candidate.item:
        day = find_day(candidate.item.created_at[:10])
        return Trace(candidate.item.id, day, day, hit.relevance) if day else None
    folder, _, name = candidate.path.removesuffix(".md").rpartition("/")
    if folder == "memory" or folder.startswith("memory/archive/"):
        day = find_day(name)
        return Trace(candidate.ref, day, day, hit.relevance, candidate.lines) if day else None
    try:
        period = parse_period(name) if folder.removeprefix("memory/") in LEVELS else None
    except BadValue:
        period = None
    return Trace(candidate.ref, period.first, period.last, hit.relevance) if period else None
