"""Finds the topics of a period: topics by tag, heading and telling words; the themes that set it apart, and trends."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from mabos_cli.core import read_table
from mabos_cli.core.hierarchy.log_event import LogEvent
from mabos_cli.core.language.text import STOP_WORDS, join_names, stem
from mabos_cli.core.records import NamedTuple

_NAMED = 3.0  # what an entry adds to a topic that it names by a tag or a heading
# What an entry adds that mentions a topic as a phrase, a name or a word.
_PHRASE, _NAME, WORD = 2.0, 1.0, 0.25
_SIGNS = r".,;:!?()\[\]{}\"“”|/\\<>=*_`~—–。、！？"
_RUN, _BREAK = re.compile(rf"[^\s{_SIGNS}]+"), re.compile(rf"[{_SIGNS}\n]+")
_WORDS = read_table("hierarchy/words.txt")
# Words, and headings, that stand in every log and name nothing.
_DULL, _DULL_HEADINGS = frozenset(_WORDS["dull"].split()), frozenset(_WORDS["dull headings"].split(", "))
_NO_NAMES = STOP_WORDS | _DULL
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
    """Returns the name under which a tag, a heading and a phrase of the same words meet.

    >>> topic_key("tide-tables"), topic_key("Tide tables")
    ('tid tabl', 'tid tabl')
    """
    parts = re.split(r"[\s\-_/.&]+", text.casefold().strip("#"))
    return " ".join(_stem(part) for part in parts if part)


def topics_of(event: LogEvent, common: Collection[str] = ()) -> dict[str, tuple[str, bool]]:
    """Returns the topics that an event speaks of, by key, as written, and whether a tag or a heading names them.

    A name of several words is one topic, and its words are none. common are words that no name begins with.
    """
    found: dict[str, tuple[str, bool]] = {}
    for run in _runs(event.text):
        last = ""
        for place, word in enumerate(join_names(run, common, _NO_NAMES)):
            folded, is_name = word.casefold(), " " in word or (place > 0 and word[:1].isupper())
            if " " not in word and not is_telling(folded):
                last = ""
                continue
            found.setdefault(topic_key(word), (word, False))
            if last and not is_name:
                found.setdefault(f"{_stem(last.casefold())} {_stem(folded)}", (f"{last} {word}", False))
            last = "" if is_name else word
    found |= {key: (tag, True) for tag in event.tags[:_MOST_TAGS] if (key := topic_key(tag))}
    title = heading_topic(event.heading)
    return found | {title[0]: (title[1], True)} if title else found


def _runs(text: str) -> Iterator[list[str]]:
    """Yields the words of a text between the signs that part them."""
    for run in _BREAK.split(text):
        if found := [word.strip("'’-+#%$€£@^") for word in _RUN.findall(run)]:
            yield found


def heading_topic(heading: str) -> tuple[str, str] | None:
    """Key and text of a heading that names something."""
    title = heading.strip().strip("*_ ")
    if not title or title.casefold() in _DULL_HEADINGS or len(title) > 60:
        return None
    key = topic_key(title)
    return (key, title) if any(c.isalpha() for c in key) else None


@lru_cache(maxsize=50_000)
def is_telling(word: str) -> bool:
    """Returns whether a folded word can name something: no stop word, no number, none of those that stand in every log."""
    if len(word) < 3 and word.isascii():
        return False
    if word > "\u3000" and len(word) > 6:  # scripts without spaces: what looks like a word is half a sentence
        return False
    return word not in _NO_NAMES and not any(c.isdigit() for c in word) and word[0].isalpha()


def count_topics(days: Iterable[tuple[int, list[LogEvent]]]) -> dict[str, Topic]:
    """Returns the topics of some days of one week, given with their weekdays; the most frequent when there are very many."""
    shown: dict[str, str] = {}
    entries: Counter[str] = Counter()
    named: Counter[str] = Counter()
    masks: Counter[str] = Counter()
    days = list(days)
    common = {word for _, events in days for event in events for word in _RUN.findall(event.text) if word.islower()}
    for weekday, events in days:
        bit = 1 << weekday
        for event in events:
            for key, (text, by_name) in topics_of(event, common).items():
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
    """Returns what an entry adds to a topic that it mentions without naming it."""
    return _PHRASE if " " in key else _NAME if shown != shown.lower() else WORD


class Theme(NamedTuple):
    """A topic of a period: its events, by week or month too, and how much of it there was in the period before."""

    key: str
    shown: str
    entries: int
    named: int
    days: int
    places: tuple[tuple[str, int], ...]
    before: float = 0
    score: float = 0.0


class PartTopics(NamedTuple):
    """The topics of one part of a period: where it stands (a week or a month), and its topics."""

    place: str
    topics: Mapping[str, Topic]


class Extent(NamedTuple):
    """How much a period holds: days with entries, entries, and parts (weeks) that have any."""

    days: int
    entries: int
    weeks: int


def merge_topics(parts: Iterable[PartTopics], least: int = 1) -> dict[str, Theme]:
    """Returns the topics of a period that stand in at least so many of its parts, each with how often it occurs where."""
    places_by_topic: dict[str, list[tuple[str, Topic]]] = {}
    for place, topics in parts:
        for key, topic in topics.items():
            places_by_topic.setdefault(key, []).append((place, topic))
    return {key: _theme(key, found) for key, found in places_by_topic.items() if len(found) >= least}


def _theme(key: str, found: list[tuple[str, Topic]]) -> Theme:
    """Returns a topic over all the parts that speak of it."""
    entries = named = days = 0
    shown = found[0][1].shown
    places: dict[str, int] = {}
    for place, topic in found:
        entries += topic.entries
        named += topic.named
        days += topic.days.bit_count()
        places[place] = places.get(place, 0) + topic.entries
        if topic.shown != shown:
            shown = min(shown, topic.shown, key=plainness)
    return Theme(key, shown, entries, named, days, tuple(places.items()))


class Past(NamedTuple):
    """The topics of a period and how much it holds."""

    topics: Mapping[str, Theme]
    extent: Extent


class Counts(NamedTuple):
    """Holds what a period is compared with: the topics of its segments, decoded or as they lie in a cache, how many entries it
    has, how many decisions, and on how many days."""

    parts: tuple[Mapping[str, Sequence[Any]], ...]
    total: int = 0
    decisions: int = 0
    days: int = 0

    def of(self, key: str) -> int:
        """Returns how many entries spoke of a topic. In a topic, decoded or not, they stand second."""
        found = 0
        for part in self.parts:
            if key in part:
                found += part[key][1]
        return found


def add_counts(counts: Iterable[Counts]) -> Counts:
    """Returns the counts of several stretches of time together."""
    found = list(counts)
    parts = tuple(part for each in found for part in each.parts)
    totals = ((each.total, each.decisions, each.days) for each in found)
    return Counts(parts, *map(sum, zip(*totals, strict=True)))


def rank_topics(now: Past, history: Sequence[Counts]) -> list[Theme]:
    """Returns the topics of a period that may be themes, most telling first: what recurs across its weeks, but not on every day
    anyway, and sets it apart from the periods before it, the latest of which comes first."""
    extent = now.extent
    least = max(4, round(extent.entries**0.5 / 4))
    scored = []
    for theme in now.topics.values():
        if len(theme.places) < min(2, extent.weeks) or theme.entries < (max(2, least // 2) if theme.named else least):
            continue
        earlier = [counts.of(theme.key) for counts in history]
        score = _presence(theme, extent) * _novelty(theme, extent, history, earlier)
        scored.append(theme._replace(before=earlier[0] if earlier else 0, score=round(score, 4)))
    return _distinct(sorted(scored, key=lambda theme: (-theme.score, theme.key)))


def choose_themes(ranked: Sequence[Theme], known: Iterable[Theme], count: int) -> list[Theme]:
    """Returns the themes to show: phrases that nobody named keep places among tags and headings, and so does what was a theme
    of the period before, in its order there, and goes on."""
    here = {theme.key: theme for theme in ranked}
    lasting = [here[theme.key] for theme in known if theme.key in here][: round(count * 0.2)]
    taken = {theme.key for theme in lasting}
    rest = [theme for theme in ranked if theme.key not in taken]
    named = [theme for theme in rest if theme.named]
    unnamed = [(theme, mention_worth(theme.key, theme.shown) > WORD) for theme in rest if not theme.named]
    mentioned = [theme for theme, is_mentioned in unnamed if is_mentioned]
    plain = [theme for theme, is_mentioned in unnamed if not is_mentioned]
    places = count - len(lasting)
    kept = named[: max(places - len(mentioned), places // 2)]
    kept += mentioned[: places - len(kept)]
    kept += plain[: places - len(kept)]
    return [*kept, *lasting]


def find_steady(now: Past, themes: Iterable[Theme], count: int) -> list[Theme]:
    """Returns what is named on every other day, and makes no period special: the everyday work."""
    taken = {theme.key for theme in themes}
    steady = [t for t in now.topics.values() if t.named and t.key not in taken and t.days * 2 >= now.extent.days]
    return sorted(steady, key=lambda theme: (-theme.entries, theme.key))[:count]


def _presence(theme: Theme, extent: Extent) -> float:
    """Returns how much a period speaks of a topic: entries, fewer of them for one of every day, more for one of a few weeks."""
    weight = _NAMED * theme.named + mention_worth(theme.key, theme.shown) * (theme.entries - theme.named)
    # What is spoken of on more than every other day is everyday work; below that it does not matter how rare it is.
    rarity = min(0.7, math.log(max(1.0, extent.days / max(1, theme.days)))) + 0.05
    # And what fills a few weeks tells more about them than what runs through all.
    burst = 0.7 * math.log(max(1.0, extent.weeks / (len(theme.places) + 1))) + 0.35
    return float(weight * rarity**1.5 * burst)


def _novelty(theme: Theme, extent: Extent, history: Sequence[Counts], earlier: Sequence[int]) -> float:
    """Returns how little the periods before spoke of a topic; 1 when there are none to compare with."""
    if not history:
        return 1.0
    known = sum(1 for entries in earlier if entries >= 2)
    fresh = math.log((len(history) + 2) / (known + 1))
    before = (sum(earlier) + 1) / (sum(counts.total for counts in history) + 1)
    return fresh * math.log2(1 + min(7.0, theme.entries / max(1, extent.entries) / before))


def _distinct(themes: Iterable[Theme]) -> list[Theme]:
    """Returns the themes without those that only say a part of another, or the same in a wider phrase."""
    chosen: dict[str, Theme] = {}
    holders: dict[str, list[str]] = {}
    for theme in themes:
        mine = theme.key.split()
        rivals = [chosen[key] for key in {k for word in mine for k in holders.get(word, ())} if key in chosen]
        wider = [r for r in rivals if set(r.key.split()) < set(mine) and theme.entries >= 0.6 * r.entries]
        if wider and len(wider) == len(rivals) and theme.named >= 0.6 * max(r.named for r in wider):
            for rival in wider:
                del chosen[rival.key]
        # To both of which somebody gave a name are two things.
        elif any(theme.entries <= 2 * rival.entries and not (theme.named and rival.named) for rival in rivals):
            continue
        chosen[theme.key] = theme
        for word in mine:
            holders.setdefault(word, []).append(theme.key)
    return list(chosen.values())


class Trend(NamedTuple):
    """Holds what changed against the period before: topics that came up, grew, shrank and went."""

    new: tuple[Theme, ...]
    up: tuple[Theme, ...]
    down: tuple[Theme, ...]
    gone: tuple[Theme, ...]


def find_trend(themes: Iterable[Theme], now: Counts, known: Iterable[Theme], then: Counts, count: int = 3) -> Trend:
    """Returns how the themes of a period and those of the one before compare, for as many days as this one covers so far.

    What came or went counts only if at the same pace there would have been two entries at least in the other period.
    """
    pace = max(1, now.days) / max(1, then.days)
    new, up, down, gone = [], [], [], []
    for theme in themes:
        compared = theme._replace(before=theme.before * pace)
        if not theme.before:
            new += [compared] if theme.entries >= 2 * pace else []
        elif theme.entries >= max(1.5 * compared.before, 2):
            up.append(compared)
    for theme in known:
        compared = theme._replace(before=theme.entries * pace, entries=now.of(theme.key))
        if not compared.entries:
            gone += [compared._replace(before=theme.entries)] if compared.before >= 2 else []
        elif compared.entries <= 0.5 * compared.before:
            down.append(compared)
    return Trend(*(tuple(found[:count]) for found in (new, up, down, gone)))
