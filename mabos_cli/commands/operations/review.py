"""review: what an agent learned, for a person."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call
from mabos_cli.commands.options import Every
from mabos_cli.core.language.clock import parse_when
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.operations.review import Section, count_states, section_lines
from mabos_cli.errors import NotFound, UsageFault
from mabos_cli.services.operations.review import Review, review_agent
from mabos_cli.workspace.git import Repository, Revision, commit_before, find_commit, head_commit, open_repository
from mabos_cli.workspace.layout import AgentPaths, WorkspacePaths
from mabos_cli.workspace.locate import find_agent, list_agents
from mabos_cli.workspace.runtime import now

app = typer.Typer()
_FILES_SHOWN = 10


@app.command()
def review(
    ctx: typer.Context,
    rev: Annotated[str, typer.Argument(metavar="[REV]", help="A commit, branch or tag; else the last commit.")] = "",
    every: Every = False,
    since: Annotated[
        str, typer.Option(metavar="DATE", help="Since the last commit before a date, or an age such as 7d.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, help="Show at most this many a section; 0 for all.")
    ] = 20,
) -> None:
    """Show what an agent learned since a commit.

    Compares the files as they are now, committed or not, by what they hold: memories, facts, beliefs, goals, rules, cases.

    Example: mabos review HEAD~5 --all
    """
    call: Call = ctx.obj
    if rev and since:
        raise UsageFault("both a commit and --since given", "each of them says where to begin")
    workspace = call.open_workspace()
    agents = _agents(call, workspace, every)
    repository = open_repository(workspace.root)
    commit = _commit(repository, rev, since)
    told = [(agent, review_agent(agent, Revision(repository, commit, agent.root))) for agent in agents]
    about = f"since {since}" if since else f"since {one_line(rev, 40) or 'the last commit'}"
    data = {"commit": commit or None, "agents": [_report(agent, found, limit) for agent, found in told]}
    call.emit("review", data, [line for agent, found in told for line in _lines(agent.id, found, about, limit)])


def _agents(call: Call, workspace: WorkspacePaths, every: bool) -> list[AgentPaths]:
    call.check_all(every)
    if not every:
        return [find_agent(workspace, call.agent)]
    found = [workspace.agent(name) for name in list_agents(workspace)]
    if not found:
        raise NotFound("this workspace has no agent", "make one: mabos agent create ID")
    return found


def _commit(repository: Repository, rev: str, since: str) -> str:
    """Where to begin; nothing is a beginning without any commit."""
    if since:
        return commit_before(repository, parse_when(since, now()))
    return find_commit(repository, rev) if rev else head_commit(repository)


def _report(agent: AgentPaths, found: Review, limit: int) -> dict[str, Any]:
    return {
        "agent": agent.id,
        "counts": {section.name: count_states(section) for section in found.sections},
        "sections": {section.name: _rows(section, limit) for section in found.sections},
        "observations": {"captured": found.captured, "harvested": found.harvested},
        "files": list(found.files),
    }


def _rows(section: Section, limit: int) -> list[dict[str, Any]]:
    rows = section.rows[:limit] if limit else section.rows
    return [
        {name: value for name, value in row._asdict().items() if value not in ("", 0.0) and name != "weight"}
        for row in rows
    ]


def _lines(agent: str, found: Review, about: str, limit: int) -> Iterator[str]:
    if not (found.sections or found.captured or found.harvested or found.files):
        yield f"{agent}: nothing new {about}"
        return
    counts = [f"{section.name} {len(section.rows)}" for section in found.sections]
    yield f"{agent} {about}: {', '.join(counts) or 'nothing learned'}"
    for section in found.sections:
        yield from section_lines(section, limit)
    if found.captured or found.harvested:
        yield f"observations: {found.captured} captured, {found.harvested} harvested"
    if found.files:
        more = len(found.files) - _FILES_SHOWN
        names = ", ".join(one_line(name, 80) for name in found.files[:_FILES_SHOWN])
        yield f"also changed: {names}" + (f" and {plural(more, 'more file')}" if more > 0 else "")
