"""Every command of the mind on every agent of the business, as an agent calls it: JSON, piped, and no line harmed."""

import difflib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Mabos
from test_business_fixture import AGENTS, BUSINESS, Office

READING = [
    ("bdi", "status"), ("bdi", "conflicts"), ("bdi", "conflicts", "--all", "--floor", "0"), ("goal", "tree"), ("belief", "list"),
    ("desire", "list"), ("goal", "list"), ("intention", "list"), ("plan", "list"), ("plan", "list", "--steps"), ("commitment", "list"),
    ("learning", "list"), ("intention", "list", "--status", "active"), ("bdi", "cycle", "--dry-run"),
]  # fmt: skip
ADDING = {
    "belief": ("Hops | 酵母", "dearer by 4 %", "--certainty", "0.7", "--source", "a letter"),
    "desire": ("Fewer | meetings", "--priority", "high"),
    "goal": ("Half as many | meetings", "--level", "operational", "--deadline", "2026-06-30", "--priority", "low"),
    "intention": ("Ask | around", "--deadline", "14d"),
    "plan": ("Ask | around", "--step", "List [them]", "--step", "Call | them"),
    "commitment": ("Send | notes", "--to", "the bank", "--due", "2026-04-30"),
    "learning": ("Ask | the night shift", "They know.", "--source", "S3"),
}  # fmt: skip


class Minds(Office):
    """One agent of the business, with a look at what each command does to its lines."""

    def __init__(self, root: Path, agent: str) -> None:
        self.root = root
        shutil.copytree(BUSINESS / "agents" / agent, self.folder(agent))

    def call(self, *words: str) -> dict:
        """A command that must do its work, quietly and in JSON."""
        said = self.run(*words, "--json")
        assert (said.code, said.stderr) == (0, ""), (words, said)
        return json.loads(said.stdout)["data"]

    def changed(self, *words: str) -> Iterator[tuple[str, list[bytes], list[bytes]]]:
        """Runs a command: each file that it changed, with the lines that went and those that came."""
        before = self.files()
        self.call(*words)
        after = self.files()
        assert not before.keys() - after.keys()
        for name in sorted(after):
            old, new = (files.get(name, b"").splitlines(keepends=True) for files in (before, after))
            if old != new and "/memory/" not in name:
                ends = {line[len(line.rstrip(b"\r\n")) :] for line in old} - {b""}
                assert {line[len(line.rstrip(b"\r\n")) :] for line in new} - {b""} <= (ends or {b"\n"}), name
                diff = [*difflib.ndiff([repr(line) for line in old], [repr(line) for line in new])]
                gone, come = ([line for line in diff if line.startswith(mark)] for mark in "-+")
                yield name, [*map(_bytes, gone)], [*map(_bytes, come)]


def _bytes(shown: str) -> bytes:
    return eval(shown[2:])


@pytest.fixture
def minds(quick: Path, monkeypatch: pytest.MonkeyPatch, agent: str) -> Minds:
    monkeypatch.setenv("MABOS_NOW", "2026-02-24T12:00:00Z")
    return Minds(quick / "business", agent)


@pytest.mark.parametrize("agent", AGENTS)
def test_reading_changes_nothing(minds: Minds, agent: str) -> None:
    before = minds.files()
    for words in READING:
        minds.call(*words, "-a", agent)
        said = minds.run(*words, "-a", agent)
        assert said.code == 0 and said.stdout and not re.search(r"Traceback|\x1b", said.stdout + said.stderr)
    assert minds.files() == before


@pytest.mark.parametrize("kind", ADDING)
@pytest.mark.parametrize("agent", AGENTS)
def test_what_is_added_stands_beside_what_was_there(minds: Minds, agent: str, kind: str) -> None:
    was = minds.call(kind, "list", "-a", agent)[f"{kind}s"]
    for name, gone, come in minds.changed(kind, "add", *ADDING[kind], "-a", agent):
        assert name == f"{agent}/{kind.capitalize()}s.md"
        # A last line without an end gets one.
        assert gone == [] or [line + b"\n" for line in gone] == come[: len(gone)], name
        assert come
    now = minds.call(kind, "list", "-a", agent)[f"{kind}s"]
    assert len(now) == len(was) + 1
    title = "subject" if kind == "belief" else "title"
    (new,) = [each for each in now if each[title] == ADDING[kind][0]]
    others = [{**each, "place": "", "line": 0, "steps": 0} for each in now if each is not new]
    assert others == [{**each, "place": "", "line": 0, "steps": 0} for each in was]
    assert new.get("deadline") in (None, "2026-06-30", "2026-03-10", "2026-04-30")


