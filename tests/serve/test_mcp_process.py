"""A `mabos mcp` process and its pipes: what it survives, how it ends, and that it stays as small as it was."""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from pickle import dump
from tempfile import TemporaryFile
from typing import Any

import pytest
from commands.desk import Desk
from warm import Request, become_program

from mabos_cli.app import find_commands
from mabos_cli.commands.call import Answer, Call
from mabos_cli.serve import calling
from mabos_cli.serve.mcp import TOOLS
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.lock import Lock
from serve.speaker import environment

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
STORE = {"content": "A heron stood there", "type": "event", "importance": 0.5}


class Wire:
    """A server spoken to line by line. It is a fork of this process, which has the SDK imported: a start costs a second."""

    def __init__(self, root: Path) -> None:
        ours, theirs = zip(
            *(pipe if n else pipe[::-1] for n, pipe in enumerate(os.pipe() for _ in range(3))), strict=True
        )
        request = Request(("-w", os.fspath(root), "mcp"), environment(root), os.fspath(root))
        with TemporaryFile() as asked:
            dump(tuple(request), asked)
            asked.seek(0)
            self.pid = os.fork()
            if self.pid == 0:
                for end in ours:
                    os.close(end)
                become_program(asked.fileno(), list(theirs))
        for end in theirs:
            os.close(end)
        self.stdin, self.stdout, self.stderr = map(os.fdopen, ours, ("wb", "rb", "rb"))
        self.code: int | None = None
        self.send(1, "initialize", HELLO)
        assert self.receive()["result"]["serverInfo"]["name"] == "mabos"
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def write(self, message: dict[str, Any] | bytes) -> None:
        self.stdin.write((message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n")
        self.stdin.flush()

    def send(self, number: int, method: str, params: dict[str, Any] | None = None) -> None:
        self.write({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})

    def call(self, number: int, tool: str, **arguments: Any) -> None:
        self.send(number, "tools/call", {"name": tool, "arguments": arguments})

    def receive(self) -> dict[str, Any]:
        return json.loads(self.stdout.readline())

    def has_ended(self, patience: float) -> bool:
        """Whether it ends by itself in so many seconds."""
        until = time.monotonic() + patience
        while self.code is None and time.monotonic() < until:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
            else:
                time.sleep(0.02)
        return self.code is not None

    def figures(self) -> tuple[int, float]:
        """Open files, and memory in MiB."""
        folder = Path(f"/proc/{self.pid}")
        pages = int((folder / "statm").read_text().split()[1])
        return len(os.listdir(folder / "fd")), pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def close(self) -> None:
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            self.has_ended(10)
        for end in (self.stdin, self.stdout, self.stderr):
            with suppress(BrokenPipeError):
                end.close()


@pytest.fixture
def desk(quick: Path) -> Desk:
    return Desk(quick / "ws")


@pytest.fixture
def wire(desk: Desk) -> Iterator[Wire]:
    found = Wire(desk.root)
    yield found
    found.close()


@pytest.fixture
def busy(desk: Desk) -> Lock:
    """The agent's lock, held: whoever writes waits until the test gives it back."""
    lock = Lock(WorkspacePaths(desk.root).agent("main").lock, desk.root)
    lock.acquire(1)
    return lock


def stored(desk: Desk) -> bool:
    path = desk.folder() / "memory-store.json"
    return path.exists() and "A heron stood there" in path.read_text()


def test_what_cannot_be_read_ends_nothing(wire: Wire) -> None:
    wire.write(b"this is no JSON")
    wire.write(b'{"jsonrpc": "2.0", "id": 2}')
    wire.write(b"\xff\xfe")
    wire.send(3, "tools/call", {"name": "memory_status", "arguments": [1]})
    assert wire.receive()["error"]["code"] == -32602
    wire.write(
        b'{"jsonrpc": "2.0", "id": 4, "method": "tools/call",'
        b' "params": {"name": "memory_recall", "arguments": {"query": "half \\ud83d of it"}}}'
    )
    answer = wire.receive()
    assert answer["id"] == 4 and not answer["result"]["isError"]
    for params in (b"[1]", b"7", b'{"requestId": {"a": 1}}', b"{}"):
        wire.write(b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": %s}' % params)
    call = (
        b'{"jsonrpc": "2.0", "id": 5.5, "method": "tools/call", "params": {"name": "memory_recall", "arguments": {%s}}}'
    )
    wire.write(call % b'"query": "\xff"')
    answer = wire.receive()
    assert answer["id"] == 5.5 and not answer["result"]["isError"]
    for number in (b"NaN", b"-Infinity", b"1e999"):
        wire.write(call % b'"min_importance": %s' % number)
        assert "expected a number, got" in wire.receive()["result"]["content"][0]["text"]
    ping = b'{"jsonrpc": "2.0", "id": %d, "method": "ping"}'
    wire.write(b"[%s, 1, %s]" % (ping % 6, ping % 7))
    assert [wire.receive()["id"] for _ in range(2)] == [6, 7]
    wire.stdin.close()
    assert wire.has_ended(30) and wire.code == 0
    assert wire.stdout.read() + wire.stderr.read() == b""


def test_pings_are_answered_while_a_command_waits(wire: Wire, desk: Desk, busy: Lock) -> None:
    wire.call(2, "memory_store_item", **STORE)
    wire.call(3, "memory_status")
    wire.send(4, "ping")
    assert wire.receive() == {"jsonrpc": "2.0", "id": 4, "result": {}}
    assert not stored(desk)
    busy.release()
    assert [wire.receive()["id"] for _ in "12"] == [2, 3]
    assert stored(desk)


def test_a_host_that_leaves_in_the_middle_of_a_call(wire: Wire, desk: Desk, busy: Lock) -> None:
    wire.call(2, "memory_store_item", **STORE)
    wire.send(3, "ping")
    wire.receive()
    wire.stdin.close()
    busy.release()
    assert wire.has_ended(30) and wire.code == 0
    assert wire.stderr.read() == b""
    assert stored(desk)
    assert desk.run("doctor", "--check").code == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_waits_for_the_command(wire: Wire, desk: Desk, busy: Lock, number: int, code: int) -> None:
    wire.call(2, "memory_store_item", **STORE)
    wire.send(3, "ping")
    wire.receive()
    os.kill(wire.pid, number)
    assert not wire.has_ended(0.3)
    busy.release()
    assert wire.has_ended(30) and wire.code == code
    assert wire.stderr.read() == b""
    assert stored(desk)


def test_a_host_that_no_longer_reads(wire: Wire) -> None:
    wire.stdout.close()
    wire.send(2, "ping")
    wire.stdin.close()
    assert wire.has_ended(30) and wire.code == 0
    assert wire.stderr.read() == b""


def test_many_calls_leave_nothing_behind(wire: Wire) -> None:
    """The benchmark measures a thousand calls of ten kinds; here a few show that nothing grows with each."""

    def ask(first: int, last: int) -> tuple[int, float]:
        for number in range(first, last):
            wire.call(number, "memory_recall", query="heron and pump", recursive_depth=1)
            assert not wire.receive()["result"]["isError"]
        return wire.figures()

    files, memory = ask(10, 60)
    later = ask(60, 160)
    assert later[0] == files
    assert later[1] < memory + 8


def test_a_bug_in_a_command_is_told_by_its_type(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(call: Call, words: list[str]) -> int:
        raise KeyError("AKIAIOSFODNN7EXAMPLQ")

    call = Call(workspace=os.fspath(desk.root), run=broken)
    answer = calling.call_tool(call.with_changes(find_commands=find_commands), TOOLS["memory_status"], {})
    assert answer.is_error and answer.text.startswith("internal: KeyError: ")
    assert "AKIA" not in answer.text and "\n" not in answer.text
    assert "Traceback" in capsys.readouterr().err


def test_it_starts_without_the_sdk(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mcp", "jsonschema", "anyio", "pydantic"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "mabos_cli.serve.mcp", raising=False)
    assert desk.run("mcp", "--list", "--json").data["tools"][0]["name"] == "memory_recall"


def test_the_revision_that_carries_its_version(wire: Wire) -> None:
    def ask(number: int, method: str, version: str, **params: Any) -> dict[str, Any]:
        wire.send(number, method, params | {"_meta": {"io.modelcontextprotocol/protocolVersion": version}})
        return wire.receive()

    found = ask(2, "server/discover", "2026-07-28")["result"]
    assert found["supportedVersions"] == ["2026-07-28"] and found["resultType"] == "complete"
    assert found["ttlMs"] == 0 and found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "mabos"
    assert ask(3, "tools/call", "2026-07-28", name="memory_status")["result"]["resultType"] == "complete"
    assert ask(4, "tools/list", "2031-01-01")["error"]["data"] == {
        "supported": ["2026-07-28"],
        "requested": "2031-01-01",
    }
    wire.send(5, "tools/list")
    assert "resultType" not in wire.receive()["result"]


def test_a_call_that_was_cancelled_is_not_made(wire: Wire, desk: Desk, busy: Lock) -> None:
    wire.call(2, "memory_store_item", content="First", type="event")
    wire.call(3, "memory_store_item", **STORE)
    wire.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})
    wire.send(4, "ping")
    assert wire.receive()["id"] == 4
    busy.release()
    assert wire.receive()["id"] == 2
    wire.call(5, "memory_status")
    assert wire.receive()["id"] == 5 and not stored(desk)


@pytest.mark.parametrize("room", [1000, 1500, 8000])
def test_an_answer_fits_whatever_is_in_it(room: int) -> None:
    """Many names, long warnings, characters that are long in JSON: what comes out is within the size, and says that it was cut."""
    data = {f"rows_{number}": ['"\n' * 40] * 50 for number in range(30)} | {"id": "M-1"}
    answer = calling._bounded(Answer(data, ["x" * 70] * 900, ["w" * 3000] * 20), room)
    assert answer.data["id"] == "M-1" and answer.data["truncated"]
    assert answer.data["warnings"][0].startswith("cut to mcp.max_tokens")
    assert len(json.dumps(answer.data, ensure_ascii=False)) <= room
    assert len(answer.text) <= room and answer.text.endswith("more did not fit)")
