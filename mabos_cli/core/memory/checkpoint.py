"""R3: what an agent writes down before its context is compacted, when it should, and what the end of its talk says about that."""

import re
from collections.abc import Iterable
from datetime import MAXYEAR, datetime, timedelta
from typing import NamedTuple

from mabos_cli.core.language.text import one_line

_DECIDED = re.compile(
    r"\b(?:we|i)(?:'ve| have)? (?:decided|agreed|chose|settled on)\b|\b(?:decision|decided|agreed):"
    r"|\blet'?s (?:go with|use|keep)\b|\bwe(?:'ll| will) (?:go with|use|keep)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WIDTH, _MOST = 240, 5


class Checkpoint(NamedTuple):
    """The state of a session."""

    at: datetime
    context: str
    decisions: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()


def checkpoint_name(at: datetime, taken: frozenset[str] | set[str]) -> str:
    """The file name of a checkpoint; a second one in the same minute gets a suffix and still sorts behind the first.

    >>> from datetime import UTC
    >>> checkpoint_name(datetime(2026, 2, 24, 14, 30, tzinfo=UTC), {"2026-02-24-1430.md"})
    '2026-02-24-1430_00002.md'
    """
    stem = at.strftime("%Y-%m-%d-%H%M")
    # "_" sorts behind "." and "-" before it: plain text order is time order.
    last = max((name for name in taken if re.fullmatch(rf"{stem}(_\d{{5}})?\.md", name)), default="")
    if not last:
        return f"{stem}.md"
    return f"{stem}_{int(last[len(stem) + 1 : -3] or 1) + 1:05d}.md"


def drop_future(names: list[str], now: datetime) -> list[str]:
    """Returns the checkpoints that are not dated more than a day ahead, so that one that was written by a wrong clock does not
    stay the latest for ever; all of them when there are no others.

    >>> from datetime import UTC
    >>> drop_future(["2026-02-24-1430.md", "2026-02-25-0100.md", "2126-01-01.md"], datetime(2026, 2, 24, tzinfo=UTC))
    ['2026-02-24-1430.md', '2026-02-25-0100.md']
    """
    last_day = f"{now + timedelta(days=1):%Y-%m-%d}" if now.year < MAXYEAR else "9999-12-31"
    return [name for name in names if name[:10] <= last_day] or names


def checkpoint_time(name: str) -> str:
    """The time in the name of a checkpoint, as memory writes times.

    >>> checkpoint_time("memory/checkpoints/2026-02-24-1430.md")
    '2026-02-24T14:30:00.000Z'
    >>> checkpoint_time("2026-02-24.md")
    '2026-02-24T00:00:00.000Z'
    """
    stem = name.rpartition("/")[2]
    hour, minute = stem[11:13], stem[13:15]
    known = f"{hour}{minute}".isdigit()
    return f"{stem[:10]}T{hour}:{minute}:00.000Z" if known else f"{stem[:10]}T00:00:00.000Z"


def should_flush(
    total: int,
    window: int,
    *,
    soft: int = 4000,
    reserve: int = 8000,
    compaction: int | None = None,
    flushed_at: int | None = None,
) -> bool:
    """Whether to flush memory now: the window is nearly full, and this compaction count has not been flushed yet.

    >>> should_flush(188_000, 200_000), should_flush(187_999, 200_000)
    (True, False)
    >>> should_flush(199_000, 200_000, compaction=2, flushed_at=2)
    False
    """
    if compaction is not None and compaction == flushed_at:
        return False
    return total >= max(0, window - reserve - soft)


class Standing(NamedTuple):
    """The last request, the last answer, and the latest decisions, oldest first."""

    request: str = ""
    answer: str = ""
    decisions: tuple[str, ...] = ()


def sum_up(turns: Iterable[tuple[str, str]]) -> Standing:
    """Where a session stands, by what user and assistant said, the latest turn first. A question is no decision.

    >>> sum_up([("assistant", "Done. We decided to keep Stripe."), ("user", "Which provider?")]).decisions
    ('We decided to keep Stripe.',)
    """
    request = answer = ""
    decisions: dict[str, None] = {}
    for author, text in turns:
        if author == "user":
            request = request or text
        else:
            answer = answer or text
        for sentence in reversed(_SENTENCE.split(text)):
            if len(decisions) < _MOST and _DECIDED.search(sentence) and not sentence.rstrip().endswith("?"):
                decisions.setdefault(one_line(sentence.lstrip("-*> \t"), _WIDTH))
    return Standing(request, answer, tuple(reversed(decisions)))
