"""How commands declare what they take, and options that several of them share: one name, one meaning, one help text.

Declarations are plain values, so that an ordinary call loads no parser library; typer_app.py makes Typer's of them."""

from typing import Annotated


class Option:
    """Declares an option of a command, in the metadata of its parameter's type."""

    def __init__(
        self,
        *names: str,
        help: str = "",
        metavar: str | None = None,
        min: float | None = None,
        max: float | None = None,
        show_default: bool = True,
    ) -> None:
        self.names = names
        self.help = help
        self.metavar = metavar
        self.min = min
        self.max = max
        self.show_default = show_default


class Argument(Option):
    """Declares an argument of a command: a word that is known by its place."""


DryRun = Annotated[bool, Option("--dry-run", help="Show what would happen.")]
Every = Annotated[bool, Option("--all", help="All agents of the workspace.")]
Limit = Annotated[int, Option("--limit", "-n", min=0, help="Show at most this many; 0 for all.")]
ValidAt = Annotated[str, Option(metavar="DATE", help="As things are or were then: today, 2026-03-01.")]
# What becomes of secrets in what is stored.
Redact = Annotated[bool, Option("--redact", help="Store it with secrets replaced by [redacted:KIND].")]
AllowSecret = Annotated[bool, Option("--allow-secret", help="Store it although it holds a secret.")]
# How far what is stored is trusted, and by whose word.
Trust = Annotated[
    str,
    Option(
        help="trusted, agent or untrusted (default agent; of a source tool:, web:, mail: or transcript:, untrusted)."
    ),
]
Voucher = Annotated[
    str, Option("--by", metavar="NAME", help="Who vouches for more trust than such a source has; logged.")
]


def more_line(total: int, shown: int) -> list[str]:
    """Returns a line about what --limit left out, if anything."""
    return [f"and {total - shown} more: --limit 0 shows all"] if total > shown else []
