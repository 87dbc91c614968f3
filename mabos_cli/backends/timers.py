"""Talks to what runs jobs on time: the user's systemd, or cron."""

from collections.abc import Sequence
from shutil import which
from typing import NamedTuple

from mabos_cli.core.language.text import one_line
from mabos_cli.errors import Unavailable

_TIMEOUT = 30.0


class Answer(NamedTuple):
    """Holds the output of a program."""

    code: int
    out: bytes
    err: bytes


def _run(words: Sequence[str], data: bytes = b"") -> Answer | None:
    """Returns the output of a program, or None if it is missing or does not answer."""
    from subprocess import TimeoutExpired, run

    program = which(words[0])
    if program is None:
        return None
    try:
        done = run([program, *words[1:]], input=data, capture_output=True, timeout=_TIMEOUT, check=False)
    except (OSError, TimeoutExpired):
        return None
    return Answer(done.returncode, done.stdout, done.stderr)


def run_systemctl(orders: Sequence[Sequence[str]]) -> list[str]:
    """Runs `systemctl --user` for each order, until one fails; returns the command lines that are left to run."""
    lines = [("systemctl", "--user", *order) for order in orders]
    for number, words in enumerate(lines):
        answer = _run(words)
        if answer is None or answer.code:
            return [" ".join(line) for line in lines[number:]]
    return []


def read_crontab() -> bytes:
    """Returns the user's crontab, empty if there is none; Unavailable if it cannot be read."""
    answer = _run(("crontab", "-l"))
    if answer is None:
        raise Unavailable("the program crontab is not installed", "install cron, or use systemd: --user")
    if answer.code == 0:
        return answer.out
    if b"no crontab" in answer.err.lower():
        return b""
    raise _fault("read", answer)


def write_crontab(data: bytes) -> None:
    """Replaces the user's crontab, or removes it if nothing is left."""
    answer = _run(("crontab", "-") if data else ("crontab", "-r"), data)
    if answer is None or answer.code:
        raise _fault("write", answer)


def _fault(doing: str, answer: Answer | None) -> Unavailable:
    reason = one_line(answer.err.decode("utf-8", "replace"), 200) if answer else "it does not answer"
    return Unavailable(f"cannot {doing} the crontab: {reason or 'no reason given'}", "nothing was changed")
