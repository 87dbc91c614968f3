"""schedule: what runs by itself, by timers of systemd or by cron."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from mabos_cli.backends.timers import read_crontab, tell_systemd, write_crontab
from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.options import DryRun
from mabos_cli.config import Settings
from mabos_cli.core import BadValue
from mabos_cli.core.memory.item import check_choice
from mabos_cli.core.operations.schedule import JOBS, due_jobs, find_job, unit_name
from mabos_cli.errors import NotFound, Unavailable
from mabos_cli.formats.operations.timers import Station, render_cron_block, render_units, replace_cron_block
from mabos_cli.services.operations.schedule import UnitChanges, find_units, plan_units, units_folder, write_units
from mabos_cli.terminal.emit import columns
from mabos_cli.workspace.settings import load_settings

app = new_group("schedule", "Run the upkeep of all agents by timers of systemd, or by cron.", no_args_is_help=True)
FORMATS = ("systemd", "cron")
UserUnits = Annotated[bool, typer.Option("--user", help="Timers of your systemd.")]
Crontab = Annotated[bool, typer.Option("--cron", help="Lines in your crontab.")]


class Plan(NamedTuple):
    """The schedule of a workspace, and both forms of it."""

    settings: Settings
    station: Station

    @property
    def root(self) -> str:
        return self.station.root

    def units(self) -> dict[str, str]:
        """The unit files by name."""
        found: dict[str, str] = {}
        for job, rhythm in due_jobs(self.settings):
            when = self.settings[job.setting]
            found |= render_units(self.station, job, rhythm, when, self.settings["schedule.delay"])
        return found

    def cron(self) -> str:
        """The lines of the crontab."""
        due = due_jobs(self.settings)
        return render_cron_block(self.station, due) if due else ""


def _open(call: Call) -> Plan:
    workspace = call.open_workspace()
    settings = load_settings(workspace, None, {})
    root = os.fspath(workspace.root)
    return Plan(settings, Station(_program(), root, unit_name(settings["schedule.name"], workspace.root.name)))


def _program() -> tuple[str, ...]:
    """How the program that runs now is called from anywhere. A link stays a link: it outlives an upgrade."""
    own = os.path.abspath(sys.argv[0])
    if os.path.basename(own) == "mabos" and os.access(own, os.X_OK):
        return (own,)
    return (sys.executable, "-P", "-m", "mabos_cli")


@app.command()
def show(
    ctx: typer.Context, form: Annotated[str, typer.Option("--format", help="The text of it: systemd or cron.")] = ""
) -> None:
    """Show the jobs, when each runs, and whether they are installed.

    Example: mabos schedule show --format cron
    """
    call: Call = ctx.obj
    plan = _open(call)
    jobs = [
        {"job": job.name, "when": plan.settings[job.setting], "commands": [" ".join(c) for c in job.commands],
         "unit": plan.station.unit(job)}
        for job in JOBS
    ]  # fmt: skip
    data: dict[str, Any] = {"workspace": plan.root, "jobs": jobs, "installed": _installed(plan.root)}
    if form:
        texts = _texts(plan, check_choice(form, FORMATS, "format"))
        return call.emit("schedule.show", data | {"format": form, "files": texts}, _told(texts))
    lines = columns([(str(row["job"]), str(row["when"]), ", ".join(row["commands"])) for row in jobs])
    named = ", ".join(data["installed"]) or "nowhere; mabos schedule install --user, or --cron"
    call.emit("schedule.show", data, [*lines, f"installed: {named}"])


def _texts(plan: Plan, form: str) -> dict[str, str]:
    return {"crontab": plan.cron()} if form == "cron" else plan.units()


def _told(texts: dict[str, str]) -> Iterator[str]:
    """Files one after the other; what is alone needs no name above it."""
    for number, (name, text) in enumerate(texts.items()):
        if len(texts) > 1:
            yield from ([""] if number else []) + [f"# {name}"]
        yield from text.splitlines()


def _installed(root: str) -> list[str]:
    """Where the jobs of a workspace are installed."""
    found = ["systemd"] if find_units(units_folder(), root) else []
    try:
        crontab = read_crontab()
    except Unavailable:
        return found
    return found + (["cron"] if replace_cron_block(crontab, root, "") != crontab else [])


@app.command()
def install(ctx: typer.Context, user: UserUnits = False, cron: Crontab = False, dry_run: DryRun = False) -> None:
    """Have the jobs run by themselves; again after a change of settings.

    Timers of a user run while that user is logged in, or always after `loginctl enable-linger`.

    Example: mabos schedule install --user --dry-run
    """
    call: Call = ctx.obj
    _check_one(user, cron)
    plan = _open(call)
    if cron:
        _put_cron(call, "install", plan.root, plan.cron(), dry_run)
    else:
        _put_units(call, "install", plan.root, plan.units(), dry_run)


@app.command()
def uninstall(ctx: typer.Context, user: UserUnits = False, cron: Crontab = False, dry_run: DryRun = False) -> None:
    """Take the jobs of this workspace out again, and nothing else.

    Example: mabos schedule uninstall --user
    """
    call: Call = ctx.obj
    _check_one(user, cron)
    root = _known_root(call)
    if cron:
        _put_cron(call, "uninstall", root, "", dry_run)
    else:
        _put_units(call, "uninstall", root, {}, dry_run)


def _check_one(user: bool, cron: bool) -> None:
    if user == cron:
        raise BadValue("say who runs the jobs", "--user for timers of your systemd, or --cron for your crontab")


def _known_root(call: Call) -> str:
    """The workspace, even one that is gone: its jobs may have outlived it."""
    try:
        return os.fspath(call.open_workspace().root)
    except NotFound:
        named = call.workspace or os.environ.get("MABOS_WORKSPACE")
        if not named:
            raise
        return os.path.abspath(os.path.expanduser(named))


def _put_units(call: Call, verb: str, root: str, wanted: dict[str, str], dry_run: bool) -> None:
    folder = units_folder()
    changes = plan_units(folder, root, wanted)
    left: list[str] = []
    if not dry_run:
        left = tell_systemd([["stop", *_timers(changes.gone)]]) if _timers(changes.gone) else []
        write_units(folder, wanted, changes)
        left += tell_systemd(_orders(wanted, changes))
    data = {"dry_run": dry_run, "folder": os.fspath(folder), **{k: list(v) for k, v in changes._asdict().items()},
            "left_to_run": left}  # fmt: skip
    warnings = [f"systemd did not answer; run: {' && '.join(left)}"] if left else []
    call.emit(f"schedule.{verb}", data, _unit_lines(folder, changes, dry_run, bool(wanted)), warnings)


def _timers(names: Any) -> list[str]:
    return sorted(name for name in names if name.endswith(".timer"))


def _orders(wanted: dict[str, str], changes: UnitChanges) -> list[list[str]]:
    """What systemd is told behind the files: only what it cannot know."""
    orders = [["daemon-reload"]] if changes else []
    if wanted:
        orders.append(["enable", "--now", *_timers(wanted)])
    if _timers(changes.changed):
        orders.append(["restart", *_timers(changes.changed)])
    return orders


def _unit_lines(folder: Path, changes: UnitChanges, dry_run: bool, wanted: bool) -> Iterator[str]:
    would = "would " if dry_run else ""
    for verb, names in (("write", (*changes.new, *changes.changed)), ("remove", changes.gone)):
        done = f"{would}{verb}" if dry_run else {"write": "wrote", "remove": "removed"}[verb]
        yield from (f"{done} {folder / name}" for name in names)
    if not changes:
        yield "nothing to change: the units are as they should be" if wanted else "no units of this workspace"


def _put_cron(call: Call, verb: str, root: str, block: str, dry_run: bool) -> None:
    before = read_crontab()
    after = replace_cron_block(before, root, block)
    if after != before and not dry_run:
        write_crontab(after)
    data = {"dry_run": dry_run, "changed": after != before, "lines": block.splitlines()}
    doing = f"would {verb}" if dry_run else f"{verb}ed"
    lines = [f"{doing} in your crontab:" if block else f"{doing}: the lines of this workspace", *block.splitlines()]
    call.emit(f"schedule.{verb}", data, lines if after != before else ["nothing to change in your crontab"])


@app.command()
def run(
    ctx: typer.Context, job: Annotated[str, typer.Argument(metavar="JOB", help="cycle, sync, nightly or weekly.")]
) -> None:
    """Run the commands of a job for every agent, or for the one given by --agent, one after the other.

    A command that fails is reported and the rest is done; the exit code is that of the first failure.

    Example: mabos schedule run nightly
    """
    from mabos_cli.services.operations.schedule import run_job

    run_job(ctx.obj, find_job(job))
