"""Weekly, monthly and quarterly summaries as Markdown: front matter, links that work in Obsidian and on GitHub, a bounded size."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from math import inf

from mabos_cli.core.hierarchy.summary import TEXT, Compared, DayDigest, Highlight, Part, Summary
from mabos_cli.core.hierarchy.themes import Theme
from mabos_cli.core.language.periods import WEEKDAYS, Period, month_of, parse_period, quarter_of, short_name, span_text
from mabos_cli.core.language.text import one_line, plural, whole_sentences
from mabos_cli.core.records import NamedTuple
from mabos_cli.formats.markdown.escape import SEAL_SIZE, escape_behind, escape_links, inline, is_as_generated, seal
from mabos_cli.formats.markdown.scan import split_head

VERSION = 2  # of the form below: another one means that every summary is rewritten
TITLES = {"weekly": "Weekly Summary", "monthly": "Monthly Summary", "quarterly": "Quarterly Review"}
_HASH = re.compile(r'(?m)^hash: "([0-9a-f]+)"$')
_OVERVIEW = re.compile(r'(?m)^overview: "(.*)"$')
_LOG_LINK, _ARCHIVED = re.compile(r"\]\(\.\./(\d{4})-"), r"](../archive/\1/\1-"
_NAME = re.compile(r"[\w-]+")
_WIDTH = 180  # characters that sentences behind the first may fill, in months and quarters
_NAMED_KINDS = ("decision", "outcome", "lesson", "event")


class Places(NamedTuple):
    """Holds what links need to know: which days lie in the archive, with a newer part beside it or not, and which of the weeks
    or months below have files."""

    archived: frozenset[str] = frozenset()
    below: frozenset[str] = frozenset()
    parted: frozenset[str] = frozenset()


class Overview(NamedTuple):
    """A paragraph and the name of the model that wrote it; without text, that it could not be had."""

    text: str
    author: str


class Line(NamedTuple):
    """A line, and what it is worth keeping when there is too much; an infinite one stays."""

    text: str
    worth: float = inf


class Block(NamedTuple):
    """A heading with its lines; without any it is left out."""

    heading: str
    lines: list[Line]


class Written(NamedTuple):
    """Holds what a file says about itself: the hash of its sources, who wrote its overview, and whether it is as we wrote it."""

    hash: str
    overview: str
    untouched: bool


def parse_summary(text: str) -> Written:
    """Returns what a summary file says about itself. One that another tool or a person wrote has no hash and counts
    as touched."""
    head = split_head(text)[0]
    found, overview = _HASH.search(head), _OVERVIEW.search(head)
    untouched = bool(found) and is_as_generated(text)
    return Written(found[1] if found else "", overview[1] if overview else "", untouched)


def render_summary(summary: Summary, places: Places, digest: str, budget: int, overview: Overview | None = None) -> str:
    """Returns the file of a period, within a budget of bytes for what is found in the logs."""
    period = summary.period
    sources = ", ".join(f'"{name}"' for name in _sources(summary, places))
    abstract = _abstract(overview) if overview and overview.text else ""
    head = (
        f'---\nlevel: {period.level}\nperiod: "{period.name}"\nfrom: "{period.first}"\nto: "{period.last}"\n'
        f"days: {summary.extent.days}\nentries: {summary.extent.entries}\nsources: [{sources}]\n"
        f'hash: "{digest}"\n{_author(overview)}---\n\n'
        f"# {TITLES[period.level]}: {period.name}\n{_up(summary)}"
    )
    blocks = {"weekly": _week, "monthly": _month, "quarterly": _quarter}[period.level](summary, places)
    return seal(head + abstract + _fit(blocks, budget - len(head.encode("utf-8")) - SEAL_SIZE))


def _author(overview: Overview | None) -> str:
    return f"overview: {json.dumps(one_line(overview.author))}\n" if overview else ""


def _sources(summary: Summary, places: Places) -> list[str]:
    if summary.period.level == "weekly":
        return [day.day for day in summary.days]
    if summary.period.level == "quarterly":
        return [part.name for part in summary.parts]
    covered = ((part.name,) if part.name in places.below else (d.day for d in part.days) for part in summary.parts)
    return [name for names in covered for name in names]


def _abstract(overview: Overview) -> str:
    """Returns the model's paragraph, marked as such, so that nobody takes it for what was logged."""
    text = inline(overview.text)
    return f"\n> [!note] Overview written by a language model ({overview.author}), not taken from the logs\n> {text}\n"


