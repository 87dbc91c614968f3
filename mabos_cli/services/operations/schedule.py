"""Installs the jobs of a workspace as units or lines of a crontab, and runs them, each command in a process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mabos_cli.backends.timers import read_crontab, run_systemctl, write_crontab
from mabos_cli.config import Settings
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import check_choice
from mabos_cli.core.operations.schedule import JOBS, Job, due_jobs, unit_name
from mabos_cli.errors import Conflict, MabosError, NotFound, Unavailable
from mabos_cli.formats.operations import timers
from mabos_cli.services.inputs import Session
from mabos_cli.services.operations.hosts import find_program
from mabos_cli.workspace.files import list_names, read_bytes, remove_file, replace_file
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.locate import find_agent, list_agents
from mabos_cli.workspace.lock import Lock
from mabos_cli.workspace.settings import load_settings

_ENDINGS = (".service", ".timer")


class Run(NamedTuple):
    """The result of a command for an agent: exit code, answer (a value, or lines), warnings, error and hint."""

    agent: str
    command: str
    exit: int
    answer: Any
    warnings: list[str]
    error: str
    hint: str

    @property
    def name(self) -> str:
        return f"{self.agent} {self.command}"

    def as_dict(self) -> dict[str, Any]:
        """Returns the data of a result; error and hint are None where it went well."""
        error, hint = (self.error, self.hint) if self.exit else (None, None)
        data = {"agent": self.agent, "command": self.command, "exit": self.exit, "data": self.answer}
        return data | {"error": error, "hint": hint}

    def lines(self) -> list[str]:
        """Returns the result as text."""
        if self.exit:
            return [f"{self.name}: failed ({self.exit}): {self.error}", *self.hint_lines()]
        first, *more = self.answer or ["done"]
        return [f"{self.name}: {first or 'done'}", *(f"  {line}" for line in more)]

    def hint_lines(self) -> list[str]:
        """Returns the hint as text, if there is one."""
        return [f"  hint: {self.hint}"] if self.hint else []


def run_job(session: Session, job: Job, forms: Sequence[str] = ()) -> list[Run] | None:
    """Runs a job, with further options for its commands (--json, --commit).

    Returns None, and does nothing, if another process runs the same job.
    """
    workspace = session.open_workspace()
    agents = [find_agent(workspace, session.agent).id] if session.agent else list_agents(workspace)
    patience = session.lock_timeout or str(load_settings(workspace, None, {})["schedule.patience"])
    lock = Lock(workspace.schedule_lock(job.name), workspace.root)
    try:
        lock.acquire(0, f"mabos schedule run {job.name}")
    except Conflict:
        return None
    try:
        base = ["-w", os.fspath(workspace.root), "--lock-timeout", patience]
        return [_run([*base, "-a", a, *forms], a, words) for a in agents for words in job.commands]
    finally:
        lock.release()


def _run(options: list[str], agent: str, words: tuple[str, ...]) -> Run:
    """Runs one command for one agent."""
    line = [sys.executable, "-P", "-m", "mabos_cli", *options, *words]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    out, err = (data.decode("utf-8", "replace") for data in (done.stdout, done.stderr))
    read = _read_json if "--json" in options else _read_text
    return Run(agent, " ".join(words), done.returncode, *read(out, err))


def _read_json(out: str, err: str) -> tuple[Any, list[str], str, str]:
    """Parses answer, warnings, error and hint of a command that prints JSON; one that crashed prints text."""
    try:
        found = json.loads(out) if out else {}
        error = json.loads(err)["error"] if err else {"message": "", "hint": ""}
        return found.get("data"), found.get("warnings", []), error["message"], error.get("hint") or ""
    except (ValueError, KeyError, TypeError):
        return _read_text(out, err)


def _read_text(out: str, err: str) -> tuple[Any, list[str], str, str]:
    """Parses answer, warnings, error and hint of a command that prints text."""
    printed = [line for line in err.split("\n") if line.strip()]
    warnings = [line.removeprefix("warning: ") for line in printed if line.startswith("warning: ")]
    errors = [line.removeprefix("mabos: ") for line in printed if line.startswith("mabos: ")]
    hints = [line.removeprefix("  hint: ") for line in printed if line.startswith("  hint: ")]
    return out.removesuffix("\n").split("\n"), warnings, (errors or printed or [""])[-1], "".join(hints[-1:])


def job_fault(failed: list[Run], total: int) -> MabosError:
    """Returns the error of a job, with the exit code of its first failure. The results are printed already."""
    first = failed[0]
    kinds = {kind.exit_code: kind for kind in MabosError.__subclasses__() if kind.__module__ == MabosError.__module__}
    names = ", ".join(each.name for each in failed[:5]) + (", ..." if len(failed) > 5 else "")
    fault = kinds.get(first.exit, MabosError)(
        f"{len(failed)} of {plural(total, 'run')} failed: {names}", "run them by hand to see more"
    )
    fault.exit_code, fault.is_reported = (first.exit if first.exit > 0 else 128 - first.exit), True
    return fault


class UnitChanges(NamedTuple):
    """The units to write and to remove so that the folder has exactly the wanted ones: sorted names."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.gone)