@pytest.mark.parametrize("agent", AGENTS)
def test_a_change_touches_its_own_lines_alone(minds: Minds, agent: str) -> None:
    for each in minds.call("intention", "list", "-a", agent)["intentions"]:
        if not each["id"] or not re.match("active|executing|stalled|in progress", each["status"]):
            continue
        for verb, *words in (
            ("progress", "two of three | signed", "--percent", "60"),
            ("drop", "--reason", "they | left"),
            ("complete", "--outcome", "signed"),
        ):
            for name, gone, come in minds.changed("intention", verb, each["id"], *words, "-a", agent):
                assert name == f"{agent}/Intentions.md"
                assert len(gone) <= 3 and len(come) <= len(gone) + 4, (gone, come)
            now = minds.call("intention", "list", "-a", agent)["intentions"]
            (found,) = [e for e in now if e["id"] == each["id"]]
            assert found["title"] == each["title"] and found["deadline"] == each["deadline"]
            assert found["goal"] == each["goal"] and found["progress"] == 60
        assert found["status"] == "completed (2026-02-24: signed)"


@pytest.mark.parametrize("agent", AGENTS)
def test_steps_goals_and_beliefs_are_changed_in_place(minds: Minds, agent: str) -> None:
    for plan in minds.call("plan", "list", "-a", agent)["plans"]:
        before = len(plan["steps"])
        for words in (["Ring | them"], ["--done", str(before + 1)], *([["--done", "1"]] if before else [])):
            for name, gone, come in minds.changed("plan", "step", plan["id"] or plan["title"], *words, "-a", agent):
                assert name == f"{agent}/Plans.md" and len(gone) <= 1 and len(come) <= 3, (gone, come)
    for goal in minds.call("goal", "list", "-a", agent)["goals"]:
        words = (
            "goal",
            "update",
            goal["id"] or goal["title"],
            "--status",
            "abandoned",
            "--progress",
            "15",
            "-a",
            agent,
        )
        for name, gone, come in minds.changed(*words):
            assert name == f"{agent}/Goals.md" and len(gone) <= 3 and len(come) <= 4, (gone, come)
    for belief in minds.call("belief", "list", "-a", agent)["beliefs"][:12]:
        words = (
            "belief",
            "revise",
            belief["id"] or belief["subject"],
            "--certainty",
            "0.35",
            "--reason",
            "a | b",
            "-a",
            agent,
        )
        for name, gone, come in minds.changed(*words):
            assert name == f"{agent}/Beliefs.md" and len(gone) <= 3 and len(come) <= 5, (gone, come)
    certain = {each["certainty"] for each in minds.call("belief", "list", "-a", agent)["beliefs"]}
    assert 0.35 in certain
    assert minds.call("bdi", "cycle", "-a", agent)["agents"]


def test_as_a_job_without_a_terminal_or_a_locale(tmp_path: Path, mabos: Mabos) -> None:
    office = Office(tmp_path / "business")
    bare = {"LC_ALL": "C", "LANG": "C", "PYTHONIOENCODING": "ascii", "TERM": "dumb"}
    where = ("-w", str(office.root))
    for words in (
        ("bdi", "cycle", "--all"),
        ("belief", "add", "保証期間", "延長", "-a", "ontology"),
        ("intention", "progress", "I-COO-001", "森電機", "--deadline", "7d", "-a", "coo"),
        ("bdi", "conflicts", "-a", "ontology"),
    ):
        done = mabos(*words, *where, "--json", **bare)
        assert (done.code, done.stderr) == (0, ""), words
        assert json.loads(done.stdout)["data"]
    assert mabos("intention", "list", "-a", "coo", *where, **bare).stdout.count("森電機") == 1
    assert "森電機" in (office.folder("coo") / "Intentions.md").read_text("utf-8")