def _fit(blocks: Sequence[Block], budget: int) -> str:
    """Returns the blocks with the least worthy lines left out until they fit; what must stay, stays."""
    # All logs end up in the archive, and links to them grow with that: they are counted as they will be.
    sizes = [[len(_LOG_LINK.sub(_ARCHIVED, line.text).encode("utf-8")) + 1 for line in block.lines] for block in blocks]
    left = budget - sum(len(block.heading) + 3 + sum(sizes[n]) for n, block in enumerate(blocks) if block.lines)
    order = sorted((line.worth, -b, -n) for b, block in enumerate(blocks) for n, line in enumerate(block.lines))
    dropped: set[tuple[int, int]] = set()
    for worth, b, n in order:
        if left >= 0 or worth == inf:
            break
        dropped.add((-b, -n))
        left += sizes[-b][-n]
    parts = []
    for b, block in enumerate(blocks):
        lines = [line.text for n, line in enumerate(block.lines) if (b, n) not in dropped]
        if lines:
            parts.append("\n" + "\n".join([block.heading, "", *lines]).rstrip("\n") + "\n")
    return re.sub(r"\n{3,}", "\n\n", "".join(parts))


def _up(summary: Summary) -> str:
    """Links to the level above; a week may have logs in two months."""
    period, days = summary.period, [date.fromisoformat(day.day) for day in summary.days]
    if period.level == "quarterly":
        return ""
    above = map(quarter_of if period.level == "monthly" else month_of, days or [period.first])
    return f"\nUp: {', '.join(_link(found) for found in dict.fromkeys(above))}\n"


def _link(period: Period) -> str:
    return f"[{period.name}](../{period.level}/{period.name}.md)"


def _link_below(name: str, places: Places) -> str:
    """Returns a link to a week or month, or its name alone when it has no file."""
    return _link(parse_period(name)) if name in places.below else name


def _log_link(text: str, day: str, places: Places, item_id: str = "", archived: bool = False) -> str:
    there = day in places.archived or (archived and day in places.parted)
    folder = f"archive/{day[:4]}/" if there else ""
    return f"[{text}](../{folder}{day}.md{f'#^{item_id}' if item_id else ''})"


def _escaped(text: str, width: int = 0) -> str:
    return escape_links(escape_behind(one_line(text, width)))


def _bullet(line: Highlight, places: Places, *, dated: bool, named: bool = True) -> str:
    where = line.day[5:] if dated else f":{line.line}"
    # Kind and id stand in the log as another tool may have written them: here they must not break anything.
    kind = line.kind if _NAME.fullmatch(line.kind) else "note"
    item_id = line.id if _NAME.fullmatch(line.id) else ""
    link = _log_link(where, line.day, places, item_id, line.archived)
    text = whole_sentences(line.text, _WIDTH, TEXT) if dated else line.text
    return f"- {f'{kind} ' if named else ''}{line.weight:.2f}: {_escaped(text)} ({link})"


def _bullets(lines: Iterable[Highlight], places: Places) -> list[Line]:
    return [
        Line(_bullet(line, places, dated=True, named=False), line.weight + (2 if line.weight >= 0.7 else 1.6))
        for line in lines
    ]


