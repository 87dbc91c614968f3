"""What status says of what left the stores, and of runs long ago."""

import pytest

from commands.desk import Desk
from mabos_cli.workspace import archive


def at(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    monkeypatch.setenv("MABOS_NOW", moment)


def test_runs_are_shown_however_long_ago_and_only_new_receipts_are_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(monkeypatch, "2025-01-10T03:10:00Z")
    assert desk.run("store", "The quince is ripe", "--importance", "0.8").code == 0
    assert desk.run("consolidate").code == 0
    for day in range(10, 25):
        at(monkeypatch, f"2025-11-{day}T10:00:00Z")
        assert desk.run("store", f"Basket {day} was sold", "--type", "fact").code == 0
    read: list[str] = []
    real = archive.read_bytes
    monkeypatch.setattr(archive, "read_bytes", lambda path: read.append(path.name) or real(path))
    for most in (100, 3):
        read.clear()
        runs = desk.run("status", "--json").data["last_runs"]
        assert runs["consolidate"] == "2025-01-10T03:10:00.000Z" and runs["store"] == "2025-11-24T10:00:00.000Z"
        assert 0 < len(read) <= most


def test_what_left_is_counted_once_by_its_last_reason(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, "2025-01-10T03:10:00Z")
    seen, told = (desk.run("store", text, "--json").data["id"] for text in ("A hare was seen", "A fox was told of"))
    fact = desk.run("store", "The gate is red", "--type", "fact", "--json").data["id"]
    assert desk.run("store", "A mail said so", "--source", "tool:mail", "--type", "fact").code == 0
    at(monkeypatch, "2025-01-11T03:10:00Z")
    assert desk.run("lifecycle", "run").code == 0
    at(monkeypatch, "2025-03-11T03:10:00Z")
    found = desk.run("status", "--json").data
    assert (found["archived"], found["untrusted"]) == ({"expired": 2}, 1)
    assert desk.run("forget", seen).code == desk.run("forget", fact).code == 0
    assert desk.run("status", "--json").data["archived"] == {"expired": 1, "forgotten": 2}
    assert "1 still found, 2 forgotten: mabos recall --archived" in desk.run("status").stdout
    assert desk.run("revive", fact).code == desk.run("revive", told, "--store", "long_term").code == 0
    assert desk.run("status", "--json").data["archived"] == {"forgotten": 1}
