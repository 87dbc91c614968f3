"""Building the hierarchy: which files there are, what is written again, odd logs and damaged caches."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest
import yaml
from commands.desk import Desk
from workspace.logbook import Logbook, entry

from mabos_cli.formats.hierarchy.summary_md import parse_summary

YEAR_END = ("2024-12-29", "2024-12-30", "2025-01-01", "2026-12-31", "2027-01-01", "2027-01-04")
SPRING = ("2026-01-05", "2026-02-02", "2026-02-10", "2026-02-24", "2026-03-01", "2026-03-03", "2026-04-01")


@pytest.fixture
def book(quick: Path, still_world: None, monkeypatch: pytest.MonkeyPatch) -> Logbook:
    """A fresh workspace without logs."""
    return Logbook(Desk(quick / "ws"), monkeypatch)


@pytest.fixture
def spring(book: Logbook) -> Logbook:
    """A few months of logs, with all summaries."""
    book.spread(*SPRING)
    book.build()
    return book


def test_files_of_all_levels_lie_in_their_folders(book: Logbook):
    book.spread("2026-02-24", "2026-02-28", "2026-03-01")
    assert book.build() == ["2026-W09", "2026-02", "2026-03", "2026-Q1"]
    assert book.names() == ["2026-02", "2026-03", "2026-Q1", "2026-W09"]
    assert "Coverage: 3 of 7 days" in book.text("2026-W09")
    assert [re.findall(r"Coverage: (\d+)", book.text(n)) for n in ("2026-02", "2026-03")] == [["2"], ["1"]]


def test_years_turn_as_iso_weeks_do(book: Logbook):
    book.spread(*YEAR_END)
    book.build()
    assert [n for n in book.names() if "W" in n] == ["2024-W52", "2025-W01", "2026-W53", "2027-W01"]
    assert 'sources: ["2024-12-30", "2025-01-01"]' in book.text("2025-W01")
    assert "30 December 2024 to 5 January 2025" in book.text("2025-W01")
    assert "../weekly/2025-W01.md" in book.text("2024-12") and "../weekly/2025-W01.md" in book.text("2025-01")
    assert "../weekly/2026-W53.md" in book.text("2027-01")
    assert book.broken_links() == []


def test_each_day_counts_once_in_months_and_quarters(spring: Logbook):
    heads = {n: yaml.safe_load(spring.text(n)[4:].split("\n---\n")[0]) for n in spring.names()}
    for marks in (("W",), ("Q",), ()):
        level = [h for n, h in heads.items() if (any(m in n for m in marks) if marks else len(n) == 7 and n[5] < "9")]
        assert sum(h["days"] for h in level) == len(SPRING)
        assert sum(h["entries"] for h in level) == 4 * len(SPRING)


def test_gaps_and_months_of_one_day_are_no_error(book: Logbook):
    book.spread("2025-03-31", "2026-02-28")
    assert book.build() == ["2025-W14", "2026-W09", "2025-03", "2026-02", "2025-Q1", "2026-Q1"]
    assert "Coverage: 1 of 31 days in 1 week" in book.text("2025-03")
    assert "Against" not in book.text("2026-02")


def test_no_logs_is_no_error(book: Logbook):
    before = book.stamps()
    assert book.say("build") == "no daily logs to summarize\n"
    assert book.stamps().keys() - before.keys() <= {".mabos/settings.cache"} and book.names() == []


def test_all_links_lead_to_files(spring: Logbook):
    spring.spread("2026-03-02", "2026-03-31")
    spring.build()
    assert spring.broken_links() == []


def test_the_links_of_a_week_at_the_end_of_the_logs_lead_to_files(book: Logbook):
    book.spread("2026-02-24")
    book.build()
    assert book.broken_links() == []


@pytest.mark.parametrize("words", [("--since", "2026-03-01"), ("--scope", "month"), ("--scope", "quarter")])
def test_links_downwards_lead_to_files_after_a_partial_build(book: Logbook, words):
    book.spread("2026-01-05", "2026-02-03", "2026-02-10", "2026-02-17", "2026-03-03", "2026-03-10")
    book.build(*words)
    assert [target for _, target in book.broken_links() if "quarterly" not in target] == []


def test_links_follow_logs_into_the_archive(spring: Logbook):
    assert spring.desk.run("log", "archive", "--older-than", "30d").code == 0
    assert not list(spring.memory.glob("2026-0*.md")) and spring.broken_links() == []
    before = spring.files()
    assert spring.build() == [] and spring.build("--force") == [] and spring.files() == before
    assert "../archive/2026/2026-02-24.md" in spring.text("2026-W09")
    assert all(parse_summary(spring.text(name)).untouched for name in spring.names())


def test_links_lead_into_the_archive_from_the_start(book: Logbook):
    book.spread(*SPRING)
    assert book.desk.run("log", "archive", "--older-than", "30d").code == 0
    book.build()
    assert book.broken_links() == []


def test_links_follow_logs_that_somebody_moved(spring: Logbook):
    (spring.memory / "archive/2026").mkdir(parents=True)
    for path in spring.memory.glob("2026-0*.md"):
        path.rename(spring.memory / "archive/2026" / path.name)
    spring.build()
    assert spring.broken_links() == []


def test_a_summary_whose_logs_are_gone_stays_and_is_reported(spring: Logbook):
    """It may be all that is left of them."""
    (spring.memory / "2026-04-01.md").unlink()
    assert "left memory/quarterly/2026-Q2.md: its logs are gone" in spring.say("build")
    assert "2026-Q2" in spring.names()


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs and summaries are old enough that their stamps can be trusted."""
    for module in ("services.hierarchy.daily_logs", "workspace.seen"):
        monkeypatch.setattr(f"mabos_cli.{module}.UNSETTLED", 0)


