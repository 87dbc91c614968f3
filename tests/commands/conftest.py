"""A desk for each test, in memory where there is a place for that: the disk is not what is tested here."""

from pathlib import Path

import pytest

from .desk import Desk


@pytest.fixture(autouse=True)
def same_world(still_world: None) -> None:
    """Every test here runs in a world that stands still."""


@pytest.fixture
def desk(quick: Path) -> Desk:
    """A fresh workspace with agent main."""
    return Desk(quick / "ws")
