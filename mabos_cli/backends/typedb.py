"""A TypeDB 3 server, which may be absent, silent or slow. The only importer of its driver.

Nothing here waits longer than its limit: every call runs in a thread of its own, and one that does not come back in time
is left behind. The driver has limits too, but none for queries and commits inside a transaction.
"""

import json
import math
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import one_line
from mabos_cli.errors import Unavailable

Result = TypeVar("Result")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_PORT = 1729
_LONGEST_ERROR = 300
_FAREWELL = 0.5  # seconds
_AT_ONCE = 50  # queries
# What the server itself says starts with a code; what the driver says about the connection has a code of its own, or none.
_SERVER_ERROR = re.compile(r"\s*\[(?!CXN)([A-Z]{2,5}\d+)\]")
_ASIDE = re.compile(r"Details: |\[CXN\d+\] Connection Error: ")
_BAD_LOGIN = "[CXN16]"
_CONTENDED = "isolation conflict"
_TRIES = 3


class Unreachable(Unavailable):
    """The server is not there, does not answer in time, or went away: to be tried again later."""


class TimedOut(Unreachable):
    """The answer did not come in time, and a thread still waits for it."""

    def __init__(self, message: str, hint: str, thread: threading.Thread) -> None:
        super().__init__(message, hint)
        self._thread = thread

    def see_off(self) -> None:
        """Waits a moment for the thread, which was let go. One that comes back from the driver while the interpreter is being
        taken down would end the process with an abort."""
        self._thread.join(_FAREWELL)


class Refused(Unavailable):
    """The server refused: the same again would be refused again. The code is the server's, if it gave one."""

    def __init__(self, message: str, hint: str = "", server_code: str = "") -> None:
        super().__init__(message, hint)
        self.server_code = server_code


class Contended(Unavailable):
    """Somebody else wrote the same at the same time, such as a key: what was refused may well be taken later."""


class Place(NamedTuple):
    """Where a server is, how to get in, and how long to wait for it."""

    address: str
    database: str
    user: str = "admin"
    tls: bool = False
    tls_ca: str = ""
    connect_timeout: float = 2.0
    timeout: float = 10.0


def parse_address(text: str) -> tuple[str, int]:
    """Returns host and port of an address; BadValue when it is none.

    >>> parse_address("localhost:1730"), parse_address("db.example.com"), parse_address("[::1]:1729")
    (('localhost', 1730), ('db.example.com', 1729), ('::1', 1729))
    """
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.%\w]+)\]|([^\s:/@\[\]]+))(?::(\d{1,5}))?", text.strip())
    port = int(match[3] or _PORT) if match else 0
    if not match or not 0 < port < 65_536:
        shown = re.sub(r"^.*@", "...@", text, flags=re.DOTALL)  # before an @ people write passwords
        raise BadValue(f"typedb.address {shown[:60]!r} is not an address", "host:port, as in localhost:1729")
    return match[1] or match[2], port


def within(seconds: float, work: Callable[[], Result], what: str, limit: float = 0.0) -> Result:
    """Returns the result of `work`, or raises Hung when it takes longer. A thread that hangs ends with the process. `limit` is the
    configured time, where only a part of it is left."""
    results: list[Result] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(work())
        except (RuntimeError, OSError, Unavailable) as error:
            errors.append(error)

    thread = threading.Thread(target=run, name=f"typedb {what}", daemon=True)
    thread.start()
    thread.join(max(0.0, seconds))
    if errors:
        raise errors[0]
    if not results:
        if thread.is_alive():
            message = f"TypeDB did not answer within {limit or seconds:g} s ({what})"
            raise TimedOut(message, "is the server well?", thread)
        raise RuntimeError(f"the thread of typedb {what} came to no end")  # it has said why on standard error
    return results[0]


def knock(place: Place) -> None:
    """Comes back when somebody listens at the address, without loading the driver; Unreachable otherwise."""
    import socket  # a fifth of what a whole small command takes to start

    host, port = parse_address(place.address)

    def connect() -> bool:
        try:
            socket.create_connection((host, port), place.connect_timeout).close()
        except UnicodeError as error:  # a name that no server can have
            raise OSError(str(error)) from None
        return True

    try:
        within(place.connect_timeout, connect, "connecting")
    except OSError as error:
        reason = error.strerror or str(error)
        raise Unreachable(f"no TypeDB at {place.address}: {reason}", "is the server running?") from None


