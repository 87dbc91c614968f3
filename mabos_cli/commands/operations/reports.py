"""report, review, doctor and schedule: what people read about agents, and what runs by itself."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from mabos_cli.commands.call import Argument, Call, Commands, Context, DryRun, Every, Option, open_progress
from mabos_cli.core import BadValue
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.operations.schedule import find_job
from mabos_cli.errors import CheckFailed, UsageFault
from mabos_cli.services.inputs import NO_AGENTS
from mabos_cli.services.operations.schedule import (
    describe_jobs,
    find_installed,
    find_root,
    install_cron,
    install_units,
    job_fault,
    open_schedule,
    render_form,
    run_job,
)
from mabos_cli.terminal.emit import columns, note

if TYPE_CHECKING:
    from mabos_cli.services.operations.soundness import Finding

app = Commands()
_FILES_SHOWN = 10


@app.command()
def report(
    ctx: Context,
    output: Annotated[
        str, Option("--output", "-o", metavar="FILE", help="The file to write; - prints it.")
    ] = "report.html",
    every: Annotated[bool, Option("--all", help="All agents, even if MABOS_AGENT names one.")] = False,
    force: Annotated[bool, Option("--force", help="Replace a file that is not a report of mabos.")] = False,
) -> None:
    """Write an HTML report about one agent or all of them.

    The page needs no network and no script. Without --agent, it covers all agents of the workspace.

    Example: mabos report -o report.html
    """
    from mabos_cli.services.operations.report import make_report

    ctx.obj.check_all(every)
    page = make_report(ctx.obj, output, every=every, force=force)
    data = {"path": None if output == "-" else output, "agents": page.agents, "bytes": len(page.html.encode("utf-8"))}
    if page.is_written is None:
        return ctx.obj.emit("report", data | {"html": page.html}, page.html.rstrip("\n").split("\n"), page.troubles)
    verb = "wrote" if page.is_written else "nothing new in"
    lines = [f"{verb} {output}: {plural(len(page.agents), 'agent')}"]
    ctx.obj.emit("report", data | {"written": page.is_written}, lines, page.troubles)


@app.command()
def review(
    ctx: Context,
    rev: Annotated[str, Argument(metavar="[REV]", help="A commit, branch or tag (default: the last commit).")] = "",
    every: Every = False,
    since: Annotated[
        str, Option(metavar="DATE", help="Compare with the last commit before a date, or an age such as 7d.")
    ] = "",
    limit: Annotated[int, Option("--limit", "-n", min=0, help="Show at most this many a section; 0 for all.")] = 20,
) -> None:
    """Show what an agent learned since a commit or date.

    Compares the contents of the current files, committed or not: memories, facts, beliefs, goals, rules, cases.

    Example: mabos review HEAD~5 --all
    """
    from mabos_cli.core.operations.review import section_lines
    from mabos_cli.services.operations.review import Review, review_agents

    ctx.obj.check_all(every)
    commit, reviews = review_agents(ctx.obj, rev, since, every=every)
    about = f"since {since}" if since else f"since {one_line(rev, 40) or 'the last commit'}"

    def lines(found: Review) -> Iterator[str]:
        if not (found.sections or found.captured or found.harvested or found.files):
            yield f"{found.agent}: nothing new {about}"
            return
        counts = [f"{section.name} {len(section.rows)}" for section in found.sections]
        yield f"{found.agent} {about}: {', '.join(counts) or 'nothing learned'}"
        for section in found.sections:
            yield from section_lines(section, limit)
        if found.captured or found.harvested:
            yield f"observations: {found.captured} captured, {found.harvested} harvested"
        if found.files:
            more = len(found.files) - _FILES_SHOWN
            names = ", ".join(one_line(name, 80) for name in found.files[:_FILES_SHOWN])
            yield f"also changed: {names}" + (f" and {plural(more, 'more file')}" if more > 0 else "")

    data = {"commit": commit or None, "agents": [found.as_dict(limit) for found in reviews]}
    ctx.obj.emit("review", data, [line for found in reviews for line in lines(found)])


@app.command()
def doctor(
    ctx: Context,
    mend: Annotated[bool, Option("--repair", help="Repair what can be repaired without guessing.")] = False,
    full: Annotated[bool, Option("--full", help="Also read unchanged files again.")] = False,
    check: Annotated[bool, Option("--check", help="Exit 7 if anything needs attention.")] = False,
    security: Annotated[bool, Option("--security", help="Check the security of the whole workspace instead.")] = False,
) -> None:
    """Check every file of an agent; --repair fixes what it can.

    Files that were in order the last time and have not changed since are read again only with --full or --repair.

    With --security, it checks the whole workspace: settings that need permission, links that lead out, special files,
    secrets by file and line, files that others can read, dates in the future, stale locks.

    Example: mabos doctor --repair
    """
    from mabos_cli.services.operations.doctor import diagnose

    if security:
        if mend:
            raise UsageFault("--security repairs nothing", "leave --repair out")
        return _show_security(ctx.obj, check)
    agent = ctx.obj.open_agent(fallback=True)
    found = diagnose(agent, mend=mend, full=full)
    lines = [step if step.startswith("stopped") else f"repaired: {step}" for step in found.repaired]
    lines += [_finding_line(finding) for finding in found.findings]
    if not found.serious:
        lines.append(f"agent {agent.id} is healthy")
    index = found.index_state
    waiting = index.get("waiting_for_the_better_model")
    later = (
        f" when {plural(waiting, 'passage')} more are embedded; until then {index['indexed_model']}" if waiting else ""
    )
    lines.append(f"index: {index['state']}; vectors: {index['vectors']}; model: {index['model'] or 'none'}{later}")
    rows = [finding._asdict() for finding in found.findings]
    data = {"agent": agent.id, "healthy": not found.serious, "findings": rows, "repaired": found.repaired}
    ctx.obj.emit("doctor", data | {"index": index}, lines)
    if check and found.serious:
        raise CheckFailed(
            f"{plural(len(found.serious), 'finding')}",
            "mabos doctor --repair fixes flaws; problems need a person",
        )


def _finding_line(finding: "Finding") -> str:
    place = f"{finding.place} " if finding.place else ""
    return one_line(f"{finding.level}: {place}{finding.message}", 400)


def _show_security(call: Call, check: bool) -> None:
    from mabos_cli.services.operations.security import inspect_workspace

    findings = inspect_workspace(call, None if call.quiet else open_progress("looking for secrets"))
    serious = [finding for finding in findings if finding.level != "note"]
    lines = [_finding_line(finding) for finding in findings] + ([] if serious else ["nothing risky found"])
    data = {"safe": not serious, "findings": [finding._asdict() for finding in findings]}
    call.emit("doctor.security", data, lines)
    if check and serious:
        raise CheckFailed(f"{plural(len(serious), 'finding')}", "they need a person")


schedule = Commands("schedule", "Schedule the maintenance of all agents, with systemd timers or cron.")
UserUnits = Annotated[bool, Option("--user", help="Use systemd user timers.")]
Crontab = Annotated[bool, Option("--cron", help="Use your crontab.")]


@schedule.command()
def show(
    ctx: Context,
    form: Annotated[
        str, Option("--format", metavar="[systemd|cron]", help="Print the systemd units or the cron lines.")
    ] = "",
) -> None:
    """Show the maintenance jobs, their times, and whether they are installed.

    Example: mabos schedule show --format cron
    """
    installation, settings = open_schedule(ctx.obj.open_workspace())
    jobs, installed = describe_jobs(installation, settings), find_installed(installation.root)
    data: dict[str, Any] = {"workspace": installation.root, "jobs": jobs, "installed": installed}
    if form:
        texts = render_form(form, installation, settings)
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


@schedule.command()
def install(ctx: Context, user: UserUnits = False, cron: Crontab = False, dry_run: DryRun = False) -> None:
    """Install the jobs in systemd or cron; run it again after a change of settings.

    User timers run while the user is logged in, or always after `loginctl enable-linger`.

    Example: mabos schedule install --user --dry-run
    """
    form = _choose_form(user, cron)
    installation, settings = open_schedule(ctx.obj.open_workspace())
    _change(ctx.obj, "install", form, installation.root, render_form(form, installation, settings), dry_run)


@schedule.command()
def uninstall(ctx: Context, user: UserUnits = False, cron: Crontab = False, dry_run: DryRun = False) -> None:
    """Remove the jobs of this workspace from systemd or cron, wherever they are installed.

    Example: mabos schedule uninstall
    """
    root = find_root(ctx.obj)
    installed = [] if user or cron else find_installed(root)
    form = _choose_form(user or installed == ["systemd"] or not (cron or installed), cron or installed == ["cron"])
    _change(ctx.obj, "uninstall", form, root, {}, dry_run)


def _choose_form(user: bool, cron: bool) -> str:
    if user == cron:
        raise BadValue(
            "either --user or --cron is needed", "--user for systemd timers of your user, --cron for your crontab"
        )
    return "systemd" if user else "cron"


def _change(call: Call, verb: str, form: str, root: str, wanted: dict[str, str], dry_run: bool) -> None:
    if form == "cron":
        _change_crontab(call, verb, root, wanted.get("crontab", ""), dry_run)
    else:
        _change_units(call, verb, root, wanted, dry_run)


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


@schedule.command()
def run(ctx: Context, job: Annotated[str, Argument(metavar="[cycle|sync|nightly|weekly]", help="The job.")]) -> None:
    """Run a job now, for every agent, or for the one given by --agent.

    If a command fails, the others still run; the exit code is that of the first failure.

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
