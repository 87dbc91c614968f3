"""No door hands out a secret that somebody wrote into a file: every command that reads is tried on a workspace full of them."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import quick_folder
from every_command import CALLS, Bench, Place, furnish
from serve.speaker import speaking

# A secret for each file, invented, and put together so that no scanner of a code host takes this one for a leak.
PLANTED = {
    name: "gh" + "p_" + f"{number:02}Zx81kQ0vT3mN7pR2sW6yB4dF9hJ1lC5aE8gU0"[:36]
    for number, name in enumerate(
        (
            "sessions/2026-02-20.jsonl",
            "memory/notes.md",
            "memory/2026-02-23.md",
            "MEMORY.md",
            "memory/INDEX.md",
            "memory/checkpoints",
            "memory/weekly",
            "observations",
            "Persona.md",
            "Beliefs.md",
            "Goals.md",
            "Knowledge.md",
            "Desires.md",
            "Intentions.md",
            "Plans.md",
            "Commitments.md",
            "Learnings.md",
        )
    )
}
# What an entry of each cognitive file says.
TITLES = {
    "Beliefs.md": "growing",
    "Goals.md": "Renew the largest customer",
    "Desires.md": "Sleep well",
    "Intentions.md": "Send the offer",
    "Plans.md": "Renewal",
    "Commitments.md": "Pay the rent",
    "Learnings.md": "Measure twice",
}
PASSWORD = "Sunset2017$" + "pump"
_PUMP = "The pump runs with {} since May, and its password is " + PASSWORD + "."


def plant(place: Place) -> None:
    """Writes a sentence with a secret into every kind of file that people and hosts write to."""
    home = place.root / "agents/main"
    texts = {name: _PUMP.format(secret) for name, secret in PLANTED.items()}
    session = home / "sessions/2026-02-20.jsonl"
    session.parent.mkdir(exist_ok=True)
    said = [{"role": "user", "content": f"Why does the pump stay? {texts['sessions/2026-02-20.jsonl']}"}]
    said += [{"role": "assistant", "content": [{"type": "text", "text": texts["sessions/2026-02-20.jsonl"]}]}]
    session.write_text("".join(json.dumps(line) + "\n" for line in said))
    (home / "memory/2026-02-23.md").write_text(
        f"# 2026-02-23\n\n## Pump (09:00 UTC)\n\nDecision: the pump stays. {texts['memory/2026-02-23.md']}\n"
    )
    for name in (
        "memory/notes.md",
        "MEMORY.md",
        "memory/INDEX.md",
        "Persona.md",
        "Beliefs.md",
        "Goals.md",
        "Knowledge.md",
    ):
        with open(home / name, "a") as file:
            file.write(f"\n## Pump notes\n\n{texts[name]}\n")
    latest = max((home / "memory/checkpoints").glob("*.md"))
    latest.write_text(latest.read_text() + f"\n## Findings\n\n- {texts['memory/checkpoints']}\n")
    for summary in (home / "memory").rglob("20*-W*.md"):
        summary.write_text(summary.read_text() + f"\n{texts['memory/weekly']}\n")
    for name, title in TITLES.items():
        text = (home / name).read_text()
        assert title in text
        (home / name).write_text(text.replace(title, f"{title} by {PLANTED[name]}"))
    for record in (home / "observations").glob("20*.jsonl"):
        record.write_text(record.read_text().replace("3 tests failed", f"3 tests failed: {texts['observations']}"))


MORE = {
    **{f"read {name}": ("read", name) for name in PLANTED if name.endswith((".md", ".jsonl"))},
    "read range": ("read", "memory/notes.md:3-9", "--json"),
    "recall json": ("recall", "pump password", "--json", "--limit", "0"),
    "recall deep": ("recall", "why does the pump stay", "--depth", "2", "--limit", "0"),
    "recall without index": ("recall", "pump password", "--limit", "0"),
    "timeline query": ("timeline", "pump password", "--json"),
    "timeline day": ("timeline", "2026-02-23"),
    "index search": ("index", "search", "pump password", "--json"),
    "hierarchy search": ("hierarchy", "search", "pump password", "--json"),
    "hierarchy drill": ("hierarchy", "drill", "why does the pump stay", "--json"),
    "context pack": ("context", "pack", "which password does the pump have"),
    "context build": ("context", "build", "--request", "Which password does the pump have?", "--json"),
    "context compress": (
        "context",
        "compress",
        "--history",
        "{ws}/agents/main/sessions/2026-02-20.jsonl",
        "--budget",
        "60",
    ),
    "context audit": ("context", "audit", "--recommend", "--json"),
    "explain": ("explain", "why does the pump stay"),
    "report": ("report", "-o", "-"),
    "review": ("review", "HEAD", "--all", "--limit", "0"),
    "migrate dry": ("migrate", "--min-tokens", "1", "--dry-run", "--json"),
    "ingest dry": ("ingest", "transcript", "{ws}/agents/main/sessions/2026-02-20.jsonl", "--dry-run", "--json"),
    "doctor security": ("doctor", "--security", "--json"),
}
HOOKS = {
    "SessionStart": {"source": "resume"},
    "UserPromptSubmit": {"prompt": "which password does the pump have, and why does the pump stay"},
    "PreCompact": {"trigger": "auto"},
    "Stop": {},
    "SessionEnd": {},
}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with quick_folder() as folder:
        yield Bench(furnish(folder / "seed"), folder / "copy", plant)


def leaks(text: str) -> list[str]:
    """The files whose secrets stand in a text."""
    found = [name for name, secret in PLANTED.items() if secret in text]
    return found + (["password"] if PASSWORD in text else [])


@pytest.mark.parametrize("name", [*CALLS, *(f"more {name}" for name in MORE)])
def test_no_command_hands_out_a_planted_secret(bench: Bench, name: str) -> None:
    place = bench.fresh()
    before = {path: path.read_bytes() for path in place.side.rglob("*") if path.is_file()}
    done = place.do(*MORE[name[5:]]) if name.startswith("more ") else place.call(name)
    assert "Traceback" not in done.stderr
    assert leaks(done.stdout + done.stderr) == []
    for path in place.side.rglob("*"):  # a report, a skill, a demo
        if path.is_file() and before.get(path) != path.read_bytes():
            assert leaks(path.read_text("utf-8", "replace")) == [], path


@pytest.mark.parametrize("event", HOOKS)
def test_no_hook_hands_out_a_planted_secret(bench: Bench, event: str) -> None:
    place = bench.fresh()
    place.do("index", "sync")
    transcript = place.root / "agents/main/sessions/2026-02-20.jsonl"
    payload = {"session_id": "s9", "cwd": str(place.root), "transcript_path": str(transcript), **HOOKS[event]}
    done = place.do("hook", event, stdin=json.dumps(payload))
    assert done.code == 0 and leaks(done.stdout + done.stderr) == []
    if event == "SessionStart":
        assert "The pump runs with [redacted:github_token] since May" in done.stdout


TOOLS = {
    "memory_recall": {"query": "pump password"},
    "memory_search": {"query": "pump password"},
    "memory_read": {"file_path": "sessions/2026-02-20.jsonl"},
    "memory_timeline": {"query": "pump password"},
    "memory_audit": {},
    "memory_checkpoint_latest": {},
    "memory_hierarchy_search": {"query": "pump password", "level": "weekly"},
    "memory_hierarchy_drill": {"query": "why does the pump stay"},
    "context_index": {},
    "context_pack": {"query": "which password does the pump have"},
    "context_build": {"request": "Which password does the pump have?"},
    "bdi_status": {},
    "bdi_conflicts": {},
    **{f"{kind}_list": {} for kind in "belief desire goal intention plan commitment learning".split()},
    "goal_tree": {},
}


def test_no_tool_and_no_resource_hands_out_a_planted_secret(bench: Bench) -> None:
    place = bench.fresh()
    with speaking(place.root, "--agent", "main", MABOS_INDEX_VECTORS="lexical") as speaker:
        for tool, arguments in TOOLS.items():
            got = speaker.call(tool, **arguments)
            assert not got.is_error, (tool, got.text)
            assert leaks(got.text + json.dumps(got.data)) == [], tool
        assert "[redacted:github_token]" in speaker.call("memory_read", file_path="Beliefs.md").text
        for resource in speaker.portal.call(speaker.client.list_resources).resources:
            for content in speaker.portal.call(speaker.client.read_resource, resource.uri).contents:
                assert leaks(content.text) == [], resource.uri


def test_what_is_shown_is_what_was_planted(bench: Bench) -> None:
    """The secrets are gone, and the sentences around them are there."""
    place = bench.fresh()
    for words in (("belief", "list"), ("checkpoint", "latest"), ("read", "MEMORY.md"), ("recall", "pump", "-n", "0")):
        assert "[redacted:github_token]" in place.do(*words).stdout, words


def test_the_index_holds_no_planted_secret_and_is_rebuilt_where_it_did(bench: Bench) -> None:
    place = bench.fresh()
    assert "redacted:github_token" in place.do("recall", "pump password", "--limit", "0").stdout
    index = place.root / ".mabos/index/main.sqlite"
    assert leaks(index.read_bytes().decode("latin-1")) == []
    with sqlite3.connect(index) as db:  # as a version before this one left it
        shape = db.execute("SELECT value FROM meta WHERE key = 'shape'").fetchone()[0]
        db.execute("UPDATE meta SET value = ? WHERE key = 'shape'", (shape.replace(shape.split()[0], "4", 1),))
        db.execute(
            "UPDATE passages SET text = replace(text, '[redacted:github_token]', ?)", (PLANTED["memory/notes.md"],)
        )
    Path(index.with_suffix(".lock")).unlink()
    assert leaks(place.do("recall", "pump password", "--limit", "0").stdout) == []
    assert leaks(index.read_bytes().decode("latin-1")) == []


def test_lines_are_where_they_were(bench: Bench) -> None:
    """A key of many lines is replaced, and what follows keeps its number."""
    place = bench.fresh()
    key = (
        "-----BEGIN PRIVATE "
        + "KEY-----\n"
        + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n" * 5
        + "-----END PRIVATE "
        + "KEY-----"
    )
    note = place.root / "agents/main/memory/key.md"
    note.write_text(f"# Key\n\n{key}\n\nThe zeppelin lands at noon.\n")
    assert "memory/key.md:11" in place.do("recall", "zeppelin noon").stdout.replace("key.md:1-11", "key.md:11")
    assert place.do("read", "memory/key.md:11").stdout.strip().endswith("The zeppelin lands at noon.")
    assert "MIIEvQIB" not in place.do("read", "memory/key.md").stdout
    assert "MIIEvQIB" in place.do("read", "memory/key.md", "--raw").stdout
