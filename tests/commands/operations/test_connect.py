"""connect, disconnect and skill, on real files."""

import json
import math
import os
import re
import shlex
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from commands.desk import Desk
from mabos_cli.core.language.text import token_cost
from mabos_cli.core.memory.item import KEEPING, TYPES
from mabos_cli.core.operations.hook_hosts import HOSTS
from mabos_cli.serve.mcp import DAILY
from mabos_cli.services.operations import connect as connecting
from mabos_cli.services.operations.connect import Trial, try_connection

PERSON = '{\n\t"model": "opus",\n\t"unknown": {"deep": [1, 2.50, "\\u00e9"]},\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}\n}'
FILES = {
    "claude": (".claude/settings.json", ".mcp.json", ".claude/skills/mabos-memory/SKILL.md"),
    "codex": (".codex/hooks.json", ".codex/config.toml", ".agents/skills/mabos-memory/SKILL.md"),
    "gemini": (".gemini/settings.json", ".gemini/skills/mabos-memory/SKILL.md"),
    "cursor": (".cursor/hooks.json", ".cursor/mcp.json", ".cursor/rules/mabos-memory.mdc"),
    "openclaw": (
        ".openclaw/openclaw.json",
        *(f".openclaw/extensions/mabos/{name}" for name in ("openclaw.plugin.json", "package.json", "index.js")),
        *(f".openclaw/hooks/mabos/{name}" for name in ("HOOK.md", "handler.js")),
        ".openclaw/skills/mabos-memory/SKILL.md",
    ),
    "opencode": ("opencode.json", ".opencode/plugins/mabos.js", "AGENTS.md"),
}
PLACES = (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "OPENCLAW_STATE_DIR",
    "OPENCLAW_CONFIG_PATH",
    "OPENCLAW_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
)
# What a person has in the files that we share with them, by their names.
THEIRS = {"config.toml": 'model = "o3" # mine', "AGENTS.md": "# Rules\r\n\r\nBe brief.\r\n"}
THEIRS |= dict.fromkeys(
    ("settings.json", ".mcp.json", "hooks.json", "mcp.json", "openclaw.json", "opencode.json"), PERSON
)


def base_of(quick: Path, host: str, user: bool = False) -> Path:
    """Returns the folder that a host's settings are below; OpenClaw knows no projects."""
    return quick / ("home" if user or host == "openclaw" else "p")


def shared(host: str) -> list[str]:
    return [name for name in FILES[host] if Path(name).name in THEIRS]


@pytest.fixture
def desk(quick: Path, still_world: None, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A workspace w in a project p, a home, and no self-test, which starts processes."""
    desk = Desk(quick / "w")
    (quick / "p" / ".git").mkdir(parents=True)
    (quick / "p" / "src").mkdir()
    (quick / "home").mkdir()
    monkeypatch.chdir(quick / "p" / "src")
    monkeypatch.setenv("HOME", os.fspath(quick / "home"))
    for name in PLACES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(connecting, "try_connection", lambda *_: [Trial("session-start", "", "INDEX")])
    return desk


def tree(folder: Path) -> dict[str, Any]:
    """Returns all files below a folder with their bytes and modes, and all folders."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
        if path.is_file()
        else None
        for path in sorted(folder.rglob("*"))
    }


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("user", [False, True])
@pytest.mark.parametrize("host", HOSTS)
def test_what_was_not_there_comes_and_goes(desk: Desk, quick: Path, host: str, user: bool) -> None:
    base, words = base_of(quick, host, user), [host, *(["--user"] if user else [])]
    before = tree(base)
    planned = desk.run("connect", *words, "--dry-run", "--json").data
    assert tree(base) == before and not planned["self_test"]
    done = desk.run("connect", *words, "--json").data
    assert [row["diff"] for row in done["files"]] == [row["diff"] for row in planned["files"]]
    assert all(Path(row["path"]).is_file() for row in done["files"])
    if not user:
        assert tuple(os.path.relpath(row["path"], base) for row in done["files"]) == FILES[host]
    assert done["self_test"][0]["text"] == "INDEX"
    now = tree(base)
    assert desk.run("connect", *words, "--json").data["changed"] is False and tree(base) == now
    assert desk.run("disconnect", *words, "--dry-run").code == 0 and tree(base) == now
    gone = desk.run("disconnect", *words, "--json").data["disconnected"]
    assert [row["removed"] for row in gone[0]["files"]] == [True] * len(done["files"])
    assert tree(base) == before
    assert desk.run("disconnect", *words).stdout == "nothing to remove\n"
    assert not (desk.root / ".mabos" / "hosts.json").exists()


