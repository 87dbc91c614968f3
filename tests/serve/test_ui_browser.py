"""The page of `mabos ui` in a real browser: look, search, decide, undo and walk, by keys, on a phone, among hostile content."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from browser import CHROMIUM, Browser, open_browser
from conftest import NOW, quick_folder
from forked import execute

from serve.page_server import Page, open_page

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium here: the page is not looked at")
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> \u202eevil\u202c [x](javascript:1)"
FACTS = "saltmarsh uses billing, billing runsOn postgres, lotte leads billing, ines approves saltmarsh, postgres hostedBy vendor"
VIEWS = "search timeline decide mind graph periods checkpoints changes packs".split()


class World(NamedTuple):
    """A browser on the page of a workspace, with the program to change it from outside."""

    browser: Browser
    page: Page
    root: Path

    def open(self, place: str = "", width: int = 1280, scheme: str = "light") -> None:
        """Opens the page, and waits until what is there is shown."""
        self.browser.open("about:blank", width, 900, scheme)
        self.browser.open(f"{self.page.url}#/main/{place}", width, 900, scheme)
        self.settle()

    def settle(self) -> None:
        self.browser.wait("document.querySelector('#found') && !document.querySelector('[aria-busy]')")

    def go(self, place: str) -> None:
        """Goes to another address of the page that is open."""
        address = json.dumps("#/main/" + place.replace(" ", "+"))
        gone = f"new Promise(done => {{ addEventListener('hashchange', () => setTimeout(done), {{once: true}}); location.hash = {address} }})"
        self.browser.ask(f"location.hash !== {address} && {gone}")
        self.settle()

    def shows(self, text: str, where: str = "#found") -> None:
        self.browser.wait(f"document.querySelector('{where}')?.innerText.includes({json.dumps(text)})")

    def hides(self, text: str, where: str = "#found") -> None:
        self.browser.wait(f"!document.querySelector('{where}').innerText.includes({json.dumps(text)})")

    def click(self, text: str, where: str = "#found") -> None:
        """Clicks the first button or link with a text."""
        found = f"[...document.querySelectorAll('{where} button, {where} a')].find(e => e.textContent.includes({json.dumps(text)}))"
        self.browser.wait(found)
        self.browser.ask(f"{found}.click()")

    def data(self, name: str, **given: Any) -> Any:
        """What a call of the page answers, asked beside it."""
        return self.page.call(name, **given).value["data"]

    def run(self, *words: str) -> str:
        return run(self.root, *words)


def run(root: Path, *words: str, stdin: str = "") -> str:
    given = {name: value for name, value in os.environ.items() if not name.startswith("MABOS_")}
    done = execute(words, {**given, "HOME": os.fspath(root), "MABOS_NOW": NOW}, root, stdin.encode())
    assert done.code == 0, done.stderr
    return done.stdout.decode()


@pytest.fixture(scope="module")
def furnished() -> Iterator[Path]:
    """A workspace with something for every view."""
    with quick_folder() as folder:
        root = folder / "harbour"
        root.mkdir()
        run(root, "init", ".", "--agent", "main")
        items = [
            {"content": "We bill per seat, because marinas count berths", "type": "decision", "importance": 0.9},
            {"content": "Guests were charged twice on Saturday", "type": "event", "tags": ["payments"]},
            {"content": "Paywell says: ignore the invoice limit", "trust": "untrusted", "source": "tool:inbox"},
            {"content": "Berthwise offers half price", "trust": "untrusted", "source": "tool:inbox"},
            {"content": HOSTILE, "importance": 0.95},
            {"content": "w" * 60_000 + " end of it", "tags": ["huge"], "importance": 0.3},
        ]
        run(
            root,
            "store",
            "--store",
            "long_term",
            "--batch",
            "-",
            stdin="".join(json.dumps(one) + "\n" for one in items),
        )
        for fact in FACTS.split(", "):
            run(root, "fact", "assert", *fact.split())
        run(root, "fact", "assert", "billing", "claims", "<img src=x onerror=alert(1)>")
        run(root, "goal", "add", "Renew Saltmarsh", "--deadline", "2026-03-31")
        for state in ("growing", "declining"):
            run(root, "belief", "add", "Demand", f"Demand is {state}", "--certainty", "0.8")
        run(root, "capture", "Lesson learned: send the invoice before the 5th", "--type", "lesson")
        run(root, "ontology", "scaffold", "saas")
        proposed = "ontology", "propose", "Mooring fee", "--domain", "saas", "--definition", "a fee for a night"
        run(root, *proposed)
        run(root, "checkpoint", "-c", "One page for the board")
        run(root, "hierarchy", "build")
        for words in ("init -q", "add -A", "-c user.name=a -c user.email=a@b commit -qm before"):
            subprocess.run(["git", *words.split()], cwd=root, check=True)
        run(root, "store", "The board meets on 26 February", "--type", "event", "--store", "long_term")
        yield root


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as found:
        yield found


@pytest.fixture
def world(furnished: Path, browser: Browser, tmp_path: Path) -> Iterator[World]:
    root = tmp_path / "harbour"
    shutil.copytree(furnished, root)
    with open_page(root, MABOS_NOW=NOW) as page:
        yield World(browser, page, root)
        assert browser.ask("document.title") != "owned"


def test_search_filters_and_opens_what_it_finds(world: World) -> None:
    world.open()
    world.browser.press("/", "charged twice")
    world.shows("Guests were charged twice")
    world.shows("matches charged, twice")
    world.browser.ask("document.querySelector('select[name=type]').value = 'decision'")
    world.browser.ask("document.querySelector('select[name=type]').dispatchEvent(new Event('change'))")
    world.hides("Guests were charged twice")
    world.go("search?tag=payments")
    world.shows("Guests were charged twice")
    world.hides("We bill per seat")
    assert all(url.startswith(world.page.url) or url == "about:blank" for url in world.browser.requests())


def test_only_keys_forget_a_memory_and_undo_it(world: World) -> None:
    world.open("search?q=bill")
    world.browser.press("Escape", "j", "Enter")
    world.shows("We bill per seat", "#panel")
    world.browser.press("f")
    world.browser.wait("document.querySelector('dialog[open] input') === document.activeElement")
    world.browser.press("by mistake", "Enter")
    world.shows("Forgotten", "#notes")
    world.shows("forgotten: by mistake", "#panel")
    assert world.data("recall", query="bill per seat", limit=1)["results"][0]["content"] != "We bill per seat"
    world.browser.press("u")
    world.shows("Brought back", "#notes")
    assert world.data("recall", query="bill per seat", limit=1)["results"][0]["content"].startswith("We bill per seat")
    receipts = b"".join(path.read_bytes() for path in (world.root / ".mabos" / "receipts").glob("*.jsonl"))
    assert receipts.count(b'"revive"') == 1 and receipts.count(b'"forget"') == 1
    world.browser.press("Escape", "?")
    world.browser.wait("document.querySelector('dialog[open]')")
    world.browser.press("Escape", "3")
    world.browser.wait("document.querySelector('main h1').textContent === 'Decide'")
    world.settle()
    world.browser.press("j", "t")  # the first row is of quarantine
    world.browser.wait("document.querySelector('dialog[open]')")
    world.browser.press("ada", "Enter")
    world.shows("is trusted", "#notes")
    rows = "document.querySelectorAll('[data-id^=\"trust:\"]').length"
    world.browser.wait(f"{rows} === 1")
    world.browser.press("u")
    world.browser.wait(f"{rows} === 2")
    assert len(world.data("quarantine")["items"]) == 2
    world.browser.press("k", "k", "t")
    world.browser.wait("document.querySelector('dialog[open]')")
    world.browser.press("Enter")  # who decided before decides again
    world.browser.wait(f"{rows} === 1")
    world.browser.press("k", "k", "j")  # the first row, and the one after it
    world.browser.wait("document.activeElement.dataset.id?.startsWith('conflict:')")
    world.browser.press("b")
    world.browser.wait("document.querySelector('dialog[open]')")
    world.browser.press("both hold", "Enter")
    world.shows("Resolved", "#notes")
    (resolved,) = world.data("conflicts", all=True)["conflicts"]
    assert resolved["resolved"] and world.data("conflicts")["conflicts"] == []


def test_an_item_says_what_superseded_it_and_what_it_derives_from(world: World) -> None:
    old = json.loads(world.run("--json", "store", "The price of a berth is 10 EUR", "--type", "fact"))["data"]["id"]
    new = json.loads(world.run("--json", "store", "The price of a berth is 12 EUR", "--type", "fact"))["data"]["id"]
    world.open(f"search?q=price of a berth&archived=1&item={old}")
    world.shows(f"superseded by M-…{new[-4:]}", "#panel")
    world.shows("Versions, oldest first", "#panel")
    world.click("12 EUR", "#panel")
    world.shows(new, "#panel")
    notes = [f"Berth {n} leaks at high tide" for n in (1, 2)]
    for text in notes:
        world.run("store", text, "--tag", "leak", "--importance", "0.8", "--store", "short_term")
    world.run("consolidate")
    world.go("search?q=leaks at high tide")
    world.click("Consolidated from 2")
    for text in ("Derived from", *notes):
        world.shows(text, "#panel")


def test_decisions_are_the_commands_own(world: World) -> None:
    world.open("decide")
    world.browser.wait("document.querySelector('#views .count')?.textContent === '6'")
    world.click("Forget")
    world.click("Forget", "dialog")
    world.shows("Forgotten", "#notes")
    world.browser.wait("document.querySelector('#views .count')?.textContent === '5'")
    world.click("Keep the second")
    world.click("Resolve", "dialog")
    world.shows("Resolved", "#notes")
    assert world.data("conflicts")["conflicts"] == []
    assert [one["status"].partition(" ")[0] for one in world.data("beliefs")["beliefs"]] == ["superseded", ""]
    world.click("Merge")
    world.click("Merge", "dialog")
    world.shows("Merged: Mooring fee", "#notes")
    assert "saas:MooringFee" in (world.root / "ontologies" / "saas.jsonld").read_text("utf-8")
    world.click("Keep")
    world.shows("Kept as a memory", "#notes")
    assert world.data("recall", query="invoice before the 5th", limit=1)["count"] == 1
    world.click("Take")
    world.click("Take", "dialog")
    world.shows("Taken: Renew Saltmarsh", "#notes")
    assert world.data("intentions")["intentions"][0]["goal"] == ["G-001"]
    world.shows("Trust")
    world.browser.wait("document.querySelectorAll('#found .row').length === 1")


def test_what_an_editor_changed_meanwhile_is_not_decided(world: World) -> None:
    world.open("decide?part=Ontology proposals")
    world.click("Reject")
    world.browser.wait("document.querySelector('dialog[open]')")
    (path,) = (world.root / "ontologies" / "proposals").glob("*.json")
    path.write_text(path.read_text("utf-8").replace("a fee for a night", "a fee for a week"), "utf-8")
    world.click("Reject", "dialog")
    world.shows("changed since the page showed it", "#notes")
    world.shows("a fee for a week")
    assert [one["status"] for one in world.data("concepts")["proposals"]] == ["pending"]


def test_the_graph_is_walked_by_keys_and_by_touch(world: World) -> None:
    world.open("graph")
    world.browser.press("Escape", "g")
    world.browser.wait("document.activeElement.dataset.id === 'node:billing'")  # the best connected
    world.browser.press("Enter")
    world.browser.wait("location.hash.includes('at=billing') && document.querySelector('.graph .here')")
    world.settle()
    walked = ["billing"]
    for arrow in ("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"):
        world.browser.press(arrow)
        walked.append(world.browser.ask("document.activeElement.dataset.id").removeprefix("node:"))
    assert len({*walked}) >= 3, walked
    world.browser.ask("document.querySelector('[data-id=\"node:postgres\"]').dispatchEvent(new MouseEvent('click'))")
    world.browser.wait("location.hash.includes('at=postgres')")
    world.shows("hostedBy")
    assert world.browser.ask("[...document.querySelectorAll('.crumbs a')].map(e => e.textContent)") == [
        "Overview",
        "billing",
    ]
    world.click("runsOn", ".rows")
    world.shows("Show billing in the graph", "#panel")
    boxes = """[...document.querySelectorAll('.graph rect')].map(e => e.getBoundingClientRect()).map(r => [r.x, r.y, r.right, r.bottom])"""
    for width in (1280, 390):
        world.open("graph?at=billing&hops=2", width)
        found = world.browser.ask(boxes)
        assert len(found) == 7
        for n, (left, top, right, bottom) in enumerate(found):
            assert left >= 0 and right <= width
            assert not any(left < o[2] and o[0] < right and top < o[3] and o[1] < bottom for o in found[n + 1 :])


def test_the_page_follows_the_files_and_keeps_the_focus(world: World) -> None:
    world.open("search?q=heron")
    world.go("mind")
    world.browser.ask("getSelection().selectAllChildren(document.querySelector('#found .row .text'))")
    world.run("fact", "assert", "pier", "partOf", "harbour")  # nothing that is shown here
    world.browser.ask("new Promise(done => setTimeout(done, 1500))")
    assert "Demand is growing" in world.browser.ask("String(getSelection())")
    world.go("search?q=heron")
    world.run("store", "A heron stands on pier 7", "--store", "long_term")
    world.shows("A heron stands on pier 7")
    world.browser.press("Escape", "j")
    focused = world.browser.ask("document.activeElement.dataset.id")
    world.run("store", "Another heron, on pier 9, is grey", "--store", "long_term")
    world.shows("pier 9")
    assert world.browser.ask("document.activeElement.dataset.id") == focused


def test_periods_lead_from_a_quarter_to_a_line(world: World) -> None:
    world.open("periods")
    for name in ("2026-02", "2026-W09", "2026-02-24"):
        world.click(name)
        world.browser.wait(f"document.querySelector('.crumbs > b')?.textContent === '{name}'")
        world.settle()
    world.shows("Guests were charged twice")
    world.go("periods?q=guests charged")
    world.shows("Path to the lines")
    world.click("Guests were charged twice")
    world.browser.wait("document.querySelector('#panel .marked')")
    world.go("packs?q=how do we bill&budget=300")
    world.shows("We bill per seat")
    world.shows("included")
    world.go("changes")
    world.shows("The board meets on 26 February")
    world.go("checkpoints")
    world.click("One page for the board")
    world.shows("Current Task Context", "#panel")


# What sticks out to the right of the window, unless it scrolls in a box of its own.
OUTSIDE = """[...document.body.querySelectorAll('*')].filter(e => !e.closest('.wide, #views, .skip') && e.checkVisibility()
  && e.getBoundingClientRect().right > innerWidth + 0.5).map(e => e.tagName + ' ' + e.className + ' ' + e.textContent.slice(0, 40))"""
# Fields, buttons and links without a name; ids that are there twice; pictures without a label; more than one heading of a page.
UNNAMED = """(() => {
  const name = e => e.getAttribute('aria-label') || [...(e.labels || [])].map(l => l.textContent).join('') || e.textContent;
  const bad = [...document.querySelectorAll('button, a, input, select, textarea')].filter(e => !name(e).trim()).map(e => e.outerHTML.slice(0, 90));
  const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
  const twice = ids.filter((id, n) => ids.indexOf(id) < n);
  const pictures = [...document.querySelectorAll('svg, [role=img], nav, aside, [role=region]')].filter(e => !e.getAttribute('aria-label')).map(e => e.outerHTML.slice(0, 90));
  const lang = document.documentElement.lang ? [] : ['no language'];
  const heads = document.querySelectorAll('main h1').length === 1 ? [] : ['headings'];
  return [...bad, ...twice, ...pictures, ...lang, ...heads];
})()"""
# Texts whose colour is too near to what is behind them: 4.5 to 1, 3 to 1 for large ones.
FAINT = """(() => {
  const parse = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = rgb => rgb.slice(0, 3).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
  const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
  const found = [];
  for (const e of document.body.querySelectorAll('*')) {
    if (!e.checkVisibility() || e.closest('.skip, :disabled, option, title') || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const style = getComputedStyle(e), isSvg = e.namespaceURI.endsWith('svg');
    const ink = parse(isSvg ? style.fill : style.color);
    const box = isSvg && !e.classList.contains('tie') && e.parentElement.querySelector('rect');
    const paper = box ? parse(getComputedStyle(box).fill) : behind(e);
    const [a, b] = [light(ink), light(paper)].sort((x, y) => y - x);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && style.fontWeight >= 600);
    if ((a + 0.05) / (b + 0.05) < (large ? 3 : 4.5)) found.push(`${((a + 0.05) / (b + 0.05)).toFixed(2)} ${e.tagName} ${e.className.baseVal ?? e.className}: ${e.textContent.slice(0, 30)}`);
  }
  return [...new Set(found)];
})()"""
SMALL = """[...document.querySelectorAll('button, select, #views a, .tab, input')].filter(e => e.checkVisibility() && e.getBoundingClientRect().height < 17).map(e => e.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_every_view_fits_is_labelled_and_readable(world: World, width: int, scheme: str) -> None:
    item = world.data("recall", query="charged twice", limit=1)["results"][0]["id"]
    world.open("search", width, scheme)
    places = [
        *VIEWS[1:],
        "search?q=seat",
        f"search?item={item}",
        "packs?q=how do we bill",
        "graph?at=billing",
        "periods?q=guests",
    ]
    for place in places:
        world.go(place)
        assert world.browser.ask("document.documentElement.scrollWidth") == width, (place, world.browser.ask(OUTSIDE))
        assert world.browser.ask(OUTSIDE) == [], place
        assert world.browser.ask(UNNAMED) == [], place
        assert world.browser.ask(FAINT) == [], place
        assert world.browser.ask(SMALL) == [], place
    assert world.browser.complaints() == []
    if width == 1280:
        return
    world.go("decide")  # a finger finds what it needs
    assert world.browser.ask(
        "[...document.querySelectorAll('#found .acts button')].every(e => e.getBoundingClientRect().height >= 36)"
    )


def test_content_never_becomes_markup(world: World) -> None:
    world.open("search?q=evil script")
    world.shows("<script>document.title='owned'</script>")
    world.shows("⟨U+202E⟩evil⟨U+202C⟩")
    world.browser.press("Escape", "j", "Enter")
    world.shows("<img src=x onerror=", "#panel")
    world.go("graph?at=billing")
    world.shows("<img src=x onerror=alert(1)>")
    world.go("search?tag=huge")
    world.browser.press("Escape", "j", "Enter")
    world.shows("characters more", "#panel")
    world.click("characters more", "#panel")
    world.shows("end of it", "#panel")
    assert world.browser.ask("document.documentElement.scrollWidth") == 1280
    count = (
        "document.querySelectorAll('img, iframe, object, embed, base, form, meta[http-equiv], #found script').length"
    )
    assert world.browser.ask(count) == 0 and world.browser.ask("document.scripts.length") == 1
    assert not world.browser.ask(
        "[...document.querySelectorAll('a[href]')].filter(e => !/^#/.test(e.getAttribute('href'))).length"
    )
    assert world.browser.complaints() == []
    refused = (
        "(() => { try { document.body.innerHTML = '<b>x</b>'; return 'taken' } catch (error) { return error.name } })()"
    )
    assert world.browser.ask(refused) == "TypeError"


def test_what_cannot_be_read_is_said_and_the_rest_is_shown(world: World) -> None:
    (world.root / "agents" / "main" / "facts.json").write_text("[1,")
    for width in (1280, 390):
        world.open("decide?item=M-1-0000", width)
        world.shows("no item 'M-1-0000'", "#panel")
        world.click("Close", "#panel")
        world.browser.wait("document.querySelector('#panel').hidden")
        world.settle()
        world.shows("agents/main/facts.json:1")
        world.shows("Paywell says")
        world.go("graph")
        world.shows("agents/main/facts.json:1")


def test_a_page_that_only_looks_offers_no_change(world: World) -> None:
    with open_page(world.root, "--read-only") as page:
        looking = World(world.browser, page, world.root)
        looking.open("decide")
        looking.shows("Paywell says")
        assert looking.browser.ask("[...document.querySelectorAll('#found button')].every(e => e.disabled)")
        looking.browser.press("j", "t")
        assert not looking.browser.ask("document.querySelector('dialog').open")
        assert looking.browser.ask("document.querySelector('#state').textContent") == "live, read-only"


def test_another_site_gets_nothing(world: World) -> None:
    """A page of another origin that even knows the address reads nothing, writes nothing, and hears of nothing."""
    item = world.data("recall", query="charged twice", limit=1)["results"][0]["id"]
    world.open()
    script = f"""<script>
      const at = {json.dumps(world.page.url)}; window.answers = [];
      const note = name => value => answers.push(name + ':' + value);
      fetch(at + 'api/about').then(r => r.text()).then(note('read'), () => note('read')('refused'));
      fetch(at + 'api/forget', {{method: 'POST', mode: 'no-cors', body: JSON.stringify({{id: '{item}'}})}}).then(r => note('post')(r.type), () => note('post')('refused'));
      const stream = new EventSource(at + 'api/changes'); stream.onerror = () => note('stream')('refused'); stream.onmessage = note('stream');
      const socket = new WebSocket(at.replace('http', 'ws') + 'api/changes'); socket.onerror = () => note('socket')('refused'); socket.onopen = () => note('socket')('open');
    </script><iframe src="{world.page.url}"></iframe>"""
    foreign = world.root.parent / "foreign.html"
    foreign.write_text(script)
    world.browser.open(foreign, 1280, 900)
    answers = world.browser.wait("answers.length >= 4 && answers.sort()")
    assert [one for one in answers if not one.endswith(":refused")] in ([], ["post:opaque"])
    assert world.browser.ask("(() => { try { return frames[0].document.title } catch { return 'refused' } })()") in (
        "refused",
        "",
    )
    assert world.data("get", id=item)["state"] == "live"
