"""Transcripts of agent hosts on disk: read line by line from where the last run stopped, and the ledger that says where that is.

Observations are appended before the ledger. After a crash in between, what was taken and is not noted is known by the keys of the
observations behind the place that the last mark of that transcript names; where there is no mark, by the keys of all.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from zlib import crc32

from mabos_cli.errors import InvalidFile, NotFound
from mabos_cli.formats.json.text import parse_ledger
from mabos_cli.formats.memory import agent_transcripts
from mabos_cli.workspace.files import append_bytes, explained, read_bytes, remove_file, replace_file
from mabos_cli.workspace.layout import DAY, AgentPaths
from mabos_cli.workspace.lock import locked
from mabos_cli.workspace.memory.observations import observation_files
from mabos_cli.workspace.plain_files import machine_token, open_regular
from mabos_cli.workspace.platform import read_at

LONGEST = 1 << 24  # bytes of a line; longer ones are images and the like
_BLOCK = 4096
_LOOKED_AT = 64  # lines that may tell nothing before one must tell the host
_KEY = re.compile(rb'"key":\s*"([^"\\]+)"')
_EXPECTED = "expected JSON lines of Claude Code, Codex, Gemini or OpenClaw; --host says whose they are"


class Transcript:
    """An open transcript. Iterating gives the number and the bytes of each complete line behind the place where it begins."""

    def __init__(self, shown: str, stream: BinaryIO) -> None:
        self.shown = shown
        # Only a file can be read from the middle, and only one with a name of its own can be found again.
        self.is_file = shown != "-" and stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
        self.name = agent_transcripts.safe_name(os.path.basename(shown)) if self.is_file else "stdin"
        self.start = self.size = self.line = 0
        self.too_long = 0
        self.torn = False
        self._stream = stream
        self._ahead: list[tuple[int, bytes]] = []

    def close(self) -> None:
        """Closes the file; standard input is not ours to close."""
        if self.shown != "-":
            self._stream.close()

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        while self._ahead:
            yield self._ahead.pop(0)
        while (found := self._next()) is not None:
            yield found

    def _next(self) -> tuple[int, bytes] | None:
        """Returns the next complete line; None at the end, and before a last line that is still being written."""
        with explained(Path(self.shown), "read"):
            while piece := self._stream.readline(LONGEST + 1):
                size, ended, number = len(piece), piece.endswith(b"\n"), self.line + 1
                is_long = size > LONGEST
                while is_long and not ended and (more := self._stream.readline(1 << 20)):
                    size, ended = size + len(more), more.endswith(b"\n")
                if not ended and (is_long or agent_transcripts.load_record(piece) is None):
                    self.torn = bool(piece.strip(b"\0 \t\r"))
                    return None
                self.size, self.line = self.size + size, self.line + ended
                if not is_long:
                    return number, piece
                self.too_long += 1
        return None

    def find_host(self) -> str:
        """Returns the host whose lines these are; empty when there is no line yet. InvalidFile when it is nobody's transcript."""
        # What can be read once only may have been looked at before: its lines wait here.
        if host := next(filter(None, (agent_transcripts.host_of(line) for _, line in self._ahead)), ""):
            return host
        while len(self._ahead) < _LOOKED_AT and (found := self._next()):
            self._ahead.append(found)
            if host := agent_transcripts.host_of(found[1]):
                return host
        if any(line.strip() for _, line in self._ahead) or self.too_long:
            raise InvalidFile(f"{self.shown}: not a transcript of an agent host", _EXPECTED)
        return ""

    def find_mark(self, ledger: bytes, scope: agent_transcripts.Scope) -> agent_transcripts.Mark | None:
        """Returns the last mark that this file still agrees with and whose scope is no narrower, or None."""
        if not self.is_file:
            return None
        found = agent_transcripts.find_marks(ledger, self.name)
        return next((m for m in found if m.scope.covers(scope) and self._checksum(m.place.size) == m.place.crc), None)

    def begin_behind(self, mark: agent_transcripts.Mark) -> None:
        """Goes to where a mark was set."""
        with explained(Path(self.shown), "read"):
            self._stream.seek(mark.place.size)
        self.start = self.size = mark.place.size
        self.line, self.torn, self.too_long, self._ahead = mark.line, False, 0, []

    @property
    def end(self) -> int:
        """Returns how large the file is now; of what is no file, as much as was read."""
        return os.fstat(self._stream.fileno()).st_size if self.is_file else self.size

    def place(self) -> agent_transcripts.Place:
        """Returns how far it was read."""
        return agent_transcripts.Place(self.size, self._checksum(self.size) or 0)

    def _checksum(self, size: int) -> int | None:
        """Returns a checksum of the last block before a place; None when the file does not reach it."""
        with explained(Path(self.shown), "read"):
            block = min(_BLOCK, size)
            data = read_at(self._stream.fileno(), block, size - block)
        return crc32(data) if len(data) == block else None


