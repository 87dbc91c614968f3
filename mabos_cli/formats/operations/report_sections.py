"""The sections of a report: memory, mind and facts. Long lists are folded, not cut."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.language.periods import MONTHS
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import CLASSES, PRIORITIES
from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mind.mind import Attitude, Belief, Branch, state_of
from mabos_cli.core.operations.report import (
    CLASS_NAMES,
    TIERS,
    Held,
    MemoryView,
    MonthLog,
    is_late,
    is_open,
    shown,
)
from mabos_cli.core.operations.report_graph import Picture
from mabos_cli.formats.operations.report_parts import (
    Html,
    Part,
    Section,
    code,
    doubt,
    element,
    fold,
    listed,
    prose,
    render_bar,
    render_columns,
    render_picture,
    row,
    table,
    whose,
)

_TRUSTED = {"trusted": "a person vouches for it", "agent": "stated by the agent", "untrusted": "nobody vouches for it"}
_FIRST = 40  # rows that are shown at once
_CARDS = 12


class Report(NamedTuple):
    """The data of a report: its name and time, the agents, and the contents of each section."""

    name: str
    now: datetime
    agents: tuple[str, ...]
    memory: MemoryView
    months: Sequence[MonthLog]
    conflicts: Sequence[tuple[str, Conflict]]
    goals: Sequence[tuple[str, Sequence[Branch]]]
    picture: Picture
    facts: Sequence[Fact]
    lapsed: int
    troubles: Sequence[str]

    @property
    def is_empty(self) -> bool:
        """Returns whether there is nothing to show but the agents."""
        lists = self.months, self.conflicts, self.facts, self.troubles
        return not (self.memory.live or self.memory.archived or any(lists) or any(tree for _, tree in self.goals))


def list_sections(report: Report) -> list[Section]:
    """Returns the sections in order."""
    many = len(report.agents) > 1
    return [
        Section("stored", "Memory over time", _stored(report.memory)),
        Section("tiers", "Stores now", _tiers(report.memory, many)),
        Section("topics", "Top topics by month", _topics(report.months)),
        Section("timeline", "Memories", _memories(report.memory, many)),
        Section("conflicts", "Belief conflicts", _conflicts(report, many)),
        Section("goals", "Goals", _goals(report, many)),
        Section("graph", "Knowledge graph", _graph(report)),
    ]


def _stored(memory: MemoryView) -> Part:
    weeks = memory.weeks
    if not weeks:
        return element("p", "Nothing was stored yet: ", code('mabos store "…"'), " remembers something.")
    sums = [sum(week.counts) for week in weeks]
    names = [f"{week.name} (from {week.first})" for week in weeks]
    label = f"Items stored per week, {weeks[0].name} to {weeks[-1].name}, {sum(sums)} in all, at most {max(sums)}"
    chart = render_columns([week.counts for week in weeks], names, label, max(sums))
    middle = weeks[len(weeks) // 2]
    ends = element("div", (element("span", str(w.first)) for w in (weeks[0], middle, weeks[-1])), class_="axis")
    used = [n for n in range(len(CLASS_NAMES)) if any(week.counts[n] for week in weeks)]
    kinds = {name: f"{name} ({', '.join(CLASSES[name])})" if name in CLASSES else name for name in CLASS_NAMES}
    legend = [element("li", _swatch(n + 1), kinds[CLASS_NAMES[n]]) for n in used]
    most = f"Items stored per week, those included that are archived by now; the highest column is {max(sums):,}."
    return (
        element("p", most),
        element("ul", legend, class_="legend"),
        element("div", chart, ends, class_="chart"),
    )


def _swatch(number: int) -> Html:
    return element(
        "svg",
        element("rect", width=10, height=10, class_=f"c{number}"),
        viewBox="0 0 10 10",
        class_="swatch",
        aria_hidden="true",
    )


def _tiers(memory: MemoryView, many: bool) -> Part:
    names = [tier.replace("_", " ") for tier in TIERS]
    lows = [f"{least:g} and above" if least >= 0.5 else "below 0.5" for least in PRIORITIES.values()]
    bands = [(name, count, low) for (name, count), low in zip(memory.bands.items(), lows, strict=True)]
    trusts = [(name, count, _TRUSTED[name]) for name, count in memory.trusts.items()]
    cards: tuple[tuple[str, list[tuple[str, int, str]], dict[int, str]], ...] = (
        ("Where", [(name, count, "") for name, count in zip(names, memory.tiers, strict=True)], {3: "c4"}),
        ("Importance of live items", bands, {}),
        ("Trust of live items", trusts, {2: "c2"}),
    )
    rendered = [element("div", element("h3", title), _bars(rows, kinds), class_="card") for title, rows, kinds in cards]
    each = [row(agent, *(f"{count:,}" for count in counts)) for agent, counts in memory.by_agent.items()]
    rows = table(("agent", *names), each, "Stores by agent")
    return element("div", rendered, class_="cards"), fold("By agent", rows, is_open=len(each) <= 6) if many else None


def _bars(rows: Sequence[tuple[str, int, str]], kinds: dict[int, str] | None = None) -> Html:
    """Counts with bars to one scale."""
    top = max((count for _, count, _ in rows), default=0) or 1
    rendered = [
        element(
            "li",
            element("span", name, element("small", " ", about) if about else None),
            element("b", f"{count:,}"),
            render_bar(count / top, (kinds or {}).get(number, "c1")),
        )
        for number, (name, count, about) in enumerate(rows)
    ]
    return element("ul", rendered, class_="bars")


def _topics(months: Sequence[MonthLog]) -> Part:
    if not months:
        return element("p", "No daily logs yet. What is stored is logged, and topics come from the logs.")
    about = "What sets each month apart from those before it, with the number of log entries that mention it."
    return element("p", about), element("div", map(_topic_card, months), class_="cards small")


def _topic_card(month: MonthLog) -> Html:
    year, number = month.name.split("-")
    rows = [(shown(theme.shown, 40), theme.entries, "") for theme in month.themes]
    bars = _bars(rows) if rows else element("p", "Too few entries for topics.", class_="more")
    title, entries = f"{MONTHS[int(number) - 1]} {year}", plural(month.entries, "entry")
    return element("div", element("h3", title), bars, element("p", entries, class_="more"), class_="card")


def _memories(memory: MemoryView, many: bool) -> Part:
    if not memory.items:
        return element("p", "No live memories yet.")

    def render(items: Sequence[Held]) -> Iterator[Part]:
        ranked = sorted(items, key=lambda held: (held.item.happened_at, held.item.id), reverse=True)
        for month, found in groupby(ranked, key=lambda held: held.item.happened_at[:7]):
            name = shown(month, 7) or "undated"
            yield element("h3", name), element("ol", (_memory(held, many) for held in found), class_="timeline")

    about = (
        f"The {_FIRST} most important are listed first; the others can be unfolded."
        if len(memory.items) > _FIRST
        else ""
    )
    more = listed(memory.items, _FIRST, "memory", render, memory.live - len(memory.items))
    return element("p", about, class_="more") if about else None, more


def _memory(held: Held, many: bool) -> Html:
    item, day = held.item, shown(held.item.happened_at[:10], 10)
    facts = element("small", f"{shown(item.type, 24)}, {item.importance:.2f}, ", code(shown(item.id, 40)))
    when = element("time", day[8:] or "–", datetime=day or None)
    return element("li", when, " ", prose(item.content), " ", doubt(held.trust), whose(held.agent, many), " ", facts)


def _conflicts(report: Report, many: bool) -> Part:
    if not report.conflicts:
        return element("p", "No beliefs contradict each other.")
    return listed(
        report.conflicts,
        _CARDS,
        "conflict",
        lambda rows: element("div", (_conflict(agent, each, many) for agent, each in rows), class_="cards"),
    )


def _conflict(agent: str, conflict: Conflict, many: bool) -> Html:
    sides = [_side(name, belief, conflict.newer == name) for name, belief in (("a", conflict.a), ("b", conflict.b))]
    return element(
        "div",
        element("h3", shown(conflict.reason)),
        whose(agent, many),
        element("small", f"severity {conflict.severity:.2f}, ", code(conflict.key[:8])),
        element("dl", sides),
        element("p", shown(conflict.action), class_="more"),
        class_="card",
    )


def _side(name: str, belief: Belief, is_newer: bool) -> Part:
    cited = f"{belief.place}, {belief.id}" if belief.id else belief.place
    about = f" certainty {belief.certainty:g}{', newer' if is_newer else ''}"
    return element("dt", name), element("dd", prose(belief.statement), " ", element("small", code(shown(cited)), about))


def all_goals(branches: Iterable[Branch]) -> Iterator[Attitude]:
    """Yields the goals of a tree, each before those below it."""
    for branch in branches:
        yield branch.goal
        yield from all_goals(branch.below)


def _goals(report: Report, many: bool) -> Part:
    rendered: list[Part] = []
    for agent, branches in report.goals:
        if not branches:
            continue
        goals = [*all_goals(branches)]
        tree = listed(branches, _FIRST, "goal", lambda rows: _tree(rows, report.now))
        title = f"{agent}: {plural(len(goals), 'goal')}, {sum(map(is_open, goals))} open"
        rendered.append(fold(title, tree, is_open=len(rendered) < 3) if many else tree)
    return rendered or element("p", "No goals yet: ", code('mabos goal add "…"'), " adds one.")


def _tree(branches: Iterable[Branch], now: datetime) -> Html:
    """Renders goals as a list, with those below as lists within."""
    return element(
        "ul",
        (element("li", _goal(b.goal, now), _tree(b.below, now) if b.below else None) for b in branches),
        class_="goals",
    )


def _goal(goal: Attitude, now: datetime) -> Part:
    about = [shown(goal.level, 16), f"due {shown(goal.deadline, 24)}" if goal.deadline else ""]
    details = ", ".join(part for part in about if part)
    late = element("span", "late", class_="late") if is_late(goal, now) else None
    state = state_of(goal)
    status = element("span", shown(goal.status, 60) or state, class_=f"state {state}")
    bar = None
    if goal.progress is not None:
        percent = max(0.0, min(100.0, goal.progress))
        bar = element("span", render_bar(percent / 100, "c3"), element("small", f"{percent:g} %"), class_="progress")
    name = (code(shown(goal.id, 24)), " ") if goal.id else None
    title = element("span", prose(goal.title), class_="title")
    return title, " ", status, late, " ", element("small", name, details), bar


def _graph(report: Report) -> Part:
    picture, facts = report.picture, report.facts
    lapsed = f" {plural(report.lapsed, 'fact')} that do not hold now are left out." if report.lapsed else ""
    if not facts:
        return element("p", "No facts yet: ", code("mabos fact assert acme isA Customer"), f" adds one.{lapsed}")
    about = (
        "Point at a line, or touch a box, to read its facts; dashed lines are untrusted."
        if picture.boxes
        else "None joins two entities."
    )
    frame = element(
        "div", render_picture(picture), class_="wide picture", role="region", aria_label="Knowledge graph", tabindex=0
    )
    entities = [_entity(number, box.name, box.label, facts) for number, box in enumerate(picture.boxes)]
    pictured = {box.name for box in picture.boxes}
    others = [fact for fact in facts if fact.subject not in pictured and fact.object not in pictured]
    rest = listed(others, 0 if pictured else _FIRST, "fact", _facts)
    return (
        element("p", f"{plural(len(facts), 'fact')}. {about}{lapsed}"),
        frame if pictured else None,
        element("div", entities, class_="words"),
        rest,
    )


def _entity(number: int, name: str, label: str, facts: Sequence[Fact]) -> Html:
    """Renders the facts of an entity of the graph; its box links here."""
    found = [fact for fact in facts if name in (fact.subject, fact.object)]
    return fold(
        f"{label}: {plural(len(found), 'fact')}", element("div", listed(found, _FIRST, "fact", _facts), id=f"e{number}")
    )


def _facts(facts: Sequence[Fact]) -> Html:
    texts = ((prose(f"{f.subject} {f.predicate} {f.object}"), " ", doubt(f.trust)) for f in facts)
    return element("ul", (element("li", text) for text in texts))
