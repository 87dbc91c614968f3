"""context index: what an agent has before it at all times, written to memory/INDEX.md."""

from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core.memory_index import Headline
from mabos_cli.core.text import token_cost
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.seal import without_seal
from mabos_cli.workspace.domains import Survey, survey_memory
from mabos_cli.workspace.home import AgentHome
from mabos_cli.workspace.rebuild import refresh_index


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
    home = call.open_home()
    survey, changed, warnings = (survey_memory(home, home.load()), [], []) if no_write else _refresh(home)
    path = home.paths.relative(home.paths.index_md)
    per_token, found = home.settings["text.chars_per_token"], survey.index
    data = {
        "text": survey.text,
        "tokens": token_cost(survey.text, per_token),
        "counted_by": f"estimate: {per_token} characters a token",
        "critical": [_row(line) for line in found.critical],
        "projects": [_row(line) for line in found.projects],
        "domains": [
            {
                "name": domain.name,
                "path": home.paths.relative(home.paths.domain(domain.name)),
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


def _refresh(home: AgentHome) -> tuple[Survey, list[str], list[str]]:
    """The survey, the files that changed for it, and warnings. What cannot be written can still be read."""
    try:
        survey, files = refresh_index(home)
    except InvalidFile as error:
        return survey_memory(home, home.load()), [], [f"INDEX.md is not up to date: {error.message}"]
    return survey, files.changed, files.warnings


def _row(line: Headline) -> dict[str, Any]:
    return {"id": line.id, "type": line.type, "importance": line.importance, "text": line.text or None}
