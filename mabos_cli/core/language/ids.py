"""Ids of memory items, facts, observations and kept results of reasoning: `M-{epoch ms}-{4 hex}`, `F-...`, `O-...`, `T-...`, minted
so that they sort by age and never repeat; and stamps, by which a file that changed is known."""

from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any, Protocol
from zlib import crc32

from mabos_cli.core.language.patterns import compiled

# Letters that make no words, and that no number has.
_LETTERS = "bcdfghjkmnpqrstvwxz"
_DISTINCT = rf"(.*\d)-[{_LETTERS}]{{3}}"
_ID = r"[MFOT]-(\d{1,16})-([0-9a-f]{4})"

# The last bit of the suffix tells who minted the id, so that a deferred store, which does not wait for the
# agent's lock, cannot draw an id that a locked store draws in the same millisecond.
LOCKED, DEFERRED = 0, 1


class NewId(Protocol):
    """Gives new ids, each after the last."""

    def __call__(self) -> str: ...


class Chance(Protocol):
    """Gives a number below another one."""

    def __call__(self, below: int) -> int: ...


def parse_id(text: str) -> tuple[int, int] | None:
    """Returns milliseconds and suffix of an id, or None when it is not one of ours."""
    match = compiled(_ID).fullmatch(text)
    return (int(match[1]), int(match[2], 16)) if match else None


def next_id(now_ms: int, last: str, draw: Chance, lane: int = LOCKED, letter: str = "M") -> str:
    """Returns the id after `last`: of this millisecond if the clock has moved on, otherwise just behind `last`.

    draw(n) gives a number below n. A clock that stands still or jumps back never repeats or reorders ids.

    >>> next_id(1708800000000, "", lambda n: 5)
    'M-1708800000000-000a'
    >>> next_id(1708700000000, "M-1708800000000-000a", lambda n: 0)
    'M-1708800000000-000c'
    """
    ms, suffix = parse_id(last) or (-1, 0)
    if now_ms > ms:
        return f"{letter}-{now_ms}-{2 * draw(0x4000) + lane:04x}"
    step = suffix // 2 + 1 + draw(8)
    if step > 0x7FFF:
        return f"{letter}-{ms + 1}-{2 * draw(0x4000) + lane:04x}"
    return f"{letter}-{ms}-{2 * step + lane:04x}"


def distinct_id(counted: str, text: str) -> str:
    """Returns a counted id with three letters behind it that depend on what it names.

    Two clones that count alike give different ids, and the same one to the same thing.

    >>> distinct_id("G-004", "Ship the beta"), distinct_id("G-004", "Hire two")
    ('G-004-mqp', 'G-004-kmp')
    """
    number, letters = crc32(text.casefold().encode("utf-8", "surrogatepass")), ""
    for _ in range(3):
        number, rest = divmod(number, len(_LETTERS))
        letters += _LETTERS[rest]
    return f"{counted_id(counted)}-{letters}"


def counted_id(name: str) -> str:
    """Returns an id without the letters of `distinct_id`, as people count.

    >>> counted_id("G-004-xkd"), counted_id("G-004")
    ('G-004', 'G-004')
    """
    match = compiled(_DISTINCT).fullmatch(name)
    return match[1] if match else name


def month_of(item_id: str, created_at: str) -> str:
    """Returns the month an item is filed under: its id's, because ids never change; foreign ids go by their date."""
    parsed = parse_id(item_id)
    if parsed is None:
        return created_at[:7]
    return _date_of(_days(parsed[0]))[:7] or created_at[:7]


def day_of(item_id: str) -> str:
    """Returns the day on which an item or an observation was given its id, as its file is named; nothing for ids of
    other things and tools.

    >>> day_of("M-1771943400000-0002"), day_of("F-1771943400000-0002"), day_of("mem-x")
    ('2026-02-24', '', '')
    """
    parsed = parse_id(item_id) if item_id.startswith(("M-", "O-")) else None
    return _date_of(_days(parsed[0])) if parsed else ""


def minted_at(item_id: str) -> datetime | None:
    """Returns when an id was given out, as it says itself; None for other tools' ids."""
    parsed = parse_id(item_id)
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=_milliseconds(parsed[0])) if parsed else None
    except OverflowError:
        return None


def _milliseconds(number: int) -> int:
    """Returns milliseconds since 1970 of the number in an id, which some tools write in seconds."""
    return number if number > 10**11 else 1000 * number


def _days(number: int) -> int:
    return _milliseconds(number) // 86_400_000


@cache
def _date_of(day: int) -> str:
    try:
        return (date(1970, 1, 1) + timedelta(days=day)).isoformat()
    except OverflowError:
        return ""


def stamp_of(st: Any) -> str:
    """Returns what changes whenever a file does, from its os.stat: size, times and inode."""
    return f"{st.st_size}:{st.st_mtime_ns}:{st.st_ctime_ns}:{st.st_ino}"
