"""Renders a report as one self-contained HTML page, without scripts, fonts or pictures from elsewhere."""

from collections.abc import Sequence

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import plural
from mabos_cli.core.operations.report import is_open, shown
from mabos_cli.formats.markdown.escape import is_as_generated, seal
from mabos_cli.formats.operations.report_parts import Html, Part, Section, code, element, join
from mabos_cli.formats.operations.report_sections import Report, all_goals, list_sections

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_HEAD = '<!doctype html>\n<!-- mabos report 1 -->\n<html lang="en">\n'


def render_page(report: Report, css: str) -> str:
    """Renders the whole page with a seal, so that a later run knows whether somebody edited it."""
    sections = [] if report.is_empty else list_sections(report)
    title = f"{shown(report.name, 80)}: memory report"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content="mabos"),
        element("title", title),
        element("style", Html(css)),
    )
    body = element(
        "body",
        _header(report),
        _contents(sections),
        element(
            "main",
            _overview(report),
            (element("section", element("h2", s.title), s.parts, id=s.name) for s in sections),
        ),
    )
    return seal(f"{_HEAD}{_lines(head)}\n{_lines(body)}\n</html>\n")


def is_generated_page(text: str) -> bool:
    """Returns whether a file is empty, or a report that nobody edited since it was written."""
    return not text or (text.startswith(_HEAD) and is_as_generated(text))


def _lines(html: Html) -> str:
    """Adds line breaks where they are invisible, so that the source is readable."""
    for tag in ("</section>", "</tr>", "</li>", "</p>", "</summary>", "</h2>", "</style>", "</svg>", "</g>"):
        html = Html(html.replace(tag, tag + "\n"))
    return html


def _header(report: Report) -> Html:
    agents = report.agents
    names = f"agent {agents[0]}" if len(agents) == 1 else plural(len(agents), "agent")
    at = format_time(report.now)
    when = element("time", f"{at[:10]} {at[11:16]} UTC", datetime=at)
    return element("header", element("h1", shown(report.name, 80)), element("p", names, " · as of ", when))


def _contents(sections: Sequence[Section]) -> Html | None:
    links = [element("a", each.title, href=f"#{each.name}") for each in sections]
    return element("nav", links, aria_label="Sections") if links else None


def _overview(report: Report) -> Html:
    troubles = _troubles(report.troubles)
    if report.is_empty:
        return element("section", element("h2", "Nothing to show yet"), _first_steps(report), troubles, id="overview")
    tiles = (
        _tile(report.memory.live, "live memory", "tiers"),
        _tile(report.memory.archived, "archived", "tiers"),
        _tile(report.memory.trusts["untrusted"], "untrusted", "tiers"),
        _tile(len(report.facts), "fact", "graph"),
        _tile(len(report.conflicts), "open conflict", "conflicts"),
        _tile(sum(is_open(goal) for _, tree in report.goals for goal in all_goals(tree)), "open goal", "goals"),
    )
    title = element("h2", "At a glance")
    return element("section", title, element("div", tiles, class_="tiles"), troubles, id="overview")


def _tile(count: int, noun: str, section: str) -> Html:
    """Returns a number that links to a section."""
    what = noun if noun in ("archived", "untrusted") else plural(count, noun).partition(" ")[2]
    return element("a", element("b", f"{count:,}"), " ", element("span", what), href=f"#{section}")


def _first_steps(report: Report) -> Html:
    """Returns the next steps for an empty workspace."""
    if not report.agents:
        return element("p", "This workspace has no agent. Create one: ", code("mabos agent create main"))
    name = report.agents[0]
    steps = (
        ("store a memory", f'mabos store "We bill per seat" --type decision --agent {name}'),
        ("add a belief", f'mabos belief add "Demand is growing" --agent {name}'),
        ("add a goal", f'mabos goal add "Renew the largest customer" --agent {name}'),
        ("add a fact", f"mabos fact assert acme isA Customer --agent {name}"),
        ("summarize the logs", f"mabos hierarchy build --agent {name}"),
    )
    items = [element("li", what, ": ", code(command)) for what, command in steps]
    who = "The agent has" if len(report.agents) == 1 else "The agents have"
    return join((element("p", f"{who} no memories yet. Next steps:"), element("ul", items)))


def _troubles(troubles: Sequence[str]) -> Part:
    if not troubles:
        return None
    listed = element("ul", (element("li", shown(trouble, 240)) for trouble in troubles))
    title = element("p", element("b", "Some files could not be read. "), "Missing:")
    return element("div", title, listed, class_="alarm", role="note")
