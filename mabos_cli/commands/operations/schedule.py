"""schedule: what runs by itself, by timers of systemd or by cron."""

from collections.abc import Iterator
from typing import Annotated, Any

from mabos_cli.commands.call import Argument, Call, Commands, Context, DryRun, Option
from mabos_cli.core import BadValue
from mabos_cli.core.operations.schedule import find_job
from mabos_cli.services.inputs import NO_AGENTS
from mabos_cli.services.operations.schedule import (
    find_installed,
    find_root,
    install_cron,
    install_units,
    job_fault,
    open_schedule,
    run_job,
)
from mabos_cli.terminal.emit import columns, note

app = Commands("schedule", "Run the upkeep of all agents by timers of systemd, or by cron.")
UserUnits = Annotated[bool, Option("--user", help="Timers of your systemd.")]
Crontab = Annotated[bool, Option("--cron", help="Lines in your crontab.")]


@app.command()
def show(ctx: Context, form: Annotated[str, Option("--format", help="The text of it: systemd or cron.")] = "") -> None:
    """Show the jobs, when each runs, and whether they are installed.

    Example: mabos schedule show --format cron
    """
    schedule = open_schedule(ctx.obj.open_workspace())
    jobs, installed = schedule.jobs(), find_installed(schedule.root)
    data: dict[str, Any] = {"workspace": schedule.root, "jobs": jobs, "installed": installed}
    if form:
        texts = schedule.texts(form)
        return ctx.obj.emit("schedule.show", data | {"format": form, "files": texts}, _file_lines(texts))
    lines = columns([(row["job"], str(row["when"]), ", ".join(row["commands"])) for row in jobs])
    named = ", ".join(installed) or "nowhere; mabos schedule install --user, or --cron"
    ctx.obj.emit("schedule.show", data, [*lines, f"installed: {named}"])


def _file_lines(texts: dict[str, str]) -> Iterator[str]:
    """Yields the lines of files one after the other; a single file needs no name above it."""
    for number, (name, text) in enumerate(texts.items()):
        if len(texts) > 1:
            yield from ([""] if number else []) + [f"# {name}"]
        yield from text.splitlines()


@app.command()
def install(ctx: Context, user: UserUnits = False, cron: Crontab = False, dry_run: DryRun = False) -> None:
    """Have the jobs run by themselves; again after a change of settings.

    Timers of a user run while that user is logged in, or always after `loginctl enable-linger`.

    Example: mabos schedule install --user --dry-run
    """
    _check_one(user, cron)
    schedule = open_schedule(ctx.obj.open_workspace())
    if cron:
        _change_crontab(ctx.obj, "install", schedule.root, schedule.cron(), dry_run)
    else:
        _change_units(ctx.obj, "install", schedule.root, schedule.units(), dry_run)


@app.command()
def uninstall(ctx: Context, user: UserUnits = False, cron: Crontab = False, dry_run: DryRun = False) -> None:
    """Take the jobs of this workspace out again, and nothing else.

    Example: mabos schedule uninstall --user
    """
    _check_one(user, cron)
    if cron:
        _change_crontab(ctx.obj, "uninstall", find_root(ctx.obj), "", dry_run)
    else:
        _change_units(ctx.obj, "uninstall", find_root(ctx.obj), {}, dry_run)


def _check_one(user: bool, cron: bool) -> None:
    if user == cron:
        raise BadValue("say who runs the jobs", "--user for timers of your systemd, or --cron for your crontab")


def _change_units(call: Call, verb: str, root: str, wanted: dict[str, str], dry_run: bool) -> None:
    folder, changes, left = install_units(root, wanted, dry_run)
    lists = {name: list(names) for name, names in changes._asdict().items()}
    data = {"dry_run": dry_run, "folder": str(folder), **lists, "left_to_run": left}
    write, remove = ("would write", "would remove") if dry_run else ("wrote", "removed")
    lines = [f"{write} {folder / name}" for name in (*changes.new, *changes.changed)]
    lines += [f"{remove} {folder / name}" for name in changes.gone]
    if not changes:
        lines = ["nothing to change: the units are as they should be" if wanted else "no units of this workspace"]
    warnings = [f"systemd did not answer; run: {' && '.join(left)}"] if left else []
    call.emit(f"schedule.{verb}", data, lines, warnings)


def _change_crontab(call: Call, verb: str, root: str, block: str, dry_run: bool) -> None:
    changed = install_cron(root, block, dry_run)
    data = {"dry_run": dry_run, "changed": changed, "lines": block.splitlines()}
    doing = f"would {verb}" if dry_run else f"{verb}ed"
    lines = [f"{doing} in your crontab:" if block else f"{doing}: the lines of this workspace", *block.splitlines()]
    call.emit(f"schedule.{verb}", data, lines if changed else ["nothing to change in your crontab"])


@app.command()
def run(ctx: Context, job: Annotated[str, Argument(metavar="JOB", help="cycle, sync, nightly or weekly.")]) -> None:
    """Run the commands of a job for every agent, or for the one given by --agent, one after the other.

    A command that fails is reported and the rest is done; the exit code is that of the first failure.

    Example: mabos schedule run nightly
    """
    found = find_job(job)
    forms = [*(["--json"] if ctx.obj.as_json else ()), *(["--commit"] if ctx.obj.commit else ())]
    runs = run_job(ctx.obj, found, forms)
    data = {"job": found.name, "skipped": runs is None, "runs": [each.as_dict() for each in runs or ()]}
    if runs is None:
        return ctx.obj.emit("schedule.run", data, [f"{found.name} is running already"])
    lines = [line for each in runs for line in each.lines()]
    warnings = [f"{each.name}: {text}" for each in runs for text in each.warnings]
    ctx.obj.emit("schedule.run", data, lines or [NO_AGENTS], warnings)
    failed = [each for each in runs if each.exit]
    if failed:
        for each in failed if ctx.obj.quiet and not ctx.obj.as_json else ():
            for line in (f"mabos: {each.name}: {each.error}", *each.hint_lines()):
                note(line)
        raise job_fault(failed, len(runs))
