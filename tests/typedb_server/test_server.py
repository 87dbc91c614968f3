"""The official driver against the server of the tests: connections, databases, transactions and answers."""

from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from inspect import signature

import pytest

pytest.importorskip("grpc", reason="the TypeDB server of the tests needs grpcio")
pytest.importorskip("typedb.driver", reason="needs the official driver, typedb-driver")

from typedb.driver import Driver, QueryOptions, Transaction

from typedb_server.driving import READ, SCHEMA, WRITE, begin, refusal
from typedb_server.messages import Attribute, Documents, Failure, Rows, Thing, Type, kind_of
from typedb_server.server import Server

Connect = Callable[..., Driver]


# Connections and databases


def test_the_right_password_opens_and_the_wrong_one_does_not(server: Server, connect: Connect) -> None:
    assert connect(server.address).is_open()
    assert server.calls == ["connection_open"]
    assert "Invalid credential supplied" in refusal(lambda: connect(server.address, password="wrong"))


def test_the_server_tells_its_version(driver: Driver) -> None:
    version = driver.server_version()
    assert (version.distribution, version.version) == ("TypeDB for tests", "3.14.0")


def test_databases_are_listed_made_and_deleted(server: Server, driver: Driver) -> None:
    assert [database.name for database in driver.databases.all()] == ["mabos_x"]
    assert not driver.databases.contains("mabos_y")
    driver.databases.create("mabos_y")
    driver.databases.create("mabos_y")
    assert driver.databases.contains("mabos_y")
    assert driver.databases.get("mabos_y").name == "mabos_y"
    assert list(server.schemas) == ["mabos_x", "mabos_y"]
    driver.databases.get("mabos_y").delete()
    assert list(server.schemas) == ["mabos_x"]


def test_a_database_that_is_missing_is_refused_by_name(driver: Driver) -> None:
    assert refusal(lambda: driver.databases.get("nope")) == "[SRV3] Database 'nope' not found."
    assert refusal(lambda: driver.transaction("nope", READ)) == "[TSV1] Database 'nope' not found."


def test_calls_that_the_server_does_not_know_are_refused(driver: Driver) -> None:
    assert refusal(lambda: driver.users.all()) == "Method not found!"


# Transactions


def test_what_is_committed_counts_and_nothing_else(server: Server, driver: Driver) -> None:
    for text, end in [("a", "commit"), ("b", "close"), ("c", "rollback"), ("d", "commit")]:
        transaction = begin(driver, WRITE)
        transaction.query(f"insert $x isa {text};").resolve()
        getattr(transaction, end)()
        assert transaction.is_open() == (end == "rollback")
        transaction.close()
    assert server.committed() == ["insert $x isa a;", "insert $x isa d;"]
    asked = server.queries[0]
    assert (asked.database, asked.kind, asked.transaction, asked.committed) == ("mabos_x", "write", 1, True)
    assert [asked.transaction for asked in server.queries] == [1, 2, 3, 4]


def test_after_a_rollback_the_transaction_goes_on(server: Server, driver: Driver) -> None:
    transaction = begin(driver, WRITE)
    transaction.query("insert $x isa before;").resolve()
    transaction.rollback()
    transaction.query("insert $x isa after;").resolve()
    transaction.commit()
    assert server.committed() == ["insert $x isa after;"]


def test_queries_that_nobody_waits_for_run_in_order_before_the_commit(server: Server, driver: Driver) -> None:
    texts = [f"insert $x isa t{number};" for number in range(200)]
    transaction = begin(driver, WRITE)
    promises = [transaction.query(text) for text in texts]
    transaction.commit()
    assert server.committed() == texts
    assert len(promises) == 200


def test_definitions_become_the_schema_once_they_are_committed(server: Server, driver: Driver) -> None:
    schema = driver.databases.get("mabos_x")
    assert schema.schema() == ""
    for text in ("define entity goal;", "define\n  entity plan;\n", "define entity goal;"):
        transaction = begin(driver, SCHEMA)
        answer = transaction.query(text).resolve()
        assert answer.is_ok()
        assert answer.query_type.is_schema()
        transaction.commit()
    with begin(driver, SCHEMA) as transaction:
        transaction.query("define entity lost;").resolve()
    assert schema.schema() == schema.type_schema() == "define\nentity goal;\nentity plan;\n"


def test_transactions_do_not_do_more_than_their_kind_allows(server: Server, driver: Driver) -> None:
    with begin(driver, READ) as transaction:
        refused = refusal(lambda: transaction.query("insert $x isa a;").resolve())
        assert refused == "[TSV9] Data modification queries require either write or schema transactions."
        assert transaction.is_open()
    transaction = begin(driver, WRITE)
    assert refusal(lambda: transaction.query("define entity a;").resolve()).startswith("[TSV8]")
    transaction.commit()
    assert refusal(begin(driver, READ).commit) == "[TSV2] Read transactions cannot be committed."
    assert refusal(begin(driver, READ).rollback).startswith("[TSV3]")
    assert server.committed() == []


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("match $x isa goal; fetch { 'n': $x.name };", "read"),
        ('match $x has name "please insert coin"; select $x;', "read"),
        ('match $x has name "say \\"put\\" here";', "read"),
        ('match $x has path "C:\\\\"; # then delete it', "read"),
        ("match $put isa put-option;", "read"),
        ("match $x isa goal;delete $x;", "write"),
        ('match $x has path "C:\\\\"; delete $x;', "write"),
        ("put $x isa goal;", "write"),
        ("redefine entity goal;", "schema"),
    ],
)
def test_a_query_is_known_by_its_words(query: str, kind: str) -> None:
    assert kind_of(query) == kind


