"""A terminal for programs that want one: keys go in, what they print is kept."""

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

# What terminals are asked at the start, and what one answers: where the cursor is, what it is, its colours.
_ASKED = {
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[c": b"\x1b[?62;c",
    b"\x1b[0c": b"\x1b[?62;c",
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
}
_MARKS = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b[@-Z\\-_=>78]|[\x00-\x08\x0b-\x1f]"
)
_SKIP = re.compile(r"\x1b\[\d*C")


class Terminal:
    """A program in a terminal of its own, in a process group of its own; ended at the end of `with`."""

    def __init__(self, words: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        self._fd, self._data = ours, bytearray()
        self.process = subprocess.Popen(
            words, env=dict(env), cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, close_fds=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(theirs)
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *error: object) -> None:
        end_group(self.process)
        with contextlib.suppress(OSError):
            os.close(self._fd)

    def _listen(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while self.process.poll() is None or select.select([self._fd], [], [], 0)[0]:
                if select.select([self._fd], [], [], 0.1)[0]:
                    piece = os.read(self._fd, 1 << 16)
                    self._data += piece
                    for asked, said in _ASKED.items():
                        if asked in piece:
                            os.write(self._fd, said)

    @property
    def text(self) -> str:
        """What was printed, without colours and movements."""
        return _MARKS.sub("", _SKIP.sub(" ", self._data.decode("utf-8", "replace")))

    def press(self, keys: str) -> None:
        """Presses keys."""
        with contextlib.suppress(OSError):
            os.write(self._fd, keys.encode())

    def enter(self, text: str) -> None:
        """Types a line as a person does: hosts take what comes with its Return at once for pasted text."""
        self.press(text)
        time.sleep(0.6)
        self.press("\r")

    def wait_for(self, words: str, seconds: float, start: int = 0) -> bool:
        """Waits until words were printed behind a place; blanks do not count."""
        wanted = re.sub(r"\s", "", words)
        return wait_until(lambda: wanted in re.sub(r"\s", "", self.text[start:]), seconds)

    def wait_quiet(self, quiet: float, seconds: float) -> bool:
        """Waits until something was printed, and then nothing for a while."""
        size, since, end = 0, time.monotonic(), time.monotonic() + seconds
        while time.monotonic() < end:
            if len(self._data) != size or not size:
                size, since = len(self._data), time.monotonic()
            elif time.monotonic() > since + quiet:
                return True
            time.sleep(0.1)
        return False

    def wait_end(self, seconds: float) -> bool:
        """Waits until the program has ended."""
        return wait_until(lambda: self.process.poll() is not None, seconds)


def wait_until(is_so: Callable[[], bool], seconds: float) -> bool:
    """Waits until something is so, at most some seconds; returns whether it is."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends a process that was started in a group of its own, and whatever is left of the group."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        if wait_until(lambda: process.poll() is not None, 3):
            break
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
