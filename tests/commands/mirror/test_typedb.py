"""The mirror in TypeDB: what commands write through, what waits while the server is away, and what the typedb commands say."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("grpc", reason="the TypeDB server of the tests needs grpcio")
pytest.importorskip("typedb.driver", reason="needs the official driver, typedb-driver")

from typedb_server.faults import Fault, silent_port
from typedb_server.messages import Documents, Failure, Rows

from commands.desk import Desk, Said, note
from commands.mirrored import DATABASE, PASSWORD, Mirror
from mabos_cli.core.mirror.records import Entry
from mabos_cli.services.mirror import sync as typedb_sync
from mabos_cli.services.mirror.follow import changed_parts, mirror_changes
from mabos_cli.workspace.agent import Change
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.mirror_ledger import load_ledger, note_entries

ENOUGH = 5.0  # seconds: far above the limits here, far below what the driver would wait by itself


@pytest.fixture
def mirror(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    """A server that the program is told about."""
    mirror = Mirror()
    desk.write("Persona.md", "")
    for name, value in mirror.environment().items():
        monkeypatch.setenv(name, value)
    yield mirror
    mirror.server.stop()


def ledger(desk: Desk, agent: str = "main") -> dict[str, str]:
    """The state of each uid; those of the agent itself are left out."""
    entries = load_ledger(WorkspacePaths(desk.root).agent(agent)).values()
    return {entry.uid: entry.state for entry in entries if entry.type != "agent"}


def said(desk: Desk, *words: str) -> Said:
    done = desk.run(*words, "--json")
    assert done.code == 0, done.stderr
    return done


def stored(desk: Desk, text: str, *words: str) -> str:
    """The uid of a new memory, which must have been mirrored without a word."""
    done = said(desk, "store", text, *words)
    assert done.warnings == []
    return f"main/{done.data['id']}"


# What commands write through


def test_a_memory_is_in_the_mirror_when_store_is_done(desk: Desk, mirror: Mirror) -> None:
    uid = stored(desk, 'We bill "per seat" \\ 😀', "--tag", "pricing", "--tag", "b2b")
    assert mirror.held() == {"agent": ["main"], "memory_item": [uid]}
    assert mirror.value(uid, "content") == ['We bill "per seat" \\ 😀']
    assert mirror.value(uid, "tag") == ["b2b", "pricing"]
    assert ledger(desk) == {uid: "ok"}


def test_what_is_edited_forgotten_and_revived_follows(desk: Desk, mirror: Mirror) -> None:
    uid = stored(desk, "We bill per seat", "--tag", "old", "--store", "long_term")
    own = uid.removeprefix("main/")
    said(desk, "update", own, "--content", "We bill per month")
    assert mirror.value(uid, "content") == ["We bill per month"]
    said(desk, "forget", own)
    assert "memory_item" not in mirror.held() and ledger(desk) == {uid: "gone"}
    said(desk, "revive", own)
    assert mirror.held()["memory_item"] == [uid] and ledger(desk) == {uid: "ok"}


def test_what_moves_between_stores_follows_although_nobody_names_it(desk: Desk, mirror: Mirror) -> None:
    desk.settle("memory:\n  working_capacity: 1\n")
    first = stored(desk, "First", "--store", "working")
    assert mirror.value(first, "store_name") == ["working"]
    stored(desk, "Quite another thing", "--store", "working")
    assert mirror.value(first, "store_name") == ["short_term"]


def test_consolidation_names_nothing_and_is_mirrored_all_the_same(desk: Desk, mirror: Mirror) -> None:
    uids = [stored(desk, text, "--tag", "x", "-i", "0.9") for text in ("The sky is blue", "Cats sleep a lot")]
    assert mirror.value(uids[0], "store_name") == ["short_term"]
    assert said(desk, "consolidate").warnings == []
    assert said(desk, "typedb", "sync-agent").data["agents"][0]["written"] == 0


def test_every_kind_of_knowledge_is_written_through(desk: Desk, mirror: Mirror) -> None:
    said(desk, "fact", "assert", "acme", "supplies", "us")
    said(desk, "fact", "assert", "us", "supplies", "them")
    said(desk, "rule", "create", "if ?x supplies ?y and ?y supplies ?z then ?x reaches ?z")
    said(desk, "infer", "forward", "--persist")
    said(desk, "case", "store", "--belief", "x", "--action", "Wait")
    said(desk, "belief", "add", "Market grows", "--supports", "G-001")
    said(desk, "goal", "add", "Grow")
    said(desk, "plan", "add", "Hire people", "--goal", "G-001", "--step", "Ask around")
    said(desk, "intention", "add", "Hire", "--goal", "G-001")
    held = mirror.held()
    assert {kind: len(uids) for kind, uids in held.items()} == {
        **dict.fromkeys(("agent", "knowledge_rule", "cbr_case", "belief", "goal", "plan"), 1),
        **dict.fromkeys(("plan_step", "intention"), 1),
        "spo_fact": 3,
    }
    links = [(kind, players) for kind, players in mirror.engine.state()[1] if kind != "agent_owns"]
    assert ("belief_supports_goal", [("supported", "main/G-001"), ("supporter", "main/B-001")]) in links
    assert ("goal_requires_plan", [("required", "main/PL-001"), ("requirer", "main/G-001")]) in links
    fact = min(uid for uid in held["spo_fact"] if "inf" not in uid)
    said(desk, "fact", "retract", fact.removeprefix("main/"), "--cascade")
    assert len(mirror.held()["spo_fact"]) == 1
    said(desk, "rule", "delete", "R-001")
    assert "knowledge_rule" not in mirror.held()
    row = said(desk, "typedb", "sync-agent").data["agents"][0]
    assert (row["written"], row["deleted"], row["failed"]) == (0, 0, [])


def test_parts_and_ids_of_what_commands_wrote() -> None:
    changes = [
        Change("fact assert", "facts", ("F-1",)),
        Change("infer forward", "facts"),
        Change("fact retract", "facts", ("F-2",)),
        Change("belief add", "mind", ("B-1",)),
    ]
    assert changed_parts(changes) == {"facts": None, "mind": None}
    assert changed_parts([Change("checkpoint"), Change("learning add", "", ("L-1",))]) == {}
    assert changed_parts([Change("checkpoint restore", "mind"), Change("case store", "cases", ("C-1",))]) == {
        "mind": None,
        "cases": {"C-1": None},
    }


def test_trust_that_a_person_sets_reaches_the_mirror(desk: Desk, mirror: Mirror) -> None:
    own = said(desk, "store", "A stranger said so", "--trust", "untrusted").data["id"]
    said(desk, "trust", own, "--set", "trusted", "--by", "me", "--reason", "seen myself")
    assert mirror.value(f"main/{own}", "trust") == ["trusted"]


def test_migrated_notes_reach_the_mirror(desk: Desk, mirror: Mirror) -> None:
    desk.write("MEMORY.md", "# Memory\n\n## Decisions\n\n- We bill per seat, because customers asked for it.\n")
    said(desk, "migrate", "MEMORY.md")
    [uid] = mirror.held()["memory_item"]
    assert "bill per seat" in mirror.value(uid, "content", "memory_item")[0]


# While the server is away


def test_a_server_that_is_down_costs_one_warning_and_a_line(desk: Desk, mirror: Mirror) -> None:
    mirror.server.stop()
    first, second = said(desk, "store", "One thing"), said(desk, "store", "Quite another")
    [warning], [later] = first.warnings, second.warnings
    assert warning.startswith("no TypeDB at") and warning.endswith("; 1 change queued for the mirror")
    assert "did not answer a moment ago; 1 change queued" in later
    assert ledger(desk) == {f"main/{done.data['id']}": "queued" for done in (first, second)}
    told = desk.run("status").stdout
    assert "typedb      2 queued: see mabos typedb status" in told
    assert said(desk, "status").data["typedb"] == {"ok": 0, "queued": 2, "failed": 0}


def test_several_agents_ask_a_server_that_is_down_once(desk: Desk, mirror: Mirror) -> None:
    mirror.server.stop()
    desk.add_agent("cfo")
    homes = [desk.home(name) for name in ("main", "cfo")]
    for home in homes:
        home.changes.append(Change("store", "memory", ("M-1", "M-2")))
    [warning] = mirror_changes(homes)
    assert warning.startswith("no TypeDB at") and warning.endswith("; 4 changes queued for the mirror")
    assert ledger(desk, "cfo") == {"cfo/M-1": "queued", "cfo/M-2": "queued"}
    assert mirror_changes(homes) == []


def test_what_waits_is_written_with_the_next_change(desk: Desk, mirror: Mirror) -> None:
    mirror.server.fail("connection_open", Fault.UNAVAILABLE)
    waiting = f"main/{said(desk, 'store', 'One thing').data['id']}"
    said(desk, "goal", "add", "Grow")
    gone = f"main/{said(desk, 'store', 'A thing to forget').data['id']}"
    said(desk, "forget", gone.removeprefix("main/"))
    assert mirror.held() == {} and set(ledger(desk).values()) == {"queued"}
    mirror.server.heal()
    (desk.root / ".mabos/typedb/rest").unlink()
    new = stored(desk, "Quite another")
    assert mirror.held() == {"agent": ["main"], "goal": ["main/G-001"], "memory_item": sorted((waiting, new))}
    assert ledger(desk) == {waiting: "ok", "main/G-001": "ok", gone: "gone", new: "ok"}


def test_a_silent_server_costs_the_configured_time_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with silent_port() as address:
        monkeypatch.setenv("MABOS_TYPEDB_ADDRESS", address)
        monkeypatch.setenv("MABOS_TYPEDB_CONNECT_TIMEOUT", "0.3")
        monkeypatch.setenv("MABOS_TYPEDB_PASSWORD", PASSWORD)
        start = time.monotonic()
        assert "did not answer within 0.3 s" in said(desk, "store", "One thing").warnings[0]
        assert time.monotonic() - start < ENOUGH
        monkeypatch.setenv("MABOS_TYPEDB_CONNECT_TIMEOUT", "600")
        assert "a moment ago" in said(desk, "store", "Quite another").warnings[0]


def test_the_process_ends_although_the_server_never_answers(desk: Desk, mirror: Mirror) -> None:
    """In an interpreter of its own: what hangs in the driver must not keep it."""
    mirror.server.fail("query", Fault.SILENT)
    code = "import sys; from mabos_cli.app import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", code, "-w", os.fspath(desk.root), "store", "One thing", "--json"]
    done = subprocess.run(
        words, env=os.environ | {"MABOS_TYPEDB_TIMEOUT": "0.3"}, capture_output=True, timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["data"]["stored"] and "did not answer within 0.3 s (writing)" in told["warnings"][0]
    assert [*ledger(desk).values()] == ["queued"]


def test_a_connection_that_drops_in_mid_transaction_is_made_good(desk: Desk, mirror: Mirror) -> None:
    mirror.server.fail("commit", Fault.DROP)
    done = said(desk, "store", "One thing")
    assert "lost TypeDB" in done.warnings[0] and mirror.held() == {}
    mirror.server.fail("commit", Fault.LOST)  # done, and nobody knows
    assert "failed" not in ledger(desk).values()
    code = desk.run("typedb", "sync-agent").code
    assert code == 6 and mirror.held()["memory_item"] == [f"main/{done.data['id']}"]
    mirror.server.heal()
    assert said(desk, "typedb", "sync-agent").data["agents"][0]["failed"] == []
    assert mirror.held() == {"agent": ["main"], "memory_item": [f"main/{done.data['id']}"]}
    assert [*ledger(desk).values()] == ["ok"]


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("PASSWORD", "wrong-987654321", "does not let 'admin' in"),
        ("PASSWORD", "", "needs a password (set MABOS_TYPEDB_PASSWORD)"),
        ("ADDRESS", "http://localhost", "is not an address"),
        ("ADDRESS", "a..b:1729", "no TypeDB at a..b:1729"),
        ("DATABASE", "mabos_none", "no database mabos_none (make it: mabos typedb sync-schema)"),
    ],
)
def test_settings_that_do_not_work_are_told_and_fail_nothing(
    desk: Desk, mirror: Mirror, monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    monkeypatch.setenv(f"MABOS_TYPEDB_{name}", value)
    done = said(desk, "store", "One thing")
    assert told in done.warnings[0] and "987654321" not in done.stdout + done.stderr
    assert done.warnings[0].endswith("queued for the mirror") and "failed" not in ledger(desk).values()
    assert desk.run("typedb", "sync-agent").code == (2 if "not an address" in told else 6)


def test_certificates_that_are_not_there_are_named(desk: Desk, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MABOS_TYPEDB_TLS", "true")
    monkeypatch.setenv("MABOS_TYPEDB_TLS_CA", "certs/none.pem")
    assert said(desk, "store", "One thing").warnings[0].startswith("no file certs/none.pem (typedb.tls_ca")


def test_nothing_configured_loads_nothing(desk: Desk) -> None:
    code = (
        "import sys; from mabos_cli.app import main; assert main(sys.argv[1:]) == 0; "
        "print([name for name in sys.modules if 'typedb' in name or 'mirror' in name])"
    )
    words = [sys.executable, "-c", code, "-w", os.fspath(desk.root), "-q", "store", "One thing"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")
    assert not (desk.root / ".mabos/typedb").exists()
    assert "typedb" not in said(desk, "status").data


def test_a_ledger_that_cannot_be_written_fails_nothing(desk: Desk, mirror: Mirror) -> None:
    (desk.root / ".mabos").mkdir(exist_ok=True)
    (desk.root / ".mabos/typedb").write_text("in the way")
    done = said(desk, "store", "One thing")
    assert "the mirror is behind, and does not know it" in done.warnings[0]


def test_who_cannot_wait_for_another_process_queues(
    desk: Desk, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mabos_cli.workspace.mirror_ledger import mirroring

    with mirroring(WorkspacePaths(desk.root).agent("main"), 0):
        done = said(desk, "store", "One thing")
    assert done.warnings == ["another process is mirroring this agent; 1 change queued for the mirror"]
    assert [*ledger(desk).values()] == ["queued"]


def test_what_waits_comes_along_a_little_at_a_time(desk: Desk, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typedb_sync, "_ALONG", 2)
    items = [note(number, f"Thing {number}") for number in range(5)]
    desk.put(items)
    paths = WorkspacePaths(desk.root).agent("main")
    note_entries(paths, [Entry("memory_item", f"main/{item.id}", "queued") for item in items])
    stored(desk, "Quite another thing")
    assert len(mirror.held()["memory_item"]) == 3
    stored(desk, "And one that is different")
    assert len(mirror.held()["memory_item"]) == 6 and [*ledger(desk).values()].count("queued") == 1


# What the server refuses


def test_one_bad_record_does_not_fail_its_batch(desk: Desk, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typedb_sync, "_BATCH", 16)
    items = [note(number, f"Thing {number}" if number != 7 else "Poison") for number in range(20)]
    bad = f"main/{items[7].id}"
    desk.put(items)
    mirror.poison = "Poison"
    done = desk.run("typedb", "sync-agent", "--check", "--json")
    assert done.code == 7 and done.stderr == ""
    [row] = json.loads(done.stdout)["data"]["agents"]
    assert (row["written"], [each["uid"] for each in row["failed"]]) == (20, [bad])
    assert row["failed"][0]["error"] == "TypeDB refused: [QEX7] cannot take Poison"
    assert len(mirror.held()["memory_item"]) == 19 and ledger(desk)[bad] == "failed"
    # One batch of 16 in halves down to the record, and one of the rest.
    assert len({asked.transaction for asked in mirror.server.queries if asked.kind == "write"}) == 10
    told = desk.run("typedb", "status").stdout
    assert "main: 20 ok, 0 queued, 1 failed\n" in told and f"  {bad}: TypeDB refused" in told
    assert "1 failed: see mabos typedb status" in desk.run("status").stdout
    asked = len(mirror.server.queries)
    assert said(desk, "store", "Something else").warnings == []  # not tried again as it is
    assert not any("Poison" in each.text for each in mirror.server.queries[asked:])
    mirror.poison = ""
    assert said(desk, "typedb", "sync-agent", "--check").data["agents"][0]["written"] == 1
    assert bad in mirror.held()["memory_item"]


def test_a_refused_change_is_told_at_once(desk: Desk, mirror: Mirror) -> None:
    mirror.poison = "Poison"
    done = said(desk, "store", "Poison")
    uid = f"main/{done.data['id']}"
    assert done.warnings == [
        f"TypeDB has not taken {uid}: TypeDB refused: [QEX7] cannot take Poison; see mabos typedb status"
    ]
    assert ledger(desk) == {uid: "failed"}


def test_a_text_that_is_no_literal_is_a_failure_of_its_own(desk: Desk, mirror: Mirror) -> None:
    """A record that cannot be put into words never reaches the server, and does not keep the others from it."""
    desk.put([note(1, "Well"), note(2, "Well, too")])
    real = typedb_sync.render_links

    def render(record: Any, is_owned: bool) -> Any:
        if record.get("content") == "Well":
            from mabos_cli.core import BadValue

            raise BadValue("a text is not valid Unicode")
        return real(record, is_owned=is_owned)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typedb_sync, "render_links", render)
        [row] = said(desk, "typedb", "sync-agent").data["agents"]
    assert [each["error"] for each in row["failed"]] == ["a text is not valid Unicode"]
    assert len(mirror.held()["memory_item"]) == 1


# Bringing the mirror up to date


def test_a_lost_ledger_loses_nothing(desk: Desk, mirror: Mirror) -> None:
    uids = [stored(desk, text) for text in ("The sky is blue", "Cats sleep a lot")]
    (desk.root / ".mabos/typedb/main.jsonl").unlink()
    desk.run("forget", uids[0].removeprefix("main/"), "-q", "--json")
    (desk.root / ".mabos/typedb/main.jsonl").unlink()
    said(desk, "typedb", "sync-agent")
    assert mirror.held() == {"agent": ["main"], "memory_item": [uids[1]]}
    assert [ledger(desk)[uids[1]]] == ["ok"]


def test_a_lost_database_is_filled_again(desk: Desk, mirror: Mirror) -> None:
    uid = stored(desk, "The sky is blue")
    mirror.wipe()
    assert said(desk, "typedb", "sync-agent").data["agents"][0]["written"] == 2
    assert mirror.held() == {"agent": ["main"], "memory_item": [uid]}


def test_a_file_that_cannot_be_read_leaves_the_rest(desk: Desk, mirror: Mirror) -> None:
    said(desk, "fact", "assert", "acme", "supplies", "us")
    uid = stored(desk, "The sky is blue")
    desk.write("facts.json", "{broken")
    done = said(desk, "typedb", "sync-agent")
    assert "not mirrored: agents/main/facts.json:1" in done.warnings[0]
    assert len(mirror.held()["spo_fact"]) == 1 and mirror.held()["memory_item"] == [uid]


def test_all_agents_are_synced_each_with_its_own(desk: Desk, mirror: Mirror) -> None:
    desk.add_agent("c.fo")
    desk.add_agent("cxfo")
    desk.put([note(1, "Mine")])
    desk.put([note(1, "Theirs")], "c.fo")
    desk.put([note(1, "Another's")], "cxfo")
    rows = said(desk, "typedb", "sync-agent", "--all").data["agents"]
    assert [(row["agent"], row["written"]) for row in rows] == [("c.fo", 3), ("cxfo", 3), ("main", 2)]
    desk.put([], "c.fo")
    [row] = said(desk, "typedb", "sync-agent", "c.fo").data["agents"]
    assert (row["deleted"], row["written"]) == (1, 0)
    assert mirror.held()["memory_item"] == [f"cxfo/{note(1, '').id}", f"main/{note(1, '').id}"]


def test_much_at_once_is_left_to_sync(desk: Desk, mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typedb_sync, "_MOST", 5)
    rows = "".join(json.dumps({"content": f"Thing number {n} of {n * n}"}) + "\n" for n in range(9))
    done = desk.run("store", "--batch", "-", "--json", stdin=rows.encode())
    assert done.warnings[0].endswith("sync-agent writes the rest; 5 changes queued for the mirror")
    assert sorted(ledger(desk).values()) == ["ok"] * 4 + ["queued"] * 5
    said(desk, "typedb", "sync-agent")
    assert set(ledger(desk).values()) == {"ok"} and len(mirror.held()["memory_item"]) == 9


# Schema


def test_a_database_is_made_with_all_types_and_then_left(desk: Desk, mirror: Mirror) -> None:
    mirror.server.schemas.clear()
    assert desk.run("typedb", "sync-agent").stderr.startswith("mabos: TypeDB has no database mabos_ws")
    tried = said(desk, "typedb", "sync-schema", "--dry-run").data
    assert tried["created"] and tried["defined"] > 80 and mirror.server.schemas == {}
    done = said(desk, "typedb", "sync-schema").data
    assert (done["created"], done["defined"], done["define"]) == (True, tried["defined"], None)
    assert mirror.server.schemas[DATABASE].startswith("define\n")
    again = said(desk, "typedb", "sync-schema").data
    assert (again["created"], again["defined"]) == (False, 0)


def test_ontologies_add_their_types(desk: Desk, mirror: Mirror) -> None:
    mirror.server.schemas.clear()
    base = said(desk, "typedb", "sync-schema").data["defined"]
    said(desk, "ontology", "scaffold", "ecommerce")
    more = said(desk, "typedb", "sync-schema").data
    assert not more["created"] and more["defined"] > 10 and base > 80


def test_a_type_that_differs_is_the_servers_to_refuse(desk: Desk, mirror: Mirror) -> None:
    mirror.server.answer(lambda query: Failure("SVL34", "certainty has another value type.", fatal=True))
    done = desk.run("typedb", "sync-schema")
    assert done.code == 6 and "certainty has another value type" in done.stderr
    assert "delete the database, or name a new one in typedb.database" in done.stderr


def test_records_wait_for_types_that_are_missing(desk: Desk, mirror: Mirror) -> None:
    mirror.server.schemas[DATABASE] = "define\nattribute uid, value string;\n"
    mirror.server.answer(lambda query: Failure("INF2", "Type label 'memory_item' not found.", fatal=True))
    done = said(desk, "store", "One thing")
    assert "the schema of mabos_ws lacks types (add them: mabos typedb sync-schema)" in done.warnings[0]
    assert [*ledger(desk).values()] == ["queued"]


# Status and queries


def test_a_ready_question_is_asked_by_its_name(desk: Desk, mirror: Mirror) -> None:
    rows = [{"level": "strategic", "goal": "main/G-1", "agent": "main"}]
    mirror.server.answer(lambda query: Documents(tuple(rows)) if "hierarchy_level" in query else None)
    asked = said(desk, "typedb", "query", "behind", "strategic").data["rows"]
    assert asked == rows and [*asked[0]] == ["agent", "goal", "level"]
    said(desk, "ontology", "scaffold", "business")
    said(desk, "typedb", "query", "statements", "buys")
    assert "$r isa buys, links (evidence: $f" in mirror.server.queries[-1].text
    said(desk, "typedb", "query", "provenance", "F-1")
    assert '$x isa record, has uid "main/F-1";' in mirror.server.queries[-1].text


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("chain",), "'chain' is no ready question"),
        (("match $x isa goal; select $x;", "cfo"), "is no ready question"),
        (("conflict",), "conflict of what?"),
        (("statements", "buys"), "no ontology has a relation 'buys'"),
        (("behind", "never"), "unknown level 'never'"),
    ],
)
def test_a_question_that_makes_no_sense(desk: Desk, mirror: Mirror, words: tuple[str, ...], told: str) -> None:
    done = desk.run("typedb", "query", *words)
    assert done.code in (2, 3) and told in done.stderr and mirror.server.queries == []


def test_status_says_what_is_wrong_with_the_server(desk: Desk, mirror: Mirror) -> None:
    stored(desk, "The sky is blue")
    data = said(desk, "typedb", "status").data
    assert (data["configured"], data["reachable"], data["version"]) == (True, True, "TypeDB for tests 3.14.0")
    assert data["databases"] == [DATABASE] and PASSWORD not in json.dumps(data)
    assert data["agents"] == [{"agent": "main", "ok": 2, "queued": 0, "failed": 0, "last_error": None}]
    mirror.server.stop()
    data = said(desk, "typedb", "status").data
    assert data["reachable"] is False and "Connection refused" in data["error"]
    assert data["agents"][0]["ok"] == 2


def test_status_counts_by_the_files_what_nobody_queued(desk: Desk, mirror: Mirror) -> None:
    stored(desk, "The sky is blue")
    desk.write("Goals.md", "# Goals\n\n## G-007: Grow\n- **Status:** active\n")
    assert said(desk, "typedb", "status").data["agents"][0]["queued"] == 1


def test_a_query_reads_and_is_cut(desk: Desk, mirror: Mirror) -> None:
    mirror.server.answer(lambda query: Rows(("n", "t"), tuple((n, "x" * 50) for n in range(200))))
    done = said(desk, "typedb", "query", "match $x isa goal;")
    assert done.data["truncated"] and 40 < len(done.data["rows"]) < 80
    assert len("\n".join(json.dumps(row) for row in done.data["rows"])) <= 4096
    assert "cut at 4 KB" in done.warnings[0] and "--full" in done.warnings[0]
    done = said(desk, "typedb", "query", "match $x isa goal;", "--full")
    assert len(done.data["rows"]) == 200 and not done.data["truncated"] and done.warnings == []
    mirror.server.answer(lambda query: Rows(("n",), ()))
    assert desk.run("typedb", "query", "match $x isa goal;").stdout == "no rows\n"
    assert {asked.kind for asked in mirror.server.queries} == {"read"}


def test_a_query_that_writes_never_leaves(desk: Desk, mirror: Mirror) -> None:
    for query in ("insert $x isa goal;", "match $x isa goal; delete $x;", "define entity x;", ""):
        assert desk.run("typedb", "query", query).code == 2
    assert mirror.server.calls == []


def test_a_query_that_is_wrong_is_told(desk: Desk, mirror: Mirror) -> None:
    mirror.server.answer(lambda query: Failure("TQL3", "expected a pattern"))
    done = desk.run("typedb", "query", "match $x;")
    assert (done.code, done.stderr.split("\n")[0]) == (2, "mabos: TypeDB refused: [TQL3] expected a pattern")
    done = desk.run("typedb", "query", "match $x isa goal;", "--database", "mabos_none")
    assert done.code == 6 and "no database mabos_none" in done.stderr


def test_the_ledger_stays_small(desk: Desk, mirror: Mirror) -> None:
    paths = WorkspacePaths(desk.root).agent("main")
    note_entries(paths, [Entry("memory_item", "main/M-1", "gone", at="2026-02-24T14:30:00.000Z")] * 400)
    uid = stored(desk, "The sky is blue")
    assert paths.mirror_ledger.read_bytes().count(b"\n") == 2 and ledger(desk) == {uid: "ok"}
