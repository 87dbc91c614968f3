"""report, review and doctor: what people read about agents."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from mabos_cli.commands.call import Argument, Call, Commands, Context, Every, Option, open_progress
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.errors import CheckFailed, UsageFault

if TYPE_CHECKING:
    from mabos_cli.services.operations.doctor import Finding

app = Commands()
_FILES_SHOWN = 10


@app.command()
def report(
    ctx: Context,
    output: Annotated[
        str, Option("--output", "-o", metavar="FILE", help="Where the page goes; - prints it.")
    ] = "report.html",
    every: Annotated[bool, Option("--all", help="All agents, even if MABOS_AGENT names one.")] = False,
    force: Annotated[bool, Option("--force", help="Replace a file that is no report of ours.")] = False,
) -> None:
    """Write a page of HTML that shows memory, mind and facts of one agent or of all.

    The page needs nothing else: no network, no script. Without --agent it is about all agents of the workspace.

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
    rev: Annotated[str, Argument(metavar="[REV]", help="A commit, branch or tag; else the last commit.")] = "",
    every: Every = False,
    since: Annotated[
        str, Option(metavar="DATE", help="Since the last commit before a date, or an age such as 7d.")
    ] = "",
    limit: Annotated[int, Option("--limit", "-n", min=0, help="Show at most this many a section; 0 for all.")] = 20,
) -> None:
    """Show what an agent learned since a commit.

    Compares the files as they are now, committed or not, by what they hold: memories, facts, beliefs, goals, rules, cases.

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
    mend: Annotated[bool, Option("--repair", help="Mend what can be mended without guessing.")] = False,
    check: Annotated[bool, Option("--check", help="Exit 7 when anything needs attention.")] = False,
    security: Annotated[
        bool, Option("--security", help="Instead look for what makes the whole workspace risky.")
    ] = False,
) -> None:
    """Check every file of an agent, and repair what can be repaired.

    With --security it looks at the whole workspace, whoever made it: settings that need permission, links that lead
    out, special files, secrets by file and line, files that others can read, dates in the future, stale locks.

    Example: mabos doctor --repair
    """
    from mabos_cli.services.operations.doctor import diagnose

    if security:
        if mend:
            raise UsageFault("--security repairs nothing", "leave --repair out")
        return _show_security(ctx.obj, check)
    agent = ctx.obj.open_agent(fallback=True)
    found = diagnose(agent, mend=mend)
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
            f"{plural(len(found.serious), 'finding')} to attend to",
            "mabos doctor --repair mends flaws; problems need a person",
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
        raise CheckFailed(f"{plural(len(serious), 'finding')} to attend to", "they need a person")
