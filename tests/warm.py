"""A process that has all of mabos imported and forks for each command line; forked.py starts it and talks to it.

Standard input is a socket. With each byte comes the end of a line to one caller, which is served by a fork of its own, so
that callers do not wait for one another. On its line a caller sends a request in a file, and the three streams of the
command; the answer is the number of the process, and then how it ended.
"""

import gc
import os
import sys
import time
import traceback
from contextlib import suppress
from importlib import import_module
from pickle import load
from socket import recv_fds, socket
from typing import NamedTuple, NoReturn, TextIO

from faults import Disk, Fault
from modules import module_names

import mabos_cli
from mabos_cli.__main__ import run as main
from mabos_cli.app import COMMANDS
from mabos_cli.services.hierarchy import daily_logs
from mabos_cli.typer_app import load_command
from mabos_cli.workspace import sources

# What an interpreter reads only when it starts. A process that was started with other values cannot stand in.
START = ("PYTHON", "LC_", "LANG")
# MABOS names the program of another environment: then every command line is run there, by its Python.
PROGRAM = os.environ.get("MABOS") or os.path.join(os.path.dirname(sys.executable), "mabos")

# A file may change again with the same time within a tick of the clock that stamps it. mabos waits for the longest tick there
# is; Linux tells how long its own is (5 is CLOCK_REALTIME_COARSE), so that tests wait for less.
UNSETTLED = int(2e9 * time.clock_getres(5)) if sys.platform == "linux" else sources.UNSETTLED


class Request(NamedTuple):
    """A command line, and the world that it is run in."""

    words: tuple[str, ...]
    environment: dict[str, str]
    folder: str
    watched: bool = False  # count the calls that change something, and write the number behind the request
    fault: Fault | None = None


def become_program(request_file: int, streams: list[int]) -> NoReturn:
    """Ends this process, a fork, as mabos would have ended with that request."""
    code = 1
    try:
        with open(request_file, "rb", closefd=False) as file:
            request = Request(*load(file))
        _take_streams(streams)
        _take_environment(request.environment)
        os.chdir(request.folder)
        sys.argv = [PROGRAM, *request.words]
        if request.watched:
            disk = Disk(request.fault, request_file)
            disk.install()
            code = main()
            disk.report()
        else:
            os.close(request_file)
            code = main()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _take_streams(streams: list[int]) -> None:
    """Puts the given files where the standard streams are; they are read and written as at the start of this process."""
    for number, given in enumerate(streams):
        os.dup2(given, number)
        os.close(given)
    sys.stdin = sys.__stdin__ = _like(sys.__stdin__, 0, "r")
    sys.stdout = sys.__stdout__ = _like(sys.__stdout__, 1, "w")
    sys.stderr = sys.__stderr__ = _like(sys.__stderr__, 2, "w", buffering=1)


def _like(stream: TextIO, number: int, mode: str, buffering: int = -1) -> TextIO:
    return open(number, mode, buffering, stream.encoding, stream.errors, closefd=False)


def _take_environment(environment: dict[str, str]) -> None:
    for name in [name for name in os.environ if not name.startswith(START)]:
        del os.environ[name]
    os.environ.update({name: value for name, value in environment.items() if not name.startswith(START)})
    time.tzset()


def serve_line(line: socket) -> None:
    """Answers one caller until it hangs up."""
    while files := recv_fds(line, 1, 4)[1]:
        pid = os.fork()
        if pid == 0:
            line.close()
            become_program(files[0], files[1:])
        for file in files:
            os.close(file)
        line.sendall(pid.to_bytes(4))
        line.sendall(os.waitpid(pid, 0)[1].to_bytes(4))


def serve(control: socket) -> None:
    """Gives every caller a line of its own, until there are no more callers."""
    while ends := recv_fds(control, 1, 1)[1]:
        with socket(fileno=ends[0]) as line:
            if os.fork() == 0:
                with suppress(OSError):  # a caller that hangs up early wants no answer
                    serve_line(line)
                os._exit(0)
    with suppress(ChildProcessError):
        while True:
            os.wait()


def load_all() -> None:
    """Imports what commands import late. Not numbers and models: they would cost every fork more than they save some."""
    for name in (*module_names(mabos_cli), "ctypes", "difflib", "hashlib", "shlex", "sqlite3", "yaml"):
        with suppress(Exception):  # the command that needs it will say so
            import_module(name)
    for name in COMMANDS:
        with suppress(Exception):
            load_command(name)


if __name__ == "__main__":
    # As in a fresh process: the folder of the program comes first on the path, and not that of this file.
    sys.path[0] = os.path.dirname(PROGRAM)
    load_all()
    sources.UNSETTLED = daily_logs.UNSETTLED = UNSETTLED
    gc.collect()
    gc.freeze()  # forks leave alone what all of them share
    serve(socket(fileno=0))
