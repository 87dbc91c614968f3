"""A workspace in which one setting is tried: the table of trials that test_settings_effect.py goes through."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from commands.desk import Desk, Said, note

from mabos_cli.config import BY_NAME
from mabos_cli.core.memory.item import MemoryItem

SECONDS = {"d": 86_400, "h": 3_600}


class Trial(Desk):
    """A desk whose mabos.yaml holds one setting, and what it needs beside it."""

    def __init__(self, root: Path, name: str, value: Any) -> None:
        super().__init__(root)
        self._settings = {} if value is None else {name: value}
        self.also()

    def also(self, **more: Any) -> None:
        """Settings that the tried one needs to show: recall__pool=1."""
        self._settings = {key.replace("__", "."): value for key, value in more.items()} | self._settings
        sections: dict[str, dict[str, Any]] = {}
        for name, value in self._settings.items():
            section, _, key = name.partition(".")
            sections.setdefault(section, {})[key] = value
        self.settle(json.dumps(sections))

    def ok(self, *words: str, **more: Any) -> dict[str, Any]:
        """What a command gives in JSON; it must work."""
        return self.run(*words, "--json", **more).data

    def store(self, text: str, *words: str) -> dict[str, Any]:
        return self.ok("store", text, *words)

    def recalled(self, *words: str) -> list[dict[str, Any]]:
        return self.ok("recall", *words)["results"]

    def texts(self, *words: str) -> list[str]:
        return [row["content"] for row in self.recalled(*words)]

    def files(self, pattern: str) -> list[str]:
        return sorted(path.name for path in self.folder().glob(pattern))

    def code(self, *words: str) -> int:
        said: Said = self.run(*words)
        return said.code


class Effect(NamedTuple):
    """A setting's other value, what is seen without and with it, and how to look. `base` is tried in place of a default that would
    take too long to wait for."""

    value: Any
    before: Any
    after: Any
    look: Callable[[Trial], Any]
    base: Any = None


EFFECTS: dict[str, Effect] = {}


def effect(name: str, value: Any, before: Any, after: Any, base: Any = None) -> Callable[[Callable], Callable]:
    """Adds the trial of a setting to the table."""
    assert name in BY_NAME and name not in EFFECTS, name

    def add(look: Callable[[Trial], Any]) -> Callable[[Trial], Any]:
        EFFECTS[name] = Effect(value, before, after, look, base)
        return look

    return add


def days_ago(days: float, number: int, text: str, **fields: Any) -> MemoryItem:
    """An item that was stored and last used so many days before now, which is 2026-02-24T14:30."""
    from datetime import UTC, datetime, timedelta

    moment = datetime(2026, 2, 24, 14, 30, tzinfo=UTC) - timedelta(days=days)
    at = moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return note(number, text, created_at=at, accessed_at=at, **fields)
