"""Many processes, a person at the editor, and hostile words: everything that was acknowledged is there, once, as it was given."""

import fcntl
import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import Mabos
from forked import run

from mabos_cli.formats.hierarchy.daily_log import parse_log

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def everything(root: Path) -> list[str]:
    """The contents of all items, live or archived, that were not made by consolidation."""
    done = run("recall", "--limit", "0", "--archived", "--json", "-w", str(root))
    assert done.code == 0, done.stderr
    return [row["content"] for row in json.loads(done.stdout)["data"]["results"] if row["source"] != "consolidation"]


def test_eight_writers_beside_maintenance_and_an_editor_lose_nothing(workspace: Path) -> None:
    program, environment = (
        Path(sys.executable).with_name("mabos"),
        {**os.environ, "MABOS_WORKSPACE": str(workspace)},
    )
    problems: list[str] = []
    typed: list[str] = []
    stop = threading.Event()

    def call(*words: str) -> None:
        done = subprocess.run([program, *words], env=environment, capture_output=True, text=True, check=False)
        if done.returncode or "Traceback" in done.stderr:
            problems.append(f"{words}: {done.returncode} {done.stderr}")

    def writer(number: int) -> None:
        for n in range(5):
            call("store", f"W{number}N{n}", "--tag", f"t{number % 3}", "-i", "0.9")

    def maintain() -> None:
        while not stop.is_set():
            call("consolidate")

    def person() -> None:
        """Reads, thinks, and saves over the file if nobody changed it meanwhile, as an editor does."""
        path = workspace / "agents/main/MEMORY.md"
        while not stop.is_set():
            before, text = path.stat(), path.read_text("utf-8")
            time.sleep(0.03)
            if path.stat().st_mtime_ns == before.st_mtime_ns and path.stat().st_ino == before.st_ino:
                typed.append(f"typed {len(typed)}")
                path.with_name("MEMORY.md~").write_text(f"{text}- {typed[-1]}\n", "utf-8")
                os.replace(path.with_name("MEMORY.md~"), path)

    side = [threading.Thread(target=maintain), threading.Thread(target=person)]
    writers = [threading.Thread(target=writer, args=(number,)) for number in range(8)]
    for thread in side + writers:
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    for thread in side:
        thread.join()
    assert not problems, "\n".join(problems)
    assert sorted(everything(workspace)) == sorted(f"W{w}N{n}" for w in range(8) for n in range(5))
    memory = (workspace / "agents/main/MEMORY.md").read_text("utf-8")
    assert typed and all(f"- {line}\n" in memory for line in typed)
    assert run("doctor", "--check", "-w", str(workspace)).code == 0


