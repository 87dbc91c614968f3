"""hook install, hook uninstall and skill, on real files."""

import json
import os
import re
import shlex
import stat
from pathlib import Path

import pytest

from commands.desk import Desk, Said

PERSON = '{\n\t"model": "opus",\n\t"unknown": {"deep": [1, 2.50, "\\u00e9"]},\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}\n}'


@pytest.fixture
def desk(quick: Path, still_world: None, monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk(quick / "w")
    monkeypatch.chdir(quick)
    monkeypatch.setenv("HOME", os.fspath(quick / "home"))
    return desk


def hook(desk: Desk, *words: str) -> Said:
    return desk.run("hook", *words)


def test_a_persons_file_comes_back_to_the_byte(desk: Desk, quick: Path) -> None:
    path = quick / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(PERSON)
    path.chmod(0o600)
    done = hook(desk, "install", "--host", "claude", "--json").data
    assert (done["changed"], done["removed"], len(done["events"])) == (True, False, 5)
    found = json.loads(path.read_text())
    assert [len(found["hooks"][event]) for event in ("Stop", "SessionEnd")] == [2, 1]
    command = found["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    words = shlex.split(command)  # how mabos is called depends on whether it is on PATH
    assert words[words.index("hook") :] == [
        "hook",
        "session-start",
        "--host",
        "claude",
        "-w",
        os.fspath(desk.root),
    ]
    assert hook(desk, "install", "--host", "claude", "--json").data["changed"] is False
    assert hook(desk, "uninstall", "--host", "claude", "--json").data["changed"] is True
    assert path.read_text() == PERSON
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert hook(desk, "uninstall", "--host", "claude", "--json").data["changed"] is False


@pytest.mark.parametrize(
    "host, scope, expected",
    [
        ("claude", "project", ".claude/settings.json"),
        ("claude", "user", "home/.claude/settings.json"),
        ("codex", "user", "home/.codex/hooks.json"),
        ("gemini", "project", ".gemini/settings.json"),
        ("cursor", "user", "home/.cursor/hooks.json"),
    ],
)
def test_a_new_file_comes_and_goes(desk: Desk, quick: Path, host: str, scope: str, expected: str) -> None:
    words = ("--host", host, "--scope", scope)
    assert hook(desk, "install", *words, "--dry-run").stdout.startswith(f"--- {quick / expected}\n")
    assert not (quick / expected).exists()
    assert hook(desk, "install", *words).code == 0
    assert "hooks" in json.loads((quick / expected).read_text())
    assert hook(desk, "uninstall", *words).stdout == f"{quick / expected}: removed\n"
    assert not (quick / expected).exists()
    assert hook(desk, "uninstall", *words).stdout == f"{quick / expected}: unchanged\n"


def test_hooks_that_would_find_nothing_are_told(desk: Desk, quick: Path) -> None:
    assert hook(desk, "install", "--host", "claude", "--dry-run", "--json").warnings == []
    desk.add_agent("cfo")
    assert "several agents" in hook(desk, "install", "--host", "claude", "--json").warnings[0]
    assert hook(desk, "install", "--host", "claude", "-a", "cfo", "--json").warnings == []
    assert "-a cfo" in (quick / ".claude" / "settings.json").read_text()


def test_codex_may_live_elsewhere(desk: Desk, quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", os.fspath(quick / "codex"))
    done = hook(desk, "install", "--host", "codex", "--scope", "user")
    assert (quick / "codex" / "hooks.json").is_file() and "/hooks" in done.stdout


def test_a_link_is_followed_and_stays(desk: Desk, quick: Path) -> None:
    (quick / "dotfiles").mkdir()
    (quick / "dotfiles" / "claude.json").write_text("{}\n")
    (quick / "linked.json").symlink_to("dotfiles/claude.json")
    assert hook(desk, "install", "--host", "claude", "--settings", "linked.json").code == 0
    assert (quick / "linked.json").is_symlink()
    assert len(json.loads((quick / "dotfiles" / "claude.json").read_text())["hooks"]) == 5
    hook(desk, "uninstall", "--host", "claude", "--settings", "linked.json")
    assert (quick / "dotfiles" / "claude.json").read_text() == "{}\n"


@pytest.mark.parametrize(
    "text, code", [(b"{ // no\n}", 4), (b"\xff\xfe{}", 4), (b"", 4), (b"[]", 4), (b'{"hooks": 1}', 4)]
)
def test_what_cannot_be_read_stays_as_it_is(desk: Desk, quick: Path, text: bytes, code: int) -> None:
    (quick / "s.json").write_bytes(text)
    for command in ("install", "uninstall"):
        done = hook(desk, command, "--host", "gemini", "--settings", "s.json")
        assert done.code == code and re.search(r"s\.json:\d+: ", done.stderr)
    assert (quick / "s.json").read_bytes() == text


@pytest.mark.parametrize(
    "words, code",
    [
        (("install",), 2),
        (("install", "--host", "vim"), 2),
        (("install", "--host", "claude", "--scope", "world"), 2),
        (("install", "--host", "claude", "--settings", "w"), 2),
        (("install", "--host", "claude", "-a", "nobody"), 3),
    ],
)
def test_bad_calls_change_nothing(desk: Desk, quick: Path, words: tuple[str, ...], code: int) -> None:
    before = sorted(quick.iterdir())
    assert hook(desk, *words).code == code
    assert sorted(quick.iterdir()) == before


# skill


def test_the_commands_of_a_skill_work(desk: Desk) -> None:
    """Every command line in it, as it stands there."""
    text = desk.run("skill", "--json").data["text"]
    lines = [shlex.split(line) for line in text.split("\n") if line.startswith("mabos ")]
    assert [line[5] for line in lines] == ["recall", "context", "store", "checkpoint", "checkpoint"]
    for line in lines:
        done = desk.run(*line[1:])
        assert (
            done.code,
            done.stderr.replace("warning: nothing to pack: memory holds nothing about this\n", ""),
        ) == (0, "")
    head = re.match(r"---\nname: ([a-z-]{1,64})\ndescription: (.{1,1024})\n---\n\n# ", text)
    assert head and ": " not in head[2]  # plain in YAML


def test_the_commands_of_a_section_work(desk: Desk) -> None:
    text = desk.run("skill", "--format", "agents", "--json").data["text"]
    found = [shlex.split(line) for line in re.findall(r"`(mabos .+?)`$", text, re.MULTILINE)]
    assert len(found) == 5
    assert all(desk.run(*line[1:]).code == 0 for line in found)


def test_a_section_is_kept_in_its_place(desk: Desk, quick: Path) -> None:
    path = quick / "AGENTS.md"
    path.write_text("# Rules\n\nBe brief.")
    words = ("skill", "--format", "agents", "-o", "AGENTS.md")
    assert desk.run(*words).stdout == "AGENTS.md: written\n"
    first = path.read_text()
    assert first.startswith("# Rules\n\nBe brief.\n\n<!-- mabos: begin -->\n## Memory\n")
    assert desk.run(*words).stdout == "AGENTS.md: unchanged\n"
    path.write_text(first.replace("Never store secrets", "Old") + "\nMore rules.\n")
    assert desk.run(*words).stdout == "AGENTS.md: written\n"
    assert path.read_text() == first + "\nMore rules.\n"


def test_a_skill_replaces_only_a_skill_of_ours(desk: Desk, quick: Path) -> None:
    words = ("skill", "-o", "skills/memory/SKILL.md")
    assert desk.run(*words).code == 0
    assert desk.run(*words).stdout.endswith("unchanged\n")
    (quick / "SKILL.md").write_text("---\nname: mine\n---\n")
    assert desk.run("skill", "-o", "SKILL.md").code == 2
    assert (quick / "SKILL.md").read_text() == "---\nname: mine\n---\n"
    assert desk.run("skill", "-o", ".").code == 2
    assert desk.run("skill", "--format", "poem").code == 2
