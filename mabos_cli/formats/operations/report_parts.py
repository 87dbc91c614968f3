"""Renders values as HTML: all text that is not made by element() is escaped, so that content never becomes markup."""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import NamedTuple, TypeVar

from mabos_cli.core.language.text import plural
from mabos_cli.core.operations.report import MOST, shown
from mabos_cli.core.operations.report_graph import HUB, Box, Line, Picture

_VOID = frozenset(("meta", "rect", "line", "path", "br"))
Part = str | int | float | None | Iterable["Part"]
_TALL = 100
_HALF = 12  # of the height of a box
_FIRST, _WHOLE = 220, 4_000  # characters of a text that are shown at once, and when it is opened
Row = TypeVar("Row")


class Html(str):
    """Finished markup; other text is escaped when it is put into an element."""

    __slots__ = ()


def element(name: str, /, *parts: Part, **attributes: str | int | float | bool | None) -> Html:
    """Returns an element around its parts.

    Of an attribute's name the last underscore is dropped and others are dashes; None and False leave it out.

    >>> element("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    written = "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    if name in _VOID and not parts:
        return Html(f"<{name}{written}>" if name in ("meta", "br") else f"<{name}{written}/>")
    return Html(f"<{name}{written}>{join(parts)}</{name}>")


def join(parts: Iterable[Part]) -> Html:
    """Joins parts; text is escaped."""
    return Html("".join(map(_part, parts)))


def _part(part: Part) -> str:
    if isinstance(part, Html):
        return part
    if isinstance(part, str):
        return escape(part)
    if part is None:
        return ""
    return str(part) if isinstance(part, int | float) else join(part)


def _attribute(key: str, value: str | int | float | bool) -> str:
    name = key.removesuffix("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'


class Section(NamedTuple):
    """A section of the page: anchor, heading and contents."""

    name: str
    title: str
    parts: Part


def code(text: str) -> Html:
    return element("code", text)


def listed(
    rows: Sequence[Row], first: int, noun: str, render: Callable[[Sequence[Row]], Part], beyond: int = 0
) -> Part:
    """Renders rows: the first ones openly, the others in a fold; says how many there is no room for."""
    more, beyond = rows[first:MOST], beyond + max(0, len(rows) - MOST)
    opened = fold(plural(len(more), f"more {noun}"), render(more)) if more else None
    note = f"{plural(beyond, f'more {noun}')} have no room on a page: mabos recall, fact query and ui find them."
    return render(rows[:first]) if first else None, opened, element("p", note, class_="more") if beyond else None


def prose(text: str) -> Part:
    """Renders a text as one line; a long one can be unfolded."""
    line = shown(text, _WHOLE)
    if len(line) <= _FIRST:
        return line
    return element("details", element("summary", shown(line, _FIRST)), line, class_="long")


def row(*cells: Part) -> Html:
    """Returns a row of a table; a cell that is None is left out."""
    return element("tr", (element("td", cell) for cell in cells if cell is not None))


def table(heads: Sequence[str], rows: Iterable[Html], label: str) -> Html:
    """Returns a table that scrolls by itself when it is wider than the screen."""
    head = element("tr", (element("th", name, scope="col") for name in heads))
    inner = element("table", element("thead", head), element("tbody", rows))
    return element("div", inner, class_="wide", role="region", aria_label=label, tabindex=0)


def doubt(trust: str) -> Html | None:
    """Returns the mark of untrusted contents."""
    return element("span", "untrusted", class_="doubt") if trust == "untrusted" else None


def whose(agent: str, many: bool) -> Html | None:
    """Returns the name of an agent, if there are several."""
    return element("span", agent, class_="who") if many else None


def fold(title: Part, *parts: Part, is_open: bool = False) -> Html:
    """Returns contents that unfold on a click, without a script."""
    return element("details", element("summary", title), *parts, open=is_open)


def render_columns(columns: Sequence[Sequence[int]], names: Sequence[str], label: str, top: int) -> Html:
    """Renders columns of stacked counts; pointing at one shows its name and sum."""
    groups = []
    for at, (counts, name) in enumerate(zip(columns, names, strict=True)):
        height, parts = 0.0, []
        for number, count in enumerate(counts, 1):
            share = _TALL * count / max(1, top)
            height += share
            if count:
                y = _number(_TALL - height)
                parts.append(
                    element("rect", x=_number(at + 0.1), y=y, width=0.8, height=_number(share), class_=f"c{number}")
                )
        if parts:
            groups.append(element("g", element("title", f"{name}: {sum(counts)}"), parts))
    box = f"0 0 {max(1, len(columns))} {_TALL}"
    return element(
        "svg", groups, viewBox=box, preserveAspectRatio="none", class_="columns", role="img", aria_label=label
    )


def render_bar(share: float, kind: str = "c1") -> Html:
    """Renders a bar that fills a share of its width; the number is printed next to it."""
    width = _number(100 * max(0.0, min(1.0, share)))
    parts = [element("rect", width=100, height=10, class_="rest")]
    if share > 0:
        parts.append(element("rect", width=width, height=10, class_=kind))
    return element("svg", parts, viewBox="0 0 100 10", preserveAspectRatio="none", class_="bar", aria_hidden="true")


def render_picture(picture: Picture) -> Html:
    """Renders the graph: boxes link to the facts of an entity, arrows show theirs when pointed at."""
    tip = element("path", d="M0 0L8 4L0 8z", class_="tip")
    marker = element(
        "marker", tip, id="tip", viewBox="0 0 8 8", refX=8, refY=4, markerWidth=7, markerHeight=7, orient="auto"
    )
    lines = [_line(line, picture.boxes) for line in picture.lines]
    label = f"Graph of {len(picture.boxes)} entities and {plural(len(lines), 'line')} between them"
    return element(
        "svg",
        element("defs", marker),
        lines,
        map(_box, picture.boxes, range(len(picture.boxes))),
        viewBox=f"0 0 {picture.width} {picture.height}",
        width=picture.width,
        height=picture.height,
        class_="graph",
        role="group",
        aria_label=label,
    )


def _box(box: Box, number: int) -> Html:
    rect = element(
        "rect", x=_number(box.x - box.width / 2), y=box.y - _HALF, width=box.width, height=2 * _HALF, rx=_HALF
    )
    text = element("text", box.label, x=box.x, y=box.y + 4)
    title = element("title", f"{box.label}: {plural(box.links, 'neighbour')}")
    return element("a", title, rect, text, href=f"#e{number}", class_="hub" if box.links >= HUB else "node")


def _line(line: Line, boxes: Sequence[Box]) -> Html:
    """Returns a line from the centre of one box to the edge of the other."""
    a, b = boxes[line.start], boxes[line.end]
    x, y = _edge(b, a.x, a.y)
    sentences = dict.fromkeys(shown(f"{f.subject} {f.predicate} {f.object}") for f in line.facts[:_HALF])
    kind = "doubt" if all(fact.trust == "untrusted" for fact in line.facts) else None
    return element(
        "path", element("title", "\n".join(sentences)), d=f"M{a.x} {a.y}L{x} {y}", class_=kind, marker_end="url(#tip)"
    )


def _edge(box: Box, x: int, y: int) -> tuple[str, str]:
    """Returns where a line from a point to the centre of a box meets its edge."""
    dx, dy = x - box.x, y - box.y
    scale = 1 / max(abs(dx) / (box.width / 2), abs(dy) / _HALF, 1)
    return _number(box.x + dx * scale), _number(box.y + dy * scale)


def _number(value: float) -> str:
    """Returns a number with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
