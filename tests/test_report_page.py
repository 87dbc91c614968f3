"""The page of a report in a real browser: nothing is fetched, nothing sticks out on a phone, nothing is too small to read."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import CHROMIUM, Browser, open_browser
from conftest import NOW, quick_folder
from forked import execute
from page import check_page

ROOT = Path(__file__).parent.parent
needs_browser = pytest.mark.skipif(not CHROMIUM, reason="no Chromium here: the page is not looked at")
PEOPLE = ("Hanna Halden", "Kenji Mori", "Tom Okafor", "Lena Vogt")
PARTS = ("Kura S2", "Kura S3", "Kura Cloud", "Alert Engine", "Edge Gateway")


@pytest.fixture(scope="module")
def rich() -> Iterator[Path]:
    """The report of a business of thirteen agents with minds, logs, memories and facts, and some that mean harm."""
    with quick_folder() as folder:
        yield report_of_business(folder)


def report_of_business(folder: Path) -> Path:
    root = folder / "halden-mori"
    given = {name: value for name, value in os.environ.items() if not name.startswith("MABOS_")}

    def run(*words: str, stdin: str = "") -> None:
        done = execute(words, {**given, "HOME": os.fspath(folder), "MABOS_NOW": NOW}, root, stdin.encode())
        assert done.code == 0, done.stderr

    shutil.copytree(ROOT / "fixtures" / "business", root)
    (root / "mabos.yaml").write_text("")
    memories = (ROOT / "mabos_cli" / "demo" / "memories.ndjson").read_text("utf-8")
    hostile = {
        "content": "<script>document.title='owned'</script>" + "w" * 5000,
        "importance": 0.99,
        "trust": "untrusted",
    }
    facts = [(f"Ticket {n}", "about", PARTS[n % 5]) for n in range(40)]
    facts += [(f"Ticket {n}", "raisedBy", PEOPLE[n % 4]) for n in range(40)]
    facts += [(part, "partOf", "Kura Cloud") for part in PARTS[:2]] + [("w" * 90, "<b>", "Kura S3")]
    triples = [dict(zip(("subject", "predicate", "object"), fact, strict=True)) for fact in facts]
    run("store", "-a", "cfo", "--batch", "-", stdin=memories + json.dumps(hostile) + "\n")
    (folder / "facts.ndjson").write_text("".join(json.dumps(fact) + "\n" for fact in triples))
    run("fact", "import", os.fspath(folder / "facts.ndjson"), "-a", "ceo")
    run("hierarchy", "build", "-a", "cfo")
    run("report", "-o", os.fspath(folder / "report.html"))
    return folder / "report.html"


# What sticks out to the right of the window, unless it scrolls in a box of its own.
OUTSIDE = """[...document.body.querySelectorAll('*')].filter(e => !e.closest('.wide') && !e.closest('svg')
  && e.getBoundingClientRect().right > innerWidth + 0.5).map(e => e.tagName + ' ' + e.className)"""
# The sizes of all text, in pixels as they are on the screen.
SIZES = """[...new Set([...document.body.querySelectorAll('*')].filter(e => [...e.childNodes].some(n =>
  n.nodeType === 3 && n.data.trim())).map(e => parseFloat(getComputedStyle(e).fontSize)))]"""
# Labels of the graph that are wider than their boxes.
CLIPPED = """[...document.querySelectorAll('.graph g')].filter(g => g.querySelector('text').getBBox().width >
  g.querySelector('rect').getBBox().width).map(g => g.textContent)"""
PAPER = "getComputedStyle(document.documentElement).backgroundColor"


def test_the_page_of_a_business_is_in_order(rich: Path) -> None:
    text = rich.read_text("utf-8")
    page = check_page(text)
    assert len(text) < 400_000
    sections = "stored tiers topics timeline conflicts goals graph overview".split()
    assert {*sections} <= {*page.values("id")}
    assert "13 agents" in page.text and "Beliefs.md:11, BE-COO-01" in page.text
    assert "Framework agreement with 森電機 signed" in page.text and "document.title='owned'" in page.text
    assert len([tag for tag in page.tags if tag.name == "svg" and "aria-label" in tag.attributes]) == 2


def look(browser: Browser, path: Path, width: int) -> None:
    """Checks that hold in every window."""
    browser.open(path, width, 900)
    assert browser.ask("innerWidth") == width
    assert browser.ask("document.documentElement.scrollWidth") == width, browser.ask(OUTSIDE)
    assert browser.ask(OUTSIDE) == []
    assert min(browser.ask(SIZES)) >= 12
    assert browser.ask(CLIPPED) == []
    assert browser.requests() == [path.as_uri()]
    assert browser.complaints() == []
    assert browser.ask("document.title") == "halden-mori: memory report"
    assert browser.ask("document.scripts.length") == 0


@needs_browser
def test_it_fits_a_phone_and_a_desk_and_asks_for_nothing(rich: Path) -> None:
    with open_browser() as browser:
        look(browser, rich, 390)
        browser.ask("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert browser.ask("document.documentElement.scrollWidth") == 390, browser.ask(OUTSIDE)
        look(browser, rich, 1280)
        assert browser.ask("document.querySelector('.graph').getBoundingClientRect().width") <= 1200
        assert not browser.ask("document.querySelector('#e0').checkVisibility()")
        browser.ask("document.querySelector('.graph a').dispatchEvent(new MouseEvent('click'))")  # as by a finger
        browser.wait("document.querySelector('#e0').checkVisibility()")
        by_day = browser.ask(PAPER)
        browser.open(rich, 1280, 900, "dark")
        assert (by_day, browser.ask(PAPER)) == ("rgb(246, 245, 241)", "rgb(18, 21, 26)")
