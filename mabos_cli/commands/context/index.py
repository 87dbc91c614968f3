"""context index: what an agent has before it at all times, written to memory/INDEX.md."""

from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core.context.memory_index import Headline
from mabos_cli.core.language.text import token_cost
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.markdown.escape import without_seal
from mabos_cli.services.operations.rebuild import refresh_index
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.memory.derived_pages import Survey, survey_memory


def index(
    ctx: typer.Context,
    no_write: Annotated[
        bool, typer.Option("--no-write", help="Only print it; leave INDEX.md and the domains as they are.")
    ] = False,
) -> None:
    """Print the memory index, and bring INDEX.md and the domain files up to date.

    Critical items, active projects, and the domains that can be loaded: always under context.index_tokens tokens.

    Example: mabos context index --agent cfo
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    survey, changed, warnings = (survey_memory(agent, agent.load()), [], []) if no_write else _refresh(agent)
    path = agent.paths.relative(agent.paths.index_md)
    per_token, found = agent.settings["text.chars_per_token"], survey.memory_index
    data = {
        "text": survey.text,
        "tokens": token_cost(survey.text, per_token),
        "counted_by": f"estimate: {per_token} characters a token",
        "critical": [_row(line) for line in found.critical],
        "projects": [_row(line) for line in found.projects],
        "domains": [
            {
                "name": domain.name,
                "path": agent.paths.relative(agent.paths.domain(domain.name)),
                "items": domain.items,
                "tokens": domain.tokens,
            }
            for domain in found.domains
        ],
        "left_out": found.left_out(),
        "path": path,
        "changed": changed,
    }
    call.emit("context.index", data, without_seal(survey.text).rstrip("\n").split("\n"), warnings)


def _refresh(agent: Agent) -> tuple[Survey, list[str], list[str]]:
    """The survey, the files that changed for it, and warnings. What cannot be written can still be read."""
    try:
        survey, files = refresh_index(agent)
    except InvalidFile as error:
        return survey_memory(agent, agent.load()), [], [f"INDEX.md is not up to date: {error.message}"]
    return survey, files.changed, files.warnings


def _row(line: Headline) -> dict[str, Any]:
    return {"id": line.id, "type": line.type, "importance": line.importance, "text": line.text or None}