def _overview(summary: Summary) -> Line:
    """Returns how much of the period is covered, and by what."""
    period, extent = summary.period, summary.extent
    weeks = f" in {plural(extent.weeks, 'week')}" if period.level != "weekly" else " with recorded activity"
    named = [plural(summary.kinds[kind], kind) for kind in _NAMED_KINDS if summary.kinds[kind]]
    counted = f"{plural(extent.entries, 'entry').capitalize()}{': ' if named else ''}{', '.join(named)}."
    if summary.untrusted:
        counted += f" {plural(summary.untrusted, 'untrusted entry').capitalize()} left out."
    span = span_text(period.first, period.last)
    return Line(f"Coverage: {extent.days} of {plural(period.length, 'day')}{weeks}, {span}. {counted}")


def _topics(themes: Iterable[Theme]) -> str:
    return ", ".join(f"{_escaped(theme.shown, 40)} ({theme.entries})" for theme in themes)


def _week(summary: Summary, places: Places) -> list[Block]:
    topics = [Line(f"Topics: {_topics(summary.themes)}.")] if summary.themes else []
    return [Block("## Overview", [_overview(summary), *topics]), *(_day(day, places) for day in summary.days)]


def _day(day: DayDigest, places: Places) -> Block:
    weekday = WEEKDAYS[date.fromisoformat(day.day).weekday()]
    headings = f" Headings: {_escaped(', '.join(day.headings), 90)}." if day.headings else ""
    lines = [Line(f"{_log_link('Log', day.day, places)}: {plural(day.entries, 'entry')}.{headings}"), Line("")]
    for rank, line in enumerate(day.lines):
        # The first line of a day stays before what is less important than a decision that counts.
        worth = line.weight + (2 if line.is_key and line.weight >= 0.6 else 0 if rank else 1)
        lines.append(Line(_bullet(line, places, dated=False), worth))
    return Block(f"## {weekday} {day.day}", lines)


def _month(summary: Summary, places: Places) -> list[Block]:
    return [
        Block("## Overview", [_overview(summary)]),
        *_key_lines(summary, places),
        Block("## Themes", [*_themes(summary.themes), *_steady(summary.steady)]),
        Block("## Patterns", list(_patterns(summary))),
        Block("## Trend", list(_trend(summary.before))),
        *_weeks(summary.parts, places),
    ]


def _quarter(summary: Summary, places: Places) -> list[Block]:
    return [
        Block("## Overview", [_overview(summary)]),
        *_key_lines(summary, places),
        Block("## Strategic Themes", [*_themes(summary.themes), *_steady(summary.steady)]),
        Block("## Trend", list(_trend(summary.before))),
        Block("## Months", [line for part in summary.parts for line in _month_part(part, places)]),
    ]


def _key_lines(summary: Summary, places: Places) -> list[Block]:
    return [
        Block("## Key Decisions", _bullets(summary.decisions, places)),
        Block("## Milestones", _bullets(summary.milestones, places)),
        Block("## Lessons", _bullets(summary.lessons, places)),
    ]


def _themes(themes: Iterable[Theme]) -> Iterator[Line]:
    """Yields each theme with its count, and the parts where it stood most; below, those have links."""
    for rank, theme in enumerate(themes):
        ranked = sorted(theme.places, key=lambda place: (-place[1], place[0]))[:3]
        shares = [f"{count} in {short_name(n)}" for n, count in sorted(ranked)]
        more = len(theme.places) - len(ranked)
        rest = f", {more} more" if more else ""
        yield Line(f"- **{_escaped(theme.shown, 40)}** ({theme.entries}): {', '.join(shares)}{rest}", 3 - 0.01 * rank)


def _steady(themes: Iterable[Theme]) -> list[Line]:
    topics = _topics(themes)
    return [Line(f"- Everyday: {topics}", 1)] if topics else []


def _patterns(summary: Summary) -> Iterator[Line]:
    """Yields what keeps happening: entries that recur, and tags that go together."""
    for rank, chore in enumerate(summary.chores):
        rhythm = f", on {chore.rhythm}" if chore.rhythm else ""
        yield Line(f"- Recurs: “{_escaped(chore.text, 80)}”, {chore.entries} times{rhythm}", 2.78 - 0.2 * rank)
    for rank, pair in enumerate(summary.pairs):
        yield Line(f"- Together: {_escaped(pair.text, 60)}, {plural(pair.entries, 'entry')}", 2 - 0.2 * rank)