@pytest.mark.parametrize("host", HOSTS)
def test_a_persons_files_come_back_to_the_byte(desk: Desk, quick: Path, host: str) -> None:
    base = base_of(quick, host)
    for name in shared(host):
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_bytes(THEIRS[Path(name).name].encode())
        (base / name).chmod(0o600)
    before = tree(base)
    said = desk.run("connect", host).stdout
    assert "    +" in said and "    -" in said
    found = tree(base)
    assert all(found[name][1] == 0o600 for name in shared(host))
    # A host writes its settings in its own layout; ours are known again.
    for name in shared(host):
        if name.endswith(".json"):
            (base / name).write_text(json.dumps(json.loads((base / name).read_text()), indent=4))
    assert desk.run("connect", host, "--json").data["changed"] is False
    for name in shared(host):
        (base / name).write_bytes(found[name][0])
    desk.run("disconnect", host)
    assert tree(base) == before


def commands(quick: Path) -> list[str]:
    found = json.loads((quick / "p" / ".claude" / "settings.json").read_text())["hooks"]
    return [hook["command"] for event in found.values() for element in event for hook in element["hooks"]]


def test_commands_name_program_workspace_and_agent(desk: Desk, quick: Path) -> None:
    desk.run("connect", "claude")
    words = shlex.split(commands(quick)[0])
    assert os.path.isabs(words[0]) and os.access(words[0], os.X_OK)
    named = ["-w", os.fspath(desk.root), "-a", "main"]
    assert words[words.index("hook") :] == ["hook", "session-start", "--host", "claude", *named]
    server = json.loads((quick / "p" / ".mcp.json").read_text())["mcpServers"]["mabos"]
    assert server["args"][-5:] == ["mcp", *named] and server["command"] == words[0]
    assert desk.run("connect", "codex").code == 0
    table = tomllib.loads((quick / "p" / ".codex" / "config.toml").read_text())["mcp_servers"]["mabos"]
    assert server == table | {"alwaysLoad": True}


def test_another_agent_takes_the_place_of_the_first(desk: Desk, quick: Path) -> None:
    desk.run("connect", "claude")
    desk.add_agent("cfo")
    assert desk.run("connect", "claude").code == 2  # which of the two?
    assert desk.run("connect", "claude", "-a", "cfo").code == 0
    assert len(commands(quick)) == 5 and all(line.endswith("-a cfo") for line in commands(quick))
    desk.run("disconnect", "claude")
    assert not (quick / "p" / ".claude").exists()


def test_the_project_is_found_or_named(desk: Desk, quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk.root / "agents" / "main")
    assert desk.run("connect", "claude", "--json").data["folder"] == os.fspath(desk.root)
    (quick / "bare").mkdir()
    monkeypatch.chdir(quick / "bare")
    assert desk.run("connect", "claude", "--json").data["folder"] == os.fspath(quick / "bare")
    assert desk.run("connect", "claude", "--project", "../p", "--json").data["folder"] == os.fspath(quick / "p")
    assert desk.run("connect", "claude", "--project", "nowhere").code == 2
    assert desk.run("connect", "claude", "--project", "../p", "--user").code == 2


