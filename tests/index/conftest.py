"""A lab for each test, in memory where there is a place for that: the disk is not what is tested here."""

import os
import shutil
from pathlib import Path

import pytest

from mabos_cli.services.search.agent_search import AgentIndex

from .lab import Lab
from .models import Hashed
from .world import fill

NOW = "2026-02-24T14:30:00Z"  # as in tests/conftest.py


@pytest.fixture(autouse=True)
def same_world(still_world: None) -> None:
    """Every test here runs in a world that stands still."""


@pytest.fixture
def lab(quick: Path) -> Lab:
    """A fresh workspace."""
    return Lab(quick / "ws")


def _filled(root: Path, **sizes: int) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MABOS_NOW", NOW)
        patch.setattr(os, "fsync", lambda fd: None)
        fill(Lab(root), **sizes)
    return root


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with memory of every kind, to be copied."""
    return _filled(tmp_path_factory.mktemp("filled") / "ws")


@pytest.fixture(scope="session")
def sprinkled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with less in it, to be copied."""
    return _filled(tmp_path_factory.mktemp("sprinkled") / "ws", items=18, pages=2)


@pytest.fixture
def busy(filled: Path, quick: Path) -> Lab:
    """A workspace with memory of every kind, not indexed yet."""
    shutil.copytree(filled, quick / "busy")
    return Lab(quick / "busy")


@pytest.fixture
def little(sprinkled: Path, quick: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A small workspace with memory of every kind and a model that costs no time."""
    model = Hashed()
    monkeypatch.setattr(AgentIndex, "_embedder", lambda self: model)
    shutil.copytree(sprinkled, quick / "little")
    return Lab(quick / "little")
