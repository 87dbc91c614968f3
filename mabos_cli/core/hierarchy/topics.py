"""What events speak of: topics by tag, heading and telling words, counted over some days."""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from mabos_cli.core.hierarchy.log_event import LogEvent
from mabos_cli.core.language.text import STOP_WORDS, stem

# What an entry adds that mentions a topic as a phrase, a name or a word.
_PHRASE, _NAME, WORD = 2.0, 1.0, 0.25
_SIGNS = r".,;:!?()\[\]{}\"“”|/\\<>=*_`~—–。、！？"
_RUN, _BREAK = re.compile(rf"[^\s{_SIGNS}]+"), re.compile(rf"[{_SIGNS}\n]+")
# Words that stand in every log and name nothing.
_DULL = frozenset(
    (
        "today yesterday tomorrow morning afternoon evening night day days week weeks month months year time times hour hours "
        "minute minutes monday tuesday wednesday thursday friday saturday sunday january february march april june july august "
        "september october november december once twice above below new old first second third next last "
        "back still one two three four five six seven eight nine ten per via new make made makes get got gets go went "
        "goes use used uses using need needs needed want wants wanted ask asked asks say said says tell told send sent "
        "sends set add added adds check checked checks see saw seen look looked looks take took takes give gave given "
        "let put keep kept keeps come came run ran runs show shows showed work works worked working done start started "
        "end ended open opened close closed move moved change changed changes find found finds call called calls meet "
        "met try tried plan planned note noted notes update updated updates thing things way lot bit part kind case "
        "point people person team everyone somebody nobody good better best well much many few several every each both "
        "another again already soon later early late long short big small high low right left full half even yet also "
        "instead without within between against during since because however may might must shall should yes no ok okay "
        "decision decided outcome lesson fact observation event preference instruction project insight consolidated "
        "der die das den dem des ein eine einen einem einer und oder aber nicht auch noch nur schon sehr mehr als wie wenn weil "
        "dass wir ihr sie ich man uns mit von vom zum zur bei für auf aus nach über unter vor seit bis ist sind war waren wird "
        "werden hat haben hatte kann können soll muss sich es im am an um zu so da heute gestern morgen "
        "memories memory log entry entries eur usd gbp percent euro euros"
    ).split()
)
_DULL_HEADINGS = frozenset(
    (
        "action items, agenda, done, events, log, misc, next steps, notes, notes for tomorrow, other, session, "
        "session end, session start, standup, summary, tasks, to remember, today, todo, tomorrow, work"
    ).split(", ")
)
_MOST_TAGS = 50
_KEPT = 250  # topics of a segment; a week of a busy agent mentions thousands of words once


class Topic(NamedTuple):
    """How often a stretch of days spoke of something: events, those that name it by tag or heading, weekdays as bits."""

    shown: str
    entries: int
    named: int
    days: int


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    return stem(word)


def topic_key(text: str) -> str:
    """The name under which a tag, a heading and a phrase of the same words meet.

    >>> topic_key("tide-tables"), topic_key("Tide tables")
    ('tid tabl', 'tid tabl')
    """
    parts = re.split(r"[\s\-_/.]+", text.casefold().strip("#"))
    return " ".join(_stem(part) for part in parts if part)


def topics_of(event: LogEvent) -> dict[str, tuple[str, bool]]:
    """The topics that an event speaks of, by key, as written, and whether a tag or a heading names them."""
    found: dict[str, tuple[str, bool]] = {}
    for run in _BREAK.split(event.text):
        last = ""
        for word in _RUN.findall(run):
            word = word.strip("'’-+#&%$€£@^")
            folded = word.casefold()
            if not is_telling(folded):
                last = ""
                continue
            found.setdefault(_stem(folded), (word, False))
            if last:
                found.setdefault(f"{_stem(last.casefold())} {_stem(folded)}", (f"{last} {word}", False))
            last = word
    found |= {key: (tag, True) for tag in event.tags[:_MOST_TAGS] if (key := topic_key(tag))}
    title = heading_topic(event.heading)
    return found | {title[0]: (title[1], True)} if title else found


def heading_topic(heading: str) -> tuple[str, str] | None:
    """Key and text of a heading that names something."""
    title = heading.strip().strip("*_ ")
    if not title or title.casefold() in _DULL_HEADINGS or len(title) > 60:
        return None
    key = topic_key(title)
    return (key, title) if any(c.isalpha() for c in key) else None


@lru_cache(maxsize=50_000)
def is_telling(word: str) -> bool:
    """Whether a folded word can name something: no stop word, no number, none of those that stand in every log."""
    if len(word) < 3 and word.isascii():
        return False
    if word > "\u3000" and len(word) > 6:  # scripts without spaces: what looks like a word is half a sentence
        return False
    return word not in STOP_WORDS and word not in _DULL and not any(c.isdigit() for c in word) and word[0].isalpha()


def count_topics(days: Iterable[tuple[int, list[LogEvent]]]) -> dict[str, Topic]:
    """The topics of some days of one week, given with their weekdays; the most frequent when there are very many."""
    shown: dict[str, str] = {}
    entries: Counter[str] = Counter()
    named: Counter[str] = Counter()
    masks: Counter[str] = Counter()
    for weekday, events in days:
        bit = 1 << weekday
        for event in events:
            for key, (text, by_name) in topics_of(event).items():
                if shown.get(key) != text:
                    shown[key] = min(shown.get(key, text), text, key=plainness)
                entries[key] += 1
                named[key] += by_name
                masks[key] |= bit
    worth = {key: entries[key] * mention_worth(key, shown[key]) ** 0.5 for key in entries}
    kept = sorted(entries, key=lambda key: (not named[key], -worth[key], key))[:_KEPT]
    return {key: Topic(shown[key], entries[key], named[key], masks[key]) for key in sorted(kept)}


@lru_cache(maxsize=50_000)
def plainness(text: str) -> tuple[int, str]:
    """Words as they stand in the middle of a sentence are shown rather than those that begin one."""
    return sum(c.isupper() for c in text), text


def mention_worth(key: str, shown: str) -> float:
    """What an entry adds to a topic that it mentions without naming it."""
    return _PHRASE if " " in key else _NAME if shown != shown.lower() else WORD
