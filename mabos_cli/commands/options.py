"""Options that several commands take: one name, one meaning and one help text for each."""

from typing import Annotated

from typer import Option

DryRun = Annotated[bool, Option("--dry-run", help="Show what would happen.")]
Every = Annotated[bool, Option("--all", help="All agents of the workspace.")]
Limit = Annotated[int, Option("--limit", "-n", min=0, help="Show at most this many; 0 for all.")]
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
