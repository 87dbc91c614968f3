"""The digests of an agent's daily logs: from the cache while the logs are as they were, else read from them."""

from _blake2 import blake2b
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from zlib import crc32

from mabos_cli.core.hierarchy.log_event import LogEvent
from mabos_cli.core.hierarchy.summary import Earlier, History, Segment, Stretch, digest_segment, rank_period
from mabos_cli.core.hierarchy.themes import Counts, Theme, add_counts
from mabos_cli.core.language.periods import Period, before, month_of, parse_period, week_of
from mabos_cli.core.memory.stores import EVERYTHING, locate, reach_of
from mabos_cli.errors import MabosError
from mabos_cli.formats.hierarchy.daily_log import parse_events
from mabos_cli.formats.hierarchy.digest_json import SegmentFile
from mabos_cli.formats.memory.items import parse_archive
from mabos_cli.services.hierarchy.daily_logs import LogFile, find_logs, read_log, state_of
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.archive import archive_files, find_all_departures
from mabos_cli.workspace.files import list_stems, read_bytes, replace_file
from mabos_cli.workspace.memory import trust_log
from mabos_cli.workspace.seen import Seen

# Half a year of months or quarters, a month of weeks: what is compared must be loaded.
_COMPARED = {"weekly": 4, "monthly": 6, "quarterly": 2}


