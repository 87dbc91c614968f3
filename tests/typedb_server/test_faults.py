"""The official driver where things go wrong: silence, refusals, and connections that are gone."""

import threading
from collections.abc import Callable

import pytest

pytest.importorskip("grpc", reason="the TypeDB server of the tests needs grpcio")
pytest.importorskip("typedb.driver", reason="needs the official driver, typedb-driver")

from typedb.driver import Driver

from typedb_server.driving import BRIEF, READ, WRITE, begin, refusal
from typedb_server.faults import Fault, silent_port
from typedb_server.messages import Failure
from typedb_server.server import Server

Connect = Callable[..., Driver]

# Which of the two depends on which thread of the driver sees it first.
GONE = ("The connection has been closed unexpectedly", "Channel is closed")


def test_a_port_that_stays_silent_costs_the_time_of_one_call(connect: Connect) -> None:
    with silent_port() as address:
        assert "timed out after 100 milliseconds" in refusal(lambda: connect(address, millis=BRIEF))


def test_a_server_that_stopped_refuses(server: Server, connect: Connect) -> None:
    with Server() as gone:
        pass
    assert "Connection refused" in refusal(lambda: connect(gone.address))


def test_a_server_that_hears_and_says_nothing_costs_the_time_of_one_call(server: Server, connect: Connect) -> None:
    driver = connect(server.address, millis=BRIEF)
    server.fail("*", Fault.SILENT)
    for action in (
        driver.databases.all,
        lambda: begin(driver, READ),
        lambda: connect(server.address, millis=BRIEF),
    ):
        assert "timed out after 100 milliseconds" in refusal(action)
    server.heal()
    assert driver.databases.contains("mabos_x")


def test_a_server_that_is_unavailable_says_so(server: Server, driver: Driver, connect: Connect) -> None:
    server.fail("*", Fault.UNAVAILABLE)
    for action in (driver.databases.all, lambda: begin(driver, READ), lambda: connect(server.address)):
        assert refusal(action) == "the server is going down"


def test_one_call_can_fail_alone(server: Server, driver: Driver) -> None:
    server.fail("databases_create", Failure("DBC1", "'x y' is not a valid database name."))
    assert refusal(lambda: driver.databases.create("x y")) == "[DBC1] 'x y' is not a valid database name."
    assert driver.databases.contains("mabos_x")


def test_a_call_can_be_done_and_its_answer_lost(server: Server, driver: Driver) -> None:
    server.fail("databases_create", Fault.LOST)
    refusal(lambda: driver.databases.create("mabos_y"))
    assert "mabos_y" in server.schemas
    assert driver.databases.contains("mabos_y")  # on a new connection of the same driver


def test_a_slow_query_ends_when_the_time_of_the_transaction_is_up(server: Server, driver: Driver) -> None:
    server.answer(lambda query: Fault.SLOW if "slow" in query else None)
    transaction = begin(driver, WRITE, BRIEF)
    transaction.query("insert $x isa a;").resolve()
    assert refusal(transaction.query("insert $x isa slow;").resolve).startswith("The transaction is closed")
    assert not transaction.is_open()
    assert refusal(transaction.commit).startswith("The transaction is closed")
    assert server.committed() == []


def test_a_silent_query_waits_until_the_driver_is_closed(server: Server, driver: Driver) -> None:
    server.fail("query", Fault.SILENT)
    transaction = begin(driver, READ, BRIEF)  # a limit that only the server could keep
    said: list[str] = []
    waiting = threading.Thread(
        target=lambda: said.append(refusal(transaction.query("match $x isa a;").resolve)), daemon=True
    )
    waiting.start()
    waiting.join(3 * BRIEF / 1000)
    assert waiting.is_alive()
    driver.close()
    waiting.join(30)
    assert said == ["Didn't receive any server responses for the query."]
    transaction.close()


@pytest.mark.parametrize("place", ["query", "commit", "rollback"])
def test_a_connection_that_drops_in_a_transaction_ends_it(server: Server, driver: Driver, place: str) -> None:
    transaction = begin(driver, WRITE)
    transaction.query("insert $x isa a;").resolve()
    server.fail(place, Fault.DROP)
    action = transaction.query("insert $x isa b;").resolve if place == "query" else getattr(transaction, place)
    assert refusal(action).startswith(GONE)
    assert not transaction.is_open()
    assert server.committed() == []
    server.heal()
    with begin(driver, READ) as again:  # the driver connects anew by itself
        assert list(again.query("match $x isa a;").resolve()) == []


def test_a_connection_can_drop_between_two_queries(server: Server, driver: Driver) -> None:
    transaction = begin(driver, WRITE)
    transaction.query("insert $x isa a;").resolve()
    server.drop_connections()
    assert refusal(transaction.commit).startswith(GONE)
    assert server.committed() == []


def test_a_commit_can_be_done_and_its_answer_lost(server: Server, driver: Driver) -> None:
    transaction = begin(driver, WRITE)
    transaction.query("insert $x isa a;").resolve()
    server.fail("commit", Fault.LOST)
    assert refusal(transaction.commit).startswith(GONE)
    assert server.committed() == ["insert $x isa a;"]


def test_a_commit_can_fail(server: Server, driver: Driver) -> None:
    transaction = begin(driver, WRITE)
    transaction.query("insert $x isa a;").resolve()
    server.fail("commit", Failure("TSV5", "Data transaction commit failed."))
    assert refusal(transaction.commit) == "[TSV5] Data transaction commit failed."
    assert not transaction.is_open()
    assert server.committed() == []
