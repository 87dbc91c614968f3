"""Pieces that every section of a report is made of."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mabos_cli.core.language.text import plural
from mabos_cli.formats.operations.html import Html, Part, element


class Section(NamedTuple):
    """A section of the page: its anchor, its heading and what stands in it."""

    name: str
    title: str
    parts: Part


def code(text: str) -> Html:
    return element("code", text)


def left_out(count: int, noun: str, why: str = "") -> Html | None:
    """How many of something are not shown; nothing when all are."""
    return element("p", f"{plural(count, f'more {noun}')} not shown{why}.", class_="more") if count else None


def row(*cells: Part) -> Html:
    """A row of a table; a cell that is None is left out."""
    return element("tr", (element("td", cell) for cell in cells if cell is not None))


def table(heads: Sequence[str], rows: Iterable[Html], label: str) -> Html:
    """A table that scrolls by itself when it is wider than the screen."""
    head = element("tr", (element("th", name, scope="col") for name in heads))
    inner = element("table", element("thead", head), element("tbody", rows))
    return element("div", inner, class_="wide", role="region", aria_label=label, tabindex=0)


def doubt(trust: str) -> Html | None:
    """The mark of what nobody vouches for."""
    return element("span", "untrusted", class_="doubt") if trust == "untrusted" else None


def whose(agent: str, many: bool) -> Html | None:
    """The name of an agent, where there are several."""
    return element("span", agent, class_="who") if many else None


def fold(title: Part, *parts: Part, is_open: bool = False) -> Html:
    """Something that opens when it is asked to, without a script."""
    return element("details", element("summary", title), *parts, open=is_open)
