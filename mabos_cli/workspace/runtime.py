"""Time and chance, which the core takes as arguments. MABOS_NOW fixes both for reproducible runs."""

import os
from datetime import UTC, datetime

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import epoch_ms, parse_time
from mabos_cli.core.language.ids import LOCKED, Chance, NewId, next_id


def now() -> datetime:
    """This moment, to the millisecond, or the one in MABOS_NOW."""
    fixed = os.environ.get("MABOS_NOW")
    try:
        moment = parse_time(fixed) if fixed else datetime.now(UTC)
    except BadValue as error:
        raise BadValue(f"MABOS_NOW: {error.message}", error.hint) from None
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


class SystemChance(Chance):
    """Draws numbers at random, or always 0 when time is fixed."""

    def __call__(self, below: int) -> int:
        return 0 if os.environ.get("MABOS_NOW") else int.from_bytes(os.urandom(4)) % below


class IdSource(NewId):
    """Gives ids one after the other, behind the last one issued."""

    def __init__(self, moment: datetime, last: str, lane: int = LOCKED, letter: str = "M") -> None:
        self._ms = epoch_ms(moment)
        self._lane = lane
        self._letter = letter
        self.last = self.newest = last
        self.issued: set[str] = set()

    def __call__(self) -> str:
        self.last = next_id(self._ms, self.last, SystemChance(), self._lane, self._letter)
        self.issued.add(self.last)
        return self.last
