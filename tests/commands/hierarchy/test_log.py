"""mabos log: old events into MEMORY.md, each once, and old logs into the archive, as they are."""

import json
import os
from pathlib import Path

import pytest

from commands.desk import Desk, Said, note
from mabos_cli.core.language.periods import find_day
from mabos_cli.formats.markdown.escape import is_as_generated, seal
from mabos_cli.services.hierarchy.log_consolidation import find_events, rules_of
from mabos_cli.workspace import files
from mabos_cli.workspace.memory.store import append_to_logs

DAY, OLD = "2026-02-24", "2026-01-05"
LOG = f"memory/{DAY}.md"


class Clerk:
    """A desk with a clock, and the few files that these tests look at."""

    def __init__(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        self.desk, self.clock = desk, monkeypatch
        self.folder = desk.folder()
        monkeypatch.setenv("MABOS_INDEX_VECTORS", "lexical")

    def at(self, day: str) -> "Clerk":
        assert find_day(day)
        self.clock.setenv("MABOS_NOW", f"{day}T12:00:00Z")
        return self

    def log(self, day: str, *lines: str) -> str:
        """A log of notes as a person writes them."""
        name = f"memory/{day}.md"
        self.desk.write(name, f"# {day} — Agent Log\n\n" + "".join(f"{line}\n" for line in lines))
        return name

    def do(self, *words: str) -> dict:
        said = self.desk.run(*words, "--json")
        return said.data

    def say(self, *words: str) -> str:
        said: Said = self.desk.run(*words)
        assert said.code == 0, said.stderr
        return said.stdout

    def take(self, *words: str) -> list[str]:
        return [row["text"] for row in self.do("log", "consolidate", *words)["taken"]]

    def archive(self, *words: str) -> list[str]:
        return [row["to"] for row in self.do("log", "archive", *words)["archived"]]

    def path(self, name: str) -> Path:
        return self.folder / name

    def text(self, name: str = "MEMORY.md") -> str:
        return self.path(name).read_bytes().decode("utf-8", "surrogateescape")

    @property
    def ledger(self) -> Path:
        return self.path("memory/archive/consolidated.jsonl")

    def files(self) -> dict[str, tuple[bytes, int]]:
        return {
            os.fspath(path): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in self.desk.root.rglob("*")
            if path.is_file() and not {"locks", "seen", "settings.cache"} & {*path.parts}
        }


@pytest.fixture
def clerk(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Clerk:
    return Clerk(desk, monkeypatch).at("2026-03-04")


# Consolidating


def test_important_event_goes_to_its_section_with_a_link(clerk: Clerk):
    clerk.log(DAY, "## Notes", "- Decision: keep Stripe", "- Coffee is out", "- Lesson (0.70): test restores")
    data = clerk.do("log", "consolidate")
    [row, lesson] = data["taken"]
    assert {k: v for k, v in row.items() if k not in ("id", "importance")} == {
        "day": DAY,
        "line": 4,
        "path": LOG,
        "category": "Important Decisions",
        "kind": "decision",
        "text": "keep Stripe",
    }
    assert (data["days"], data["events"], data["known"], data["dry_run"]) == (1, 3, 0, False)
    assert f"## Important Decisions\n\n- keep Stripe ([{DAY}:4]({LOG})) ^{row['id']}\n" in clerk.text()
    assert f"## Learned Patterns\n\n- test restores ([{DAY}:6]({LOG})) ^{lesson['id']}\n" in clerk.text()
    assert "Stripe" not in clerk.ledger.read_text()


def test_only_days_of_more_than_a_week_ago(clerk: Clerk):
    clerk.log(DAY, "- Decision: keep Stripe")
    assert clerk.at("2026-03-03").take() == []
    assert "no logs older than 7d" in clerk.say("log", "consolidate")
    assert clerk.take("--older-than", "6d", "--dry-run") == ["keep Stripe"]
    assert clerk.at("2026-03-04").take() == ["keep Stripe"]
    clerk.log("2026-03-04", "- Decision: today")
    assert clerk.take("--older-than", "0") == []


def test_item_keeps_its_id_and_its_recorded_importance(clerk: Clerk):
    clerk.at(DAY).do("store", "We bill per seat", "--type", "decision", "--importance", "0.55")
    item = clerk.do("store", "The vault is in Bern", "--type", "fact", "--importance", "0.9")["id"]
    assert clerk.at("2026-03-04").take() == ["The vault is in Bern"]
    assert f"- The vault is in Bern ([{DAY}:9]({LOG}#^{item})) ^{item}\n" in clerk.text()


def test_deleted_line_does_not_come_back(clerk: Clerk):
    clerk.log(DAY, "- Decision: keep Stripe")
    clerk.take()
    clerk.desk.write("MEMORY.md", "# Mine\n")
    assert clerk.take() == []
    clerk.log(DAY, "A line above.", "", "- Decision: keep stripe", "- Decision: add Adyen")
    assert clerk.take() == ["add Adyen"]
    assert "keep" not in clerk.text()


def test_second_run_writes_nothing_at_all(clerk: Clerk):
    clerk.log(DAY, "- Decision: keep Stripe")
    clerk.take()
    before = clerk.files()
    assert "1 day already processed" in clerk.say("log", "consolidate")
    assert clerk.take("--min-importance", "0.9") == []
    assert clerk.files() == before


def test_day_that_is_done_is_not_parsed_again(clerk: Clerk, monkeypatch: pytest.MonkeyPatch):
    for day in ("2025-11-01", "2026-02-01", DAY):
        clerk.log(day, "- Decision: keep Stripe")
    clerk.take()
    parsed = []
    monkeypatch.setattr(
        "mabos_cli.services.hierarchy.log_consolidation.parse_events",
        lambda text, day: parsed.append(day) or [],
    )
    clerk.take()
    assert parsed == []
    clerk.log(DAY, "- Decision: something else")
    clerk.take()
    assert parsed == ["2026-02-01", DAY], "what recurs is told by the thirty days before"


@pytest.mark.parametrize("cut", [0, 1])
def test_crash_between_memory_and_ledger_doubles_nothing(clerk: Clerk, cut: int):
    clerk.at(DAY).do("store", "We bill per seat", "--type", "decision")
    clerk.at("2026-03-10").log("2026-02-25", "- Decision: keep Stripe", "- Decision: keep Stripe")
    taken = clerk.take()
    assert len(taken) == 2
    lines = clerk.ledger.read_bytes().splitlines(keepends=True)
    clerk.ledger.write_bytes(b"".join(lines[:cut]) + lines[cut][:20])
    before = clerk.text()
    assert clerk.take() == []
    assert clerk.text() == before
    clerk.desk.write("MEMORY.md", "")
    assert clerk.take() == []


def test_lower_threshold_takes_the_rest_once(clerk: Clerk):
    clerk.log(DAY, "- Decision: keep Stripe", "- Coffee is out")
    assert clerk.take() == ["keep Stripe"]
    assert clerk.take("--min-importance", "0.3") == ["Coffee is out"]
    assert clerk.take("--min-importance", "0.3") == clerk.take() == []
    assert clerk.text().count("keep Stripe") == 1


def test_exact_repetition_is_taken_once(clerk: Clerk):
    clerk.log("2026-02-20", "- Decision: keep Stripe")
    assert clerk.take() == ["keep Stripe"]
    clerk.log("2026-02-22", "- Decision: Keep  STRIPE")
    data = clerk.do("log", "consolidate")
    assert (data["taken"], data["known"]) == ([], 1)


def test_recurring_note_is_a_recurring_task(clerk: Clerk):
    for day in (17, 19, 21, 23):
        clerk.log(
            f"2026-02-{day}",
            f"- Nightly backup took {day} minutes",
            f"- Lunch at noon with guest {'x' * day}",
        )
    [row] = clerk.do("log", "consolidate")["taken"]
    assert (row["day"], row["category"], row["kind"]) == ("2026-02-21", "Recurring Tasks", "note")
    assert clerk.take() == []


def test_recurring_days_is_a_setting(clerk: Clerk):
    clerk.desk.settle("log:\n  recurring_days: 2\n  min_importance: 0.61\n")
    for day in ("2026-02-22", "2026-02-23"):
        clerk.log(day, "- Nightly backup is done")
    assert clerk.take() == ["Nightly backup is done"]


def test_what_consolidate_wrote_is_known(clerk: Clerk):
    clerk.at(DAY).do("store", "Acme asked for SSO", "--tag", "acme", "--importance", "0.7")
    clerk.do("store", "Acme pays\nfor SSO", "--tag", "acme", "--importance", "0.8")
    clerk.do("store", "The office moves", "--importance", "0.9")
    clerk.do("consolidate")
    assert "[Consolidated from 2 memories]" in clerk.text()
    before = clerk.text()
    data = clerk.at("2026-03-04").do("log", "consolidate")
    assert (data["taken"], data["known"]) == ([], 4)
    assert clerk.text() == before
    clerk.desk.write("MEMORY.md", "")
    assert clerk.take("--min-importance", "0.1") == []


def test_forgotten_item_does_not_come_back(clerk: Clerk):
    wrong = clerk.at(DAY).do("store", "The key is 1234", "--priority", "high")["id"]
    alive = clerk.do("store", "The key is in the vault", "--priority", "high")["id"]
    clerk.do("forget", wrong)
    clerk.do("forget", alive)
    clerk.do("revive", alive)
    data = clerk.at("2026-03-04").do("log", "consolidate")
    assert [row["text"] for row in data["taken"]] == ["The key is in the vault"]
    assert data["known"] == 1


def test_dry_run_tells_the_same_and_writes_nothing(clerk: Clerk):
    clerk.log(DAY, "- Decision: keep Stripe")
    clerk.take("--min-importance", "0.9")
    before = clerk.files()
    told = clerk.do("log", "consolidate", "--dry-run")
    assert clerk.say("log", "consolidate", "--dry-run").startswith(
        f"would copy 1 of 1 event of 1 day to MEMORY.md\n  {DAY}:3 Important Decisions 0.80 keep Stripe\n"
    )
    assert clerk.files() == before
    assert clerk.do("log", "consolidate") == told | {"dry_run": False}


@pytest.mark.parametrize(
    "hostile",
    [
        "](x)",
        "^M-1-aaaa",
        "<!-- x",
        "# Heading",
        "a\n\n## Fake\n\n- b ^M-1-aaaa",
        "x ([2026-02-24:7](y)) ^log-1",
    ],
)
def test_hostile_content_stays_one_bullet(clerk: Clerk, hostile: str):
    item = clerk.at(DAY).do("store", hostile, "--type", "fact", "--priority", "high")["id"]
    assert clerk.at("2026-03-04").take() == [hostile]
    lines = clerk.text().split("\n")
    assert [line for line in lines if line.startswith("#")] == [lines[0], "## Facts"]
    [bullet] = [line for line in lines if line.startswith("- ")]
    assert bullet.endswith(f" ([{DAY}:3]({LOG}#^{item})) ^{item}")
    clerk.ledger.unlink()
    assert clerk.take() == []


@pytest.mark.parametrize(
    "form", [b"# M\r\n\r\n## FACTS\r\n\r\n- \xff mine", b"\xef\xbb\xbf## Facts\n\n- mine\n\n## Z\n"]
)
def test_file_of_a_person_keeps_its_form(clerk: Clerk, form: bytes):
    clerk.log(DAY, "- Fact: important is the vault")
    clerk.path("MEMORY.md").write_bytes(form)
    [row] = clerk.do("log", "consolidate")["taken"]
    end = b"\r\n" if b"\r" in form else b"\n"
    bullet = f"- important is the vault ([{DAY}:3]({LOG})) ^{row['id']}".encode() + end
    head, mine, rest = form.partition(b"mine")
    assert clerk.path("MEMORY.md").read_bytes() == head + mine + end + bullet + rest.removeprefix(b"\n")


def test_memory_that_is_missing_is_made(clerk: Clerk):
    clerk.log(DAY, "- Decision: keep Stripe")
    clerk.path("MEMORY.md").unlink()
    clerk.take()
    assert clerk.text().startswith("# MEMORY.md - Long-Term Memory (main)\n\n## Important Decisions\n\n- keep")


def test_unreadable_log_is_a_warning(clerk: Clerk, tmp_path: Path):
    clerk.log(DAY, "- Decision: keep Stripe")
    clerk.path("memory/2026-02-20.md").mkdir()
    clerk.path("memory/2026-02-21.md").symlink_to(tmp_path)
    clerk.path("memory/2026-02-22.md").write_bytes(b"- Decision: caf\xe9 is closed\n")
    assert clerk.take() == ["caf\ufffd is closed", "keep Stripe"]
    if os.geteuid():
        os.chmod(clerk.path(clerk.log("2026-02-23", "x")), 0)
        assert "2026-02-23" in clerk.desk.run("log", "consolidate", "--json").warnings[0]


def test_unreadable_log_does_not_stop_the_others(clerk: Clerk, monkeypatch: pytest.MonkeyPatch):
    clerk.log("2026-02-20", "- Decision: wait")
    clerk.log(DAY, "- Decision: keep Stripe")
    real = files.open_regular

    def fail(path: str) -> int:
        if path.endswith("2026-02-20.md"):
            raise OSError(5, "Input/output error")
        return real(path)

    monkeypatch.setattr(files, "open_regular", fail)
    said = clerk.desk.run("log", "consolidate", "--json")
    assert [row["text"] for row in said.data["taken"]] == ["keep Stripe"]
    assert said.warnings[0].startswith("the log of 2026-02-20 is left out: cannot read")
    monkeypatch.undo()
    clerk.at("2026-03-04")
    assert clerk.take() == ["wait"]


def test_receipt_names_what_was_taken(clerk: Clerk):
    clerk.log(DAY, "- Decision: keep Stripe")
    [row] = clerk.do("log", "consolidate")["taken"]
    [receipt] = (clerk.desk.root / ".mabos/receipts/2026-03-04.jsonl").read_text().splitlines()
    record = json.loads(receipt)
    assert (record["command"], record["ids"]) == ("log consolidate", [row["id"]])
    assert record["counts"] == {"days": 1, "events": 1, "taken": 1}


def test_another_run_in_between_is_noticed_under_the_lock(clerk: Clerk):
    from mabos_cli.services.hierarchy.log_consolidation import take_events

    clerk.log(DAY, "- Decision: keep Stripe")
    home = clerk.desk.home()
    rules = rules_of(home, None, None)
    found = find_events(home, rules)
    clerk.take()
    before = clerk.files()
    assert take_events(home, found, rules)[0].taken == ()
    assert clerk.files() == before


def test_bad_options_are_usage_errors(clerk: Clerk):
    assert clerk.desk.run("log", "consolidate", "--min-importance", "2").code == 2
    assert clerk.desk.run("log", "consolidate", "--older-than", "soon").code == 2
    assert clerk.desk.run("log", "archive", "--older-than", "soon").code == 2


# Archiving


def test_log_moves_byte_for_byte(clerk: Clerk):
    data = b"\xff# odd\r\n\r\nno end"
    clerk.log(DAY, "- young")
    clerk.path(f"memory/{OLD}.md").write_bytes(data)
    os.chmod(clerk.path(f"memory/{OLD}.md"), 0o640)
    assert clerk.archive() == [f"memory/archive/2026/{OLD}.md"]
    moved = clerk.path(f"memory/archive/2026/{OLD}.md")
    assert moved.read_bytes() == data and moved.stat().st_mode & 0o777 == 0o640
    assert not clerk.path(f"memory/{OLD}.md").exists() and clerk.path(LOG).exists()
    before = clerk.files()
    assert clerk.archive() == [] and clerk.files() == before
    assert clerk.say("log", "archive") == "nothing to archive: no logs older than 30d\n"


def test_only_our_logs_of_more_than_thirty_days_ago(clerk: Clerk, tmp_path: Path):
    for name in ("2026-02-01", "2026-02-02", "2026-01-05-notes", "2026-13-01", "2026-03-04"):
        clerk.desk.write(f"memory/{name}.md", "x\n")
    clerk.path("memory/2025-01-01.md").symlink_to(clerk.path("memory/2026-02-02.md"))
    clerk.path("memory/2025-01-02.md").mkdir()
    assert clerk.archive() == ["memory/archive/2026/2026-02-01.md"]
    assert clerk.archive("--older-than", "0") == ["memory/archive/2026/2026-02-02.md"]
    assert clerk.path("memory/2026-03-04.md").exists()


def test_newer_part_is_put_behind_the_archived_one(clerk: Clerk):
    clerk.log(OLD, "- one")
    clerk.archive()
    clerk.log(OLD, "- two")
    assert clerk.do("log", "archive")["archived"] == [
        {"from": f"memory/{OLD}.md", "to": f"memory/archive/2026/{OLD}.md"}
    ]
    merged = f"# {OLD} — Agent Log\n\n- one\n\n- two\n"
    assert clerk.text(f"memory/archive/2026/{OLD}.md") == merged
    assert not clerk.path(f"memory/{OLD}.md").exists()
    clerk.log(OLD, "- two")  # killed before it could be removed
    clerk.archive()
    assert clerk.text(f"memory/archive/2026/{OLD}.md") == merged


def test_parts_without_a_last_line_end_do_not_run_together(clerk: Clerk):
    clerk.desk.write(f"memory/archive/2026/{OLD}.md", "- one")
    clerk.desk.write(f"memory/{OLD}.md", "- two")
    clerk.archive()
    assert clerk.text(f"memory/archive/2026/{OLD}.md") == "- one\n\n- two"


def test_save_while_it_is_merged_is_not_lost(clerk: Clerk, monkeypatch: pytest.MonkeyPatch):
    clerk.desk.write(f"memory/archive/2026/{OLD}.md", "- one\n")
    clerk.desk.write(f"memory/{OLD}.md", "- two\n")
    import mabos_cli.services.hierarchy.daily_logs as module

    real, saves = module.replace_file, []

    def save_then_replace(path, data, **how):
        if not saves:
            saves.append(clerk.desk.write(f"memory/{OLD}.md", "- two\n- three\n"))
        real(path, data, **how)

    monkeypatch.setattr(module, "replace_file", save_then_replace)
    clerk.archive()
    assert clerk.text(f"memory/archive/2026/{OLD}.md") == "- one\n\n- two\n- three\n"


def test_odd_thing_in_the_way_is_left_alone(clerk: Clerk):
    clerk.log(OLD, "- one")
    clerk.log("2026-01-06", "- two")
    clerk.path(f"memory/archive/2026/{OLD}.md").mkdir(parents=True)
    said = clerk.desk.run("log", "archive", "--json")
    assert len(said.data["archived"]) == 1 and OLD in said.warnings[0]
    assert clerk.path(f"memory/{OLD}.md").exists()


def test_links_lead_to_the_archive(clerk: Clerk):
    clerk.log(OLD, "- Decision: keep Stripe")
    clerk.log(DAY, "- young")
    link = f"[{OLD}:3](memory/{OLD}.md#x) and [young]({LOG}), memory/{OLD}.md\r\n"
    clerk.desk.write("MEMORY.md", link)
    week = f"# Week\n\n[Mon](../{OLD}.md)\n[Tue](../{DAY}.md)\n"
    clerk.desk.write("memory/weekly/2026-W02.md", seal(week))
    clerk.desk.write("memory/monthly/2026-01.md", seal(week) + "mine")
    told = clerk.do("log", "archive", "--dry-run")
    assert told["links"] == 3
    assert clerk.do("log", "archive") == told | {"dry_run": False}
    assert clerk.text() == link.replace(f"(memory/{OLD}", f"(memory/archive/2026/{OLD}")
    new = week.replace(f"../{OLD}", f"../archive/2026/{OLD}")
    assert clerk.text("memory/weekly/2026-W02.md") == seal(new)
    edited = clerk.text("memory/monthly/2026-01.md")
    assert edited == new + seal(week)[len(week) :] + "mine" and not is_as_generated(edited)
    before = clerk.files()
    clerk.do("log", "archive")
    assert clerk.files() == before


def test_links_that_a_killed_run_left_are_mended_by_the_next(clerk: Clerk):
    clerk.log(OLD, "- one")
    clerk.archive()
    clerk.desk.write("MEMORY.md", f"[a](memory/{OLD}.md)\n")
    assert clerk.say("log", "archive") == "rewrote 1 link\n"
    assert clerk.text() == f"[a](memory/archive/2026/{OLD}.md)\n"


def test_file_with_links_that_cannot_be_written_is_a_warning(clerk: Clerk, tmp_path: Path):
    clerk.log(OLD, "- one")
    (tmp_path / "m.md").write_text(f"[a](memory/{OLD}.md)\n")
    clerk.path("MEMORY.md").unlink()
    clerk.path("MEMORY.md").symlink_to(tmp_path / "m.md")
    said = clerk.desk.run("log", "archive", "--json")
    assert len(said.data["archived"]) == 1 and "MEMORY.md" in said.warnings[0]
    assert (tmp_path / "m.md").read_text() == f"[a](memory/{OLD}.md)\n"


def test_archived_log_is_read_by_its_first_name(clerk: Clerk):
    name = clerk.log(OLD, "- one", "- two")
    clerk.archive()
    data = clerk.do("read", f"{name}:3-4")
    assert data["path"] == f"memory/archive/2026/{OLD}.md" and data["content"] == "- one\n- two"
    assert clerk.desk.run("read", "memory/2026-01-06.md").code == 3


def test_archived_log_is_still_found_and_copies_stay_collapsed(clerk: Clerk):
    item = clerk.at(OLD).do("store", "The vault is in Bern", "--store", "long_term")["id"]
    clerk.desk.write(f"memory/{OLD}.md", clerk.text(f"memory/{OLD}.md") + "\n## Notes\n\n- The cat is in Rome\n")
    before = [clerk.desk.recall(words).refs for words in ("vault Bern", "cat Rome")]
    assert before[0][0] == item and before[1][0].startswith(f"memory/{OLD}.md:")
    assert not any(ref.startswith(f"memory/{OLD}.md:3") for ref in before[0])
    clerk.at("2026-03-04").archive()
    after = [clerk.desk.recall(words).refs for words in ("vault Bern", "cat Rome")]
    moved = [[ref.replace("memory/", "memory/archive/2026/") for ref in refs] for refs in before]
    assert after == moved


def test_archived_events_are_still_consolidated(clerk: Clerk):
    clerk.log(OLD, "- Decision: keep Stripe")
    clerk.archive()
    clerk.log(OLD, "- Decision: add Adyen")
    rows = clerk.do("log", "consolidate")["taken"]
    assert [row["path"] for row in rows] == [f"memory/archive/2026/{OLD}.md", f"memory/{OLD}.md"]
    assert f"[{OLD}:3](memory/archive/2026/{OLD}.md)" in clerk.text()
    clerk.archive()
    assert f"- add Adyen ([{OLD}:3](memory/archive/2026/{OLD}.md))" in clerk.text()
    assert clerk.take() == []


def test_moving_a_log_is_no_reason_to_parse_it_again(clerk: Clerk):
    clerk.log(OLD, "- Decision: keep Stripe")
    clerk.take()
    clerk.archive()
    assert clerk.do("log", "consolidate")["days"] == 0


def test_recovery_finds_entries_in_the_archive(clerk: Clerk):
    items = [note(n, f"text {n}", created_at=f"{OLD}T10:00:00.000Z") for n in (1, 2)]
    paths = clerk.desk.home().paths
    append_to_logs(paths, items[:1])
    clerk.archive()
    append_to_logs(paths, items, again=True)
    assert "text 1" not in clerk.text(f"memory/{OLD}.md") and "text 2" in clerk.text(f"memory/{OLD}.md")
    append_to_logs(paths, items, again=True)
    assert clerk.text(f"memory/{OLD}.md").count("text 2") == 1


def test_text_of_archiving_names_the_days(clerk: Clerk):
    for day in ("2026-01-05", "2026-01-06", "2026-01-09"):
        clerk.log(day, "- x")
    clerk.desk.write("MEMORY.md", "[a](memory/2026-01-05.md)\n")
    before = clerk.files()
    assert clerk.say("log", "archive", "--dry-run") == (
        "would archive 3 logs, 2026-01-05 to 2026-01-09\n  would rewrite 1 link\n"
    )
    assert clerk.files() == before
    assert clerk.say("log", "archive") == "archived 3 logs, 2026-01-05 to 2026-01-09\n  rewrote 1 link\n"
    receipt = json.loads((clerk.desk.root / ".mabos/receipts/2026-03-04.jsonl").read_text())
    assert (receipt["command"], receipt["counts"]) == ("log archive", {"logs": 3, "links": 1})
