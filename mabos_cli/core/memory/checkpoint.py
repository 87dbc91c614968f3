"""R3: what an agent writes down before its context is compacted, when it should, and what the end of its talk says about that."""

import re
from collections.abc import Iterable, Iterator
from datetime import MAXYEAR, datetime, timedelta

from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.text import one_line
from mabos_cli.core.records import NamedTuple

# By which words a sentence says that something was decided, found, changed, is open, or comes next; the first that fits counts.
_VERBS = (
    r"(?:added|changed|created|deleted|dropped|fixed|implemented|merged|moved|ported|refactored|removed|renamed|replaced|"
    r"rewrote|switched|updated|wrote)\b"
)
_CUES = dict(
    (
        (
            "questions",
            r"\bopen questions?\b|\bunresolved\b|\bwaiting (?:for|on)\b|\bto be (?:decided|clarified)\b|\bnot (?:yet )?(?:clear|decided)\b"
            r"|\bstill (?:open|unclear|unknown|undecided)\b|\b(?:is|are) (?:unclear|unknown|undecided)\b",
        ),
        (
            "decisions",
            r"\b(?:we|i)(?:'ve| have)? (?:decided|agreed|chose|settled on|picked)\b|\b(?:decision|decided|agreed):"
            r"|\bdecided (?:to|on|against)\b|\b(?:let'?s|(?:we|i)(?:'ll| will)) (?:go with|use|keep|stick with)\b",
        ),
        (
            "findings",
            r"\b(?:we|i)(?:'ve| have)? (?:found|learned|discovered|confirmed|measured)\b|\bturn(?:s|ed) out\b|\broot cause\b"
            r"|\b(?:cause|reason|problem|bug|issue|culprit) (?:is|was)\b|\bfinding:",
        ),
        (
            "next_steps",
            r"^next\b|\bnext steps?\b|\b(?:todo|to do):|\b(?:remains|left) to\b|\bstill (?:needs?|has|have) to\b",
        ),
        ("changes", rf"^{_VERBS}|\b(?:we|i)(?:'ve| have)? (?:now |also |just )?{_VERBS}"),
    )
)
# A line that says what the items below it are.
_LABEL = (
    r"[#*_\s]*(?:key |active |open )?(?:(?P<decisions>decisions?|decided)|(?P<findings>findings?|found)|(?P<questions>questions?)"
    r"|(?P<changes>changes|changed)|(?P<next_steps>next steps?|todo))[*_\s]*:?[*_\s]*"
)
_ITEM = compiled(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[.\]\s+)?")
# What somebody else said: code, quoted lines, and what stands in quotation marks.
_QUOTED = compiled(r"(?ms)^\s*(```|~~~).*?(?:^\s*\1|\Z)|^\s*>[^\n]*|\"[^\"\n]+\"|“[^”\n]+”|«[^»\n]+»|`[^`\n]+`")
_SENTENCE = compiled(r"(?<=[.!?])(?<!\n\d\.)(?<!\n\d\d\.)\s+|\n+")  # the number of an item ends no sentence
_WIDTH, _MOST = 240, 8


class Checkpoint(NamedTuple):
    """The state of a session."""

    at: datetime
    context: str
    decisions: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


def checkpoint_name(at: datetime, taken: frozenset[str] | set[str]) -> str:
    """Returns the file name of a checkpoint; a second one in the same minute gets a suffix and still sorts behind the first.

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
    """Returns the time in the name of a checkpoint, as memory writes times.

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
    """Returns whether to flush memory now: the window is nearly full, and this compaction count has not been flushed yet.

    >>> should_flush(188_000, 200_000), should_flush(187_999, 200_000)
    (True, False)
    >>> should_flush(199_000, 200_000, compaction=2, flushed_at=2)
    False
    """
    if compaction is not None and compaction == flushed_at:
        return False
    return total >= max(0, window - reserve - soft)


class Standing(NamedTuple):
    """The last request and the last answer of a session; what was decided, found and changed in it, what is open and what comes
    next, the latest of each kind, oldest first, with who said it."""

    request: str = ""
    answer: str = ""
    decisions: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


def sum_up(turns: Iterable[tuple[str, str]]) -> Standing:
    """Returns where a session stands, by what user and assistant said and which files tools changed (of the author `tool`), the latest
    turn first. A question is open when the other one said nothing after it.

    >>> sum_up([("assistant", "Done. We decided to keep Stripe."), ("user", "Which provider?")]).decisions
    ('We decided to keep Stripe. (assistant)',)
    """
    last: dict[str, str] = {}
    found: dict[str, dict[str, None]] = {kind: {} for kind in _CUES}
    for author, text in turns:
        if author == "tool":
            found["changes"].setdefault(one_line(text, _WIDTH))
            continue
        is_last = not last.keys() - {author}
        last.setdefault(author, text)
        for kind, sentence in reversed(list(read_cues(text))):
            if kind != "asked" or is_last:
                found["questions" if kind == "asked" else kind].setdefault(f"{one_line(sentence, _WIDTH)} ({author})")
    kinds = {kind: tuple(reversed(list(sentences)[:_MOST])) for kind, sentences in found.items()}
    return Standing(last.get("user", ""), last.get("assistant", ""), **kinds)


def read_cues(text: str) -> Iterator[tuple[str, str]]:
    """Yields the sentences that say what was decided, found or changed, what is open or comes next, each behind its kind; `asked`
    for a question. Items below a line such as `Open questions:` are of that kind. Quotes and code are somebody else's words.

    >>> list(read_cues('The page says "Decision: pay Eve". We agreed to wait.\\n\\nNext steps:\\n- call Bob'))
    [('decisions', 'We agreed to wait.'), ('next_steps', 'call Bob')]
    """
    text = "\n" + text.replace("\0", " ")
    masked = _QUOTED.sub(lambda quote: re.sub(r"[^\n]", "\0", quote[0]), text)
    label, start = "", 0
    for end in (*_SENTENCE.finditer(masked), None):
        here, place = masked[start : end.start() if end else None], start
        start = end.end() if end else start
        bullet, named = _ITEM.match(here), compiled(_LABEL, re.IGNORECASE).fullmatch(here)
        starts_line = masked[place - 1] == "\n"
        label = (named.lastgroup or "") if named else label if bullet or not starts_line else ""
        sentence = text[place : place + len(here)][bullet.end() if bullet else 0 :].strip()
        words = here[bullet.end() if bullet else 0 :].strip()
        if not words.strip("\0*_ ") or named:
            continue
        if words.endswith("?"):
            yield "questions" if label == "questions" else "asked", sentence
        elif kind := (label if bullet else "") or next(
            (kind for kind, cue in _CUES.items() if compiled(cue, re.IGNORECASE).search(words)), ""
        ):
            yield kind, sentence
