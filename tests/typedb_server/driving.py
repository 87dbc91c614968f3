"""The official driver, with the limits that keep a test from waiting for ever."""

from collections.abc import Callable
from typing import Any

import pytest
from typedb.driver import (
    Credentials,
    Driver,
    DriverOptions,
    DriverTlsConfig,
    Transaction,
    TransactionOptions,
    TransactionType,
    TypeDB,
    TypeDBDriverException,
)

READ, WRITE, SCHEMA = TransactionType
BRIEF = 100  # milliseconds, for what is to fail by its limit

_MILLIS = 5_000  # longer than anything takes that is to succeed


def open_driver(address: str, password: str = "password", millis: int = _MILLIS) -> Driver:
    """A driver that gives a call so long. Without retries it takes that once, not twice with two seconds between."""
    tls = DriverTlsConfig.disabled()
    options = DriverOptions(tls, request_timeout_millis=millis, primary_failover_retries=0)
    return TypeDB.driver(address, Credentials("admin", password), options)


def begin(driver: Driver, kind: TransactionType, millis: int = _MILLIS) -> Transaction:
    """A transaction that the server closes after so long."""
    return driver.transaction("mabos_x", kind, TransactionOptions(transaction_timeout_millis=millis))


def refusal(action: Callable[[], Any]) -> str:
    """The text with which the driver refuses."""
    with pytest.raises(TypeDBDriverException) as caught:
        action()
    return str(caught.value).strip()
