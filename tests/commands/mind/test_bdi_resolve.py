"""Settling conflicts for good, and the reports about those that are left."""

import json
import re
from pathlib import Path

import pytest

from commands.desk import Desk
from mabos_cli.errors import InvalidFile
from mabos_cli.services.mind import beliefs as conflicts
from mabos_cli.workspace import mind

REDIS, POSTGRES = "Sessions are stored in Redis.", "Sessions are stored in PostgreSQL."
TABLE = """# Beliefs

## Market

| ID | Belief | Value | Certainty | Source | Updated |
|----|--------|-------|-----------|--------|---------|
| B-001 | Market demand | growing | 0.85 | report | 2026-01-10 |
| B-002 | Market demand | declining | 0.78 | sales | 2026-02-20 |
"""


def section(text: str, certainty: float = 0.9) -> str:
    return f"## Session store\n\nCertainty: {certainty}\n\n{text}\n\n"


def beliefs(*sections: str) -> str:
    return "# Beliefs\n\nA person's own words.\n\n" + "".join(sections)


@pytest.fixture
def torn(desk: Desk) -> Desk:
    """An agent of two minds."""
    desk.write("Beliefs.md", beliefs(section(REDIS), section(POSTGRES, 0.85)))
    return desk


def keys(desk: Desk) -> list[str]:
    return [row["key"] for row in desk.run("bdi", "conflicts", "--json").data["conflicts"]]


def certainties(desk: Desk) -> list[float]:
    """How sure each belief is; below zero what is superseded, which stays in the file as sure as it was."""
    rows = desk.run("belief", "list", "--json").data["beliefs"]
    return [-row["certainty"] if row["status"].startswith("superseded") else row["certainty"] for row in rows]


def text_of(desk: Desk, name: str = "Beliefs.md") -> str:
    return (desk.folder() / name).read_text("utf-8")


def reports(desk: Desk) -> dict[str, str]:
    folder = desk.folder() / "memory/bdi-conflicts"
    return {path.name: path.read_text("utf-8") for path in folder.glob("*.md")}


def tomorrow(monkeypatch: pytest.MonkeyPatch, day: str = "2026-02-25") -> None:
    monkeypatch.setenv("MABOS_NOW", f"{day}T12:00:00Z")


# Sides


@pytest.mark.parametrize(("side", "left"), [("a", [0.9, -0.85]), ("b", [-0.9, 0.85]), ("both", [0.9, 0.85])])
def test_what_is_not_kept_is_held_no_more(torn: Desk, side: str, left: list[float]) -> None:
    before = text_of(torn)
    (key,) = keys(torn)
    done = torn.run("bdi", "resolve", key[:8], "--keep", side, "--reason", "asked the cto", "--json").data
    assert (done["keep"], done["changed"], done["key"]) == (side, side != "both", key)
    assert (certainties(torn), keys(torn)) == (left, [])
    ledger = json.loads(text_of(torn, "memory/bdi-conflicts/resolved.jsonl"))
    assert (ledger["key"], ledger["keep"], ledger["reason"]) == (key, side, "asked the cto")
    assert torn.run("bdi", "status", "--json").data["conflicts"] == 0
    # Only the losing belief's own lines changed.
    restored = re.sub(r"(?:status: superseded|\[updated: 2026-02-24).*\n", "", text_of(torn))
    assert restored == before


def test_a_row_keeps_its_table(desk: Desk) -> None:
    desk.write("Beliefs.md", TABLE)
    assert desk.run("bdi", "resolve", keys(desk)[0], "--keep", "b").code == 0
    assert "B-001 | Market demand | growing [status: superseded by B-002 (2026-02-24)] | 0.85 |" in text_of(desk)
    assert TABLE.split("\n")[7] in text_of(desk).split("\n")


def test_every_belief_that_says_what_lost_is_marked(desk: Desk) -> None:
    """Even below a revision log, whose new lines move everything; and one key has one a and one b."""
    log = "## Revision Log\n\n| Date | Belief | Change |\n|---|---|---|\n| 2026-01-01 | x | y |\n\n"
    desk.write("Beliefs.md", beliefs(log, section(REDIS), section(POSTGRES, 0.85), section(REDIS, 0.7)))
    (row,) = desk.run("bdi", "conflicts", "--json").data["conflicts"]
    assert POSTGRES in row["b"]["statement"]
    assert desk.run("bdi", "resolve", row["key"], "--keep", "b").code == 0
    assert certainties(desk) == [-0.9, 0.85, -0.7]
    assert text_of(desk).count("| superseded by “Session store: Sessions are stored in Postg") == 2


