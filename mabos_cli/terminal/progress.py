"""Shows the progress of long work on standard error, with speed and remaining time; nothing in the first half second."""

import os
import sys
import time
from collections.abc import Callable

from mabos_cli.core.language.clock import format_span

_AFTER, _EVERY = 0.5, 0.1  # seconds until it shows, and between two looks
_BAR = 24
_shown = False  # whether a line of progress is on the terminal
_around: list[str] = []  # the progress of the enclosing work, outermost first


def progress(doing: str) -> Callable[[int, int], None]:
    """Returns a function that takes how much is done, and the total; the line is removed at the end, by other output, or by `wipe`.

    Without a total, it only shows the name of the work, if there was a line before.
    """
    started = last = time.monotonic()
    depth = len(_around)

    def show(done: int, total: int) -> None:
        nonlocal last
        at = time.monotonic()
        if not total:
            if _shown:
                _put("".join((*_around[:depth], doing)))
            return
        _around[depth:] = [f"{doing} {done:,} of {total:,}: "] if done < total else []
        if not _around:
            wipe()
        elif done < total and at - started >= _AFTER and at - last >= _EVERY:
            last = at
            _put("".join((*_around[:depth], _line(doing, done, total, at - started))))

    return show


def _line(doing: str, done: int, total: int, seconds: float) -> str:
    """Returns the line of progress.

    >>> _line("storing", 500, 2000, 2.0)
    'storing ━━━━━━────────────────── 500 of 2,000, 250/s, 6s left'
    """
    filled = _BAR * done // total
    rate = done / seconds
    line = f"{doing} {'━' * filled}{'─' * (_BAR - filled)} {done:,} of {total:,}"
    if not done:
        return line
    return f"{line}, {rate:,.0f}/s, {format_span(max(1, round((total - done) / rate)))} left" if rate >= 1 else line


def _put(line: str) -> None:
    global _shown
    columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
    _write(f"\r{line[: columns - 1]}\x1b[K")
    _shown = True


def wipe() -> None:
    """Removes the line from the terminal."""
    global _shown
    if _shown:
        _shown = False
        _write("\r\x1b[K")


def _write(text: str) -> None:
    from mabos_cli.terminal.emit import write_bytes

    write_bytes(sys.stderr, text)
