"""context audit as it is called: what costs how much, what occurs twice, what to do, and the check for cron."""

import re
import time
from pathlib import Path

import pytest

from commands.desk import Desk, note
from mabos_cli.formats.memory.memory_md import find_statements
from mabos_cli.services.context import audit as auditing

BILLING = "We bill per seat because finance teams need a fixed number"
OLD = "2026-01-02T00:00:00.000Z"


def audit(desk: Desk, *words: str):
    return desk.run("context", "audit", "--json", *words)


@pytest.fixture
def full(desk: Desk) -> Desk:
    desk.write("Persona.md", f"# Persona\n\nI am Ann.\n\n{BILLING}.\n")
    desk.write(
        "MEMORY.md",
        f"# Memory\n\n## Billing\n\n- {BILLING} ^M-1-0001\n\n## Long\n\n" + "Other words here. " * 100,
    )
    desk.put(
        [
            note(1, BILLING, type="decision"),
            note(2, "Kim prefers short answers to long ones", type="fact", accessed_at=OLD),
        ]
    )
    desk.run("materialize", "-a", "main")
    return desk


def test_tokens_by_source(full: Desk) -> None:
    data = audit(full).data
    rows = {row["source"]: row for row in data["analysis"]["breakdown"]}
    text = (full.folder() / "MEMORY.md").read_text()
    assert rows["MEMORY.md"]["tokens"] == -(-len(text) // 4)
    assert (rows["MEMORY.md"]["category"], rows["MEMORY.md"]["loaded"]) == ("memory_md", "always")
    assert (rows["memory/INDEX.md"]["category"], rows["memory/INDEX.md"]["loaded"]) == ("index", "always")
    assert rows["memory/domains/decisions.md"]["loaded"] == "on demand"
    assert rows["Beliefs.md"]["category"] == "cognitive"
    assert data["analysis"]["total_tokens"] == sum(row["tokens"] for row in rows.values())
    assert abs(sum(row["percentage"] for row in rows.values()) - 100) < 1
    always = sum(row["tokens"] for row in rows.values() if row["loaded"] == "always")
    assert data["always_loaded_tokens"] == always
    assert "recommendations" not in data


def test_duplicates_across_files_cite_their_lines(full: Desk) -> None:
    found = audit(full).data["analysis"]["duplicates"]
    pairs = [(pair["sources"], pair["similarity"]) for pair in found]
    assert (["Persona.md:5", "MEMORY.md:5"], 1.0) in pairs
    assert found[0]["content_b"] == BILLING
    cited = [ref for pair in found for ref in pair["sources"] if ref.startswith("memory/domains/decisions.md:")]
    lines = (full.folder() / "memory/domains/decisions.md").read_text().split("\n")
    assert BILLING in lines[int(cited[0].rpartition(":")[2]) - 1]


def test_what_is_unused_and_what_to_do(full: Desk) -> None:
    data = audit(full, "--recommend").data
    assert [(row["domain"], row["items"]) for row in data["analysis"]["stale"]] == [("facts", 1)]
    advice = data["recommendations"]
    assert advice[0]["action"] == "move_to_items"
    assert "MEMORY.md › Long" in advice[0]["description"]
    assert {row["action"] for row in advice} == {"move_to_items", "remove_duplicate", "archive_stale"}
    savings = [row["estimated_savings_tokens"] for row in advice]
    assert savings == sorted(savings, reverse=True)
    assert {row["risk"] for row in advice} <= {"low", "medium", "high"}


def test_a_scope_counts_only_its_sources(full: Desk) -> None:
    def sources(scope: str) -> set[str]:
        return {row["category"] for row in audit(full, "--scope", scope).data["analysis"]["breakdown"]}

    assert sources("memory_md") == {"memory_md"}
    assert sources("domains") == {"domains"}
    assert sources("system_prompt") == {"system_prompt", "index"}
    # A copy in another source is what makes a statement superfluous, so both are looked at.
    assert audit(full, "--scope", "memory_md").data["analysis"]["duplicates"]
    assert audit(full, "--scope", "memory_md").data["analysis"]["stale"] == []


def test_skills_cost_a_line_each(full: Desk, tmp_path: Path) -> None:
    (tmp_path / "bill.md").write_text(f"---\nname: bill\ndescription: {BILLING}.\n---\n{'word ' * 500}")
    data = audit(full, "--skills", str(tmp_path), "--scope", "system_prompt").data
    row = next(row for row in data["analysis"]["breakdown"] if row["category"] == "skills")
    assert row["source"] == "skill bill"
    assert row["tokens"] < 30
    assert any("skill bill" in pair["sources"] for pair in data["analysis"]["duplicates"])


def test_the_check_fails_only_above_the_limit(full: Desk) -> None:
    always = audit(full).data["always_loaded_tokens"]
    assert audit(full, "--check", "--max-tokens", str(always)).code == 0
    failed = full.run("context", "audit", "--check", "--max-tokens", str(always - 1))
    assert failed.code == 7
    assert "always loaded, 1 more than" in failed.stderr
    assert "MEMORY.md" in failed.stdout


@pytest.mark.parametrize(
    "words", [["--check"], ["--max-tokens", "5"], ["--check", "--max-tokens", "-1"], ["--scope", "x"]]
)
def test_bad_options(desk: Desk, words: list[str]) -> None:
    said = desk.run("context", "audit", *words)
    assert (said.code, said.stdout) == (2, "")


def test_an_index_that_is_not_there_is_written_anew(full: Desk) -> None:
    (full.folder() / "memory" / "INDEX.md").unlink()
    advice = audit(full, "--recommend", "--scope", "domains").data["recommendations"]
    assert "write memory/INDEX.md: mabos materialize" in [row["description"] for row in advice]


def test_an_audit_changes_nothing(full: Desk) -> None:
    def state() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in full.root.rglob("*") if path.is_file()}

    before = state()
    audit(full, "--recommend")
    assert state() == before