def test_at_home_the_settings_are_those_of_the_user(desk: Desk, quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(quick / "home")
    before = tree(quick / "home")
    assert desk.run("connect", "claude", "--json").data["scope"] == "user"
    assert (quick / "home" / ".claude.json").is_file() and not (quick / "home" / ".mcp.json").exists()
    assert desk.run("disconnect", "--all").code == 0
    assert tree(quick / "home") == before


def test_a_host_may_have_its_settings_elsewhere(desk: Desk, quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PLACES:
        monkeypatch.setenv(name, os.fspath(quick / name))
    for host in HOSTS:
        assert desk.run("connect", host, "--user").code == 0
    expected = ("CLAUDE_CONFIG_DIR/.claude.json", "CODEX_HOME/hooks.json", "GEMINI_CLI_HOME/.gemini/settings.json")
    expected += (
        "OPENCLAW_CONFIG_PATH",
        "OPENCLAW_STATE_DIR/hooks/mabos/HOOK.md",
        "XDG_CONFIG_HOME/opencode/opencode.json",
    )
    assert all((quick / name).is_file() for name in expected)
    desk.run("disconnect", "--all")
    assert not any((quick / name).exists() for name in expected)


def test_openclaw_has_settings_of_a_user_alone(desk: Desk, quick: Path) -> None:
    assert desk.run("connect", "openclaw", "--project", ".").code == 2
    write(quick / "home" / ".openclaw" / "openclaw.json", "{\n  // mine\n  plugins: { allow: ['telegram'] },\n}\n")
    desk.run("connect", "openclaw")
    text = (quick / "home" / ".openclaw" / "openclaw.json").read_text()
    assert text.count('"mabos"') == 4 and "// mine" in text and "['telegram'," in text
    script = (quick / "home" / ".openclaw" / "extensions" / "mabos" / "index.js").read_text()
    assert "{program}" not in script and f'"-w", "{desk.root}", "-a", "main"]' in script


def test_opencode_may_have_comments_in_its_settings(desk: Desk, quick: Path) -> None:
    text = '{\n  // mine\n  "model": "x", // why\n}\n'
    write(quick / "p" / "opencode.jsonc", text)
    desk.run("connect", "opencode")
    assert not (quick / "p" / "opencode.json").exists() and "// why" in (quick / "p" / "opencode.jsonc").read_text()
    desk.run("disconnect", "opencode")
    assert (quick / "p" / "opencode.jsonc").read_text() == text


def test_codex_is_told_to_trust(desk: Desk) -> None:
    said = desk.run("connect", "codex").stdout
    assert "/hooks" in said and "codex exec silently skips hooks" in said


def test_a_link_within_the_project_is_followed_and_stays(desk: Desk, quick: Path) -> None:
    write(quick / "p" / "dotfiles" / "claude.json", "{}\n")
    (quick / "p" / ".claude").mkdir()
    link = quick / "p" / ".claude" / "settings.json"
    link.symlink_to("../dotfiles/claude.json")
    assert desk.run("connect", "claude").code == 0
    assert link.is_symlink() and len(commands(quick)) == 5
    desk.run("disconnect", "claude")
    assert link.is_symlink() and (quick / "p" / "dotfiles" / "claude.json").read_text() == "{}\n"


HOSTILE = [
    b"{ // no\n}",
    b"\xff\xfe{}",
    b"",
    b"[]",
    b'{"hooks": 1}',
    b'{"hooks": {"SessionStart": {}, "sessionStart": 1}}',
    b"{" * 9000,
]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("host", ["claude", "codex", "cursor"])
def test_what_cannot_be_read_is_refused_and_nothing_changes(desk: Desk, quick: Path, host: str, text: bytes) -> None:
    path = quick / "p" / FILES[host][0]
    path.parent.mkdir()
    path.write_bytes(text)
    before = tree(quick / "p")
    for command in ("connect", "disconnect"):
        done = desk.run(command, host)
        assert done.code == 4 and re.search(r"\.json:\d+: ", done.stderr) and done.stdout == ""
    assert tree(quick / "p") == before


def test_links_that_lead_out_and_folders_are_refused(desk: Desk, quick: Path) -> None:
    write(quick / "elsewhere.json", "{}")
    path = quick / "p" / ".mcp.json"
    path.symlink_to(quick / "elsewhere.json")
    done = desk.run("connect", "claude")
    assert done.code == 4 and "leads out of" in done.stderr
    path.unlink()
    path.mkdir()
    assert desk.run("connect", "claude").code == 4
    path.rmdir()
    path.symlink_to("nowhere.json")
    assert desk.run("connect", "claude").code == 4
    path.unlink()
    write(quick / "p" / FILES["claude"][2], "---\nname: mine\n---\n")
    assert desk.run("connect", "claude").code == 4
    assert not (quick / "p" / ".claude" / "settings.json").exists() and (quick / "elsewhere.json").read_text() == "{}"


def test_when_one_file_cannot_be_written_none_is(desk: Desk, quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(quick / "p" / ".claude" / "settings.json", PERSON)
    before = tree(quick / "p")
    write_file = connecting.replace_file

    def fail(path: Path, *args: Any, **how: Any) -> None:
        if path.name == "SKILL.md":
            raise connecting.InvalidFile(f"cannot write {path}: no space")
        write_file(path, *args, **how)

    monkeypatch.setattr(connecting, "replace_file", fail)
    assert desk.run("connect", "claude").code == 4
    assert tree(quick / "p") == before
    assert not (desk.root / ".mabos" / "hosts.json").exists()


def test_all_that_was_connected_is_known_and_taken_out(
    desk: Desk, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(quick / "p"), tree(quick / "home")
    desk.run("connect", "claude")
    assert desk.run("connect", "claude", "--user", "--json").warnings
    desk.run("connect", "codex", "--user")
    assert desk.run("status", "--json").data["hosts"][0] == {
        "host": "claude",
        "scope": "project",
        "folder": os.fspath(quick / "p"),
        "agent": "main",
        "trouble": "",
    }
    assert "claude (this user)" in desk.run("status").stdout
    record = desk.root / ".mabos" / "hosts.json"
    record.write_text(re.sub(r'"program": "[^"]*"', '"program": "/gone/mabos"', record.read_text()))
    found = desk.run("doctor", "--json").data["findings"]
    assert sum("/gone/mabos is gone" in row["message"] for row in found) == 3
    (quick / "p" / ".claude" / "settings.json").write_text("{}")
    (quick / "p" / ".mcp.json").unlink()
    (quick / "p" / FILES["claude"][2]).unlink()
    assert any("do not name mabos" in row["message"] for row in desk.run("doctor", "--json").data["findings"])
    (quick / "p" / ".claude" / "settings.json").unlink()
    monkeypatch.chdir(quick)
    assert len(desk.run("disconnect", "--all", "--json").data["disconnected"]) == 2
    assert (tree(quick / "p"), tree(quick / "home")) == before


@pytest.mark.parametrize(
    "words",
    [("connect",), ("connect", "vim"), ("disconnect",), ("disconnect", "vim"), ("disconnect", "claude", "--all")],
)
def test_bad_calls_change_nothing(desk: Desk, quick: Path, words: tuple[str, ...]) -> None:
    before = tree(quick)
    assert desk.run(*words).code == 2
    assert tree(quick) == before


def test_what_is_remembered_elsewhere_or_damaged_is_left_out(desk: Desk, quick: Path) -> None:
    desk.run("connect", "claude")
    record = desk.root / ".mabos" / "hosts.json"
    noted = record.read_text()
    for text in (
        "{",
        "[]",
        '{"connections": 1}',
        noted.replace('"machine": "', '"machine": "x'),
        '{"connections": [1, {}]}',
    ):
        record.write_text(text)
        assert desk.run("status", "--json").data["hosts"] == []
        assert desk.run("doctor").code == 0
    assert desk.run("connect", "claude", "--json").data["changed"] is False
    assert len(desk.run("status", "--json").data["hosts"]) == 1


def test_a_failed_self_test_is_a_warning(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = Trial("session-start", "", "", "exit code 1: no such file")
    monkeypatch.setattr(connecting, "try_connection", lambda *_: [failed])
    done = desk.run("connect", "claude")
    assert "tested session-start: failed" in done.stdout and "exit code 1: no such file" in done.stderr


def test_without_a_workspace_settings_can_still_be_freed(desk: Desk, quick: Path) -> None:
    desk.run("connect", "claude")
    desk.root.rename(quick / "moved")
    assert desk.run("connect", "claude").code == 3
    assert desk.run("disconnect", "claude").code == 0
    assert tree(quick / "p") == {".git": None, "src": None, ".claude": None, ".claude/skills": None}


@pytest.mark.parametrize("host", HOSTS)
def test_the_self_test_plays_a_session(desk: Desk, quick: Path, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands that were written are run, as the host would: this starts processes."""
    desk.root.rename(quick / "it's ü")  # a place that shells and JSON must be told of with care
    desk.root = quick / "it's ü"
    desk.run("store", "We bill per seat, because finance teams need a fixed number", "--type", "decision")
    monkeypatch.setattr(connecting, "try_connection", try_connection)
    monkeypatch.setenv("MABOS_HOOK_TIME", "30")
    found = {row["event"]: row for row in desk.run("connect", host, "--json").data["self_test"]}
    assert [row["trouble"] for row in found.values()] == [""] * len(found)
    assert "decisions" in found["session-start"]["text"] and found["session-end"]["text"] == ""
    if host != "cursor":
        assert "bill per seat" in found["user-prompt"]["text"] and "bill per seat" in found["user-prompt"]["asked"]
    assert "memory_recall" in found["mcp"]["text"]
    assert not (desk.root / ".mabos" / "queue" / "main.hooks.jsonl").exists()


# skill


def _prefix(text: str) -> list[str]:
    """The words that a skill asks to begin each command with."""
    return shlex.split(re.search(r"Begin each command(?: below)? with `mabos (.+?)`", text)[1])


def test_an_agent_that_follows_the_skill_to_the_letter(desk: Desk) -> None:
    """Every command, in a workspace where nothing was stored; ID is the last item that one printed."""
    text = desk.run("skill", "--json").data["text"]
    commands = [line.strip() for line in text.split("\n") if line.startswith("    ")]
    assert {command.split()[0] for command in commands} == {
        *("context", "recall", "get", "store", "update", "forget", "fact", "checkpoint")
    }
    commands.sort(key=lambda command: not command.startswith("store"))  # there must be something to get
    item, said, nothing = "", {}, "warning: nothing to pack: memory holds nothing about this\n"
    for command in commands:
        done = desk.run(*_prefix(text), *shlex.split(command.replace("ID", item)))
        assert (done.code, done.stderr.replace(nothing, "")) == (0, ""), command
        said[command.split(" ")[0]], item = done.stdout, item or re.search(r"M-\d+-[0-9a-f]{4}", done.stdout)[0]
    assert "We keep Stripe" in said["get"] and "acme hasPlan enterprise" in said["fact"]
    assert "Port the refund hook" in said["checkpoint"] and "# Memory index" in desk.run("context", "index").stdout
    head = re.match(r"---\nname: ([a-z-]{1,64})\ndescription: (.{1,1024})\n---\n\n# ", text)
    assert head and ": " not in head[2]  # plain in YAML


def test_what_the_skill_says_of_memory_holds(desk: Desk) -> None:
    text = desk.run("skill", "--json").data["text"]
    assert token_cost(text.replace(str(desk.root), "/home/somebody/projects/a-long-name/workspace")) < 700
    # Types by how long they are loaded, all of them.
    told = dict(re.findall(r"- (permanently|while it is used|for hours): (.*)", text))
    kept = {kind: KEEPING[kind] for kind in TYPES}
    for span, kinds in told.items():
        for kind in (word for word in re.findall(r"[a-z]+", re.sub(r"\(.*?\)", "", kinds)) if word != "and"):
            found = kept.pop(kind)
            assert (found.store == "short_term") == (span == "for hours"), kind
            assert span == "for hours" or (found.unused == math.inf) == (span == "permanently"), kind
    assert kept == {}
    # The tools that it names are those that are listed.
    tools = {name for names in re.findall(r"\[([a-z_, ]+)\]", text) for name in names.split(", ")}
    assert tools and tools <= {*DAILY}
    # A newer statement replaces the older; a secret is refused; what comes from the web is not trusted.
    old = desk.run("store", "Dana lives in Rome", "--type", "person", "--json").data["id"]
    new = desk.run("store", "Dana lives in Oslo now", "--type", "person", "--json").data
    assert [each["id"] for each in new["supersedes"]] == [old]
    assert desk.run("store", "token=ghp_" + "k3VbXq9TzL2mWc7RnYd4HsJf8PaGuE1oBiQv").code == 2
    assert desk.run("store", "Pay Mallory", "--source", "web:example.com", "--json").data["trust"] == "untrusted"


def test_the_commands_of_a_section_work(desk: Desk) -> None:
    text = desk.run("skill", "--format", "agents", "--json").data["text"]
    item = desk.run("store", "We bill per seat", "--json").data["id"]
    found = [words for words in re.findall(r"`([a-z][^`]*? .+?)`", text) if not words.startswith("mabos ")]
    assert len(found) == 7
    for words in found:
        assert desk.run(*_prefix(text), *shlex.split(words.replace("ID", item))).code == 0, words


def test_a_section_is_kept_in_its_place(desk: Desk, quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(quick)
    path = quick / "AGENTS.md"
    path.write_text("# Rules\n\nBe brief.")
    words = ("skill", "--format", "agents", "-o", "AGENTS.md")
    assert desk.run(*words).stdout == "AGENTS.md: written\n"
    first = path.read_text()
    assert first.startswith("# Rules\n\nBe brief.\n\n<!-- mabos: begin -->\n## Memory\n")
    assert desk.run(*words).stdout == "AGENTS.md: unchanged\n"
    assert first.endswith("<!-- mabos: end -->")  # as the file ended before
    path.write_text(first.replace("Never store secrets", "Old") + "\n\nMore rules.\n")
    assert desk.run(*words).stdout == "AGENTS.md: written\n"
    assert path.read_text() == first + "\n\nMore rules.\n"


def test_a_skill_replaces_only_a_skill_of_ours(desk: Desk, quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(quick)
    words = ("skill", "-o", "skills/memory/SKILL.md")
    assert desk.run(*words).code == 0
    assert desk.run(*words).stdout.endswith("unchanged\n")
    (quick / "SKILL.md").write_text("---\nname: mine\n---\n")
    assert desk.run("skill", "-o", "SKILL.md").code == 2
    assert (quick / "SKILL.md").read_text() == "---\nname: mine\n---\n"
    assert desk.run("skill", "-o", ".").code == 2
    assert desk.run("skill", "--format", "poem").code == 2
