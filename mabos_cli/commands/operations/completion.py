"""completion: the program's own commands and options, in the language of a shell."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core.memory.item import check_choice
from mabos_cli.formats.operations.completion import SHELLS

app = typer.Typer()


@app.command()
def completion(
    ctx: typer.Context, shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")]
) -> None:
    """Print what completes this program's words in a shell.

    Commands, options and fixed words are in it; ids, tags and agents are asked of the program at each TAB.

    Example: mabos completion bash
    """
    # Loaded here: the table of values gathers words from half of the program.
    from mabos_cli.services.operations.completion import completion_script

    call: Call = ctx.obj
    check_choice(shell, SHELLS, "shell")
    assert call.program is not None, "app knows the commands"
    text = completion_script(shell, call.program())
    call.emit("completion", {"shell": shell, "text": text}, text.splitlines())
