import json
import os
import shutil
from pathlib import Path

import pytest

from commands.desk import Desk
from mabos_cli.core.language.similar import word_set

MONOLITH = Path(__file__).parents[3] / "fixtures/monolith"
NOTES = ("MEMORY.md", "memory/2026-02-16.md", "memory/2026-02-17.md", "memory/2026-02-18.md")
LEDGER = "memory/archive/migrated.jsonl"
SECRET = "ghp_" + "x7Kq2LmN9pRs4TvW1yZa3BcD5eFg6HjK8uQi"


@pytest.fixture
def monolith(desk: Desk) -> Desk:
    for name in NOTES:
        desk.write(name, (MONOLITH / name).read_text("utf-8"))
    return desk


def migrate(desk: Desk, *words: str) -> dict:
    return desk.run("migrate", "--json", *words).data


def items(desk: Desk) -> list[dict]:
    path = desk.folder() / "memory-store.json"
    return json.loads(path.read_text("utf-8"))["long_term"] if path.exists() else []


def found(desk: Desk, text: str) -> dict:
    [item] = [item for item in items(desk) if text in item["content"]]
    return item


def tree(root: Path) -> dict[str, bytes]:
    """All files that git sees."""
    paths = (path for path in root.rglob("*") if path.is_file() and ".mabos" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def stamps(desk: Desk, *names: str) -> list[tuple[bytes, int]]:
    paths = [desk.folder() / name for name in names]
    return [(path.read_bytes(), path.stat().st_mtime_ns) for path in paths]


def took(data: dict) -> tuple[int, int, int]:
    return data["new"], data["merged"], data["known"]


def test_monolith_becomes_items_and_stays_as_it_is(monolith: Desk) -> None:
    before = stamps(monolith, *NOTES)
    data = migrate(monolith)
    assert stamps(monolith, *NOTES) == before
    assert data["entries"] == data["new"] + data["merged"] == len(data["items"])
    assert data["lines"] == data["in_entries"] + data["headings"] + sum(data["skipped"].values())
    assert [row["path"] for row in data["files"]] == [*NOTES]
    for row, (text, _) in zip(data["files"], before, strict=True):
        assert row["lines"] == sum(bool(line.strip()) for line in text.decode().split("\n"))
        assert row["lines"] == row["in_entries"] + row["headings"] + sum(row["skipped"].values())
    assert sum(data["by_type"].values()) == data["new"] == len(items(monolith))
    kinds = {"preference", "instruction", "person", "project", "decision", "lesson", "plan", "fact", "event"}
    assert kinds <= data["by_type"].keys()
    assert 5_500 < data["tokens"]["memory_md"] < 6_500 and data["tokens"]["index_md"] < 1_500


def test_every_item_cites_lines_that_hold_its_words(monolith: Desk) -> None:
    migrate(monolith)
    texts = {name: (monolith.folder() / name).read_text("utf-8").split("\n") for name in NOTES}
    for item in items(monolith):
        cited, _, titles = item["context"].partition(" · ")
        name, _, span = cited.partition(":")
        first, last = map(int, span.split("-"))
        assert item["source"] == f"migrate:{name}"
        lines = texts[name]
        heads = [lines[n - 1] for n, line in enumerate(lines) if line.startswith(("|---", "| ---"))]
        there = word_set(" ".join([*lines[first - 1 : last], titles, *(heads if lines[first - 1][0] == "|" else ())]))
        assert word_set(item["content"]) <= there, cited
    crates = found(monolith, "Crates must leave")
    assert crates["context"].endswith(" · Projects > Kyoto exhibition")
    assert crates["content"].startswith("Kyoto exhibition: Crates")
    assert "Crates must leave" in monolith.run("read", crates["context"].partition(" ")[0]).stdout


def test_what_the_notes_say_of_themselves_is_kept(monolith: Desk) -> None:
    migrate(monolith)
    quiet = found(monolith, "Quiet hours")
    assert (quiet["type"], quiet["importance"], quiet["tags"]) == (
        "preference",
        0.9,
        ["notifications"],
    )
    assert found(monolith, "Never send money")["importance"] == 0.95
    goal = found(monolith, "a faster shop that Jonas")
    assert (goal["observed_at"], goal["tags"]) == (
        "2026-01-12T00:00:00.000Z",
        ["web-shop-relaunch"],
    )
    assert found(monolith, "Opening on 2026-10-02")["tags"][-3:] == ["kyoto", "yuki", "exhibition"]
    assert "archived" in found(monolith, "Etsy shop was closed")["tags"]
    assert "done" in found(monolith, "Bank feed is matched")["tags"]
    gas = found(monolith, "Decided to repair the gas kiln")
    assert (gas["type"], gas["observed_at"]) == ("decision", "2025-11-14T00:00:00.000Z")
    call = found(monolith, "deliver 48 now")
    assert (call["type"], call["observed_at"]) == ("decision", "2026-02-16T14:05:00.000Z")
    assert {item["trust"] for item in items(monolith)} == {"agent"}


def test_text_says_what_to_do_next_where_the_index_is_smaller(monolith: Desk) -> None:
    assert "next:" not in monolith.run("migrate", NOTES[1]).stdout
    *_, tokens, following = monolith.run("migrate").stdout.splitlines()
    memory, index = (int(part.split()[-1]) for part in tokens.split(","))
    assert tokens.startswith("tokens: MEMORY.md ") and index < 1_500 < memory
    assert following.startswith("next: load memory/INDEX.md instead")
    monolith.write("MEMORY.md", "- A single short note about the harbour\n")
    assert monolith.run("migrate").stdout.splitlines()[-1].startswith("lines: ")


def test_a_second_run_leaves_no_trace(monolith: Desk) -> None:
    count = migrate(monolith)["entries"]
    before = tree(monolith.root)
    data = migrate(monolith)
    assert took(data) == (0, 0, count) and data["items"] == []
    assert tree(monolith.root) == before
    assert monolith.run("migrate").stdout == f"nothing new in 4 files: {count} known\n"


def test_a_clone_migrates_nothing_twice(monolith: Desk, tmp_path: Path) -> None:
    count = migrate(monolith)["entries"]
    shutil.rmtree(monolith.root / ".mabos")
    before = tree(monolith.root)
    assert took(migrate(monolith)) == (0, 0, count)
    assert tree(monolith.root) == before


def test_items_that_were_edited_merged_or_forgotten_do_not_come_back(desk: Desk) -> None:
    desk.write(
        "MEMORY.md",
        "# M\n## Facts\n- The vault key is with Ada in Uppsala\n- The office cat is called Miso\n- Rent is 900 EUR a month\n",
    )
    migrate(desk)
    ids = [item["id"] for item in items(desk)]
    desk.run("update", ids[0], "--content", "Something else entirely")
    desk.run("forget", ids[1])
    text = (desk.folder() / "MEMORY.md").read_text()
    (desk.folder() / "MEMORY.md").write_text(text.replace("## Facts\n", "## Facts\n\nNew words on top here.\n\n"))
    data = migrate(desk)
    assert took(data) == (1, 0, 3)
    assert [row["lines"] for row in data["items"]] == [[4, 4]]


@pytest.mark.parametrize("lost", ["all", "torn"])
def test_without_the_ledger_the_items_themselves_know(desk: Desk, lost: str) -> None:
    """As after a kill between the items and the ledger: live, archived and merged ones are known all the same."""
    desk.run("store", "The vault key is with Ada in Uppsala", "--type", "fact", "--store", "long_term")
    desk.write(
        "MEMORY.md",
        "- The vault key is with Ada, in Uppsala!\n- The office cat is called Miso\n- Rent is 900 EUR a month\n",
    )
    first = migrate(desk)
    assert took(first) == (2, 1, 0)
    desk.run("forget", next(row["id"] for row in first["items"] if "cat" in row["text"]))
    ledger = desk.folder() / LEDGER
    kept = ledger.read_bytes()
    ledger.write_bytes(b"" if lost == "all" else kept[:40])
    before = len(items(desk)), (desk.folder() / "memory-store.json").read_bytes()
    assert took(migrate(desk)) == (0, 0, 3)
    assert (len(items(desk)), (desk.folder() / "memory-store.json").read_bytes()) == before
    assert took(migrate(desk)) == (0, 0, 3)
    assert len(json.loads(ledger.read_bytes().split(b"\n")[-2])["taken"]) == 3


def test_changed_text_is_a_new_item_that_is_linked_to_the_old_one(desk: Desk) -> None:
    line = "- The nightly backup of the shop database takes {} minutes and goes to Helsinki\n"
    desk.write("MEMORY.md", line.format(38))
    [old] = migrate(desk)["items"]
    desk.write("MEMORY.md", line.format(52))
    data = migrate(desk)
    assert (data["new"], data["linked"], data["known"]) == (1, 1, 0)
    assert found(desk, "52")["related_to"] == [old["id"]]


def test_what_is_there_already_is_merged_and_what_stands_twice_is_told_once(desk: Desk) -> None:
    desk.run("store", "We bill per seat and month", "--type", "decision", "--store", "long_term")
    desk.write("MEMORY.md", "- We bill per seat and month!\n- Miso is the office cat of the house\n")
    desk.write("memory/pets.md", "- Miso is the office  cat of the house\n")
    data = migrate(desk)
    assert (data["new"], data["merged"], data["repeated"], data["entries"]) == (1, 1, 1, 3)


def test_the_log_of_today_is_not_touched(desk: Desk) -> None:
    desk.write("memory/2026-02-24.md", "# Today\n\nThe harbour is frozen over.\n")
    before = stamps(desk, "memory/2026-02-24.md")
    assert migrate(desk)["new"] == 1
    assert stamps(desk, "memory/2026-02-24.md") == before


def test_our_own_files_and_copies_are_no_notes(desk: Desk) -> None:
    """The logs of stored items, MEMORY.md of consolidated ones, and everything derived give nothing."""
    for text in ("Seats are billed monthly", "Seats are billed yearly"):
        desk.run("store", text, "--importance", "0.9", "--tag", "billing")
    desk.run("consolidate")
    desk.run("fact", "assert", "ada", "likes", "tea")
    desk.run("materialize")
    assert "^M-" in (desk.folder() / "MEMORY.md").read_text()
    data = migrate(desk)
    assert data["entries"] == 0 and data["skipped"].keys() == {"copy"}
    assert {row["path"] for row in data["files"]} == {"MEMORY.md", "memory/2026-02-24.md"}
    assert desk.run("migrate").stdout == "no entries in 2 files\n"


def test_new_agent_has_nothing_to_migrate(desk: Desk) -> None:
    assert migrate(desk)["entries"] == 0
    assert not (desk.folder() / LEDGER).exists()
    data = migrate(desk, "Memory.md")
    assert (data["entries"], data["skipped"]) == (0, {"template": 1})


def test_secrets_are_replaced_and_their_lines_named(desk: Desk) -> None:
    desk.write(
        "MEMORY.md",
        f"# M\n\n- Deploys:\n  - branch main\n  - token {SECRET}\n\n| Key | Value |\n|--|--|\n| password | hunter2xyz |\n",
    )
    said = desk.run("migrate", "--json")
    assert said.warnings == [
        "MEMORY.md:5: secret replaced in the item: github_token; it is still in the file",
        "MEMORY.md:9: secret replaced in the item: password; it is still in the file",
    ]
    assert SECRET in (desk.folder() / "MEMORY.md").read_text()
    for name, data in tree(desk.root).items():
        assert name.endswith("MEMORY.md") or SECRET.encode() not in data, name
    assert desk.run("migrate", "--json").warnings == []


def test_dry_run_shows_entries_and_writes_nothing(monolith: Desk) -> None:
    before = tree(monolith.root)
    said = monolith.run("migrate", "--dry-run")
    assert tree(monolith.root) == before
    assert "MEMORY.md:36-36 new preference 0.90 Quiet hours: 22:00 to 07:00" in said.stdout
    data = migrate(monolith, "--dry-run")
    assert data["dry_run"] and {row["id"] for row in data["items"]} == {None}
    real = migrate(monolith)
    assert [row | {"id": None} for row in real["items"]] == data["items"]


def test_small_entries_can_be_left_out(desk: Desk) -> None:
    desk.write("MEMORY.md", "- tiny\n- A sentence that is certainly longer than five tokens.\n")
    data = migrate(desk, "--min-tokens", "5")
    assert (data["new"], data["skipped"]) == (1, {"short": 1})
    assert migrate(desk)["new"] == 1


def test_large_entries_are_cut_by_the_settings(desk: Desk) -> None:
    desk.settle("migrate:\n  max_tokens: 20\n")
    desk.write(
        "MEMORY.md",
        "- Steps\n" + "".join(f"  - step {n} of the long way down to the sea\n" for n in range(6)),
    )
    data = migrate(desk)
    assert [row["lines"] for row in data["items"]] == [[1, 2], [3, 3], [4, 4], [5, 5], [6, 6], [7, 7]]
    assert max(len(item["content"]) for item in items(desk)) <= 80


def test_named_files_are_found_below_the_agent_and_on_disk(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("notes/old.md", "- From long ago, when the kiln was new\n")
    desk.write("memory/x.md", "- Another note about the same old kiln\n")
    assert [row["path"] for row in migrate(desk, "notes/old.md")["files"]] == ["notes/old.md"]
    monkeypatch.chdir(desk.folder() / "memory")
    assert [row["path"] for row in migrate(desk, "x.md", os.fspath(desk.folder() / "memory/x.md"))["files"]] == [
        "memory/x.md"
    ]


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("gone.md", 3, "no file gone.md for agent main"),
        ("memory", 2, "memory is a folder"),
        ("agent.json", 2, "agent.json is no file of notes"),
        ("memory/INDEX.md", 2, "memory/INDEX.md is derived from memory"),
        ("memory/domains/facts.md", 2, "memory/domains/facts.md is derived from memory"),
        ("/etc/hostname", 2, "/etc/hostname is not below the agent's folder"),
        ("latin.md", 4, "latin.md:2: not valid UTF-8"),
    ],
)
def test_bad_files_are_refused_and_nothing_changes(desk: Desk, name: str, code: int, message: str) -> None:
    desk.run("store", "The kiln is hot", "--type", "fact", "--store", "long_term")
    (desk.folder() / "latin.md").write_bytes(b"# A\nf\xfcr\n")
    desk.write("MEMORY.md", "- A note that would be taken\n")
    before = tree(desk.root)
    said = desk.run("migrate", "MEMORY.md", name)
    assert said.code == code and message in said.stderr, said.stderr
    assert tree(desk.root) == before


def test_bad_file_among_the_usual_ones_is_told_and_the_rest_is_taken(desk: Desk) -> None:
    desk.write("MEMORY.md", "- A note that is taken all the same\n")
    (desk.folder() / "memory").mkdir(exist_ok=True)
    (desk.folder() / "memory/latin.md").write_bytes(b"f\xfcr\n")
    said = desk.run("migrate", "--json")
    assert said.data["new"] == 1
    assert said.warnings == ["left out: memory/latin.md:1: not valid UTF-8"]


def test_bad_option_is_refused(desk: Desk) -> None:
    assert desk.run("migrate", "--min-tokens", "-1").code == 2