def test_the_stronger_side_is_kept_by_trust_certainty_source_and_date(desk: Desk) -> None:
    for low, why in (
        (("--certainty", "0.7"), "surer"),
        (("--source", "web:forum"), "trusted more"),
        (("--source", "inference"), "not concluded"),
    ):
        desk.write("Beliefs.md", "# Beliefs\n")
        (desk.folder() / "memory/bdi-conflicts/resolved.jsonl").unlink(missing_ok=True)
        for text, words in ((REDIS, low), (POSTGRES, ("--source", "the cto"))):
            assert desk.run("belief", "add", "Session store", text, "--certainty", "0.9", *words).code == 0
        (row,) = desk.run("bdi", "conflicts", "--json").data["conflicts"]
        assert row["stronger"] == "b"
        done = desk.run("bdi", "resolve", row["key"], "--keep", "stronger", "--json").data
        assert (done["keep"], why in text_of(desk, "memory/bdi-conflicts/resolved.jsonl")) == ("b", True)


def test_neither_side_may_be_stronger(torn: Desk) -> None:
    said = torn.run("bdi", "resolve", keys(torn)[0], "--keep", "stronger")
    assert (said.code, "neither side" in said.stderr) == (2, True)


def test_a_changed_mind(torn: Desk) -> None:
    (key,) = keys(torn)
    assert torn.run("bdi", "resolve", key, "--keep", "both").code == 0
    assert torn.run("bdi", "resolve", key, "--keep", "a").code == 0
    assert certainties(torn) == [0.9, -0.85]
    said = torn.run("bdi", "resolve", key, "--keep", "b")
    assert (said.code, "was resolved already" in said.stderr) == (3, True)