def test_advice_that_was_followed_is_not_given_again(full: Desk, tmp_path: Path) -> None:
    """Follows every recommendation as a person would, until there is none."""
    rules = "".join(f"- Rule {n}: {BILLING} in region {n}, and say so in the mail about it\n" for n in range(40))
    full.write("MEMORY.md", (full.folder() / "MEMORY.md").read_text() + f"\n\n## Rules\n\n{rules}")
    skill = tmp_path / "bill.md"
    skill.write_text("---\nname: bill\ndescription: Bills.\n---\n- Kim likes short answers better than long ones\n")
    given = []
    for _ in range(12):
        advice = audit(full, "--recommend", "--skills", str(skill)).data["recommendations"]
        if not advice:
            break
        action, told = advice[0]["action"], advice[0]["description"]
        given.append(action)
        if action in ("move_to_items", "archive_stale", "refresh_index"):
            assert full.run(*told.rpartition("mabos ")[2].split()).code == 0
        elif action == "remove_migrated":
            full.write("MEMORY.md", "# Memory\n\n## Billing\n\n- nothing\n")
        else:
            place = re.search(r"remove (\S+):(\d+),", told)
            assert place, told
            path = full.folder() / place[1]
            lines = path.read_text().split("\n")
            del lines[int(place[2]) - 1]
            path.write_text("\n".join(lines))
    assert audit(full, "--recommend").data["recommendations"] == []
    assert given[0] == "move_to_items"
    assert "remove_migrated" in given


def test_domain_files_that_did_not_change_are_not_read(full: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    split: list[str] = []
    monkeypatch.setattr(auditing, "find_statements", lambda text: split.append(text) or find_statements(text))
    time.sleep(0.03)  # what was just written is not settled yet
    first = audit(full).data
    assert any(text.startswith("# Decisions") for text in split)
    split.clear()
    assert audit(full).data == first and first["analysis"]["duplicates"]
    assert not any(text.startswith("# Decisions") for text in split)
    full.run("store", "Ferries to Lisbon leave at nine in the morning", "--type", "decision")
    with (full.folder() / "MEMORY.md").open("a") as file:
        file.write("\n- Ferries to Lisbon leave at nine in the morning\n")
    found = [pair["sources"] for pair in audit(full).data["analysis"]["duplicates"]]
    assert len(found) == len(first["analysis"]["duplicates"]) + 1 and any(
        ref.startswith("memory/domains/decisions.md:") for ref in found[-1]
    )
