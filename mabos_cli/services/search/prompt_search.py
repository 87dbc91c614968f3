"""What the index as it is says about a prompt: light enough for a hook, which starts for every prompt."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mabos_cli.index.peek import Peek


def open_index_view(path: str, note: str) -> "Peek | None":
    """Returns the index at a path for reading only, if it is whole as its note says; nothing is followed or locked."""
    from mabos_cli.index.peek import open_peek

    return open_peek(path, note)
