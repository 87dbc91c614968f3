"""Renders jobs as systemd units and as lines of a crontab, each marked with its workspace."""

import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.operations.schedule import DAYS, Job, Rhythm
from mabos_cli.errors import Conflict
from mabos_cli.formats.json.text import dump_line

FORMATS = ("systemd", "cron")
_MARK = "# mabos schedule of "
_SERVICE = """\
{mark}
[Unit]
Description=mabos {job} of {name}: {about}

[Service]
Type=oneshot
Nice=10
ExecStart={command}
"""
_TIMER = """\
{mark}
[Unit]
Description=mabos {job} of {name}: {when}

[Timer]
OnCalendar={calendar}
RandomizedDelaySec={delay}
Persistent=true
Unit={unit}.service

[Install]
WantedBy=timers.target
"""


class Installation(NamedTuple):
    """The common part of all jobs of a workspace: the program, the workspace, and its name in units."""

    program: tuple[str, ...]
    root: str
    name: str

    def words(self, job: Job, *options: str) -> tuple[str, ...]:
        """Returns the command line of a job."""
        return (*self.program, *options, "-w", self.root, "schedule", "run", job.name)

    def unit(self, job: Job) -> str:
        """Returns the name of the units of a job."""
        return f"mabos-{self.name}-{job.name}"


def render_mark(root: str) -> str:
    """Renders the comment that marks units and lines of a workspace."""
    return f"{_MARK}{dump_line(root)}"


def render_units(installation: Installation, job: Job, rhythm: Rhythm, when: str, delay: float) -> dict[str, str]:
    """Renders the service and the timer of a job, by file name."""
    words, unit = installation.words(job), installation.unit(job)
    _check_plain(words)
    # systemd refuses a program whose path holds quotes or backslashes; as an argument it may be anything.
    odd = ("/usr/bin/env",) if set(words[0]) & set("\"'\\") else ()
    command = " ".join(_quoted(word) for word in (*odd, *words))
    fields = {"mark": render_mark(installation.root), "job": job.name, "name": installation.name, "unit": unit}
    # The colon keeps dollar signs as they are.
    service = _SERVICE.format(**fields, about=job.about, command=f":{command}")
    timer = _TIMER.format(**fields, when=when, calendar=render_calendar(rhythm), delay=f"{delay:g}")
    return {f"{unit}.service": service, f"{unit}.timer": timer}


def _check_plain(words: Sequence[str]) -> None:
    for word in words:
        if not word.isprintable():
            raise BadValue(f"{word!r} cannot be scheduled: it contains characters that cannot be printed",
                           "move it to a folder with a plain name")  # fmt: skip


def _quoted(word: str) -> str:
    """Quotes a word for ExecStart, where specifiers start with a percent sign and escapes with a backslash.

    >>> print(_quoted('/srv/100% "ours"'), _quoted("run"))
    "/srv/100%% \\"ours\\"" run
    """
    if re.fullmatch(r"[\w@+=:,./-]+", word, re.ASCII):
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"'


def render_calendar(rhythm: Rhythm) -> str:
    """Renders a rhythm for OnCalendar, in local time.

    >>> [render_calendar(r) for r in (Rhythm(30), Rhythm(60), Rhythm(120), Rhythm(0, 190), Rhythm(0, 250, "Sun"))]
    ['*:00/30', '*:00', '00/2:00', '03:10', 'Sun 04:10']
    """
    if 0 < rhythm.every < 60:
        return f"*:00/{rhythm.every}"
    if rhythm.every:
        return "*:00" if rhythm.every == 60 else f"00/{rhythm.every // 60}:00"
    return f"{rhythm.day} {rhythm.minute // 60:02d}:{rhythm.minute % 60:02d}".strip()


def render_cron_time(rhythm: Rhythm) -> str:
    """Renders a rhythm as the five fields of cron.

    >>> [render_cron_time(r) for r in (Rhythm(1), Rhythm(30), Rhythm(120), Rhythm(0, 190), Rhythm(0, 250, "Sun"))]
    ['* * * * *', '*/30 * * * *', '0 */2 * * *', '10 3 * * *', '10 4 * * 0']
    """
    if 0 < rhythm.every < 60:
        return "* * * * *" if rhythm.every == 1 else f"*/{rhythm.every} * * * *"
    if rhythm.every:
        return "0 * * * *" if rhythm.every == 60 else f"0 */{rhythm.every // 60} * * *"
    day = str((DAYS.index(rhythm.day) + 1) % 7) if rhythm.day else "*"
    return f"{rhythm.minute % 60} {rhythm.minute // 60} * * {day}"


def render_cron_block(installation: Installation, due: Sequence[tuple[Job, Rhythm]]) -> str:
    """Renders the lines of a workspace in a crontab, between their marks.

    A percent sign would end the command there.
    """
    begin, end = _cron_marks(installation.root)
    lines = []
    for job, rhythm in due:
        words = installation.words(job, "-q")
        _check_plain(words)
        if any("\\" in word for word in words):
            raise BadValue(f"cron cannot run this: {shlex.join(words)} contains a backslash",
                           "implementations of cron treat it differently; use systemd: --user")  # fmt: skip
        lines.append(f"{render_cron_time(rhythm)} {shlex.join(words)}".replace("%", "\\%"))
    return "".join(f"{line}\n" for line in (begin, *lines, end))


def _cron_marks(root: str) -> tuple[str, str]:
    return f"{render_mark(root)}: begin", f"{render_mark(root)}: end"


def replace_cron_block(crontab: bytes, root: str, block: str) -> bytes:
    """Replaces the lines of a workspace in a crontab, adds them at the end, or removes them if the block is empty.

    All else stays as it is.
    """
    begin, end = (f"{mark}\n".encode() for mark in _cron_marks(root))
    lines = crontab.splitlines(keepends=True)
    found = [(number, line) for number, line in enumerate(lines) if line in (begin, end)]
    if not found:
        gap = b"\n" if block and crontab and not crontab.endswith(b"\n") else b""
        return crontab + gap + block.encode()
    if [line for _, line in found] != [begin, end]:
        raise Conflict(f"the crontab has unpaired marks of mabos, line {found[0][0] + 1}",
                       "remove them by hand: crontab -e")  # fmt: skip
    (first, _), (last, _) = found
    return b"".join([*lines[:first], block.encode(), *lines[last + 1 :]])
