"""bdi: what an agent's mind is at odds with itself about."""

from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.inputs import option
from mabos_cli.core.conflicts import Conflict, find_conflicts
from mabos_cli.core.mind import Belief
from mabos_cli.core.text import one_line, plural
from mabos_cli.errors import CheckFailed
from mabos_cli.workspace.mind import load_beliefs

app = new_group("bdi", "Find what an agent's beliefs disagree about.", no_args_is_help=True)


@app.command()
def conflicts(
    ctx: typer.Context,
    floor: Annotated[
        float | None, typer.Option(help="Only beliefs that are more certain than this (default 0.6).")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit 7 when there are any.")] = False,
) -> None:
    """List the beliefs that contradict each other, with their places and what to do.

    Example: mabos bdi conflicts --check
    """
    call: Call = ctx.obj
    home = call.open_home()
    beliefs, problems = load_beliefs(home)
    floor = home.settings["bdi.certainty_floor"] if floor is None else option("bdi.certainty_floor", floor)
    found = find_conflicts(beliefs, floor)
    warnings = [f"{p.path}:{p.line}: {p.message}" for p in problems]
    data = {"beliefs": len(beliefs), "conflicts": [_row(conflict) for conflict in found]}
    lines = [line for conflict in found for line in _told(conflict)]
    quiet = f"no conflicts among {plural(len(beliefs), 'belief')}"
    call.emit("bdi.conflicts", data, lines or [quiet], warnings)
    if check and found:
        raise CheckFailed(f"{plural(len(found), 'conflict')} among {plural(len(beliefs), 'belief')}")


def _row(conflict: Conflict) -> dict[str, Any]:
    sides = {"a": _side(conflict.a), "b": _side(conflict.b)}
    told = {"kind": conflict.kind, "severity": conflict.severity, "newer": conflict.newer or None}
    return {"key": conflict.key, "subject": conflict.subject, **told, "reason": conflict.reason, **sides,
            "action": conflict.action}  # fmt: skip


def _side(belief: Belief) -> dict[str, Any]:
    return {
        "id": belief.id or None,
        "place": belief.place,
        "statement": belief.statement,
        "certainty": belief.certainty,
        "updated": belief.updated or None,
        "supports": list(belief.supports),
    }


def _told(conflict: Conflict) -> list[str]:
    def side(belief: Belief, mark: str) -> str:
        dated = f", {belief.updated}" if belief.updated else ""
        newer = ", newer" if conflict.newer == mark else ""
        return f"  {belief.place} ({belief.certainty:.2f}{dated}{newer}) {one_line(belief.statement, 110)}"

    head = f"{one_line(conflict.subject, 60)}: {conflict.reason} ({conflict.kind}, severity {conflict.severity:.2f})"
    goals = [f"  touches {', '.join(conflict.goals)}"] if conflict.goals else []
    return [head, side(conflict.a, "a"), side(conflict.b, "b"), *goals, f"  {conflict.action}"]
