"""mabos report: one page, written with care and only where it may be."""

import os
from pathlib import Path

import pytest
from hostile_payloads import ATTACKS
from page import check_page

from commands.desk import Desk, note
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.formats.operations.report_html import render_page


@pytest.fixture
def desk(still_world: None, quick: Path) -> Desk:
    return Desk(quick / "workspace")


def written(desk: Desk, *words: str) -> str:
    """The page of a report, which must be in order."""
    target = desk.root / "report.html"
    said = desk.run("report", "-o", os.fspath(target), "--json", *words)
    assert said.data["path"] == os.fspath(target)
    text = target.read_text("utf-8")
    assert said.data["bytes"] == len(text.encode())
    check_page(text)
    return text


def test_an_empty_workspace_says_what_to_do(desk: Desk, tmp_path: Path):
    page = check_page(written(desk))
    assert "Nothing to show yet" in page.text and "mabos store" in page.text
    assert "svg" not in page.shape
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "mabos.yaml").write_text("")
    said = desk.run("-w", os.fspath(tmp_path / "bare"), "report", "-o", "-")
    assert "This workspace has no agent. Create one: mabos agent create main" in check_page(said.stdout).text


def test_all_agents_or_one(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    desk.add_agent("ops")
    desk.put([note(1, "Main bills per seat")])
    desk.put([note(2, "Ops deploys on Monday")], agent="ops")
    both = check_page(written(desk)).text
    assert "Main bills" in both and "Ops deploys" in both and "2 agents" in both
    one = check_page(written(desk, "-a", "ops")).text
    assert "Main bills" not in one and "Ops deploys" in one and "agent ops" in one
    monkeypatch.setenv("MABOS_AGENT", "main")
    assert "Ops deploys" not in written(desk)
    assert "Ops deploys" in written(desk, "--all")
    assert desk.run("report", "-a", "nobody").code == 3


def test_the_same_workspace_gives_the_same_bytes(desk: Desk):
    for number in range(12):
        assert desk.run("store", f"Decision {number} about berth prices", "--type", "decision").code == 0
    desk.write("Beliefs.md", "# Beliefs\n\n## Demand\n\nDemand is growing.\n\n- **Certainty:** 0.9\n")
    desk.run("fact", "assert", "acme", "isA", "Customer")
    first = written(desk)
    assert written(desk) == first
    said = desk.run("report", "-o", os.fspath(desk.root / "report.html"), "--json")
    assert said.data["written"] is False
    assert desk.run("report", "-o", "-").stdout == first
    assert desk.run("report", "-o", "-", "--json").data["html"] == first


def test_nothing_is_replaced_that_is_not_ours(desk: Desk):
    desk.put([note(1, "We bill per seat")])
    mine = desk.root / "mine.html"
    mine.write_text("<p>mine</p>")
    said = desk.run("report", "-o", os.fspath(mine))
    assert said.code == 2 and "is not a report written by mabos" in said.stderr
    assert mine.read_text() == "<p>mine</p>"
    page = written(desk)
    (desk.root / "report.html").write_text(page.replace("per seat", "per head"))
    assert desk.run("report", "-o", os.fspath(desk.root / "report.html")).code == 2
    assert written(desk, "--force") == page
    assert not [name for name in os.listdir(desk.root) if "tmp" in name]


def test_what_somebody_saves_meanwhile_stays(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    target = desk.root / "report.html"

    def save_and_render(*given):
        target.write_text("mine")
        return render_page(*given)

    monkeypatch.setattr("mabos_cli.services.operations.report.render_page", save_and_render)
    assert desk.run("report", "-o", os.fspath(target)).code == 5
    assert target.read_text() == "mine"


def test_what_is_derived_from_memory_is_not_ours_either(desk: Desk):
    desk.run("store", "We bill per seat", "--store", "long_term")
    derived = desk.folder() / "memory" / "mabos-memory-items.md"
    before = derived.read_bytes()
    assert desk.run("report", "-o", os.fspath(derived)).code == 2
    assert derived.read_bytes() == before


def test_odd_places(desk: Desk, tmp_path: Path):
    for place in ("", os.fspath(tmp_path), "/dev/null", os.fspath(tmp_path / "no" / "report.html")):
        said = desk.run("report", "--force", "-o", place)
        assert said.code == 2 and said.stderr.count("\n") == 2, said
    assert Path("/dev/null").is_char_device() and not (tmp_path / "no").exists()
    (tmp_path / "real.html").write_text("")
    (tmp_path / "link.html").symlink_to(tmp_path / "real.html")
    assert desk.run("report", "-o", os.fspath(tmp_path / "link.html")).code == 0
    assert (tmp_path / "link.html").is_symlink()
    check_page((tmp_path / "real.html").read_text("utf-8"))


def test_a_file_that_cannot_be_read_is_told_and_the_rest_is_shown(desk: Desk):
    desk.add_agent("ops")
    desk.put([note(1, "We bill per seat")])
    (desk.folder("ops") / "memory-store.json").write_text("{")
    (desk.folder() / "facts.json").write_text("[1,")
    (desk.folder("ops") / "agent.json").write_text('{"settings": {"bdi": {"chunk": "x"}}}')
    said = desk.run("report", "-o", "-")
    page = check_page(said.stdout)
    assert said.code == 0 and "We bill per seat" in page.text
    for cited in ("agents/ops/memory-store.json:1", "agents/main/facts.json:1", "agents/ops/agent.json"):
        assert cited in page.text and cited in said.stderr


def test_hostile_content_stays_content(desk: Desk):
    words = [*ATTACKS, "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "w" * 100_000]
    desk.put([note(n, word, importance=0.9, type=word[:60], tags=(word[:40],)) for n, word in enumerate(words)])
    for number, word in enumerate(words[:27]):
        flat = " ".join(word[:80].split())
        desk.run("fact", "assert", "--", f"s{number % 5} {flat}", flat or "p", f"o {flat}")
    page = check_page(written(desk))
    text = (desk.root / "report.html").read_text("utf-8")
    assert len(text) < 300_000
    assert not any((c < " " and c != "\n") or c in "\u202e\u2066\u200f\u061c\x7f\x9b" for c in text)
    assert "<script>alert(1)</script>" in page.text and "w" * 5000 not in text


def test_trust_counts_sources_too_and_secrets_are_not_shown(desk: Desk):
    source = note(1, "A page says so", trust="untrusted", importance=0.9)
    derived = note(2, "So it is", derived_from=(source.id,), trust="trusted", importance=0.9)
    leaked = note(3, "the login is PASSWORD=hunter2x!", importance=0.9)
    desk.put([derived, leaked])
    desk.archive([source])
    page = check_page(written(desk))
    assert page.text.count("untrusted") >= 2 and "So it is untrusted" in page.text
    assert "hunter2x" not in page.text and "[redacted:password]" in page.text
    assert "2 live memories 1 archived 1 untrusted" in page.text


def test_an_item_counts_once_however_often_it_left(desk: Desk):
    item = note(1, "We bill per seat")
    desk.put([item])
    desk.archive([item._replace(content="We bill per head"), note(2, "gone"), note(2, "gone again")])
    assert "1 live memory 1 archived" in check_page(written(desk)).text


def test_a_report_writes_nothing_but_the_page(desk: Desk):
    desk.put([note(1, "We bill per seat")])
    before = {path: path.read_bytes() for path in desk.root.rglob("*") if path.is_file()}
    desk.run("report", "-o", "-")
    after = {path: path.read_bytes() for path in desk.root.rglob("*") if path.is_file()}
    assert {path for path in after if after[path] != before.get(path)} <= {p for p in after if ".mabos" in p.parts}
    assert not (desk.root / ".mabos" / "receipts").exists()


def test_every_live_memory_is_on_the_page_and_what_is_archived_is_not(desk: Desk):
    made = [MemoryItem(f"M-{1770000000000 + n}-0000", f"memory {n}", created_at="2026-02-20") for n in range(200)]
    desk.put(made)
    desk.archive([note(1, "forgotten on purpose")])
    page = check_page(written(desk))
    assert all(each.id in page.text for each in made) and "160 more memories" in page.text
    assert "forgotten on purpose" not in page.text
