"""The cycle on a whole business: what it ends, what it finds, what it writes, and everything that it leaves alone."""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from test_business_fixture import AGENTS, BUSINESS, Office, places, rows

from commands.desk import Desk, Said
from mabos_cli.formats.mind.attitudes import parse_attitudes

NOON = "2026-02-24T12:00:00Z"
ENDED = re.compile(rb"(?:expired|stalled|dropped) \(2026-02-24: [^()]*\)")
REPORT, DERIVED = "memory/bdi-conflicts/2026-02-24.md", "memory/mabos-beliefs.md"


@pytest.fixture
def office(quick: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    monkeypatch.setenv("MABOS_NOW", NOON)
    return Office(quick / "business")


def cycle(office: Desk, *words: str) -> list[dict]:
    """The agents of a cycle for all, as JSON."""
    return office.run("bdi", "cycle", "--all", "--json", *words).data["agents"]


def tree(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


# What it finds


def test_every_planted_intention_is_ended_and_no_other(office: Office) -> None:
    found = {
        (row["agent"], int(each["place"].partition(":")[2])): (each["status"], each["reason"])
        for row in cycle(office)
        for each in row["pruned"]
    }
    expected = {}
    for place, deadline in rows("Overdue on 2026-02-24"):
        expected[place] = ("expired", f"deadline {deadline}")
    for place, updated, _ in rows("Stale on 2026-02-24"):
        expected[place] = ("stalled", f"no update since {updated}")
    for place, cause, _ in rows("Intentions whose goal is gone"):
        why = {
            "cto": "G-CTO-O2 is achieved",
            "sales": "G-SAL-T3 is believed impossible, Beliefs.md:35",
            "strategy": "G-STR-T2 is no longer desired: D-STR-004 is withdrawn",
        }
        expected[place] = ("dropped", why[places(cause)[0].path.partition("/")[0]])
    cited = {places(place)[0]: told for place, told in expected.items()}
    assert found == {(place.path.partition("/")[0], place.line): told for place, told in cited.items()}


def test_every_planted_conflict_is_found_and_no_other(office: Office) -> None:
    found = {row["agent"]: [{c["a"], c["b"]} for c in row["conflicts"]] for row in cycle(office)}
    expected: dict[str, list[set[str]]] = {"hr": []}
    for agent, one, _, _, another, *_ in rows("Planted conflicts"):
        expected[agent] = [{f"Beliefs.md:{place.line}" for place in places(one + another)}]
    assert len(expected) == 13
    assert found == expected


def test_counts_and_chunks(office: Office) -> None:
    found = {row["agent"]: row for row in cycle(office, "--dry-run")}
    assert list(found) == AGENTS
    assert (found["knowledge"]["beliefs"], found["knowledge"]["chunks_processed"]) == (58, 2)
    assert {row["chunks_processed"] for name, row in found.items() if name != "knowledge"} == {1}
    assert [name for name, row in found.items() if not row["desires_sorted"]] == ["knowledge"]
    for agent in AGENTS:
        manifest = json.loads((BUSINESS / "agents" / agent / "agent.json").read_text("utf-8"))
        assert found[agent]["strategy"] == manifest["bdi"]["commitmentStrategy"]


def test_status_says_before_what_the_cycle_does_then(office: Office) -> None:
    due = {agent: office.run("bdi", "status", "-a", agent, "--json").data["due"] for agent in AGENTS}
    for row in cycle(office):
        told = [{name: each[name] for name in ("id", "status", "reason")} for each in row["pruned"]]
        assert due[row["agent"]] == told
        after = office.run("bdi", "status", "-a", row["agent"], "--json").data
        assert (after["due"], after["conflicts"]) == ([], row["conflicts_detected"])
        assert after["last_cycle"] == "2026-02-24T12:00:00.000Z"


# What it writes


def test_only_statuses_the_order_of_desires_and_derived_files_change(office: Office) -> None:
    before = office.files()
    cycle(office)
    after = office.files()
    new = {(name.partition("/")[2]) for name in after.keys() - before.keys()}
    assert new == {REPORT, DERIVED}
    assert not before.keys() - after.keys()
    for name, data in before.items():
        if name.endswith("/Intentions.md"):
            was, now = data, ENDED.sub(b"active", after[name])
            assert now.replace(b"executing", b"active") == was.replace(b"executing", b"active"), name
        elif name.endswith("/Desires.md"):
            assert sorted(after[name].split(b"\n")) == sorted(data.split(b"\n")), name
            was, now = (_desires(text) for text in (data, after[name]))
            assert sorted(was) == sorted(now), name
            assert after[name].endswith(b"\n") == data.endswith(b"\n"), name
        else:
            assert after[name] == data, name


def _desires(data: bytes) -> list[str]:
    """The desires of a file with all that they say, without their places."""
    found, _ = parse_attitudes(data.decode("utf-8"), "desire", "Desires.md")
    return [repr(each._replace(line=0)) for each in found]


def test_desires_are_sorted_within_their_groups(office: Office) -> None:
    cycle(office)
    for agent in AGENTS:
        groups: dict[str, list[float]] = {}
        for each in office.run("desire", "list", "-a", agent, "--json").data["desires"]:
            groups.setdefault(each["group"], []).append(each["priority"])
        assert groups and all(found == sorted(found, reverse=True) for found in groups.values()), groups


def test_odd_bytes_survive_where_the_cycle_writes(office: Office) -> None:
    """Line ends, a byte order mark and a missing last line break, in the very files that are changed."""
    agent = office.folder("ceo")
    for name in ("Intentions.md", "Desires.md"):
        data = (agent / name).read_bytes()
        (agent / name).write_bytes(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n").rstrip() + b" caf\xe9")
    before = office.files()
    rows = {row["agent"]: row for row in cycle(office)}
    assert len(rows["ceo"]["pruned"]) == 2 and rows["ceo"]["desires_sorted"]
    after = office.files()
    assert ENDED.sub(b"active", after["ceo/Intentions.md"]) == before["ceo/Intentions.md"]
    for data in (after["ceo/Desires.md"], after["ceo/Intentions.md"]):
        assert data.startswith(b"\xef\xbb\xbf") and b" caf\xe9" in data and not data.endswith(b"\n")
        assert data.count(b"\n") == data.count(b"\r\n")


def test_a_second_cycle_leaves_no_diff(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    cycle(office)
    before = office.files()
    for row in cycle(office):
        assert (row["pruned"], row["desires_sorted"], row["materialized"]) == ([], False, [])
        assert (row["report"], row["checkpoint"], row["summaries"]) == (None, None, [])
    assert office.files() == before
    # Another day brings no second report about the same conflicts; I-CEO-004 and its like are stale by then.
    monkeypatch.setenv("MABOS_NOW", "2026-02-25T12:00:00Z")
    assert {row["report"] for row in cycle(office)} == {None}


def test_a_dry_run_writes_nothing_and_tells_all(office: Office) -> None:
    before = tree(office.root)
    told = cycle(office, "--dry-run")
    assert tree(office.root) == before
    for dry, real in zip(told, cycle(office), strict=True):
        real.pop("materialized"), dry.pop("materialized")
        # The lines that they cite move when desires are sorted.
        dry, real = (row | {"proposals": [each["id"] for each in row["proposals"]]} for row in (dry, real))
        assert dry == real


def test_check_exits_7_and_still_does_the_work(office: Office) -> None:
    said = office.run("bdi", "cycle", "--all", "--check", "--json")
    assert (said.code, said.stderr) == (7, "")
    assert len(json.loads(said.stdout)["data"]["agents"]) == 13
    said = office.run("bdi", "cycle", "--all", "--check")
    assert (said.code, said.stderr.split("\n")[0]) == (7, "mabos: 12 conflicts among beliefs")
    assert office.run("bdi", "cycle", "-a", "hr", "--check").code == 0
    assert office.run("bdi", "cycle", "--all", "-a", "hr").code == 2


# One bad agent


def _directory(folder: Path) -> None:
    (folder / "Goals.md").unlink()
    (folder / "Goals.md").mkdir()


def _link(folder: Path) -> None:
    outside = folder.parent.parent.parent / "outside"
    shutil.move(folder, outside)
    folder.symlink_to(outside)


BROKEN: dict[str, tuple[int, Callable[[Path], object]]] = {
    "no JSON": (4, lambda folder: (folder / "agent.json").write_text('{"id": ')),
    "empty": (4, lambda folder: (folder / "agent.json").write_text("")),
    "not UTF-8": (4, lambda folder: (folder / "agent.json").write_bytes(b'{"id": "\xe9"}')),
    "nested": (4, lambda folder: (folder / "agent.json").write_text("[" * 100_000)),
    "settings": (4, lambda folder: (folder / "agent.json").write_text('{"settings": {"bdi.chunk": "x"}}')),
    "a folder": (4, _directory),
    "leads out": (4, _link),
}


def _others_are_done(office: Office, said: Said, code: int) -> str:
    """Checks that coo failed alone, and gives its message."""
    assert (said.code, said.stderr) == (code, "")
    rows = {row["agent"]: row for row in json.loads(said.stdout)["data"]["agents"]}
    assert [name for name, row in rows.items() if "error" in row] == ["coo"] and list(rows) == AGENTS
    assert b"expired (2026-02-24" in (office.folder("support") / "Intentions.md").read_bytes()
    assert b"expired" not in (office.folder("coo") / "Intentions.md").read_bytes()
    return rows["coo"]["error"]["message"]


@pytest.mark.parametrize("way", BROKEN)
def test_one_broken_agent_does_not_stop_the_others(office: Office, way: str) -> None:
    code, damage = BROKEN[way]
    damage(office.folder("coo"))
    before = tree(office.folder("coo"))
    message = _others_are_done(office, office.run("bdi", "cycle", "--all", "--json"), code)
    assert "coo" in message and "\n" not in message
    assert tree(office.folder("coo")) == before
    said = office.run("bdi", "cycle", "--all", "-q")
    assert (said.code, said.stdout) == (code, "")
    assert message.replace("'", '"')[:60] in said.stderr.replace("'", '"'), "quiet, but not without the reason"
    assert "1 agent of 13 failed: coo" in said.stderr


def test_a_locked_agent_does_not_stop_the_others(office: Office) -> None:
    lock = office.root / ".mabos/locks/coo.lock"
    lock.parent.mkdir(parents=True)
    with open(lock, "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        said = office.run("bdi", "cycle", "--all", "--json", "--lock-timeout", "0.05")
        assert "locked" in _others_are_done(office, said, 5)
    assert office.run("bdi", "cycle", "--all").code == 0


def test_an_agent_that_is_not_utf8_is_done_with_a_warning(office: Office) -> None:
    path = office.folder("coo") / "Beliefs.md"
    path.write_bytes(path.read_bytes() + b"\ncaf\xe9\n")
    before = path.read_bytes()
    said = office.run("bdi", "cycle", "--all", "--json")
    line = before.count(b"\n")
    assert f"coo: Beliefs.md:{line}: not valid UTF-8" in said.warnings
    assert {row["agent"]: row for row in said.data["agents"]}["coo"]["conflicts_detected"] == 1
    assert path.read_bytes() == before


def test_a_workspace_without_agents(quick: Path) -> None:
    (quick / "ws" / "agents" / "not one").mkdir(parents=True)
    office = Desk.__new__(Desk)
    office.root = quick / "ws"
    assert cycle(office) == []
    assert office.run("bdi", "cycle").code == 3


# A person at the editor


def save(path: Path, data: bytes) -> None:
    """Saves as editors do: a new file under the old name."""
    path.with_name("draft~").write_bytes(data)
    os.replace(path.with_name("draft~"), path)


def while_writing(monkeypatch: pytest.MonkeyPatch, edit: Callable[[], None], times: int = 1) -> None:
    """Has a person save something whenever the program has prepared a file and not yet put it in its place."""
    left = [times]

    def fsync(_: int) -> None:
        if left[0]:
            left[0] -= 1
            edit()

    monkeypatch.setattr(os, "fsync", fsync)


@pytest.mark.parametrize("name", ["Intentions.md", "Desires.md", "Beliefs.md", "Goals.md"])
def test_an_edit_during_the_cycle_is_not_lost(office: Office, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    path, typed = office.folder("ceo") / name, []

    def type_a_line() -> None:
        typed.append(f"typed {len(typed)}.\n".encode())
        save(path, path.read_bytes() + typed[-1])

    while_writing(monkeypatch, type_a_line, 12)
    said = office.run("bdi", "cycle", "-a", "ceo", "--json")
    assert said.data["agents"][0]["intentions_pruned"] == 2
    assert len(typed) == 12 and all(line in path.read_bytes() for line in typed)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    assert office.run("bdi", "cycle", "-a", "ceo", "--json").data["agents"][0]["pruned"] == []


@pytest.mark.parametrize(
    "words",
    [
        ("belief", "add", "Hops", "dearer"),
        ("belief", "revise", "BE-001", "--certainty", "0.4"),
        ("desire", "add", "Hops"),
        ("goal", "update", "G-CEO-T1", "--progress", "5"),
        ("intention", "progress", "I-CEO-001", "Hops"),
        ("plan", "step", "PL-CEO-02", "Hops"),
        ("bdi", "resolve", "812289c5", "--keep", "b"),
    ],
    ids=" ".join,
)
def test_an_edit_during_a_command_is_not_lost(
    office: Office, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    folder, typed = office.folder("ceo"), []

    def type_a_line() -> None:
        typed.append(f"\ntyped {len(typed)}.\n".encode())
        for name in ("Beliefs.md", "Desires.md", "Goals.md", "Intentions.md", "Plans.md"):
            save(folder / name, (folder / name).read_bytes() + typed[-1])

    while_writing(monkeypatch, type_a_line, 5)
    assert office.run(*words, "-a", "ceo").code == 0
    after = office.files()
    for name in ("Beliefs.md", "Desires.md", "Goals.md", "Intentions.md", "Plans.md"):
        assert len(typed) == 5 and all(line in after[f"ceo/{name}"] for line in typed), name
        assert after[f"ceo/{name}"].count(b"Hops") <= 1


def test_an_intention_that_is_completed_meanwhile_is_not_ended(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    path = office.folder("ceo") / "Intentions.md"
    done = path.read_bytes().replace(b"status: active [deadline: 2026-02-20]", b"status: completed")
    while_writing(monkeypatch, lambda: save(path, done))
    said = office.run("bdi", "cycle", "-a", "ceo", "--json").data["agents"][0]
    assert [each["id"] for each in said["pruned"]] == ["I-CEO-003"]
    assert ENDED.sub(b"active", path.read_bytes()) == done


def test_a_file_that_never_rests_is_left_to_its_writer(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    path = office.folder("ceo") / "Intentions.md"
    while_writing(monkeypatch, lambda: save(path, path.read_bytes() + b"more\n"), 1000)
    said = office.run("bdi", "cycle", "-a", "ceo")
    assert (said.code, "keeps changing" in said.stderr) == (5, True)
    assert b"expired" not in path.read_bytes()
    assert not list(path.parent.glob(".mabos-tmp-*"))
