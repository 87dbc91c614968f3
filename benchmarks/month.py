"""Lives through thirty days as cron and an agent host see them: every command and hook is a process of its own, with a clock that moves.

    python benchmarks/month.py [--days 30] [--every 6] [--keep FOLDER]

The jobs are the lines of `mabos schedule show --format cron`, run without a terminal and with LC_ALL=C; of those that recur within a
day one in EVERY is run. On every third day a host plays a session of fixtures/loop through its hooks, and the next session asks for
what was said. Meanwhile the machine is off for three days, its clock goes back three hours, one morning it is a year ahead, and one
nightly job is killed.

Exit 1 if a job or a hook fails, an id no longer resolves, the workspace is not healthy, the same jobs at the same time leave a second
difference, or a temporary file is left.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent / "fixtures" / "loop"))
import loop

START = datetime(2026, 3, 2, tzinfo=UTC)
OFF = range(8, 11)
BACK, AHEAD, KILLED = 15, 20, 25
MABOS = (sys.executable, "-m", "mabos_cli")


class Job(NamedTuple):
    """A line of a crontab: its minutes, its hours, its weekday if it has one, and its command."""

    minutes: list[int]
    hours: list[int]
    weekday: str
    words: list[str]


class Failure(Exception):
    """What should have held and did not."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--every", type=int, default=6, help="run one in so many of the jobs that recur within a day")
    parser.add_argument("--keep", type=Path, help="leave the workspace in this folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        month = Month((options.keep or Path(folder)) / "ws")
        try:
            month.live(options.days, options.every)
            month.judge()
        except Failure as failure:
            sys.exit(f"broken: {failure}")


class Month:
    """A workspace, its crontab and its host."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.parent.mkdir(parents=True, exist_ok=True)
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
        self.env = kept | {"LC_ALL": "C", "MABOS_HOOK_TIME": "30"}
        self.counts: Counter[str] = Counter()
        self.ids: set[str] = set()
        self.asked: list[tuple[loop.Statement, bool]] = []
        self.sessions = [session for story in ("company", "people") for session in loop.read_story(story)]
        self.before: list[loop.Statement] = []
        self.run(START, "init", os.fspath(root), place=False)
        self.jobs = [*self._read_crontab(self.run(START, "schedule", "show", "--format", "cron"))]
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "start")):
            self.git(*words)

    def git(self, *words: str) -> str:
        about = ("-c", "user.name=a", "-c", "user.email=a@b")
        return subprocess.run(
            ["git", "-C", self.root, *about, *words], capture_output=True, text=True, check=True
        ).stdout

    def run(self, now: datetime, *words: str, place: bool = True, stdin: str = "", kill: float = 0) -> str:
        """Runs a command at a moment and returns its output; one that is to be killed may end as it likes."""
        env = self.env | {"MABOS_NOW": now.strftime("%Y-%m-%dT%H:%M:%SZ")}
        where = ("-w", os.fspath(self.root)) if place else ()
        call = [*MABOS, *where, *words]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(call, env=env, text=True, encoding="utf-8", **pipes) as process:  # type: ignore[call-overload]
            if kill:
                time.sleep(kill)
                process.kill()
            out, err = process.communicate(stdin)
        if process.returncode and not kill:
            raise Failure(f"{now:%F %R} {' '.join(words)} ended {process.returncode}: {err.strip()}")
        self.counts["killed" if kill else words[0]] += 1
        return str(out)

    @staticmethod
    def _read_crontab(text: str) -> Iterator[Job]:
        for line in text.split("\n"):
            if line and not line.startswith("#"):
                minute, hour, _, _, weekday, command = line.split(None, 5)
                minutes = [*range(0, 60, int(minute[2:]))] if minute.startswith("*/") else [int(minute)]
                words = shlex.split(command)
                yield Job(
                    minutes, [*range(24)] if hour == "*" else [int(hour)], weekday, words[words.index("schedule") :]
                )

    def live(self, days: int, every: int) -> None:
        """Lives through so many days."""
        for day in range(days):
            now = START + timedelta(days=day)
            if day in OFF:
                continue
            if day == AHEAD:
                self.say(now + timedelta(days=365, hours=7), "The clock was wrong when this was said")
            for moment, words in self._jobs_of(now, every):
                late = timedelta(hours=3 if day == BACK and moment.hour >= 12 else 0)
                self.run(moment - late, *words, kill=0.12 if day == KILLED and words[-1] == "nightly" else 0)
                if moment.hour == 9 and moment.minute == 0 and day % 3 == 0 and self.sessions:
                    self.play(moment, self.sessions.pop(0))
            self.say(now + timedelta(hours=23), f"On day {day} we shipped order {4000 + 7 * day} to Rotterdam")
        self.play(START + timedelta(days=days, hours=9), loop.Session("", []))
        self.end = START + timedelta(days=days, hours=12)

    def _jobs_of(self, day: datetime, every: int) -> list[tuple[datetime, list[str]]]:
        """Returns what runs on a day in order of time; of what recurs within it one in `every`, and always that at nine."""
        due = []
        for job in self.jobs:
            times = [(hour, minute) for hour in job.hours for minute in job.minutes]
            if job.weekday == "*" or int(job.weekday) == day.isoweekday() % 7:
                chosen = times if len(times) == 1 else {*times[::every], (9, 0)}
                due += [(day.replace(hour=hour, minute=minute), job.words) for hour, minute in chosen]
        return sorted(due)

    def say(self, now: datetime, text: str) -> None:
        """Stores something as an agent does, and remembers its id."""
        self.ids.add(json.loads(self.run(now, "store", text, "--type", "event", "--json"))["data"]["id"])

    def hook(self, now: datetime, event: str, **payload: str) -> str:
        """Returns what a hook adds to the context of a session."""
        said = self.run(
            now, "hook", event, "--host", "claude", place=False, stdin=json.dumps({"cwd": str(self.root), **payload})
        )
        return str(json.loads(said)["hookSpecificOutput"]["additionalContext"]) if said.strip() else ""

    def play(self, now: datetime, session: loop.Session) -> None:
        """Plays a session: it asks for what the one before said, and then says its own."""
        name = f"s{now:%m%d}"
        opening = self.hook(now, "session-start", session_id=name, source="startup")
        for one in self.before:
            small = self.hook(now, "user-prompt", session_id=name, prompt=one.prompt)
            self.asked.append((one, one.is_in(opening) or one.is_in(small)))
        session = session._replace(day=f"{now:%F}")
        if session.lines:
            path = self.root.parent / f"{name}.jsonl"
            loop.write_transcript(path, session, [one.prompt for one in self.before])
            self.hook(
                now + timedelta(hours=1), "session-end", session_id=name, transcript_path=str(path), reason="exit"
            )
            self.hook(now + timedelta(hours=1, minutes=1), "learn")
        self.before = session.statements

    def judge(self) -> None:
        """Prints what became of it; Failure names what should have held."""
        for words in (("schedule", "run", "nightly"), ("schedule", "run", "weekly"), ("schedule", "run", "sync")):
            self.run(self.end, *words)
        self.git("add", "-A")
        self.git("commit", "-qm", "a month")
        for words in (("schedule", "run", "nightly"), ("schedule", "run", "weekly"), ("schedule", "run", "sync")):
            self.run(self.end, *words)
        if difference := self.git("status", "--porcelain"):
            raise Failure(f"the same jobs at the same time left a difference:\n{difference}")
        self.run(self.end, "doctor", "--check")
        for item in sorted(self.ids):
            self.run(self.end, "get", item, "--no-use")
        if litter := [
            path for path in self.root.rglob("*") if path.suffix in (".tmp", ".new") or path.name.startswith(".tmp")
        ]:
            raise Failure(f"left behind: {litter}")
        given = sum(came for _, came in self.asked)
        print(
            f"{sum(self.counts.values())} processes: {', '.join(f'{n} {name}' for name, n in sorted(self.counts.items()))}"
        )
        print(f"{len(self.ids)} stored ids resolve; {given} of {len(self.asked)} statements known in the next session")
        print("healthy; the same jobs once more leave no difference; nothing left behind")


if __name__ == "__main__":
    main()