def test_a_belief_that_a_person_changed_meanwhile(torn: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    (key,) = keys(torn)
    real = conflicts.transact

    def edited_first(*args: object) -> object:
        torn.write("Beliefs.md", text_of(torn).replace("Redis", "memory"))
        return real(*args)

    monkeypatch.setattr(conflicts, "transact", edited_first)
    said = torn.run("bdi", "resolve", key, "--keep", "b")
    assert (said.code, "was changed meanwhile" in said.stderr) == (5, True)
    assert certainties(torn) == [0.9, 0.85]
    assert not (torn.folder() / "memory/bdi-conflicts/resolved.jsonl").exists()


# Names


def test_ids_by_their_beginning(torn: Desk) -> None:
    (key,) = keys(torn)
    for wrong in (key[:3], "", "zzzz", "cafe1234", f"{key}0", "*", key[1:]):
        said = torn.run("bdi", "resolve", "--keep", "a", "--", wrong)
        assert (said.code, "Traceback" in said.stderr) == (3, False), wrong
    assert torn.run("bdi", "resolve", key[:4], "--keep", "c").code == 2
    assert torn.run("bdi", "resolve", key[:4], "--keep", "a", "--reason", "x\ny").code == 2
    assert torn.run("bdi", "resolve", key[:4]).code == 2
    assert certainties(torn) == [0.9, 0.85]
    assert torn.run("bdi", "resolve", f" {key[:4].upper()} ", "--keep", "A").code == 0


def test_a_beginning_that_two_conflicts_share(torn: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    (found,) = mind.find_conflicts(mind.load_beliefs(torn.home())[0], 0.6)
    two = [found._replace(key=f"abcd{n}" * 3) for n in range(2)]
    monkeypatch.setattr(mind, "find_conflicts", lambda *_, **__: two)
    said = torn.run("bdi", "resolve", "abcd", "--keep", "a")
    assert (said.code, "2 conflicts" in said.stderr, two[1].key in said.stderr) == (2, True, True)


# Afterwards


def test_resolved_conflicts_stay_away(torn: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    torn.run("bdi", "cycle")
    (key,) = keys(torn)
    torn.run("bdi", "resolve", key, "--keep", "both")
    for day in ("2026-02-24", "2026-02-25", "2026-03-25"):
        tomorrow(monkeypatch, day)
        row = torn.run("bdi", "cycle", "--check", "--json").data["agents"][0]
        assert (row["conflicts_detected"], row["conflicts_resolved"]) == (0, 1)
    # Wherever they move to, and however they are spaced.
    torn.write("Beliefs.md", "\n\n" + text_of(torn) + "\n## Other\n\nCertainty: 0.9\n\nBlue.\n")
    assert keys(torn) == []
    assert [row["resolved"] for row in torn.run("bdi", "conflicts", "--all", "--json").data["conflicts"]] == [True]
    assert torn.run("bdi", "conflicts", "--all", "--check").code == 0


def test_a_torn_line_in_the_ledger_hides_no_other(torn: Desk) -> None:
    (key,) = keys(torn)
    ledger = torn.folder() / "memory/bdi-conflicts/resolved.jsonl"
    ledger.parent.mkdir(parents=True)
    ledger.write_bytes(b'null\n[1]\n{"key": 5}\n\xff\xfe\n{"key": "' + key.encode())
    torn.run("bdi", "resolve", key, "--keep", "both")
    assert keys(torn) == []
    assert ledger.read_bytes().startswith(b"null\n[1]\n")


def test_a_ledger_that_is_no_file_is_an_error(torn: Desk) -> None:
    (key,) = keys(torn)
    (torn.folder() / "memory/bdi-conflicts/resolved.jsonl").mkdir(parents=True)
    said = torn.run("bdi", "resolve", key, "--keep", "a")
    assert (said.code, "resolved.jsonl" in said.stderr, "Traceback" in said.stderr) == (4, True, False)
    assert certainties(torn) == [0.9, 0.85]


@pytest.mark.parametrize(("side", "code"), [("a", 0), ("both", 4)])
def test_trouble_with_the_ledger_is_no_error_where_the_beliefs_settle_it(
    torn: Desk, monkeypatch: pytest.MonkeyPatch, side: str, code: int
) -> None:
    def full(*_: object, **__: object) -> None:
        raise InvalidFile("cannot append to resolved.jsonl: No space left on device")

    for module in ("mind", "transaction"):
        monkeypatch.setattr(f"mabos_cli.workspace.{module}.append_bytes", full)
    said = torn.run("bdi", "resolve", keys(torn)[0], "--keep", side)
    assert (said.code, "No space left" in said.stderr) == (code, True)
    assert len(keys(torn)) == (side == "both")


# Reports


def test_a_report_only_when_the_conflicts_change(torn: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    torn.run("bdi", "cycle")
    first = reports(torn)
    assert list(first) == ["2026-02-24.md"] and "1 conflict detected" in first["2026-02-24.md"]
    tomorrow(monkeypatch)
    torn.run("bdi", "cycle")
    assert reports(torn) == first
    torn.write("Beliefs.md", text_of(torn) + TABLE.partition("\n\n")[2])
    assert torn.run("bdi", "cycle", "--json").data["agents"][0]["report"].endswith("2026-02-25.md")
    assert "2 conflicts detected" in reports(torn)["2026-02-25.md"]
    tomorrow(monkeypatch, "2026-02-26")
    for key in keys(torn):
        torn.run("bdi", "resolve", key, "--keep", "a")
    torn.run("bdi", "cycle")
    assert "No open conflicts" in reports(torn)["2026-02-26.md"]
    tomorrow(monkeypatch, "2026-02-27")
    torn.run("bdi", "cycle")
    assert sorted(reports(torn)) == ["2026-02-24.md", "2026-02-25.md", "2026-02-26.md"]
    assert reports(torn)["2026-02-24.md"] == first["2026-02-24.md"]


def test_an_agent_without_conflicts_gets_no_report(desk: Desk) -> None:
    desk.run("bdi", "cycle")
    assert not (desk.folder() / "memory/bdi-conflicts").exists()


def test_what_a_person_wrote_into_a_report_is_set_aside(torn: Desk) -> None:
    torn.run("bdi", "cycle")
    path: Path = torn.folder() / "memory/bdi-conflicts/2026-02-24.md"
    generated = path.read_bytes()
    for n in range(3):
        path.write_bytes(generated + f"\nI will ask the cto {n}.\n".encode())
        (warning,) = torn.run("bdi", "cycle", "--json").warnings
        assert "was edited by hand" in warning
        assert path.read_bytes() == generated
    kept = [each.read_text("utf-8") for each in (torn.folder() / "memory/archive/edited").iterdir()]
    assert all(any(f"I will ask the cto {n}." in text for text in kept) for n in range(3))
    assert torn.run("bdi", "cycle", "--json").warnings == []


def test_a_report_that_is_no_file_is_an_error_and_loses_nothing(torn: Desk) -> None:
    before = text_of(torn)
    (torn.folder() / "memory/bdi-conflicts/2026-02-24.md").mkdir(parents=True)
    said = torn.run("bdi", "cycle")
    assert (said.code, "2026-02-24.md" in said.stderr, "Traceback" in said.stderr) == (4, True, False)
    assert text_of(torn) == before