def _trend(before: Compared | None) -> Iterator[Line]:
    """Yields what changed against the period before, which may cover more days: by day, or in as many days."""
    if before is None:
        return
    then, now = before.then, before.now
    rates = [
        f"{_rate(count, now.days)} {noun if count == now.days else plural(2, noun)[2:]} a day ({_change(count * then.days, known * now.days)})"
        for noun, count, known in (("entry", now.total, then.total), ("decision", now.decisions, then.decisions))
    ]
    covered = f"{plural(now.days, 'day')} of entries, {then.days} then"
    yield Line(f"- Against {before.name}: {', '.join(rates)}; {covered}", 2.9)
    alike = 0.9 <= now.days / max(1, then.days) <= 1.1
    for label, themes in zip(("New", "Up", "Down", "Gone"), before.trend, strict=True):
        if themes:
            known = label in ("Up", "Down")
            counts = [
                f"{t.entries}, was {t.before:.{0 if t.before >= 1 else 1}f}"
                if known
                else f"{t.entries or round(t.before)}"
                for t in themes
            ]
            listed = ", ".join(f"{_escaped(t.shown, 30)} ({count})" for t, count in zip(themes, counts, strict=True))
            yield Line(f"- {label}{', in as many days' if known and not alike else ''}: {listed}", 2.92)


def _rate(count: float, days: int) -> str:
    """Returns how many there were a day, to the digit that matters.

    >>> _rate(118, 12), _rate(6, 12), _rate(250, 10)
    ('9.8', '0.5', '25')
    """
    rate = count / max(1, days)
    return f"{rate:.1f}".removesuffix(".0") if rate < 10 else f"{rate:.0f}"


def _change(now: int, before: int) -> str:
    """By how much a number grew.

    >>> _change(118, 100), _change(4, 0), _change(90, 100)
    ('+18 %', 'was 0', '-10 %')
    """
    return f"{100 * (now - before) / before:+.0f} %" if before else "was 0"


def _weeks(parts: Iterable[Part], places: Places) -> Iterator[Block]:
    """Yields each week of a month, and the days that no weekly file covers."""
    weeks: list[Line] = []
    loose: list[Line] = []
    for part in parts:
        if part.name not in places.below:
            loose += [_loose_day(day, places) for day in part.days]
            continue
        first, last = (date.fromisoformat(part.days[n].day) for n in (0, -1))
        counts = f"{plural(part.extent.days, 'day')}, {plural(part.extent.entries, 'entry')}"
        weeks += _section(part, _link(parse_period(part.name)), f"{span_text(first, last)}: {counts}.", places)
    yield Block("## Weeks", weeks)
    yield Block("## Days without a weekly summary", loose)


def _section(part: Part, heading: str, text: str, places: Places) -> list[Line]:
    topics = ", ".join(f"{_escaped(shown, 40)} ({count})" for shown, count in part.themes)
    body = [Line(f"- Topics: {topics}", 2.3)] if topics else []
    body += [Line(_bullet(line, places, dated=True), 1.2 + line.weight) for line in part.lines]
    return [Line(f"### {heading}"), Line(""), Line(text), *([Line("")] if body else []), *body, Line("")]


def _loose_day(day: DayDigest, places: Places) -> Line:
    top = f": {_escaped(day.lines[0].text, 80)}" if day.lines else ""
    return Line(f"- {_log_link(day.day, day.day, places)}, {plural(day.entries, 'entry')}{top}", 2.4)


def _month_part(part: Part, places: Places) -> list[Line]:
    extent = part.extent
    counts = f"{plural(extent.days, 'day')} in {plural(extent.weeks, 'week')}, {plural(extent.entries, 'entry')}"
    return _section(part, _link_below(part.name, places), f"{counts}.", places)
