"""PostgreSQL instead of the local index: the same answers, nothing lost or doubled, and the local index when it fails."""

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psycopg
import pytest

from mabos_cli.core.search.recall import Filters
from mabos_cli.index import replica
from mabos_cli.index.packing import unpack_text
from mabos_cli.index.postgres import PostgresLanes
from mabos_cli.services.search.agent_search import AgentIndex
from mabos_cli.workspace.layout import WorkspacePaths

from .lab import Lab, close
from .world import QUESTIONS

pytest.importorskip("psycopg")


def check_rows(lab: Lab, url: str) -> None:
    """The database holds what the local index shows, and its counts are those of its rows."""
    lab.sync()
    opened = lab.open()
    index = opened.index
    local = index.db.execute("SELECT row, item, source, first, last, text FROM passages WHERE shown").fetchall()
    shown = index.db.execute("SELECT row, id FROM items WHERE shown").fetchall()
    with psycopg.connect(url) as db:
        [(home, passages, tokens)] = db.execute("SELECT home, passages, tokens FROM mabos.homes").fetchall()
        rows = db.execute("SELECT row, item, source, first, last, text FROM mabos.passages").fetchall()
        assert Counter(rows) == Counter(local)
        assert Counter(db.execute("SELECT row, id FROM mabos.items").fetchall()) == Counter(shown)
        assert db.execute("SELECT count(*), sum(tokens) FROM mabos.passages").fetchone() == (passages, tokens)
        held = "SELECT split_part(lexeme, ':', 2), count(*) FROM mabos.passages, unnest(words) GROUP BY 1"
        assert dict(
            db.execute("SELECT word, sum(held)::int FROM mabos.words WHERE held > 0 GROUP BY 1").fetchall()
        ) == (dict(db.execute(held).fetchall()))
        with_vector = {row for (row,) in db.execute("SELECT row FROM mabos.vectors").fetchall()}
        assert with_vector == {
            row for (row,) in index.db.execute("SELECT row FROM passages WHERE shown AND vector = 1")
        }
    assert home == index.remote.home.home
    index.close()


def both(lab: Lab, monkeypatch: pytest.MonkeyPatch, **how: object) -> list[dict[str, list[str]]]:
    """What SQLite and PostgreSQL answer."""
    found = []
    for backend in ("sqlite", "postgres"):
        monkeypatch.setenv("MABOS_INDEX_BACKEND", backend)
        search = lab.search(**how)
        assert not search.warnings()
        close(search)
        found.append(lab.tops(QUESTIONS, **how))
    return found


@pytest.fixture
def mirrored(busy: Lab, postgres: str, monkeypatch: pytest.MonkeyPatch) -> Lab:
    busy.sync()
    return busy