def test_a_second_run_writes_nothing_at_all(spring: Logbook, settled: None):
    spring.build()
    before = spring.stamps()
    assert spring.say("build") == f"nothing to build: {len(spring.names())} unchanged\n"
    assert spring.stamps() == before


def test_one_changed_day_rewrites_its_week_month_and_quarter(spring: Logbook):
    before, files = spring.stamps(), spring.files()
    spring.log("2026-02-24", "- Decision: change supplier")
    assert spring.build() == ["2026-W09", "2026-02", "2026-Q1"]
    changed = {name for name, stamp in spring.stamps().items() if before.get(name) != stamp}
    assert {Path(name).stem for name in changed if "/memory/" in name} == {
        *("2026-W09", "2026-02", "2026-Q1"),
        "2026-02-24",
    }
    after = spring.files()
    assert {n for n in after if after[n] != files[n]} == {"2026-W09", "2026-02", "2026-Q1"}


def test_a_new_day_writes_its_periods(spring: Logbook):
    spring.log("2026-03-02", "- words")
    assert spring.build() == ["2026-W10", "2026-03", "2026-Q1"]
    spring.log("2026-08-05", "- words")
    assert spring.build() == ["2026-W32", "2026-08", "2026-Q3"]


def test_a_touched_log_with_the_same_bytes_writes_nothing(spring: Logbook):
    os.utime(spring.memory / "2026-02-24.md")
    spring.log("2026-03-01", "x")
    spring.spread(*SPRING)
    assert spring.build() == []


def test_without_caches_the_same_bytes_come_out(spring: Logbook):
    before = spring.files()
    shutil.rmtree(spring.desk.root / ".mabos")
    assert spring.build() == [] and spring.files() == before
    for path in map(spring.path, spring.names()):
        path.unlink()
    spring.build()
    assert spring.files() == before, "from caches"
    shutil.rmtree(spring.desk.root / ".mabos")
    for path in map(spring.path, spring.names()):
        path.unlink()
    spring.build()
    assert spring.files() == before, "from logs"


BAD_NOTES = [
    b'{"by": 1}',
    b'{"by": "0.1.0", "seen": []}',
    b'{"by": "0.1.0", "seen": {"weekly/2026-W09.md": 5}}',
    b"[" * 100_000,
]


def damage(book: Logbook, name: str, data: bytes) -> None:
    (book.desk.root / ".mabos" / name).write_bytes(data)


@pytest.mark.parametrize("name", ["seen/main/days.json", "seen/main/themes.json", "hierarchy/main/2026-02.cache"])
def test_a_damaged_cache_is_ignored(spring: Logbook, settled: None, name: str):
    before = spring.files()
    for data in (b"", b"{", b"[]", b"null", b"\xff", b'{"version": 0}', b"7"):
        damage(spring, name, data)
        assert spring.build() == []
        damage(spring, name, data)
        assert spring.build("--force") == [] and spring.files() == before


@pytest.mark.parametrize("data", BAD_NOTES)
def test_damaged_notes_are_ignored(spring: Logbook, settled: None, data: bytes):
    damage(spring, "seen/main/summaries.json", data)
    assert spring.build() == [] and spring.build("--force") == []


@pytest.mark.parametrize("value", [5, [[1]]])
def test_damaged_themes_are_ignored(spring: Logbook, value: object):
    path = spring.desk.root / ".mabos/seen/main/themes.json"
    known = json.loads(path.read_bytes().partition(b"\n")[2])
    bad = {name: value if value == 5 else [state, value] for name, (state, _) in known["seen"].items()}
    damage(spring, "seen/main/themes.json", json.dumps(known | {"seen": bad}).encode())
    assert bad and spring.build("--force") == []


@pytest.mark.parametrize("place, value", [(3, None), (3, {"decision": "a"}), (4, {"x": [1, 2, 3, 4]})])
def test_a_cache_with_wrong_values_is_ignored(spring: Logbook, place: int, value: object):
    before = spring.files()
    path = spring.desk.root / ".mabos/hierarchy/main/2026-02.cache"
    body = json.loads(path.read_bytes().partition(b"\n")[2])
    for fields in body["segments"].values():
        fields[place] = value
    path.write_text(json.dumps(body))
    assert spring.build("--force") == [] and spring.files() == before


