"""The page of a report: whatever is in memory, it is text on a page that stays what it is."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from page import Page, check_page

import mabos_cli
from mabos_cli.core.hierarchy.themes import Theme
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mind.mind import Attitude, Belief, Branch
from mabos_cli.core.operations.report import Held, MonthLog, Tally
from mabos_cli.core.operations.report_graph import Box, Line, Picture
from mabos_cli.formats.operations import report_parts
from mabos_cli.formats.operations.report_html import is_generated_page, render_page
from mabos_cli.formats.operations.report_parts import render_bar, render_columns
from mabos_cli.formats.operations.report_sections import Report

NOW = datetime(2026, 2, 24, 14, 30, tzinfo=UTC)
CSS = (Path(mabos_cli.__file__).parent / "templates" / "report.css").read_text("utf-8")
HOSTILE = (
    "<script>alert(1)</script>",
    '" onload="alert(1)',
    "' autofocus onfocus=alert(1) '",
    "</title></style></svg><img src=x onerror=alert(1)>",
    "<!-- --><!--",
    "]]>&lt;script&gt;&#60;b>",
    "javascript:alert(1)",
    "x" * 60,
)


def report(word: str, agents: tuple[str, ...] = ("main", "ops"), memories: int = 1) -> Report:
    """A report that says a word wherever it can, with something in every section."""
    tally = Tally(agents, NOW.date())
    for number, tier in enumerate(("working", "short_term", *("long_term",) * memories, "archive")):
        item = MemoryItem(f"M-{number}-0000", word, word, created_at="2026-02-20T08:00:00Z")
        tally.add(Held(agents[0], tier, item, "untrusted"))
    a, b = (Belief(word, "", certainty, id=word, path=word, line=3) for certainty in (0.9, 0.8))
    goal = Attitude("goal", word, word, status=word, progress=40.0, deadline="2026-02-20", level=word, path=word)
    below = Branch(goal._replace(progress=None), (), (), (), (), False)
    facts = [Fact(f"F-{n}", word, f"{word} {n}", "other", trust="untrusted") for n in range(3)]
    owner = agents[0]
    return Report(
        name=word,
        now=NOW,
        agents=agents,
        memory=tally.view(),
        months=[MonthLog("2026-02", 9, [Theme("k", word, 4, 0, 1, (), 0, 1.0)])],
        conflicts=[(owner, Conflict(a, b, "antonym", word, 0.8, "b", word, word))],
        goals=[(owner, [Branch(goal, (), (), (), (below,), True), below])],
        picture=Picture(
            [Box(word, word, 9, 60, 20, 90), Box("other", "other", 1, 60, 90, 90)], [Line(0, 1, facts)], 120, 110
        ),
        facts=[*facts, Fact("F-9", "alone", "costs", word)],
        lapsed=3,
        troubles=[word],
    )


@pytest.mark.parametrize("word", HOSTILE)
def test_content_is_text_wherever_it_stands(word: str) -> None:
    plain, hostile = check_page(render_page(report("bland"), CSS)), check_page(render_page(report(word), CSS))
    assert hostile.shape == plain.shape
    assert [t.attributes.keys() for t in hostile.tags] == [t.attributes.keys() for t in plain.tags]
    start = " ".join(word.split())[:4]  # some fields are cut to a few letters
    assert hostile.text.count(start) >= plain.text.count("bland") > 45


def test_nothing_is_left_out_what_is_much_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    page = check_page(render_page(report("word", memories=98), CSS))
    ids = [data for name, data in page.texts if name == "code" and data.startswith("M-")]
    assert {*ids} == {f"M-{n}-0000" for n in range(100)} and len(ids) == 100
    assert "60 more memories" in page.text and "not shown" not in page.text
    folded = [tag for tag in page.tags if tag.attributes.get("class") == "timeline" and "details" in tag.within]
    assert len(folded) == 1
    assert "3 facts that do not hold now are left out" in page.text
    monkeypatch.setattr(report_parts, "MOST", 90)
    text = check_page(render_page(report("word", memories=98), CSS)).text
    assert "50 more memories" in text and "10 more memories have no room on a page" in text


def test_a_long_text_opens() -> None:
    page = check_page(render_page(report("long " * 200 + "end"), CSS))
    heads = [data for name, data in page.texts if name == "summary" and data.startswith("long ") and "fact" not in data]
    assert heads and all(len(head) <= 220 and head.endswith("…") for head in heads)
    assert page.text.count("long end") >= len(heads)


def test_the_boxes_of_the_graph_lead_to_their_facts() -> None:
    page = check_page(render_page(report("word"), CSS))
    boxes = [tag.attributes["href"] for tag in page.tags if tag.name == "a" and "svg" in tag.within]
    places = {tag.attributes["id"]: tag for tag in page.tags if tag.attributes.get("id")}
    assert boxes == ["#e0", "#e1"] and all("details" in places[name].within for name in ("e0", "e1"))
    assert page.text.count("word word 1 other") == 3  # on the line, and with each of the two
    assert "alone costs word" in page.text


def test_what_nobody_vouches_for_is_marked() -> None:
    page = Page(render_page(report("word"), CSS))
    marks = [tag for tag in page.tags if tag.attributes.get("class") == "doubt"]
    assert len([tag for tag in marks if tag.name == "span" and "ol" in tag.within]) == 3
    assert len([tag for tag in marks if tag.name == "span" and "ul" in tag.within]) == 6
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
    assert is_generated_page(text) and is_generated_page("")
    assert not is_generated_page(text.replace("40 %", "90 %"))
    assert not is_generated_page("<!doctype html>\n<p>mine")
    assert not is_generated_page(text[30:])


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