def test_the_same_answers(mirrored: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    for how in ({}, {"archived": True}, {"filters": Filters(min_importance=0.4)}, {"limit": 50}):
        one, two = both(mirrored, monkeypatch, **how)
        assert one == two


def test_what_changes_is_sent(mirrored: Lab, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check_rows(mirrored, postgres)
    ids = [*mirrored.live()]
    mirrored.update(ids[0], content="the harbour master resigned", tags=("harbour",))
    mirrored.forget(ids[1])
    new = mirrored.store("the lighthouse is painted white and \u2028 striped", author="Ada", session="s1")
    mirrored.write(
        "Playbooks.md", "# Playbooks\n\nHow to paint a lighthouse\0 \ud800.\n".encode("utf-8", "surrogatepass")
    )
    check_rows(mirrored, postgres)
    assert mirrored.refs("painted striped lighthouse")[0] == new
    assert mirrored.refs("harbour master")[0] == ids[0]
    (mirrored.agent / "Playbooks.md").unlink()
    mirrored.revive(ids[1])
    check_rows(mirrored, postgres)
    one, two = both(mirrored, monkeypatch)
    assert one == two


def test_a_rebuilt_index_takes_the_place_of_the_rows_before(mirrored: Lab, postgres: str) -> None:
    mirrored.sync(rebuild=True)
    check_rows(mirrored, postgres)


def test_who_is_killed_while_sending_loses_and_doubles_nothing(
    busy: Lab, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "_BATCH", 7)
    real, sent = replica.Sender.send, []

    def send(*args: object, **how: object) -> None:
        sent.append(1)
        if len(sent) in (3, 9, 10):
            raise KeyboardInterrupt
        real(*args, **how)

    monkeypatch.setattr(replica.Sender, "send", send)
    for _ in range(3):
        with pytest.raises(KeyboardInterrupt):
            busy.sync()
    first = len(sent)
    busy.sync()
    monkeypatch.setattr(replica.Sender, "send", real)
    check_rows(busy, postgres)
    assert first == 10 and len(sent) > 12  # it went on, and did not begin again


def test_the_rows_before_answer_until_the_new_ones_are_complete(
    mirrored: Lab, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "_MANY", 1)
    monkeypatch.setattr("mabos_cli.services.search.postgres.sync_later", lambda agent: None)
    monkeypatch.setenv("MABOS_MEMORY_SHARED", "true")  # all rows are sent again
    search = mirrored.search()
    assert search.warnings() == ["PostgreSQL is being filled: the local index answers"]
    with psycopg.connect(postgres) as db:
        assert db.execute("SELECT count(*), bool_and(current) FROM mabos.homes").fetchone() == (1, True)


def test_a_large_memory_has_an_index_of_its_own(busy: Lab, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "_LARGE", 20)
    busy.sync()
    check_rows(busy, postgres)
    with psycopg.connect(postgres) as db:
        assert db.execute("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%hnsw%'").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM mabos.vectors_small").fetchone() == (0,)
    one, two = both(busy, monkeypatch)
    assert one == two
    busy.sync(rebuild=True)
    check_rows(busy, postgres)
    with psycopg.connect(postgres) as db:
        assert db.execute("SELECT count(*) FROM pg_indexes WHERE indexdef LIKE '%hnsw%'").fetchone() == (1,)


def test_only_one_host_writes(lab: Lab, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MABOS_INDEX_WORKSPACE", "acme")
    lab.store("the ferry leaves at nine")
    lab.sync()
    other = Lab(lab.root.parent / "clone")
    other.store("the train leaves at ten")
    search = other.search()
    [warning] = search.warnings()
    assert "keeps main of acme in PostgreSQL" in warning and warning.endswith("the local index answers")
    assert len(other.refs("when does the train leave")) == 1
    check_rows(lab, postgres)
    with psycopg.connect(postgres, autocommit=True) as db:
        db.execute("UPDATE mabos.leases SET until = now() - interval '1 second'")
    check_rows(other, postgres)


def test_a_server_that_crashes_is_one_warning(lab: Lab, postgres_server, postgres: str) -> None:
    item = lab.store("the ferry leaves at nine")
    lab.sync()
    search = lab.search()
    postgres_server.crash()
    try:
        assert [hit.candidate.ref for hit in search("ferry")] == [item]  # it was there when the search began
        assert len(search.warnings()) == 1 and search.warnings()[0].startswith("PostgreSQL: ")
        later = lab.store("the train leaves at ten")
        assert lab.refs("train") == [later]
        [warning] = lab.search().warnings()
        assert warning == "PostgreSQL did not answer a moment ago: the local index answers"
    finally:
        postgres_server.start()
    rest = WorkspacePaths(lab.root).postgres_rest
    os.utime(rest, times=(time.time() - 60,) * 2)
    check_rows(lab, postgres)
    assert not rest.exists() and not lab.search().warnings()


def test_a_server_that_says_nothing(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        monkeypatch.setenv("MABOS_INDEX_BACKEND", "postgres")
        monkeypatch.setenv(
            "MABOS_INDEX_POSTGRES", f"postgresql://u:hidden@127.0.0.1:{silent.getsockname()[1]}/x?sslmode=disable"
        )
        monkeypatch.setenv("MABOS_INDEX_POSTGRES_TIMEOUT", "1")
        item = lab.store("the ferry leaves at nine")
        start = time.monotonic()
        assert lab.refs("ferry") == [item]
        assert time.monotonic() - start < 15
        [warning] = lab.search().warnings()
        assert "hidden" not in warning


def test_a_server_that_stops_in_the_middle(lab: Lab, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    item = lab.store("the ferry leaves at nine")
    monkeypatch.setenv("MABOS_INDEX_POSTGRES_TIMEOUT", "1")
    search = lab.search()
    monkeypatch.setattr(PostgresLanes, "_query", lambda *_: "'x' | (select pg_sleep(9))")
    monkeypatch.setattr(
        PostgresLanes, "find_words", lambda lanes, *_: lanes._db.execute("SELECT pg_sleep(9)").fetchall()
    )
    assert [hit.candidate.ref for hit in search("ferry")] == [item]
    assert len(search.warnings()) == 1


def test_a_strangers_workspace_connects_nowhere(lab: Lab, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BACKEND", "POSTGRES"):
        monkeypatch.delenv(f"MABOS_INDEX_{name}")
    lab.write("../../mabos.yaml", f"index:\n  backend: postgres\n  postgres: {postgres}\n")
    lab.store("the ferry leaves at nine")
    opened = AgentIndex(lab.home())
    opened.refresh()
    assert opened.index.remote is None
    with psycopg.connect(postgres) as db:
        assert db.execute("SELECT to_regnamespace('mabos')").fetchone() == (None,)


# Several hosts


@pytest.fixture
def office(quick: Path, postgres: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Lab, Lab]:
    """Two hosts with a workspace each; what the second one shares is decided by its agent."""
    here, there = Lab(quick / "here"), Lab(quick / "there")
    here.store("the ferry leaves at nine")
    there.store("the budget of the ferry is 40,000 euros", tags=("money",))
    there.store("the captain of the ferry is ill", tags=("private",))
    there.write("Playbooks.md", "# Playbooks\n\nThe captain of the ferry is ill, says the doctor.\n")
    there.write("notes/ferry.md", "# Ferry\n\nPaint the ferry in May.\n")
    here.sync()
    return here, there


def _shared(lab: Lab, question: str) -> list[str]:
    from mabos_cli.commands.call import Call
    from mabos_cli.core.memory.stores import FINDABLE
    from mabos_cli.services.search.agent_search import SearchOptions
    from mabos_cli.services.search.shared_memories import SharedSearch

    call = Call(workspace=os.fspath(lab.root), agent="main")
    search = SharedSearch(call, call.open_agent(), SearchOptions(Filters(), FINDABLE, 10))
    return sorted(hit.candidate.text for hit in search(question))


def _share(lab: Lab, rule: dict[str, object]) -> None:
    import json

    path = lab.agent / "agent.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"settings": rule}))
    lab.sync()


def test_nothing_is_shared_unless_allowed(office: tuple[Lab, Lab]) -> None:
    here, there = office
    there.sync()
    assert _shared(here, "ferry") == ["the ferry leaves at nine"]


def test_recall_over_hosts(office: tuple[Lab, Lab]) -> None:
    here, there = office
    _share(there, {"memory": {"shared": True}})
    found = _shared(here, "captain of the ferry, its budget, and when to paint it")
    assert len(found) == 3 and not any("captain" in text for text in found)
    _share(there, {"memory": {"shared": False, "shared_tags": "money"}})
    assert _shared(here, "ferry") == ["the budget of the ferry is 40,000 euros", "the ferry leaves at nine"]
    new = there.store("the ferry sank", tags=("money",))
    there.sync()
    assert "the ferry sank" in _shared(here, "ferry")
    there.update(new, tags=("Private", "money"))
    there.sync()
    assert "the ferry sank" not in _shared(here, "ferry")


def test_what_becomes_private_is_no_longer_told_by_files(office: tuple[Lab, Lab]) -> None:
    here, there = office
    _share(there, {"memory": {"shared": True}})
    assert any("Paint" in text for text in _shared(here, "paint the ferry"))
    there.store("Paint the ferry in May", tags=("private",))
    there.sync()
    assert not any("Paint" in text for text in _shared(here, "paint the ferry"))


def test_a_role_reads_its_own_rows_and_what_others_share(
    office: tuple[Lab, Lab], postgres_server, postgres: str, monkeypatch
) -> None:
    here, there = office
    _share(there, {"memory": {"shared": True}})
    with psycopg.connect(postgres, autocommit=True) as db:
        for role in ("ann", "bob"):
            db.execute(f"DROP ROLE IF EXISTS {role}")
            db.execute(f"CREATE ROLE {role} LOGIN")
    database = psycopg.conninfo.conninfo_to_dict(postgres)["dbname"]
    ann, bob = (postgres_server.url(database, role) for role in ("ann", "bob"))
    monkeypatch.setenv("MABOS_INDEX_POSTGRES", ann)
    here.sync()
    with psycopg.connect(ann, autocommit=True) as db:
        own = "SELECT count(*) FROM mabos.passages WHERE home IN (SELECT home FROM mabos.homes WHERE owner = 'ann')"
        assert db.execute(own).fetchone()[0] > 0
        texts = [unpack_text(line) for (line,) in db.execute("SELECT line FROM mabos.items").fetchall()]
        assert any("budget" in text for text in texts) and not any("captain" in text for text in texts)
        assert not any("captain" in word for (word,) in db.execute("SELECT word FROM mabos.words").fetchall())
        assert (
            db.execute(
                "DELETE FROM mabos.items WHERE home IN (SELECT home FROM mabos.homes WHERE owner = 'postgres')"
            ).rowcount
            == 0
        )
        db.execute("SELECT mabos.drop_home(home) FROM mabos.homes WHERE owner = 'postgres'")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute(
                "INSERT INTO mabos.words SELECT min(home), 'x', true, 1 FROM mabos.homes WHERE owner = 'postgres'"
            )
    with psycopg.connect(bob, autocommit=True) as db:
        assert db.execute("SELECT count(*) FROM mabos.leases").fetchone() == (0,)
        assert db.execute("SELECT count(*) FROM mabos.homes WHERE owner = 'ann'").fetchone() == (0,)
    assert "the budget of the ferry is 40,000 euros" in _shared(here, "ferry")
    with psycopg.connect(postgres) as db:
        assert db.execute("SELECT count(*) FROM mabos.homes WHERE owner = 'postgres'").fetchone() == (2,)


def test_two_processes_at_once(quick: Path, postgres: str) -> None:
    """Two workspaces, written and sent by processes of which some are killed."""
    labs = [Lab(quick / name) for name in ("east", "west")]
    environment = os.environ | {"MABOS_INDEX_LEASE": "1", "MABOS_EMBEDDINGS_PROVIDER": "none"}
    del environment["MABOS_NOW"]
    stored: list[list[str]] = [[], []]
    for turn in range(2):
        running = []
        for number, lab in enumerate(labs):
            drafts = [lab.draft(f"{lab.root.name} notes the vessel {turn}{n}", store="long_term") for n in range(15)]
            stored[number] += lab.store_all(drafts)
            words = [sys.executable, "-m", "mabos_cli", "-w", os.fspath(lab.root), "index", "sync", "-q"]
            running += [
                subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for _ in range(2)
            ]
        time.sleep(0.2 + 0.2 * turn)
        running[turn].kill()
        for process in running:
            process.wait(60)
    for number, lab in enumerate(labs):
        assert {*lab.refs("vessel", limit=100)} == {*stored[number]}
    with psycopg.connect(postgres) as db:
        held = "SELECT workspace, id FROM mabos.items JOIN mabos.homes USING (home) WHERE current"
        found = sorted((name.partition("-")[0], item_id) for name, item_id in db.execute(held).fetchall())
    assert found == sorted((lab.root.name, one) for lab, ids in zip(labs, stored, strict=True) for one in ids)