@pytest.mark.parametrize("place", [".mabos/hierarchy", ".mabos/seen/main/days.json"])
def test_a_cache_that_is_no_file_is_ignored(book: Logbook, place: str):
    (book.desk.root / place).mkdir(parents=True)
    if place.endswith("hierarchy"):
        (book.desk.root / place).rmdir()
        (book.desk.root / place).touch()
    book.spread("2026-02-24")
    assert len(book.build()) == 3 and book.build() == []


@pytest.mark.parametrize(
    "data",
    [
        *(
            b"",
            b"\n\n",
            b"# 2026-02-24\n",
            b"---\ntitle: x\n---\n",
            b"<!-- nothing -->\n",
            b"```\ncode\n```\n",
        ),
        *(b"\xef\xbb\xbf", b"\x00\x00"),
    ],
)
def test_a_log_that_tells_nothing_makes_no_files(book: Logbook, data: bytes):
    book.put("2026-02-24", data)
    assert book.build() == [] and book.names() == []
    book.spread("2026-03-10")
    assert book.build() == ["2026-W11", "2026-03", "2026-Q1"]
    assert "Coverage: 1 of 90 days" in book.text("2026-Q1")


def test_a_log_that_tells_nothing_does_not_make_a_month_change_with_the_scope(book: Logbook):
    book.spread("2026-02-17")
    book.put("2026-02-24", "")
    book.build()
    assert book.build("--scope", "month") == [] and book.build() == []


def test_a_mistyped_year_does_not_stop_the_others(book: Logbook):
    book.spread("2026-02-24")
    book.log("0206-02-24", "- words")
    assert "2026-W09" in book.build()


@pytest.mark.parametrize(
    "text",
    [
        "caf\xe9 is closed".encode("latin-1"),
        b"- one\r\n- two\r\n",
        b"\xef\xbb\xbf- one\n",
        b"---\ntitle: x\n---\n- one\n",
        b"- " + b"w" * 200_000,
        b"- a line\n" * 5_000,
        b"## fact (10:00 UTC)\n\nof another tool\n\n(tool) ^mem-x\n",
        entry(1, "two\nlines", tags=("a", "b")).encode(),
    ],
)
def test_logs_of_all_sorts_are_summed_up(book: Logbook, text: bytes):
    book.put("2026-02-25", text)
    book.spread("2026-03-01")
    assert book.build() == ["2026-W09", "2026-02", "2026-03", "2026-Q1"]
    assert "## Wednesday 2026-02-25" in book.text("2026-W09") and book.broken_links() == []
    assert all(len(data) < 3000 for data in book.files().values()) and book.build() == []


def test_names_that_are_no_days_and_links_are_nobodys_logs(book: Logbook, tmp_path: Path):
    for name in ("2026-13-45", "2026-02-30", "notes", "2026-02-24-1500", "2026-2-4", " 2026-02-24"):
        book.log(name, "- words")
    (book.memory / "2026-02-24.txt").write_text("words")
    (book.memory / "2026-02-25.md").mkdir()
    (tmp_path / "out.md").write_text("- secret words")
    (book.memory / "2026-02-26.md").symlink_to(tmp_path / "out.md")
    (book.memory / "2026-02-27.md").symlink_to("nowhere.md")
    book.put("2025-02-27", "- wrong year", "archive/2026")
    assert book.build() == [] and book.names() == []


def test_a_day_with_an_archived_and_a_newer_log_tells_both(book: Logbook):
    book.put("2026-02-24", "- Decision: the old way\n", "archive/2026")
    book.spread("2026-03-01")
    book.put("2026-02-24", "- Decision: the new way\n")
    book.build()
    assert "Coverage: 2 of 7 days" in book.text("2026-W09")
    assert "the old way" in book.text("2026-02") and "the new way" in book.text("2026-02")


def test_a_line_of_the_archived_part_leads_into_the_archive(book: Logbook):
    book.put("2026-02-24", entry(1, "the old way", type="decision", importance=0.9), "archive/2026")
    book.put("2026-02-24", "- words\n")
    book.build()
    assert re.search(r"the old way \(\[:\d+\]\(\.\./archive/2026/2026-02-24\.md", book.text("2026-W09"))


def test_sizes_stay_near_the_settings(book: Logbook):
    for month in (1, 2, 3):
        for day in range(1, 29):
            lines = (f"- Decision: raise price {n} for berth {day} of pier {month} #pricing" for n in range(40))
            book.log(f"2026-{month:02d}-{day:02d}", *lines)
    book.build()
    limits = {"W": 3000, "Q": 5000}
    assert all(len(data) <= limits.get(name[5], 4000) for name, data in book.files().items())
    book.desk.settle("hierarchy:\n  week_bytes: 2000\n  month_bytes: 2000\n  quarter_bytes: 2000\n")
    assert len(book.build()) == len(book.names()) and max(map(len, book.files().values())) < 2600


def test_a_log_that_cannot_be_read_does_not_stop_the_others(book: Logbook, monkeypatch: pytest.MonkeyPatch):
    book.spread("2026-02-24", "2026-03-10")
    real = Path.read_bytes

    def fail(path: Path) -> bytes:
        if path.name == "2026-02-24.md":
            raise OSError(5, "Input/output error")
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", fail)
    said = book.run("build")
    assert said.code == 0 and "2026-W11" in book.names()