def open_session(place: Place, password: str | None) -> "Session":
    """Returns a connection to the server. Unreachable or Refused; Unavailable when the driver or the password is missing.

    The limit holds for all of it; but where loading the driver takes long, the server still gets half of it to answer.
    """
    start = time.monotonic()
    knock(place)
    if not password:
        raise Unavailable("TypeDB needs a password", "set MABOS_TYPEDB_PASSWORD")
    host, port = parse_address(place.address)
    if not place.tls and host not in _LOOPBACK:
        hint = "set typedb.tls, or use a server on this machine"
        raise Unavailable(f"the password would go to {host} unencrypted", hint)
    library = _library()
    left = max(place.connect_timeout - (time.monotonic() - start), place.connect_timeout / 2)
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    # Logging in cannot be broken off. The driver gives up by itself: long after this process is gone, or else just now.
    is_patient = place.timeout > left + 2 * _FAREWELL
    request = _millis(place.timeout if is_patient else left)

    def connect() -> Any:
        if place.tls_ca and place.tls and not os.path.isfile(place.tls_ca):
            raise Unavailable(f"no file {place.tls_ca}", "typedb.tls_ca names the certificates to trust")
        config, ca = library.DriverTlsConfig, place.tls_ca
        native = (
            config.enabled_with_root_ca(ca)
            if place.tls and ca
            else config.enabled_with_native_root_ca()
            if place.tls
            else None
        )
        # No retries: who waits for us is told at once, and may ask again.
        options = library.DriverOptions(
            native or config.disabled(), primary_failover_retries=0, request_timeout_millis=request
        )
        return library.TypeDB.driver(address, library.Credentials(place.user, password), options)

    try:
        call = _explained(library, place, connect)
        return Session(place, library, within(left, call, "logging in", place.connect_timeout))
    except TimedOut as error:
        if not is_patient:
            error.see_off()
        raise


def _library() -> Any:
    try:
        import typedb.driver as library
    except ImportError:
        raise Unavailable("TypeDB needs typedb-driver", "pip install 'mabos-cli[typedb]'") from None
    return library


def _millis(seconds: float) -> int:
    return max(1, round(seconds * 1000))


def _explained(library: Any, place: Place, work: Callable[[], Result]) -> Callable[[], Result]:
    """Returns work with the driver, for a thread of its own, that turns what the driver raises into one clear line."""

    def explained() -> Result:
        try:
            return work()
        except (library.TypeDBDriverException, library.TypeDBDriverExceptionNative) as error:
            raise _explain(str(error), place) from None
        except (TypeError, ValueError) as error:  # what cannot be handed to the driver, such as half a character
            raise Refused(f"the TypeDB driver refused: {one_line(str(error), _LONGEST_ERROR)}") from None

    return explained


def _explain(text: str, place: Place) -> Unavailable:
    """Returns the error for what the driver says."""
    reason = one_line(_ASIDE.split(text)[-1], _LONGEST_ERROR).strip(" '")
    if _BAD_LOGIN in text:
        login = f"TypeDB at {place.address} does not let {place.user!r} in"
        return Refused(login, "check typedb.user and MABOS_TYPEDB_PASSWORD")
    refusal = _SERVER_ERROR.match(text)
    if refusal and _CONTENDED in text:
        return Contended(f"TypeDB is busy with the same: {reason}", "try again")
    if refusal:
        return Refused(f"TypeDB refused: {reason}", server_code=refusal[1])
    from importlib import metadata

    tls, driver = "on" if place.tls else "off", metadata.version("typedb-driver")
    hint = f"is it well, and of the driver's version, {driver}? typedb.tls is {tls}"
    return Unreachable(f"lost TypeDB at {place.address}: {reason}", hint)


