"""The sections of a report about beliefs, goals, facts and dates."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from mabos_cli.core.language.text import plural
from mabos_cli.core.operations.report import Report
from mabos_cli.core.operations.report_cut import Cut
from mabos_cli.core.operations.report_graph import Line, Picture
from mabos_cli.core.operations.report_mind import Clash, Dated, GoalRow, Settled, Side
from mabos_cli.formats.operations.html import Html, Part, element
from mabos_cli.formats.operations.report_parts import Section, code, doubt, fold, left_out, row, table, whose
from mabos_cli.formats.operations.report_svg import render_bar, render_picture


def mind_sections(report: Report) -> Iterator[Section]:
    """Belief conflicts, the goal tree, the knowledge graph, and what has a date."""
    many = len(report.agents) > 1
    yield Section("conflicts", "Belief conflicts", _conflicts(report.clashes, report.settled, many))
    yield Section("goals", "Goals", _goals(report.goals, many))
    yield Section("graph", "Knowledge graph", _graph(report))
    yield Section("due", "Due", _dates(report.dates, many))


def _conflicts(clashes: Cut[Clash], settled: Cut[Settled], many: bool) -> Part:
    drawn: Part = element("p", "No beliefs contradict each other.")
    if clashes.rows:
        drawn = element("div", (_clash(clash, many) for clash in clashes.rows), class_="cards")
    closed = None
    if settled.rows:
        rows = [_settled(each, many) for each in settled.rows]
        closed = fold(plural(settled.total, "resolved conflict"), element("ul", rows), left_out(settled.left, "one"))
    return drawn, left_out(clashes.left, "conflict"), closed


def _clash(clash: Clash, many: bool) -> Html:
    title = element("h3", clash.reason)
    told = element("small", f"severity {clash.severity:.2f}, ", code(clash.key))
    sides = element("dl", map(_side, ("a", "b"), clash.sides))
    return element(
        "div", title, whose(clash.agent, many), told, sides, element("p", clash.action, class_="more"), class_="card"
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
    drawn = []
    for agent, rows in groupby(goals.rows, key=lambda each: each.agent):
        own = list(rows)
        tree = _tree(own, 0, len(own))
        still = sum(each.state not in ("done", "gone") for each in own)
        drawn.append(
            fold(f"{agent}: {plural(len(own), 'goal')}, {still} open", tree, is_open=len(drawn) < 3) if many else tree
        )
    return drawn, left_out(goals.left, "goal")


def _tree(rows: Sequence[GoalRow], start: int, end: int) -> Html:
    """The rows from one to another as a list, with what is deeper as lists within."""
    tops = [n for n in range(start, end) if rows[n].depth == rows[start].depth]
    items = []
    for here, after in zip(tops, [*tops[1:], end], strict=True):
        below = _tree(rows, here + 1, after) if after > here + 1 else None
        items.append(element("li", _goal(rows[here]), below))
    return element("ul", items, class_="goals")


def _goal(goal: GoalRow) -> Part:
    about = [goal.level, f"due {goal.deadline}" if goal.deadline else ""]
    told = ", ".join(part for part in about if part)
    late = element("span", "late", class_="late") if goal.late else None
    status = element("span", goal.status or goal.state, class_=f"state {goal.state}")
    bar = None
    if goal.progress is not None:
        share = element("small", f"{goal.progress:g} %")
        bar = element("span", render_bar(goal.progress / 100, "c3"), share, class_="progress")
    name = (code(goal.name), " ") if goal.name else None
    return (element("span", goal.title, class_="title"), " ", status, late, " ", element("small", name, told), bar)


def _graph(report: Report) -> Part:
    picture = report.picture
    lapsed = f" {plural(report.lapsed, 'fact')} that do not hold now are left out." if report.lapsed else ""
    if not picture.boxes:
        if not report.facts:
            return element("p", "No facts yet: ", code("mabos fact assert acme isA Customer"), f" adds one.{lapsed}")
        return element("p", f"{plural(report.facts, 'fact')}, none of which joins two entities.{lapsed}")
    told = f"{plural(report.facts, 'fact')}. Point at a line to read it; dashed ones are untrusted.{lapsed}"
    frame = element(
        "div", render_picture(picture), class_="wide picture", role="region", aria_label="Knowledge graph", tabindex=0
    )
    return element("p", told), frame, _not_drawn(picture), fold("The same in words", _in_words(picture))


def _not_drawn(picture: Picture) -> Part:
    values = f"{plural(picture.values, 'fact')} about plain values" if picture.values else ""
    counts = (
        (picture.others, plural(picture.others, "more entity")),
        (picture.lines.left, plural(picture.lines.left, "more line")),
        (picture.values, values),
    )
    told = ", ".join(text for count, text in counts if count)
    return element("p", f"Not drawn: {told}.", class_="more") if told else None


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
