"""What the scripts here measure with: whole processes by their CPU time, and jobs that take turns."""

import compileall
import os
import pty
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "mabos_cli"
MABOS = str(Path(sys.executable).with_name("mabos"))
BARE = [sys.executable, "-c", "pass"]


def compile_package() -> None:
    """As pip does when it installs a wheel."""
    compileall.compile_dir(PACKAGE, quiet=2)


def of_checkout(folder: Path) -> dict[str, str]:
    """The environment in which `mabos` is the program of another checkout, compiled as this one is."""
    compileall.compile_dir(folder / "mabos_cli", quiet=2)
    return {**os.environ, "PYTHONPATH": os.fspath(folder.resolve())}


def cpu_seconds(argv: list[str], env: Mapping[str, str] = os.environ) -> float:
    """User and system time of one run, which must end 0."""
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    pid = os.posix_spawn(argv[0], argv, dict(env), file_actions=quiet)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"ended {os.waitstatus_to_exitcode(status)}: {' '.join(argv)}")
    return usage.ru_utime + usage.ru_stime


def cpu_at_terminal(argv: list[str]) -> float:
    """The same at a terminal of its own, which is read to the end."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(argv[0], argv, {**os.environ, "TERM": "xterm-256color", "MABOS_PAGER": ""})
    with suppress(OSError):  # the other end is closed
        while os.read(terminal, 1 << 16):
            pass
    os.close(terminal)
    usage = os.wait4(pid, 0)[2]
    return usage.ru_utime + usage.ru_stime


def take_turns(clock: Callable[[], float], runs: int, *jobs: Callable[[], object]) -> list[list[float]]:
    """The seconds of each run of each job; the jobs take turns, so that a busy machine is busy for all of them."""
    times: list[list[float]] = [[] for _ in jobs]
    for _ in range(runs):
        for job, found in zip(jobs, times, strict=True):
            start = clock()
            job()
            found.append(clock() - start)
    return times


def medians(*jobs: Callable[[], object], runs: int) -> list[float]:
    """The median CPU seconds of jobs in this process."""
    return [statistics.median(found) for found in take_turns(time.process_time, runs, *jobs)]


def best(runs: int, *jobs: Callable[[], object]) -> list[float]:
    """The seconds that each job takes at best, by the clock."""
    return [min(found) for found in take_turns(time.perf_counter, runs, *jobs)]