class Session:
    """An open connection. After Unreachable it is over."""

    def __init__(self, place: Place, library: Any, driver: Any) -> None:
        self.place = place
        self._library = library
        self._driver = driver
        self._ends = math.inf

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection. Whatever still waits in it is let go."""
        with suppress(Unreachable):
            within(_FAREWELL, lambda: self._driver.close() or True, "closing")

    def end_in_time(self) -> None:
        """From now on all that is asked may together take no longer than one transaction."""
        self._ends = time.monotonic() + self.place.timeout

    def version(self) -> str:
        """Returns what the server calls itself."""
        return self._run("asking its version", lambda: str(self._driver.server_version()))

    def databases(self) -> list[str]:
        """Returns the names of the databases on the server."""
        return self._run("listing databases", lambda: sorted(each.name for each in self._driver.databases.all()))

    def create_database(self) -> bool:
        """Makes the database of this place; whether it was missing."""

        def create() -> bool:
            if self._driver.databases.contains(self.place.database):
                return False
            self._driver.databases.create(self.place.database)
            return True

        return self._run("making a database", create)

    def schema(self) -> str | None:
        """Returns the schema of the database as TypeQL, or None when there is no such database."""

        def read() -> str | None:
            databases = self._driver.databases
            if not databases.contains(self.place.database):
                return None
            text: str = databases.get(self.place.database).schema()
            return text

        return self._run("reading the schema", read)

    def change_schema(self, queries: Sequence[str]) -> None:
        """Runs definitions in one transaction: all of them, or none."""
        self._commit("SCHEMA", queries, at_once=1)

    def write(self, queries: Sequence[str]) -> None:
        """Runs writing queries in one transaction: all of them, or none."""
        self._commit("WRITE", queries, at_once=_AT_ONCE)

    def _commit(self, kind: str, queries: Sequence[str], at_once: int) -> bool:
        """True when it is done. What somebody else interferes with is tried again: it is done once or not at all."""

        def work() -> bool:
            with self._transaction(kind) as transaction:
                for at in range(0, len(queries), at_once):
                    # Some are on their way before the first answer is waited for; the server runs them one after the other.
                    for answer in [transaction.query(query) for query in queries[at : at + at_once]]:
                        answer.resolve()
                transaction.commit()
            return True

        for _ in range(_TRIES - 1):
            with suppress(Contended):
                return self._run("writing", work)
        return self._run("writing", work)

    def read(self, query: str, room: int | None = None) -> tuple[list[Any], bool]:
        """Returns the rows or documents that a query finds, as JSON values, and whether that is all: with room, no more are
        taken than fill so many bytes."""

        def work() -> tuple[list[Any], bool]:
            with self._transaction("READ") as transaction:
                return take_values(transaction.query(query).resolve(), room)

        return self._run("reading", work)

    def _transaction(self, kind: str) -> Any:
        limit = _millis(self.place.timeout)
        options = self._library.TransactionOptions(
            transaction_timeout_millis=limit, schema_lock_acquire_timeout_millis=limit
        )
        return self._driver.transaction(self.place.database, getattr(self._library.TransactionType, kind), options)

    def _run(self, what: str, work: Callable[[], Result]) -> Result:
        left = min(self.place.timeout, self._ends - time.monotonic())
        try:
            if left <= 0:
                raise Unreachable(f"TypeDB takes longer than {self.place.timeout:g} s for all this")
            return within(left, _explained(self._library, self.place, work), what, self.place.timeout)
        except Unreachable as error:
            self.close()
            if isinstance(error, TimedOut):
                error.see_off()
            raise


def take_values(answer: Any, room: int | None) -> tuple[list[Any], bool]:
    """Returns the rows or documents of an answer, and whether that is all: with room, no more than fill so many bytes."""
    found: list[Any] = []
    for value in _values(answer):
        if room is not None:
            room -= len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")) + 1
            if room < 0:
                return found, False
        found.append(value)
    return found, True


def _values(answer: Any) -> Iterator[Any]:
    """Yields rows and documents of an answer as JSON values."""
    if answer.is_concept_documents():
        yield from map(_plain, answer.as_concept_documents())
    elif answer.is_concept_rows():
        for row in answer.as_concept_rows():
            yield {name: _concept(row.get(name)) for name in row.column_names()}


def _concept(concept: Any) -> Any:
    """Returns a value as it is, an attribute by its type and value, everything else by its type and internal id."""
    if concept is None:
        return None
    if concept.is_value():
        return _plain(concept.try_get_value())
    label = concept.try_get_label()
    if concept.is_attribute():
        return {"type": label, "value": _plain(concept.try_get_value())}
    iid = concept.try_get_iid()
    return {"type": label} | ({"iid": iid} if iid else {})


def _plain(value: Any) -> Any:
    """Returns a value in JSON. Moments, decimals and durations are texts."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
