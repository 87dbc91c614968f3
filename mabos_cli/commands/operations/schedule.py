"""schedule: what runs by itself, by timers of systemd or by cron."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.options import DryRun
from mabos_cli.core import BadValue
from mabos_cli.core.memory.item import check_choice
from mabos_cli.core.operations.schedule import JOBS, Job, find_job
from mabos_cli.errors import NotFound
from mabos_cli.formats.operations.timers import FORMATS
from mabos_cli.services.operations.schedule import (
    Plan,
    Run,
    UnitChanges,
    find_installed,
    install_cron,
    install_units,
    job_fault,
    open_plan,
    run_job,
)
from mabos_cli.services.session import NO_AGENTS
from mabos_cli.terminal.emit import columns, note

app = new_group("schedule", "Run the upkeep of all agents by timers of systemd, or by cron.", no_args_is_help=True)
UserUnits = Annotated[bool, typer.Option("--user", help="Timers of your systemd.")]
Crontab = Annotated[bool, typer.Option("--cron", help="Lines in your crontab.")]


@app.command()
def show(
    ctx: typer.Context, form: Annotated[str, typer.Option("--format", help="The text of it: systemd or cron.")] = ""
) -> None:
    """Show the jobs, when each runs, and whether they are installed.

    Example: mabos schedule show --format cron
    """
    call: Call = ctx.obj
    plan = open_plan(call.open_workspace())
    jobs = [
        {"job": job.name, "when": plan.settings[job.setting], "commands": [" ".join(c) for c in job.commands],
         "unit": plan.station.unit(job)}
        for job in JOBS
    ]  # fmt: skip
    data: dict[str, Any] = {"workspace": plan.root, "jobs": jobs, "installed": find_installed(plan.root)}
    if form:
        texts = _texts(plan, check_choice(form, FORMATS, "format"))
        return call.emit("schedule.show", data | {"format": form, "files": texts}, _told(texts))
    lines = columns([(str(row["job"]), str(row["when"]), ", ".join(row["commands"])) for row in jobs])
    named = ", ".join(data["installed"]) or "nowhere; mabos schedule install --user, or --cron"
    call.emit("schedule.show", data, [*lines, f"installed: {named}"])


def _texts(plan: Plan, form: str) -> dict[str, str]:
    return {"crontab": plan.cron()} if form == "cron" else plan.units()


def _told(texts: dict[str, str]) -> Iterator[str]:
    """Yields the lines of files one after the other; a single file needs no name above it."""
    for number, (name, text) in enumerate(texts.items()):
        if len(texts) > 1:
            yield from ([""] if number else []) + [f"# {name}"]
        yield from text.splitlines()


@app.command()
def install(ctx: typer.Context, user: UserUnits = False, cron: Crontab = False, dry_run: DryRun = False) -> None:
    """Have the jobs run by themselves; again after a change of settings.

    Timers of a user run while that user is logged in, or always after `loginctl enable-linger`.

    Example: mabos schedule install --user --dry-run
    """
    call: Call = ctx.obj
    _check_one(user, cron)
    plan = open_plan(call.open_workspace())
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
    """Returns the workspace, even one that is gone: its jobs may have outlived it."""
    try:
        return os.fspath(call.open_workspace().root)
    except NotFound:
        named = call.workspace or os.environ.get("MABOS_WORKSPACE")
        if not named:
            raise
        return os.path.abspath(os.path.expanduser(named))


def _put_units(call: Call, verb: str, root: str, wanted: dict[str, str], dry_run: bool) -> None:
    folder, changes, left = install_units(root, wanted, dry_run)
    data = {"dry_run": dry_run, "folder": os.fspath(folder), **{k: list(v) for k, v in changes._asdict().items()},
            "left_to_run": left}  # fmt: skip
    warnings = [f"systemd did not answer; run: {' && '.join(left)}"] if left else []
    call.emit(f"schedule.{verb}", data, _unit_lines(folder, changes, dry_run, bool(wanted)), warnings)


def _unit_lines(folder: Path, changes: UnitChanges, dry_run: bool, wanted: bool) -> Iterator[str]:
    would = "would " if dry_run else ""
    for verb, names in (("write", (*changes.new, *changes.changed)), ("remove", changes.gone)):
        done = f"{would}{verb}" if dry_run else {"write": "wrote", "remove": "removed"}[verb]
        yield from (f"{done} {folder / name}" for name in names)
    if not changes:
        yield "nothing to change: the units are as they should be" if wanted else "no units of this workspace"


def _put_cron(call: Call, verb: str, root: str, block: str, dry_run: bool) -> None:
    changed = install_cron(root, block, dry_run)
    data = {"dry_run": dry_run, "changed": changed, "lines": block.splitlines()}
    doing = f"would {verb}" if dry_run else f"{verb}ed"
    lines = [f"{doing} in your crontab:" if block else f"{doing}: the lines of this workspace", *block.splitlines()]
    call.emit(f"schedule.{verb}", data, lines if changed else ["nothing to change in your crontab"])


@app.command()
def run(
    ctx: typer.Context, job: Annotated[str, typer.Argument(metavar="JOB", help="cycle, sync, nightly or weekly.")]
) -> None:
    """Run the commands of a job for every agent, or for the one given by --agent, one after the other.

    A command that fails is reported and the rest is done; the exit code is that of the first failure.

    Example: mabos schedule run nightly
    """
    call: Call = ctx.obj
    found = find_job(job)
    forms = [*(["--json"] if call.as_json else ()), *(["--commit"] if call.commit else ())]
    runs = run_job(call, found, forms)
    if runs is None:
        return call.emit("schedule.run", _summary(found, (), skipped=True), [f"{found.name} is running already"])
    lines = [line for each in runs for line in _lines(each)]
    warnings = [f"{each.name}: {text}" for each in runs for text in each.warnings]
    call.emit("schedule.run", _summary(found, runs), lines or [NO_AGENTS], warnings)
    failed = [each for each in runs if each.exit]
    if failed:
        for each in failed if call.quiet and not call.as_json else ():
            for line in (f"mabos: {each.name}: {each.error}", *_hint(each)):
                note(line)
        raise job_fault(failed, len(runs))


def _summary(job: Job, runs: Any, *, skipped: bool = False) -> dict[str, Any]:
    rows = [
        {"agent": each.agent, "command": each.command, "exit": each.exit, "data": each.answer,
         "error": each.error if each.exit else None, "hint": each.hint if each.exit else None}
        for each in runs
    ]  # fmt: skip
    return {"job": job.name, "skipped": skipped, "runs": rows}


def _lines(each: Run) -> Iterator[str]:
    if each.exit:
        yield f"{each.name}: failed ({each.exit}): {each.error}"
        yield from _hint(each)
        return
    first, *more = each.answer or ["done"]
    yield f"{each.name}: {first or 'done'}"
    yield from (f"  {line}" for line in more)


def _hint(each: Run) -> list[str]:
    return [f"  hint: {each.hint}"] if each.hint else []
