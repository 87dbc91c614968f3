"""Which compaction of which session was flushed last: local state, so that a flush is asked for once."""

from contextlib import suppress

from mabos_cli.errors import MabosError
from mabos_cli.formats.json_text import dump_line, parse_json
from mabos_cli.workspace.files import Moved, read_bytes, replace_file
from mabos_cli.workspace.home import AgentHome

_SESSIONS_KEPT = 100


def read_flushes(home: AgentHome) -> dict[str, int]:
    """The compaction count that was flushed last, by session; a damaged file counts as empty."""
    data = read_bytes(home.paths.flush_state)
    with suppress(MabosError):
        found = parse_json(data, "flush state") if data else {}
        return {str(k): v for k, v in found.items() if isinstance(v, int)} if isinstance(found, dict) else {}
    return {}


def note_flush(home: AgentHome, session: str, count: int) -> list[str]:
    """Remembers that a compaction is being flushed; a warning when that cannot be written down."""
    for _ in range(20):
        old = read_bytes(home.paths.flush_state)
        known = read_flushes(home)
        known.pop(session, None)
        kept = dict([*known.items(), (session, count)][-_SESSIONS_KEPT:])
        try:
            data = dump_line(kept).encode("utf-8") + b"\n"
            replace_file(home.paths.flush_state, data, root=home.paths.workspace.root, expect=old)
            return []
        except Moved:
            continue
        except MabosError as error:
            return [f"the flush was not noted and may be asked for again: {error.message}"]
    return ["the flush was not noted and may be asked for again"]
