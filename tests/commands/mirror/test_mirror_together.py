"""The mirror where several are at work: agents that name what others hold, agents that are gone, and processes side by side."""

import json
import shutil
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("grpc", reason="the TypeDB server of the tests needs grpcio")
pytest.importorskip("typedb.driver", reason="needs the official driver, typedb-driver")

from typedb_server.faults import Fault
from typedb_server.messages import Failure, Rows

from commands.desk import Desk, Said, note
from commands.mirrored import Mirror
from mabos_cli.backends.typedb import Session
from mabos_cli.core.mirror.records import Entry
from mabos_cli.errors import InvalidFile
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.memory import changing
from mabos_cli.workspace.mirror_ledger import load_ledger, note_entries

BELIEF = "# Beliefs\n\n## B-1: Market\n- **Certainty:** 0.9\n- **Supports:** G-1\n"
PLAN = "# Plans\n\n## PL-1: Fund it\n- **Goal:** G-1\n- **Status:** active\n"
GOAL = "# Goals\n\n## G-0: Stay\n- **Status:** active\n"


@pytest.fixture
def mirror(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    mirror = Mirror()
    desk.write("Persona.md", "")
    for name, value in mirror.environment().items():
        monkeypatch.setenv(name, value)
    yield mirror
    mirror.server.stop()


def said(desk: Desk, *words: str, agent: str = "main") -> Said:
    done = desk.run(*words, *(() if "--all" in words else ("-a", agent)), "--json")
    assert done.code == 0, done.stderr
    return done


def ledger(desk: Desk) -> dict[str, str]:
    return {entry.uid: entry.state for entry in load_ledger(WorkspacePaths(desk.root).agent("main")).values()}


def links(mirror: Mirror) -> list[tuple[str, list[str]]]:
    """Relations between what minds hold, each with the keys of its two ends."""
    mirror.catch_up()
    found = ((kind, sorted(uid for _, uid in ends)) for kind, ends in mirror.engine.state()[1])
    return [each for each in found if each[0] != "agent_owns"]


# Agents


def test_what_names_a_goal_of_another_agent_is_linked_by_a_sync(desk: Desk, mirror: Mirror) -> None:
    desk.add_agent("cfo")
    desk.write("Persona.md", "", "cfo")
    desk.write("Goals.md", GOAL)
    desk.write("Beliefs.md", BELIEF, "cfo")
    desk.write("Plans.md", PLAN, "cfo")
    said(desk, "typedb", "sync-agent", "--all")
    assert links(mirror) == []
    assert said(desk, "goal", "add", "Grow").data["id"] == "G-1"
    said(desk, "typedb", "sync-agent", "--all")
    wanted = [
        ("belief_supports_goal", ["cfo/B-1", "main/G-1"]),
        ("goal_requires_plan", ["cfo/PL-1", "main/G-1"]),
    ]
    assert links(mirror) == wanted
    said(desk, "intention", "add", "Help", "--goal", "G-1", agent="cfo")
    assert ("intention_pursues_goal", ["cfo/I-001", "main/G-1"]) in links(mirror)
    rows = said(desk, "typedb", "sync-agent", "--all").data["agents"]
    assert [(row["written"], row["deleted"]) for row in rows] == [(0, 0), (0, 0)]


def test_a_plan_for_a_goal_of_another_agent_is_noted_on_that_goal(desk: Desk, mirror: Mirror) -> None:
    desk.add_agent("cfo")
    desk.write("Persona.md", "", "cfo")
    desk.write("Goals.md", GOAL)
    said(desk, "typedb", "sync-agent", "--all")
    said(desk, "plan", "add", "Fund it", "--goal", "G-0", agent="cfo")
    assert links(mirror) == []
    said(desk, "typedb", "sync-agent", "--all")
    assert links(mirror) == [("goal_requires_plan", ["cfo/PL-001", "main/G-0"])]


def test_what_is_there_only_for_the_links_of_others_is_written_again(desk: Desk, mirror: Mirror) -> None:
    """The database was deleted, and another agent came first, whose belief names the goal."""
    desk.add_agent("cfo")
    desk.write("Persona.md", "", "cfo")
    desk.write("Goals.md", GOAL)
    desk.write("Beliefs.md", BELIEF.replace("G-1", "G-0"), "cfo")
    said(desk, "typedb", "sync-agent", "--all")
    mirror.wipe()
    said(desk, "typedb", "sync-agent", agent="cfo")
    said(desk, "typedb", "sync-agent", "--all")
    assert mirror.value("main/G-0", "name") == ["Stay"]
    assert links(mirror) == [("belief_supports_goal", ["cfo/B-1", "main/G-0"])]


def test_an_agent_that_cannot_be_read_keeps_no_other_from_the_mirror(desk: Desk, mirror: Mirror) -> None:
    desk.add_agent("cfo")
    desk.write("Persona.md", "", "cfo")
    (desk.folder("cfo") / "Goals.md").unlink()
    (desk.folder("cfo") / "Goals.md").mkdir()
    assert said(desk, "goal", "add", "Grow").warnings == []
    assert mirror.held()["goal"] == ["main/G-001"]


def test_what_the_mirror_has_of_an_agent_that_is_gone_goes_too(desk: Desk, mirror: Mirror) -> None:
    desk.add_agent("cfo")
    desk.write("Persona.md", "", "cfo")
    desk.put([note(1, "Mine")], "cfo")
    said(desk, "typedb", "sync-agent", "--all")
    assert mirror.held()["agent"] == ["cfo", "main"]
    shutil.rmtree(desk.folder("cfo"))
    assert "cfo: 0 ok, 2 queued, 0 failed\n" in desk.run("typedb", "status").stdout
    rows = said(desk, "typedb", "sync-agent", "--all").data["agents"]
    assert [(row["agent"], row["deleted"]) for row in rows] == [("cfo", 2), ("main", 0)]
    assert mirror.held() == {"agent": ["main"]}
    assert len(said(desk, "typedb", "sync-agent", "--all").data["agents"]) == 1


# Processes


def test_what_another_process_queued_meanwhile_stays_queued(
    desk: Desk, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have changed behind our reading it: that we wrote it does not settle it."""
    own = said(desk, "store", "First", "--store", "long_term").data["id"]
    uid, real = f"main/{own}", Session.write

    def write(session: Session, queries: list[str]) -> None:
        note_entries(WorkspacePaths(desk.root).agent("main"), [Entry("memory_item", uid, "queued")])
        real(session, queries)

    with monkeypatch.context() as patch:
        patch.setattr(Session, "write", write)
        said(desk, "update", own, "--content", "Second")
    assert ledger(desk)[uid] == "queued"
    said(desk, "store", "Another")
    assert set(ledger(desk).values()) == {"ok"} and mirror.value(uid, "content") == ["Second"]


class Killed(BaseException):
    """The end of the process, for tests that go on behind it."""


def test_what_was_on_its_way_when_the_process_was_killed_comes_along_later(
    desk: Desk, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also what the mirror had before: an old text, or a memory that was forgotten, must not stay there unnoticed."""
    uids = [f"main/{said(desk, 'store', text, '--store', 'long_term').data['id']}" for text in ("One", "Two")]

    def write(session: Session, queries: list[str]) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Session, "write", write)
        for words in (("update", uids[0][5:], "--content", "Changed"), ("forget", uids[1][5:])):
            with pytest.raises(Killed):
                desk.run(*words)
    assert [ledger(desk)[uid] for uid in uids] == ["queued", "queued"]
    said(desk, "fact", "assert", "acme", "supplies", "us")
    assert mirror.held()["memory_item"] == uids[:1] and mirror.value(uids[0], "content") == ["Changed"]
    assert [ledger(desk)[uid] for uid in uids] == ["ok", "gone"]


def test_a_server_that_hangs_in_the_middle_of_a_sync_is_told(
    desk: Desk, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.put([note(1, "One thing")])
    monkeypatch.setenv("MABOS_TYPEDB_TIMEOUT", "0.3")
    mirror.server.fail("commit", Fault.SILENT)
    done = desk.run("typedb", "sync-agent", "--json")
    told = json.loads(done.stderr)["error"]
    assert done.code == 6 and told["hint"] == "run it again to go on"
    assert told["message"] == "TypeDB did not answer within 0.3 s (writing); main: 0 done, 2 queued"
    mirror.server.heal()
    assert said(desk, "typedb", "sync-agent").data["agents"][0]["written"] == 2


def test_all_questions_of_a_recall_together_take_no_longer_than_one(
    desk: Desk, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MABOS_TYPEDB_TIMEOUT", "0.3")

    def slow(query: str) -> Any:
        time.sleep(0.15)
        return Rows(("n",), ())

    mirror.server.answer(slow)
    done = said(desk, "recall", "budget quarter harvest meadow river stone", "--shared")
    assert "only agents of this workspace: TypeDB" in done.warnings[0]
    assert len(mirror.server.queries) < 6


@pytest.mark.parametrize(("times", "state"), [(2, "ok"), (3, "queued")])
def test_who_is_in_the_way_for_a_moment_makes_no_failure(desk: Desk, mirror: Mirror, times: int, state: str) -> None:
    """Two processes that put the same key: the server takes one of them, and the other is to try again."""
    text = "Commit in database 'mabos_ws' failed with isolation conflict: a lock held by a concurrent commit"
    left = [Failure("STC2", text)] * times
    real = mirror.server.fault_at

    def fault_at(*places: str) -> Any:
        return left.pop() if "commit" in places and left else real(*places)

    mirror.server.fault_at = fault_at  # type: ignore[method-assign]
    done = said(desk, "store", "One thing")
    assert ledger(desk)[f"main/{done.data['id']}"] == state
    assert ["queued for the mirror" in warning for warning in done.warnings] == [True] * (state == "queued")
    said(desk, "store", "Another")
    assert len(mirror.held()["memory_item"]) == 2 and set(ledger(desk).values()) == {"ok"}


# Files


def test_of_several_items_with_one_id_the_first_counts_for_all(desk: Desk, mirror: Mirror) -> None:
    twin = note(1, "Alpha").id
    desk.put([note(1, "Alpha"), note(1, "Beta")])
    said(desk, "typedb", "sync-agent")
    assert mirror.value(f"main/{twin}", "content") == ["Alpha"]
    note_entries(WorkspacePaths(desk.root).agent("main"), [Entry("memory_item", f"main/{twin}", "queued")])
    said(desk, "store", "Something else")
    assert mirror.value(f"main/{twin}", "content") == ["Alpha"]
    assert said(desk, "typedb", "sync-agent").data["agents"][0]["written"] == 0


def test_what_is_stored_is_mirrored_although_the_rest_of_the_write_failed(
    desk: Desk, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise InvalidFile("cannot append to the log: No space left on device")

    monkeypatch.setattr(changing, "append_to_logs", fail)
    done = said(desk, "store", "One thing")
    assert "the memory is stored, but" in done.warnings[0]
    assert mirror.held()["memory_item"] == [f"main/{done.data['id']}"]
