"""Real shells at a terminal of their own: what they offer for the start of a line, and what a TAB makes of it."""

import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from select import select
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
SHELLS = ("bash", "zsh", "fish")
# The shells that can be asked here, the others as tests that say why they are skipped.
INSTALLED = [
    pytest.param(name, marks=[] if shutil.which(name) else pytest.mark.skip(reason=f"{name} is not installed"))
    for name in SHELLS
]

_BASH = """
bind 'set bell-style none' 'set enable-bracketed-paste off'
source {script}
_probe() {{ _mabos "$@"; printf '%s\\n' "${{COMPREPLY[@]}}" >"{offered}.$probed"; }}
complete -o nosort -F _probe mabos
"""
_ZSH = """
unsetopt beep
zmodload zsh/zle
autoload -Uz compinit && compinit -u -D
bindkey -e
bindkey '^I' complete-word
source {script}
compadd() {{
  local -a hits
  builtin compadd -O hits "$@"
  print -rl -- $hits >>"{offered}.$probed"
  builtin compadd "$@"
}}
"""


class Tab(NamedTuple):
    """What a TAB came to: the words that were offered, and the line behind it as the program would get it."""

    offered: list[str]
    line: list[str]


def press_tab(shell: str, lines: Sequence[str], folder: Path, environment: dict[str, str]) -> list[Tab]:
    """The effect of a TAB at the end of each line, in a folder."""
    script = ROOT / "mabos_cli" / "templates" / f"completion.{shell}"
    if shell == "fish":
        return _ask_fish(script, lines, folder, environment)
    home = Path(environment["HOME"])
    offered, got, setup = (home / f"{name}-{shell}" for name in ("offered", "line", "setup"))
    setup.write_text({"bash": _BASH, "zsh": _ZSH}[shell].format(script=script, offered=offered))
    words = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}[shell]
    # Ctrl-A goes to the start of the line, Ctrl-E to its end: the line becomes the arguments of printf.
    tabs = [f"probed={n}\n{line}\t\x01printf '%s\\n' \x05 >{got}.{n}\n" for n, line in enumerate(lines)]
    keys = f". {setup}\n{''.join(tabs)}exit\n"
    _type(words, keys, folder, environment | {"TERM": "dumb", "PS1": "", "INPUTRC": os.devnull})
    return [Tab(_taken(f"{offered}.{n}"), _taken(f"{got}.{n}")) for n in range(len(lines))]


def _taken(name: str) -> list[str]:
    """The lines of a file, without empty ones; the file is removed."""
    path = Path(name)
    found = path.read_text("utf-8").split("\n") if path.exists() else []
    path.unlink(missing_ok=True)
    return [line for line in found if line]


def _type(words: list[str], keys: str, folder: Path, environment: dict[str, str]) -> None:
    """Runs a program at a terminal, types, and waits for its end."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe(words[0], words, environment)
    left, said = keys.encode(), b""
    with suppress(OSError):  # the other end is closed: the shell is gone
        while any(ready := select([terminal], [terminal] if left else [], [], 60)):
            if ready[0]:
                said += os.read(terminal, 1 << 16)
            else:  # a terminal takes a few hundred keys at a time
                left = left[os.write(terminal, left[:256]) :]
    os.close(terminal)  # a shell that still waits for something hangs up
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, said.decode("utf-8", "replace")


def _ask_fish(script: Path, lines: Sequence[str], folder: Path, environment: dict[str, str]) -> list[Tab]:
    code = "source $argv[1]; for line in $argv[2..]; complete -C $line; printf '\\0'; end"
    done = subprocess.run(
        ["fish", "--no-config", "-c", code, str(script), *lines],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    parts = done.stdout.split("\0")[:-1]
    return [Tab([row.partition("\t")[0] for row in part.split("\n") if row], []) for part in parts]


def shell_environment(home: Path) -> dict[str, str]:
    """An environment with this program first on the path, and nothing of the person who runs the tests."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(home), "LC_ALL": "C.UTF-8"}
