"""Runs a transcript: a text file of shell commands, each followed by what it printed.

    # Prose: lines before a command, behind a blank line or at the top of the file.
    $ command                   as sh -c would run it, standard input empty; pipes work
    a line of standard output
    ! a line of standard error
    [3]                         the exit code, when it is not 0

`$ export NAME=value`, `$ unset NAME` and `$ cd FOLDER` hold for the commands that follow. A command with `<<` goes on in
lines that start with `> `. An output line that would read as one of the above stands behind a backslash.
"""

import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path
from string import Template

from forked import PROGRAM, START, execute

_AT_START = {"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
# A word without anything in it that a shell would act upon, but for quotes.
_WORD = r"""(?:[\w./:,=@%+-]|'[^']*'|"[^"$`\\]*")+"""
_PLAIN = re.compile(f"(?:[A-Z_]+={_WORD} )*mabos(?: {_WORD})*")
_SPECIAL = re.compile(r"\$ |!(?: |$)|\\|\[\d+\]$")


@dataclass(frozen=True)
class Step:
    """A command, the prose above it, and whether a blank line sets it apart."""

    prose: tuple[str, ...]
    apart: bool
    command: str

    def render(self) -> list[str]:
        gap = [""] if self.apart else []
        first, *more = self.command.split("\n")
        return [*gap, *self.prose, f"$ {first}", *(f"> {line}" if line else ">" for line in more)]


def parse_transcript(text: str) -> list[Step]:
    """The steps of a transcript; the output that stands between them is left out."""
    lines = text.split("\n")
    steps: list[Step] = []
    for number, line in enumerate(lines):
        if not line.startswith("$ "):
            continue
        top = number
        while top and lines[top - 1].startswith("# "):
            top -= 1
        if not steps:
            top = 0
        elif lines[top - 1]:  # not set apart: a heading in the output before, not prose
            top = number
        command, below = [line[2:]], number + 1
        while "<<" in line and below < len(lines) and lines[below][:2] in ("> ", ">"):
            command.append(lines[below][2:])
            below += 1
        steps.append(Step(tuple(lines[top:number]), top > 0 and not lines[top - 1], "\n".join(command)))
    return steps


class Shell:
    """A folder and an environment that commands run in, and that `cd`, `export` and `unset` change for those that follow."""

    def __init__(self, folder: Path, now: str = "2026-02-24T14:30:00Z", program: str = PROGRAM) -> None:
        self.folder = folder
        self.program = program
        self.environment = {
            "PATH": f"{os.path.dirname(program)}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "HOME": str(folder),
            "MABOS_NOW": now,
            "MABOS_INDEX_VECTORS": "scan",  # the step that is the same on every Python; doctor names it
            **_AT_START,
        }

    def run(self, command: str) -> tuple[int, bytes, bytes]:
        """Exit code, standard output and standard error of a command."""
        word, _, rest = command.partition(" ")
        name, _, value = rest.partition("=")
        if word == "export":
            self.environment[name] = _expand(value, self.environment)
        elif word == "unset":
            self.environment.pop(name, None)
        elif word == "cd":
            self.folder = (self.folder / _expand(rest, self.environment)).resolve(strict=True)
        else:
            return self._outcome(command)
        return 0, b"", b""

    def _outcome(self, command: str) -> tuple[int, bytes, bytes]:
        """What a command gives. Most are one call of mabos, which needs no shell; then it is run without waiting for a start."""
        if _PLAIN.fullmatch(command):
            words = shlex.split(command)
            at = words.index("mabos")
            own = self.environment | dict(word.split("=", 1) for word in words[:at])
            if {name: value for name, value in own.items() if name.startswith(START)} == _AT_START:
                return execute(tuple(words[at + 1 :]), own, self.folder, program=self.program)[:3]
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr


def run_transcript(steps: list[Step], folder: Path) -> str:
    """The transcript of the steps as they really go, in an empty folder."""
    shell = Shell(folder)
    lines: list[str] = []
    for step in steps:
        lines += [*step.render(), *_run(step.command, shell, folder)]
    return "\n".join(lines) + "\n"


def _expand(word: str, environment: dict[str, str]) -> str:
    """A word as the shell reads it: quotes off, `$NAME` and the `~` of a home put in."""
    return Template(re.sub("^~(?=/|$)", "$HOME", "".join(shlex.split(word)))).substitute(environment)


def _run(command: str, shell: Shell, folder: Path) -> list[str]:
    code, stdout, stderr = shell.run(command)
    out, err = shown_lines(stdout, folder), [f"! {line}".rstrip() for line in shown_lines(stderr, folder)]
    return [*_escaped(out, "<<" in command), *err, *([f"[{code}]"] if code else [])]


def shown_lines(data: bytes, folder: Path) -> list[str]:
    """Output as lines, without what differs from run to run."""
    text = data.decode("utf-8", "backslashreplace").replace(str(folder), "<tmp>")
    text = re.sub(r"\bprocess \d+", "process N", text)
    if not text:
        return []
    return text[:-1].split("\n") if text.endswith("\n") else f"{text}\\ no newline".split("\n")


def _escaped(lines: list[str], continued: bool) -> list[str]:
    """Lines of output that cannot be taken for anything else."""
    escaped = []
    for number, line in enumerate(lines):
        ends_blank = not line and number == len(lines) - 1
        prose = line.startswith("# ") and number > 0 and not lines[number - 1]
        more = line[:2] in ("> ", ">") and continued
        special = ends_blank or prose or more or _SPECIAL.match(line)
        escaped.append(f"\\{line}" if special else line)
    return escaped
