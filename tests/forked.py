"""The program in a child of its own without paying for start-up, and able to die on cue (see faults.py).

The child is a fork of a small process that has everything imported (see warm.py): no command leaves anything behind for
the next, and nothing of the tests is there.
"""

import atexit
import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import dump, load
from tempfile import TemporaryFile
from typing import Any, BinaryIO, NamedTuple

from faults import Fault, places
from warm import PROGRAM, START, UNSETTLED, Request, become_program

NOBODY = 65534  # the number of a user who owns nothing

__all__ = [
    "PROGRAM",
    "START",
    "Ended",
    "Fault",
    "Outcome",
    "execute",
    "places",
    "run",
    "run_here",
    "start",
    "tree",
]

_PATIENCE = 60  # seconds


class Outcome(NamedTuple):
    """What a child left: exit code (negative: killed by that signal), output, and how many changing calls it made."""

    code: int
    stdout: str
    stderr: str
    calls: int


class Ended(NamedTuple):
    """The same before it is read as text."""

    code: int
    stdout: bytes
    stderr: bytes
    calls: int


def run(
    *words: str, fault: Fault | None = None, stdin: str = "", folder: Path | None = None, **variables: str
) -> Outcome:
    """One command line in a child. Environment variables by keyword."""
    request = _watched(words, fault, variables)
    if folder is not None:
        request = request._replace(folder=os.fspath(folder))
    return _as_text(_in_warm_child(request, stdin.encode("utf-8")))


def run_here(*words: str, fault: Fault | None = None, **variables: str) -> Outcome:
    """The same in a fork of this very process, with all that a test has patched. Forking that much takes its time."""
    return _as_text(_in_own_child(_watched(words, fault, variables)))


def execute(
    words: tuple[str, ...],
    environment: dict[str, str],
    folder: Path,
    stdin: bytes = b"",
    program: str = PROGRAM,
) -> Ended:
    """One command line in a child that knows nothing but this environment, as in subprocess.run."""
    # A start takes longer than files need to count as settled. Who comes sooner finds them in flux, and says so.
    time.sleep(1.2 * UNSETTLED / 1e9)
    return _in_warm_child(Request(words, environment, os.fspath(folder)), stdin, program)


def start(words: tuple[str, ...], environment: dict[str, str], folder: Path, stdin: bytes = b"") -> Ended:
    """The same by a start of the program, for who wants to see it start."""
    done = subprocess.run(
        [PROGRAM, *words],
        cwd=folder,
        env=environment,
        input=stdin,
        capture_output=True,
        timeout=_PATIENCE,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr, 0)


def _watched(words: tuple[str, ...], fault: Fault | None, variables: dict[str, str]) -> Request:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MABOS_")}
    return Request(words, kept | variables, os.getcwd(), True, fault)


def _as_text(ended: Ended) -> Outcome:
    out, err = (data.decode("utf-8", "replace") for data in (ended.stdout, ended.stderr))
    return Outcome(ended.code, out, err, ended.calls)


class _Files(NamedTuple):
    """A request and the streams of a command, as files that another process can be given."""

    request: BinaryIO
    stdin: BinaryIO
    stdout: BinaryIO
    stderr: BinaryIO

    def numbers(self) -> list[int]:
        return [file.fileno() for file in self]

    def ended(self, status: int) -> Ended:
        for file in self:
            file.seek(0)
        load(self.request)
        calls = int(self.request.read() or 0)
        return Ended(os.waitstatus_to_exitcode(status), self.stdout.read(), self.stderr.read(), calls)


@contextmanager
def _files(request: Request, stdin: bytes) -> Iterator[_Files]:
    with TemporaryFile() as asked, TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
        dump(tuple(request), asked)
        given.write(stdin)
        for file in (asked, given):
            file.seek(0)
        yield _Files(asked, given, out, err)


def _in_own_child(request: Request) -> Ended:
    with _files(request, b"") as files:
        pid = os.fork()
        if pid == 0:
            become_program(files.request.fileno(), files.numbers()[1:])
        return files.ended(os.waitpid(pid, 0)[1])


def _in_warm_child(request: Request, stdin: bytes = b"", program: str = PROGRAM) -> Ended:
    with _files(request, stdin) as files, _warm(request.environment, program).line() as line:
        socket.send_fds(line, [b"+"], files.numbers())
        pid = _number(line)
        try:
            return files.ended(_number(line))
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            raise


def _number(line: socket.socket) -> int:
    data = line.recv(4, socket.MSG_WAITALL)
    assert len(data) == 4, "the warm process is gone"
    return int.from_bytes(data)


class _Warm:
    """A warm process, and the lines to it that nobody is using."""

    def __init__(self, environment: dict[str, str], program: str) -> None:
        self._control, theirs = socket.socketpair()
        self._idle: list[socket.socket] = []
        with theirs:
            self._process = subprocess.Popen(
                [Path(program).with_name("python"), Path(__file__).with_name("warm.py")],
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                env=environment | {"MABOS": program},
                start_new_session=True,  # Ctrl-C is for the tests; this process ends when they hang up
            )

    @contextmanager
    def line(self) -> Iterator[socket.socket]:
        """A line for one request at a time; one on which something went wrong is not used again."""
        try:
            line = self._idle.pop()
        except IndexError:
            line = self._new_line()
        try:
            yield line
        except BaseException:
            line.close()
            raise
        self._idle.append(line)

    def _new_line(self) -> socket.socket:
        line, theirs = socket.socketpair()
        line.settimeout(_PATIENCE)
        with theirs:
            socket.send_fds(self._control, [b"+"], [theirs.fileno()])
        return line

    def stop(self) -> None:
        for end in (*self._idle, self._control):
            end.close()
        self._process.wait()


_started: dict[tuple[str, frozenset[tuple[str, str]]], _Warm] = {}
_starting = threading.Lock()


def _warm(environment: dict[str, str], program: str) -> _Warm:
    """The warm process whose interpreter was started with these variables; it is started when first asked for."""
    key = program, frozenset((name, value) for name, value in environment.items() if name.startswith(START))
    with _starting:
        if key not in _started:
            _started[key] = _Warm(environment, program)
            atexit.register(_started[key].stop)
        return _started[key]


def tree(root: Path) -> dict[str, bytes]:
    """Every file of a workspace with its bytes; what is derived and local is left out."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".mabos" not in path.relative_to(root).parts
    }


def as_nobody(call: Callable[[], Any]) -> Any:
    """What a call gives that is made by somebody who owns nothing here; it must be JSON. Forked: the interpreter itself may be out of
    their reach. Only root can become somebody else."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.chdir("/")
            os.write(writing, json.dumps(call()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        text = answer.read()
    os.waitpid(pid, 0)
    return json.loads(text)
