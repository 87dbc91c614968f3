"""What tests of doors share."""

from pathlib import Path

import pytest
from commands.desk import Desk

from serve.agent_host import Host


@pytest.fixture
def host(quick: Path, still_world: None, monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setenv("MABOS_HOOK_TIME", "30")
    desk = Desk(quick / "w")
    (desk.root / ".mabos").mkdir(exist_ok=True)
    return Host(desk, monkeypatch)