class Digests:
    """Digests of the daily logs of an agent; only logs that changed are read again."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.logs = find_logs(agent.paths)
        self._seen = Seen(agent, keeps=True)
        self._hashes: dict[str, str] = {}
        self._files: dict[str, SegmentFile] = {}
        self._changed: set[str] = set()
        self._compared: dict[Period, Earlier] = {}
        self._by_segment: dict[tuple[str, str], list[str]] = {}
        for day in self.logs:
            moment = date.fromisoformat(day)
            self._by_segment.setdefault((week_of(moment).name, month_of(moment).name), []).append(day)

    @cached_property
    def days(self) -> list[date]:
        return [date.fromisoformat(day) for day in self.logs]

    def days_in(self, period: Period) -> list[date]:
        """Returns the days of a period that have a log."""
        return self.days[bisect_left(self.days, period.first) : bisect_right(self.days, period.last)]

    @cached_property
    def archived(self) -> frozenset[str]:
        """Returns the days whose logs lie in the archive only."""
        return frozenset(day for day, files in self.logs.items() if all(file.archived for file in files))

    @cached_property
    def parted(self) -> frozenset[str]:
        """Returns the days whose logs lie in the archive and, as far as they are newer, in memory/."""
        return frozenset(day for day, files in self.logs.items() if len({file.archived for file in files}) > 1)

    def hash_of(self, day: str) -> str:
        """Returns the hash of a day's log."""
        if day not in self._hashes:
            now = (self.forgotten, *self.trust_since)
            gone = "|".join(sorted(f"{n}{i}" for n, ids in enumerate(now) for i in ids.get(day, ())))
            self._hashes[day] = self._read_hash(day) + (f"-{_checksum(gone.encode()).decode()}" if gone else "")
        return self._hashes[day]

    @cached_property
    def forgotten(self) -> dict[str, set[str]]:
        """Returns the ids of items that somebody forgot, by the day of their entry: a summary must not bring them back."""
        found: dict[str, str] = {}
        for name in archive_files(self.agent.paths):
            path = self.agent.paths.archive / name
            found |= self._noted("forgotten", path, lambda p: _forgotten_in(read_bytes(p) or b"", p.name))
        memory = self.agent.memory() if found else None
        gone = [item_id for item_id in found if memory and not locate(memory, item_id)]  # others were revived
        days: dict[str, set[str]] = {}
        for item_id, left in find_all_departures(self.agent.paths, gone).items():
            if reach_of(left[-1].reason) == EVERYTHING:
                days.setdefault(found[item_id], set()).add(item_id)
        return days

    @cached_property
    def trust_since(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """Returns the ids of items that are untrusted now, and of those that were and that a person raised, by the day of their
        entry: the log tells how it was on that day, and before it told trust nothing of it."""
        agent = self.agent
        gone: dict[str, str] = {}
        raised = {d.id: d.to != "untrusted" for d in trust_log.load_decisions(agent.paths)[0]}
        live: dict[str, str] = {}
        pages = [agent.paths.store_page(page) for page in list_stems(agent.paths.store_pages, ".json")]
        for path in (agent.paths.store, *pages):
            live |= self._noted("untrusted", path, trust_log.untrusted_in_store)
            outside = self._noted("outside", path, trust_log.outside_in_store)
            live |= {item_id: day for item_id, day in outside.items() if not raised.get(item_id)}
        for name in archive_files(agent.paths):
            gone |= self._noted("untrusted", agent.paths.archive / name, trust_log.untrusted_in_archive)
        days: tuple[dict[str, set[str]], dict[str, set[str]]] = ({}, {})
        for item_id, day in (gone | live).items():
            is_raised = item_id not in live and raised.get(item_id, False)
            days[is_raised].setdefault(day, set()).add(item_id)
        return days

    def _noted(self, what: str, path: Path, read: Callable[[Path], list[tuple[str, str]]]) -> dict[str, str]:
        """Returns what was read from a file, as long as its stamp stays."""
        return dict(self._seen.look(what, f"{path.parent.name}/{path.name}", [path], partial(read, path)))

    def _read_hash(self, day: str) -> str:
        def read() -> str:
            digest = blake2b(digest_size=12)
            for file in self.logs[day]:
                digest.update(read_log(self.agent.paths, file).encode("utf-8"))
            return digest.hexdigest()

        return str(self._seen.look_state("days", day, state_of(self.logs[day]), read))

    def hashes_in(self, period: Period) -> list[tuple[str, str]]:
        """Returns the days of a period that have a log, with its hash."""
        return [(str(day), self.hash_of(str(day))) for day in self.days_in(period)]

    def history(self, period: Period) -> History:
        """Returns the periods before, as far as a summary is compared with them."""
        earlier = self._earlier(period)
        try:
            return History(earlier, self._themes(parse_period(earlier[0].name)) if earlier else ())
        except MabosError:  # a log before that period cannot be read: it is compared with what can
            return History(earlier)

    def _earlier(self, period: Period) -> list[Earlier]:
        """Returns the periods before that tell anything, latest first."""
        found: list[Earlier] = []
        last = before(period)
        for _ in range(_COMPARED[period.level]):
            if last is None:
                break
            if last not in self._compared:
                self._compared[last] = Earlier(last.name, self._all_counts(last))
            if self._compared[last].counts.total:
                found.append(self._compared[last])
            last = before(last)
        return found

    def has_moved(self) -> bool:
        """Returns whether logs went to the archive, or came back, since links were last seen to."""
        if not self.logs:
            return False
        now = blake2b("|".join(sorted(self.archived)).encode(), digest_size=8).hexdigest()
        has_moved = self._seen.find_state("links", "archived", now) is None
        self._seen.note("links", "archived")
        return has_moved

    def _themes(self, period: Period) -> list[Theme]:
        """Returns what was telling about a period: noted, as long as its logs and those before it stay as they are."""
        earlier = self._earlier(period)
        first = parse_period(earlier[-1].name).first if earlier else period.first
        logs = blake2b(repr(self.hashes_in(period._replace(first=first))).encode(), digest_size=12).hexdigest()
        found = self._seen.look_state(
            "themes", period.name, logs, lambda: rank_period(period.level, self.stretch(period), earlier)
        )
        return [Theme(*fields) for fields in found]

    def stretch(self, period: Period) -> Stretch:
        """Returns the segments of a period, oldest first."""
        return Stretch(tuple(self.segment(*key) for key in self._keys(period)))

    def _keys(self, period: Period) -> list[tuple[str, str]]:
        """Returns the segments of a period, by week and month."""
        low, high = str(period.first), str(period.last)
        return [key for key, days in self._by_segment.items() if low <= days[0] <= high]

    def segment(self, week: str, month: str) -> Segment:
        """Returns the digest of the days of one week in one month."""
        file, days = self._file(month), self._by_segment[week, month]
        cached = file.find(week) if self._is_current(week, month) else None
        if cached:
            return cached
        day_events = [(d, self.hash_of(d), [e for log in self.logs[d] for e in self.events(log)]) for d in days]
        segment = digest_segment(week, month, day_events)
        file.put(segment)
        self._changed.add(month)
        return segment

    def _all_counts(self, period: Period) -> Counts:
        try:
            return add_counts([self._counts(*key) for key in self._keys(period)])
        except MabosError:  # a log that cannot be read concerns its own period; nothing is compared with that one
            return Counts(())

    def _counts(self, week: str, month: str) -> Counts:
        cached = self._file(month).counts(week) if self._is_current(week, month) else None
        return cached or self.segment(week, month).counts

    def _is_current(self, week: str, month: str) -> bool:
        return self._file(month).hashes(week) == [(d, self.hash_of(d)) for d in self._by_segment[week, month]]

    def events(self, file: LogFile) -> list[LogEvent]:
        """Returns all that one log tells."""
        gone = self.forgotten.get(file.day, set())
        low, raised = (ids.get(file.day, set()) for ids in self.trust_since)
        events = [
            e._replace(untrusted=e.id in low or (e.untrusted and e.id not in raised))
            for e in parse_events(read_log(self.agent.paths, file), file.day)
            if e.id not in gone
        ]
        return [event._replace(archived=True) for event in events] if file.archived else events

    def _file(self, month: str) -> SegmentFile:
        if month not in self._files:
            self._files[month] = SegmentFile(self._cached(month))
        return self._files[month]

    def _cached(self, name: str) -> bytes:
        """Returns what a cache file holds, if it is what was written: behind its first line, which is a checksum."""
        with suppress(MabosError):
            sum_of, _, data = (read_bytes(self.agent.paths.digests / f"{name}.cache") or b"").partition(b"\n")
            return data if sum_of == _checksum(data) else b""
        return b""

    def look_at(self, path: Path, read: Callable[[Path], list[Any] | None]) -> list[Any] | None:
        """Returns what a summary says about itself, as long as its stamp stays."""
        found: list[Any] | None = self._seen.look(
            "summaries", f"{path.parent.name}/{path.name}", [path], partial(read, path)
        )
        return found

    def save(self) -> None:
        """Writes the caches that changed. Best effort: without them the logs are read again."""
        self._seen.save()
        for name in sorted(self._changed):
            data, path = self._files[name].render(), self.agent.paths.digests / f"{name}.cache"
            with suppress(MabosError):
                data = _checksum(data) + b"\n" + data
                replace_file(path, data, root=self.agent.paths.workspace.root, expect=read_bytes(path))
        self._changed.clear()


def _forgotten_in(data: bytes, name: str) -> list[tuple[str, str]]:
    """Returns the items that an archive file says were forgotten, each with the day of its entry."""
    lines = [line for line in data.split(b"\n") if b'"reason": "forgotten' in line]
    departures = parse_archive(b"\n".join(lines), name)[0]
    return [(d.item.id, d.item.created_at[:10]) for d in departures if d.reason.startswith("forgotten")]


def _checksum(data: bytes) -> bytes:
    return f"{crc32(data):08x}".encode()
