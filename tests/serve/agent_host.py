"""A host of agents for tests of hooks."""

import io
import json
import os
import sys
from typing import Any

import pytest
from commands.desk import Desk

from mabos_cli.serve import hook


class Host:
    """A host that calls hooks about a workspace, in this process."""

    def __init__(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        self.desk, self._patch = desk, monkeypatch

    def send(self, data: bytes, *words: str) -> bytes:
        """What a hook prints for a payload."""
        out = io.TextIOWrapper(io.BytesIO(), "utf-8")
        with self._patch.context() as patch:
            patch.setattr(hook, "read_payload", lambda: data)
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "unraisablehook", sys.unraisablehook)  # which a hook replaces
            assert hook.main(["hook", *words]) == 0
        return out.buffer.getvalue()

    def call(self, event: str, host: str = "claude", **payload: Any) -> dict[str, Any]:
        words = (event, "--host", host, "-w", os.fspath(self.desk.root))
        said = self.send(json.dumps(payload).encode(), *words)
        return json.loads(said) if said else {}

    def context(self, event: str, **payload: Any) -> str:
        told = self.call(event, **payload)
        return told["hookSpecificOutput"]["additionalContext"] if told else ""

    @property
    def spooled(self) -> list[dict[str, Any]]:
        path = self.desk.root / ".mabos" / "queue" / "main.hooks.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def log(self) -> str:
        path = self.desk.root / ".mabos" / "hook.log"
        return path.read_text() if path.exists() else ""
