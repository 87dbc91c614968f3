"""The program at a terminal of its own, of a size: what stands there at the end."""

import gc
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path
from typing import NamedTuple, NoReturn

from mabos_cli.__main__ import run as main

_CODES = re.compile(r"\x1b\[[\d;]*[mK]")


class Seen(NamedTuple):
    """The exit code, and what was written, with the codes of colours."""

    code: int
    written: str

    @property
    def text(self) -> str:
        """The same without codes; of a line that was written over, what stood there last."""
        plain = _CODES.sub("", self.written).replace("\r\n", "\n")
        return "\n".join(line.rsplit("\r", 1)[-1] for line in plain.split("\n"))


def at_terminal(
    words: tuple[str, ...],
    folder: Path,
    environment: Mapping[str, str],
    size: tuple[int, int] = (80, 400),
    *,
    interrupt: float | None = None,
    before: Callable[[], object] = lambda: None,
) -> Seen:
    """Runs a command line in a fork of this process at a terminal of so many columns and lines, and presses Ctrl-C after some
    seconds if that is wanted; `before` is called in the fork."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the fork can catch it
    pid, terminal = pty.fork()
    if pid == 0:
        _run(words, folder, environment, size, before)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    end = None if interrupt is None else time.monotonic() + interrupt
    written = b""
    with suppress(OSError):  # the other end is closed
        while True:
            left = 60.0 if end is None else max(0.0, end - time.monotonic())
            if select.select([terminal], [], [], left)[0]:
                if not (part := os.read(terminal, 1 << 16)):
                    break
                written += part
            elif end is None:
                raise TimeoutError(words)
            else:
                end = None
                os.write(terminal, b"\x03")
    os.close(terminal)
    return Seen(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), written.decode("utf-8"))


def _run(
    words: tuple[str, ...],
    folder: Path,
    environment: Mapping[str, str],
    size: tuple[int, int],
    before: Callable[[], object],
) -> NoReturn:
    code = 1
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        sys.stdin, sys.stdout, sys.stderr = (open(n, mode, closefd=False) for n, mode in enumerate("rww"))  # noqa: SIM115
        os.environ.clear()
        os.environ.update({"TERM": "xterm-256color", **environment})
        os.chdir(folder)
        sys.argv = ["mabos", *words]
        before()
        gc.disable()
        code = main()
    except KeyboardInterrupt:  # pressed before the program began
        code = 130
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
