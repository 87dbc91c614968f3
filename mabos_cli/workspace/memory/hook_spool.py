"""What hooks of agent hosts noted down for harvest: which sessions ended or were compacted, and where their transcripts are.

Hooks append under a side lock, see append.py. Who has looked at the transcripts takes away what it read, and leaves what came since.
"""

from typing import Any, NamedTuple

from mabos_cli.formats.json.text import parse_lines
from mabos_cli.workspace.files import read_bytes, remove_file, replace_file
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.lock import locked


class Noted(NamedTuple):
    """A transcript that hooks named, and its last lines without secrets, as far as a hook kept them."""

    path: str
    tail: str = ""


class Spool(NamedTuple):
    """The transcripts that wait, each once, in the order in which they were named, and the bytes that say so."""

    waiting: tuple[Noted, ...]
    data: bytes


def read_spool(paths: AgentPaths) -> Spool:
    """What waits; a line that is still being written waits for the next time."""
    data = read_bytes(paths.hook_spool) or b""
    data = data[: data.rfind(b"\n") + 1]
    found: dict[str, Noted] = {}
    for record in parse_lines(data)[0]:
        path, tail = _text(record, "transcript_path"), _text(record, "tail")
        if path:
            found[path] = Noted(path, tail or (found[path].tail if path in found else ""))
    return Spool(tuple(found.values()), data)


def _text(record: Any, key: str) -> str:
    value = record.get(key) if isinstance(record, dict) else None
    return value if isinstance(value, str) else ""


def cut_spool(paths: AgentPaths, spool: Spool, timeout: float) -> None:
    """Takes away what was read, unless somebody else did already, and keeps what came behind it."""
    with locked(paths.hook_lock, paths.workspace.root, timeout):
        data = read_bytes(paths.hook_spool) or b""
        if not spool.data or not data.startswith(spool.data):
            return
        if rest := data[len(spool.data) :]:
            replace_file(paths.hook_spool, rest, root=paths.workspace.root, expect=data)
        else:
            remove_file(paths.hook_spool, root=paths.workspace.root)