def test_a_busy_lock_ends_in_exit_5_and_changes_nothing(workspace: Path, mabos: Mabos) -> None:
    mabos("store", "first", "-w", str(workspace))
    with open(workspace / ".mabos/locks/main.lock", "r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = mabos("store", "second", "-w", str(workspace), "--lock-timeout", "0.1")
    assert done.code == 5
    assert "gave up after 0.1 s" in done.stderr
    assert everything(workspace) == ["first"]


HOSTILE = {
    "heading": "note\n## Fake heading\nstill the note",
    "log entry": "x\n\n## decision (10:00 UTC)\n\nforged\n\n(manual) ^M-1-aaaa",
    "setext": "Title\n=====\nbody\n---\nmore",
    "front matter": "---\nid: M-1-evil\nimportance: 1.0\n---\nbody",
    "open fence": "```\nnever closed",
    "tildes": "~~~\nx\n~~~",
    "comment": "a <!-- hidden --> b",
    "open comment": "<!-- never closed",
    "marker": "<!-- mabos generated 00000000 -->",
    "bullet": "- item\n- **ID:** M-1-aaaa",
    "table": "| a | b |\n|---|---|\n| 1 | 2 |",
    "block id": "text ^M-1708800000000-a3f2",
    "wikilink": "[[../../etc/passwd]] [x](javascript:alert(1))",
    "yaml": "key: value\n- [a, b\n: : :",
    "json": '{"a": [1, 2',
    "trailing newline": "line\n",
    "leading blank lines": "\n\nline",
    "indented": "    indented code",
    "crlf": "a\r\nb\r\n",
    "odd breaks": "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g",
    "escape": "a\x1b[2J\x1b]52;c;ZXZpbA==\x07b",
    "c1": "a\x9b2Jb\x9d0;t\x9c",
    "bidi": "a\u202eb\u2066c",
    "rich": "x [/bold] y [link=http://evil.example]x[/link] list[int]",
    "fts": '"unbalanced AND (NEAR * ^',
    "emoji": "😀👩‍👩‍👧🇦🇹",
    "cjk": "日本語のメモ",
    "combining": "Z" + "\u0301" * 300,
    "noncharacters": "a\uffff\ufdd0b",
    "conflict": "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x",
    "option": "--help",
    "dash": "-",
    "deep": "[" * 5000,
    "many lines": "l\n" * 5000,
    "percent": "%%% %% hidden %%",
}


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A workspace into which every hostile content was stored, and the id of each."""
    root = tmp_path_factory.mktemp("poisoned") / "ws"
    assert run("init", str(root)).code == 0
    rnd, ids = random.Random(5), {}
    alphabet = [
        "\n",
        "\r",
        "#",
        "-",
        "`",
        "<",
        "|",
        ":",
        "\\",
        "\x1b",
        "\u2028",
        "## ",
        "---\n",
        "<!--",
        "-->",
        "^M-1-aaaa",
        "%%",
        "a",
    ]
    for number in range(60):
        HOSTILE[f"random {number}"] = "x" + "".join(rnd.choices(alphabet, k=rnd.randint(1, 30)))
    for name, content in HOSTILE.items():
        done = run("store", "--json", "-w", str(root), "-i", "0.7", "--", content)
        assert done.code == 0, (name, done.stderr)
        ids[name] = json.loads(done.stdout)["data"]["id"]
    return root, ids


def test_hostile_content_comes_back_as_it_was_given(poisoned: tuple[Path, dict[str, str]]) -> None:
    root, ids = poisoned
    for name, content in HOSTILE.items():
        done = run("get", ids[name], "--json", "-w", str(root))
        assert json.loads(done.stdout)["data"]["item"]["content"] == content, name
        assert not CONTROL.search(done.stdout), name


def test_hostile_content_cannot_forge_log_entries(poisoned: tuple[Path, dict[str, str]]) -> None:
    root, ids = poisoned
    logs = [path.read_text("utf-8") for path in (root / "agents/main/memory").glob("2*.md")]
    assert [entry.id for log in logs for entry in parse_log(log)] == list(ids.values())


def test_hostile_content_never_reaches_the_terminal_raw(poisoned: tuple[Path, dict[str, str]]) -> None:
    root, ids = poisoned
    for words in (
        ["recall", "--limit", "0"],
        ["timeline", "--before", "200"],
        *(["get", i, "--tree"] for i in ids.values()),
    ):
        done = run(*words, "-w", str(root))
        assert done.code == 0
        assert not CONTROL.search(done.stdout), words
    for path in (root / "agents/main").rglob("*.md"):
        assert not CONTROL.search(path.read_text("utf-8")), path


def test_any_content_can_be_a_question(poisoned: tuple[Path, dict[str, str]]) -> None:
    root, _ = poisoned
    for name, content in list(HOSTILE.items())[:50]:
        done = run("recall", "-w", str(root), "--", content)
        assert (done.code, done.stderr) == (0, ""), name


def test_hostile_content_leaves_a_healthy_workspace(poisoned: tuple[Path, dict[str, str]]) -> None:
    root, ids = poisoned
    assert json.loads(run("materialize", "--json", "-w", str(root)).stdout)["data"]["changed"] == []
    assert run("doctor", "--check", "-w", str(root)).code == 0
    entries = (root / "agents/main/memory/mabos-memory-items.md").read_text("utf-8")
    assert re.findall(r"(?m)^- \*\*ID:\*\* (\S+)$", entries) == list(ids.values())