# Answers


def test_unless_scripted_reads_find_nothing_and_writes_succeed(driver: Driver) -> None:
    with begin(driver, WRITE) as transaction:
        for text, kind in (("match $x isa a;", "is_read"), ("insert $x isa a;", "is_write")):
            answer = transaction.query(text).resolve()
            assert answer.is_concept_rows()
            assert getattr(answer.query_type, kind)()
            assert list(answer) == []


def test_rows_carry_every_kind_of_value(server: Server, driver: Driver) -> None:
    east = timezone(timedelta(hours=2))
    row = {
        "none": None,
        "flag": True,
        "count": -5,
        "most": 2**63 - 1,
        "share": 0.25,
        "price": Decimal("-1.25"),
        "name": 'é "quoted" 😀\n',
        "day": date(2026, 2, 24),
        "moment": datetime(1969, 12, 31, 23, 59, 59, 5000),
        "zoned": datetime(2026, 2, 24, 14, 30, tzinfo=east),
    }
    server.answer(lambda query: Rows(tuple(row), (tuple(row.values()),)))
    with begin(driver, READ) as transaction:
        [found] = transaction.query("match $x isa a;").resolve()
    assert list(found.column_names()) == list(row)
    values = {name: found.get(name) and found.get(name).get() for name in row}
    moment, zoned = values.pop("moment"), values.pop("zoned")
    assert values == {name: value for name, value in row.items() if name not in ("moment", "zoned")}
    assert str(moment) == "1969-12-31T23:59:59.005000000"
    assert str(zoned) == "2026-02-24T14:30:00.000000000+02:00"


def test_rows_carry_things_attributes_and_types(server: Server, driver: Driver) -> None:
    row = (
        Thing("goal", b"\x1e\x01"),
        Thing("owns", b"\x1f", True),
        Attribute("uid", "main/G-1"),
        Type("role", "a:b"),
    )
    server.answer(lambda query: Rows(("g", "o", "u", "r"), (row,)))
    with begin(driver, READ) as transaction:
        [found] = transaction.query("match $x isa a;").resolve()
    goal, owns, uid, role = found.concepts()
    assert goal.is_entity()
    assert (goal.get_iid(), goal.get_type().get_label()) == ("0x1e01", "goal")
    assert owns.is_relation()
    assert uid.is_attribute()
    assert (uid.get_value(), uid.get_type().get_label(), uid.get_type().try_get_value_type()) == (
        "main/G-1",
        "uid",
        "string",
    )
    assert role.is_role_type()
    assert role.get_label() == "a:b"


@pytest.mark.parametrize("count", [1, 50, 51, 234])
@pytest.mark.parametrize("prefetch", [None, 1, 500])
def test_many_rows_come_in_order_however_many_at_once(
    server: Server, driver: Driver, count: int, prefetch: int | None
) -> None:
    server.answer(lambda query: Rows(("n",), tuple((number,) for number in range(count))))
    options = QueryOptions(prefetch_size=prefetch)
    with begin(driver, READ) as transaction:
        rows = transaction.query("match $x isa a;", options).resolve()
        assert [row.get("n").get_integer() for row in rows] == list(range(count))


def test_documents_are_json(server: Server, driver: Driver) -> None:
    document = {
        "uid": Attribute("uid", "é"),
        "n": 1,
        "list": [1.5, None, "x", []],
        "deep": {"yes": True, "none": {}},
    }
    server.answer(lambda query: Documents((document,) * 60))
    with begin(driver, READ) as transaction:
        answer = transaction.query("match $x isa a; fetch { 'uid': $x.uid };").resolve()
        assert answer.is_concept_documents()
        assert list(answer) == [{**document, "uid": "é"}] * 60


def test_the_rows_that_a_query_is_given_arrive(server: Server, driver: Driver) -> None:
    if "given_rows" not in signature(Transaction.query).parameters:
        pytest.skip("drivers before 3.12 give no rows to a query")
    given = {"n": 'a "b"', "i": -28, "d": 0.5, "yes": True, "no": None}
    with begin(driver, WRITE) as transaction:
        transaction.query("given $n: string; insert $x isa a;", given_rows=[given, {"n": "c"}]).resolve()
    first, second = server.queries[0].given
    assert first == given
    assert second == {"n": "c", "i": None, "d": None, "yes": None, "no": None}


def test_an_error_of_a_read_leaves_the_transaction_open(server: Server, driver: Driver) -> None:
    server.answer(lambda query: Failure("TQL3", "There is\nno such thing.") if "bad" in query else None)
    with begin(driver, READ) as transaction:
        assert refusal(lambda: transaction.query("match bad").resolve()) == "[TQL3] There is\nno such thing."
        assert transaction.is_open()
        assert list(transaction.query("match good").resolve()) == []


def test_an_error_of_a_write_ends_the_transaction(server: Server, driver: Driver) -> None:
    server.answer(lambda query: Failure("CNT9", "Key 'uid' is taken.") if "bad" in query else None)
    transaction = begin(driver, WRITE)
    transaction.query("insert $x isa good;").resolve()
    promise = transaction.query("insert $x isa bad;")  # nothing is raised until somebody looks
    assert refusal(promise.resolve) == "[CNT9] Key 'uid' is taken."
    assert not transaction.is_open()
    assert refusal(transaction.commit) == "[CNT9] Key 'uid' is taken."
    assert server.committed() == []
