"""TypeDB through its own driver, against the server of the tests: what comes back, what is refused, and how long one waits."""

import socket
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal

import pytest

pytest.importorskip("grpc", reason="the TypeDB server of the tests needs grpcio")
pytest.importorskip("typedb.driver", reason="needs the official driver, typedb-driver")

from typedb_server.faults import Fault, silent_port
from typedb_server.messages import Attribute, Documents, Failure, Rows, Thing, Type
from typedb_server.server import Server

from mabos_cli.backends import typedb
from mabos_cli.backends.typedb import Place, Refused, Session, Unreachable, open_session, parse_address
from mabos_cli.core import BadValue
from mabos_cli.errors import Unavailable

SECRET = "hush-0123456789"
ENOUGH = 5.0  # seconds: the driver alone would wait for 23 at least, and for a query without end


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(password=SECRET) as server:
        server.schemas["mabos_x"] = ""
        yield server


@pytest.fixture
def place(server: Server) -> Place:
    return Place(server.address, "mabos_x", connect_timeout=2, timeout=2)


@pytest.fixture
def session(place: Place) -> Iterator[Session]:
    with open_session(place, SECRET) as session:
        yield session


@pytest.mark.parametrize("text", ["", "http://localhost:1729", "localhost:0", "localhost:99999", "a b", "::1"])
def test_what_is_no_address_is_said_to_be_none(text: str) -> None:
    with pytest.raises(BadValue, match="is not an address"):
        parse_address(text)


def test_a_password_in_an_address_is_not_told() -> None:
    with pytest.raises(BadValue, match=r"'\.\.\.@host:1729' is not an address") as told:
        parse_address("admin:hush@host:1729")
    assert "hush" not in told.value.message


def test_a_server_tells_about_itself(server: Server, session: Session) -> None:
    assert session.version() == "TypeDB for tests 3.14.0"
    server.schemas["other"] = ""
    assert session.databases() == ["mabos_x", "other"]


def test_a_database_is_made_once_and_its_schema_read(server: Server, place: Place) -> None:
    with open_session(place._replace(database="mabos_new"), SECRET) as session:
        assert session.schema() is None
        assert session.create_database() and not session.create_database()
        assert session.schema() == ""
        session.change_schema(["define\nentity a;", "define\nentity b;"])
        assert session.schema() == "define\nentity a;\nentity b;\n"
        assert {asked.transaction for asked in server.queries} == {1}


def test_writes_are_one_transaction_in_order(server: Server, session: Session) -> None:
    queries = [f"insert $x isa t{number};" for number in range(300)]
    session.write(queries)
    assert server.committed() == queries
    assert {asked.transaction for asked in server.queries} == {1}


def test_a_refusal_takes_all_back_and_leaves_the_session_usable(server: Server, session: Session) -> None:
    server.answer(lambda query: Failure("QEX7", "no\nsuch thing") if "bad" in query else None)
    with pytest.raises(Refused) as caught:
        session.write(["insert $x isa good;", "insert $x isa bad;", "insert $x isa good;"])
    assert caught.value.message == "TypeDB refused: [QEX7] no such thing"
    assert caught.value.server_code == "QEX7" and caught.value.exit_code == 6
    assert server.committed() == []
    session.write(["insert $x isa good;"])
    assert server.committed() == ["insert $x isa good;"]


def test_text_that_no_driver_takes_is_refused(session: Session) -> None:
    with pytest.raises(Refused, match="the TypeDB driver refused"):
        session.write(["insert $x has name '\ud800';"])


def test_rows_are_json(server: Server, session: Session) -> None:
    row = (Thing("goal", b"\1\2"), Attribute("name", "Grow"), Type("entity", "goal"), 2.5, None)
    server.answer(lambda query: Rows(("g", "n", "t", "v", "x"), (row,)))
    told = {
        "g": {"type": "goal", "iid": "0x0102"},
        "n": {"type": "name", "value": "Grow"},
        "t": {"type": "goal"},
        "v": 2.5,
        "x": None,
    }
    assert session.read("match $g isa goal;") == ([told], True)


def test_documents_are_json_whatever_is_in_them(server: Server, session: Session) -> None:
    moment = datetime(2026, 2, 24, 14, 30, tzinfo=UTC)
    server.answer(lambda query: Documents(({"a": [1, {"b": True}], "at": moment, "d": Decimal("1.5")},)))
    [found], is_all = session.read("match $g isa goal; fetch {};")
    assert found["a"] == [1, {"b": True}] and is_all
    assert found["at"].startswith("2026-02-24T14:30:00") and found["d"].startswith("1.5")


