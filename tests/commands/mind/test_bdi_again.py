"""Cycles again and again: until a signal, on Sundays, and after compactions."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands.desk import Desk, Said
from mabos_cli.services.mind import cycle
from mabos_cli.workspace import mind
from mabos_cli.workspace.agent import Agent

LOG = "# 2026-02-24\n\n## decision (10:00 UTC)\n\nChose PostgreSQL for sessions.\n\n(manual) ^M-1771927200000-0001\n"
OVERDUE = "# Intentions\n\n- Send the offer, status: active [deadline: 2026-02-20]\n"


def once(desk: Desk, *words: str) -> dict:
    return desk.run("bdi", "cycle", "--json", *words).data["agents"][0]


def at(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    monkeypatch.setenv("MABOS_NOW", moment)


# Watching


@pytest.fixture
def watching(desk: Desk) -> Iterator[subprocess.Popen[str]]:
    """A process that runs cycles, and has run the first; for agent main, and one that cannot be read."""
    desk.write("Intentions.md", OVERDUE)
    desk.add_agent("bad")
    desk.write("agent.json", "{", "bad")
    words = ["-w", str(desk.root), "bdi", "cycle", "--all", "--watch", "0.1s", "--json"]
    program = [sys.executable, "-m", "mabos_cli", *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(program, stdout=pipe, stderr=pipe, stdin=subprocess.DEVNULL, text=True) as process:
        yield process
        process.kill()


def _round(process: subprocess.Popen[str]) -> dict:
    assert process.stdout
    bad, main = json.loads(process.stdout.readline())["data"]["agents"]
    assert bad["error"]["code"] == "invalid_file"
    return main


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_watching_goes_on_until_a_signal(desk: Desk, watching: subprocess.Popen[str], number: int, code: int) -> None:
    assert _round(watching)["intentions_pruned"] == 1
    assert _round(watching)["intentions_pruned"] == 0
    # A person brings a new one; a round that began before may miss it.
    desk.write("Intentions.md", OVERDUE.replace("offer", "bill"))
    assert any(_round(watching)["intentions_pruned"] for _ in range(50))
    watching.send_signal(number)
    out, err = watching.communicate(timeout=20)
    assert watching.returncode == code
    assert all(json.loads(line)["data"] for line in out.splitlines())
    assert set(err.splitlines()) == {"mabos: 1 agent of 2 failed: bad"}


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_lets_the_round_under_way_be_finished(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    desk.write("Intentions.md", OVERDUE)
    desk.add_agent("other")
    real, before = cycle.run_cycle, (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT))

    def interrupted(agent: Agent, order: object) -> object:
        if agent.id == "main":
            os.kill(os.getpid(), number)
        return real(agent, order)

    monkeypatch.setattr(cycle, "run_cycle", interrupted)
    said = desk.run("bdi", "cycle", "--all", "--watch", "1h", "--json")
    assert said.code == code
    assert [row["agent"] for row in json.loads(said.stdout)["data"]["agents"]] == ["main", "other"]
    assert "expired (2026-02-24" in (desk.folder() / "Intentions.md").read_text("utf-8")
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


def test_who_asks_twice_is_not_kept_waiting(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def stuck(*_: object) -> None:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("nobody stopped it")

    monkeypatch.setattr(cycle, "run_cycle", stuck)
    assert desk.run("bdi", "cycle", "--watch", "1h").code == 130


def test_a_pause_longer_than_a_life(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    real = cycle.run_cycle
    monkeypatch.setattr(cycle, "run_cycle", lambda *words: (real(*words), signal.alarm(1))[0])
    before = signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    try:
        assert desk.run("bdi", "cycle", "--watch", "900000w").code == 0
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("span", ["0", "-1s", "soon", "nan", "1e99", "30 minutes"])
def test_pauses_that_are_none(desk: Desk, span: str) -> None:
    assert desk.run("bdi", "cycle", f"--watch={span}").code == 2


def test_watching_does_not_check(desk: Desk) -> None:
    assert desk.run("bdi", "cycle", "--watch", "1s", "--check").code == 2


# Sundays


def test_sunday_builds_the_week(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("memory/2026-02-24.md", LOG)
    at(monkeypatch, "2026-02-28T23:59:59Z")
    assert once(desk)["summaries"] == []
    at(monkeypatch, "2026-03-01T00:00:00Z")
    week = desk.folder() / "memory/weekly/2026-W09.md"
    assert once(desk, "--dry-run")["summaries"] == ["memory/weekly/2026-W09.md"]
    assert not week.exists()
    assert once(desk)["summaries"] == ["memory/weekly/2026-W09.md"]
    assert "Chose PostgreSQL" in week.read_text("utf-8")
    at(monkeypatch, "2026-03-01T12:00:00Z")
    assert once(desk)["summaries"] == []
    at(monkeypatch, "2026-03-02T00:00:00Z")
    assert once(desk)["summaries"] == []


def test_a_week_that_cannot_be_built_takes_nothing_else_away(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("memory/2026-02-24.md", LOG)
    desk.write("memory/weekly", "a file in the way")
    desk.write("Intentions.md", OVERDUE)
    at(monkeypatch, "2026-03-01T12:00:00Z")
    said = desk.run("bdi", "cycle", "--json")
    assert said.data["agents"][0]["intentions_pruned"] == 1
    assert [warning for warning in said.warnings if "weekly" in warning]


# Checkpoints


def flush(desk: Desk, count: int) -> None:
    words = ["--total-tokens", "199000", "--window", "200000", "--compaction-count", str(count)]
    assert desk.run("context", "flush-check", "--json", *words).data["flush"]


def checkpoint(desk: Desk, text: str) -> Said:
    return desk.run("checkpoint", "-c", text)


def restored(desk: Desk) -> list[str]:
    text = (desk.folder() / "Beliefs.md").read_text("utf-8")
    return [line for line in text.split("\n") if line.startswith("Source: memory/checkpoints/")]


def test_a_checkpoint_comes_back_once_for_each_flush(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, "2026-02-24T09:00:00Z")
    checkpoint(desk, "before any flush")
    assert once(desk)["checkpoint"] is None
    at(monkeypatch, "2026-02-24T10:00:00Z")
    flush(desk, 1)
    assert once(desk)["checkpoint"] is None, "that of before is not meant"
    checkpoint(desk, "first")
    assert once(desk, "--dry-run")["checkpoint"] == "memory/checkpoints/2026-02-24-1000.md"
    assert restored(desk) == []
    assert once(desk)["checkpoint"] == "memory/checkpoints/2026-02-24-1000.md"
    for _ in range(2):
        assert once(desk)["checkpoint"] is None
    at(monkeypatch, "2026-02-24T11:00:00Z")
    checkpoint(desk, "without a flush")
    assert once(desk)["checkpoint"] is None
    flush(desk, 2)
    checkpoint(desk, "second")
    assert once(desk)["checkpoint"] == "memory/checkpoints/2026-02-24-1100_00002.md"
    assert once(desk)["checkpoint"] is None
    assert len(restored(desk)) == 1
    text = (desk.folder() / "Beliefs.md").read_text("utf-8")
    assert "second" in text and "first" not in text and "before any" not in text


def test_after_a_compaction_that_nobody_noted(desk: Desk) -> None:
    assert once(desk, "--compacted")["checkpoint"] is None
    checkpoint(desk, "all I know")
    assert once(desk, "--compacted")["checkpoint"] == "memory/checkpoints/2026-02-24-1430.md"
    assert once(desk, "--compacted")["checkpoint"] is None
    assert len(restored(desk)) == 1


def test_a_state_that_got_lost_brings_nothing_twice(desk: Desk) -> None:
    flush(desk, 1)
    checkpoint(desk, "all I know")
    state = desk.root / ".mabos/queue/main.flush"
    kept = state.read_bytes()
    assert once(desk)["checkpoint"]
    for data in (kept, b"", b"{", b"[1]", b"\xff"):
        state.write_bytes(data)
        assert once(desk)["checkpoint"] is None
    assert len(restored(desk)) == 1


def test_files_that_are_no_checkpoints(desk: Desk) -> None:
    flush(desk, 1)
    for name in ("README.md", "zzz.md", "notes.txt"):
        desk.write(f"memory/checkpoints/{name}", "about this folder\n")
    assert once(desk)["checkpoint"] is None
    checkpoint(desk, "all I know")
    assert once(desk)["checkpoint"] == "memory/checkpoints/2026-02-24-1430.md"


def test_a_checkpoint_that_is_no_text_is_reported(desk: Desk) -> None:
    flush(desk, 1)
    desk.write("Intentions.md", OVERDUE)
    path: Path = desk.folder() / "memory/checkpoints/2026-02-24-1500.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"# Session Checkpoint\n\ncaf\xe9\n")
    said = desk.run("bdi", "cycle", "--json")
    assert said.data["agents"][0]["intentions_pruned"] == 1
    assert said.warnings == ["no checkpoint restored: memory/checkpoints/2026-02-24-1500.md:3: not valid UTF-8"]
    path.write_bytes(b"# Session Checkpoint\n\n## Current Task Context\n\nmended\n")
    assert once(desk)["checkpoint"] == "memory/checkpoints/2026-02-24-1500.md"


def test_a_checkpoint_in_a_file_with_other_line_ends(desk: Desk) -> None:
    path = desk.folder() / "Beliefs.md"
    path.write_bytes(b"# Beliefs\r\n\r\n## Price\r\n\r\nCertainty: 0.9\r\n")
    checkpoint(desk, "all I know")
    assert once(desk, "--compacted")["checkpoint"]
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n")


# What was compared is not compared again

DEMAND = "# Beliefs\n\n## Market demand\n\nCertainty: 0.9\n\nMarket demand is {}.\n\n## Market demand\n\nCertainty: 0.8\n\nMarket demand is declining.\n"


def _comparisons(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts how many beliefs are compared, comparison by comparison."""
    counted: list[int] = []
    real = mind.find_conflicts

    def counting(beliefs, *rest, **named):
        counted.append(len(beliefs))
        return real(beliefs, *rest, **named)

    monkeypatch.setattr(mind, "find_conflicts", counting)
    return counted


