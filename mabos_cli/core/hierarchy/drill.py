"""Going down: from quarters to months, weeks, days and lines, into the best few at each level, asking better on the way."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple, Protocol

from mabos_cli.core import BadValue
from mabos_cli.core.hierarchy.log_event import LogEvent
from mabos_cli.core.hierarchy.themes import is_telling
from mabos_cli.core.language import periods
from mabos_cli.core.language.text import asked_words, stem, words
from mabos_cli.core.search.recall import Hit

_SIGNAL = {"found": 0.6, "told": 0.25, "named": 0.15}
_CLOSE = 0.6  # of the best child's score: below that a child is not followed
_FADING = (1.0, 0.4, 0.2)  # what the second and third find below a node add
_SECOND_HAND = 0.5  # what words that were found on the way lead to counts less than what the question finds
_FRESH_WORDS = 6
_WORTH = 0.4  # of the best find's score: below that a line is none
# What a line of a summary says about itself: the bullet and the label in front, the link at its end.
_MARKUP = re.compile(r"^\W*(?:\w+ )?[01]\.\d\d: | \(\[[^]]*\]\([^()]*\)\)$|^- ")
# Lines of a summary that say nothing.
_ABOUT_ITSELF = ("---", "sources:", "hash:", "period:", "#", "<!--", "Coverage:", "Up:", "[Log]")
_WHY = re.compile(r"(?i)\b(?:why|how come|caus(?:e|ed|es|ing)|reasons?|what (?:led|made|brought))\b")
_BECAUSE = re.compile(r"(?i)\b(?:because|since|due to|after|so that|therefore|owing to|thanks to|caused|led to|when)\b")
# Days that are read for causes, and the share of the effect's words that a cause has at least.
_CAUSE_DAYS, _CAUSE = 3, 0.25


class Trace(NamedTuple):
    """Something that answers the question, the days that it stands for (one for an entry, more for a summary), and its
    lines in the log of that day when it has no id."""

    ref: str
    first: date
    last: date
    score: float
    lines: tuple[int, int] = (0, 0)


def trace_of(hit: Hit) -> Trace | None:
    """Returns where a hit leads: to the day of an item or a log, or to the period of a summary; nowhere for other files."""
    candidate = hit.candidate
    if candidate.item and candidate.item.source == "consolidation":
        return None  # its members lead to their own days
    if candidate.item:
        day = periods.find_day(candidate.item.created_at[:10])
        return Trace(candidate.item.id, day, day, hit.relevance) if day else None
    folder, _, name = candidate.path.removesuffix(".md").rpartition("/")
    if folder == "memory" or folder.startswith("memory/archive/"):
        day = periods.find_day(name)
        return Trace(candidate.ref, day, day, hit.relevance, candidate.lines) if day else None
    try:
        period = periods.parse_period(name) if folder.removeprefix("memory/") in periods.LEVELS else None
    except BadValue:
        period = None
    return Trace(candidate.ref, period.first, period.last, hit.relevance) if period else None


class HierarchyReader(Protocol):
    """The input of drill: the texts of nodes, which are counted as they are read, and a search over all of them."""

    def read(self, period: periods.Period) -> str:
        """Returns the summary of a period, or the log of a day; empty when there is none."""

    def glance(self, period: periods.Period) -> str:
        """Returns what the search has found in the summary of a period so far."""

    def events(self, day: periods.Period) -> list[LogEvent]:
        """Returns all that the log of a day tells."""

    def ask(self, question: str) -> list[Trace]:
        """Returns what the question finds, best first; nothing when there is no index."""

    def follow(self, question: str, asked: Sequence[str]) -> list[Trace]:
        """Returns what some words find, best first."""

    def holders(self, asked: Sequence[str]) -> Mapping[str, int]:
        """Returns how many passages hold each word."""


class Child(NamedTuple):
    """A node that was looked at: its score and what it is made of, whether it was followed, and the line that tells most."""

    period: periods.Period
    parent: str
    score: float
    signals: tuple[tuple[str, float], ...]
    followed: bool
    line: str = ""
    matched: tuple[str, ...] = ()


class Find(NamedTuple):
    """A line at the end of the way, or one from before it that may be its cause."""

    day: periods.Period
    event: LogEvent
    score: float
    matched: tuple[str, ...]
    is_cause: bool = False


class Step(NamedTuple):
    """One level: the nodes that were scored, and the words that were asked for besides after reading the best."""

    level: str
    children: tuple[Child, ...]
    refined: tuple[str, ...] = ()


class Descent(NamedTuple):
    """The whole way: level by level, and the lines at its end, best first."""

    steps: tuple[Step, ...]
    finds: tuple[Find, ...]


def match_terms(text: str, weights: Mapping[str, float]) -> tuple[float, tuple[str, ...]]:
    """Returns which share of the weighted terms a text holds, and in which words.

    >>> match_terms("We raised the price", {"pric": 3.0, "berth": 1.0})
    (0.75, ('price',))
    """
    there = {stem(word): word for word in reversed(words(text))}
    held = [term for term in weights if term in there]
    return sum(weights[term] for term in held) / (sum(weights.values()) or 1.0), tuple(there[t] for t in held)


def best_line(text: str, weights: Mapping[str, float]) -> tuple[str, tuple[str, ...]]:
    """Returns the line of a summary that holds most of the weighted terms, and in which words; none when no line holds any."""
    best, found = 0.0, ""
    matched: tuple[str, ...] = ()
    for line in text.split("\n"):
        if not line.startswith(_ABOUT_ITSELF):
            value, held = match_terms(line, weights)
            if value > best:
                best, matched, found = value, held, _MARKUP.sub("", line.strip())
    return found, matched


def first_line(text: str) -> str:
    """Returns the first line of a summary that says something."""
    lines = (_MARKUP.sub("", line.strip()) for line in text.split("\n") if not line.startswith(_ABOUT_ITSELF))
    return next(filter(None, lines), "")


class _Question:
    """A question with how telling each of its words is, and what has been found for it so far."""

    def __init__(self, reader: HierarchyReader, text: str, years: Iterable[int]) -> None:
        self.reader = reader
        self.text = text
        self.asked = asked_words(text)
        self.spans = periods.mentioned(text, years)
        held = reader.holders(self.asked)
        self.weights = {
            stem(part): 1 / math.log(2.5 + held.get(word, 0)) for word in self.asked for part in words(word)
        }
        self.traces = list(reader.ask(text))
        self.known = {stem(word) for word in self.asked}

    def match(self, text: str) -> tuple[float, tuple[str, ...]]:
        """Returns how much of the question a text holds, and which words."""
        return match_terms(text, self.weights)

    def found(self, period: periods.Period) -> float:
        """Returns what was found within a period: its best, and a little for what else there is."""
        inside = [t.score for t in self.traces if period.first <= t.first and t.last <= period.last]
        best = sorted(inside, reverse=True)[: len(_FADING)]
        return sum(share * score for share, score in zip(_FADING, best, strict=False))

    def named(self, period: periods.Period) -> float:
        """Returns how much of a period lies in the time that the question names."""
        if not self.spans:
            return 0.0
        return max(_overlap(period, first, last) for first, last in self.spans)

    def refine(self, lines: Iterable[str]) -> tuple[str, ...]:
        """Asks on with the rarest new words of the lines that tell most, and gives those words."""
        held = self.rarest(lines)
        telling = [word for word in held if stem(word) not in self.known][:_FRESH_WORDS]
        if not telling:
            return ()
        self.known |= {stem(word) for word in telling}
        seen = {trace.ref for trace in self.traces}
        found = self.reader.follow(self.text, [*self.asked, *telling])
        self.traces += [t._replace(score=_SECOND_HAND * t.score) for t in found if t.ref not in seen]
        return tuple(telling)

    def rarest(self, lines: Iterable[str]) -> dict[str, int]:
        """Returns the telling words of some lines with how many passages hold them, the rarest first."""
        candidates = dict.fromkeys(word for line in lines for word in asked_words(line))
        held = self.reader.holders([word for word in candidates if len(word) > 3 and is_telling(word)])
        return {word: held[word] for word in sorted(held, key=lambda word: (held[word], word)) if held[word]}

    def causes(self, effect: Find, days: Sequence[date], count: int) -> list[Find]:
        """Returns the lines of that day and the days before it that share most with a line, those that give reasons first."""
        held = self.rarest([effect.event.text])
        weights = {stem(word): 1 / math.log(2.5 + times) for word, times in held.items()}
        found = self.reader.follow(effect.event.text, list(held)[: 2 * _FRESH_WORDS]) if held else []
        known = {*days}
        near = [
            effect.day.first,
            *(t.first for t in found if t.first == t.last <= effect.day.first and t.first in known),
        ]
        causes = []
        for day in list(dict.fromkeys(near))[: _CAUSE_DAYS + 1]:
            for event in self.events(periods.day_of(day)):
                value, matched = match_terms(event.text, weights)
                if value >= _CAUSE and event != effect.event:
                    # What gives a reason rather is one; what was decided on that day rather followed.
                    is_answer = event.kind == "decision" and day == effect.day.first
                    value *= (1.3 if _BECAUSE.search(event.text) else 1.0) * (0.7 if is_answer else 1.0)
                    score = round(0.5 * value + 0.5 * self.match(event.text)[0], 4)
                    causes.append(Find(periods.day_of(day), event, score, matched, is_cause=True))
        return sorted(causes, key=lambda find: (-find.score, find.day.name, find.event.line))[:count]

    def events(self, day: periods.Period) -> list[LogEvent]:
        """Returns what the log of a day tells; what consolidation wrote only repeats it."""
        return [event for event in self.reader.events(day) if event.source != "consolidation"]


def _overlap(period: periods.Period, first: date, last: date) -> float:
    days = (min(period.last, last) - max(period.first, first)).days + 1
    return max(0.0, days / min(period.length, (last - first).days + 1))


def drill(reader: HierarchyReader, text: str, days: Sequence[date], *, width: int = 3, limit: int = 5) -> Descent:
    """Returns the way down from all quarters to the lines that answer a question, into at most `width` nodes at each level."""
    question, every = _Question(reader, text, (day.year for day in days)), days
    frontier: list[periods.Period] = []
    steps = []
    for level in periods.LEVELS:
        scored = _score(question, level, frontier, days)
        best = scored[0].score if scored else 0.0
        chosen = [c for c in scored[:width] if c.score > 0 and c.score >= _CLOSE * best]
        if not chosen:
            break
        frontier = [child.period for child in chosen]
        days = [day for day in days if any(period.holds(day) for period in frontier)]
        if level == "daily":
            steps.append(Step(level, _marked(scored, chosen)))
            break
        if level == periods.LEVELS[-2]:  # the smallest summaries: the best of them is worth reading as a whole
            reader.read(chosen[0].period)
        read = [_read(question, child) for child in chosen]
        refined = question.refine(child.line for child in read if child.line)
        steps.append(Step(level, _marked(scored, read), refined))
    finds = [find for day in frontier if day.level == "daily" for find in _finds(question, day)]
    finds.sort(key=lambda find: (-find.score, find.day.name, find.event.line))
    finds = [find for find in finds if find.score >= _WORTH * finds[0].score]
    if finds and _WHY.search(text):
        finds = _reasons(finds, question.causes(finds[0], every, limit - 1))
    return Descent(tuple(steps), tuple(finds[:limit]))


def _reasons(finds: Sequence[Find], causes: Iterable[Find]) -> list[Find]:
    """Returns the best find, then its causes and other finds by their scores; what came later is hardly a reason."""
    effect, lines = finds[0], {find.event: find for find in finds[1:]}
    for cause in causes:
        score = max(cause.score, lines[cause.event].score if cause.event in lines else 0.0)
        lines[cause.event] = cause._replace(score=score)
    last = effect.day.first
    ranked = sorted(
        lines.values(), key=lambda f: (-f.score * (1 if f.day.first <= last else 0.5), f.day.name, f.event.line)
    )
    return [effect, *ranked]


def _marked(scored: list[Child], followed: list[Child]) -> tuple[Child, ...]:
    of = {child.period: child._replace(followed=True) for child in followed}
    return tuple(of.get(child.period, child) for child in scored)


def _score(question: _Question, level: str, frontier: list[periods.Period], days: Sequence[date]) -> list[Child]:
    """Returns the children of the nodes that were followed, best first. Of a week across months only the days within count."""
    parents: dict[periods.Period, periods.Period | None] = {}
    for day in days:
        above = next((p for p in frontier if p.holds(day)), None)
        if above or level == periods.LEVELS[0]:
            parents.setdefault(periods.period_of(level, day), above)
    found = {period: question.found(period) for period in parents}
    top = max(found.values(), default=0.0)
    # Without anything found the summaries have to tell, all of them; otherwise only those that are followed are read.
    shares = {p: question.match(question.reader.read(p))[0] if not top else 0.0 for p in parents}
    children = []
    for period, parent in parents.items():
        values = {
            "found": found[period] / top if top else 0.0,
            "told": shares[period] if not top else _share_above(question, parent, period),
            "named": question.named(period),
        }
        score = sum(_SIGNAL[name] * value for name, value in values.items())
        signals = tuple((name, round(value, 4)) for name, value in values.items())
        children.append(Child(period, parent.name if parent else "", round(score, 4), signals, False))
    return sorted(children, key=lambda child: (-child.score, child.period.first))


def _share_above(question: _Question, parent: periods.Period | None, period: periods.Period) -> float:
    """Returns how much of the question the lines of the summary above hold that speak of a period."""
    if parent is None:
        return 0.0
    lines, names = question.reader.glance(parent).split("\n"), (period.name, periods.short_name(period.name))
    # A line that names it, or the text below a heading that does.
    passages = (
        " ".join(lines[n : n + 5]) if lines[n].startswith("#") else lines[n]
        for n in range(len(lines))
        if any(name in lines[n] for name in names)
    )
    return max((question.match(text)[0] for text in passages), default=0.0)


def _read(question: _Question, child: Child) -> Child:
    """Returns the node with the line that tells most about the question, of what was found in it."""
    line, matched = best_line(question.reader.glance(child.period), question.weights)
    return child._replace(line=line, matched=matched)


def _finds(question: _Question, day: periods.Period) -> list[Find]:
    """Returns the lines of a day's log that answer the question."""
    here = [trace for trace in question.traces if trace.first == trace.last == day.first]
    found = []
    for event in question.events(day):
        value, matched = question.match(f"{event.heading} {event.text} {' '.join(event.tags)}")
        direct = (t.score for t in here if t.ref == event.id or t.lines[0] <= event.line <= t.lines[1])
        score = 0.5 * value + 0.5 * max(direct, default=0.0)
        if score > 0:
            found.append(Find(day, event, round(score, 4), matched))
    return found
