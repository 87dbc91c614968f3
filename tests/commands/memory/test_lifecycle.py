"""lifecycle run: what it archives, what stops it, what it writes down, and how it is undone."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from commands.desk import note
from mabos_cli.core.language.clock import format_time

NOW = datetime(2026, 2, 24, 14, 30, tzinfo=UTC)
PAGES = {
    "MABOS_MEMORY_SPLIT_ABOVE": "20",
    "MABOS_MEMORY_PAGE_ITEMS": "10",
    "MABOS_MEMORY_MATERIALIZE_SPLIT_ABOVE": "15",
}


@pytest.fixture(autouse=True)
def words_alone(monkeypatch):
    """A recall finds what it names and no relatives by meaning: whatever it finds is used."""
    monkeypatch.setenv("MABOS_INDEX_VECTORS", "lexical")


def ago(days):
    return format_time(NOW - timedelta(days=days))


def old(number, days, text="", **fields):
    """A long-term note that was last used so many days ago."""
    return note(number, text or f"remark {number}", created_at=ago(days), accessed_at=ago(days), **fields)


@pytest.fixture
def later(monkeypatch):
    """Moves the clock to so many days behind the start."""

    def move(days):
        monkeypatch.setenv("MABOS_NOW", format_time(NOW + timedelta(days=days)))

    return move


@pytest.fixture
def filled(desk):
    """Twelve items, of which three go: two are unused, one of them high, and one is past its date."""
    items = [old(n, 1, text) for n, text in enumerate("the gate|the fence|a lamp|some rope|two nails".split("|"))]
    items += [
        old(10, 40, "the plumber drinks tea", trust="untrusted"),
        old(11, 100, "the vault opens at nine", importance=0.9),
        old(12, 1, "the offer ends in January", importance=1.0, expires_at=ago(3)),
        old(13, 500, "the house was built in 1911", importance=0.95),
        old(14, 40, "the mill is closed", importance=0.8),
        old(15, 25, "the well is deep"),
        old(16, 1, "the barn is red"),
    ]
    desk.put(items)
    return desk


GOING = [note(n, "").id for n in (10, 11, 12)]


def run(desk, *words):
    return desk.run("lifecycle", "run", *words)


def files(desk):
    """Every file of the workspace by path, but for what reading commands may make: index and cache of settings."""
    paths = (path for path in desk.root.rglob("*") if path.is_file() and path.name != "settings.cache")
    named = {path.relative_to(desk.root).as_posix(): path.read_bytes() for path in paths}
    return {name: data for name, data in named.items() if not name.startswith(".mabos/index/")}


def receipts(desk, command="lifecycle"):
    paths = sorted((desk.root / ".mabos").glob("receipts/*.jsonl"))
    found = [json.loads(line) for path in paths for line in path.open()]
    return [receipt for receipt in found if receipt["command"] == command]


def state(desk, item_id):
    found = desk.run("get", item_id, "--json").data
    return found["state"], found["history"][-1]["reason"] if found["history"] else ""


# What it does


def test_unused_and_expired_items_are_archived(filled):
    said = run(filled)
    assert (said.code, said.stderr) == (0, "")
    assert said.stdout.split("\n") == [
        "archived 3 of 12 items: 2 unused, 1 expired; 1 more fades within 7 days",
        "  critical 1  high 1  other 1",
        "  untrusted 1  agent 2",
        "",
    ]
    assert [state(filled, item_id) for item_id in GOING] == [
        ("archived", "unused: 40 days"),
        ("archived", "unused: 100 days"),
        ("archived", "expired"),
    ]
    assert state(filled, note(13, "").id) == ("live", "")
    assert filled.run("status", "--json").data["stores"]["long_term"] == 9
    assert filled.run("doctor", "--check").code == 0


def test_the_second_run_has_nothing_to_do(filled):
    run(filled)
    before = files(filled)
    said = run(filled)
    assert (said.code, said.stdout) == (0, "nothing to archive; 1 fades within 7 days\n")
    assert files(filled) == before


def test_nothing_at_all(desk):
    said = run(desk)
    assert (said.code, said.stdout) == (0, "nothing to archive\n")
    assert run(desk, "--json").data["live"] == 0
    assert receipts(desk) == []


def test_json_of_a_run(filled):
    said = run(filled, "--json")
    assert json.loads(said.stdout)["schema"] == "mabos.lifecycle.run.v1"
    assert said.data == {
        "dry_run": False,
        "live": 12,
        "archived": 3,
        "needs_yes": False,
        "held": 0,
        "by": [
            {"reason": "expired", "tier": "critical", "trust": "agent", "count": 1},
            {"reason": "unused", "tier": "high", "trust": "agent", "count": 1},
            {"reason": "unused", "tier": "other", "trust": "untrusted", "count": 1},
        ],
        "fading": 1,
        "tidied": 0,
        "items": [
            {
                "id": GOING[0],
                "store": "long_term",
                "tier": "other",
                "trust": "untrusted",
                "reason": "unused",
                "days": 40,
            },
            {
                "id": GOING[1],
                "store": "long_term",
                "tier": "high",
                "trust": "agent",
                "reason": "unused",
                "days": 100,
            },
            {
                "id": GOING[2],
                "store": "long_term",
                "tier": "critical",
                "trust": "agent",
                "reason": "expired",
                "days": 1,
            },
        ],
    }


def test_the_receipt_counts_and_names_nobody(filled):
    run(filled)
    [receipt] = receipts(filled)
    assert receipt["ids"] == []
    assert receipt["counts"] == {
        "dropped": 3,
        "archived": 3,
        "expired/critical/agent": 1,
        "unused/high/agent": 1,
        "unused/other/untrusted": 1,
    }


def test_other_commands_still_name_ids(filled):
    filled.run("store", "a short one", "--defer")
    run(filled)
    filled.run("store", "another one")
    assert [len(receipt["ids"]) for receipt in receipts(filled, "store")] == [1]
    [receipt] = receipts(filled)
    assert (receipt["ids"], receipt["counts"]["logged"]) == ([], 1)


def test_the_other_stores_keep_their_own_rules(desk):
    working, short = [old(1, 50), old(2, 50, expires_at=ago(1))], [old(3, 50, importance=0.9), old(4, 50)]
    desk.put([old(n, 1) for n in range(10, 20)], working=working, short_term=short)
    said = run(desk, "--json").data
    assert [(row["id"], row["store"]) for row in said["items"]] == [(working[1].id, "working")]
    assert (said["live"], said["archived"], said["tidied"]) == (14, 1, 1)
    assert [state(desk, item.id) for item in (*working, *short)] == [
        ("live", ""),
        ("archived", "expired"),
        ("live", ""),
        ("archived", "expired"),
    ]
    assert receipts(desk)[0]["counts"]["tidied"] == 1


def test_what_is_tidied_alone_is_said_too(desk):
    desk.put([], short_term=[old(n, 1) for n in range(3)])
    assert run(desk, "--dry-run").stdout == "nothing to archive; short-term memory lets go of 3\n"
    assert run(desk).stdout == "nothing to archive; short-term memory lets go of 3\n"
    [receipt] = receipts(desk)
    assert (receipt["ids"], receipt["counts"]) == ([], {"archived": 3, "tidied": 3})


def test_quiet_says_nothing(filled):
    said = run(filled, "--quiet")
    assert (said.code, said.stdout, said.stderr) == (0, "", "")


def test_the_times_are_settings(filled):
    filled.settle("lifecycle:\n  high_unused: 30d\n  notice: 1h\n  fuse: 0.5\ntypes:\n  fact: long_term 20d\n")
    said = run(filled, "--dry-run")
    assert said.stdout.startswith("would archive 5 of 12 items: 4 unused, 1 expired\n  critical 1  high 2  other 2\n")


@pytest.mark.parametrize("bad", ["high_unused: soon", "fuse: 2", "notice: -1"])
def test_bad_settings_are_refused(filled, bad):
    filled.settle(f"lifecycle:\n  {bad}\n")
    said = run(filled)
    assert said.code == 4 and "mabos.yaml:2" in said.stderr


# The fuse


@pytest.fixture
def worn(desk):
    """Five of eight items are unused."""
    desk.put([old(n, 40 if n < 5 else 1) for n in range(8)])
    return desk


def test_a_run_takes_no_more_than_the_fuse_and_the_next_ones_take_the_rest(worn):
    said = run(worn)
    assert said.code == 0
    assert said.stdout.startswith("archived 2 of 8 items: 2 unused\n3 more items would be too many for one run: ")
    assert [run(worn, "--json").data["archived"] for _ in range(4)] == [1, 1, 1, 0]


def test_yes_overrides_the_fuse(worn):
    assert run(worn, "--dry-run", "--json").data["held"] == 3
    data = run(worn, "--yes", "--json").data
    assert (data["archived"], data["held"], data["needs_yes"]) == (5, 0, False)
    assert worn.run("status", "--json").data["stores"]["long_term"] == 3


# A dry run


def test_a_dry_run_changes_nothing(filled):
    before = files(filled)
    said = run(filled, "--dry-run")
    assert files(filled) == before
    assert said.stdout.split("\n") == [
        "would archive 3 of 12 items: 2 unused, 1 expired; 1 more fades within 7 days",
        "  critical 1  high 1  other 1",
        "  untrusted 1  agent 2",
        f"  {GOING[2]}  critical  expired   the offer ends in January",
        f"  {GOING[1]}  high      100 days  the vault opens at nine",
        f"  {GOING[0]}  other     40 days   the plumber drinks tea",
        "",
    ]


def test_a_dry_run_shows_what_the_run_does(filled):
    shown, done = run(filled, "--dry-run", "--json").data, run(filled, "--json").data
    assert shown | {"dry_run": False} == done


def test_a_dry_run_lists_twenty_and_counts_the_rest(desk):
    desk.put([old(n, 40) for n in range(27)])
    lines = run(desk, "--dry-run", "--yes").stdout.split("\n")
    assert sum(line.startswith("  M-") for line in lines) == 20
    assert lines[-2:] == ["  and 7 more", ""]
    assert len(run(desk, "--dry-run", "--yes", "--json").data["items"]) == 27


def test_a_dry_run_draws_what_could_control_a_terminal(desk):
    desk.put([old(1, 40, "red \x1b[31malert\n# and a heading", trust="\x1b[2J")])
    said = run(desk, "--dry-run")
    assert "\x1b" not in said.stdout
    assert "red ␛[31malert # and a heading\n" in said.stdout


def test_a_read_only_workspace_can_be_looked_at(filled):
    (filled.root / ".mabos").touch()
    assert run(filled, "--dry-run").code == 0
    assert run(filled).code == 4


# Use


@pytest.mark.parametrize("words", [("get", GOING[0]), ("context", "pack", "plumber")], ids=["get", "pack"])
def test_being_opened_or_packed_resets_the_clock_though_it_is_only_journalled(filled, words):
    before = (filled.folder() / "memory-store.json").read_bytes()
    assert filled.run(*words).code == 0
    assert (filled.folder() / "memory-store.json").read_bytes() == before
    assert {row["id"] for row in run(filled, "--json").data["items"]} == {*GOING[1:]}
    assert state(filled, GOING[0]) == ("live", "")


def test_reinforcing_and_storing_again_are_uses(filled):
    filled.run("reinforce", GOING[0])
    filled.run("store", "the vault opens at nine", "--store", "long_term")
    assert [row["id"] for row in run(filled, "--json").data["items"]] == [GOING[2]]


def test_a_hit_of_a_recall_is_no_use(filled):
    assert filled.recall("plumber").refs == [GOING[0]]
    assert GOING[0] in {row["id"] for row in run(filled, "--json").data["items"]}


def test_use_raises_no_trust(filled, later):
    filled.run("get", GOING[0])
    filled.run("get", GOING[0])
    later(31)
    run(filled, "--yes")
    assert receipts(filled)[0]["counts"]["unused/other/untrusted"] == 1


def test_use_counts_from_its_own_moment(filled, later):
    later(20)
    filled.run("get", GOING[0])
    later(50)
    assert GOING[0] not in {row["id"] for row in run(filled, "--dry-run", "--yes", "--json").data["items"]}
    later(51)
    assert GOING[0] in {row["id"] for row in run(filled, "--dry-run", "--yes", "--json").data["items"]}


# Archived, and back


def test_archived_items_are_found_and_marked(filled):
    assert (
        filled.recall("offer").data["results"][0]["archived"] == "expired"
    )  # past its date, though still in its store
    assert run(filled, "--json").data["archived"] == 3
    for question, item_id in zip(("plumber", "vault", "offer"), GOING, strict=True):
        assert filled.recall(question, "--live").refs == []
        [found] = filled.recall(question).data["results"]
        assert (found["id"], found["archived"]) == (item_id, state(filled, item_id)[1])


def test_a_revived_item_survives_the_next_run(filled, later):
    run(filled)
    for item_id in GOING:
        assert filled.run("revive", item_id).stdout == f"revived {item_id} in long_term\n"
    before = files(filled)
    assert run(filled, "--json").data["archived"] == 0
    assert files(filled) == before
    later(30)
    assert not {*GOING} & {row["id"] for row in run(filled, "--dry-run", "--yes", "--json").data["items"]}
    later(31)
    gone = {row["id"]: row["reason"] for row in run(filled, "--dry-run", "--yes", "--json").data["items"]}
    assert gone[GOING[0]] == "unused"
    assert GOING[2] not in gone  # it is critical, and its date is gone


def test_an_expiry_given_on_the_way_in_is_honoured(desk, later):
    desk.put([old(n, 1) for n in range(6)])
    words = ("the pass is 4711", "--store", "long_term", "--priority", "critical", "--expires", "2d")
    item_id = desk.run("store", *words, "--json").data["id"]
    later(1)
    assert run(desk).stdout == "nothing to archive\n"
    later(3)
    assert run(desk, "--json").data["by"] == [{"reason": "expired", "tier": "critical", "trust": "agent", "count": 1}]
    assert state(desk, item_id) == ("archived", "expired")
    assert (desk.recall("4711").refs, desk.recall("4711", "--live").refs) == ([item_id], [])


def test_a_deferred_item_is_stored_by_the_run_and_counts_as_live(filled):
    queued = filled.run("store", "queued words", "--store", "long_term", "--defer", "--json").data["id"]
    assert run(filled, "--dry-run", "--json").data["live"] == 13
    assert run(filled, "--json").data["live"] == 13
    assert state(filled, queued) == ("live", "")
    assert filled.run("status", "--json").data["due"]["deferred"] == 0


def test_old_notes_that_are_taken_in_today_stay_for_their_time(desk, later):
    rows = [
        {"content": f"note {n} of last year", "store": "long_term", "importance": 0.5, "created_at": ago(200)}
        for n in range(4)
    ]
    batch = desk.root.parent / "rows.ndjson"
    batch.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ids = [row["id"] for row in desk.run("store", "--batch", str(batch), "--json").data["items"]]
    assert run(desk).stdout == "nothing to archive\n"
    later(31)
    assert [row["id"] for row in run(desk, "--yes", "--json").data["items"]] == ids


# Pages


@pytest.fixture
def paged(desk, monkeypatch):
    """Sixty long-term items in pages of ten; every fourth one is unused."""
    for name, value in PAGES.items():
        monkeypatch.setenv(name, value)
    desk.ids = [""] * 60
    batch = desk.root.parent / "rows.ndjson"
    for days, numbers in ((60, range(0, 60, 4)), (5, [n for n in range(60) if n % 4])):
        rows = [
            {"content": f"entry {n} of the ledger, number {n * n}", "store": "long_term", "importance": 0.5}
            for n in numbers
        ]
        batch.write_text("".join(json.dumps(row) + "\n" for row in rows))
        with monkeypatch.context() as then:
            then.setenv("MABOS_NOW", ago(days))
            made = desk.run("store", "--batch", str(batch), "--json").data["items"]
        for n, row in zip(numbers, made, strict=True):
            desk.ids[n] = row["id"]
    return desk


def pages_of(desk):
    """The items on each page, and in memory-store.json."""
    paths = [*(desk.folder() / "memory-store").iterdir(), desk.folder() / "memory-store.json"]
    return {path.stem: json.loads(path.read_text())["long_term"] for path in paths}


def test_a_paged_store_loses_just_what_is_unused(paged):
    assert len(list((paged.folder() / "memory-store").iterdir())) > 4
    said = run(paged, "--json").data
    assert [row["id"] for row in said["items"]] == paged.ids[::4]
    pages = pages_of(paged)
    kept = [item["id"] for page in pages.values() for item in page]
    assert sorted(kept) == sorted(i for n, i in enumerate(paged.ids) if n % 4)
    head = json.loads((paged.folder() / "memory-store.json").read_text())
    assert head["pages"] == {name: len(items) for name, items in pages.items() if name != "memory-store"}
    assert all(state(paged, i)[0] == ("live" if n % 4 else "archived") for n, i in enumerate(paged.ids))
    assert paged.run("doctor", "--check").code == 0
    assert paged.run("materialize", "--json").data["changed"] == []
    assert run(paged, "--json").data["archived"] == 0


def test_a_use_in_a_paged_store_resets_the_clock(paged):
    used = paged.ids[8]
    assert paged.run("get", used).code == 0
    run(paged, "--yes")
    assert state(paged, used) == ("live", "")
    assert paged.run("get", used, "--json").data["item"]["accessed_at"] == format_time(NOW)


def test_uses_that_are_folded_in_and_items_that_go_meet_on_one_page(paged, monkeypatch):
    monkeypatch.setenv("MABOS_MEMORY_ACCESS_JOURNAL_LINES", "1")
    for n in (8, 9, 9):
        assert paged.run("get", paged.ids[n]).code == 0
    run(paged, "--yes")
    assert state(paged, paged.ids[8]) == ("live", "")
    items = {item["id"]: item for page in pages_of(paged).values() for item in page}
    assert sorted(items) == sorted(i for n, i in enumerate(paged.ids) if n % 4 or n == 8)
    assert [items[paged.ids[n]]["access_count"] for n in (7, 8, 9)] == [0, 1, 2]
    assert paged.run("doctor", "--check").code == 0


def test_all_of_a_paged_store_may_go_and_come_back(paged, later):
    later(100)
    assert run(paged, "--yes", "--json").data["archived"] == 60
    assert paged.run("status", "--json").data["stores"]["long_term"] == 0
    assert paged.run("doctor", "--check").code == 0
    assert paged.run("revive", paged.ids[0]).code == 0
    assert run(paged).stdout == "nothing to archive\n"
    assert paged.run("status", "--json").data["stores"]["long_term"] == 1


# The call


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("lifecycle",), 2),
        (("lifecycle", "walk"), 2),
        (("lifecycle", "run", "--no"), 2),
        (("lifecycle", "-h"), 0),
    ],
)
def test_exit_codes(desk, words, code):
    assert desk.run(*words).code == code


def test_another_agent_is_left_alone(desk):
    desk.add_agent("cfo")
    desk.put([old(1, 40)], "cfo")
    desk.put([old(2, 40)])
    before = {p: p.read_bytes() for p in desk.folder("cfo").rglob("*") if p.is_file()}
    assert desk.run("lifecycle", "run", "--yes", "-a", "main", "--json").data["archived"] == 1
    assert {p: p.read_bytes() for p in desk.folder("cfo").rglob("*") if p.is_file()} == before
