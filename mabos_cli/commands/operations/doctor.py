"""doctor: is everything whole?"""

from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core.language.text import plural
from mabos_cli.errors import CheckFailed
from mabos_cli.services.operations.doctor import examine, repair
from mabos_cli.services.search.agent_index import AgentIndex
from mabos_cli.workspace.agent import Agent

app = typer.Typer()


@app.command()
def doctor(
    ctx: typer.Context,
    mend: Annotated[bool, typer.Option("--repair", help="Mend what can be mended without guessing.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Exit 7 when anything needs attention.")] = False,
) -> None:
    """Check every file of an agent, and repair what can be repaired.

    Example: mabos doctor --repair
    """
    call: Call = ctx.obj
    agent = call.open_agent(fallback=True)
    done = repair(agent) if mend else []
    found = examine(agent)
    bad = [finding for finding in found if finding.level != "note"]
    rows = [{"level": f.level, "place": f.place, "message": f.message} for f in found]
    lines = [step if step.startswith("stopped") else f"repaired: {step}" for step in done]
    lines += [f"{f.level}: {f.place + ' ' if f.place else ''}{f.message}" for f in found]
    if not bad:
        lines.append(f"agent {agent.id} is healthy")
    index = _index(agent)
    lines.append(f"index: {index['state']}; vectors: {index['vectors']}; model: {index['model'] or 'none'}")
    data = {"agent": agent.id, "healthy": not bad, "findings": rows, "repaired": done, "index": index}
    call.emit("doctor", data, lines)
    if check and bad:
        raise CheckFailed(
            f"{plural(len(bad), 'finding')} to attend to", "mabos doctor --repair mends flaws; problems need a person"
        )


def _index(agent: Agent) -> dict[str, Any]:
    """State of the index, the step in use, and the model that the settings name."""
    found = AgentIndex(agent).describe()
    return {name: found[name] for name in ("state", "step", "vectors", "model")}
