"""Workspaces that are not as we would make them: links, other encodings, one disk for two names, other tools' files."""

import io
import json
import os
import shutil
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest
from forked import run, tree

from mabos_cli.app import main
from mabos_cli.workspace.layout import TEMP_PREFIX, WorkspacePaths
from mabos_cli.workspace.locate import shares_a_file

NOW = "2026-03-01T10:00:00Z"


def do(root: Path, *words: str) -> dict:
    done = run(*words, "--json", "-w", str(root), MABOS_NOW=NOW)
    assert done.code == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    do(tmp_path / "ws", "init", str(tmp_path / "ws"))
    return tmp_path / "ws"


def test_a_memory_folder_that_leads_out_is_not_written_and_blocks_nothing(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "agents/main/memory").symlink_to(tmp_path / "elsewhere")
    for text in ("one", "two", "three"):
        answer = do(root, "store", text)
        assert any("leads out of the workspace" in warning for warning in answer["warnings"])
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert do(root, "status")["data"]["stores"]["short_term"] == 3
    # Once the link is gone, the next write catches up with everything that could not be logged.
    (root / "agents/main/memory").unlink()
    assert do(root, "store", "four")["warnings"] == []
    log = (root / "agents/main/memory/2026-03-01.md").read_text("utf-8")
    assert [line for line in log.split("\n") if line in ("one", "two", "three", "four")] == [
        "one",
        "two",
        "three",
        "four",
    ]


