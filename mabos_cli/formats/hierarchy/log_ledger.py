"""The ledger of what was taken from daily logs into MEMORY.md: a JSON line per day and run. It holds keys, no text."""

from typing import Any, NamedTuple

from mabos_cli.core.hierarchy.log_taking import DayTaken
from mabos_cli.formats.json.text import dump_record, parse_ledger


class LogLedger(NamedTuple):
    """All that the ledger knows: how strictly each text of a day was looked through, keys of events, marks of texts."""

    done: dict[tuple[str, str], float]
    keys: frozenset[str] = frozenset()
    said: frozenset[str] = frozenset()

    def is_done(self, day: str, digest: str, min_importance: float) -> bool:
        """Whether a day was looked through as it is, and no more strictly than now."""
        return self.done.get((day, digest), 2.0) <= min_importance


def parse_log_ledger(data: bytes) -> LogLedger:
    """The ledger in its lines. Lines that are torn or no record of ours are passed over: what is missing is looked up again."""
    done: dict[tuple[str, str], float] = {}
    keys: set[str] = set()
    said: set[str] = set()
    for record in parse_ledger(data).records:
        keys.update(_strings(record.get("taken")), _strings(record.get("known")))
        said.update(_strings(record.get("said")))
        least = record.get("min_importance")
        if isinstance(least, int | float) and not isinstance(least, bool):
            name = (str(record.get("day")), str(record.get("digest")))
            done[name] = min(done.get(name, 2.0), least)
    return LogLedger(done, frozenset(keys), frozenset(said))


def _strings(value: Any) -> list[str]:
    return [part for part in value if isinstance(part, str)] if isinstance(value, list) else []


def render_day_taken(line: DayTaken) -> bytes:
    """A line of the ledger; lists that are empty are left out."""
    return dump_record({name: value for name, value in line._asdict().items() if value != ()})
