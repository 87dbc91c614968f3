"""config: what is in effect, and why."""

from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call
from mabos_cli.config import SETTINGS, Setting, Settings, check_setting
from mabos_cli.core.language.clock import format_span
from mabos_cli.errors import NotFound, UsageFault
from mabos_cli.terminal.emit import columns
from mabos_cli.workspace.locate import find_agent
from mabos_cli.workspace.settings import load_settings

app = typer.Typer()


@app.command()
def config(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="A setting or a section; all by default.")] = "",
) -> None:
    """Show the settings in effect and where each comes from.

    Example: mabos config memory.short_term_ttl
    """
    call: Call = ctx.obj
    settings = _load(call)
    chosen = [s for s in SETTINGS if not name or s.name == name or s.name.startswith(name + ".")]
    if not chosen:
        check_setting(name, None)  # raises, with the nearest name
    rows = [
        {
            "name": s.name,
            "value": settings[s.name],
            "origin": settings.origins[s.name],
            "default": s.default,
            "about": s.about,
        }
        for s in chosen
    ]
    text = columns([(s.name, _shown(s, settings[s.name]), settings.origins[s.name], s.about) for s in chosen])
    call.emit("config", {"settings": rows}, text)


def _shown(setting: Setting, value: Any) -> str:
    if setting.kind == "span":
        return format_span(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _load(call: Call) -> Settings:
    """The settings of the agent, or of the workspace alone when no agent is meant."""
    workspace = call.open_workspace()
    try:
        agent = find_agent(workspace, call.agent)
    except (NotFound, UsageFault):
        if call.agent:
            raise
        agent = None
    return load_settings(workspace, agent, {"lock.timeout": call.lock_timeout})
