"""ingest transcript: each entry once, whatever becomes of the file, and at no cost for what was taken."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from commands.desk import Desk
from mabos_cli.workspace.memory import transcripts

FIXTURES = Path(__file__).parents[3] / "fixtures" / "transcripts"


@pytest.fixture
def desk(still_world: None, quick: Path) -> Desk:
    return Desk(quick / "ws")


def ingest(desk: Desk, *words: Any, **more: Any) -> dict[str, Any]:
    return desk.run("ingest", "transcript", *map(str, words), "--json", **more).data


def observed(desk: Desk) -> list[dict[str, Any]]:
    """Every observation, in order."""
    found = sorted((desk.folder() / "observations").glob("2*.jsonl"))
    return [json.loads(line) for path in found for line in path.read_text("utf-8").splitlines()]


def texts(desk: Desk) -> list[str]:
    return [one["text"] for one in observed(desk)]


def ledger(desk: Desk) -> Path:
    return desk.folder() / "observations" / "transcripts.jsonl"


def entry(number: int, text: Any, kind: str = "user", **more: Any) -> str:
    record = {
        "type": kind,
        "sessionId": "5b1f0c52",
        "uuid": f"7c9e66{number:02x}-7425",
        "timestamp": f"2026-02-20T10:{number:02d}:00Z",
        "message": {"role": kind, "content": text},
    }
    return json.dumps(record | more) + "\n"


def write(path: Path, *numbers: int) -> Path:
    path.write_text("".join(entry(number, f"message {number}") for number in numbers))
    return path


def test_all_hosts_and_nothing_twice(desk: Desk) -> None:
    data = ingest(desk, FIXTURES)
    assert [(row["host"], row["taken"], row["tools"]) for row in data["files"]] == [
        ("claude", 7, 3),
        ("codex", 4, 2),
        ("gemini", 6, 2),
        ("openclaw", 5, 2),
    ]
    assert data["taken"] == 22 == len(observed(desk))
    assert data["files"][1]["skipped"]["event_msg"] == 2
    assert {(one["kind"], one["trust"]) for one in observed(desk)} == {("tool", "untrusted"), ("message", "agent")}
    assert observed(desk)[0]["at"] == "2026-02-24T09:03:00.250Z"
    before = {path: path.read_bytes() for path in desk.folder().rglob("*") if path.is_file()}
    again = ingest(desk, FIXTURES)
    assert again["taken"] == 0 and [row["bytes"] for row in again["files"]] == [0, 0, 0, 0]
    assert before == {path: path.read_bytes() for path in desk.folder().rglob("*") if path.is_file()}


def test_only_what_is_new_is_read(desk: Desk, quick: Path) -> None:
    path = write(quick / "t.jsonl", *range(50))
    size = path.stat().st_size
    assert ingest(desk, path)["files"][0]["bytes"] == size
    path.open("a").write("no json\n" + entry(50, "message 50"))
    row = ingest(desk, path)["files"][0]
    assert (row["taken"], row["known"], row["bytes"]) == (1, 0, path.stat().st_size - size)
    assert row["malformed_lines"] == [51]
    assert texts(desk)[-1] == "message 50"


def test_the_part_that_was_taken_is_not_read_again(desk: Desk, quick: Path) -> None:
    path = write(quick / "t.jsonl", *range(50))
    ingest(desk, path)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"message 3", b"changed 3") + entry(50, "new").encode())
    assert (
        len(data) > 4096 and ingest(desk, path)["taken"] == 1
    )  # the last block is as it was: nobody looks at the first
    assert texts(desk)[-1] == "new" and "changed 3" not in texts(desk)


def test_a_torn_last_line_waits(desk: Desk, quick: Path) -> None:
    whole = entry(1, "one").encode() + entry(2, "two").encode()
    path = quick / "t.jsonl"
    path.write_bytes(whole[:-40])
    assert ingest(desk, path)["files"][0]["torn"] is True and texts(desk) == ["one"]
    path.write_bytes(whole[:-1])  # complete, though nothing ends it
    row = ingest(desk, path)["files"][0]
    assert (row["taken"], row["torn"], row["malformed"]) == (1, False, 0)
    path.write_bytes(whole + b"x\n")
    assert ingest(desk, path)["files"][0]["malformed_lines"] == [3]
    assert texts(desk) == ["one", "two"]


@pytest.mark.parametrize("name", ["claude", "codex", "openclaw"])
def test_in_pieces_it_is_the_same(desk: Desk, quick: Path, name: str) -> None:
    whole = (FIXTURES / f"{name}.jsonl").read_bytes()
    path = quick / f"{name}.jsonl"
    cuts = sorted(random.Random(name).sample(range(len(whole)), 12))
    for cut in (*cuts, len(whole)):
        path.write_bytes(whole[:cut])
        assert desk.run("ingest", "transcript", str(path)).code == 0, cut
    other = Desk(quick / "other")
    ingest(other, path)
    strip = lambda one: {**one, "id": ""}  # noqa: E731
    assert list(map(strip, observed(desk))) == list(map(strip, observed(other)))


def test_rewritten_copied_and_moved(desk: Desk, quick: Path) -> None:
    path = write(quick / "t.jsonl", 1, 2, 3)
    ingest(desk, path)
    write(path, 2, 3, 4)
    row = ingest(desk, path)["files"][0]
    assert (row["taken"], row["known"]) == (1, 2)
    copy = write(quick / "copy.jsonl", 1, 2, 3, 4, 5)
    row = ingest(desk, copy)["files"][0]
    assert (row["taken"], row["known"]) == (1, 4)
    assert ingest(desk, copy, path)["taken"] == 0
    piped = ingest(desk, "-", stdin=copy.read_bytes() + entry(6, "message 6").encode())["files"][0]
    assert (piped["taken"], piped["known"]) == (1, 5)
    assert sorted(texts(desk)) == [f"message {number}" for number in range(1, 7)]


@pytest.mark.parametrize("more", ["", '{"nothing": "told"}\n' * 3])
def test_a_pipe_may_hold_a_single_line_that_tells_whose_it_is(desk: Desk, more: str) -> None:
    [row] = ingest(desk, "-", stdin=(entry(1, "message 1") + more).encode())["files"]
    assert (row["host"], row["taken"], sum(row["skipped"].values())) == ("claude", 1, len(more) // 20)


def test_one_session_in_two_files_of_one_call(desk: Desk, quick: Path) -> None:
    data = ingest(desk, write(quick / "a.jsonl", 1, 2), write(quick / "b.jsonl", 1, 2, 3))
    assert [(row["taken"], row["known"]) for row in data["files"]] == [(2, 0), (1, 2)]


@pytest.mark.parametrize("meanwhile", [False, True])
def test_a_ledger_that_lags_behind(desk: Desk, quick: Path, meanwhile: bool) -> None:
    path = write(quick / "t.jsonl", 1, 2)
    ingest(desk, path)
    noted = ledger(desk).read_bytes()
    write(path, 1, 2, 3)
    ingest(desk, path)
    ledger(desk).write_bytes(noted)  # killed between the observations and the ledger
    if meanwhile:
        ingest(desk, write(quick / "other.jsonl", 20, 21))
    write(path, 1, 2, 3, 4)
    row = ingest(desk, path)["files"][0]
    assert (row["taken"], row["known"]) == (1, 1)
    assert texts(desk).count("message 3") == 1


def test_no_ledger_no_local_files_and_a_merged_day(desk: Desk, quick: Path) -> None:
    path = write(quick / "t.jsonl", 1, 2, 3)
    ingest(desk, path)
    shutil.rmtree(desk.root / ".mabos")
    assert ingest(desk, path)["taken"] == 0
    [day] = (desk.folder() / "observations").glob("2*.jsonl")
    day.write_bytes(b"".join(reversed(day.read_bytes().splitlines(keepends=True))))
    path.open("a").write(entry(4, "message 4"))
    assert ingest(desk, path)["taken"] == 1
    ledger(desk).unlink()
    row = ingest(desk, path)["files"][0]
    assert (row["taken"], row["known"]) == (0, 4)


def test_a_wider_scope_finds_what_a_narrow_one_left(desk: Desk) -> None:
    path = FIXTURES / "claude.jsonl"
    assert ingest(desk, path, "--no-tools", "--roles", "user")["taken"] == 2
    assert ingest(desk, path, "--no-tools", "--roles", "user")["files"][0]["bytes"] == 0
    assert ingest(desk, path, "--no-tools")["taken"] == 2
    assert ingest(desk, path, "--since", "2026-02-24T09:09:00Z")["taken"] == 2
    assert ingest(desk, path)["taken"] == 1
    assert ingest(desk, path, "--roles", "assistant")["files"][0]["bytes"] == 0
    assert len(set(texts(desk))) == 7


def test_secrets_never_touch_the_disk(desk: Desk, quick: Path) -> None:
    secrets = ["ghp_" + "a1B2" * 9, "AKIAQ7ZXN5RTVW3MLK2P", "hunter2hunter2"]
    given = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": f"login {secrets[0]}"}}
    open_call = {"type": "tool_use", "id": "t2", "name": secrets[0], "input": {"command": f"x {secrets[1]}"}}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": f"key {secrets[1]}"}
    path = quick / f"{secrets[0]}.jsonl"
    path.write_text(
        entry(1, f"export DB_PASSWORD={secrets[2]}", sessionId=secrets[0])
        + entry(2, [given, open_call], "assistant")
        + entry(3, [answer])
        + entry(4, "x", uuid=secrets[0])
    )
    assert ingest(desk, path)["taken"] == 3
    assert ingest(desk, path)["taken"] == 0
    disk = b"".join(file.read_bytes() for file in desk.root.rglob("*") if file.is_file())
    assert [secret for secret in secrets if secret.encode() in disk] == []
    assert "Bash: login [redacted:" in texts(desk)[1] and observed(desk)[1]["redacted"]


def test_texts_and_lines_are_bounded(desk: Desk, quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "LONGEST", 30_000)
    path = quick / "t.jsonl"
    path.write_text(entry(1, "a" * 20_000) + entry(2, "b" * 40_000) + entry(3, "c"))
    row = ingest(desk, path)["files"][0]
    assert (row["taken"], row["skipped"], row["bytes"]) == (2, {"too_long": 1}, path.stat().st_size)
    first = observed(desk)[0]
    assert len(first["text"].encode()) <= 8192 and first["truncated"] > 11_000
    path.open("a").write("broken\n" + entry(4, "d" * 40_000)[:-1])
    row = ingest(desk, path)["files"][0]
    assert row["malformed_lines"] == [4] and row["torn"] is True


def test_dry_run_changes_nothing(desk: Desk) -> None:
    assert ingest(desk, FIXTURES, "--dry-run")["taken"] == 22
    assert not (desk.folder() / "observations").exists()
    assert not list(desk.root.rglob("*ingest*"))


def test_harvest_keeps_what_the_person_said(desk: Desk) -> None:
    data = ingest(desk, FIXTURES / "openclaw.jsonl", "--harvest")
    assert (data["taken"], data["harvested"]) == (5, 1)
    assert ingest(desk, FIXTURES / "openclaw.jsonl", "--harvest")["harvested"] == 0
    row = desk.recall("notice period of Nordlicht", "--limit", "1").data["results"][0]
    assert row["content"] == "Nordlicht has a notice period of 30 days." and row["trust"] == "agent"
    assert (row["author"], row["type"], row["source"]) == ("user", "fact", "session:openclaw.jsonl:12")


def test_what_is_no_transcript(desk: Desk, quick: Path) -> None:
    odd = quick / "odd"
    (odd / ".hidden").mkdir(parents=True)
    (odd / "notes.jsonl").write_text('{"role": "user", "content": "hi"}\n')
    write(odd / ".hidden" / "t.jsonl", 1)
    (odd / "empty.jsonl").write_text("")
    write(odd / "t.jsonl", 1)
    named = desk.run("ingest", "transcript", str(odd / "t.jsonl"), str(odd / "notes.jsonl"))
    assert named.code == 4 and "not a transcript" in named.stderr and "Claude Code" in named.stderr
    assert not (desk.folder() / "observations").exists()
    found = desk.run("ingest", "transcript", str(odd), "--json")
    assert [row["taken"] for row in found.data["files"]] == [0, 1]
    assert "notes.jsonl" in found.warnings[0] and len(found.warnings) == 1


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("nowhere.jsonl",), 3, "no file nowhere.jsonl"),
        ((str(FIXTURES), "--host", "vim"), 2, "unknown host"),
        ((str(FIXTURES), "--roles", "tool"), 2, "unknown role"),
        ((str(FIXTURES), "--roles", ","), 2, "no role"),
        ((str(FIXTURES), "--since", "soon"), 2, "not a date"),
        ((), 2, "FILE"),
    ],
)
def test_bad_words(desk: Desk, words: tuple[str, ...], code: int, told: str) -> None:
    done = desk.run("ingest", "transcript", *words)
    assert done.code == code and told in done.stderr and not done.stdout
    assert not (desk.folder() / "observations").exists()


def test_a_named_host_is_believed(desk: Desk, quick: Path) -> None:
    path = quick / "t.jsonl"
    path.write_text('{"type": "message", "message": {"role": "user", "content": "no header"}}\n')
    assert desk.run("ingest", "transcript", str(path)).code == 4
    assert ingest(desk, path, "--host", "openclaw")["taken"] == 1
    assert ingest(desk, path, "--host", "openclaw")["files"][0]["bytes"] == 0


def test_the_ledger_is_not_found_by_recall(desk: Desk) -> None:
    ingest(desk, FIXTURES / "codex.jsonl")
    assert all("transcripts.jsonl" not in ref for ref in desk.recall("codex.jsonl session host").refs)
