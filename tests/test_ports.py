"""Core calls only core and what it was handed through a port, a Protocol that core declares: seen by tracing commands as they run."""

import inspect
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from every_command import CALLS, NOW, QUICK, UNAVAILABLE, Place, furnish
from modules import module_names

import mabos_cli.core
from mabos_cli.app import main

PACKAGE = os.path.dirname(mabos_cli.core.__file__).removesuffix("core")
PURE = ("core", "reasoning", "formats", "errors.py")
# Commands that run others in processes of their own, or never end.
ELSEWHERE = ("demo", "mcp", "hook", "schedule", "typedb")


def declared_ports() -> dict[str, type]:
    """Every Protocol in core, by name."""
    found = {}
    for module in module_names(mabos_cli.core):
        for name, value in vars(import_module(module)).items():
            if inspect.isclass(value) and getattr(value, "_is_protocol", False) and value.__module__ == module:
                found[name] = value
    return found


def room_of(frame: FrameType | None) -> str:
    """The room that a frame's code stands in, empty outside of the package."""
    name = frame.f_code.co_filename if frame else ""
    return name.removeprefix(PACKAGE).partition(os.sep)[0] if name.startswith(PACKAGE) else ""


def is_through_a_port(frame: FrameType, ports: tuple[type, ...]) -> bool:
    """Whether a function is a method of something that is declared to be a port, and the port has that method."""
    kind = type(frame.f_locals.get("self"))
    return any(frame.f_code.co_name in methods_of(port) <= {*dir(kind)} for port in ports)


def methods_of(port: type) -> set[str]:
    """The methods that a port declares."""
    asked = {name for name, value in vars(port).items() if inspect.isfunction(value)}
    return asked - {"__init__", "__subclasshook__", "_no_init_or_replace_init"}


@contextmanager
def traced(ports: tuple[type, ...]) -> Iterator[set[str]]:
    """Collects calls from core to other rooms, while the block runs."""
    found: set[str] = set()

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        caller = frame.f_back
        if event != "call" or room_of(caller) not in ("core", "reasoning"):
            return
        room = room_of(frame)
        if room and room not in PURE and not is_through_a_port(frame, ports):
            places = [f"{f.f_code.co_filename.removeprefix(PACKAGE)}:{f.f_code.co_qualname}" for f in (caller, frame)]
            found.add(" -> ".join(places))

    sys.setprofile(watch)
    try:
        yield found
    finally:
        sys.setprofile(None)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    for name, value in {"MABOS_NOW": NOW, "HOME": str(tmp_path), **QUICK}.items():
        monkeypatch.setenv(name, value)
    return furnish(tmp_path / "furnished")


def test_core_reaches_out_through_ports_only(place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    ports = tuple(declared_ports().values())
    wrong: set[str] = set()
    ran = 0
    for name, words in CALLS.items():
        if name in UNAVAILABLE or name.startswith(ELSEWHERE):
            continue
        whose = () if {"-a", "--all"} & {*words} else ("-a", "main")
        with traced(ports) as found:
            ran += main(["-w", str(place.root), *whose, *map(place.fill, words)]) == 0
        wrong |= found
    assert ran > 100
    assert not wrong, "\n".join(sorted(wrong))


def test_the_architecture_page_lists_the_ports() -> None:
    page = (Path(__file__).parent.parent / "docs" / "architecture.md").read_text("utf-8")
    rows = page.partition("\n## Ports\n")[2].partition("\n## ")[0].split("\n")
    assert {row.split("`")[1] for row in rows if row.startswith("| `")} == {*declared_ports()}
