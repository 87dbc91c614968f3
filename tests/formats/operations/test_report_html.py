"""The page of a report: whatever is in memory, it is text on a page that stays what it is."""

import re
from datetime import date
from pathlib import Path

import pytest
from page import Page, check_page

import mabos_cli
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.operations.report import Clash, Dated, GoalRow, Report, Settled, Side
from mabos_cli.core.operations.report_graph import Box, Line, Picture
from mabos_cli.core.operations.report_memory import Cut, Held, Month, Tally
from mabos_cli.formats.operations.report_html import is_own_page, render_page
from mabos_cli.formats.operations.report_parts import render_bar, render_columns

CSS = (Path(mabos_cli.__file__).parent / "templates" / "report.css").read_text("utf-8")
HOSTILE = (
    "<script>alert(1)</script>",
    '" onload="alert(1)',
    "' autofocus onfocus=alert(1) '",
    "</title></style></svg><img src=x onerror=alert(1)>",
    "<!-- --><!--",
    "]]>&lt;script&gt;&#60;b>",
    "javascript:alert(1)",
    "x" * 200,
)


def report(word: str, agents: tuple[str, ...] = ("main", "ops"), left: int = 3) -> Report:
    """A report that says a word wherever it can, with something in every section."""
    tally = Tally(agents, date(2026, 2, 24))
    for number, tier in enumerate(("working", "short_term", "long_term", "archive")):
        item = MemoryItem(f"M-{number}-0000", "kept", word, created_at="2026-02-20T08:00:00Z")
        tally.add(Held(agents[0], tier, item, "untrusted"))
    memory = tally.view()
    moments = tuple(moment._replace(id=word, type=word, text=word) for moment in memory.timeline.rows)
    kinds = tuple(kind._replace(name=word) for kind in memory.kinds.rows)
    memory = memory._replace(timeline=Cut(moments, left), kinds=Cut(kinds, left))
    sides = Side(word, word, 0.9, False), Side(word, word, 0.8, True)
    goal = GoalRow(agents[0], 0, word, word, word, "active", word, 40.0, word, True, 1)
    line = Line(0, 1, Cut((word, word), left), True)
    return Report(
        name=word,
        at="2026-02-24T14:30:00.000Z",
        agents=agents,
        memory=memory,
        months=Cut((Month("2026-02", 9, Cut(((word, 4), (word, 2)), left)),), left),
        clashes=Cut((Clash(agents[0], word, word, 0.8, sides, word),), left),
        settled=Cut((Settled(agents[0], word, (word, word), word, word, word),), left),
        goals=Cut((goal, goal._replace(depth=1, progress=None), goal), left),
        picture=Picture((Box(word, 9, 60, 20, 90), Box(word, 1, 60, 90, 90)), Cut((line,), left), 120, 110, left, left),
        facts=7,
        lapsed=left,
        dates=Cut((Dated("2026-02-20", True, agents[0], "goal", word, word, word),), left),
        troubles=Cut((word,), left),
    )


@pytest.mark.parametrize("word", HOSTILE)
def test_content_is_text_wherever_it_stands(word: str) -> None:
    plain, hostile = check_page(render_page(report("bland"), CSS)), check_page(render_page(report(word), CSS))
    assert hostile.shape == plain.shape
    assert [t.attributes.keys() for t in hostile.tags] == [t.attributes.keys() for t in plain.tags]
    assert hostile.text.count(" ".join(word.split())) >= plain.text.count("bland") > 50


def test_every_section_says_how_much_it_leaves_out() -> None:
    text = check_page(render_page(report("word", left=3), CSS)).text
    for noun in ("types", "months", "conflicts", "goals", "dates", "problems"):
        assert f"3 more {noun} not shown" in text
    assert "3 more memories not shown" in text
    assert "Not drawn: 3 more entities, 3 more lines, 3 facts about plain values." in text
    assert "3 facts that do not hold now are left out" in text
    assert "not shown" not in check_page(render_page(report("word", left=0), CSS)).text


def test_what_nobody_vouches_for_is_marked() -> None:
    page = Page(render_page(report("word"), CSS))
    marks = [tag for tag in page.tags if tag.attributes.get("class") == "doubt"]
    assert len([tag for tag in marks if tag.name == "span" and "ol" in tag.within]) == 3
    assert len([tag for tag in marks if tag.name == "path"]) == 1


def test_one_agent_is_not_named_on_every_line() -> None:
    one, two = (Page(render_page(report("word", agents), CSS)) for agents in (("main",), ("main", "ops")))
    assert "who" not in one.values("class") and "who" in two.values("class")
    assert one.text.startswith("word: memory report word agent main · as of 2026-02-24 14:30 UTC")
    assert two.text.startswith("word: memory report word 2 agents · as of")


def test_goals_stand_below_those_that_they_are_part_of() -> None:
    page = Page(render_page(report("word", ("main",)), CSS))
    lists = [tag.within.count("ul") for tag in page.tags if tag.attributes.get("class") == "title"]
    assert lists == [1, 2, 1]


def test_a_page_knows_itself() -> None:
    text = render_page(report("word"), CSS)
    assert is_own_page(text) and is_own_page("")
    assert not is_own_page(text.replace("40 %", "90 %"))
    assert not is_own_page("<!doctype html>\n<p>mine")
    assert not is_own_page(text[30:])


def test_columns_add_up_to_the_highest() -> None:
    page = Page(render_columns([(1, 3), (0, 0), (2, 0)], ["a", "b", "c"], "label", 4))
    rects = [tag.attributes for tag in page.tags if tag.name == "rect"]
    assert [(r["x"], r["y"], r["height"], r["class"]) for r in rects] == [
        ("0.1", "75", "25", "c1"),
        ("0.1", "0", "75", "c2"),
        ("2.1", "50", "50", "c1"),
    ]
    assert [data for name, data in page.texts if name == "title"] == ["a: 4", "c: 2"]
    assert Page(render_bar(7.0)).values("width") == ["100", "100"]
    assert Page(render_bar(0)).values("width") == ["100"]


def colours(block: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6})", block))


def light(colour: str) -> float:
    """The relative luminance of a colour, as WCAG counts it."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    low, high = sorted((light(one), light(two)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_colours_can_be_told_from_the_paper(number: int) -> None:
    """By day, by night and in print: text at least 4.5 to 1, what is drawn at least 3 to 1."""
    found = colours(re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)[number])
    for paper in ("paper", "card"):
        for name in ("ink", "soft", "link", "bad"):
            assert contrast(found[name], found[paper]) >= 4.5, (name, paper)
        for name in ("c1", "c2", "c3", "c4"):
            assert contrast(found[name], found[paper]) >= 3, (name, paper)
    assert contrast(found["ink"], found["bad-paper"]) >= 4.5
