"""Statements: the sentences that people write in conversations, cleaned of what nobody said, with their days named."""

import re
from datetime import date, timedelta

from mabos_cli.core.language.periods import MONTHS
from mabos_cli.core.language.text import one_line

# What stands in a message and is nobody's statement: code, frames and notes of hosts and of ours, quotes, tables.
_BLOCK = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<([A-Za-z][\w-]*)\b[^<>]*>.*?</\1>|^[ \t]*(?:>|\|)[^\n]*$|\[[^\]\n]+ [^\]\n]+\](?!\()",
    re.DOTALL | re.MULTILINE,
)
_ENTRY = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)]|#{1,6})\s+")
_END = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|(?<=[。！？])")
_NO_END = re.compile(r"(?i)(?:\b(?:e\.g|i\.e|etc|vs|approx|ca|no|nr|dr|mr|mrs|ms|prof|st|inc|ltd|co|fig|v)|\b[a-z])\.$")
# A sentence of more words is talk that was not divided into sentences.
_RAMBLING = 30
_CLAUSE = re.compile(r"(?:,|;| -|\s*[–—])\s+(?=(?:but|and|so|anyway|also|plus|oh|btw|by the way)\b)", re.IGNORECASE)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = {"day": 1, "week": 7, "fortnight": 14}
_COUNTS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_NUMBERS = {word: n for n, word in enumerate(_COUNTS)} | {"a": 1, "an": 1}
_PAST = re.compile(r"(?i)\b(?:was|were|did|had|went|got|came|made|saw|met|sent|paid|lost|won|left|\w{3,}ed)\b")
_DAY = re.compile(
    rf"\b(?:(?P<plain>today|tonight|this morning|this afternoon|this evening|tomorrow|yesterday|the day after tomorrow)"
    rf"|(?:(?P<which>next|last|this|coming)\s+|(?P<on>on|by|until|till|before|since)\s+)(?P<weekday>{'|'.join(WEEKDAYS)})"
    rf"|(?P<span>next|last|this)\s+(?P<unit>week|month|quarter|year)"
    rf"|in\s+(?P<ahead>\d{{1,3}}|{'|'.join(_NUMBERS)})\s+(?P<ahead_unit>day|week|fortnight|month|year)s?"
    rf"|(?P<ago>\d{{1,3}}|{'|'.join(_NUMBERS)})\s+(?P<ago_unit>day|week|fortnight|month|year)s?\s+ago)\b(?!s|\s*\()",
    re.IGNORECASE,
)  # fmt: skip


def split_statements(text: str) -> list[str]:
    """Returns the sentences and list entries of a message, each on one line, without code, quotes and frames.

    >>> split_statements("ok. We use e.g. Postgres\\nand Redis!\\n- never on Fridays\\n```\\ncode. More.\\n```")
    ['ok.', 'We use e.g. Postgres and Redis!', 'never on Fridays']
    """
    found: list[str] = []
    block: list[str] = []
    for line in [*_BLOCK.sub("\n", text).split("\n"), ""]:
        is_entry = _ENTRY.match(line)
        if (not line.strip() or is_entry or not _is_prose(line)) and block:
            found += _sentences(" ".join(block))
            block = []
        if _is_prose(line):
            block.append(line[is_entry.end() :] if is_entry else line)
    return found


def _is_prose(line: str) -> bool:
    """Returns whether a line is made of words: logs, paths and code are mostly signs."""
    text = line.strip()
    return bool(text) and sum(c.isalpha() or c.isspace() for c in text) >= 0.55 * len(text)


def _sentences(text: str) -> list[str]:
    found: list[str] = []
    for part in _END.split(one_line(text)):
        if found and _NO_END.search(found[-1]):
            found[-1] += f" {part}"
        elif part.strip():
            found.append(part.strip())
    return [clause for part in found for clause in (_CLAUSE.split(part) if part.count(" ") > _RAMBLING else (part,))]


def name_days(text: str, today: date) -> str:
    """Returns a statement with the date behind each day that is named from the point of view of today.

    >>> name_days("We meet Ana tomorrow, and again in two weeks", date(2026, 3, 3))
    'We meet Ana tomorrow (2026-03-04), and again in two weeks (2026-03-17)'
    """
    is_past = bool(_PAST.search(text))
    return _DAY.sub(lambda match: f"{match[0]} ({_resolve(match, today, is_past)})", text)


def _resolve(match: re.Match[str], today: date, is_past: bool) -> str:
    if plain := match["plain"]:
        days = {"tomorrow": 1, "yesterday": -1, "the day after tomorrow": 2}.get(plain.lower(), 0)
        return str(today + timedelta(days=days))
    if match["weekday"]:
        ahead = (WEEKDAYS.index(match["weekday"].lower()) - today.weekday()) % 7
        which = (match["which"] or "").lower()
        if which == "last" or (not which and is_past and match["on"].lower() in ("on", "since")):
            return str(today - timedelta(days=7 - ahead))
        return str(today + timedelta(days=ahead + (7 if which == "next" and ahead < 7 - today.weekday() else 0)))
    if match["unit"]:
        return _span(match["unit"].lower(), {"next": 1, "last": -1}.get(match["span"].lower(), 0), today)
    word, unit = (match[name] or match[other] for name, other in (("ahead", "ago"), ("ahead_unit", "ago_unit")))
    count, unit = int(word) if word.isdigit() else _NUMBERS[word.lower()], unit.lower()
    count = count if match["ahead"] else -count
    return str(today + timedelta(days=count * _UNITS[unit])) if unit in _UNITS else _span(unit, count, today)


def _span(unit: str, count: int, today: date) -> str:
    """Returns the week, month, quarter or year that is so many ahead."""
    if unit == "week":
        return f"week of {today - timedelta(days=today.weekday()) + timedelta(days=7 * count)}"
    months = today.year * 12 + today.month - 1 + count * {"month": 1, "quarter": 3, "year": 12}[unit]
    year, month = divmod(months, 12)
    if unit == "month":
        return f"{MONTHS[month]} {year}"
    return f"{year}-Q{month // 3 + 1}" if unit == "quarter" else str(year)
