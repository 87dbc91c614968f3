"""demo: the program shows itself."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Answer, Call
from mabos_cli.services.operations.demo import load_tour, open_ground
from mabos_cli.terminal.emit import emit
from mabos_cli.workspace.git import Repository

app = typer.Typer()


@app.command()
def demo(
    ctx: typer.Context,
    folder: Annotated[
        str, typer.Argument(metavar="[FOLDER]", help="Where the workspace is left; by default nothing is left.")
    ] = "",
) -> None:
    """Show how it all goes, on three months of a small company's memories.

    It goes through a temporary folder that is removed at the end, and touches nothing else. With a FOLDER, empty or not
    there yet, the workspace stays to play with. Chapters about git are left out where there is none.

    Example: mabos demo ./harbourline
    """
    call: Call = ctx.obj
    steps: list[dict[str, Any]] = []
    with open_ground(folder) as root:
        for chapter in load_tour():
            _say(call, ["", chapter.about])
            for command in chapter.commands:
                _say(call, ["", f"$ {command}"])
                told = _run(call, root, command)
                _say(call, told.lines, told.warnings)
                steps.append({"about": chapter.about, "command": command, **_shown(told)})
    data = {"folder": str(root) if folder else None, "steps": steps}
    call.with_changes(commit=False).emit("demo", data, ["", *_farewell(folder)])


def _say(call: Call, lines: Sequence[str], warnings: Sequence[str] = ()) -> None:
    """Prints what there is to say now; JSON says it all at the end."""
    if not call.as_json:
        emit("mabos.demo.v1", {}, lines, as_json=False, quiet=call.quiet, warnings=warnings)


def _shown(told: Answer) -> dict[str, Any]:
    return {"output": told.lines, "warnings": told.warnings}


def _run(call: Call, root: Path, command: str) -> Answer:
    """What a command of the tour tells. One that fails ends the tour with its error."""
    program, *words = shlex.split(command.replace("\\\n", " "))
    if program == "git":
        out = Repository(root).run(*words).decode("utf-8", "replace")
        return Answer({}, out.splitlines(), [])
    assert call.parse is not None and call.run is not None, "app parses and runs lines"
    told: list[Answer] = []
    own, rest = call.parse(words)
    call.run(own.with_changes(take=told.append), rest)
    return told[-1]


def _farewell(place: str) -> list[str]:
    """What to do next."""
    if place:
        return [
            f"All of it is in {place}. Look around: cd {shlex.quote(place)}, then",
            "mabos timeline 2026-01-17, mabos reason list, mabos config, mabos --help.",
        ]
    return [
        'Try next, in a folder of your own: mabos init && mabos store "The first thing to remember" --tag start',
        "Or keep this one to play with: mabos demo ./harbourline. Or look around: mabos reason list, mabos --help.",
    ]