def open_transcript(shown: str, stdin: BinaryIO | None = None) -> Transcript:
    """Returns the transcript with a path, or the one on standard input."""
    if stdin is not None:
        return Transcript(shown, stdin)
    if not os.path.exists(shown):
        raise NotFound(f"no file {shown}", "give transcripts, a folder of them, or - for standard input")
    with explained(Path(shown), "read"):
        return Transcript(shown, open(shown, "rb", buffering=1 << 18))


def find_below(folder: str) -> list[str]:
    """Returns the paths of the files below a folder that may be transcripts, sorted; hidden folders are passed over."""
    found = []
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [os.path.join(here, name) for name in names if name.endswith(".jsonl")]
    if not found:
        raise NotFound(f"no .jsonl file below {folder}", "give the folder where the host keeps its sessions")
    return sorted(found)


class KnownKeys:
    """The keys of entries that were taken already, as far as somebody had to know: reading all costs, and is done once."""

    def __init__(self, paths: AgentPaths) -> None:
        self._paths = paths
        self._keys: set[bytes] = set()
        self._asked: tuple[str, agent_transcripts.Place] | None = None
        self._whole = False

    def reach_behind(self, seen: tuple[str, agent_transcripts.Place] | None) -> None:
        """Makes sure of all keys behind a place in the observations; of all there are, without a place."""
        if self._whole or (seen and seen == self._asked):
            return
        first, start = "", 0
        if seen and not self._asked and _place_in(self._paths, seen[0], seen[1].size) == seen[1]:
            first, start = seen[0], seen[1].size
        for name in _days(self._paths):
            if name >= first:
                path = self._paths.observations / name
                with explained(path, "read"), open(open_regular(os.fspath(path)), "rb") as file:
                    file.seek(start if name == first else 0)
                    self._keys.update(_KEY.findall(file.read()))
        self._whole, self._asked = not first, seen

    def has(self, key: str) -> bool:
        """Returns whether an entry was taken before."""
        return key.encode("utf-8") in self._keys

    def add(self, key: str) -> None:
        """Remembers an entry that is being taken."""
        self._keys.add(key.encode("utf-8"))


def _days(paths: AgentPaths) -> list[str]:
    """Returns the files that observations are appended to, oldest first."""
    return [name for name in observation_files(paths) if re.fullmatch(DAY + r"\.jsonl", name)]


def observed_so_far(paths: AgentPaths) -> tuple[str, agent_transcripts.Place] | None:
    """Returns how far the observations reach: the last file, and its size; None when there are none."""
    days = _days(paths)
    place = _place_in(paths, days[-1], None) if days else None
    return (days[-1], place) if place else None


def _place_in(paths: AgentPaths, name: str, size: int | None) -> agent_transcripts.Place | None:
    """Returns a place in a file of observations (its end, without a size); None when the file does not reach it."""
    try:
        with open(open_regular(os.fspath(paths.observations / name)), "rb") as file:
            size = os.fstat(file.fileno()).st_size if size is None else size
            file.seek(max(0, size - _BLOCK))
            data = file.read(min(_BLOCK, size))
    except OSError:
        return None
    return agent_transcripts.Place(size, crc32(data)) if len(data) == min(_BLOCK, size) else None


def note_marks(paths: AgentPaths, marks: Sequence[agent_transcripts.Mark]) -> None:
    """Notes durably how far transcripts were taken."""
    if marks:
        data = b"".join(map(agent_transcripts.render_mark, marks))
        append_bytes(paths.transcript_ledger, data, root=paths.workspace.root)


class Noted(NamedTuple):
    """A transcript that hooks named, and its last lines without secrets, as far as a hook kept them."""

    path: str
    tail: str = ""


class Spool(NamedTuple):
    """The transcripts that wait, each once, in the order in which they were named, the bytes that say so, and how many lines were
    not noted down on this machine: what they name is not read."""

    waiting: tuple[Noted, ...]
    data: bytes
    foreign: int = 0


def read_spool(paths: AgentPaths) -> Spool:
    """Returns what waits; a line that is still being written waits for the next time."""
    data = read_bytes(paths.hook_spool) or b""
    data = data[: data.rfind(b"\n") + 1]
    found: dict[str, Noted] = {}
    records = parse_ledger(data).records
    here = machine_token() if records else ""
    for record in (record for record in records if record.get("machine", "") == here):
        path, tail = _text(record, "transcript_path"), _text(record, "tail")
        if path:
            found[path] = Noted(path, tail or (found[path].tail if path in found else ""))
    return Spool(tuple(found.values()), data, sum(record.get("machine", "") != here for record in records))


def _text(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
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