def test_no_more_is_read_than_there_is_room_for(server: Server, session: Session) -> None:
    server.answer(lambda query: Rows(("n",), tuple((number,) for number in range(1000))))
    assert session.read("match $x isa a;", room=30) == ([{"n": 0}, {"n": 1}, {"n": 2}], False)
    assert session.read("match $x isa a;", room=3) == ([], False)
    assert len(session.read("match $x isa a;", room=100_000)[0]) == 1000


def test_a_wrong_password_is_refused_and_not_repeated(place: Place) -> None:
    with pytest.raises(Refused) as caught:
        open_session(place, "wrong-987654321")
    said = f"{caught.value.message} {caught.value.hint}"
    assert "does not let 'admin' in" in said and "987654321" not in said and SECRET not in said


def test_without_a_password_nobody_is_asked(server: Server, place: Place) -> None:
    for nothing in (None, ""):
        with pytest.raises(Unavailable, match="needs a password"):
            open_session(place, nothing)
    assert server.calls == []


def test_the_password_does_not_travel_in_the_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typedb, "knock", lambda place: None)
    monkeypatch.setattr(typedb, "_library", lambda: pytest.fail("the driver was loaded"))
    with pytest.raises(Unavailable, match="unencrypted"):
        open_session(Place("db.example.com:1729", "x"), SECRET)


def test_nobody_there_is_found_out_without_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typedb, "_library", lambda: pytest.fail("the driver was loaded"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(Unreachable, match="Connection refused"):
        open_session(Place(address, "x"), SECRET)


def test_a_driver_that_is_not_installed_is_named(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typedb.driver", None)
    with pytest.raises(Unavailable) as caught:
        open_session(place, SECRET)
    assert "mabos-cli[typedb]" in caught.value.hint


def test_encryption_that_the_server_does_not_speak_is_unreachable(place: Place) -> None:
    with pytest.raises(Unreachable) as caught:
        open_session(place._replace(tls=True), SECRET)
    assert "typedb.tls is on" in caught.value.hint


def test_certificates_that_are_not_there_are_no_fault_of_the_server(place: Place) -> None:
    with pytest.raises(Unavailable, match="no file /no/such/file") as caught:
        open_session(place._replace(tls=True, tls_ca="/no/such/file"), SECRET)
    assert not isinstance(caught.value, Unreachable) and "typedb.tls_ca" in caught.value.hint


def test_a_silent_port_costs_the_time_to_connect() -> None:
    start = time.monotonic()
    with silent_port() as address, pytest.raises(Unreachable, match=r"did not answer within 0.2 s"):
        open_session(Place(address, "x", connect_timeout=0.2, timeout=60), SECRET)
    assert time.monotonic() - start < ENOUGH


@pytest.mark.parametrize("where", ["transaction", "query", "commit"])
@pytest.mark.parametrize("fault", [Fault.SILENT, Fault.SLOW])
def test_a_server_that_falls_silent_costs_the_time_of_a_transaction(
    server: Server, place: Place, where: str, fault: Fault
) -> None:
    start = time.monotonic()
    with open_session(place._replace(timeout=0.2), SECRET) as session:
        server.fail(where, fault)
        with pytest.raises(Unreachable):
            session.write(["insert $x isa a;"])
        with pytest.raises(Unreachable):  # it is over: nobody waits a second time
            session.write(["insert $x isa b;"])
    assert time.monotonic() - start < ENOUGH
    waiting = [thread for thread in threading.enumerate() if thread.name.startswith("typedb ")]
    for thread in waiting:
        thread.join(ENOUGH)
    assert not any(thread.is_alive() for thread in waiting)


def test_much_in_a_row_may_be_limited_as_a_whole(server: Server, place: Place) -> None:
    with open_session(place._replace(timeout=0.3), SECRET) as session:
        session.end_in_time()
        session.write(["insert $x isa a;"])
        time.sleep(0.3)
        with pytest.raises(Unreachable, match=r"takes longer than 0.3 s"):
            session.write(["insert $x isa b;"])
    assert server.committed() == ["insert $x isa a;"]


@pytest.mark.parametrize("where", ["query", "commit"])
def test_a_connection_that_drops_in_mid_transaction_is_unreachable(
    server: Server, session: Session, where: str
) -> None:
    server.fail(where, Fault.DROP)
    with pytest.raises(Unreachable, match="lost TypeDB"):
        session.write(["insert $x isa a;"])
    assert server.committed() == []


def test_a_commit_whose_answer_is_lost_is_unreachable_too(server: Server, session: Session) -> None:
    server.fail("commit", Fault.LOST)
    with pytest.raises(Unreachable):
        session.write(["insert $x isa a;"])
    assert server.committed() == ["insert $x isa a;"]


def test_what_stands_before_the_server_may_refuse_for_it(server: Server, session: Session) -> None:
    server.fail("*", Fault.UNAVAILABLE)
    with pytest.raises(Unreachable, match="going down"):
        session.databases()
