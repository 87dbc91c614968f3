"""The sections of a report about memory and time."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from mabos_cli.core.language.periods import MONTHS
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import CLASSES, PRIORITIES
from mabos_cli.core.operations.report import Clash, Dated, GoalRow, Report, Settled, Side
from mabos_cli.core.operations.report_graph import Line, Picture
from mabos_cli.core.operations.report_memory import CLASS_NAMES, TIERS, Cut, MemoryView, Moment, Month
from mabos_cli.formats.operations.report_parts import (
    Html,
    Part,
    Section,
    code,
    doubt,
    element,
    fold,
    left_out,
    render_bar,
    render_columns,
    render_picture,
    row,
    table,
    whose,
)

_TRUSTED = {"trusted": "a person vouches for it", "agent": "the agent's own word", "untrusted": "nobody vouches for it"}


def memory_sections(report: Report) -> Iterator[Section]:
    """Yields memory over time, tiers, topics by month, and the timeline."""
    many = len(report.agents) > 1
    yield Section("stored", "Memory over time", _stored(report.memory))
    yield Section("tiers", "Tiers now", _tiers(report.memory, many))
    yield Section("topics", "Top topics by month", _topics(report.months))
    yield Section("timeline", "Most important memories", _timeline(report.memory.timeline, many))


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
    legend = [element("li", _swatch(n + 1), _class_name(CLASS_NAMES[n])) for n in used]
    kinds = [
        row(
            kind.name,
            f"{kind.total:,}",
            render_columns([(n,) for n in kind.weeks], names, f"{kind.name} per week", max(kind.weeks, default=0)),
        )
        for kind in memory.kinds.rows
    ]
    outside = memory.outside
    beyond = (
        (outside.earlier, "stored earlier"),
        (outside.later, "dated later than now"),
        (outside.undated, "without a date"),
    )
    beyond_text = ", ".join(f"{count:,} {what}" for count, what in beyond if count)
    return (
        element(
            "p", f"Items stored per week, those included that are archived by now; the highest column is {max(sums):,}."
        ),
        element("ul", legend, class_="legend"),
        element("div", chart, ends, class_="chart"),
        element("p", f"Not in the chart: {beyond_text}.", class_="more") if beyond_text else None,
        element("h3", "By type"),
        table(("type", "ever stored", "per week, each to its own scale"), kinds, "Items by type"),
        left_out(memory.kinds.left, "type"),
    )


def _swatch(number: int) -> Html:
    return element(
        "svg",
        element("rect", width=10, height=10, class_=f"c{number}"),
        viewBox="0 0 10 10",
        class_="swatch",
        aria_hidden="true",
    )


def _class_name(name: str) -> str:
    return f"{name} ({', '.join(CLASSES[name])})" if name in CLASSES else name


def _tiers(memory: MemoryView, many: bool) -> Part:
    names = [tier.replace("_", " ") for tier in TIERS]
    lows = [f"{least:g} and above" for least in PRIORITIES.values()]
    bands = [(name, count, low) for (name, count), low in zip(memory.bands, [*lows[:-1], "below 0.5"], strict=True)]
    trusts = [(name, count, _TRUSTED[name]) for name, count in memory.trusts]
    cards: tuple[tuple[str, list[tuple[str, int, str]], dict[int, str]], ...] = (
        ("Where", [(name, count, "") for name, count in zip(names, memory.tiers, strict=True)], {3: "c4"}),
        ("Importance of live items", bands, {}),
        ("Trust of live items", trusts, {2: "c2"}),
    )
    rendered = [element("div", element("h3", title), _bars(rows, kinds), class_="card") for title, rows, kinds in cards]
    each = [row(agent, *(f"{count:,}" for count in counts)) for agent, counts in memory.by_agent.rows]
    rows = table(("agent", *names), each, "Tiers by agent")
    by_agent = fold("By agent", rows, left_out(memory.by_agent.left, "agent"), is_open=len(each) <= 6)
    return element("div", rendered, class_="cards"), by_agent if many else None


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


def _topics(months: Cut[Month]) -> Part:
    if not months.rows:
        return element("p", "No daily logs yet. What is stored is logged, and topics come from the logs.")
    cards = [_topic_card(month) for month in months.rows]
    return (
        element(
            "p", "What sets each month apart from those before it, with the number of log entries that mention it."
        ),
        element("div", cards, class_="cards small"),
        left_out(months.left, "month"),
    )


def _topic_card(month: Month) -> Html:
    year, number = month.name.split("-")
    title = element("h3", f"{MONTHS[int(number) - 1]} {year}")
    rows = [(name, count, "") for name, count in month.topics.rows]
    bars = _bars(rows) if rows else element("p", "Too few entries to tell a topic.", class_="more")
    more = f", {plural(month.topics.left, 'more topic')}" if month.topics.left else ""
    entries = element("p", f"{plural(month.entries, 'entry')}{more}", class_="more")
    return element("div", title, bars, entries, class_="card")


def _timeline(timeline: Cut[Moment], many: bool) -> Part:
    if not timeline.rows:
        return element("p", "No live memories yet.")
    months: Iterable[tuple[str, Iterable[Moment]]] = groupby(timeline.rows, key=lambda moment: moment.day[:7])
    rendered = [
        (element("h3", month or "undated"), element("ol", (_moment(each, many) for each in moments), class_="timeline"))
        for month, moments in months
    ]
    return rendered, left_out(timeline.left, "memory", ": they are less important, or as important and older")


def _moment(moment: Moment, many: bool) -> Html:
    facts = element("small", f"{moment.type}, {moment.importance:.2f}, ", code(moment.id))
    day = element("time", moment.day[8:] or "–", datetime=moment.day or None)
    return element("li", day, " ", moment.text, " ", doubt(moment.trust), whose(moment.agent, many), " ", facts)


def mind_sections(report: Report) -> Iterator[Section]:
    """Yields belief conflicts, the goal tree, the knowledge graph, and what has a date."""
    many = len(report.agents) > 1
    yield Section("conflicts", "Belief conflicts", _conflicts(report.clashes, report.settled, many))
    yield Section("goals", "Goals", _goals(report.goals, many))
    yield Section("graph", "Knowledge graph", _graph(report))
    yield Section("due", "Due", _dates(report.dates, many))


def _conflicts(clashes: Cut[Clash], settled: Cut[Settled], many: bool) -> Part:
    rendered: Part = element("p", "No beliefs contradict each other.")
    if clashes.rows:
        rendered = element("div", (_clash(clash, many) for clash in clashes.rows), class_="cards")
    closed = None
    if settled.rows:
        rows = [_settled(each, many) for each in settled.rows]
        closed = fold(plural(settled.total, "resolved conflict"), element("ul", rows), left_out(settled.left, "one"))
    return rendered, left_out(clashes.left, "conflict"), closed


def _clash(clash: Clash, many: bool) -> Html:
    title = element("h3", clash.reason)
    severity = element("small", f"severity {clash.severity:.2f}, ", code(clash.key))
    sides = element("dl", map(_side, ("a", "b"), clash.sides))
    return element(
        "div",
        title,
        whose(clash.agent, many),
        severity,
        sides,
        element("p", clash.action, class_="more"),
        class_="card",
    )


def _side(name: str, side: Side) -> Part:
    newer = ", newer" if side.newer else ""
    place = element("small", code(side.place), f" certainty {side.certainty:g}{newer}")
    return element("dt", name), element("dd", side.text, " ", place)


def _settled(each: Settled, many: bool) -> Html:
    kept = "both were kept" if each.keep == "both" else f"{each.keep} was kept"
    why = f": {each.reason}" if each.reason else ""
    sides = f"a: {each.sides[0]} b: {each.sides[1]}"
    return element(
        "li",
        element("time", each.day),
        " ",
        whose(each.agent, many),
        f"{kept}{why}. ",
        element("small", sides, " ", code(each.key)),
    )


def _goals(goals: Cut[GoalRow], many: bool) -> Part:
    if not goals.rows:
        return element("p", "No goals yet: ", code('mabos goal add "…"'), " adds one.")
    rendered: list[Part] = []
    for agent, rows in groupby(goals.rows, key=lambda each: each.agent):
        agent_rows = list(rows)
        tree = _tree(agent_rows, 0, len(agent_rows))
        still = sum(each.state not in ("done", "gone") for each in agent_rows)
        rendered.append(
            fold(f"{agent}: {plural(len(agent_rows), 'goal')}, {still} open", tree, is_open=len(rendered) < 3)
            if many
            else tree
        )
    return rendered, left_out(goals.left, "goal")


def _tree(rows: Sequence[GoalRow], start: int, end: int) -> Html:
    """Renders the rows from one to another as a list, with deeper ones as lists within."""
    tops = [n for n in range(start, end) if rows[n].depth == rows[start].depth]
    items = []
    for here, after in zip(tops, [*tops[1:], end], strict=True):
        below = _tree(rows, here + 1, after) if after > here + 1 else None
        items.append(element("li", _goal(rows[here]), below))
    return element("ul", items, class_="goals")


def _goal(goal: GoalRow) -> Part:
    about = [goal.level, f"due {goal.deadline}" if goal.deadline else ""]
    details = ", ".join(part for part in about if part)
    late = element("span", "late", class_="late") if goal.late else None
    status = element("span", goal.status or goal.state, class_=f"state {goal.state}")
    bar = None
    if goal.progress is not None:
        share = element("small", f"{goal.progress:g} %")
        bar = element("span", render_bar(goal.progress / 100, "c3"), share, class_="progress")
    name = (code(goal.name), " ") if goal.name else None
    return (element("span", goal.title, class_="title"), " ", status, late, " ", element("small", name, details), bar)


def _graph(report: Report) -> Part:
    picture = report.picture
    lapsed = f" {plural(report.lapsed, 'fact')} that do not hold now are left out." if report.lapsed else ""
    if not picture.boxes:
        if not report.facts:
            return element("p", "No facts yet: ", code("mabos fact assert acme isA Customer"), f" adds one.{lapsed}")
        return element("p", f"{plural(report.facts, 'fact')}, none of which joins two entities.{lapsed}")
    summary = f"{plural(report.facts, 'fact')}. Point at a line to read it; dashed ones are untrusted.{lapsed}"
    frame = element(
        "div", render_picture(picture), class_="wide picture", role="region", aria_label="Knowledge graph", tabindex=0
    )
    return element("p", summary), frame, _not_drawn(picture), fold("The same in words", _in_words(picture))


def _not_drawn(picture: Picture) -> Part:
    values = f"{plural(picture.values, 'fact')} about plain values" if picture.values else ""
    counts = (
        (picture.others, plural(picture.others, "more entity")),
        (picture.lines.left, plural(picture.lines.left, "more line")),
        (picture.values, values),
    )
    omitted = ", ".join(text for count, text in counts if count)
    return element("p", f"Not drawn: {omitted}.", class_="more") if omitted else None


def _in_words(picture: Picture) -> Html:
    return element("ul", (element("li", _line_words(line)) for line in picture.lines.rows), class_="words")


def _line_words(line: Line) -> Part:
    more = f" and {line.facts.left} more" if line.facts.left else ""
    return "; ".join(line.facts.rows) + more, " ", doubt("untrusted" if line.untrusted else "")


def _dates(dates: Cut[Dated], many: bool) -> Part:
    if not dates.rows:
        return element("p", "Nothing is late, and nothing is due within 30 days.")
    heads = ("date", *(("agent",) if many else ()), "what", "where")
    return table(heads, (_date(each, many) for each in dates.rows), "What is due"), left_out(dates.left, "date")


def _date(each: Dated, many: bool) -> Html:
    late = element("span", "late", class_="late") if each.late else None
    name = (code(each.name), " ") if each.name else None
    what = (each.title, " ", element("small", name, each.kind))
    return row(
        (element("time", each.day, datetime=each.day), " ", late), each.agent if many else None, what, code(each.place)
    )
