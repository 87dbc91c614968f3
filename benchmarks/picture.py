"""Draws docs/terminal.svg: what a few commands look like at a terminal, on the workspace of the tour.

python benchmarks/picture.py [--light] [--output FILE] [COMMAND ...]
"""

import argparse
import io
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
import time
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, MONOKAI
from rich.text import Text

sys.path.insert(0, str(Path(__file__).parent))
from timing import MABOS

PICTURE = Path(__file__).parent.parent / "docs" / "terminal.svg"
COMMANDS = ("mabos status", 'mabos recall "price of a berth" -n 3', "mabos get 00fe --tree", "mabos bdi conflicts")
COLUMNS = 92
_ABOUT = {"MABOS_NOW": "2026-02-25T09:00:00Z", "TERM": "xterm-256color", "MABOS_PAGER": "", "NO_COLOR": ""}


def show(words: list[str], folder: str) -> str:
    """What a command line writes to a terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 400, COLUMNS, 0, 0))
        os.chdir(folder)
        os.execve(MABOS, words, {**os.environ, **_ABOUT})
    found = b""
    with suppress(OSError):  # the other end is closed
        while part := os.read(terminal, 1 << 16):
            found += part
    os.close(terminal)
    os.waitpid(pid, 0)
    return found.decode("utf-8").replace("\r\n", "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--light", action="store_true")
    parser.add_argument("--output", type=Path, default=PICTURE)
    parser.add_argument("commands", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [MABOS, "demo", f"{folder}/harbour"], env={**os.environ, **_ABOUT}, stdout=subprocess.DEVNULL, check=True
        )
        show([MABOS, "recall", "price"], f"{folder}/harbour")
        time.sleep(2.5)  # what was written a moment ago may change again: until then the index says so
        parts = []
        for line in options.commands or COMMANDS:
            parts.append(Text.from_ansi(f"\x1b[1m$ {line}\x1b[0m\n{show(shlex.split(line), f'{folder}/harbour')}"))
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(*parts, sep="\n")
    theme = DEFAULT_TERMINAL_THEME if options.light else MONOKAI
    drawn = console.export_svg(title="mabos", theme=theme, unique_id="mabos")
    # Rich names a font on a server: whoever looks at the picture asks nobody for anything.
    options.output.write_text(re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL), "utf-8")


if __name__ == "__main__":
    main()