def test_a_settled_cycle_compares_nothing_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = _comparisons(monkeypatch)
    desk.write("Beliefs.md", DEMAND.format("growing"))
    first = once(desk)
    assert first["conflicts_detected"] == 1 and counted == [2]
    again, listed = once(desk), desk.run("bdi", "conflicts", "--json").data["conflicts"]
    assert again["conflicts"] == first["conflicts"] and counted == [2]
    assert listed[0]["key"] == first["conflicts"][0]["key"]
    assert desk.run("bdi", "conflicts", "--floor", "0.85", "--json").data["conflicts"] == []
    desk.write("Beliefs.md", DEMAND.format("declining"))
    assert once(desk)["conflicts_detected"] == 0 and len(counted) == 3
    assert once(desk)["conflicts_detected"] == 0 and len(counted) == 3


def test_what_was_kept_of_a_comparison_may_be_lost_or_damaged(desk: Desk) -> None:
    desk.write("Beliefs.md", DEMAND.format("growing"))
    found = once(desk)["conflicts"]
    kept = desk.root / ".mabos/beliefs/main.cache"
    settled, whole = desk.root / ".mabos/beliefs/main.settled", kept.read_bytes()
    for damaged in (
        b"",
        b"{",
        b"[1]",
        whole[:-20],
        whole.replace(b"[0, 1,", b"[0, 99,"),
        whole.replace(b"[[0", b"[[[]"),
    ):
        kept.write_bytes(damaged)
        settled.write_bytes(b"")
        assert once(desk)["conflicts"] == found
    assert kept.read_bytes() == whole
    last = settled.read_bytes()
    for damaged in (
        b"[1]",
        last[:-20],
        last.replace(b'"cycle"', b'"bicycle"'),
        last.replace(b'"conflicts": [[[', b'"conflicts": [[{'),
    ):
        settled.write_bytes(damaged)
        assert once(desk)["conflicts"] == found


def test_looking_keeps_nothing(desk: Desk) -> None:
    desk.write("Beliefs.md", DEMAND.format("growing"))
    once(desk, "--dry-run")
    desk.run("bdi", "conflicts")
    assert not (desk.root / ".mabos/beliefs").exists()


def test_a_cycle_parses_beliefs_once_for_each_text(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    real = mind.parse_beliefs
    monkeypatch.setattr(mind, "parse_beliefs", lambda text, name: parsed.append(text) or real(text, name))
    for word in ("growing", "rising", "growing"):
        desk.write("Beliefs.md", DEMAND.format(word))
        once(desk)
        assert word in (desk.folder() / "memory/mabos-beliefs.md").read_text()
    assert len(parsed) <= 3
