"""The scheduled jobs of a workspace, and when each is due."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_span, parse_span
from mabos_cli.core.language.periods import WEEKDAYS

DAYS = tuple(name[:3] for name in WEEKDAYS)
OFF = "off"
_DAY = 24 * 60
_HINT = "use 30m, 2h, 03:10, Sun 04:10 or off"


class Job(NamedTuple):
    """Commands to run for each agent, one after the other."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    about: str

    @property
    def setting(self) -> str:
        """Returns the setting with its rhythm."""
        return f"schedule.{self.name}"


def _words(*commands: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(command.split()) for command in commands)


# At night, observations become memories first, so that the other commands see them; archiving comes last.
JOBS = (
    Job("cycle", _words("bdi cycle"), "beliefs, desires and intentions in order"),
    Job("sync", _words("index sync"), "the search index up to date"),
    Job(
        "nightly",
        _words("harvest", "consolidate", "log consolidate", "log archive", "lifecycle run"),
        "the day into long-term memory, what is old into the archive",
    ),
    Job("weekly", _words("hierarchy build"), "summaries of weeks, months and quarters"),
)


class Rhythm(NamedTuple):
    """When a job is due: every so many minutes from midnight, or at a minute of the day, on one weekday or on all; or never."""

    every: int = 0
    minute: int = -1
    day: str = ""

    @property
    def is_off(self) -> bool:
        return not self.every and self.minute < 0


def parse_rhythm(text: str) -> Rhythm:
    """Parses a rhythm. An interval must divide an hour or a day evenly, because cron has no others.

    >>> parse_rhythm("2h"), parse_rhythm("sun 4:10")
    (Rhythm(every=120, minute=-1, day=''), Rhythm(every=0, minute=250, day='Sun'))
    """
    word = text.strip().lower()
    if word == OFF:
        return Rhythm()
    timed = re.fullmatch(r"(?:([a-z]{3})[a-z]*\s+)?(\d{1,2}):(\d\d)", word)
    if timed:
        day, minute = (timed[1] or "").capitalize(), 60 * int(timed[2]) + int(timed[3])
        if (not day or day in DAYS) and int(timed[2]) < 24 and int(timed[3]) < 60:
            return Rhythm(minute=minute, day=day)
    elif re.fullmatch(r"[\d.]+\s*[smhd]", word):
        every = parse_span(word) / 60
        if every == _DAY:
            return Rhythm(minute=0)
        if every >= 1 and every % 1 == 0 and (60 % every == 0 or (every % 60 == 0 and _DAY % every == 0)):
            return Rhythm(every=int(every))
        raise BadValue(f"{text!r} does not divide an hour or a day evenly", "use 15m, 30m, 1h, 2h or 6h")
    raise BadValue(f"not a time to run at: {text!r}", _HINT)


def format_rhythm(rhythm: Rhythm) -> str:
    """Formats a rhythm as in the settings.

    >>> [format_rhythm(parse_rhythm(text)) for text in ("60m", "3:05", "Sunday 04:10", "OFF")]
    ['1h', '03:05', 'Sun 04:10', 'off']
    """
    if rhythm.is_off:
        return OFF
    if rhythm.every:
        return format_span(60 * rhythm.every)
    return f"{rhythm.day} {rhythm.minute // 60:02d}:{rhythm.minute % 60:02d}".strip()


def find_job(name: str) -> Job:
    """Finds the job with a name."""
    found = next((job for job in JOBS if job.name == name), None)
    if found is None:
        raise BadValue(f"no job {name[:40]!r}", f"jobs: {', '.join(job.name for job in JOBS)}")
    return found


def due_jobs(settings: Mapping[str, Any]) -> list[tuple[Job, Rhythm]]:
    """Returns the jobs that are not off, each with its rhythm."""
    found = [(job, parse_rhythm(settings[job.setting])) for job in JOBS]
    return [(job, rhythm) for job, rhythm in found if not rhythm.is_off]


def unit_name(given: str, folder: str) -> str:
    """Returns the name of a workspace in the names of its units: as given, or that of its folder.

    >>> unit_name("", "My Team (2026)"), unit_name("ops", "x"), unit_name("", "東京")
    ('my-team-2026', 'ops', 'workspace')
    """
    return re.sub(r"[^a-z0-9_]+", "-", (given or folder).lower()).strip("-")[:60].strip("-") or "workspace"