def test_a_folder_of_domains_that_leads_out_loses_nothing(root: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/decisions.md").write_text("my own decisions\n")
    (root / "agents/main/memory").mkdir(exist_ok=True)
    (root / "agents/main/memory/domains").symlink_to(tmp_path / "mine")
    done = run("materialize", "-w", str(root), MABOS_NOW=NOW)
    assert (done.code, "leads out of the workspace" in done.stderr) == (4, True)
    assert (tmp_path / "mine/decisions.md").read_text() == "my own decisions\n"


def test_an_index_folder_that_leads_out_is_not_used(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / ".mabos").mkdir(exist_ok=True)
    (root / ".mabos/index").symlink_to(tmp_path / "elsewhere")
    do(root, "store", "the grinder is clean", "--store", "long_term")
    do(root, "index", "sync", "--rebuild")
    assert len(do(root, "recall", "grinder")["data"]["results"]) == 1
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_bytes_of_a_person_that_are_not_utf8_survive_consolidation(root: Path) -> None:
    path = root / "agents/main/MEMORY.md"
    path.write_bytes(path.read_bytes() + b"caf\xe9 notes\n")
    do(root, "store", "keep the grinder clean", "-i", "0.9")
    do(root, "consolidate")
    assert b"caf\xe9 notes\n" in path.read_bytes()
    assert b"keep the grinder clean" in path.read_bytes()


def test_an_agent_folder_that_leads_out_is_refused(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "agents/main", tmp_path / "stolen")
    (root / "agents/spy").symlink_to(tmp_path / "stolen")
    before = tree(tmp_path / "stolen")
    done = run("store", "x", "-a", "spy", "-w", str(root), MABOS_NOW=NOW)
    assert (done.code, "leads out of the workspace" in done.stderr) == (4, True)
    assert tree(tmp_path / "stolen") == before


@pytest.mark.parametrize("agent", ["..", "../main", "/etc", "a/b", ".", "", "a\nb", "x" * 65])
def test_agent_ids_that_are_not_names_are_refused(root: Path, agent: str) -> None:
    before = tree(root)
    done = run("agent", "create", agent, "-w", str(root), MABOS_NOW=NOW)
    assert done.code == 2
    assert tree(root) == before


def test_recall_does_not_read_through_a_link_that_leads_out(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("the zanzibar password\n")
    (root / "agents/main/leak.md").symlink_to(tmp_path / "secret.md")
    assert do(root, "recall", "zanzibar")["data"]["results"] == []
    assert run("read", "leak.md", "-w", str(root)).code == 4


def test_temporary_files_are_invisible_to_git(root: Path) -> None:
    if shutil.which("git") is None:
        raise AssertionError("this test needs git")
    subprocess.run(["git", "init", "-q", root], check=True)
    (root / "agents/main" / f"{TEMP_PREFIX}1-0").write_text("half")
    done = subprocess.run(
        ["git", "-C", root, "status", "--porcelain", "-uall"], capture_output=True, text=True, check=True
    )
    assert TEMP_PREFIX not in done.stdout
    assert ".mabos/" not in done.stdout
    assert "agents/main/MEMORY.md" in done.stdout


def test_two_names_for_one_file_are_noticed(root: Path) -> None:
    """A hard link stands in for a disk that ignores case."""
    agent = WorkspacePaths(root).agent("main")
    assert not shares_a_file(agent)
    (agent.root / "Memory.md").unlink()
    os.link(agent.memory_md, agent.root / "Memory.md")
    assert shares_a_file(agent)
    assert any("one file on this disk" in warning for warning in do(root, "agent", "show")["warnings"])


def test_init_leaves_what_people_wrote_alone(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    (root / "agents/main").mkdir(parents=True)
    (root / ".gitignore").write_text("*.log")
    (root / "agents/main/Beliefs.md").write_text("mine\n")
    do(root, "init", str(root), "-a", "main")
    assert (root / "agents/main/Beliefs.md").read_text() == "mine\n"
    assert (root / ".gitignore").read_text().split("\n")[:3] == ["*.log", ".mabos/", ".mabos-tmp-*"]


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", "null", '{"working": 5}', "<<<<<<< HEAD\n{}\n", "\x00\x00", '{"a": NaN}']
)
def test_a_damaged_store_is_never_read_as_empty_and_never_overwritten(root: Path, damage: str) -> None:
    do(root, "store", "before the damage")
    path = root / "agents/main/memory-store.json"
    path.write_text(damage)
    before = tree(root)
    for words in (
        ["store", "x"], ["store", "x", "--store", "long_term"], ["recall", "x"], ["status"], ["consolidate"], ["materialize"],
        ["forget", "M-1-0000"], ["update", "M-1-0000", "-c", "x"], ["timeline"], ["get", "M-1-0000"],
    ):  # fmt: skip
        done = run(*words, "-w", str(root), MABOS_NOW=NOW)
        assert done.code == 4, (words, done)
        assert "memory-store.json" in done.stderr and "Traceback" not in done.stderr
    assert run("doctor", "-w", str(root)).code == 0
    assert run("doctor", "--check", "-w", str(root)).code == 7
    assert tree(root) == before


def test_a_link_that_leads_nowhere_is_not_an_absence(root: Path) -> None:
    do(root, "store", "before the disk was unplugged")
    path = root / "agents/main/memory-store.json"
    path.unlink()
    path.symlink_to("unplugged/memory-store.json")
    for words in (["store", "x"], ["recall", "x"], ["status"], ["consolidate"], ["get", "M-1-0000"]):
        done = run(*words, "-w", str(root), MABOS_NOW=NOW)
        assert (done.code, "leads nowhere" in done.stderr) == (4, True), (words, done)
    assert path.is_symlink()
    assert "memory-store.json a symbolic link that leads nowhere" in run("doctor", "-w", str(root)).stdout
    (root / "mabos.yaml").unlink()
    (root / "mabos.yaml").symlink_to("unplugged/mabos.yaml")
    assert run("status", "-w", str(root)).code == 4


def test_doctor_looks_at_every_file(root: Path) -> None:
    agent = root / "agents/main"
    (agent / "Goals.md").unlink()
    (agent / "Goals.md").mkdir()
    (agent / "Plans.md").unlink()
    (agent / "Plans.md").symlink_to("nowhere.md")
    (agent / "Beliefs.md").write_text("# Beliefs\n\n## Demand\n\n- **Certainty:** NaN\n")
    (agent / "observations").mkdir()
    (agent / "observations/2026-03-01.jsonl").write_text('{"text": "to')
    (agent / "memory/archive").mkdir(parents=True)
    (agent / "memory/archive/consolidated.jsonl").write_text("[1]\n{\n")
    found = [(f["level"], f["place"]) for f in do(root, "doctor")["data"]["findings"]]
    assert ("problem", "Goals.md") in found
    assert ("problem", "Plans.md") in found
    assert ("note", "Beliefs.md:3") in found
    assert ("note", "observations/2026-03-01.jsonl") in found
    assert ("note", "memory/archive/consolidated.jsonl") in found


def test_a_current_folder_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def leave() -> None:
        """As a process finds itself whose folder somebody else removed."""
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "getcwd", leave)
    for words in ("init", "init here", "demo", "status", "connect claude --dry-run"):
        out, err = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())
        with redirect_stdout(out), redirect_stderr(err):
            assert main(words.split()) == 3
        assert out.buffer.getvalue() == b"" and b"the current folder is gone" in err.buffer.getvalue()
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("words", [("init",), ("demo",), ("context", "audit", "--skills")], ids=" ".join)
def test_a_name_that_is_too_long_for_a_disk_is_told(root: Path, words: tuple[str, ...]) -> None:
    done = run("-w", str(root), *words, "x" * 3000)
    assert done.code == 4 and "File name too long" in done.stderr and done.stdout == ""


@pytest.mark.parametrize("way", ["folder", "link"])
def test_a_cache_that_cannot_be_read_stops_nobody(root: Path, way: str) -> None:
    cache = root / ".mabos/settings.cache"
    (root / "mabos.yaml").write_text("memory:\n  working_capacity: 5\n")
    do(root, "status")
    cache.unlink()
    if way == "folder":
        cache.mkdir()
    else:
        cache.symlink_to("nowhere")
    assert "of 5" in run("status", "-w", str(root), MABOS_NOW=NOW).stdout
    do(root, "store", "life goes on")