def units_folder() -> Path:
    """Returns the folder of the user's own systemd units."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(os.path.abspath(base)) / "systemd" / "user"


def find_units(folder: Path, root: str) -> list[str]:
    """Finds the units of a workspace: those whose first line is its mark."""
    mark = timers.render_mark(root).encode()
    names = [name for name in list_names(folder) if name.startswith("mabos-") and name.endswith(_ENDINGS)]
    return [name for name in names if (read_bytes(folder / name) or b"").partition(b"\n")[0] == mark]


def plan_units(folder: Path, root: str, wanted: Mapping[str, str]) -> UnitChanges:
    """Compares the folder with the wanted units; Conflict if a name is taken by another file."""
    ours = find_units(folder, root)
    held = {name: read_bytes(folder / name) for name in wanted}
    for name, data in held.items():
        if data is not None and name not in ours:
            raise Conflict(f"{folder / name} is not a unit of this workspace",
                           "choose another name with schedule.name in mabos.yaml, or remove the file")  # fmt: skip
    return UnitChanges(
        tuple(sorted(name for name, data in held.items() if data is None)),
        tuple(sorted(n for n, data in held.items() if data is not None and data != wanted[n].encode())),
        tuple(sorted(set(ours) - set(wanted))),
    )


def write_units(folder: Path, wanted: Mapping[str, str], changes: UnitChanges) -> None:
    """Writes and removes the units that a plan names."""
    for name in (*changes.new, *changes.changed):
        path = folder / name
        replace_file(path, wanted[name].encode(), root=folder, expect=read_bytes(path))
    for name in changes.gone:
        # If systemd does not answer, the link that starts the timer has to be removed here.
        if os.path.lexists(link := folder / "timers.target.wants" / name):
            remove_file(link, root=folder)
        remove_file(folder / name, root=folder)


def open_schedule(workspace: WorkspacePaths) -> tuple[timers.Installation, Settings]:
    """Returns how the jobs of a workspace are installed, and the settings that say when each runs."""
    settings = load_settings(workspace, None, {})
    name = unit_name(settings["schedule.name"], workspace.root.name)
    return timers.Installation(find_program(), os.fspath(workspace.root), name), settings


def describe_jobs(installation: timers.Installation, settings: Settings) -> list[dict[str, Any]]:
    """Returns the data of the jobs: when each runs, its commands, and the name of its units."""
    return [
        {"job": job.name, "when": settings[job.setting], "commands": [" ".join(words) for words in job.commands]}
        | {"unit": installation.unit(job)}
        for job in JOBS
    ]


def render_form(form: str, installation: timers.Installation, settings: Settings) -> dict[str, str]:
    """Returns the unit files, or the lines of a crontab, by name."""
    check_choice(form, timers.FORMATS, "format")
    due = due_jobs(settings.values)
    if form == "cron":
        return {"crontab": timers.render_cron_block(installation, due) if due else ""}
    found: dict[str, str] = {}
    for job, rhythm in due:
        found |= timers.render_units(installation, job, rhythm, settings[job.setting], settings["schedule.delay"])
    return found


def find_root(session: Session) -> str:
    """Returns the folder of the workspace, which may be gone while its jobs are still installed."""
    try:
        return os.fspath(session.open_workspace().root)
    except NotFound:
        named = session.workspace or os.environ.get("MABOS_WORKSPACE")
        if not named:
            raise
        return os.path.abspath(os.path.expanduser(named))


def find_installed(root: str) -> list[str]:
    """Returns what runs the jobs of a workspace: systemd, cron, both or none."""
    found = ["systemd"] if find_units(units_folder(), root) else []
    try:
        crontab = read_crontab()
    except Unavailable:
        return found
    return found + (["cron"] if timers.replace_cron_block(crontab, root, "") != crontab else [])


def install_units(root: str, wanted: Mapping[str, str], dry_run: bool) -> tuple[Path, UnitChanges, list[str]]:
    """Installs exactly the wanted units; returns their folder, the changes, and commands that are left to run."""
    folder = units_folder()
    changes = plan_units(folder, root, wanted)
    if dry_run:
        return folder, changes, []
    left = run_systemctl(_order("stop", changes.gone))
    write_units(folder, wanted, changes)
    reload = [["daemon-reload"]] if changes else []
    left += run_systemctl([*reload, *_order("enable --now", wanted), *_order("restart", changes.changed)])
    return folder, changes, left


def install_cron(root: str, block: str, dry_run: bool) -> bool:
    """Adds the lines of a workspace to the user's crontab, or removes them; returns whether that changed anything."""
    before = read_crontab()
    after = timers.replace_cron_block(before, root, block)
    if after != before and not dry_run:
        write_crontab(after)
    return after != before


def _order(words: str, names: Iterable[str]) -> list[list[str]]:
    """Returns an order for systemd about the timers among some units, if there are any."""
    found = sorted(name for name in names if name.endswith(".timer"))
    return [[*words.split(), *found]] if found else []
